"""`slicegrep PATH PATTERN`: the words of a search, and its answer as text, for a terminal or as JSON."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from slicegrep.commands import COMMANDS
from slicegrep.commands.parser import Parser, UsageError, whole_number
from slicegrep.terminal import progress, show, visible, wants_colour, write

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from slicegrep.result import Result

__all__ = ["search"]

LINES = 40
"""Lines before and after a match, where the boundary is a window."""
MOST_LINES = 1_000_000
BUDGET = 2000
MOST_BUDGET = 10_000_000
"""Of lines and tokens: what is larger is a slip of the hand."""

_USAGE = """slicegrep PATH PATTERN [BEFORE] [AFTER] [OPTIONS]
       slicegrep COMMAND ..."""

_ABOUT = f"""\
The slices of PATH that answer PATTERN, best first, inside a budget of tokens.
What matches and is not shown is listed, and so is what was not found.

  PATH          a file, or a folder with all in it that .gitignore does not hide
  PATTERN       a regular expression, without regard to case, its alternatives
                joined by |; or plain English of three words or more
  BEFORE AFTER  lines around a match ({LINES} {LINES}); not with --boundary fn"""

_COMMANDS = "\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items())
_AFTER = f"""\
commands (slicegrep COMMAND --help says more; a path of such a name: ./map)
{_COMMANDS}

examples:
  slicegrep src 'def echo|class Echo' --budget 1500
  slicegrep . 'where are sessions closed' --type py
  slicegrep src/app.py url_for 5 20 --boundary none

exit status: 0 something matched (or a symbol of that name is defined),
1 nothing did, 2 an error"""

_PASSED_ON = (
    "before",
    "after",
    "budget",
    "boundary",
    "objective",
    "dedupe",
    "recursive",
    "glob",
    "type",
    "no_ignore",
    "hidden",
    "case_sensitive",
    "history",
)
"""Options that `focused_read` takes by the same name."""


def search(words: Sequence[str]) -> int:
    """Run a search. 0 where something matched, else 1. Raises ValueError and OSError, with what to do about them."""
    parsed = _parsed(words)
    from slicegrep.search import focused_read  # noqa: PLC0415 (--help and a slip of the hand need none of it)

    with progress("indexing file") as report:
        result = focused_read(
            parsed.path,
            parsed.pattern,
            progress=report,
            **{name: getattr(parsed, name) for name in _PASSED_ON},
        )
    if parsed.json:
        import json  # noqa: PLC0415

        write(json.dumps(result.to_dict(), indent=1))
    else:
        _print(result, parsed.color, page=parsed.pager)
    return 0 if _is_answered(result) else 1


def _print(result: Result, colour: str, *, page: bool) -> None:
    screen = sys.stdout.isatty()
    if wants_colour(colour, os.environ):
        from slicegrep.highlight import painted  # noqa: PLC0415 (only what a person looks at is painted)

        text = painted(result)
    else:
        text = visible(result.render()) if screen else result.render()
    if screen:
        show(text, page=page, environment=os.environ)
    else:
        write(text)


def _is_answered(result: Result) -> bool:
    """Whether something matched: of a precise search a pattern or a symbol's name, of a vague one its words."""
    reasons = [*(one.rank_reason for one in result.chunks), *(one.rank_reason for one in result.omitted)]
    if result.route == "vague" or result.coverage_of == "lines":
        return bool(reasons)
    return any("exact_symbol" in one.split(", ") for one in reasons)


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options, with `path`, `pattern`, `before` and `after`. Raises UsageError."""
    options, rest = _divided(words)
    parsed, loose = _parser().parse_known_args(options)
    for word in loose:
        if word.startswith("-") and not word[1:].isdecimal():
            raise UsageError(
                f"there is no option {word.split('=')[0]} (see slicegrep --help); "
                "a pattern that begins with - goes after -e"
            )
    named = [*loose, *rest]
    if not named or not named[0]:
        raise UsageError("name a path and a pattern: slicegrep PATH PATTERN (see slicegrep --help)")
    parsed.path = named.pop(0)
    if parsed.regexp:
        parsed.pattern = "|".join(parsed.regexp)
    elif named:
        parsed.pattern = named.pop(0)
    _check(parsed.path, getattr(parsed, "pattern", None))
    for name in ("before", "after"):
        if named:
            setattr(parsed, name, _lines(named.pop(0), name))
        elif getattr(parsed, name) is None:
            setattr(parsed, name, LINES if parsed.context is None else parsed.context)
    if named:
        raise UsageError(f"{named[0]!r} is one word too many: quote a pattern of several words")
    return parsed


def _divided(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words up to `--`, each -e joined with its pattern (which may begin with `-`), and those after it."""
    options: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            break
        if word in ("-e", "--regexp"):
            pattern = next(waiting, None)
            word = "-e" if pattern is None else f"--regexp={pattern}"  # noqa: PLW2901
        options.append(word)
    return options, list(waiting)


