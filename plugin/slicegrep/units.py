"""The parts of a file that its vocabulary finds: definitions of readable length, else the blocks with the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slicegrep.filescore import Scores
    from slicegrep.index import FileRow, View

__all__ = ["Unit", "units_of"]

UNIT_LINES = 80
"""A definition of at most so many lines is shown whole; of a longer one, the blocks that answer."""
FURTHER_CHUNKS = 0.3
"""What each chunk of a definition but the best adds of its own score."""
NAMED = 1.0
"""A definition that the query names wholly against one that does not, the evidence being equal."""
NEIGHBOUR = 0.7
"""A block beside another is taken along when it has this share of its score."""
JOINED_LINES = 60


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of lines of one file, 1-based, inclusive. `symbol` is a symbol id of the view, or -1."""

    start: int
    end: int
    score: float
    symbol: int
    named: float
    """How far the query names `symbol`, 0 to 1."""
    exact: bool
    """Whether the query spells it."""


def units_of(view: View, row: FileRow, scores: Scores) -> list[Unit]:
    """Return the units of a file, best first, without overlap; those without evidence are left out."""
    grouped: dict[tuple[int, int], list[int]] = {}
    for chunk in range(row.first_chunk, row.first_chunk + row.chunks):
        if scores.chunks[chunk] > 0:
            owner = view.chunk_symbol[chunk]
            if owner >= 0:
                symbol = view.symbol(owner)
                if symbol.end - symbol.start < UNIT_LINES:
                    grouped.setdefault((owner, -1), []).append(chunk)
                    continue
            grouped.setdefault((owner, chunk), []).append(chunk)
    found = []
    for (owner, block), chunks in grouped.items():
        values = sorted([scores.chunks[chunk] for chunk in chunks], reverse=True)
        score = values[0] + FURTHER_CHUNKS * sum(values[1:])
        named, exact = scores.named.get(owner, 0.0), owner in scores.exact
        if block >= 0:
            start, end = view.chunk_start[block], view.chunk_end[block]
            first = owner >= 0 and start <= view.symbol(owner).name_line <= end
            named, exact = (named, exact) if first else (0.0, False)
        else:
            symbol = view.symbol(owner)
            start, end = symbol.start, symbol.end
        found.append(Unit(start, end, score * (1 + NAMED * named + NAMED * exact), owner, named, exact))
    found.sort(key=lambda unit: (-unit.score, unit.start))
    return found
