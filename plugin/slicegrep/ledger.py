"""The local record of what was done, one JSON row an event: counts and ranges, never content."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress

from slicegrep.home import append_private, open_plain, replace_private

__all__ = [
    "TOO_EARLY",
    "again_tokens",
    "costs_of",
    "keep_costs",
    "parsed",
    "project_of",
    "record",
    "rows",
    "settle",
    "uncounted",
]

_ENTRIES = 2_000
"""Costs that are kept of one file: of each line, in a longer file of so many lines at a time."""
_STALE_SECONDS = 60.0
"""A hook that has not ended by then was killed: its own time limit is 5 s, the client's 10."""
_SPOOL_BYTES = 64_000_000
TOO_EARLY = "no environment yet"
"""The cause of a call that went through while set-up was at work, or had failed, which says so itself: no hook failed."""
_SPOOL = "reads"
_SETTLED = "reads.settled"


def record(home: str, kind: str, **values: object) -> None:
    """Append one row (`t` in seconds since the epoch, `kind`, and the values). Raises OSError."""
    _append(home, [_row(time.time(), kind, values)])


def _row(at: float, kind: str, values: Mapping[str, object]) -> dict[str, object]:
    return {"t": round(at, 3), "kind": kind, **values}


def _append(home: str, found: Sequence[Mapping[str, object]]) -> None:
    name = time.strftime("%Y-%m", time.gmtime()) + ".jsonl"
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in found)
    append_private(os.path.join(home, "ledger", name), text.encode())


def parsed(line: bytes) -> dict[str, object]:
    """Return the row that a line holds; {} for a damaged one."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def rows(
    home: str, since: float = 0.0, parse: Callable[[bytes], dict[str, object]] = parsed
) -> Iterator[dict[str, object]]:
    """Yield the rows from `since` on (seconds since the epoch), oldest file first. A damaged row is passed over.

    `parse` is `parsed`, or a quicker one.
    """
    folder = os.path.join(home, "ledger")
    # A row is written into the month in which it was written down, which is never before the month that it tells of.
    first = time.strftime("%Y-%m", time.gmtime(max(since, 0.0))) + ".jsonl"
    for name in _names(folder):
        if not name.endswith(".jsonl") or name < first:
            continue
        with suppress(OSError), open_plain(os.path.join(folder, name)) as file:
            for line in file:
                row = parse(line)
                if isinstance(row.get("kind"), str) and (not since or _when(row) >= since):
                    yield row


def _when(row: Mapping[str, object]) -> float:
    at = row.get("t")
    return float(at) if isinstance(at, (int, float)) else 0.0


# ---- What was read again ---------------------------------------------------------------------------------------


def costs_of(lines: Sequence[int]) -> list[int]:
    """Return [step, tokens of the first step lines, of the next, ...] for the tokens of each line: prices for ranges."""
    step = max(1, -(-len(lines) // _ENTRIES))
    return [step, *(sum(lines[start : start + step]) for start in range(0, len(lines), step))]


def again_tokens(costs: Sequence[int], lines: int, offset: int, limit: int) -> int:
    """Return the tokens of `limit` lines from `offset` (1-based) on, by the costs; within a step they count evenly."""
    if len(costs) < 2 or lines <= 0 or not all(isinstance(cost, int) and cost >= 0 for cost in costs):
        return 0  # damaged
    step = costs[0] or 1
    first = max(offset, 1) - 1
    last = min(first + max(limit, 0), lines, step * (len(costs) - 1))
    total = 0.0
    for index in range(first // step, -(-last // step)):
        start, end = index * step, min((index + 1) * step, lines)
        total += costs[index + 1] * max(0, min(end, last) - max(start, first)) / max(end - start, 1)
    return round(total)


def keep_costs(state: str, key: str, values: Mapping[str, object]) -> None:
    """Keep in the session's folder what reading a delivered file again will cost. Raises OSError.

    `values`: `agent`, `path`, `project`, `lines`, `costs` (`costs_of`), `whole` (tokens of a plain read) and `offered`
    (the [offset, limit] of each range that the text named). `key` is a file's name, of its own for each agent and path.
    """
    replace_private(
        os.path.join(state, "costs", f"{key}.json"), json.dumps(values, separators=(",", ":")).encode()
    )


def project_of(path: str, cwd: str) -> str:
    """Return the folder that holds `.git` above `path`, else the session's own directory."""
    folder = os.path.dirname(path)
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return cwd
        folder = above


