"""Search output gets a suffix on the lines that a file really holds, and on no other; all else stays as it was."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_scopes import suffix_of
from slicegrep.annotate import Annotated, annotate
from slicegrep.outline import enclosing, outline
from slicegrep.shown import utf16_units
from slicegrep.types import Source, Symbol

CORE = """\
import os

class Store:
    limit = 3

    def fetch(self, key):
        when = "2026-01-02 10:20:30"
        return os.environ[key]  # a:3:b

def free():
    return lambda: Store
"""


def around(batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
    """Return the enclosing definitions by the project's one routine."""
    return [[enclosing(outline(source), line) for line in lines] for source, lines in batch]


def run(
    text: str,
    *roots: Path,
    operands: Sequence[str] | None = None,
    max_length: int = 29_000,
    limit: int = 1_000,
    **more: bool,
) -> Annotated:
    """Annotate with plenty of time."""
    return annotate(
        text,
        roots=[str(root) for root in roots],
        operands=operands,
        definitions_of=around,
        max_length=max_length,
        max_bytes=5_000_000,
        limit=limit,
        deadline=time.monotonic() + 60,
        **more,
    )


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """Write `core.py`; returns its folder."""
    write(tmp_path / "core.py", CORE)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "suffix"),
    [
        ("core.py:4:    limit = 3", " ⟵ Store 3-8"),
        ("core.py:6:    def fetch(self, key):", " ⟵ Store.fetch 6-8"),
        ("core.py:8:        return os.environ[key]  # a:3:b", " ⟵ Store.fetch 6-8"),
        ("core.py:11:    return lambda: Store", " ⟵ free 10-11"),
        ("core.py:1:import os", ""),
        ("./core.py:4:    limit = 3", " ⟵ Store 3-8"),
        (".//core.py:4:    limit = 3", " ⟵ Store 3-8"),
        ("core.py:8:16:        return os.environ[key]  # a:3:b", " ⟵ Store.fetch 6-8"),
        ("core.py:4:    limit = 3\r", " ⟵ Store 3-8"),
        ("core.py-4-    limit = 3", ""),
        ("core.py=3=class Store:", ""),
        ("core.py:4:    limit = 4", ""),
        ("core.py:4:    limit = ", ""),
        ("core.py:4:    limit = 3 ", ""),
        ("core.py:4:limit = 3", ""),
        ("core.py:5:    limit = 3", ""),
        ("core.py:0:    limit = 3", ""),
        ("core.py:99:    limit = 3", ""),
        ("core.py:999999999999999:    limit = 3", ""),
        ("core.py:-4:    limit = 3", ""),
        ("core.py: 4:    limit = 3", ""),
        ("core.py:4    limit = 3", ""),
        ("other.py:4:    limit = 3", ""),
        ("4:    limit = 3", ""),
        (":4:    limit = 3", ""),
        ("core.py:4:\x1b[31m    limit = 3", ""),
        ("\x1b[35mcore.py\x1b[m:4:    limit = 3", ""),
        ("Binary file core.py matches", ""),
        ("--", ""),
        ("", ""),
        ("core.py", ""),
        ("core.py:4:[Omitted long matching line]", ""),
    ],
)
def test_each_shape_of_a_line(core: Path, line: str, suffix: str) -> None:
    """lean-ctx#1648, headroom#3545, rtk#1613: match lines of a real file's real text, nothing else."""
    done = run(line, core)
    assert done.text == line + suffix
    assert done.annotated == bool(suffix)


@pytest.mark.parametrize(
    "name",
    [
        "with space/a b.py", "2024-01-02/10:20:30.py", "a:3:b.py", "a:3:core.py", "C:\\work\\x.py", "-4-core.py", "core.py-4-x.py", "ünï/çödé.py",
        "x.py:1:y.py", "[a]/(b).py", "tab\there.py", "a'b\".py", "..py/x.py",
    ],
)  # fmt: skip
def test_paths_with_anything_in_them(tmp_path: Path, name: str) -> None:
    """rtk#1613, qwen-code#5370, headroom#2084: colons, spaces, dates and drives in the path; verified, so never misread."""
    write(tmp_path / name, CORE)
    write(tmp_path / "a", "no code\n")
    for path in (name, f"./{name}", str(tmp_path / name)):
        line = f"{path}:8:        return os.environ[key]  # a:3:b"
        assert run(line, tmp_path).text == f"{line} ⟵ Store.fetch 6-8"


