"""What was found and is not returned: each region once, the worst loss first, and the share that is returned."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from slicegrep.candidates import Omission
from slicegrep.sheet import CHARACTERS_A_TOKEN, LINE_TOKENS, minus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.candidates import Candidate
    from slicegrep.sheet import Part

__all__ = ["DUPLICATE", "Losses", "Shown"]

DUPLICATE = "duplicate"
"""The reason of what repeats a better candidate."""
TOKENS_A_LINE = 11
"""Of files that were not read."""

Shown = dict[str, list[tuple[int, int]]]
"""First and last lines (1-based, inclusive) of what is returned, by file."""


_Loss = tuple[float, int, int, Omission]
"""What is lost, negative, the candidate's place, the first line, the region: in the order of omissions."""


class Losses:
    """The candidates of one search, to be told what of them is shown."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        parts: Sequence[Sequence[Part]],
        lines_of: Mapping[str, Sequence[str]],
        repeated: Mapping[int, int],
        *,
        whole: bool,
        symbols_at: Callable[[Sequence[tuple[str, int]]], Sequence[str]] | None = None,
    ) -> None:
        """`parts` are the candidates' own lines, `lines_of` the files that were read, `repeated` maps a repeat to its original.

        With `whole` a candidate is lost as far as it is not shown; without, the lines around its hits may be left out, unless it is a
        definition. `symbols_at` names the innermost definitions around
        lines of files.
        """
        self._symbols_at = symbols_at
        self._candidates = candidates
        self._parts = parts
        self._lines_of = lines_of
        self._repeated = repeated
        self._whole = whole
        self._hits: dict[str, set[int]] = {}
        for one in candidates:
            if one.hits:
                self._hits.setdefault(one.file, set()).update(one.hits)
        self._all_hits = sum(map(len, self._hits.values()))
        self._all_scores = sum([one.score for one in candidates])
        self._places_of: dict[str, list[int]] = {}
        """Of candidates with own lines, by file."""
        for place, own in enumerate(parts):
            if own:
                self._places_of.setdefault(own[0].file, []).append(place)
        self._unseen = self._losses(
            [(place, part.start, part.end) for place, own in enumerate(parts) for part in own]
        )
        """Where nothing is shown, worst loss first."""
        self._unseen.sort()

    @property
    def by_lines(self) -> bool:
        """Whether a pattern matches anywhere, so that the share is one of matching lines."""
        return self._all_hits > 0

    def share(self, shown: Shown) -> float:
        """Return the share that is shown, 0 to 1: of matching lines; else of scores, each by the share of its lines."""
        if self._all_hits:
            return (
                sum([_inside(self._hits.get(file, ()), runs) for file, runs in shown.items()])
                / self._all_hits
            )
        if self._all_scores <= 0:
            return 0.0
        total = 0.0
        for one in self._candidates:
            runs = shown.get(one.file)
            if runs:
                left = sum([b - a + 1 for a, b in minus(one.start, one.end, runs)])
                total += one.score * (1 - left / (one.end - one.start + 1))
        return total / self._all_scores

    def outside(self, shown: Shown) -> tuple[Omission, ...]:
        """Return what is not shown, worst loss first. No two of them overlap, nor any of them what is shown."""
        found = [loss for loss in self._unseen if loss[3].file not in shown]
        left: list[tuple[int, int, int]] = []
        for file, runs in shown.items():
            for place in self._places_of.get(file, ()):
                for part in self._parts[place]:
                    outside = minus(part.start, part.end, runs)
                    whole = outside == [(part.start, part.end)]
                    left += [(place, a, b) for a, b in outside if whole or self._matters(place, a, b)]
        found += self._losses(left)
        found.sort()
        return tuple([omission for _, _, _, omission in found])

    def _matters(self, place: int, start: int, end: int) -> bool:
        one = self._candidates[place]
        if any(start <= line <= end for line in one.hits):
            return True
        if one.hits and not self._whole and one.role != "definition":
            return False
        text = "".join(self._lines_of[one.file][start - 1 : end])
        return text != "" and not text.isspace()

    def _losses(self, runs: Sequence[tuple[int, int, int]]) -> list[_Loss]:
        """Return what is lost with runs of lines, each (place, first line, last line)."""
        symbols = self._symbols(runs)
        return [self._loss(*run, symbol) for run, symbol in zip(runs, symbols, strict=True)]

    def _symbols(self, runs: Sequence[tuple[int, int, int]]) -> list[str]:
        """Return the name of the definition that each run is in: of one that is not a whole candidate, by its own lines."""
        symbols = [self._candidates[place].symbol for place, _, _ in runs]
        if self._symbols_at is not None:
            asked: list[int] = []
            lines: list[tuple[str, int]] = []
            for at, (place, start, end) in enumerate(runs):
                one = self._candidates[place]
                if len(one.hits) > 1 or end - start < one.end - one.start:
                    asked.append(at)
                    lines.append(
                        (one.file, next((n for n in (one.best, *one.hits) if start <= n <= end), start))
                    )
            for at, symbol in zip(asked, self._symbols_at(lines), strict=True):
                symbols[at] = symbol
        return symbols

    def _loss(self, place: int, start: int, end: int, symbol: str) -> _Loss:
        one = self._candidates[place]
        count = end - start + 1
        reasons = ", ".join(one.reasons)
        if place in self._repeated:
            share, reasons = 0.0, f"{DUPLICATE}, {reasons}" if reasons else DUPLICATE
        elif start == one.start and end == one.end:
            share = 1.0
        elif one.hits:
            share = sum([start <= line <= end for line in one.hits]) / len(one.hits)
        else:
            share = count / (one.end - one.start + 1)
        lines = self._lines_of.get(one.file)
        if lines is None:
            tokens = TOKENS_A_LINE * count
        else:
            characters = sum(map(len, lines[start - 1 : end]))
            tokens = ceil(count * LINE_TOKENS + characters / CHARACTERS_A_TOKEN)
        omission = Omission(one.file, start, end, tokens, one.score, reasons, symbol)
        return -one.score * share, place, start, omission


def _inside(lines: Sequence[int] | set[int], runs: Sequence[tuple[int, int]]) -> int:
    return sum([any(a <= line <= b for a, b in runs) for line in lines])
