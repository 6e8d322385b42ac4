"""How much the files of an index refer to each other's definitions."""

from __future__ import annotations

from array import array
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from slicegrep.index.segment import Builder
    from slicegrep.index.view import View

__all__ = ["mentions_of_all", "mentions_of_new"]


def mentions_of_all(view: View) -> array[float]:
    """Return the mentions of each file by its id; FileRow tells what they are."""
    names = [view.outer_names(row.id) if row else () for row in view.files]
    defining: dict[str, int] = {}
    for each in names:
        for name in each:
            defining[name] = defining.get(name, 0) + 1
    used = view.used()
    return array("d", [_sum(each, used, defining.__getitem__) for each in names])


def mentions_of_new(view: View, builder: Builder) -> array[float]:
    """Return the mentions of the files of a builder that are to join a view: about right until the next long run.

    An edited file keeps what it had, and those of the other files stay as they are.
    """
    mentions = array("d")
    used: dict[str, int] = {}
    for file, path in enumerate(builder.paths):
        row = view.file_at(path)
        if row is None:
            used = used or view.used()
        mentions.append(row.mentions if row else _sum(builder.outer_names(file), used, view.definitions))
    return mentions


def _sum(names: Iterable[str], used: Mapping[str, int], definitions: Callable[[str], int]) -> float:
    return sum([log2(1 + max(used.get(name, 0) - 1, 0) / max(definitions(name), 1)) for name in names])
