"""`stats`: the report of what was done, as text with a chart for a person, or for programs."""

from __future__ import annotations

import math
import os
import re
import sys
import time
from typing import TYPE_CHECKING

from slicegrep import ledger
from slicegrep.commands.parser import UsageError
from slicegrep.home import home_folder
from slicegrep.stats import quickly_parsed, report
from slicegrep.terminal import complain, visible, write

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from slicegrep.stats import Report, Timing, Totals

__all__ = ["chart", "print_stats", "since_of", "told"]

SETTLE_SECONDS = 3.0
"""How long answers that are still being counted are waited for: one takes a tenth of a second."""
LATEST_SESSIONS = 10
MOST_PROJECTS = 12
CHART_DAYS = 56
CHART_ROWS = 5
NARROWEST, WIDEST = 60, 120
"""Columns that the text is laid out for, whatever the terminal's width."""

_DAY = 86_400
_UNITS = {"h": 3_600, "d": _DAY, "w": 7 * _DAY}
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def print_stats(parsed: Namespace) -> int:
    """Print the report. 0. Raises UsageError where an option says nothing that can be meant."""
    home = home_folder(os.environ)
    since = 0.0 if parsed.since is None else since_of(parsed.since, time.time())
    here = ledger.project_of(os.path.join(os.getcwd(), ""), os.getcwd())
    project = _project(parsed.project) if parsed.project else ""
    if not ledger.settle(home, SETTLE_SECONDS):
        complain("what was read again lately is not counted yet: the ledger is busy, or cannot be written")
    rows = ledger.rows(home, since, quickly_parsed)
    found = report(rows, since=since, project=project, session=parsed.session)
    of = f" of the project {visible(project)}" if project else ""
    of += f" of sessions whose id begins with {visible(parsed.session)}" if parsed.session else ""
    if parsed.json:
        write(found.model_dump_json(indent=1))
        return 0
    if sys.stdout.isatty():
        width = min(max(_columns(), NARROWEST), WIDEST)
        drawn = chart(found, width=width, today=time.time(), blocks=_has_blocks(os.environ))
        write(told(found, width=width, here=here, drawn=drawn, of=of))
    else:
        write(told(found, here=here, of=of))
    return 0


def since_of(text: str, now: float) -> float:
    """Return the time that `7d`, `36h`, `2w` or `2026-11-30` means, in seconds since the epoch. Raises UsageError."""
    ago = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if ago:
        return max(0.0, now - int(ago[1]) * _UNITS[ago[2]])
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise UsageError(
            f"--since is a time like 36h, 7d, 2w, or a day like 2026-11-30, not {text[:40]!r}"
        ) from None


def _project(named: str) -> str:
    """Return the project that a folder belongs to; a name of none is taken as the ledger may have it."""
    return (
        ledger.project_of(os.path.join(os.path.realpath(named), ""), named) if os.path.isdir(named) else named
    )


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 80


def _has_blocks(environment: Mapping[str, str]) -> bool:
    """Whether the terminal can show block characters: its locale is one of UTF-8."""
    if environment.get("TERM", "dumb") in {"dumb", "linux"} or os.name == "nt":
        return "WT_SESSION" in environment
    # In the C locale Python sets LC_CTYPE to C.UTF-8 for itself (PEP 538): that says nothing of the terminal.
    names = ("LC_ALL", "LANG" if environment.get("LC_CTYPE") == "C.UTF-8" else "LC_CTYPE", "LANG")
    chosen = next((environment[name] for name in names if environment.get(name)), "")
    return re.search(r"utf-?8", chosen, re.IGNORECASE) is not None


# ---- The text --------------------------------------------------------------------------------------------------


