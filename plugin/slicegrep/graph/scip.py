"""The reader of SCIP index files: documents one by one, their occurrences, and what the symbols' text says.

The part of the schema (scip.proto of the SCIP project) that is needed is written here as a descriptor.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DEFINITION",
    "ENCODINGS",
    "FORWARD",
    "IMPORTED",
    "Document",
    "Occurrence",
    "ScipError",
    "ScipFile",
    "last_descriptor",
]

DEFINITION, IMPORTED, FORWARD = 1, 2, 64
"""Bits of Occurrence.symbol_roles."""
ENCODINGS = {1: "utf-8", 2: "utf-16", 3: "utf-32"}
"""In what units a document's columns count, by Document.position_encoding; what is not here was not said."""

_SCHEMA = {
    "ToolInfo": "name=1:s version=2:s",
    "Metadata": "version=1:i tool_info=2:ToolInfo project_root=3:s text_document_encoding=4:i",
    "Relationship": "symbol=1:s is_reference=2:b is_implementation=3:b is_type_definition=4:b is_definition=5:b",
    "SymbolInformation": "symbol=1:s relationships=4:*Relationship kind=5:i display_name=6:s enclosing_symbol=8:s",
    "Occurrence": "range=1:*i symbol=2:s symbol_roles=3:i",
    "Document": "relative_path=1:s occurrences=2:*Occurrence symbols=3:*SymbolInformation language=4:s text=5:s"
    " position_encoding=6:i",
}
"""Messages with the fields that are read, `name=number:type`; `*` before a type: repeated. Enums are read as numbers."""
_METADATA, _DOCUMENT = 1, 2
"""Fields of Index."""
_LARGEST_NUMBER = 10
"""Bytes of the longest number of the protobuf format."""

_NAME = r"`((?:[^`]|``)*)`|([\w+\-$]+)"
_DESCRIPTOR = re.compile(rf"\[(?:{_NAME})\]|\((?:{_NAME})\)|(?:{_NAME})(?:(\([\w+\-$]*\)\.)|([/#.:!]))")
_PACKAGE = re.compile(r"(?:(?:[^ ]|  )* ){4}")
"""Scheme, manager, package and version; a space in one of them is doubled."""


class ScipError(ValueError):
    """A file that is no SCIP index, or a damaged one. The message is one sentence."""


class Occurrence(NamedTuple):
    """A place of a symbol. Lines are 1-based; columns count from 0 in the document's encoding, the end exclusive."""

    symbol: str
    roles: int
    line: int
    start: int
    end_line: int
    end: int


class Document(NamedTuple):
    """What an index says of one file."""

    path: str
    """Relative to the project's root, with `/`."""
    encoding: str
    """A value of ENCODINGS, or ""."""
    text: str
    """The file's text, "" in most indexes."""
    occurrences: list[Occurrence]
    implements: list[tuple[str, str]]
    """Pairs of a symbol and one whose contract it fulfils: a base class, an interface, the method that it overrides."""


class ScipFile:
    """An index file that is open. Raises OSError, and ScipError where it is none; the walk over it does so too."""

    def __init__(self, path: str) -> None:
        self._path = path
        if not os.path.isfile(path) and not os.path.isdir(path) and os.path.exists(path):
            raise _foreign(path)  # a FIFO would be waited for
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            """In bytes."""
            self.read = 0
            """Bytes that the walk over the documents has behind it."""
            first = next(_fields(file, self.size, path), None)
        if first is None or first[0] != _METADATA:
            raise _foreign(path)
        metadata = _parsed("Metadata", first[1], path)
        self.project_root: str = metadata.project_root
        """The URI of the folder that was indexed, as the indexer's machine had it."""
        self.tool = f"{metadata.tool_info.name} {metadata.tool_info.version}".strip()
        if not self.tool and not self.project_root:
            raise _foreign(path)

    def documents(self) -> Iterator[Document]:
        """Yield the documents, each read when it is asked for."""
        with open(self._path, "rb") as file:
            for number, data in _fields(file, self.size, self._path):
                self.read = file.tell()
                if number == _DOCUMENT:
                    yield _document(_parsed("Document", data, self._path), self._path)


