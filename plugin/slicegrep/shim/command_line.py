"""What the words behind grep or rg say about the lines that will be printed: exactly, or not at all."""

from __future__ import annotations

import os
import stat

from slicegrep.search_tools import TOOLS, Tool

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms, collections.abc 2
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Search", "plain_search"]

_COLORS = frozenset({"color", "colour"})
_COLORED = frozenset({"always", "yes", "force", "ansi"})
_NEVER = frozenset({"never", "no", "none"})


class Search:
    """A search of which each match line is `path:line:text`, or `line:text` of one file."""

    def __init__(self, searched: Sequence[str], *, named: bool, follows: bool) -> None:
        """Keep what is known."""
        self.searched = searched
        """The files and folders that are searched, at least one."""
        self.operand = None if named else searched[0]
        """The file that a line `12:text` is of; None where each line names its own."""
        self.follows = follows
        """Whether it follows links that lead out of the folders."""

    @property
    def folder(self) -> str:
        """Where the first thing that is searched lies."""
        first = self.searched[0]
        return first if os.path.isdir(first) else os.path.dirname(first) or "."


def plain_search(
    name: str, words: Sequence[str], environment: Mapping[str, str], *, terminal: bool
) -> Search | None:
    """Read the words that follow `name` (grep or rg); None where the lines are of another shape, or where it is not certain.

    `terminal` says that standard output is one. Looks at the file system for what the one operand is.
    """
    tool = TOOLS[name]
    if name == "rg":
        configured = _configured(words, environment)
        if configured is None:
            return None
        words = [*configured, *words]
    elif environment.get("GREP_OPTIONS"):  # BSD's grep, and GNU's before 3.6, take more options from there
        return None
    read = _read(tool, words, mixed=name == "rg" or "POSIXLY_CORRECT" not in environment, whole=name == "rg")
    if read is None:
        return None
    options, operands = read
    if not _numbered_lines(tool, options) or not _uncolored(name, options, terminal=terminal):
        return None
    if not any(option in tool.patterns or option in tool.instead_of_pattern for option, _ in options):
        if not operands:
            return None
        operands = operands[1:]
    if "-" in operands:
        return None
    return _lines_of(tool, options, operands)


def _numbered_lines(tool: Tool, options: Sequence[tuple[str, str]]) -> bool:
    """Whether lines are printed, each with its number, and nothing else."""
    numbered = heading = False
    for option, _ in options:
        if option in tool.other or option in tool.columns:
            return False
        if option in tool.headings:
            heading = True
        elif option == "no-heading":
            heading = False
        if option in tool.numbers:
            numbered = True
        elif option in tool.no_numbers:
            numbered = False
    return numbered and not heading


def _uncolored(name: str, options: Sequence[tuple[str, str]], *, terminal: bool) -> bool:
    """Whether no colours come, and, on a terminal, no heading either: rg does both there unless it is told not to."""
    when = "auto" if name == "rg" else "never"
    told = False
    for option, value in options:
        if option in _COLORS:
            when = value or "auto"
        elif option == "no-heading":
            told = True
    if not terminal:
        return when not in _COLORED
    return when in _NEVER and (told or name != "rg")


def _lines_of(tool: Tool, options: Sequence[tuple[str, str]], operands: Sequence[str]) -> Search | None:
    """Tell whose lines they are, by what is searched and which of -h and -H came last."""
    named = recursive = None
    for option, value in options:
        if option in tool.names:
            named = True
        elif option in tool.no_names:
            named = False
        if option in tool.recursive:
            recursive = True
        elif option in ("d", "directories"):
            recursive = "recurse".startswith(value) and len(value) > len("re")  # less could be `read`
    if operands:
        kind = _kind(operands[0])
    else:
        piped = any(value == "-" for option, value in options if option in tool.instead_of_pattern)
        kind = _input_or_folder(tool, recursive=bool(recursive), patterns_piped=piped)
    follows = any(option in tool.following for option, _ in options)
    if len(operands) > 1:
        return Search(operands, named=True, follows=follows) if named is not False else None
    if kind == "file":
        return Search(operands, named=bool(named), follows=follows)
    if kind == "folder" and (recursive or tool.walks) and named is not False:
        return Search(operands or ["."], named=True, follows=follows)
    return None


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else ""


def _input_or_folder(tool: Tool, *, recursive: bool, patterns_piped: bool) -> str:
    """Without operands grep reads its input unless it recurses; rg reads it where something can be in it."""
    if recursive:
        return "folder"
    if not tool.walks or patterns_piped:
        return ""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return "folder"
    return "" if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else "folder"


def _read(
    tool: Tool, words: Sequence[str], *, mixed: bool, whole: bool
) -> tuple[list[tuple[str, str]], list[str]] | None:
    """Tell options, values and operands apart, in their order; None at an option that the tool is not known to have.

    `mixed`: options may follow operands. `whole`: long options are not abbreviated.
    """
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--" or (operands and not mixed):
            operands += words[at if word == "--" else at - 1 :]
            break
        if word[:1] != "-" or word == "-":
            operands.append(word)
            continue
        if word[:2] == "--":
            name, equals, value = word[2:].partition("=")
            known = _long(tool, name, whole=whole)
            if known is None or (equals and known in tool.long_flags and known not in _COLORS):
                return None
            found, waiting = [(known, value)], not equals and known in tool.long_values
        else:
            cluster = _cluster(tool, word[1:])
            if cluster is None:
                return None
            found, waiting = cluster
        if waiting:
            if at == len(words):
                return None
            found[-1] = (found[-1][0], words[at])
            at += 1
        options += found
    return options, operands


def _long(tool: Tool, name: str, *, whole: bool) -> str | None:
    """Return the full name of a long option; None where it is unknown or could be several."""
    if name in tool.long_values or name in tool.long_flags:
        return name
    if whole or not name:
        return None
    fitting = [full for full in (*tool.long_values, *tool.long_flags) if full.startswith(name)]
    return fitting[0] if len(fitting) == 1 else None


def _cluster(tool: Tool, letters: str) -> tuple[list[tuple[str, str]], bool] | None:
    """Read short options that stand together; the second value says that the last one's value is the next word."""
    found: list[tuple[str, str]] = []
    for at, letter in enumerate(letters):
        if letter in tool.short_values:
            found.append((letter, letters[at + 1 :].removeprefix("=") if tool.walks else letters[at + 1 :]))
            return found, at + 1 == len(letters)
        if letter not in tool.short_flags:
            return None
        found.append((letter, ""))
    return found, False


def _configured(words: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """Return the arguments of rg's configuration file: a line each, without blank lines and comments.

    None where only rg can read it: a pipe would be empty afterwards.
    """
    path = environment.get("RIPGREP_CONFIG_PATH")
    if not path or "--no-config" in words or not os.path.exists(path):
        return []
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return []
    return [line for line in lines if line and line[0] != "#"]
