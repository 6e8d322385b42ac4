"""The definitions of a file, and which of them is around a line: one routine for every surface."""

from __future__ import annotations

from slicegrep.outline.build import enclosing, enclosing_kinds, outline

__all__ = ["enclosing", "enclosing_kinds", "outline"]
