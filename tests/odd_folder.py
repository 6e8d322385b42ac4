"""A folder with all that a walk must bear, and a child process that looks at it without privileges."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ["PLUGIN", "git", "make_odd", "without_privileges"]

PLUGIN = str(Path(__file__).parent.parent / "plugin")

NOBODY = 65_534


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder with no configuration of the user's."""
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", *settings, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


def make_odd(folder: Path) -> set[str]:
    """Fill a folder with links, pipes and odd names; return the paths of its regular files."""
    (folder / "sub").mkdir()
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("key = 1\n")
    files = {
        "plain.py",
        "sub/deep.py",
        "new\nline.py",
        "Twin.py",
        "twin.py",
        " space .py",
        "-dash.py",
        "sub/d'q\"$.py",
    }
    for name in files:
        (folder / name).write_text("needle = 1\n")
    raw = os.path.join(os.fsencode(folder), b"bad\xff\xfe.py")
    with open(raw, "wb") as file:
        file.write(b"needle = 1\n")
    (folder / "dangling.py").symlink_to("nowhere.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "inside.py").symlink_to("plain.py")
    (folder / "up").symlink_to(folder.parent)
    (folder / "out.py").symlink_to(outside / "secret.py")
    os.mkfifo(folder / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_RDONLY)
        try:
            listening.bind(
                f"/proc/self/fd/{here}/socket.py" if os.path.isdir("/proc/self/fd") else "socket.py"
            )
        finally:
            os.close(here)
    return {*files, os.fsdecode(b"bad\xff\xfe.py")}


def without_privileges(code: str, *, interpreter: str = sys.executable, path: str | None = None) -> str:
    """Run Python code that may import slicegrep as a user who may read only what all may; return what it prints.

    A root would read everything: the child gives its rights up once its modules are there.
    """
    start = f"import sys; sys.path.insert(0, {PLUGIN!r})\n"
    drop = f"import os\nif os.getuid() == 0:\n    os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    done = subprocess.run(
        [
            interpreter,
            "-c",
            start + "from slicegrep.walk import walk\nfrom slicegrep.match import find\n" + drop + code,
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **({} if path is None else {"PATH": path})},
        cwd="/",
    )
    return done.stdout
