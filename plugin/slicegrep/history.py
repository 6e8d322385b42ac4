"""What git's history says of files: how recently each was changed, as a factor of its score."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from slicegrep.git import git_output

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["prior"]

COMMITS = 2000
"""Newest commits before HEAD that are looked at: 0.15 to 0.4 s of `git log` in sympy, trpc and commons-lang."""
SECONDS = 1.0
WEIGHT = 0.5
HALF = 500
"""A file that the newest commit changed counts 1 + WEIGHT times, one that was changed HALF commits ago half of that more.

Not shown to help (docs/optional_stages.md), so nobody gets it who does not ask for it.
"""


def prior(workspace: str, home: str) -> dict[str, float]:
    """Return a factor of at least 1 for the files that the newest COMMITS ancestors of HEAD changed, HEAD among them.

    Paths are relative to `workspace`, the top level of a git work tree. {} where there is no git, no commit, only a
    shallow clone, or `git log` takes more than SECONDS. The answer is kept in `home`'s `index/` until HEAD moves. Raises nothing.
    """
    told = _git(workspace, "rev-parse", "--is-shallow-repository", "HEAD").decode("ascii", "replace").split()
    if len(told) != 2 or told[0] != "false":
        return {}
    name = blake2b(os.fsencode(os.path.realpath(workspace)), digest_size=16).hexdigest()
    path = os.path.join(home, "index", f"{name}.history.json")
    ages = _kept(path, told[1])
    if ages is None:
        ages = _ages(workspace, told[1])
        _keep(path, {"head": told[1], "ages": ages})
    return {file: 1 + WEIGHT / (1 + age / HALF) for file, age in ages.items()}


def _ages(workspace: str, head: str) -> dict[str, int]:
    """Return how many commits ago each file was last changed."""
    log = ("log", "-z", "--name-only", "--no-renames", "--no-merges", "--no-show-signature", "--format=%x01")
    ages: dict[str, int] = {}
    for age, entry in enumerate(_git(workspace, *log, f"-{COMMITS}", head).split(b"\x01")[1:]):
        for file in entry.lstrip(b"\0\n").split(b"\0"):
            if file:
                ages.setdefault(os.fsdecode(file), age)
    return ages


def _git(workspace: str, *arguments: str) -> bytes:
    return git_output(workspace, *arguments, seconds=SECONDS) or b""


def _kept(path: str, head: str) -> dict[str, int] | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            kept: dict[str, Any] = json.load(file)
        return {str(name): int(age) for name, age in kept["ages"].items()} if kept["head"] == head else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _keep(path: str, kept: dict[str, Any]) -> None:
    part = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            json.dump(kept, file)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            os.unlink(part)
