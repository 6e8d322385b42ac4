"""What the session is working on: weighted terms, names and line references, made from what was said and done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass, field
from functools import lru_cache

from slicegrep.words import IDENTIFIER, STOP_WORDS, SYNONYMS, is_code_name, stem, sub_words

__all__ = [
    "Focus",
    "Said",
    "Wording",
    "cleaned",
    "focus_of",
    "literals_of",
    "marked_words",
    "raise_weight",
    "wording_of",
]

# Pasted base64, hex and the like say nothing, and cost the patterns below quadratic time.
_LONG_WORD = re.compile(r"(?<!\S)\S{200,}")
_URL = re.compile(r"\w{2,12}://\S+")
_TRAILER = re.compile(r"(?im)^\s*(?:[A-Z][\w-]+-by|pr-url|refs?|closes|git-svn-id|change-id)\s*:.*$")
_QUOTED = re.compile(r"`([^`\n]{1,120})`|\"([^\"\n]{1,80})\"|'([^'\n]{2,80})'")
# Each begins where a word does, so that a long one is walked through once.
_CALLED = re.compile(r"(?<![\w.])([^\W\d][\w.]*)\(")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*(?:(?:\.|::|->|#)[^\W\d]\w*)+")
_LONGEST = 20_000
"""Characters of one text that are looked at, half from its head and half from its end: people ask above a pasted log, or
below it."""

_NUMBER_OR_OPTION = r"\d+(?:\.\d+)+|\b\d{3,}\b|0x[0-9a-fA-F]+|--?[a-z][\w-]{2,}|@[^\W\d]\w+"
_LITERAL = re.compile(_NUMBER_OR_OPTION)
_LOUD = r"|[^\W\d]\w*!"
"""A word before a `!` is looked for only in a text that has one: it takes longer than all the others."""

_DOCUMENTATION = re.compile(
    r"(?i)\b(?:docs?|documentation|docstrings?|javadocs?|comments?|typos?|spelling|grammar|wording|english|license|authors?)\b"
)

CODE_NAME_WEIGHT = 2.0
PART_WEIGHT = 1.0
PROSE_WEIGHT = 1.0
JOINED_WEIGHT = 0.6
"""`time zone` said of `timezone` written."""
SYNONYM_WEIGHT = 0.4
EARLY_WORDS = 40
LONG_WORDS = 200
LATE_WEIGHT = 0.5
"""Words past the first EARLY_WORDS of a text count half: requests and commit messages begin with their point. A text of
more than LONG_WORDS holds something pasted, and may end with its point: its last EARLY_WORDS count whole too."""
REPEATED = 0.15
MOST_REPEATED = 1.45
"""Each further mention adds REPEATED of its weight, up to MOST_REPEATED of it in all: 700 lines of a log do not
outweigh a name that was said once."""
MOST_LITERALS = 12
"""Of one text: a log is full of numbers."""


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of text with the weight of what it is (1.0 for the latest prompt). `code` text holds names, not prose."""

    text: str
    weight: float
    code: bool = False


@dataclass(frozen=True, slots=True)
class Focus:
    """Terms to rank by.

    `names` are whole identifiers, lower-cased and without underscores; `terms` stems of words and sub-words; both with weights above 0.
    `lines` are 1-based lines of this very file that tool output referred to, with weights.
    """

    names: dict[str, float]
    terms: dict[str, float]
    literals: dict[str, float] = field(default_factory=dict)
    """Text to be found as it stands: quoted phrases, numbers, options; with weights."""
    lines: tuple[tuple[int, float], ...] = ()
    documentation: bool = False
    """Whether the latest text is about comments or documentation."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to rank by."""
        return not (self.names or self.terms or self.lines)


@dataclass(frozen=True, slots=True)
class Wording:
    """What one text names, in its order, with the share of the text's weight that each mention has."""

    names: tuple[tuple[str, float], ...]
    terms: tuple[tuple[str, float], ...]
    literals: tuple[str, ...]


def focus_of(
    said: Sequence[Said],
    *,
    lines: Iterable[tuple[int, float]] = (),
    stem_of_file: str = "",
    wording: Callable[[str, bool], Wording] | None = None,
) -> Focus:
    """Weigh what was said. The words of the file's own stem count a little: each part of the file is about them.

    `wording` is `wording_of`, or one that remembers.
    """
    wording = wording or wording_of
    names: dict[str, float] = {}
    terms: dict[str, float] = {}
    literals: dict[str, float] = {}
    for piece in said:
        _add(wording(piece.text, piece.code), piece.weight, names, terms, literals)
    for part in sub_words(stem_of_file):
        key = stem(part)
        if key in terms:
            terms[key] *= 0.5
    latest = next((piece.text for piece in said if not piece.code), "")
    latest = _ends(latest)
    return Focus(names, terms, literals, tuple(lines), _DOCUMENTATION.search(latest) is not None)


