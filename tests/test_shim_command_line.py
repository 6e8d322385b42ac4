"""Which command lines of grep and rg print lines whose file and number are known: exactly these are held back to be named."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import slicegrep
from slicegrep.shim.command_line import plain_search

EACH = "each line names its file"

GREP = f"""
-n x a.py                       | a.py
-nH x a.py                      | {EACH}
-n -H -h x a.py                 | a.py
-nh x a.py                      | a.py
-nhH x a.py                     | {EACH}
-n x a.py b.py                  | {EACH}
-n x a.py missing.py            | {EACH}
-nh x a.py b.py                 |
-nh x a.py b.py -H              | {EACH}
-rn x                           | {EACH}
-rn x src                       | {EACH}
-Rn x src                       | {EACH}
-rn x a.py                      | a.py
-rnh x src                      |
-rnh x a.py                     | a.py
-n x src                        |
-n x src a.py                   | {EACH}
-n -d recurse x src             | {EACH}
-n -drecurse x src              | {EACH}
-n --directories=rec x src      | {EACH}
-n --directories=re x src       |
-rn -d skip x src               |
-n x missing.py                 |
-n x                            |
-n x -                          |
-n x a.py -                     |
-n x /dev/null                  |
-n                              |
                                |
-n -e x a.py                    | a.py
-n -e x                         |
-nex a.py                       | a.py
-ne x -e y a.py                 | a.py
-nf patterns a.py               | a.py
-n -f - a.py                    | a.py
-n --regexp=x a.py              | a.py
-n --regexp x a.py              | a.py
-n --rege x a.py                | a.py
-n --file patterns a.py         | a.py
--line-number x a.py            | a.py
--line-n x a.py                 | a.py
--line x a.py                   |
--no-such -n x a.py             |
-n --line-number=yes x a.py     |
x a.py -n                       | a.py
x -n a.py -i                    | a.py
-n -- x a.py                    | a.py
-n -- -x a.py                   | a.py
-n x -- a.py                    | a.py
-n x -- a.py -H                 | {EACH}
-- -n x a.py                    |
x a.py                          |
-e -n a.py                      |
-A -n x a.py                    |
-in5 x a.py                     | a.py
-n -5 x a.py                    | a.py
-n -A5 x a.py                   | a.py
-nA 5 x a.py                    | a.py
-n -m1 x a.py                   | a.py
-nv x a.py                      | a.py
-nP x a.py                      | a.py
-n --include=*.py -r x          | {EACH}
-n --include *.py -r x          | {EACH}
-rn --exclude-dir src x .       | {EACH}
-nl x a.py                      |
-nL x a.py                      |
-nc x a.py                      |
-no x a.py                      |
-nq x a.py                      |
-nz x a.py                      |
-nZ x a.py                      |
-nb x a.py                      |
-nT x a.py                      |
-n --count x a.py               |
-n --cou x a.py                 |
-n --only-matching x a.py       |
-n --files-with-matches x a.py  |
-n --null x a.py                |
-n --help                       |
-nV                             |
-n --color=always x a.py        |
-n --colour=always x a.py       |
-n --color x a.py               | a.py
-n --color=auto x a.py          | a.py
-n --color=never x a.py         | a.py
-n --color=always --color=never x a.py | a.py
-n -Y x a.py                    |
-n -A                           |
"""

RG = f"""
-n x a.py                       | a.py
-n x                            | {EACH}
-n x src                        | {EACH}
-n x a.py b.py                  | {EACH}
-nI x a.py b.py                 |
-nI x src                       |
-nI x a.py                      | a.py
-nH x a.py                      | {EACH}
x a.py                          |
-N x a.py                       |
-nN x a.py                      |
-N -n x a.py                    | a.py
-n --no-line-number x a.py      |
-n --line-n x a.py              |
-n x -                          |
-n x missing.py                 |
-n -f -                         |
-n -f - a.py                    | a.py
-n -g *.py x                    | {EACH}
-n -g=*.py x src                | {EACH}
-ng *.py x src                  | {EACH}
-ntpy x src                     | {EACH}
-n --sort path x src            | {EACH}
-n --sort=path x src            | {EACH}
-nuu x src                      | {EACH}
-nL x src                       | {EACH}
-n -. x src                     | {EACH}
-nU x src                       | {EACH}
-nC2 x src                      | {EACH}
-n --json x src                 |
-n --files                      |
-n0 x src                       |
-n --null x src                 |
-nl x src                       |
-nc x src                       |
-no x src                       |
-nq x src                       |
-nb x src                       |
-n --column x src               |
--vimgrep x src                 |
-p x src                        |
-n --heading x src              |
-n --heading --no-heading x src | {EACH}
-n --stats x src                |
-nr y x src                     |
-n --replace=y x src            |
-n --field-match-separator=; x src |
-n --color always x src         |
-n --color=ansi x src           |
-n --color=never x src          | {EACH}
-n --type-list                  |
-nV                             |
-n --hyperlink-format=vscode x src |
-n --no-such x src              |
x src -n                        | {EACH}
-n -- -x src                    | {EACH}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files and a folder, and an input that nothing can be read from."""
    for name in ("a.py", "b.py", "src/c.py", "patterns"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _read(name: str, words: list[str], *, terminal: bool = False, **environment: str) -> str:
    found = plain_search(name, words, environment, terminal=terminal)
    return "" if found is None else EACH if found.operand is None else found.operand


def _rows(table: str) -> list[tuple[str, str]]:
    return [tuple(cell.strip() for cell in row.rsplit("|", 1)) for row in table.strip("\n").splitlines()]  # type: ignore[misc]


@pytest.mark.usefixtures("folder")
def test_greps_command_lines() -> None:
    """Bundles, values, abbreviations, `--`, options behind operands: what each says of the lines."""
    wrong = {text: _read("grep", shlex.split(text)) for text, _ in _rows(GREP)}
    assert wrong == dict(_rows(GREP))


_PROCESS = f"""
import json, sys
sys.path.insert(0, {os.path.dirname(os.path.dirname(slicegrep.__file__))!r})
from slicegrep.shim.command_line import plain_search
for words in json.loads(sys.argv[1]):
    found = plain_search("rg", words, {{}}, terminal=False)
    print("" if found is None else {EACH!r} if found.operand is None else found.operand)
