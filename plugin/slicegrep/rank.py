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

__all__ = ["WEIGHTS", "Block", "Evidence", "Ranking", "features", "rank", "rank_unmatched"]

BLOCK_LINES = 30
"""A block, BM25's document, is a definition's own lines, cut at blank lines where it is longer than this."""
K1 = 1.2
B = 0.6
"""BM25's saturation and length normalisation, as in Robertson and Zaragoza (2009)."""
PREFIX_WEIGHT = 0.4
PREFIX_LENGTH = 4
INSIDE_LENGTH = 6
"""A term that only begins a sub-word (or, from INSIDE_LENGTH characters on, stands inside it) counts PREFIX_WEIGHT."""
LITERAL_WEIGHT = 2.0
"""Of quoted text, numbers and options against words: text that stands as it was said is seldom there by chance."""
WIDE_LINES = 12.0
"""Distance at which a hit's pull on other lines has fallen to 1/e."""
WINDOW_LINES = 4
"""Different terms within so many lines of each other count together."""
HEAD_LINES = 40
REFERENCE_LINES = 12
"""The pull of a line that tool output named ends so many lines away."""
UNMATCHED_HEAD = 20
UNMATCHED_REST = 0.05
"""Where nothing matches: lines at the beginning that are worth as much as the most mentioned definition, and all others."""
LONGEST_LINE = 2_000
"""Characters of one line that are looked at."""

WEIGHTS = {
    "wide": 0.42,  # hits around, fading with distance
    "block": 0.38,  # BM25 of the block
    "definition": 0.68,  # BM25 of the innermost definition with all that is in it
    "outer name": 1.2,  # the focus names a definition around this one: all of it is meant
    "log line": 0.62,  # weight of the terms in the line itself
    "log name": 0.83,  # how far the focus names the innermost definition
    "log window": 0.65,  # weight of the different terms close by
    "outside": 0.48,  # of no definition: imports, constants, tables are touched beside what is asked for
    "head": 0.57,  # likewise the first lines
    "block length": -0.65,  # a change in a long block touches a smaller part of it
    "import": 0.96,  # likewise
    "comment": -1.04,  # requests are seldom about comments,
    "comment asked": 1.15,  # but where they say so, comments are what is meant
    "length": 2.45,  # a long line holds more that may change, and costs more
    "blank": -1.16,  # nothing to change
    "reference": 6.0,  # recent tool output named the line: first, whatever else speaks for others. Not fitted
}
"""The log-odds that each feature adds to a line: a conditional logit (softmax over the file's lines)."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines inside one innermost definition (`symbol` -1: none). Lines 1-based, inclusive."""

    start: int
    end: int
    symbol: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the file holds of the focus. Keys are stems, `=name` for a whole identifier, `"text` for a literal."""

    held: tuple[dict[str, float], ...]
    """For each line, the keys that stand in it, with how often (a part of 1 where only a prefix does)."""
    weight: dict[str, float]
    """Each key's weight in the focus times its rarity among the file's blocks."""
    blocks: tuple[Block, ...]
    counts: tuple[dict[str, float], ...]
    """The sum of `held` for each block."""
    named: tuple[float, ...]
    """For each symbol of the outline, how far the focus names it (0: not at all)."""
    imports: tuple[bool, ...]
    """For each line, whether it imports, includes or names a package."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """`gains[i]` is the chance that line i+1 is needed, up to a factor common to the file."""

    gains: tuple[float, ...]
    evidence: Evidence

    @property
    def matched(self) -> bool:
        """Whether anything of the focus stands in the file."""
        return bool(self.evidence.weight)


def rank(source: Source, outline: Outline, focus: Focus) -> Ranking:
    """Score every line. Nothing is read, nothing raised; time is linear in the file's identifiers."""
    columns, evidence = features(source, outline, focus)
    total = [0.0] * len(source.lines)
    for name, values in columns.items():
        weight = WEIGHTS.get(name, 0.0)
        if weight:
            total = [t + weight * v for t, v in zip(total, values)]
    highest = max(total, default=0.0)
    return Ranking(tuple([math.exp(t - highest) for t in total]), evidence)


def rank_unmatched(source: Source, outline: Outline, ranking: Ranking) -> Ranking:
    """Score the lines of a file that holds nothing of the focus: the head, and the definitions it mentions most."""
    mentions: dict[str, int] = {}
    names = {symbol.name for symbol in outline.symbols}
    for line in source.lines:
        for word in names.intersection(IDENTIFIER.findall(line, 0, LONGEST_LINE)):
            mentions[word] = mentions.get(word, 0) + 1
    most = max(mentions.values(), default=1)
    gains = [UNMATCHED_REST] * len(source.lines)
    for block in ranking.evidence.blocks:
        if block.symbol >= 0:
            share = mentions.get(outline.symbols[block.symbol].name, 0) / most
            gains[block.start - 1 : block.end] = [UNMATCHED_REST + share] * (block.end - block.start + 1)
    head = min(UNMATCHED_HEAD, len(gains))
    gains[:head] = [1.0] * head
    return Ranking(tuple(gains), ranking.evidence)


