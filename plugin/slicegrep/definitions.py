"""The definitions around lines of files at hand: from the index where it holds exactly that content, else parsed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from slicegrep.index.place import indexed_workspace, inside
from slicegrep.index.points import outlines
from slicegrep.outline import enclosing
from slicegrep.types import Outline, Source, Symbol

__all__ = ["DefinitionsUntil", "OutlineOf"]

OutlineOf = Callable[..., Outline]
"""`outline`, or what stands for it and keeps what it made: called with a source, `seconds=` and `lines=`. An outline that
was made for some lines only says nothing of others."""


class DefinitionsUntil:
    """Looks definitions up until `until` (of `time.monotonic`); what is asked for after that counts as in none.

    `folders` are those that a search was made in. `home` is the home folder. The index is only read: it need not be
    there, or up to date. What no index holds is parsed by `outline_of` (None: `outline`).
    """

    def __init__(
        self, folders: Sequence[str], home: str, until: float, outline_of: OutlineOf | None = None
    ) -> None:
        self._workspaces = list(dict.fromkeys([indexed_workspace(folder, home) for folder in folders]))
        self._home = home
        self._until = until
        self._outline_of = outline_of
        self.indexed = False
        """Whether an index held any of the files that were asked about."""

    def __call__(self, batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
        """Return the innermost definitions around the lines of each source, in their order."""
        known = self._known([source for source, _ in batch])
        self.indexed = self.indexed or bool(known)
        found: list[list[Symbol | None]] = []
        for source, lines in batch:
            shape = known.get(source.path)
            if shape is None:
                shape = self._parsed(source, lines)
            found.append([enclosing(shape, line) for line in lines])
        return found

    def _parsed(self, source: Source, lines: Sequence[int]) -> Outline:
        left = self._until - time.monotonic()
        if left <= 0:
            return Outline(source.language)
        if self._outline_of is None:
            from slicegrep.outline import outline  # noqa: PLC0415 (nobody needs it where the index has all)

            self._outline_of = outline
        return self._outline_of(source, seconds=left, lines=lines)

    def _known(self, sources: Sequence[Source]) -> Mapping[str, Outline]:
        """Return what the indexes hold of the sources, by the sources' paths."""
        wanted: dict[str, dict[str, str]] = {}
        paths: dict[tuple[str, str], str] = {}
        places: dict[str, tuple[str, str]] = {}
        for source in sources:
            folder, name = os.path.split(source.path)
            if folder not in places:
                places[folder] = self._place(folder)
            workspace, within = places[folder]
            wanted.setdefault(workspace, {})[within + name] = source.digest
            paths[workspace, within + name] = source.path
        return {
            paths[workspace, path]: shape
            for workspace, digests in wanted.items()
            for path, shape in outlines(workspace, self._home, digests).items()
        }

    def _place(self, folder: str) -> tuple[str, str]:
        """Return the workspace of a folder, and what comes before the names in it: "" or a path that ends in `/`."""
        for workspace in self._workspaces:
            if (before := inside(workspace, folder)) is not None:
                return workspace, before
        workspace = indexed_workspace(folder, self._home)
        return workspace, inside(workspace, folder) or ""
