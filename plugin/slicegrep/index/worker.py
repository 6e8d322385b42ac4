"""A process that makes segments: files in by standard input, segments out by standard output."""

from __future__ import annotations

import gc
import marshal
import sys
from typing import TYPE_CHECKING, Any

from slicegrep.index.blocks import small
from slicegrep.index.documents import add_file
from slicegrep.index.segment import Bases, Builder, Terms

if TYPE_CHECKING:
    from typing import IO

__all__ = ["received", "sent", "serve"]

_LENGTH = 8
_MOST_TERMS = 300_000
"""Identifiers that are remembered from one segment to the next: about 60 MB."""


def sent(pipe: IO[bytes], message: Any) -> None:
    """Write a message. Raises OSError where the other side is gone."""
    data = marshal.dumps(message)
    pipe.write(len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()


def received(pipe: IO[bytes]) -> Any:
    """Read a message. Raises EOFError where the other side is gone."""
    head = pipe.read(_LENGTH)
    data = pipe.read(int.from_bytes(head, "little")) if len(head) == _LENGTH else b""
    if not data:
        raise EOFError
    return marshal.loads(data)  # noqa: S302 (of this package's own process)


def serve() -> None:
    """Say that it is ready, and answer until the input ends.

    `("files", root, [(path, status), ...])` is answered by how many postings are held after them;
    `("counts",)` by how many files, chunks and symbols; `("segment", bases)` by the segment, made small (some 4 MB).
    After that the next one begins.
    """
    gc.disable()  # nothing here is cyclic, and there is much of it
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    sent(target, "ready")
    builder = Builder(terms := Terms())
    while True:
        try:
            verb, *arguments = received(source)
        except EOFError:
            return
        if verb == "files":
            root, files = arguments
            for file in files:
                add_file(builder, root, *file)
            sent(target, builder.postings)
        elif verb == "counts":
            sent(target, tuple(builder.counts))
        else:
            made = small(builder.encoded(Bases(*arguments[0])))
            if len(terms) > _MOST_TERMS:
                terms = Terms()
            builder = Builder(terms)
            sent(target, made[1:])  # the counts have been told
