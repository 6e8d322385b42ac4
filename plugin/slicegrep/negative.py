"""What a search did not find, said so that nobody has to look again: three cases that are easily taken for one."""

from __future__ import annotations

import builtins
import re
from itertools import islice
from typing import TYPE_CHECKING

from slicegrep.dialect import BrokenError
from slicegrep.expressions import expression_of
from slicegrep.hits import lines_matching
from slicegrep.words import IDENTIFIER, is_code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.candidates import Candidate, Hit
    from slicegrep.query import Query

__all__ = ["Unfound"]

PLACES = 3
"""Places that are named of a pattern that matches outside the budget."""

_SECONDS = 0.1
"""For an expression that backtracks, over an empty line."""

_DEFINING = re.compile(
    r"(?:(?:async\s+)?def|class|fn|func|function|interface|enum|struct|trait|type)\s+(?P<name>[^\W\d]\w*)"
)
"""A pattern that asks for a definition in so many words."""
_CAPITALS = re.compile(r"[A-Z]+")
_NOBODYS = frozenset([*dir(builtins), "self", "this", "cls"])
"""Names that the language defines, and no project: Python's own, and what others share with it."""
_DEFINES = frozenset({"definition", "exact_symbol"})


class Unfound:
    """What one search can say that it did not find."""

    def __init__(
        self,
        query: Query,
        hits: Mapping[str, Sequence[Hit]],
        path: str,
        defined: Callable[[str], bool] | None,
        candidates: Sequence[Candidate] = (),
    ) -> None:
        """`hits` are all matching lines by file; `defined` tells whether a name has a definition, None where nobody knows.

        What `candidates` are the definition of is not missed either.
        """
        self._query = query
        self._path = path
        defining = [one for one in candidates if not _DEFINES.isdisjoint(one.reasons)]
        places = {(one.file, one.best) for one in defining}
        self._hits = hits
        self._counts = lines_matching(hits, len(query.patterns))
        at_home = {  # patterns that match where something is defined
            index
            for file in {one.file for one in defining}
            for hit in hits.get(file, ())
            if (file, hit.line) in places
            for index in hit.patterns
        }
        exact = {_last(one.symbol) for one in defining if "exact_symbol" in one.reasons}
        self._known = [
            index in at_home or _last(pattern.text) in exact for index, pattern in enumerate(query.patterns)
        ]
        self._missing = [
            not self._counts[index]
            and not self._known[index]
            and not _matches_nothing(pattern.regex, case_sensitive=query.case_sensitive)
            for index, pattern in enumerate(query.patterns)
        ]
        self._undefined = self._missed(defined) if defined is not None else {}

    def said(self, shown: Mapping[str, Sequence[tuple[int, int]]]) -> tuple[str, ...]:
        """Return what there is to say, in the order of the patterns, when the lines `shown` are returned.

        - `No definition found for 'X' in src/`: a pattern that is an identifier, or asks for its definition (`def X`), matches, and
          neither an outline nor a candidate defines it. It stands alone or is spelled as code is; so may names in a question.
          Not said of what the language defines, of words in capitals (TODO), and of pasted texts.
        - `Pattern 'y' not found in src/`: no line matches it, nor is it the name of a candidate that is exactly what it spells.
        - `'z' matches 14 lines, none of them in this budget: a.py:3, b.py:8, …`

        That the phrase of plain English (route `vague`) stands nowhere as a whole is not said: nobody expects it.
        """
        if self._query.route == "vague":
            return tuple([self._no_definition(name) for name in self._undefined.values()])
        said: list[str] = []
        for index, (pattern, count) in enumerate(zip(self._query.patterns, self._counts, strict=True)):
            if not count:
                if self._missing[index]:
                    said.append(f"Pattern '{pattern.text}' not found in {self._path}")
                continue
            if index in self._undefined:
                said.append(self._no_definition(self._undefined[index]))
            if not self._is_shown(index, shown):
                said.append(_outside(pattern.text, count, self._first_places(index)))
        return tuple(said)

    def _is_shown(self, index: int, shown: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
        return any(
            a <= hit.line <= b
            for file, runs in shown.items()
            for hit in self._hits.get(file, ())
            if index in hit.patterns
            for a, b in runs
        )

    def _first_places(self, index: int) -> list[tuple[str, int]]:
        found = (
            (file, hit.line) for file, hits in self._hits.items() for hit in hits if index in hit.patterns
        )
        return list(islice(found, PLACES))

    def _no_definition(self, name: str) -> str:
        return f"No definition found for '{name}' in {self._path}"

    def _missed(self, defined: Callable[[str], bool]) -> dict[int, str]:
        """Return the names that a definition is missed of, by the indexes of their patterns."""
        query = self._query
        if "\n" in query.text:
            return {}
        missed = {}
        for index, pattern in enumerate(query.patterns):
            asked = _DEFINING.fullmatch(pattern.text)
            name = asked["name"] if asked is not None else pattern.text
            alone = len(query.patterns) == 1 or asked is not None
            if (
                IDENTIFIER.fullmatch(name)
                and (alone or is_code_name(name))
                and name not in _NOBODYS
                and not _CAPITALS.fullmatch(name)
                and not self._known[index]
                and not defined(name)
            ):
                missed[index] = name
        return missed


def _last(text: str) -> str:
    """Return the last identifier in a name, as spellings of it meet."""
    found = IDENTIFIER.findall(text)
    return found[-1].replace("_", "").lower() if found else ""


def _matches_nothing(regex: str, *, case_sensitive: bool) -> bool:
    """Whether a regular expression matches an empty line, and so tells nothing apart: a note says that."""
    try:
        return expression_of(0, regex, case_sensitive=case_sensitive, seconds=_SECONDS) is None
    except BrokenError:
        return False


def _outside(text: str, count: int, first: Sequence[tuple[str, int]]) -> str:
    """Say of a pattern that matches `count` lines that none is shown; `first` are the first of them."""
    named = ", ".join([f"{file}:{line}" for file, line in first])
    if count == 1:
        return f"'{text}' matches 1 line, not in this budget: {named}"
    more = ", …" if count > PLACES else ""
    return f"'{text}' matches {count} lines, none of them in this budget: {named}{more}"
