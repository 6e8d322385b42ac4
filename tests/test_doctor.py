"""The doctor: it runs under a bare Python, tells what works from what does not, and says how to mend it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prepared_home import bare_environment, prepared_home
from small_clone import small_clone
from small_index import small_index

ROOT = Path(__file__).resolve().parents[1]
KEY = (ROOT / "plugin" / "requirements.key").read_text().strip()


def doctor(folder: Path, *words: str, root: Path = ROOT, **variables: str) -> tuple[int, str]:
    """Run it under this Python, without its packages, with `folder` as HOME."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(root / "plugin" / "slicegrep" / "doctor.py"), *words],
        env=bare_environment(folder, **{"SLICEGREP_HOME": str(folder / "home"), **variables}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def findings(folder: Path, root: Path = ROOT, **variables: str) -> dict[str, list[tuple[str, str, str]]]:
    """Run it, and return (status, text, mend) of its findings by the part they are about."""
    code, out = doctor(folder, "--json", root=root, **variables)
    found: dict[str, list[tuple[str, str, str]]] = {}
    for entry in json.loads(out):
        found.setdefault(entry["check"], []).append((entry["status"], entry["text"], entry["mend"]))
    assert code == int(any(status == "fail" for group in found.values() for status, _, _ in group))
    return found


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Make a home folder with the real environment and vocabulary."""
    shared = prepared_home()
    (tmp_path / "home").mkdir(mode=0o700)
    for part in ("env", "vocab"):
        (tmp_path / "home" / part).symlink_to(shared / part)
    return tmp_path


def test_all_is_well_after_set_up(ready: Path) -> None:
    """Exit 0, no line but ok, and one read really was intercepted through the launcher."""
    code, out = doctor(ready)
    assert [line for line in out.splitlines() if not line.startswith("ok ")] == []
    assert code == 0
    (line,) = [line for line in out.splitlines() if "interception" in line]
    assert "lines, a map and slices" in line


def test_it_leaves_no_trace_in_state_and_ledger(ready: Path) -> None:
    """Its made-up session is none of the person's: `stats` must not count it."""
    doctor(ready)
    assert {"state", "ledger"}.isdisjoint(p.name for p in (ready / "home").iterdir())
    assert [p.name for p in ready.iterdir() if p.name != "home"] == []


def test_before_set_up_it_says_what_to_run(tmp_path: Path) -> None:
    """Under a bare Python with nothing installed: exit 1, and the command that mends it."""
    code, out = doctor(tmp_path)
    assert code == 1
    assert f"fail  environment   {KEY} is not there yet" in out
    assert "-> run: slicegrep setup" in out
    assert "interception  not tried" in out


def test_it_makes_no_home_folder_by_looking(tmp_path: Path) -> None:
    """Before set-up and after its removal: nothing of it is there afterwards, and no engine is promised."""
    found = findings(tmp_path)
    assert found["home"] == [("ok", f"{tmp_path / 'home'} is not there yet: set-up makes it", "")]
    assert found["engine"][0][:2] == ("ok", "not running: there is no environment")
    assert not (tmp_path / "home").exists()
    (tmp_path / "home").mkdir(mode=0o700)
    findings(tmp_path)
    assert not (tmp_path / "home" / "env").exists()


def test_a_home_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    """What is in the way is named."""
    (tmp_path / "file").write_text("")
    ((status, text, _),) = findings(tmp_path, SLICEGREP_HOME=str(tmp_path / "file" / "home"))["home"]
    assert (status, f"{tmp_path / 'file'} cannot be written" in text) == ("fail", True)


def test_a_home_folder_that_anybody_may_write_in_is_a_fault(tmp_path: Path) -> None:
    """The line to mend it can be run as it stands; set-up gives the same reason and speaks of no package index."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o777)
    ((status, _, mend),) = findings(tmp_path)["home"]
    assert (status, mend.rpartition(": ")[2]) == ("fail", f"chmod 700 {tmp_path / 'home'}")
    install = [sys.executable, "-I", "-S", "-B", str(ROOT / "plugin" / "slicegrep" / "install.py"), "setup"]
    variables = bare_environment(tmp_path, SLICEGREP_HOME=str(tmp_path / "home"))
    done = subprocess.run(install, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"slicegrep: set-up failed: {tmp_path / 'home'}: Permission denied")


def test_a_failed_set_up_is_told_with_its_reason_and_its_next_try(tmp_path: Path) -> None:
    """The record that the background left."""
    record = tmp_path / "home" / "env" / f"{KEY}.failed.json"
    record.parent.mkdir(parents=True, mode=0o700)
    (tmp_path / "home").chmod(0o700)
    record.write_text(json.dumps({"when": time.time(), "tries": 1, "message": "no index"}))
    ((status, text, mend),) = findings(tmp_path)["environment"]
    assert status == "fail"
    assert text == "set-up failed: no index (the next session tries again after 10 min)"
    assert "setup.log" in mend


def test_a_set_up_at_work_is_no_fault(tmp_path: Path) -> None:
    """While the lock is held the advice is to wait."""
    with small_index() as index:
        index.gate.clear()
        pins = tmp_path / "pins.txt"
        pins.write_text(index.requirements)
        variables = {"SLICEGREP_HOME": str(tmp_path / "home"), "SLICEGREP_SETUP_REQUIREMENTS": str(pins)}
        install = [
            sys.executable,
            "-I",
            "-B",
            str(ROOT / "plugin" / "slicegrep" / "install.py"),
            "setup",
            "--quiet",
        ]
        work = subprocess.Popen(install, env=bare_environment(tmp_path, **variables))
        assert index.asked.wait(60)
        ((status, text, _),) = findings(tmp_path, SLICEGREP_SETUP_REQUIREMENTS=str(pins))["environment"]
        assert (status, text) == ("warn", f"being set up now (process {work.pid})")
        index.gate.set()
        assert work.wait(60) == 0


@pytest.mark.parametrize("harm", ["package", "python"])
def test_a_damaged_environment_is_a_fault(tmp_path: Path, harm: str) -> None:
    """A package that is gone is named; so is an interpreter that does not run."""
    with small_index() as index:
        pins = tmp_path / "pins.txt"
        pins.write_text(index.requirements)
        variables = {"SLICEGREP_HOME": str(tmp_path / "home"), "SLICEGREP_SETUP_REQUIREMENTS": str(pins)}
        install = [
            sys.executable,
            "-I",
            "-B",
            str(ROOT / "plugin" / "slicegrep" / "install.py"),
            "setup",
            "--quiet",
        ]
        subprocess.run(install, env=bare_environment(tmp_path, **variables), check=True)
    (mark,) = (tmp_path / "home").glob("env/*/.ready")
    python, site = mark.read_text().splitlines()
    if harm == "package":
        shutil.rmtree(Path(site) / "tinypackage")
    else:
        Path(python).unlink()
        Path(python).write_text("#!/bin/sh\necho broken\nexit 3\n")
        Path(python).chmod(0o755)
    ((status, text, mend),) = findings(tmp_path, SLICEGREP_SETUP_REQUIREMENTS=str(pins))["environment"]
    assert (status, mend) == ("fail", "run: slicegrep setup")
    assert ("tinypackage" if harm == "package" else "broken") in text


def test_a_wrong_vocabulary_does_not_count(tmp_path: Path) -> None:
    """A file of the right name and another content: a warning, since estimates serve."""
    folder = tmp_path / "home" / "vocab"
    folder.mkdir(parents=True)
    (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").write_text("other")
    ((status, text, _),) = findings(tmp_path)["vocabulary"]
    assert status == "warn"
    assert "missing" in text


def test_a_home_folder_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    """Its line names the variable that chooses another."""
    (tmp_path / "home").write_text("a file")
    ((status, _, mend),) = findings(tmp_path)["home"]
    assert (status, mend) == ("fail", "set SLICEGREP_HOME to a folder that can be written")


def test_a_home_folder_that_others_read_is_a_warning(tmp_path: Path) -> None:
    """What is kept there is private."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o755)
    ((status, _, mend),) = findings(tmp_path)["home"]
    assert (status, mend) == ("warn", f"run: chmod 700 {tmp_path / 'home'}")


def test_a_home_folder_that_others_read_does_not_keep_a_read_from_being_tried(ready: Path) -> None:
    """Nothing that an interception needs is missing then; where the environment is, it is named."""
    (ready / "home").chmod(0o755)
    ((status, text, _),) = findings(ready)["interception"]
    assert (status, "lines, a map and slices" in text) == ("ok", True)
    (ready / "home" / "env").unlink()
    ((status, text, _),) = findings(ready)["interception"]
    assert (status, text) == ("warn", "not tried, for want of the environment (see above)")


@pytest.mark.parametrize(
    ("variable", "value", "status", "text"),
    [
        ("SLICEGREP_HOOK_BUDGET", "900", "ok", "SLICEGREP_HOOK_BUDGET=900"),
        ("SLICEGREP_HOOK_BUDGET", "1200", "ok", "all at their defaults"),
        ("CLAUDE_PLUGIN_OPTION_BUDGET", "900", "ok", "SLICEGREP_HOOK_BUDGET=900 (plugin option)"),
        ("SLICEGREP_ANNOTATE", "off", "ok", "SLICEGREP_ANNOTATE=off"),
        (
            "SLICEGREP_HOOK_BUDGET",
            "lots",
            "warn",
            "SLICEGREP_HOOK_BUDGET=lots is no value for it; 1200 is used",
        ),
        ("SLICEGREP_HOOK_TIMEOUT", "-1", "warn", "SLICEGREP_HOOK_TIMEOUT=-1 is no value for it; 5.0 is used"),
        ("SLICEGREP_RESIDENT", "ON", "ok", "all at their defaults"),
        ("SLICEGREP_RESIDENT", "1", "ok", "all at their defaults"),
        ("SLICEGREP_HOOK_DISABLE", "0", "ok", "SLICEGREP_HOOK_DISABLE=off"),
        ("SLICEGREP_RESIDENT", "none", "warn", "SLICEGREP_RESIDENT=none is no value for it; on is used"),
        (
            "SLICEGREP_ANNOTATE",
            "disabled",
            "warn",
            "SLICEGREP_ANNOTATE=disabled is no value for it; on is used",
        ),
        ("SLICEGREP_HOOK_DISABLE", "y", "warn", "SLICEGREP_HOOK_DISABLE=y is no value for it; off is used"),
        (
            "CLAUDE_PLUGIN_OPTION_NOTICE",
            "maybe",
            "warn",
            "CLAUDE_PLUGIN_OPTION_NOTICE=maybe is no value for it; off is used",
        ),
        ("SLICEGREP_HOOK_BUGDET", "9", "warn", "SLICEGREP_HOOK_BUGDET is not a setting"),
        ("SLICEGREP_HOOK_DISABLE", "1", "warn", "SLICEGREP_HOOK_DISABLE is set: every hook is off"),
    ],
)
def test_settings_in_force_are_listed_and_mistakes_named(
    tmp_path: Path, variable: str, value: str, status: str, text: str
) -> None:
    """What is not at its default, from where; a value that does not parse, a name that is none, a plugin switched off."""
    first, *_ = findings(tmp_path, **{variable: value})["settings"]
    assert first[:2] == (status, text)


def test_a_mistake_is_not_followed_by_a_line_that_denies_it(tmp_path: Path) -> None:
    """What is at its default is said of the other settings."""
    _, last = findings(tmp_path, SLICEGREP_HOOK_BUDGET="lots")["settings"]
    assert last[:2] == ("ok", "the others are at their defaults")


def test_a_home_folder_that_is_not_absolute_is_told(tmp_path: Path) -> None:
    """It would lie in whatever project the session is in, and does not count."""
    first, *_ = findings(tmp_path, SLICEGREP_HOME="near")["settings"]
    text = f"SLICEGREP_HOME=near is no absolute path; {tmp_path / '.slicegrep'} is used"
    assert first == ("warn", text, "it is a path that begins with / or ~/")


@pytest.mark.parametrize(
    ("says", "status", "text"),
    [
        ("2.1.332 (Claude Code)", "ok", "Claude Code 2.1.332"),
        ("2.1.100 (Claude Code)", "ok", "Claude Code 2.1.100: enclosing functions come as a list"),
        ("1.0.3 (Claude Code)", "warn", "Claude Code 1.0.3: older than any that was tested"),
        ("hello", "warn", "claude --version said 'hello'"),
    ],
)
def test_the_clients_version_tells_what_can_be_expected(
    tmp_path: Path, says: str, status: str, text: str
) -> None:
    """Asked of the `claude` on PATH."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    ((found, said, _),) = findings(tmp_path, PATH=f"{program.parent}:/usr/bin:/bin")["client"]
    assert found == status
    assert said.startswith(text)


def test_hooks_that_do_nothing_are_a_fault(ready: Path, tmp_path: Path) -> None:
    """The launcher is run for real: one that answers nothing does not pass."""
    clone = small_clone(tmp_path / "clone")
    (clone / "hooks" / "slicegrep-hook").write_text("exit 0\n")
    ((status, text, _),) = findings(ready, clone)["interception"]
    assert status == "fail"
    assert text.startswith("pre-read gave no answer")


def test_hooks_that_gave_up_are_counted_with_their_cause(tmp_path: Path) -> None:
    """Of the last seven days; older ones count no more."""
    ledger = tmp_path / "home" / "ledger" / "2026-01.jsonl"
    ledger.parent.mkdir(parents=True)
    rows = [
        {"t": time.time() - days * 86_400, "kind": kind, "event": "pre-read", "cause": cause}
        for days, kind, cause in [
            (1, "fail", "KeyError"),
            (2, "fail", "KeyError"),
            (6, "fail", "x"),
            (9, "fail", "y"),
            (1, "read", ""),
        ]
    ]
    ledger.write_text("".join(json.dumps(row) + "\n" for row in rows) + "damaged\n")
    ((status, text, mend),) = findings(tmp_path)["ledger"]
    assert (status, text) == ("warn", "3 of 4 times in 7 days a hook gave up and the plain call happened")
    assert mend.startswith("2 times it was pre-read: KeyError")


def test_calls_that_passed_while_set_up_was_at_work_are_no_failures(tmp_path: Path) -> None:
    """It was announced that nothing changes until then: they are told, and nobody is warned."""
    ledger = tmp_path / "home" / "ledger" / "2026-01.jsonl"
    ledger.parent.mkdir(parents=True)
    row = {"t": time.time() - 60, "kind": "fail", "event": "pre-read", "cause": "no environment yet"}
    ledger.write_text((json.dumps(row) + "\n") * 2)
    ((status, text, mend),) = findings(tmp_path)["ledger"]
    assert (status, mend) == ("ok", "")
    assert text == "no hook failed in the last 7 days (2 rows; 2 calls passed before set-up was done)"
