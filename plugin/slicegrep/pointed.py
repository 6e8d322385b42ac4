"""What a query spells or points to, whatever its patterns match: definitions by name, lines of a traceback, files by path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.units import UNIT_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.filescore import Scores
    from slicegrep.findings import Findings
    from slicegrep.index import FileRow, View
    from slicegrep.query import Query

__all__ = ["take_places", "take_spelled"]

SPELLED = 1.0
"""On top of all else, for the definition of a symbol that the query spells: it comes before what only mentions it. With a
qualifier (`Session.request`) the text of a regular expression seldom stands in the definition's own line."""
NESTED = 0.8
"""Of a definition inside of another, where the query gives no qualifier."""
DECLARATION = 0.5
"""Of a declaration without a body, against a definition."""
MOST_SPELLED = 20
"""Definitions of one name that are lifted so, those of the best files: `get` is defined hundreds of times."""
NAMED_LINE = 2.0
NAMED_FILE = 1.5
LATER_FRAME = 0.1
"""On top of all else, for the definition around a line that the query names, and for the best unit of a file that it names;
each further frame of a traceback counts a little less than the one before."""
BESIDE_PLACES = 0.3
"""What a spelled name is worth beside lines that are named: a traceback spells dozens."""
MOST_FRAMES = 10
NEAR_LINES = 20
"""Around a line that is named, where its definition is long."""
MOST_ALIKE = 3
"""Files that one path may mean (`core.py`)."""


def take_spelled(findings: Findings, view: View, query: Query, scores: Scores, names: float) -> None:
    """Lift the definitions of symbols that the query spells, also where no pattern matches them.

    `names` is what names are worth in this query, from 0 to 1.
    """
    if query.prose or not names:
        return
    if any(line for _, line in query.places):
        names *= BESIDE_PLACES
    of_file, share = view.symbol_file, findings.share
    found = sorted(scores.exact, key=lambda number: (-share(of_file[number]), number))
    for symbol in map(view.symbol, found[:MOST_SPELLED]):
        row = view.files[symbol.file]
        if row is None:
            continue
        lines = symbol.start, min(symbol.end, symbol.start + UNIT_LINES - 1)
        worth = names * SPELLED * (DECLARATION if symbol.kind == "declaration" else 1.0)
        worth *= NESTED if symbol.depth and (symbol.name, "") in query.symbols else 1.0
        findings.lift(
            row,
            lines,
            symbol.name_line,
            worth,
            reason="exact_symbol",
            name=symbol.qualified,
            role="definition",
        )


def take_places(
    findings: Findings, view: View, query: Query, *, prefix: str, only: frozenset[str] | None
) -> None:
    """Lift what stands around the lines, and in the files, that the query names."""
    places = list(query.places)
    if "Traceback (most recent call last)" in query.text:  # Python's alone ends with where it happened
        places.reverse()
    paths = view.paths_under(prefix) if places else ()
    for order, (named, line) in enumerate(places):
        for path in _meant(named, paths):
            row = view.file_at(prefix + path)
            if row is None or (only is not None and row.path not in only):
                continue
            if line:
                low, high, name = _around(view, row, line)
                worth = NAMED_LINE - LATER_FRAME * min(order, MOST_FRAMES)
                at = min(line, row.lines)
                findings.lift(row, (low, high), at, worth, reason="place", name=name, role="")
            else:
                _take_file(findings, view, row)


def _take_file(findings: Findings, view: View, row: FileRow) -> None:
    units = findings.of(row).units
    lines, name = (1, min(row.lines, 2 * NEAR_LINES)), ""
    if units:
        lines = units[0].start, units[0].end
        name = view.symbol(units[0].symbol).qualified if units[0].symbol >= 0 else ""
    findings.lift(row, lines, lines[0], NAMED_FILE, reason="place", name=name, role="")


def _around(view: View, row: FileRow, line: int) -> tuple[int, int, str]:
    """Return the innermost definition around a line, or the lines near it where that is long, with its name."""
    inside = [symbol for symbol in view.symbols_of(row.id) if symbol.start <= line <= symbol.end]
    symbol = max(inside, key=lambda one: (one.start, -one.end), default=None)
    low, high = (symbol.start, symbol.end) if symbol is not None else (1, row.lines)
    if high - low >= UNIT_LINES:
        low, high = max(low, line - NEAR_LINES), min(high, line + NEAR_LINES)
    return low, max(high, low), symbol.qualified if symbol is not None else ""


def _meant(named: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a path in a text can mean: those with most of its last parts, the outermost first."""
    wanted = named.replace("\\", "/").split("/")
    alike = {path: _in_common(wanted, path.split("/")) for path in paths if path.endswith(wanted[-1])}
    most = max(alike.values(), default=0)
    best = [path for path, parts in alike.items() if parts == most and most]
    return sorted(best, key=lambda path: (path.count("/"), path))[:MOST_ALIKE]


def _in_common(wanted: Sequence[str], present: Sequence[str]) -> int:
    """Return how many last parts two paths have in common."""
    alike = 0
    while alike < min(len(wanted), len(present)) and wanted[-1 - alike] == present[-1 - alike]:
        alike += 1
    return alike
