"""The SQLite file of one workspace: its tables, how segments are written, and how they are read."""

from __future__ import annotations

import os
import sqlite3
import struct
import time
from bisect import bisect_right
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from slicegrep.home import make_folder
from slicegrep.index.blocks import row_in, rows_in
from slicegrep.index.place import VERSION
from slicegrep.index.seal import deflated, placed, sealed, unsealed
from slicegrep.index.segment import Bases
from slicegrep.index.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from slicegrep.index.blocks import Small

__all__ = [
    "MEMORY",
    "VERSION",
    "Damaged",
    "Segment",
    "Snapshot",
    "Stale",
    "Store",
    "copied",
    "is_passing",
    "remove",
]

_TABLES = (
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE segments(id INTEGER PRIMARY KEY, level INTEGER, files INTEGER, chunks INTEGER, symbols INTEGER)",
    "CREATE TABLE parts(segment INTEGER, name TEXT, data BLOB, PRIMARY KEY(segment, name))",
    # Blocks of rows by term (blocks.py), each by its first term.
    "CREATE TABLE postings(segment INTEGER, term TEXT, data BLOB, PRIMARY KEY(segment, term))",
    "CREATE TABLE outlines(file INTEGER PRIMARY KEY, data BLOB)",
    # The last row of each path that any segment has: a few files are found without their segments.
    "CREATE TABLE places(path BLOB PRIMARY KEY, file INTEGER, data BLOB) WITHOUT ROWID",
    # Files whose content is the same though their status changed; size -1 where the file is dead.
    "CREATE TABLE amended(file INTEGER PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER)",
)
_FILE, _CHUNK, _SYMBOL = range(3)
_WIDTHS = {
    **dict.fromkeys(("size", "mtime", "ctime", "mentions"), (_FILE, 8)),
    **dict.fromkeys(("label", "lines", "file", "chunks", "first_chunk", "first_symbol"), (_FILE, 4)),
    "digests": (_FILE, 16),
    **dict.fromkeys(("chunk_file", "chunk_start", "chunk_end", "chunk_symbol"), (_CHUNK, 4)),
    "symbol_kind": (_SYMBOL, 2),
    **dict.fromkeys(("symbol_file", "symbol_parent"), (_SYMBOL, 4)),
}
"""Columns by what a segment's counts count, and the bytes of one: others would shift all that come behind them."""
_BLOCKS = (  # SQLite takes the largest below from the key's own tree
    "SELECT id, (SELECT max(term) FROM postings WHERE segment=segments.id AND term<=?) FROM segments ORDER BY id"
)
_BLOCKS_FROM = (
    "SELECT term, data FROM postings WHERE segment=? AND term<? AND "
    "term>=ifnull((SELECT max(term) FROM postings WHERE segment=? AND term<=?), '') ORDER BY term"
)
_LAST = "\U0010ffff"
_BLOCK = "SELECT data FROM postings WHERE segment=? AND term=?"
MEMORY = ":memory:"
"""The path of a store that is kept in memory."""
BUSY_SECONDS = 10.0
"""How long a short write waits for that of another process."""
_RETRY_SECONDS = 0.01
_PAGE = 16_384
"""Bytes of SQLite's pages: most blocks are of 2 to 3 kB and lie in one whole, so that little of it stays empty."""
_MOST_BLOCKS = 512
"""Inflated blocks that a snapshot keeps: 2 MB. Terms of small segments, and terms that begin alike, meet in them."""

_AT_ONCE = 500  # values in one query; SQLite before 3.32 takes 999


class Damaged(Exception):  # noqa: N818 (a state of the file; who meets it opens the index again)
    """The index's file cannot be read. Opening the index again mends it."""


class Stale(Exception):  # noqa: N818 (no fault: what was read is to be read again)
    """Another process has written meanwhile."""


class Segment(NamedTuple):
    """One segment of a store; `level` tells how often what is in it has been merged."""

    number: int
    level: int
    counts: Bases


