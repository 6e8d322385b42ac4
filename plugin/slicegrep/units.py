"""The parts of a file that its vocabulary finds: definitions of readable length, else the blocks with the evidence."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.filescore import Scores
    from slicegrep.index import FileRow, View
    from slicegrep.index.outlines import Outlined

__all__ = ["UNIT_LINES", "Unit", "units_of"]

UNIT_LINES = 80
"""A definition of at most so many lines is shown whole; of a longer one, the blocks that answer."""
FURTHER_CHUNKS = 0.3
"""What each chunk of a definition but the best adds of its own score."""
LEAST_SHARE = 0.15
"""Of the best chunk's score of its file: chunks below it are no evidence."""
NAMED = 1.0
"""A definition that the query names wholly against one that it does not name, the evidence being equal."""
EXACT = 1.0

_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:include|define|if|endif|else)\b)|//|\*|/\*|--|@|\[|\{-)")


class Unit(NamedTuple):
    """A run of lines of one file, 1-based, inclusive. `symbol` is a symbol id of the view, or -1."""

    start: int
    end: int
    score: float
    symbol: int
    named: float
    """How far the query names `symbol`, 0 to 1."""
    exact: bool
    """Whether the query spells it."""


def units_of(view: View, row: FileRow, scores: Scores, lines: Sequence[str] = ()) -> list[Unit]:
    """Return the units of a file that have evidence, best first; they do not overlap.

    `lines` of the file, where it was read, tell which comment stands above which definition: it is part of it.
    """
    chunks = scores.chunks[row.first_chunk : row.first_chunk + row.chunks]
    least = LEAST_SHARE * max(chunks, default=0.0)
    having = [chunk for chunk, score in enumerate(chunks, row.first_chunk) if score > least]
    if not having:
        return []
    symbols = view.outlined(row.id)
    first = view.first_symbol[row.id]
    grouped = _grouped(view, symbols, first, having, lines)
    starts, ends = view.chunk_start, view.chunk_end
    found = []
    for (owner, block), members in grouped.items():
        values = [scores.chunks[chunk] for chunk in members]
        best = max(values)
        score = best + FURTHER_CHUNKS * (sum(values) - best)
        start, end = starts[members[0]], ends[members[-1]]
        named, exact = 0.0, False
        if owner >= 0:
            if block < 0:
                start, end = symbols.starts[owner], symbols.ends[owner]
            if block < 0 or start <= symbols.name_lines[owner] <= end:
                named, exact = scores.named.get(first + owner, 0.0), first + owner in scores.exact
        score *= 1 + NAMED * named + EXACT * exact
        found.append(Unit(start, end, score, first + owner if owner >= 0 else -1, named, exact))
    found.sort(key=lambda unit: (-unit.score, unit.start))
    return found


def _grouped(
    view: View, symbols: Outlined, first: int, having: Sequence[int], lines: Sequence[str]
) -> dict[tuple[int, int], list[int]]:
    """Return the chunks of each unit: by the index of a definition that is shown whole and -1, else by its owner's and the chunk."""
    ends, owners = view.chunk_end, view.chunk_symbol
    begins, stops, above = symbols.starts, symbols.ends, symbols.above
    grouped: dict[tuple[int, int], list[int]] = {}
    for chunk in having:
        owner = max(owners[chunk] - first, -1)
        end = ends[chunk]
        if end <= len(lines):
            below = bisect_right(begins, end + 1) - 1
            if below >= 0 and begins[below] == end + 1 and _COMMENT.match(lines[end - 1]):
                owner = below
        whole = owner >= 0 and stops[owner] - begins[owner] < UNIT_LINES
        grouped.setdefault((owner, -1 if whole else chunk), []).append(chunk)
    around: set[int] = set()
    for owner, block in grouped:
        outer = above[owner] - 1 if owner >= 0 and block < 0 else -1
        while outer >= 0 and outer not in around:
            around.add(outer)
            outer = above[outer] - 1
    for outer in around:
        if (outer, -1) in grouped:  # of what holds another unit, its own blocks are units
            grouped.update({(outer, chunk): [chunk] for chunk in grouped.pop((outer, -1))})
    return grouped
