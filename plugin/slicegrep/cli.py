"""The command line: which command the words name, and the exit code that its answer, or its error, becomes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from slicegrep.arisen import arisen
from slicegrep.bytecode import MENDED, mend
from slicegrep.commands import COMMANDS
from slicegrep.commands.parser import Parser, UsageError
from slicegrep.home import home_folder
from slicegrep.terminal import complain, open_streams

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
"""As a shell tells of a command that Ctrl-C ended."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. 0: something was found or done; 1: nothing; 2: an error, said in one line on standard error."""
    given = sys.argv[1:] if words is None else list(words)
    open_streams()
    try:
        status = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has gone: `slicegrep map x.py | head -1`
        _drop_output()
        return 0
    except KeyboardInterrupt:
        _drop_output()
        return INTERRUPTED
    except OSError as error:
        _drop_output()  # a full disk: what is left of the output would fail once more at the end
        complain(_told(error))
        return 2
    except UsageError as error:
        complain(str(error))
        return 2
    except Exception as error:  # noqa: BLE001 (the process boundary: one line that says where, not a traceback)
        if mend(error, sys.pycache_prefix):
            complain(MENDED)
        elif isinstance(error, ValueError):
            complain(str(error))
        else:
            complain(
                f"a fault of slicegrep's own, or of its set-up (slicegrep doctor): {arisen(error)}: {error}"
            )
        return 2
    return status


def _run(given: list[str]) -> int:
    name = given[0] if given else ""
    if name != "doctor":  # which tells what is wrong
        home_folder(os.environ)  # raises where it is not to be used: byte code and index come from there
    if name == "setup":  # it has options of its own
        from slicegrep import install

        return install.main(given)
    if name in COMMANDS:
        parsed = _parser().parse_args(given)
        return int(parsed.run(parsed))
    from slicegrep.commands.search import search

    return search(given)


def _told(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if isinstance(error.filename, (str, bytes)) else reason


def _drop_output() -> None:
    """Have what standard output still holds go nowhere."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _parser() -> Parser:
    """Return the parser of the commands, but for `setup` and a search."""
    parser = Parser(prog="slicegrep")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str) -> Parser:
        return commands.add_parser(name, help=COMMANDS[name], description=f"{COMMANDS[name].capitalize()}.")

    demo = command("demo")
    demo.add_argument(
        "file", nargs="?", default="", help="a large source file (default: one of Python's own)"
    )
    demo.add_argument("--prompt", default="", help="what the session is working on")
    demo.set_defaults(run=_demo)

    show = command("map")
    show.add_argument("file", help="a source file")
    show.add_argument(
        "--json", action="store_true", help="for programs: a list of {symbol, kind, start, end, signature}"
    )
    show.set_defaults(run=_map)

    around = command("enclosing")
    around.add_argument("location", nargs="+", help="FILE:LINE, or FILE:LINE:COLUMN")
    around.add_argument("--json", action="store_true", help="for programs: a row for each location")
    around.set_defaults(run=_enclosing)

    index = command("index")
    _add_index_options(index)
    index.set_defaults(run=_index)

    from slicegrep.commands import mcp as mcp_command
    from slicegrep.commands import serve as serve_command

    served = command("serve")
    serve_command.add_options(served)
    served.set_defaults(run=_serve)

    mcp = command("mcp")
    mcp_command.add_options(mcp)
    mcp.set_defaults(run=_mcp)

    stats = command("stats")
    stats.description = (
        "What was saved, net of what was read again, by project and session. Times are told of pre-read and post-read (the "
        "hooks before and after a Read), annotate (the hook behind a search) and shim (grep and rg in a shell). On a "
        "terminal there is a chart of the net by day, too."
    )
    stats.add_argument("--since", metavar="WHEN", help="36h, 7d, 2w, or a day like 2026-11-30")
    stats.add_argument("--project", default="", metavar="DIR", help="only what was done for this project")
    stats.add_argument("--session", default="", metavar="ID", help="only sessions whose id begins like this")
    stats.add_argument("--json", action="store_true", help="for programs (docs/json.md)")
    stats.set_defaults(run=_stats)

    doctor = command("doctor")
    doctor.add_argument(
        "--json", action="store_true", help="for programs: a list of {check, status, text, mend}"
    )
    doctor.set_defaults(run=_doctor)
    return parser


def _add_index_options(parser: Parser) -> None:
    """Add what `index` takes: here, since its own module loads the index and the graph."""
    add = parser.add_argument
    add(
        "path",
        nargs="?",
        default=".",
        help="a folder; its workspace is the git top level that it is in, else itself",
    )
    add("--remove", action="store_true", help="delete the index and the graph instead")
    add("--scip", metavar="FILE", help="take in a SCIP index file of the folder, for the code graph")
    add("--all", action="store_true", help="name every path that was skipped, not only the first few")
    add("--json", action="store_true", help="for programs (docs/json.md)")


def _demo(parsed: Namespace) -> int:
    from slicegrep.demo import demonstrate

    return demonstrate(parsed.file, parsed.prompt)


def _map(parsed: Namespace) -> int:
    from slicegrep.commands.places import print_map

    return print_map(parsed)


def _enclosing(parsed: Namespace) -> int:
    from slicegrep.commands.places import print_enclosing

    return print_enclosing(parsed)


def _index(parsed: Namespace) -> int:
    from slicegrep.commands.index import print_index

    return print_index(parsed)


def _serve(parsed: Namespace) -> int:
    from slicegrep.commands.serve import serve

    return serve(parsed)


def _mcp(parsed: Namespace) -> int:
    from slicegrep.commands.mcp import serve_mcp

    return serve_mcp(parsed)


def _stats(parsed: Namespace) -> int:
    from slicegrep.commands.stats import print_stats

    return print_stats(parsed)


def _doctor(parsed: Namespace) -> int:
    from slicegrep import doctor

    return doctor.main(["--json"] if parsed.json else [])
