"""Which definition of a view is around a line, by the outline's own rule."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from slicegrep.outline import enclosing
from slicegrep.types import Outline

if TYPE_CHECKING:
    from slicegrep.index import View

__all__ = ["around"]


def around(view: View, file: int, line: int) -> int:
    """Return the symbol id of the innermost function, method or class-like definition around a 1-based line; -1: none."""
    symbols = view.symbols_of(file)
    found = enclosing(Outline("", symbols), line)
    if found is None:
        return -1
    at = bisect_left(symbols, found.start, key=lambda symbol: symbol.start)
    while symbols[at] is not found:
        at += 1
    return view.first_symbol[file] + at
