"""One process of the engine: it answers one event at a time, and what it keeps of files lasts as long as it does."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from slicegrep.home import home_folder
from slicegrep.hook.cold import LATER_SECONDS
from slicegrep.hook.events import Event, seconds_for
from slicegrep.hook.planned import sweep
from slicegrep.resident.ask import GO, MAGIC, OK, OTHER, TAKEN, surroundings
from slicegrep.resident.memory import Memory
from slicegrep.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from slicegrep.resident.identity import Identities, Identity

__all__ = ["IDLE", "LEAVE", "work"]

IDLE, LEAVE = b"i", b"l"
"""What a worker tells the supervisor: it can have the next event; the engine is older than who asked it, and is to leave."""

MOST_HEAD = 1_000_000
MOST_PAYLOAD = 64_000_000
"""Bytes. The client's own limits on what a tool returns are far below."""
ARRIVE_SECONDS = 2.0
"""How long all of a question may take to arrive."""
SOON_SECONDS, QUIET_SECONDS = 0.02, 0.2
"""Without a question, before a worker makes what a read may need, and before it tidies up."""
MOST_ANSWERS = 50
"""After which a worker tidies up though it is asked all the time."""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True, slots=True)
class Place:
    """Whose engine it is."""

    root: str
    home: str
    identity: Identity
    most_memory: int
    """Bytes that a worker may take beside what all share; one that takes more ends, and another one takes its place."""


@dataclass(frozen=True, slots=True)
class _Question:
    event: str
    root: str
    folder: bytes
    seconds: float
    surroundings: bytes
    environment: dict[str, str]
    payload: bytes


