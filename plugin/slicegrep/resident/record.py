"""What outlasts an engine: that one is at work, when engines crashed, and until when none is to be started."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from slicegrep.home import open_plain, replace_private
from slicegrep.resident.ask import OFF_FILE, OFF_SECONDS, SOCKET_FILE, off_until
from slicegrep.resident.starting import STARTING_FILE, put_aside

__all__ = ["CRASHES_FILE", "LOCK_FILE", "RUNNING_FILE", "Record", "clear_places", "mark_of"]

LOCK_FILE = "engine.lock"
RUNNING_FILE = "engine.running"
"""Of the engine at work: its process id, the digest of its code, its plugin folder; a line each."""
CRASHES_FILE = "engine.crashes"
"""A line for each crash: when (seconds since the epoch), and the digest of the code."""
MOST_CRASHES = 3
CRASH_SECONDS = 3_600.0
"""So many crashes within so long switch the engine off for a day (`ask.OFF_SECONDS`)."""


def clear_places(run: str) -> None:
    """Move aside what stands where the engine's files are to be, and is none: folders, FIFOs, links. Raises OSError."""
    for name in (LOCK_FILE, RUNNING_FILE, CRASHES_FILE, OFF_FILE, STARTING_FILE, SOCKET_FILE):
        path = os.path.join(run, name)
        with suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            if not (stat.S_ISSOCK(mode) if name == SOCKET_FILE else stat.S_ISREG(mode)):
                put_aside(path)


def mark_of(run: str) -> list[str]:
    """Return process id, digest and plugin folder of the engine at work; nothing where there is no mark, or it is damaged."""
    try:
        with open_plain(os.path.join(run, RUNNING_FILE)) as file:
            told = file.read(10_000).decode("utf-8", "surrogateescape").split("\n", 2)
    except OSError:
        return []
    return [*told[:2], told[2].removesuffix("\n")] if len(told) == 3 else []


class Record:
    """The marks in the folder `run` of a home folder, for code of this digest: what other code did says nothing of it.

    What cannot be written is left: a full disk stops no engine.
    """

    def __init__(self, run: str, digest: str) -> None:
        self._run = run
        self._digest = digest

    def begin(self, root: str) -> bool:
        """Note that this process is the engine. False where engines crashed so often that none is to run.

        To be called under the engine's lock: the mark of another one is then of one that did not end well.
        """
        if mark_of(self._run)[1:2] == [self._digest] and self.crashed():
            self._drop(RUNNING_FILE)
            return False
        if off_until(self._run):
            if sum(digest == self._digest for _, digest in self._crashes()) >= MOST_CRASHES:
                with suppress(OSError):
                    os.utime(self._path(OFF_FILE))
                return False
            self._drop(OFF_FILE)  # that was other code, before an update or an edit
        told = f"{os.getpid()}\n{self._digest}\n{root}\n"
        with suppress(OSError):
            replace_private(self._path(RUNNING_FILE), told.encode("utf-8", "surrogateescape"))
        return True

    def listening(self) -> None:
        """Let others be started again: this one can be asked."""
        self._drop(STARTING_FILE)

    def ended(self) -> None:
        """Note that the engine ended well, or that its crash was counted."""
        if mark_of(self._run)[:1] == [
            str(os.getpid())
        ]:  # not where the home folder was deleted and made again
            self._drop(RUNNING_FILE)

    def crashed(self) -> bool:
        """Note a crash; says whether it was one too many, and no engine is to run for a day."""
        now = int(time.time())  # rounded up, what has just happened would lie ahead, and not count
        crashes = [one for one in self._crashes() if 0 <= now - one[0] < CRASH_SECONDS]
        crashes.append((now, self._digest))
        lines = "".join(f"{at:.0f} {digest}\n" for at, digest in crashes)
        with suppress(OSError):
            replace_private(self._path(CRASHES_FILE), lines.encode())
        if sum(digest == self._digest for _, digest in crashes) < MOST_CRASHES:
            return False
        with suppress(OSError):
            replace_private(self._path(OFF_FILE), b"%d\n" % (now + OFF_SECONDS))
        return True

    def _crashes(self) -> list[tuple[float, str]]:
        """Return when engines crashed, and the digests of their code; nothing where the file is damaged."""
        try:
            with open_plain(self._path(CRASHES_FILE)) as file:
                lines = [line.split(" ") for line in file.read(10_000).decode("ascii").splitlines()]
            return [(float(at), digest) for at, digest in lines]
        except (OSError, ValueError):
            return []

    def _drop(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._run, name)
