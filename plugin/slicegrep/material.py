"""Which candidates of a ranking are read, what each is worth, and which of them have a place of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slicegrep.duplicates import Repeats
from slicegrep.regions import COMMENT
from slicegrep.sheet import Part, Sheet, parts_of
from slicegrep.worth import by_marks, by_vocabulary, end_of, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.candidates import Candidate
    from slicegrep.query import Query
    from slicegrep.types import Source

__all__ = ["Material", "gathered"]

MARKED, WORDED = 3.0, 1.5
"""Candidates are read, the worthiest first, until what is near their matches has MARKED times the budget, and those without
matches WORDED times: of what comes after hardly a line would be chosen (docs/search_packing.md), and time goes by lines."""
OF_ONE_FILE = 0.6
"""At most so much of it is of one file."""
NEAR = 12
"""Lines on each side of a match that are near it. Further ones are laid out where there are few candidates."""
TOKENS_A_LINE = 10
MOST_STUBS = 50
"""Definitions of one name that are looked at for one with a body."""


@dataclass(slots=True)
class Material:
    """What was found, and which of it may be shown. Candidates go by their places in the ranking."""

    candidates: list[Candidate]
    """All; those of files that were read are cut to their files' lengths."""
    values: list[float]
    """What each of them is worth."""
    lines_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    considered: list[int] = field(default_factory=list)
    """May be shown."""
    kept: list[int] = field(default_factory=list)
    """Have a place of their own, the best candidate first."""
    repeated: dict[int, int] = field(default_factory=dict)
    """Repeats of a better candidate."""
    gone: dict[str, str] = field(default_factory=dict)
    """Files that could not be read, with why."""
    parts: list[list[Part]] = field(default_factory=list)
    """Of each candidate, its own lines."""

    def sheet(self, query: Query, budget: int) -> Sheet:
        """Lay out what may be shown, for a budget in tokens.

        What the lines of a candidate are worth is told by where patterns match in it; in plain English, and where none
        matches, by the query's words.
        """
        places = sorted(self.considered)
        reach = max(NEAR, int(MARKED * budget / TOKENS_A_LINE / (2 * max(len(places), 1))))
        shown = [part for place in places for part in self._within_reach(place, query.route, reach)]
        text_of = {part: self.lines_of[part.file][part.start - 1 : part.end] for part in shown}
        by_words = [part for part in shown if _worded(self.candidates[part.candidate], query.route)]
        bests = [self.candidates[part.candidate].best - part.start for part in by_words]
        worths = by_vocabulary([text_of[part] for part in by_words], bests, query)
        worth = dict(zip(by_words, worths, strict=True))
        for part in shown:
            if part not in worth:
                worth[part] = by_marks(self.candidates[part.candidate], text_of[part], part.start)
        gains = {part: [self.values[part.candidate] * w for w in worth[part]] for part in shown}
        allowed = set(places)
        apart = [part for place, own in enumerate(self.parts) if place not in allowed for part in own]
        best_of = {place: self.candidates[place].best for place in places}
        wanted_of = {place: _wanted(self.candidates[place]) for place in self.kept}
        return Sheet(
            shown, gains, self.lines_of, best_of=best_of, wanted_of=wanted_of, kept=self.kept, apart=apart
        )

    def _within_reach(self, place: int, route: str, reach: int) -> list[Part]:
        """Return the parts of a candidate, of one that matches tell the worth of those at most `reach` lines from its marks."""
        one = self.candidates[place]
        if _worded(one, route) or one.role == "definition":
            return self.parts[place]
        low, high = min(*one.hits, one.best) - reach, max(*one.hits, one.best) + reach
        return [
            Part(place, part.file, max(part.start, low), min(part.end, high))
            for part in self.parts[place]
            if part.start <= high and low <= part.end
        ]


def gathered(
    candidates: Sequence[Candidate],
    read: Callable[[str], Source | None],
    budget: int,
    roles: Sequence[str],
    route: str,
    *,
    near: bool,
) -> Material:
    """Read the candidates (best first) that are worth most, as many as a budget needs, and the best one of each of `roles`.

    The best `use` is one in another file than the best definition. A role without candidates is left out. No roles: the best
    candidate alone, of a definition as far as it goes. With `near` what nearly repeats another is left out too. Of several definitions of
    one name the best that has a body counts as the best: an overload says little.
    """
    values = values_of(candidates, route)
    gathering = _Gathering(Material(list(candidates), values), read, near=near)
    material = gathering.material
    best = next(filter(gathering.can_show, range(len(candidates))), None)
    if best is not None:
        best = gathering.with_body(best)
        material.kept.append(best)
        if not roles:
            gathering.lengthen(best)
            material.considered = [best]
    if roles:
        _gather(gathering, budget / TOKENS_A_LINE, route)
    definition = ""
    for role in roles:
        found = [
            place
            for place, one in enumerate(candidates)
            if one.role == role and (role != "use" or one.file != definition)
        ]
        place = next(filter(gathering.can_show, found), -1)
        if place >= 0:
            if role == "definition":
                place = gathering.with_body(place)
                definition = candidates[place].file
            material.kept.append(place)
    material.kept = list(dict.fromkeys(material.kept))
    material.parts = parts_of(material.candidates)
    return material


