"""What a search asks for: patterns to match, and weighted names and stems to rank by."""

from __future__ import annotations

import re
from typing import NamedTuple

from slicegrep.focus import (
    CODE_NAME_WEIGHT,
    EARLY_WORDS,
    JOINED_WEIGHT,
    LATE_WEIGHT,
    PROSE_WEIGHT,
    SYNONYM_WEIGHT,
    cleaned,
    literals_of,
    marked_words,
    raise_weight,
)
from slicegrep.languages import language_of
from slicegrep.references import find_references
from slicegrep.words import IDENTIFIER, STOP_WORDS, SYNONYMS, is_code_name, stem, sub_words

__all__ = ["Pattern", "Query", "query_of"]

PROSE_WORDS = 3
"""From so many content words on, a text without regular expression syntax is English, to be found by its vocabulary."""
JOINED_STEM_WEIGHT = 0.3
"""Of two words written as one (`time zone`, `timezone`), and of the initials of two to four words, against a word said."""
MOST_INITIALS = 4
MOST_WORDS = 60
"""Words of one query that are weighed: a pasted log does not make a search slow."""
MOST_REGEX = 20_000
"""Characters of a regular expression that are read for its words."""
MOST_PLACES = 12
SENTENCE_WORDS, SENTENCE_SHARE, MESSAGE_WORDS = 6, 0.6, 12
"""So many plain words that are such a share of all, or so many, are a message, whatever signs stand between them."""
MOST_NAMES = 6
"""Names of code in an English text that are looked for as they are spelled."""
MOST_VALUES = 4
"""A message with more values (quoted texts, numbers, paths) in it is looked for as it stands only."""
LONG_MESSAGE_WORDS = 6
MOST_PHRASES = 12
LEAST_MESSAGE_WORDS = 3
"""A line of a longer text is looked for as it stands when it has so many words."""


class Pattern(NamedTuple):
    """One alternative of a query. `regex` is what to run; `literal` says that it stands for plain text."""

    text: str
    regex: str
    literal: bool = False


class Query(NamedTuple):
    """A search, read once. `names` are whole identifiers, lower-cased, without underscores; the other keys are stems."""

    text: str
    route: str
    """`precise`: what the patterns match is the answer. `vague`: English; the vocabulary ranks."""
    patterns: tuple[Pattern, ...]
    terms: dict[str, float]
    names: dict[str, float]
    expansions: dict[str, float]
    """Stems that may be meant as well (synonyms, joined words, initials), with weights below those of `terms`."""
    wants_tests: bool = False
    case_sensitive: bool = False
    prose: bool = False
    """Whether the words are English rather than names of code, whatever the route."""
    symbols: tuple[tuple[str, str], ...] = ()
    """Names as they were spelled, with their qualifier: `app.set` gives ("set", "app"), `echo` ("echo", "")."""
    places: tuple[tuple[str, int], ...] = ()
    """Paths that the text names, with a 1-based line, or 0 where it names none."""


