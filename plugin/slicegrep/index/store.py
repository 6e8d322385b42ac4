"""The SQLite file of one workspace: its tables, how a segment is written, and how it is read."""

from __future__ import annotations

import os
import sqlite3
from array import array
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from slicegrep.index.segment import Bases, Row
from slicegrep.index.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from slicegrep.index.segment import Builder

__all__ = ["VERSION", "Damaged", "Store"]

VERSION = 1
"""Of the schema and of everything that decides what is written: terms, weights, blocks. Another version is built anew."""

_SCHEMA = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE segments(id INTEGER PRIMARY KEY, level INTEGER, files INTEGER, chunks INTEGER, symbols INTEGER);
CREATE TABLE parts(segment INTEGER, name TEXT, data BLOB, PRIMARY KEY(segment, name));
CREATE TABLE postings(segment INTEGER, term TEXT, chunks BLOB, impacts BLOB, files BLOB, file_impacts BLOB, names BLOB,
    PRIMARY KEY(segment, term)) WITHOUT ROWID;
CREATE TABLE outlines(file INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE amended(file INTEGER PRIMARY KEY, size INTEGER, mtime_ns INTEGER);
"""
_BUSY_SECONDS = 10.0


class Damaged(Exception):  # noqa: N818 (a state of the file; who meets it opens the index again)
    """The index's file cannot be read. It has been removed: opening it again builds it anew."""


class Store(Shelf):
    """An open database and its segments as they were when it was opened (a read transaction keeps them)."""

    def __init__(self, path: str, root: str) -> None:
        self.path = path
        fresh = not os.path.exists(path)
        if fresh:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self.writing():
            if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                values = [("version", VERSION), ("root", os.fsencode(root)), ("generation", 0)]
                self._db.executemany("INSERT INTO meta VALUES(?, ?)", values)
        version = self._db.execute("SELECT value FROM meta WHERE name='version'").fetchone()
        if version != (VERSION,):
            raise sqlite3.DatabaseError("of another version")
        self.refresh()

    def close(self) -> None:
        """End the use of the file."""
        self._db.close()

    def refresh(self) -> None:
        """See what is written now."""
        self.segments: Sequence[int] = [n for (n,) in self._db.execute("SELECT id FROM segments ORDER BY id")]
        marks = ",".join("?" * len(self.segments))
        self._rows_of = (
            "SELECT chunks, impacts, files, file_impacts, names FROM postings "  # noqa: S608 (question marks only)
            f"WHERE segment IN ({marks}) AND term=? ORDER BY segment"
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the database for writing: all of it is written, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("UPDATE meta SET value = value + 1 WHERE name='generation'")
        self._db.execute("COMMIT")

    def bases(self) -> Bases:
        """Return the first ids of the next segment."""
        sums = "SELECT ifnull(sum(files), 0), ifnull(sum(chunks), 0), ifnull(sum(symbols), 0) FROM segments"
        return Bases(*self._db.execute(sums).fetchone())

    def write(self, builder: Builder, level: int) -> None:
        """Append a segment (while `writing`)."""
        bases = self.bases()
        files = len(builder.paths)
        sizes = (level, files, len(builder.chunk_file), len(builder.symbol_names))
        number = self._db.execute(
            "INSERT INTO segments(level, files, chunks, symbols) VALUES(?, ?, ?, ?)", sizes
        ).lastrowid
        parts = builder.parts(bases, array("d", bytes(8 * files)))
        self._db.executemany("INSERT INTO parts VALUES(?, ?, ?)", [(number, *part) for part in parts.items()])
        self._db.executemany(
            "INSERT INTO postings VALUES(?, ?, ?, ?, ?, ?, ?)",
            ((number, term, *row) for term, row in builder.rows(bases)),
        )
        self._db.executemany(
            "INSERT INTO outlines VALUES(?, ?)",
            [(bases.file + at, data) for at, data in enumerate(builder.outlines) if data],
        )

    def amend(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """Note (file, size, mtime_ns) of files whose content is the same; size -1 where the file is dead."""
        self._db.executemany("INSERT OR REPLACE INTO amended VALUES(?, ?, ?)", rows)

    def amended(self) -> dict[int, tuple[int, int]]:
        """Return what `amend` noted, by file."""
        return {file: (size, mtime) for file, size, mtime in self._db.execute("SELECT * FROM amended")}

    def part(self, segment: int, name: str) -> bytes:
        """Return a part of a segment."""
        query = "SELECT data FROM parts WHERE segment=? AND name=?"
        data: bytes = self._db.execute(query, (segment, name)).fetchone()[0]
        return data

    def set_part(self, segment: int, name: str, data: bytes) -> None:
        """Replace a part of a segment (while `writing`)."""
        self._db.execute("INSERT OR REPLACE INTO parts VALUES(?, ?, ?)", (segment, name, data))

    def rows(self, term: str) -> list[Row]:
        """Return what is held under a term, in the order of the segments."""
        return [Row._make(row) for row in self._db.execute(self._rows_of, (*self.segments, term))]

    def outline(self, file: int) -> bytes | None:
        """Return the qualified names and signatures of a file's symbols."""
        row = self._db.execute("SELECT data FROM outlines WHERE file=?", (file,)).fetchone()
        return row[0] if row else None