def test_two_meanings_that_both_hold(tmp_path: Path) -> None:
    """`a:2:b:2:c` is line 2 of one file or of another: where both hold it and disagree, nothing is claimed."""
    write(tmp_path / "a.py", "def one():\n    return b.py:2:    return c\n")
    write(tmp_path / "a.py:2:    return b.py", "def two():\n    return c\n")
    line = "a.py:2:    return b.py:2:    return c"
    assert run(line, tmp_path).text == line
    (tmp_path / "a.py:2:    return b.py").unlink()
    assert run(line, tmp_path).text == f"{line} ⟵ one 1-2"


def test_roots_that_disagree(tmp_path: Path) -> None:
    """A name that two roots have, with the same text in different definitions, is left alone."""
    write(tmp_path / "p/a.py", "def one():\n    x = 1\n    y = 2\n")
    write(tmp_path / "q/a.py", "def two():\n    x = 1\n    y = 3\n")
    text = "a.py:2:    x = 1\na.py:3:    y = 3"
    assert run(text, tmp_path / "p", tmp_path / "q").text == "a.py:2:    x = 1\na.py:3:    y = 3 ⟵ two 1-3"


def test_roots_of_which_one_says_module_level(tmp_path: Path) -> None:
    """Inside a definition in one root, outside of any in the other: left alone, in either order."""
    write(tmp_path / "p/a.py", "if x:\n    x = 1\n")
    write(tmp_path / "q/a.py", "def two():\n    x = 1\n")
    for roots in ((tmp_path / "p", tmp_path / "q"), (tmp_path / "q", tmp_path / "p")):
        assert run("a.py:2:    x = 1", *roots).text == "a.py:2:    x = 1"


def test_bare_lines_are_of_the_operand(core: Path) -> None:
    """`12:text` when exactly one file was searched; without an operand such a line is of no file."""
    text = "4:    limit = 3\n5-\n--\n8:        return os.environ[key]  # a:3:b\n4:    limit = 4"
    wanted = "4:    limit = 3 ⟵ Store 3-8\n5-\n--\n8:        return os.environ[key]  # a:3:b ⟵ Store.fetch 6-8\n4:    limit = 4"
    assert run(text, core, operands=["core.py"]).text == wanted
    assert run(text, core, operands=[str(core / "core.py")]).text == wanted
    assert run(text, core).text == text


def test_bare_lines_of_two_operands(core: Path) -> None:
    """Two searches of one file each: a line is of the one that holds it, of neither when both do and disagree."""
    write(core / "b.py", "def b():\n    x = 1\n\n    limit = 3\n")
    text = "2:    x = 1\n4:    limit = 3\n6:    def fetch(self, key):"
    wanted = "2:    x = 1 ⟵ b 1-4\n4:    limit = 3\n6:    def fetch(self, key): ⟵ Store.fetch 6-8"
    assert run(text, core, operands=["core.py", "b.py"]).text == wanted


def test_columns_of_bare_lines_only_where_the_command_prints_them(core: Path) -> None:
    """`8:9:text` is line 8, column 9 of `rg --column`; of a second `grep -n` it would be line 9 of the other's output."""
    text = "4:5:    limit = 3"
    assert run(text, core, operands=["core.py"], columns=True).text == f"{text} ⟵ Store 3-8"
    assert run(text, core, operands=["core.py"]).text == text


def test_headings(core: Path) -> None:
    """Ripgrep's heading style: a path on its own line, then `line:text`; a blank line or other text ends it."""
    write(core / "2024-01-02/b.py", "def b():\n    limit = 3\n")
    text = (
        "core.py\n4:    limit = 3\n5-\n\n2024-01-02/b.py\n1:def b():\n2:    limit = 3\nnoise\n2:    limit = 3"
    )
    wanted = "core.py\n4:    limit = 3 ⟵ Store 3-8\n5-\n\n2024-01-02/b.py\n1:def b(): ⟵ b 1-2\n2:    limit = 3 ⟵ b 1-2\nnoise\n2:    limit = 3"
    assert run(text, core, headings=True).text == wanted
    assert run(text, core).text == text


def test_the_hit_s_own_bytes_decide(tmp_path: Path) -> None:
    """rtk#4113, serena#2017, rtk#4065: Latin-1 arrives as U+FFFD, UTF-16 decoded by rg, a BOM before line 1, CRLF with its CR."""
    write(tmp_path / "latin.py", "def f():\n    x = 'é'\n".encode("latin-1"))
    write(tmp_path / "wide.py", "\ufeffdef f():\n    x = 'é'\n".encode("utf-16-le"))
    write(tmp_path / "bom.py", "\ufeffdef f():\r\n    x = 'é'\r\n")
    lines = {
        "latin.py:2:    x = '\ufffd'": " ⟵ f 1-2",
        "latin.py:2:    x = 'é'": "",
        "wide.py:2:    x = 'é'": " ⟵ f 1-2",
        "bom.py:1:\ufeffdef f():\r": " ⟵ f 1-2",
        "bom.py:1:def f():": " ⟵ f 1-2",
        "bom.py:2:    x = 'é'\r": " ⟵ f 1-2",
        "bom.py:2:\ufeff    x = 'é'": "",
    }
    assert run("\n".join(lines), tmp_path).text == "\n".join(line + suffix for line, suffix in lines.items())


