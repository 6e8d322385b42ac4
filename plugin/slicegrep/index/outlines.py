"""How the definitions of one file lie in the index: numbers, then texts."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from slicegrep.outline.around import FUNCTION_KINDS, enclosing_kinds
from slicegrep.types import Symbol

__all__ = ["Outlined", "bytes_of", "symbols_of"]

_NUMBERS = 4
"""Of each definition: its first and last line, its name's, and its parent's number from 1 on, 0 for none."""
_TEXTS = 4
"""Of each definition: kind, name, qualified name, signature."""
_PLANES = (0, 1, 2, 3) if sys.byteorder == "little" else (3, 2, 1, 0)


def bytes_of(symbols: Sequence[Symbol]) -> bytes:
    """Return the definitions of a file as bytes; none is b""."""
    if not symbols:
        return b""
    numbers = array("I", [s.start for s in symbols])
    numbers.extend([s.end for s in symbols])
    numbers.extend([s.name_line for s in symbols])
    numbers.extend([s.parent + 1 for s in symbols])
    data = numbers.tobytes()
    texts = [s.kind for s in symbols]
    texts += [s.name for s in symbols]
    texts += [s.qualified for s in symbols]
    texts += [s.signature for s in symbols]
    return b"".join(
        [
            len(symbols).to_bytes(4, "little"),
            *[data[plane::4] for plane in _PLANES],  # the high bytes, which are zeros, deflate to nothing
            "\0".join(texts).encode("utf-8", "surrogateescape"),
        ]
    )


def symbols_of(data: bytes) -> tuple[Symbol, ...]:
    """Return the definitions of a file. Raises ValueError or IndexError for other bytes."""
    return Outlined(data).all


class Outlined(Sequence[Symbol]):
    """The definitions of one file, each made when it is asked for: most are never looked at."""

    __slots__ = ("_all", "_count", "_made", "_named", "_texts", "above", "ends", "name_lines", "starts")

    def __init__(self, data: bytes) -> None:
        """Take what `bytes_of` made. Raises ValueError or IndexError for other bytes."""
        self._count = count = int.from_bytes(data[:4], "little")
        size = _NUMBERS * count
        self._texts = data[4 + 4 * size :].decode("utf-8", "surrogateescape").split("\0") if count else []
        if len(self._texts) != _TEXTS * count:
            raise ValueError("an outline that is not that of its file")
        planes = bytearray(4 * size)
        for number, plane in enumerate(_PLANES):
            planes[plane::4] = data[4 + number * size : 4 + (number + 1) * size]
        numbers = array("I")
        numbers.frombytes(planes)
        self.starts, self.ends = numbers[:count], numbers[count : 2 * count]
        """First lines, ascending, and last ones: to be asked where no more is wanted, since a Symbol takes 1 µs to make."""
        self.name_lines, self.above = numbers[2 * count : 3 * count], numbers[3 * count :]
        """The lines of their names, and their parents' numbers from 1 on, 0 for none."""
        self._made: list[Symbol | None] = [None] * count
        self._all: tuple[Symbol, ...] | None = None
        self._named: dict[int, list[int]] | None = None

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def __iter__(self) -> Iterator[Symbol]:
        """Make all of them."""
        return iter(self.all)

    @property
    def all(self) -> tuple[Symbol, ...]:
        """All of them."""
        if self._all is None:
            self._all = tuple(map(self.__getitem__, range(self._count)))
        return self._all

    def __getitem__(self, at: int) -> Symbol:  # type: ignore[override]
        """Return one; slices are not served."""
        found = self._made[at]
        if found is None:
            count, texts = self._count, self._texts
            found = self._made[at] = Symbol(
                texts[at],
                texts[count + at],
                texts[2 * count + at],
                self.starts[at],
                self.ends[at],
                texts[3 * count + at],
                self.name_lines[at],
                self.above[at] - 1,
                self._depth(at),
            )
        return found

    def kind(self, at: int) -> str:
        """Return the kind of one."""
        return self._texts[at]

    def _depth(self, at: int) -> int:
        depth = 0
        while (parent := self.above[at] - 1) >= 0:
            if parent >= at:
                raise ValueError("a definition inside of a later one")
            depth, at = depth + 1, parent
        return depth

    def by_name_line(self) -> dict[int, list[int]]:
        """Return the definitions whose names stand in a line, by line, in order. It is kept: change nothing."""
        if self._named is None:
            self._named = {}
            for at, line in enumerate(self.name_lines):
                self._named.setdefault(line, []).append(at)
        return self._named

    def enclosing(self, line: int) -> str:
        """Return the qualified name of the innermost function, method or class around a line, as outline.enclosing; "" for none."""
        at = bisect_right(self.starts, line) - 1
        while at >= 0:
            if self.ends[at] >= line and self._texts[at] in enclosing_kinds:
                return self._texts[2 * self._count + at]
            at = self.above[at] - 1
        return ""

    def lines_in_functions(self) -> int:
        """Return the sum of the lines of functions of more than one line; those inside of others count again."""
        return sum(
            [
                end - start + 1
                for kind, start, end in zip(self._texts, self.starts, self.ends, strict=False)
                if end > start and kind in FUNCTION_KINDS
            ]
        )
