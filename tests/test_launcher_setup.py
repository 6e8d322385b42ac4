"""Set-up is started once, apart from the session, with a Python that works; and the command line finds the same one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launcher_stand import HOOK_SHELLS, Stand, line, payload_of

STARTUP = line(payload_of("SessionStart", source="startup"))
TOLD = '{"systemMessage":"setting up"}\n'
WORKING = f'exec {sys.executable} "$@"'
STORE_STUB = (
    "echo 'Python was not found; run without arguments to install from the Microsoft Store' >&2; exit 49"
)


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """Return a stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


def test_with_everything_in_place_set_up_does_nothing(stand: Stand) -> None:
    """Nothing is started, nothing is written."""
    stand.fake("python3", WORKING)
    before = stand.kept()
    assert stand.run("set-up", STARTUP) == ""
    assert stand.calls() == []
    assert stand.kept() == before


@pytest.mark.parametrize(
    "missing", ["env", "vocab", "env/0123456789abcdef/.ready", "env/0123456789abcdef/bin/python"]
)
def test_whatever_is_missing_starts_it(stand: Stand, missing: str) -> None:
    """The environment, half of it, or the vocabulary: install.py decides what to do, and what it says waits as a notice."""
    place = stand.home / missing
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    stand.fake("python3", WORKING)
    stand.behave(f"print({TOLD.strip()!r})")
    assert stand.run("set-up", STARTUP) == ""  # what an async hook prints would reach the model
    (call,) = stand.calls()
    assert (call.script, call.words) == ("install.py", ["background"])
    assert (call.record["isolated"], call.record["no_bytecode"], call.record["token"]) == (1, 1, None)
    assert (stand.home / "notice").read_text() == TOLD
    assert stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x"))) == TOLD


def test_a_notice_that_waits_is_not_overwritten(stand: Stand) -> None:
    """It may say why set-up failed."""
    stand.drop_environment()
    stand.fake("python3", WORKING)
    stand.behave(f"print({TOLD.strip()!r})")
    (stand.home / "notice").write_text('{"systemMessage":"failed"}\n')
    stand.run("set-up", STARTUP)
    assert (stand.home / "notice").read_text() == '{"systemMessage":"failed"}\n'


def test_a_client_that_ends_its_hooks_does_not_end_set_up(stand: Stand) -> None:
    """A headless client sends SIGTERM to the whole group of its async hooks when it is done."""
    stand.drop_environment()
    stand.fake("python3", WORKING)
    stand.behave("time.sleep(0.7)")
    words = [*stand.shell, "-c", stand.command("set-up")]
    with subprocess.Popen(
        words, env=stand.variables(), stdin=subprocess.DEVNULL, start_new_session=True
    ) as hook:
        (call,) = stand.calls(wait_for=1)
        assert call.record["session"] != hook.pid
        os.killpg(hook.pid, signal.SIGTERM)
        hook.wait(20)
        assert stand.calls(stage="ended") == []
    stand.calls(wait_for=1, stage="ended")


def test_without_a_python_the_person_is_told_once(stand: Stand) -> None:
    """Not at each start of a session."""
    stand.drop_environment()
    prompt = line(payload_of("UserPromptSubmit", prompt="x"))
    told = []
    for _ in range(3):
        assert stand.run("set-up", STARTUP) == ""
        told.append(stand.run("prompt", prompt))
    assert "Python 3.10" in told[0]
    assert told[1:] == ["", ""]


# ---- Which Python


def test_the_first_that_works_is_taken(stand: Stand) -> None:
    """It names its real place, whatever stands on PATH."""
    stand.fake("python3", WORKING)
    stand.fake("python", "exit 1")
    assert stand.ask("find-python") == f"{sys.executable}\n"