_SYNTAX = re.compile(
    r"\\[bBdDsSwWAzZ.()\[\]{}*+?|^$/\\]"  # an escape
    r"|\.[*+]"  # anything, repeated
    r"|\(\?[:=!<iPms]"  # a group with a flag
    r"|[\])][*+?](?!\s)|\w[*+](?![\w*+=&\s])|\[\^|\[[a-zA-Z]-[a-zA-Z]|\[\d-\d"
    r"|^\^|\S\$$|\S\|\S"
)
_FUNCTION_WORDS = """
a an and are been by can could did do does had has have how its of on or should that the their then there these this
to was were what when where which who why will would
"""
_ABBREVIATION = re.compile(r"[A-Z]{2,5}s?")
_PLAIN_WORD = re.compile(r"(?<!\S)[A-Za-z][a-z]*[,.;:]?(?!\S)")
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
"""Words that no line of code is made of: beside two content words they tell English from a pattern."""
_ASKS_TESTS = re.compile(
    r"(?i)\b(?:tests|tested|unit[- ]?tests?|test[- ](?:case|suite)s?|regression test|specs? (?:for|of)"
    r"|test (?:for|of|that|which|covering|checking|where))\b|\btest_\w"
)
_ASKS_TEST_NAME = re.compile(r"\bTest[A-Z]\w|\w(?:Test|Spec)\b|_test\b")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*(?:(?:\.|::|->|#)[^\W\d]\w*)+")
_SEPARATOR = re.compile(r"\.|::|->|#")
_PATH = re.compile(r"(?<![\w/.:-])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*")
_RAISED = re.compile(
    r"(?m)(?:(?:Error|Exception|Warning|Failure|\bpanic|\bfatal|\berror|\bwarning)\b[^:\n]{0,40}"
    r"|^[ \t]{0,20}(?:\w{1,60}\.){0,8}[A-Z][a-z\d]{0,40}[A-Z]\w{0,60}):\s+(\S.*)"
)
_VALUE = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|<[^<>\n]*>|0x[0-9a-fA-F]+|(?<!\S)--?[A-Za-z][\w-]*|\d[\d.,]*|(?<!\S)[^\s/]*/\S*"
)


_SENTENCE = re.compile(r"[.;]\s+")
_QUOTED_VALUE = re.compile(r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)")


def query_of(pattern: str, *, case_sensitive: bool = False) -> Query:
    """Read what was asked. Raises nothing: whether a regular expression can be run is for who runs it."""
    text = pattern.strip() if "\n" in pattern.strip() else pattern
    syntax = _is_regex(text)
    plain = said = _without_syntax(text[:MOST_REGEX]) if syntax else cleaned(text)
    if _RAISED.search(text):  # what a message quotes is what was given, not what raised it
        rest = _QUOTED_VALUE.sub(" ", plain)
        plain = rest if len(IDENTIFIER.findall(rest)) >= LEAST_MESSAGE_WORDS else plain
    if not IDENTIFIER.search(plain):  # an address, a trailer: all that was said
        plain = text[:MOST_REGEX]
    words = _defined(plain) or _content(plain)
    english = any(word in _ENGLISH for word in IDENTIFIER.findall(plain))
    vague = not syntax and (len(words) >= PROSE_WORDS or (len(words) > 1 and english) or "\n" in text)
    terms, names, expansions = _weighed(words)
    return Query(
        text=text,
        route="vague" if vague else "precise",
        patterns=(
            (*_phrases(text), *_named(words))
            if vague
            else tuple([Pattern(p, _DOLLAR.sub(r"\\$", p)) for p in _alternatives(text)])
        ),
        terms=terms,
        names=names,
        expansions=expansions,
        wants_tests=_ASKS_TESTS.search(text) is not None or _ASKS_TEST_NAME.search(text) is not None,
        case_sensitive=case_sensitive,
        prose=not syntax and len(words) > 1 and not any(code for _, code in words),
        symbols=_symbols(plain, words),
        places=_places(said),
    )


_DEFINITION = re.compile(
    r"\W*(?:(?:export|default|pub|public|static|async|abstract|final|override)\s+)*"
    r"(?:(?:def|fn|func|struct|enum|impl|const|let|var|val|typedef|defp|defmodule|define)\s+([^\W\d]\w*)"
    r"|(?:class|interface|trait|type|function|module|namespace)\s+([^\W\d]*[A-Z_]\w*))\W*"
)
_DOLLAR = re.compile(r"(?<!\\)\$(?=[A-Za-z_])")
"""No line goes on behind its end: what begins a variable of PHP or JavaScript is meant."""


def _defined(text: str) -> list[tuple[str, bool]]:
    """Return the name in a text that is the beginning of a definition (`def echo`), else nothing."""
    found = _DEFINITION.fullmatch(text)
    return [(found[1] or found[2], True)] if found is not None else []


def _is_regex(text: str) -> bool:
    """Whether the text is written as a regular expression: it has its syntax, and is no message that has some of it."""
    if "\n" in text or _SYNTAX.search(text) is None:
        return False
    plain = len(_PLAIN_WORD.findall(text))
    if plain >= MESSAGE_WORDS:
        return False
    return plain < SENTENCE_WORDS or "|" in text or plain < SENTENCE_SHARE * len(text.split())


_CLASS = re.compile(
    r"\(\?(?:[imsxu-]+\)|[:=!]|<[=!]|P?<\w+>)?|\[[^\]]*\]|\{\d*,?\d*\}|\\[bBdDsSwWAzZntrfvGQEpPx0-9]"
)


def _without_syntax(regex: str) -> str:
    """Return the literal runs of a regular expression: what a match must spell, more or less."""
    text = _CLASS.sub(" ", regex.replace("\\\\", " "))
    text = re.sub(r"\\(\W)", r"\1", text)
    return re.sub(r"[*+?^$|]|\.(?=[*+?]|$)", " ", text)


def _content(text: str) -> list[tuple[str, bool]]:
    """Return the words that say something, in order, each with whether it is spelled or marked as a name of code."""
    marked = marked_words(text)
    every = IDENTIFIER.findall(text)
    found = [(w, w in marked or is_code_name(w)) for w in every if w.lower() not in STOP_WORDS or w in marked]
    found = [(w, code) for w, code in found if len(w) > 1 or len(every) < PROSE_WORDS]
    if not found:  # `read`, `add`: all that was said
        found = [(w, False) for w in every]
    return found[:MOST_WORDS]


def _weighed(words: list[tuple[str, bool]]) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    terms: dict[str, float] = {}
    names: dict[str, float] = {}
    expansions: dict[str, float] = {}
    run: list[str] = []
    for place, (word, code) in enumerate(words):
        weight = 1.0 if place < EARLY_WORDS else LATE_WEIGHT
        joined = word.replace("_", "").lower()
        raise_weight(names, joined, weight * (CODE_NAME_WEIGHT if code else PROSE_WEIGHT))
        parts = sub_words(word)
        for part in parts:
            if part not in STOP_WORDS or len(words) == 1:
                raise_weight(terms, stem(part), weight)
                for other in SYNONYMS.get(stem(part), ()):
                    expansions.setdefault(other, weight * SYNONYM_WEIGHT)
        run = [] if code else [*run[1 - MOST_INITIALS :], joined]
        if len(run) > 1:
            raise_weight(names, run[-2] + run[-1], weight * JOINED_WEIGHT)
            expansions.setdefault(stem(run[-2] + run[-1]), weight * JOINED_STEM_WEIGHT)
            for first in range(len(run) - 1):
                initials = "".join([said[0] for said in run[first:]])
                expansions.setdefault(initials, weight * JOINED_STEM_WEIGHT)
        for at in range(len(parts) - 1):
            expansions.setdefault(stem(parts[at] + parts[at + 1]), weight * JOINED_STEM_WEIGHT)
    return terms, names, {key: w for key, w in expansions.items() if key not in terms}


def _symbols(text: str, words: list[tuple[str, bool]]) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    dotted: set[str] = set()
    for match in _DOTTED.finditer(text):
        if language_of(match[0]):
            continue  # `sessions.py`
        parts = _SEPARATOR.split(match[0])
        found[parts[-1], parts[-2]] = None
        dotted.update(parts)
    for word, _ in words:
        if word not in dotted:
            found["$" + word if re.search(rf"\$\{{?{word}\b", text) else word, ""] = None
    return tuple(found)


def _places(text: str) -> tuple[tuple[str, int], ...]:
    found = dict.fromkeys(find_references(text, MOST_PLACES))
    named = {path for path, _ in found}
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".")
        if path not in named and (language_of(path) or ("/" in path and "." in path)):
            found[path, 0] = None
    return tuple(found)[:MOST_PLACES]


