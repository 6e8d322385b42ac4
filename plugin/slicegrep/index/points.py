"""The outlines of a few files straight from a workspace's index: no view is built, and nothing is made or mended."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.index.outlines import symbols_of
from slicegrep.index.place import VERSION, index_path, indexed_workspace, inside
from slicegrep.index.seal import place_of, unsealed
from slicegrep.types import Outline, Symbol

try:  # the package sqlite3 adds datetime and more: 8 ms against 4 (python -X importtime)
    from _sqlite3 import Connection, Error, connect
except ImportError:
    from sqlite3 import Connection, Error, connect

__all__ = ["outline_in_index", "outlines"]

_BUSY_SECONDS = 0.05
"""How long another process is waited for that mends the log or folds it into the file; parsing is no slower."""


def outlines(root: str, home: str, wanted: Mapping[str, str]) -> dict[str, Outline]:
    """Return the definitions of those files of which the index holds exactly the content at hand.

    `wanted` has the digest of the content (as in Source) by path, relative to the workspace `root` (place.workspace_of)
    with `/`, undecodable bytes as lone surrogates. Where the index is missing, damaged, held by another process or of
    another version, the answer is empty. What broke the parser is not kept: `broken` is False, `method` its default.
    Raises nothing.
    """
    if not wanted:
        return {}
    try:
        db = connect(_address(index_path(root, home)), uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    except (Error, ValueError):  # ValueError: a NUL in the home folder's name
        return {}
    try:
        db.execute("BEGIN")  # one moment's state, whatever is written meanwhile
        if db.execute("SELECT value FROM meta WHERE name='version'").fetchone() != (VERSION,):
            return {}
        return dict(_found(db, wanted))
    except (Error, ValueError, TypeError, LookupError):  # all that bytes that are no index can raise
        return {}
    finally:
        db.close()


def outline_in_index(path: str, digest: str, home: str) -> Outline | None:
    """Return the definitions of one file (a real path) from the index of its own workspace, as `outlines` does."""
    folder, name = os.path.split(path)
    workspace = indexed_workspace(folder, home)
    within = (inside(workspace, folder) or "") + name
    return outlines(workspace, home, {within: digest}).get(within)


def _address(path: str) -> str:
    """Return the URI by which SQLite opens a file for reading alone."""
    for mark in "%?#":
        path = path.replace(mark, f"%{ord(mark):02x}")
    return f"file:{path}?mode=ro"


def _found(db: Connection, wanted: Mapping[str, str]) -> Iterator[tuple[str, Outline]]:
    """Yield the files whose last row is alive and of the wanted content. What is looked at grows with `wanted` alone."""
    for path, digest in wanted.items():
        name = path.encode("utf-8", "surrogateescape")
        row = db.execute("SELECT file, data FROM places WHERE path=?", (name,)).fetchone()
        if row is None:
            continue
        file, data = row
        held, count, language = place_of(data, name, file)
        if held.hex() != digest or db.execute(_IS_DEAD, (file,)).fetchone() is not None:
            continue
        symbols: tuple[Symbol, ...] = ()
        if count:
            (data,) = db.execute("SELECT data FROM outlines WHERE file=?", (file,)).fetchone()
            symbols = symbols_of(unsealed(data, file))
        if len(symbols) == count:
            yield path, Outline(language, symbols)


_IS_DEAD = "SELECT 1 FROM amended WHERE file=? AND size<0"
