"""The words of one file: in which lines each stands, and which of them hold a name or a stem."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from slicegrep.words import IDENTIFIER, stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["LONGEST_LINE", "Lexicon"]

LONGEST_LINE = 2_000
"""Characters of one line that are looked at."""
_PLAIN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What IDENTIFIER is in a line of ASCII, which nearly all are: found in half of the time (1.0 ms for 100 kB, not 1.9)."""
_WORD_BYTES, _MENTION_BYTES = 400, 10
"""Of memory: a word with its parts in the tables, and each time that it stands somewhere (tracemalloc, 53 files)."""
_BETWEEN = "\n"
"""Stands around each stem where they are one text, and in none of them."""


class Lexicon:
    """Made once for a file, asked for each focus: its few hundred terms are looked up, not each word of the file."""

    def __init__(self, lines: Sequence[str], names: Iterable[str]) -> None:
        """`names` are words, too, whether a line holds them or not: those of the file's definitions."""
        at: defaultdict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            identifier = _PLAIN_IDENTIFIER if line.isascii() else IDENTIFIER
            for word in identifier.findall(line, 0, LONGEST_LINE):
                at[word].append(number)
        for name in names:
            at[name]  # makes it
        self.at: dict[str, list[int]] = at
        """For each word the lines in which it stands (indexes, the first is 0), as often as it does."""
        self.parts: dict[str, tuple[str, ...]] = {}
        """For each word, the different stems of its parts, sorted."""
        self.spelled: dict[str, list[str]] = {}
        """The words by how they are spelled without underscores and in lower case."""
        self.holding: dict[str, list[str]] = {}
        """The words by the stems that are among their parts."""
        for word in at:
            self.spelled.setdefault(word.replace("_", "").lower(), []).append(word)
            own = sub_words(word)
            parts = (stem(own[0]),) if len(own) == 1 else tuple(sorted(set(map(stem, own))))
            self.parts[word] = parts
            for part in parts:
                self.holding.setdefault(part, []).append(word)
        at.default_factory = None
        self.weight = _WORD_BYTES * len(at) + _MENTION_BYTES * sum(map(len, at.values()))
        """About how many bytes of memory it takes."""
        self._stems = f"{_BETWEEN}{_BETWEEN.join(self.holding)}{_BETWEEN}"

    def with_beginning(self, text: str) -> Iterator[str]:
        """Yield the stems that begin with `text`."""
        at = self._stems.find(_BETWEEN + text)
        while at >= 0:
            end = self._stems.index(_BETWEEN, at + 1)
            yield self._stems[at + 1 : end]
            at = self._stems.find(_BETWEEN + text, end)

    def with_inside(self, text: str) -> Iterator[str]:
        """Yield the stems that `text` is a part of."""
        at = self._stems.find(text)
        while at >= 0:
            end = self._stems.index(_BETWEEN, at)
            yield self._stems[self._stems.rindex(_BETWEEN, 0, at) + 1 : end]
            at = self._stems.find(text, end)
