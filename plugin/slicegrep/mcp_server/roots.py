"""The folders that calls may reach, and what a path in a call means in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["NotThereError", "Place", "RefusedError", "folders_of", "placed", "places_of"]

_SHOWN = 120


class RefusedError(ValueError):
    """A call that is not served; the message is one sentence."""


class NotThereError(RefusedError):
    """A path in a root at which there is nothing."""


class Place(NamedTuple):
    """What a path means."""

    root: str
    """Real path of the root that holds it."""
    path: str
    """Real path relative to it, with `/`; "" for the root itself."""

    @property
    def full(self) -> str:
        """The absolute path."""
        return os.path.join(self.root, self.path) if self.path else self.root


def folders_of(uris: Iterable[str]) -> list[str]:
    """Return the real paths of the folders that are there, in order; what is no file URI of this machine names none."""
    found: dict[str, None] = {}
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = unquote(parts.path, errors="surrogateescape")
            if os.path.isabs(path) and "\0" not in path and os.path.isdir(path):
                found[os.path.realpath(path)] = None
    return list(found)


def placed(path: str, roots: Sequence[str]) -> Place:
    """Return the place of a path. Raises RefusedError where there is none, or two."""
    there = places_of(path, roots)
    if len(there) > 1:
        named = ", ".join(place.full for place in there)
        if not path:
            raise RefusedError(f"several folders are open; name one as path: {named}")
        raise RefusedError(f"{_short(path)} is in several roots; name one: {named}")
    return there[0]


def places_of(path: str, roots: Sequence[str]) -> list[Place]:
    """Return the places of a path, absolute or relative to a root; at least one. Raises RefusedError where there is none.

    Where links lead counts, not how a path is spelled: `..` and links are free to go where a root holds them.
    """
    if "\0" in path:
        raise RefusedError("a path holds no NUL")
    places = list(dict.fromkeys(_places(path, roots)))
    if not places:
        named = ", ".join(roots)
        raise RefusedError(f"{_short(path)} is outside of what this server may read: {named}")
    there = [place for place in places if os.path.lexists(place.full)]
    if not there:
        raise NotThereError(f"{_short(path)}: no such file or folder")
    return there


def _places(path: str, roots: Sequence[str]) -> Iterable[Place]:
    """Yield what the path means in each root that holds it; of roots inside one another the innermost."""
    for root in [""] if os.path.isabs(path) else roots:
        real = os.path.realpath(os.path.join(root, path))
        holders = [one for one in roots if f"{real}/".startswith(one.rstrip("/") + "/")]
        if holders:
            holder = max(holders, key=len)
            inside = os.path.relpath(real, holder).replace(os.sep, "/")
            yield Place(holder, "" if inside == "." else inside)


def _short(path: str) -> str:
    return path if len(path) <= _SHOWN else path[:_SHOWN] + "…"
