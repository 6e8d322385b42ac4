"""Which parts of a tree a query has to look at, for some rows or for all, so that it ends in time."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

__all__ = ["Span", "around_rows", "longest", "pieces"]

_NEAR = 40
"""Rows. Nearer ones are looked at together: a look costs 25 µs and more, and so do so many rows."""
_MOST_LOOKS = 32
"""Past so many, everything is looked at once: each look goes over all children of the root."""

_NODES = 200_000
"""Of a piece: 30 to 300 ms."""
_WIDE = 20_000
"""Children of a node that need a look at the time they take."""
_CHILD_SECONDS = 2.5e-6
"""Of a node, where nodes with so many children are: five times what it takes in other trees."""
_CHAINED_SECONDS = 0.7e-9
"""Times the square of an error's children: the parser leaves those in a chain, which is gone through for each of them."""
_DEEPEST = 40_000
"""Past 65,535 nodes inside each other a look takes a hundred times as long, and below this depth there may be 20,000 more."""

Span = tuple[tuple[int, int], tuple[int, int]]
"""A range of points (0-based row, byte in the row), end exclusive."""


def around_rows(rows: Sequence[int]) -> list[Span]:
    """Return the spans that hold the ascending 0-based rows; none where looking at everything costs less."""
    spans: list[list[int]] = []
    for row in rows:
        if spans and row - spans[-1][1] <= _NEAR:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    return [] if len(spans) > _MOST_LOOKS else [((first, 0), (last + 1, 0)) for first, last in spans]


def pieces(root: Node) -> Iterator[tuple[int, int]]:
    """Yield ranges of bytes, in order, that are looked at one after the other."""
    count = 1 + root.descendant_count // _NODES
    size = root.end_byte // count + 1
    for at in range(0, root.end_byte + 1, size):
        yield at, at + size


def longest(root: Node) -> float:
    """Return the seconds that one look at a tree, or at a piece of it, can take: more than a moment only in data and nonsense."""
    seconds = 0.0
    waiting = [(root, 0)] if root.descendant_count >= _WIDE else []
    while waiting:
        node, depth = waiting.pop()
        count = node.child_count
        if depth > _DEEPEST:
            return inf
        if count < _WIDE:
            waiting += [(child, depth + 1) for child in node.children if child.descendant_count >= _WIDE]
        elif node.type == "ERROR":
            seconds += _CHAINED_SECONDS * count * count
        else:
            seconds += _CHILD_SECONDS * node.descendant_count
    return seconds
