"""The graph's block below an output: one line for each function that was hit, with its callers, callees and tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.annotate import Row  # noqa: TC001 (as above)
from slicegrep.index.place import index_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["HEADER", "MOST_EACH", "MOST_FUNCTIONS", "block_of", "functions_of", "local_block"]

HEADER = "[Related from slicegrep dependency graph]"
"""The block's first line: what stands before it is the real output."""


MOST_FUNCTIONS = 20
"""Functions over which the block is dropped, unless something else is asked for."""
MOST_EACH = 5
"""Callers, callees and tests of each, unless something else is asked for."""


def functions_of(rows: Iterable[Row], most: int) -> list[Row]:
    """Return the first row of each function, in order; none at all where there are more than `most` functions."""
    first: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        first.setdefault((row.file, row.symbol.qualified, row.symbol.start), row)
    return list(first.values()) if len(first) <= most else []


def local_block(functions: Sequence[Row], top: str, home: str, k: int, until: float) -> str:
    """Return the block as the code operations tell it of the tree `top`, "" where that is not done by `until`.

    The index may have to be made first, so it is done in a process that goes on then: the next search finds it made. Any
    fault leaves the block out. Raises nothing.
    """

    def work() -> bytes:
        return block_of(_asked(functions, top, home, k)).encode("utf-8", "surrogateescape")

    try:
        from slicegrep.apart import done_apart  # noqa: PLC0415 (outputs without the block need none of it)

        told = done_apart(work, f"{index_path(top, home)}.graph.lock", until)
    except (ImportError, OSError):  # Windows has no fork
        return ""
    return told.decode("utf-8", "surrogateescape")


def _asked(functions: Sequence[Row], top: str, home: str, k: int) -> list[Mapping[str, Any]]:
    from slicegrep.service.models import EnclosingRequest  # noqa: PLC0415 (pydantic: 35 ms)
    from slicegrep.service.operations import Code  # noqa: PLC0415

    inside = os.path.join(os.path.realpath(top), "")
    locations = [
        f"{file[len(inside) :]}:{row.line}"
        for row in functions
        if (file := _real(row.file)).startswith(inside)
    ]
    if not locations:
        return []
    request = EnclosingRequest(locations=locations, neighbours=True, neighbour_k=k)
    return [entry.model_dump() for entry in Code(top, home).enclosing(request).neighbours]


def _real(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def block_of(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the block for neighbourhoods of the shape of models.NeighbourhoodEntry, "" for none.

    A caller or test is followed by the place of its reference, a callee by the place of its definition; what stands
    outside of all definitions has a place alone. A test is no caller besides.
    """
    if not entries:
        return ""
    return "".join(f"{_plain(line)}\n" for line in (HEADER, *map(_line, entries)))


def _line(entry: Mapping[str, Any]) -> str:
    tests = {(one["path"], one["symbol_id"]) for one in entry["tests"]}
    lists = {
        "callers": [one for one in entry["callers"] if (one["path"], one["symbol_id"]) not in tests],
        "callees": entry["callees"],
        "tests": entry["tests"],
    }
    parts = [
        f"{name}: " + ", ".join(_neighbour(one, defined=name == "callees") for one in ones)
        for name, ones in lists.items()
        if ones
    ]
    line = f"{entry['symbol']} ({entry['module'] or entry['path']}) " + ("; ".join(parts) or "nothing found")
    envelope = entry["envelope"]
    if envelope["epistemic"] == "complete":
        return line
    return f"{line} (lower bound: {'; '.join(envelope['causes']) or 'there may be more'})"


def _neighbour(one: Mapping[str, Any], *, defined: bool) -> str:
    """Return a neighbour in words: a name says that it is a call, all else is said (`import`, `inheritance`, `reference`)."""
    at = one["start"] if defined or not one["lines"] else one["lines"][0]
    relation = "" if one["relation"] == "call" else f" {one['relation']}"
    return f"{one['symbol']} {one['path']}:{at}{relation}".lstrip()


def _plain(line: str) -> str:
    """Return a line without white space but blanks, and with `?` for what cannot be printed: paths may hold anything."""
    return "".join(mark if mark.isprintable() else "?" for mark in " ".join(line.split()))
