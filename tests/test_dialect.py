"""A regular expression as people write it becomes what the engines run."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from slicegrep.dialect import WORD_EDGE, BrokenError, plain_text, reading_of


@pytest.mark.parametrize(
    ("regex", "exact"),
    [
        (r"def \w+\(", r"def \w+\("),
        (r"\<word\>", r"\bword\b"),
        (r"\Astart", "^start"),
        (r"end\Z", "end$"),
        (r"end\z", "end$"),
        (r"a\hb", r"a[ \t]b"),
        (r"[\h,]", r"[ \t,]"),
        ("(?<name>x)", "(?P<name>x)"),
        ("(?'name'x)", "(?P<name>x)"),
        (r"caf\u00e9", "café"),
        (r"\x41\x{42}\u{43}", "ABC"),
        (r"a\Qb.c*\Ed", r"ab\.c\*d"),
        ("a{,3}", "a{0,3}"),
        ("func(x) {", r"func(x) \{"),
        ("${name}", r"\$\{name\}"),
        ("$this->x", r"\$this\->x"),
        ("a^b", r"a\^b"),
        ("(a{50}b){20}c{1000}", "(a{50}b){20}c{1000}"),
        ("i++", r"i\+\+"),
        ("a(?#a comment)b", "ab"),
        ("(?u)a", "a"),
        ("a\\Kb", "ab"),
        ("[]a]", "[]a]"),
        ("[[:alpha:]_]", "[[:alpha:]_]"),
        ("[a[b]", r"[a\[b]"),
    ],
)
def test_habits_of_other_dialects_are_understood(regex: str, exact: str) -> None:
    """Of Python, PCRE, JavaScript and grep, where RE2 has no other meaning for them that could match in a line."""
    reading = reading_of(regex)
    assert (reading.exact, reading.loose, reading.linear) == (exact, exact, True)


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        ("(?<=def )get", "(?:)get"),
        ("get(?!_all)", "get(?:)"),
        ("(?<!a(b)c)(?=d(?!e))f", "(?:)(?:)f"),
        (r"(\w+) = \1", r"(\w+) = .*(?:)"),
        ("(?P<q>['\"])x(?P=q)", "(?P<q>['\"])x.*"),
        ("(?>ab|a)c", "(?:ab|a)c"),
        (r"\d++x", r"\d+x"),
        (r"\bécole\b", "(?:)école(?:)"),
    ],
)
def test_what_only_backtracking_can_run_has_a_looser_form_for_re2(regex: str, loose: str) -> None:
    """It matches at least in every line that the exact one matches in."""
    reading = reading_of(regex)
    assert (reading.loose, reading.linear) == (loose, False)


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        ("foo(", "missing )"),
        ("a)", "a ) too many"),
        ("[a", "missing ]"),
        ("*args", "nothing before *"),
        ("**kwargs", "nothing before *"),
        ("a|+", "nothing before +"),
        ("a{2}{3}", "nothing before {3}"),
        ("end\\", "a trailing \\"),
        ("(a{50}b){21}", "{21} repeats over 1,000 times"),
        ("((a{2,}){20}|b){3,30}", "{3,30} repeats over 1,000 times"),
        (r"src\main", "\\m means nothing"),
        ("(?R)", "(?R) is not known"),
        ("(?(1)a|b)", "(?(1 is not known"),
        ("(?x) a b", "(?x) is not known"),
        (r"\ud800", "\\ud800 is no character"),
        ("(?=" + "a" * 2_000 + ")", "over 2000 characters with look-around or a back-reference"),
    ],
)
def test_what_is_none_says_why(regex: str, why: str) -> None:
    """In a few words, for the note that it was searched as a literal."""
    with pytest.raises(BrokenError, match=f"^{re.escape(why)}$"):
        reading_of(regex)


EDGE = WORD_EDGE


@pytest.mark.parametrize(
    ("regex", "literals"),
    [
        ("get_name", {"get_name"}),
        (r"foo\.bar\(", {"foo.bar("}),
        (r"\bfoo\b", {f"{EDGE}foo{EDGE}"}),
        ("fo+bar", {"fo", "bar"}),
        ("foo*bar", {"fo", "bar"}),
        ("foo?", {"fo"}),
        ("a(bcd)?efg", {"a", "efg"}),
        ("a(bcd){2}e", {"a", "bcd", "e"}),
        ("a(bcd){0,2}e", {"a", "e"}),
        ("(get|set)_value", {"_value"}),
        ("abcd|xabcd", {"abcd"}),
        ("abcd|x", set()),
        (r"open\s+file|open.*the file", {"open", "file"}),
        ("(?=abc)d", {"d"}),
        ("(?!abc)d", {"d"}),
        (r"[abc]def.ghi\d", {"def", "ghi"}),
        ("(((abc)))", {"abc"}),
        ("((a|b)*c|d)efg", {"efg"}),
        (r"\w+", set()),
    ],
)
def test_literals_are_what_every_match_holds(regex: str, literals: set[str]) -> None:
    """An optional part, one of several alternatives, and what a look-around sees need not be there."""
    assert set(reading_of(regex).literals) == literals


_PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "A",
        " ",
        ".",
        r"\w",
        r"\d",
        "[ab]",
        "[^a]",
        "(",
        ")",
        "(?:",
        "(?=",
        "(?!",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        r"\b",
        "^",
        "$",
    ]
)
REGEXES = st.lists(_PIECES, min_size=1, max_size=7).map("".join)
LINES = st.text(alphabet="abAB 1_", max_size=8)


@given(REGEXES, LINES)
def test_a_match_holds_the_literals_and_is_one_of_the_looser_form(regex: str, line: str) -> None:
    """Both may leave files out of a search, so neither may leave out a match; `a++` is text here, not as in Python."""
    assume("++" not in regex)
    try:
        reading = reading_of(regex)
        compiled = re.compile(regex, re.IGNORECASE)
    except (BrokenError, re.error):
        return
    if compiled.search(line):
        assert all(text.replace(EDGE, "").lower() in line.lower() for text in reading.literals)
        assert re.search(reading.loose, line, re.IGNORECASE)


@given(st.text() | st.text(alphabet="()[]{}|*+?\\^$.<>=!:#PQEbwdpux01a-&~\n"))
def test_any_text_is_read_or_told_broken(regex: str) -> None:
    """Nothing that is typed ends in a traceback."""
    try:
        reading_of(regex)
    except BrokenError:
        return


def test_a_line_end_in_the_pattern_is_noticed() -> None:
    """No line holds one, so whoever asks for it is told."""
    assert reading_of(r"a\nb").spans_lines
    assert reading_of("a\nb").spans_lines
    assert not reading_of(r"[^\n]+").spans_lines


def test_plain_text_drops_the_escapes_of_punctuation() -> None:
    r"""What was meant by `foo\.bar(` is `foo.bar(`; the backslash of `src\main` is itself."""
    assert plain_text(r"foo\.bar(") == "foo.bar("
    assert plain_text(r"src\main") == r"src\main"
