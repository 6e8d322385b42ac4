"""What each file of an index is worth as one document: of all about, at once, and of single ones exactly."""

from __future__ import annotations

from operator import mul
from sys import byteorder
from typing import TYPE_CHECKING

from slicegrep.filefacts import idf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.index import View

__all__ = ["Wholes"]

_BYTES = 4
_SUMS = (1 << 8 * _BYTES) - 1
"""Sums are numbers of so many bytes, up to this one."""
_LOW = 0 if byteorder == "little" else _BYTES - 1
SAMPLED = 16
_IMPACT = 255
"""The greatest impact."""


class Wholes:
    """The sum of a query's keys' impacts on files, each key's times its weight and rarity.

    Of all files they are summed as one long integer with a few bytes for each file: Python adds these at the speed of memory,
    0.2 ms a key for 50,000 files, where a loop over the postings of a common word takes 2 ms.
    """

    def __init__(self, view: View, keys: dict[str, float], prefix: str, only: frozenset[str] | None) -> None:
        """Only files under `prefix` (and in `only`, where that is given) have a sum."""
        self._parts: list[tuple[bytes, float]] = []
        for key, weight in keys.items():
            holding = len(view.holders.file_postings(key)[0])
            if holding:
                self._parts.append(
                    (view.holders.file_impacts(key), weight * idf(holding, view.file_count) / _IMPACT)
                )
        among = view.among(prefix, only)
        self.about = self._summed(len(among))
        """By file id, in a unit of its own, and too small by `error` at most; 0 for files that have no sum."""
        if among.count(1) < len(among):
            self.about = list(map(mul, self.about, among))
        self.error = _IMPACT * len(self._parts)
        self.scale = max(self.about, default=0) or 1
        """The greatest sum, as in `about`."""
        self.most = self.of(self.about.index(self.scale)) if self._parts and any(self.about) else 1.0
        """The same exactly; 1 where there is none."""

    def _summed(self, count: int) -> list[int]:
        weights = sum([weight for _, weight in self._parts])
        unit = (_SUMS - _IMPACT * len(self._parts)) / (_IMPACT * weights) if weights else 0.0
        total = 0
        for impacts, weight in self._parts:
            wide = bytearray(_BYTES * count)
            wide[_LOW::_BYTES] = impacts
            total += int.from_bytes(wide, byteorder) * max(int(unit * weight), 1)
        return memoryview(total.to_bytes(_BYTES * count, byteorder)).cast("I").tolist()

    def likely(self, factors: Sequence[float], label: Sequence[int], most: int) -> tuple[list[int], float]:
        """Return the files with the greatest sums times their factors (1 at most, by their `label`), and the least of these as in `about`.

        They are at least `most`, as far as so many have a sum. One in SAMPLED files tells from which sum on about twice as many are.
        """
        about = self.about
        some = sorted([about[at] * factors[label[at]] for at in range(0, len(about), SAMPLED)], reverse=True)
        enough = some[min(2 * most // SAMPLED, len(some)) - 1] if some else 0.0
        found = [at for at, value in enumerate(about) if value >= enough and value]
        worth = sorted([about[at] * factors[label[at]] for at in found], reverse=True)
        if len(found) < most or worth[most - 1] < enough:
            found = [at for at, value in enumerate(about) if value]
            worth = sorted([about[at] * factors[label[at]] for at in found], reverse=True)
        least = worth[most - 1] - self.error if len(found) > most else 0.0
        return [at for at in found if about[at] * factors[label[at]] >= least], least

    def of(self, file: int) -> float:
        """Return the sum of a file, of those that have one."""
        whole = 0.0
        for impacts, weight in self._parts:
            whole += impacts[file] * weight
        return whole
