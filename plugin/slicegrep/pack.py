"""Which ranges of a file fit a budget: the runs of lines with the most gain for their tokens."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slicegrep.evidence import Block

__all__ = ["Atom", "Packer", "Range", "Sums", "atoms_of", "grow"]

ATOM_LINES = 4
"""Lines that are chosen together. 3, 6 and 8 showed as many touched lines within noise (docs/ranking.md)."""
GAP_LINES = 3
WHOLE_LINES = 2
"""A range that begins or ends so few lines inside a definition is widened to the definition's edge: an `if` without its
`return` costs the reader a second look."""
MOST_MISSES = 100
"""Atoms in a row that did not fit, after which the budget counts as spent."""

Atom = tuple[int, int, float]
"""First line, last line, tokens of its numbered lines."""


@dataclass(frozen=True, slots=True)
class Range:
    """Lines 1-based, inclusive; `gain` is the sum of its lines' gains, `tokens` of its numbered lines."""

    start: int
    end: int
    gain: float
    tokens: float


class Sums:
    """Sums over ranges of lines (1-based, inclusive) in constant time."""

    def __init__(self, values: Sequence[float]) -> None:
        self._upto = list(accumulate(values, initial=0.0))

    def of(self, start: int, end: int) -> float:
        """Return the sum of lines `start` to `end`."""
        return self._upto[end] - self._upto[start - 1]

    def of_each(self, ranges: Iterable[tuple[int, int]]) -> list[float]:
        """Return the sum of each range."""
        upto = self._upto
        return [upto[end] - upto[start - 1] for start, end in ranges]

    @property
    def all(self) -> float:
        """The sum of all lines."""
        return self._upto[-1]


