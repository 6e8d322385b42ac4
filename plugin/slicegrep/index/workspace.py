"""The index of one workspace in this process: opened, brought up to date, mended where it is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.index.blocks import small
from slicegrep.index.documents import add_file
from slicegrep.index.folders import packed, unpacked
from slicegrep.index.mentions import mentions_of_all, mentions_of_new
from slicegrep.index.merge import merge_tail
from slicegrep.index.notices import Watch
from slicegrep.index.segment import Bases, Builder
from slicegrep.index.store import MEMORY, Damaged, Snapshot, Stale, Store, copied, is_passing, remove
from slicegrep.index.texts import Texts
from slicegrep.index.tree import NOTHING_KNOWN, Changes, Known, Status, Tree
from slicegrep.index.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from slicegrep.index.columns import Columns
    from slicegrep.index.folders import Folders

__all__ = ["Workspace"]

_ALONE = 40
"""Fewer changed files than this are indexed in this process: starting others takes as long."""
_WAIT_SECONDS = 30.0
"""How long another process may build without anything being written, before it is taken for stuck."""
_LEAST_REBUILT = 200
"""Files, dead ones included, below which an index is not built anew for its dead ones."""
_ATTEMPTS = 8


class _Stuck(Exception):  # noqa: N818 (the other process's state)
    """Another process holds the index for building and does nothing."""


class Workspace:
    """One workspace and its index, which lies at `path`. Calls from several threads wait for each other."""

    def __init__(self, root: str, path: str) -> None:
        self._root = root
        self._path = path
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._store: Store | None = None
        self._view: View | None = None
        self._tree = Tree(self._root, NOTHING_KNOWN, None)
        self._generation = -1
        self._totals = Bases(0, 0, 0)
        self._dead = 0
        self._walked = 0
        self._built = 0
        self._texts = Texts(self._root)
        self._watch = Watch(self._root)

    def view(self, progress: Callable[[int, int], None] | None) -> View:
        """Return the index, up to date. Where it cannot be written it is kept in memory.

        Raises OSError where the root cannot be listed.
        """
        with self._lock:
            for _ in range(_ATTEMPTS):
                try:
                    return self._brought_up(progress)
                except Stale:  # noqa: PERF203 (a second round is rare)
                    continue
                except Damaged:
                    self._forget()
                except _Stuck:
                    self._to_memory()
                except sqlite3.Error as error:
                    self._forget()
                    if is_passing(error):
                        self._to_memory()
                    else:
                        remove(self._path)
            self._to_memory()
            try:
                return self._brought_up(progress)
            except (
                Stale,
                Damaged,
                sqlite3.Error,
            ):  # too much of the copy is dead, or it is no better than the file
                self._forget()
                return self._brought_up(progress)

    def _brought_up(self, progress: Callable[[int, int], None] | None) -> View:
        differed, self._texts.differed = self._texts.differed, False
        view = self._loaded(
            anew=differed
        )  # what was found out of a view that missed a file is not gone on with
        heard = self._watch.heard(self._tree.folders)
        heard = None if differed else heard
        if heard is not None and not heard:
            return view
        changes = self._tree.changes(heard)
        if not changes:
            self._watch.looked(heard)
            return view
        dead = self._dead + len(changes.dead)
        if len(view.files) > _LEAST_REBUILT and 2 * dead > len(view.files):
            if self._opened().is_current():
                remove(self._path)
            self._forget()
            raise Stale
        if len(changes.new) < _ALONE:
            self._update(view, changes)
        else:
            del view  # what it keeps could not be overwritten
            self._build(changes, progress)
        view = self._loaded()
        self._watch.looked(heard)
        return view

    def _loaded(self, *, anew: bool = False) -> View:
        """Return the view of what is written now, with `anew` another one than before."""
        store = self._store
        if store is None or not store.is_current():
            self._forget()
            store = self._store = Store(self._path, self._root)
        if anew or self._view is None or store.generation() != self._generation:
            try:
                self._view = self._load(store)
            except (LookupError, ValueError, TypeError) as error:  # columns that do not fit each other
                remove(self._path)
                raise Damaged(str(error)) from error
        return self._view

    def _load(self, store: Store) -> View:
        """Load what is written; of what was loaded before, only what has come since."""
        snapshot = Snapshot(store)
        before = self._view if snapshot.number("built") == self._built else None
        amended = {file: Status(*status) for file, status in snapshot.amended().items()}
        walked = snapshot.number("walked")
        if not walked:
            folders = None
        elif walked == self._walked and before:
            folders = self._tree.folders
        else:
            folders = unpacked(lambda name: snapshot.part(0, name))
        view = View(
            self._root,
            [snapshot],
            self._texts,
            amended=amended,
            skipped=folders.skipped if folders else None,
            notes=folders.notes if folders else (),
            before=before,
        )
        view.columns.check()
        dead = sum([status.size < 0 for status in amended.values()])
        self._generation, self._totals, self._dead = snapshot.generation, snapshot.totals, dead
        self._walked, self._built = walked, snapshot.number("built")
        self._tree = Tree(self._root, _known(view.columns, amended, dead), folders)
        return view

    def _update(self, view: View, changes: Changes) -> None:
        """Write a few changes, all or none."""
        store = self._opened()
        if not (changes.new or changes.dead):
            with suppress(sqlite3.OperationalError), self._writing(store, wait=False):  # another time will do
                self._amend(store, changes)
                if changes.folders:
                    _remember(store, changes.folders)
            self._tree.accept(changes)
            return
        builder = Builder()
        for path, status in changes.new:
            add_file(builder, self._root, path, status)
        encoded = builder.encoded(self._totals)
        encoded.parts["mentions"] = mentions_of_new(view, builder).tobytes()
        with self._writing(store):
            self._amend(store, changes)
            if changes.new:
                store.write(small(encoded), 0)
            if changes.folders:
                _remember(store, changes.folders)
            store.grown()
            merge_tail(store)

    def _build(self, changes: Changes, progress: Callable[[int, int], None] | None) -> None:
        """Write many changes piece by piece, so that a run that is killed is gone on with."""
        from slicegrep.index.build import build  # noqa: PLC0415 (1 ms, and an index is built once)

        with self._alone():
            self._view = None  # what it keeps could not be overwritten
            store = self._opened()
            with self._writing(store):
                self._amend(store, changes)
                store.set_meta("walked", 0)  # until all is written, only a walk tells what is missing
                store.grown()
            build(store, self._root, changes.new, progress)
            view = self._loaded()
            mentions = mentions_of_all(view).tobytes()
            at = 0
            with self._writing(store):
                for segment in store.segments():
                    size = 8 * segment.counts.file
                    store.set_part(segment.number, "mentions", mentions[at : at + size])
                    at += size
                if changes.folders:
                    _remember(store, changes.folders)
                store.set_meta("built", store.number("built") + 1)
                store.grown()
                merge_tail(store)
            del view
            self._view = None  # what it reads could not be folded
            store.fold()

    def _opened(self) -> Store:
        if self._store is None:
            raise Stale
        return self._store

    @contextmanager
    def _writing(self, store: Store, *, wait: bool = True) -> Iterator[None]:
        """Hold the store for writing. Raises Stale where it is not what was loaded."""
        with store.writing(wait=wait):
            if store.generation() != self._generation:
                raise Stale
            yield

    @staticmethod
    def _amend(store: Store, changes: Changes) -> None:
        store.amend([(file, -1, 0, 0) for file in changes.dead])
        store.amend([(file, *status) for file, status in changes.same])

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of long runs: others wait for what this one writes. Raises _Stuck."""
        if self._path == MEMORY:
            yield
            return
        from pathlib import Path  # noqa: PLC0415 (10 ms, and the lock's)

        from slicegrep.lock import Busy, held  # noqa: PLC0415

        with ExitStack() as stack:
            before = -1
            while True:
                try:
                    stack.enter_context(held(Path(self._path + ".lock"), _WAIT_SECONDS))
                    break
                except OSError as error:  # something else lies where the lock is to be
                    raise _Stuck from error
                except Busy as error:
                    now = self._opened().generation()
                    if now == before:
                        raise _Stuck from error
                    before = now
            yield

    def _to_memory(self) -> None:
        """Go on in memory with what can be read of the file."""
        path = self._path
        self._forget()
        self._path = MEMORY
        self._store = copied(path, self._root)


def _remember(store: Store, folders: Folders) -> None:
    for name, data in packed(folders).items():
        store.set_part(0, name, data)
    store.set_meta("walked", store.number("walks") + 1)
    store.set_meta("walks", store.number("walks") + 1)


def _known(columns: Columns, amended: dict[int, Status], dead: int) -> Known:
    """Return the files that are there, with the statuses that were noted last; so many of the amended ones are dead."""
    statuses: list[tuple[int, int, int]] = list(
        zip(columns.sizes, columns.mtimes, columns.ctimes, strict=True)
    )
    for file, status in amended.items():
        statuses[file] = status
    files: Sequence[int] = range(len(statuses))
    paths: Sequence[str] = columns.paths
    if dead:
        files = [file for file in files if statuses[file][0] >= 0]
        paths, statuses = [paths[file] for file in files], [statuses[file] for file in files]
    return Known(files, paths, statuses, columns.digests)
