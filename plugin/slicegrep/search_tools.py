"""The search programs: which of their options take a value, and which say what a printed line looks like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass

from slicegrep.shell_words import Word

__all__ = ["TOOLS", "Options", "Tool", "options_of"]

_NO_NAMES = frozenset({"h", "no-filename"})
_NAMES = frozenset({"H", "with-filename"})
_NUMBERS = frozenset({"n", "line-number"})
_RECURSIVE = frozenset({"r", "R", "recursive", "dereference-recursive"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One search program. Options are named without their dashes."""

    short_values: str
    """Letters whose option takes a value, attached or as the next word."""
    long_values: frozenset[str]
    """Long options whose value is the next word when there is no `=`."""
    patterns: frozenset[str] = frozenset({"e", "regexp"})
    """Options whose value is a pattern: with one of them the first operand is a file."""
    instead_of_pattern: frozenset[str] = frozenset({"f", "file"})
    """Options that stand in for the pattern without being one."""
    numbers: frozenset[str] = _NUMBERS
    numbered: bool = False
    """Whether line numbers may come without being asked for (by default, or from a configuration file)."""
    no_names: frozenset[str] = _NO_NAMES
    names: frozenset[str] = _NAMES
    named: bool = False
    """Whether the path stands on each line even when one file was given."""
    columns: frozenset[str] = frozenset()
    headings: frozenset[str] = frozenset()
    recursive: frozenset[str] = _RECURSIVE
    walks: bool = False
    """Whether it searches the working directory when no file is given and nothing is piped in."""


_CONTEXT = ("after-context", "before-context", "context", "max-count")

_GREP = Tool(
    "efmABCdD",
    frozenset(
        {
            "regexp", "file", *_CONTEXT, "directories", "devices", "binary-files", "include", "exclude",
            "exclude-from", "exclude-dir", "label", "group-separator",
        }
    ),
    columns=frozenset({"b", "byte-offset"}),
)  # fmt: skip

_UGREP = Tool(
    "efmABCdDgJKMNOt",
    _GREP.long_values
    | {
        "and", "andnot", "not", "file-extension", "file-magic", "file-type", "filter", "format", "glob", "iglob",
        "ignore-files", "jobs", "max-files", "max-size", "min-size", "neg-regexp", "range", "replace", "separator", "tabs",
    },
    columns=frozenset({"b", "byte-offset", "k", "column-number"}),
    headings=frozenset({"heading", "pretty", "+"}),
    walks=True,
)  # fmt: skip

_RG = Tool(
    "efABCmgtTjMrdE",
    frozenset(
        {
            "regexp", "file", *_CONTEXT, "color", "colors", "context-separator", "dfa-size-limit", "encoding", "engine",
            "field-context-separator", "field-match-separator", "generate", "glob", "hostname-bin", "hyperlink-format",
            "iglob", "ignore-file", "max-columns", "max-depth", "maxdepth", "max-filesize", "path-separator", "pre",
            "pre-glob", "regex-size-limit", "replace", "sort", "sortr", "threads", "type", "type-add", "type-clear", "type-not",
        }
    ),
    instead_of_pattern=frozenset({"f", "file", "files", "type-list"}),
    numbers=_NUMBERS | {"vimgrep", "column", "pretty", "p"},
    numbered=True,
    no_names=frozenset({"I", "no-filename"}),
    names=_NAMES | {"vimgrep"},
    columns=frozenset({"column", "vimgrep", "b", "byte-offset"}),
    headings=frozenset({"heading", "pretty", "p"}),
    recursive=frozenset(),
    walks=True,
)  # fmt: skip

_GIT_GREP = Tool(
    "efmABC",
    frozenset({*_CONTEXT, "max-depth", "threads"}),
    patterns=frozenset({"e"}),
    instead_of_pattern=frozenset({"f"}),
    numbered=True,
    named=True,
    columns=frozenset({"column"}),
    headings=frozenset({"heading"}),
    recursive=frozenset(),
    walks=True,
)

_AG = Tool(
    "ABCGgmpW",
    frozenset(
        {
            "after", "before", "context", "depth", "file-search-regex", "ignore", "ignore-dir", "max-count", "pager",
            "path-to-ignore", "width", "workers",
        }
    ),
    patterns=frozenset(),
    instead_of_pattern=frozenset({"g"}),
    numbered=True,
    no_names=frozenset({"h", "no-filename", "nofilename"}),
    names=frozenset({"H", "filename", "vimgrep"}),
    columns=frozenset({"column", "vimgrep"}),
    headings=frozenset({"heading", "group"}),
    walks=True,
)  # fmt: skip

_ACK = Tool(
    "ABCmt",
    frozenset(
        {
            *_CONTEXT, "color-colno", "color-filename", "color-lineno", "color-match", "files-from", "ignore-dir",
            "ignore-directory", "ignore-file", "match", "noignore-dir", "output", "pager", "type", "type-add", "type-del",
            "type-set", "ackrc",
        }
    ),
    patterns=frozenset({"match"}),
    instead_of_pattern=frozenset({"f", "g"}),
    numbered=True,
    columns=frozenset({"column"}),
    headings=frozenset({"heading", "group"}),
    walks=True,
)  # fmt: skip

TOOLS: dict[str, Tool] = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG,
    "ugrep": _UGREP,
    "ag": _AG,
    "ack": _ACK,
    "git grep": _GIT_GREP,
}
"""Every search program by the name it is called by."""


@dataclass(frozen=True, slots=True)
class Options:
    """The words after a program's name, told apart."""

    given: frozenset[str]
    """The options' names without dashes, one letter each for the short ones."""
    values: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]

    def has(self, names: Iterable[str]) -> bool:
        """Whether any of these options was given."""
        return not self.given.isdisjoint(names)


def options_of(words: Sequence[Word], short_values: str, long_values: frozenset[str]) -> Options:
    """Tell options, their values and operands apart, as getopt does with operands and options mixed."""
    given: set[str] = set()
    values: list[tuple[str, Word]] = []
    operands: list[Word] = []
    waiting = ""
    for at, word in enumerate(words):
        text = word.text
        if waiting:
            values.append((waiting, word))
            waiting = ""
        elif text == "--":
            operands.extend(words[at + 1 :])
            break
        elif text.startswith("--"):
            name, equals, value = text[2:].partition("=")
            given.add(name)
            if equals:
                values.append((name, Word(value, word.literal)))
            elif name in long_values:
                waiting = name
        elif text[:1] == "-" and len(text) > 1:
            waiting = _short(word, short_values, given, values)
        else:
            operands.append(word)
    return Options(frozenset(given), tuple(values), tuple(operands))


def _short(word: Word, short_values: str, given: set[str], values: list[tuple[str, Word]]) -> str:
    """Read a cluster of short options; returns the letter whose value is the next word, or ""."""
    for at, letter in enumerate(word.text[1:], start=2):
        given.add(letter)
        if letter in short_values:
            if at < len(word.text):
                values.append((letter, Word(word.text[at:], word.literal)))
                return ""
            return letter
    return ""
