"""A segment made small: what is held under its terms lies in blocks of neighbouring terms, and everything is deflated."""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.index.seal import deflated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slicegrep.index.segment import Bases, Encoded

__all__ = ["Small", "blocks_of", "row_in", "rows_in", "small"]

_FULL = 4000
"""Bytes of a block before it is deflated. Half of it costs Django's index 3% more room, twice as much saves 2% and takes twice as
long to inflate where one term is asked for (15 µs)."""
_HEAD = Struct("=I")  # how many bytes the terms take


class Small(NamedTuple):
    """A segment as it is written, but for its check sums (store.py). All that is bytes is deflated."""

    counts: Bases
    parts: dict[str, bytes]
    blocks: list[tuple[str, bytes]]
    """Each by its first term, in the terms' order."""
    outlines: list[tuple[int, bytes]]
    """By file id."""
    places: list[tuple[bytes, int, bytes, int, str]]
    """As in segment.Encoded."""


def small(encoded: Encoded) -> Small:
    """Return a segment made small."""
    return Small(
        encoded.counts,
        {name: deflated(data) for name, data in encoded.parts.items()},
        list(blocks_of(encoded.rows)),
        [(file, deflated(data)) for file, data in encoded.outlines],
        encoded.places,
    )


def blocks_of(rows: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield rows by term, which are in the terms' order, as deflated blocks with their first terms."""
    terms: list[str] = []
    held: list[bytes] = []
    size = 0
    for term, row in rows:
        more = len(term) + len(row)
        if terms and size + more > _FULL:
            yield terms[0], _block(terms, held)
            terms, held, size = [], [], 0
        terms.append(term)
        held.append(row)
        size += more
    if terms:
        yield terms[0], _block(terms, held)


def _block(terms: list[str], rows: list[bytes]) -> bytes:
    text = "\n".join(terms).encode()
    return deflated(b"".join((_HEAD.pack(len(text)), text, array("I", map(len, rows)), *rows)))


def row_in(block: bytes, term: str) -> bytes | None:
    """Return what an inflated block holds under a term. Raises ValueError or struct.error for other bytes."""
    terms, sizes, at = _opened(block)
    try:
        number = terms.index(term)
    except ValueError:
        return None
    at += sum(sizes[:number])
    return block[at : at + sizes[number]]


def rows_in(block: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the rows of an inflated block. Raises as `row_in`."""
    terms, sizes, at = _opened(block)
    for term, size in zip(terms, sizes, strict=True):
        yield term, block[at : at + size]
        at += size


def _opened(block: bytes) -> tuple[list[str], array[int], int]:
    """Return the terms of a block, the sizes of their rows, and where these begin."""
    end = _HEAD.size + _HEAD.unpack_from(block)[0]
    terms = block[_HEAD.size : end].decode().split("\n")
    sizes = array("I")
    sizes.frombytes(block[end : end + 4 * len(terms)])
    return terms, sizes, end + 4 * len(terms)
