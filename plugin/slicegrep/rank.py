"""How likely each line of a file is to be what the session needs: evidence of the line, its block and its definitions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.words import IDENTIFIER, stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.focus import Focus
    from slicegrep.types import Outline, Source

__all__ = ["Block", "Ranking", "blocks_of", "features", "rank"]

BLOCK_LINES = 30
K1 = 1.2
B = 0.6
PREFIX_WEIGHT = 0.4
PREFIX_LENGTH = 4
INSIDE_LENGTH = 6
LITERAL_WEIGHT = 2.0
NEAR_REACH = 2.5
WIDE_REACH = 12
REFERENCE_REACH = 12
LONGEST_LINE = 2_000

WEIGHTS = {
    "line": 0.5, "near": 1.2, "wide": 0.8, "block": 1.0, "whole": 0.2, "name": 0.5, "outer": 0.3,
    "log_line": 0.5, "log_block": 0.1, "log_name": 0.4, "rare": 0.3, "uses": 0.3,
    "import": 0.9, "comment": -0.8, "top": 0.4, "head": 0.5, "signature": 0.2, "reference": 4.0,
}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines inside one innermost definition (`symbol` -1: none). Lines 1-based, inclusive."""

    start: int
    end: int
    symbol: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """What speaks for each line: `gains[i]` is the odds of line i+1, up to a factor common to the file."""

    gains: tuple[float, ...]
    hits: tuple[float, ...]
    keys: tuple[tuple[str, ...], ...]
    """The focus's terms that stand in each line."""
    blocks: tuple[Block, ...]
    named: tuple[float, ...]
    """For each symbol of the outline, how far the focus names it (0: not at all)."""


def blocks_of(source: Source, outline: Outline) -> tuple[Block, ...]:
    """Cut the file at the borders of definitions, and what is longer than BLOCK_LINES at blank lines."""
    n = len(source.lines)
    owner = [-1] * (n + 2)
    for index, symbol in enumerate(outline.symbols):
        for line in range(symbol.start, min(symbol.end, n) + 1):
            owner[line] = index
    cuts = [1]
    cuts.extend(line for line in range(2, n + 1) if owner[line] != owner[line - 1])
    cuts.append(n + 1)
    blocks: list[Block] = []
    for start, after in zip(cuts, cuts[1:]):
        at = start
        while after - at > BLOCK_LINES:
            cut = _blank_between(source.lines, at + BLOCK_LINES // 2, at + BLOCK_LINES - 1)
            blocks.append(Block(at, cut, owner[at]))
            at = cut + 1
        if at < after:
            blocks.append(Block(at, after - 1, owner[at]))
    return tuple(blocks)


def _blank_between(lines: Sequence[str], low: int, high: int) -> int:
    """Return the last blank line in low..high (1-based), else `high`."""
    for line in range(high, low - 1, -1):
        if not lines[line - 1].strip():
            return line
    return high


_IMPORT = re.compile(r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|#\s*include\b|using\s|package\s|require\b|(?:const|let|var)\s.*=\s*require\()")
_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|elif|pragma|undef|error)\b)|//|\*|/\*|--)")


class _Terms:
    """Which of the focus's terms an identifier holds, with the share of the term's weight."""

    def __init__(self, focus: Focus) -> None:
        self._names = focus.names
        self._terms = focus.terms
        self._long = [term for term in focus.terms if len(term) >= PREFIX_LENGTH]
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}

    def of(self, identifier: str) -> tuple[tuple[str, float], ...]:
        """Return (key, share) pairs; a key is `=name` for a whole identifier, else a stem."""
        known = self._known.get(identifier)
        if known is not None:
            return known
        found: list[tuple[str, float]] = []
        joined = identifier.replace("_", "").lower()
        if joined in self._names:
            found.append(("=" + joined, 1.0))
        for part in {stem(p) for p in sub_words(identifier)}:
            if part in self._terms:
                found.append((part, 1.0))
            elif len(part) >= PREFIX_LENGTH:
                near = next((t for t in self._long if part.startswith(t) or t.startswith(part) or (len(t) >= INSIDE_LENGTH and t in part)), None)
                if near is not None:
                    found.append((near, PREFIX_WEIGHT))
        result = tuple(found)
        self._known[identifier] = result
        return result

    def weight(self, key: str) -> float:
        """Return the focus's weight of a key."""
        return self._names[key[1:]] if key[0] == "=" else self._terms[key]


