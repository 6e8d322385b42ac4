"""The command line: words in, one of the commands run, an exit code out."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import TYPE_CHECKING

from slicegrep import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline, Source

__all__ = ["main"]

LARGEST = 50_000_000
"""Bytes of a file that a person names; hooks stop at SLICEGREP_HOOK_MAX_BYTES."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. 0: something was found or done; 1: nothing; 2: an error, said on standard error."""
    given = sys.argv[1:] if words is None else list(words)
    if given[:1] == ["setup"]:  # it has options of its own
        from slicegrep import install

        return install.main(given)
    parsed = _parser().parse_args(given)
    try:
        status = int(parsed.run(parsed))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has gone: `slicegrep map x.py | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError) as error:
        print(f"slicegrep: {error}", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="slicegrep", description="File maps and slices in place of whole files."
    )
    parser.add_argument("--version", action="version", version=f"slicegrep {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo", help="intercept a whole-file read and print what the model would receive"
    )
    demo.add_argument(
        "file", nargs="?", default="", help="a large source file (default: one of Python's own)"
    )
    demo.add_argument("--prompt", default="", help="what the session is working on")
    demo.set_defaults(run=_demo)

    show = commands.add_parser("map", help="print a file's definitions with their line ranges")
    show.add_argument("file", help="a source file")
    show.add_argument(
        "--json", action="store_true", help="for programs: a list of {symbol, kind, start, end, signature}"
    )
    show.set_defaults(run=_map)

    around = commands.add_parser("enclosing", help="print the definition around each location")
    around.add_argument("location", nargs="+", help="FILE:LINE, or FILE:LINE:COLUMN")
    around.add_argument("--json", action="store_true", help="for programs: a row for each location")
    around.set_defaults(run=_enclosing)

    stats = commands.add_parser("stats", help="what was saved, net of what was read again")
    stats.add_argument("--json", action="store_true", help="for programs")
    stats.set_defaults(run=_stats)

    doctor = commands.add_parser("doctor", help="look at each part and say how to mend it")
    doctor.add_argument(
        "--json", action="store_true", help="for programs: a list of {check, status, text, mend}"
    )
    doctor.set_defaults(run=_doctor)

    commands.add_parser(
        "setup", help="make the Python environment and fetch the vocabulary; --remove deletes all"
    )
    return parser


def _demo(parsed: argparse.Namespace) -> int:
    from slicegrep.demo import demonstrate

    return demonstrate(parsed.file, parsed.prompt)


def _map(parsed: argparse.Namespace) -> int:
    from slicegrep.filemap import map_line
    from slicegrep.outline import outline

    symbols = outline(_source(parsed.file)).symbols
    if parsed.json:
        print(json.dumps([_row(s) for s in symbols], indent=1))
    elif symbols:
        print("\n".join(map_line(s) for s in symbols))
    else:
        print(f"slicegrep: {parsed.file}: no definitions found", file=sys.stderr)
    return 0 if symbols else 1


def _source(path: str) -> Source:
    """Read a file for a command that a person typed. Raises ValueError that says what is wrong with it."""
    from slicegrep.source import read_source

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


def _enclosing(parsed: argparse.Namespace) -> int:
    from slicegrep.outline import enclosing, outline

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
            print(f"slicegrep: {error}", file=sys.stderr)
            failed = True
            continue
        symbol = enclosing(shape, line)
        rows.append({"location": location, **(_row(symbol) if symbol else {"symbol": ""})})
    if parsed.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(
                f"{row['location']}\t"
                + (f"{row['symbol']} {row['start']}-{row['end']}" if row["symbol"] else "")
            )
    if failed:
        return 2
    return 0 if any(row["symbol"] for row in rows) else 1


def _within(location: str, line: int, lines: int) -> None:
    if line > lines:
        raise ValueError(f"{location}: the file has {lines} lines")


def _place(location: str) -> tuple[str, int]:
    """Return file and line of `FILE:LINE` or `FILE:LINE:COLUMN`. Raises ValueError."""
    matched = re.fullmatch(r"(.+?):(\d+)(?::\d+)?:?", location)
    if matched is None or int(matched[2]) < 1:
        raise ValueError(f"{location}: not FILE:LINE with a line of 1 or more")
    return matched[1], int(matched[2])


def _row(symbol: object) -> dict[str, object]:
    kind, name, start, end, signature = (
        getattr(symbol, n) for n in ("kind", "qualified", "start", "end", "signature")
    )
    return {"symbol": name, "kind": kind, "start": start, "end": end, "signature": signature}


def _stats(parsed: argparse.Namespace) -> int:
    from slicegrep import ledger
    from slicegrep.home import home_folder
    from slicegrep.stats import report, told

    home = home_folder(os.environ)
    ledger.settle(home)
    found = report(ledger.rows(home))
    print(found.model_dump_json(indent=1) if parsed.json else told(found))
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from slicegrep import doctor

    return doctor.main(["--json"] if parsed.json else [])