@lru_cache(maxsize=16_384)
def _spelling(word: str) -> tuple[str, tuple[str, ...], bool, bool, bool]:
    """Return a word as a name, the stems of what it says, and whether it has several parts, is a stop-word, looks like code."""
    lower = word.lower()
    parts = sub_words(word)
    stems = tuple([stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS])
    return lower.replace("_", ""), stems, len(parts) > 1, lower in STOP_WORDS, is_code_name(word)


def wording_of(text: str, code: bool) -> Wording:  # noqa: FBT001
    """Return what a text names; `code` text holds names, not prose."""
    text = cleaned(text)
    marked = marked_words(text)
    names: list[tuple[str, float]] = []
    terms: list[tuple[str, float]] = []
    before = ""
    words = [
        (w, spelling)
        for w in IDENTIFIER.findall(text)
        if len(w) > 1 and (not (spelling := _spelling(w))[3] or w in marked)
    ]
    for place, (word, (joined, stems, several, _, spelled_as_code)) in enumerate(words):
        named = code or spelled_as_code or word in marked
        early = place < EARLY_WORDS or (len(words) > LONG_WORDS and place >= len(words) - EARLY_WORDS)
        weight = 1.0 if early else LATE_WEIGHT
        names.append((joined, weight * (CODE_NAME_WEIGHT if named else PROSE_WEIGHT)))
        if before and not named:
            names.append((before + joined, weight * JOINED_WEIGHT))
        before = "" if named else joined
        share = weight * (PART_WEIGHT if several else PROSE_WEIGHT)
        terms.extend([(one, share) for one in stems])
    return Wording(tuple(names), tuple(terms), tuple(literals_of(text)))


def _add(
    wording: Wording,
    weight: float,
    names: dict[str, float],
    terms: dict[str, float],
    literals: dict[str, float],
) -> None:
    for literal in wording.literals:
        raise_weight(literals, literal, weight)
    for name, share in wording.names:
        raise_weight(names, name, weight * share)
    for one, share in wording.terms:
        raise_weight(terms, one, weight * share)
        for other in SYNONYMS.get(one, ()):
            if other not in terms:
                terms[other] = weight * share * SYNONYM_WEIGHT


def cleaned(text: str) -> str:
    """Return the head and the end of a text, without addresses, trailers of commits and words that are data."""
    text = _LONG_WORD.sub(" ", _ends(text))
    return _TRAILER.sub("", _URL.sub(" ", text) if "://" in text else text)


def marked_words(text: str) -> set[str]:
    """Return the words that quotes, a call's parenthesis or a dot mark as names of code."""
    marked = {
        word
        for match in _QUOTED.finditer(text)
        for group in match.groups()
        if group
        for word in IDENTIFIER.findall(group)
    }
    marked.update(word for match in _CALLED.finditer(text) for word in IDENTIFIER.findall(match[1]))
    marked.update(word for match in _DOTTED.finditer(text) for word in IDENTIFIER.findall(match[0]))
    return marked


def _ends(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def literals_of(text: str) -> list[str]:
    """Return the quoted phrases, then the numbers and options of a text, each once; of many the first and the last."""
    quoted = (next(group for group in match.groups() if group).strip() for match in _QUOTED.finditer(text))
    found = dict.fromkeys(phrase for phrase in quoted if len(phrase) > 3 and not phrase.isidentifier())
    pattern = re.compile(_NUMBER_OR_OPTION + _LOUD) if "!" in text else _LITERAL
    found.update(dict.fromkeys(match[0] for match in pattern.finditer(text)))
    every = list(found)
    return (
        every if len(every) <= MOST_LITERALS else every[: MOST_LITERALS // 2] + every[-MOST_LITERALS // 2 :]
    )


def raise_weight(weights: dict[str, float], key: str, weight: float) -> None:
    """Count a further mention of `key`, of this weight, within REPEATED and MOST_REPEATED."""
    old = weights.get(key)
    if old is None:
        weights[key] = weight
        return
    most = MOST_REPEATED * weight
    if old < most:
        raised = old + REPEATED * weight if old > weight else weight + REPEATED * old
        if raised > most:  # noqa: PLR1730 (twice as fast)
            raised = most
        if raised > old:
            weights[key] = raised
