"""The long run: many files made into segments and written as they come."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from slicegrep.index.blocks import small
from slicegrep.index.documents import add_file
from slicegrep.index.merge import merge_tail
from slicegrep.index.segment import Bases, Builder
from slicegrep.index.store import Stale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slicegrep.index.blocks import Small
    from slicegrep.index.store import Store
    from slicegrep.index.tree import Status

__all__ = ["build"]

_LEVEL = 2
"""Of the segments that are written (merge.py): they are larger by far than those of edits."""
_PROGRESS_SECONDS = 0.1
_BATCH = 16
"""Files of one message to a worker: at a millisecond a file the pipe costs nothing, and none is left with much at the end."""
_FLUSH_FILES = 500
"""Files of a segment where no other process can be started."""


def build(
    store: Store,
    root: str,
    files: Iterable[tuple[str, Status]],
    progress: Callable[[int, int], None] | None,
) -> None:
    """Write segments of the files, each as soon as it is made. Raises store.Stale where another process writes in between.

    A file whose parsing ends a worker process is taken without definitions.
    """
    from slicegrep.index.parallel import Team  # noqa: PLC0415 (it loads subprocess)

    left = dict(files)
    bases = store.totals()
    told = _Told(len(left), progress)

    def write(segment: Small, paths: Iterable[str]) -> None:
        nonlocal bases
        with store.writing():
            if store.totals() != bases:
                raise Stale
            store.write(segment, _LEVEL)
            store.grown()
            merge_tail(store)
        bases = Bases(*map(sum, zip(bases, segment.counts, strict=True)))
        for path in paths:
            del left[path]

    batch = _BATCH
    while left:
        before = len(left)
        team = Team(root, list(left.items()), bases, batch)
        with closing(team.built(told.more)) as segments:  # ends the workers, however this ends
            for segment, paths in segments:
                write(segment, paths)
        if batch == 1 and team.suspects:
            suspects = [(path, left[path]) for path in team.suspects]
            write(_made(root, suspects, bases, parsed=False), team.suspects)
        elif len(left) == before and not team.suspects:  # no worker came up
            while left:
                some = list(left.items())[:_FLUSH_FILES]
                write(_made(root, some, bases, parsed=True), [path for path, _ in some])
                told.more(len(some))
        batch = 1  # what is left now was in the hands of a worker that died: one at a time it is known which file did it
        told.back_to(len(left))


def _made(root: str, files: list[tuple[str, Status]], bases: Bases, *, parsed: bool) -> Small:
    builder = Builder()
    for path, status in files:
        add_file(builder, root, path, status, parsed=parsed)
    return small(builder.encoded(bases))


class _Told:
    """Tells how far the run is, a few times a second."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress
        self._next = 0.0

    def more(self, count: int) -> None:
        """So many files more are done."""
        self._done += count
        if self._progress and time.monotonic() >= self._next:
            self._progress(self._done, self._total)
            self._next = time.monotonic() + _PROGRESS_SECONDS

    def back_to(self, left: int) -> None:
        """So many are left in truth."""
        self._done = self._total - left
        if self._progress:
            self._progress(self._done, self._total)
