"""The process that answers an event by itself, where the system lacks what it would rather use: another process, Unix sockets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from resident_stand import House, large_module

_RUN = """
import os, runpy, sys
{missing}
sys.path.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_NO_FORK = "del os.fork"
_FORK_FAILS = """
def fork():
    raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = fork
"""


def fire(
    home: House, missing: str, event: str, payload: dict[str, object], *options: str
) -> tuple[bytes, str]:
    """Run the hook's program in a Python that lacks something; returns what it printed, and what Python said of itself."""
    python, site = home.ready()
    program = str(home.root / "plugin" / "slicegrep" / "hook" / "__main__.py")
    start = f"import sys; sys.argv[:] = [{program!r}, {event!r}, {site!r}, '1']\n"
    done = subprocess.run(
        [
            python,
            "-I",
            "-S",
            "-X",
            f"slicegrep_pyc={home.home}/pyc",
            *options,
            "-c",
            start + _RUN.format(missing=missing),
        ],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=home.environment(),
        cwd=home.project,
        timeout=120,
        check=True,
    )
    return done.stdout, done.stderr.decode()


@pytest.mark.parametrize(("missing", "exact"), [(_NO_FORK, False), (_FORK_FAILS, True)])
def test_what_was_shown_is_recorded_where_no_other_process_can_count_it(
    tmp_path: Path, missing: str, *, exact: bool
) -> None:
    """Windows has no fork: the estimate is written at once. Where one fails, the same process counts."""
    home = House(tmp_path, variables={"SLICEGREP_RESIDENT": "off"})
    home.file("core.py", large_module())
    response = {"stdout": "core.py:3:    total = left * 1\n", "stderr": "", "interrupted": False}
    command = {"command": "grep -n total core.py /dev/null"}
    payload = home.payload("Bash", command, tool_response=response, hook_event_name="PostToolUse")
    said, _ = fire(home, missing, "post-search", payload)
    assert b"ember_1" in said
    assert [(row["annotated"], row["exact"]) for row in home.rows("annotate")] == [(1, exact)]


def test_where_there_are_no_unix_sockets_nothing_is_loaded_to_mend(tmp_path: Path) -> None:
    """Windows: the call is answered by its own process, and no byte code is suspected."""
    home = House(tmp_path)
    core = home.file("core.py", large_module())
    payload = home.payload("Read", {"file_path": str(core)})
    said, loaded = fire(home, "sys.modules['posix'] = None", "pre-read", payload, "-X", "importtime")
    assert b"updatedInput" in said
    assert "slicegrep.hook.cold" in loaded
    assert "slicegrep.bytecode" not in loaded
