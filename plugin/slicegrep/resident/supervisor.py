"""The engine's first process: it listens, hands each connection to a worker, and replaces those that end."""

from __future__ import annotations

import errno
import gc
import os
import selectors
import signal
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.resident.ask import SOCKET_FILE
from slicegrep.resident.worker import IDLE, Place, work

if TYPE_CHECKING:
    from slicegrep.resident.identity import Identities
    from slicegrep.resident.record import Record

__all__ = ["Supervisor"]

MOST_WORKERS = max(2, min(4, os.cpu_count() or 2))
MOST_WAITING = 100
"""Connections that wait for a worker. Who comes then is sent away at once, and does the work itself, as who has waited for
a fifth of its time does (`ask.PATIENCE`)."""
SPARE_SECONDS = 60.0
"""After which a worker that nobody needed ends, but for the oldest."""
LOOK_SECONDS = 30.0
"""Between two looks at whether the engine is still wanted: its socket, and the code that it runs."""
LOST_SECONDS = 90.0
"""After which a worker that is busy is stopped, or waits for a disk that is gone: the longest limit of an event is 60 s."""
LEAVING_SECONDS = 10.0
"""What is being answered may come to its end when the engine leaves."""
LAST_SECONDS = 5.0
"""After that: for workers to write what is left of their last answers, before they are killed."""
FULL_SECONDS = 0.05
"""Between two tries to take a connection where no descriptor or memory is left for it."""
_NICEST = 20
_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


@dataclass
class _Worker:
    pid: int
    channel: socket.socket
    busy: bool = False
    used: float = 0.0
    lost: bool = False
    """Whether it was killed as it did not end by itself: no crash of its own."""


