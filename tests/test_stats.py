"""`slicegrep stats`: sums of the ledger's rows, and the report that a person reads."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slicegrep import ledger
from slicegrep.cli import main
from slicegrep.commands.parser import UsageError
from slicegrep.commands.stats import chart, since_of, told
from slicegrep.stats import Report, quickly_parsed, report

NOW = 1_796_000_000.0
DAY = 86_400
PLUGIN = Path(__file__).resolve().parents[1] / "plugin"


def read(before: int, after: int, *, ago: float = 0, **more: Any) -> dict[str, Any]:
    """Return the row of an interception."""
    row = {"t": NOW - ago * DAY, "kind": "read", "session": "s", "project": "/p", "exact": True}
    return {**row, "before": before, "after": after, **more}


def test_percentiles_are_durations_that_were_met() -> None:
    """The nearest rank: of a hundred calls the 50th, 90th and 99th; processes of their own and the engine apart."""
    times = [float(n) for n in range(1, 101)]
    random.Random(7).shuffle(times)
    rows = [read(9, 1, ms=[one, 2 * one], warm=[False, True]) for one in times]
    found = report(rows).milliseconds
    assert found["pre-read"].cold.model_dump() == {"calls": 100, "median": 50.0, "p90": 90.0, "p99": 99.0}
    assert found["post-read"].warm.model_dump() == {"calls": 100, "median": 100.0, "p90": 180.0, "p99": 198.0}
    assert found["pre-read"].warm.calls == found["post-read"].cold.calls == 0
    assert report([read(9, 1, ms=[3.25, 1])]).milliseconds["pre-read"].cold.p99 == 3.2


def test_a_clock_that_went_back_moves_nothing_but_the_day() -> None:
    """Sums do not depend on the order of the rows or on their time."""
    rows = [read(100, 10, ago=ago, session=f"s{ago}") for ago in (0, 400, -900, 1, 20_000)]
    there, back = report(rows), report(reversed(rows))
    assert there.model_dump() == back.model_dump()
    assert there.total.net == 450 and len(there.days) == 5
    assert [one.first <= one.last for one in there.sessions.values()] == [True] * 5


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=9),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
_NAMES = [
    "t",
    "kind",
    "session",
    "project",
    "before",
    "after",
    "tokens",
    "whole",
    "offered",
    "hits",
    "annotated",
    "added",
    "late",
    "exact",
    "ms",
    "warm",
    "event",
    "cause",
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=8).flatmap(
            lambda row: st.sampled_from(["read", "again", "annotate", "shim", "fail", "?"]).map(
                lambda kind: {**row, "kind": kind}
            )
        ),
        max_size=6,
    )
)
def test_rows_of_any_shape_are_added_up_and_told(rows: list[dict[str, Any]]) -> None:
    """What a disk or another version left: zeros, never an error, and JSON that programs can read."""
    found = report(rows)
    again = json.loads(found.model_dump_json(), parse_constant=pytest.fail)
    assert again["total"]["net"] == found.total.net
    assert "\x1b" not in told(found, width=80, drawn=chart(found, width=80, today=NOW, blocks=True))


def test_a_quick_parser_takes_what_the_slow_one_takes(tmp_path: Path) -> None:
    """Bytes of a path that are no UTF-8, too."""
    for line in (
        b'{"kind":"x"}',
        b'{"project":"caf\\udce9"}',
        b"[1]",
        b"{",
        b"\xff",
        b'{"a":NaN}',
        b"[" * 100_000,
    ):
        assert repr(quickly_parsed(line)) == repr(ledger.parsed(line))


def test_a_month_that_is_over_is_not_opened(tmp_path: Path) -> None:
    """With `--since`: the file's name tells; of the others the rows' own times."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    month = time.strftime("%Y-%m", time.gmtime(NOW))
    (folder / "2020-01.jsonl").mkdir()  # opening it would be an error
    (folder / f"{month}.jsonl").write_text(
        "".join(json.dumps(read(ago, 0, ago=ago)) + "\n" for ago in (0, 1, 2))
    )
    rows = list(ledger.rows(str(tmp_path), NOW - 1.5 * DAY))
    assert [row["before"] for row in rows] == [0, 1]


def test_since_is_a_span_or_a_day() -> None:
    """What people write; anything else is said to be none."""
    assert since_of("7d", NOW) == NOW - 7 * DAY
    assert since_of("36h", NOW) == NOW - 1.5 * DAY
    assert since_of("2w", NOW) == NOW - 14 * DAY
    assert since_of("99999w", NOW) == 0
    assert time.localtime(since_of("2026-11-03", NOW))[:4] == (2026, 11, 3, 0)
    for wrong in ("", "7", "d", "yesterday", "2026-13-01", "-3d", "7 d", "1e3d"):
        with pytest.raises(UsageError):
            since_of(wrong, NOW)