def features(source: Source, outline: Outline, focus: Focus) -> tuple[dict[str, list[float]], Evidence]:
    """Return the values of each feature of WEIGHTS for each line, and the evidence that they were made from."""
    evidence = _evidence(source, outline, focus)
    columns = _of_terms(source, outline, evidence)
    columns.update(_of_place(len(source.lines), evidence.blocks))
    columns.update(_of_text(source.lines, evidence.imports))
    asked = 1.0 if focus.documentation else 0.0
    columns["comment asked"] = [asked * value for value in columns["comment"]]
    columns["reference"] = _referred(focus.lines, len(source.lines))
    return columns, evidence


def _of_terms(source: Source, outline: Outline, evidence: Evidence) -> dict[str, list[float]]:
    n, blocks, weight = len(source.lines), evidence.blocks, evidence.weight
    hits = [
        sum([weight[key] * min(count, 2.0) for key, count in line.items()]) if line else 0.0
        for line in evidence.held
    ]
    lengths = [0]
    for line in source.lines:
        lengths.append(lengths[-1] + len(line))
    average = lengths[-1] / max(len(blocks), 1) + 1
    block = _spread(
        blocks,
        [
            _bm25(c, weight, (lengths[b.end] - lengths[b.start - 1] + 1) / average)
            for b, c in zip(blocks, evidence.counts)
        ],
        n,
    )
    whole = _whole(outline, evidence, lengths, average)
    name = _spread(blocks, [evidence.named[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks], n)
    return {
        "wide": _unit(_smooth(hits, WIDE_LINES)),
        "block": _unit(block),
        "definition": _unit(_spread(blocks, [whole[b.symbol] if b.symbol >= 0 else 0.0 for b in blocks], n)),
        "outer name": _unit(_spread(blocks, _outer_names(outline, blocks, evidence.named), n)),
        "log line": [math.log1p(h) for h in hits],
        "log name": [math.log1p(h) for h in name],
        "log window": _window(evidence),
    }


def _of_place(n: int, blocks: Sequence[Block]) -> dict[str, list[float]]:
    return {
        "outside": _spread(blocks, [1.0 if b.symbol < 0 else 0.0 for b in blocks], n),
        "head": [1.0] * min(HEAD_LINES, n) + [0.0] * max(n - HEAD_LINES, 0),
        "block length": _spread(blocks, [math.log1p(b.end - b.start + 1) / 4 for b in blocks], n),
    }


_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|#\s*include\b|using\s|package\s|require\b|(?:const|let|var)\s.*=\s*require\()"
)
_COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|elif|pragma|undef|error)\b)|//|\*|/\*|--)"
)


def _of_text(lines: Sequence[str], imports: Sequence[bool]) -> dict[str, list[float]]:
    stripped = [len(line.strip()) for line in lines]
    return {
        "import": [float(value) for value in imports],
        "comment": [1.0 if _COMMENT.match(line) else 0.0 for line in lines],
        "length": [math.log1p(length) / 5 for length in stripped],
        "blank": [0.0 if length else 1.0 for length in stripped],
    }


def _evidence(source: Source, outline: Outline, focus: Focus) -> Evidence:
    terms = _Terms(focus)
    blocks = _blocks(source, outline)
    held = tuple([_held(line, terms, focus.literals) for line in source.lines])
    counts = tuple([_merged(held, block.start, block.end) for block in blocks])
    rarity = _rarity(counts)
    weight = {key: terms.weight(key) * value for key, value in rarity.items()}
    imports = tuple([_IMPORT.match(line) is not None for line in source.lines])
    return Evidence(held, weight, blocks, counts, tuple(_named(outline, terms, rarity)), imports)


def _blocks(source: Source, outline: Outline) -> tuple[Block, ...]:
    """Cut the file at the borders of definitions, and what is longer than BLOCK_LINES at blank lines."""
    n = len(source.lines)
    owner = [-1] * (n + 2)
    for index, symbol in enumerate(outline.symbols):
        end = min(symbol.end, n)
        owner[symbol.start : end + 1] = [index] * max(end + 1 - symbol.start, 0)
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


class _Terms:
    """Which of the focus's terms an identifier holds, with the share of the term's weight."""

    def __init__(self, focus: Focus) -> None:
        self._names = focus.names
        self._terms = focus.terms
        self._literals = focus.literals
        self._long = [term for term in focus.terms if len(term) >= PREFIX_LENGTH]
        self.known: dict[str, tuple[tuple[str, float], ...]] = {}
        """Answers of `of` so far."""

    def of(self, identifier: str) -> tuple[tuple[str, float], ...]:
        """Return (key, share) pairs; a key is `=name` for a whole identifier, else a stem."""
        known = self.known.get(identifier)
        if known is None:
            known = self.known[identifier] = tuple(self._find(identifier))
        return known

    def _find(self, identifier: str) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        joined = identifier.replace("_", "").lower()
        if joined in self._names:
            found.append(("=" + joined, 1.0))
        for part in sorted({stem(p) for p in sub_words(identifier)}):
            if part in self._terms:
                found.append((part, 1.0))
            elif len(part) >= PREFIX_LENGTH:
                near = next((t for t in self._long if _alike(part, t)), None)
                if near is not None:
                    found.append((near, PREFIX_WEIGHT))
        return found

    def weight(self, key: str) -> float:
        """Return the focus's weight of a key."""
        if key[0] == "=":
            return self._names[key[1:]]
        return LITERAL_WEIGHT * self._literals[key[1:]] if key[0] == '"' else self._terms[key]


