"""The commit that a folder's git HEAD is at, read from git's own files: starting git would take longer than the answer it is for."""

from __future__ import annotations

import os

__all__ = ["REVISION_DIGITS", "revision_of"]

REVISION_DIGITS = 10
_LARGEST = 8_000_000
"""Bytes of a `packed-refs` that is looked through (about 100,000 refs)."""
_HEXADECIMAL = frozenset("0123456789abcdef")
_REF = "ref: "


def revision_of(root: str) -> str:
    """Return the first ten hex digits of the commit that HEAD is at, of the work tree whose top level `root` is.

    "" where there is none: no repository, no commit yet, a format without loose or packed refs (reftable), or a file
    that cannot be read. Raises nothing.
    """
    folder = os.path.join(root, ".git")
    if os.path.isfile(folder):  # of a linked work tree or a submodule: it names the folder
        folder = os.path.join(root, _first_line(folder).removeprefix("gitdir: "))
    head = _first_line(os.path.join(folder, "HEAD"))
    if not head.startswith(_REF):
        return _digits(head)
    name = head[len(_REF) :]
    if not name.startswith("refs/") or ".." in name.split("/"):
        return ""
    shared = os.path.join(folder, _first_line(os.path.join(folder, "commondir")))  # a linked work tree's refs
    for place in (folder, shared):
        found = _digits(_first_line(os.path.join(place, name)))
        if found:
            return found
    return _packed(os.path.join(shared, "packed-refs"), name)


def _first_line(path: str) -> str:
    """Return the first line of a small file, "" where it cannot be read."""
    data = _read(path, 4_096)
    return data.split(b"\n", 1)[0].decode("utf-8", "surrogateescape").strip()


def _packed(path: str, name: str) -> str:
    wanted = b" " + name.encode("utf-8", "surrogateescape") + b"\n"
    data = _read(path, _LARGEST)
    at = data.find(wanted)
    if at < 0:
        return ""
    return _digits(data[data.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace"))


def _read(path: str, most: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError):  # ValueError: a NUL in what a file named
        return b""
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def _digits(text: str) -> str:
    """Return the beginning of a hash (SHA-1 or SHA-256), "" where it is none."""
    return text[:REVISION_DIGITS] if len(text) in (40, 64) and _HEXADECIMAL.issuperset(text) else ""
