"""A search finds the lines that its patterns match, whichever engine has to run them."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_folder import make_odd, without_privileges
from odd_inputs import source_bytes
from slicegrep.index import view_of
from slicegrep.match import LONGEST_LINE, MOST_HITS, Matches, find
from slicegrep.query import Pattern
from slicegrep.ripgrep import program
from slicegrep.source import read_source, source_of, utf8_lines
from slicegrep.walk import Skipped, walk


def patterns(*texts: str) -> list[Pattern]:
    """Return patterns that are taken at their word."""
    return [Pattern(text, text) for text in texts]


def found(data: bytes | str, *texts: str, **how: object) -> Matches:
    """Search one file that holds `data`."""
    raw = data.encode() if isinstance(data, str) else data
    source = source_of("a.py", raw)
    return find("/", ["a.py"], patterns(*texts), read=lambda _: source, **how)  # type: ignore[arg-type]


def lines(data: bytes | str, *texts: str, **how: object) -> list[int]:
    """Return the lines that match, and make sure that there was nothing to say."""
    matches = found(data, *texts, **how)
    assert matches.notes == ()
    return [hit.line for hit in matches.by_file.get("a.py", ())]


TEXT = """\
def get_name(self):
    return self.name  # the NAME

class Name:
    name = get_name(1)
"""


def test_lines_and_which_patterns_match_in_them() -> None:
    """Counted from 1, ascending; each with the indexes of its patterns; a file without a match is not there."""
    matches = found(TEXT, "get_name", r"\bself\b", "nowhere")
    assert [(hit.line, hit.patterns) for hit in matches.by_file["a.py"]] == [
        (1, (0, 1)),
        (2, (1,)),
        (5, (0,)),
    ]
    assert found(TEXT, "nowhere").by_file == {}


def test_many_patterns_find_what_each_finds_alone() -> None:
    """A few are run one by one, many as one."""
    texts = [r"name", r"^class", r"\(1\)$", r"self\.", r"(?<=get_)name", r"nowhere", r"(n)a\1?", r"[A-Z]{4}"]
    together = found(TEXT, *texts).by_file["a.py"]
    for number, text in enumerate(texts):
        alone = [hit.line for hit in found(TEXT, text).by_file.get("a.py", ())]
        assert [hit.line for hit in together if number in hit.patterns] == alone


def test_case_counts_only_on_demand() -> None:
    """Also of letters beyond ASCII, and back to not counting where the pattern says so."""
    text = "Straße ÉCOLE Σίσυφος\nstraße école σίσυφος\n"
    assert lines(text, "école") == [1, 2]
    assert lines(text, "École", case_sensitive=True) == []
    assert lines(text, "école", case_sensitive=True) == [2]
    assert lines(text, "(?i)École", case_sensitive=True) == [1, 2]
    assert lines(text, "ΣΊΣΥΦΟΣ") == [1, 2]


def test_a_match_without_a_length_where_a_line_ends_is_none_twice() -> None:
    """An edge of a word matches where the line above has ended, too: the search goes on behind it."""
    assert lines("a b\n\nc\n--\nd", r"\b", r"\B-") == [1, 3, 4, 5]


def test_word_edges_are_ascii_unless_the_pattern_is_not() -> None:
    r"""`\b` before a letter with an accent would be nowhere that it is meant."""
    assert lines("l'école est finie\npréécole\n", r"\bécole\b") == [1]
    assert lines("数据 = 1\n新数据 = 2\n", r"\b数据\b") == [1]
    assert lines("naïve\nx\n", r"na\w+ve") == []
    assert lines("naïve\nx\n", r"n\wïve|ï\w") == [1]


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r"(?<=def )get_\w+", [1]),
        (r"name(?!\()", [2, 4, 5]),
        (r"(?<!get_)name", [2, 4, 5]),
        (r"(\w)\1", [4]),
        (r"(?P<word>name)\b.*\b(?P=word)", [2]),
        (r"(?>get|get_name)_name", [1, 5]),
        (r"\w++\(", [1, 5]),
        (r"(?=.*self)(?=.*name)", [1, 2]),
        (r"^(?!.*name).+$", []),
    ],
)
def test_look_around_back_references_and_atomic_groups_run(regex: str, expected: list[int]) -> None:
    """RE2 lacks them: it finds the lines that may match, and an engine that backtracks decides."""
    assert lines(TEXT, regex) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x\nneedle\r\nx\r\nneedle", [2, 4]),
        (b"\xef\xbb\xbfneedle\nx\n", [1]),
        ("\ufeffx\r\nneedle é\r\n".encode("utf-16-le"), [2]),
        ("\ufeffx\nneedle\n".encode("utf-16-be"), [2]),
        ("café\nneedle\n".encode("latin-1"), [2]),
        (b"\xff\xfe\xfd needle\n", []),  # a UTF-16 BOM, and no UTF-16
        (b"a\x0cb\rc\x85\nneedle\n", [2]),
        ("a\u2028b\nneedle\n".encode(), [2]),
        (b"\0\0\nneedle\0\n", [2]),
        (b"needle", [1]),
        (b"\n\n\nneedle\n\n", [4]),
    ],
)
def test_lines_are_those_of_the_source_in_every_encoding(data: bytes, expected: list[int]) -> None:
    """rtk#4113, serena#2017, rtk#4065: BOMs, UTF-16, Latin-1, bad bytes; only an LF ends a line."""
    assert lines(data, "needle$|needle\\W") == expected


