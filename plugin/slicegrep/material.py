"""Which candidates of a ranking are read, what each is worth, and which of them have a place of their own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slicegrep.duplicates import Repeats
from slicegrep.sheet import Part, Sheet, parts_of
from slicegrep.worth import by_marks, by_vocabulary, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from slicegrep.query import Query
    from slicegrep.types import Candidate, Source

__all__ = ["Material", "gathered"]

PLENTY = 4
"""Candidates are read until they have so many times the budget: of what comes after hardly a line would be chosen."""
WEIGHED = 1.5
"""Of a query in plain English, lines are weighed by their words in the candidates that are worth most, up to so many times the budget: three
times as many found no more (docs/search_packing.md), and it is what takes most of the time."""
TOKENS_A_LINE = 10
REACH = 8
"""Of a candidate, lines further from all that matches than a REACHth of the budget (a line for a token) are not weighed."""


@dataclass(slots=True)
class Material:
    """What was found, and which of it may be shown. Candidates go by their places in the ranking."""

    candidates: list[Candidate]
    """All; those of files that were read are cut to their files' lengths."""
    lines_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    considered: list[int] = field(default_factory=list)
    """May be shown; the first is the best."""
    kept: list[int] = field(default_factory=list)
    """Have a place of their own, the best candidate first."""
    repeated: dict[int, int] = field(default_factory=dict)
    """Repeats of a better candidate."""
    gone: dict[str, str] = field(default_factory=dict)
    """Files that could not be read, with why."""
    parts: list[list[Part]] = field(default_factory=list)
    """Of each candidate, its own lines."""

    def sheet(self, query: Query, budget: int) -> Sheet:
        """Lay out what may be shown, for a budget in tokens. Of plain English the words tell what a line is worth."""
        values = values_of(self.candidates, self.considered)
        places = self.considered if query.route != "vague" else self._worthiest(values, budget)
        shown = [part for place in places for part in self._within_reach(place, budget // REACH)]
        worth: Iterable[Sequence[float]]
        if query.route == "vague":
            worth = by_vocabulary(
                [self.lines_of[part.file][part.start - 1 : part.end] for part in shown], query
            )
        else:
            marks = {place: by_marks(self.candidates[place]) for place in places}
            firsts = [part.start - self.candidates[part.candidate].start for part in shown]
            worth = [
                marks[part.candidate][first : first + part.end - part.start + 1]
                for part, first in zip(shown, firsts, strict=True)
            ]
        gains = {
            part: [values[part.candidate] * w for w in line] for part, line in zip(shown, worth, strict=True)
        }
        allowed = set(places)
        apart = [part for place, own in enumerate(self.parts) if place not in allowed for part in own]
        kept = [(place, self.candidates[place].best) for place in self.kept]
        return Sheet(shown, gains, self.lines_of, kept=kept, apart=apart)

    def _worthiest(self, values: Mapping[int, float], budget: int) -> list[int]:
        """Return the places of the candidates whose words are looked at."""
        chosen = list(self.kept)
        tokens = 0
        for place in sorted(self.considered, key=lambda place: -values[place]):
            if tokens >= WEIGHED * budget:
                break
            one = self.candidates[place]
            tokens += TOKENS_A_LINE * min(one.end - one.start + 1, budget // REACH)
            chosen.append(place)
        return sorted(set(chosen))

    def _within_reach(self, place: int, reach: int) -> list[Part]:
        one = self.candidates[place]
        marks = (*one.hits, one.best or one.start)
        low, high = min(marks) - reach, max(marks) + reach
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
    *,
    near: bool,
) -> Material:
    """Read candidates, best first, until there is plenty for a budget, and the best one of each of `roles`.

    The best `use` is one in another file than the best definition. A role without candidates is left out. No roles: the best candidate alone.
    """
    gathering = _Gathering(Material(list(candidates)), read, near=near)
    material = gathering.material
    tokens = 0
    for place, one in enumerate(candidates):
        if tokens >= PLENTY * budget or (not roles and material.considered):
            break
        if gathering.can_show(place):
            tokens += TOKENS_A_LINE * min(one.end - one.start + 1, budget // REACH)
    material.kept = material.considered[:1]
    definition = ""
    for role in roles:
        found = [
            place
            for place, one in enumerate(candidates)
            if one.role == role and (role != "use" or one.file != definition)
        ]
        place = next((place for place in found if gathering.can_show(place)), -1)
        if place >= 0:
            definition = candidates[place].file if role == "definition" else definition
            material.kept.append(place)
    material.kept = list(dict.fromkeys(material.kept))
    material.considered.sort()
    material.parts = parts_of(material.candidates)
    return material


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
            one = material.candidates[place] = replace(one, end=end, hits=hits)
        if one.end < one.start:
            return False
        original = self._repeats.add(lines[one.start - 1 : one.end])
        self._compared.append(place)
        if original >= 0:
            material.repeated[place] = self._compared[original]
            return False
        material.considered.append(place)
        return True
