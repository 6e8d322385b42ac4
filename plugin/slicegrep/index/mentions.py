"""How much the files of an index refer to each other's definitions."""

from __future__ import annotations

from array import array
from math import log2
from typing import TYPE_CHECKING

from slicegrep.index.terms import joined
from slicegrep.words import stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from slicegrep.index.segment import Builder
    from slicegrep.index.view import View

__all__ = ["mentions_of_all", "mentions_of_new"]


def mentions_of_all(view: View) -> array[float]:
    """Return the mentions of each file by its id; FileRow tells what they are."""
    names = [view.outer_names(file) if there else () for file, there in enumerate(view.there)]
    defining: dict[str, int] = {}
    for each in names:
        for name in each:
            defining[name] = defining.get(name, 0) + 1
    used = _used(view, defining)
    return array("d", [_sum(each, used, defining.__getitem__) for each in names])


def mentions_of_new(view: View, builder: Builder) -> array[float]:
    """Return the mentions of the files of a builder that are to join a view: about right until the next long run.

    An edited file keeps what it had, and those of the other files stay as they are.
    """
    mentions = array("d")
    for file, path in enumerate(builder.paths):
        row = view.file_at(path)
        if row is not None:
            mentions.append(row.mentions)
            continue
        names = builder.outer_names(file)
        holding = {name: _holding(view, name) for name in names}
        mentions.append(_sum(names, holding, view.definitions))
    return mentions


def _used(view: View, names: Collection[str]) -> dict[str, int]:
    """Return in how many files each of some names stands, as written. Of all identifiers of a large tree there are millions."""
    used: dict[str, int] = {}
    for shelf, number in view.columns.segments:
        for name, count in shelf.used(number).items():
            if name in names:
                used[name] = used.get(name, 0) + count
    return used


def _holding(view: View, name: str) -> int:
    """Return in how many files a name stands, in whatever spelling; of a single word, its other forms count, too."""
    parts = sub_words(name)
    return len(view.holders.file_postings(stem(parts[0]) if len(parts) == 1 else "=" + joined(name))[0])


def _sum(names: Iterable[str], used: Mapping[str, int], definitions: Callable[[str], int]) -> float:
    return sum([log2(1 + max(used.get(name, 0) - 1, 0) / max(definitions(name), 1)) for name in names])
