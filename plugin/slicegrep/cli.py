"""The command line: words in, one of the commands run, an exit code out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from slicegrep import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. 0: something was found or done; 1: nothing; 2: an error, said on standard error."""
    parsed = _parser().parse_args(words)
    try:
        return int(parsed.run(parsed))
    except BrokenPipeError:  # the reader of our output has gone: `slicegrep map x.py | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError) as error:
        print(f"slicegrep: {error}", file=sys.stderr)
        return 2


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
    show.add_argument("file")
    show.add_argument("--json", action="store_true")
    show.set_defaults(run=_map)

    around = commands.add_parser("enclosing", help="print the definition around each location")
    around.add_argument("location", nargs="+", help="FILE:LINE")
    around.add_argument("--json", action="store_true")
    around.set_defaults(run=_enclosing)

    stats = commands.add_parser("stats", help="what was saved, net of what was read again")
    stats.add_argument("--json", action="store_true")
    stats.set_defaults(run=_stats)

    doctor = commands.add_parser("doctor", help="look at each part and say how to mend it")
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(run=_doctor)

    setup = commands.add_parser("setup", help="make the Python environment and fetch the vocabulary")
    setup.add_argument("rest", nargs=argparse.REMAINDER)
    setup.set_defaults(run=_setup)
    return parser


def _demo(parsed: argparse.Namespace) -> int:
    from slicegrep.demo import demonstrate

    return demonstrate(parsed.file, parsed.prompt)


def _map(parsed: argparse.Namespace) -> int:
    from slicegrep.filemap import map_line
    from slicegrep.outline import outline
    from slicegrep.source import read_source

    source = read_source(parsed.file, max_bytes=50_000_000)
    if source is None:
        raise ValueError(f"{parsed.file}: not a readable file of at most 50 MB")
    symbols = outline(source).symbols
    if parsed.json:
        print(json.dumps([_row(s) for s in symbols], indent=1))
    else:
        print("\n".join(map_line(s) for s in symbols), end="\n" if symbols else "")
    return 0 if symbols else 1


def _enclosing(parsed: argparse.Namespace) -> int:
    from slicegrep.outline import enclosing, outline
    from slicegrep.source import read_source

    shapes: dict[str, object] = {}
    rows = []
    for location in parsed.location:
        file, _, number = location.rpartition(":")
        if not file or not number.isdigit() or int(number) < 1:
            raise ValueError(f"{location}: not FILE:LINE with a line of 1 or more")
        if file not in shapes:
            source = read_source(file, max_bytes=50_000_000)
            if source is None:
                raise ValueError(f"{file}: not a readable file of at most 50 MB")
            shapes[file] = outline(source)
        symbol = enclosing(shapes[file], int(number))  # type: ignore[arg-type]
        rows.append({"location": location, **(_row(symbol) if symbol else {"symbol": ""})})
    if parsed.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(
                f"{row['location']}\t{row['symbol']} {row['start']}-{row['end']}"
                if row["symbol"]
                else f"{row['location']}\t"
            )
    return 0 if any(row["symbol"] for row in rows) else 1


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


def _setup(parsed: argparse.Namespace) -> int:
    from slicegrep import install

    return install.main(["setup", *parsed.rest])
