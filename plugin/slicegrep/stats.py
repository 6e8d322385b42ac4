"""The ledger added up: what the interceptions saved, net of what was read again, and what the hits and failures were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Report", "Totals", "report", "told"]


class Totals(BaseModel):
    """Counts of one project, one session, or all. Tokens are estimates of o200k_base."""

    reads: int = 0
    """Reads that were intercepted and delivered."""
    tokens_before: int = 0
    """What the client itself would have delivered for them."""
    tokens_after: int = 0
    """What the model read in their place."""
    tokens_again: int = 0
    """What it read of the same files afterwards, whole or in ranges."""
    whole_again: int = 0
    """How many of the files it went on to read whole."""
    hits: int = 0
    annotated: int = 0
    tokens_annotations: int = 0
    """What the suffixes added to the output of searches."""
    net: int = 0
    """Tokens saved: before, less after, less read again, less the suffixes. Below 0 where it cost more than it saved."""


class Timing(BaseModel):
    """Milliseconds inside the hook's own process (its start not counted)."""

    calls: int = 0
    median: float = 0.0
    p99: float = 0.0


class Report(BaseModel):
    """All that `slicegrep stats --json` prints."""

    total: Totals
    projects: dict[str, Totals]
    sessions: dict[str, Totals]
    fail_opens: dict[str, int]
    """Cause -> how often the plain call went through because of it."""
    milliseconds: dict[str, Timing]
    """`pre-read`, `post-read`, `annotate`."""


def report(rows: Iterable[Mapping[str, object]]) -> Report:
    """Add up the ledger's rows (see `ledger.rows`). A row of another shape counts as zeros."""
    total = Totals()
    projects: dict[str, Totals] = {}
    sessions: dict[str, Totals] = {}
    causes: Counter[str] = Counter()
    times: dict[str, list[float]] = {"pre-read": [], "post-read": [], "annotate": []}
    for row in rows:
        kind = row.get("kind")
        if kind == "fail":
            causes[f"{row.get('event')}: {row.get('cause')}"] += 1
            continue
        for place in (
            total,
            projects.setdefault(str(row.get("project") or "?"), Totals()),
            sessions.setdefault(str(row.get("session") or "?"), Totals()),
        ):
            _add(place, row)
        ms = row.get("ms")
        if kind == "read" and isinstance(ms, list) and len(ms) == 2:
            times["pre-read"].append(_number(ms[0]))
            times["post-read"].append(_number(ms[1]))
        elif kind == "annotate":
            times["annotate"].append(_number(ms))
            if row.get("late"):
                causes["post-search: annotating ran out of time"] += 1
    return Report(
        total=total,
        projects=projects,
        sessions=sessions,
        fail_opens=dict(causes.most_common()),
        milliseconds={name: _timing(values) for name, values in times.items()},
    )


def _add(to: Totals, row: Mapping[str, object]) -> None:
    kind = row.get("kind")
    if kind == "read":
        to.reads += 1
        to.tokens_before += int(_number(row.get("before")))
        to.tokens_after += int(_number(row.get("after")))
    elif kind == "again":
        to.tokens_again += int(_number(row.get("tokens")))
        to.whole_again += bool(row.get("whole"))
    elif kind == "annotate":
        to.hits += int(_number(row.get("hits")))
        to.annotated += int(_number(row.get("annotated")))
        to.tokens_annotations += int(_number(row.get("added")))
    to.net = to.tokens_before - to.tokens_after - to.tokens_again - to.tokens_annotations


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


def _timing(values: list[float]) -> Timing:
    if not values:
        return Timing()
    ordered = sorted(values)
    return Timing(
        calls=len(ordered),
        median=ordered[len(ordered) // 2],
        p99=ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
    )


def told(found: Report) -> str:
    """Return the report for a person to read: totals, projects by net, the last sessions, failures."""
    t = found.total
    lines = [
        f"reads intercepted   {t.reads}",
        f"tokens before       ~{t.tokens_before:,}   (what the client would have delivered)",
        f"tokens after        ~{t.tokens_after:,}",
        f"read again          ~{t.tokens_again:,}   ({t.whole_again} of the files whole)",
        f"hits annotated      {t.annotated} of {t.hits}, ~{t.tokens_annotations:,} tokens of suffixes",
        f"net                 ~{t.net:,} tokens saved",
    ]
    for title, places in (("project", found.projects), ("session", dict(list(found.sessions.items())[-10:]))):
        if places:
            lines += ["", f"{'net':>12} {'reads':>6} {'hits':>6}  {title}"]
            lines += [
                f"{place.net:>12,} {place.reads:>6} {place.annotated:>6}  {name}"
                for name, place in sorted(places.items(), key=lambda item: -item[1].net)
            ]
    lines.append("")
    lines += [
        f"{name}: median {timing.median:.0f} ms, p99 {timing.p99:.0f} ms over {timing.calls} calls"
        for name, timing in found.milliseconds.items()
        if timing.calls
    ]
    lines += [f"passed through {count} times: {cause}" for cause, count in found.fail_opens.items()]
    return "\n".join(lines).rstrip()
