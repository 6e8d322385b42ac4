"""The texts of indexed files, kept in memory so that a search does not read again what has not changed."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.source import source_of, utf8_lines

if TYPE_CHECKING:
    from slicegrep.index.columns import FileRow
    from slicegrep.types import Source

__all__ = ["Texts", "read_walked"]

_MOST = 64_000_000
"""Bytes of the texts that are kept: as they are in the file, and again as lines, which take about twice as much."""
_LARGEST = 50_000_000
"""Bytes of the largest file that is read at all."""
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # no system has all of them
    _FLAGS |= getattr(os, _name, 0)


class Texts:
    """Bytes and lines by file id: another content has another id, so that nothing kept is ever out of date."""

    def __init__(self, root: str) -> None:
        self._root = os.path.join(root, "")
        self._bytes: OrderedDict[int, bytes] = OrderedDict()
        self._as_lines: set[int] = set()
        """Files whose bytes are their lines in UTF-8 already."""
        self._sources: OrderedDict[int, Source] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def raw(self, path: str, row: FileRow | None) -> bytes | None:
        """Return the bytes of a file, None where it is no readable regular file."""
        if row is not None and (kept := self._bytes.get(row.id)) is not None:
            return kept
        data = read_walked(self._root + path, _LARGEST)
        if data is not None and row is not None:
            with self._lock:
                self._bytes[row.id] = data
                self._held += len(data)
                self._make_room()
        return data

    def utf8_lines(self, path: str, row: FileRow | None) -> bytes | None:
        """Return a file's lines as source.utf8_lines does, None where it is no readable regular file."""
        data = self.raw(path, row)
        if data is None or (row is not None and row.id in self._as_lines):
            return data
        lines = utf8_lines(data)
        if row is not None and lines is data:
            self._as_lines.add(row.id)
        return lines

    def source(self, path: str, row: FileRow | None) -> Source | None:
        """Return a file's lines, None where it is no readable regular file."""
        if row is not None and (kept := self._sources.get(row.id)) is not None:
            return kept
        data = self.raw(path, row)
        if data is None:
            return None
        source = source_of(path, data)
        if row is not None:
            with self._lock:
                self._sources[row.id] = source
                self._held += 2 * source.size
                self._make_room()
        return source

    def _make_room(self) -> None:
        while self._held > _MOST and (self._sources or self._bytes):
            if self._sources:
                self._held -= 2 * self._sources.popitem(last=False)[1].size
            else:
                self._held -= len(self._bytes.popitem(last=False)[1])


def read_walked(path: str, most: int) -> bytes | None:
    """Read a regular file of at most `most` bytes that a walk has listed; None where it is none any more.

    A FIFO or a device that has taken its place is not waited for, and a symlink not followed: it may lead out of the
    workspace.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)
