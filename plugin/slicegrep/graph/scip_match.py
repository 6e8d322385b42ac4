"""What a document of a SCIP index says about the file at hand, and whether it is about that content at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.graph.facts import IMPORT
from slicegrep.graph.scip import DEFINITION, FORWARD, IMPORTED, last_descriptor
from slicegrep.graph.scip_kind import import_lines, kind_of_reference
from slicegrep.graph.uses import facts_of as uses_of
from slicegrep.languages import family_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from slicegrep.graph.scip import Document, Occurrence
    from slicegrep.types import Outline, Source

__all__ = ["Definition", "Facts", "Reference", "facts_of"]

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_NOT_KEPT = ("()", "[]")
"""Suffixes of parameters and type parameters: no definitions of the outline."""
_COUNTED = re.compile(r"\d+\Z")
_MEMBER = re.compile(r"[#:](?:`[^`]*`|[\w+\-$]+)\.\Z|:\Z")
"""A symbol of a field or property."""
_ARGUMENTS = re.compile(r"\[[^()]*\](?=\()")
"""Type arguments of a class that is called, as Python and Scala have them; behind anything else it is an item."""
_CONSTRUCTOR = "`<constructor>`()."
"""What scip-typescript puts behind the class where it is made: its name stands there."""


class Definition(NamedTuple):
    """Where a symbol is defined, and the name that stands there. The line is 1-based."""

    symbol: str
    line: int
    name: str


class Reference(NamedTuple):
    """Where a symbol is referred to. The line is 1-based, the column counts characters from 0."""

    symbol: str
    line: int
    column: int
    kind: str
    """As Edge.kind."""
    alias: str
    """What stands there, where it is another name than the symbol's."""


class Facts(NamedTuple):
    """What is taken from a document."""

    definitions: list[Definition]
    references: list[Reference]
    silent: list[tuple[int, str]]
    """Line and name of references of which the document says nothing."""


class _Place(NamedTuple):
    occurrence: Occurrence
    start: int
    end: int
    text: str
    """What the range holds; "" where it is empty or more than one line."""


def facts_of(document: Document, source: Source, outline: Outline) -> Facts | None:
    """Return what a document says of a source with this outline; None where it is about another content.

    It is about this one if its text is the same or, where it has none, each range is a whole word (or more) of its line, and
    those of definitions hold the names that are defined.
    """
    if document.text and document.text.replace("\r\n", "\n").rstrip("\n") != source.text.rstrip("\n"):
        return None
    for encoding in [document.encoding] if document.encoding else ("utf-16", "utf-8", "utf-32"):
        places = _places(document.occurrences, source.lines, encoding)
        if places is not None and _holds(places):
            return _facts(places, source, outline)
    return None


def _places(occurrences: list[Occurrence], lines: tuple[str, ...], encoding: str) -> list[_Place] | None:
    """Return the occurrences with their columns in characters, None where a range is not in the text."""
    found = []
    for one in occurrences:
        first = lines[one.line - 1] if 0 < one.line <= len(lines) else ""
        last = lines[one.end_line - 1] if 0 < one.end_line <= len(lines) else ""
        start, end = _column(first, one.start, encoding), _column(last, one.end, encoding)
        if start < 0 or end < 0 or (one.line, start) > (one.end_line, end):
            return None
        if not (_is_edge(first, start) and _is_edge(last, end)) and (one.line, start) != (one.end_line, end):
            return None
        found.append(_Place(one, start, end, first[start:end] if one.line == one.end_line else ""))
    return found


def _column(line: str, units: int, encoding: str) -> int:
    """Return the column in characters, -1 where the line has none there."""
    if line.isascii():
        return units if 0 <= units <= len(line) else -1
    name, width = _UNITS[encoding]
    data = line.encode(name, "surrogatepass")
    if not 0 <= units * width <= len(data):
        return -1
    try:
        return len(data[: units * width].decode(name, "surrogatepass"))
    except UnicodeDecodeError:
        return -1


