"""What a person sees on a terminal: colour, a pager, progress, and no control character of a file obeyed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, Shown, command, environment, on_terminal, run

ESCAPE = "\x1b"
CODE = 'def greet(name):\n    """Say it."""\n    return f"hello {name}"  # politely\n'


@pytest.fixture
def code(tmp_path: Path) -> str:
    """Write a small source file; returns its path."""
    path = tmp_path / "hello.py"
    path.write_text(CODE)
    return str(path)


def bare(text: str) -> str:
    """Return a text without its colour."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_a_terminal_shows_the_same_text_in_colour(code: str, tmp_path: Path) -> None:
    """Without its colour it is what a pipe gets, character by character."""
    _, plain, _ = run(tmp_path, code, "def greet")
    status, shown = on_terminal(tmp_path, code, "def greet")
    assert status == 0
    assert bare(shown) == plain != shown


def test_code_is_highlighted_in_its_language(code: str, tmp_path: Path) -> None:
    """A keyword, a string and a comment each have a colour of their own."""
    _, shown = on_terminal(tmp_path, code, "def greet")
    colours = [re.search(rf"\x1b\[([\d;]+)m{part}", shown) for part in ("return", "hello", "# politely")]
    assert None not in colours
    assert len({found[1] for found in colours if found}) == 3


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
        (["--color", "never"], {}),
        (["--json"], {}),
    ],
)
def test_colour_can_be_declined(
    code: str, tmp_path: Path, options: list[str], variables: dict[str, str]
) -> None:
    """By the variable, by the terminal, by the option; JSON has none."""
    status, shown = on_terminal(tmp_path, code, "def greet", *options, **variables)
    assert status == 0
    assert ESCAPE not in shown


def test_colour_can_be_asked_for(code: str, tmp_path: Path) -> None:
    """Also in a pipe, and against NO_COLOR: the option is nearer."""
    _, plain, _ = run(tmp_path, code, "def greet")
    _, out, _ = run(tmp_path, code, "def greet", "--color", "always", NO_COLOR="1")
    assert bare(out) == plain != out


def test_a_terminal_obeys_no_control_character_of_a_file(tmp_path: Path) -> None:
    """They are shown; tabs stay, and a pipe gets the bytes as they are."""
    path = tmp_path / "evil.py"
    path.write_text("\tgreet = '\x1b]0;title\x07\x9b2J\rx'\n", newline="")
    for options in (["--color", "never"], ["--color", "always"]):
        _, shown = on_terminal(tmp_path, str(path), "greet =", *options)
        assert "\tgreet = '^[]0;title^G<9B>2J^Mx'" in bare(shown)
    assert "\x1b]0;title\x07\x9b2J\rx" in run(tmp_path, str(path), "greet =")[1]


def pager(folder: Path) -> str:
    """Write a pager that says that it ran."""
    path = folder / "my pager"
    path.write_text('#!/bin/sh\necho "paged $*"\ncat\n')
    path.chmod(0o755)
    return f"'{path}' -x"


def long(folder: Path) -> str:
    """Write a file whose slice is longer than a screen of 20 lines; returns its path."""
    path = folder / "long.py"
    path.write_text("def greet():\n" + "".join(f"    step_{n}()\n" for n in range(30)))
    return str(path)


def test_what_is_longer_than_the_screen_is_paged(tmp_path: Path) -> None:
    """By SLICEGREP_PAGER, else PAGER, with its arguments."""
    chosen = {"SLICEGREP_PAGER": pager(tmp_path), "PAGER": "false"}
    for variables in (chosen, {"PAGER": pager(tmp_path)}):
        status, shown = on_terminal(tmp_path, long(tmp_path), "def greet", lines=20, **variables)
        assert status == 0
        assert shown.startswith("paged -x\n")
        assert "step_29()" in bare(shown)


