"""What stands where in an index: terms in chunks, files and names of symbols, and identifiers in files."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from slicegrep.index.postings import NOTHING, Postings, chunks_in, files_of, together, unpacked
from slicegrep.index.terms import PATH_TERM, joined
from slicegrep.words import stem, sub_words

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

    from slicegrep.index.columns import Columns
    from slicegrep.index.shelf import Shelf

__all__ = ["Holders"]

_CACHED_TERMS = 4096
_LEAST_AT_ONCE = 4
_CACHED_TEXTS = 64
_DENSE_BYTES = 8_000_000
"""Of impacts by file that are kept."""


class Holders:
    """The files, chunks and symbols that hold a term or an identifier, by id. Those of files that are gone may be among them."""

    def __init__(self, shelves: Sequence[Shelf], columns: Columns, there: bytes | bytearray) -> None:
        """`there` is 1 for the files that are there, by id."""
        self._shelves, self._columns, self._there = shelves, columns, there
        self._kept: dict[str, Postings] = {}
        self._dense: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}
        self._held: dict[tuple[str, bool, bool], set[int] | int] = {}
        """What `files_holding` found, or how many identifiers it counted before it gave up."""

    def chunk_postings(self, term: str) -> tuple[array[int], bytes]:
        """Return the chunks that hold a term, ascending, and its impact (1 to 255) in each.

        A term is a stem, or `=` and an identifier in lower case without underscores that has more than one sub-word.
        """
        found = self._kept.get(term) or self._find(term)
        return found.chunks, found.impacts

    def file_postings(self, term: str) -> tuple[array[int], bytes]:
        """Return the files that hold a term, ascending, and its impact in each as a whole."""
        found = self._kept.get(term) or self._find(term)
        return found.files, found.file_impacts

    def file_impacts(self, term: str) -> bytes:
        """Return the impact of a term in each file as a whole, by file id, 0 where it is not there; of files that are gone too."""
        found = self._dense.get(term)
        if found is None:
            impacts = bytearray(len(self._there))
            for file, impact in zip(*self.file_postings(term), strict=True):
                impacts[file] = impact
            if len(self._dense) * len(impacts) >= _DENSE_BYTES:
                self._dense.clear()
            found = self._dense[term] = bytes(impacts)
        return found

    def files_on_path(self, stem: str) -> array[int]:
        """Return the files whose name, or one of whose last folders, holds a stem (terms.path_stems), ascending."""
        return self.file_postings(PATH_TERM + stem)[0]

    def name_postings(self, stem: str) -> array[int]:
        """Return the symbols whose names hold a stem, ascending."""
        return (self._kept.get(stem) or self._find(stem)).names

    def _find(self, term: str) -> Postings:
        rows = [unpacked(row) for shelf in self._shelves for row in shelf.rows(term)]
        found = together(rows) if rows else NOTHING
        if len(self._kept) >= _CACHED_TERMS:
            self._kept.clear()
        self._kept[term] = found
        return found

    def look_up(self, terms: Iterable[str]) -> None:
        """Read what is held under many terms at once, so that each block of the index is opened once."""
        missing = sorted([term for term in terms if term not in self._kept])
        if len(missing) < _LEAST_AT_ONCE:
            return
        rows: dict[str, list[Postings]] = {term: [] for term in missing}
        for shelf, number in self._columns.segments:
            for term, row in shelf.rows_in(number, missing).items():
                rows[term].append(unpacked(row))
        if len(self._kept) >= _CACHED_TERMS:
            self._kept.clear()
        self._kept.update({term: together(pieces) if pieces else NOTHING for term, pieces in rows.items()})

    def chunks_holding(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks hold each of some terms, as `chunk_postings` would have them, without taking them out."""
        kept, counts = self._kept, self._counts
        missing = sorted({term for term in terms if term not in kept and term not in counts})
        if missing:
            found = dict.fromkeys(missing, 0)
            for shelf, number in self._columns.segments:
                for term, row in shelf.rows_in(number, missing).items():
                    found[term] += chunks_in(row)
            counts.update(found)
        return {term: len(kept[term].chunks) if term in kept else counts[term] for term in terms}

    def used(self) -> dict[str, int]:
        """Return in how many files each identifier stands, as written. Files that were replaced count as well."""
        whole: Counter[str] = Counter()
        for shelf, number in self._columns.segments:
            whole.update(shelf.used(number))
        return whole

    def terms_with_prefix(self, prefix: str) -> set[str]:
        """Return the terms that begin with `prefix`, those of replaced files among them."""
        return {term for shelf in self._shelves for term in shelf.terms(prefix)}

    def files_holding(
        self, text: str, most: int, *, begins: bool = False, ends: bool = False
    ) -> set[int] | None:
        """Return the files that may hold an identifier with `text` (lower case) inside: none that does is missing.

        With `begins` and `ends` identifiers count that begin and end so; those with letters beyond ASCII always do. None where
        over `most` count (one that stands in several segments counts in each): each costs 50 to 75 µs. The set is kept: change nothing.
        """
        known = self._held.get((text, begins, ends))
        if isinstance(known, set) or (known is not None and known > most):
            return known if isinstance(known, set) else None
        if len(self._held) >= _CACHED_TEXTS:
            self._held.clear()
        names: list[set[str]] = []
        count = 0
        for identifiers in self._columns.lower_identifiers:
            names.append(_holding(identifiers, text, most - count, begins=begins, ends=ends))
            count += len(names[-1])
            if count > most:
                self._held[text, begins, ends] = count
                return None
        found: set[int] = set()
        for (shelf, number), some in zip(self._columns.segments, names, strict=True):
            whole = {joined(name) for name in some}
            terms = ["=" + name for name in whole]
            terms += [stem(name) for name in whole if len(sub_words(name)) == 1]
            for row in shelf.rows_in(number, sorted(terms)).values():
                found.update(files_of(row))
        found -= self._gone
        self._held[text, begins, ends] = found
        return found

    @cached_property
    def _gone(self) -> set[int]:
        """The files that are not there, of which postings may tell."""
        return (
            set()
            if self._there.count(1) == len(self._there)
            else {n for n, there in enumerate(self._there) if not there}
        )

    def beyond_ascii(self, text: str) -> list[str]:
        """Return the identifiers with letters beyond ASCII, in lower case, that hold a text: most often none."""
        return [name for name in self._columns.beyond_ascii if text in name] if text in self._beyond else []

    @cached_property
    def _beyond(self) -> str:
        return "\n".join(self._columns.beyond_ascii)

    def files_with(self, identifiers: Iterable[str], among: set[int] | None = None) -> set[int]:
        """Return the files (those `among` some, unless that is None) that may hold one of the identifiers, in any spelling: none that does is missing."""
        terms = [term for term in _terms_of(identifiers) if self.file_postings(term)[0]]
        if among is None:
            return set(chain.from_iterable([self.file_postings(term)[0] for term in terms])) - self._gone
        found: set[int] = set()
        for impacts in map(self.file_impacts, terms):
            found.update([file for file in among if impacts[file]])
        return found

    def count_with(self, identifiers: Iterable[str]) -> int:
        """Return in about how many files one of the identifiers may stand."""
        return sum([len(self.file_postings(term)[0]) for term in _terms_of(identifiers)])


def _terms_of(identifiers: Iterable[str]) -> list[str]:
    """Return the terms under which files are that may hold one of the identifiers."""
    terms = []
    for name in map(joined, identifiers):
        terms.append("=" + name)
        if len(sub_words(name)) == 1:
            terms.append(stem(name))
    return terms


def _holding(identifiers: str, text: str, most: int, *, begins: bool, ends: bool) -> set[str]:
    """Return those of identifiers, each with an LF around it, that hold a text; one more than `most` at most."""
    found: set[str] = set()
    at = identifiers.find(text, 1)
    while at > 0 and len(found) <= most:
        begin = identifiers.rindex("\n", 0, at) + 1
        end = identifiers.index("\n", at)
        name = identifiers[begin:end]
        fits = (not begins or name.startswith(text)) and (not ends or name.endswith(text))
        if fits or not name.isascii():
            found.add(name)
        at = identifiers.find(text, end)
    return found
