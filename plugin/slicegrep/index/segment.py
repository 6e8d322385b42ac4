"""A run of files made into columns and postings: what one piece of the index holds of them."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.evidence import blocks_of
from slicegrep.index.outlines import bytes_of
from slicegrep.index.postings import packed, packed_single
from slicegrep.index.terms import (
    BODY,
    CHUNK_LENGTH,
    DOC,
    FILE_LENGTH,
    HEAVIEST,
    LONGEST_LINE,
    NAME,
    PATH_TERM,
    SIGNATURE,
    documentation_of,
    impacts,
    name_terms_of,
    path_stems,
    terms_of,
)
from slicegrep.outline.around import CLASS_KINDS
from slicegrep.words import IDENTIFIER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline, Source, Symbol

__all__ = ["Bases", "Builder", "Document", "Encoded", "Terms", "outer_names", "text_of_names"]


class Document(NamedTuple):
    """What is known of a file besides its text. `mtime_ns` 0: the next look compares the digest."""

    path: str
    kind: str
    flags: frozenset[str]
    size: int
    mtime_ns: int
    ctime_ns: int


class Bases(NamedTuple):
    """A number each of files, chunks and symbols: the first ids of a segment, or how many it has."""

    file: int
    chunk: int
    symbol: int


class Encoded(NamedTuple):
    """A segment as it is written, its bytes not sealed yet (store.py)."""

    counts: Bases
    parts: dict[str, bytes]
    """Columns and texts by their names."""
    rows: list[tuple[str, bytes]]
    """What is held under each term, in the terms' order."""
    outlines: list[tuple[int, bytes]]
    """(file id, its definitions) of files that have any."""
    places: list[tuple[bytes, int, bytes, int, str]]
    """(path, file id, digest, how many symbols, language) of each file."""


_IDENTIFIERS = IDENTIFIER.findall


class Terms(dict[str, tuple[int, ...]]):
    """Identifier -> numbers of its terms, found when first asked for. Builders may share it: most identifiers come again."""

    def __init__(self) -> None:
        super().__init__()
        self.number: dict[str, int] = {}

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        number = self.number
        found = self[identifier] = tuple([number.setdefault(t, len(number)) for t in terms_of(identifier)])
        return found


