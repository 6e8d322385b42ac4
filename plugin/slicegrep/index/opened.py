"""The index of a workspace opened and brought up to date."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from slicegrep.index.documents import add_file, add_source, is_wanted
from slicegrep.index.mentions import mentions_of
from slicegrep.index.segment import Bases, Builder
from slicegrep.index.shelf import MemoryShelf
from slicegrep.index.store import Store
from slicegrep.index.view import View
from slicegrep.source import read_source

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable

    from slicegrep.index.view import FileRow
    from slicegrep.types import Source

__all__ = ["open_view", "view_of", "workspace_of"]

_FLUSH_FILES = 500


def workspace_of(path: str) -> str:
    """Return the real path of the git top level that a folder is in, else of the folder itself."""
    real = os.path.realpath(path)
    above = real
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return real
        above = os.path.dirname(above)
    return above


def open_view(root: str, home: str, *, progress: Callable[[int, int], None] | None = None) -> View:
    """Return the index of the workspace that the folder `root` is in, up to date. `view.root` names the workspace.

    `home` is the home folder; the index lies in its `index/`. `progress(done, total)`, in files, is called during long
    builds. Raises FileNotFoundError, NotADirectoryError or PermissionError for `root`.
    """
    from slicegrep.walk import walk  # noqa: PLC0415

    workspace = workspace_of(root)
    folder = os.path.join(home, "index")
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, blake2b(os.fsencode(workspace), digest_size=16).hexdigest() + ".sqlite")
    try:
        store = Store(path, workspace)
    except sqlite3.DatabaseError:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(path + suffix)
        store = Store(path, workspace)
    walked = walk(workspace, wanted=is_wanted).files
    view = _view(workspace, store)
    known = {row.path: row for row in view.files if row is not None}
    changed = [
        file
        for file in walked
        if (row := known.pop(file.path, None)) is None
        or (row.size, row.mtime_ns) != (file.size, file.mtime_ns)
    ]
    if not changed and not known:
        return view
    dead = [row.id for row in known.values()] + [
        row.id for file in changed if (row := view.file_at(file.path))
    ]
    builder = Builder()
    for done, file in enumerate(changed, 1):
        add_file(builder, workspace, file.path, file.size, file.mtime_ns)
        if progress and done % 20 == 0:
            progress(done, len(changed))
        if done % _FLUSH_FILES == 0 or done == len(changed):
            with store.writing():
                store.amend([(number, -1, 0) for number in dead])
                store.write(builder, 0)
            builder, dead = Builder(), []
    if dead:
        with store.writing():
            store.amend([(number, -1, 0) for number in dead])
    store.refresh()
    view = _view(workspace, store)
    used: Counter[str] = Counter()
    for number in store.segments:
        words = store.text(number, "identifiers").split("\n")
        used.update(dict(zip(words, store.column(number, "identifier_files", "I"), strict=True)))
    mentions = mentions_of(view, used)
    at = 0
    with store.writing():
        for number in store.segments:
            count = store.length(number, "size", "Q")
            store.set_part(number, "mentions", mentions[at : at + count].tobytes())
            at += count
    return _view(workspace, store)


def _view(workspace: str, store: Store) -> View:
    def read(path: str, _row: FileRow | None) -> Source | None:
        return read_source(os.path.join(workspace, path))

    def raw(path: str) -> bytes | None:
        try:
            with open(os.path.join(workspace, path), "rb") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    return View(workspace, [store], read, raw, store.amended())


def view_of(sources: Iterable[Source], root: str = "") -> View:
    """Return sources as a view in memory: for single files, and where no index can be written. Their paths are the view's."""
    kept = {source.path: source for source in sources}
    builder = Builder()
    for source in kept.values():
        add_source(builder, source)
    bases = Bases(0, 0, 0)

    def read(path: str, _row: FileRow | None) -> Source | None:
        return kept.get(path)

    def raw(path: str) -> bytes | None:
        source = kept.get(path)
        return None if source is None else source.text.encode("utf-8", "surrogateescape")

    def shelved(mentions: array[float]) -> View:
        return View(root, [MemoryShelf(builder, bases, mentions)], read, raw)

    from array import array as numbers  # noqa: PLC0415

    first = shelved(numbers("d", bytes(8 * len(kept))))
    return first if len(kept) <= 1 else shelved(mentions_of(first, builder.used))
