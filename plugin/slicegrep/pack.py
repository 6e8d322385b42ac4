"""Which ranges of a file fit a budget: the runs of lines with the most gain for their tokens."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.rank import Block

__all__ = ["Range", "pack"]

ATOM_LINES = 6
GAP_LINES = 3


@dataclass(frozen=True, slots=True)
class Range:
    """Lines 1-based, inclusive; `gain` is the sum of its lines' gains, `tokens` of its numbered lines."""

    start: int
    end: int
    gain: float
    tokens: int


def pack(gains: Sequence[float], costs: Sequence[int], blocks: Sequence[Block], budget: int, overhead: int) -> list[Range]:
    """Choose ranges whose tokens, with `overhead` for each range past the first, stay within `budget`.

    Greedy by gain for tokens over atoms of at most ATOM_LINES lines; an atom beside a chosen one costs no overhead.
    Gaps of GAP_LINES or fewer between chosen ranges are closed where the budget allows: they cost less than a header.
    """
    atoms = _atoms(blocks)
    gain = [sum(gains[a - 1 : b]) for a, b in atoms]
    cost = [sum(costs[a - 1 : b]) for a, b in atoms]
    chosen = [False] * len(atoms)
    left = budget + overhead
    heap = [(-(g / (c + overhead)), i, c + overhead) for i, (g, c) in enumerate(zip(gain, cost)) if g > 0]
    heapq.heapify(heap)
    while heap:
        _, i, price = heapq.heappop(heap)
        if chosen[i]:
            continue
        beside = (i > 0 and chosen[i - 1]) or (i + 1 < len(atoms) and chosen[i + 1])
        now = cost[i] + (0 if beside else overhead)
        if i > 0 and chosen[i - 1] and i + 1 < len(atoms) and chosen[i + 1]:
            now -= overhead
        if now != price:
            heapq.heappush(heap, (-(gain[i] / max(now, 1)), i, now))
            if now > price:
                continue
            continue
        if now > left:
            continue
        chosen[i] = True
        left -= now
        for k in (i - 1, i + 1):
            if 0 <= k < len(atoms) and not chosen[k] and gain[k] > 0:
                both = k > 0 and chosen[k - 1] and k + 1 < len(atoms) and chosen[k + 1]
                price = cost[k] - (overhead if both else 0)
                heapq.heappush(heap, (-(gain[k] / max(price, 1)), k, price))
    return _close_gaps(_runs(atoms, chosen), gains, costs, left, overhead)


def _atoms(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    atoms: list[tuple[int, int]] = []
    for block in blocks:
        length = block.end - block.start + 1
        pieces = -(-length // ATOM_LINES)
        at = block.start
        for k in range(pieces):
            size = length // pieces + (1 if k < length % pieces else 0)
            atoms.append((at, at + size - 1))
            at += size
    return atoms


def _runs(atoms: Sequence[tuple[int, int]], chosen: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for (start, end), taken in zip(atoms, chosen):
        if not taken:
            continue
        if runs and runs[-1][1] == start - 1:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def _close_gaps(runs: list[tuple[int, int]], gains: Sequence[float], costs: Sequence[int], left: int, overhead: int) -> list[Range]:
    closed: list[tuple[int, int]] = []
    for start, end in runs:
        if closed:
            before = closed[-1]
            price = sum(costs[before[1] : start - 1]) - overhead
            if start - before[1] - 1 <= GAP_LINES and price <= left:
                closed[-1] = (before[0], end)
                left -= price
                continue
        closed.append((start, end))
    return [Range(a, b, sum(gains[a - 1 : b]), sum(costs[a - 1 : b])) for a, b in closed]
