"""What has changed in a workspace since the index last looked: files, by status and then by content."""

from __future__ import annotations

import os
import stat
import time
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

__all__ = ["Changes", "Known", "Status", "Tree"]


class Status(NamedTuple):
    """What the system says of a file. A modification time of -1 is never true, so that the content is compared."""

    size: int
    mtime_ns: int
    ctime_ns: int


class Known(NamedTuple):
    """A file as the index has it; `digest` is the BLAKE2b-128 of its bytes, zeros where they were not read."""

    file: int
    path: str
    status: Status
    digest: bytes


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

    def __init__(self, root: str, known: list[Known], folders: Folders | None) -> None:
        self._root = os.path.join(root, "")
        self.known = known
        """The files of the index, in the order of their ids."""
        self.folders = folders
        """What is remembered of the folders; None before the first walk."""
        self._paths = [self._root + one.path for one in known]
        self._statuses = [one.status for one in known]

    def changes(self, heard: AbstractSet[str] | None = None) -> Changes:
        """Look at every file and folder, or at those alone that were `heard` of. Raises OSError where the root cannot be listed."""
        now = time.time_ns()
        folders = self.folders.looked_at(self._root, now, heard) if self.folders else None
        if folders is not None:
            everything = range(len(self.known))
            numbers = everything if heard is None else [n for n in everything if self.known[n].path in heard]
            new, dead, same = self._compared(numbers, now)
            return Changes(new, dead, same, folders if folders is not self.folders else None)
        paths, folders = walked(self._root, self.folders, is_wanted, now)
        there = set(paths)
        kept = [n for n, one in enumerate(self.known) if one.path in there]
        new, dead, same = self._compared(kept, now)
        gone = set(range(len(self.known))).difference(kept)
        dead += [self.known[n].file for n in sorted(gone)]
        there.difference_update([one.path for one in self.known])
        new += self._statuses_of([path for path in paths if path in there], now)
        return Changes(new, dead, same, folders)

    def accept(self, changes: Changes) -> None:
        """Take what a look found for what is known: the files' statuses, and the folders."""
        at = {one.file: number for number, one in enumerate(self.known)}
        for file, status in changes.same:
            self.known[at[file]] = self.known[at[file]]._replace(status=status)
            self._statuses[at[file]] = status
        self.folders = changes.folders or self.folders

    def _compared(
        self, numbers: Sequence[int], now: int
    ) -> tuple[list[tuple[str, Status]], list[int], list[tuple[int, Status]]]:
        new: list[tuple[str, Status]] = []
        dead: list[int] = []
        same: list[tuple[int, Status]] = []
        for number in self._differing(numbers):
            known = self.known[number]
            status = _status(self._paths[number], now)
            if status is None:
                dead.append(known.file)
            elif status.size == known.status.size and _digest(self._root, known.path) == known.digest:
                if status != known.status:
                    same.append((known.file, status))
            else:
                new.append((known.path, status))
                dead.append(known.file)
        return new, dead, same

    def _differing(self, numbers: Sequence[int]) -> list[int]:
        """Return those whose status is not what is known. Nothing else is done for each file of a workspace at rest."""
        paths = self._paths if len(numbers) == len(self._paths) else [self._paths[n] for n in numbers]
        expected = self._statuses if paths is self._paths else [self._statuses[n] for n in numbers]
        try:
            found: list[tuple[int, int, int] | None] = [
                (s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in map(os.lstat, paths)
            ]
        except OSError:
            found = [_raw_status(path) for path in paths]
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
