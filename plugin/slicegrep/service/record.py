"""The server's ledger: who called what, how much of it was found and how long it took; no code and no path."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import astuple, dataclass
from threading import Lock

from slicegrep.home import make_folder

__all__ = ["Call", "Record"]

_MOST = 100_000
"""Calls that are kept (10 MB); the oldest go first."""
_EVERY = 1_000
"""Calls between two looks at how many there are."""
_WAIT_SECONDS = 1.0
_ENDLESS = (1 << 63) - 1
_COLUMNS = "time, agent, token, operation, namespace, count, resolved, ms, status"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS calls(id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL, agent TEXT, token TEXT, "
    "operation TEXT, namespace TEXT, count INTEGER, resolved INTEGER, ms REAL, status INTEGER)"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call; the names are those of models.LedgerRow."""

    time: float
    agent: str
    token: str
    operation: str
    namespace: str
    count: int
    resolved: int
    ms: float
    status: int


class Record:
    """The ledger in the SQLite file at `path` (0600), from several threads and servers.

    Raises sqlite3.Error or OSError where it cannot be made. A file that is none of SQLite's is put aside first.
    """

    def __init__(self, path: str) -> None:
        self._lock = Lock()
        self._written = 0
        try:
            self._db = _opened(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # not a database, or a damaged one
            os.replace(path, f"{path}.damaged")
            for suffix in ("-wal", "-shm"):
                with suppress(OSError):
                    os.unlink(path + suffix)
            self._db = _opened(path)

    def add(self, call: Call) -> None:
        """Write one call. Raises sqlite3.Error."""
        with self._lock:
            self._db.execute(
                f"INSERT INTO calls({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(call)
            )
            self._written += 1
            if self._written % _EVERY == 1:
                self._db.execute("DELETE FROM calls WHERE id <= (SELECT max(id) FROM calls) - ?", (_MOST,))

    def rows(self, limit: int, before: int = 0) -> list[tuple[int, Call]]:
        """Return the newest calls with their numbers, of those below `before` where it is not 0. Raises sqlite3.Error."""
        with self._lock:
            found = self._db.execute(
                f"SELECT id, {_COLUMNS} FROM calls WHERE id < ? ORDER BY id DESC LIMIT ?",  # noqa: S608 (a constant)
                (before or _ENDLESS, limit),
            ).fetchall()
        return [(number, Call(*rest)) for number, *rest in found]

    def close(self) -> None:
        """End the use of the file."""
        with self._lock:
            self._db.close()


def _opened(path: str) -> sqlite3.Connection:
    make_folder(os.path.dirname(path))
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(_TABLE)
        db.execute(f"SELECT {_COLUMNS} FROM calls LIMIT 1")  # noqa: S608 (a constant)
    except sqlite3.Error:
        db.close()
        raise
    return db
