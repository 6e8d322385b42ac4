"""A small tree of texts as a view, and what the parser tier says of its definitions, in names."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slicegrep.graph.parser_tier import ParserTier
from slicegrep.index import view_of
from slicegrep.source import source_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slicegrep.index import View

__all__ = ["callees", "callers", "symbol_of"]


def _view(texts: Mapping[str, str]) -> View:
    return view_of([source_of(path, text.encode("utf-8", "surrogateescape")) for path, text in texts.items()])


def symbol_of(view: View, path: str, qualified: str) -> int:
    """Return the id of the first definition of that qualified name in a file."""
    row = view.file_at(path)
    assert row is not None, path
    names = [symbol.qualified for symbol in view.symbols_of(row.id)]
    return view.first_symbol[row.id] + names.index(qualified)


def callers(texts: Mapping[str, str], path: str, qualified: str, home: str = "") -> dict[str, float]:
    """Return the confidence by `PATH#QUALIFIED` (`PATH#` at module level) of what refers to a definition."""
    view = _view(texts)
    tier = ParserTier(view, home or "/dev/null/none")
    edges, _ = tier.callers(symbol_of(view, path, qualified), until=time.monotonic() + 30)
    return _named(view, edges)


def callees(texts: Mapping[str, str], path: str, qualified: str, home: str = "") -> dict[str, float]:
    """Return the confidence by `PATH#QUALIFIED` of what a definition refers to."""
    view = _view(texts)
    tier = ParserTier(view, home or "/dev/null/none")
    edges, _ = tier.callees(symbol_of(view, path, qualified), until=time.monotonic() + 30)
    return _named(view, edges)


def _named(view: View, edges) -> dict[str, float]:
    names = {}
    for edge in edges:
        row = view.files[edge.file]
        assert row is not None
        name = view.symbol(edge.symbol).qualified if edge.symbol >= 0 else ""
        names.setdefault(f"{row.path}#{name}", edge.confidence)
    return names
