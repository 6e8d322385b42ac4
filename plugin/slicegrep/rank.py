"""How likely each line of a file is to be what the session needs: evidence of the line, its block and its definitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from slicegrep.evidence import Evidence, evidence_of
from slicegrep.prepared import weighed
from slicegrep.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.focus import Focus
    from slicegrep.prepared import Prepared

__all__ = ["WEIGHTS", "Ranking", "features", "rank", "rank_unmatched"]

REFERENCE_LINES = 12
"""The pull of a line that tool output named ends so many lines away."""
UNMATCHED_HEAD = 20
UNMATCHED_FIRST = 3.0
UNMATCHED_REST = 0.05
"""Where nothing matches: lines of the head, and what each of them and any other line is worth; the most mentioned
definition is worth 1."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """`gains[i]` is the chance that line i+1 is needed, up to a factor common to the file."""

    gains: tuple[float, ...]
    evidence: Evidence
    matched: bool
    """Whether anything of the focus stands in the file, or tool output named a line of it."""


def rank(prepared: Prepared, focus: Focus) -> Ranking:
    """Score every line. Nothing is read, nothing raised; time is linear in the file's lines."""
    evidence = evidence_of(prepared, focus)
    n = len(prepared.source.lines)
    of_lines, of_blocks = _of_lines(prepared, evidence, focus), _of_blocks(prepared, evidence)
    own = weighed(of_blocks, len(evidence.blocks))
    block_of = prepared.places.block_of
    standing = prepared.standing[focus.documentation]
    base = [own[block] + value for block, value in zip(block_of, standing, strict=True)]
    total = weighed(of_lines, n, base)
    highest, exp = max(total, default=0.0), math.exp
    matched = bool(evidence.weight) or any(of_lines["reference"])
    return Ranking(tuple([exp(t - highest) for t in total]), evidence, matched)


def rank_unmatched(prepared: Prepared, ranking: Ranking) -> Ranking:
    """Score the lines of a file that holds nothing of the focus: the head, and the definitions it mentions most."""
    outline, at = prepared.outline, prepared.lexicon.at
    defined: dict[str, int] = {}
    for symbol in outline.symbols:
        defined[symbol.name] = defined.get(symbol.name, 0) + 1
    each = {name: len(at[name]) / count for name, count in defined.items()}
    most = max(each.values(), default=0.0) or 1.0
    gains = [UNMATCHED_REST] * len(prepared.source.lines)
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
    columns = {**_of_lines(prepared, evidence, focus), **prepared.columns}
    for name, values in _of_blocks(prepared, evidence).items():
        columns[name] = [values[block] for block in prepared.places.block_of]
    asked = 1.0 if focus.documentation else 0.0
    columns["comment asked"] = [asked * value for value in columns["comment"]]
    return columns, evidence


def _of_lines(prepared: Prepared, evidence: Evidence, focus: Focus) -> dict[str, Sequence[float]]:
    """Return those features that each line has for itself, by the weight of what stands in it and around it."""
    n = len(prepared.source.lines)
    line, near, window, wide = [0.0] * n, [0.0] * (n + 1), [0.0] * (n + 1), [0.0] * (n + 1)
    for key, place in evidence.places.items():
        weight = evidence.weight[key]
        for i in place.lines:
            line[i] += weight
        for i, more in place.more:
            line[i] += weight * more
        for column, (starts, ends) in ((near, place.near), (window, place.window), (wide, place.wide)):
            for i in starts:
                column[i] += weight
            for i in ends:
                column[i] -= weight
    return {
        "line": list(map(math.log1p, line)),
        "near": list(map(math.log1p, islice(accumulate(near), n))),
        "window": list(map(math.log1p, islice(accumulate(window), n))),
        "wide": list(map(math.log1p, islice(accumulate(wide), n))),
        "reference": _referred(focus.lines, n),
    }


def _of_blocks(prepared: Prepared, evidence: Evidence) -> dict[str, list[float]]:
    """Return those features that all lines of a block have alike, for each block."""
    symbols = prepared.outline.symbols
    whole = [0.0] * len(symbols)
    for key, place in evidence.places.items():
        weight = evidence.weight[key]
        for number, value in place.symbols:
            whole[number] += weight * value
    outer: list[float] = []
    for symbol in symbols:  # a parent comes before what is in it
        up = symbol.parent
        outer.append(max(outer[up], evidence.named[up]) if up >= 0 else 0.0)
    names = list(map(math.log1p, evidence.named))
    of_symbols = {"definition": whole, "name": names, "outer name": outer}
    of_blocks = {
        name: [values[block.symbol] if block.symbol >= 0 else 0.0 for block in evidence.blocks]
        for name, values in of_symbols.items()
    }
    return {name: values if name == "name" else _unit(values) for name, values in of_blocks.items()}


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