def test_the_end_of_a_line_is_before_its_cr() -> None:
    """`$` is where the text ends, as Read shows it; one CR of two is text."""
    assert lines(b"a;\r\nb;\r\r\nc;\n", ";$") == [1, 3]
    assert lines(b"a\r\n\r\n", r"^\s+$") == []


def test_bad_bytes_are_one_character() -> None:
    """They stand as U+FFFD in the lines that are shown, so `.` matches them and so does that character."""
    assert lines(b"a\xffb\n", "^a.b$") == [1]
    assert lines(b"a\xffb\n", "\ufffd") == [1]
    assert lines(b"a\xffb\n", "a\udcffb") == [1]


def test_no_match_goes_past_a_line() -> None:
    """White space, negated classes and `.` stop at the end of the line, and a pattern that asks for it is told."""
    text = "foo\nbar\n"
    for regex in (r"foo\s*bar", "foo[^x]bar", "(?s)foo.bar", r"foo\W+bar", r"foo[\s\S]*bar"):
        assert lines(text, regex) == []
    matches = found(text, r"foo\nbar")
    assert matches.by_file == {}
    assert matches.notes == (r"'foo\\nbar' asks for a line's end, but a match is within one line.",)


def test_long_lines_are_left_out_and_named() -> None:
    """Of characters, not bytes; a match in a line of just the length counts."""
    longest = "é" * (LONGEST_LINE - 6) + "needle"
    assert lines(f"x\n{longest}\n", "needle") == [2]
    matches = found(f"x\n{longest}x\nneedle\n", "needle")
    assert [hit.line for hit in matches.by_file["a.py"]] == [3]
    assert matches.notes == (
        "Lines of over 5,000 characters were not searched, in 1 files; the first is a.py:2.",
    )


@pytest.mark.parametrize("regex", ["x*", "(foo)?", "a|", r"\s*", "^", "$", "(?!a)", r"\b|x?"])
def test_a_pattern_that_matches_an_empty_line_counts_for_nothing(regex: str) -> None:
    """It would match every line of every file."""
    matches = found(TEXT, regex, "class")
    assert [(hit.line, hit.patterns) for hit in matches.by_file["a.py"]] == [(4, (1,))]
    assert matches.notes == (f"{regex!r} matches an empty line, so it tells nothing apart: left out.",)


@pytest.mark.parametrize(
    ("regex", "line", "why"),
    [
        ("get_name(", 1, "missing )"),
        (r"self\.name  #(", 3, "missing )"),
        ("*args", 4, "nothing before *"),
        (r"src\main", 5, "\\m means nothing"),
        ("[0", 6, "missing ]"),
        ("(?R)", 7, "(?R) is not known"),
        ("a{1001}", 8, "{1001} repeats over 1,000 times"),
    ],
)
def test_what_is_no_regular_expression_is_searched_as_a_literal(regex: str, line: int, why: str) -> None:
    """Agents paste code; the note says what was done and why."""
    text = "x = get_name(1)\n\nself.name  #(\ndef f(*args)\npath = src\\main\na[0]\n(?R)\na{1001}\n"
    matches = found(text, regex)
    assert [hit.line for hit in matches.by_file["a.py"]] == [line]
    assert matches.notes == (f"{regex!r} is no regular expression ({why}): searched as a literal.",)


def test_one_bad_alternative_spoils_no_other() -> None:
    """`a|b(` finds `a` and the text `b(`."""
    matches = found("one\ntwo(\nthree\n", r"two(|thre+\b")
    assert [hit.line for hit in matches.by_file["a.py"]] == [2, 3]
    assert len(matches.notes) == 1


