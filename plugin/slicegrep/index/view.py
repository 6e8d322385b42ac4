"""The index as a search sees it: files, chunks, symbols and postings of one moment."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain, compress
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.columns import Columns, FileRow, FileRows
from slicegrep.index.outlines import Outlined
from slicegrep.index.postings import NOTHING, Postings, chunks_in, files_of, together, unpacked
from slicegrep.index.segment import Bases, Builder, outer_names
from slicegrep.index.shelf import MemoryShelf
from slicegrep.index.terms import PATH_TERM, joined
from slicegrep.words import stem, sub_words

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Mapping, Sequence

    from slicegrep.index.shelf import Shelf
    from slicegrep.index.texts import Texts
    from slicegrep.types import Source, Symbol

__all__ = ["FileRow", "SymbolRow", "View"]

_CACHED_TERMS = 4096
_LEAST_AT_ONCE = 4
_CACHED_OUTLINES = 1024
_OUTLINES_AT_ONCE = 200
_CACHED_TEXTS = 64
_DENSE_BYTES = 8_000_000
"""Of impacts by file that are kept."""


class SymbolRow(NamedTuple):
    """A definition. Lines are 1-based and inclusive; `parent` is a symbol id or -1."""

    id: int
    file: int
    kind: str
    name: str
    qualified: str
    start: int
    end: int
    name_line: int
    signature: str
    parent: int
    depth: int


class View:
    """The index at one moment. Nothing in it changes; a changed tree gets a new view.

    Chunk, file and symbol ids are positions in its columns. Postings may hold ids of replaced files: `files[id]` is None.
    """

    def __init__(
        self,
        root: str,
        shelves: Sequence[Shelf],
        texts: Texts | None = None,
        *,
        amended: Mapping[int, tuple[int, int, int]] | None = None,
        skipped: Mapping[str, str] | None = None,
        notes: tuple[str, ...] = (),
        before: View | None = None,
    ) -> None:
        """`before` is a view of which this one may have the first segments."""
        self.root = root
        """The workspace, an absolute path."""
        self.skipped = skipped or {}
        """What the walk left out although it is not ignored, and why. Folders end in `/`."""
        self.notes = notes
        """What a person should know about how the files were found."""
        self._shelves = shelves
        self.columns: Columns = Columns(shelves, before.columns if before else None)
        """What lies behind the view's own columns."""
        self.is_outdated = False
        """Whether a file that was read is another by now than the view has it, or gone: the next view has it as it is."""
        self._texts = texts
        self._amended = amended or {}
        self._given: dict[str, Source] = {}
        self._under: dict[str, list[str]] = {}
        self._among: dict[str, bytes] = {}
        self._kept: dict[str, Postings] = {}
        self._dense: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}
        self._held: dict[tuple[str, bool, bool], set[int] | int] = {}
        """What `files_holding` found, or how many identifiers it counted before it gave up."""
        self._outlines: dict[int, Outlined] = {}
        label = self.columns.label
        holds_text = [int(one.kind != "") for one in self.columns.labels]
        self.there = bytearray(map(holds_text.__getitem__, label))
        """By file id, 1 where the file is there and holds text, 0 where it was replaced, is gone, or holds none."""
        for file, (size, _, _) in self._amended.items():
            if size < 0:
                self.there[file] = 0
        self.files = FileRows(self.columns, self.there, self._amended)
        """By file id; None where it is not `there`."""
        self.file_count = self.there.count(1)
        """Files that are there."""

    @cached_property
    def chunk_count(self) -> int:
        """Chunks of the files that are there."""
        return sum(compress(self.columns.chunk_counts, self.there))

    def plus(self, sources: Iterable[Source]) -> View:
        """Return a view that holds these sources too, by their paths. What is in this view already is not to be among them."""
        from slicegrep.index.documents import add_source  # noqa: PLC0415 (it loads the parsers)

        given = {source.path: source for source in sources}
        builder = Builder()
        for source in given.values():
            add_source(builder, source)
        bases = Bases(len(self.files), len(self.chunk_file), len(self.symbol_file))
        more = MemoryShelf(builder.encoded(bases))
        view = View(
            self.root,
            [*self._shelves, more],
            self._texts,
            amended=self._amended,
            skipped=self.skipped,
            notes=self.notes,
            before=self,
        )
        view._given = {**self._given, **given}
        return view

    @property
    def chunk_file(self) -> array[int]:
        """File id by chunk id."""
        return self.columns.chunk_file

    @property
    def chunk_start(self) -> array[int]:
        """First line by chunk id."""
        return self.columns.chunk_start

    @property
    def chunk_end(self) -> array[int]:
        """Last line by chunk id."""
        return self.columns.chunk_end

    @property
    def chunk_symbol(self) -> array[int]:
        """Symbol id of the innermost definition around a chunk, by chunk id; -1 for none."""
        return self.columns.chunk_symbol

    @property
    def symbol_file(self) -> array[int]:
        """File id by symbol id."""
        return self.columns.symbol_file

    @property
    def first_symbol(self) -> array[int]:
        """By file id, the id of its first symbol: those of a file have ids in a row."""
        return self.columns.first_symbol

    @cached_property
    def _file_of_path(self) -> dict[str, int]:
        """The last file of each path, which may be one that is not there."""
        return dict(zip(self.columns.paths, range(len(self.there)), strict=True))

    def paths_under(self, prefix: str) -> list[str]:
        """Return the paths of the files under a folder ("" or ending in `/`), relative to it. The list is kept: change nothing."""
        found = self._under.get(prefix)
        if found is None:
            found = list(compress(self.columns.paths, self.there))
            if prefix:
                found = [path[len(prefix) :] for path in found if path.startswith(prefix)]
            self._under[prefix] = found
        return found

    def paths_of(self, files: Iterable[int], prefix: str) -> list[str]:
        """Return the paths of those of some files that are there and under a folder, relative to it, by id."""
        there, paths = self.there, self.columns.paths
        found = [paths[file] for file in sorted(files) if there[file]]
        return [path[len(prefix) :] for path in found if path.startswith(prefix)] if prefix else found

    def among(self, prefix: str, only: frozenset[str] | None) -> bytes | bytearray:
        """Return by file id 1 where a file is there, its path begins with `prefix`, and is in `only` unless that is None."""
        if only is not None:
            numbers = [number for path in only if (number := self._file_of_path.get(path)) is not None]
            found = bytearray(len(self.there))
            for number in numbers:
                found[number] = self.there[number] and self.columns.paths[number].startswith(prefix)
            return found
        if not prefix:
            return self.there
        known = self._among.get(prefix)
        if known is None:
            starts = [path.startswith(prefix) for path in self.columns.paths]
            known = self._among[prefix] = bytes(map(and_, starts, self.there))
        return known

    def file_at(self, path: str) -> FileRow | None:
        """Return the file with that path, or None."""
        number = self._file_of_path.get(path)
        return None if number is None else self.files[number]

    def digest(self, file: int) -> str:
        """Return the digest of the content that the view has of a file, as `types.Source.digest`."""
        return self.columns.digests[16 * file : 16 * file + 16].hex()

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
            impacts = bytearray(len(self.there))
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

    def symbols_named(self, name: str) -> list[int]:
        """Return the symbols of files that are there with this name; case and underscores do not count."""
        term = "=" + joined(name)
        found = (self._kept.get(term) or self._find(term)).names
        return [number for number in found if self.there[self.symbol_file[number]]]

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
        for shelf, number in self.columns.segments:
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
            for shelf, number in self.columns.segments:
                for term, row in shelf.rows_in(number, missing).items():
                    found[term] += chunks_in(row)
            counts.update(found)
        return {term: len(kept[term].chunks) if term in kept else counts[term] for term in terms}

    def is_nested(self, symbol: int) -> bool:
        """Return whether a symbol is inside of another."""
        return self.columns.symbol_parent[symbol] >= 0

    def symbol_name(self, number: int) -> str:
        """Return the name of a symbol."""
        return self.columns.symbol_names[number]

    def symbol(self, number: int) -> SymbolRow:
        """Return a symbol by its id, also one of a file that was replaced."""
        file = self.symbol_file[number]
        first = self.first_symbol[file]
        own = self.outlined(file)[number - first]
        return SymbolRow(
            number,
            file,
            own.kind,
            own.name,
            own.qualified,
            own.start,
            own.end,
            own.name_line,
            own.signature,
            first + own.parent if own.parent >= 0 else -1,
            own.depth,
        )

    def symbols_of(self, file: int) -> tuple[Symbol, ...]:
        """Return the definitions of a file as its outline has them."""
        return self.outlined(file).all

    def outlined(self, file: int) -> Outlined:
        """Return the definitions of a file, each of which is made when it is looked at."""
        found = self._outlines.get(file)
        if found is None:
            if len(self._outlines) >= _CACHED_OUTLINES:
                self._outlines.clear()
            found = self._outlines[file] = self._outlined(file)
        return found

    def _outlined(self, file: int) -> Outlined:
        first, end = self.symbol_ids(file)
        found = (shelf.outline(file) for shelf in self._shelves if first < end)
        return self._checked(file, next((data for data in found if data is not None), b""))

    def _checked(self, file: int, data: bytes) -> Outlined:
        first, end = self.symbol_ids(file)
        try:
            found = Outlined(data)
        except (ValueError, IndexError) as error:
            raise self._shelves[0].damage(f"file {file}: {error}") from error
        if len(found) != end - first:
            raise self._shelves[0].damage(f"file {file}: another number of definitions")
        return found

    def enclosing(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return the qualified names of the innermost functions, methods or classes around places, as outline.enclosing; "" for none.

        A place is the id of a file and a line of it. What must be read is read together.
        """
        lines: dict[int, list[int]] = {}
        for at, (file, _) in enumerate(places):
            lines.setdefault(file, []).append(at)
        missing = [file for file in sorted(lines) if file not in self._outlines]
        made: dict[int, Outlined] = {}
        names = [""] * len(places)
        for begin in range(0, len(missing), _OUTLINES_AT_ONCE):
            some = missing[begin : begin + _OUTLINES_AT_ONCE]
            for shelf in self._shelves:
                for file, data in shelf.outlines(some).items():
                    made[file] = self._checked(file, data)
                    for at in lines.pop(file):
                        names[at] = made[file].enclosing(places[at][1])
            if len(self._outlines) + len(made) < _CACHED_OUTLINES:
                self._outlines.update(made)
            made.clear()
        for file, wanted in lines.items():
            outlined = self.outlined(file)
            for at in wanted:
                names[at] = outlined.enclosing(places[at][1])
        return names

    def symbol_ids(self, file: int) -> tuple[int, int]:
        """Return the id of a file's first symbol and the one after its last."""
        firsts = self.first_symbol
        return firsts[file], firsts[file + 1] if file + 1 < len(firsts) else len(self.symbol_file)

    def outer_names(self, file: int) -> set[str]:
        """Return the names that a file defines at its top level and in its classes."""
        begin, end = self.symbol_ids(file)
        return outer_names(
            self.columns.symbol_names[begin:end],
            self.columns.symbol_parent[begin:end],
            self.columns.symbol_kind[begin:end],
        )

    def used(self) -> dict[str, int]:
        """Return in how many files each identifier stands, as written. Files that were replaced count as well."""
        whole: Counter[str] = Counter()
        for shelf, number in self.columns.segments:
            whole.update(shelf.used(number))
        return whole

    def definitions(self, name: str) -> int:
        """Return how many files define a name, as it is written."""
        names = self.columns.symbol_names
        return len({self.symbol_file[number] for number in self.symbols_named(name) if names[number] == name})

    def terms_with_prefix(self, prefix: str) -> set[str]:
        """Return the terms that begin with `prefix`, those of replaced files among them."""
        return {term for shelf in self._shelves for term in shelf.terms(prefix)}

    def identifiers_containing(self, text: str) -> list[str]:
        """Return the identifiers that hold `text` somewhere, in lower case, sorted. Case does not count."""
        found: set[str] = set()
        text = text.lower()
        for identifiers in self.columns.lower_identifiers:
            at = identifiers.find(text, 1)
            while at > 0:
                begin = identifiers.rindex("\n", 0, at) + 1
                end = identifiers.index("\n", at)
                found.add(identifiers[begin:end])
                at = identifiers.find(text, end)
        return sorted(found)

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
        for identifiers in self.columns.lower_identifiers:
            names.append(_holding(identifiers, text, most - count, begins=begins, ends=ends))
            count += len(names[-1])
            if count > most:
                self._held[text, begins, ends] = count
                return None
        found: set[int] = set()
        for (shelf, number), some in zip(self.columns.segments, names, strict=True):
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
            if self.there.count(1) == len(self.there)
            else {n for n, there in enumerate(self.there) if not there}
        )

    @cached_property
    def files_untold(self) -> set[int]:
        """The files without chunks that are not empty: of their identifiers the index knows nothing."""
        without = [number for number, chunks in enumerate(self.columns.chunk_counts) if not chunks]
        return {row.id for number in without if (row := self.files[number]) is not None and row.size}

    @property
    def texts_kept(self) -> int:
        """How many files' texts are in memory."""
        return len(self._given) + (self._texts.count if self._texts is not None else 0)

    @property
    def identifiers_beyond_ascii(self) -> list[str]:
        """The identifiers with letters beyond ASCII, in lower case."""
        return self.columns.beyond_ascii

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

    def read(self, path: str) -> Source | None:
        """Return the file at a path relative to the root, None where it is no readable regular file.

        Of a file that the view has only the content that the view has: None where it is another by now (`is_outdated`).
        """
        given = self._given.get(path)
        if given is not None or self._texts is None:
            return given
        found = self._texts.source(path, digest := self._digest_at(path))
        self.is_outdated |= found is None and digest is not None
        return found

    def utf8_lines(self, path: str) -> bytes | None:
        """Return the lines of what `read` returns in UTF-8, as source.utf8_lines does, or None."""
        given = self._given.get(path)
        if given is not None:
            return given.text.encode("utf-8", "replace")
        if self._texts is None:
            return None
        found = self._texts.utf8_lines(path, digest := self._digest_at(path))
        self.is_outdated |= found is None and digest is not None
        return found

    def _digest_at(self, path: str) -> bytes | None:
        number = self._file_of_path.get(path)
        if number is None or not self.there[number]:
            return None
        return self.columns.digests[16 * number : 16 * number + 16]


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
