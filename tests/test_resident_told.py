"""What `slicegrep doctor` tells of the resident engine, and how `slicegrep setup` switches it on again and removes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prepared_home import ROOT
from resident_stand import House, house, large_module, until
from slicegrep.resident import seen

ASKING = {"session_id": "s-0", "tool_name": "Read"}
"""A question that is answered with nothing."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a user's home folder; its engines are ended."""
    with house(tmp_path) as made:
        yield made


def start(home: House, program: str, *words: str, **variables: str) -> subprocess.Popen[str]:
    """Start the doctor or set-up as `bin/slicegrep` does."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", str(ROOT / "plugin" / "slicegrep" / program), *words],
        env=home.environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(home: House, program: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the doctor or set-up to its end."""
    process = start(home, program, *words, **variables)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def told(home: House, **variables: str) -> tuple[str, str, str]:
    """Return status, text and mend of the doctor's line."""
    done = command(home, "doctor.py", "--json", **variables)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    ((status, text, mend),) = [(e["status"], e["text"], e["mend"]) for e in found if e["check"] == "engine"]
    return status, text, mend


def test_an_engine_that_runs_is_told_with_its_memory(home: House) -> None:
    """Since when, which process, and how much memory it and its workers take; looking changes nothing."""
    engine = home.start()
    status, text, mend = told(home)
    assert (status, mend) == ("ok", "")
    found = seen.running(str(home.home))
    assert found
    assert found.pid == engine
    assert abs(found.since - time.time()) < 600
    assert 20_000_000 < found.memory < 400_000_000
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.since))
    assert text.startswith(f"answers, running since {when} (process {engine}, ")
    assert text.endswith(" MB)")
    assert home.ask("pre-read", ASKING)[0] == "answered"


def test_one_that_cannot_answer_is_told_with_how_to_end_it(home: House) -> None:
    """It is asked, not only looked for: one that was stopped holds its lock and its socket all the same."""
    engine = home.start()
    os.kill(engine, signal.SIGSTOP)
    began = time.monotonic()
    status, text, mend = told(home)
    assert (status, text.split(":")[0]) == ("warn", f"process {engine} runs and does not answer")
    assert mend.startswith(f"run: kill -9 {engine} ")
    assert time.monotonic() - began < 60
    os.kill(engine, signal.SIGCONT)
    until(lambda: told(home)[0] == "ok", "an answer")


def test_one_that_does_not_run_is_no_fault(home: House) -> None:
    """Not yet, not any more, and killed: the next call starts it; the doctor leaves no trace of having looked."""
    assert told(home)[:2] == ("ok", "not running: the next read or search that needs it starts it")
    assert not list(home.home.glob("run/engine*"))
    engine = home.start()
    os.kill(engine, signal.SIGKILL)
    until(lambda: not home.processes(), "its end")
    assert told(home)[:2] == ("ok", "not running: the next read or search that needs it starts it")


def test_one_that_crashed_too_often_is_told_and_setup_switches_it_on(home: House) -> None:
    """Off until when and why; `slicegrep setup` mends it at once, else it mends itself."""
    home.run.mkdir(mode=0o700)
    off = home.run / "engine.off"
    off.write_text(f"{time.time() + 7_200:.0f}\n")
    (home.run / "engine.crashes").write_text(f"{time.time():.0f}\n")
    status, text, mend = told(home)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(off.read_text())))
    assert (status, f"off until {when}" in text, "slicegrep setup" in mend) == ("warn", True, True)
    assert home.ask("pre-read", ASKING)[0] == "cold"
    assert command(home, "install.py", "setup", "--quiet").returncode == 0
    assert not off.exists()
    assert not (home.run / "engine.crashes").exists()
    assert told(home)[0] == "ok"
    assert home.ask("pre-read", ASKING)[0] == "start"
    off.write_text(f"{time.time() - 1:.0f}\n")
    assert told(home)[0] == "ok"


def test_one_that_is_switched_off_is_told(home: House) -> None:
    """SLICEGREP_RESIDENT=off is the person's choice, and no fault."""
    status, text, _ = told(home, SLICEGREP_RESIDENT="off")
    assert (status, text.split(":")[0]) == ("ok", "switched off by SLICEGREP_RESIDENT")
    engine = home.start()
    assert f"one that others use runs (process {engine})" in told(home, SLICEGREP_RESIDENT="off")[1]


