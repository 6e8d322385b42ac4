"""What each event does in Python, and for how long: the same in a process of its own and in the resident engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.home import create_private, home_folder
from slicegrep.settings import Settings  # noqa: TC001 (as above)

__all__ = ["Event", "Kept", "begin", "end", "seconds_for"]

TYPE_CHECKING = False  # as above
if TYPE_CHECKING:
    from slicegrep.definitions import OutlineOf
    from slicegrep.hook.call import Call
    from slicegrep.hook.memory import Conversation
    from slicegrep.prepared import Prepared
    from slicegrep.source import SourceOf
    from slicegrep.types import Source

SEARCH_GRACE = 0.7
"""Seconds past the limit of annotating for what is around it: the start, the notes for the focus."""


class Kept:
    """What the process that answers keeps of files and of conversations, for the events that follow: here nothing."""

    prepare: Callable[[Source, str], Prepared] | None = None
    """`prepared.prepared_of`, or one that remembers."""
    outline_of: OutlineOf | None = None
    """`outline.outline`, or one that remembers."""
    source_of: SourceOf | None = None
    """`source.source_of`, or one that remembers."""
    conversation_of: Callable[[Call], Conversation] | None = None
    """Gives what was made of the texts of the call's conversation, where that is kept."""
    warm = False
    """Whether it is the resident engine; the ledger tells its times apart."""


def seconds_for(event: str, settings: Settings) -> float:
    """Return how many seconds an event may take. What is annotated in vain must not hold a search up for longer than that."""
    if event == "post-search":
        return min(settings.timeout, settings.annotate_timeout_ms / 1000 + SEARCH_GRACE)
    return settings.timeout


class Event:
    """One event: its payload answered, and what is to be done once the answer is out."""

    def __init__(self, name: str, data: bytes, environment: Mapping[str, str]) -> None:
        self.name = name
        self.later: list[Callable[[], None]] = []
        """Work that nobody waits for: notes for the focus, exact counting. To be called by who has given the answer away; may raise anything."""
        self._data = data
        self._environment = environment
        self._call: Call | None = None

    def answer(self, settings: Settings, kept: Kept) -> bytes:
        """Return the hook's JSON, b"" where the call passes. Raises what reading and parsing raise."""
        import json  # noqa: PLC0415 (after the time limit is set)

        payload = json.loads(self._data)
        if not isinstance(payload, dict):
            return b""
        call = self._called(payload, warm=kept.warm)
        answer: dict[str, object] | None = None
        if self.name == "pre-read":
            from slicegrep.hook import read  # noqa: PLC0415

            answer = read.before(
                call,
                settings,
                payload,
                prepare=kept.prepare,
                conversation_of=kept.conversation_of,
                source_of=kept.source_of,
            )
        elif self.name == "post-read":
            from slicegrep.hook import read  # noqa: PLC0415

            answer = read.after(call, settings, source_of=kept.source_of)
        elif self.name in {"post-search", "remember"}:
            from slicegrep.hook import searched  # noqa: PLC0415

            answer = searched.after(
                call,
                settings,
                payload,
                self._environment,
                annotating=self.name == "post-search",
                outline_of=kept.outline_of,
                source_of=kept.source_of,
            )
        return b"" if answer is None else json.dumps(answer, allow_nan=False).encode()

    def forget(self) -> None:
        """Drop what was to be done once the answer is out: it never was. What that holds open is closed."""
        self.later.clear()

    def note_failure(self, error: BaseException) -> None:
        """Mend byte code that was cut off, and record what failed and where in our code, without any text of the session.

        Raises nothing: on a full disk there is nowhere to tell it.
        """
        # It may be that very module's byte code that is needed to mend it.
        prefix, sys.pycache_prefix = sys.pycache_prefix, None
        bare, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            from slicegrep.bytecode import mend  # noqa: PLC0415

            mend(error, prefix)
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = f" at {os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else ""
            self.note(f"{type(error).__name__}{where}")
        except Exception:  # noqa: BLE001 (as said)
            return
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = prefix, bare

    def note(self, cause: str) -> None:
        """Record that the plain call happens, and why. Raises OSError."""
        from slicegrep import ledger  # noqa: PLC0415 (rarely needed)

        about = {}
        call = self._call or self._told()
        if call is not None:
            about = {"session": call.session, "project": ledger.project_of(call.cwd + "/", call.cwd)}
        ledger.record(home_folder(self._environment), "fail", event=self.name, cause=cause, **about)

    def _called(self, payload: Mapping[str, object], *, warm: bool = False) -> Call:
        from slicegrep.hook.call import call_of  # noqa: PLC0415 (after the time limit is set)

        self._call = call_of(payload, self._environment, warm=warm, later=self.later)
        return self._call

    def _told(self) -> Call | None:
        """Return the call of an event that somebody else was to answer; None where the payload does not tell."""
        import json  # noqa: PLC0415 (as above)

        try:
            payload = json.loads(self._data)
            return self._called(payload) if isinstance(payload, dict) else None
        except (ValueError, RecursionError, OSError):
            return None


def begin(event: str, home: str, call: str) -> str:
    """Leave a mark while an event is at work: one that stays tells `stats` of a process that was killed or ran out of time.

    `call` is the launcher's number for this call. Returns the mark's path, "" where it cannot be written.
    """
    mark = os.path.join(home, "run", f"hook-{event.replace('-', '_')}-{call}")
    try:
        create_private(mark, b"")
    except OSError:
        return ""
    return mark


def end(mark: str) -> None:
    """Take the mark of `begin` away."""
    if mark:
        try:
            os.unlink(mark)
        except OSError:
            return
