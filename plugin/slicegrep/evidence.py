"""Which of the focus's terms stand where in a file, and how rare they are there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.blocks import Block, blocks_of
from slicegrep.words import IDENTIFIER, stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.focus import Focus
    from slicegrep.prepared import Prepared
    from slicegrep.types import Outline

__all__ = ["LONGEST_LINE", "Block", "Evidence", "blocks_of", "evidence_of"]

PREFIX_WEIGHT = 0.4
PREFIX_LENGTH = 4
INSIDE_LENGTH = 6
"""A term that only begins a sub-word (or, from INSIDE_LENGTH characters on, stands inside it) counts PREFIX_WEIGHT."""
LITERAL_WEIGHT = 2.0
"""Of quoted text, numbers and options against words: text that stands as it was said is seldom there by chance."""
LONGEST_LINE = 2_000
"""Characters of one line that are looked at."""


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


def evidence_of(prepared: Prepared, focus: Focus) -> Evidence:
    """Look the focus up in the file. Time is linear in the file's identifiers."""
    terms = _Terms(focus)
    blocks = prepared.blocks
    held = tuple([_held(line, terms, focus.literals) for line in prepared.source.lines])
    counts = tuple([_merged(held, block.start, block.end) for block in blocks])
    rarity = _rarity(counts)
    weight = {key: terms.weight(key) * value for key, value in rarity.items()}
    return Evidence(held, weight, blocks, counts, tuple(_named(prepared.outline, terms, rarity)))


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
        mass = sum([rarity.get(p, unseen) for p in sorted({stem(p) for p in sub_words(symbol.name)})])
        covered = sum([rarity.get(k, unseen) * share for k, share in keys if k[0] != "="])
        result.append(matched * covered / mass if mass else 0.0)
    return result
