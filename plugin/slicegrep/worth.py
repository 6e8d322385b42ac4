"""What each line of a ranked region is worth, against the best line of the best one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slicegrep.focus import Focus
from slicegrep.prepared import Prepared
from slicegrep.rank import WEIGHTS, features
from slicegrep.regions import COMMENT, COMMENT_STARTS
from slicegrep.types import Outline, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.candidates import Candidate
    from slicegrep.query import Query

__all__ = ["by_marks", "by_vocabulary", "end_of", "values_of"]

FILE_POWER = {"precise": 2.0, "vague": 3.0}
OWN_POWER = 0.5
"""A region is worth the share that its file's best one has of the best score, to FILE_POWER of the query's route, times its own
share of its file's best score, to OWN_POWER: what plain English asks for stands in few files, and not only where the
best evidence is; what a pattern matches may be meant anywhere."""
SAME_FILE = 0.97
"""Each further region of a file is worth so much less, so that one file does not take all where scores are level."""

BEST, HIT, REST = 1.0, 0.7, 0.01
"""What the region's best line, another one that matches, and any line of it are worth."""
LEAD, BODY = 0.5, 0.7
"""What a line is worth falls by LEAD for each line that it stands above one that matches, and by BODY below it."""
DEFINITION_BODY = 0.95
"""Likewise below the line that names a definition, down to the definition's end: what it does is asked for as well as where
it is. Above it only its comment and decorators are worth as much as a line above a match."""
PROSE = 0.25
"""Of a comment or a documentation string against code."""

LINE_FEATURES = ("line", "near", "window", "wide", "comment", "import", "length", "blank")
"""Of the ranking of one file (rank.WEIGHTS), those that need no outline."""
BEST_LINES = 3
APART = 2
"""Empty lines between two parts, so that what stands at the end of one does not count for the next."""


def values_of(candidates: Sequence[Candidate], route: str) -> list[float]:
    """Return what each candidate (best first) is worth as a whole, the best one 1."""
    best: dict[str, float] = {}
    for one in candidates:
        if one.score > best.get(one.file, 0.0):
            best[one.file] = one.score
    highest = max(best.values(), default=0.0)
    of_file = {file: (score / highest) ** FILE_POWER[route] for file, score in best.items()}
    times: dict[str, int] = {}
    values = []
    for rank, one in enumerate(candidates):
        before = times[one.file] = times.get(one.file, -1) + 1
        if highest > 0:
            share = max(one.score, 0.0) / best.get(one.file, highest)
            value = of_file.get(one.file, 0.0) * share**OWN_POWER
        else:
            value = 1 / (1 + rank)
        values.append(value * SAME_FILE**before)
    return values


def by_marks(candidate: Candidate, text: Sequence[str], first: int) -> list[float]:
    """Return the worth of some of a candidate's lines, `text` from line `first` on, by where its patterns match."""
    worth = [REST] * len(text)
    best = candidate.best - first
    if 0 <= best < len(text):
        if candidate.role == "definition":
            _fall(worth, best, end_of(text, best) + 1, BEST, DEFINITION_BODY)
            _fall(worth, best - 1, _top_of(text, best) - 1, LEAD, 1.0)
        else:
            _fall(worth, best - 1, -1, BEST * LEAD, LEAD)
            _fall(worth, best, len(text), BEST, BODY)
    for line in candidate.hits:
        if 0 <= line - first < len(text) and line != candidate.best:
            _fall(worth, line - first - 1, -1, HIT * LEAD, LEAD)
            _fall(worth, line - first, len(text), HIT, BODY)
    return [w * PROSE if prose else w for w, prose in zip(worth, _prose(text), strict=True)]


def _fall(worth: list[float], at: int, end: int, value: float, by: float) -> None:
    """Raise lines from `at` up to, not with, `end` to a value that falls from line to line, as far as it is above theirs."""
    for i in range(at, end, 1 if end > at else -1):
        if value <= worth[i]:
            break
        worth[i] = value
        value *= by


_ABOVE = COMMENT_STARTS | {"@", "["}
_CLOSING = (")", "]", "}", "{")


def _top_of(text: Sequence[str], first: int) -> int:
    """Return the first line (index) of the comment and the decorators above the definition that begins at `first`."""
    while first > 0 and text[first - 1].lstrip()[:1] in _ABOVE:
        first -= 1
    return first


def end_of(text: Sequence[str], first: int) -> int:
    """Return the last line (index) of the definition that begins at `first`: what is indented deeper, and what closes it."""
    depth = len(text[first]) - len(text[first].lstrip())
    last = first
    for i in range(first + 1, len(text)):
        stripped = text[i].lstrip()
        if stripped:
            if len(text[i]) - len(stripped) <= depth and not stripped.startswith(_CLOSING):
                break
            last = i
    return last


def _prose(text: Sequence[str]) -> list[bool]:
    """Tell of each line whether it is a comment, or in or at the edge of a string between triple quotes."""
    found = []
    inside = False
    for line in text:
        quoted = inside
        if '"""' in line:
            inside ^= line.count('"""') % 2 == 1
            quoted = True
        found.append(quoted or (line.lstrip()[:1] in COMMENT_STARTS and COMMENT.match(line) is not None))
    return found


def by_vocabulary(texts: Sequence[Sequence[str]], bests: Sequence[int], query: Query) -> list[list[float]]:
    """Return the worth of the lines of each text by which of the query's words stand in and around them.

    `bests` are indexes of the lines that must be there when anything is, each in its text or not: they and the lines after
    them are worth as much as any in the text.
    """
    lines: list[str] = []
    starts: list[int] = []
    for text in texts:
        starts.append(len(lines))
        lines.extend(text)
        lines.extend([""] * APART)
    focus = Focus(names=query.names, terms=query.terms)
    columns, _ = features(Prepared(Source("", "", tuple(lines), 0, ""), Outline("")), focus)
    total = [0.0] * len(lines)
    for name in LINE_FEATURES:
        weight = WEIGHTS[name]
        total = [t + weight * v for t, v in zip(total, columns[name], strict=True)]
    most = max(total, default=0.0)
    worth = [math.exp(t - most) for t in total]
    found = []
    for start, text, best in zip(starts, texts, bests, strict=True):
        own = worth[start : start + len(text)]
        if 0 <= best < len(own):
            own[best : best + BEST_LINES] = [max(own)] * len(own[best : best + BEST_LINES])
        found.append(own)
    return found
