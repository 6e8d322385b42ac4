"""Focus: what was said becomes weighted names, terms and literals."""

from __future__ import annotations

import pytest
from slicegrep.focus import Focus, Said, focus_of
from slicegrep.words import stem


def of(text: str, *, code: bool = False, stem_of_file: str = "") -> Focus:
    return focus_of([Said(text, 1.0, code)], stem_of_file=stem_of_file)


def test_identifiers_weigh_more_than_words() -> None:
    """A camel-case name outweighs prose."""
    focus = of("the getValue buffer")
    assert focus.names["getvalue"] > focus.names["buffer"]


@pytest.mark.parametrize("text", ["call `run` now", "call run() now", "see store.run there"])
def test_marks_of_code_make_a_word_a_name(text: str) -> None:
    """Back-quotes, parentheses and dots lift even a stop-word."""
    assert of(text).names["run"] > of("walk now").names["walk"]


def test_stop_words_weigh_nothing() -> None:
    """A request of stop-words only is empty."""
    assert of("please fix the code in this file").empty


def test_the_file_s_own_stem_counts_less() -> None:
    """Every part of parser.py is about the parser."""
    assert (
        of("parser token", stem_of_file="parser").terms[stem("parser")]
        < of("parser token").terms[stem("parser")]
    )


def test_addresses_and_trailers_are_left_out() -> None:
    """A link or a sign-off is not what is worked on."""
    focus = of("fix overflow, see https://example.com/zebra\n\nReviewed-by: Quagga <q@example.com>")
    assert "zebra" not in focus.names and "quagga" not in focus.names and "overflow" in focus.names


def test_quoted_text_numbers_and_options_are_literals() -> None:
    """They are to be found as they stand."""
    literals = of('raises "no such option" for --dry-run with 1.2.3 and 4096').literals
    assert {"no such option", "--dry-run", "1.2.3", "4096"} <= literals.keys()


def test_earlier_texts_count_by_their_weight() -> None:
    """The latest prompt is said with 1, what came before with less."""
    focus = focus_of([Said("alpha_one", 1.0), Said("beta_two", 0.4)])
    assert focus.names["alphaone"] > focus.names["betatwo"] > 0


def test_the_end_of_a_long_text_counts_less() -> None:
    """Requests begin with their point."""
    focus = of(
        "alpha " + " ".join(f"filler{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)) + " omega"
    )
    assert focus.names["alpha"] > focus.names["omega"]


@pytest.mark.parametrize(("text", "expected"), [("Fix typos in the docs", True), ("Fix overflow", False)])
def test_whether_documentation_is_meant(text: str, expected: bool) -> None:  # noqa: FBT001
    """Only then do comments count."""
    assert of(text).documentation is expected


def test_lines_make_a_focus_of_their_own() -> None:
    """A traceback without a word is enough to rank by."""
    focus = focus_of([], lines=[(12, 1.0)])
    assert focus.lines == ((12, 1.0),) and not focus.empty


def test_a_giant_paste_is_bounded() -> None:
    """Of a text over 20,000 characters the beginning and the end are looked at, not the middle."""
    names = of("first_word " + "x " * 20_000 + "needle " + "x " * 20_000 + "last_word").names
    assert "firstword" in names and "lastword" in names and "needle" not in names