UNFIT = {
    "missing": None,
    "a store stub": STORE_STUB,
    "a pyenv shim without a version": "echo 'pyenv: python3: command not found' >&2; exit 127",
    "too old": "echo",
    "silent": "exit 0",
    "killed": "kill -9 $$",
    "not for this machine": "\x7fELF",
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_a_python3_that_does_not_work_is_passed_over(stand: Stand, unfit: str) -> None:
    """claude-code#57946: `python3` is a store stub that exits 49."""
    if UNFIT[unfit] is not None:
        stand.fake("python3", UNFIT[unfit])
    stand.fake("python3.12", STORE_STUB)
    stand.fake("python3.11", WORKING)
    assert stand.ask("find-python") == f"{sys.executable}\n"


def test_one_that_hangs_is_cut(stand: Stand) -> None:
    """After five seconds, where `timeout` is there; another `timeout`, as Windows has it, is not used."""
    stand.fake("python3", "exec sleep 40")
    stand.fake("python", WORKING)
    begun = time.monotonic()
    assert stand.ask("find-python") == f"{sys.executable}\n"
    assert time.monotonic() - begun < 15
    stand.fake("timeout", "echo 'ERROR: Invalid syntax.'; exit 1")
    stand.fake("python3", STORE_STUB)
    assert stand.ask("find-python") == f"{sys.executable}\n"


def test_a_python_that_answers_with_a_carriage_return_is_understood(stand: Stand) -> None:
    """As every program on Windows does; there it may be found by `py -3` alone."""
    stand.fake("py", f"[ \"$1\" = -3 ] || exit 9; printf '%s\\r\\n' {sys.executable}")
    assert stand.ask("find-python") == f"{sys.executable}\n"


@pytest.mark.parametrize(
    "place", [".pyenv/versions/3.12.1/bin/python", ".local/share/uv/python/cpython-3.12/bin/python3"]
)
def test_pythons_beside_path_are_found(stand: Stand, place: str) -> None:
    """A client started from a desktop has a short PATH."""
    path = stand.folder / place
    path.parent.mkdir(parents=True)
    path.symlink_to(sys.executable)
    assert stand.ask("find-python") == f"{path}\n"
    assert stand.ask("find-python", HOME=None) == ""


def test_uv_knows_of_pythons_too(stand: Stand) -> None:
    """The last that is asked."""
    stand.fake("uv", f'[ "$*" = "python find >=3.10" ] && echo {sys.executable}')
    assert stand.ask("find-python") == f"{sys.executable}\n"


# ---- bin/slicegrep and bin/fr


def command(
    stand: Stand, *words: str, name: str = "slicegrep", **variables: str | None
) -> tuple[int, str, str]:
    """Run a command of the plugin's bin; returns its exit code, output and errors."""
    program = str(stand.root / "bin" / name)
    done = subprocess.run(
        [*stand.shell, program, *words],
        input="from stdin",
        capture_output=True,
        env=stand.variables(**variables),
        cwd=stand.work,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["slicegrep", "fr"])
def test_a_command_runs_in_the_environment(stand: Stand, name: str) -> None:
    """Words, standard input, output and exit code are the program's own, also while the hooks are switched off."""
    stand.behave("print(sys.stdin.read()); sys.exit(1)")
    words = ["a b", "", "*", "-n", 'it\'s "Ё"', "$HOME"]
    assert command(stand, *words, name=name, SLICEGREP_HOOK_DISABLE="1") == (1, "from stdin\n", "")
    (call,) = stand.calls()
    assert (call.script, call.words) == ("__main__.py", words)
    assert (call.record["isolated"], call.record["pycache"]) == (1, str(stand.home / "pyc"))


@pytest.mark.parametrize("name", ["slicegrep", "fr"])
def test_a_command_finds_its_plugin_from_anywhere(stand: Stand, name: str) -> None:
    """By symbolic links, absolute or relative, by a relative path, and by its bare name."""
    program = stand.root / "bin" / name
    first, second = stand.folder / "first", stand.folder / "links" / "second"
    second.parent.mkdir()
    first.symlink_to(program)
    second.symlink_to("../first")
    for folder, words in [
        (stand.work, [str(second)]),
        (stand.folder, ["links/second"]),
        (stand.root / "bin", [f"./{name}"]),
        (stand.root / "bin", [name]),
        (stand.root, [f"bin/{name}"]),
    ]:
        stand.forget_calls()
        subprocess.run([*stand.shell, *words, "map"], cwd=folder, env=stand.variables(), check=True)
        assert [call.words for call in stand.calls()] == [["map"]]
    subprocess.run([str(second), "map"], env=stand.variables(), check=True)


def test_before_set_up_a_command_says_what_to_do(stand: Stand) -> None:
    """One line on standard error, exit 2."""
    stand.drop_environment()
    stand.fake("python3", WORKING)
    said = command(stand, "src", "pattern")
    assert said == (2, "", "slicegrep: the Python environment is not there yet; run: slicegrep setup\n")
    assert stand.calls() == []


def test_before_set_up_the_doctor_and_set_up_itself_run(stand: Stand) -> None:
    """Under the Python that was found: they need the standard library alone."""
    stand.drop_environment()
    stand.fake("python", WORKING)
    assert command(stand, "doctor", "--json") == (0, "", "")
    assert command(stand, "setup", "--quiet") == (0, "", "")
    assert [(call.script, call.words) for call in stand.calls()] == [
        ("doctor.py", ["doctor", "--json"]),
        ("install.py", ["setup", "--quiet"]),
    ]


def test_set_up_is_not_run_by_the_environment_that_it_may_replace(stand: Stand) -> None:
    """Unless there is no other Python."""
    stand.behave("print(sys.executable)")
    assert command(stand, "setup") == (0, f"{stand.environment_folder}/bin/python\n", "")
    stand.fake("python3", WORKING)
    assert command(stand, "setup") == (0, f"{sys.executable}\n", "")


def test_the_demo_sets_up_first(stand: Stand) -> None:
    """The one command of a fresh machine; where set-up fails it ends there."""
    stand.drop_environment()
    stand.fake("python3", WORKING)
    stand.behave("sys.exit(2)")
    code, output, errors = command(stand, "demo")
    assert (code, output, errors.count("\n")) == (2, "", 1)
    ready = stand.environment_folder / ".ready"
    stand.behave(
        f"if record['script'] == 'install.py': os.makedirs({str(ready.parent)!r}); "
        f"open({str(ready)!r}, 'w').write({sys.executable!r} + '\\n/site\\n')"
    )
    stand.forget_calls()
    assert command(stand, "demo", "--width", "80")[0] == 0
    found = [(call.script, call.words) for call in stand.calls()]
    assert found == [("install.py", ["setup"]), ("__main__.py", ["demo", "--width", "80"])]


@pytest.mark.parametrize("words", [["setup"], ["doctor"], ["demo"]])
def test_without_any_python_a_command_says_so(stand: Stand, words: list[str]) -> None:
    """One line, exit 2."""
    stand.drop_environment()
    said = command(stand, *words)
    assert said == (2, "", "slicegrep: Python 3.10 or later is needed, and none was found\n")


def test_without_a_home_a_command_says_what_to_do(stand: Stand) -> None:
    """As before set-up."""
    code, output, errors = command(stand, "map", "x", SLICEGREP_HOME=None, HOME=None)
    assert (code, output, errors.count("\n")) == (2, "", 1)
