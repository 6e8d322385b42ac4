"""Regions of several files laid end to end on one sheet, so that one packing chooses among all their lines."""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.evidence import Block
from slicegrep.pack import GAP_LINES, Packer, Range, Sums, grow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slicegrep.candidates import Candidate

__all__ = ["Part", "Sheet", "Stretch", "minus", "parts_of"]

CHARACTERS_A_TOKEN = 4.36
LINE_TOKENS = 2.9
HEADER_TOKENS = 32.0
"""A numbered line costs about LINE_TOKENS, and a token for each so many characters past its indentation; the lines above
and below a slice cost HEADER_TOKENS. Only the choice depends on it: what is chosen is counted."""
NEVER = 1e9
"""Tokens of the line that keeps two stretches apart: no budget has them."""

FIRST = 1000.0
"""More than any line is worth, and any such line more than what is kept after it."""
KEPT_LINES = 3
"""Lines from the best one on that a candidate with a place of its own gets before anything else is chosen."""


class Part(NamedTuple):
    """Lines of one candidate that no better one has. Lines 1-based, inclusive; `candidate` is its place in the ranking."""

    candidate: int
    file: str
    start: int
    end: int


class Stretch(NamedTuple):
    """A run of lines of one file that was chosen. Lines 1-based, inclusive."""

    file: str
    start: int
    end: int
    candidate: int
    """The best one that has lines in it, by its place in the ranking."""
    tokens: float
    """About what it costs, with the lines above and below."""
    best: int
    """The candidate's best line where that is in it, else the line that is worth most."""


