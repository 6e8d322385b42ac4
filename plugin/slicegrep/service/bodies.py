"""Definitions' texts inside a budget of tokens: whole while it lasts, or cut at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Budget"]

_CHARACTERS = 12
"""More characters a token than code has (3 to 5): what is longer for what is left is not counted, which takes 1 ms for 1,000 tokens."""


class Budget:
    """`tokens` of o200k_base, as `count` counts them, for several texts."""

    def __init__(self, tokens: int, count: Callable[[str], int]) -> None:
        self._left = tokens
        self._count = count

    def whole(self, lines: Sequence[str]) -> str | None:
        """Return the lines joined by LF where they fit into what is left, which they are taken from; else None."""
        text = "\n".join(lines)
        if len(text) > _CHARACTERS * self._left:
            return None
        tokens = self._count(text)
        if tokens > self._left:
            return None
        self._left -= tokens
        return text

    def begun(self, lines: Sequence[str]) -> str | None:
        """Return as many of the first lines as fit into what is left, and leave nothing; None where not one does."""
        fits, text = 0, ""
        most, room = 0, _CHARACTERS * self._left
        for line in lines:
            room -= len(line) + 1
            if room < 0:
                break
            most += 1
        while fits < most:
            middle = (fits + most + 1) // 2
            candidate = "\n".join(lines[:middle])
            if self._count(candidate) <= self._left:
                fits, text = middle, candidate
            else:
                most = middle - 1
        self._left = 0
        return text if fits else None
