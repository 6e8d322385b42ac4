"""What a text counts as in the index: the terms of an identifier, the fields' weights, and a term's impact."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from slicegrep.languages import LANGUAGES
from slicegrep.words import stem, sub_words

if TYPE_CHECKING:
    from slicegrep.types import Source

__all__ = [
    "BODY",
    "CHUNK_LENGTH",
    "DOC",
    "FILE_LENGTH",
    "HEAVIEST",
    "LONGEST_LINE",
    "NAME",
    "PATH_TERM",
    "SIGNATURE",
    "documentation_of",
    "impacts",
    "joined",
    "name_terms_of",
    "path_stems",
    "stems_of",
    "terms_of",
]

BODY, DOC, SIGNATURE, NAME = 2, 1, 2, 6
"""Weights of the fields in halves: body x1, documentation x0.5, and on top of them signature x1 and name x3."""
HEAVIEST = 255
"""A greater sum of weights counts as this: it fits into a byte, and the impact hardly grows past it."""

K1 = 1.2
B = 0.6
"""Saturation and length normalisation of BM25F (Robertson and Zaragoza 2009)."""
CHUNK_LENGTH = 40
FILE_LENGTH = 500
"""Identifiers of a middling chunk and file. Fixed, so that a changed file changes nothing that is written of others."""

PATH_TERM = "/"
"""Before a stem of a file's path in the postings: files alone are under it."""
MOST_FOLDERS = 2
"""Folders above a file whose names count as its own."""
_HOLDERS = frozenset({"index", "mod", "__init__", "__main__", "main", "lib", "init"})
"""Stems of files that say nothing: the folder is the name."""

LONGEST_LINE = 5_000
"""Characters. What is longer is minified or encoded; no search looks at it either."""
_LONGEST_NAME = 64
"""Characters. A longer identifier is a piece of encoded data: it is kept whole and not taken apart."""


def joined(identifier: str) -> str:
    """Return the name under which spellings of one identifier meet: lower case, without underscores.

    An identifier of underscores alone is left as it is.
    """
    lower = identifier.lower()
    if not lower.isascii():
        lower = lower.replace(
            "\u017f", "s"
        )  # the one letter that case-insensitive search folds and lower() leaves
    return lower.replace("_", "") or lower


def _stems(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(stem, parts)))


def terms_of(identifier: str) -> tuple[str, ...]:
    """Return the terms of an identifier in a text: its stems, and `=` with `joined` unless it is a single sub-word."""
    if (
        identifier.islower()
        and identifier.isascii()
        and identifier.isalpha()
        and len(identifier) <= _LONGEST_NAME
    ):
        return (stem(identifier),)
    parts = sub_words(identifier) if len(identifier) <= _LONGEST_NAME else ()
    return (stem(parts[0]),) if len(parts) == 1 else (*_stems(parts), "=" + joined(identifier))


def name_terms_of(name: str) -> tuple[str, ...]:
    """Return the terms that a definition is found by: the stems of its name, and `=` with `joined` always."""
    parts = sub_words(name) if len(name) <= _LONGEST_NAME else ()
    return (*_stems(parts), "=" + joined(name))


def impacts(length: int, average: int, unit: int = BODY) -> bytes:
    """Return the impact (1 to 255) of each weight up to HEAVIEST, in a text of `length` identifiers.

    `unit` is what a word of the body weighs. An impact is 255 * w / (w + k1 * (1 - b + b * length / average)): BM25F's share of a term without its rarity. Lengths over 128
    are told apart to a part in 16.
    """
    step = max(1, 1 << (length.bit_length() - 5)) if length > 128 else 1
    return _impacts(length // step * step, average, unit)


@lru_cache(maxsize=2048)
def _impacts(length: int, average: int, unit: int) -> bytes:
    norm = unit * K1 * (1 - B + B * length / average)
    return bytes([int(255 * weight / (weight + norm) + 0.5) or 1 for weight in range(HEAVIEST + 1)])


@lru_cache(maxsize=64)
def _openers(language: str) -> tuple[re.Pattern[str], str]:
    """Return what may begin documentation, and the end of a comment of many lines ("": as it begins)."""
    known = LANGUAGES[language]
    if language in _QUOTING:
        return re.compile(r"\n[ \t]*#|\"\"\"|'''"), ""
    begin, end = known.block_comment
    line = r"#(?!\[)" if known.line_comment == "#" else re.escape(known.line_comment)
    return re.compile(rf"\n[ \t]*(?:{re.escape(begin)}|{line})" if begin else rf"\n[ \t]*{line}"), end


_QUOTING = {
    "python": re.compile(r"[rRuUbB]{0,2}"),
    "elixir": re.compile(r"@\w*doc\s+(?:~[sS])?"),
}
"""Languages whose documentation is a text of many lines, and what may stand before its quotes."""


def documentation_of(source: Source, text: str) -> bytearray | None:
    """Return for each line of the source 1 where it is a comment or documentation; None where no line is.

    By the beginnings of lines alone: a comment after code counts as code. `text` is `source.text` with an LF before it.
    """
    if source.language not in LANGUAGES:
        return None
    pattern, end = _openers(source.language)
    single = ("#", LANGUAGES[source.language].line_comment)
    before = _QUOTING.get(source.language)
    flags: bytearray | None = None
    at = line = position = 0
    while (found := pattern.search(text, position)) is not None:
        begin, position = found.span()
        opened = found[0].strip()
        counts = True
        if before and opened != "#":
            start = text.rindex("\n", 0, begin)
            counts = before.fullmatch(text[start:begin].strip()) is not None
            begin = start
        if opened not in single:
            close = end or opened
            after = text.find(close, position)
            position = after + len(close) if after >= 0 else len(text)
        if not counts:
            continue
        if flags is None:
            flags = bytearray(len(source.lines) + 1)
        line += text.count("\n", at, begin)
        lines = text.count("\n", begin + 1, position) + 1
        flags[line : line + lines] = b"\1" * lines
        at = begin
    return flags


def path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stems of a file's name, and those with its last MOST_FOLDERS folders'."""
    folders, _, name = path.rpartition("/")
    above = folders.split("/")[-MOST_FOLDERS:] if folders else []
    first = name.lstrip(".").split(".")[0]
    if first.lower() in _HOLDERS and above:
        first = above[-1]
    own = stems_of(first)
    return own, tuple(dict.fromkeys([*own, *[part for folder in above for part in stems_of(folder)]]))


@lru_cache(maxsize=65_536)
def stems_of(name: str) -> tuple[str, ...]:
    """Return the distinct stems of a name's sub-words."""
    return _stems(sub_words(name))
