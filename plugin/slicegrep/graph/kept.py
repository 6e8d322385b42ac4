"""The facts of files, kept by content: in this process, and in a SQLite file of the home folder."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections import OrderedDict
from contextlib import suppress
from sys import intern
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.graph.facts import Binding, FileFacts, Use
from slicegrep.graph.place import graph_path
from slicegrep.home import make_folder
from slicegrep.index.store import is_passing

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["VERSION", "Kept", "kept_of"]

VERSION = 3
"""Of the table and of everything that decides what is found in a file. Another version is made anew."""
_MOST_USES = 300_000
"""References in memory (about 200 bytes each)."""
_MOST_BYTES = 200_000_000
"""Of all rows of the file; past it the rows written first go."""
_BUSY_SECONDS = 2.0
"""Past it, what another process holds up is done without the file."""


class Kept:
    """The facts of one workspace. Any thread may call; several processes may have the file open.

    Where the file cannot be made or written, what is found is kept in this process alone.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = Lock()
        self._memory: OrderedDict[str, FileFacts] = OrderedDict()
        self._held = 0
        self._db = self._opened()

    def get(self, keys: Iterable[str]) -> dict[str, FileFacts]:
        """Return what is kept under some of the keys."""
        found: dict[str, FileFacts] = {}
        with self._lock:
            for key in keys:
                facts = self._memory.get(key)
                if facts is None and (facts := self._read(key)) is not None:
                    self._remember(key, facts)
                elif facts is not None:
                    self._memory.move_to_end(key)
                if facts is not None:
                    found[key] = facts
        return found

    def put(self, new: dict[str, FileFacts]) -> None:
        """Keep facts under their keys, in one transaction."""
        with self._lock:
            for key, facts in new.items():
                self._remember(key, facts)
            if self._db is None or not new:
                return
            rows = [(bytes.fromhex(key), _packed(facts)) for key, facts in new.items()]
            try:
                with self._db:
                    self._db.execute("BEGIN IMMEDIATE")
                    self._db.executemany("INSERT OR REPLACE INTO facts(key, data) VALUES(?, ?)", rows)
                    self._make_room()
            except sqlite3.Error as error:
                self._failed(error)

    def _remember(self, key: str, facts: FileFacts) -> None:
        before = self._memory.pop(key, None)
        self._held += len(facts.uses) + 50 - (len(before.uses) + 50 if before is not None else 0)
        self._memory[key] = facts
        while self._held > _MOST_USES and len(self._memory) > 1:
            self._held -= len(self._memory.popitem(last=False)[1].uses) + 50

    def _read(self, key: str) -> FileFacts | None:
        if self._db is None:
            return None
        try:
            row = self._db.execute("SELECT data FROM facts WHERE key=?", (bytes.fromhex(key),)).fetchone()
            return None if row is None else _unpacked(row[0])
        except sqlite3.Error as error:
            self._failed(error)
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error):
            with suppress(sqlite3.Error):
                self._db.execute("DELETE FROM facts WHERE key=?", (bytes.fromhex(key),))
        return None

    def _make_room(self) -> None:
        if self._db is None:
            return
        pages, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > _MOST_BYTES:
            self._db.execute(
                "DELETE FROM facts WHERE rowid IN (SELECT rowid FROM facts ORDER BY rowid LIMIT (SELECT count(*) / 2 FROM facts))"
            )

    def _opened(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                return self._connected()
            except sqlite3.DatabaseError as error:  # noqa: PERF203 (the second round is rare)
                if is_passing(error):
                    return None
                self._remove()
            except OSError:
                return None
        return None

    def _connected(self) -> sqlite3.Connection:
        make_folder(os.path.dirname(self._path))
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=OFF")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError("facts of another version")  # noqa: TRY301 (as any other damage)
            db.execute("CREATE TABLE IF NOT EXISTS facts(key BLOB PRIMARY KEY, data BLOB)")
            db.execute(f"PRAGMA user_version={VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def _failed(self, error: sqlite3.Error) -> None:
        """Go on in memory; a file that is damaged is made anew."""
        passing = is_passing(error)
        if passing and ("locked" in str(error) or "busy" in str(error)):
            return
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None
        if not passing:
            self._remove()
            self._db = self._opened()

    def _remove(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            with suppress(OSError):
                os.unlink(self._path + suffix)


def _packed(facts: FileFacts) -> bytes:
    whole = [
        list(zip(*facts.uses, strict=True)),
        facts.bindings,
        facts.bases,
        facts.returns,
        facts.fields,
        facts.causes,
    ]
    return zlib.compress(json.dumps(whole, separators=(",", ":")).encode(), 1)


def _unpacked(data: bytes) -> FileFacts:
    """Read facts back. Raises ValueError, TypeError, LookupError or zlib.error for what is no such thing."""
    uses, bindings, bases, returns, fields, causes = json.loads(zlib.decompress(data))
    names, receivers, *places = uses or ((), (), (), (), ())
    interned = [list(map(intern, column)) for column in (names, receivers)]  # most stand there many times
    return FileFacts(
        tuple(map(Use._make, zip(*interned, *places, strict=True))),
        tuple(map(Binding._make, bindings)),
        {int(line): tuple(names) for line, names in bases.items()},
        {int(line): value for line, value in returns.items()},
        {int(line): values for line, values in fields.items()},
        tuple(causes),
    )


_all: dict[tuple[int, str], Kept] = {}
"""By process (a fork must not share its parent's database) and path."""
_opening = Lock()


def kept_of(root: str, home: str) -> Kept:
    """Return the facts that are kept of a workspace, in the `graph` folder of the home folder."""
    path = graph_path(root, home, ".sqlite")
    key = (os.getpid(), path)
    with _opening:
        found = _all.get(key)
        if found is None:
            found = _all[key] = Kept(path)
        return found
