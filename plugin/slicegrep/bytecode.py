"""The byte code that Python keeps below the home folder: dropped where some of it was cut off."""

from __future__ import annotations

import os

__all__ = ["MENDED", "mend"]

MENDED = "byte code that was cut off, on a full disk perhaps, is deleted and will be made anew: run it again"


def mend(error: BaseException, prefix: str | None) -> bool:
    """Delete the byte code below `prefix` (`sys.pycache_prefix`) where an import failed of it; says whether that was so.

    Until 3.13.0 Python takes a write that came up short, on a disk that is nearly full or at a limit on file sizes, for a
    whole one, and every later import of that module fails. What is deleted is made anew by the next imports.
    """
    # "EOF read where object expected" and two more; "bad marshal data (...)" of the others.
    cut = isinstance(error, EOFError) or (
        isinstance(error, (ValueError, TypeError)) and "marshal" in str(error)
    )
    if prefix is None or not cut:
        return False
    for folder, _, names in os.walk(prefix):
        for name in names:
            if name.endswith(".pyc"):
                try:
                    os.unlink(os.path.join(folder, name))
                except OSError:  # another process was quicker
                    continue
    return True
