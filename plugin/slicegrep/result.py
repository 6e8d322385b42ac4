"""What a search returns: slices, what was left out, what was not found, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slicegrep.candidates import Chunk, Omission

__all__ = ["EXACT", "Layout", "Result"]

_ALL = 1 << 30
EXACT = "exact_symbol"
"""The reason of what defines the very name that was spelled."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How much of the lists the text holds, so that it keeps its budget. Nothing of it concerns `Result.to_dict`."""

    omitted: int = _ALL
    """Omissions that are listed; likewise the following."""
    negative: int = _ALL
    notes: int = _ALL
    names: int = 600
    """Characters of a path, a symbol or a pattern; a sentence may have three times as many."""
    parts: tuple[str, ...] = ()
    """Of each slice what its header says of the definition that it is cut from; nothing where it is whole, or `boundary` is not `fn`."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a search. Line numbers are 1-based, ranges inclusive; tokens are those of o200k_base."""

    path: str
    """The file or folder that was searched, as it was given."""
    pattern: str
    route: str
    """`precise`: what the patterns match was ranked first; `vague`: what the vocabulary found."""
    chunks: tuple[Chunk, ...]
    """Best first. Paths are relative to the folder that was searched (of a file: to its folder)."""
    omitted: tuple[Omission, ...]
    """What was found and is not, or not wholly, among `chunks`; worst loss first."""
    total_tokens: int
    """Of the rendered text."""
    budget: int
    coverage: float
    """The share that is in `chunks`, 0 to 1, of what `coverage_of` says."""
    omitted_tokens: int
    """An estimate of the tokens of all that is in `omitted`."""
    coverage_of: str = "lines"
    """`lines`: of the lines that a pattern matches. `score`: where no pattern matches anywhere, of the candidates' scores, each weighted
    by the share of its lines that is shown."""
    negative_evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Paths that were not searched, each with why."""
    exact_tokens: bool = True
    """Whether tokens were counted with the vocabulary; else they are estimates that lean high."""
    layout: Layout = field(default=Layout(), repr=False)

    @property
    def nearest(self) -> bool:
        """Whether nothing matches, and nothing is defined by the very name: what is here is what the vocabulary finds nearest."""
        return (
            self.route == "precise"
            and self.coverage_of == "score"
            and bool(self.chunks or self.omitted)
            and not any(EXACT in one.rank_reason for one in self.chunks)
            and not any(EXACT in one.rank_reason for one in self.omitted)
        )

    def render(self) -> str:
        """Return the answer as text, without a line end after it. Its tokens are `total_tokens`."""
        from slicegrep.present import pieces, text_of  # noqa: PLC0415 (it takes this class for what it shows)

        return text_of(pieces(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for JSON: every list whole, keys that stay (docs/search_packing.md)."""
        return {
            "path": self.path,
            "pattern": self.pattern,
            "route": self.route,
            "budget": self.budget,
            "total_tokens": self.total_tokens,
            "exact_tokens": self.exact_tokens,
            "coverage": self.coverage,
            "coverage_of": self.coverage_of,
            "chunks": [
                {
                    "file": one.file,
                    "line_start": one.line_start,
                    "line_end": one.line_end,
                    "text": one.text,
                    "score": one.score,
                    "rank_reason": one.rank_reason,
                    "symbol": one.symbol,
                    "tokens": one.tokens,
                }
                for one in self.chunks
            ],
            "omitted": [
                {
                    "file": one.file,
                    "line_start": one.line_start,
                    "line_end": one.line_end,
                    "tokens": one.tokens,
                    "score": one.score,
                    "rank_reason": one.rank_reason,
                    "symbol": one.symbol,
                }
                for one in self.omitted
            ],
            "omitted_tokens": self.omitted_tokens,
            "negative_evidence": list(self.negative_evidence),
            "notes": list(self.notes),
            "skipped": [{"path": path, "why": why} for path, why in self.skipped],
        }
