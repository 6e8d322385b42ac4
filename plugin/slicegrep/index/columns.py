"""The columns of an index as wholes: those of its segments, one after the other."""

from __future__ import annotations

from array import array
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from slicegrep.index.shelf import Shelf

__all__ = ["Columns", "FileRow", "FileRows", "Label"]

_Column = TypeVar("_Column", "array[int]", "array[float]", "list[Any]", bytes)


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


class Label(NamedTuple):
    """What many files have in common; FileRow tells what it is."""

    language: str
    kind: str
    flags: frozenset[str]


class FileRows:
    """The files by id, each made a row when it is looked at: a search looks at some hundred, however many there are."""

    def __init__(
        self, columns: Columns, there: bytearray, amended: Mapping[int, tuple[int, int, int]]
    ) -> None:
        """`there` is 1 for the files that are there, by id; `amended` has size, modification and change time of touched ones."""
        self._columns, self._there, self._amended = columns, there, amended
        self._rows: dict[int, FileRow | None] = {}

    def __len__(self) -> int:
        return len(self._there)

    def __iter__(self) -> Iterator[FileRow | None]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, file: int) -> FileRow | None:
        """Return a file; None where it was replaced, is gone, or holds no text. Raises IndexError for an id that there is not."""
        try:
            return self._rows[file]
        except KeyError:
            row = self._rows[file] = self._made(file)
            return row

    def _made(self, file: int) -> FileRow | None:
        if file < 0:
            raise IndexError(file)
        if not self._there[file]:
            return None
        columns = self._columns
        label = columns.labels[columns.label[file]]
        size, mtime, _ = self._amended.get(file, (columns.sizes[file], columns.mtimes[file], 0))
        return FileRow(
            file,
            columns.paths[file],
            *label,
            size,
            mtime,
            columns.lines[file],
            columns.first_chunk[file],
            columns.chunk_counts[file],
            columns.mentions[file],
        )


