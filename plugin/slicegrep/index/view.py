"""The index as a search sees it: files, chunks and symbols of one moment, with their texts."""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.columns import Columns, FileRow, FileRows
from slicegrep.index.documents import add_source
from slicegrep.index.holders import Holders
from slicegrep.index.outlines import Outlined
from slicegrep.index.segment import Bases, Builder, outer_names
from slicegrep.index.shelf import MemoryShelf
from slicegrep.index.terms import joined

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Mapping, Sequence

    from slicegrep.index.shelf import Shelf
    from slicegrep.index.texts import Texts
    from slicegrep.types import Source, Symbol

__all__ = ["FileRow", "SymbolRow", "View"]

_CACHED_OUTLINES = 1024
_OUTLINES_AT_ONCE = 200


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

    Chunk, file and symbol ids are positions in its columns. What `holders` tells may have ids of replaced files: `files[id]` is None.
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
        self._outlines: dict[int, Outlined] = {}
        label = self.columns.label
        holds_text = [int(one.kind != "") for one in self.columns.labels]
        self.there = bytearray(map(holds_text.__getitem__, label))
        """By file id, 1 where the file is there and holds text, 0 where it was replaced, is gone, or holds none."""
        for file, (size, _, _) in self._amended.items():
            if size < 0:
                self.there[file] = 0
        self.holders = Holders(shelves, self.columns, self.there)
        """What terms and identifiers stand in."""
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

    def symbols_named(self, name: str) -> list[int]:
        """Return the symbols of files that are there with this name; case and underscores do not count."""
        found = self.holders.name_postings("=" + joined(name))
        return [number for number in found if self.there[self.symbol_file[number]]]

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

    def definitions(self, name: str) -> int:
        """Return how many files define a name, as it is written."""
        names = self.columns.symbol_names
        return len({self.symbol_file[number] for number in self.symbols_named(name) if names[number] == name})

    @cached_property
    def files_untold(self) -> set[int]:
        """The files without chunks that are not empty: of their identifiers the index knows nothing."""
        without = [number for number, chunks in enumerate(self.columns.chunk_counts) if not chunks]
        return {row.id for number in without if (row := self.files[number]) is not None and row.size}

    @property
    def texts_kept(self) -> int:
        """How many files' texts are in memory."""
        return len(self._given) + (self._texts.count if self._texts is not None else 0)

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
