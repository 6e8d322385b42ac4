"""The values of a search: a line that matches, a region that may be returned, one that is, one that is not.

Those of which a search has thousands are named tuples: a frozen dataclass takes four times as long to make (1.3 µs against 0.35).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Candidate", "Chunk", "Hit", "Omission"]


class Hit(NamedTuple):
    """A line of a file that one or more of a search's patterns match. Line 1-based."""

    line: int
    patterns: tuple[int, ...]
    """Indexes of the query's patterns, ascending."""


class Candidate(NamedTuple):
    """A region of one file that a search may return: what is ranked, before the budget is known. Lines 1-based, inclusive."""

    file: str
    """Relative to the folder that is searched, with `/`; undecodable bytes as lone surrogates."""
    start: int
    end: int
    score: float
    reasons: tuple[str, ...] = ()
    symbol: str = ""
    """Qualified name of the innermost definition around `best`."""
    role: str = ""
    """`definition`, `use`, `test`: what the packing keeps a place for; "" where it is none of them."""
    hits: tuple[int, ...] = ()
    """Lines in the region that a pattern matches, ascending; empty where the vocabulary alone found it."""
    best: int = 0
    """The line that a cut of the region must keep."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice that a search returns. Lines 1-based, inclusive; `text` is those lines joined by LF."""

    file: str
    line_start: int
    line_end: int
    text: str
    score: float
    rank_reason: str
    symbol: str
    tokens: int
    """o200k_base tokens of `text` (estimated where the vocabulary is not there)."""


class Omission(NamedTuple):
    """A region that matched and is not, or not wholly, returned. Lines 1-based, inclusive; `tokens` are an estimate."""

    file: str
    line_start: int
    line_end: int
    tokens: int
    score: float
    rank_reason: str
    symbol: str
