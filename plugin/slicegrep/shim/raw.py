"""The one way in which the shim gives up."""

from __future__ import annotations

__all__ = ["Raw"]


class Raw(Exception):  # noqa: N818 (a decision; what follows is the tool's own output)
    """There are no answers: the output is to be printed as the tool made it. `str()` says why, in a few words."""
