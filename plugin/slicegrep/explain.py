"""What is said of the ranges of a file: why each was chosen, and which ones that match were left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from slicegrep.outline import enclosing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.pack import Sums
    from slicegrep.prepared import Prepared
    from slicegrep.rank import Ranking

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
"""Every reason that a slice can carry, the first MOST_REASONS of them that hold, in this order."""

RARE_BLOCKS = 2
MOST_REASONS = 1
NAMED_NEARLY = 0.6
"""Of the best named definition's value."""

Region = tuple[int, int, str]
"""First line, last line (1-based, inclusive), qualified name of the definition or ""."""


class Explainer:
    """The reasons and the regions of one ranked file; made once, asked for each plan."""

    def __init__(self, prepared: Prepared, ranking: Ranking, gains: Sums, referred: Sequence[int]) -> None:
        evidence = ranking.evidence
        self._outline = outline = prepared.outline
        self._imports = prepared.imports
        self._evidence = evidence
        self._gains = gains
        self._referred = referred
        self._block_starts = [block.start for block in evidence.blocks]
        least = max(NAMED_NEARLY * max(evidence.named, default=0.0), 1e-9)
        self._named_lines = [
            symbol.name_line
            for symbol, value in zip(outline.symbols, evidence.named, strict=True)
            if value >= least
        ]
        places = evidence.places.values()
        self._lines = sorted(set().union(*[place.lines for place in places]))
        rare = [place.lines for place in places if len(place.blocks) <= RARE_BLOCKS]
        self._rare_lines = sorted(set().union(*rare))
        self._regions = self._matching()
        self._region_starts = [start for start, _, _ in self._regions]
        self._by_loss = sorted(
            range(len(self._regions)), key=lambda i: -gains.of(self._regions[i][0], self._regions[i][1])
        )

    def reasons(self, start: int, end: int) -> tuple[str, ...]:
        """Return why lines `start` to `end` are shown: keys of REASONS."""
        return tuple(self._reasons(start, end)[:MOST_REASONS])

    def _reasons(self, start: int, end: int) -> list[str]:
        found: list[str] = []
        if any(start <= line <= end for line in self._referred):
            found.append("reference")
        if any(start <= line <= end for line in self._named_lines):
            found.append("definition")
        if len(found) >= MOST_REASONS:
            return found
        most = self._most_together(start, end) if _any_of(self._lines, start, end) else 0
        if most > 1:
            found.append(f"multi_match({most})")
        if _any_of(self._rare_lines, start, end):
            found.append("rare_term")
        if most and not found:
            found.append("match")
        if not found:
            imports = sum(self._imports[start - 1 : end])
            found.append("imports" if 2 * imports > end - start else "nearby")
        return found

    def _most_together(self, start: int, end: int) -> int:
        """Return the most different keys of one block in a range; a word counts once, as a name and as a term."""
        most = 0
        blocks = self._evidence.blocks
        for i in range(bisect_right(self._block_starts, start) - 1, len(blocks)):
            if blocks[i].start > end:
                break
            first, last = max(blocks[i].start, start), min(blocks[i].end, end)
            if _any_of(self._lines, first, last):
                keys = {
                    key.lstrip('="')
                    for key, place in self._evidence.places.items()
                    if _any_of(place.lines, first, last)
                }
                most = max(most, len(keys))
        return most

    def left_out(self, shown: Sequence[tuple[int, int]], most: int) -> tuple[list[Region], int]:
        """Return the `most` worst losses outside `shown` (ranges in any order), and how many more there are.

        Each is a run of lines that holds something of the focus and lies in one innermost definition.
        """
        cut: set[int] = set()
        for low, high in shown:
            i = max(bisect_right(self._region_starts, low) - 1, 0)
            while i < len(self._regions) and self._regions[i][0] <= high:
                if self._regions[i][1] >= low:
                    cut.add(i)
                i += 1
        pieces = [piece for i in cut for piece in self._pieces(self._regions[i], sorted(shown))]
        taken = 0
        for i in self._by_loss:
            if taken == most:
                break
            if i not in cut:
                pieces.append(self._regions[i])
                taken += 1
        pieces.sort(key=lambda piece: (-self._gains.of(piece[0], piece[1]), piece))
        uncounted = len(self._regions) - len(cut) - taken
        return pieces[:most], max(len(pieces) - most, 0) + uncounted

    def name_of(self, line: int) -> str:
        """Return the qualified name of the definition around a line, "" at the top level."""
        around = enclosing(self._outline, line)
        return around.qualified if around else ""

    def _pieces(self, region: Region, shown: Sequence[tuple[int, int]]) -> list[Region]:
        start, end, name = region
        found: list[Region] = []
        for low, high in [*shown, (end + 1, end + 1)]:
            if start <= min(low - 1, end) and _any_of(self._lines, start, min(low - 1, end)):
                found.append((start, min(low - 1, end), name))
            start = max(start, high + 1)
        return found

    def _matching(self) -> list[Region]:
        regions: list[Region] = []
        before = -2
        matching = set().union(*[place.blocks for place in self._evidence.places.values()])
        for block in map(self._evidence.blocks.__getitem__, sorted(matching)):
            name = self._outline.symbols[block.symbol].qualified if block.symbol >= 0 else ""
            if regions and block.symbol == before and regions[-1][1] == block.start - 1:
                regions[-1] = (regions[-1][0], block.end, name)
            else:
                regions.append((block.start, block.end, name))
            before = block.symbol
        return regions


def _any_of(lines: Sequence[int], start: int, end: int) -> bool:
    """Whether a line of `start` to `end` is among some line indexes, in order."""
    at = bisect_left(lines, start - 1)
    return at < len(lines) and lines[at] < end
