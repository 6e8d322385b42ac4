"""An answer in colour: the same text, whatever a file holds, and each language known."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slicegrep.candidates import Chunk, Omission
from slicegrep.highlight import painted
from slicegrep.languages import LANGUAGES
from slicegrep.result import Result
from slicegrep.terminal import visible

SUFFIXES = [language.suffixes[0] for language in LANGUAGES.values()]


def answer(file: str, text: str, reason: str = "definition") -> Result:
    """Return a result with a slice, an omission, and something that was not found."""
    return Result(
        path="src",
        pattern="x",
        route="precise",
        chunks=(Chunk(file, 7, 7 + text.count("\n"), text, 2.0, reason, "f", 9),),
        omitted=(Omission(file, 90, 99, 50, 1.0, reason, ""),),
        total_tokens=99,
        budget=200,
        coverage=0.5,
        omitted_tokens=50,
        negative_evidence=("Pattern 'y' not found in src",),
    )


def bare(text: str) -> str:
    """Return a text without its colour."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@settings(deadline=None)  # a lexer is imported when it is first used
@given(st.sampled_from([*SUFFIXES, ".md", ".toml", ".none", ""]), st.text(), st.text())
def test_the_text_is_what_it_is_without_colour(suffix: str, text: str, reason: str) -> None:
    """Not a character more or less, but for control characters, which are made visible."""
    result = answer(f"a{suffix}", text, reason)
    assert bare(painted(result)) == visible(result.render())


@settings(deadline=None)
@given(st.text(), st.text())
def test_no_escape_of_a_file_reaches_the_terminal(text: str, reason: str) -> None:
    """What begins with ESC is a colour of ours."""
    shown = painted(answer("a.py", f"\x1b[2J{text}\x9b", reason))
    assert not set(bare(shown)) & {"\x1b", "\x9b", "\r", "\b"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_language_is_highlighted(suffix: str) -> None:
    """The code itself has colour, not only the numbers before it."""
    code = (
        '<script>\nif (x) { return "text" }\n</script>'
        if suffix in (".vue", ".svelte")
        else 'if x then return "text" 12'
    )
    lines = painted(answer(f"a{suffix}", code)).split("\n")
    assert any("\x1b" in line.split("\t", 1)[1] for line in lines if "\t" in line)


def test_a_file_of_no_known_kind_stays_plain() -> None:
    """Its numbers have colour, its text has none."""
    (line,) = [line for line in painted(answer("a.none", "if 12")).split("\n") if "\t" in line]
    assert line.split("\t", 1)[1] == "if 12"


def test_places_titles_and_the_way_on_stand_out() -> None:
    """Each line that is no file content is styled on its own, so that a pager may begin anywhere."""
    lines = painted(answer("a.py", "pass")).split("\n")
    styled = [line for line in lines if re.fullmatch(r"\x1b\[[\d;]+m[^\x1b]*\x1b\[0m", line)]
    starts = ("slicegrep:", "File content", "<<< a.py:7-7", ">>>", "OMITTED", "Next:", "NEGATIVE EVIDENCE:")
    assert [
        start for start, line in zip(starts, map(bare, styled), strict=True) if not line.startswith(start)
    ] == []
