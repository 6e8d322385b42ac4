"""How git is asked, so that nothing of a repository runs, and nothing is fetched: its configuration came with it."""

from __future__ import annotations

import os
import subprocess

from slicegrep.programs import on_path

__all__ = ["git_output"]

# `core.fsmonitor` names a program that git starts to list files; a hook may follow when it writes its index.
_SAFE = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.excludesFile="),
    "--no-pager",
    "--no-optional-locks",
)
# A clone without some of its objects would fetch them, by the `core.sshCommand` of its configuration: git before 2.44
# knows the first variable alone.
_OFFLINE = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


def git_output(folder: str, *arguments: str, seconds: float) -> bytes | None:
    """Return what git prints in `folder`; None where it fails, is missing, or takes longer. Raises nothing."""
    program = on_path("git")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *_SAFE, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env=os.environ | _OFFLINE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
