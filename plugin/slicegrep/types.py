"""The values that pass between the stages: frozen, so that a stage can only return new ones."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "Candidate",
    "Chunk",
    "Hit",
    "Omission",
    "Omitted",
    "Outline",
    "Plan",
    "Slice",
    "Source",
    "Symbol",
]


@dataclass(frozen=True, slots=True)
class Source:
    """A text file as Claude Code's Read shows it.

    `lines` are split on LF only (CR of CRLF and a leading BOM dropped; tabs, trailing spaces, form feeds
    and lone CRs kept). A file that ends in LF has no empty last element. `digest` is the hex BLAKE2b-128 of the raw bytes.
    """

    path: str
    language: str
    lines: tuple[str, ...]
    size: int
    digest: str
    encoding: str = "utf-8"

    @property
    def text(self) -> str:
        """The lines joined by LF, without a trailing one (characters, not bytes)."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named definition. Lines are 1-based and inclusive; `start` includes decorators and attributes."""

    kind: str
    name: str
    qualified: str
    start: int
    end: int
    signature: str
    """One line, white space folded, without the body."""
    name_line: int
    parent: int = -1
    """Index of the innermost definition around it in `Outline.symbols`; -1 at the top level."""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of one file, in order of (start, -end)."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    broken: bool = False
    """Whether the parser met syntax errors (the symbols are best effort then)."""
    method: str = "tree-sitter"
    """`tree-sitter`, or `patterns` where no grammar serves (the documented fallback)."""


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


@dataclass(frozen=True, slots=True)
class Hit:
    """A line of a file that one or more of a search's patterns match. Line 1-based."""

    line: int
    patterns: tuple[int, ...]
    """Indexes of the query's patterns, ascending."""


@dataclass(frozen=True, slots=True)
class Candidate:
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


@dataclass(frozen=True, slots=True)
class Omission:
    """A region that matched and is not, or not wholly, returned. Lines 1-based, inclusive; `tokens` are an estimate."""

    file: str
    line_start: int
    line_end: int
    tokens: int
    score: float
    rank_reason: str
    symbol: str
