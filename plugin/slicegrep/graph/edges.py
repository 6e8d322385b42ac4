"""References gathered into edges: one for each definition at the other end, in the order of an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.graph.answers import Edge
from slicegrep.graph.facts import IMPORT, STRENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slicegrep.index import View

__all__ = ["Mention", "edges_of", "in_order", "merged"]


class Mention(NamedTuple):
    """One reference, and the definition at its other end (ids of a view; `symbol` -1: the module level of `file`)."""

    symbol: int
    file: int
    line: int
    kind: str
    confidence: float


def edges_of(mentions: Iterable[Mention], tier: str) -> list[Edge]:
    """Return an edge for each definition, as sure and as strong as its surest and strongest reference.

    Lines of imports are told only where there are no others: they do not say where it is used.
    """
    found: dict[tuple[int, int], list[Mention]] = {}
    for one in mentions:
        found.setdefault((one.symbol, one.file), []).append(one)
    return [
        Edge(
            symbol,
            file,
            tuple(
                sorted({one.line for one in several if one.kind != IMPORT} or {one.line for one in several})
            ),
            tier,
            round(max(one.confidence for one in several), 3),
            max((one.kind for one in several), key=STRENGTH.__getitem__),
        )
        for (symbol, file), several in found.items()
    ]


def in_order(view: View, edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return edges with the surest first, then by path, line and definition."""

    def key(edge: Edge) -> tuple[float, str, tuple[int, ...], int]:
        row = view.files[edge.file]
        return -edge.confidence, row.path if row else "", edge.lines, edge.symbol

    return tuple(sorted(edges, key=key))


def merged(causes: Iterable[str]) -> tuple[str, ...]:
    """Return each cause once; of those that differ in their numbers alone the one with the greatest."""
    found: dict[str, str] = {}
    for one in causes:
        kind = re.sub(r"\d+", "#", one)
        found[kind] = max(
            found.get(kind, one), one, key=lambda text: list(map(int, re.findall(r"\d+", text)))
        )
    return tuple(found.values())
