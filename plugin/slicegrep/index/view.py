"""The index as a search sees it: files, chunks, symbols and postings of one moment."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.columns import Columns, FileRow
from slicegrep.index.outlines import symbols_of
from slicegrep.index.postings import NOTHING, Postings, together, unpacked
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

_CACHED_TERMS = 1024
_CACHED_OUTLINES = 512


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
        self._kept: dict[str, Postings] = {}
        self._outlines: dict[int, tuple[Symbol, ...]] = {}
        self.files: list[FileRow | None] = [row if row.kind else None for row in self.columns.files]
        """By file id; None where the file was replaced, is gone, or holds no text."""
        for file, (size, mtime_ns, _) in self._amended.items():
            row = self.files[file]
            self.files[file] = row._replace(size=size, mtime_ns=mtime_ns) if row and size >= 0 else None
        there = [row.chunks for row in self.files if row is not None]
        self.file_count = len(there)
        """Files that are there."""
        self.chunk_count = sum(there)
        """Chunks of those files."""

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
        return {row.path: row.id for row in self.files if row is not None}

    def paths_under(self, prefix: str) -> list[str]:
        """Return the paths of the files under a folder ("" or ending in `/`), relative to it. The list is kept: change nothing."""
        found = self._under.get(prefix)
        if found is None:
            rows = [row for row in self.files if row is not None]
            found = self._under[prefix] = [r.path[len(prefix) :] for r in rows if r.path.startswith(prefix)]
        return found

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
        return [number for number in found if self.files[self.symbol_file[number]] is not None]

    def _find(self, term: str) -> Postings:
        rows = [unpacked(row) for shelf in self._shelves for row in shelf.rows(term)]
        found = together(rows) if rows else NOTHING
        if len(self._kept) >= _CACHED_TERMS:
            self._kept.clear()
        self._kept[term] = found
        return found

    def symbol_name(self, number: int) -> str:
        """Return the name of a symbol."""
        return self.columns.symbol_names[number]

    def symbol(self, number: int) -> SymbolRow:
        """Return a symbol by its id, also one of a file that was replaced."""
        file = self.symbol_file[number]
        first = self.first_symbol[file]
        own = self.symbols_of(file)[number - first]
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
        found = self._outlines.get(file)
        if found is None:
            if len(self._outlines) >= _CACHED_OUTLINES:
                self._outlines.clear()
            found = self._outlines[file] = self._symbols(file)
        return found

    def _symbols(self, file: int) -> tuple[Symbol, ...]:
        first, end = self._symbol_ids(file)
        if first == end:
            return ()
        data = next((data for shelf in self._shelves if (data := shelf.outline(file)) is not None), b"")
        try:
            symbols = symbols_of(data)
        except (ValueError, IndexError) as error:
            raise self._shelves[0].damage(f"file {file}: {error}") from error
        if len(symbols) != end - first:
            raise self._shelves[0].damage(f"file {file}: another number of definitions")
        return symbols

    def _symbol_ids(self, file: int) -> tuple[int, int]:
        """Return the id of a file's first symbol and the one after its last."""
        firsts = self.first_symbol
        return firsts[file], firsts[file + 1] if file + 1 < len(firsts) else len(self.symbol_file)

    def outer_names(self, file: int) -> set[str]:
        """Return the names that a file defines at its top level and in its classes."""
        begin, end = self._symbol_ids(file)
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

    def stems_with_prefix(self, prefix: str, most: int) -> list[str]:
        """Return at most `most` stems that begin with `prefix`, the shortest first."""
        return sorted(self.terms_with_prefix(prefix), key=lambda term: (len(term), term))[:most]

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

    @property
    def identifiers_beyond_ascii(self) -> list[str]:
        """The identifiers with letters beyond ASCII, in lower case."""
        return self.columns.beyond_ascii

    def files_with(self, identifiers: Iterable[str]) -> set[int]:
        """Return the files that may hold one of the identifiers, in any spelling: none that does is missing."""
        found: set[int] = set()
        for identifier in identifiers:
            name = joined(identifier)
            found.update(self.file_postings("=" + name)[0])
            if len(sub_words(name)) == 1:
                found.update(self.file_postings(stem(name))[0])
        return {number for number in found if self.files[number] is not None}

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
        return None if number is None else self.columns.digests[16 * number : 16 * number + 16]
