"""The commands as a person types them: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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
    assert "~8,000 tokens saved" in text and "/p" in text and "ValueError at x.py:1" in text
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
    assert "reads intercepted   0" in capsys.readouterr().out


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
    import subprocess
    import sys

    code.write_text("\n".join(f"def f{n}(): return {n}" for n in range(20_000)))
    root = Path(__file__).parents[1] / "plugin"
    script = f"{sys.executable} -m slicegrep map {code} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.stdout == "1-1 def f0()\n0\n"
    assert done.stderr == ""
