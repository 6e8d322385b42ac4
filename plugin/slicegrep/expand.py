"""The keys of the index that a query may mean: its own stems and names, and stems that its own begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slicegrep.query import Query

__all__ = ["keys_of"]

NAME_SHARE = 0.5
"""Of a whole identifier against its weight in the query: its stems count beside it."""
PREFIX_WEIGHT = 0.4
"""Of a stem with which one of the query begins: `auth` said `authenticat`, `valid` said `validat`. Longer stems than what
was said (`validator` for `valid`) are not taken: with them both NDCG and commits were worse."""
PREFIX_LENGTH = 4


def keys_of(query: Query) -> dict[str, float]:
    """Return stems, and `=name` for whole identifiers, with weights above 0."""
    keys = dict(query.terms)
    for stem, weight in query.expansions.items():
        keys[stem] = max(keys.get(stem, 0.0), weight)
    for stem, weight in query.terms.items():
        for length in range(PREFIX_LENGTH, len(stem)):
            near = stem[:length]
            keys[near] = max(keys.get(near, 0.0), weight * PREFIX_WEIGHT)
    for name, weight in query.names.items():
        keys["=" + name] = weight * NAME_SHARE
    return keys
