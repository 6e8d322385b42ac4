"""What the kernel says of changes in watched folders, so that a workspace at rest need not be looked at file by file."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from slicegrep.index.folders import Folders

__all__ = ["Notices", "Watch"]

_MOST_FOLDERS = 20_000
"""Watches are the kernel's memory (1 kB each) and limited for each user: 65,536 on small machines."""
# linux/magic.h: ext2 to ext4, xfs, btrfs, f2fs, tmpfs, zfs, bcachefs, overlayfs. Of others (NFS, FUSE, 9p) the
# kernel need not hear what others write.
_LOCAL = frozenset(
    {0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x01021994, 0x2FC12FC1, 0xCA451A4E, 0x794C7630}
)
# linux/inotify.h: modified, attributes, closed after writing, moved from and to, created, deleted, itself deleted or moved.
_EVENTS = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_ONLY_FOLDERS = 0x01000000
# Itself deleted or moved, unmounted, notices lost, the watch gone, about a folder.
_OF_FOLDERS = 0x400 | 0x800 | 0x2000 | 0x4000 | 0x8000 | 0x40000000
_NOTICE = Struct("iIII")
_BUFFER = 1 << 16
_FROM = 2
"""The look from which on there are watches: a process that looks once does better without."""
_LOOK_SECONDS = 30.0
"""After so long every file is looked at again, whatever was heard."""
_NEVER = float("-inf")


class Notices:
    """Watches on folders, by inotify. Raises OSError where it cannot serve: then every look is at every file.

    Not heard: writes through a memory map after the file was closed, and through a hard link elsewhere.
    """

    def __init__(self, root: str, folders: Collection[str]) -> None:
        """Watch `folders`, relative to `root`, which ends in a separator."""
        if sys.platform != "linux" or len(folders) > _MOST_FOLDERS:
            raise OSError("no notices")
        import ctypes  # noqa: PLC0415 (a process that looks once does without)

        libc = ctypes.CDLL(None, use_errno=True)
        status = (ctypes.c_long * 32)()  # struct statfs begins with the kind of file system
        if libc.statfs(os.fsencode(root), status) or status[0] & 0xFFFFFFFF not in _LOCAL:
            raise OSError("no local file system")
        self.are_complete = True
        """Whether the folders are those that were watched at first: one that was made anew is not watched."""
        self._handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        device = os.stat(root).st_dev
        for folder in folders:
            path = root + folder
            if (
                os.stat(path).st_dev != device
                or libc.inotify_add_watch(self._handle, os.fsencode(path), _EVENTS | _ONLY_FOLDERS) < 0
            ):
                raise OSError("a folder that cannot be watched")

    def are_none(self) -> bool:
        """Whether nothing has happened since the last call."""
        none = True
        with suppress(BlockingIOError):
            while heard := os.read(self._handle, _BUFFER):
                none = False
                self.are_complete = self.are_complete and not _touches_folders(heard)
        return none

    def __del__(self) -> None:
        """Let the kernel forget the watches."""
        handle = getattr(self, "_handle", -1)
        if handle >= 0:
            os.close(handle)


def _touches_folders(heard: bytes) -> bool:
    """Whether one of the notices is of a folder that came, went or was moved, or of lost notices."""
    at = 0
    while at < len(heard):
        _, mask, _, length = _NOTICE.unpack_from(heard, at)
        if mask & _OF_FOLDERS:
            return True
        at += _NOTICE.size + length
    return False


class Watch:
    """Whether a workspace has been at rest since every file of it was looked at. From a process's second look on."""

    def __init__(self, root: str) -> None:
        self._root = os.path.join(root, "")
        self._notices: Notices | None = None
        self._folders: Folders | None = None
        self._asked = 0
        self._looked = _NEVER

    def is_at_rest(self, folders: Folders | None) -> bool:
        """Whether nothing has changed in `folders` since `looked` was called. Where not, every file is to be looked at."""
        self._asked += 1
        if folders is None or self._asked < _FROM:
            return False
        if self._notices is not None and not self._notices.are_complete:
            self._folders = None
        if folders is not self._folders:
            if self._folders is None or self._folders.folders.keys() != folders.folders.keys():
                self._notices, self._looked = None, _NEVER
                with suppress(OSError):
                    self._notices = Notices(self._root, folders.folders)
            self._folders = folders
        if self._notices is None:
            return False
        if not self._notices.are_none() or time.monotonic() - self._looked > _LOOK_SECONDS:
            self._looked = _NEVER
        return self._looked != _NEVER

    def looked(self) -> None:
        """Every file has been looked at since `is_at_rest` was asked, and what was found is in the index."""
        self._looked = time.monotonic()
