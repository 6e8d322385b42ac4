"""The regions around a file's hits: windows, or the definitions that the hits stand in."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.outlines import Outlined, bytes_of
from slicegrep.outline.around import FUNCTION_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.candidates import Hit
    from slicegrep.types import Symbol

__all__ = ["BOUNDARIES", "COMMENT", "COMMENT_STARTS", "Region", "regions", "windows"]

BOUNDARIES = ("auto", "fn", "none")
"""Where a region may end: a window cut at the outermost definition, the innermost definition, a plain window."""

OWN_LINES = 30
"""Of a class, a table or the module level, at most so many lines come with a hit: a block of the index has as many."""
COMMENT_LINES = 40
"""A longer comment above a definition is not taken with it: it is a licence or an essay."""

COMMENT = re.compile(
    r"\s*(?://|/\*|\*|--|\{-|<!--|;;|#(?!\s*(?:include|define|undef|if|ifdef|ifndef|else|elif|endif|pragma|error|line)\b))"
)
"""The beginning of a line that is a comment, in any language; preprocessor lines are none."""
COMMENT_STARTS = frozenset("/*-{<;#")
"""The first characters of such a line, past its indentation: to be asked first, since most lines have another."""
_SEE_THROUGH = frozenset({"namespace"})


class Region(NamedTuple):
    """A run of lines with the hits in it. Lines 1-based, inclusive."""

    start: int
    end: int
    hits: tuple[Hit, ...]
    symbol: int
    """Index of the innermost definition around the first hit, its comment included; -1 at the module level."""


def regions(
    hits: Sequence[Hit],
    symbols: Sequence[Symbol],
    total_lines: int,
    *,
    before: int,
    after: int,
    boundary: str,
    lines: Sequence[str] = (),
) -> list[Region]:
    """Return the regions of hits (ascending by line), ascending and without overlap; every hit is in one of them.

    `none`: `before` and `after` lines around each hit. `auto`: the same, cut at the edges of the outermost definition
    around the hit (namespaces do not count), or of those beside it where it is in none. `fn`: the whole innermost
    function around the hit, or the whole of another definition of at most OWN_LINES lines; of a larger one and of
    the module level the lines that no definition inside has, at most OWN_LINES around the hit and, at the module
    level, up to a blank line. Regions that overlap become one.

    `symbols` are those of the file's outline. `lines`, the file's, serve to take the comment above a definition with it
    and to see blank lines; without them neither happens. Raises ValueError for another boundary.
    """
    if boundary not in BOUNDARIES:
        raise ValueError(f"boundary must be one of {', '.join(BOUNDARIES)}, not {boundary!r}")
    places = _Places(symbols, total_lines, lines)
    found: list[tuple[int, int, int, Hit]] = []
    for hit in hits:
        innermost = places.around(hit.line)
        if boundary == "fn":
            start, end = places.own(hit.line, innermost)
        else:
            start, end = max(hit.line - before, 1), min(hit.line + after, total_lines)
            if boundary == "auto":
                low, high = places.outermost(hit.line, innermost)
                start, end = max(start, low), min(end, high)
        found.append((start, end, innermost, hit))
    found.sort(key=lambda one: one[:2])
    merged: list[Region] = []
    at = 0
    while at < len(found):
        start, end = found[at][:2]
        upto = at + 1
        while upto < len(found) and found[upto][0] <= end:
            end = max(end, found[upto][1])
            upto += 1
        together = sorted(found[at:upto], key=lambda one: one[3].line)
        merged.append(Region(start, end, tuple([one[3] for one in together]), together[0][2]))
        at = upto
    return merged


def windows(hits: Sequence[Hit], total_lines: int, *, before: int, after: int) -> list[Region]:
    """Return what `regions` does without definitions (`none`, `auto`), at a tenth of the time."""
    found: list[Region] = []
    first = start = end = 0
    for at, hit in enumerate(hits):
        line = hit[0]
        begin = max(line - before, 1)
        if at and begin > end:
            found.append(Region(start, end, tuple(hits[first:at]), -1))
            first = at
        if at == first:
            start = begin
        end = min(line + after, total_lines)
    if hits:
        found.append(Region(start, end, tuple(hits[first:]), -1))
    return found


class _Places:
    """Where a line stands among the definitions of its file."""

    def __init__(self, symbols: Sequence[Symbol], total: int, lines: Sequence[str]) -> None:
        outlined = symbols if isinstance(symbols, Outlined) else Outlined(bytes_of(symbols))
        self._kind, self._above = outlined.kind, outlined.above
        self._starts, self._ends, self._name_lines = outlined.starts, outlined.ends, outlined.name_lines
        self._total = total
        self._lines = lines

    def around(self, line: int) -> int:
        """Return the innermost definition around a line, or the one whose comment it is; -1 for none."""
        following = bisect_right(self._starts, line)
        inside = self._containing(line, following - 1)[0]
        if following < len(self._starts) and self._above[following] == inside + 1:
            start = self._starts[following]
            if self._lines and line >= self._first(following) and line < start:
                return following
        return inside

    def outermost(self, line: int, innermost: int) -> tuple[int, int]:
        """Return the edges of the outermost definition, or of the gap between definitions."""
        outermost, at = -1, innermost
        while at >= 0:
            if self._kind(at) not in _SEE_THROUGH:
                outermost = at
            at = self._above[at] - 1
        if outermost < 0:
            return self._gap(line, innermost)
        return self._whole(outermost)

    def own(self, line: int, innermost: int) -> tuple[int, int]:
        """Return the innermost function, or the lines around `line` that are a larger definition's own."""
        if innermost >= 0:
            kind, start = self._kind(innermost), self._starts[innermost]
            short = self._ends[innermost] - start < OWN_LINES and kind not in _SEE_THROUGH
            if short or kind in FUNCTION_KINDS:
                return self._whole(innermost)
            if line < start:  # in its comment
                return self._first(innermost), min(self._name_lines[innermost], self._total)
        low, high = self._gap(line, innermost)
        low = max(low, line - OWN_LINES // 2)
        high = min(high, low + OWN_LINES - 1)
        if self._lines and (innermost < 0 or self._kind(innermost) in _SEE_THROUGH):
            return self._paragraph(line, low, high)
        return low, high

    def _containing(self, line: int, at: int) -> tuple[int, int]:
        """Return the innermost definition that holds the line, and the last one inside it that ended before; -1 each."""
        ended = -1
        while at >= 0 and self._ends[at] < line:
            ended, at = at, self._above[at] - 1
        return at, ended

    def _gap(self, line: int, owner: int) -> tuple[int, int]:
        """Return the lines around `line` that are the owner's and of no definition inside it."""
        following = bisect_right(self._starts, line)
        ended = self._containing(line, following - 1)[1]
        low, high = 1, self._total
        if owner >= 0:
            low, high = self._starts[owner], min(self._ends[owner], self._total)
        if ended >= 0:
            low = max(low, self._ends[ended] + 1)
        if following < len(self._starts):
            high = min(high, max(self._first(following) - 1, line))
        return low, high

    def _whole(self, index: int) -> tuple[int, int]:
        return self._first(index), min(self._ends[index], self._total)

    def _first(self, index: int) -> int:
        """Return the first line of a definition or of the comment that stands right above it."""
        start = self._starts[index]
        if not self._lines:
            return start
        first = start
        while first > max(start - COMMENT_LINES, 1) and COMMENT.match(self._lines[first - 2]):
            first -= 1
        return first if first > start - COMMENT_LINES else start

    def _paragraph(self, line: int, low: int, high: int) -> tuple[int, int]:
        first = last = line
        while first > low and self._lines[first - 2].strip():
            first -= 1
        while last < high and self._lines[last].strip():
            last += 1
        return first, last
