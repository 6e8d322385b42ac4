"""The graph's answers as the operations say them: ids and paths in place of numbers, what was left out named."""

from __future__ import annotations

import posixpath
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slicegrep.graph import Graph
from slicegrep.graph.edges import merged
from slicegrep.graph.facts import CALL, IMPORT, STRENGTH
from slicegrep.revision import revision_of
from slicegrep.service.errors import NotFound
from slicegrep.service.models import (
    Envelope,
    ImpactAnswer,
    Neighbour,
    NeighbourhoodEntry,
    Place,
    ReachedNeighbour,
    RelatedAnswer,
)
from slicegrep.service.naming import place_of
from slicegrep.service.symbol_ids import askable, id_of, symbol_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slicegrep.graph.answers import Edge, Found
    from slicegrep.service.files import Files
    from slicegrep.service.models import CallersRequest, ImpactRequest
    from slicegrep.service.naming import Definition

__all__ = ["SURE", "Related"]

SURE = 0.8
"""Guesses of the parser tier below this stand in no neighbourhood."""
_LISTS = ("callers", "callees", "tests")
_PART = 8
"""A list of a neighbourhood may take an eighth of the time that is left, the last ones more: most take a hundredth."""
_MOST_WALKED = 1_000
"""Definitions that an impact looks through, tests and others: past `k`, so that a list that is cut says by how many."""
_MODULE = "module"
"""The kind of a neighbour that is no definition: the lines of a file outside of all of them."""


