"""Where other programs are: on PATH, but never in the folder that one happens to be in, which may be anybody's project."""

from __future__ import annotations

import os
import shutil

__all__ = ["on_path"]


def on_path(name: str) -> str | None:
    """Return the absolute path of a program, None where there is none. Entries of PATH that are not absolute do not count."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
    return found if found and os.path.isabs(found) else None  # Windows also looks in the current folder
