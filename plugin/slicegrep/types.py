"""The values of code: a file, its definitions, its outline. Frozen, as all that passes between the stages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outline", "Source", "Symbol"]


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
