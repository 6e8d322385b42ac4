"""The members of values: of modules, packages, classes and what they inherit from."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from slicegrep.graph.value import HINTED, INFERRED, OUTSIDE, OWN_CLASS, OWN_MODULE, UNKNOWN, Value
from slicegrep.languages import family_of
from slicegrep.outline.around import CLASS_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from slicegrep.graph.definitions import Definitions
    from slicegrep.graph.facts import FileFacts
    from slicegrep.graph.meanings import Meanings
    from slicegrep.index import View

__all__ = ["Members", "likeness", "parts_of"]

_MOST_ANCESTORS = 100
_STEPS = 12
"""Names, imports and bases that are followed from a base class."""


class Members:
    """Looks members up in one view. `meanings` says what the expressions of bases and fields stand for."""

    def __init__(
        self, view: View, definitions: Definitions, facts_of: Callable[[int], FileFacts], meanings: Meanings
    ) -> None:
        self._view = view
        self._facts_of = facts_of
        self.definitions = definitions
        self._meanings = meanings
        self._ancestors: dict[int, set[int]] = {}

    def member(self, value: Value, name: str, file: int, steps: int) -> Value:
        """Return a member of a value."""
        if steps <= 0:
            return UNKNOWN
        if value.kind == "module":
            found = self._meanings.of_module(value.file, name, steps - 1)
            return found._replace(sure=min(found.sure, value.sure))
        if value.kind == "folder":
            return self._meanings.in_folder(value.path, name, "go") or UNKNOWN
        if value.kind == "path":
            return self._of_path(value, name, file)
        if value.kind in ("class", "instance", "super") and value.symbols:
            member = self._of_each(value, name, steps - 1)
            return member._replace(sure=min(member.sure, value.sure)) if member is not None else OUTSIDE
        return OUTSIDE if value.kind in ("outside", "many") else UNKNOWN

    def _of_path(self, value: Value, name: str, file: int) -> Value:
        row = self._view.files[file]
        found = self.definitions.named(name, family_of(row.language)) if row is not None else []
        parts = value.path.split(".")
        kept = [
            one
            for one in found
            if likeness(self.definitions.path(one), parts) or self.definitions.owner(one).endswith(parts[-1])
        ]
        if kept:
            return self._meanings.as_value(
                kept, -1, HINTED / len({self.definitions.path(one) for one in kept})
            )
        return Value("path", path=f"{value.path}.{name}")

    def _of_each(self, value: Value, name: str, steps: int) -> Value | None:
        """Return a member of a value that is of one class, or of one of several."""
        above = value.kind == "super"
        names = {self._view.symbol(one).qualified for one in value.symbols}
        if len(names) == 1:
            return self._of_class(value.symbols, name, steps, set(), above=above)
        found = [self._of_class((one,), name, steps, set(), above=above) for one in value.symbols]
        defined = [one for one in found if one is not None and one.defined]
        if not defined:
            return next((one for one in found if one is not None), None)
        symbols = tuple(dict.fromkeys(symbol for one in defined for symbol in one.symbols))
        return defined[0]._replace(symbols=symbols, sure=min(one.sure for one in defined))

    def _of_class(
        self, symbols: tuple[int, ...], name: str, steps: int, seen: set[int], *, above: bool = False
    ) -> Value | None:
        """Return a member of a class or of what it inherits from; None where there is no such member."""
        opened = False
        for one in symbols:
            if one in seen or steps <= 0:
                continue
            seen.add(one)
            symbol = self._view.symbol(one)
            facts = self._facts_of(symbol.file)
            if not above:
                own = self.definitions.own_members(one).get(name) or self.definitions.spread_members(
                    one, name
                )
                if own and name == symbol.name:
                    own = [each for each in own if each not in self.definitions.constructors(one)]
                if own:
                    return self._meanings.as_value(
                        own, symbol.file, OWN_CLASS / self.definitions.overloads(own)
                    )
                given = facts.fields.get(symbol.name_line, {}).get(name)
                if given is not None:
                    found = (
                        self._meanings.value(symbol.file, given, symbol.name_line, steps - 1)
                        if given != "?"
                        else UNKNOWN
                    )
                    return found._replace(sure=min(found.sure, INFERRED), defined=False)
                if symbol.kind not in CLASS_KINDS and symbol.parent < 0:
                    given = facts.fields.get(0, {}).get(symbol.name, "?")
                    found = (
                        self._meanings.value(symbol.file, given, symbol.name_line, steps - 1)
                        if given != "?"
                        else UNKNOWN
                    )
                    return self.member(found, name, symbol.file, steps - 1)
            for base in facts.bases.get(symbol.name_line, ()):
                value = self._base(symbol.file, base, one, steps - 1)
                if value.kind != "class":
                    opened = opened or value.kind in ("unknown", "outside")
                    continue
                found_above = self._of_class(value.symbols, name, steps - 1, seen)
                if found_above is not None and found_above.kind != "unknown":
                    return found_above._replace(sure=min(found_above.sure, value.sure))
                opened = opened or found_above is not None
        return UNKNOWN if opened or not symbols else None

    def _base(self, file: int, base: str, own: int, steps: int) -> Value:
        """Return a base class. Its name is that of the file, not of a member of the class."""
        first, parts = parts_of(base)
        top = [one for one in self.definitions.top(file).get(first, ()) if one != own]
        value = self._meanings.as_value(top, file, OWN_MODULE) if top else None
        if value is None:
            rules = self.definitions.rules(file)
            value = self._meanings.from_elsewhere(file, first, rules, steps) if rules is not None else UNKNOWN
        for part in parts:
            value = self.member(value, part, file, steps - 1) if part not in ("()", "[]") else UNKNOWN
        return value

    def ancestors(self, symbol: int) -> set[int]:
        """Return the classes of the tree that a class inherits from."""
        known = self._ancestors.get(symbol)
        if known is not None:
            return known
        found: set[int] = set()
        waiting = [symbol]
        while waiting and len(found) < _MOST_ANCESTORS:
            row = self._view.symbol(waiting.pop())
            for base in self._facts_of(row.file).bases.get(row.name_line, ()):
                for one in self._base(row.file, base, row.id, _STEPS).symbols:
                    if one not in found:
                        found.add(one)
                        waiting.append(one)
        self._ancestors[symbol] = found
        return found


_BEGUN = re.compile(r"<[^>]*>|\"[^\"]*\"|[^.(\[]*")


def parts_of(expression: str) -> tuple[str, list[str]]:
    """Return the first part of an expression and what is done to it: names, `()` and `[]`."""
    begun = _BEGUN.match(expression)
    end = begun.end() if begun is not None else 0
    return expression[:end] or "?", re.findall(r"\(\)|\[w?\]|[^.()\[\]]+", expression[end:])


def likeness(path: str, parts: list[str]) -> int:
    """Return how many of the last parts of a module path are the last ones of a file's path."""
    names = posixpath.splitext(path)[0].split("/")
    best = 0
    for skipped in (0, 1):
        own = names[: len(names) - skipped]
        count = 0
        while count < min(len(own), len(parts)) and own[-1 - count].lower() == parts[-1 - count].lower():
            count += 1
        best = max(best, count)
    return best
