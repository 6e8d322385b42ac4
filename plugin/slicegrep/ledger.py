"""The local record of what was done, one JSON row an event: counts and ranges, never content."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress

from slicegrep.home import append_private

__all__ = ["again_tokens", "marks_of", "project_of", "record", "rows", "settle"]

_STEP = 50
"""Lines between two marks; a longer file takes as many more as keep them to 200."""
_STALE_SECONDS = 60.0
"""A hook that has not ended by then was killed: its own time limit is 5 s, the client's 10."""


def record(home: str, kind: str, **values: object) -> None:
    """Append one row (`t` in seconds since the epoch, `kind`, and the values). Raises OSError."""
    now = time.time()
    row = {"t": round(now, 3), "kind": kind, **values}
    name = time.strftime("%Y-%m", time.gmtime(now)) + ".jsonl"
    append_private(
        os.path.join(home, "ledger", name), json.dumps(row, separators=(",", ":")).encode() + b"\n"
    )


def rows(home: str) -> Iterator[dict[str, object]]:
    """Yield the rows of every month, oldest file first. A damaged row is passed over."""
    folder = os.path.join(home, "ledger")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except OSError:
        return
    for name in names:
        with suppress(OSError), open(os.path.join(folder, name), "rb") as file:
            for line in file:
                row = _parsed(line)
                if isinstance(row.get("kind"), str):
                    yield row


def marks_of(costs: Sequence[int]) -> list[int]:
    """Return [step, tokens of the first step lines, of the first two steps, ...]: enough to price a range later."""
    step = max(_STEP, -(-len(costs) // 200))
    marks, total = [step], 0
    for start in range(0, len(costs), step):
        total += sum(costs[start : start + step])
        marks.append(total)
    return marks


def again_tokens(marks: Sequence[int], lines: int, offset: int, limit: int) -> int:
    """Return the tokens of `limit` lines from `offset` (1-based) on, by the marks; within a step they count evenly."""
    if (
        len(marks) < 2
        or lines <= 0
        or not all(isinstance(mark, int) and mark >= 0 for mark in marks)
        or not marks[0]
    ):
        return 0  # a damaged row
    first, last = max(offset, 1) - 1, min(max(offset, 1) - 1 + max(limit, 0), lines)
    return max(0, round(_up_to(marks, lines, last) - _up_to(marks, lines, first)))


def _up_to(marks: Sequence[int], lines: int, line: int) -> float:
    step = marks[0]
    index = min(line // step, len(marks) - 1)
    low = marks[index] if index else 0
    if index + 1 >= len(marks):
        return float(low)
    length = min(step, lines - index * step) or 1
    return low + (marks[index + 1] - low) * min(line - index * step, length) / length


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


def settle(home: str) -> None:
    """Turn what the launcher noted (`reads`) and what killed hooks left behind into rows.

    Called before the rows are read; what cannot be read is left for the next time.
    """
    now = time.time()
    for name in _names(os.path.join(home, "run")):
        if name.startswith("hook-"):
            path = os.path.join(home, "run", name)
            try:
                if now - os.stat(path).st_mtime > _STALE_SECONDS:
                    os.unlink(path)
                    event = name.split("-", 2)[1].replace("_", "-")
                    record(home, "fail", event=event, cause="killed or out of time")
            except OSError:
                continue
    sessions = [
        s
        for s in _names(os.path.join(home, "state"))
        if os.path.exists(os.path.join(home, "state", s, "reads"))
    ]
    if not sessions:
        return
    shown: dict[tuple[object, object, object], Mapping[str, object]] = {}
    for row in rows(home):
        if row["kind"] == "read":
            shown[str(row.get("session")), str(row.get("agent")), str(row.get("path"))] = row
    for session in sessions:
        _settle_session(home, session, shown)


def _settle_session(
    home: str, session: str, shown: Mapping[tuple[object, object, object], Mapping[str, object]]
) -> None:
    spool = os.path.join(home, "state", session, "reads")
    taken = f"{spool}.{os.getpid()}"
    try:
        os.rename(spool, taken)  # a launcher that appends now makes a new one
        with open(taken, "rb") as file:
            lines = file.read(16_000_000).split(b"\n")
        os.unlink(taken)
    except OSError:
        return
    payloads = [_parsed(line) for line in lines]
    fresh = {
        key for key in map(_delivered, payloads) if key[1]
    }  # before its interception a read cost nothing extra
    for payload in payloads:
        fresh.discard(_delivered(payload))
        given = payload.get("tool_input")
        if not isinstance(given, dict) or not isinstance(given.get("file_path"), str):
            continue
        agent = str(payload.get("agent_id") or "")
        try:
            named = os.path.join(str(payload.get("cwd") or "/"), os.path.expanduser(given["file_path"]))
            path = os.path.realpath(named)
            row = None if (agent, path) in fresh else shown.get((session, agent, path))
        except (ValueError, TypeError):  # a NUL in the path, a damaged row
            continue
        if row is None:
            continue
        offset, limit = given.get("offset"), given.get("limit")
        marks, total = row.get("marks"), row.get("lines")
        if not isinstance(marks, list) or not isinstance(total, int):
            continue
        start = offset if isinstance(offset, int) else 1
        count = limit if isinstance(limit, int) else total
        tokens = again_tokens(marks, total, start, count)
        record(
            home,
            "again",
            session=session,
            agent=agent,
            project=row.get("project"),
            path=path,
            tokens=tokens,
            whole=False,
        )


def _delivered(payload: Mapping[str, object]) -> tuple[str, str]:
    """Return agent and path where the row says that an interception was delivered here."""
    found = payload.get("delivered")
    return (str(payload.get("agent_id") or ""), found) if isinstance(found, str) else ("", "")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _parsed(line: bytes) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