# ---- The text --------------------------------------------------------------------------------------------------


def test_one_is_not_told_as_many() -> None:
    """English plurals, of the counts and of the failures."""
    rows = [
        read(900, 100),
        {"kind": "again", "tokens": 5, "whole": True},
        {"kind": "again", "tokens": 5},
        {"kind": "annotate", "hits": 1, "annotated": 1, "added": 3, "exact": True},
        {"kind": "fail", "event": "pre-read", "cause": "x"},
    ]
    one, two = told(report(rows)), told(report(rows * 2))
    for text in (
        "for 1 read\n",
        "1 whole read, 1 range\n",
        "behind 1 of 1 hit in 1 search\n",
        "  1 time   pre-read: x",
    ):
        assert text in one
    for text in (
        "for 2 reads\n",
        "2 whole reads, 2 ranges\n",
        "behind 2 of 2 hits in 2 searches\n",
        "  2 times  pre-read: x",
    ):
        assert text in two


def test_hits_are_hits_in_the_tables_too() -> None:
    """Those that got no name count; the totals say that what the shim added to some of them is in no sum."""
    annotated = {
        "kind": "annotate",
        "t": NOW,
        "session": "s",
        "project": "/p",
        "hits": 8,
        "annotated": 7,
        "added": 3,
    }
    client = told(report([annotated]))
    assert [line.split()[3] for line in client.splitlines() if line.endswith("/p")] == ["8"]
    assert "behind 7 of 8 hits in 1 search\n" in client
    both = told(
        report([annotated, {"kind": "shim", "t": NOW, "project": "/p", "hits": 1, "annotated": 1, "ms": 9}])
    )
    assert "behind 8 of 9 hits in 2 searches (the shim's cost nothing)\n" in both


def test_calls_before_set_up_was_done_are_no_failures() -> None:
    """They stand under a heading of their own."""
    rows = [{"kind": "fail", "event": "pre-read", "cause": cause} for cause in ("x", "no environment yet")]
    text = told(report(rows))
    assert "Passed through because of a failure:\n  1 time   pre-read: x\n" in text
    assert text.endswith("Passed through before set-up was done:\n  1 time   pre-read: no environment yet")
    assert "failure" not in told(report(rows[1:]))


def test_estimates_are_marked_and_exact_counts_are_not() -> None:
    """`~`, and how many of them there are."""
    exact, mixed = told(report([read(900, 100)])), told(report([read(900, 100), read(900, 100, exact=False)]))
    assert "~" not in exact
    assert "~1,800" in mixed and "~ 1 of 2 are estimates" in mixed


