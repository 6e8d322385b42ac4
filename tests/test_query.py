"""Queries: what is a pattern and what is English, and which names, places and words a text says."""

from __future__ import annotations

import re
import time

import pytest
from slicegrep.query import Query, query_of


def written(query: Query) -> list[str]:
    return [pattern.text for pattern in query.patterns]


def matches(query: Query, line: str) -> bool:
    return any(re.search(pattern.regex, line, re.IGNORECASE) for pattern in query.patterns)


# Routes


@pytest.mark.parametrize("text", ["echo", "def echo", "urlFor", "url_for()"])
def test_one_or_two_words_are_the_pattern_as_written(text: str) -> None:
    """They are searched for exactly, and the text is the regular expression."""
    query = query_of(text)
    assert query.route == "precise"
    assert [(pattern.text, pattern.regex, pattern.literal) for pattern in query.patterns] == [
        (text, text, False)
    ]


@pytest.mark.parametrize(
    "text", ["session cookie expiry", "where are redirects followed", "retry after timeout error"]
)
def test_three_content_words_are_english(text: str) -> None:
    """The vocabulary ranks, and the phrase itself is a literal."""
    query = query_of(text)
    assert query.route == "vague"
    assert all(pattern.literal for pattern in query.patterns)


def test_two_content_words_with_a_function_word_are_english() -> None:
    """No line of code is made of "how does": `routing works` stays a pattern without them."""
    assert query_of("how does dispatch cache").route == "vague"
    assert query_of("dispatch cache").route == "precise"


@pytest.mark.parametrize(
    "text",
    [
        r"def \w+_handler",
        "open.*close.*session",
        "first second third|fourth",
        r"class (Foo|Bar)\(Base\): pass",
        "^import asyncio queue threading$",
    ],
)
def test_regex_syntax_with_words_is_a_pattern(text: str) -> None:
    """However many words there are between the signs."""
    query = query_of(text)
    assert query.route == "precise"
    assert not any(pattern.literal for pattern in query.patterns)


@pytest.mark.parametrize(
    "text",
    [
        "the parser drops the trailing comma when a list[0-9] index is given to it",
        "why does the server close every connection after it sends foo.* to the client",
    ],
)
def test_a_message_with_some_regex_syntax_is_no_regex(text: str) -> None:
    """A sentence that quotes an expression is English all the same."""
    assert query_of(text).route == "vague"


def test_a_text_of_several_lines_is_english() -> None:
    """A pasted log has brackets and stars in it, but nobody writes an expression over lines."""
    assert query_of("ValueError:\n  foo.*bar[a-z]+").route == "vague"


# Alternatives


@pytest.mark.parametrize(
    ("text", "alternatives"),
    [
        ("alpha|beta|gamma", ["alpha", "beta", "gamma"]),
        ("(alpha|beta)|gamma", ["(alpha|beta)", "gamma"]),
        ("a(b(c|d)|e)f", ["a(b(c|d)|e)f"]),
        ("[a|b]x|y", ["[a|b]x", "y"]),
        ("[]|]x|y", ["[]|]x", "y"]),
        ("[^]|]x|y", ["[^]|]x", "y"]),
        (r"a\|b|c", [r"a\|b", "c"]),
        (r"\(a|b", [r"\(a", "b"]),
        (r"\[a|b", [r"\[a", "b"]),
    ],
)
def test_alternatives_are_split_at_the_top_level_only(text: str, alternatives: list[str]) -> None:
    """A `|` in a group, in a class, or behind a backslash divides nothing."""
    assert written(query_of(text)) == alternatives


@pytest.mark.parametrize("text", ["alpha|", "|alpha", "alpha||", "alpha|alpha"])
def test_empty_and_repeated_alternatives_are_dropped(text: str) -> None:
    """An empty one would match every line of every file."""
    assert written(query_of(text)) == ["alpha"]


@pytest.mark.parametrize("text", ["a(b|c", "a[b|c"])
def test_a_broken_expression_stays_whole(text: str) -> None:
    """What it was meant to be is not guessed by cutting it."""
    assert written(query_of(text)) == [text]


