"""What is said of the ranges of a file: why each was chosen, and which ones that match were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.outline import enclosing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.rank import Ranking
    from slicegrep.types import Outline

__all__ = ["REASONS", "Explainer", "Region"]

REASONS = {
    "reference": "recent tool output names a line of it",
    "definition": "it holds the definition that the focus names best, or one named nearly as well",
    "multi_match(n)": "n different terms of the focus stand within one block of it",
    "rare_term": "it holds a term that stands in no more than RARE_BLOCKS blocks of the file",
    "match": "it holds one term of the focus",
    "imports": "it is mostly import lines",
    "nearby": "it is around what matches, or where changes often are",
}
"""Every reason that a slice can carry, at most MOST_REASONS of them, in this order."""

RARE_BLOCKS = 2
MOST_REASONS = 2
NAMED_NEARLY = 0.6
"""Of the best named definition's value."""

Region = tuple[int, int, str]
"""First line, last line (1-based, inclusive), qualified name of the definition or ""."""


class Explainer:
    """The reasons and the regions of one ranked file; made once, asked for each plan."""

    def __init__(
        self, outline: Outline, ranking: Ranking, imports: Sequence[bool], referred: Sequence[int]
    ) -> None:
        self._outline = outline
        self._evidence = ranking.evidence
        self._imports = imports
        self._referred = referred
        named = ranking.evidence.named
        least = max(NAMED_NEARLY * max(named, default=0.0), 1e-9)
        self._named_lines = [s.name_line for s, value in zip(outline.symbols, named) if value >= least]
        frequency: dict[str, int] = {}
        for counts in ranking.evidence.counts:
            for key in counts:
                frequency[key] = frequency.get(key, 0) + 1
        self._rare = {key for key, blocks in frequency.items() if blocks <= RARE_BLOCKS}
        self._regions = self._matching()

    def reasons(self, start: int, end: int) -> tuple[str, ...]:
        """Return why lines `start` to `end` are shown: keys of REASONS."""
        found: list[str] = []
        if any(start <= line <= end for line in self._referred):
            found.append("reference")
        if any(start <= line <= end for line in self._named_lines):
            found.append("definition")
        keys: set[str] = set()
        most = 0
        for block, counts in zip(self._evidence.blocks, self._evidence.counts):
            low, high = max(block.start, start), min(block.end, end)
            if not counts or low > high:
                continue
            here = {key for line in self._evidence.held[low - 1 : high] for key in line}
            most = max(most, len({key.lstrip('="') for key in here}))
            keys |= here
        if most > 1:
            found.append(f"multi_match({most})")
        if not keys.isdisjoint(self._rare):
            found.append("rare_term")
        if keys and not found:
            found.append("match")
        if not found:
            found.append("imports" if 2 * sum(self._imports[start - 1 : end]) > end - start else "nearby")
        return tuple(found[:MOST_REASONS])

    def left_out(self, shown: Sequence[tuple[int, int]]) -> list[Region]:
        """Return the runs of lines outside `shown` (ranges in any order) that hold something of the focus, in file order.

        Each lies in one innermost definition.
        """
        ranges = sorted(shown)
        found: list[Region] = []
        first = 0
        for start, end, name in self._regions:
            while first < len(ranges) and ranges[first][1] < start:
                first += 1
            at = start
            for low, high in ranges[first:]:
                if low > end:
                    break
                if low > at and self._holds(at, low - 1):
                    found.append((at, low - 1, name))
                at = max(at, high + 1)
            if at <= end and (at == start or self._holds(at, end)):
                found.append((at, end, name))
        return found

    def name_of(self, line: int) -> str:
        """Return the qualified name of the definition around a line, "" at the top level."""
        around = enclosing(self._outline, line)
        return around.qualified if around else ""

    def _holds(self, start: int, end: int) -> bool:
        return any(self._evidence.held[start - 1 : end])

    def _matching(self) -> list[Region]:
        regions: list[Region] = []
        before = -2
        for block, counts in zip(self._evidence.blocks, self._evidence.counts):
            if not counts:
                continue
            name = self._outline.symbols[block.symbol].qualified if block.symbol >= 0 else ""
            if regions and block.symbol == before and regions[-1][1] == block.start - 1:
                regions[-1] = (regions[-1][0], block.end, name)
            else:
                regions.append((block.start, block.end, name))
            before = block.symbol
        return regions