"""


def _read_by_rg(lines: list[str], **given: Any) -> list[str]:
    """Ask in a process whose standard input is what is given: rg looks at it."""
    words = json.dumps([shlex.split(line) for line in lines])
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, words], stdout=subprocess.PIPE, text=True, check=True, **given
    )
    return done.stdout.splitlines()


@pytest.mark.usefixtures("folder")
def test_rgs_command_lines() -> None:
    """Those of rg, with nothing on standard input."""
    lines = [text for text, _ in _rows(RG)]
    assert dict(zip(lines, _read_by_rg(lines, stdin=subprocess.DEVNULL), strict=True)) == dict(_rows(RG))


@pytest.mark.usefixtures("folder")
def test_rg_without_a_path_reads_what_is_piped_in() -> None:
    """A pipe or a file on standard input is searched instead of the folder."""
    assert _read_by_rg(["-n x", "-n x src"], input="x") == ["", EACH]
    with open("a.py", "rb") as file:
        assert _read_by_rg(["-n x", "-n x src"], stdin=file) == ["", EACH]


@pytest.mark.usefixtures("folder")
def test_posix_order_ends_the_options_at_the_first_operand() -> None:
    """With POSIXLY_CORRECT grep takes `-n` behind the pattern for a file."""
    assert _read("grep", ["x", "a.py", "-n"], POSIXLY_CORRECT="1") == ""
    assert _read("grep", ["-n", "x", "a.py", "-H"], POSIXLY_CORRECT="1") == EACH  # two files
    assert _read("rg", ["x", "a.py", "-n"], POSIXLY_CORRECT="1") == "a.py"


@pytest.mark.usefixtures("folder")
def test_options_from_the_environment_leave_the_tool_alone() -> None:
    """BSD's grep, and old GNU ones, take options from GREP_OPTIONS, of whatever kind."""
    assert _read("grep", ["-n", "x", "a.py"], GREP_OPTIONS="-c") == ""


@pytest.mark.usefixtures("folder")
def test_rgs_configuration_file_counts() -> None:
    """Its lines come before the words; comments, blank lines and --no-config are what they are to rg."""
    settings = Path("rgrc")
    for lines, words, meant in (
        ("-n\n", "x a.py", "a.py"),
        ("# a comment\n\n  --line-number  \n", "x a.py", "a.py"),
        ("--heading\n", "-n x a.py", ""),
        ("--no-line-number\n", "-n x a.py", "a.py"),
        ("--json\n", "-n x a.py", ""),
        ("--glob\n*.py\n", "-n x a.py", "a.py"),
        ("--json\n", "--no-config -n x a.py", "a.py"),
    ):
        settings.write_text(lines, "utf-8")
        assert _read("rg", words.split(), RIPGREP_CONFIG_PATH="rgrc") == meant, lines
    assert _read("rg", ["-n", "x", "a.py"], RIPGREP_CONFIG_PATH="nowhere") == "a.py"
    os.mkfifo("pipe")
    assert _read("rg", ["-n", "x", "a.py"], RIPGREP_CONFIG_PATH="pipe") == ""


@pytest.mark.usefixtures("folder")
def test_on_a_terminal_colours_and_headings_are_left_alone() -> None:
    """There grep is plain unless it is told otherwise; rg only when it is told so twice."""
    for name, words, meant in (
        ("grep", "-n x a.py", "a.py"),
        ("grep", "-n --color x a.py", ""),
        ("grep", "-n --color=auto x a.py", ""),
        ("grep", "-n --color=never x a.py", "a.py"),
        ("rg", "-n x a.py", ""),
        ("rg", "-n --color=never x a.py", ""),
        ("rg", "-n --no-heading x a.py", ""),
        ("rg", "-n --no-heading --color never x a.py", "a.py"),
        ("rg", "--no-heading --color never x a.py", ""),
    ):
        assert _read(name, words.split(), terminal=True) == meant, words


@pytest.mark.usefixtures("folder")
def test_what_is_no_file_and_no_folder_is_standard_input_by_another_name() -> None:
    """`<(...)` and FIFOs can be read once: the tool has them to itself."""
    os.mkfifo("pipe.py")
    assert _read("grep", ["-n", "x", "pipe.py"]) == ""
    assert _read("grep", ["-n", "x", "a\0b"]) == ""


def test_the_folder_is_where_the_first_thing_searched_lies(folder: Path) -> None:
    """From there the workspace, and its index, is looked for."""
    places = {}
    for words in ("-n x a.py", "-n x src/c.py a.py", "-rn x src", "-rn x", f"-rn x {folder}/src"):
        found = plain_search("grep", words.split(), {}, terminal=False)
        assert found is not None
        places[words] = found.folder
    assert list(places.values()) == [".", "src", "src", ".", f"{folder}/src"]
