"""The SQLite file of what was taken in from SCIP index files: which documents, of what content, their definitions and references.

It is written beside and put in place whole, and never changed then: a reader that has it open keeps what it had.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from slicegrep.graph.place import graph_path
from slicegrep.home import make_folder
from slicegrep.lock import held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slicegrep.graph.scip import Document, ScipFile
    from slicegrep.graph.scip_match import Facts
    from slicegrep.index import View

__all__ = ["Taken", "opened", "remove_graph", "sweep_graph", "take"]

_VERSION = 1
_TABLES = """
CREATE TABLE documents(id INTEGER PRIMARY KEY, source TEXT, path BLOB UNIQUE, digest TEXT);
CREATE TABLE symbols(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE definitions(document INTEGER, symbol INTEGER, line INTEGER, name TEXT);
CREATE TABLE refs(document INTEGER, line INTEGER, at INTEGER, symbol INTEGER, kind TEXT, alias TEXT);
CREATE TABLE implements(document INTEGER, symbol INTEGER, base INTEGER);
CREATE TABLE silent(document INTEGER, line INTEGER, name TEXT);
CREATE INDEX definitions_document ON definitions(document, line);
CREATE INDEX definitions_symbol ON definitions(symbol);
CREATE INDEX refs_document ON refs(document, line);
CREATE INDEX refs_symbol ON refs(symbol);
CREATE INDEX implements_symbol ON implements(symbol);
CREATE INDEX implements_base ON implements(base);
CREATE INDEX implements_document ON implements(document);
CREATE INDEX silent_document ON silent(document, line);
CREATE INDEX silent_name ON silent(name);
"""
"""`source` is the SCIP file and the root that it names; paths are relative to the workspace; `digest` is "" where the
document was about another content already; `at` is a column in characters. `base` is what `symbol` implements. A file that cannot be in the index any more keeps its rows until its SCIP
file is taken in again."""
_OF_DOCUMENT = ("definitions", "refs", "implements", "silent")
_DAY = 86_400
"""Seconds. An index that is being built anew is gone for a moment, too."""
_LOCK_SECONDS = 60.0
"""How long one `index --scip` waits for another of the same workspace."""


class Taken(NamedTuple):
    """What was taken in from a SCIP file."""

    tool: str
    documents: int
    definitions: int
    references: int
    stale: tuple[str, ...]
    """Paths of documents that are about another content than the files have."""
    unknown: tuple[str, ...]
    """Paths, as the SCIP file has them, that are not in the workspace's index."""


def opened(path: str) -> sqlite3.Connection | None:
    """Open what was taken in for reading, from any thread; None where there is nothing.

    Raises sqlite3.Error where the file is damaged or of another version.
    """
    if not os.path.exists(path):
        return None
    address = f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1"
    db = sqlite3.connect(address, uri=True, check_same_thread=False)
    with suppress(sqlite3.Error):
        if db.execute("PRAGMA user_version").fetchone() == (_VERSION,):
            return db
    db.close()
    raise sqlite3.DatabaseError("damaged, or of another version")


def remove_graph(workspace: str, home: str) -> bool:
    """Remove both tiers' files of a workspace; whether there was one. Raises nothing."""
    there = False
    for end in (".sqlite-wal", ".sqlite-shm", ".sqlite", ".scip.sqlite", ".scip.lock", ".lock"):
        with suppress(OSError):
            os.unlink(graph_path(workspace, home, end))
            there = there or end.endswith(".sqlite")
    return there


def sweep_graph(home: str) -> None:
    """Remove what both tiers keep of workspaces whose index is gone, a day after it was written. Raises nothing."""
    with suppress(OSError):
        for name in os.listdir(os.path.join(home, "graph")):
            path = os.path.join(home, "graph", name)
            there = os.path.exists(os.path.join(home, "index", f"{name.partition('.')[0]}.sqlite"))
            if not there and time.time() - os.stat(path).st_mtime > _DAY:
                os.unlink(path)


def take(
    scip: str, view: View, home: str, folder: str = "", report: Callable[[int, int], None] | None = None
) -> Taken:
    """Take in the SCIP file at `scip`: all of it is there afterwards, or nothing has changed.

    `folder` is a folder of the workspace (relative, with `/`) that the index may be of. What was taken in from the same
    SCIP file and project root before is replaced; of a file that two indexes describe the newer counts. `report` is given
    how many bytes are done, of how many.

    Raises ScipError, OSError, sqlite3.Error, lock.Busy.
    """
    from pathlib import Path  # noqa: PLC0415 (it and protobuf are loaded for this alone)

    from slicegrep.graph.scip import ScipFile  # noqa: PLC0415

    file = ScipFile(scip)
    path = graph_path(view.root, home)
    beside = f"{path}.{os.getpid()}.new"
    make_folder(os.path.dirname(path))
    with held(Path(graph_path(view.root, home, ".scip.lock")), _LOCK_SECONDS):
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
            if _is_ours(path):
                shutil.copyfile(path, beside)
            with closing(sqlite3.connect(beside, isolation_level=None)) as db:
                taken = _taken(
                    db, file, f"{os.path.realpath(scip)}\n{file.project_root}", view, folder, report
                )
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
    return taken


def _is_ours(path: str) -> bool:
    """Whether what was taken in before can be kept."""
    try:
        db = opened(path)
        if db is None:
            return False
        with closing(db):
            return bool(db.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.Error:
        return False


def _taken(  # noqa: PLR0917
    db: sqlite3.Connection,
    file: ScipFile,
    source: str,
    view: View,
    folder: str,
    report: Callable[[int, int], None] | None,
) -> Taken:
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=OFF")  # the file is not in place yet
    if db.execute("PRAGMA user_version").fetchone() != (_VERSION,):
        db.executescript(_TABLES + f"PRAGMA user_version={_VERSION};")
    db.execute("BEGIN")
    for (number,) in db.execute("SELECT id FROM documents WHERE source=?", (source,)).fetchall():
        _forget(db, number)
    done = definitions = references = 0
    stale, unknown = [], []
    places = _places(file.project_root, view.root, folder)
    for document in file.documents():
        if report:
            report(file.read, file.size)
        there = [path for path in _paths(document.path, places) if view.file_at(path) is not None]
        for path in there:
            found = _facts(document, path, view)
            if found is not None:
                facts, digest = found
                _write(db, _new(db, source, path, digest), document, facts)
                done += 1
                definitions += len(facts.definitions)
                references += len(facts.references)
                break
        else:
            if there:
                stale.append(there[0])
                if not _is_fresh(db, there[0], view):
                    _new(db, source, there[0], "")
            else:
                unknown.append(document.path)
    _join_names(db)
    db.execute(
        "DELETE FROM symbols WHERE id NOT IN (SELECT symbol FROM definitions UNION SELECT symbol FROM refs"
        " UNION SELECT symbol FROM implements UNION SELECT base FROM implements)"
    )
    db.execute("COMMIT")
    return Taken(file.tool, done, definitions, references, tuple(stale), tuple(unknown))


def _places(project_root: str, root: str, folder: str) -> list[str]:
    """Return the folders of the workspace that an index's paths may be relative to, the likeliest first."""
    places = []
    if project_root.startswith("file:"):
        there = os.path.realpath(unquote(urlsplit(project_root).path))
        if there == root or there.startswith(os.path.join(root, "")):
            places.append(os.path.relpath(there, root).replace(os.sep, "/"))
    return list(dict.fromkeys([*places, folder, ""]))


def _paths(path: str, places: list[str]) -> Iterator[str]:
    for place in places:
        yield posixpath.normpath(posixpath.join(place, path))


def _facts(document: Document, path: str, view: View) -> tuple[Facts, str] | None:
    from slicegrep.graph.scip_match import facts_of  # noqa: PLC0415 (see take)
    from slicegrep.types import Outline  # noqa: PLC0415

    row = view.file_at(path)
    source = view.read(path)
    if row is None or source is None or source.digest != view.digest(row.id):
        return None
    facts = facts_of(document, source, Outline(source.language, view.symbols_of(row.id)))
    return (facts, source.digest) if facts else None


def _is_fresh(db: sqlite3.Connection, path: str, view: View) -> bool:
    """Whether another index knows the present content of a file."""
    row = view.file_at(path)
    found = db.execute("SELECT digest FROM documents WHERE path=?", (os.fsencode(path),)).fetchone()
    return row is not None and found == (view.digest(row.id),)


def _join_names(db: sqlite3.Connection) -> None:
    """Let references to a symbol that is defined nowhere be to the one of that name that is.

    scip-python calls an annotated variable `m/x.x.` where it is defined and in its own module, and `m/x#` elsewhere.
    """
    from slicegrep.graph.scip import last_descriptor  # noqa: PLC0415 (see take)

    query = "SELECT id, name FROM symbols WHERE name LIKE '%#' AND id NOT IN (SELECT symbol FROM definitions)"
    for number, name in db.execute(query).fetchall():
        stem = f"{name[:-1]}."
        for other in (stem, f"{stem}{last_descriptor(name)[0]}."):
            row = db.execute(
                "SELECT id FROM symbols JOIN definitions ON symbol=id WHERE symbols.name=?", (other,)
            ).fetchone()
            if row:
                db.execute("UPDATE refs SET symbol=? WHERE symbol=?", (row[0], number))
                break


def _new(db: sqlite3.Connection, source: str, path: str, digest: str) -> int:
    """Add a document in the place of what is there of its file, and return its number."""
    name = os.fsencode(path)
    for (number,) in db.execute("SELECT id FROM documents WHERE path=?", (name,)).fetchall():
        _forget(db, number)
    values = (source, name, digest)
    return db.execute("INSERT INTO documents(source, path, digest) VALUES(?, ?, ?)", values).lastrowid or 0


def _write(db: sqlite3.Connection, number: int, document: Document, facts: Facts) -> None:
    ids: dict[str, int] = {}

    def symbol(text: str) -> int:
        if text not in ids:
            name = f"{text} {number}" if text.startswith("local ") else text
            db.execute("INSERT OR IGNORE INTO symbols(name) VALUES(?)", (name,))
            ids[text] = db.execute("SELECT id FROM symbols WHERE name=?", (name,)).fetchone()[0]
        return ids[text]

    db.executemany(
        "INSERT INTO definitions VALUES(?, ?, ?, ?)",
        [(number, symbol(one.symbol), one.line, one.name) for one in facts.definitions],
    )
    db.executemany(
        "INSERT INTO refs VALUES(?, ?, ?, ?, ?, ?)",
        [(number, one.line, one.column, symbol(one.symbol), one.kind, one.alias) for one in facts.references],
    )
    db.executemany(
        "INSERT INTO implements VALUES(?, ?, ?)",
        [(number, symbol(one), symbol(base)) for one, base in document.implements],
    )
    db.executemany(
        "INSERT INTO silent VALUES(?, ?, ?)", [(number, line, name) for line, name in facts.silent]
    )


def _forget(db: sqlite3.Connection, document: int) -> None:
    for table in _OF_DOCUMENT:
        db.execute(f"DELETE FROM {table} WHERE document=?", (document,))  # noqa: S608 (constants)
    db.execute("DELETE FROM documents WHERE id=?", (document,))
