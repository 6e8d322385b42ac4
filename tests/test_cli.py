"""The commands as a person types them: what they print, and their exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, environment
from slicegrep import ledger
from slicegrep.cli import main

CODE = """import os


class Cart:
    def add(self, item):
        self.items.append(item)


def total(cart):
    return sum(cart.items)
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "cart.py"
    path.write_text(CODE)
    return path


def test_map_lists_definitions_with_their_ranges(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a definition, nested by indentation."""
    assert main(["map", str(code)]) == 0
    assert capsys.readouterr().out == "4-6 class Cart\n 5-6 def add(self, item)\n9-10 def total(cart)\n"


def test_map_as_json(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts for programs."""
    assert main(["map", "--json", str(code)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["symbol"], r["start"], r["end"]) for r in rows] == [
        ("Cart", 4, 6),
        ("Cart.add", 5, 6),
        ("total", 9, 10),
    ]


def test_map_of_a_file_without_definitions_is_1(tmp_path: Path) -> None:
    """Nothing found is not an error."""
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    assert main(["map", str(path)]) == 1


def test_enclosing_names_the_innermost_definition(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Module level has none, and its line says so by staying empty."""
    assert main(["enclosing", f"{code}:6", f"{code}:1"]) == 0
    assert capsys.readouterr().out == f"{code}:6\tCart.add 5-6\n{code}:1\t\n"


@pytest.mark.parametrize(
    "words", [["map", "gone.py"], ["enclosing", "gone.py:1"], ["enclosing", "x.py"], ["enclosing", "x.py:0"]]
)
def test_a_mistake_is_2_with_one_line_on_standard_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says which file or location, and nothing is printed on standard output."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("slicegrep: ") and err.count("\n") == 1


def test_stats_adds_the_ledger_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text for people, JSON for programs, from the same rows."""
    monkeypatch.setenv("SLICEGREP_HOME", str(tmp_path))
    ledger.record(str(tmp_path), "read", session="s", project="/p", before=9000, after=1000, ms=[30, 4])
    ledger.record(str(tmp_path), "fail", event="pre-read", cause="ValueError at x.py:1")
    assert main(["stats"]) == 0
    text = capsys.readouterr().out
    assert "~8,000  saved   89%" in text and "/p" in text and "ValueError at x.py:1" in text
    assert main(["stats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["net"] == found["projects"]["/p"]["net"] == 8000
    assert found["fail_opens"] == {"pre-read: ValueError at x.py:1": 1}


def test_stats_of_an_empty_home_is_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was done yet."""
    monkeypatch.setenv("SLICEGREP_HOME", str(tmp_path / "none"))
    assert main(["stats"]) == 0
    assert capsys.readouterr().out == "Nothing is recorded yet.\n"
    assert not (tmp_path / "none").exists()


def test_stats_of_a_project_that_has_none_does_not_deny_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt name: what was asked for is said beside the nothing; an empty `--since` is a mistake, as any other."""
    monkeypatch.setenv("SLICEGREP_HOME", str(tmp_path))
    ledger.record(str(tmp_path), "fail", event="pre-read", cause="x", project="/p", session="s-1")
    assert main(["stats", "--project", "nosuch", "--session", "x"]) == 0
    told = "Nothing is recorded of the project nosuch of sessions whose id begins with x yet.\n"
    assert capsys.readouterr().out == told
    assert main(["stats", "--since", ""]) == 2
    assert "--since is a time like 36h" in capsys.readouterr().err


def test_enclosing_takes_columns_and_answers_the_good_locations(
    code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `rg --column` and compilers print; one bad location does not hide the others."""
    assert main(["enclosing", f"{code}:6:9", f"{code}:9999", f"{code}:10"]) == 2
    out, err = capsys.readouterr()
    assert out == f"{code}:6:9\tCart.add 5-6\n{code}:10\ttotal 9-10\n"
    assert err == f"slicegrep: {code}:9999: the file has 10 lines\n"


def test_a_reader_that_leaves_early_is_no_error(code: Path) -> None:
    """`slicegrep map x.py | head -1`."""
    code.write_text("\n".join(f"def f{n}(): return {n}" for n in range(20_000)))
    script = f"{sys.executable} -m slicegrep map {code} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "plugin"), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.stdout == "1-1 def f0()\n0\n"
    assert done.stderr == ""


def test_what_pip_installs_is_the_same_command(tmp_path: Path) -> None:
    """`slicegrep` and `fr` of pyproject.toml end with the command's own exit code."""
    project = (ROOT / "pyproject.toml").read_text()
    scripts = re.findall(r'^(?:slicegrep|fr) = "([\w.]+):(\w+)"$', project, re.MULTILINE)
    assert len(scripts) == 2
    for module, name in scripts:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                f"from {module} import {name}; {name}()",
                "map",
                str(tmp_path / "gone.py"),
            ],
            env=environment(tmp_path, PYTHONPATH=str(ROOT / "plugin")),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