def test_a_folder_that_is_open_to_others_is_told(home: House) -> None:
    """The hooks do not use it then; the doctor says how to mend it."""
    home.run.mkdir()
    home.run.chmod(0o755)
    status, _, mend = told(home)
    assert (status, mend) == ("warn", f"run: chmod 700 {home.run}")
    home.run.chmod(0o700)
    assert told(home)[0] == "ok"


def test_remove_ends_the_engine_and_nothing_is_made_again(home: House) -> None:
    """What it is at is answered first; then the folder is gone, with all of the engine's processes, for good."""
    path = home.file("core.py", large_module())
    home.start()
    with ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(
                home.ask,
                "pre-read",
                {**home.payload("Read", {"file_path": str(path)}), "session_id": f"s-{n}"},
            )
            for n in range(8)
        ]
        for call in calls:
            assert call.result()[0] == "answered"
    done = command(home, "install.py", "setup", "--remove")
    assert (done.returncode, done.stderr) == (0, f"slicegrep: removed {home.home}\n")
    assert home.processes() == []
    assert not home.home.exists()
    assert home.fire("pre-read", home.payload("Read", {"file_path": str(path)})) == b""
    assert home.processes() == []
    assert not home.home.exists()


def test_remove_works_while_hooks_do(home: House) -> None:
    """Byte code, marks and rows that they write do not stand in its way, and none is left afterwards."""
    path = home.file("core.py", large_module())
    (home.home / "pyc").unlink()  # of its own: the hooks write it while it is deleted
    over = threading.Event()

    def reads(number: int) -> None:
        while not over.is_set():
            payload = home.payload("Read", {"file_path": str(path)})
            home.fire("pre-read", {**payload, "session_id": f"s-{number}-{time.monotonic_ns()}"})

    with ThreadPoolExecutor(3) as pool:
        sessions = [pool.submit(reads, number) for number in range(3)]
        until((home.home / "run" / "engine.lock").exists, "an engine")
        done = command(home, "install.py", "setup", "--remove")
        over.set()
        for session in sessions:
            session.result()
    # It may say that it waits, for the engine that a hook started when the first had left.
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, f"slicegrep: removed {home.home}")
    assert not home.home.exists()
    assert not list(home.folder.glob("home.*"))


def test_remove_ends_an_engine_that_was_stopped(home: House) -> None:
    """SIGSTOP by somebody: it goes on, and leaves, at once."""
    os.kill(home.start(), signal.SIGSTOP)
    done = command(home, "install.py", "setup", "--remove")
    assert (done.returncode, done.stderr) == (0, f"slicegrep: removed {home.home}\n")
    assert home.processes() == []


def test_remove_says_what_it_waits_for(home: House) -> None:
    """Of an engine that is long about leaving, one line names the process; nothing is deleted as long as it is there."""
    home.run.mkdir(mode=0o700)
    code = (
        "import fcntl, os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); f = open(sys.argv[1], 'w')\n"
        "fcntl.flock(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush(); print(flush=True); time.sleep(600)"
    )
    words = [sys.executable, "-c", code, str(home.run / "engine.lock")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as stuck:
        try:
            assert stuck.stdout
            stuck.stdout.readline()
            with start(home, "install.py", "setup", "--remove") as removal:
                assert removal.stderr
                line = removal.stderr.readline()
                assert line == f"slicegrep: waiting for the resident engine, process {stuck.pid}, to end\n"
                assert home.home.exists()
                stuck.kill()
                assert removal.communicate(timeout=120)[1] == f"slicegrep: removed {home.home}\n"
        finally:
            stuck.kill()


def test_an_engine_that_begins_after_remove_makes_nothing(home: House) -> None:
    """A hook started it just before: without its folder it ends."""
    python, site = home.ready()
    program = home.root / "plugin" / "slicegrep" / "resident" / "__main__.py"
    assert command(home, "install.py", "setup", "--remove").returncode == 0
    done = subprocess.run(
        [python, "-I", "-S", "-B", str(program), site, str(home.home)], timeout=120, check=False
    )
    assert done.returncode == 0
    assert not home.home.exists()


def test_remove_does_not_end_a_process_that_only_has_the_engines_number(home: House) -> None:
    """A mark that a killed engine left names a process that is somebody else's by now."""
    home.run.mkdir(mode=0o700)
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            (home.run / "engine.running").write_text(f"{other.pid}\n/plugin\n")
            (home.run / "engine.lock").write_text(str(other.pid))
            assert command(home, "install.py", "setup", "--remove").returncode == 0
            assert not home.home.exists()
            assert other.poll() is None
        finally:
            other.kill()
