"""Which texts repeat an earlier one, wholly or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Repeats"]

ALIKE = 0.8
"""Share of lines in common, white space aside, from which on two texts say the same. Twins that differ in a word of every
second line (a synchronous and an asynchronous client) stay apart: who changes one needs the other."""
FEWEST_LINES = 4
"""Shorter texts must be equal, white space aside."""
LOOKED_UP = 4
"""Texts that are alike share one of their longest lines, but for odd cases; only such pairs are compared."""


class Repeats:
    """The texts so far."""

    def __init__(self, *, near: bool) -> None:
        """With `near`, a text with a share ALIKE of its lines in common repeats another; else only an equal one."""
        self._near = near
        self._same: dict[str, int] = {}
        self._by_line: dict[str, list[int]] = {}
        self._lines: list[frozenset[str]] = []

    def add(self, lines: Sequence[str]) -> int:
        """Add a text by its lines. Return the place of the first one that it repeats (from 0, in order of adding), else -1."""
        place = len(self._lines)
        original = self._same.setdefault("\n".join(lines), place)
        held: frozenset[str] = frozenset()
        if original == place:
            original = -1
            if self._near:
                stripped = dict.fromkeys([line.strip() for line in lines])
                stripped.pop("", None)
                held = frozenset(stripped)
                longest = sorted(stripped, key=len, reverse=True)[:LOOKED_UP]
                others = [other for line in longest for other in self._by_line.get(line, ())]
                original = next((other for other in others if _alike(self._lines[other], held)), -1)
                if original < 0:
                    for line in longest:
                        self._by_line.setdefault(line, []).append(place)
        self._lines.append(held)
        return original


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < FEWEST_LINES:
        return one == other
    common = len(one & other)
    return common >= ALIKE * (len(one) + len(other) - common)
