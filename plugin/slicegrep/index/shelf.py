"""Where the pieces of an index lie: the face that the view reads, and the one in memory."""

from __future__ import annotations

from array import array
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slicegrep.index.segment import Encoded

__all__ = ["MemoryShelf", "Shelf"]


class Shelf:
    """Segments in the order of their ids, each with named parts (columns and texts), and rows by term."""

    segments: Sequence[int] = ()

    def part(self, segment: int, name: str) -> bytes:
        """Return a part of a segment."""
        raise NotImplementedError

    def rows(self, term: str) -> list[bytes]:
        """Return what is held under a term, in the order of the segments that hold it."""
        raise NotImplementedError

    def rows_in(self, segment: int, terms: Sequence[str]) -> dict[str, bytes]:
        """Return what a segment holds under those of some terms that it has."""
        raise NotImplementedError

    def terms(self, prefix: str) -> Iterable[str]:
        """Return the terms that begin with `prefix`, some of them twice."""
        raise NotImplementedError

    def outline(self, file: int) -> bytes | None:
        """Return the definitions of a file (outlines.py); None where it has none here."""
        raise NotImplementedError

    def outlines(self, files: Sequence[int]) -> dict[int, bytes]:
        """Return `outline` of several files, of those that have one here."""
        found = {file: self.outline(file) for file in files}
        return {file: data for file, data in found.items() if data is not None}

    def damage(self, why: object) -> Exception:
        """Return what to raise where the pieces do not fit each other."""
        return LookupError(why)

    def column(self, segment: int, name: str, code: str) -> array[int]:
        """Return a part as numbers."""
        values: array[int] = array(code)
        values.frombytes(self.part(segment, name))
        return values

    def text(self, segment: int, name: str) -> str:
        """Return a part as text."""
        return self.part(segment, name).decode("utf-8", "surrogateescape")

    def names(self, segment: int, name: str) -> list[str]:
        """Return a part as the names that `segment.text_of_names` joined."""
        text = self.text(segment, name)
        return text.split("\0") if text else []

    def used(self, segment: int) -> dict[str, int]:
        """Return in how many files of a segment each identifier stands, as written."""
        words = self.text(segment, "identifiers").split("\n")
        return dict(zip(words, self.column(segment, "identifier_files", "I"), strict=False))  # "" has none


_NUMBERS = count(-1, -1)
"""Of segments in memory: no two are the same, and none is one of a database."""


class MemoryShelf(Shelf):
    """One segment that is kept in memory."""

    def __init__(self, encoded: Encoded) -> None:
        self.segments = (next(_NUMBERS),)
        self._encoded = encoded
        self._rows = dict(encoded.rows)
        self._outlines = dict(encoded.outlines)

    def part(self, segment: int, name: str) -> bytes:  # noqa: ARG002 (there is one segment)
        """Return a part of the segment."""
        return self._encoded.parts[name]

    def rows(self, term: str) -> list[bytes]:
        """Return what is held under a term."""
        row = self._rows.get(term)
        return [] if row is None else [row]

    def rows_in(self, segment: int, terms: Sequence[str]) -> dict[str, bytes]:  # noqa: ARG002 (there is one segment)
        """Return what is held under those of some terms that it has."""
        return {term: row for term in terms if (row := self._rows.get(term)) is not None}

    def terms(self, prefix: str) -> Iterable[str]:
        """Return the terms that begin with `prefix`."""
        return [term for term in self._rows if term.startswith(prefix)]

    def outline(self, file: int) -> bytes | None:
        """Return the definitions of a file."""
        return self._outlines.get(file)
