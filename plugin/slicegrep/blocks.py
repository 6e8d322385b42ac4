"""The blocks of a file, which are BM25's documents: runs of lines of one innermost definition."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline, Source

__all__ = ["Block", "blocks_of"]

BLOCK_LINES = 30
"""A block is a definition's own lines, cut at blank lines where it is longer than this."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines inside one innermost definition (`symbol` -1: none). Lines 1-based, inclusive."""

    start: int
    end: int
    symbol: int


def blocks_of(source: Source, outline: Outline) -> tuple[Block, ...]:
    """Cut the file at the borders of definitions, and what is longer than BLOCK_LINES at blank lines."""
    n = len(source.lines)
    owner = [-1] * (n + 2)
    for index, symbol in enumerate(outline.symbols):
        end = min(symbol.end, n)
        owner[symbol.start : end + 1] = [index] * max(end + 1 - symbol.start, 0)
    cuts = [1]
    cuts.extend(line for line in range(2, n + 1) if owner[line] != owner[line - 1])
    cuts.append(n + 1)
    blocks: list[Block] = []
    for start, after in pairwise(cuts):
        at = start
        while after - at > BLOCK_LINES:
            cut = _blank_between(source.lines, at + BLOCK_LINES // 2, at + BLOCK_LINES - 1)
            blocks.append(Block(at, cut, owner[at]))
            at = cut + 1
        if at < after:
            blocks.append(Block(at, after - 1, owner[at]))
    return tuple(blocks)


def _blank_between(lines: Sequence[str], low: int, high: int) -> int:
    """Return the last blank line in low..high (1-based), else `high`."""
    for line in range(high, low - 1, -1):
        if not lines[line - 1].strip():
            return line
    return high
