"""What each line of a ranked region is worth, against the best line of the best one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slicegrep.focus import Focus
from slicegrep.rank import WEIGHTS, features
from slicegrep.types import Outline, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.query import Query
    from slicegrep.types import Candidate

__all__ = ["by_marks", "by_vocabulary", "values_of"]

FILE_POWER = 3.0
OWN_POWER = 0.5
"""A region is worth the share that its file's best one has of the best score, to FILE_POWER, times its own share of its
file's best score, to OWN_POWER: what is needed stands in few files, and not only where their best evidence is."""
SAME_FILE = 0.97
"""Each further region of a file is worth so much less, so that one file does not take all where scores are level."""

BEST, HIT, REST = 1.0, 0.8, 0.06
"""What the region's best line, another one that matches, and any line of it are worth."""
LEAD, BODY, DEFINITION_BODY = 0.7, 0.85, 0.97
"""What a line is worth falls by LEAD for each line that it stands above one that matches, and by BODY below it;
below one that names a definition by DEFINITION_BODY: what it does is asked for as well as where it is."""

LINE_FEATURES = ("line", "near", "window", "wide", "comment", "import", "length", "blank")
"""Of the ranking of one file (rank.WEIGHTS), those that need no outline."""
APART = 2
"""Empty lines between two parts, so that what stands at the end of one does not count for the next."""


def values_of(candidates: Sequence[Candidate], places: Sequence[int]) -> dict[int, float]:
    """Return what each of the candidates at `places` (best first) is worth as a whole, the best one 1."""
    best: dict[str, float] = {}
    for place in places:
        one = candidates[place]
        best[one.file] = max(best.get(one.file, 0.0), one.score)
    highest = max(best.values(), default=0.0)
    times: dict[str, int] = {}
    values: dict[int, float] = {}
    for rank, place in enumerate(places):
        one = candidates[place]
        if best[one.file] > 0:
            of_file = (best[one.file] / highest) ** FILE_POWER
            own = (max(one.score, 0.0) / best[one.file]) ** OWN_POWER
        else:
            of_file, own = (1.0 if highest <= 0 else 0.0), 1 / (1 + rank)
        before = times[one.file] = times.get(one.file, -1) + 1
        values[place] = of_file * own * SAME_FILE**before
    return values


def by_marks(candidate: Candidate) -> list[float]:
    """Return the worth of a candidate's lines by where its patterns match."""
    count = candidate.end - candidate.start + 1
    marks = [REST] * count
    for line in candidate.hits:
        marks[line - candidate.start] = HIT
    best = candidate.best - candidate.start
    marks[best if 0 <= best < count else 0] = BEST
    fall = DEFINITION_BODY if candidate.role == "definition" or not candidate.hits else BODY
    worth = []
    value = 0.0
    for mark in marks:
        value *= fall
        value = max(value, mark)
        worth.append(value)
    value = 0.0
    for i in range(count - 1, -1, -1):
        value *= LEAD
        value = max(value, marks[i])
        worth[i] = max(worth[i], value)
    return worth


def by_vocabulary(texts: Sequence[Sequence[str]], query: Query) -> list[list[float]]:
    """Return the worth of the lines of each text by which of the query's words stand in and around them."""
    lines: list[str] = []
    starts: list[int] = []
    for text in texts:
        starts.append(len(lines))
        lines.extend(text)
        lines.extend([""] * APART)
    focus = Focus(names=query.names, terms=query.terms)
    columns, _ = features(Source("", "", tuple(lines), 0, ""), Outline(""), focus)
    total = [0.0] * len(lines)
    for name in LINE_FEATURES:
        weight = WEIGHTS[name]
        total = [t + weight * v for t, v in zip(total, columns[name], strict=True)]
    highest = max(total, default=0.0)
    worth = [math.exp(t - highest) for t in total]
    return [worth[start : start + len(text)] for start, text in zip(starts, texts, strict=True)]
