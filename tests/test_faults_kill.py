"""Kill -9 at moments spread over a whole run: of the hooks, of what they start, of who writes an index."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faults_stand import ROOT, SECONDS, House, write_steps

KILLS = int(os.environ.get("SLICEGREP_TEST_KILLS", "30"))
"""In all, over the kinds below."""
SEED = int(os.environ.get("SLICEGREP_TEST_SEED", "5"))
SHARES = {"read": 0.35, "delivery": 0.15, "search": 0.25, "background": 0.05, "index": 0.2}
DAY = 86_400


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def in_session(leader: int) -> dict[int, bytes]:
    """Return the command lines of the processes in the session of `leader`, without its own."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended meanwhile
            if int(name) != leader and os.getsid(int(name)) == leader:
                found[int(name)] = Path("/proc", name, "cmdline").read_bytes()
    return found


def kill_python(process: subprocess.Popen[bytes]) -> int:
    """Kill the Python that a launcher started: the shells go on."""
    return _kill([one for one, words in in_session(process.pid).items() if b"__main__.py" in words])


def kill_children(process: subprocess.Popen[bytes]) -> int:
    """Kill all that the client's own shell started."""
    return _kill(list(in_session(process.pid)))


def kill_all(process: subprocess.Popen[bytes]) -> int:
    """Kill all of it, as the client does with a hook that is out of time."""
    return _kill([process.pid, *in_session(process.pid)])


def _kill(processes: list[int]) -> int:
    killed = 0
    for one in processes:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
            killed += 1
    return killed


KILLERS = (kill_python, kill_python, kill_children, kill_all)


def moments(kind: str, seconds: float) -> list[tuple[float, Callable[[subprocess.Popen[bytes]], int]]]:
    """Return when (seconds after the start) and what to kill: one moment in each of equal parts of a run and a bit more."""
    chance = random.Random(f"{SEED} {kind}")
    count = max(3, round(KILLS * SHARES[kind]))
    return [((n + chance.random()) / count * 1.1 * seconds, chance.choice(KILLERS)) for n in range(count)]


def fired(
    house: House, event: str, payload: dict[str, Any], moment: tuple[float, Callable[[Any], int]]
) -> tuple[dict[str, Any], int]:
    """Fire an event and kill it at the moment; returns what it answered ({} where the client killed it), and the kills."""
    delay, killer = moment
    process = house.start(event)
    process.stdin.write(json.dumps(payload, separators=(",", ":")).encode() + b"\n")
    process.stdin.close()
    process.stdin = None
    time.sleep(delay)
    killed = killer(process)
    said, complained = process.communicate(timeout=SECONDS)
    assert complained in {b"", b"Killed\n"}  # so says the client's own shell of its child, and exits 0
    if process.returncode == -signal.SIGKILL:
        assert killer is kill_all
        return {}, killed
    assert process.returncode == 0
    return (json.loads(said) if said else {}), killed


def took(run: Callable[[], object]) -> float:
    """Return the seconds of the quickest of three runs."""
    spent = []
    for _ in range(3):
        started = time.monotonic()
        run()
        spent.append(time.monotonic() - started)
    return min(spent)


def settled(house: House) -> list[str]:
    """Let a day pass and an ordinary session run; returns what is still left of the killed ones."""
    house.quiet()
    house.age(2 * DAY)
    house.works()
    house.quiet()
    return house.leavings()


def test_a_read_s_first_hook_that_is_killed(house: House) -> None:
    """The read passes or is narrowed, never both; the second read of the file passes; nothing stays."""

    def whole() -> None:
        house.session = f"t-{time.monotonic_ns()}"
        house.before(house.big)

    killed = 0
    for n, moment in enumerate(moments("read", took(whole))):
        house.session = f"k-{n}"
        house.calls += 1
        payload = house.payload("Read", {"file_path": str(house.big)})
        answer, dead = fired(house, "PreToolUse Read", payload, moment)
        killed += dead > 0
        narrowed = house.true_first(answer, house.big)
        if narrowed:
            assert house.after(narrowed, house.big)
            assert not house.before(house.big)
        elif again := house.before(house.big):  # it had not got to noting that the file is intercepted
            assert house.after(again, house.big)
            assert not house.before(house.big)
    assert killed >= 3
    assert settled(house) == []