# Words


def test_stop_words_are_no_terms() -> None:
    """What every request for a change to code holds says nothing of this one."""
    assert set(query_of("please add the support for tokens in a function").terms) == {"token"}


def test_a_stop_word_alone_is_what_was_said() -> None:
    """`read` is a function's name as good as another."""
    query = query_of("read")
    assert (query.route, set(query.terms), query.symbols) == ("precise", {"read"}, (("read", ""),))


def test_a_name_counts_as_a_whole_and_by_its_parts() -> None:
    """Lower-cased without underscores as a name, in stems as terms, whatever the spelling."""
    for text in ("url_to_endpoints", "urlToEndpoints", "UrlToEndpoints"):
        query = query_of(f"{text} broken")
        assert "urltoendpoints" in query.names
        assert set(query.terms) == {"url", "endpoint", "broken"}


def test_a_name_of_code_weighs_more_than_a_word() -> None:
    """Who writes `parseHeader` among plain words means that."""
    query = query_of("slow parseHeader with long lines of cookies")
    assert query.names["parseheader"] > query.names["cookies"]


def test_words_that_come_late_weigh_less() -> None:
    """Requests begin with their point."""
    query = query_of(" ".join(["begin", *(f"middle{chr(97 + n % 26)}{n}" for n in range(50)), "ending"]))
    assert query.terms["begin"] > query.terms["end"] > 0


def test_synonyms_joined_words_and_initials_are_expansions() -> None:
    """They may be meant: they weigh less than what was said, and what was said is not among them."""
    query = query_of("request time zone")
    assert {"req", "timezon", "tz", "rtz"} <= set(query.expansions)
    assert set(query.terms).isdisjoint(query.expansions)
    assert max(query.expansions.values()) < min(query.terms.values())


def test_the_words_of_a_regex_are_those_that_a_match_spells() -> None:
    """Classes, counts and escapes are no words."""
    assert set(query_of(r"\bparse_(?:token|header)[a-z]{2,3}\d+").terms) == {"pars", "token", "head"}


def test_an_address_is_no_word_unless_it_is_all() -> None:
    """Behind a link stands what the text around it says; alone, it is what was asked for."""
    assert "exampl" not in query_of("the cookie jar leaks https://example.org/issues").terms
    assert "exampl" in query_of("https://example.org/issues").terms


@pytest.mark.parametrize("text", ["", "   ", "|", "***", "(", "[", "\\", "?!", "123", "'\"`"])
def test_no_text_breaks_it(text: str) -> None:
    """There is always something to run."""
    assert query_of(text).patterns


# Names and places


@pytest.mark.parametrize("text", ["Session.send", "Session::send", "Session->send", "Session#send"])
def test_a_dotted_name_is_a_name_with_its_qualifier(text: str) -> None:
    """However the language joins them; the parts alone are not asked for."""
    assert query_of(text).symbols == (("send", "Session"),)


def test_the_nearest_part_qualifies() -> None:
    """Of several."""
    assert query_of("requests.sessions.Session.send").symbols == (("send", "Session"),)


def test_a_file_name_is_a_place_and_no_qualified_name() -> None:
    """`core.py` is no `py` of `core`."""
    query = query_of("core.py")
    assert query.places == (("core.py", 0),)
    assert ("py", "core") not in query.symbols


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/click/core.py", ("src/click/core.py", 0)),
        ("src/click/core.py:102", ("src/click/core.py", 102)),
        ("something fails at lib/app.js:7:12", ("lib/app.js", 7)),
        ('  File "pkg/models.py", line 31, in save', ("pkg/models.py", 31)),
        ("look into docs/guide.md please", ("docs/guide.md", 0)),
    ],
)
def test_paths_are_places_with_a_line_or_none(text: str, place: tuple[str, int]) -> None:
    """As they were written, once."""
    assert query_of(text).places == (place,)


