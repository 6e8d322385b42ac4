"""An event answered by a process of its own: with a watchdog, and whatever fails, the plain call happens."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
from contextlib import suppress

from slicegrep.home import home_folder
from slicegrep.hook.events import Event, Kept, begin, end, seconds_for
from slicegrep.settings import Settings

__all__ = ["leave", "note", "run"]

LATER_SECONDS = 10.0
"""For what is done when the answer is out."""

NICE = 10
"""The next call of the session goes before it."""

TYPE_CHECKING = False  # importing typing costs 3 ms
if TYPE_CHECKING:
    from collections.abc import Callable


def run(event: str, data: bytes, call: str) -> None:
    """Print the answer to a payload, if there is one. `call` is the launcher's number for it. Raises nothing."""
    gc.disable()  # the process ends before collecting would pay: 4 to 18 ms of annotating 200 hits
    environment = dict(os.environ)
    work = Event(event, data, environment)
    mark = ""
    try:
        mark = begin(event, home_folder(environment), call)
        settings = Settings.from_environment(environment)
        _arm(seconds_for(event, settings))
        answer = work.answer(settings, Kept())
        if answer:
            sys.stdout.write(answer.decode())
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 (the process boundary: no fault of ours may reach the session)
        work.forget()
        work.note_failure(error)
    finally:
        end(mark)
    if work.later:
        _do_apart(work.later)


def note(event: str, data: bytes, cause: str) -> None:
    """Record that the plain call of a payload happens because of something outside of this process. Raises nothing."""
    with suppress(OSError):
        Event(event, data, os.environ).note(cause)


def _do_apart(work: list[Callable[[], None]]) -> None:
    """Do what nobody waits for in a process of its own: neither the launcher nor the client waits for its end.

    Where there can be none, it is done in this one, which ends then.
    """
    faulthandler.cancel_dump_traceback_later()  # its thread does not survive a fork, and would be waited for ever
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (
            0,
            1,
            2,
        ):  # before the fork: the launcher reads until the last of the two has let go
            os.dup2(nowhere, descriptor)
        if hasattr(os, "fork"):
            if os.fork():
                return
            os.setsid()
            os.nice(NICE)
    try:
        _arm(LATER_SECONDS)
        for one in work:
            with suppress(Exception):  # the next one is no worse for it
                one()
    finally:
        leave()


def leave() -> None:
    """End the process without the interpreter's own farewell: 3 ms, and a thread that would not end."""
    os._exit(0)


def _arm(seconds: float) -> None:
    """End the process after so many seconds, whatever it is at.

    faulthandler waits in a thread of its own that needs no interpreter lock, so a stuck C call does not hold it up.
    """
    global _nowhere  # noqa: PLW0603 (it must stay open until the process ends)
    _nowhere = open(os.devnull, "wb")  # noqa: SIM115
    faulthandler.dump_traceback_later(max(seconds, 0.05), exit=True, file=_nowhere)


_nowhere: object = None
