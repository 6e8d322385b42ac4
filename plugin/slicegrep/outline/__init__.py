"""The definitions of a file, and which of them is around a line: one routine for every surface."""

from __future__ import annotations

from slicegrep.outline.around import enclosing, enclosing_kinds

TYPE_CHECKING = False  # importing typing costs a hook 3 ms
if TYPE_CHECKING:
    from slicegrep.outline.build import outline

__all__ = ["enclosing", "enclosing_kinds", "outline"]


def __getattr__(name: str) -> object:
    """Load what makes outlines when it is asked for: where the index has them nobody needs it."""
    if name != "outline":
        raise AttributeError(name)
    from slicegrep.outline import build  # noqa: PLC0415 (as said)

    return build.outline
