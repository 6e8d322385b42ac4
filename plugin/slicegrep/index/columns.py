"""The columns of an index as wholes: those of its segments, one after the other."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.index.shelf import Shelf

__all__ = ["Columns", "FileRow"]

_Column = TypeVar("_Column", "array[int]", "list[Any]", bytes)


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
        if before is not None:
            earlier = [number for _, number in before.segments]
            if earlier and numbers[: len(earlier)] == earlier:
                self.loaded = dict(before.loaded)

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

    @cached_property
    def files(self) -> list[FileRow]:
        """By file id, also those that were replaced and those that hold no text (kind "")."""
        return self._whole("files", [], _files)

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
        return self._whole("lower", [], lambda shelf, number: [_lines(shelf, number, "identifiers").lower()])


def _lines(shelf: Shelf, number: int, name: str) -> str:
    return f"\n{shelf.text(number, name)}\n"


def _beyond_ascii(shelf: Shelf, number: int) -> list[str]:
    return [name for name in shelf.text(number, "beyond_ascii").split("\n") if name]


def _kinds(shelf: Shelf, number: int) -> list[str]:
    names = shelf.names(number, "symbol_kinds")
    return [names[kind] for kind in shelf.column(number, "symbol_kind", "H")]


def _files(shelf: Shelf, number: int) -> list[FileRow]:
    labels = [_label(text) for text in shelf.names(number, "labels")]
    label = [labels[at] for at in shelf.column(number, "label", "I")]
    columns = (
        shelf.column(number, "file", "I"),
        shelf.names(number, "paths"),
        [language for language, _, _ in label],
        [kind for _, kind, _ in label],
        [flags for _, _, flags in label],
        shelf.column(number, "size", "Q"),
        shelf.column(number, "mtime", "q"),
        shelf.column(number, "lines", "I"),
        shelf.column(number, "first_chunk", "I"),
        shelf.column(number, "chunks", "I"),
        shelf.column(number, "mentions", "d"),
    )
    return list(map(FileRow._make, zip(*columns, strict=True)))


def _label(text: str) -> tuple[str, str, frozenset[str]]:
    language, kind, flags = text.split("\t")
    return language, kind, frozenset(flags.split(",")) if flags else frozenset()