class Store:
    """The database of one workspace, for writing. `path` ":memory:" keeps it in memory.

    Raises sqlite3.Error where the file cannot be made, or is no index of this version.
    """

    def __init__(self, path: str, root: str) -> None:
        self.path = path
        if path != MEMORY:
            _make(path)
        self.identity = _identity(path)
        self.db = _connected(path)
        try:
            self._prepare(root)
        except BaseException:
            self.db.close()
            raise

    def _prepare(self, root: str) -> None:
        deadline = time.monotonic() + BUSY_SECONDS
        while True:  # the busy handler does not serve the change to WAL
            try:
                self.db.execute(f"PRAGMA page_size={_PAGE}")  # of a file that is empty yet
                self.db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
        self.db.execute("PRAGMA synchronous=NORMAL")
        if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
            with self.writing():
                if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    for table in _TABLES:
                        self.db.execute(table)
                    for name, value in (("version", VERSION), ("generation", 0), ("root", os.fsencode(root))):
                        self.set_meta(name, value)
        if self.number("version") != VERSION:
            raise sqlite3.DatabaseError("an index of another version")

    def close(self) -> None:
        """End the use of the file."""
        if hasattr(self, "db"):
            self.db.close()

    __del__ = close

    def is_current(self) -> bool:
        """Whether the path still names the file that is open."""
        return self.path == MEMORY or _identity(self.path) == self.identity

    def number(self, name: str) -> int:
        """Return a number that is kept of the index as a whole; 0 where it was not set."""
        return _number(self.db, name)

    def set_meta(self, name: str, value: int | bytes) -> None:
        """Set what is kept of the index as a whole."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def generation(self) -> int:
        """Return a number that grows with every change of what a view shows."""
        return self.number("generation")

    @contextmanager
    def writing(self, *, wait: bool = True) -> Iterator[None]:
        """Hold the file for writing: all that is done inside is written, or nothing.

        Raises sqlite3.OperationalError where another process holds it: after BUSY_SECONDS, or at once unless `wait`.
        """
        self.db.execute(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS if wait else 0:.0f}")
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self.db.execute("ROLLBACK")
            raise

    def fold(self) -> None:
        """Fold SQLite's log into the file, unless somebody reads it just now: who opens the file goes through what is in the log."""
        with suppress(sqlite3.Error):
            self.db.execute("PRAGMA busy_timeout=0")
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def grown(self) -> None:
        """Tell the other processes that views are out of date (while `writing`)."""
        self.set_meta("generation", self.generation() + 1)

    def totals(self) -> Bases:
        """Return how many files, chunks and symbols there are: the first ids of the next segment."""
        return _totals(self.db)

    def segments(self) -> list[Segment]:
        """Return the segments in the order of their ids."""
        return _segments(self.db)

    def write(self, segment: Small, level: int) -> None:
        """Append a segment with its outlines (while `writing`)."""
        self.add_segment(level, segment.counts, segment.parts, segment.blocks)
        rows = ((file, sealed(data, file)) for file, data in segment.outlines)
        self.db.executemany("INSERT INTO outlines VALUES(?, ?)", rows)
        places = [(row[0], row[1], placed(*row)) for row in segment.places]
        self.db.executemany("INSERT OR REPLACE INTO places VALUES(?, ?, ?)", places)

    def add_segment(
        self, level: int, counts: Bases, parts: Mapping[str, bytes], blocks: Iterable[tuple[str, bytes]]
    ) -> None:
        """Append a segment of parts and blocks, all deflated (while `writing`)."""
        cursor = self.db.execute(
            "INSERT INTO segments(level, files, chunks, symbols) VALUES(?, ?, ?, ?)", (level, *counts)
        )
        number = cursor.lastrowid or 0
        self.db.executemany(
            f"INSERT INTO parts VALUES({number:d}, ?, ?)",
            [(name, sealed(data, number, name)) for name, data in parts.items()],
        )
        sealed_rows = ((term, sealed(data, number, term)) for term, data in blocks)
        self.db.executemany(f"INSERT INTO postings VALUES({number:d}, ?, ?)", sealed_rows)

    def remove_segment(self, segment: int) -> None:
        """Remove a segment whose ids another one has taken over (while `writing`)."""
        for table, column in (("postings", "segment"), ("parts", "segment"), ("segments", "id")):
            self.db.execute(f"DELETE FROM {table} WHERE {column}=?", (segment,))  # noqa: S608 (constants)

    def set_part(self, segment: int, name: str, data: bytes) -> None:
        """Replace a part of a segment by other data (while `writing`)."""
        self.db.execute(
            "INSERT OR REPLACE INTO parts VALUES(?, ?, ?)",
            (segment, name, sealed(deflated(data), segment, name)),
        )

    def amend(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """Note (file, size, mtime_ns, ctime_ns) of files whose content is the same; size -1 where a file is dead."""
        self.db.executemany("INSERT OR REPLACE INTO amended VALUES(?, ?, ?, ?)", rows)


class Snapshot(Shelf):
    """The segments as they are now: a read transaction keeps them, whatever is written later.

    Every method raises Damaged where the file cannot be read.
    """

    def __init__(self, store: Store, *, shared: bool = False) -> None:
        """With `shared` it reads through the store's own connection, and sees what that is writing."""
        self._path = store.path
        self._closed = False
        self._own = not (shared or store.path == MEMORY)
        self._db = _connected(store.path) if self._own else store.db
        try:
            if self._own:
                self._db.execute("BEGIN")
            self.generation = _number(self._db, "generation")
            self._counts = {segment.number: segment.counts for segment in _segments(self._db)}
            self.segments = list(self._counts)
            self.totals = _totals(self._db)
        except (sqlite3.Error, TypeError) as error:
            raise self.damage(error) from error
        self._blocks: dict[tuple[int, str], bytes] = {}
        self._firsts: dict[int, list[str]] = {}
        """The first terms of a segment's blocks."""

    def close(self) -> None:
        """Let what it keeps be overwritten."""
        self._closed = True
        if self._own:
            self._db.close()

    __del__ = close

    def number(self, name: str) -> int:
        """Return a number as `Store.number` does."""
        try:
            return _number(self._db, name)
        except (sqlite3.Error, TypeError) as error:
            raise self.damage(error) from error

    def amended(self) -> dict[int, tuple[int, int, int]]:
        """Return what `Store.amend` noted: (size, mtime_ns, ctime_ns) by file."""
        try:
            return {file: tuple(status) for file, *status in self._db.execute("SELECT * FROM amended")}
        except sqlite3.Error as error:
            raise self.damage(error) from error

    def part(self, segment: int, name: str) -> bytes:
        """Return a part of a segment."""
        found = self._all("SELECT data, segment, name FROM parts WHERE segment=? AND name=?", (segment, name))
        if not found:
            raise self.damage(f"no {name}")
        counted, width = _WIDTHS.get(name, (0, 0))
        if width and len(found[0]) != width * self._counts[segment][counted]:
            raise self.damage(f"{name} is not that of its segment")
        return found[0]

    def rows(self, term: str) -> list[bytes]:
        """Return what is held under a term, in the order of the segments that hold it."""
        found = []
        try:
            for segment, first in self._db.execute(_BLOCKS, (term,)):
                if first is not None and (row := row_in(self._block(segment, first), term)) is not None:
                    found.append(row)
        except (sqlite3.Error, struct.error, ValueError, TypeError) as error:
            raise self.damage(error) from error
        return found

    def _block(self, segment: int, first: str) -> bytes:
        """Return an inflated block. Raises as `_data`."""
        block = self._blocks.get((segment, first))
        if block is None:
            if len(self._blocks) >= _MOST_BLOCKS:
                self._blocks.clear()
            (data,) = self._db.execute(_BLOCK, (segment, first)).fetchone()
            block = self._blocks[segment, first] = unsealed(data, segment, first)
        return block

    def terms(self, prefix: str) -> Iterator[str]:
        """Yield the terms that begin with `prefix`, segment by segment."""
        try:
            for segment in self.segments:
                query = (segment, prefix + _LAST, segment, prefix)
                for term, data in self._db.execute(_BLOCKS_FROM, query):
                    yield from [
                        one for one, _ in rows_in(unsealed(data, segment, term)) if one.startswith(prefix)
                    ]
        except (sqlite3.Error, struct.error, ValueError, TypeError) as error:
            raise self.damage(error) from error

    def rows_in(self, segment: int, terms: Sequence[str]) -> dict[str, bytes]:
        """Return what a segment holds under those of some terms that it has, each block opened once."""
        found: dict[str, bytes] = {}
        try:
            firsts = self._firsts.get(segment)
            if firsts is None:
                query = "SELECT term FROM postings WHERE segment=? ORDER BY term"
                firsts = self._firsts[segment] = [first for (first,) in self._db.execute(query, (segment,))]
            at_block: dict[str, list[str]] = {}
            for term in terms:
                at = bisect_right(firsts, term) - 1
                if at >= 0:
                    at_block.setdefault(firsts[at], []).append(term)
            for first, some in at_block.items():
                block = self._block(segment, first)
                if len(some) == 1:
                    row = row_in(block, some[0])
                    if row is not None:
                        found[some[0]] = row
                else:
                    wanted = set(some)
                    found.update([(term, row) for term, row in rows_in(block) if term in wanted])
        except (sqlite3.Error, struct.error, ValueError, TypeError) as error:
            raise self.damage(error) from error
        return found

    def rows_of(self, segment: int) -> Iterator[tuple[str, bytes]]:
        """Yield what a segment holds under each term, in the terms' order."""
        query = "SELECT term, data FROM postings WHERE segment=? ORDER BY term"
        try:
            for term, data in self._db.execute(query, (segment,)):
                yield from rows_in(unsealed(data, segment, term))
        except (sqlite3.Error, struct.error, ValueError, TypeError) as error:
            raise self.damage(error) from error

    def outline(self, file: int) -> bytes | None:
        """Return the definitions of a file (outlines.py); None where it has none."""
        found = self._all("SELECT data, file FROM outlines WHERE file=?", (file,))
        return found[0] if found else None

    def outlines(self, files: Sequence[int]) -> dict[int, bytes]:
        """Return `outline` of several files, of those that have one."""
        found = self._several("SELECT data, file FROM outlines WHERE file IN ({})", files)
        try:
            return {file: unsealed(data, file) for data, file in found}
        except (ValueError, TypeError) as error:
            raise self.damage(error) from error

    def _several(self, query: str, keys: Sequence[int | str], *values: int) -> list[tuple[bytes, Any]]:
        """Return the rows of some keys, whose place in the query is `{}`, after that of `values`."""
        rows: list[tuple[bytes, Any]] = []
        try:
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                rows += self._db.execute(query.format(",".join("?" * len(some))), (*values, *some))
        except sqlite3.Error as error:
            raise self.damage(error) from error
        return rows

    def _all(self, query: str, values: tuple[int | str, ...]) -> list[bytes]:
        try:
            return [unsealed(*row) for row in self._db.execute(query, values)]
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise self.damage(error) from error

    def damage(self, why: object) -> Damaged:
        """Close, and remove the file: once, for another thread may have made a new one by then."""
        if not self._closed and not (isinstance(why, sqlite3.Error) and is_passing(why)):
            remove(self._path)
        self.close()
        return Damaged(str(why))


def copied(path: str, root: str) -> Store:
    """Return a store in memory, with what can be read of the index at `path`."""
    from urllib.parse import quote  # noqa: PLC0415 (where an index cannot be written)

    for how in ("mode=ro", "immutable=1"):  # the second where SQLite cannot make its files beside it
        with (
            suppress(sqlite3.Error, OSError),
            closing(
                sqlite3.connect(f"file:{quote(os.fsencode(path))}?{how}", uri=True, timeout=BUSY_SECONDS)
            ) as source,
        ):
            there = source.execute("SELECT 1 FROM sqlite_master").fetchone()
            # From smaller pages into larger ones in memory, SQLite 3.40 ends the process.
            if there and source.execute("PRAGMA page_size").fetchone() == (_PAGE,):
                store = Store(MEMORY, root)
                source.backup(store.db)
                if store.number("version") == VERSION:
                    return store
    return Store(MEMORY, root)


def remove(path: str) -> None:
    """Remove an index with what SQLite keeps beside it. Raises nothing."""
    if path != MEMORY:
        for suffix in (
            "-wal",
            "-shm",
            "",
        ):  # the file last: nobody makes a new one while the others are there
            with suppress(OSError):
                os.unlink(path + suffix)


def is_passing(error: sqlite3.Error) -> bool:
    """Whether an error is of the moment or of the place (locked, full, no permission), and not of the file's content."""
    return any(
        text in str(error) for text in ("locked", "busy", "readonly", "full", "unable to open", "memory")
    )


def _make(path: str) -> None:
    """Make the file where it is not there, 0600, and its folders, 0700. Raises sqlite3.OperationalError."""
    try:
        make_folder(os.path.dirname(path))
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise sqlite3.OperationalError(f"unable to open {path}: {error.strerror}") from error


def _connected(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _number(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
    if row is None:
        return 0
    if not isinstance(row[0], int):
        raise sqlite3.DatabaseError(f"no number: {name}")
    return row[0]


def _segments(db: sqlite3.Connection) -> list[Segment]:
    rows = db.execute("SELECT id, level, files, chunks, symbols FROM segments ORDER BY id")
    return [Segment(number, level, Bases(*counts)) for number, level, *counts in rows]


def _totals(db: sqlite3.Connection) -> Bases:
    sums = "SELECT ifnull(sum(files), 0), ifnull(sum(chunks), 0), ifnull(sum(symbols), 0) FROM segments"
    return Bases(*db.execute(sums).fetchone())


def _identity(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino
