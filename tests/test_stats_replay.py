"""`slicegrep stats` against a replay: recorded sessions through the real launcher, counted independently by tiktoken."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from prepared_home import ROOT
from recorded import OLD, Recorded, stats
from resident_stand import House, house

STDLIB = Path(sysconfig.get_paths()["stdlib"])

EXACT = 0.01
"""How far off a figure may be, of the replay's own."""


def project(folder: Path, name: str, *modules: str) -> Path:
    """Make a project of modules of the standard library."""
    made = folder / name
    (made / ".git").mkdir(parents=True)
    for module in modules:
        (made / Path(module).name).write_bytes((STDLIB / module).read_bytes())
    return made


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A machine on which every hook has a process of its own."""
    with house(tmp_path_factory.mktemp("replay"), variables={"SLICEGREP_RESIDENT": "off"}) as made:
        yield made


@pytest.fixture(scope="module")
def sessions(machine: House) -> list[Recorded]:
    """Five sessions in two projects, played one after another."""
    one = project(machine.folder, "one", "argparse.py", "inspect.py", "tarfile.py", "ast.py", "bisect.py")
    two = project(
        machine.folder, "two", "_pydecimal.py", "pydoc_data/topics.py", "subprocess.py", "typing.py"
    )
    first = Recorded(machine, one, "s-first")
    first.ask("why does add_subparsers drop the metavar of a nested parser?")
    assert first.read("argparse.py")
    assert not first.read("argparse.py", offset=1200, limit=80)
    assert not first.read("argparse.py", offset=1201, limit=33)
    assert not first.read("argparse.py"), "whole"
    assert not first.read("bisect.py")
    assert not first.read("inspect.py", offset=10, limit=50), "before its interception"
    assert first.read("inspect.py")
    assert not first.read("inspect.py", offset=2000)
    assert first.grep("grep -rn 'return self' argparse.py inspect.py") > 20
    assert first.grep("grep -n 'nothing of the kind' argparse.py") == 0

    agents = Recorded(machine, one, "s-agents")
    agents.ask("how does extractall treat links?")
    assert agents.read("tarfile.py")
    assert agents.read("tarfile.py", agent="a1")
    assert not agents.read("tarfile.py", agent="a1", offset=700, limit=90)
    assert agents.read("ast.py", agent="a2")
    assert agents.read("ast.py", refused=True), "another agent's: refused, and then seen"
    assert not agents.read("ast.py")

    refused = Recorded(machine, one, "s-refused")
    refused.ask("what does getsource do about decorators?")
    assert refused.read("inspect.py", refused=True)
    assert not refused.read("inspect.py"), "whole, at its own price"
    assert refused.reads(
        [("argparse.py", "", {}), ("argparse.py", "", {}), ("ast.py", "", {"offset": 5, "limit": 9})]
    ) == [
        True,
        False,
        False,
    ]
    refused.compact()
    assert refused.read("argparse.py"), "compacted: intercepted anew"
    assert not refused.read("argparse.py", offset=300, limit=120)
    assert not refused.read("argparse.py", refused=True, offset=900, limit=100)

    limits = Recorded(machine, two, "s-limits")
    limits.ask("where is the rounding of quantize done?")
    assert limits.read("_pydecimal.py"), "cut by the client"
    assert not limits.read("_pydecimal.py", offset=2400, limit=160)
    assert not limits.read("_pydecimal.py")
    assert limits.read("topics.py"), "refused by the client"
    assert not limits.read("topics.py", offset=40, limit=400)

    old = Recorded(machine, two, "s-old", OLD)
    old.ask("how does Popen.communicate time out?")
    assert old.read("subprocess.py")
    assert not old.read("subprocess.py")
    assert not old.read("subprocess.py"), "unchanged since"
    assert not old.read("subprocess.py", offset=1100, limit=60)
    assert old.read("typing.py")
    assert old.grep("grep -n 'raise TypeError' typing.py") > 10
    return [first, agents, refused, limits, old]


@pytest.fixture(scope="module")
def told(machine: House, sessions: list[Recorded]) -> dict[str, Any]:
    """What `slicegrep stats --json` says of them."""
    assert sessions
    return stats(machine)


def compared(told: dict[str, Any], spent: Counter[str]) -> None:
    """Assert that each figure is within 1% of the replay's."""
    net = spent["before"] - spent["after"] - spent["again"] - spent["added"]
    names = {
        "before": "tokens_before",
        "after": "tokens_after",
        "again": "tokens_again",
        "added": "tokens_annotations",
    }
    figures = {told_as: spent[name] for name, told_as in names.items()} | {"net": net}
    off = {
        name: (told[name], true)
        for name, true in figures.items()
        if abs(told[name] - true) > EXACT * abs(true)
    }
    assert not off
    assert told["reads"] == spent["reads"]


@pytest.mark.parametrize("place", range(5))
def test_each_session_is_within_one_percent(
    told: dict[str, Any], sessions: list[Recorded], place: int
) -> None:
    """Before, after, again, names and net: whole and ranged reads, agents, refusals, compaction, limits, an old client."""
    compared(told["sessions"][sessions[place].ident], sessions[place].spent)


