"""The outlines of a few files straight from a workspace's index: no view is built, and nothing is made or mended."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.index.outlines import symbols_of
from slicegrep.index.place import VERSION, index_path
from slicegrep.index.seal import unsealed
from slicegrep.types import Outline

try:  # the package sqlite3 adds datetime and more: 8 ms against 4 (python -X importtime)
    from _sqlite3 import Connection, Error, connect
except ImportError:
    from sqlite3 import Connection, Error, connect

__all__ = ["outlines"]

_BUSY_SECONDS = 0.05
"""How long another process is waited for that mends the log or folds it into the file; parsing is no slower."""
_DIGEST = 16
"""Bytes of a digest."""


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


def _address(path: str) -> str:
    """Return the URI by which SQLite opens a file for reading alone."""
    for mark in "%?#":
        path = path.replace(mark, f"%{ord(mark):02x}")
    return f"file:{path}?mode=ro"


def _found(db: Connection, wanted: Mapping[str, str]) -> Iterator[tuple[str, Outline]]:
    """Yield the files whose last row is alive and of the wanted content."""
    segments = [_Segment(db, number) for (number,) in db.execute("SELECT id FROM segments ORDER BY id")]
    dead = {file for (file,) in db.execute("SELECT file FROM amended WHERE size < 0")}
    for path, digest in wanted.items():
        name = path.encode("utf-8", "surrogateescape")
        for segment in reversed(segments):
            at = segment.places.get(name)
            if at is not None:
                if segment.digest(at) == digest and segment.file(at) not in dead:
                    yield path, segment.outline(at)
                break


class _Segment:
    """One segment of the file. Its parts are read when first asked for."""

    def __init__(self, db: Connection, number: int) -> None:
        self._db = db
        self._number = number
        self._parts: dict[str, bytes] = {}
        self._tables: dict[str, list[str]] = {}
        self._columns: dict[str, array[int]] = {}
        names = self._part("paths").split(b"\0")
        self.places: dict[bytes, int] = dict(zip(names, range(len(names)), strict=True))
        """Position of each path's last row."""

    def file(self, at: int) -> int:
        """Return the id of the file at a position."""
        return self._column("file", "I")[at]

    def digest(self, at: int) -> str:
        """Return the digest of the file at a position."""
        return self._part("digests")[_DIGEST * at : _DIGEST * (at + 1)].hex()

    def outline(self, at: int) -> Outline:
        """Return the definitions of the file at a position."""
        language = self._table("labels")[self._column("label", "I")[at]].partition("\t")[0]
        firsts = self._column("first_symbol", "I")
        names = self._table("symbol_names")
        first = firsts[at] - firsts[0]
        end = firsts[at + 1] - firsts[0] if at + 1 < len(firsts) else len(names)
        if first == end:
            return Outline(language)
        file = self.file(at)
        (data,) = self._db.execute("SELECT data FROM outlines WHERE file=?", (file,)).fetchone()
        kinds = self._table("symbol_kinds")
        symbols = symbols_of(
            unsealed(data, file),
            [kinds[kind] for kind in self._column("symbol_kind", "H")[first:end]],
            names[first:end],
            self._column("symbol_lines", "I")[3 * first : 3 * end],
            self._column("symbol_parent", "i")[first:end],
        )
        return Outline(language, symbols)

    def _part(self, name: str) -> bytes:
        part = self._parts.get(name)
        if part is None:
            query = "SELECT data FROM parts WHERE segment=? AND name=?"
            (data,) = self._db.execute(query, (self._number, name)).fetchone()
            part = self._parts[name] = unsealed(data, self._number, name)
        return part

    def _column(self, name: str, code: str) -> array[int]:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = array(code)
            column.frombytes(self._part(name))
        return column

    def _table(self, name: str) -> Sequence[str]:
        table = self._tables.get(name)
        if table is None:
            text = self._part(name).decode("utf-8", "surrogateescape")
            table = self._tables[name] = text.split("\0") if text else []
        return table
