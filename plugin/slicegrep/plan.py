"""The values of an interception: what of a file is shown, what is withheld, and the plan of both."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Omitted", "Plan", "Slice"]


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of one file, with why it was chosen. Lines 1-based, inclusive."""

    start: int
    end: int
    score: float
    reasons: tuple[str, ...] = ()
    symbol: str = ""
    tokens: int = field(default=0)
    """Estimated o200k_base tokens of the numbered lines."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A range that matched and is not shown. Lines 1-based, inclusive; tokens as in `Slice`."""

    start: int
    end: int
    score: float
    tokens: int
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an interception will show of one file: ranges, map lines and the file's digest, not its text."""

    path: str
    digest: str
    total: int
    """Lines of the file."""
    start: int
    end: int
    """The range that the read is narrowed to."""
    slices: tuple[Slice, ...]
    map_lines: tuple[str, ...]
    folded: int
    """Definitions that the map leaves out."""
    omitted: tuple[Omitted, ...]
    omitted_more: int
    """Omitted ranges past those listed."""
    coverage: float
    """Share of the matched material that is shown, 0 to 1."""
    tokens_before: int
    """What the client itself would have delivered, estimated o200k_base tokens."""
    tokens_after: int
    """Everything that the interception makes the model read, estimated o200k_base tokens."""
    budget: int
    raised: int
    past_limits: bool = False
    """Whether a plain read of the file fails or is cut by the client."""
    remark: str = ""
    tokens_file: int = 0
    """Of the whole file, estimated."""
