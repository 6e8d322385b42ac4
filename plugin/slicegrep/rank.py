"""How likely each line of a file is to be what the session needs: evidence of the line, its block and its definitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from slicegrep.evidence import Evidence, evidence_of
from slicegrep.prepared import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slicegrep.blocks import Block
    from slicegrep.focus import Focus
    from slicegrep.prepared import Prepared
    from slicegrep.types import Outline

__all__ = ["WEIGHTS", "Ranking", "features", "rank", "rank_unmatched"]

K1 = 1.2
B = 0.6
"""BM25's saturation and length normalisation, as in Robertson and Zaragoza (2009)."""
MOST_HITS = 2.0
"""As often as a term counts in one line."""
NEAR_LINES, WINDOW_LINES, WIDE_LINES = 2, 8, 24
"""Different terms within so many lines of each other count together. One window of 4 lines with exponentially smoothed
hits and the block's BM25 was 0.05 nats less likely on tuning and held-out files alike."""
REFERENCE_LINES = 12
"""The pull of a line that tool output named ends so many lines away."""
UNMATCHED_HEAD = 20
UNMATCHED_FIRST = 3.0
UNMATCHED_REST = 0.05
"""Where nothing matches: lines of the head, and what each of them and any other line is worth; the most mentioned
definition is worth 1."""
WEIGHTS = {
    "line": 0.60,  # terms in the line itself
    "near": 0.33,  # different terms within NEAR_LINES
    "window": 0.46,  # within WINDOW_LINES
    "wide": 0.42,  # within WIDE_LINES
    "definition": 0.63,  # BM25 of the innermost definition with all that is in it
    "name": 0.78,  # how far the focus names the innermost definition
    "outer name": 1.17,  # the focus names a definition around that one: all of it is meant
    "outside": 0.45,  # of no definition: imports, constants, tables are touched beside what is asked for
    "head": 0.52,  # likewise the first lines
    "import": 0.96,  # likewise
    "block length": -0.62,  # a change in a long block touches a smaller part of it
    "comment": -1.06,  # requests are seldom about comments,
    "comment asked": 1.16,  # but where they say so, comments are what is meant
    "length": 2.41,  # a long line holds more that may change, and costs more
    "blank": -1.18,  # nothing to change
    "reference": 8.0,  # recent tool output named the line: first, whatever speaks for others. Not fitted
}
"""The log-odds that each feature adds to a line: a conditional logit (softmax over the file's lines)."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """`gains[i]` is the chance that line i+1 is needed, up to a factor common to the file."""

    gains: tuple[float, ...]
    evidence: Evidence
    matched: bool
    """Whether anything of the focus stands in the file, or tool output named a line of it."""


def rank(prepared: Prepared, focus: Focus) -> Ranking:
    """Score every line. Nothing is read, nothing raised; time is linear in the file's identifiers."""
    columns, evidence = features(prepared, focus)
    total = _weighed(columns, len(prepared.source.lines))
    highest = max(total, default=0.0)
    matched = bool(evidence.weight) or any(columns["reference"])
    return Ranking(tuple([math.exp(t - highest) for t in total]), evidence, matched)


def _weighed(columns: Mapping[str, Sequence[float]], n: int) -> list[float]:
    """Return the sum of the columns by their weights, five at a time: half of the time that one by one takes."""
    used = [(WEIGHTS[name], values) for name, values in columns.items() if any(values)]
    used += [(0.0, [0.0] * n)] * (-len(used) % 5)
    total = [0.0] * n
    for i in range(0, len(used), 5):
        (a, first), (b, second), (c, third), (d, fourth), (e, fifth) = used[i : i + 5]
        total = [
            t + a * v + b * w + c * x + d * y + e * z
            for t, v, w, x, y, z in zip(total, first, second, third, fourth, fifth, strict=True)
        ]
    return total


def rank_unmatched(prepared: Prepared, ranking: Ranking) -> Ranking:
    """Score the lines of a file that holds nothing of the focus: the head, and the definitions it mentions most."""
    outline, lines = prepared.outline, prepared.lexicon.lines
    defined: dict[str, int] = {}
    for symbol in outline.symbols:
        defined[symbol.name] = defined.get(symbol.name, 0) + 1
    mentions = dict.fromkeys(defined, 0)
    for words in lines:
        for word in words:
            if word in mentions:
                mentions[word] += 1
    each = {name: count / defined[name] for name, count in mentions.items()}
    most = max(each.values(), default=0.0) or 1.0
    gains = [UNMATCHED_REST] * len(lines)
    for block in ranking.evidence.blocks:
        if block.symbol >= 0:
            share = each[outline.symbols[block.symbol].name] / most
            gains[block.start - 1 : block.end] = [UNMATCHED_REST + share] * (block.end - block.start + 1)
    head = min(UNMATCHED_HEAD, len(gains))
    gains[:head] = [UNMATCHED_FIRST] * head
    return Ranking(tuple(gains), ranking.evidence, matched=False)


def features(prepared: Prepared, focus: Focus) -> tuple[dict[str, Sequence[float]], Evidence]:
    """Return the values of each feature of WEIGHTS for each line, and the evidence that they were made from."""
    evidence = evidence_of(prepared, focus)
    columns: dict[str, Sequence[float]] = {**_of_terms(prepared, evidence), **prepared.columns}
    asked = 1.0 if focus.documentation else 0.0
    columns["comment asked"] = [asked * value for value in columns["comment"]]
    columns["reference"] = _referred(focus.lines, len(prepared.source.lines))
    return columns, evidence