def test_tables_fit_the_terminal_and_mark_where_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long paths lose their beginning, the home directory is ~, control characters of a name are not obeyed."""
    monkeypatch.setenv("HOME", "/home/me")
    deep = "/srv/" + "long/" * 40 + "shop"
    places = [deep, "/home/me/shop", "/tmp/\x1b[31mred", "/home/mean"]
    rows = [read(1000 * (n + 1), 10, project=one, session=f"s{n}") for n, one in enumerate(places)]
    text = told(report(rows), width=80, here=deep)
    assert max(map(len, text.split("\n"))) <= 80
    assert re.search(r"\.\.\./long/shop  \(here\)$|\.\.\..*long/shop  \(here\)$", text, re.MULTILINE)
    assert "  ~/shop" in text and "  /home/mean" in text and "^[[31mred" in text and "\x1b" not in text
    assert deep in told(report(rows)), "whole where nothing is laid out"
    nets = [
        int(m[0].replace(",", "")) for m in re.finditer(r"(?m)^ *[\d,]+(?=  +\d+  +\d+  +\d+  [~./^])", text)
    ]
    assert nets == sorted(nets, reverse=True) and len(nets) == 4


def test_of_many_projects_and_sessions_a_terminal_shows_the_first() -> None:
    """And how many more there are; the one where one is stands in any case. A pipe gets all projects."""
    rows = [read(1000 + n, 10, ago=n, project=f"/p{n}", session=f"s{n}") for n in range(40)]
    text = told(report(rows), width=80, here="/p0")
    assert "project (27 more)" in text and "session (30 more)" in text and "/p0  (here)" in text
    assert all(f"  /p{n}" in told(report(rows)) for n in range(40))


# ---- The chart -------------------------------------------------------------------------------------------------


def days(*nets: int) -> Report:
    """Return a report of these nets, a day each, the last one today."""
    rows = [read(max(net, 0), max(-net, 0), ago=len(nets) - 1 - n) for n, net in enumerate(nets) if net]
    return report(rows)


def test_the_chart_draws_a_column_a_day() -> None:
    """Up where tokens were saved, down where it cost more than it saved, to one scale."""
    found = days(*[1000] * 3, 5000, 0, -2000, 10_000, 5)
    drawn = chart(found, width=80, today=NOW, blocks=True)
    assert drawn.split("\n")[:9] == [
        "Net tokens saved a day",
        "     10k       █",
        "               █",
        "            ▄  █",
        "            █  █",
        "         ▄▄▄█  █▁",
        "       0 ────────",
        "   -2.0k      █",
        f"         {time.strftime('%d %b', time.localtime(NOW - 7 * DAY)).lstrip('0')} {time.strftime('%d %b', time.localtime(NOW)).lstrip('0')}",
    ]


def test_without_block_characters_the_chart_is_ascii() -> None:
    """In a locale that is none of UTF-8."""
    found = days(*[1000] * 30, 5000, -3000, 10_000)
    drawn = chart(found, width=80, today=NOW, blocks=False)
    assert drawn.isascii() and "#" in drawn


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_chart_is_as_wide_as_fits_and_eight_weeks_at_most(width: int) -> None:
    """A year of days: the last ones."""
    drawn = chart(days(*range(1, 366)), width=width, today=NOW, blocks=True).split("\n")
    assert max(map(len, drawn)) == min(width, 8 + 1 + 56) - (width < 65)


def test_where_there_is_nothing_to_draw_there_is_no_chart() -> None:
    """No rows, none of the last weeks, or none that saved or cost anything."""
    for found in (report([]), report([read(5, 1, ago=300)]), report([read(5, 5)])):
        assert chart(found, width=80, today=NOW, blocks=True) == ""


def on_a_terminal(words: list[str], columns: int, **variables: str) -> str:
    """Run the command line on a pseudo-terminal; returns what it wrote there."""
    leader, follower = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    code = f"import sys; sys.path.insert(0, {str(PLUGIN)!r}); from slicegrep.cli import main; sys.exit(main({words!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={"PATH": os.environ["PATH"], "HOME": "/home/me", **variables},
    )
    os.close(follower)
    said = b""
    while True:
        try:
            piece = os.read(leader, 65_536)
        except OSError:  # how Linux tells that nobody has the other end any more
            break
        if not piece:
            break
        said += piece
    os.close(leader)
    assert process.wait(60) == 0
    return said.decode("utf-8").replace("\r\n", "\n")


def test_the_chart_is_for_a_terminal_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With blocks, or in ASCII, and in its width; a pipe gets plain text."""
    ledger.record(
        str(tmp_path), "read", session="s", project="/" + "p" * 300, before=9000, after=1000, exact=True
    )
    home = {"SLICEGREP_HOME": str(tmp_path)}
    drawn = on_a_terminal(["stats"], 70, **home, LANG="C.UTF-8", TERM="xterm")
    assert "█" in drawn and max(map(len, drawn.split("\n"))) <= 70
    for plain in ({"LANG": "C", "TERM": "xterm"}, {"LANG": "C.UTF-8", "TERM": "dumb"}, {"TERM": "xterm"}):
        said = on_a_terminal(["stats"], 70, **home, **plain)
        assert said.isascii() and "#" in said
    monkeypatch.setenv("SLICEGREP_HOME", str(tmp_path))
    assert main(["stats"]) == 0
    piped = capsys.readouterr().out
    assert "p" * 300 in piped and "#" not in piped and "█" not in piped and "\x1b" not in piped


def test_options_that_say_nothing_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and one line."""
    assert main(["stats", "--since", "soon"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("slicegrep: --since is a time like") and err.count("\n") == 1


def test_a_year_of_rows_is_added_up_in_little_memory(tmp_path: Path) -> None:
    """Memory grows with sessions and days, not with rows: 60,000 of them, three times, in the same memory."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    line = "".join(
        json.dumps(
            read(5000, 900, session=f"s{n % 50}", ago=n % 30, ms=[n % 300 / 10, 2.5], warm=[True, True])
        )
        + "\n"
        for n in range(60_000)
    )
    code = f"""
import resource, sys
sys.path.insert(0, {str(PLUGIN)!r})
from slicegrep import ledger
from slicegrep.stats import quickly_parsed, report
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
report(ledger.rows(sys.argv[1], 0.0, quickly_parsed)); first = peak()
for name in ("2025-02", "2025-03"): open(sys.argv[1] + f"/ledger/{{name}}.jsonl", "wb").write(open(sys.argv[1] + "/ledger/2025-01.jsonl", "rb").read())
first = peak()
found = report(ledger.rows(sys.argv[1], 0.0, quickly_parsed))
assert found.total.reads == 180_000, found.total
print(peak() - first)
"""
    (folder / "2025-01.jsonl").write_text(line)
    grown = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=100, check=True
    )
    assert int(grown.stdout) < 4_000, "kB"
