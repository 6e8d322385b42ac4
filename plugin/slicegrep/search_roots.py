"""The directories that the names in a search's output may be relative to, told from where the shell ended up."""

from __future__ import annotations

import os
from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.search_command import Place, SearchCommand

__all__ = ["search_roots"]

_MOST_ROOTS = 12
"""Each root costs a `stat` for every path printed."""


def search_roots(
    command: SearchCommand, cwd: str, *, known: Sequence[str] = (), reset: bool = False
) -> list[str]:
    """Return absolute directories, the surest first, without repetition; they need not exist.

    `cwd` is where the shell was after the command. `known` are further directories where it may have been
    before (the project's). `reset` says that the client put the shell back to where it was before.
    """
    roots: list[str] = []
    for place in command.places or (Place(),):
        roots += _of_place(place, cwd, known, reset=reset)
    if not command.understood:
        roots += [cwd, *known]
    return list(dict.fromkeys(roots))[:_MOST_ROOTS]


def _of_place(place: Place, cwd: str, known: Sequence[str], *, reset: bool) -> list[str]:
    if reset:
        starts = [cwd]
    elif not place.after:
        # Where the shell ended up is where the search ran. The second: a reset that went unnoticed.
        candidates = [_moved(cwd, place.inside), _moved(cwd, place.before + place.inside)]
        return [root for root in candidates if root is not None] or [cwd, *known]
    else:
        kept = place.before + place.after
        possible = [start for start in (_undone(cwd, kept), cwd, *known) if start is not None]
        starts = [start for start in possible if _moved(start, kept) == os.path.normpath(cwd)] or possible
    found = [_moved(start, place.before + place.inside) for start in starts]
    return [root for root in found if root is not None] or [cwd, *known]


def _moved(start: str, changes: Sequence[str | None]) -> str | None:
    """Return where these changes lead, or None where one of them is not known. Links are taken by name, as `cd` does."""
    at = start
    for change in changes:
        if change is None:
            return None
        at = os.path.join(at, os.path.expanduser(change))
    return os.path.normpath(at)


def _undone(end: str, changes: Sequence[str | None]) -> str | None:
    """Return the directory that these changes, all downwards, led from to `end`."""
    steps: list[str] = []
    for change in changes:
        if change is None or os.path.isabs(change) or change.startswith("~"):
            return None
        steps += change.replace("\\", "/").split("/") if os.sep == "\\" else change.split("/")
    at = os.path.normpath(end)
    for step in reversed([step for step in steps if step not in ("", ".")]):
        head, tail = os.path.split(at)
        if step == ".." or tail != step:
            return None
        at = head
    return at