class Columns:
    """The segments of some shelves as one. What is asked for is loaded then, once.

    Segments never change, so what `before` has loaded of the first ones is taken over: after an edit only the new
    segment is loaded.
    """

    def __init__(self, shelves: Sequence[Shelf], before: Columns | None = None) -> None:
        self.segments = [(shelf, number) for shelf in shelves for number in shelf.segments]
        numbers = [number for _, number in self.segments]
        self.loaded: dict[str, tuple[Any, int]] = {}
        """Columns by name, and of how many segments they are."""
        self.labels: list[Label] = []
        """The different labels of the files."""
        if before is not None:
            earlier = [number for _, number in before.segments]
            if earlier and numbers[: len(earlier)] == earlier:
                self.loaded, self.labels = dict(before.loaded), before.labels

    def _whole(self, name: str, empty: _Column, of: Callable[[Shelf, int], _Column]) -> _Column:
        value, count = self.loaded.get(name, (empty, 0))
        if count < len(self.segments):
            value = value[:]
            for shelf, number in self.segments[count:]:
                value += of(shelf, number)
            self.loaded[name] = value, len(self.segments)
        whole: _Column = value
        return whole

    def _numbers(self, name: str, code: str) -> array[int]:
        return self._whole(name, array(code), lambda shelf, number: shelf.column(number, name, code))

    def check(self) -> None:
        """Raise ValueError where a segment is missing, or LookupError where one does not fit itself."""
        ids = self._numbers("file", "I")
        if not len(ids) == len(self.paths) == len(self.label) == (ids[-1] + 1 if ids else 0):
            raise ValueError("a segment is missing")

    @cached_property
    def paths(self) -> list[str]:
        """Path by file id, as FileRow's: also of files that were replaced and of those that hold no text."""
        return self._whole("paths", [], lambda shelf, number: shelf.names(number, "paths"))

    @cached_property
    def label(self) -> array[int]:
        """The place of a file's label in `labels`, by file id; the kind of one that holds no text is ""."""
        return self._whole("label", array("I"), self._labels_of)

    def _labels_of(self, shelf: Shelf, number: int) -> array[int]:
        """Return the places of the labels of a segment's files; those that are new come behind."""
        texts = shelf.names(number, "labels")
        new = [_label(text) for text in texts if _label(text) not in self.labels]
        self.labels = [*self.labels, *new]
        places = [self.labels.index(_label(text)) for text in texts]
        return array("I", map(places.__getitem__, shelf.column(number, "label", "I")))

    @cached_property
    def sizes(self) -> array[int]:
        """Bytes by file id."""
        return self._numbers("size", "Q")

    @cached_property
    def mtimes(self) -> array[int]:
        """Modification time by file id, as FileRow's."""
        return self._numbers("mtime", "q")

    @cached_property
    def ctimes(self) -> array[int]:
        """Change time by file id, in nanoseconds."""
        return self._numbers("ctime", "q")

    @cached_property
    def lines(self) -> array[int]:
        """Count of lines by file id."""
        return self._numbers("lines", "I")

    @cached_property
    def first_chunk(self) -> array[int]:
        """Id of the first chunk by file id: those of a file have ids in a row."""
        return self._numbers("first_chunk", "I")

    @cached_property
    def chunk_counts(self) -> array[int]:
        """Count of chunks by file id."""
        return self._numbers("chunks", "I")

    @cached_property
    def mentions(self) -> array[float]:
        """Mentions by file id, as FileRow's."""
        empty: array[float] = array("d")
        return self._whole("mentions", empty, _mentions)

    @cached_property
    def digests(self) -> bytes:
        """BLAKE2b-128 of the files' bytes, 16 bytes each, by file id; zeros where the bytes were not read."""
        return self._whole("digests", b"", lambda shelf, number: shelf.part(number, "digests"))

    @cached_property
    def chunk_file(self) -> array[int]:
        """File id by chunk id."""
        return self._numbers("chunk_file", "I")

    @cached_property
    def chunk_start(self) -> array[int]:
        """First line by chunk id."""
        return self._numbers("chunk_start", "I")

    @cached_property
    def chunk_end(self) -> array[int]:
        """Last line by chunk id."""
        return self._numbers("chunk_end", "I")

    @cached_property
    def chunk_symbol(self) -> array[int]:
        """Symbol id by chunk id; -1 for none."""
        return self._numbers("chunk_symbol", "i")

    @cached_property
    def first_symbol(self) -> array[int]:
        """Id of the first symbol by file id."""
        return self._numbers("first_symbol", "I")

    @cached_property
    def symbol_file(self) -> array[int]:
        """File id by symbol id."""
        return self._numbers("symbol_file", "I")

    @cached_property
    def symbol_parent(self) -> array[int]:
        """Position of the parent among the symbols of the same file, by symbol id; -1 for none."""
        return self._numbers("symbol_parent", "i")

    @cached_property
    def symbol_kind(self) -> list[str]:
        """Kind by symbol id."""
        return self._whole("symbol_kind", [], _kinds)

    @cached_property
    def symbol_names(self) -> list[str]:
        """Name by symbol id."""
        return self._whole("symbol_names", [], lambda shelf, number: shelf.names(number, "symbol_names"))

    @cached_property
    def beyond_ascii(self) -> list[str]:
        """Identifiers with letters beyond ASCII, in lower case, of all segments."""
        return self._whole("beyond_ascii", [], _beyond_ascii)

    @cached_property
    def lower_identifiers(self) -> list[str]:
        """For each segment, its identifiers in lower case (some twice, and not quite sorted), with an LF around each."""
        return self._whole("lower", [], lambda shelf, number: [_identifiers(shelf, number)])


def _identifiers(shelf: Shelf, number: int) -> str:
    """Return a segment's identifiers in lower case, with an LF around each.

    Those beyond ASCII stand in it twice, first with their other letters as they were: bytes are lowered in a quarter of the
    time that a text takes which is not ASCII (2.7 of 10 ms for Django).
    """
    text = shelf.part(number, "identifiers").lower().decode("utf-8", "surrogateescape")
    return f"\n{text}\n" if text.isascii() else f"\n{text}\n{shelf.text(number, 'beyond_ascii')}\n"


def _beyond_ascii(shelf: Shelf, number: int) -> list[str]:
    return [name for name in shelf.text(number, "beyond_ascii").split("\n") if name]


def _kinds(shelf: Shelf, number: int) -> list[str]:
    names = shelf.names(number, "symbol_kinds")
    return [names[kind] for kind in shelf.column(number, "symbol_kind", "H")]


def _mentions(shelf: Shelf, number: int) -> array[float]:
    values: array[float] = array("d")
    values.frombytes(shelf.part(number, "mentions"))
    return values


@lru_cache(maxsize=1024)
def _label(text: str) -> Label:
    language, kind, flags = text.split("\t")
    return Label(language, kind, frozenset(flags.split(",")) if flags else frozenset())