def _gather(gathering: _Gathering, lines: float, route: str) -> None:
    """Consider candidates for a budget of so many lines."""
    candidates, values = gathering.material.candidates, gathering.material.values
    left = 1.0
    of_file: dict[str, float] = {}
    for place in sorted(range(len(candidates)), key=lambda place: -values[place]):
        one = candidates[place]
        if left <= 0:
            break
        if of_file.get(one.file, 0.0) < OF_ONE_FILE and gathering.can_show(place):
            size = one.end - one.start + 1
            share = (
                size / (WORDED * lines)
                if _worded(one, route)
                else min(size, 2 * NEAR * len(one.hits)) / (MARKED * lines)
            )
            left -= share
            of_file[one.file] = of_file.get(one.file, 0.0) + share


def _name(one: Candidate) -> str:
    """Return the name of a definition without what it is in."""
    return re.split(r"\W+", one.symbol)[-1]


def _wanted(one: Candidate) -> tuple[int, ...]:
    """Return the lines one of which must be there where a candidate has a place of its own.

    Of a definition that is its name, of what uses it a line that matches: in a test, one below the test's own name.
    """
    if one.role == "definition" or not one.hits:
        return (one.best,)
    below = tuple([line for line in one.hits if line > one.best])
    return below if below and one.role == "test" else one.hits


def _worded(one: Candidate, route: str) -> bool:
    return route == "vague" or not one.hits


class _Gathering:
    def __init__(self, material: Material, read: Callable[[str], Source | None], *, near: bool) -> None:
        self.material = material
        self._read = read
        self._repeats = Repeats(near=near)
        self._compared: list[int] = []
        self._known: dict[int, bool] = {}

    def can_show(self, place: int) -> bool:
        """Read a candidate and consider it, unless it repeats one that was considered before or its lines are gone."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._consider(place)
        return known

    def with_body(self, place: int) -> int:
        """Return the place of a candidate; of a definition without a body that of the best with one of that name, of the same file first."""
        candidates = self.material.candidates
        if not self._is_stub(place):
            return place
        name = _name(candidates[place])
        others = [i for i, one in enumerate(candidates) if one.role == "definition" and _name(one) == name]
        others.sort(key=lambda i: candidates[i].file != candidates[place].file)
        return next(
            (i for i in others[:MOST_STUBS] if self.can_show(i) and not self._is_stub(i)),
            place,
        )

    def lengthen(self, place: int) -> None:
        """Let a definition that a window cut off go on to its end."""
        one = self.material.candidates[place]
        if one.role == "definition":
            end = end_of(self.material.lines_of[one.file], one.best - 1) + 1
            self.material.candidates[place] = one._replace(end=max(end, one.end))

    def _is_stub(self, place: int) -> bool:
        """Whether a candidate that can be shown is a definition that does nothing: an overload, a declaration."""
        one = self.material.candidates[place]
        if one.role != "definition":
            return False
        lines = self.material.lines_of[one.file]
        text = "\n".join(lines[one.best - 1 : end_of(lines, one.best - 1) + 1]).rstrip()
        return text.endswith("...") or (text.endswith(";") and "{" not in text)

    def _consider(self, place: int) -> bool:
        material = self.material
        one = material.candidates[place]
        lines = material.lines_of.get(one.file)
        if lines is None:
            source = None if one.file in material.gone else self._read(one.file)
            lines = source.lines if source is not None else ()
            material.lines_of[one.file] = lines
            if source is None:
                material.gone[one.file] = "it could not be read"
        if one.end > len(lines):
            if one.start > len(lines):
                material.gone.setdefault(one.file, "it changed meanwhile")
            end = max(min(one.end, len(lines)), one.start - 1)
            hits = tuple([line for line in one.hits if line <= end])
            one = material.candidates[place] = one._replace(end=end, hits=hits)
        if one.end < one.start:
            return False
        about = _about(one, lines)
        if about != one.best:
            one = material.candidates[place] = one._replace(best=about)
        original = self._repeats.add(lines[one.start - 1 : one.end])
        self._compared.append(place)
        if original >= 0:
            material.repeated[place] = self._compared[original]
            return False
        material.considered.append(place)
        return True


def _about(one: Candidate, lines: Sequence[str]) -> int:
    """Return the best line of a candidate; where it is a comment, another that matches, else the line that it is about."""
    best = one.best if one.start <= one.best <= one.end else one.start
    if one.hits:
        code = [line for line in (best, *one.hits) if not COMMENT.match(lines[line - 1])]
        return code[0] if code else best
    for line in range(best, one.end + 1):
        if not COMMENT.match(lines[line - 1]):
            return line
    return best
