"""The files of a tree as they are at this moment: each with its definitions, their ids, and the digest that both belong to."""

from __future__ import annotations

import os
import stat
from functools import cached_property
from typing import TYPE_CHECKING

from slicegrep.index.texts import read_walked
from slicegrep.outline import enclosing, outline
from slicegrep.service.symbol_ids import ids_in
from slicegrep.source import source_of
from slicegrep.types import Outline

if TYPE_CHECKING:
    from slicegrep.index import FileRow, View
    from slicegrep.types import Source, Symbol

__all__ = ["Content", "Files"]

_LARGEST = 50_000_000
"""Bytes of the largest file that is read at all, as the index has it."""
_UNREAD = "0" * 32
"""The digest of a file that the index lists and has not read: binary, too large."""


class Content:
    """A file's content, as the index has it or as it was just read. `path` is relative to the tree."""

    def __init__(
        self, path: str, shape: Outline, *, digest: str, row: FileRow, source: Source | None
    ) -> None:
        self.path = path
        self.symbols = shape.symbols
        self.digest = digest
        """Hex BLAKE2b-128 of the bytes."""
        self.row = row
        self._shape = shape
        self._source = source

    @cached_property
    def ids(self) -> list[str]:
        """The symbol ids, in the order of `symbols`."""
        return ids_in(self.path, self.symbols)

    def around(self, line: int) -> Symbol | None:
        """Return the innermost definition around a 1-based line."""
        return enclosing(self._shape, line)

    def id_of(self, symbol: Symbol) -> str:
        """Return the id of one of the symbols."""
        return self.ids[next(at for at, one in enumerate(self.symbols) if one is symbol)]

    def lines(self, view: View, start: int, end: int) -> tuple[str, ...] | None:
        """Return lines of exactly this content, 1-based and inclusive; None where the file is another by now."""
        if self._source is None:
            source = view.read(self.row.path)
            if source is None or source.digest != self.digest:
                source = _read(view, self.row)
            if source is None or source.digest != self.digest:
                return None
            self._source = source
        return self._source.lines[start - 1 : end]


class Files:
    """The files of the view below the folder `prefix` ("" or ending in `/`), looked at once each."""

    def __init__(self, view: View, prefix: str) -> None:
        self.view = view
        self.prefix = prefix
        self.top = os.path.join(view.root, prefix).rstrip("/") or "/"
        """The folder, an absolute path."""
        self._found: dict[str, Content | None] = {}

    def at(self, path: str) -> Content | None:
        """Return the file at a path relative to the tree; None where it is not in the index, or not there any more."""
        if path not in self._found:
            row = self.view.file_at(self.prefix + path)
            self._found[path] = self._content(path, row) if row is not None else None
        return self._found[path]

    def _content(self, path: str, row: FileRow) -> Content | None:
        """Return the index's content where the file still is that; else what is there now, parsed here."""
        digest = self.view.digest(row.id)
        if digest == _UNREAD:
            return None
        source = None
        if not _has_status(os.path.join(self.view.root, row.path), row):
            source = _read(self.view, row)
            if source is None:
                return None
            if source.digest != digest:
                return Content(path, outline(source), digest=source.digest, row=row, source=source)
        shape = Outline(row.language, self.view.symbols_of(row.id))
        return Content(path, shape, digest=digest, row=row, source=source)


def _has_status(path: str, row: FileRow) -> bool:
    """Whether size and time are those of the indexed content. The index's own look hears of changes from the kernel, which does
    not tell of a write through a memory map or through another name of the file; this costs 2 µs a file.
    """  # noqa: D205
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == row.size and status.st_mtime_ns == row.mtime_ns


def _read(view: View, row: FileRow) -> Source | None:
    data = read_walked(view.root, row.path, _LARGEST)
    return None if data is None else source_of(row.path, data)