def _is_edge(line: str, at: int) -> bool:
    """Whether no word of the line goes on over a column."""
    return not (0 < at < len(line) and _is_word(line[at - 1]) and _is_word(line[at]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_$"


def _holds(places: list[_Place]) -> bool:
    """Whether a name that is defined stands at each place of a definition.

    Some are made up by the indexer (an accessor, a default constructor) and share the place of one that is not.
    """
    held, open_places = set(), set()
    for place in places:
        name, suffix = last_descriptor(place.occurrence.symbol)
        if not place.occurrence.roles & DEFINITION or not place.text or not name or suffix == "/":
            continue
        where = (place.occurrence.line, place.start)
        bare = place.text.strip("'\"`")
        if bare == name.strip("'\"`") or name.startswith("<") or _is_counted(place.text, name, suffix):
            held.add(where)
        else:
            open_places.add(where)
    return open_places <= held


def _is_counted(text: str, name: str, suffix: str) -> bool:
    """Whether a name is the text with a number behind: so scip-typescript names the properties of object literals."""
    return suffix == ":" and _COUNTED.sub("", name) == _COUNTED.sub("", text)


def _facts(places: list[_Place], source: Source, outline: Outline) -> Facts:
    heads = _heads(places, outline)
    own = {
        place.occurrence.symbol: heads[place.occurrence.line, place.start]
        for place in places
        if place.occurrence.roles & DEFINITION
        and not place.occurrence.roles & FORWARD
        and (place.occurrence.line, place.start) in heads
    }
    imports = import_lines(source.lines)
    definitions, references = [], []
    for place in places:
        one = place.occurrence
        head = heads.get((one.line, place.start))
        # scip-python calls the overloads behind the first one, and a property's setter, references.
        if head is not None and one.symbol in own and (one.roles & DEFINITION or own[one.symbol] == head):
            definitions.append(Definition(one.symbol, one.line, place.text))
        elif not one.roles & DEFINITION and _is_kept(place, own, source.lines):
            imported = one.roles & IMPORTED or one.line in imports
            kind = IMPORT if imported else _kind(place, source, outline)
            for symbol in _meant(one.symbol, place.text):
                stands = place.text.split()[-1]  # scip-python's range of an import is `name as alias`
                alias = "" if stands == last_descriptor(symbol)[0] else stands
                references.append(Reference(symbol, one.line, place.start, kind, alias))
    return Facts(definitions, references, _silent(places, source))


def _kind(place: _Place, source: Source, outline: Outline) -> str:
    one, end = place.occurrence, place.end
    if last_descriptor(one.symbol)[1] == "#":
        arguments = _ARGUMENTS.match(source.lines[one.line - 1], end)
        end = arguments.end() if arguments else end
    return kind_of_reference(source.lines, one.line, place.start, end, outline)


def _heads(places: list[_Place], outline: Outline) -> dict[tuple[int, int], str]:
    """Return the qualified names of the outline's definitions by the line and column where their names stand."""
    named = {(symbol.name_line, symbol.name): symbol.qualified for symbol in outline.symbols}
    first: dict[tuple[int, str], int] = {}
    for place in places:
        where = (place.occurrence.line, place.text)
        if where in named:
            first[where] = min(first.get(where, place.start), place.start)
    return {(line, start): named[line, name] for (line, name), start in first.items()}


def _meant(symbol: str, text: str) -> Iterator[str]:
    """Yield a symbol, and the class where it is the constructor under the class's name."""
    yield symbol
    if symbol.endswith(_CONSTRUCTOR) and text != "super":
        yield symbol.removesuffix(_CONSTRUCTOR)


def _is_kept(place: _Place, own: Container[str], lines: tuple[str, ...]) -> bool:
    """Whether a reference may be one to a definition of an outline.

    scip-python gives an attribute of which it knows only the holder the holder's symbol: a member of another name than
    the symbol's is none of its references.
    """
    symbol = place.occurrence.symbol
    if not place.text.strip():
        return False
    if symbol.startswith("local "):
        return symbol in own
    name, suffix = last_descriptor(symbol)
    if not name or suffix in _NOT_KEPT:
        return False
    before = lines[place.occurrence.line - 1][: place.start].rstrip()
    return place.text == name or name.startswith("<") or suffix == ":" or not before.endswith(".")


def _silent(places: list[_Place], source: Source) -> list[tuple[int, str]]:
    """Return the references that the parser sees and the document says nothing of: their receiver's type is unknown.

    A local symbol that is defined nowhere is nothing: scip-python's word for what it could not resolve. Nor is a member
    where a name stands alone in a script: of `{name}` scip-typescript tells the property and not the variable.
    """
    defined = {place.occurrence.symbol for place in places if place.occurrence.roles & DEFINITION}
    known: set[tuple[int, int]] = set()
    known_alone: set[tuple[int, int]] = set()
    for place in places:
        one = place.occurrence
        if not one.symbol.startswith("local ") or one.symbol in defined:
            known.add((one.line, place.start))
            if not (family_of(source.language) == "script" and _MEMBER.search(one.symbol)):
                known_alone.add((one.line, place.start))
    silent = []
    for use in uses_of(source).uses:
        line = source.lines[use.line - 1]
        column = _column(line, use.column, "utf-8")
        there = known if line[: max(column, 0)].rstrip().endswith(".") else known_alone
        if use.kind != IMPORT and (use.line, column) not in there:
            silent.append((use.line, use.name))
    return silent