@pytest.mark.parametrize(
    ("regex", "expected"),
    [("get(x)", [1]), ("a[0]", [2]), (r"one\|two", [3, 4]), (r"\(one\|two\)", [3, 4]), ("f(a, b) + $x", [5])],
)
def test_a_regular_expression_without_a_match_is_read_as_what_it_was_perhaps_meant(
    regex: str, expected: list[int]
) -> None:
    r"""Text that holds `(`, and grep's own `\|` (rtk#206), which would otherwise be a false zero."""
    text = "y = get(x)\ny = a[0]\none\ntwo\nf(a, b) + $x\n"
    matches = found(text, regex)
    assert [hit.line for hit in matches.by_file["a.py"]] == expected
    assert matches.notes == (
        f"{regex!r} matches nothing as a regular expression: searched as it was perhaps meant.",
    )
    assert found("nothing\n", regex).notes == ()


@pytest.mark.parametrize("regex", [r"\(one\|two", r"one\|", r"\|"])
def test_what_has_no_other_meaning_stays_without_a_match(regex: str) -> None:
    """The second reading may be none, or match everything: there is nothing to say about it."""
    assert found("three\n\n", regex) == Matches({})


def test_a_pattern_with_a_match_is_taken_at_its_word() -> None:
    """`get(x)` is `getx` where there is one."""
    assert lines("getx\nget(x)\n", "get(x)") == [1]


def test_too_many_matches_end_the_search() -> None:
    """A pattern that matches everywhere tells nothing apart; the note says how far it came."""
    source = source_of("a.py", b"e\n" * (MOST_HITS // 2))
    matches = find("/", ["a.py", "b.py", "c.py"], patterns("e"), read=lambda _: source)
    assert sorted(matches.by_file) == ["a.py", "b.py"]
    assert matches.notes == (
        "Over 50,000 lines match: ask for something rarer.",
        "2 of 3 files were searched before it stopped.",
    )


def test_files_on_the_disk_with_odd_names(tmp_path: Path) -> None:
    """rtk#1613, qwen-code#5370: names with colons, line feeds and bad bytes are paths, never parsed."""
    folder = tmp_path / "odd"
    folder.mkdir()
    expected = make_odd(folder)
    (folder / "a:12:b.py").write_text("needle\n")
    (folder / "2024-01-02.py").write_text("needle: 3\n")
    files = [file.path for file in walk(str(folder)).files]
    assert set(find(str(folder), files, patterns("needle")).by_file) == {
        *expected,
        "a:12:b.py",
        "2024-01-02.py",
    }


def test_what_is_no_file_is_skipped_and_named(tmp_path: Path) -> None:
    """A FIFO does not block; what is gone or a folder is no traceback."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "good").write_text("needle\n")
    odd = ["pipe", "folder", "loop", "gone", "a\0b"]
    matches = find(str(tmp_path), [*odd, "good"], patterns("needle"))
    assert set(matches.by_file) == {"good"}
    assert matches.skipped == tuple(Skipped(path, "it cannot be read") for path in odd)


def test_a_file_without_permission_is_skipped_and_named() -> None:
    """What cannot be read is no match, and no silence."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        for name in ("open.py", "closed.py"):
            Path(folder, name).write_text("needle\n")
        os.chmod(Path(folder, "closed.py"), 0)
        code = (
            "from slicegrep.query import Pattern\n"
            f"found = find({folder!r}, ['closed.py', 'open.py'], [Pattern('needle', 'needle')])\n"
            "print(sorted(found.by_file), [(s.path, s.why) for s in found.skipped])"
        )
        told = without_privileges(code)
    assert told.strip() == "['open.py'] [('closed.py', 'it cannot be read')]"


_CHARS = st.sampled_from(["a", "b", "A", "1", "_", " ", "é", "É", r"\.", r"\("])
_ATOMS = _CHARS | st.sampled_from([".", "[ab]", "[^a]", "[^é]", "[a-c1]"])
_REPEATED = st.tuples(_ATOMS, st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?"])).map("".join)
_BODIES = st.recursive(
    st.lists(_REPEATED, min_size=1, max_size=4).map("".join),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("|".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]})?{pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"(?={pair[0]}){pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]}(?!{pair[1]})"),
    ),
    max_leaves=4,
)
REGEXES = st.tuples(st.sampled_from(["", "", "^"]), _BODIES, st.sampled_from(["", "", "$"])).map("".join)
ODD = st.lists(
    st.text(alphabet="abA1_ éÉ.(\u2028\x0c\r", max_size=7) | st.sampled_from(["", "  ", "ab_1", "(a.b)"]),
    max_size=8,
)


