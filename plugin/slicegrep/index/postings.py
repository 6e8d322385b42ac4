"""How what is held under a term lies in bytes."""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NOTHING", "Postings", "packed", "packed_single", "together", "unpacked"]


class Postings(NamedTuple):
    """Ids, ascending, and the impact (1 to 255) of the term in each chunk and file; symbols whose names hold it."""

    chunks: array[int]
    impacts: bytes
    files: array[int]
    file_impacts: bytes
    names: array[int]


NOTHING = Postings(array("I"), b"", array("I"), b"", array("I"))
"""Under a term that stands nowhere."""
_HEAD = Struct("=III")  # how many chunks, files and names
_SINGLE = Struct("=IIIIIBB")


def packed(
    chunks: array[int], impacts: bytes, files: array[int], file_impacts: bytes, names: array[int]
) -> bytes:
    """Return postings as bytes: the counts, the three lists of ids, the two of impacts."""
    head = _HEAD.pack(len(chunks), len(files), len(names))
    return b"".join((head, chunks, files, names, impacts, file_impacts))


def packed_single(chunk: int, impact: int, file: int, file_impact: int) -> bytes:
    """Return what `packed` does for one chunk in one file, which most terms have."""
    return _SINGLE.pack(1, 1, 0, chunk, file, impact, file_impact)


def unpacked(data: bytes) -> Postings:
    """Return what was packed. Raises ValueError or struct.error for other bytes."""
    chunk_count, file_count, name_count = _HEAD.unpack_from(data)
    view = memoryview(data)
    lists = []
    at = _HEAD.size
    for count in (chunk_count, file_count, name_count):
        ids = array("I")
        ids.frombytes(view[at : at + 4 * count])
        lists.append(ids)
        at += 4 * count
    chunks, files, names = lists
    return Postings(chunks, data[at : at + chunk_count], files, data[at + chunk_count :], names)


def together(pieces: Sequence[Postings]) -> Postings:
    """Return the postings of segments that follow one another as those of one."""
    if len(pieces) == 1:
        return pieces[0]
    chunks, files, names = array("I"), array("I"), array("I")
    for piece in pieces:
        chunks += piece.chunks
        files += piece.files
        names += piece.names
    impacts = b"".join([piece.impacts for piece in pieces])
    return Postings(chunks, impacts, files, b"".join([piece.file_impacts for piece in pieces]), names)