def test_a_delivery_that_is_killed(house: House) -> None:
    """What is delivered is whole and true, and it is delivered once; the file can be read again."""
    house.session = "t"
    narrowed = house.before(house.big)
    started = time.monotonic()
    assert house.after(narrowed, house.big)
    killed = 0
    for n, moment in enumerate(moments("delivery", time.monotonic() - started)):
        house.session = f"k-{n}"
        narrowed = house.before(house.big)
        answer, dead = fired(house, "PostToolUse Read", house.after_payload(narrowed, house.big), moment)
        killed += dead > 0
        first = house.true_text(answer, house.big)
        second = house.after(narrowed, house.big)
        assert not (first and second)
        assert not house.before(house.big)
    assert killed >= 2
    assert settled(house) == []


def test_an_annotation_that_is_killed(house: House) -> None:
    """The output stays as it was or every suffix is true; the next search is annotated."""
    killed = 0
    for n, moment in enumerate(moments("search", took(lambda: house.grep(house.big)))):
        house.session = f"k-{n}"
        payload = house.grep_payload(house.big, "x . 7[0-9]$")
        answer, dead = fired(house, "PostToolUse Grep|Bash|PowerShell", payload, moment)
        killed += dead > 0
        house.true_annotation(answer, payload["tool_response"]["stdout"], house.big)
    assert killed >= 3
    assert house.grep(house.big) == 10
    assert settled(house) == []


def test_remembering_that_is_killed_in_the_background(house: House) -> None:
    """The call has gone on long before; what was noted is whole rows, and the next ones are noted."""
    response = {"stdout": f"{house.big}:232: boom", "stderr": "", "interrupted": False, "isImage": False}
    chance = random.Random(SEED)
    for n in range(max(3, round(KILLS * SHARES["background"]))):
        house.session = f"k-{n}"
        house.calls += 1
        payload = house.payload("Bash", {"command": "make"}, tool_response=response)
        assert house.fire("PostToolUse Grep|Bash|PowerShell", payload) == {}
        time.sleep(chance.random() * 0.1)
        _kill(list(house.processes()))
        house.quiet()
        assert house.fire("PostToolUse Grep|Bash|PowerShell", payload) == {}
        house.quiet()
        rows = (house.home / "state" / house.session / "recent.jsonl").read_text().splitlines()
        assert [json.loads(row) for row in rows][-1]["line"] == 232
    assert settled(house) == []


def test_who_writes_an_index_is_killed_while_others_read(house: House) -> None:
    """`slicegrep index` at any moment: hooks and searches beside it are true, and the next one ends with a whole index."""
    for n in range(60):
        write_steps(house.project / f"pkg{n % 5}" / f"part{n}.py", 30, f"y{n}")
    words = ["sh", str(ROOT / "bin" / "slicegrep"), "index", "."]
    started = time.monotonic()
    assert house.slicegrep("index", ".").returncode == 0
    whole = time.monotonic() - started
    house.session = "k"
    for n, (delay, killer) in enumerate(moments("index", whole)):
        if n % 2:  # a change of some files; else from nothing
            for m in range(n, 60, 7):
                write_steps(house.project / f"pkg{m % 5}" / f"part{m}.py", 30 + n, f"y{m}")
        else:
            for path in (house.home / "index").glob("*"):
                path.unlink()
        writer = subprocess.Popen(
            words,
            env=house.environment(),
            cwd=house.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + delay
        part = house.project / f"pkg{n % 5}" / f"part{n}.py"
        house.calls += 1
        assert house.grep(part, "return") > 0
        time.sleep(max(0.0, until - time.monotonic()))
        kill_all(writer) if killer is kill_all else kill_python(writer)
        writer.wait(SECONDS)
        house.quiet()
        assert house.grep(part, "return") > 0
    found = house.slicegrep(".", "step_29", "--json")
    assert found.returncode == 0, found.stderr
    slices = json.loads(found.stdout)["chunks"]
    assert slices
    for one in slices:
        lines = (house.project / one["file"]).read_text().split("\n")
        assert one["text"].split("\n") == lines[one["line_start"] - 1 : one["line_end"]]
    assert house.slicegrep("index", ".").returncode == 0
    house.quiet()
    assert settled(house) == []
