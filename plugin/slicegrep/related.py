"""The graph's block below an output: one line for each function that was hit, with its callers, callees and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.annotate import Row  # noqa: TC001 (as above)
from slicegrep.index.place import location_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ASKED_EACH",
    "HEADER",
    "MOST_EACH",
    "MOST_FUNCTIONS",
    "block_of",
    "functions_of",
    "local_block",
    "plain",
]

HEADER = "[Related from slicegrep dependency graph]"
"""The block's first line: what stands before it is the real output."""
MOST_FUNCTIONS = 20
"""Functions over which the block is dropped, unless fewer are asked for: a call tells of no more."""
MOST_EACH = 5
"""Callers, callees and tests of each, unless something else is asked for."""
ASKED_EACH = 20
"""How many of each are asked for, whatever is shown: the rest is counted."""


def functions_of(rows: Iterable[Row], most: int) -> list[Row]:
    """Return the first row of each function, in order; none at all where there are more than `most` functions."""
    first: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        first.setdefault((row.file, row.symbol.qualified, row.symbol.start), row)
    return list(first.values()) if len(first) <= most else []


def local_block(functions: Sequence[Row], top: str, home: str, k: int, until: float) -> str:
    """Return the block as the code operations tell it of the tree `top` (a real path), "" where that is not done by `until`.

    The index may have to be made first, so it is done in a process that goes on then: the next search finds it made. Any
    fault leaves the block out. Raises nothing.
    """

    def work() -> bytes:
        return block_of(_asked(functions, top, home), k).encode("utf-8", "surrogateescape")

    try:
        from slicegrep.apart import done_apart  # noqa: PLC0415 (outputs without the block need none of it)
        from slicegrep.graph.place import graph_path  # noqa: PLC0415 (as above)

        told = done_apart(work, graph_path(top, home, ".lock"), until)
    except (ImportError, OSError):  # Windows has no fork
        return ""
    return told.decode("utf-8", "surrogateescape")


def _asked(functions: Sequence[Row], top: str, home: str) -> list[Mapping[str, Any]]:
    from slicegrep.service.models import EnclosingRequest  # noqa: PLC0415 (pydantic: 35 ms)
    from slicegrep.service.operations import Code  # noqa: PLC0415

    locations = [f"{path}:{row.line}" for row in functions if (path := location_path(top, row.file))]
    if not locations:
        return []
    request = EnclosingRequest(locations=locations, neighbours=True, neighbour_k=ASKED_EACH)
    return [entry.model_dump() for entry in Code(top, home).enclosing(request).neighbours]


def block_of(entries: Sequence[Mapping[str, Any]], k: int) -> str:
    """Return the block for neighbourhoods of the shape of models.NeighbourhoodEntry, "" for none; `k` callers, callees and tests each.

    A caller or test is followed by the place of its reference, a callee by the place of its definition; what stands
    outside of all definitions has a place alone. Of the causes for which a line may lack
    something the first is told, once in a block.
    """
    if not entries:
        return ""
    told: set[str] = set()
    lines = [f"{_line(entry, k)}{_bound(entry['envelope'], told)}" for entry in entries]
    return "".join(f"{plain(line)}\n" for line in (HEADER, *lines))


def _line(entry: Mapping[str, Any], k: int) -> str:
    parts = []
    for name in ("callers", "callees", "tests"):
        ones = entry[name]
        if ones:
            more = " or more" if len(ones) >= ASKED_EACH else ""
            shown = f" ({k} of {len(ones)}{more})" if len(ones) > k else ""
            told = ", ".join(_neighbour(one, defined=name == "callees") for one in ones[:k])
            parts.append(f"{name}{shown}: {told}")
    return f"{entry['symbol']} ({entry['module'] or entry['path']}) " + ("; ".join(parts) or "nothing found")


def _bound(envelope: Mapping[str, Any], told: set[str]) -> str:
    """Return that a line may lack something and why, "" where it does not; `told` is what was told before."""
    if envelope["epistemic"] == "complete":
        return ""
    first, *others = envelope["causes"] or ["there may be more"]
    more = f", and {len(others)} more" if others else ""
    said = "as above" if first in told else first
    told.add(first)
    return f" (lower bound: {said}{more})"


def _neighbour(one: Mapping[str, Any], *, defined: bool) -> str:
    """Return a neighbour in words: a name says that it is a call, all else is said (`import`, `inheritance`, `reference`)."""
    at = one["start"] if defined or not one["lines"] else one["lines"][0]
    relation = "" if one["relation"] == "call" else f" {one['relation']}"
    return f"{one['symbol']} {one['path']}:{at}{relation}".lstrip()


def plain(line: str) -> str:
    """Return a text as one line without white space but blanks, and with `?` for what cannot be printed: paths may hold anything."""
    return "".join(mark if mark.isprintable() else "?" for mark in " ".join(line.split()))