def _lines(word: str, name: str) -> int:
    try:
        return whole_number(word, 0, MOST_LINES, f"{name} (lines around a match)")
    except UsageError as error:
        raise UsageError(f"{error}; quote a pattern of several words") from None


def _one_of(choices: Collection[str], word: str, option: str) -> str:
    if word not in choices:
        raise UsageError(f"{option} is one of {', '.join(choices)}, not {word[:40]!r}")
    return word


def _check(path: str, pattern: str | None) -> None:
    """Raise UsageError where a slip of the hand shows in what is, and is not, on disk."""
    if os.path.lexists(path):
        if pattern is None:
            raise UsageError(f"a pattern is missing: slicegrep {path} PATTERN")
        return
    if pattern is not None and os.path.lexists(pattern):
        raise UsageError(f"{path}: no such file or folder; the path comes first: slicegrep {pattern} {path}")
    hint = "" if pattern is not None else f"; a command is one of {', '.join(COMMANDS)}"
    raise UsageError(f"{path}: no such file or folder{hint}")


class _Version(argparse.Action):
    """Prints the version, which is read only then: in a pip install that takes longer than all other options."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from slicegrep import __version__  # noqa: PLC0415

        write(f"slicegrep {__version__}")
        parser.exit()


def _parser() -> Parser:
    parser = Parser(
        prog="slicegrep",
        usage=_USAGE,
        description=_ABOUT,
        epilog=_AFTER,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, max_help_position=27, width=80
        ),
        add_help=False,
    )
    _add_what(parser.add_argument_group("what is searched"))
    _add_how(parser.add_argument_group("what is returned"))
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="one object, for programs (docs/json.md)")
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        metavar="WHEN",
        help="auto (on a terminal), always or never",
    )
    add("--no-pager", dest="pager", action="store_false", help="do not page what is longer than the screen")
    add("--version", action=_Version, nargs=0, help="print the version")
    add("-h", "--help", action="help", help="print this")
    return parser


def _add_what(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-e",
        "--regexp",
        action="append",
        metavar="PATTERN",
        help="in place of PATTERN, where it begins with -; repeatable",
    )
    add(
        "-i",
        "--ignore-case",
        dest="case_sensitive",
        action="store_false",
        default=False,
        help="as is the default",
    )
    add(
        "-s",
        "--case-sensitive",
        dest="case_sensitive",
        action="store_true",
        help="upper and lower case differ",
    )
    add("-r", "--recursive", action="store_true", help="where PATH is a file: the folder that it is in")
    add(
        "-g",
        "--glob",
        action="append",
        default=[],
        metavar="GLOB",
        help="only files that fit, or with !GLOB do not; repeatable",
    )
    add(
        "-t",
        "--type",
        action="append",
        default=[],
        metavar="NAME",
        help="only files of this type, as py or rust; repeatable",
    )
    add("--no-ignore", action="store_true", help="also what .gitignore and the like hide")
    add("--hidden", action="store_true", help="also what has a name that begins with a dot")
    add(
        "-n", "--line-number", action="store_true", help=argparse.SUPPRESS
    )  # a habit: lines are always numbered


def _add_how(group: argparse._ArgumentGroup) -> None:
    def lines(word: str) -> int:
        return _lines(word, "N")

    # What may be said is the search's own to know; who gives such an option waits for its import in any case.
    def tokens(word: str) -> int:
        from slicegrep.search import LEAST_BUDGET  # noqa: PLC0415

        return whole_number(word, LEAST_BUDGET, MOST_BUDGET, "a budget (of tokens)")

    def boundary(word: str) -> str:
        from slicegrep.search import BOUNDARIES  # noqa: PLC0415

        return _one_of(BOUNDARIES, word, "--boundary")

    def objective(word: str) -> str:
        from slicegrep.search import OBJECTIVES  # noqa: PLC0415

        return _one_of(OBJECTIVES, word, "--objective")

    add = group.add_argument
    add("--budget", type=tokens, default=BUDGET, metavar="N", help=f"tokens of the whole answer ({BUDGET})")
    add(
        "--boundary",
        type=boundary,
        default="auto",
        metavar="KIND",
        help="how far a slice reaches. none: BEFORE and AFTER; auto (the default): the same, within the definition; "
        "fn: the whole definition",
    )
    add(
        "--objective",
        type=objective,
        default="auto",
        metavar="KIND",
        help="what is kept a place for: def+caller, def+test, auto (all three), or single (the best slice alone)",
    )
    add("--no-dedupe", dest="dedupe", action="store_false", help="keep slices that nearly repeat another")
    add("--history", action="store_true", help="files that git's log saw changed lately count more")
    add("-B", "--before", type=lines, metavar="N", help="as BEFORE")
    add("-A", "--after", type=lines, metavar="N", help="as AFTER")
    add("-C", "--context", type=lines, metavar="N", help="as both")
