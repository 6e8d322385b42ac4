"""A run of files made into columns and postings: what one piece of the index holds of them."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.evidence import blocks_of
from slicegrep.index.terms import (
    BODY,
    CHUNK_LENGTH,
    DOC,
    FILE_LENGTH,
    LONGEST_LINE,
    NAME,
    SIGNATURE,
    documentation_of,
    impacts_of_length,
    joined,
    stems_of,
    terms_of,
)
from slicegrep.words import IDENTIFIER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slicegrep.types import Outline, Source

__all__ = ["Bases", "Builder", "Document", "Row", "text_of_names"]

_HEAVIEST = 511


class Document(NamedTuple):
    """What is known of a file besides its text. `mtime_ns` 0: not known, so that the next look compares its digest."""

    path: str
    kind: str
    flags: frozenset[str]
    size: int
    mtime_ns: int


class Bases(NamedTuple):
    """The first file, chunk and symbol id of a segment."""

    file: int
    chunk: int
    symbol: int


class Row(NamedTuple):
    """What a segment holds under one term: ids as 32-bit integers, impacts as bytes."""

    chunks: bytes
    impacts: bytes
    files: bytes
    file_impacts: bytes
    names: bytes


class _Terms(dict[str, tuple[int, ...]]):
    """Identifier -> numbers of its terms, found when first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.number: dict[str, int] = {}

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        found = self[identifier] = tuple([self.of(term) for term in terms_of(identifier)])
        return found

    def of(self, term: str) -> int:
        return self.number.setdefault(term, len(self.number))