@pytest.mark.parametrize(
    "name",
    [
        b"a.py",
        b"l\xe9a.py",
        b"\xff\xfe/b.py",
        b"\xe2\x82.py",
        "é\udcff.py".encode("utf-8", "surrogateescape"),
    ],
)
def test_bytes_that_are_no_utf8_come_back_as_they_were(tmp_path: Path, name: bytes) -> None:
    """rtk#4113, serena#2017: with surrogateescape text and names survive byte by byte, and still verify."""
    file = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as made:
        made.write(b"def f():\n    x = '\xe9\xff \xe2\x82 \xf0\x9f'\n    y = '\xc3\xa9'\n")
    hits = [name + b":2:    x = '\xe9\xff \xe2\x82 \xf0\x9f'", name + b":3:    y = '\xc3\xa9'"]
    other = name + b":2:    x = '\xe9\xff \xe2\x82 '"
    output = b"\n".join([*hits, other, b"\xff\xfe:1:", b""])
    wanted = b"\n".join([hit + " ⟵ f 1-3".encode() for hit in hits] + [other, b"\xff\xfe:1:", b""])
    done = run(output.decode("utf-8", "surrogateescape"), tmp_path)
    assert done.text.encode("utf-8", "surrogateescape") == wanted
    assert {row.file for row in done.rows} == {os.fsdecode(file)}


def test_names_without_ranges(core: Path) -> None:
    """What the shim prints: the name alone, however much room there is."""
    text = "core.py:4:    limit = 3\ncore.py:6:    def fetch(self, key):"
    wanted = "core.py:4:    limit = 3 ⟵ Store\ncore.py:6:    def fetch(self, key): ⟵ Store.fetch"
    done = run(text, core, ranges=False)
    assert (done.text, done.hits, done.annotated) == (wanted, 2, 2)


