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
    from collections.abc import Set as AbstractSet

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
        self._folders: dict[int, str] = {}
        self._handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        device = os.stat(root).st_dev
        for folder in folders:
            path = root + folder
            if os.stat(path).st_dev != device:
                raise OSError("a folder of another file system")
            number = libc.inotify_add_watch(self._handle, os.fsencode(path), _EVENTS | _ONLY_FOLDERS)
            if number < 0:
                raise OSError("a folder that cannot be watched")
            self._folders[number] = f"{folder}/" if folder else ""

    def heard(self) -> set[str]:
        """Return the files, relative to the root, to which something has happened since the last call.

        What happens to a folder is not told: `are_complete` is False then.
        """
        paths: set[str] = set()
        with suppress(BlockingIOError):
            while heard := os.read(self._handle, _BUFFER):
                at = 0
                while at < len(heard):
                    number, mask, _, length = _NOTICE.unpack_from(heard, at)
                    at += _NOTICE.size + length
                    if mask & _OF_FOLDERS or number not in self._folders:
                        self.are_complete = False
                    else:
                        paths.add(self._folders[number] + os.fsdecode(heard[at - length : at].rstrip(b"\0")))
        return paths

    def __del__(self) -> None:
        """Let the kernel forget the watches."""
        handle = getattr(self, "_handle", -1)
        if handle >= 0:
            os.close(handle)


class Watch:
    """What may have changed in a workspace since every file of it was looked at. From a process's second look on."""

    def __init__(self, root: str) -> None:
        self._root = os.path.join(root, "")
        self._notices: Notices | None = None
        self._folders: Folders | None = None
        self._asked = 0
        self._looked = _NEVER
        self._heard: set[str] = set()

    def heard(self, folders: Folders | None) -> AbstractSet[str] | None:
        """Return the files in `folders` that may be others than when `looked` was called last; None: every file is to be looked at."""
        self._asked += 1
        if folders is None or self._asked < _FROM:
            return None
        if self._notices is not None and not self._notices.are_complete:
            self._folders = None
        if folders is not self._folders:
            if self._folders is None or self._folders.folders.keys() != folders.folders.keys():
                self._notices, self._looked = None, _NEVER
                with suppress(OSError):
                    self._notices = Notices(self._root, folders.folders)
            self._folders = folders
        if self._notices is None:
            return None
        self._heard |= self._notices.heard()
        if not self._notices.are_complete or time.monotonic() - self._looked > _LOOK_SECONDS:
            self._looked = _NEVER
        return None if self._looked == _NEVER else self._heard

    def looked(self, heard: AbstractSet[str] | None) -> None:
        """Take note that what `heard` returned has been looked at since, and that what was found is in the index."""
        if heard is None:
            self._looked = time.monotonic()
        self._heard = set()
