"""Byte code below the home folder that was cut off on a full disk: one call at most is none, and it is made anew."""

from __future__ import annotations

import json
import marshal
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from launcher_stand import REPOSITORY, SESSION, line, payload_of
from slicegrep.bytecode import mend

KEY = (REPOSITORY / "plugin" / "requirements.key").read_text("utf-8").strip()
SITE = next(path for path in sys.path if path.endswith("site-packages"))
SHORT = 4_096
"""Bytes after which the system ends a write, so that it comes up short."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home folder of which the environment is this interpreter."""
    ready = tmp_path / "home" / "env" / KEY / ".ready"
    ready.parent.mkdir(parents=True)
    ready.write_text(f"{sys.executable}\n{SITE}\n", "utf-8")
    return tmp_path / "home"


def run(words: list[str], home: Path, given: bytes = b"", *, limit: int = 0) -> tuple[int, bytes, bytes]:
    """Run a program with that home folder; `limit` is of the size of files that it writes, in bytes."""

    def limited() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        words,
        input=given,
        capture_output=True,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "SLICEGREP_HOME": str(home),
            "SLICEGREP_RESIDENT": "off",
        },
        cwd=home.parent,
        preexec_fn=limited,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def search(home: Path, *, limit: int = 0) -> str:
    """Run the hook behind a grep that found one line; returns the output that it answers, "" for none."""
    source = home.parent / "one.py"
    source.write_text("def one():\n    return needle\n", "utf-8")
    shown = {"stdout": "2:    return needle", "stderr": "", "interrupted": False, "isImage": False}
    payload = payload_of("PostToolUse", "Bash", {"command": "grep -n needle one.py"}, shown)
    payload |= {"cwd": str(home.parent), "session_id": SESSION}
    words = ["sh", str(REPOSITORY / "hooks" / "slicegrep-hook"), "post-search", str(REPOSITORY)]
    status, out, error = run(words, home, line(payload), limit=limit)
    assert (status, error) == (0, b"")
    return str(json.loads(out)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]) if out else ""


def command(home: Path, *, limit: int = 0) -> tuple[int, bytes, bytes]:
    """Run `slicegrep enclosing` on a line."""
    source = home.parent / "one.py"
    source.write_text("def one():\n    return needle\n", "utf-8")
    program = str(REPOSITORY / "bin" / "slicegrep")
    return run(["sh", program, "enclosing", f"{source}:2"], home, limit=limit)


def cut(home: Path, name: str) -> int:
    """Cut the byte code of a module off; returns how many files that were."""
    found = list((home / "pyc").rglob(f"{name}.*.pyc"))
    for path in found:
        path.write_bytes(path.read_bytes()[:-40])
    return len(found)


NAMED = "2:    return needle ⟵ one 1-2"


@pytest.mark.parametrize(
    "module", ["home", "settings", "resident/ask", "annotate", "outline/build", "json/decoder"]
)
def test_a_hook_is_mended_by_the_call_that_meets_it(home: Path, module: str) -> None:
    """Ours or a library's: that call passes, the next one is answered."""
    assert search(home) == NAMED
    assert cut(home, module)
    search(home)
    assert search(home) == NAMED


def test_the_ledger_tells_of_it(home: Path) -> None:
    """`slicegrep stats` counts the call that passed."""
    search(home)
    cut(home, "annotate")
    assert search(home) == ""
    (file,) = (home / "ledger").iterdir()
    assert '"cause":"EOFError' in file.read_text("utf-8")


def test_a_hook_starts_after_a_full_disk(home: Path) -> None:
    """What the interpreter loads to start with is not kept there: of that, no process would be left to mend it."""
    search(home, limit=SHORT)
    search(home)
    assert search(home) == NAMED


@pytest.mark.parametrize("module", ["cli", "bytecode", "commands/parser", "commands/places", "outline/build"])
def test_a_command_is_mended_by_the_one_that_meets_it(home: Path, module: str) -> None:
    """It says so in one line, and the next one works."""
    whole = command(home)
    assert whole[0] == 0
    assert cut(home, module)
    status, out, error = command(home)
    assert (status, out, error.count(b"\n")) == (2, b"", 1)
    assert b"run it again" in error
    assert command(home) == whole


def test_a_command_starts_after_a_full_disk(home: Path) -> None:
    """As the hook does."""
    command(home, limit=SHORT)
    command(home)
    status, out, error = command(home)
    assert (status, error) == (0, b""), out


def test_wherever_it_was_cut_it_is_known(tmp_path: Path) -> None:
    """What Python says of it depends on the place: also "EOF read where object expected"."""
    code = marshal.dumps(
        compile((REPOSITORY / "plugin/slicegrep/hook/cold.py").read_text(), "cold.py", "exec")
    )
    said = set()
    for end in range(len(code)):
        with pytest.raises((EOFError, ValueError, TypeError)) as failure:
            marshal.loads(code[:end])
        said.add(str(failure.value))
        assert mend(failure.value, str(tmp_path)), said
    assert len(said) > 1
    assert not mend(ValueError("not of byte code"), str(tmp_path))
