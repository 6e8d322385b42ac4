"""A definition as a reader found it, before nesting gives it a parent and a qualified name."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HIDDEN", "Found"]

HIDDEN = "qualifier"
"""The kind of what only lends its name to what is inside it (a one-line object, a variable in a function)."""


@dataclass(slots=True)
class Found:
    """Bytes are offsets into the text as parsed (end exclusive); rows are 0-based and inclusive."""

    kind: str
    name: str
    scope: tuple[str, ...]
    """Names that qualify it by its own spelling: `A` of `A::b`, the receiver of a Go method."""
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    name_row: int
    signature: str
    absolute: bool = False
    """Whether `scope` stands alone, so that what is around it does not qualify it."""