def _alike(part: str, term: str) -> bool:
    return part.startswith(term) or term.startswith(part) or (len(term) >= INSIDE_LENGTH and term in part)


_NOTHING: dict[str, float] = {}


def _held(line: str, terms: _Terms, literals: dict[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    known = terms.known
    for identifier in IDENTIFIER.findall(line, 0, LONGEST_LINE):
        for key, share in known[identifier] if identifier in known else terms.of(identifier):
            found[key] = found.get(key, 0.0) + share
    for literal in literals:
        if literal in line:
            found['"' + literal] = 1.0
    return found or _NOTHING


def _merged(held: Sequence[dict[str, float]], start: int, end: int) -> dict[str, float]:
    total: dict[str, float] = {}
    for line in held[start - 1 : end]:
        for key, count in line.items():
            total[key] = total.get(key, 0.0) + count
    return total


def _rarity(counts: Sequence[dict[str, float]]) -> dict[str, float]:
    """BM25's inverse document frequency, a block being a document."""
    n = len(counts)
    frequency: dict[str, int] = {}
    for block in counts:
        for key in block:
            frequency[key] = frequency.get(key, 0) + 1
    return {key: math.log(1 + (n - df + 0.5) / (df + 0.5)) for key, df in frequency.items()}


def _bm25(counts: dict[str, float], weight: dict[str, float], relative_length: float) -> float:
    norm = K1 * (1 - B + B * relative_length)
    return sum([weight[key] * count * (K1 + 1) / (count + norm) for key, count in counts.items()])


def _whole(outline: Outline, evidence: Evidence, lengths: Sequence[int], average: float) -> list[float]:
    """BM25 of each definition with all that is in it, summed over its blocks from the inside out."""
    totals: list[dict[str, float]] = [{} for _ in outline.symbols]
    for block, counts in zip(evidence.blocks, evidence.counts):
        at = block.symbol if counts else -1
        while at >= 0:
            into = totals[at]
            for key, count in counts.items():
                into[key] = into.get(key, 0.0) + count
            at = outline.symbols[at].parent
    last = len(lengths) - 1
    return [
        _bm25(
            total,
            evidence.weight,
            (lengths[min(s.end, last)] - lengths[min(s.start, last) - 1] + 1) / average,
        )
        for s, total in zip(outline.symbols, totals)
    ]


def _named(outline: Outline, terms: _Terms, rarity: dict[str, float]) -> list[float]:
    """How far the focus names each definition: matched weight times the share of the name that is matched."""
    unseen = max(rarity.values(), default=1.0)
    result: list[float] = []
    for symbol in outline.symbols:
        keys = terms.of(symbol.name)
        if not keys:
            result.append(0.0)
            continue
        matched = sum([terms.weight(k) * rarity.get(k, unseen) * share for k, share in keys])
        mass = sum([rarity.get(p, unseen) for p in {stem(p) for p in sub_words(symbol.name)}])
        covered = sum([rarity.get(k, unseen) * share for k, share in keys if k[0] != "="])
        result.append(matched * covered / mass if mass else 0.0)
    return result


def _outer_names(outline: Outline, blocks: Sequence[Block], named: Sequence[float]) -> list[float]:
    """For each block, the best name of the definitions around its own."""
    outer: list[float] = []
    for symbol in outline.symbols:  # a parent comes before what is in it
        up = symbol.parent
        outer.append(max(outer[up], named[up]) if up >= 0 else 0.0)
    return [outer[block.symbol] if block.symbol >= 0 else 0.0 for block in blocks]


def _window(evidence: Evidence) -> list[float]:
    """The log of the weight of the different keys within WINDOW_LINES lines."""
    held, weight = evidence.held, evidence.weight
    inside: dict[str, int] = {}
    total = 0.0
    result: list[float] = []
    for i in range(-WINDOW_LINES, len(held)):
        if i + WINDOW_LINES < len(held):
            for key in held[i + WINDOW_LINES]:
                inside[key] = inside.get(key, 0) + 1
                if inside[key] == 1:
                    total += weight[key]
        if i > WINDOW_LINES:
            for key in held[i - WINDOW_LINES - 1]:
                inside[key] -= 1
                if not inside[key]:
                    total -= weight[key]
        if i >= 0:
            result.append(math.log1p(max(total, 0.0)))
    return result


def _referred(lines: Sequence[tuple[int, float]], n: int) -> list[float]:
    result = [0.0] * n
    for number, strength in lines:
        for i in range(max(number - REFERENCE_LINES - 1, 0), min(number + REFERENCE_LINES, n)):
            result[i] = max(result[i], strength * (1 - abs(i + 1 - number) / (REFERENCE_LINES + 1)))
    return result


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