def features(source: Source, outline: Outline, focus: Focus) -> tuple[dict[str, list[float]], Ranking]:
    """Return the evidence for each line by name (see WEIGHTS), most of it scaled so that the file's best is 1."""
    n = len(source.lines)
    blocks = blocks_of(source, outline)
    terms = _Terms(focus)
    held = [_held(line, terms, focus.literals) for line in source.lines]
    in_blocks = [_merged(held, block.start, block.end) for block in blocks]
    idf = _idf(in_blocks)
    weight = {key: (LITERAL_WEIGHT * focus.literals[key[1:]] if key[0] == '"' else terms.weight(key)) * value for key, value in idf.items()}
    hits = [sum(weight[key] * min(count, 2.0) for key, count in line.items()) for line in held]
    strongest = max(weight.values(), default=1.0)
    lengths = [sum(len(source.lines[i]) for i in range(b.start - 1, b.end)) + 1 for b in blocks]
    average = sum(lengths) / max(len(lengths), 1)
    block_scores = [_bm25(c, weight, length / average) for c, length in zip(in_blocks, lengths)]
    named = _named(outline, terms, idf)
    whole_scores = _whole(outline, held, weight, average, source)
    by_block = [named[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks]
    block_line = _spread(blocks, block_scores, n)
    name_line = _spread(blocks, by_block, n)
    signature = [0.0] * n
    for s in outline.symbols:
        if s.name_line <= n:
            signature[s.name_line - 1] = 1.0
    columns = {
        "line": _unit(hits),
        "near": _unit(_smooth(hits, NEAR_REACH)),
        "wide": _unit(_smooth(hits, WIDE_REACH)),
        "block": _unit(block_line),
        "whole": _unit(_spread(blocks, [whole_scores[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks], n)),
        "name": _unit(name_line),
        "outer": _unit(_spread(blocks, [_outer(outline, b.symbol, named) for b in blocks], n)),
        "log_line": [math.log1p(h) for h in hits],
        "log_block": [math.log1p(h) for h in block_line],
        "log_name": [math.log1p(h) for h in name_line],
        "rare": [max((weight[k] for k in line), default=0.0) / strongest for line in held],
        "uses": _uses(source, outline, named),
        "import": [1.0 if _IMPORT.match(line) else 0.0 for line in source.lines],
        "comment": [1.0 if _COMMENT.match(line) else 0.0 for line in source.lines],
        "top": _spread(blocks, [1.0 if b.symbol < 0 else 0.0 for b in blocks], n),
        "head": [1.0 if i < 40 else 0.0 for i in range(n)],
        "signature": signature,
        "reference": _referred(focus.lines, n),
    }
    ranking = Ranking((), tuple(hits), tuple(tuple(line) for line in held), blocks, tuple(named))
    return columns, ranking


def rank(source: Source, outline: Outline, focus: Focus) -> Ranking:
    """Score every line. Nothing is read, nothing raised; time is linear in the file's identifiers."""
    columns, ranking = features(source, outline, focus)
    used = [(WEIGHTS[name], values) for name, values in columns.items() if WEIGHTS.get(name)]
    gains = tuple(math.exp(sum(w * values[i] for w, values in used)) for i in range(len(source.lines)))
    return Ranking(gains, ranking.hits, ranking.keys, ranking.blocks, ranking.named)


def _referred(lines: Sequence[tuple[int, float]], n: int) -> list[float]:
    result = [0.0] * n
    for number, strength in lines:
        for i in range(max(number - REFERENCE_REACH - 1, 0), min(number + REFERENCE_REACH, n)):
            result[i] = max(result[i], strength * (1 - abs(i + 1 - number) / (REFERENCE_REACH + 1)))
    return result


def _uses(source: Source, outline: Outline, named: Sequence[float]) -> list[float]:
    """Where the best named definition is mentioned: its callers change with it."""
    best = max(named, default=0.0)
    result = [0.0] * len(source.lines)
    if best <= 0:
        return result
    names = {s.name for s, v in zip(outline.symbols, named) if v >= 0.6 * best and len(s.name) > 2}
    for i, line in enumerate(source.lines):
        if any(name in line for name in names) and not names.isdisjoint(IDENTIFIER.findall(line, 0, LONGEST_LINE)):
            result[i] = 1.0
    return result


def _held(line: str, terms: _Terms, literals: dict[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for identifier in IDENTIFIER.findall(line, 0, LONGEST_LINE):
        for key, share in terms.of(identifier):
            found[key] = found.get(key, 0.0) + share
    for literal in literals:
        if literal in line:
            found['"' + literal] = 1.0
    return found


def _merged(held: Sequence[dict[str, float]], start: int, end: int) -> dict[str, float]:
    total: dict[str, float] = {}
    for i in range(start - 1, end):
        for key, count in held[i].items():
            total[key] = total.get(key, 0.0) + count
    return total


def _whole(outline: Outline, held: Sequence[dict[str, float]], weight: dict[str, float], average: float, source: Source) -> list[float]:
    n = len(held)
    result: list[float] = []
    for s in outline.symbols:
        end = min(s.end, n)
        length = sum(len(source.lines[i]) for i in range(s.start - 1, end)) + 1
        result.append(_bm25(_merged(held, s.start, end), weight, length / average))
    return result


def _idf(in_blocks: Sequence[dict[str, float]]) -> dict[str, float]:
    """BM25's inverse document frequency (Robertson and Zaragoza 2009), a block being a document."""
    n = len(in_blocks)
    frequency: dict[str, int] = {}
    for counts in in_blocks:
        for key in counts:
            frequency[key] = frequency.get(key, 0) + 1
    return {key: math.log(1 + (n - df + 0.5) / (df + 0.5)) for key, df in frequency.items()}


def _bm25(counts: dict[str, float], weight: dict[str, float], relative_length: float) -> float:
    norm = K1 * (1 - B + B * relative_length)
    return sum(weight[key] * count * (K1 + 1) / (count + norm) for key, count in counts.items())


def _named(outline: Outline, terms: _Terms, idf: dict[str, float]) -> list[float]:
    """How far the focus names each definition: matched weight times the share of the name that is matched."""
    unseen = max(idf.values(), default=1.0)
    result: list[float] = []
    for symbol in outline.symbols:
        keys = terms.of(symbol.name)
        matched = sum(terms.weight(k) * idf.get(k, unseen) * share for k, share in keys)
        parts = {stem(p) for p in sub_words(symbol.name)}
        mass = sum(idf.get(p, unseen) for p in parts)
        covered = sum(idf.get(k, unseen) * share for k, share in keys if k[0] != "=")
        result.append(matched * covered / mass if mass else 0.0)
    return result


def _outer(outline: Outline, symbol: int, named: Sequence[float]) -> float:
    best = 0.0
    at = outline.symbols[symbol].parent if symbol >= 0 else -1
    while at >= 0:
        best = max(best, named[at])
        at = outline.symbols[at].parent
    return best


def _spread(blocks: Sequence[Block], values: Sequence[float], n: int) -> list[float]:
    result = [0.0] * n
    for block, value in zip(blocks, values):
        if value:
            result[block.start - 1 : block.end] = [value] * (block.end - block.start + 1)
    return result


def _smooth(values: Sequence[float], reach: float) -> list[float]:
    """Exponential smoothing both ways: a hit counts for a line d lines away by exp(-d / reach)."""
    decay = math.exp(-1 / reach)
    forward, carry = [], 0.0
    for value in values:
        carry = carry * decay + value
        forward.append(carry)
    carry = 0.0
    result = [0.0] * len(values)
    for i in range(len(values) - 1, -1, -1):
        result[i] = forward[i] + carry * decay
        carry = carry * decay + values[i]
    return result


def _unit(values: list[float]) -> list[float]:
    highest = max(values, default=0.0)
    return [v / highest for v in values] if highest > 0 else values
