"""How the definitions of one file lie in the index: numbers, then texts."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.types import Symbol

__all__ = ["bytes_of", "symbols_of"]

_NUMBERS = 4
"""Of each definition: its first and last line, its name's, and its parent's number from 1 on, 0 for none."""
_TEXTS = 4
"""Of each definition: kind, name, qualified name, signature."""
_PLANES = (0, 1, 2, 3) if sys.byteorder == "little" else (3, 2, 1, 0)


def bytes_of(symbols: Sequence[Symbol]) -> bytes:
    """Return the definitions of a file as bytes; none is b""."""
    if not symbols:
        return b""
    numbers = array("I", [s.start for s in symbols])
    numbers.extend([s.end for s in symbols])
    numbers.extend([s.name_line for s in symbols])
    numbers.extend([s.parent + 1 for s in symbols])
    data = numbers.tobytes()
    texts = [s.kind for s in symbols]
    texts += [s.name for s in symbols]
    texts += [s.qualified for s in symbols]
    texts += [s.signature for s in symbols]
    return b"".join(
        [
            len(symbols).to_bytes(4, "little"),
            *[data[plane::4] for plane in _PLANES],  # the high bytes, which are zeros, deflate to nothing
            "\0".join(texts).encode("utf-8", "surrogateescape"),
        ]
    )


def symbols_of(data: bytes) -> tuple[Symbol, ...]:
    """Return the definitions of a file. Raises ValueError or IndexError for other bytes."""
    if not data:
        return ()
    count = int.from_bytes(data[:4], "little")
    size = _NUMBERS * count
    texts = data[4 + 4 * size :].decode("utf-8", "surrogateescape").split("\0")
    if len(texts) != _TEXTS * count:
        raise ValueError("an outline that is not that of its file")
    planes = bytearray(4 * size)
    for number, plane in enumerate(_PLANES):
        planes[plane::4] = data[4 + number * size : 4 + (number + 1) * size]
    numbers = array("I")
    numbers.frombytes(planes)
    symbols: list[Symbol] = []
    for at in range(count):
        parent = numbers[3 * count + at] - 1
        symbols.append(
            Symbol(
                texts[at],
                texts[count + at],
                texts[2 * count + at],
                numbers[at],
                numbers[count + at],
                texts[3 * count + at],
                numbers[2 * count + at],
                parent,
                symbols[parent].depth + 1 if parent >= 0 else 0,
            )
        )
    return tuple(symbols)
