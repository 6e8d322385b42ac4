"""A walked file made ready for the index: read, outlined, and known for what it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slicegrep.index.segment import Document
from slicegrep.index.texts import read_walked
from slicegrep.roles import HEAD_BYTES, LARGEST_CODE, flags_of, kind_of
from slicegrep.source import source_of
from slicegrep.types import Outline

if TYPE_CHECKING:
    from slicegrep.index.segment import Builder
    from slicegrep.types import Source

__all__ = ["SEARCHED", "add_file", "add_source", "is_wanted"]

SEARCHED = frozenset({"code", "docs", "config"})
"""The kinds whose text is indexed."""


def is_wanted(path: str) -> bool:
    """Whether a file gets a row in the index, by its path: not what is binary or data by its name."""
    return kind_of(path, 0, b"text") in SEARCHED


def add_file(
    builder: Builder, root: str, path: str, status: tuple[int, int, int], *, parsed: bool = True
) -> None:
    """Read a file and add it, without definitions unless `parsed`; `status` is its size, mtime_ns and ctime_ns.

    One that is no text, too large, unreadable or gone gets a row without content.
    """
    data = read_walked(root, path, LARGEST_CODE) if kind_of(path, status[0], b"text") in SEARCHED else None
    source = None if data is None else source_of(os.path.join(root, path), data)
    head = _head(source) if source else b""
    kind = kind_of(path, source.size, head or b"text") if source else ""
    if source is None or kind not in SEARCHED or source.encoding == "binary":
        builder.add(Document(path, "", frozenset(), *status), None, None)
    else:
        document = Document(path, kind, flags_of(path, head), *status)
        builder.add(document, source, _outlined(source) if parsed else Outline(source.language))


def add_source(builder: Builder, source: Source) -> None:
    """Add a source that is in memory, whatever its kind."""
    head = _head(source)
    kind = kind_of(source.path, 0, head)
    kind = kind if kind in SEARCHED else "docs"
    builder.add(
        Document(source.path, kind, flags_of(source.path, head), source.size, 0, 0),
        source,
        _outlined(source),
    )


def _outlined(source: Source) -> Outline:
    from slicegrep.outline.build import outline  # noqa: PLC0415 (the parsers: 3 ms, and a search seldom adds a file)

    return outline(source)


def _head(source: Source) -> bytes:
    """Return about the first HEAD_BYTES of a source."""
    lines, size = [], 0
    for line in source.lines:
        lines.append(line[:HEAD_BYTES])
        size += len(line) + 1
        if size > HEAD_BYTES:
            break
    return "\n".join(lines).encode("utf-8", "surrogateescape")[:HEAD_BYTES]