# ---- What is not in the ledger yet -------------------------------------------------------------------------------


def uncounted(home: str, *, shared: bool) -> int:
    """Return an open lock: shared for who counts an answer that is out, alone for who wants all of them counted.

    Closing it, or the end of the process, frees it. Raises BlockingIOError where it is held, OSError where there are none.
    """
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock  # noqa: PLC0415 (not on Windows: ImportError)

    from slicegrep.home import make_folder  # noqa: PLC0415

    make_folder(os.path.join(home, "run"))
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(os.path.join(home, "run", "counting"), flags, 0o600)
    try:
        flock(handle, (LOCK_SH if shared else LOCK_EX) | LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def settle(home: str, wait: float = 0.0) -> bool:
    """Turn what the launcher noted (`reads`) and what killed hooks left behind into rows.

    Called before the rows are read. False, and nothing done, where after `wait` seconds others still count or settle;
    what cannot be read is left for the next time.
    """
    if not os.path.isdir(home):
        return True
    until = time.monotonic() + wait
    try:
        while (handle := _lock_to_settle(home)) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)
    except OSError:
        return False
    try:
        folder = os.path.join(home, "state")
        for session in _names(folder):
            with suppress(OSError):
                _settle_session(home, session)
        _settle_killed(home)
    finally:
        if handle >= 0:
            os.close(handle)
    return True


def _lock_to_settle(home: str) -> int | None:
    """Return the lock, -1 where there are no such locks, None while it is held. Raises OSError."""
    try:
        return uncounted(home, shared=False)
    except ImportError:
        return -1
    except BlockingIOError:
        return None


def _settle_killed(home: str) -> None:
    """Count the marks of hooks that have not ended and will not."""
    now = time.time()
    folder = os.path.join(home, "run")
    for name in _names(folder):
        if name.startswith("hook-"):
            path = os.path.join(folder, name)
            with suppress(OSError):
                at = os.stat(path).st_mtime
                if abs(now - at) > _STALE_SECONDS:
                    os.unlink(path)
                    event = name.split("-", 2)[1].replace("_", "-")
                    _append(home, [_row(at, "fail", {"event": event, "cause": "killed or out of time"})])


