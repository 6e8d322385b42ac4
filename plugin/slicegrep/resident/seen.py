"""The resident engine as others see it: whether it runs, until when it is switched off, and how it is made to leave."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slicegrep.lock import Busy, held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Running", "answers", "kept_away", "off_until", "running", "switch_on"]

_LOCK = "engine.lock"
_KB = 1024
_ANSWER_SECONDS = 5.0
_SOON_SECONDS = 2.0  # an engine that is asked to leave, and at nothing, takes a fifth of a second


@dataclass(frozen=True)
class Running:
    """An engine at work: its process, since when (seconds since the epoch), and the bytes of memory of all its processes."""

    pid: int
    since: float
    memory: int
    """0 where the system does not tell."""
    root: str
    """The plugin's folder whose code it runs; "" where it does not tell yet."""


def running(home: str) -> Running | None:
    """Return the engine of a home folder, None where none runs. Who holds the lock is the engine: a mark may be left over."""
    lock = Path(home, "run", _LOCK)
    if not lock.is_file():  # to try it would make it
        return None
    try:
        with held(lock, 0):
            return None
    except Busy as engine:
        if not str(engine).isdigit():
            return None
        pid = int(str(engine))
    except OSError:
        return None
    from slicegrep.resident.record import RUNNING_FILE, mark_of  # noqa: PLC0415 (for systems that have its sockets)

    mark = mark_of(os.path.join(home, "run"))
    try:
        since = Path(home, "run", RUNNING_FILE).stat().st_mtime
    except OSError:  # it has just begun, or is about to end
        since = time.time()
    return Running(pid, since, _memory(pid), mark[2] if mark else "")


def answers(home: str, engine: Running) -> bool:
    """Whether an engine answers a question that it has nothing to say to; waits a second for its first word at most."""
    from slicegrep.resident import ask  # noqa: PLC0415 (for systems that have its sockets)

    question = b'{"session_id": "doctor", "tool_name": "Read"}'
    reply = ask.ask("pre-read", question, home, engine.root, _ANSWER_SECONDS)
    return reply.verdict == ask.ANSWERED and not reply.why


def off_until(home: str) -> float:
    """Return until when (seconds since the epoch) crashes switched the engine off; 0 where they did not."""
    if os.name == "nt":
        return 0.0
    from slicegrep.resident import ask  # noqa: PLC0415 (for systems that have its sockets)

    return ask.off_until(os.path.join(home, "run"))


def switch_on(home: str) -> None:
    """Let engines be started again, whatever crashed before."""
    for name in ("engine.off", "engine.crashes"):
        with suppress(OSError):
            os.unlink(os.path.join(home, "run", name))


@contextmanager
def kept_away(home: str, seconds: float, waiting: Callable[[str], None]) -> Iterator[None]:
    """Make the engine of a home folder leave, and let none begin as long as this lasts.

    `waiting` is called with its process id where it does not leave soon. Raises lock.Busy, with that, where it is still
    there after so many seconds.
    """
    lock = Path(home, "run", _LOCK)
    over = time.monotonic() + seconds
    told = False
    with ExitStack() as stack:
        while lock.is_file():
            engine = running(home)  # also one that a hook started when the one before had left
            if engine is not None:
                with suppress(OSError):
                    os.kill(engine.pid, signal.SIGTERM)
                    os.kill(engine.pid, signal.SIGCONT)  # one that was stopped would not hear of it
            left = over - time.monotonic()
            try:
                stack.enter_context(held(lock, max(0.0, min(_SOON_SECONDS, left))))
                break
            except Busy as slow:
                if left <= 0:
                    raise
                if not told:
                    waiting(str(slow))
                told = True
        yield


def _memory(pid: int) -> int:
    """Return the bytes that an engine and its workers take; what they share counts once (Linux)."""
    total = 0
    with suppress(OSError, ValueError):
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (str(pid), *workers):
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * _KB
    return total