def test_what_a_message_quotes_is_no_symbol() -> None:
    """A quoted value is what was given to the code that raised."""
    query = query_of("TypeError: option 'maxWidth' must be a positive number here")
    assert "maxWidth" not in dict(query.symbols)
    assert ("TypeError", "") in query.symbols


def test_what_a_question_quotes_is_a_symbol() -> None:
    """Where nothing was raised, quotes mark a name."""
    assert ("echo", "") in query_of("where is `echo` defined in the terminal").symbols


def test_names_of_code_in_english_are_patterns_too() -> None:
    """Where they stand is asked for beside the phrase; plain words are not looked for one by one."""
    query = query_of("why does parse_header drop folded lines")
    assert matches(query, "x = parse_header(raw)")
    assert not matches(query, "x = reparse_headers(raw)")
    assert not matches(query, "folded = lines")


# Messages


def test_white_space_in_a_phrase_is_any() -> None:
    """A phrase stands in code with two spaces or tabs as well."""
    assert matches(query_of("lock folder is missing here"), 'Failed("lock  folder\tis missing here")')


def test_a_long_message_is_looked_for_by_its_first_words() -> None:
    """The source breaks it over lines, or ends it differently."""
    query = query_of(
        "Refusing to overwrite existing snapshots because another writer holds them for now sorry"
    )
    assert matches(query, '"Refusing to overwrite existing snapshots because "')


def test_a_message_is_looked_for_by_its_sentences() -> None:
    """Each of three or more words: the source has them in lines of their own."""
    query = query_of("The pool is closed. Create another pool before borrowing. Thanks")
    assert matches(query, '    "Create another pool before borrowing."')
    assert not matches(query, "# Thanks")


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("cannot convert '12x' to a whole number", 'f"cannot convert {text!r} to a whole number"'),
        ("worker 4711 did not answer in time", '"worker %d did not answer in time"'),
        ("unable to read /etc/app/main.conf as settings", '"unable to read " + path + " as settings"'),
    ],
)
def test_values_in_a_message_match_anything(said: str, source: str) -> None:
    """A quoted text, a number or a path was filled in."""
    assert matches(query_of(said), source)
    assert not matches(query_of(said), "cannot answer, unable: number, time, settings")


def test_what_follows_an_exceptions_name_is_a_message() -> None:
    """The name is the run time's; the message is what stands in the source."""
    query = query_of(
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n'
        "    g()\nacme.errors.SpoolError: spool folder is gone\n"
    )
    assert matches(query, 'raise SpoolError("spool folder is gone")')


# Tests


@pytest.mark.parametrize(
    "text",
    ["tests for cookies", "unit test of the router", "test_echo", "class TestEcho", "EchoTest", "echo_test"],
)
def test_tests_are_wanted_where_they_are_asked_for(text: str) -> None:
    """By the word, or by a name that only a test has."""
    assert query_of(text).wants_tests


@pytest.mark.parametrize(
    "text", ["echo", "latest_version", "attestation", "contest", "protest rules of play"]
)
def test_tests_are_not_wanted_otherwise(text: str) -> None:
    """`latest` holds the letters, and is no test."""
    assert not query_of(text).wants_tests


def test_case_is_handed_on() -> None:
    """Whether case counts is who asks' to say."""
    assert query_of("Echo", case_sensitive=True).case_sensitive
    assert not query_of("Echo").case_sensitive


@pytest.mark.parametrize(
    "text",
    [
        "n" * 8000 + "e",
        "n" * 100_000,
        "a." * 50_000,
        "a::" * 30_000,
        "x/" * 50_000,
        "aB" * 30_000,
        "a-" * 50_000,
        "a(" * 30_000,
    ],
    ids=lambda text: text[:3],
)
def test_a_long_word_is_read_in_linear_time(text: str) -> None:
    """A hundred times as long takes about a hundred times as long, not ten thousand times."""
    short = text[: len(text) // 100]
    begin = time.process_time()
    for _ in range(100):
        query_of(short + str(begin))
    once = time.process_time() - begin
    begin = time.process_time()
    query_of(text)
    assert time.process_time() - begin < 10 * once + 1
