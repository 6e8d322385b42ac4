"""Indexes that nobody needs any more: of folders that are gone, or not asked for in a month."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from slicegrep.index.store import remove

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sweep", "used"]

_DAY = 86_400
_UNUSED_DAYS = 30
_SUFFIX = ".sqlite"


def used(path: str) -> None:
    """Note that the index at `path` is in use: its file's time, which SQLite changes only when it is written."""
    with suppress(OSError):
        if time.time() - os.stat(path).st_mtime > _DAY:
            os.utime(path)


def sweep(folder: str) -> None:
    """Remove unneeded indexes from their folder, at most once a day. Raises nothing."""
    now = time.time()
    marker = os.path.join(folder, "swept")
    try:
        with suppress(FileNotFoundError):
            if 0 <= now - os.stat(marker).st_mtime < _DAY:
                return
        os.close(os.open(marker, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(marker)
        for path in list(_unneeded(folder, now)):
            remove(path)
            with suppress(OSError):
                os.unlink(path + ".lock")
    except OSError:
        return


def _unneeded(folder: str, now: float) -> Iterator[str]:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith(_SUFFIX) and (
            now - os.stat(path).st_mtime > _UNUSED_DAYS * _DAY or not os.path.isdir(_root_of(path) or folder)
        ):
            yield path


def _root_of(path: str) -> bytes:
    """Return the folder that an index is of, b"" where that cannot be read. Nothing is written beside the index."""
    from urllib.parse import quote  # noqa: PLC0415 (once a day)

    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{quote(os.fsencode(path))}?immutable=1", uri=True)) as db,
    ):
        row = db.execute("SELECT value FROM meta WHERE name='root'").fetchone()
        return bytes(row[0]) if row else b""
    return b""