def test_each_project_and_the_total_are_within_one_percent(
    told: dict[str, Any], sessions: list[Recorded]
) -> None:
    """They are the sums of their sessions."""
    for folder in {one.project for one in sessions}:
        spent = sum((one.spent for one in sessions if one.project == folder), Counter())
        compared(told["projects"][str(folder)], spent)
    compared(told["total"], sum((one.spent for one in sessions), Counter()))
    assert told["total"]["estimated"] == 0
    assert told["fail_opens"] == {}
    assert told["days"] and sum(day["net"] for day in told["days"].values()) == told["total"]["net"]


def test_sessions_and_projects_can_be_told_alone(
    machine: House, sessions: list[Recorded], told: dict[str, Any]
) -> None:
    """`--session`, by the beginning of its id, `--project`, by any folder in it, and `--since`."""
    assert stats(machine, "--session", "s-fir")["total"] == {
        name: value
        for name, value in told["sessions"]["s-first"].items()
        if name not in {"project", "first", "last"}
    }
    inside = sessions[0].project / "sub"
    inside.mkdir()
    alone = stats(machine, "--project", str(inside))
    assert list(alone["projects"]) == [str(sessions[0].project)]
    assert alone["total"] == told["projects"][str(sessions[0].project)]
    assert stats(machine, "--since", "1d")["total"] == told["total"]
    assert stats(machine, "--since", "0h")["total"]["reads"] == 0


def test_times_are_of_processes_of_their_own(told: dict[str, Any], sessions: list[Recorded]) -> None:
    """Without an engine none is warm."""
    reads = sum(one.spent["reads"] for one in sessions)
    for event in ("pre-read", "post-read"):
        found = told["milliseconds"][event]
        assert found["cold"]["calls"] == reads and found["warm"]["calls"] == 0
        assert 0 < found["cold"]["median"] <= found["cold"]["p90"] <= found["cold"]["p99"]


def test_what_the_shim_did_counts_for_the_project(
    machine: House, told: dict[str, Any], sessions: list[Recorded]
) -> None:
    """Its hits and names, of no session; its tokens are not known, since who reads its output is not."""
    shims = ROOT / "plugin" / "shims" / "bin"
    environment = machine.environment()
    searches = (["-n", "def add_"], ["-n", "nothing of the kind"], ["-c", "def"])
    printed = [
        subprocess.run(
            ["grep", *words, "argparse.py"],
            cwd=sessions[0].project,
            env={**environment, "PATH": f"{shims}{os.pathsep}{environment['PATH']}"},
            capture_output=True,
            timeout=60,
            check=False,
        ).stdout
        for words in searches
    ]
    found = stats(machine)
    assert found["milliseconds"]["shim"]["cold"]["calls"] == 1
    before, after = (one["projects"][str(sessions[0].project)] for one in (told, found))
    assert after["searches"] - before["searches"] == 1
    assert (
        after["hits"] - before["hits"] == after["annotated"] - before["annotated"] == printed[0].count(b"\n")
    )
    assert after["net"] == before["net"]
    assert found["sessions"] == told["sessions"]


def test_what_the_resident_engine_answers_is_counted_alike(tmp_path: Path) -> None:
    """By its worker, when the answer is out: within 1% too, and told as warm."""
    with house(tmp_path) as machine:
        machine.start()
        made = project(tmp_path, "warm", "argparse.py", "ast.py")
        session = Recorded(machine, made, "s-warm")
        session.ask("why does add_subparsers drop the metavar of a nested parser?")
        assert session.read("argparse.py")
        assert not session.read("argparse.py", offset=1200, limit=80)
        assert session.read("ast.py", agent="a1")
        assert session.grep("grep -rn 'return self' argparse.py ast.py") > 5
        told = stats(machine)
        compared(told["sessions"]["s-warm"], session.spent)
        assert told["total"]["estimated"] == 0
        times = {event: found["warm"]["calls"] for event, found in told["milliseconds"].items()}
        assert times == {"pre-read": 2, "post-read": 2, "annotate": 1, "shim": 0}


def test_sessions_at_the_same_time_are_counted_once_each_while_others_settle(tmp_path: Path) -> None:
    """Three sessions at once through the engine, and two processes that settle all the while."""
    with house(tmp_path) as machine:
        machine.start()
        made = project(tmp_path, "busy", "argparse.py", "ast.py")
        enough = tmp_path / "enough"
        settling = (
            f"import os, sys; sys.path.insert(0, {str(ROOT / 'plugin')!r})\n"
            "import time; from slicegrep import ledger\n"
            f"while not os.path.exists({str(enough)!r}): ledger.settle({str(machine.home)!r}); time.sleep(0.02)"
        )
        others = [subprocess.Popen([sys.executable, "-I", "-S", "-c", settling]) for _ in range(2)]

        def play(number: int) -> Recorded:
            session = Recorded(machine, made, f"s-{number}")
            session.ask("why does add_subparsers drop the metavar of a nested parser?")
            assert session.read("argparse.py")
            assert not session.read("argparse.py", offset=100 * number + 1, limit=40)
            assert not session.read("argparse.py")
            session.grep("grep -n 'def visit' ast.py")
            return session

        try:
            with ThreadPoolExecutor(3) as threads:
                played = list(threads.map(play, range(3)))
        finally:
            enough.write_text("")
        assert [other.wait(60) for other in others] == [0, 0]
        told = stats(machine)
        for session in played:
            compared(told["sessions"][session.ident], session.spent)
            one = told["sessions"][session.ident]
            assert (one["reads"], one["whole_again"], one["ranges_again"], one["searches"]) == (1, 1, 1, 1)
        assert told["fail_opens"] == {}
