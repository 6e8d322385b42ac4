"""Which of the focus's terms stand where in a file, and how rare they are there."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.blocks import Block, blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slicegrep.focus import Focus
    from slicegrep.lexicon import Lexicon
    from slicegrep.prepared import Prepared

__all__ = ["Block", "Evidence", "blocks_of", "evidence_of"]

PREFIX_WEIGHT = 0.4
PREFIX_LENGTH = 4
INSIDE_LENGTH = 6
"""A term that only begins a sub-word (or, from INSIDE_LENGTH characters on, stands inside it) counts PREFIX_WEIGHT."""
LITERAL_WEIGHT = 2.0
"""Of quoted text, numbers and options against words: text that stands as it was said is seldom there by chance."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the file holds of the focus. Keys are stems, `=name` for a whole identifier, `"text` for a literal."""

    held: Sequence[dict[str, float]]
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
    terms = _Terms(focus, prepared.lexicon)
    blocks = prepared.blocks
    held = _held(prepared.lexicon, terms.of_word)
    _add_literals(held, prepared, focus.literals)
    counts = tuple([_merged(held, block.start, block.end) for block in blocks])
    rarity = _rarity(counts)
    weight = {key: terms.weight(key) * value for key, value in rarity.items()}
    return Evidence(held, weight, blocks, counts, tuple(_named(prepared, terms, rarity)))


class _Terms:
    """Which of the focus's terms each word of the file holds, with the share of the term's weight."""

    def __init__(self, focus: Focus, lexicon: Lexicon) -> None:
        self._names = focus.names
        self._terms = focus.terms
        self._literals = focus.literals
        meant = _stems_meant(focus.terms, lexicon)
        named = focus.names.keys() & lexicon.spelled.keys()
        of_word: dict[str, list[tuple[str, float]]] = {}
        for name in named:
            for word in lexicon.spelled[name]:
                of_word[word] = [("=" + name, 1.0)]
        for word in {word for part in meant for word in lexicon.holding[part]}:
            keys = [meant[part] for part in lexicon.parts[word] if part in meant]
            of_word[word] = of_word[word] + keys if word in of_word else keys
        self.of_word = of_word
        """(key, share) pairs by word; a key is `=name` for a whole identifier, else a stem."""

    def weight(self, key: str) -> float:
        """Return the focus's weight of a key."""
        if key[0] == "=":
            return self._names[key[1:]]
        return LITERAL_WEIGHT * self._literals[key[1:]] if key[0] == '"' else self._terms[key]


def _stems_meant(terms: Mapping[str, float], lexicon: Lexicon) -> dict[str, tuple[str, float]]:
    """Return which term each stem of the file stands for, with the share of its weight: itself, else the first alike."""
    meant = {part: (part, 1.0) for part in lexicon.holding.keys() & terms.keys()}
    for term in terms:
        if len(term) < PREFIX_LENGTH:
            continue
        near = (term, PREFIX_WEIGHT)
        for part in lexicon.with_inside(term) if len(term) >= INSIDE_LENGTH else lexicon.with_beginning(term):
            meant.setdefault(part, near)
        for end in range(PREFIX_LENGTH, len(term)):
            if term[:end] in lexicon.holding:
                meant.setdefault(term[:end], near)
    return meant


_NOTHING: dict[str, float] = {}


def _held(lexicon: Lexicon, of_word: Mapping[str, Sequence[tuple[str, float]]]) -> list[dict[str, float]]:
    """Return the keys of the words of each line."""
    known = of_word.keys()
    held = []
    for words in lexicon.lines:
        if known.isdisjoint(words):
            held.append(_NOTHING)
            continue
        found: dict[str, float] = {}
        for word in words:
            if word in of_word:
                for key, share in of_word[word]:
                    found[key] = found.get(key, 0.0) + share
        held.append(found)
    return held


def _add_literals(held: list[dict[str, float]], prepared: Prepared, literals: Iterable[str]) -> None:
    """Note which lines hold which literals, none of which has a line end."""
    if not literals:
        return
    text = prepared.source.text
    starts = [characters + ends for ends, characters in enumerate(prepared.characters_upto)]
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            line = bisect_right(starts, at) - 1
            if not held[line]:
                held[line] = {}
            held[line]['"' + literal] = 1.0
            at = text.find(literal, starts[line + 1])


def _merged(held: Sequence[dict[str, float]], start: int, end: int) -> dict[str, float]:
    total: dict[str, float] = {}
    for line in filter(None, held[start - 1 : end]):
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


def _named(prepared: Prepared, terms: _Terms, rarity: dict[str, float]) -> list[float]:
    """How far the focus names each definition: matched weight times the share of the name that is matched."""
    unseen = max(rarity.values(), default=1.0)
    result: list[float] = []
    for symbol in prepared.outline.symbols:
        keys = terms.of_word.get(symbol.name)
        if not keys:
            result.append(0.0)
            continue
        matched = sum([terms.weight(k) * rarity.get(k, unseen) * share for k, share in keys])
        mass = sum([rarity.get(p, unseen) for p in prepared.lexicon.parts[symbol.name]])
        covered = sum([rarity.get(k, unseen) * share for k, share in keys if k[0] != "="])
        result.append(matched * covered / mass if mass else 0.0)
    return result