def _of_terms(prepared: Prepared, evidence: Evidence) -> dict[str, list[float]]:
    source, outline = prepared.source, prepared.outline
    n, blocks, weight = len(source.lines), evidence.blocks, evidence.weight
    hits = [
        sum([weight[key] * (count if count < MOST_HITS else MOST_HITS) for key, count in line.items()])  # noqa: FURB136 (twice as fast)
        if line
        else 0.0
        for line in evidence.held
    ]
    whole = _whole(prepared, evidence)
    names = [math.log1p(value) for value in evidence.named]
    near, window, wide = _windows(evidence)
    return {
        "line": [math.log1p(hit) if hit else 0.0 for hit in hits],
        "near": near,
        "window": window,
        "wide": wide,
        "definition": _unit(spread(blocks, [whole[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks], n)),
        "name": spread(blocks, [names[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks], n),
        "outer name": _unit(spread(blocks, _outer_names(outline, blocks, evidence.named), n)),
    }


def _bm25(counts: dict[str, float], weight: dict[str, float], relative_length: float) -> float:
    norm = K1 * (1 - B + B * relative_length)
    return sum([weight[key] * count * (K1 + 1) / (count + norm) for key, count in counts.items()])


def _whole(prepared: Prepared, evidence: Evidence) -> list[float]:
    """BM25 of each definition with all that is in it, against blocks of the mean length."""
    source, outline, lengths = prepared.source, prepared.outline, prepared.characters_upto
    average = lengths[-1] / max(len(evidence.blocks), 1) + 1
    totals: list[dict[str, float]] = [{} for _ in outline.symbols]
    for block, counts in zip(evidence.blocks, evidence.counts, strict=True):
        at = block.symbol if counts else -1
        while at >= 0:
            into = totals[at]
            for key, count in counts.items():
                into[key] = into.get(key, 0.0) + count
            at = outline.symbols[at].parent
    last = len(source.lines)
    return [
        _bm25(
            total,
            evidence.weight,
            (lengths[min(s.end, last)] - lengths[min(s.start, last) - 1] + 1) / average,
        )
        for s, total in zip(outline.symbols, totals, strict=True)
    ]


def _outer_names(outline: Outline, blocks: Sequence[Block], named: Sequence[float]) -> list[float]:
    """For each block, the best name of the definitions around its own."""
    outer: list[float] = []
    for symbol in outline.symbols:  # a parent comes before what is in it
        up = symbol.parent
        outer.append(max(outer[up], named[up]) if up >= 0 else 0.0)
    return [outer[block.symbol] if block.symbol >= 0 else 0.0 for block in blocks]


def _windows(evidence: Evidence) -> Iterator[list[float]]:
    """Yield the log of the weight of the different keys within NEAR_LINES, WINDOW_LINES and WIDE_LINES of each line.

    A line comes into all three at once, and leaves one after the other: a key that came in again meanwhile stays.
    """
    held, weight = evidence.held, evidence.weight
    spans = [2 * reach + 1 for reach in (NEAR_LINES, WINDOW_LINES, WIDE_LINES)]
    shortest, middle, longest = spans
    near = window = wide = 0.0
    nears: list[float] = []
    windows: list[float] = []
    wides: list[float] = []
    last = dict.fromkeys(weight, -longest - 1)
    ended = [*held, *repeat(_NOTHING, WIDE_LINES)]
    first, second, third = [chain(repeat(_NOTHING, span), ended) for span in spans]
    for line, new, out, later, latest in zip(range(len(ended)), ended, first, second, third):  # noqa: B905 (the last lines never leave)
        if new:
            for key in new:
                away = line - last[key]
                last[key] = line
                if away > shortest:
                    near += weight[key]
                    if away > middle:
                        window += weight[key]
                        if away > longest:
                            wide += weight[key]
        if out:
            gone = line - shortest
            for key in out:
                if last[key] == gone:
                    near -= weight[key]
        if later:
            gone = line - middle
            for key in later:
                if last[key] == gone:
                    window -= weight[key]
        if latest:
            gone = line - longest
            for key in latest:
                if last[key] == gone:
                    wide -= weight[key]
        nears.append(near)
        windows.append(window)
        wides.append(wide)
    for reach, column in ((NEAR_LINES, nears), (WINDOW_LINES, windows), (WIDE_LINES, wides)):
        within = column[reach : reach + len(held)]
        yield [math.log1p(value) if value > 0.0 else 0.0 for value in within]


_NOTHING: dict[str, float] = {}
_PULL = [1 - abs(away) / (REFERENCE_LINES + 1) for away in range(-REFERENCE_LINES, REFERENCE_LINES + 1)]


def _referred(lines: Sequence[tuple[int, float]], n: int) -> list[float]:
    """Return a reference's strength, at most 1, at its line, and less around it."""
    result = [0.0] * n
    for number, strength in lines:
        most = min(strength, 1.0)
        first = number - 1 - REFERENCE_LINES
        for i in range(max(first, 0), min(number + REFERENCE_LINES, n)):
            value = most * _PULL[i - first]
            if value > result[i]:  # noqa: PLR1730 (as above)
                result[i] = value
    return result


def _unit(values: list[float]) -> list[float]:
    highest = max(values, default=0.0)
    return [v / highest for v in values] if highest > 0 else values