def _settle_session(home: str, session: str) -> None:
    """Write the rows for what was noted since the last time. Raises OSError.

    The notes stay where they are, since a launcher may be writing the next one: how far they are settled is noted beside
    them, before the rows are written, so that a kill in between loses them and never counts them twice.
    """
    state = os.path.join(home, "state", session)
    try:
        with open_plain(os.path.join(state, _SPOOL)) as file:
            noted = os.fstat(file.fileno())
            settled = _settled(state)
            if settled >= noted.st_size:
                return
            data = file.read(_SPOOL_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return
    whole = data.rfind(b"\n") + 1
    if whole <= settled:
        return
    found = _rows_of(home, session, data[:whole], settled, noted.st_mtime)
    mark = os.path.join(state, _SETTLED)
    replace_private(mark, str(whole).encode())
    os.utime(mark, (noted.st_mtime, noted.st_mtime))  # the session itself did nothing: it may be of long ago
    if found:
        _append(home, found)


def _settled(state: str) -> int:
    try:
        with open_plain(os.path.join(state, _SETTLED)) as file:
            return max(0, int(file.read(20)))
    except (OSError, ValueError):
        return 0


def _rows_of(
    home: str, session: str, data: bytes, settled: int, last_change: float
) -> list[dict[str, object]]:
    """Return the rows for the lines from byte `settled` on; those before tell what had been intercepted by then."""
    prices = _prices(os.path.join(home, "state", session))
    intercepted: set[tuple[str, str]] = set()
    at = last_change
    place = 0
    found: list[dict[str, object]] = []
    for line in data.split(b"\n"):
        new, place = place >= settled, place + len(line) + 1
        if not new and b'"intercepted"' not in line:
            continue
        note = parsed(line)
        path = note.get("intercepted")
        if isinstance(path, str):  # before its interception a read cost nothing extra
            intercepted.add((_agent(note), path))
            at = _when(note) or at
        elif new and isinstance(note.get("failed"), str):
            found.append(_row(at, "fail", {"session": session, **_failure(home, note)}))
        elif new:
            values = _again(note, prices, intercepted)
            if values:
                found.append(_row(at, "again", {"session": session, **values}))
    return found


def _agent(note: Mapping[str, object]) -> str:
    return str(note.get("agent_id") or "")


def _failure(home: str, note: Mapping[str, object]) -> dict[str, object]:
    """Return event and cause of a call that the launcher let pass; the mark that a killed hook left is taken away."""
    event, status, call = str(note["failed"]), str(note.get("cause")), note.get("call")
    mark = os.path.join(home, "run", f"hook-{event.replace('-', '_')}-{call}")
    marked = isinstance(call, int) and os.path.exists(mark)
    with suppress(OSError):
        os.unlink(mark)
    if status == "missing":
        cause = TOO_EARLY
    elif status in ("126", "127"):
        cause = "the interpreter does not start"
    elif status.isdigit() and int(status) > 128:
        cause = f"ended by signal {int(status) - 128}"
    elif marked:
        cause = "killed or out of time"
    else:
        cause = f"ended with {status[:20]}"
    return {"event": event, "cause": cause}


def _again(
    note: Mapping[str, object],
    prices: Mapping[tuple[str, str], Mapping[str, object]],
    intercepted: set[tuple[str, str]],
) -> dict[str, object] | None:
    """Return what a read of a file cost that had been intercepted for the same agent, and delivered; None for any other read."""
    given = note.get("tool_input") if note.get("shown") else None
    if not isinstance(given, dict) or not isinstance(given.get("file_path"), str):
        return None
    try:
        named = os.path.join(str(note.get("cwd") or "/"), os.path.expanduser(given["file_path"]))
        key = _agent(note), os.path.realpath(named)
    except ValueError:  # a NUL in the path
        return None
    price = prices.get(key)
    if price is None or key not in intercepted:
        return None
    costs, lines, total = price.get("costs"), price.get("lines"), price.get("whole")
    if not isinstance(costs, list) or not isinstance(lines, int) or not isinstance(total, int):
        return None
    offset, limit = given.get("offset"), given.get("limit")
    whole = not isinstance(offset, int) and not isinstance(limit, int)
    start, count = (offset if isinstance(offset, int) else 1), (limit if isinstance(limit, int) else lines)
    offered = price.get("offered")
    return {
        "agent": key[0],
        "project": price.get("project"),
        "path": key[1],
        "tokens": total if whole else again_tokens(costs, lines, start, count),
        "whole": whole,
        "offered": isinstance(offered, list) and [start, count] in offered,
    }


def _prices(state: str) -> dict[tuple[str, str], Mapping[str, object]]:
    """Return what is kept of the delivered files of a session, by agent and real path."""
    folder = os.path.join(state, "costs")
    found: dict[tuple[str, str], Mapping[str, object]] = {}
    for name in _names(folder):
        with suppress(OSError), open_plain(os.path.join(folder, name)) as file:
            price = parsed(file.read(1_000_000))
            found[str(price.get("agent")), str(price.get("path"))] = price
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