@lru_cache(maxsize=65_536)
def last_descriptor(symbol: str) -> tuple[str, str]:
    """Return the name and the suffix (`/`, `#`, `().`, `.`, `:`, `!`, `[]`, `()`) of a symbol's last descriptor.

    Both are "" for a local symbol and for what does not follow the grammar.
    """
    package = _PACKAGE.match(symbol)
    if symbol.startswith("local ") or package is None:
        return "", ""
    at, found = package.end(), None
    while (match := _DESCRIPTOR.match(symbol, at)) is not None:
        found, at = match, match.end()
    if found is None or at != len(symbol):
        return "", ""
    quoted = found[1] or found[3] or found[5]
    name = quoted.replace("``", "`") if quoted else found[2] or found[4] or found[6] or ""
    suffix = "()." if found[7] else found[8] or ("[]" if found[0][0] == "[" else "()")
    return name, suffix


def _fields(file: BinaryIO, size: int, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each length-delimited field of the outermost message."""
    while file.tell() < size:
        tag = _number(file, path)
        if tag & 7 != 2 or not tag >> 3:
            raise _foreign(path)
        length = _number(file, path)
        if length > size - file.tell():
            raise _damaged(path)
        if tag >> 3 in (_METADATA, _DOCUMENT):
            yield tag >> 3, file.read(length)
        else:
            file.seek(length, os.SEEK_CUR)


def _number(file: BinaryIO, path: str) -> int:
    value = 0
    for at in range(_LARGEST_NUMBER):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 127) << 7 * at
        if byte[0] < 128:
            return value
    raise _damaged(path)


def _parsed(name: str, data: bytes, path: str) -> Any:
    message = _MESSAGES[name]()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise _damaged(path) from None
    return message


def _document(message: Any, path: str) -> Document:
    occurrences = []
    for one in message.occurrences:
        places = one.range
        if len(places) == 3:
            line, start, end = places
            end_line = line
        elif len(places) == 4:
            line, start, end_line, end = places
        else:
            raise _damaged(path)
        if one.symbol:
            occurrences.append(Occurrence(one.symbol, one.symbol_roles, line + 1, start, end_line + 1, end))
    implements = [
        (one.symbol, other.symbol)
        for one in message.symbols
        for other in one.relationships
        if other.is_implementation
    ]
    encoding = ENCODINGS.get(message.position_encoding, "")
    return Document(message.relative_path, encoding, message.text, occurrences, implements)


def _foreign(path: str) -> ScipError:
    return ScipError(f"{path} is no SCIP index")


def _damaged(path: str) -> ScipError:
    return ScipError(f"{path} is damaged or was cut off: it ends, or goes on, where a SCIP index does not")


def _messages() -> dict[str, Any]:
    """Return the classes of the messages, in a pool of their own: another scip.proto in the process is no matter."""
    proto = descriptor_pb2.FileDescriptorProto(name="scip.proto", package="scip", syntax="proto3")
    field_of = descriptor_pb2.FieldDescriptorProto
    types = {"s": field_of.TYPE_STRING, "i": field_of.TYPE_INT32, "b": field_of.TYPE_BOOL}
    for name, fields in _SCHEMA.items():
        message = proto.message_type.add(name=name)
        for one in fields.split():
            field, number, kind = re.split("[=:]", one)
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            message.field.add(
                name=field,
                number=int(number),
                label=field_of.LABEL_REPEATED if repeated else field_of.LABEL_OPTIONAL,
                type=types.get(kind, field_of.TYPE_MESSAGE),
                type_name=None if kind in types else f".scip.{kind}",
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"scip.{name}")) for name in _SCHEMA
    }


_MESSAGES = _messages()
