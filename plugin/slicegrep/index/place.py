"""Which workspace a folder belongs to, and where and of which version the workspace's index is."""

from __future__ import annotations

import os

try:  # as in source.py
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["VERSION", "index_path", "indexed_workspace", "inside", "location_path", "workspace_of"]

VERSION = 5
"""Of the tables and of everything that decides what is written: terms, weights, blocks, outlines. Another version is
built anew."""


def workspace_of(path: str) -> str:
    """Return the real path of the git top level that a folder is in, else of the folder itself.

    A home directory that is under git is not the workspace of all that lies in it.
    """
    real = os.path.realpath(path)
    above = real
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return real
        above = os.path.dirname(above)
    return real if above == os.path.realpath(os.path.expanduser("~")) else above


def indexed_workspace(folder: str, home: str) -> str:
    """Return the workspace of a folder; where no git tree holds it, the nearest folder above, or itself, of which there is an index.

    `slicegrep index .` was then said of that one.
    """
    workspace = above = workspace_of(folder)
    if os.path.lexists(os.path.join(workspace, ".git")):
        return workspace
    while not os.path.exists(index_path(above, home)):
        if above == os.path.dirname(above):
            return workspace
        above = os.path.dirname(above)
    return above


def inside(workspace: str, folder: str) -> str | None:
    """Return what comes before the names in a folder in paths relative to a workspace (a real path): "" or a path that ends in `/`.

    None for a folder outside. The folder's own links are followed, those in it keep their names, as in the index.
    """
    top, real = os.path.join(workspace, ""), os.path.join(os.path.realpath(folder), "")
    return real[len(top) :].replace(os.sep, "/") if real.startswith(top) else None


def location_path(workspace: str, path: str) -> str:
    """Return a path as the code operations name it; "" for one outside of the workspace, or that is no UTF-8."""
    folder, name = os.path.split(path)
    before = inside(workspace, folder)
    try:
        return "" if before is None else (before + name).encode().decode()
    except UnicodeEncodeError:
        return ""


def index_path(workspace: str, home: str) -> str:
    """Return where the index of a workspace (a real path) lies in a home folder; it need not exist."""
    name = blake2b(os.fsencode(workspace), digest_size=16).hexdigest()
    return os.path.join(home, "index", f"{name}.sqlite")