class Builder:
    """Takes files one after the other; ids inside are relative until `rows` and `parts` are told the bases."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.chunk_file = array("I")
        self.chunk_start = array("I")
        self.chunk_end = array("I")
        self.chunk_symbol = array("i")
        self.symbol_names: list[str] = []
        self.outlines: list[bytes] = []
        """For each file its symbols' qualified names and signatures."""
        self.used: Counter[str] = Counter()
        """In how many files each identifier, as written, stands."""
        self._labels: dict[str, int] = {}
        self._label = array("I")
        self._size = array("Q")
        self._mtime = array("q")
        self._lines = array("I")
        self._first_chunk = array("I")
        self._first_symbol = array("I")
        self._digests = bytearray()
        self._symbol_kinds: dict[str, int] = {}
        self._symbol_kind = array("H")
        self._symbol_lines = array("I")
        self._symbol_parent = array("i")
        self._terms = _Terms()
        self._chunks: list[array[int]] = []
        self._impacts: list[bytearray] = []
        self._files: dict[int, array[int]] = {}
        self._file_impacts: dict[int, bytearray] = {}
        self._names: dict[int, array[int]] = {}

    @property
    def postings(self) -> int:
        """How many (term, chunk) pairs it holds."""
        return self._held

    _held = 0

    def add(self, document: Document, source: Source | None, outline: Outline | None) -> None:
        """Take a file. Without a source (binary, data, unreadable) only its row is kept, so that a change is noticed."""
        file = len(self.paths)
        self.paths.append(document.path)
        language = source.language if source else ""
        label = "\t".join((language, document.kind, ",".join(sorted(document.flags))))
        self._label.append(self._labels.setdefault(label, len(self._labels)))
        self._size.append(document.size)
        self._mtime.append(document.mtime_ns)
        self._lines.append(len(source.lines) if source else 0)
        self._first_chunk.append(len(self.chunk_file))
        self._first_symbol.append(len(self.symbol_names))
        self._digests += bytes.fromhex(source.digest) if source else bytes(16)
        if source is None or outline is None:
            self.outlines.append(b"")
            return
        self._add_symbols(outline)
        self._add_text(file, source, outline)

    def _add_symbols(self, outline: Outline) -> None:
        base = len(self.symbol_names)
        numbered = self._terms.of
        for number, symbol in enumerate(outline.symbols, base):
            self.symbol_names.append(symbol.name)
            self._symbol_kind.append(self._symbol_kinds.setdefault(symbol.kind, len(self._symbol_kinds)))
            self._symbol_lines.extend((symbol.start, symbol.end, symbol.name_line))
            self._symbol_parent.append(symbol.parent)
            for term in (*stems_of(symbol.name), "=" + joined(symbol.name)):
                self._names.setdefault(numbered(term), array("I")).append(number)
        self.outlines.append(
            text_of_names([part for s in outline.symbols for part in (s.qualified, s.signature)])
        )

    def _add_text(self, file: int, source: Source, outline: Outline) -> None:
        lines: Sequence[str] = source.lines
        text = source.text
        if len(text) > LONGEST_LINE and max(map(len, lines)) > LONGEST_LINE:
            lines = [line if len(line) <= LONGEST_LINE else "" for line in lines]
        documentation = documentation_of(source, text)
        first_symbol = self._first_symbol[-1]
        whole: dict[int, int] = {}
        spelled: set[str] = set()
        length_of_file = 0
        for block in blocks_of(source, outline):
            start, end = block.start, block.end
            symbol = outline.symbols[block.symbol] if block.symbol >= 0 else None
            if documentation is not None and 1 in (marks := documentation[start - 1 : end]):
                there = lines[start - 1 : end]
                code = _IDENTIFIERS(
                    "\n".join([line for line, mark in zip(there, marks, strict=True) if not mark])
                )
                told = _IDENTIFIERS(
                    "\n".join([line for line, mark in zip(there, marks, strict=True) if mark])
                )
                spelled.update(told)
            else:
                code, told = _IDENTIFIERS("\n".join(lines[start - 1 : end])), ()
            length = len(code) + len(told)
            if not length:
                continue
            spelled.update(code)
            length_of_file += length
            heads = symbol is not None and start <= symbol.name_line <= end
            held = self._weights(code, told, (symbol.name, symbol.signature) if symbol and heads else None)
            self._add_chunk(file, start, end, first_symbol + block.symbol if symbol else -1, held, length)
            for term, weight in held.items():
                whole[term] = whole.get(term, 0) + weight
        self.used.update(spelled)
        row = impacts_of_length(length_of_file, FILE_LENGTH)
        for term, weight in whole.items():
            if term not in self._files:
                self._files[term] = array("I")
                self._file_impacts[term] = bytearray()
            self._files[term].append(file)
            self._file_impacts[term].append(row[min(weight, _HEAVIEST)])

    def _weights(
        self, code: Sequence[str], told: Sequence[str], head: tuple[str, str] | None
    ) -> dict[int, int]:
        terms = self._terms
        find = terms.__getitem__
        held: dict[int, int] = {
            term: count * BODY for term, count in Counter(chain.from_iterable(map(find, code))).items()
        }
        for term in chain.from_iterable(map(find, told)):
            held[term] = held.get(term, 0) + DOC
        if head is not None:
            for term in terms[head[0]]:
                held[term] = held.get(term, 0) + NAME
            for term in chain.from_iterable(map(find, _IDENTIFIERS(head[1]))):
                held[term] = held.get(term, 0) + SIGNATURE
        return held

    def _add_chunk(
        self, file: int, start: int, end: int, symbol: int, held: dict[int, int], length: int
    ) -> None:
        chunk = len(self.chunk_file)
        self.chunk_file.append(file)
        self.chunk_start.append(start)
        self.chunk_end.append(end)
        self.chunk_symbol.append(symbol)
        row = impacts_of_length(length, CHUNK_LENGTH)
        chunks, impacts = self._chunks, self._impacts
        while len(chunks) < len(self._terms.number):
            chunks.append(array("I"))
            impacts.append(bytearray())
        for term, weight in held.items():
            chunks[term].append(chunk)
            impacts[term].append(row[weight if weight < _HEAVIEST else _HEAVIEST])
        self._held += len(held)

    def parts(self, bases: Bases, mentions: array[float]) -> dict[str, bytes]:
        """Return the columns by their names. `mentions` has an entry for each file."""
        return {
            "paths": text_of_names(self.paths),
            "labels": text_of_names(list(self._labels)),
            "label": self._label.tobytes(),
            "size": self._size.tobytes(),
            "mtime": self._mtime.tobytes(),
            "lines": self._lines.tobytes(),
            "first_chunk": _moved(self._first_chunk, bases.chunk),
            "first_symbol": _moved(self._first_symbol, bases.symbol),
            "digests": bytes(self._digests),
            "mentions": mentions.tobytes(),
            "chunk_file": _moved(self.chunk_file, bases.file),
            "chunk_start": self.chunk_start.tobytes(),
            "chunk_end": self.chunk_end.tobytes(),
            "chunk_symbol": array(
                "i", [s + bases.symbol if s >= 0 else -1 for s in self.chunk_symbol]
            ).tobytes(),
            "symbol_names": text_of_names(self.symbol_names),
            "symbol_kinds": text_of_names(list(self._symbol_kinds)),
            "symbol_kind": self._symbol_kind.tobytes(),
            "symbol_lines": self._symbol_lines.tobytes(),
            "symbol_parent": self._symbol_parent.tobytes(),
            "identifiers": "\n".join(words := sorted(self.used)).encode("utf-8", "surrogateescape"),
            "identifier_files": array("I", [self.used[word] for word in words]).tobytes(),
            "terms": "\n".join(sorted(self._terms.number)).encode("utf-8", "surrogateescape"),
        }

    def rows(self, bases: Bases) -> Iterator[tuple[str, Row]]:
        """Yield every term in order with what is held under it."""
        empty = array("I")
        for term in sorted(self._terms.number):
            n = self._terms.number[term]
            has = n < len(self._chunks)
            yield (
                term,
                Row(
                    _moved(self._chunks[n], bases.chunk) if has else b"",
                    bytes(self._impacts[n]) if has else b"",
                    _moved(self._files.get(n, empty), bases.file),
                    bytes(self._file_impacts.get(n, b"")),
                    _moved(self._names.get(n, empty), bases.symbol),
                ),
            )


_IDENTIFIERS = IDENTIFIER.findall


def text_of_names(names: Sequence[str]) -> bytes:
    """Return names, none of which holds a NUL, as one text."""
    return "\0".join(names).encode("utf-8", "surrogateescape") if names else b""


def _moved(ids: array[int], base: int) -> bytes:
    return array("I", [base + i for i in ids]).tobytes() if base else ids.tobytes()
