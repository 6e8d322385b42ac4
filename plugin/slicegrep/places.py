"""Where the words of one file stand: all that ranking asks of a name or a stem, whatever it weighs, found once for a file."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slicegrep.blocks import Block
    from slicegrep.lexicon import Lexicon
    from slicegrep.types import Outline

__all__ = ["MOST_HITS", "NEAR_LINES", "WIDE_LINES", "WINDOW_LINES", "Place", "Places"]

K1 = 1.2
B = 0.6
"""BM25's saturation and length normalisation, as in Robertson and Zaragoza (2009)."""
MOST_HITS = 2.0
"""As often as a term counts in one line."""
NEAR_LINES, WINDOW_LINES, WIDE_LINES = 2, 8, 24
"""Different terms within so many lines of each other count together. One window of 4 lines with exponentially smoothed
hits and the block's BM25 was 0.05 nats less likely on tuning and held-out files alike."""
MOST_KEPT = 8
"""For each word of the file, in places: past it all are forgotten."""
_PLACE_BYTES, _NUMBER_BYTES = 300, 8
"""Of memory: a place without its numbers, and each of those (tracemalloc, 53 files)."""

Window = tuple[tuple[int, ...], tuple[int, ...]]
"""The line indexes at which runs of lines begin, and those after which they end (exclusive). No two runs overlap."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one thing stands. Lines are indexes, the first is 0."""

    lines: tuple[int, ...]
    """In order, each once."""
    more: tuple[tuple[int, float], ...]
    """(line, what it counts there past 1): MOST_HITS at most altogether, a part of 1 where only something alike stands."""
    near: Window
    window: Window
    wide: Window
    """The lines that have it within NEAR_LINES, WINDOW_LINES and WIDE_LINES."""
    blocks: tuple[int, ...]
    """The blocks that hold it."""
    symbols: tuple[tuple[int, float], ...]
    """(definition, BM25 without the rarity), for each that has it anywhere in it."""

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        numbers = len(self.lines) + len(self.blocks) + 13 * len(self.symbols) + 13 * len(self.more)
        ends = len(self.near[0]) + len(self.window[0]) + len(self.wide[0])
        return _PLACE_BYTES + _NUMBER_BYTES * (numbers + 2 * ends)


class Places:
    """Finds places, and keeps those of the file's own names and stems."""

    def __init__(
        self, lexicon: Lexicon, outline: Outline, blocks: Sequence[Block], characters_upto: Sequence[int]
    ) -> None:
        self._lexicon = lexicon
        self._parents = [symbol.parent for symbol in outline.symbols]
        self._symbol_of = [block.symbol for block in blocks]
        self.block_of = [i for i, block in enumerate(blocks) for _ in range(block.start, block.end + 1)]
        """The block of each line."""
        self._starts = [characters + ends for ends, characters in enumerate(characters_upto)]
        last = len(characters_upto) - 1
        average = characters_upto[-1] / max(len(blocks), 1) + 1
        lengths = [
            characters_upto[min(s.end, last)] - characters_upto[min(s.start, last) - 1] + 1
            for s in outline.symbols
        ]
        self._numbers = list(range(len(self.block_of) + 1))
        """Each as the one object that all places have: new ones would be three quarters of their memory."""
        self._norms = [K1 * (1 - B + B * length / average) for length in lengths]
        self._kept: dict[object, Place] = {}
        self.weight = 0
        """About how many bytes of memory all that is kept takes."""

    def of_name(self, name: str) -> Place:
        """Return where the words that are spelled so stand; `name` is one of `Lexicon.spelled`."""
        found = self._kept.get(name)
        if found is None:
            lines = [self._lexicon.at[word] for word in self._lexicon.spelled[name]]
            found = self._keep(name, self._place(Counter(chain.from_iterable(lines))))
        return found

    def of_stems(self, stems: tuple[tuple[str, float], ...]) -> Place:
        """Return where any of some stems of the file stands; each with the share that a word with it counts."""
        found = self._kept.get(stems)
        if found is None:
            counts: dict[int, float] = {}
            for part, share in stems:
                lines = [self._lexicon.at[word] for word in self._lexicon.holding[part]]
                own = Counter(chain.from_iterable(lines))
                if len(stems) == 1 and share == 1.0:
                    counts = dict(own)
                    break
                for line, count in own.items():
                    counts[line] = counts.get(line, 0.0) + share * count
            found = self._keep(stems, self._place(counts))
        return found

    def of_text(self, wanted: str, text: str) -> Place:
        """Return where the file's `text` holds `wanted`, which has no line end. It is not kept: a session said it."""
        lines: dict[int, float] = {}
        at = text.find(wanted)
        while at >= 0:
            line = bisect_right(self._starts, at) - 1
            lines[line] = 1.0
            at = text.find(wanted, self._starts[line + 1])
        return self._place(lines)

    def _keep(self, key: object, place: Place) -> Place:
        if len(self._kept) > MOST_KEPT * len(self._lexicon.parts):
            self._kept.clear()
            self.weight = 0
        self._kept[key] = place
        self.weight += place.weight
        return place

    def _place(self, counts: Mapping[int, float]) -> Place:
        lines = tuple(sorted(counts))
        of_block: dict[int, float] = {}
        for line in lines:
            block = self.block_of[line]
            of_block[block] = of_block.get(block, 0.0) + counts[line]
        of_symbol: dict[int, float] = {}
        for block, count in of_block.items():
            at = self._symbol_of[block]
            while at >= 0:
                of_symbol[at] = of_symbol.get(at, 0.0) + count
                at = self._parents[at]
        near, window, wide = (
            _runs(lines, reach, self._numbers) for reach in (NEAR_LINES, WINDOW_LINES, WIDE_LINES)
        )
        norms = self._norms
        return Place(
            lines=lines,
            more=tuple(
                [(line, min(count, MOST_HITS) - 1.0) for line, count in counts.items() if count != 1.0]
            ),
            near=near,
            window=window,
            wide=wide,
            blocks=tuple(of_block),
            symbols=tuple(
                [(symbol, count * (K1 + 1) / (count + norms[symbol])) for symbol, count in of_symbol.items()]
            ),
        )


def _runs(lines: Iterable[int], reach: int, numbers: Sequence[int]) -> Window:
    starts: list[int] = []
    ends: list[int] = []
    end = -reach - 1
    for line in lines:
        if line - reach > end:
            if starts:
                ends.append(numbers[end])
            starts.append(numbers[line - reach if line > reach else 0])
        end = line + reach + 1
    if starts:
        ends.append(numbers[min(end, len(numbers) - 1)])
    return tuple(starts), tuple(ends)
