"""The text that a grammar gets to see: UTF-8, no absurd lines, nothing that it has no word for; lines never shift."""

from __future__ import annotations

import re
from functools import cache, partial

__all__ = ["LONGEST_LINE", "blank", "encoded", "repaired"]

LONGEST_LINE = 20_000
"""Characters. Longer lines (minified code, embedded data) are emptied: a parser spends about a second per MB on
them, and a map or an enclosing name is worth nothing where the whole program is one line."""


def encoded(lines: tuple[str, ...]) -> tuple[bytes, bool]:
    """Return the lines as UTF-8 joined by LF, and whether some were emptied for their length."""
    emptied = max(map(len, lines), default=0) > LONGEST_LINE
    if emptied:
        lines = tuple([line if len(line) <= LONGEST_LINE else "" for line in lines])
    # To a grammar a NUL is the end of the text.
    return "\n".join(lines).replace("\0", " ").encode("utf-8", "surrogatepass"), emptied


def repaired(text: bytes, repairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """Return the text with the groups of each pattern (the whole match without groups) overwritten by its filler."""
    for pattern, filler in repairs:
        text = _compiled(pattern).sub(partial(_filled, filler), text)
    return text


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


def _filled(filler: bytes, match: re.Match[bytes]) -> bytes:
    found = bytearray(match.group())
    for group in range(1, len(match.groups()) + 1) if match.groups() else (0,):
        start, end = match.span(group)
        if start >= 0:
            found[start - match.start() : end - match.start()] = _FILLED.sub(filler, match.group(group))
    return bytes(found)


def blank(text: bytes) -> bytes:
    """Return spaces of the same length, newlines kept."""
    return _FILLED.sub(b" ", text)


_FILLED = re.compile(rb"[^\n]")
