"""The index as a search sees it: files, chunks, symbols and postings of one moment."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.postings import NOTHING, Postings, together, unpacked
from slicegrep.index.segment import Bases, Builder, outer_names
from slicegrep.index.shelf import MemoryShelf
from slicegrep.index.terms import joined
from slicegrep.types import Source, Symbol
from slicegrep.words import stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slicegrep.index.shelf import Shelf
    from slicegrep.index.texts import Texts

__all__ = ["FileRow", "SymbolRow", "View"]

_CACHED_TERMS = 1024
_CACHED_OUTLINES = 512


class FileRow(NamedTuple):
    """A file of the index. `path` is relative to the root, with `/`, undecodable bytes as lone surrogates."""

    id: int
    path: str
    language: str
    kind: str
    """`code`, `docs` or `config`, as roles.kind_of tells them apart."""
    flags: frozenset[str]
    size: int
    mtime_ns: int
    """-1 where the next look must compare the content."""
    lines: int
    first_chunk: int
    chunks: int
    mentions: float
    """How much the other files refer to what this one defines: the sum over its top-level and class-level names of
    log2(1 + other files that hold the name / files that define it)."""


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
    ) -> None:
        self.root = root
        """The workspace, an absolute path."""
        self.skipped = skipped or {}
        """What the walk left out although it is not ignored, and why. Folders end in `/`."""
        self.notes = notes
        """What a person should know about how the files were found."""
        self._shelves = shelves
        self._texts = texts
        self._amended = amended or {}
        self._given: dict[str, Source] = {}
        self._segments = [(shelf, number) for shelf in shelves for number in shelf.segments]
        self._kept: dict[str, Postings] = {}
        self._outlines: dict[int, tuple[Symbol, ...]] = {}
        self.files: list[FileRow | None] = self._load_files()
        """By file id; None where the file was replaced, is gone, or holds no text."""
        there = [row for row in self.files if row is not None]
        self.file_count = len(there)
        """Files that are there."""
        self.chunk_count = sum([row.chunks for row in there])
        """Chunks of those files."""

    def _load_files(self) -> list[FileRow | None]:
        rows: list[FileRow | None] = []
        chunks = 0
        for shelf, number in self._segments:
            paths = shelf.names(number, "paths")
            labels = [_label(text) for text in shelf.names(number, "labels")]
            label = [labels[at] for at in shelf.column(number, "label", "I")]
            first = shelf.column(number, "first_chunk", "I")
            chunks += shelf.count(number, "chunk_file", "I")
            columns = (
                range(len(rows), len(rows) + len(paths)),
                paths,
                [language for language, _, _ in label],
                [kind for _, kind, _ in label],
                [flags for _, _, flags in label],
                shelf.column(number, "size", "Q"),
                shelf.column(number, "mtime", "q"),
                shelf.column(number, "lines", "I"),
                first,
                [end - begin for begin, end in zip(first, [*first[1:], chunks], strict=True)],
                shelf.column(number, "mentions", "d"),
            )
            rows.extend([row if row.kind else None for row in map(FileRow._make, zip(*columns, strict=True))])
        for file, (size, mtime_ns, _) in self._amended.items():
            row = rows[file]
            rows[file] = row._replace(size=size, mtime_ns=mtime_ns) if row and size >= 0 else None
        return rows

    def plus(self, sources: Iterable[Source]) -> View:
        """Return a view that holds these sources too, by their paths. What is in this view already is not to be among them."""
        from slicegrep.index.documents import add_source  # noqa: PLC0415 (it loads the parsers)

        given = {source.path: source for source in sources}
        builder = Builder()
        for source in given.values():
            add_source(builder, source)
        bases = Bases(len(self.files), len(self.chunk_file), len(self._symbol_parent))
        more = MemoryShelf(builder.encoded(bases))
        view = View(
            self.root,
            [*self._shelves, more],
            self._texts,
            amended=self._amended,
            skipped=self.skipped,
            notes=self.notes,
        )
        view._given = {**self._given, **given}
        return view

    def _column(self, name: str, code: str) -> array[int]:
        whole: array[int] = array(code)
        for shelf, number in self._segments:
            whole += shelf.column(number, name, code)
        return whole

    @cached_property
    def chunk_file(self) -> array[int]:
        """File id by chunk id."""
        return self._column("chunk_file", "I")

    @cached_property
    def chunk_start(self) -> array[int]:
        """First line by chunk id."""
        return self._column("chunk_start", "I")

    @cached_property
    def chunk_end(self) -> array[int]:
        """Last line by chunk id."""
        return self._column("chunk_end", "I")

    @cached_property
    def chunk_symbol(self) -> array[int]:
        """Symbol id of the innermost definition around a chunk, by chunk id; -1 for none."""
        return self._column("chunk_symbol", "i")

    @cached_property
    def symbol_file(self) -> array[int]:
        """File id by symbol id."""
        first = self.first_symbol
        files = array("I")
        for file, (begin, end) in enumerate(zip(first, [*first[1:], len(self._symbol_parent)], strict=True)):
            if begin != end:
                files.extend([file] * (end - begin))
        return files

    @cached_property
    def first_symbol(self) -> array[int]:
        """By file id, the id of its first symbol: those of a file have ids in a row."""
        return self._column("first_symbol", "I")

    @cached_property
    def _symbol_lines(self) -> array[int]:
        return self._column("symbol_lines", "I")

    @cached_property
    def _symbol_parent(self) -> array[int]:
        return self._column("symbol_parent", "i")

    @cached_property
    def _symbol_kind(self) -> list[str]:
        kinds: list[str] = []
        for shelf, number in self._segments:
            names = shelf.names(number, "symbol_kinds")
            kinds += [names[n] for n in shelf.column(number, "symbol_kind", "H")]
        return kinds

    @cached_property
    def _symbol_names(self) -> list[str]:
        return [name for shelf, number in self._segments for name in shelf.names(number, "symbol_names")]

    @cached_property
    def _file_of_path(self) -> dict[str, int]:
        return {row.path: row.id for row in self.files if row is not None}

    def file_at(self, path: str) -> FileRow | None:
        """Return the file with that path, or None."""
        number = self._file_of_path.get(path)
        return None if number is None else self.files[number]

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
        return self._symbol_names[number]

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
        first = self.first_symbol[file]
        data = next((data for shelf in self._shelves if (data := shelf.outline(file)) is not None), b"")
        if not data:
            return ()
        texts = data.decode("utf-8", "surrogateescape").split("\0")
        symbols: list[Symbol] = []
        for at in range(len(texts) // 2):
            number = first + at
            start, end, name_line = self._symbol_lines[3 * number : 3 * number + 3]
            parent = self._symbol_parent[number]
            symbols.append(
                Symbol(
                    self._symbol_kind[number],
                    self._symbol_names[number],
                    texts[2 * at],
                    start,
                    end,
                    texts[2 * at + 1],
                    name_line,
                    parent,
                    symbols[parent].depth + 1 if parent >= 0 else 0,
                )
            )
        return tuple(symbols)

    def outer_names(self, file: int) -> set[str]:
        """Return the names that a file defines at its top level and in its classes."""
        begin = self.first_symbol[file]
        end = self.first_symbol[file + 1] if file + 1 < len(self.first_symbol) else len(self._symbol_parent)
        return outer_names(
            self._symbol_names[begin:end], self._symbol_parent[begin:end], self._symbol_kind[begin:end]
        )

    def used(self) -> dict[str, int]:
        """Return in how many files each identifier stands, as written. Files that were replaced count as well."""
        whole: Counter[str] = Counter()
        for shelf, number in self._segments:
            whole.update(shelf.used(number))
        return whole

    def uses(self, identifier: str) -> int:
        """Return in how many files an identifier stands, as in `used`."""
        total = 0
        for (shelf, number), text in zip(self._segments, self._spelled, strict=True):
            at = text.find(f"\n{identifier}\n")
            if at >= 0:
                total += shelf.column(number, "identifier_files", "I")[text.count("\n", 0, at)]
        return total

    def definitions(self, name: str) -> int:
        """Return how many files define a name, as it is written."""
        return len({self.symbol_file[n] for n in self.symbols_named(name) if self._symbol_names[n] == name})

    @cached_property
    def _terms(self) -> list[str]:
        return [shelf.text(number, "terms") for shelf, number in self._segments]

    @cached_property
    def _spelled(self) -> list[str]:
        return [f"\n{shelf.text(number, 'identifiers')}\n" for shelf, number in self._segments]

    @cached_property
    def _identifiers(self) -> list[str]:
        return [text.lower() for text in self._spelled]

    def stems_with_prefix(self, prefix: str, most: int) -> list[str]:
        """Return at most `most` stems that begin with `prefix`, the shortest first."""
        found: set[str] = set()
        for terms in self._terms:
            at = 0 if terms.startswith(prefix) else terms.find("\n" + prefix) + 1
            if at == 0 and not terms.startswith(prefix):
                continue
            while terms.startswith(prefix, at):
                end = terms.find("\n", at)
                found.add(terms[at : end if end >= 0 else len(terms)])
                if end < 0:
                    break
                at = end + 1
        return sorted(found, key=lambda term: (len(term), term))[:most]

    def identifiers_containing(self, text: str) -> list[str]:
        """Return the identifiers that hold `text` somewhere, in lower case, sorted. Case does not count."""
        found: set[str] = set()
        text = text.lower()
        for identifiers in self._identifiers:
            at = identifiers.find(text, 1)
            while at > 0:
                begin = identifiers.rfind("\n", 0, at) + 1
                end = identifiers.find("\n", at)
                found.add(identifiers[begin:end])
                at = identifiers.find(text, end)
        return sorted(found)

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
        """Return the file at a path relative to the root, or None where it is no readable regular file."""
        given = self._given.get(path)
        if given is not None or self._texts is None:
            return given
        return self._texts.source(path, self.file_at(path))

    def raw(self, path: str) -> bytes | None:
        """Return the bytes of the file at a path relative to the root, or None."""
        given = self._given.get(path)
        if given is not None:
            return given.text.encode("utf-8", "surrogateescape")
        return None if self._texts is None else self._texts.raw(path, self.file_at(path))


def _label(text: str) -> tuple[str, str, frozenset[str]]:
    language, kind, flags = text.split("\t")
    return language, kind, frozenset(flags.split(",")) if flags else frozenset()