class Supervisor:
    """Serves one socket until nobody asked for `idle` seconds, or it is to leave. It runs no thread, so that forking is safe."""

    def __init__(
        self, run: str, place: Place, identities: Identities, record: Record, *, idle: float, lock: int
    ) -> None:
        """`lock` is the handle of the engine's lock: a worker that outlives this process must not go on holding it."""
        self._run = run
        self._place = place
        self._identities = identities
        self._record = record
        self._idle = idle
        self._lock = lock
        self._nice = os.getpriority(os.PRIO_PROCESS, 0)
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        """The oldest first: it has answered most, so it keeps most of the files that may be asked for."""
        self._waiting: deque[socket.socket] = deque()
        self._leaving = 0.0
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._node = (0, 0)

    def serve(self) -> None:
        """Serve to the end. Raises OSError where nothing can listen."""
        self._on_signals()
        self._listen()
        self._selector.register(self._listener, selectors.EVENT_READ)
        gc.collect()
        gc.freeze()  # or each collection of a worker would copy all that it shares with this process
        self._fork()
        self._record.listening()
        asked = looked = time.monotonic()
        between = min(LOOK_SECONDS, self._idle / 4)
        while True:
            now = time.monotonic()
            busy = bool(self._waiting) or any(worker.busy for worker in self._workers)
            if self._leaving and (not busy or now > self._leaving):
                break
            for key, _ in self._selector.select(0.2 if self._leaving else between):
                if key.data is not None:
                    self._hear(key.data)
                elif key.fileobj is self._listener:
                    asked = now
                    self._accept()
                else:
                    self._wakened()
            self._hand_out()
            now = time.monotonic()
            if now - looked >= between:
                looked = now
                self._let_go(now)
                if now - asked >= self._idle or not self._wanted():
                    self.leave()
        self._close()

    def leave(self) -> None:
        """Take no more questions, and end when those that are there are answered."""
        if self._leaving:
            return
        self._leaving = time.monotonic() + LEAVING_SECONDS
        if self._is_ours():
            with suppress(OSError):
                os.unlink(SOCKET_FILE)
        while self._accept():  # who is in the system's queue already
            pass
        self._selector.unregister(self._listener)
        self._listener.close()

    def _listen(self) -> None:
        """Listen under the socket's name, from the moment on when it can be asked. The working directory is `run`."""
        os.chdir(self._run)
        new = f"{SOCKET_FILE}.{os.getpid()}"
        with suppress(OSError):
            os.unlink(new)
        self._listener.bind(new)
        try:
            os.chmod(new, 0o600)
            self._listener.listen(socket.SOMAXCONN)
            self._listener.settimeout(0)
            status = os.lstat(new)
            os.replace(new, SOCKET_FILE)
        except OSError:
            os.unlink(new)
            raise
        self._node = status.st_dev, status.st_ino

    def _on_signals(self) -> None:
        self._alarm, woken = socket.socketpair()
        for end in (self._alarm, woken):
            end.settimeout(0)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        self._woken = woken
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._selector.register(self._alarm, selectors.EVENT_READ)

    def _wakened(self) -> None:
        with suppress(OSError):
            self._alarm.recv(64)
        self.leave()

    def _accept(self) -> bool:
        """Take one connection; says whether there was one."""
        try:
            connection, _ = self._listener.accept()
        except OSError as error:
            if error.errno in _FULL:
                time.sleep(FULL_SECONDS)  # it would be there again at once
            return False
        if len(self._waiting) >= MOST_WAITING or not _is_ours(connection):
            connection.close()
            return True
        connection.settimeout(None)
        self._waiting.append(connection)
        if self._nice > 0 and _niceness(connection) < self._nice:
            self.leave()  # the one that its caller starts next is as quick as its session
        return True

    def _hand_out(self) -> None:
        while self._waiting:
            worker = next((one for one in self._workers if not one.busy), None)
            if worker is None and len(self._workers) < MOST_WORKERS:
                with suppress(OSError):  # no process or memory left for another one: the others go on
                    worker = self._fork()
            if worker is None:
                return
            connection = self._waiting.popleft()
            try:
                socket.send_fds(worker.channel, [b"+"], [connection.fileno()])
            except OSError:  # it ended just now, which is heard next
                self._waiting.appendleft(connection)
                worker.busy = True
                return
            connection.close()
            worker.busy = True
            worker.used = time.monotonic()

    def _hear(self, worker: _Worker) -> None:
        """Listen to a worker: it is free, it was told to leave, or it ended."""
        try:
            told = worker.channel.recv(1)
        except OSError:
            told = b""
        if told:
            worker.busy = False
            if told != IDLE:
                self.leave()
        else:
            self._bury(worker)

    def _bury(self, worker: _Worker) -> None:
        """Clean up behind a worker that ended; of three crashes within an hour the last one ends the engine."""
        self._selector.unregister(worker.channel)
        worker.channel.close()
        self._workers.remove(worker)
        _, status = os.waitpid(worker.pid, 0)
        # SIGALRM: it was past the time limit of its event.
        well = os.waitstatus_to_exitcode(status) in (0, -signal.SIGALRM, -signal.SIGTERM)
        if not well and not worker.lost and self._record.crashed():
            self.leave()

    def _fork(self) -> _Worker:
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                self._selector.close()
                os.close(self._lock)
                others = [one.channel for one in self._workers]
                for end in (mine, self._alarm, self._woken, self._listener, *others, *self._waiting):
                    end.close()
                work(theirs, self._place, self._identities)
            finally:
                os._exit(1)
        theirs.close()
        worker = _Worker(pid, mine, used=time.monotonic())
        self._workers.append(worker)
        self._selector.register(mine, selectors.EVENT_READ, worker)
        return worker

    def _let_go(self, now: float) -> None:
        """End the workers that were needed for a moment only, and those whose own alarm does not end them."""
        for worker in self._workers:
            if worker.busy and now - worker.used > LOST_SECONDS:
                worker.lost = True
                with suppress(OSError):
                    os.kill(worker.pid, signal.SIGKILL)
        for worker in self._workers[1:]:
            if not worker.busy and now - worker.used > SPARE_SECONDS:
                with suppress(OSError):
                    worker.channel.shutdown(socket.SHUT_WR)  # it ends, which is heard

    def _wanted(self) -> bool:
        """Whether others still find this engine, and it runs the code that is there."""
        now = self._identities.of(self._place.root)
        return self._is_ours() and now is not None and now.digest == self._place.identity.digest

    def _is_ours(self) -> bool:
        try:
            status = os.lstat(SOCKET_FILE)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._node

    def _close(self) -> None:
        """Send away who waits, and end the workers: none is left when another engine begins, or the folder goes."""
        for connection in self._waiting:
            connection.close()
        self._selector.unregister(self._alarm)
        for worker in self._workers:
            with suppress(OSError):
                if worker.busy:
                    os.kill(worker.pid, signal.SIGTERM)
                worker.channel.shutdown(socket.SHUT_WR)
        until = time.monotonic() + LAST_SECONDS
        while self._workers and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                self._hear(key.data)
        for worker in self._workers:
            with suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)


def _is_ours(connection: socket.socket) -> bool:
    """Whether the same user's process asks. Where the system does not tell, the socket's mode must do.

    One of another process namespace has no number here.
    """
    asked = getattr(socket, "SO_PEERCRED", None)
    if asked is None:
        return True
    try:
        told = connection.getsockopt(socket.SOL_SOCKET, asked, struct.calcsize("3i"))
    except OSError:
        return False
    pid, user, _ = struct.unpack("3i", told)
    return bool(pid != 0 and user == os.geteuid())


def _niceness(connection: socket.socket) -> int:
    """Return how nice the process is that asks; `_NICEST` where the system does not tell."""
    asked = getattr(socket, "SO_PEERCRED", None)
    if asked is None:
        return _NICEST
    try:
        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, asked, struct.calcsize("3i")))[0]
        return os.getpriority(os.PRIO_PROCESS, pid)
    except OSError:  # it is gone
        return _NICEST