def told(found: Report, *, width: int = 0, here: str = "", drawn: str = "", of: str = "") -> str:
    """Return the report for a person: totals, the chart `drawn`, projects by net, the last sessions, times, failures.

    Where it has a `width`, in columns, paths and lists are shortened to fit. `here` is the project that is marked,
    `of` says what was chosen, where not all was.
    """
    if not found.days:
        return f"Nothing is recorded{of} {'since then' if found.since else 'yet'}."
    parts = [_totals(found)]
    if drawn:
        parts.append([drawn])
    if found.total.searches or found.total.reads:
        parts.append(_projects(found, width, here))
    if found.sessions:
        parts.append(_sessions(found, width))
    if any(one.cold.calls + one.warm.calls for one in found.milliseconds.values()):
        parts.append(_times(found))
    early = {
        cause: count for cause, count in found.fail_opens.items() if cause.endswith(f": {ledger.TOO_EARLY}")
    }
    failed = {cause: count for cause, count in found.fail_opens.items() if cause not in early}
    for title, causes in (("because of a failure", failed), ("before set-up was done", early)):
        if causes:
            parts.append([f"Passed through {title}:", *_passed(causes)])
    return "\n\n".join("\n".join(part) for part in parts)


def _passed(causes: Mapping[str, int]) -> list[str]:
    most = max(len(f"{count:,}") for count in causes.values())
    return [
        f"  {count:>{most},} {'time ' if count == 1 else 'times'}  {visible(cause)}"
        for cause, count in causes.items()
    ]


def _totals(found: Report) -> list[str]:
    t = found.total
    about = "~" if t.estimated else ""
    share = f"   {t.net / t.tokens_before:.0%}" if t.tokens_before else ""
    offered = f" ({t.ranges_offered:,} of them named as not shown)" if t.ranges_offered else ""
    # Who reads the shim's output is not known: it may be no model.
    through_shim = found.milliseconds["shim"].cold.calls if "shim" in found.milliseconds else 0
    shim = " (the shim's cost nothing)" if through_shim else ""
    rows = [
        ("before", t.tokens_before, f"what the client would have delivered for {_many(t.reads, 'read')}"),
        ("after", t.tokens_after, "what was shown in their place"),
        (
            "read again",
            t.tokens_again,
            f"{_many(t.whole_again, 'whole read')}, {_many(t.ranges_again, 'range')}{offered}",
        ),
        (
            "names added",
            t.tokens_annotations,
            f"behind {t.annotated:,} of {_many(t.hits, 'hit')} in {_many(t.searches, 'search', 'searches')}{shim}",
        ),
        ("net", t.net, f"saved{share}"),
    ]
    figures = [f"{about if count else ''}{count:,}" for _, count, _ in rows]
    wide = max(map(len, figures))
    since = time.strftime(" since %Y-%m-%d %H:%M", time.localtime(found.since)) if found.since else ""
    lines = [f"Tokens{since}:"]
    lines += [
        f"  {name:<11}  {figure:>{wide}}  {what}"
        for (name, _, what), figure in zip(rows, figures, strict=True)
    ]
    if t.estimated:
        counted = t.reads + t.searches
        lines.append(
            f"  ~ {t.estimated:,} of {counted:,} are estimates, which lean high: see slicegrep doctor"
        )
    return lines


def _projects(found: Report, width: int, here: str) -> list[str]:
    ordered = [one for one in found.projects.items() if one[1].searches or one[1].reads or one[1].net]
    ordered.sort(key=lambda item: (-item[1].net, item[0]))
    most = MOST_PROJECTS if width else len(ordered)
    listed = [one for place, one in enumerate(ordered) if place < most or one[0] == here]
    more = len(ordered) - len(listed)
    rows = []
    for name, one in listed:
        mark = "  (here)" if name == here else ""
        rows.append((*_figures(one), _short(_at_home(name), width - 38 - len(mark)) + mark))
    return _table(("net", "reads", "again", "hits", f"project ({more:,} more)" if more else "project"), rows)


def _sessions(found: Report, width: int) -> list[str]:
    latest = list(found.sessions.items())[-LATEST_SESSIONS:][::-1]
    rows = []
    for name, one in latest:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.last))
        where = os.path.basename(one.project) or "?"
        rows.append((*_figures(one), f"{when}  {visible(name[:8])}  {_short(visible(where), width - 62)}"))
    more = len(found.sessions) - len(latest)
    title = f"session ({more:,} more)" if more else "session"
    return _table(("net", "reads", "again", "hits", title), rows)


