"""The tier of SCIP: callers and callees as an indexer of the language resolved them, for files that are as it saw them."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from slicegrep.graph.definitions import around, constructors_of, is_inside
from slicegrep.graph.edges import Mention, edges_of
from slicegrep.graph.facts import CALL
from slicegrep.graph.place import graph_path
from slicegrep.graph.scip_store import opened
from slicegrep.index.store import is_passing
from slicegrep.outline.around import CLASS_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slicegrep.graph.answers import Edge
    from slicegrep.index import View

__all__ = ["OF_BASE", "OUT_OF_TIME", "ScipTier"]

OF_BASE = 0.7
"""Confidence of a reference to the method of a base class or interface as one to what implements it: it may be called
there, or another one."""
OUT_OF_TIME = "the time ran out"
_UNREAD = "scip tier: what was taken in cannot be read"
_DAMAGED = f"{_UNREAD} and is removed; run `slicegrep index --scip FILE` again"


class ScipTier:
    """What a view's files have in SCIP. It keeps what was taken in when it was made; never raises for a damaged file."""

    def __init__(self, view: View, home: str) -> None:
        self._view = view
        self._path = graph_path(view.root, home)
        self._db: sqlite3.Connection | None = None
        self._documents: dict[int, int] = {}
        self._files: dict[int, int] = {}
        self.stale: frozenset[int] = frozenset()
        """Files of the view that have changed since their SCIP index was made."""
        self.causes: tuple[str, ...] = ()
        """Why nothing is known although something was taken in."""
        with self._reading():
            self._db = opened(self._path)
            self._load()

    def __del__(self) -> None:
        """Close the file."""
        db = getattr(self, "_db", None)
        if db is not None:
            db.close()

    @property
    def covered(self) -> frozenset[int]:
        """Files of the view of which SCIP knows exactly this content."""
        return frozenset(self._documents)

    def names(self, symbol: int) -> set[str]:
        """Return under which names a definition is referred to, as far as SCIP knows."""
        found = {self._view.symbol(symbol).name}
        with self._reading():
            for own in self._names(symbol):
                found.update(
                    alias for (alias,) in self._rows("SELECT DISTINCT alias FROM refs WHERE symbol=?", (own,))
                )
        return found - {""}

    def callers(self, symbol: int, *, until: float) -> tuple[list[Edge], list[str]] | None:
        """Return who refers to a definition, and why there may be more; None where SCIP does not know it.

        Its own overloads count as it, and calls of a class as calls of its constructor. References to what it implements
        count too, with confidence OF_BASE.
        """
        with self._reading():
            own = self._names(symbol)
            if not own:
                return None
            references = [(row, 1.0) for row in self._references(own)]
            references += [(row, 1.0) for row in self._references(self._made_by(symbol)) if row[2] == CALL]
            bases = self._related(own, "symbol", "base") if self._is_member(symbol) else set()
            references += [(row, OF_BASE) for row in self._references(bases)]
            mentions = []
            causes = []
            for (document, line, kind), confidence in references:
                if time.monotonic() > until:
                    causes.append(OUT_OF_TIME)
                    break
                file = self._files[document]
                mentions.append(Mention(around(self._view, file, line), file, line, kind, confidence))
            silent = sum(map(self._silent, self.names(symbol)))
            if silent:
                causes.append(f"scip tier: references of that name that it does not resolve: {silent}")
            return edges_of(mentions, "scip"), causes
        return None

    def callees(self, symbol: int, *, until: float) -> tuple[list[Edge], list[str]] | None:
        """Return what a definition and those in it refer to, and why there may be more; None where its file is not covered.

        What lies in the definition itself is left out. A call of a class is one of its constructor, too.
        """
        row = self._view.symbol(symbol)
        document = self._documents.get(row.file)
        if document is None:
            return None
        with self._reading():
            mentions = []
            causes = []
            for line, target, kind in self._rows(
                "SELECT line, symbol, kind FROM refs WHERE document=? AND line BETWEEN ? AND ?",
                (document, row.start, row.end),
            ):
                if time.monotonic() > until:
                    causes.append(OUT_OF_TIME)
                    break
                mentions += [
                    Mention(found, self._view.symbol_file[found], line, kind, confidence)
                    for found, confidence in self._defined(target, kind)
                    if not is_inside(self._view, found, symbol)
                ]
            silent = self._rows(
                "SELECT name FROM silent WHERE document=? AND line BETWEEN ? AND ?",
                (document, row.start, row.end),
            )
            count = sum(bool(self._view.symbols_named(name)) for (name,) in silent)
            if count:
                causes.append(f"scip tier: references that it does not resolve: {count}")
            return edges_of(mentions, "scip"), causes
        return None

    def resolved(self, file: int, name: str) -> set[int]:
        """Return the lines of a file at which SCIP knows which definition of that name is referred to."""
        with self._reading():
            rows = self._rows(
                "SELECT DISTINCT refs.line, definitions.document FROM refs JOIN definitions USING(symbol)"
                " WHERE refs.document=? AND definitions.name=?",
                (self._documents.get(file, -1), name),
            )
            return {row[0] for row in rows if row[1] in self._files}
        return set()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Where the file cannot be read, know nothing from then on; remove it where it never can be."""
        try:
            yield
        except sqlite3.Error as error:
            self.causes = (_UNREAD,)
            if not is_passing(error):
                with suppress(OSError):
                    os.unlink(self._path)
                self.causes = (_DAMAGED,)
            self._db = None
            self._documents, self._files = {}, {}
            self.stale = frozenset()

    def _load(self) -> None:
        stale = set()
        for document, path, digest in self._rows("SELECT id, path, digest FROM documents", ()):
            row = self._view.file_at(os.fsdecode(path))
            if row is None:
                continue
            if digest == self._view.digest(row.id):
                self._documents[row.id] = document
                self._files[document] = row.id
            else:
                stale.add(row.id)
        self.stale = frozenset(stale)

    def _rows(self, query: str, values: Iterable[int | str]) -> list[Any]:
        return [] if self._db is None else self._db.execute(query, tuple(values)).fetchall()

    def _names(self, symbol: int) -> set[int]:
        """Return what SCIP calls a definition: numbers of its symbols."""
        row = self._view.symbol(symbol)
        document = self._documents.get(row.file, -1)
        rows = self._rows(
            "SELECT symbol FROM definitions WHERE document=? AND line=? AND name=?",
            (document, row.name_line, row.name),
        )
        return {found for (found,) in rows}

    def _made_by(self, symbol: int) -> set[int]:
        """Return what SCIP calls the class of a constructor: calling it is calling the constructor."""
        row = self._view.symbol(symbol)
        made = row.parent >= 0 and row.name in self._constructors(row.file)
        return self._names(row.parent) if made else set()

    def _constructors(self, file: int) -> tuple[str, ...]:
        row = self._view.files[file]
        return () if row is None else constructors_of(row.language)

    def _references(self, symbols: Iterable[int]) -> list[tuple[int, int, str]]:
        found = []
        for symbol in symbols:
            rows = self._rows("SELECT document, line, kind FROM refs WHERE symbol=?", (symbol,))
            found += [row for row in rows if row[0] in self._files]
        return found

    def _related(self, symbols: Iterable[int], one: str, other: str) -> set[int]:
        """Return the symbols that these lead to by the pairs of `implements`, however often."""
        found = set(symbols)
        open_symbols = list(found)
        while open_symbols:
            query = f"SELECT document, {other} FROM implements WHERE {one}=?"  # noqa: S608 (names of columns)
            for document, more in self._rows(query, (open_symbols.pop(),)):
                if document in self._files and more not in found:
                    found.add(more)
                    open_symbols.append(more)
        return found - set(symbols)

    def _defined(self, target: int, kind: str) -> Iterator[tuple[int, float]]:
        """Yield the definitions that a reference to a symbol of SCIP may be to, with their confidence."""
        own = self._definition(target)
        if own is None:
            return
        yield own, 1.0
        if self._is_member(own):
            for one in self._related((target,), "base", "symbol"):
                found = self._definition(one)
                if found is not None:
                    yield found, OF_BASE
        elif kind == CALL and self._view.symbol(own).kind in CLASS_KINDS:
            file = self._view.symbol_file[own]
            first, names = self._view.first_symbol[file], self._constructors(file)
            for at, symbol in enumerate(self._view.symbols_of(file)):
                if symbol.name in names and first + symbol.parent == own:
                    yield first + at, 1.0

    def _definition(self, target: int) -> int | None:
        """Return the definition of a symbol: the last one in a file, for overloads come first."""
        found = None
        query = "SELECT document, line, name FROM definitions WHERE symbol=? ORDER BY document, line"
        for document, line, name in self._rows(query, (target,)):
            file = self._files.get(document)
            if file is None:
                continue
            first = self._view.first_symbol[file]
            for at, symbol in enumerate(self._view.symbols_of(file)):
                if symbol.name_line == line and symbol.name == name:
                    found = first + at
        return found

    def _is_member(self, symbol: int) -> bool:
        """Whether a definition is one of a class that another class can override."""
        row = self._view.symbol(symbol)
        return (
            row.parent >= 0
            and row.kind not in CLASS_KINDS
            and self._view.symbol(row.parent).kind in CLASS_KINDS
        )

    def _silent(self, name: str) -> int:
        rows = self._rows("SELECT document, line, name FROM silent WHERE name=?", (name,))
        return sum(row[0] in self._files for row in rows)
