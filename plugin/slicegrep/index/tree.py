"""What has changed in a workspace since the index last looked: files, by status and then by content."""

from __future__ import annotations

import os
import stat
import time
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.documents import is_wanted
from slicegrep.index.folders import Folders, is_racy, walked
from slicegrep.index.texts import read_walked
from slicegrep.roles import LARGEST_CODE

try:  # as in source.py
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

__all__ = ["NOTHING_KNOWN", "Changes", "Known", "Status", "Tree"]


class Status(NamedTuple):
    """What the system says of a file. A modification time of -1 is never true, so that the content is compared."""

    size: int
    mtime_ns: int
    ctime_ns: int


class Known(NamedTuple):
    """The files as the index has them, in the order of their ids: a list for each thing, as a tree at rest is compared as a whole."""

    files: Sequence[int]
    """Their ids."""
    paths: Sequence[str]
    statuses: list[tuple[int, int, int]]
    """As Status."""
    digests: bytes
    """By id, of all that the index has: BLAKE2b-128 of their bytes, 16 bytes each, zeros where they were not read."""

    def digest(self, number: int) -> bytes:
        """Return the digest of the file at that place."""
        file = self.files[number]
        return self.digests[16 * file : 16 * file + 16]


NOTHING_KNOWN = Known((), (), [], b"")


class Changes(NamedTuple):
    """What a look found."""

    new: list[tuple[str, Status]]
    """Files that are new or have other content, by path."""
    dead: list[int]
    """Files of the index that are gone or have other content."""
    same: list[tuple[int, Status]]
    """Files of the index whose content is the same, with the status they have now."""
    folders: Folders | None
    """What to remember of the folders; None where it is as it was."""

    def __bool__(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.new or self.dead or self.same or self.folders)


class Tree:
    """The files of a workspace as the index has them, to be compared with what is there."""

    def __init__(self, root: str, known: Known, folders: Folders | None) -> None:
        self._root = os.path.join(root, "")
        self._known = known
        self.folders = folders
        """What is remembered of the folders; None before the first walk."""

    def changes(self, heard: AbstractSet[str] | None = None) -> Changes:
        """Look at every file and folder, or at those alone that were `heard` of. Raises OSError where the root cannot be listed."""
        now, known = time.time_ns(), self._known
        folders = self.folders.looked_at(self._root, now, heard) if self.folders else None
        if folders is not None:
            numbers: Sequence[int] = range(len(known.files))
            if heard is not None:
                numbers = [n for n, path in enumerate(known.paths) if path in heard]
            new, dead, same = self._compared(numbers, now)
            return Changes(new, dead, same, folders if folders is not self.folders else None)
        paths, folders = walked(self._root, self.folders, is_wanted, now)
        there = set(paths)
        kept = [n for n, path in enumerate(known.paths) if path in there]
        new, dead, same = self._compared(kept, now)
        gone = set(range(len(known.files))).difference(kept)
        dead += [known.files[n] for n in sorted(gone)]
        there.difference_update(known.paths)
        new += self._statuses_of([path for path in paths if path in there], now)
        return Changes(new, dead, same, folders)

    def accept(self, changes: Changes) -> None:
        """Take what a look found for what is known: the files' statuses, and the folders."""
        for file, status in changes.same:
            self._known.statuses[bisect_left(self._known.files, file)] = status
        self.folders = changes.folders or self.folders

    def _compared(
        self, numbers: Sequence[int], now: int
    ) -> tuple[list[tuple[str, Status]], list[int], list[tuple[int, Status]]]:
        new: list[tuple[str, Status]] = []
        dead: list[int] = []
        same: list[tuple[int, Status]] = []
        known = self._known
        for number in self._differing(numbers):
            file, path, was = known.files[number], known.paths[number], known.statuses[number]
            status = _status(self._root + path, now)
            if status is None:
                dead.append(file)
            elif status.size == was[0] and _digest(self._root, path) == known.digest(number):
                if status != was:
                    same.append((file, status))
            else:
                new.append((path, status))
                dead.append(file)
        return new, dead, same

    def _differing(self, numbers: Sequence[int]) -> list[int]:
        """Return those whose status is not what is known. Nothing else is done for each file of a workspace at rest."""
        known, root = self._known, self._root
        everything = len(numbers) == len(known.files)
        paths = known.paths if everything else [known.paths[n] for n in numbers]
        expected = known.statuses if everything else [known.statuses[n] for n in numbers]
        try:
            found: list[tuple[int, int, int] | None] = [
                (s.st_size, s.st_mtime_ns, s.st_ctime_ns)
                for s in map(os.lstat, [root + path for path in paths])
            ]
        except OSError:
            found = [_raw_status(root + path) for path in paths]
        if found == expected:
            return []
        return [n for n, is_now, was in zip(numbers, found, expected, strict=True) if is_now != was]

    def _statuses_of(self, paths: Iterable[str], now: int) -> list[tuple[str, Status]]:
        found = [(path, _status(self._root + path, now)) for path in paths]
        return [(path, status) for path, status in found if status is not None]


def _raw_status(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _status(path: str, now: int) -> Status | None:
    """Return the status of a regular file, or None."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    mtime = -1 if is_racy(status, now) else status.st_mtime_ns
    return Status(status.st_size, mtime, status.st_ctime_ns)


def _digest(root: str, path: str) -> bytes:
    """Return the digest of a file's bytes, as source.source_of has it; b"" where it is not read."""
    data = read_walked(root, path, LARGEST_CODE)
    return b"" if data is None else blake2b(data, digest_size=16).digest()
