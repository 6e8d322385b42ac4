"""How much the files of an index refer to each other's definitions."""

from __future__ import annotations

from array import array
from math import log2
from typing import TYPE_CHECKING

from slicegrep.outline.nest import CLASS_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slicegrep.index.view import View
    from slicegrep.types import Symbol

__all__ = ["mentions_of"]


def mentions_of(view: View, used: Mapping[str, int]) -> array[float]:
    """Return the mentions of each file by its id. `used`: in how many files each identifier, as written, stands."""
    names = [_outer_names(view.symbols_of(row.id)) if row else set() for row in view.files]
    defining: dict[str, int] = {}
    for each in names:
        for name in each:
            defining[name] = defining.get(name, 0) + 1
    return array("d", [_sum(each, used, defining) for each in names])


def _sum(names: Iterable[str], used: Mapping[str, int], defining: Mapping[str, int]) -> float:
    return sum([log2(1 + max(used.get(name, 0) - 1, 0) / defining[name]) for name in names])


def _outer_names(symbols: tuple[Symbol, ...]) -> set[str]:
    names = set()
    for symbol in symbols:
        if symbol.parent < 0 or symbols[symbol.parent].kind in CLASS_KINDS:
            names.add(symbol.name)
    return names
