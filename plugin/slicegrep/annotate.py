"""Search output turned into the same output with ` ⟵ name start-end` after each line that a file really holds."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slicegrep.languages import language_of
from slicegrep.shown import imitates_frame, printable, utf16_units
from slicegrep.source import SourceOf, read_source
from slicegrep.types import Source, Symbol

__all__ = ["ARROW", "MOST_HITS", "Annotated", "DefinitionsOf", "Row", "annotate", "told_name"]

ARROW = " ⟵ "
"""What stands between a printed line and the name."""

MOST_HITS = 1_000
"""Match lines that are looked at in one output."""

LONGEST_NAME = 200
"""Characters of a name that are told; of a longer one they are its end. A name can be any text: `{"run this": function () {}}`."""

DefinitionsOf = Callable[[Sequence[tuple[Source, Sequence[int]]]], Sequence[Sequence["Symbol | None"]]]
"""The innermost definitions around 1-based lines of some sources, in their order: one look into an index, or one call of
a server, for all of them."""

_NUMBERED = re.compile(r":(\d{1,9})(?=:)")
_BARE = re.compile(r"(\d{1,9}):")
_UNDER_HEADING = re.compile(r"\d{1,9}[:=-]")
_COLUMN = re.compile(r"\d{1,9}:")

# A line with more `:12:` in it than this is tried at the first ones only; a path holds few of them.
_MOST_SPLITS = 8
_LONGEST_PATH = 4_096

# Of sources that are in memory at once: their definitions are asked for when there are so many. A thousand hits can be
# in a thousand large files.
_BATCH_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """A verified match line and the definition around it."""

    index: int
    """0-based, of the line in the output."""
    path: str
    """The file as it was printed, or as the command named it."""
    file: str
    """Where it was found: below one of the roots."""
    line: int
    """1-based, in the file."""
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Annotated:
    """An output after annotating."""

    text: str
    hits: int
    """Lines that a file was verified to hold."""
    annotated: int
    """Lines of `text` that got a suffix: fewer than `rows` where the length did not allow more."""
    rows: tuple[Row, ...]
    """Every hit inside a definition, in the order of the output."""
    late: bool = False
    """Whether the deadline passed; `text` is then as it was, and there are no rows."""


def annotate(
    text: str,
    *,
    roots: Sequence[str],
    operands: Sequence[str] | None,
    definitions_of: DefinitionsOf,
    max_length: int,
    max_bytes: int,
    deadline: float,
    limit: int = MOST_HITS,
    columns: bool = False,
    headings: bool = False,
    ranges: bool = True,
    source_of: SourceOf | None = None,
) -> Annotated:
    r"""Append the enclosing definition to the match lines of a search's output.

    Lines are kept to the last character, in order, with nothing between them; a suffix comes after a line's CR.
    A line that could mean several files or lines gets one only when all that hold its text agree. A line coloured for
    a terminal is no file's text, so it is left alone. Bytes that are no UTF-8 may be lone surrogates in `text`
    (surrogateescape, which gives them back) or U+FFFD.

    `roots` are the directories that printed names may be relative to. `operands` are the files that a line
    `12:text`, without a path, may be of; None: of none. `columns` says that such a line may be `12:3:text`,
    `headings` that a path may stand on a line of its own above them. The suffixes keep the whole below `max_length`
    UTF-16 code units: first with ranges (unless `ranges` is False), then names alone, then names while there is room.
    Files over `max_bytes` are not read; `source_of` makes sources of the bytes of the others, as `read_source` says. Past
    `deadline` (of `time.monotonic`) the text stays as it was. Raises what `definitions_of` raises.
    """
    untouched = Annotated(text, 0, 0, ())
    room = max_length - 1 - utf16_units(text)
    if room < len(ARROW):
        return untouched
    lines = text.split("\n")
    reader = _Reader(lines, _Files(roots), tuple(operands or ()), columns=columns, headings=headings)
    by_file: dict[str, list[_Claim]] = {}
    hits = 0
    for index in range(len(lines)):
        claims = list(reader.claims(index))
        if claims and (hits := hits + 1) > limit:
            break
        for claim in claims:
            by_file.setdefault(claim.file, []).append(claim)
        if time.monotonic() > deadline:
            return Annotated(text, 0, 0, (), late=True)
    found: dict[int, list[Row | None]] = {}
    for batch in _batches(by_file, max_bytes, deadline, source_of):
        _look_up(batch, found, definitions_of)
        if time.monotonic() > deadline:
            return Annotated(text, 0, 0, (), late=True)
    rows = tuple(row for index in sorted(found) if (row := _agreed(found[index])) is not None)
    return _composed(text, lines, rows, len(found), room, ranges=ranges)


def told_name(symbol: Symbol) -> str:
    """Return a definition's qualified name for a line of output: short, in one line, without what stands before it there.

    "" where it could pass for more than a name.
    """
    return _told(symbol.qualified)


@lru_cache(MOST_HITS)  # of 200 hits, names take 0.4 of 4.4 ms otherwise
def _told(qualified: str) -> str:
    name = printable(" ".join(qualified.split())).replace(ARROW.strip(), "?")
    if imitates_frame(name):
        return ""
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


class _Claim:
    """What a printed line would mean: that this line of this file holds one of these texts.

    No dataclass, which would take 0.7 ms to make.
    """

    __slots__ = ("file", "index", "last", "line", "path", "texts")

    def __init__(
        self, index: int, path: str, file: str, line: int, texts: tuple[str, ...], *, last: bool
    ) -> None:
        self.index = index
        self.path = path
        self.file = file
        self.line = line
        self.texts = texts
        self.last = last
        """Of the output: the clients trim the white space at its end (seen in 2.1.332 and 2.1.100)."""


class _Files:
    """Finds printed names on disk, each asked for once."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots
        self._known: dict[str, tuple[str, ...]] = {}

    def named(self, path: str) -> tuple[str, ...]:
        """Return the regular files of source code that a printed path can mean."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = tuple(dict.fromkeys(self._looked_up(path)))
        return known

    def _looked_up(self, path: str) -> Iterator[str]:
        if not path or len(path) > _LONGEST_PATH or not _may_be_code(path):
            return
        for root in self._roots:
            file = os.path.normpath(os.path.join(root, path))
            try:
                if stat.S_ISREG(os.stat(file).st_mode):
                    yield file
            except (OSError, ValueError):  # ValueError: a NUL or a lone surrogate in the name
                continue


def _may_be_code(path: str) -> bool:
    """Whether the name is one of source code, or has no suffix (a script is known by its first line)."""
    return bool(language_of(path)) or "." not in path.replace("\\", "/").rpartition("/")[2]


class _Reader:
    """Reads printed lines in order; what a path on its own line means depends on the lines before."""

    def __init__(
        self, lines: Sequence[str], files: _Files, operands: tuple[str, ...], *, columns: bool, headings: bool
    ) -> None:
        self._lines = lines
        self._files = files
        self._operands = operands
        self._columns = columns
        self._headings = headings
        self._heading = ""

    def claims(self, index: int) -> Iterator[_Claim]:
        """Return every meaning of a line for which there is a file."""
        line = self._lines[index]
        if self._headings and self._is_heading(line):
            return
        bare = _BARE.match(line)
        if bare is not None:
            texts = self._texts(line[bare.end() :], columns=self._columns)
            for path in (self._heading, *self._operands) if self._heading else self._operands:
                yield from self._of(index, path, int(bare[1]), texts)
        for tried, split in enumerate(_NUMBERED.finditer(line)):
            if tried == _MOST_SPLITS:
                break
            texts = self._texts(line[split.end() + 1 :], columns=True)
            yield from self._of(index, line[: split.start()], int(split[1]), texts)

    def _texts(self, rest: str, *, columns: bool) -> tuple[str, ...]:
        """Return what may be the file's text: all of the rest, or what follows a column."""
        column = _COLUMN.match(rest) if columns else None
        return (rest,) if column is None else (rest, rest[column.end() :])

    def _of(self, index: int, path: str, line: int, texts: tuple[str, ...]) -> Iterator[_Claim]:
        for file in self._files.named(path):
            yield _Claim(index, path, file, line, texts, last=index == len(self._lines) - 1)

    def _is_heading(self, line: str) -> bool:
        """Whether the line is the path of those below; any other line without a number ends a heading's reach."""
        if self._files.named(line):
            self._heading = line
            return True
        if not _UNDER_HEADING.match(line) and line != "--":
            self._heading = ""
        return False


