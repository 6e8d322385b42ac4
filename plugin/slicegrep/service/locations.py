"""Locations: `PATH:LINE` taken apart, and a path said relative to the tree, whatever it was meant to reach."""

from __future__ import annotations

import re
from functools import lru_cache

from slicegrep.service.errors import BadLocation

__all__ = ["LOCATION", "inside", "is_location", "location_of"]

LOCATION = r"([\s\S]+):(0{0,8}[1-9][0-9]{0,8})"
"""A path may hold colons, spaces and line ends; a billion lines are more than any file has."""
_LOCATION = re.compile(LOCATION)
_MEANT = re.compile(r".+:[0-9]+", re.DOTALL)
_SHOWN = 80


def is_location(text: str) -> bool:
    """Whether a text is meant as PATH:LINE and is no name, right or wrong."""
    return _MEANT.fullmatch(text) is not None


@lru_cache(maxsize=4_096)
def location_of(text: str) -> tuple[str, int]:
    """Return path and 1-based line of `PATH:LINE`. Raises BadLocation, with a sentence that names it."""
    found = _LOCATION.fullmatch(text)
    if found is None:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        raise BadLocation(f"{shown!r} is not PATH:LINE with a line of 1 or more")
    return found[1], int(found[2])


def inside(path: str, root: str) -> str | None:
    """Return `path` relative to `root` (an absolute path), as the index spells it: "" for `root` itself, None outside of it.

    `./` and doubled `/` are dropped, and an absolute path below `root` is made relative. What climbs (`..`) is outside, also
    where it would come back: through a symbolic link it means another place than it says.
    """
    if "\0" in path:
        return None
    if path.startswith("/"):
        top = root.rstrip("/") + "/"
        if not f"{path}/".startswith(top):
            return None
        path = path[len(top) :]
    parts = path.split("/")
    if ".." in parts:
        return None
    return "/".join([part for part in parts if part not in ("", ".")])
