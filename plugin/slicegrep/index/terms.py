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
    "LONGEST_LINE",
    "NAME",
    "SIGNATURE",
    "documentation_of",
    "impacts_of_length",
    "joined",
    "stems_of",
    "terms_of",
]

BODY, DOC, SIGNATURE, NAME = 2, 1, 2, 6
"""Weights of the fields in halves: body x1, documentation x0.5, and on top signature x1 and name x3."""

K1 = 1.2
B = 0.6
"""Saturation and length normalisation of BM25F (Robertson and Zaragoza 2009)."""
CHUNK_LENGTH = 40
FILE_LENGTH = 500
"""Identifiers of a middling chunk and file. Fixed, so that a changed file changes nothing that is written of others."""

LONGEST_LINE = 5_000
"""Characters. What is longer is minified or encoded; no search looks at it either."""
_LONGEST_NAME = 64
"""Characters. A longer identifier is a piece of encoded data: it is kept whole and not taken apart."""

_MOST = 511  # weights in halves; past it the impact is that of this weight
_LENGTHS = 64  # lengths are told apart in steps of a 32nd of the average, up to twice it, then in powers


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


@lru_cache(maxsize=65_536)
def stems_of(identifier: str) -> tuple[str, ...]:
    """Return the distinct stems of an identifier's sub-words."""
    if len(identifier) > _LONGEST_NAME:
        return ()
    return tuple(dict.fromkeys([stem(part) for part in sub_words(identifier)]))


def terms_of(identifier: str) -> tuple[str, ...]:
    """Return the terms that an identifier in a text counts as: its stems, and `=` with `joined` where it has not one sub-word."""
    parts = sub_words(identifier) if len(identifier) <= _LONGEST_NAME else ()
    if len(parts) == 1:
        return (stem(parts[0]),)
    return (*dict.fromkeys([stem(part) for part in parts]), "=" + joined(identifier))


@lru_cache(maxsize=4096)
def impacts_of_length(length: int, average: int) -> bytes:
    """Return the impact (1 to 255) of each weight in halves, for a text of `length` identifiers.

    It is 255 * w / (w + k1 * (1 - b + b * length / average)): BM25F's share of a term without its rarity.
    """
    norm = K1 * (1 - B + B * length / average)
    return bytes([max(1, round(255 * (w / 2) / (w / 2 + norm))) for w in range(_MOST + 1)])


@lru_cache(maxsize=64)
def _openers(language: str) -> tuple[re.Pattern[str], str] | None:
    """Return what begins documentation in a language (the group `block` is a comment or a text of many lines), and its end."""
    known = LANGUAGES.get(language)
    if known is None:
        return None
    begin, end = known.block_comment
    skip = "(?!)"
    if language in ("python", "elixir"):  # texts of many lines: documentation where they begin a line
        end, skip = "", r"\"\"\"|\'\'\'"
        before = r"[rRuUbB]{0,2}" if language == "python" else r"@\w*doc\s+~?[sS]?"
        block = rf"{before}(?P<block>{skip})"
    else:
        block = f"(?P<block>{re.escape(begin)})" if begin else "(?P<block>(?!))"
    line = r"#(?!\[)" if known.line_comment == "#" else re.escape(known.line_comment)
    return re.compile(rf"^[ \t]*(?:{block}|{line}.*)|(?P<skip>{skip})", re.MULTILINE), end


def documentation_of(source: Source, text: str) -> bytearray | None:
    """Return for each line of the source 1 where it is a comment or documentation; None where no line is.

    By the beginnings of lines alone: a comment after code counts as code. `text` is `source.text`.
    """
    openers = _openers(source.language)
    if openers is None:
        return None
    pattern, end = openers
    flags: bytearray | None = None
    at, line = 0, 0
    position = 0
    while (found := pattern.search(text, position)) is not None:
        begin, position = found.start(), found.end()
        opened = found["block"] or found["skip"]
        if opened:
            close = end or opened
            after = text.find(close, position)
            position = after + len(close) if after >= 0 else len(text)
        if found["skip"]:
            continue
        if flags is None:
            flags = bytearray(len(source.lines) + 1)
        line += text.count("\n", at, begin)
        flags[line : line + text.count("\n", begin, position) + 1] = b"\1" * (
            text.count("\n", begin, position) + 1
        )
        at = begin
    return flags