def _batches(
    by_file: dict[str, list[_Claim]], max_bytes: int, deadline: float, source_of: SourceOf | None
) -> Iterator[list[tuple[Source, list[_Claim]]]]:
    """Yield the sources that bear claims out, with those. Past the deadline the rest is not read."""
    batch: list[tuple[Source, list[_Claim]]] = []
    size = 0
    for file, claims in by_file.items():
        source = read_source(file, max_bytes=max_bytes, make=source_of)
        if source is not None and source.language:
            held = [claim for claim in claims if _holds(source, claim)]
            if held:
                batch.append((source, held))
                size += source.size
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        if time.monotonic() > deadline:
            break
    yield batch


def _look_up(
    batch: list[tuple[Source, list[_Claim]]],
    found: dict[int, list[Row | None]],
    definitions_of: DefinitionsOf,
) -> None:
    """Add a row to `found` for each claim, None for a line outside of any definition."""
    if not batch:
        return
    looked_up = definitions_of([(source, [claim.line for claim in claims]) for source, claims in batch])
    for (_, claims), symbols in zip(batch, looked_up, strict=True):
        for claim, symbol in zip(claims, symbols, strict=True):
            row = None if symbol is None else Row(claim.index, claim.path, claim.file, claim.line, symbol)
            found.setdefault(claim.index, []).append(row)