def test_lines_that_wrap_count_as_several(tmp_path: Path) -> None:
    """A narrow terminal is full sooner."""
    path = tmp_path / "wide.py"
    path.write_text("greet = [" + "'x', " * 100 + "]\n")
    for columns, paged in ((20, True), (2000, False)):
        _, shown = on_terminal(
            tmp_path, str(path), "greet =", lines=20, columns=columns, PAGER=pager(tmp_path)
        )
        assert shown.startswith("paged") is paged


@pytest.mark.parametrize(
    ("options", "variables", "lines"),
    [
        ([], {}, 200),
        (["--no-pager"], {}, 20),
        ([], {"TERM": "dumb"}, 20),
        ([], {"SLICEGREP_PAGER": ""}, 20),
        ([], {"SLICEGREP_PAGER": "/nowhere/pager"}, 20),
        ([], {"SLICEGREP_PAGER": "'"}, 20),
        (["--json"], {}, 20),
    ],
)
def test_and_else_it_is_printed(
    tmp_path: Path, options: list[str], variables: dict[str, str], lines: int
) -> None:
    """What fits, what is not to be paged, and where the pager cannot be started."""
    variables = {"PAGER": pager(tmp_path), **variables}
    status, shown = on_terminal(tmp_path, long(tmp_path), "def greet", *options, lines=lines, **variables)
    assert status == 0
    assert "paged" not in shown and "step_29()" in bare(shown)


def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path) -> None:
    """`q` at the first screen of something large."""
    path = tmp_path / "large.py"
    path.write_text("".join(f"greet_{n} = {'x' * 40}\n" for n in range(2_000)))
    status, shown = on_terminal(tmp_path, str(path), "greet_", "--budget", "100000", PAGER="head -1")
    assert status == 0
    assert shown.count("\n") == 1


def test_an_interrupt_is_the_pagers(tmp_path: Path) -> None:
    """Ctrl-C while paging ends nothing of ours: the terminal is the pager's until it leaves."""
    path = tmp_path / "patient"
    path.write_text(
        "#!/bin/sh\ntrap 'echo caught' INT\necho ready\nread line </dev/tty\necho \"got $line\"\n"
    )
    path.chmod(0o755)
    shown = Shown(
        ["setsid", "--ctty", "--wait", *command(long(tmp_path), "def greet")],
        environment(tmp_path, TERM="xterm", PAGER=str(path)),
        columns=80,
        lines=20,
    )
    shown.until(b"ready")
    shown.type(b"\x03")
    shown.until(b"caught")
    shown.type(b"on\n")
    status, text = shown.end()
    assert status == 0
    assert "Traceback" not in text


SLOW = """
import time
from slicegrep.terminal import progress
with progress("indexing file") as report:
    report(1, 2000)
    time.sleep(0.8)
    report(1500, 2000)
    report(1501, 2000)
print("done")
"""


def test_long_work_is_spoken_of_on_a_terminal_and_the_line_goes_away(tmp_path: Path) -> None:
    """Not in the first 0.7 seconds, and not more often than one can read."""
    variables = environment(tmp_path, PYTHONPATH=str(ROOT / "plugin"))
    status, shown = Shown([sys.executable, "-c", SLOW], variables, columns=80, lines=20).end()
    assert (status, shown) == (0, "\r\x1b[Kslicegrep: indexing file 1,500 of 2,000\r\x1b[Kdone\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ("0.8", ""),
        ("2.1", "slicegrep: indexing file 1,500 of 2,000; the next time only what has changed\n"),
    ],
)
def test_work_that_takes_over_two_seconds_is_spoken_of_once_in_a_pipe(
    tmp_path: Path, seconds: str, said: str
) -> None:
    """One line on standard error, so that an agent knows what it waits for, and that it will not again."""
    variables = environment(tmp_path, PYTHONPATH=str(ROOT / "plugin"))
    slow = SLOW.replace("sleep(0.8)", f"sleep({seconds})")
    done = subprocess.run(
        [sys.executable, "-c", slow], env=variables, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("done\n", said)
