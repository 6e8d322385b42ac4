"""The ledger: rows, the price of what was read again, what killed hooks leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from slicegrep import ledger
from slicegrep.commands.stats import told
from slicegrep.stats import report

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"


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


def test_a_range_costs_what_its_lines_cost() -> None:
    """To the line; what is past the end costs nothing."""
    lines = [10] * 50 + [2] * 50 + [4] * 25
    costs = ledger.costs_of(lines)
    assert ledger.again_tokens(costs, 125, 1, 125) == sum(lines)
    assert ledger.again_tokens(costs, 125, 51, 50) == 100
    assert ledger.again_tokens(costs, 125, 101, 5) == 20
    assert ledger.again_tokens(costs, 125, 26, 50) == 25 * 10 + 25 * 2
    assert ledger.again_tokens(costs, 125, 900, 50) == 0
    assert ledger.again_tokens(costs, 125, 121, 5000) == 20
    assert ledger.again_tokens(costs, 125, 5, -3) == 0


def test_of_a_giant_file_several_lines_share_a_cost() -> None:
    """At most 2,000 costs are kept; within one of them the lines count evenly."""
    costs = ledger.costs_of([7] * 100_001)
    assert len(costs) <= 2_001
    assert ledger.again_tokens(costs, 100_001, 1, 100_001) == 700_007
    assert ledger.again_tokens(costs, 100_001, 1, 13) == 91
    assert ledger.again_tokens(costs, 100_001, 100_001, 1) == 7


def test_damaged_costs_cost_nothing() -> None:
    """What a cut or foreign file holds."""
    for costs in ([], [1], [0, 5], [1, -5], [1, "x"], [-1, 5]):
        assert ledger.again_tokens(costs, 1, 1, 1) in (0, 5)


class Noted:
    """A session in which a file of 200 lines of 10 tokens was delivered, and what its launcher notes."""

    def __init__(self, home: Path, session: str = "s") -> None:
        self.home, self.state = str(home), home / "state" / session
        self.path = str(home / "a.py")

    def deliver(self, path: str = "", agent: str = "") -> None:
        path = path or self.path
        kept = {"agent": agent, "path": path, "project": "p", "lines": 200, "offered": [[41, 10]]}
        kept |= {"costs": ledger.costs_of([10] * 200), "whole": 2_000}
        ledger.keep_costs(str(self.state), f"k{len(path)}{agent}", kept)
        self.note({"intercepted": path, "agent_id": agent, "t": 1_000.0})

    def note(self, *notes: object) -> None:
        with (self.state / "reads").open("a") as file:
            file.writelines(json.dumps(note) + "\n" for note in notes)

    def read(self, path: str = "", agent: str = "", **ranged: int) -> None:
        more = {"agent_id": agent} if agent else {}
        self.note(
            {
                "cwd": self.home,
                **more,
                "tool_input": {"file_path": path or self.path, **ranged},
                "shown": True,
            }
        )

    def again(self) -> list[dict[str, object]]:
        assert ledger.settle(self.home)
        return [row for row in ledger.rows(self.home) if row["kind"] == "again"]


def test_ranges_read_after_an_interception_are_set_against_it(tmp_path: Path) -> None:
    """The launcher notes what was read; settling prices it by file and agent, once (rtk#3702)."""
    noted = Noted(tmp_path)
    noted.deliver()
    noted.read(offset=11, limit=20)
    noted.read(offset=11, limit=20, agent="other")
    noted.read(str(tmp_path / "b.py"), offset=11, limit=20)
    noted.read("a.py", offset=41, limit=10)
    noted.read()
    noted.note({"tool_input": {"file_path": "a\0b"}, "shown": True}, {"tool_input": 5, "shown": True}, 7)
    noted.note({"cwd": noted.home, "tool_input": {"file_path": noted.path}})  # asked for, and refused
    rows = noted.again()
    assert [(row["tokens"], row["whole"], row["offered"]) for row in rows] == [
        (200, False, False),
        (100, False, True),
        (2_000, True, False),
    ]
    assert {row["project"] for row in rows} == {"p"}
    assert {row["t"] for row in rows} == {1_000.0}, "when it was delivered: the launcher knows no time"
    assert noted.again() == rows, "settled once"
    noted.read(limit=3)
    assert [row["tokens"] for row in noted.again()[3:]] == [30]


def test_what_was_read_before_the_interception_costs_nothing_extra(tmp_path: Path) -> None:
    """A search, a ranged read, then the whole file: only what comes after it was spent again."""
    noted = Noted(tmp_path)
    noted.deliver(str(tmp_path / "b.py"))
    noted.read(offset=1, limit=10)
    noted.deliver()
    noted.read(offset=1, limit=20)
    assert [row["tokens"] for row in noted.again()] == [200]


def test_a_second_interception_does_not_hide_what_was_read_after_the_first(tmp_path: Path) -> None:
    """After /clear the file is intercepted anew; what was read before had been settled or not: it counts."""
    noted = Noted(tmp_path)
    noted.deliver()
    assert noted.again() == []
    noted.read(offset=1, limit=10)
    noted.deliver()
    assert [row["tokens"] for row in noted.again()] == [100]


def test_a_note_that_is_cut_off_waits_for_its_end(tmp_path: Path) -> None:
    """A launcher may be writing it."""
    noted = Noted(tmp_path)
    noted.deliver()
    line = json.dumps({"tool_input": {"file_path": noted.path, "limit": 5}, "shown": True})
    with (noted.state / "reads").open("a") as file:
        file.write(line[:20])
    assert noted.again() == []
    with (noted.state / "reads").open("a") as file:
        file.write(line[20:] + "\n")
    assert [row["tokens"] for row in noted.again()] == [50]


def test_what_the_launcher_let_pass_is_told_by_its_cause(tmp_path: Path) -> None:
    """No environment, an interpreter that is gone or crashed; one that was ended in time left a mark, and counts once."""
    noted = Noted(tmp_path)
    noted.state.mkdir(parents=True)
    run = tmp_path / "run"
    run.mkdir()
    (run / "hook-pre_read-41").write_text("")
    noted.note(
        {"failed": "pre-read", "cause": "missing", "call": 1},
        {"failed": "post-search", "cause": "127", "call": 2},
        {"failed": "post-read", "cause": "139", "call": 3},
        {"failed": "pre-read", "cause": "1", "call": 41},
        {"failed": "pre-read", "cause": "1", "call": 42},
    )
    ledger.settle(str(tmp_path))
    found = report(ledger.rows(str(tmp_path)))
    assert found.fail_opens == {
        "pre-read: no environment yet": 1,
        "post-search: the interpreter does not start": 1,
        "post-read: ended by signal 11": 1,
        "pre-read: killed or out of time": 1,
        "pre-read: ended with 1": 1,
    }
    assert not list(run.glob("hook-*"))


_NOTING = """
line=$1
n=0
while [ $n -lt 300 ]; do
  printf '%s\\n' "$line" >>"$2"
  n=$((n + 1))
done
"""


def test_settling_beside_launchers_and_others_that_settle_counts_each_read_once(tmp_path: Path) -> None:
    """Two shells note, three processes settle, until all have ended."""
    noted = Noted(tmp_path)
    noted.deliver()
    line = json.dumps({"tool_input": {"file_path": noted.path, "limit": 1}, "shown": True})
    words = ["sh", "-c", _NOTING, "sh", line, str(noted.state / "reads")]
    settling = f"import sys; sys.path.insert(0, {str(PLUGIN)!r})\nfrom slicegrep import ledger\n"
    settling += (
        f"while not __import__('os').path.exists({str(tmp_path / 'enough')!r}): ledger.settle({noted.home!r})"
    )
    shells = [subprocess.Popen(words) for _ in range(2)]
    others = [subprocess.Popen([sys.executable, "-I", "-S", "-c", settling]) for _ in range(3)]
    assert [shell.wait(60) for shell in shells] == [0, 0]
    (tmp_path / "enough").write_text("")
    assert [other.wait(60) for other in others] == [0, 0, 0]
    assert len(noted.again()) == 600


def test_who_settles_waits_for_answers_that_are_still_being_counted(tmp_path: Path) -> None:
    """Their rows and prices are on their way; past the time it does without, and nothing is lost."""
    noted = Noted(tmp_path)
    noted.deliver()
    noted.read(limit=1)
    counting = ledger.uncounted(noted.home, shared=True)
    beside = ledger.uncounted(noted.home, shared=True)
    assert not ledger.settle(noted.home, wait=0.05)
    os.close(counting)
    assert not ledger.settle(noted.home)
    os.close(beside)
    assert len(noted.again()) == 1


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
    assert [file.name for file in run.glob("hook-*")] == ["hook-post_read-2"]


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
    assert "~-1,230  saved" in told(found)


def test_a_file_that_the_client_refuses_is_not_counted_as_saved() -> None:
    """Before is what the client would have delivered: for a 600 kB file an error message."""
    found = report([{"kind": "read", "before": 60, "after": 2400, "ms": [1, 1]}])
    assert found.total.net == 60 - 2400
