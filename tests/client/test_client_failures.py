"""When something is missing, broken or killed: the session goes on as without the plugin."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from checks import assert_narrowed, assert_whole, notice
from driver import Received, World, tool_folder
from samples import made_module
from scripted_api import Request, Tool
from worlds import one_version

OFFLINE = {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PIP_FIND_LINKS": "/nowhere"}
"""Set-up that is started in these worlds fails at once and loads nothing."""


def _assert_plain(received: Received, path: Path, *, turn: int = 0) -> None:
    assert received.code == 0, received.stderr
    assert_whole(received.result(turn=turn), path)
    _assert_quiet(received)


def _assert_quiet(received: Received) -> None:
    """Assert that no hook ended with another status than 0."""
    for line in received.debug.splitlines():
        assert "finished with status" not in line or "finished with status 0" in line, line
        assert "hook error" not in line.lower(), line


def _hits_are_plain(received: Received, turn: int) -> None:
    assert received.result(turn=turn).text.strip().split("\n")[0] == "3:import math"


def _replace_python(world: World, script: str) -> None:
    """Give the world an environment of its own whose Python is a shell script; `$PYTHON` is the real one in it."""
    shared = next((world.data / "env").glob("*/.ready")).parent
    python, *rest = (shared / ".ready").read_text().split("\n")
    (world.data / "env").unlink()
    folder = world.data / "env" / shared.name
    folder.mkdir(parents=True)
    wrapper = folder / "python"
    wrapper.write_text(f"#!/bin/sh\nPYTHON='{python}'\n{script}\n")
    wrapper.chmod(0o755)
    (folder / ".ready").write_text("\n".join([str(wrapper), *rest]))


READ_AND_GREP = "Look at core.py"


def _play(world: World, **extra: str) -> tuple[Received, Path]:
    path = world.write("core.py", made_module(150))
    grep = Tool("Bash", command="grep -n 'import math' core.py")
    return world.play(READ_AND_GREP, [world.read("core.py")], [grep], **extra), path


def test_the_switch_turns_everything_off(world: World) -> None:
    """`SLICEGREP_HOOK_DISABLE=1`: reads are whole, hits are plain, nothing is kept (selvedge#20)."""
    received, path = _play(world, SLICEGREP_HOOK_DISABLE="1")
    _assert_plain(received, path)
    _hits_are_plain(received, 1)
    assert received.ours == []
    assert sorted(p.name for p in world.data.iterdir() if not p.is_symlink()) == []


def test_without_any_python_everything_passes(unprepared_world: World, tmp_path: Path) -> None:
    """No Python on PATH and no environment: the session is as without the plugin."""
    world = unprepared_world
    world.path = str(tool_folder(tmp_path / "no-python", python=False))
    received, path = _play(world, **OFFLINE)
    _assert_plain(received, path)
    _hits_are_plain(received, 1)


def test_a_store_stub_for_python_is_survived(unprepared_world: World, tmp_path: Path) -> None:
    """`python3` that exits 49 and says nothing, as on Windows (claude-code#57946)."""
    world = unprepared_world
    folder = tool_folder(tmp_path / "stub", python=False)
    for name in ("python3", "python"):
        (folder / name).write_text("#!/bin/sh\nexit 49\n")
        (folder / name).chmod(0o755)
    world.path = str(folder)
    received, path = _play(world, **OFFLINE)
    _assert_plain(received, path)


def test_before_set_up_is_done_everything_passes(unprepared_world: World) -> None:
    """In a first session whose environment cannot be made, reads and hits are plain, again and again."""
    for _ in range(2):
        received, path = _play(unprepared_world, **OFFLINE)
        _assert_plain(received, path)
        _hits_are_plain(received, 1)


def test_an_environment_whose_python_is_gone_passes(world: World) -> None:
    """The interpreter that the environment names was removed: everything passes."""
    _replace_python(world, "exit 1")
    next((world.data / "env").glob("*/python")).unlink()
    received, path = _play(world, **OFFLINE)
    _assert_plain(received, path)


@one_version
@pytest.mark.parametrize(
    "script",
    [
        "exit 3",
        'echo \'{"hookSpecificOutput": {"hookEv\'; exit 0',
        "echo Traceback >&2; exit 1",
        "kill -9 $$",
        "echo no json",
    ],
    ids=["status", "half", "error", "killed", "noise"],
)
def test_a_python_that_fails_is_survived(world: World, script: str) -> None:
    """Whatever the interpreter does instead of answering, the plain call happens."""
    _replace_python(world, script)
    received, path = _play(world)
    _assert_plain(received, path)
    _hits_are_plain(received, 1)
    assert received.ours == []


@pytest.mark.parametrize(
    "death", ["kill -9 $$", "kill -9 $PPID $$", "exit 1"], ids=["python", "launcher", "error"]
)
def test_the_second_phase_dies_and_the_model_still_knows(world: World, death: str) -> None:
    """The hook is killed between the phases: the read is narrowed, the model has been told so, and the way out works."""
    _replace_python(world, f'case "$*" in *post-read*) {death} ;; esac\nexec "$PYTHON" "$@"')
    path = world.write("core.py", made_module(150))
    received = world.play("Look at core.py", [world.read("core.py")], [world.read("core.py")])
    shown = assert_narrowed(received.result(), path)
    text = notice(received, path)
    assert "partial" in text
    assert f"{shown[0]}-{shown[-1]}" in text
    assert len(received.ours) == 1
    assert_whole(received.result(turn=1), path)


@pytest.mark.parametrize("death", ["kill -9 $$", "kill -9 $PPID $$"], ids=["python", "launcher"])
def test_the_first_phase_dies_and_the_read_is_plain(world: World, death: str) -> None:
    """Killed before it answered: the whole file arrives."""
    _replace_python(world, f'case "$*" in *pre-read*) {death} ;; esac\nexec "$PYTHON" "$@"')
    path = world.write("core.py", made_module(150))
    received = world.play("Look at core.py", [world.read("core.py")])
    assert_whole(received.result(), path)
    assert received.ours == []


def test_a_hook_that_hangs_is_given_up(world: World) -> None:
    """An interpreter that never answers costs the time limit, not the session."""
    _replace_python(world, "exec sleep 60")
    path = world.write("core.py", made_module(150))
    received = world.play("Look at core.py", [world.read("core.py")], seconds=40)
    assert_whole(received.result(), path)


def test_the_time_limit_of_the_hook_gives_the_plain_read(world: World) -> None:
    """`SLICEGREP_HOOK_TIMEOUT` that cannot be met: the plain read."""
    received, path = _play(world, SLICEGREP_HOOK_TIMEOUT="0.001")
    _assert_plain(received, path)


@pytest.mark.parametrize("how", ["file", "proc", "state"])
def test_a_data_folder_that_cannot_be_written_to_gives_the_plain_read(world: World, how: str) -> None:
    """What cannot be remembered is not intercepted: no error, and never a trap."""
    extra = {}
    if how == "file":
        (world.home / "not-a-folder").write_text("")
        extra = {"SLICEGREP_HOME": str(world.home / "not-a-folder")}
    elif how == "proc":
        extra = {"SLICEGREP_HOME": "/proc/self/slicegrep"}
    else:
        (world.data / "state").write_text("")
    path = world.write("core.py", made_module(150))
    received = world.play(
        "Look", [world.read("core.py")], [world.read("core.py", offset=1, limit=5)], **extra
    )
    _assert_plain(received, path)
    assert received.ours == []


def test_a_read_only_data_folder_gives_plain_results(world: World) -> None:
    """Nothing of state, ledger and byte code can be written: the read is plain and hits are shown, annotated or not."""
    (world.data / "pyc").unlink()
    for name in ("state", "ledger", "pyc", "log", "index", "run"):
        (world.data / name).write_text("")
    world.data.chmod(0o500)
    received, path = _play(world)
    world.data.chmod(0o700)
    _assert_plain(received, path)
    assert received.result(turn=1).text.startswith("3:import math")


def test_a_ledger_that_cannot_be_written_changes_nothing_else(world: World) -> None:
    """Without the ledger interceptions go on."""
    (world.data / "ledger").write_text("")
    path = world.write("core.py", made_module(150))
    received = world.play("Look", [world.read("core.py")], [world.read("core.py")])
    assert_narrowed(received.result(), path)
    assert_whole(received.result(turn=1), path)
    _assert_quiet(received)


def test_a_plugin_deleted_under_a_running_session_is_survived(world: World, tmp_path: Path) -> None:
    """An update that removes the plugin's files: later calls are plain (claude-code#46915, context-mode#604)."""
    path = world.write("core.py", made_module(150))
    other = world.write("other.py", made_module(140))
    root = _own_plugin(world, tmp_path)

    def delete(_: Request) -> Sequence[Tool]:
        shutil.rmtree(root)
        return [world.read("other.py")]

    received = world.play(
        "Look", [world.read("core.py")], delete, [Tool("Bash", command="grep -n 'import math' core.py")]
    )
    assert_narrowed(received.result(), path)
    assert_whole(received.result(turn=1), other)
    assert received.result(turn=2).text.startswith("3:import math")


def _own_plugin(world: World, tmp_path: Path) -> Path:
    """Give the world a copy of the plugin that it alone uses; return the folder that the hooks run from."""
    records = world.home / ".claude" / "plugins"
    key = "installLocation" if world.client.native else "installPath"
    name = "known_marketplaces.json" if world.client.native else "installed_plugins.json"
    shared = (records / name).read_text().split(f'"{key}": "')[1].split('"')[0]
    own = tmp_path / "own" / "slicegrep"
    shutil.copytree(shared, own)
    for file in records.glob("*.json"):
        file.write_text(file.read_text().replace(shared, str(own)))
    return own


def test_nothing_of_the_clients_secrets_stays_behind(world: World) -> None:
    """No file of the home folder holds the API key or the client's messaging token."""
    received, _ = _play(world)
    assert received.code == 0
    for folder, _, names in os.walk(world.data):
        for name in names:
            with suppress(FileNotFoundError):  # an engine is at work there
                content = (Path(folder) / name).read_bytes()
                assert b"sk-ant-made-up" not in content
                assert b"MESSAGING_TOKEN" not in content
