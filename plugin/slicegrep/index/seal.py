"""The check sum that stands before every piece of an index's file."""

from __future__ import annotations

from zlib import crc32

__all__ = ["sealed", "unsealed"]

_SEAL = 4


def sealed(data: bytes, place: int, name: str = "") -> bytes:
    """Return data behind the check sum of it and of where it is kept: SQLite has none.

    It would hand out what a bad disk made of it, and another row in its place.
    """
    return _sum(data, place, name) + data


def unsealed(data: bytes, place: int, name: str = "") -> bytes:
    """Return what was sealed for that place. Raises ValueError where it is not."""
    inner = data[_SEAL:]
    if _sum(inner, place, name) != data[:_SEAL]:
        raise ValueError("a part of the index is not what was written")
    return inner


def _sum(data: bytes, place: int, name: str) -> bytes:
    return crc32(data, crc32(name.encode(), place)).to_bytes(_SEAL, "little")