def _alternatives(regex: str) -> list[str]:
    """Split at the `|` that stand outside of groups and classes; empty alternatives match everything and are dropped."""
    found: list[str] = []
    start = at = depth = 0
    in_class = False
    while at < len(regex):
        char = regex[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            at += regex[at + 1 : at + 2] == "^"
            at += regex[at + 1 : at + 2] == "]"  # a `]` that comes first stands for itself
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            found.append(regex[start:at])
            start = at + 1
        at += 1
    if in_class or depth:  # broken: what it was meant to be is for the matcher to say
        return [regex]
    found.append(regex[start:])
    return list(dict.fromkeys(part for part in found if part)) or [regex]


def _phrases(text: str) -> tuple[Pattern, ...]:
    """Return what may stand in a file as it was said: the text, or of a longer one its first and last line; messages."""
    lines = [line.strip() for line in text.split("\n") if line.strip()] or [text]
    said = dict.fromkeys([lines[0], lines[-1]])
    for line in lines:
        raised = _RAISED.search(line)
        if raised is not None:
            said[raised[1].strip()] = None
    said.update(dict.fromkeys(lit for lit in literals_of(text) if " " in lit or lit.startswith("-")))
    for phrase in list(said):  # in the source a long message goes over several lines
        said.update(
            dict.fromkeys(
                part for part in _SENTENCE.split(phrase) if len(part.split()) >= LEAST_MESSAGE_WORDS
            )
        )
        words = phrase.split()
        if len(words) > LONG_MESSAGE_WORDS:
            said[" ".join(words[:LONG_MESSAGE_WORDS])] = None
    found: dict[str, Pattern] = {}
    for phrase in list(said)[:MOST_PHRASES]:
        words = phrase.rstrip(".?!:;,").split()
        if len(words) >= LEAST_MESSAGE_WORDS or phrase.startswith("-") or (phrase == text and words):
            regex = _flexible(words)
            found.setdefault(regex, Pattern(phrase, regex, literal=True))
    return tuple(found.values()) or (Pattern(text, re.escape(text), literal=True),)


def _named(words: list[tuple[str, bool]]) -> list[Pattern]:
    """Return patterns for the names of code in an English text: where they stand is asked for too."""
    names = dict.fromkeys(
        word for word, code in words if code and len(word) > 2 and not _ABBREVIATION.fullmatch(word)
    )
    return [Pattern(name, rf"\b{re.escape(name)}\b", literal=True) for name in list(names)[:MOST_NAMES]]


def _whole(word: str) -> str:
    """Return a word as a regex, with its edges marked: by them the index knows which identifiers it can be."""
    first, last = (
        r"\b" if char.isascii() and (char.isalnum() or char == "_") else "" for char in (word[0], word[-1])
    )
    return first + re.escape(word) + last


def _flexible(words: list[str]) -> str:
    """Return a regex for a phrase in which white space is any, and a value (quoted, a number, a path) may be anything."""
    exact = r"\s+".join([_whole(word) for word in words])
    pieces = [p.rstrip(" :;,.") for p in _VALUE.split(" ".join(words)) if IDENTIFIER.search(p)]
    if len(pieces) > MOST_VALUES + 1 or sum([len(p.split()) for p in pieces]) in (0, len(words)):
        return exact
    said = [len(IDENTIFIER.findall(piece)) for piece in pieces]
    if sum(said) < LEAST_MESSAGE_WORDS or max(said) < LEAST_MESSAGE_WORDS - 1:
        return exact
    return ".{1,80}?".join([r"\s+".join([re.escape(w) for w in piece.split()]) for piece in pieces])
