"""Words: identifiers fall into sub-words, words to stems."""

from __future__ import annotations

import pytest
from slicegrep.words import STOP_WORDS, SYNONYMS, identifiers, is_code_name, stem, sub_words


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("HTTPServer_2x", ("http", "server", "2", "x")),
        ("camelCase", ("camel", "case")),
        ("snake_case", ("snake", "case")),
        ("SCREAMING_CASE", ("screaming", "case")),
        ("parseURL", ("parse", "url")),
        ("größe", ("gr", "öß", "e")),
        ("__init__", ("init",)),
        ("___", ()),
    ],
)
def test_an_identifier_falls_into_its_sub_words(identifier: str, parts: tuple[str, ...]) -> None:
    """Camel case, snake case, capitals and digits are borders; the parts are lower case."""
    assert sub_words(identifier) == parts


@pytest.mark.parametrize(
    ("one", "other"),
    [("parsing", "parse"), ("parsed", "parse"), ("queries", "query"), ("matches", "match"), ("classes", "class"), ("stopped", "stop"), ("validation", "validate")],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Plural, -ing, -ed and -ation endings come off."""
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["status", "this", "class", "bus", "red", "ids", "größen"])
def test_short_and_foreign_words_stay(word: str) -> None:
    """What only looks like an ending is none."""
    assert stem(word) == word


@pytest.mark.parametrize("word", ["camelCase", "snake_case", "_private", "utf8", "HTTP", "HTTPServer"])
def test_a_name_in_code_is_told_from_prose(word: str) -> None:
    """Inner capitals, underscores, digits and all capitals are the marks of code."""
    assert is_code_name(word)


@pytest.mark.parametrize("word", ["word", "Word", "I", "x"])
def test_prose_is_not_taken_for_code(word: str) -> None:
    """A capital at the beginning is a sentence's."""
    assert not is_code_name(word)


def test_identifiers_come_in_order_and_as_written() -> None:
    """Digits do not begin one; every script counts."""
    assert identifiers("Größe = 2x + foo_bar(Naïve)") == ["Größe", "x", "foo_bar", "Naïve"]


def test_synonyms_are_mutual_stems() -> None:
    """Each word of a group knows the others, and none is a synonym of itself."""
    assert all(word in SYNONYMS[other] for word, others in SYNONYMS.items() for other in others)
    assert all(word not in others for word, others in SYNONYMS.items())
    assert "config" in SYNONYMS[stem("configuration")]


def test_stop_words_hold_the_words_of_every_request() -> None:
    """`fix`, `add` and `file` say nothing of a file; `parser` does."""
    assert {"fix", "add", "file", "the"} <= STOP_WORDS and "parser" not in STOP_WORDS