@given(st.lists(REGEXES, min_size=1, max_size=6), ODD, st.booleans())
@example(["a|b", "é"], ["É\r", "ab"], False)  # noqa: FBT003
@settings(deadline=None)
def test_the_lines_are_those_of_pythons_own_engine(
    texts: list[str],
    rows: list[str],
    case_sensitive: bool,  # noqa: FBT001
) -> None:
    """For expressions that mean the same in both: alone and together, with an index and without."""
    source = source_of("a.py", "\n".join(rows).encode())
    flags = 0 if case_sensitive else re.IGNORECASE
    expected: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        compiled = re.compile(text, flags)
        if not compiled.search(""):  # such a pattern counts for nothing
            for row, line in enumerate(source.lines, 1):
                if compiled.search(line):
                    expected.setdefault(row, []).append(number)
    asked = [Pattern(text, text, literal=True) for text in texts]  # literal: not to be read in another way
    for view in (None, view_of([source])):
        matches = find("/", ["a.py"], asked, case_sensitive=case_sensitive, view=view, read=lambda _: source)
        got = {hit.line: list(hit.patterns) for hit in matches.by_file.get("a.py", ())}
        assert got == expected


@example("É\n".encode(), "é|═")
@given(source_bytes(), st.sampled_from(["def", "x+$", "^}", "a = 1", r"\t", "é|═", "[^ ]$", r"return \w+\("]))
@settings(deadline=None)
def test_any_bytes_have_the_lines_of_their_source(data: bytes, regex: str) -> None:
    """Mixed line ends, BOMs, bad bytes, NULs."""
    source = source_of("a.py", data)
    # `\w` is ASCII's; case is Unicode's: é finds É.
    flags = re.IGNORECASE | (re.ASCII if regex.isascii() else re.UNICODE)
    expected = [row for row, line in enumerate(source.lines, 1) if re.search(regex, line, flags)]
    view = SimpleNamespace(
        utf8_lines=lambda _: utf8_lines(data),
        file_at=lambda _: None,
        files=[],
        paths_under=lambda _: [],
        paths_of=lambda *_: [],
        files_untold=set(),
        texts_kept=0,
        holders=SimpleNamespace(
            files_holding=lambda *_, **__: set(),
            files_with=lambda *_: set(),
            count_with=lambda _: 0,
            beyond_ascii=lambda _: [],
        ),
    )
    matches = find("/", ["a.py"], [Pattern(regex, regex, literal=True)], view=view)  # type: ignore[arg-type]
    assert [hit.line for hit in matches.by_file.get("a.py", ())] == expected


STDLIB = sysconfig.get_paths()["stdlib"]
MODULES = sorted(name for name in os.listdir(STDLIB) if name.endswith(".py"))[::4]


@pytest.mark.parametrize(
    "regex",
    [
        "def __init__",
        r"\bself\.\w+ = None$",
        "raise (Value|Type)Error",
        r"^import (os|re)\b",
        "é",
        r"['\"]utf-?8",
        r"\w+\.\w+\.\w+\(",
        "TODO|XXX",
    ],
)
def test_a_real_tree_has_the_lines_that_rg_and_python_find(regex: str) -> None:
    """A quarter of the standard library's modules: in process, with an index, by rg, by Python's own engine."""
    sources = {name: source for name in MODULES if (source := read_source(os.path.join(STDLIB, name)))}
    compiled = re.compile(regex, re.IGNORECASE | re.ASCII)
    expected = {
        name: rows
        for name, source in sources.items()
        if (rows := [row for row, line in enumerate(source.lines, 1) if compiled.search(line)])
    }
    asked = patterns(regex)
    matches = find(STDLIB, list(sources), asked, read=sources.__getitem__)
    assert {name: [hit.line for hit in hits] for name, hits in matches.by_file.items()} == expected
    rg = program()
    assert rg is not None
    command = [
        rg,
        "--no-config",
        "--no-heading",
        "--with-filename",
        "-n",
        "-i",
        "-a",
        "-o",
        "-e",
        f"(?-u:{regex})",
        "--",
        *sources,
    ]
    told = subprocess.run(command, cwd=STDLIB, capture_output=True, check=False).stdout.decode("latin-1")
    by_rg = {tuple(line.split(":")[:2]) for line in told.splitlines() if re.match(r"\w+\.py:\d+:", line)}
    if regex.isascii():
        assert by_rg == {(name, str(row)) for name, rows in expected.items() for row in rows}


def test_nothing_to_search_is_nothing_found() -> None:
    """Neither files nor patterns."""
    assert find("/", [], patterns("a")) == Matches({})
    assert find("/", ["a.py"], []) == Matches({})