class Packer:
    """The atoms of one ranked file; made once, asked for each budget."""

    def __init__(
        self,
        gains: Sums,
        costs: Sums,
        blocks: Sequence[Block],
        blank: Sequence[bool],
        overhead: float,
        *,
        definitions: Sequence[tuple[int, int]] = (),
        atoms: Sequence[Atom] | None = None,
    ) -> None:
        """`overhead` is what each range past the first costs on top of its lines; `blank[i]`: line i+1 is blank.

        `definitions` are the first and last line of each symbol that a block names, `atoms` what `atoms_of` returns.
        """
        self._starts = [block.start for block in blocks]
        self._around = [
            definitions[block.symbol] if 0 <= block.symbol < len(definitions) else None for block in blocks
        ]
        self._gains = gains
        self._costs = costs
        self._blank = blank
        self._overhead = overhead
        atoms = atoms_of(blocks, costs) if atoms is None else atoms
        self._atoms = [(start, end) for start, end, _ in atoms]
        self._gain = gains.of_each(self._atoms)
        self._cost = [cost for _, _, cost in atoms]
        worth = [gain / (cost + overhead) for gain, cost in zip(self._gain, self._cost, strict=True)]
        self._alone = sorted([(-value, i) for i, value in enumerate(worth) if value > 0])

    def ranges(self, budget: float) -> list[Range]:
        """Choose ranges whose tokens, with the overheads, stay near `budget`; in file order.

        Greedy by gain for tokens over atoms of at most ATOM_LINES lines; an atom beside a chosen one costs no overhead,
        one between two gives one back. Gaps of GAP_LINES or fewer are closed where the budget allows: they cost less
        than a header. Blank lines at the ends of a range are left off.
        """
        chosen: set[int] = set()
        left = budget + self._overhead
        beside: list[
            tuple[float, int]
        ] = []  # atoms with a chosen neighbour, at their new worth; old entries stay
        at = misses = 0
        alone, gains, costs, overhead = self._alone, self._gain, self._cost, self._overhead
        last = len(self._atoms) - 1
        while (beside or at < len(alone)) and misses < MOST_MISSES:
            if beside and (at == len(alone) or beside[0] <= alone[at]):
                _, i = heapq.heappop(beside)
            else:
                _, i = alone[at]
                at += 1
            if i in chosen:
                continue
            price = costs[i] + overhead * (1 - (i - 1 in chosen) - (i + 1 in chosen))
            if price > left:
                misses += 1
                continue
            misses = 0
            chosen.add(i)
            left -= price
            for k in (i - 1, i + 1):
                if 0 <= k <= last and k not in chosen and gains[k] > 0:
                    price = costs[k] + overhead * (1 - (k - 1 in chosen) - (k + 1 in chosen))
                    heapq.heappush(beside, (-gains[k] / (price if price > 1.0 else 1.0), k))  # noqa: FURB136 (twice as fast)
        runs = self._closed(_runs([self._atoms[i] for i in sorted(chosen)]), left)
        trimmed = self._whole([_trimmed(run, self._blank) for run in runs])
        return [Range(a, b, self._gains.of(a, b), self._costs.of(a, b)) for a, b in trimmed if a <= b]

    def _whole(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Widen runs to the edges of the definitions that they nearly reach, where no other run is.

        That is over the budget by a few lines, which whoever asks for the ranges weighs.
        """
        whole: list[tuple[int, int]] = []
        for k, (start, end) in enumerate(runs):
            first, last = self._edge(start, 0), self._edge(end, 1)
            widened_up = 0 < start - first <= WHOLE_LINES and (not whole or whole[-1][1] < first)
            widened_down = 0 < last - end <= WHOLE_LINES and (k + 1 == len(runs) or last < runs[k + 1][0])
            whole.append((first if widened_up else start, last if widened_down else end))
        return whole

    def _edge(self, line: int, side: int) -> int:
        around = self._around[bisect_right(self._starts, line) - 1] if self._starts else None
        return line if around is None else around[side]

    def _closed(self, runs: Sequence[tuple[int, int]], left: float) -> list[tuple[int, int]]:
        closed: list[tuple[int, int]] = []
        for start, end in runs:
            if closed and start - closed[-1][1] - 1 <= GAP_LINES:
                price = self._costs.of(closed[-1][1] + 1, start - 1) - self._overhead
                if price <= left:
                    closed[-1] = (closed[-1][0], end)
                    left -= price
                    continue
            closed.append((start, end))
        return closed


def _trimmed(run: tuple[int, int], blank: Sequence[bool]) -> tuple[int, int]:
    start, end = run
    while start <= end and blank[start - 1]:
        start += 1
    while end > start and blank[end - 1]:
        end -= 1
    return start, end


def grow(seed: Range, gains: Sums, costs: Sums, lines: int, budget: float) -> Range:
    """Widen a range by ATOM_LINES lines at a time, to the side with the better gain for tokens, up to `budget` tokens."""
    start, end = seed.start, seed.end
    while True:
        sides = []
        if start > 1:
            sides.append((max(start - ATOM_LINES, 1), end))
        if end < lines:
            sides.append((start, min(end + ATOM_LINES, lines)))
        now, had = costs.of(start, end), gains.of(start, end)
        fitting = [side for side in sides if costs.of(*side) <= budget]
        if not fitting:
            return Range(start, end, had, now)
        start, end = max(fitting, key=lambda side: (gains.of(*side) - had) / max(costs.of(*side) - now, 1.0))


def atoms_of(blocks: Sequence[Block], costs: Sums) -> list[Atom]:
    """Cut blocks into runs of ATOM_LINES lines at most, of nearly equal length."""
    atoms: list[tuple[int, int]] = []
    for block in blocks:
        length = block.end - block.start + 1
        pieces = -(-length // ATOM_LINES)
        at = block.start
        for k in range(pieces):
            size = length // pieces + (1 if k < length % pieces else 0)
            atoms.append((at, at + size - 1))
            at += size
    return [(*atom, cost) for atom, cost in zip(atoms, costs.of_each(atoms), strict=True)]


def _runs(atoms: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for start, end in atoms:
        if runs and runs[-1][1] == start - 1:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
