"""What a search did not find, said so that nobody has to look again: three cases that are easily taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.words import IDENTIFIER, is_code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.query import Query
    from slicegrep.types import Hit

__all__ = ["Unfound"]

PLACES = 3
"""Places that are named of a pattern that matches outside the budget."""


class Unfound:
    """What one search can say that it did not find."""

    def __init__(
        self,
        query: Query,
        hits: Mapping[str, Sequence[Hit]],
        path: str,
        defined: Callable[[str], bool] | None,
    ) -> None:
        """`hits` are all matching lines by file; `defined` tells whether a name has a definition, None where nobody knows."""
        self._query = query
        self._path = path
        self._places: list[list[tuple[str, int]]] = [[] for _ in query.patterns]
        for file, found in hits.items():
            for hit in found:
                for index in hit.patterns:
                    self._places[index].append((file, hit.line))
        self._undefined = frozenset(
            [name for name in self._asked() if defined is not None and not defined(name)]
        )

    def said(self, shown: Mapping[str, Sequence[tuple[int, int]]]) -> tuple[str, ...]:
        """Return what there is to say, in the order of the patterns, when the lines `shown` are returned.

        - `No definition found for 'X' in src/`: a pattern that is an identifier matches, and no outline defines it; so does a
          name in plain English that is spelled as code is.
        - `Pattern 'y' not found in src/`: no line matches it.
        - `'z' matches 14 lines, none of them in this budget: a.py:3, b.py:8, …`

        That the phrase of plain English (route `vague`) stands nowhere as a whole is not said: nobody expects it.
        """
        if self._query.route == "vague":
            return tuple([self._no_definition(name) for name in self._asked() if name in self._undefined])
        said: list[str] = []
        for pattern, places in zip(self._query.patterns, self._places, strict=True):
            if not places:
                said.append(f"Pattern '{pattern.text}' not found in {self._path}")
                continue
            if pattern.text in self._undefined:
                said.append(self._no_definition(pattern.text))
            if not any(a <= line <= b for file, line in places for a, b in shown.get(file, ())):
                said.append(_outside(pattern.text, places))
        return tuple(said)

    def _asked(self) -> list[str]:
        """Return the names that a definition is missed of."""
        if self._query.route == "vague":
            return [name for name, _ in self._query.symbols if is_code_name(name)]
        return [pattern.text for pattern in self._query.patterns if IDENTIFIER.fullmatch(pattern.text)]

    def _no_definition(self, name: str) -> str:
        return f"No definition found for '{name}' in {self._path}"


def _outside(text: str, places: Sequence[tuple[str, int]]) -> str:
    named = ", ".join([f"{file}:{line}" for file, line in places[:PLACES]])
    if len(places) == 1:
        return f"'{text}' matches 1 line, not in this budget: {named}"
    more = ", …" if len(places) > PLACES else ""
    return f"'{text}' matches {len(places)} lines, none of them in this budget: {named}{more}"
