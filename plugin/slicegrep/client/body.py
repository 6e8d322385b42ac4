"""The body of an answer, decoded in steps that a server cannot make larger than they are."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

__all__ = ["ENCODINGS", "Undecodable", "body_of"]

ENCODINGS = "gzip"
"""What is asked for: the server sends none, a proxy may. Two around each other would let 1 kB become 1 GB."""
_STEP = 1_000_000
_GZIP = 16 + zlib.MAX_WBITS


class Undecodable(Exception):  # noqa: N818 (read as what it is)
    """A body that is encoded in another way, or broken, or too long; the message is one clause."""


async def body_of(answer: httpx.Response, most: int) -> bytes:
    """Return the body, of `most` bytes at most, and never hold much more. Raises Undecodable, httpx.HTTPError."""
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise Undecodable("the answer is encoded in a way that was not asked for")
    data = bytearray()
    async for step in _inflated(answer) if encoding.endswith("gzip") else answer.aiter_raw():
        data += step
        if len(data) > most:
            raise Undecodable(f"the answer is over {most // 1_000_000} MB")
    return bytes(data)


async def _inflated(answer: httpx.Response) -> AsyncIterator[bytes]:
    inflate = zlib.decompressobj(_GZIP)
    any_sent = False
    async for block in answer.aiter_raw():
        any_sent = True
        rest = block
        while not inflate.eof:  # what stands behind the end is nobody's
            try:
                step = inflate.decompress(rest, _STEP)
            except zlib.error:
                raise Undecodable("the answer cannot be decompressed") from None
            yield step
            rest = inflate.unconsumed_tail
            if not rest and len(step) < _STEP:
                break
    if any_sent and not inflate.eof:
        raise Undecodable("the answer cannot be decompressed")
