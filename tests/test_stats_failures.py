"""Calls that the launcher let pass because of a failure, as `slicegrep stats` tells of them: by cause, each once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prepared_home import ROOT
from resident_stand import House, house, large_module
from slicegrep import ledger
from slicegrep.stats import Report, report

KEY = (ROOT / "plugin" / "requirements.key").read_text().strip()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[House]:
    """A session that has been asked something, without an engine."""
    with house(tmp_path, variables={"SLICEGREP_RESIDENT": "off"}) as made:
        made.prompt("what does ember_7 do?")
        yield made


def told(machine: House) -> Report:
    """Return what the ledger says."""
    assert ledger.settle(str(machine.home), wait=10)
    return report(ledger.rows(str(machine.home)))


def interpreter(machine: House, script: str) -> None:
    """Put a program in the interpreter's place."""
    (machine.home / "env").unlink()
    ready = machine.home / "env" / KEY / ".ready"
    ready.parent.mkdir(parents=True)
    program = machine.folder / "python"
    program.write_text(script)
    program.chmod(0o755)
    ready.write_text(f"{program}\n/nowhere\n")


def test_without_an_environment_each_call_is_told(machine: House) -> None:
    """Set-up is at work, or failed: reads and searches that would have been handed over."""
    path = machine.file("core.py", large_module())
    (machine.home / "env").unlink()
    assert machine.before(path) == machine.before(path) == b""
    assert machine.grep("total", path) == b""
    found = told(machine)
    assert found.fail_opens == {"pre-read: no environment yet": 2, "post-search: no environment yet": 1}
    assert found.total.fail_opens == found.sessions["s-1"].fail_opens == 3
    assert told(machine).fail_opens == found.fail_opens, "settled once"


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("#!/bin/sh\nkill -SEGV $$\n", "ended by signal 11"),
        ("#!/nowhere/python3\n", "the interpreter does not start"),
        ("#!/bin/sh\nexit 3\n", "ended with 3"),
    ],
)
def test_an_interpreter_that_is_broken_is_told(machine: House, script: str, cause: str) -> None:
    """Crashed, gone after the system's upgrade, or ended in another way."""
    path = machine.file("core.py", large_module())
    interpreter(machine, script)
    assert machine.before(path) == b""
    assert told(machine).fail_opens == {f"pre-read: {cause}": 1}


def test_a_call_that_ran_out_of_time_is_told_once(machine: House) -> None:
    """Its mark in `run/` and the launcher's note are of one call."""
    path = machine.file("core.py", large_module(2_000))
    assert machine.before(path, SLICEGREP_HOOK_TIMEOUT="0.001") == b""
    assert told(machine).fail_opens == {"pre-read: killed or out of time": 1}
    assert not list(machine.run.glob("hook-*"))


def test_a_call_that_passes_for_a_reason_is_no_failure(machine: House) -> None:
    """A small file, a read again, a search without hits."""
    path = machine.file("core.py", large_module(600))
    assert machine.read(path)
    assert machine.before(path) == machine.before(machine.file("small.py", "x = 1\n")) == b""
    assert machine.grep("nothing of the kind", path) == b""
    assert told(machine).fail_opens == {}
