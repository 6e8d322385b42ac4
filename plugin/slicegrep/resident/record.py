"""What outlasts an engine: that one is at work, when engines crashed, and until when none is to be started."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from slicegrep.home import open_plain, replace_private
from slicegrep.resident.ask import OFF_FILE, OFF_SECONDS, STARTING_FILE

__all__ = ["Record"]

RUNNING_FILE = "engine.running"
CRASHES_FILE = "engine.crashes"
MOST_CRASHES = 3
CRASH_SECONDS = 3_600.0
"""So many crashes within so long switch the engine off for a day (`ask.OFF_SECONDS`)."""


class Record:
    """The marks in the folder `run` of a home folder. What cannot be written is left: a full disk stops no engine."""

    def __init__(self, run: str) -> None:
        self._run = run

    def begin(self, root: str) -> bool:
        """Note that this process is the engine. False where engines crashed so often that none is to run.

        To be called under the engine's lock: the mark of another one is then of one that did not end well.
        """
        if os.path.lexists(self._path(RUNNING_FILE)) and self.crashed():
            self._drop(RUNNING_FILE)
            return False
        with suppress(OSError):
            replace_private(
                self._path(RUNNING_FILE), f"{os.getpid()}\n{root}\n".encode("utf-8", "surrogateescape")
            )
        return True

    def listening(self) -> None:
        """Let others be started again: this one can be asked."""
        self._drop(STARTING_FILE)

    def ended(self) -> None:
        """Note that the engine ended well, or that its crash was counted."""
        self._drop(RUNNING_FILE)

    def crashed(self) -> bool:
        """Note a crash; says whether it was one too many, and no engine is to run for a day."""
        now = int(time.time())  # rounded up, what has just happened would lie ahead, and not count
        times = [at for at in self._crashes() if 0 <= now - at < CRASH_SECONDS]
        times.append(now)
        with suppress(OSError):
            replace_private(self._path(CRASHES_FILE), "".join(f"{at:.0f}\n" for at in times).encode())
        if len(times) < MOST_CRASHES:
            return False
        with suppress(OSError):
            replace_private(self._path(OFF_FILE), b"%d\n" % (now + OFF_SECONDS))
            self._drop(CRASHES_FILE)
        return True

    def _crashes(self) -> list[float]:
        try:
            with open_plain(self._path(CRASHES_FILE)) as file:
                return [float(line) for line in file.read(10_000).split()]
        except (OSError, ValueError):
            return []

    def _drop(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._run, name)
