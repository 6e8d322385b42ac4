"""The real tool: started, its output collected, its signals and its end made our own.

`_signal` is what the package `signal` wraps in enumerations, which take 5 ms to import.
"""

from __future__ import annotations

import os
import select
import time

from slicegrep.shim.output import CHUNK

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms, collections.abc 2
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Sequence
    from typing import NoReturn
else:
    import _signal

__all__ = ["Child", "RealTool", "die_by", "send"]

_HIDDEN = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Those that Python ignores from its start, whatever they were before."""
_FORWARDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT)


class RealTool:
    """The program that the shim stands for, and what it is to be started with."""

    def __init__(self, path: str, words: Sequence[str], ignored: int) -> None:
        """`ignored` is the mask of the signals that were ignored before Python started."""
        self._path = path
        self._words = [os.path.basename(path), *words]
        self._ignored = {number for number in _HIDDEN if ignored >> (number - 1) & 1}
        self._forgets = _signal.getsignal(_signal.SIGCHLD) is _signal.SIG_IGN
        """Whether the caller had the system forget how children ended, which would be true of ours too."""

    def become(self) -> NoReturn:
        """Put the tool in this process's place."""
        for number in _HIDDEN:
            _signal.signal(number, _signal.SIG_IGN if number in self._ignored else _signal.SIG_DFL)
        if self._forgets:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        os.execv(self._path, self._words)  # noqa: S606 (no shell is wanted)

    def start(self, *, errors_too: bool) -> Child:
        """Start it with its output, and its standard error too, in one pipe. Raises OSError."""
        reading, writing = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, writing, 1)]
        if errors_too:
            actions.append((os.POSIX_SPAWN_DUP2, writing, 2))
        if self._forgets:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        child = Child(reading)
        try:
            child.pid = os.posix_spawn(
                self._path,
                self._words,
                os.environ,
                file_actions=actions,
                setsigdef=[number for number in _HIDDEN if number not in self._ignored],
            )
        finally:
            os.close(writing)
        if child.signal:
            child.forward(child.signal)
        return child


class Child:
    """The running tool. A signal that reaches this process reaches it too."""

    def __init__(self, output: int) -> None:
        """Begin to forward signals: what comes while the tool is started must reach it too."""
        self.pid = 0
        self.output = output
        self.signal = 0
        """The signal that came while the output was held back, 0 for none."""
        self.helper = 0
        """Another process that a signal ends, 0 for none."""
        self.printing = False
        """Whether a signal ends this process at once: the tool's output is on its way."""
        self._status: int | None = None
        for number in _FORWARDED:
            if _signal.getsignal(number) is _signal.SIG_DFL:
                _signal.signal(number, self._met)

    def _met(self, number: int, _frame: object) -> None:
        self.signal = self.signal or number
        self.forward(number)
        if self.printing:
            die_by(number)

    def forward(self, number: int) -> None:
        """Send a signal to the tool, and to the helper."""
        for pid in (self.pid if self._status is None else 0, self.helper):
            if pid:
                send(pid, number)

    def collect(
        self, until: float, most: int, watched: int | None, first: Callable[[], None]
    ) -> tuple[bytes, bool]:
        """Read its output until it ends, and say whether it did.

        It did not where `until` (of `time.monotonic`) passed, more than `most` bytes came, or nobody reads the pipe
        `watched` any more. `first` is called when there is some output.
        """
        poll = select.poll()
        poll.register(self.output, select.POLLIN)
        if watched is not None:
            poll.register(watched, 0)
        pieces: list[bytes] = []
        size = 0
        while (left := until - time.monotonic()) > 0:
            ready = poll.poll(left * 1_000 + 1)
            if any(descriptor == watched for descriptor, _ in ready):
                break
            if not ready:
                continue
            piece = os.read(self.output, CHUNK)
            if not piece:
                return b"".join(pieces), True
            if not pieces:
                first()
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
        return b"".join(pieces), False

    def status(self) -> int:
        """Wait for its end and return it, as `os.waitpid` tells it."""
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        return self._status

    def kill(self) -> None:
        """End it, whatever it is at."""
        if self._status is None:
            send(self.pid, _signal.SIGKILL)
            self.status()

    def end_likewise(self) -> NoReturn:
        """End as it ended, or by the signal that came."""
        status = self.status()
        if self.signal or os.WIFSIGNALED(status):
            die_by(self.signal or os.WTERMSIG(status))
        os._exit(os.WEXITSTATUS(status))


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def die_by(number: int) -> NoReturn:
    """End this process by a signal."""
    if number not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # where the signal is blocked
