"""How what is held under a term lies in bytes."""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate, chain
from operator import sub
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NOTHING", "Postings", "chunks_in", "files_of", "packed", "packed_single", "together", "unpacked"]


class Postings(NamedTuple):
    """Ids, ascending, and the impact (1 to 255) of the term in each chunk and file; symbols whose names hold it."""

    chunks: array[int]
    impacts: bytes
    files: array[int]
    file_impacts: bytes
    names: array[int]


NOTHING = Postings(array("I"), b"", array("I"), b"", array("I"))
"""Under a term that stands nowhere."""
_HEAD = Struct("<IIIBBB")
"""How many chunks, files and names, and of how many bytes an id of each is."""
_SINGLE = Struct("<IIIBBBIIBB")
_PLANES = (0, 1, 2, 3) if sys.byteorder == "little" else (3, 2, 1, 0)
"""Where the four bytes of an id are in memory, the low one first."""


def packed(
    chunks: array[int], impacts: bytes, files: array[int], file_impacts: bytes, names: array[int]
) -> bytes:
    """Return postings as bytes: the counts, the three lists of ids, the two of impacts.

    Of ids the distances are kept, all low bytes first: they deflate well, and no loop in Python puts them together again.
    """
    lists = [_distances(ids) for ids in (chunks, files, names)]
    head = _HEAD.pack(len(chunks), len(files), len(names), *[width for width, _ in lists])
    return b"".join((head, *[data for _, data in lists], impacts, file_impacts))


def packed_single(chunk: int, impact: int, file: int, file_impact: int) -> bytes:
    """Return what `packed` could for one chunk in one file, which most terms have."""
    return _SINGLE.pack(1, 1, 0, 4, 4, 0, chunk, file, impact, file_impact)


def _distances(ids: array[int]) -> tuple[int, bytes]:
    """Return how many bytes an id's distance from the one before takes, and these bytes."""
    if not ids:
        return 0, b""
    distances = array("I", map(sub, ids, chain((0,), ids)))
    width = (max(distances).bit_length() + 7) // 8 or 1
    data = distances.tobytes()
    return width, b"".join([data[plane::4] for plane in _PLANES[:width]])


def unpacked(data: bytes) -> Postings:
    """Return what was packed. Raises ValueError or struct.error for other bytes."""
    *counts, chunk_width, file_width, name_width = _HEAD.unpack_from(data)
    lists = []
    at = _HEAD.size
    for count, width in zip(counts, (chunk_width, file_width, name_width), strict=True):
        lists.append(_ids(data, at, count, width))
        at += count * width
    chunks, files, names = lists
    impacts = data[at : at + counts[0]]
    return Postings(chunks, impacts, files, data[at + counts[0] :], names)


def _ids(data: bytes, at: int, count: int, width: int) -> array[int]:
    """Return the ids whose distances begin there."""
    if width == 1:
        return array("I", accumulate(data[at : at + count]))
    distances = bytearray(4 * count)
    for plane in _PLANES[:width]:
        distances[plane::4] = data[at : at + count]
        at += count
    return array("I", accumulate(memoryview(distances).cast("I")))


def files_of(data: bytes) -> array[int]:
    """Return the files of what was packed, and nothing else of it. Raises ValueError or struct.error for other bytes."""
    chunk_count, file_count, _, chunk_width, file_width, _ = _HEAD.unpack_from(data)
    return _ids(data, _HEAD.size + chunk_count * chunk_width, file_count, file_width)


def chunks_in(data: bytes) -> int:
    """Return how many chunks are in what was packed. Raises struct.error for other bytes."""
    count: int = _HEAD.unpack_from(data)[0]
    return count


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
