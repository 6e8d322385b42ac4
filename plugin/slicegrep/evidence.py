"""Which of the focus's terms stand where in a file, and how rare they are there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.blocks import Block, blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slicegrep.focus import Focus
    from slicegrep.lexicon import Lexicon
    from slicegrep.places import Place
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

    places: dict[str, Place]
    """Where each key stands; no key that stands nowhere."""
    weight: dict[str, float]
    """Each key's weight in the focus times its rarity among the file's blocks."""
    blocks: tuple[Block, ...]
    named: tuple[float, ...]
    """For each symbol of the outline, how far the focus names it (0: not at all)."""


def evidence_of(prepared: Prepared, focus: Focus) -> Evidence:
    """Look the focus up in the file. Time is linear in the lines that hold something of it."""
    terms = _Terms(focus, prepared.lexicon)
    places = terms.places(prepared)
    n = len(prepared.blocks)
    rarity = {key: _rarity(len(place.blocks), n) for key, place in places.items()}
    weight = {key: terms.weight(key) * value for key, value in rarity.items()}
    return Evidence(places, weight, prepared.blocks, tuple(_named(prepared, terms, rarity)))


class _Terms:
    """Which of the focus's terms stand for which words of the file."""

    def __init__(self, focus: Focus, lexicon: Lexicon) -> None:
        self._focus = focus
        self.meant = _stems_meant(focus.terms, lexicon)
        self.names = [name for name in focus.names if name in lexicon.spelled]

    def places(self, prepared: Prepared) -> dict[str, Place]:
        """Return where each key stands that stands anywhere, in an order that the focus and the file alone decide."""
        known = prepared.places
        places = {"=" + name: known.of_name(name) for name in self.names}
        stems: dict[str, list[tuple[str, float]]] = {}
        for part, (key, share) in self.meant.items():
            stems.setdefault(key, []).append((part, share))
        places.update({key: known.of_stems(tuple(parts)) for key, parts in stems.items()})
        text = prepared.source.text
        places.update({'"' + one: known.of_text(one, text) for one in self._focus.literals if one in text})
        return {key: place for key, place in places.items() if place.lines}

    def keys_of(self, word: str, lexicon: Lexicon) -> list[tuple[str, float]]:
        """Return the keys that a word holds, each with the share of its weight: itself as a name, then its stems."""
        joined = word.replace("_", "").lower()
        keys = [("=" + joined, 1.0)] if joined in self._focus.names else []
        meant = self.meant
        return keys + [meant[part] for part in lexicon.parts[word] if part in meant]

    def weight(self, key: str) -> float:
        """Return the focus's weight of a key."""
        focus = self._focus
        if key[0] == "=":
            return focus.names[key[1:]]
        return LITERAL_WEIGHT * focus.literals[key[1:]] if key[0] == '"' else focus.terms[key]


def _stems_meant(terms: Mapping[str, float], lexicon: Lexicon) -> dict[str, tuple[str, float]]:
    """Return which term each stem of the file stands for, with the share of its weight: itself, else the first alike."""
    meant = {term: (term, 1.0) for term in terms if term in lexicon.holding}
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


def _rarity(blocks: int, n: int) -> float:
    """BM25's inverse document frequency, a block being a document."""
    return math.log(1 + (n - blocks + 0.5) / (blocks + 0.5))


def _named(prepared: Prepared, terms: _Terms, rarity: dict[str, float]) -> list[float]:
    """How far the focus names each definition: matched weight times the share of the name that is matched."""
    lexicon = prepared.lexicon
    unseen = max(rarity.values(), default=1.0)
    result: list[float] = []
    for symbol in prepared.outline.symbols:
        keys = terms.keys_of(symbol.name, lexicon)
        if not keys:
            result.append(0.0)
            continue
        matched = sum([terms.weight(k) * rarity.get(k, unseen) * share for k, share in keys])
        mass = sum([rarity.get(p, unseen) for p in lexicon.parts[symbol.name]])
        covered = sum([rarity.get(k, unseen) * share for k, share in keys if k[0] != "="])
        result.append(matched * covered / mass if mass else 0.0)
    return result
