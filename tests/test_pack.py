"""Packing: the ranges with the most gain for their tokens, within a budget."""

from __future__ import annotations

import random

from slicegrep.evidence import Block
from slicegrep.pack import Packer, Range, Sums, grow


def packer(
    gains: list[float], cost: float = 10.0, overhead: float = 15.0, blank: list[bool] | None = None
) -> Packer:
    n = len(gains)
    return Packer(
        Sums(gains), Sums([cost] * n), [Block(1, n, -1)], blank=blank or [False] * n, overhead=overhead
    )


def lines(ranges: list[Range]) -> list[int]:
    return [line for one in ranges for line in range(one.start, one.end + 1)]


def test_the_best_lines_come_first() -> None:
    """A budget for one atom holds the one with the most gain."""
    gains = [0.01] * 40
    gains[21] = 1.0
    assert 22 in lines(packer(gains).ranges(45))


def test_ranges_are_in_file_order_and_apart() -> None:
    """No line is in two ranges."""
    rng = random.Random(1)
    found = packer([rng.random() ** 8 for _ in range(400)]).ranges(900)
    assert len(found) > 1
    assert lines(found) == sorted(set(lines(found)))


def test_the_budget_is_kept() -> None:
    """Lines and the overhead of each range past the first are within it, whatever the gains."""
    for seed in range(30):
        rng = random.Random(seed)
        gains = [rng.random() ** rng.choice((1, 4, 12)) for _ in range(rng.randrange(5, 300))]
        budget = rng.randrange(40, 2_000)
        found = packer(gains).ranges(budget)
        assert sum(one.tokens for one in found) + 15 * (len(found) - 1) <= budget


def test_a_dear_headline_makes_fewer_ranges() -> None:
    """The more a range costs on top of its lines, the more its neighbours are worth."""
    rng = random.Random(3)
    gains = [rng.random() ** 6 for _ in range(400)]
    assert len(packer(gains, overhead=60).ranges(1_000)) < len(packer(gains, overhead=1).ranges(1_000))


def test_blank_lines_at_the_ends_are_left_off() -> None:
    """A range begins and ends with text."""
    blank = [i % 4 in (0, 3) for i in range(40)]
    found = packer([1.0 if 12 <= i < 20 else 0.01 for i in range(40)], blank=blank).ranges(85)
    assert all(not blank[one.start - 1] and not blank[one.end - 1] for one in found)


def test_nothing_fits_a_budget_below_every_atom() -> None:
    """One giant line is not cut."""
    assert packer([1.0], cost=50_000).ranges(4_000) == []


def test_growing_stays_in_the_file_and_the_budget() -> None:
    """The range widens towards the better side, to the ends of the file and no further."""
    gains = [0.1] * 10 + [1.0] * 10
    seed = Range(8, 9, 0.2, 20.0)
    grown = grow(seed, Sums(gains), Sums([10.0] * 20), 20, 110)
    assert (grown.start, grown.end) == (8, 17)
    assert grow(seed, Sums(gains), Sums([10.0] * 20), 20, 10_000).tokens == 200
