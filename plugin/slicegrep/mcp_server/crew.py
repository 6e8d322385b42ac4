"""Worker processes that are kept between calls: one call at a time each, and killed with all that they started when it is cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

__all__ = ["Crew", "Worker"]

_START = "import sys; sys.path[:] = sys.argv[1:]; from slicegrep.mcp_server.worker import serve; serve()"
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Worker:
    """A process that answers a line with a line. It ends, with the processes that it started, when this one does."""

    def __init__(self) -> None:
        options = ["-I", "-S", "-B"] if sys.dont_write_bytecode else ["-I", "-S"]
        if sys.pycache_prefix:
            options += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
        self._process = subprocess.Popen(
            [sys.executable, *options, "-c", _START, _PACKAGES, *map(os.path.abspath, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that the group holds what it starts and nothing else
        )

    def ask(self, line: bytes) -> bytes:
        """Return the answer to a line, both with their LF; b"" where the process ended without one."""
        target, source = self._process.stdin, self._process.stdout
        answer = b""
        if target is not None and source is not None:
            with suppress(OSError):
                target.write(line)
                target.flush()
                answer = source.readline()
        return answer if answer.endswith(b"\n") else b""

    def kill(self) -> None:
        """End it in the middle of whatever it does. A thread that waits in `ask` gets b""."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()


class Crew:
    """The workers that are idle. Not for several threads at once."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    def hire(self) -> None:
        """Start a worker, which is idle then."""
        worker = Worker()
        self._all.add(worker)
        self._idle.append(worker)

    def take(self) -> Worker:
        """Return the worker that was idle last: its index is the likeliest to be in memory."""
        if not self._idle:
            self.hire()
        return self._idle.pop()

    def give_back(self, worker: Worker) -> None:
        """Have the worker idle again, after it answered."""
        self._idle.append(worker)

    def dismiss(self, worker: Worker) -> None:
        """Kill a worker in the middle of a call."""
        self._all.discard(worker)
        worker.kill()

    def close(self) -> None:
        """Kill all of them."""
        for worker in list(self._all):
            self.dismiss(worker)
        self._idle.clear()
