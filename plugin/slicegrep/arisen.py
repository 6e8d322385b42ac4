"""Where an error that nobody expected arose."""

from __future__ import annotations

import os

__all__ = ["arisen"]


def arisen(error: BaseException) -> str:
    """Return the type of an error with the innermost file and line, as `KeyError at view.py:12`: nothing of its message."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f" at {os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else ""
    return f"{type(error).__name__}{where}"
