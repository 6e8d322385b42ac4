"""The ledger: rows, the price of what was read again, what killed hooks leave behind."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from slicegrep import ledger
from slicegrep.stats import report, told


def test_a_row_carries_its_time_and_is_private(tmp_path: Path) -> None:
    """One JSON row an event, in a file that only its owner reads."""
    ledger.record(str(tmp_path), "read", before=10, after=3)
    (row,) = ledger.rows(str(tmp_path))
    assert (row["kind"], row["before"], row["after"]) == ("read", 10, 3)
    assert abs(float(str(row["t"])) - time.time()) < 60
    (file,) = (tmp_path / "ledger").iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_a_damaged_row_loses_only_itself(tmp_path: Path) -> None:
    """A kill in mid-write, or a full disk."""
    ledger.record(str(tmp_path), "read", before=1)
    (file,) = (tmp_path / "ledger").iterdir()
    with file.open("ab") as out:
        out.write(b'{"t":1,"kind":"re\n\xff\xfe\n[1]\n')
    ledger.record(str(tmp_path), "read", before=2)
    assert [row["before"] for row in ledger.rows(str(tmp_path))] == [1, 2]


def test_a_range_costs_what_its_lines_cost(tmp_path: Path) -> None:
    """Exact at the marks, even between them; what is past the end costs nothing."""
    costs = [10] * 50 + [2] * 50 + [4] * 25
    marks = ledger.marks_of(costs)
    assert ledger.again_tokens(marks, 125, 1, 125) == sum(costs)
    assert ledger.again_tokens(marks, 125, 51, 50) == 100
    assert ledger.again_tokens(marks, 125, 101, 5) == 20
    assert ledger.again_tokens(marks, 125, 26, 50) == 25 * 10 + 25 * 2
    assert ledger.again_tokens(marks, 125, 900, 50) == 0
    assert ledger.again_tokens(marks, 125, 121, 5000) == 20


def test_a_giant_file_has_few_marks() -> None:
    """The row stays small: at most 200 marks and the step."""
    marks = ledger.marks_of([7] * 100_001)
    assert len(marks) <= 202
    assert ledger.again_tokens(marks, 100_001, 1, 100_001) == 700_007


def test_ranges_read_after_an_interception_are_set_against_it(tmp_path: Path) -> None:
    """The launcher notes the payloads; settling prices them by file and agent (rtk#3702)."""
    home = str(tmp_path)
    path = str(tmp_path / "a.py")
    marks = ledger.marks_of([10] * 200)
    ledger.record(
        home,
        "read",
        session="s",
        agent="",
        project="p",
        path=path,
        before=2000,
        after=300,
        lines=200,
        marks=marks,
    )
    spool = tmp_path / "state" / "s" / "reads"
    spool.parent.mkdir(parents=True)
    asked = [
        {"tool_input": {"file_path": path, "offset": 11, "limit": 20}},
        {"tool_input": {"file_path": path, "offset": 11, "limit": 20}, "agent_id": "other"},
        {"tool_input": {"file_path": str(tmp_path / "b.py"), "offset": 1, "limit": 20}},
    ]
    spool.write_text("\n".join(json.dumps(one) for one in asked) + "\n{half")
    ledger.settle(home)
    assert not spool.exists()
    found = report(ledger.rows(home))
    assert (found.total.tokens_before, found.total.tokens_after, found.total.tokens_again) == (2000, 300, 200)
    assert found.total.net == 1500
    ledger.settle(home)
    assert report(ledger.rows(home)).total.tokens_again == 200, "settled once"


def test_a_hook_that_was_killed_counts_as_a_fail_open(tmp_path: Path) -> None:
    """Its mark stays behind; a running hook's does not count."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "hook-pre_read-1").write_text("")
    (run / "hook-post_read-2").write_text("")
    old = time.time() - 120
    os.utime(run / "hook-pre_read-1", (old, old))
    ledger.settle(str(tmp_path))
    assert report(ledger.rows(str(tmp_path))).fail_opens == {"pre-read: killed or out of time": 1}
    assert [file.name for file in run.iterdir()] == ["hook-post_read-2"]


def test_net_can_be_negative_and_is_said() -> None:
    """Honest accounting: an interception after which everything was read costs (rtk#3508)."""
    rows = [
        {"kind": "read", "session": "s", "project": "p", "before": 3000, "after": 1200, "ms": [40, 5]},
        {"kind": "again", "session": "s", "project": "p", "tokens": 3000, "whole": True},
        {"kind": "annotate", "session": "s", "project": "p", "hits": 5, "annotated": 4, "added": 30, "ms": 9},
    ]
    found = report(rows)
    assert found.total.net == 3000 - 1200 - 3000 - 30
    assert found.projects["p"].net == found.sessions["s"].net == found.total.net
    assert "-1,230 tokens" in told(found)


def test_a_file_that_the_client_refuses_is_not_counted_as_saved() -> None:
    """Before is what the client would have delivered: for a 600 kB file an error message."""
    found = report([{"kind": "read", "before": 60, "after": 2400, "ms": [1, 1]}])
    assert found.total.net == 60 - 2400