class Builder:
    """Takes files one after the other. Ids are relative until `encoded` is told where they begin.

    A posting is one integer, id * 256 + impact, so that a loop adds one number: those loops are most of the time that the
    parser leaves. 16 million chunks fit; `worker` hands over far earlier.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        self.paths: list[str] = []
        self.symbol_names: list[str] = []
        self._chunk_file = array("I")
        self._outlines: list[bytes] = []
        self.used: Counter[str] = Counter()
        """In how many files each identifier, as written, stands."""
        self.postings = 0
        """How many (term, chunk) pairs it holds."""
        self._labels: dict[str, int] = {}
        self._label = array("I")
        self._size = array("Q")
        self._mtime = array("q")
        self._ctime = array("q")
        self._lines = array("I")
        self._first_chunk = array("I")
        self._chunk_count = array("I")
        self._first_symbol = array("I")
        self._symbol_file = array("I")
        self._digests = bytearray()
        self._chunk_start = array("I")
        self._chunk_end = array("I")
        self._chunk_symbol = array("i")
        self._symbol_kinds: dict[str, int] = {}
        self._symbol_kind = array("H")
        self._symbol_parent = array("i")
        self._terms = Terms() if terms is None else terms
        self._number = self._terms.number
        self._chunks: list[array[int]] = []
        self._files: list[array[int]] = []
        self._names: dict[str, array[int]] = {}
        self._on_paths: dict[str, array[int]] = {}

    def add(self, document: Document, source: Source | None, outline: Outline | None) -> None:
        """Take a file. Without a source (binary, too large, unreadable) only its row is kept, so that a change is noticed."""
        language = source.language if source else ""
        label = "\t".join((language, document.kind, ",".join(sorted(document.flags))))
        self._label.append(self._labels.setdefault(label, len(self._labels)))
        self._size.append(document.size)
        self._mtime.append(document.mtime_ns)
        self._ctime.append(document.ctime_ns)
        self._lines.append(len(source.lines) if source else 0)
        self._first_chunk.append(len(self._chunk_file))
        self._first_symbol.append(len(self.symbol_names))
        self._digests += bytes.fromhex(source.digest) if source else bytes(16)
        if source is None or outline is None:
            self._outlines.append(b"")
        else:
            self._add_text(len(self.paths), source, outline)
            self._add_symbols(outline.symbols)
            for part in path_stems(document.path)[1]:
                self._on_paths.setdefault(PATH_TERM + part, array("I")).append(len(self.paths))
        self._chunk_count.append(len(self._chunk_file) - self._first_chunk[-1])
        self.paths.append(document.path)

    def _add_symbols(self, symbols: Sequence[Symbol]) -> None:
        for number, symbol in enumerate(symbols, len(self.symbol_names)):
            self._symbol_kind.append(self._symbol_kinds.setdefault(symbol.kind, len(self._symbol_kinds)))
            self._symbol_parent.append(symbol.parent)
            self._symbol_file.append(len(self.paths))
            name = symbol.name
            if name in self._names:
                self._names[name].append(number)
            else:
                self._names[name] = array("I", (number,))
        self.symbol_names += [symbol.name for symbol in symbols]
        self._outlines.append(bytes_of(symbols))

    def _add_text(self, file: int, source: Source, outline: Outline) -> None:
        lines: Sequence[str] = source.lines
        text = "\n" + source.text
        if len(text) > LONGEST_LINE and max(map(len, lines), default=0) > LONGEST_LINE:
            lines = [line if len(line) <= LONGEST_LINE else "" for line in lines]
        marks = documentation_of(source, text)
        symbols = outline.symbols
        first_symbol = len(self.symbol_names)
        whole: dict[int, int] = {}
        spelled: list[str] = []
        for start, end, at in [(b.start, b.end, b.symbol) for b in blocks_of(source, outline)]:
            block = lines[start - 1 : end]
            told: list[str] = []
            if marks is not None and 1 in (marked := marks[start - 1 : end]):
                told = _IDENTIFIERS(
                    "\n".join([line for line, mark in zip(block, marked, strict=True) if mark])
                )
                block = [line for line, mark in zip(block, marked, strict=True) if not mark]
            code = _IDENTIFIERS("\n".join(block))
            length = len(code) + len(told)
            if not length:
                continue
            spelled += code
            spelled += told
            head = symbols[at] if at >= 0 and start <= symbols[at].name_line <= end else None
            held = self._weights(code, told, head)
            unit = BODY if told else 1
            self._chunk_start.append(start)
            self._chunk_end.append(end)
            self._chunk_symbol.append(first_symbol + at if at >= 0 else -1)
            self._post(self._chunks, len(self._chunk_file), held, impacts(length, CHUNK_LENGTH, unit))
            self.postings += len(held)
            self._chunk_file.append(file)
            more = BODY // unit
            for term, weight in held.items():
                whole[term] = whole.get(term, 0) + weight * more
        self._post(self._files, file, whole, impacts(len(spelled), FILE_LENGTH))
        self.used.update(set(spelled))

    def _weights(self, code: list[str], told: list[str], head: Symbol | None) -> dict[int, int]:
        """Return the weight of each term: in halves where there is documentation, else in whole units, as C counts them."""
        terms = self._terms
        unit, name, signature = (BODY, NAME, SIGNATURE) if told else (1, NAME // BODY, SIGNATURE // BODY)
        held: dict[int, int] = Counter(chain.from_iterable(map(terms.__getitem__, code * unit)))
        for term in chain.from_iterable(map(terms.__getitem__, told)):
            held[term] = held.get(term, 0) + DOC
        if head is not None:
            for term in terms[head.name]:
                held[term] = held.get(term, 0) + name
            for term in chain.from_iterable(map(terms.__getitem__, _IDENTIFIERS(head.signature))):
                held[term] = held.get(term, 0) + signature
        return held

    def _post(self, postings: list[array[int]], number: int, held: dict[int, int], impact: bytes) -> None:
        """Add an id to the postings of each term that it holds; `impact` has the impact of each weight."""
        while len(postings) < len(self._number):
            postings.append(array("I"))
        high = number << 8
        try:
            weights = bytes(held.values())
        except ValueError:
            weights = bytes([min(weight, HEAVIEST) for weight in held.values()])
        for term, low in zip(held, weights.translate(impact), strict=True):
            postings[term].append(high | low)

    def encoded(self, bases: Bases) -> Encoded:
        """Return what is to be written, with ids that begin at `bases`."""
        named = self._named()
        rows = self._rows(named, bases)
        words = sorted(self.used)
        parts = {
            "paths": text_of_names(self.paths),
            "labels": text_of_names(list(self._labels)),
            "label": self._label.tobytes(),
            "size": self._size.tobytes(),
            "mtime": self._mtime.tobytes(),
            "ctime": self._ctime.tobytes(),
            "digests": bytes(self._digests),
            "lines": self._lines.tobytes(),
            "file": array("I", range(bases.file, bases.file + len(self.paths))).tobytes(),
            "chunks": self._chunk_count.tobytes(),
            "first_chunk": _moved(self._first_chunk, bases.chunk),
            "first_symbol": _moved(self._first_symbol, bases.symbol),
            "mentions": bytes(8 * len(self.paths)),
            "chunk_file": _moved(self._chunk_file, bases.file),
            "chunk_start": self._chunk_start.tobytes(),
            "chunk_end": self._chunk_end.tobytes(),
            "chunk_symbol": array(
                "i", [s + bases.symbol if s >= 0 else -1 for s in self._chunk_symbol]
            ).tobytes(),
            "symbol_names": text_of_names(self.symbol_names),
            "symbol_kinds": text_of_names(list(self._symbol_kinds)),
            "symbol_kind": self._symbol_kind.tobytes(),
            "symbol_file": _moved(self._symbol_file, bases.file),
            "symbol_parent": self._symbol_parent.tobytes(),
            "identifiers": "\n".join(words).encode(),
            "identifier_files": array("I", [self.used[word] for word in words]).tobytes(),
            "beyond_ascii": "\n".join(sorted({w.lower() for w in words if not w.isascii()})).encode(),
        }
        outlines = [(bases.file + at, data) for at, data in enumerate(self._outlines) if data]
        return Encoded(self.counts, parts, rows, outlines, self._places(bases.file))

    def _places(self, base: int) -> list[tuple[bytes, int, bytes, int, str]]:
        languages = [label.partition("\t")[0] for label in self._labels]
        ends = [*self._first_symbol[1:], len(self.symbol_names)]
        return [
            (
                path.encode("utf-8", "surrogateescape"),
                base + at,
                bytes(self._digests[16 * at : 16 * at + 16]),
                ends[at] - self._first_symbol[at],
                languages[self._label[at]],
            )
            for at, path in enumerate(self.paths)
        ]

    @property
    def counts(self) -> Bases:
        """How many files, chunks and symbols it holds."""
        return Bases(len(self.paths), len(self._chunk_file), len(self.symbol_names))

    def outer_names(self, file: int) -> set[str]:
        """Return the names that a file defines at its top level and in its classes."""
        begin = self._first_symbol[file]
        end = self._first_symbol[file + 1] if file + 1 < len(self.paths) else len(self.symbol_names)
        kinds = list(self._symbol_kinds)
        return outer_names(
            self.symbol_names[begin:end],
            self._symbol_parent[begin:end],
            [kinds[kind] for kind in self._symbol_kind[begin:end]],
        )

    def _named(self) -> dict[str, list[int]]:
        """Return the symbols by the terms of their names."""
        named: dict[str, list[int]] = {}
        for name, numbers in self._names.items():
            for term in name_terms_of(name):
                named.setdefault(term, []).extend(numbers)
        return named

    def _rows(self, named: dict[str, list[int]], bases: Bases) -> list[tuple[str, bytes]]:
        posted = zip(
            self._number, self._chunks, self._files, strict=False
        )  # the last terms may be of names alone
        found = {term: (chunks, files) for term, chunks, files in posted if files}
        nothing = array("I")
        rows = []
        for term in sorted({*found, *named, *self._on_paths}):
            if term in self._on_paths:
                files = array("I", [bases.file + file for file in self._on_paths[term]])
                rows.append((term, packed(nothing, b"", files, b"\1" * len(files), nothing)))
                continue
            chunks, files = found.get(term, (nothing, nothing))
            names = named.get(term)
            if len(chunks) == 1 and names is None:
                chunk, file = chunks[0], files[0]
                row = packed_single(
                    bases.chunk + (chunk >> 8), chunk & 255, bases.file + (file >> 8), file & 255
                )
            else:
                row = packed(
                    array("I", [bases.chunk + (posting >> 8) for posting in chunks]),
                    chunks.tobytes()[_LOW::4],
                    array("I", [bases.file + (posting >> 8) for posting in files]),
                    files.tobytes()[_LOW::4],
                    array("I", [bases.symbol + number for number in sorted(names or ())]),
                )
            rows.append((term, row))
        return rows


_LOW = 0 if sys.byteorder == "little" else 3
"""Where the impact is in the four bytes of a posting."""


def outer_names(names: Sequence[str], parents: Sequence[int], kinds: Sequence[str]) -> set[str]:
    """Return those of one file's symbols that stand at the top level or in a class; `parents` are positions among them."""
    return {
        name
        for name, parent in zip(names, parents, strict=True)
        if parent < 0 or kinds[parent] in CLASS_KINDS
    }


def text_of_names(names: Sequence[str]) -> bytes:
    """Return names, none of which holds a NUL, as one text."""
    return "\0".join(names).encode("utf-8", "surrogateescape")


def _moved(ids: array[int], base: int) -> bytes:
    return array("I", [base + number for number in ids]).tobytes() if base else ids.tobytes()
