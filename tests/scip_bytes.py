"""SCIP index files written by hand, field by field, so that the tests do not trust the reader's own schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["document", "field", "index", "metadata", "number", "occurrence", "relation", "without"]


def number(value: int) -> bytes:
    """Return a number as protobuf writes it."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def field(at: int, value: bytes | str | int) -> bytes:
    """Return a field: a text, bytes or a message, or a number."""
    if isinstance(value, int):
        return number(at << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(at << 3 | 2) + number(len(data)) + data


def metadata(root: str = "file:///shop", tool: str = "hand") -> bytes:
    """Return the first field of an index."""
    return field(1, field(2, field(1, tool) + field(2, "1")) + field(3, root))


def occurrence(symbol: str, places: Sequence[int], roles: int = 0, *, packed: bool = True) -> bytes:
    """Return an occurrence, as a field of a document. `places` is a range as SCIP has it."""
    where = field(1, b"".join(map(number, places))) if packed else b"".join(field(1, one) for one in places)
    return field(2, where + field(2, symbol) + field(3, roles))


def relation(symbol: str, base: str) -> bytes:
    """Return what says that a symbol implements another, as a field of a document."""
    return field(3, field(1, symbol) + field(4, field(1, base) + field(3, 1)))


def document(path: str, parts: Iterable[bytes], *, encoding: int = 0, text: str = "") -> bytes:
    """Return a document, as a field of an index."""
    return field(2, field(1, path) + b"".join(parts) + field(5, text) + field(6, encoding))


def index(*documents: bytes, root: str = "file:///shop") -> bytes:
    """Return an index file."""
    return metadata(root) + b"".join(documents)


def without(data: bytes, path: str) -> bytes:
    """Return an index file without the document of a path."""
    kept, at = b"", 0
    while at < len(data):
        end, length, shift = at + 1, 0, 0
        while True:
            length |= (data[end] & 127) << shift
            shift += 7
            end += 1
            if data[end - 1] < 128:
                break
        one = data[at : end + length]
        if not data[end:].startswith(field(1, path)):
            kept += one
        at = end + length
    return kept
