"""Which definition of a view is around a line, by the outline's own rule."""

from __future__ import annotations

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
    return -1 if found is None else view.first_symbol[file] + symbols.index(found)