def minus(start: int, end: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs of `start` to `end` that are in none of `taken` (inclusive, in any order)."""
    runs = [(start, end)]
    for low, high in taken:
        if low <= end and start <= high:
            pieces = [piece for a, b in runs for piece in ((a, min(b, low - 1)), (max(a, high + 1), b))]
            runs = [(a, b) for a, b in pieces if a <= b]
    return runs


def parts_of(candidates: Sequence[Candidate]) -> list[list[Part]]:
    """Return each candidate's own lines: what a better one has is not a later one's as well."""
    taken: dict[str, list[tuple[int, int]]] = {}
    found: list[list[Part]] = []
    for place, one in enumerate(candidates):
        if one.end < one.start:  # its file is gone
            found.append([])
            continue
        before = taken.setdefault(one.file, [])  # apart from each other, ascending
        after = low = bisect_right(before, (one.end, sys.maxsize))
        while low and before[low - 1][1] >= one.start:
            low -= 1
        own = minus(one.start, one.end, before[low:after])
        found.append([Part(place, one.file, a, b) for a, b in own])
        for run in own:
            insort(before, run)
    return found


class Sheet:
    """The lines that may be shown, with what each is worth and about what it costs."""

    def __init__(
        self,
        parts: Sequence[Part],
        gains_of: Mapping[Part, Sequence[float]],
        lines_of: Mapping[str, Sequence[str]],
        *,
        best_of: Mapping[int, int],
        wanted_of: Mapping[int, Sequence[int]],
        kept: Sequence[int],
        apart: Sequence[Part],
    ) -> None:
        """Lay out `parts`, which are within their files and do not overlap, nor any of `apart`, which are not shown.

        `gains_of` tells what their lines are worth, `best_of` a candidate's best line (0: none), `wanted_of` the
        lines one of which a candidate of `kept` must show. `kept` are candidates whose lines come before all others, best first.
        """
        self._runs: list[tuple[int, str, int]] = []
        """First line on the sheet, the file, and that line's number in it."""
        self._owners: list[int] = []
        self._lines: list[str] = []
        blocks: list[Block] = []
        edges: list[tuple[int, int]] = []
        gains: list[float] = []
        gaps_taken: dict[str, list[tuple[int, int]]] = {}
        for part in apart:
            gaps_taken.setdefault(part.file, []).append((part.start, part.end))

        def lay(lines: Sequence[str], worth: Sequence[float], owner: int, edge: int, cut: int = 0) -> None:
            """Add lines; what is chosen together does not reach over the line (by index) `cut`."""
            first, last = len(self._lines) + 1, len(self._lines) + len(lines)
            if 0 < cut < len(lines):
                blocks.append(Block(first, first + cut - 1, edge))
                first += cut
            blocks.append(Block(first, last, edge))
            self._lines.extend(lines)
            gains.extend(worth)
            self._owners.extend([owner] * len(lines))

        file, last = "", 0
        for part in sorted(parts, key=lambda part: (part.file, part.start)):
            lines = lines_of[part.file]
            gap = (last + 1, part.start - 1)
            near = part.file == file and gap[1] - gap[0] < GAP_LINES
            if near and gap[0] <= gap[1]:
                near = not any(a <= gap[1] and gap[0] <= b for a, b in gaps_taken.get(file, ()))
                if near:
                    lay(lines[gap[0] - 1 : gap[1]], [0.0] * (gap[1] - gap[0] + 1), -1, -1)
            if not near:
                lay(("",), (0.0,), -1, -1)
                self._runs.append((len(self._lines) + 1, part.file, part.start))
            edges.append((len(self._lines) + 1, len(self._lines) + part.end - part.start + 1))
            cut = best_of[part.candidate] - part.start
            lay(lines[part.start - 1 : part.end], gains_of[part], part.candidate, len(edges) - 1, cut)
            file, last = part.file, part.end

        costs = [LINE_TOKENS + len(line.lstrip()) / CHARACTERS_A_TOKEN for line in self._lines]
        for first, _, _ in self._runs:
            costs[first - 2] = NEVER
        self._worth = gains.copy()
        self._best_of = best_of
        self._gains, self._costs = Sums(gains), Sums(costs)
        self._firsts = [first for first, _, _ in self._runs]
        owners = set(self._owners)  # of a candidate that a better one covers there are no lines
        self._kept = [self._kept_lines(place, wanted_of[place]) for place in kept if place in owners]
        for rank, (start, end) in enumerate(reversed(self._kept), 1):
            gains[start - 1 : end] = [FIRST**rank] * (end - start + 1)
        self._packer = Packer(
            Sums(gains),
            self._costs,
            blocks,
            [not line or line.isspace() for line in self._lines],
            HEADER_TOKENS,
            definitions=edges,
        )

    def choose(self, room: float) -> list[Stretch]:
        """Return what is worth most for about `room` tokens, headers included, by file and line.

        The first of `kept` is always there, and as many of the others as fit, with their best lines alone if need be.
        """
        ranges = self._packer.ranges(room - HEADER_TOKENS)
        if not all(any(one.start <= end and start <= one.end for one in ranges) for start, end in self._kept):
            seeds: list[Range] = []
            for start, _ in self._kept:
                cost = self._costs.of(start, start)
                if not seeds or cost + HEADER_TOKENS <= room:
                    seeds.append(Range(start, start, 0.0, cost))
                    room -= cost + HEADER_TOKENS
            ranges = [*seeds, *self._packer.ranges(room - HEADER_TOKENS)]
        return _joined(sorted([self._stretch(one) for one in ranges], key=lambda one: (one.file, one.start)))

    def grown(self, room: float) -> list[Stretch]:
        """Return one run of lines around the best line of the first of `kept`, of about `room` tokens."""
        start = self._kept[0][0]
        seed = Range(start, start, 0.0, 0.0)
        return [self._stretch(grow(seed, self._gains, self._costs, len(self._lines), room - HEADER_TOKENS))]

    def _kept_lines(self, place: int, wanted: Sequence[int]) -> tuple[int, int]:
        """Return the lines on the sheet that a candidate gets first: from the one of `wanted` that is worth most on."""
        owned = {self._line(i): i for i, owner in enumerate(self._owners, 1) if owner == place}
        there = [owned[line] for line in wanted if line in owned] or [min(owned.values())]
        at = max(there, key=lambda i: self._worth[i - 1])
        last = at
        while last < min(at + KEPT_LINES - 1, len(self._owners)) and self._owners[last] == place:
            last += 1
        return at, last

    def _line(self, at: int) -> int:
        first, _, line = self._runs[bisect_right(self._firsts, at) - 1]
        return at + line - first

    def _stretch(self, chosen: Range) -> Stretch:
        file = self._runs[bisect_right(self._firsts, chosen.start) - 1][1]
        start = self._line(chosen.start)
        end = start + chosen.end - chosen.start
        candidate = min([owner for owner in self._owners[chosen.start - 1 : chosen.end] if owner >= 0])
        best = self._best_of[candidate]
        if not start <= best <= end:
            worth = self._worth[chosen.start - 1 : chosen.end]
            best = start + worth.index(max(worth))
        tokens = self._costs.of(chosen.start, chosen.end) + HEADER_TOKENS
        return Stretch(file, start, end, candidate, tokens, best)


def _joined(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches, which are in order, with those that touch made one."""
    found: list[Stretch] = []
    for one in stretches:
        last = found[-1] if found else None
        if last is not None and last.file == one.file and last.end + 1 >= one.start:
            found[-1] = Stretch(
                one.file,
                last.start,
                max(last.end, one.end),
                min(last.candidate, one.candidate),
                last.tokens + one.tokens,
                (one if one.candidate < last.candidate else last).best,
            )
        else:
            found.append(one)
    return found
