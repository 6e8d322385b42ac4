"""Work in a process that goes on when nobody waits for it any more: an index that was begun is there the next time."""

from __future__ import annotations

import fcntl
import gc
import os
import select
import signal
import time
from collections.abc import Callable  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.home import make_folder

__all__ = ["done_apart"]

_LONGEST_SECONDS = 60
"""After which the process is ended, whatever it is at: ten times what a tree of 3,000 files takes. What it wrote is kept."""
_POLL_SECONDS = 0.02
_DESCRIPTORS = 1_024
"""More than a shim or its helper has open."""


def done_apart(work: Callable[[], bytes], lock: str, until: float) -> bytes:
    """Return what `work` returns in another process, b"" where it raises or is not done by `until` (of `time.monotonic`).

    It is not ended then. One process at a time works under the file `lock`; the others wait for it until `until`. The
    process is in a session of its own and holds none of the caller's files. Raises OSError where none can be started.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.fork() == 0:  # whose parent ends at once is nobody's child: none has to wait for it
                _work(work, lock, until, writing)
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    try:
        return _received(reading, until)
    finally:
        os.close(reading)


def _received(reading: int, until: float) -> bytes:
    """Return all that is written until the other end is closed, b"" where that is not in time."""
    pieces: list[bytes] = []
    while (left := until - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    return b""


def _work(work: Callable[[], bytes], lock: str, until: float, writing: int) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, writing)
    os.closerange(writing + 1, _DESCRIPTORS)
    # The watchdog of faulthandler would wait for ever here: for the thread of the process that was forked.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.alarm(_LONGEST_SECONDS)
    gc.enable()  # the shim switches it off
    make_folder(os.path.dirname(lock))
    held = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    while True:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                return
            time.sleep(_POLL_SECONDS)
    left = memoryview(work())
    while left:
        left = left[os.write(writing, left) :]