def _figures(one: Totals) -> tuple[str, str, str, str]:
    return f"{one.net:,}", f"{one.reads:,}", f"{one.tokens_again:,}", f"{one.hits:,}"


def _times(found: Report) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for name, one in found.milliseconds.items():
        both = bool(one.cold.calls and one.warm.calls)
        for kind, timing in (("own process", one.cold), ("engine", one.warm)):
            if timing.calls:
                rows.append((*_timing(timing), f"{name}, {kind}" if both or kind == "engine" else name))
    return _table(("p50", "p90", "p99", "calls", "milliseconds"), rows)


def _timing(timing: Timing) -> tuple[str, ...]:
    return (*(f"{value:,.0f}" for value in (timing.median, timing.p90, timing.p99)), f"{timing.calls:,}")


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows below their titles: numbers to the right, the last column to the left."""
    wide = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles) - 1)]
    return [
        "  ".join((*(cell.rjust(size) for cell, size in zip(row, wide, strict=False)), row[-1]))
        for row in (titles, *rows)
    ]


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _at_home(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path == home or path.startswith(home + os.sep) else path


def _short(text: str, most: int) -> str:
    """Return the end of a text, which tells a folder apart. All of it where `most` is no room at all: nothing is laid out."""
    text = visible(text)
    return text if most <= 3 or len(text) <= most else "..." + text[3 - most :]


# ---- The chart -------------------------------------------------------------------------------------------------


def chart(found: Report, *, width: int, today: float, blocks: bool) -> str:
    """Return net tokens by day up to `today`, a column a day; "" where no day has any. Without `blocks` in ASCII."""
    label = 8
    nets = _nets(found, today, min(CHART_DAYS, width - label - 2))
    top, bottom = max(*nets, 0), min(*nets, 0)
    if top == bottom:
        return ""
    unit = max(top / CHART_ROWS, -bottom / CHART_ROWS)
    above, below = math.ceil(top / unit), math.ceil(-bottom / unit)
    lines = ["Net tokens saved a day"]
    for row in range(above - 1, -1, -1):
        name = _thousands(top) if row == above - 1 else ""
        lines.append(f"{name:>{label}} {''.join(_bar(net / unit - row, blocks=blocks) for net in nets)}")
    lines.append(f"{'0':>{label}} {('─' if blocks else '-') * len(nets)}")
    for row in range(below):
        name = _thousands(bottom) if row == below - 1 else ""
        lines.append(f"{name:>{label}} {''.join(_hanging(-net / unit - row, blocks=blocks) for net in nets)}")
    first, last = (
        time.strftime("%d %b", time.localtime(at)).lstrip("0")
        for at in (today - (len(nets) - 1) * _DAY, today)
    )
    lines.append(f"{'':>{label}} {first}{last:>{max(len(nets) - len(first), len(last) + 1)}}")
    return "\n".join(line.rstrip() for line in lines)


def _nets(found: Report, today: float, most: int) -> list[int]:
    """Return the net of each day, oldest first: from the first with anything on, `most` days at most, a week at least."""
    noon = time.mktime(
        (*time.localtime(today)[:3], 12, 0, 0, 0, 0, -1)
    )  # a day of 23 or 25 hours keeps its date
    names = [time.strftime("%Y-%m-%d", time.localtime(noon - ago * _DAY)) for ago in range(most - 1, -1, -1)]
    nets = [found.days[name].net if name in found.days else 0 for name in names]
    begun = next((place for place, name in enumerate(names) if name in found.days), 0)
    return nets[min(begun, most - 7) :]


def _bar(height: float, *, blocks: bool) -> str:
    if not blocks:
        return "#" if height > 0.5 else "." if height > 0 else " "
    return _EIGHTHS[max(0, min(8, math.ceil(height * 8)))]


def _hanging(height: float, *, blocks: bool) -> str:
    if height <= 0:
        return " "
    return ("█" if height > 0.5 else "▀") if blocks else "#"


def _thousands(count: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(count) >= size:
            return f"{count / size:.1f}{letter}" if abs(count) < 10 * size else f"{count / size:.0f}{letter}"
    return str(count)
