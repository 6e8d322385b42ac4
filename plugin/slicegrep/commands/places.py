"""`map` and `enclosing`: the definitions of files that a person names, as text or for programs."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from slicegrep.filemap import map_line
from slicegrep.outline import enclosing, outline
from slicegrep.source import read_source
from slicegrep.terminal import complain, write

if TYPE_CHECKING:
    from argparse import Namespace

    from slicegrep.types import Outline, Source, Symbol

__all__ = ["print_enclosing", "print_map"]

LARGEST = 50_000_000
"""Bytes of a file that a person names; hooks stop at SLICEGREP_HOOK_MAX_BYTES."""


def print_map(parsed: Namespace) -> int:
    """Print the definitions of `parsed.file`. 0, or 1 where there are none. Raises ValueError, as all here."""
    symbols = outline(_source(parsed.file)).symbols
    if parsed.json:
        write(json.dumps([_row(s) for s in symbols], indent=1))
    elif symbols:
        write("\n".join(map_line(s) for s in symbols))
    else:
        complain(f"{parsed.file}: no definitions found")
    return 0 if symbols else 1


def print_enclosing(parsed: Namespace) -> int:
    """Print a row for each of `parsed.location`. 0; 1 where none has a definition; 2 where one is wrong, which is said."""
    outlines: dict[str, tuple[Outline, int]] = {}
    rows: list[dict[str, object]] = []
    failed = False
    for location in parsed.location:
        try:
            file, line = _place(location)
            if file not in outlines:
                source = _source(file)
                outlines[file] = outline(source), len(source.lines)
            shape, lines = outlines[file]
            _within(location, line, lines)
        except ValueError as error:
            complain(str(error))
            failed = True
            continue
        symbol = enclosing(shape, line)
        rows.append({"location": location, **(_row(symbol) if symbol else {"symbol": ""})})
    if parsed.json:
        write(json.dumps(rows, indent=1))
    else:
        for row in rows:
            found = f"{row['symbol']} {row['start']}-{row['end']}" if row["symbol"] else ""
            write(f"{row['location']}\t{found}")
    if failed:
        return 2
    return 0 if any(row["symbol"] for row in rows) else 1


def _source(path: str) -> Source:
    """Read a file for a command that a person typed. Raises ValueError that says what is wrong with it."""
    if os.path.isdir(path):
        raise ValueError(f"{path}: is a directory")
    if not os.path.exists(path):
        raise ValueError(f"{path}: no such file")
    source = read_source(path, max_bytes=LARGEST)
    if source is None:
        raise ValueError(f"{path}: cannot be read, or is over {LARGEST // 1_000_000} MB")
    if not source.language:
        raise ValueError(f"{path}: not source code that slicegrep knows")
    return source


def _within(location: str, line: int, lines: int) -> None:
    if line > lines:
        raise ValueError(f"{location}: the file has {lines} lines")


def _place(location: str) -> tuple[str, int]:
    """Return file and line of `FILE:LINE` or `FILE:LINE:COLUMN`. Raises ValueError."""
    matched = re.fullmatch(r"(.+?):(\d+)(?::\d+)?:?", location)
    if matched is None or int(matched[2]) < 1:
        raise ValueError(f"{location}: not FILE:LINE with a line of 1 or more")
    return matched[1], int(matched[2])


def _row(symbol: Symbol) -> dict[str, object]:
    return {
        "symbol": symbol.qualified,
        "kind": symbol.kind,
        "start": symbol.start,
        "end": symbol.end,
        "signature": symbol.signature,
    }
