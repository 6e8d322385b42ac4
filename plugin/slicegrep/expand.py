"""The keys of the index that a query may mean: its own stems and names, and stems that begin like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slicegrep.index import View
    from slicegrep.query import Query

__all__ = ["keys_of"]

NAME_SHARE = 0.5
"""Of a whole identifier against its weight in the query: its stems count beside it."""
PREFIX_WEIGHT = 0.4
"""Of a stem that begins with a stem of the query, or with which one begins (`auth`, `authenticat`)."""
PREFIX_LENGTH = 4
MOST_LONGER = 40
"""Longer stems that are taken for one of the query."""


def keys_of(view: View, query: Query) -> dict[str, float]:
    """Return stems, and `=name` for whole identifiers, with weights above 0; only keys that the index may hold."""
    keys = dict(query.terms)
    for stem, weight in query.expansions.items():
        keys[stem] = max(keys.get(stem, 0.0), weight)
    for stem, weight in query.terms.items():
        for near in _near(view, stem):
            keys[near] = max(keys.get(near, 0.0), weight * PREFIX_WEIGHT)
    for name, weight in query.names.items():
        keys["=" + name] = weight * NAME_SHARE
    return keys


def _near(view: View, stem: str) -> list[str]:
    if len(stem) < PREFIX_LENGTH:
        return []
    longer = [other for other in view.stems_with_prefix(stem, MOST_LONGER) if other != stem]
    return longer + [stem[:n] for n in range(PREFIX_LENGTH, len(stem))]