def work(channel: socket.socket, place: Place, identities: Identities) -> NoReturn:
    """Answer the connections that come over `channel` until it is closed, then end the process.

    What an answer leaves to be done is done before the next question is asked for: nothing piles up, and who comes
    meanwhile goes to another worker.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process even in a call that does not return
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # it would collect while somebody waits
    memory = Memory(place.most_memory * 2 // 3)  # the rest is for what an event needs for itself
    before = _resident()

    def tidy_up() -> None:
        memory.settle()
        # The youngest alone: there is what an event left, after 50 searches 931 objects (all: 937) in 0.4 to 8 ms, in place of 120
        # to 180 for all, in which a call would come to a worker that knows no file. No cycle holds what is kept of files.
        gc.collect(0)
        if _resident() - before > place.most_memory:
            gc.collect()
        if _resident() - before > place.most_memory:
            channel.shutdown(socket.SHUT_RD)  # what was handed over by now is answered, then it ends

    verdict = IDLE
    later: list[Callable[[], None]] = []
    answers = 0
    """Since it tidied up."""
    while True:
        if memory.has_more():
            pause: float | None = SOON_SECONDS
        else:
            pause = QUIET_SECONDS if answers else memory.forget_conversations(time.monotonic())
        if not select.select([channel], [], [], pause)[0]:
            if memory.has_more():
                _do(memory.complete_one)
            elif answers:
                # What old sessions left goes, though nobody reads a large file.
                _do(partial(sweep, place.home))
                tidy_up()
                answers = 0
            continue
        told, files, _, _ = socket.recv_fds(channel, 1, 1)
        if not told:
            os._exit(0)
        for file in files:
            with socket.socket(fileno=file) as connection:
                verdict, later = _serve(connection, place, identities, memory)
        while later:
            _do(later.pop(0))
        answers += 1
        if answers >= MOST_ANSWERS:
            tidy_up()
            answers = 0
        channel.send(verdict)


def _do(work: Callable[[], None]) -> None:
    """Do what nobody waits for. What fails is left, and what does not end ends the process."""
    signal.setitimer(signal.ITIMER_REAL, LATER_SECONDS)
    with suppress(Exception):
        work()
    signal.setitimer(signal.ITIMER_REAL, 0)


def _serve(
    connection: socket.socket, place: Place, identities: Identities, memory: Memory
) -> tuple[bytes, list[Callable[[], None]]]:
    """Answer one connection; returns what to tell the supervisor, and what is to be done when the answer is out."""
    try:
        connection.settimeout(ARRIVE_SECONDS)
        connection.sendall(TAKEN)
        signal.setitimer(signal.ITIMER_REAL, 2 * ARRIVE_SECONDS)  # to look at folders may hang
        mine = identities.of(place.root)  # 0.9 ms, while who asked puts the question
        signal.setitimer(signal.ITIMER_REAL, 0)
        question = _received(connection, time.monotonic() + ARRIVE_SECONDS)
        if question is None or _gone(connection):
            return IDLE, []
        settings = Settings.from_environment(question.environment)
        seconds = min(question.seconds, seconds_for(question.event, settings))
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.05))
        told = _refusal(question, place, identities, mine)
        if told:
            connection.sendall(told + b" 0\n")
            return LEAVE if told == GO else IDLE, []
        return IDLE, _answer(connection, question, settings, memory)
    except OSError:  # who asked is gone, or never said all of it
        return IDLE, []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _refusal(question: _Question, place: Place, identities: Identities, mine: Identity | None) -> bytes:
    """Return b"" where the question is one for this engine: the same code, home folder, user's home and files.

    `mine` is what the engine's own folder held when the connection was taken.
    """
    asked = mine if question.root == place.root else identities.of(question.root)
    if asked is None or asked.digest != place.identity.digest:
        # A folder that is being replaced is no reason to go; that the engine's own is not what it loaded is one.
        older = asked is not None and asked.newer_than(place.identity)
        return GO if older or mine is None or mine.digest != place.identity.digest else OTHER
    environment = question.environment
    try:
        # HOME may end in a slash.
        same_home = os.path.normpath(home_folder(environment)) == os.path.normpath(place.home)
        same_files = question.surroundings == surroundings()
        if environment.get("HOME") != os.environ.get("HOME") or not same_home or not same_files:
            return OTHER
        os.chdir(question.folder)
    except OSError:  # also a home folder that everybody can write in by now
        return OTHER
    return b""


def _answer(
    connection: socket.socket, question: _Question, settings: Settings, memory: Memory
) -> list[Callable[[], None]]:
    """Answer a question; returns what is to be done when the answer is out. Raises OSError where who asked is gone."""
    event = Event(question.event, question.payload, question.environment)
    try:
        said = event.answer(settings, memory)
    except Exception:  # noqa: BLE001 (the process boundary; who asked tries it alone, and records what fails then)
        event.forget()
        said = None
    finally:
        os.chdir("/")
    connection.settimeout(ARRIVE_SECONDS)
    try:
        connection.sendall(OTHER + b" 0\n" if said is None else OK + b" %d\n" % len(said) + said)
    except OSError:  # nobody was shown what would be counted
        event.forget()
        raise
    return event.later


def _received(connection: socket.socket, until: float) -> _Question | None:
    """Return the question, None for what is none. Raises OSError where it has not arrived `until` then (time.monotonic)."""

    def more() -> bytes:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        return connection.recv(1 << 18)

    data = more()
    while b"\n" not in data[:100]:
        piece = more() if len(data) < 100 else b""
        if not piece:
            return None
        data += piece
    line, _, data = data.partition(b"\n")
    words = line.split(b" ")
    if b" ".join(words[:-2]) != MAGIC or not all(word.isdigit() and len(word) < 12 for word in words[-2:]):
        return None
    head, payload = int(words[-2]), int(words[-1])
    if head > MOST_HEAD or payload > MOST_PAYLOAD:
        return None
    pieces, length = [data], len(data)
    while length < head + payload:
        piece = more()
        if not piece:
            return None
        pieces.append(piece)
        length += len(piece)
    whole = b"".join(pieces)
    return _question(whole[:head], whole[head : head + payload])


def _question(head: bytes, payload: bytes) -> _Question | None:
    parts = head.split(b"\0")
    if len(parts) < 5 or not parts[3].isdigit() or len(parts[3]) > 12:
        return None
    pairs = [part.decode("utf-8", "surrogateescape").partition("=") for part in parts[5:]]
    return _Question(
        parts[0].decode("ascii", "replace"),
        parts[1].decode("utf-8", "surrogateescape"),
        parts[2],
        int(parts[3]) / 1000,
        parts[4],
        {name: value for name, _, value in pairs},
        payload,
    )


def _gone(connection: socket.socket) -> bool:
    """Whether who asked has given up while the question waited."""
    return bool(select.select([connection], [], [], 0)[0])


def _resident() -> int:
    """Return the bytes of memory that the process takes now; on systems that do not tell, the most it took."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        import resource  # noqa: PLC0415 (where there is no /proc)

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
