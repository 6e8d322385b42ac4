"""The texts of indexed files, kept in memory so that a search does not read again what has not changed."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.source import source_of, utf8_lines

try:  # as in source.py
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from slicegrep.types import Source

__all__ = ["Texts", "read_walked"]

_MOST = 64_000_000
"""Bytes of the texts that are kept: as they are in the file, and again as lines, which take about twice as much."""
_LARGEST = 50_000_000
"""Bytes of the largest file that is read at all."""
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # no system has all of them
    _FLAGS |= getattr(os, _name, 0)
_FOLDER_FLAGS = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_BY_PARTS = os.open in os.supports_dir_fd


class Texts:
    """Bytes and lines by path, the latest content of each.

    `digest` is the BLAKE2b-128 of the content that the index has of a file: what a file holds by now is not taken for it, since
    lines and definitions of the one do not fit the other. None, of a file that the index does not have, asks for whatever is there.
    """

    def __init__(self, root: str) -> None:
        """`root` is a real path."""
        self._root = os.path.join(root, "")
        self._bytes: OrderedDict[str, tuple[bytes, bytes, bool]] = OrderedDict()
        """By path: the digest, the bytes, and whether these are the lines in UTF-8 already."""
        self._sources: OrderedDict[str, tuple[bytes, Source]] = OrderedDict()
        self._held = 0
        self._lock = Lock()
        self.differed = False
        """Whether a file was found to be another than the index has it, so that a look is due."""

    @property
    def count(self) -> int:
        """Files whose bytes are kept."""
        return len(self._bytes)

    def raw(self, path: str, digest: bytes | None) -> bytes | None:
        """Return the bytes of a file, None where it is no readable regular file or another content."""
        return self._read(path, digest)[0]

    def utf8_lines(self, path: str, digest: bytes | None) -> bytes | None:
        """Return a file's lines as source.utf8_lines does, None as `raw`."""
        data, are_lines = self._read(path, digest)
        return data if data is None or are_lines else utf8_lines(data)

    def source(self, path: str, digest: bytes | None) -> Source | None:
        """Return a file's lines, None as `raw`."""
        kept = self._sources.get(path)
        if kept is not None and kept[0] == digest:
            return kept[1]
        data = self.raw(path, digest)
        if data is None:
            return None
        source = source_of(path, data)
        if digest is not None:
            with self._lock:
                self._drop_source(path)
                self._sources[path] = digest, source
                self._held += 2 * source.size
                self._make_room()
        return source

    def _read(self, path: str, digest: bytes | None) -> tuple[bytes | None, bool]:
        """Return the bytes as `raw`, and whether they are known to be the lines in UTF-8."""
        kept = self._bytes.get(path)
        if kept is not None and kept[0] == digest:
            return kept[1], kept[2]
        data = read_walked(self._root, path, _LARGEST)
        if digest is None:
            return data, False
        if data is None or blake2b(data, digest_size=16).digest() != digest:
            self.differed = True
            return None, False
        are_lines = utf8_lines(data) is data
        with self._lock:
            self._drop_bytes(path)
            self._bytes[path] = digest, data, are_lines
            self._held += len(data)
            self._make_room()
        return data, are_lines

    def _drop_bytes(self, path: str) -> None:
        gone = self._bytes.pop(path, None)
        self._held -= len(gone[1]) if gone is not None else 0

    def _drop_source(self, path: str) -> None:
        gone = self._sources.pop(path, None)
        self._held -= 2 * gone[1].size if gone is not None else 0

    def _make_room(self) -> None:
        while self._held > _MOST and (self._sources or self._bytes):
            if self._sources:
                self._drop_source(next(iter(self._sources)))
            else:
                self._drop_bytes(next(iter(self._bytes)))


def read_walked(root: str, path: str, most: int) -> bytes | None:
    """Read a regular file of at most `most` bytes that a walk of `root` has listed; None where it is none any more.

    `root` is a real path, `path` relative to it. A FIFO or a device that has taken the file's place is not waited for, and no link below
    `root` is followed, neither the file nor a folder on the way: it may lead out of the workspace.
    """
    full = os.path.join(root, path)
    try:
        descriptor = os.open(full, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        if not _is_named(descriptor, full) and not _is_reached(status, root, path):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_named(descriptor: int, full: str) -> bool:
    """Whether the system itself calls an open file by this name (Linux: 5 µs, where opening part by part takes 13)."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == full
    except OSError:
        return False


def _is_reached(status: os.stat_result, root: str, path: str) -> bool:
    """Whether the file with this status is the one at `path`, no folder on the way from `root` being a link."""
    *folders, name = path.split("/")
    if not _BY_PARTS:  # Windows
        folder = os.path.join(root, *folders)
        return os.path.normcase(os.path.realpath(folder)) == os.path.normcase(os.path.normpath(folder))
    at = os.open(root.rstrip("/") or "/", _FOLDER_FLAGS)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER_FLAGS, dir_fd=at)
            os.close(at)
            at = inner
        return os.path.samestat(os.stat(name, dir_fd=at, follow_symlinks=False), status)
    finally:
        os.close(at)
