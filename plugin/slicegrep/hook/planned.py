"""What lasts of an interception between the two phases, and that a file was intercepted: the session's state files."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import fields

from slicegrep.home import append_private, create_private, open_plain, replace_private
from slicegrep.hook.call import Call  # noqa: TC001 (importing typing to hide it costs 3 ms)
from slicegrep.ledger import settle
from slicegrep.plan import Omitted, Plan, Slice

try:  # hashlib also loads OpenSSL: 2.6 ms of a hook's start against 0.2
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = [
    "LARGE_BYTES",
    "drop_orphans",
    "end_try",
    "first_try",
    "is_to_sweep",
    "mark_seen",
    "note_shown",
    "store_plan",
    "sweep",
    "take_plan",
    "was_seen",
]

ORPHAN_SECONDS = 3600.0
"""A refused read fires no second hook; a person may take long to allow one."""
LARGE_BYTES = 300_000
"""Of a file that may take so long that time runs out; the next read of it then passes at once."""
SESSION_SECONDS = 14 * 86_400.0
"""A session that nothing was noted of for so long is not resumed any more."""
_SWEEP_SECONDS = 86_400.0
_WRITTEN = ("state", "run", "vocab", "graph", "pyc")
"""Folders of the home folder in which files are made beside their place and then moved there."""
_PARTS = (".pyc", ".sock")
"""Of which such a file has a number behind the name: Python's byte code, the resident engine's socket."""

_PLAN_FIELDS = tuple(f.name for f in fields(Plan))
_SLICE_FIELDS = tuple(f.name for f in fields(Slice))
_OMITTED_FIELDS = tuple(f.name for f in fields(Omitted))


def _seen_file(call: Call, real_path: str, kind: str = "seen") -> str:
    name = blake2b(f"{call.agent}\0{real_path}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return os.path.join(call.state, kind, name)


def mark_seen(call: Call, real_path: str) -> bool:
    """Note that this agent's read of the file is intercepted. False where it was already: parallel reads race here.

    What is read of the file from here on is set against the interception, once it has been delivered. Raises OSError.
    """
    if not create_private(_seen_file(call, real_path), b""):
        return False
    _note(call, {"intercepted": real_path, "t": round(time.time(), 3)})
    return True


def was_seen(call: Call, real_path: str) -> bool:
    """Whether this agent's read of the file was intercepted before."""
    return os.path.lexists(_seen_file(call, real_path))


def note_shown(call: Call) -> None:
    """Note, as the launcher does, that the client showed lines of a file, in a session with interceptions.

    Raises OSError.
    """
    if call.response.get("type") == "text" and os.path.exists(os.path.join(call.state, "reads")):
        asked = {name: call.given[name] for name in ("file_path", "offset", "limit") if name in call.given}
        _note(call, {"cwd": call.cwd, "tool_input": asked, "shown": True})


def _note(call: Call, values: dict[str, object]) -> None:
    row = json.dumps({**values, "agent_id": call.agent}, separators=(",", ":")).encode()
    append_private(os.path.join(call.state, "reads"), row + b"\n")


def _plan_file(call: Call) -> str:
    return os.path.join(call.state, "plans", f"{call.use_id}.json")


def store_plan(call: Call, plan: Plan, note: dict[str, object]) -> None:
    """Keep the plan for the second phase. Raises OSError."""
    data = {name: getattr(plan, name) for name in _PLAN_FIELDS}
    data["slices"] = [[getattr(s, name) for name in _SLICE_FIELDS] for s in plan.slices]
    data["omitted"] = [[getattr(o, name) for name in _OMITTED_FIELDS] for o in plan.omitted]
    replace_private(
        _plan_file(call), json.dumps({"plan": data, "note": note}, separators=(",", ":")).encode()
    )


def take_plan(call: Call) -> tuple[Plan, dict[str, object]] | None:
    """Return the call's plan and its note, once: the file is gone then. None where there is none or it is damaged."""
    path = _plan_file(call)
    try:
        with open_plain(path) as file:
            data = file.read(4_000_000)
        os.unlink(path)
    except OSError:
        return None
    try:
        stored = json.loads(data)
        given = stored["plan"]
        given["slices"] = tuple(
            Slice(row[0], row[1], row[2], tuple(row[3]), *row[4:]) for row in given["slices"]
        )
        given["omitted"] = tuple(Omitted(*row) for row in given["omitted"])
        given["map_lines"] = tuple(given["map_lines"])
        return Plan(**given), dict(stored["note"])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def first_try(call: Call, real_path: str) -> bool:
    """Note that work on a large file begins. False where it began before: it was killed, or goes on elsewhere.

    Raises OSError.
    """
    return create_private(_seen_file(call, real_path, "tried"), b"")


def end_try(call: Call, real_path: str) -> None:
    """Take the note of `first_try` away: the work came to its end. What cannot be removed stays."""
    with suppress(OSError):
        os.unlink(_seen_file(call, real_path, "tried"))


def drop_orphans(call: Call) -> None:
    """Remove the plans of reads that were refused. What cannot be removed stays."""
    folder = os.path.join(call.state, "plans")
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            if abs(time.time() - os.stat(path).st_mtime) > ORPHAN_SECONDS:
                os.unlink(path)
        except OSError:
            continue


def is_to_sweep(home: str) -> bool:
    """Whether `sweep` would do something: it did nothing for a day."""
    try:
        return abs(time.time() - os.stat(_swept(home)).st_mtime) >= _SWEEP_SECONDS
    except OSError:
        return True


def _swept(home: str) -> str:
    return os.path.join(home, "run", "swept")


def sweep(home: str) -> None:
    """Remove, once a day, the state of sessions that ended long ago and files that killed processes left half written.

    What those sessions' reads cost goes to the ledger first: while others count, nothing is done, and the day not over.
    Raises OSError where the home folder cannot be written.
    """
    if not is_to_sweep(home) or not settle(home):
        return
    replace_private(_swept(home), b"")
    now = time.time()
    states = os.path.join(home, "state")
    _drop_unfinished(home, now)
    for folder in [os.path.join(states, name) for name in os.listdir(states)]:
        if now - _last_change(folder) > SESSION_SECONDS:
            from shutil import rmtree  # noqa: PLC0415 (5 ms, once in a while)

            rmtree(folder, ignore_errors=True)


def _drop_unfinished(home: str, now: float) -> None:
    """Remove what was made beside its place an hour ago and is there still."""
    for top in _WRITTEN:
        for folder, _, names in os.walk(os.path.join(home, top)):
            for name in names:
                begun, _, last = name.rpartition(".")
                if last == "new" or (last.isdigit() and begun.endswith(_PARTS)):
                    path = os.path.join(folder, name)
                    with suppress(OSError):
                        if abs(now - os.stat(path).st_mtime) > ORPHAN_SECONDS:
                            os.unlink(path)


def _last_change(folder: str) -> float:
    """Return when anything in a session's folder changed last; now where it is no folder, or is just going."""
    try:
        inside = [os.stat(os.path.join(folder, one)).st_mtime for one in os.listdir(folder)]
        return max(inside) if inside else os.stat(folder).st_mtime
    except OSError:
        return time.time()