class Related:
    """The graph of the view of `files`, asked until the moment `until` (of time.monotonic)."""

    def __init__(self, files: Files, home: str, until: float) -> None:
        self._files = files
        self._graph = Graph(files.view, home)
        self._until = until

    def neighbourhoods(self, anchors: Sequence[Definition], k: int) -> list[NeighbourhoodEntry]:
        """Return at most `k` callers, callees and tests of each definition, without mere imports.

        Callers are none of the tests, which have a list of their own. Calls come before other references, the surest first, then
        what is near. None takes more than a part of the time that is left, so that a name that stands everywhere does not
        take it all.
        """
        shares = len(_LISTS) * len(anchors)
        entries: list[NeighbourhoodEntry] = []
        for anchor in anchors:
            symbol = self._number(anchor)
            lists: dict[str, list[Neighbour]] = {}
            envelopes: list[Envelope] = []
            for name in _LISTS:
                now = time.monotonic()
                found: Found = getattr(self._graph, name)(
                    symbol, until=now + (self._until - now) / min(shares, _PART)
                )
                shares -= 1
                found = replace(found, edges=tuple(self._telling(name, symbol, found.edges)))
                ends, envelope = self._neighbours(found, SURE)
                # overloads of one name are one
                listed = list({(end.path, end.symbol): end for end in reversed(ends)}.values())[::-1]
                lists[name] = listed[:k]
                if len(listed) > k:
                    envelope = _less(envelope, f"{k} of {len(listed)} {name} are listed")
                envelopes.append(envelope)
            module = self._graph.module(symbol, self._files.prefix)
            entry: dict[str, Any] = {**place_of(anchor), **lists, "module": module}
            entries.append(NeighbourhoodEntry(**entry, envelope=_together(envelopes)))
        return entries

    def _telling(self, name: str, symbol: int, edges: Iterable[Edge]) -> list[Edge]:
        """Return the edges of a list that say something of a definition, what says most first."""
        kept = [edge for edge in edges if edge.kind != IMPORT]
        if name == "tests":
            return kept
        if name == "callers":
            kept = [edge for edge in kept if not self._graph.is_test(edge.file)]
        else:  # a type in its own signature
            kept = [edge for edge in kept if edge.kind == CALL or not self._graph.is_of(symbol, edge.symbol)]
        files = self._files.view.files
        own = files[self._files.view.symbol_file[symbol]]
        folder = posixpath.dirname(own.path) if own is not None else ""

        def rank(edge: Edge) -> tuple[int, float, bool, bool, str, tuple[int, ...]]:
            row = files[edge.file]
            path = row.path if row is not None else ""
            far = row is not own
            return (
                -STRENGTH[edge.kind],
                -edge.confidence,
                far,
                posixpath.dirname(path) != folder,
                path,
                edge.lines,
            )

        return sorted(kept, key=rank)

    def callers(self, one: Definition, request: CallersRequest) -> RelatedAnswer:
        """Return who refers to a definition."""
        return self._answer(one, self._graph.callers(self._number(one), until=self._until), request)

    def callees(self, one: Definition, request: CallersRequest) -> RelatedAnswer:
        """Return what a definition refers to."""
        return self._answer(one, self._graph.callees(self._number(one), until=self._until), request)

    def impact(self, one: Definition, request: ImpactRequest) -> ImpactAnswer:
        """Return what depends on a definition, at most `k` of what is no test and as many tests."""
        found = self._graph.impact(
            self._number(one),
            depth=request.depth,
            most=_MOST_WALKED,
            least_confidence=request.least_confidence,
            until=self._until,
        )
        reached: list[ReachedNeighbour] = []
        tests: list[ReachedNeighbour] = []
        for step in found.reached:
            said = self._end(step.edge)
            if said is not None:
                by = ReachedNeighbour(**said, depth=step.depth, through=self._id(step.through))
                (tests if step.is_test else reached).append(by)
        return ImpactAnswer(
            symbol=Place(**place_of(one)),
            reached=reached[: request.k],
            more=max(0, len(reached) - request.k),
            tests=tests[: request.k],
            more_tests=max(0, len(tests) - request.k),
            envelope=_said(found.envelope),
            revision=revision_of(self._files.view.root),
        )

    def _number(self, one: Definition) -> int:
        """Return the view's number of a definition. Raises NotFound where the file is another since the view was made."""
        number = symbol_of(self._files.view, one.id, self._files.prefix)
        if number is None:
            raise NotFound(f"the file of {one.id!r} is being changed; ask again")
        return number

    def _id(self, symbol: int) -> str:
        """Return the id of a definition; "" for one outside of the tree."""
        view, prefix = self._files.view, self._files.prefix
        row = view.files[view.symbol_file[symbol]]
        return askable(id_of(view, symbol, prefix)) if row is not None and row.path.startswith(prefix) else ""

    def _answer(self, one: Definition, found: Found, request: CallersRequest) -> RelatedAnswer:
        edges = sorted(found.edges, key=lambda edge: self._graph.is_test(edge.file))  # what is no test first
        found = replace(found, edges=tuple(edges))
        related, envelope = self._neighbours(found, request.least_confidence)
        return RelatedAnswer(
            symbol=Place(**place_of(one)),
            related=related[: request.k],
            more=max(0, len(related) - request.k),
            envelope=envelope,
            revision=revision_of(self._files.view.root),
        )

    def _neighbours(self, found: Found, least: float) -> tuple[list[Neighbour], Envelope]:
        """Return the ends of the edges that are sure enough and in the tree, and what is known of their completeness."""
        envelope = _said(found.envelope)
        sure = [edge for edge in found.edges if edge.tier == "scip" or edge.confidence >= least]
        ends = [end for edge in sure if (end := self._end(edge)) is not None]
        if len(sure) < len(found.edges):
            dropped = len(found.edges) - len(sure)
            envelope = _less(envelope, f"guesses of the parser under {least:g} are left out ({dropped})")
        return [Neighbour(**end) for end in ends], envelope

    def _end(self, edge: Edge) -> dict[str, Any] | None:
        """Return what models.Neighbour says of an edge's other end; None where that is outside of the tree."""
        view, prefix = self._files.view, self._files.prefix
        row = view.files[edge.file]
        if row is None or not row.path.startswith(prefix):
            return None
        path = row.path[len(prefix) :]
        said: dict[str, Any] = {
            "lines": list(edge.lines),
            "tier": edge.tier,
            "confidence": edge.confidence,
            "relation": edge.kind,
            "path": path,
        }
        if edge.symbol < 0:
            whole = {"symbol_id": "", "symbol": "", "kind": _MODULE, "signature": ""}
            return {**said, **whole, "start": 1, "end": max(1, row.lines)}
        symbol = view.symbol(edge.symbol)
        return {
            **said,
            "symbol_id": askable(id_of(view, edge.symbol, prefix)),
            "symbol": symbol.qualified,
            "kind": symbol.kind,
            "signature": symbol.signature,
            "start": symbol.start,
            "end": symbol.end,
        }


def _said(envelope: Any) -> Envelope:
    return Envelope(epistemic=envelope.epistemic, tier=envelope.tier, causes=list(envelope.causes))


def _less(envelope: Envelope, cause: str) -> Envelope:
    """Return an envelope of an answer that lacks something more."""
    return Envelope(epistemic="lower_bound", tier=envelope.tier, causes=[*envelope.causes, cause])


def _together(envelopes: Sequence[Envelope]) -> Envelope:
    tiers = {envelope.tier for envelope in envelopes}
    return Envelope(
        epistemic="complete" if all(one.epistemic == "complete" for one in envelopes) else "lower_bound",
        tier=tiers.pop() if len(tiers) == 1 else "scip+parser",
        causes=list(merged(cause for envelope in envelopes for cause in envelope.causes)),
    )
