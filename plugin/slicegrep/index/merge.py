"""Small segments made one, so that an index that has seen many edits stays quick to load."""

from __future__ import annotations

from array import array
from collections import Counter
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from slicegrep.index.blocks import blocks_of
from slicegrep.index.postings import packed, together, unpacked
from slicegrep.index.seal import deflated
from slicegrep.index.segment import Bases, text_of_names
from slicegrep.index.store import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slicegrep.index.store import Segment, Store

__all__ = ["merge_tail"]

_FAN_IN = 16
"""So many segments of a level become one of the next: what is written of a file is written again once a level."""
_JOINED = (
    *(
        "size",
        "mtime",
        "ctime",
        "digests",
        "lines",
        "file",
        "chunks",
        "mentions",
        "first_chunk",
        "first_symbol",
    ),
    *(
        "chunk_file",
        "chunk_start",
        "chunk_end",
        "chunk_symbol",
        "symbol_parent",
        "symbol_file",
    ),
)


def merge_tail(store: Store) -> None:
    """Merge the last segments where they are many of a size (while `writing`). Ids stay as they are.

    Raises store.Damaged.
    """
    while len(tail := _tail(store.segments())) >= _FAN_IN:
        numbers = [segment.number for segment in tail]
        snapshot = Snapshot(store, shared=True)
        rows = _rows(snapshot, numbers)
        counts = Bases(*[sum(column) for column in zip(*[segment.counts for segment in tail], strict=True)])
        parts = {name: deflated(data) for name, data in _parts(snapshot, numbers).items()}
        store.add_segment(tail[-1].level + 1, counts, parts, blocks_of(rows))
        for number in numbers:
            store.remove_segment(number)


def _tail(segments: list[Segment]) -> list[Segment]:
    """Return the last segments that are of no higher level than the very last."""
    tail: list[Segment] = []
    for segment in reversed(segments):
        if segment.level > segments[-1].level:
            break
        tail.insert(0, segment)
    return tail


def _parts(snapshot: Snapshot, numbers: list[int]) -> dict[str, bytes]:
    parts = {name: b"".join([snapshot.part(n, name) for n in numbers]) for name in _JOINED}
    for name in ("paths", "symbol_names"):
        parts[name] = text_of_names([text for n in numbers for text in snapshot.names(n, name)])
    for names, codes, code in (("labels", "label", "I"), ("symbol_kinds", "symbol_kind", "H")):
        table: dict[str, int] = {}
        values = array(code)
        for number in numbers:
            new = [table.setdefault(text, len(table)) for text in snapshot.names(number, names)]
            values.extend([new[value] for value in snapshot.column(number, codes, code)])
        parts[names], parts[codes] = text_of_names(list(table)), values.tobytes()
    used: Counter[str] = Counter()
    beyond: set[str] = set()
    for number in numbers:
        used.update(snapshot.used(number))
        beyond.update(snapshot.text(number, "beyond_ascii").split("\n"))
    beyond.discard("")
    words = sorted(used)
    parts["identifiers"] = "\n".join(words).encode()
    parts["identifier_files"] = array("I", [used[word] for word in words]).tobytes()
    parts["beyond_ascii"] = "\n".join(sorted(beyond)).encode()
    return parts


def _rows(snapshot: Snapshot, numbers: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield the merged rows one by one: a large index is never in memory as a whole."""
    each = [_numbered(snapshot, number) for number in numbers]
    for term, same in groupby(merge(*each), key=itemgetter(0)):
        pieces = [row for _, _, row in same]
        # What one segment alone holds, as of most terms, is as it is: ids do not change.
        yield term, pieces[0] if len(pieces) == 1 else packed(*together([unpacked(row) for row in pieces]))


def _numbered(snapshot: Snapshot, number: int) -> Iterator[tuple[str, int, bytes]]:
    for term, row in snapshot.rows_of(number):
        yield term, number, row
