"""A clean clone of this repository: what git tracks or would track, and nothing that lies beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["small_clone"]

ROOT = Path(__file__).resolve().parents[1]


def small_clone(target: Path) -> Path:
    """Copy the repository as a user would get it to `target`, which is made."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target
