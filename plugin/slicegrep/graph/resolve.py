"""What a reference means: the definitions that it can be to, and how likely each is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slicegrep.graph.definitions import Definitions, constructors_of, last_name
from slicegrep.graph.facts import CALL
from slicegrep.graph.meanings import STEPS, Meanings
from slicegrep.graph.value import NESTED, Value
from slicegrep.index.terms import joined
from slicegrep.languages import family_of
from slicegrep.outline.around import CLASS_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from slicegrep.graph.facts import FileFacts, Use
    from slicegrep.index import View

__all__ = ["Resolver"]

NAMED_ALIKE = 0.5
GUESSED = 0.3
GUESSED_COMMON = 0.05
"""Where the receiver is not known: it is called like the class, it is not, and the name is one of built-in types too.
Definitions of one name share it."""
OVERRIDDEN = 0.3
"""A method that replaces the one that was found, in a class below."""
CONSTRUCTED = 0.93
"""A constructor, where its class is called."""

_GUESSES = 8
"""More definitions of one name than this say nothing about a receiver that is not known."""
_REPLACING = 64
"""More methods of one name than this are not looked through for those that replace another."""

_OF_BUILT_IN_TYPES = """
get set add pop append extend insert remove clear copy update items keys values index count sort reverse
join split strip replace format encode decode read write close open seek flush find startswith endswith
lower upper match search sub group start stop run send put push shift slice map filter reduce forEach then
catch finally call apply bind toString has delete next name size length concat includes indexOf test exec
warn error info debug log print load loads dump dumps exists isEmpty equals hashCode iterator contains
charAt substring trim entries from parse stringify resolve reject all emit on off once setdefault discard
union wait acquire release result done cancel submit total
"""
_COMMON = frozenset(_OF_BUILT_IN_TYPES.split())
"""Names of members of built-in types: where the receiver is not known they are mostly not those of the tree."""


_LAST_NAME = re.compile(r"([A-Za-z_$][\w$]*)[^\w$]*$")


class Resolver:
    """Resolves the references of one view. `facts_of` returns the facts of a file by its id."""

    def __init__(self, view: View, facts_of: Callable[[int], FileFacts]) -> None:
        self._view = view
        self._facts_of = facts_of
        self.definitions = Definitions(view)
        self.meanings = Meanings(view, self.definitions, facts_of)

    def targets(self, file: int, use: Use) -> dict[int, float]:
        """Return the definitions that a reference in a file can be to, each with its confidence (0 to 1)."""
        found = self._targets(file, use)
        for one, sure in list(found.items()) if use.kind == CALL else ():
            if self._view.symbol(one).kind in CLASS_KINDS:
                names = constructors_of(self.definitions.language(self._view.symbol_file[one]))
                own = self.definitions.own_members(one)
                made = [each for name in names for each in own.get(name, ())]
                made += self.definitions.constructors(one)
                found.update(dict.fromkeys(made, min(sure, CONSTRUCTED / len(made))) if made else {})
        return found

    def _targets(self, file: int, use: Use) -> dict[int, float]:
        if use.column < 0:
            return self._imported_name(file, use)
        if not use.receiver:
            found = self.meanings.free(file, use.name, use.line, STEPS)
            if found.kind == "module" and use.kind == CALL:  # `const f = require('./f')`
                found = self.meanings.exported(found.file, "default")
            return dict.fromkeys(found.symbols, found.sure) if found.defined else {}
        if use.receiver[0] == "@" and use.receiver[1:].isdecimal():
            nested = self.definitions.defined(file, int(use.receiver[1:]))
            if nested and self._view.symbol_name(nested[0]) == use.name:
                return dict.fromkeys(nested, NESTED)
        value = self.meanings.value(file, use.receiver, use.line, STEPS)
        found = self.meanings.members.member(value, use.name, file, STEPS)
        if found.defined:
            sure = dict.fromkeys(found.symbols, found.sure)
            if value.kind == "instance":
                for one in self._overriding(value, found.symbols, use.name):
                    sure.setdefault(one, OVERRIDDEN)
            return sure
        return self._guessed(file, use) if found.kind == "unknown" else {}

    def _overriding(self, value: Value, symbols: tuple[int, ...], name: str) -> list[int]:
        """Return the definitions that replace a method in classes below the receiver's."""
        row = self._view.files[self._view.symbol_file[symbols[0]]]
        if row is None:
            return []
        classes = set(value.symbols)
        others = [
            one
            for one in self.definitions.named(name, family_of(row.language))
            if one not in symbols and self.definitions.is_member(one)
        ]
        return (
            [one for one in others if classes & self.meanings.members.ancestors(self._class_of(one))]
            if len(others) <= _REPLACING
            else []
        )

    def _class_of(self, member: int) -> int:
        row = self._view.symbol(member)
        if row.parent >= 0:
            return row.parent
        last = last_name(self.definitions.owner(member))
        return next(
            (one for one in self.definitions.named(last, "") if self._view.symbol(one).kind in CLASS_KINDS),
            member,
        )

    def _guessed(self, file: int, use: Use) -> dict[int, float]:
        """Return the members of that name, of whatever class: the receiver is not known."""
        row = self._view.files[file]
        if row is None:
            return {}
        found = [
            one
            for one in self.definitions.named(use.name, family_of(row.language))
            if self.definitions.is_member(one)
        ]
        last = _LAST_NAME.search(use.receiver)
        called = joined(last.group(1)) if last is not None else ""
        alike = [one for one in found if joined(last_name(self.definitions.owner(one))) == called]
        owners = {(self.definitions.path(one), self.definitions.owner(one)) for one in alike or found}
        if not found or len(owners) > _GUESSES:
            return {}
        sure = NAMED_ALIKE if alike else GUESSED_COMMON if use.name in _COMMON else GUESSED
        return dict.fromkeys(alike or found, sure / len(owners))

    def _imported_name(self, file: int, use: Use) -> dict[int, float]:
        """Return the definitions that an import statement names."""
        for binding in self._facts_of(file).bindings:
            if binding.line == use.line and binding.name == use.name:
                found = self.meanings.bound(file, binding, STEPS)
                return dict.fromkeys(found.symbols, found.sure) if found.defined else {}
        return {}
