"""rg is found, and answers the same whatever the person's own settings are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from odd_folder import PLUGIN
from slicegrep.ripgrep import complaints, program, run_rg


def test_the_environments_own_rg_is_taken(tmp_path: Path) -> None:
    """A hook runs the system's interpreter with the environment's packages on its path: rg lies beside those, not on PATH."""
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    scripts = tmp_path / "env" / "bin"
    scripts.mkdir()
    (scripts / "rg").write_text("#!/bin/sh\n")
    (scripts / "rg").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    code = f"import sys; sys.path[:0] = [{PLUGIN!r}, {str(site)!r}]\nfrom slicegrep.ripgrep import program\nprint(program())"
    done = subprocess.run(
        [tmp_path / "bin" / "python", "-I", "-S", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": ""},
    )
    assert done.stdout.strip() == str(scripts / "rg")


def test_no_configuration_and_no_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RIPGREP_CONFIG_PATH of the person's does not change what a search answers."""
    (tmp_path / "rgrc").write_text("--color=always\n--heading\n--max-count=1\n")
    (tmp_path / "a.txt").write_text("needle\nneedle\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rgrc"))
    answer = run_rg(["--no-heading", "needle", "a.txt"], str(tmp_path))
    assert answer is not None
    assert (answer.code, answer.output) == (0, b"needle\nneedle\n")


def test_the_input_is_what_is_given(tmp_path: Path) -> None:
    """A list of patterns goes in by standard input; without one it is empty, never the terminal's."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    answer = run_rg(["--file=-", "a.txt"], str(tmp_path), given=b"one\nthree\n")
    assert answer is not None
    assert answer.output == b"one\nthree\n"
    nothing = run_rg(["--file=-", "a.txt"], str(tmp_path))
    assert nothing is not None
    assert (nothing.code, nothing.output) == (1, b"")


def test_a_run_that_takes_too_long_is_no_answer(tmp_path: Path) -> None:
    """A dead network folder does not hold a search for ever."""
    os.mkfifo(tmp_path / "pipe")
    assert run_rg(["needle", "pipe"], str(tmp_path), seconds=0.2) is None


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """It is told from a missing rg."""
    with pytest.raises(FileNotFoundError):
        run_rg(["--files"], str(tmp_path / "missing"))


def test_complaints_name_what_could_not_be_read(tmp_path: Path) -> None:
    """From rg's real standard error."""
    (tmp_path / "gone\nname").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    answer = run_rg(["--files", "--follow", "--sort=path"], str(tmp_path))
    assert answer is not None
    assert answer.code == 2
    assert complaints(answer.errors) == [
        ("gone\nname", "No such file or directory"),
        ("loop", "Symbolic link loop"),
    ]
    assert complaints("") == []


def test_complaints_of_older_releases_are_read_too(tmp_path: Path) -> None:
    """Debian's rg 13, where it is the one on PATH, prints them without its name before them."""
    (tmp_path / "gone\nname").symlink_to("nowhere")
    (tmp_path / "other").symlink_to("nowhere")
    words = ["/usr/bin/rg", "--files", "--follow", "--sort=path"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert complaints(done.stderr) == [
        ("gone\nname", "No such file or directory"),
        ("other", "No such file or directory"),
    ]


def test_rg_is_among_what_the_tests_need() -> None:
    """Without it the walk's tests would compare the fallback with itself."""
    assert program() is not None