def _holds(source: Source, claim: _Claim) -> bool:
    """Whether the file's line is that text: byte for byte, but for a CR before the LF, a BOM at the start, and the end's trim.

    Bytes that are no UTF-8 are U+FFFD on both sides: the client, `_readable` and `read_source` replace the same sequences.
    """
    if not 1 <= claim.line <= len(source.lines):
        return False
    line = source.lines[claim.line - 1]
    for text in map(_readable, claim.texts):
        bare = text.removeprefix("\ufeff") if claim.line == 1 else text
        if line in (text, bare, bare.removesuffix("\r")) or (claim.last and line.rstrip() == bare):
            return True
    return False


def _readable(text: str) -> str:
    """Return a text with U+FFFD for bytes that are no UTF-8, as `read_source` decodes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        except UnicodeEncodeError:  # other lone surrogates stand for no bytes
            return text
    return text


def _agreed(rows: list[Row | None]) -> Row | None:
    """Return the row when every meaning of the line that holds says the same definition."""
    first = rows[0]
    if first is None:
        return None
    label = _label(first.symbol)
    same = all(row is not None and _label(row.symbol) == label for row in rows[1:])
    return first if same and told_name(first.symbol) else None


def _label(symbol: Symbol) -> tuple[str, int, int]:
    return symbol.qualified, symbol.start, symbol.end


def _composed(
    text: str, lines: list[str], rows: tuple[Row, ...], hits: int, room: int, *, ranges: bool
) -> Annotated:
    """Put as much as the room allows after the lines: all with ranges, else all names, else the first names."""
    names = [ARROW + told_name(row.symbol) for row in rows]
    chosen = names
    if ranges:
        full = [f"{name} {row.symbol.start}-{row.symbol.end}" for name, row in zip(names, rows, strict=True)]
        chosen = full if sum(map(utf16_units, full)) <= room else names
    added = 0
    for row, suffix in zip(rows, chosen, strict=True):
        room -= utf16_units(suffix)
        if room < 0:
            break
        lines[row.index] += suffix
        added += 1
    return Annotated("\n".join(lines) if added else text, hits, added, rows)
