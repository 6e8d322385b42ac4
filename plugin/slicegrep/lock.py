"""Locks between processes: held through an open file, so that the system frees them however the holder ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slicegrep.home import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Busy", "held"]

_POLL_SECONDS = 0.2
_FAR = 1 << 30  # Windows refuses reads of locked bytes: lock one that nobody reads
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""What lies behind a symlink is not written, and a FIFO's other end not waited for."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


class Busy(Exception):  # noqa: N818 (a state of the other process, not a fault)
    """Another process holds the lock; the message names it as far as it is known."""


@contextmanager
def held(path: Path, wait: float, waiting: Callable[[str], None] | None = None) -> Iterator[int]:
    """Hold the lock file at `path`, yielding its open handle: a child that inherits it goes on holding the lock.

    Waits up to `wait` seconds, calling `waiting` once with the holder's process id. Raises Busy after that, and
    OSError where the file cannot be made, or something else lies there.
    """
    make_folder(os.path.dirname(path))
    deadline = time.monotonic() + wait
    handle = _open(path)
    try:
        told = False
        while not (_take(handle) and _is_still(handle, path)):
            if time.monotonic() >= deadline:
                raise Busy(_holder(path))
            if waiting and not told:
                waiting(_holder(path))
                told = True
            time.sleep(_POLL_SECONDS)
            again = _open(path)  # the file may have been removed and made again
            os.close(handle)
            handle = again
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, str(os.getpid()).encode())
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "no regular file", str(path))


def _holder(path: Path) -> str:
    try:
        return path.read_text("ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


def _is_still(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _NO_LOCKS:  # some network file systems: better set up unlocked than never
                return True
            raise
        return True