def test_one_lookup_serves_all_files(core: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One look into an index, one call of a server; only where the sources would fill the memory are there several."""
    for name in "abcd":
        write(core / f"{name}.py", CORE)
    text = "\n".join(f"{name}.py:{line}" for name in "abcd" for line in ("4:    limit = 3", "1:import os"))
    wanted = text.replace("limit = 3", "limit = 3 ⟵ Store 3-8")
    for most, sizes in ((32_000_000, [4]), (2 * len(CORE) - 1, [2, 2])):
        monkeypatch.setattr("slicegrep.annotate._BATCH_BYTES", most)
        asked: list[int] = []

        def lookup(batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
            asked.append(len(batch))  # noqa: B023 (called in this round)
            return around(batch)

        done = annotate(
            text, roots=[str(core)], operands=None, definitions_of=lookup, max_length=29_000, max_bytes=5_000_000,
            deadline=time.monotonic() + 60,
        )  # fmt: skip
        assert (done.text, asked) == (wanted, sizes)


@pytest.mark.parametrize("name", ["notes.txt", "README.md", "data.json", "core.py.orig"])
def test_only_source_code(tmp_path: Path, name: str) -> None:
    """A hit in a file of another kind stays as it is."""
    write(tmp_path / name, CORE)
    line = f"{name}:8:        return os.environ[key]  # a:3:b"
    assert run(line, tmp_path).text == line


def test_odd_files(core: Path) -> None:
    """A directory, a FIFO, a dangling link and an over-large file are no reason to wait or to fail."""
    (core / "dir.py").mkdir()
    os.mkfifo(core / "pipe.py")
    (core / "gone.py").symlink_to(core / "nowhere.py")
    write(core / "large.py", "def f():\n    x = 1\n" + "#" * 5_000_001)
    text = "\n".join(
        f"{name}:2:    x = 1" for name in ("dir.py", "pipe.py", "gone.py", "large.py", "a\0b.py", "\ud800.py")
    )
    assert run(text, core).text == text


def test_other_languages(tmp_path: Path) -> None:
    """The one routine of the outline names methods, out-of-line definitions and functions in their languages' way."""
    write(tmp_path / "a.go", "package a\n\nfunc (s *Store) Get() int {\n\treturn 1\n}\n")
    write(tmp_path / "a.cpp", "int Store::get() {\n  return 1;\n}\n")
    write(tmp_path / "a.ts", "class Store {\n  get(): number {\n    return 1;\n  }\n}\n")
    text = "a.go:4:\treturn 1\na.cpp:2:  return 1;\na.ts:3:    return 1;"
    done = run(text, tmp_path)
    assert [row.symbol.qualified.replace("::", ".") for row in done.rows] == [
        "Store.Get",
        "Store.get",
        "Store.get",
    ]
    assert [(row.symbol.start, row.symbol.end) for row in done.rows] == [(3, 5), (1, 3), (2, 4)]


def test_the_whole_stays_below_the_limit(core: Path) -> None:
    """Names with ranges while all fit, then names alone, then the first names only, then nothing."""
    line = "core.py:8:        return os.environ[key]  # a:3:b"
    text = "\n".join([line] * 10)
    full, short = f"{line} ⟵ Store.fetch 6-8", f"{line} ⟵ Store.fetch"
    long = utf16_units("\n".join([full] * 10))
    assert run(text, core, max_length=long + 1).text == "\n".join([full] * 10)
    assert run(text, core, max_length=long).text == "\n".join([short] * 10)
    names = utf16_units("\n".join([short] * 10))
    assert run(text, core, max_length=names + 1).text == "\n".join([short] * 10)
    assert run(text, core, max_length=names).text == "\n".join([short] * 9 + [line])
    assert run(text, core, max_length=utf16_units(text) + 20).text == "\n".join([short] + [line] * 9)
    assert run(text, core, max_length=utf16_units(text) + 13).text == text
    assert run(text, core, max_length=10).text == text


def test_names_stop_where_the_room_ends(tmp_path: Path) -> None:
    """What has a name and what has none is told apart by one place in the output, not line by line."""
    write(tmp_path / "a.py", "def a_long_name():\n    x = 1\ndef b():\n    y = 1\n")
    text = "a.py:4:    y = 1\na.py:2:    x = 1\na.py:4:    y = 1"
    wanted = "a.py:4:    y = 1 ⟵ b\na.py:2:    x = 1\na.py:4:    y = 1"
    assert run(text, tmp_path, max_length=len(text) + 11).text == wanted


def test_a_line_with_escape_codes_of_its_own(tmp_path: Path) -> None:
    """Colours that the tool added make a line no file's text; escape codes that stand in the file do not."""
    write(tmp_path / "a.py", "def a():\n    x = '\x1b[0m'\n")
    line = "a.py:2:    x = '\x1b[0m'"
    assert run(line, tmp_path).text == f"{line} ⟵ a 1-2"


def test_the_limit_counts_utf16_units(tmp_path: Path) -> None:
    """As the client does: a letter outside of the basic plane counts two."""
    write(tmp_path / "a.py", "def f():\n    x = '😀😀😀'\n")
    line = "a.py:2:    x = '😀😀😀'"
    wanted = f"{line} ⟵ f 1-2"
    assert len(wanted) + 3 == utf16_units(wanted)
    assert run(line, tmp_path, max_length=utf16_units(wanted) + 1).text == wanted
    assert run(line, tmp_path, max_length=utf16_units(wanted)).text == f"{line} ⟵ f"


def test_at_most_so_many_hits(core: Path) -> None:
    """The hits past the limit stay as they are."""
    text = "\n".join(["core.py:4:    limit = 3"] * 5 + ["core.py:1:import os"] * 5)
    assert run(text, core, limit=3).text.count("⟵") == 3
    assert run(text, core, limit=3).hits == 3
    assert (run(text, core).hits, run(text, core).annotated) == (10, 5)


def test_past_the_deadline_nothing_is_changed(core: Path) -> None:
    """Late is late: no half-annotated output."""
    text = "core.py:4:    limit = 3"
    seconds = 0.05

    def slow(batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
        time.sleep(seconds * 2)
        return around(batch)

    for lookup, wait in ((slow, seconds), (around, -1.0)):
        done = annotate(
            text, roots=[str(core)], operands=None, definitions_of=lookup, max_length=29_000, max_bytes=5_000_000,
            deadline=time.monotonic() + wait,
        )  # fmt: skip
        assert done == Annotated(text, 0, 0, (), late=True)


def test_each_file_is_parsed_once_and_only_when_a_line_of_it_holds(core: Path) -> None:
    """Verification comes first: a file whose printed lines are stale is never parsed."""
    write(core / "stale.py", CORE)
    asked: list[list[tuple[str, list[int]]]] = []

    def lookup(batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
        asked.append([(Path(source.path).name, list(lines)) for source, lines in batch])
        return around(batch)

    text = "core.py:4:    limit = 3\nstale.py:4:    limit = 9\n./core.py:6:    def fetch(self, key):\ncore.py:7:old"
    annotate(
        text, roots=[str(core)], operands=None, definitions_of=lookup, max_length=29_000, max_bytes=5_000_000,
        deadline=time.monotonic() + 60,
    )  # fmt: skip
    assert asked == [[("core.py", [4, 6])]]


def test_rows_tell_what_was_found(core: Path) -> None:
    """A row for each hit inside a definition: its place in the output, the path as printed, the line, the symbol."""
    done = run("core.py:1:import os\n./core.py:4:    limit = 3\n8:x", core)
    [row] = done.rows
    assert (row.index, row.path, row.line, row.symbol.qualified) == (1, "./core.py", 4, "Store")
    assert row.file == str(core / "core.py")


FILES = {
    "core.py": CORE,
    "a:3:b.py": "def colons():\n    x = 1\n\n    x = 'a:3:b.py:4:y'\n",
    "sub/d e.py": "class D:\r\n    def e(self):\r\n        return '8:        x'\r\n",
    "2024-01-02/t.py": "@deco(1)\nasync def t():\n    def u():\n        return 1\n    return u\n",
    "plain.txt": CORE,
}
SPELLINGS = st.sampled_from(["", "./", "sub/../", "nowhere/"])
NUMBERS = st.one_of(
    st.integers(0, 13).map(str), st.sampled_from(["08", "1:2", "1-", "-1", "", "999999999999"])
)
NOISE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30)


@st.composite
def printed_lines(draw: st.DrawFn) -> str:
    """Draw a line of some output: a true hit, one with something wrong, or anything else."""
    kind = draw(st.integers(0, 9))
    if kind < 2:
        return draw(NOISE) if kind else draw(st.sampled_from(sorted(FILES)))
    name = draw(st.sampled_from(sorted(FILES)))
    lines = FILES[name].split("\n")
    number = draw(st.integers(1, len(lines)))
    text = lines[number - 1]
    change = draw(st.integers(0, 9))
    shown = str(number) if change else draw(NUMBERS)
    if change == 1:
        text += draw(NOISE)
    elif change == 2:
        text = text[draw(st.integers(0, 5)) :]
    elif change == 3:
        shown += ":7"
    separator = draw(st.sampled_from(":::::-=")) if change == 4 else ":"
    path = "" if change == 5 else f"{draw(SPELLINGS)}{name}{separator}"
    return f"{path}{shown}{separator}{text}"


def true_suffixes(line: str, bare: Sequence[str], *, columns: bool) -> set[str]:
    """Return, by trying every file and number, each suffix that a meaning of the line justifies ("" for module level).

    `bare` are the files that a line without a path may be of.
    """
    found = set()
    for name, text in FILES.items():
        source = text.replace("\r\n", "\n")
        for number, real in enumerate(source.split("\n")[: source.count("\n")], 1):
            column = "(?:[0-9]+:)?"
            heads = [f"{re.escape(start + name)}:0*{number}:{column}" for start in ("", "./", "sub/../")]
            heads += [f"0*{number}:{column if columns else ''}"] if name in bare else []
            matched = any(re.fullmatch(f"{head}{re.escape(real)}\r?", line, re.DOTALL) for head in heads)
            if matched and name.endswith(".py"):
                found.add(suffix_of(source, number))
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of the property test."""
    root = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        write(root / name, text)
    return root


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    lines=st.lists(printed_lines(), max_size=12),
    operands=st.sampled_from([[], ["core.py"], ["sub/d e.py"], ["core.py", "a:3:b.py"]]),
    columns=st.booleans(),
    headings=st.booleans(),
    max_length=st.integers(0, 900),
)
def test_any_output_keeps_every_character_and_gains_only_true_suffixes(
    tree: Path, lines: list[str], operands: list[str], *, columns: bool, headings: bool, max_length: int
) -> None:
    """With the suffixes cut off the text is the original; each suffix is what `ast` says of a line that a file holds."""
    text = "\n".join(lines)
    done = run(text, tree, operands=operands, max_length=max_length, columns=columns, headings=headings)
    gained = 0
    for line, new in zip(text.split("\n"), done.text.split("\n"), strict=True):
        assert new.startswith(line)
        suffix = new[len(line) :]
        if suffix:
            gained += 1
            right = true_suffixes(line, sorted(FILES) if headings else operands, columns=columns)
            assert suffix in right or suffix in {one.rpartition(" ")[0] for one in right}
    assert done.annotated == gained
    assert done.text == text or utf16_units(done.text) < max_length
