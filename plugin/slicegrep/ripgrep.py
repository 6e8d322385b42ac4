"""Where the rg program is, and how it is asked so that nothing but its arguments decides what it answers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache

from slicegrep.programs import on_path

__all__ = ["Answer", "complaints", "program", "run_rg"]

# A tree of 200,000 files is listed in about a second; what takes this long hangs on a dead network folder.
_SECONDS = 60.0

_NAME = "rg.exe" if os.name == "nt" else "rg"
_SCRIPTS = "Scripts" if os.name == "nt" else "bin"

_COMPLAINT = re.compile(
    r"(.*?)(?:: IO error for operation on \1)?: ([^:]+?)(?: \(os error \d+\))?\n?", re.DOTALL
)


class Answer:
    """What one run of rg gave: `code` 0 (something), 1 (nothing) or 2 (something may be missing), and its bytes."""

    __slots__ = ("code", "errors", "output")

    def __init__(self, code: int, output: bytes, errors: str) -> None:
        self.code = code
        self.output = output
        self.errors = errors


@cache
def program() -> str | None:
    """Return the path of rg, None where there is none.

    It stands beside the interpreter, in the environment of a folder on `sys.path` (a hook runs the system's interpreter
    with the environment's packages), or on PATH.
    """
    folders = [os.path.dirname(sys.executable)] if sys.executable else []
    for entry in sys.path:
        head, name = os.path.split(entry.rstrip("/\\"))
        if name in ("site-packages", "dist-packages"):
            up = os.path.dirname(head) if os.name == "nt" else os.path.dirname(os.path.dirname(head))
            folders.append(os.path.join(up, _SCRIPTS))
    for folder in folders:
        found = os.path.join(folder, _NAME)
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    return on_path("rg")


def run_rg(
    arguments: list[str], folder: str, *, given: bytes = b"", seconds: float = _SECONDS
) -> Answer | None:
    """Run rg in `folder` with no configuration, no colour, and `given` on its standard input.

    None where there is no rg, it cannot be started, takes longer than `seconds`, or is killed.
    Raises FileNotFoundError, NotADirectoryError or PermissionError where the folder itself cannot be entered.
    """
    found = program()
    if found is None:
        return None
    try:
        done = subprocess.run(
            [found, "--no-config", "--color=never", *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        os.scandir(folder).close()  # the folder's own fault is the caller's to know
        return None
    if done.returncode not in (0, 1, 2):
        return None
    return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def complaints(errors: str) -> list[tuple[str, str]]:
    """Return (path, why) of each path that rg could not read, from its standard error.

    Paths are as rg prints them: without a leading `./`, `/` between their parts, bad bytes as U+FFFD.
    """
    found = []
    if errors.startswith("rg: "):
        each = re.split(r"^rg: ", errors, flags=re.MULTILINE)[1:]
    else:  # before 14 rg did not put its name before them
        each = re.findall(r".+?\(os error \d+\)\n", errors, re.DOTALL)
    for told in each:
        match = _COMPLAINT.fullmatch(told)
        path, why = match.groups() if match else (told.strip(), "it cannot be read")
        named = path.replace("\\", "/") if os.name == "nt" else path
        found.append((named.removeprefix("./"), why))
    return found
