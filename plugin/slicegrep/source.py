"""The bytes of a file turned into the lines that Claude Code's Read shows, and nothing else's idea of a line."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from slicegrep.types import Source

try:  # hashlib also loads OpenSSL: 2.6 ms of a hook's start against 0.2 (python -X importtime)
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["SourceOf", "read_source", "shown_as_is", "source_of", "utf8_lines"]

SourceOf = Callable[[str, bytes], Source]
"""`source_of`, or what stands for it and returns what it made before of the same path and bytes."""

# 5 MB is the largest file that the hooks look at (settings: SLICEGREP_HOOK_MAX_BYTES).
_MAX_BYTES = 5_000_000

# Characters that tell a C++ header from a C one, and a script by its first line.
_HEAD = 65_536

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_LE_BOM = b"\xff\xfe"
_UTF16_BE_BOM = b"\xfe\xff"

_SHOWN = frozenset({"utf-8", "utf-8-sig"})

# O_NONBLOCK: opening a FIFO or a device must not wait for its other end. Windows has neither flag.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_source(path: str, *, max_bytes: int = _MAX_BYTES, make: SourceOf | None = None) -> Source | None:
    """Read a regular file (symlinks are followed) of at most `max_bytes` bytes.

    None where it is no regular file, larger, unreadable or gone. Never blocks on a FIFO or a device; raises nothing.
    `make` (None: `source_of`) makes the source of the path and the bytes, which are read at every call.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):  # ValueError: a NUL or a lone surrogate in the path
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            return None
        data = _read_up_to(descriptor, status.st_size, max_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if data is None else (make or source_of)(path, data)


def source_of(path: str, data: bytes, language: str = "") -> Source:
    """Make a source of `data`, the raw bytes of the file at `path`. `language` "" asks the language table.

    The lines are those of the client's own result (its `tool_response`, 2.1.100 and 2.1.332): split on LF, one CR
    dropped from each end (also from an unfinished last line), one BOM dropped, a bad UTF-8 sequence shown as U+FFFD.
    The client counts one line more (an empty one, in `totalLines` and in a range that reaches past the end) where
    the file ends in LF.

    `encoding` is `utf-8`, `utf-8-sig` (BOM), `utf-16-le`, `utf-16-be` (by BOM), or `binary`: UTF-8 with NULs in it.
    """
    text, encoding = _decode(data)
    if not language:
        from slicegrep.languages import language_of  # noqa: PLC0415 (a caller that knows does not need the table)

        language = language_of(path, text[:_HEAD])
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()  # an LF ends a line; it does not begin one
    return Source(
        path=path,
        language=language,
        lines=tuple(lines),
        size=len(data),
        digest=blake2b(data, digest_size=16).hexdigest(),
        encoding=encoding,
    )


def shown_as_is(source: Source) -> bool:
    """Whether Read shows exactly these lines in every client version, so that a slice of them can be trusted.

    Not so for UTF-16 (2.1.100 shows the raw bytes as UTF-8, 2.1.332 decodes little-endian only) and not for
    text with NULs (2.1.332 calls it binary and refuses to edit it): leave the Read of such a file alone.
    """
    return source.encoding in _SHOWN


def utf8_lines(data: bytes) -> bytes:
    """Return the raw bytes of a file as the lines of `source_of`, in UTF-8, each but the last with its LF.

    `data` itself where they are the same but for a last LF.
    """
    if not data.startswith((_UTF8_BOM, _UTF16_LE_BOM, _UTF16_BE_BOM)) and b"\r" not in data:
        if data.isascii():
            return data
        try:
            data.decode()
        except UnicodeDecodeError:
            pass
        else:
            return data
    return source_of("", data, "-").text.encode("utf-8", "replace")


def _read_up_to(descriptor: int, expected: int, max_bytes: int) -> bytes | None:
    """Return all bytes, or None where there are more than `max_bytes` (a file can grow after its size was asked)."""
    blocks: list[bytes] = []
    left = max_bytes + 1
    while left > 0:
        block = os.read(descriptor, min(left, max(expected + 1, 65_536)))
        if not block:
            return b"".join(blocks)
        blocks.append(block)
        left -= len(block)
    return None


def _decode(data: bytes) -> tuple[str, str]:
    """Return the text without its BOM, and the encoding as `source_of` names it."""
    if data.startswith(_UTF16_LE_BOM):
        return data[2:].decode("utf-16-le", "replace"), "utf-16-le"
    if data.startswith(_UTF16_BE_BOM):
        return data[2:].decode("utf-16-be", "replace"), "utf-16-be"
    marked = data.startswith(_UTF8_BOM)
    text = data[3:].decode("utf-8", "replace") if marked else data.decode("utf-8", "replace")
    if b"\0" in data:
        return text, "binary"
    return text, "utf-8-sig" if marked else "utf-8"
