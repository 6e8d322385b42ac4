"""Which shell commands print search hits: the programs they run, the files they name, and the directories they run in."""

from __future__ import annotations

import re
from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass, replace

from slicegrep.search_options import Options, options_of
from slicegrep.search_tools import TOOLS, Tool
from slicegrep.shell_words import Simple, Word, simple_commands

__all__ = ["Place", "SearchCommand", "search_command"]


@dataclass(frozen=True, slots=True)
class Place:
    """The changes of directory around one search. None is one whose target is not known."""

    before: tuple[str | None, ...] = ()
    """Those that the shell kept, up to the search."""
    inside: tuple[str | None, ...] = ()
    """Those of its own subshell, and git's `-C`."""
    after: tuple[str | None, ...] = ()
    """Those that the shell kept, made after it."""


@dataclass(frozen=True, slots=True)
class SearchCommand:
    """What a command that runs a search program says about the lines it prints."""

    operands: tuple[str, ...] | None = None
    """The one file of each search that prints `line:text`; None where such a line could be of any file."""
    numbers: bool = True
    """Whether line numbers can be printed."""
    columns: bool = False
    """Whether a column or byte offset follows the line number."""
    headings: bool = False
    """Whether a file's path stands once, above its lines."""
    places: tuple[Place, ...] = ()
    patterns: tuple[str, ...] = ()
    understood: bool = True
    """False where the shell's syntax was not: only lines that name their file can be trusted then."""


def search_command(command: str, *, powershell: bool = False) -> SearchCommand | None:
    """Read a command line; None where it runs no search program."""
    if not _MENTIONS.search(command):
        return None
    commands = simple_commands(command, powershell=powershell)
    if commands is None:
        return _not_understood(command)
    reader = _Reader(powershell=powershell)
    reader.read(commands, (), 0)
    return reader.answer()


_NAMES = frozenset(name for name in TOOLS if " " not in name)
_MENTIONS = re.compile(r"(?<![\w-])(?:[efu]?grep|rg|ag|ack)(?![\w-])")
_CHANGES = re.compile(
    r"(?:^|[\n;&|({])\s*(?:cd|pushd|Set-Location|sl)\s+(?:-- )?(['\"]?)([^\n'\"|&;()$`*?]{1,1000})\1"
)
_MOST_CHANGES = 8

_RESERVED = frozenset({"!", "if", "then", "elif", "else", "while", "until", "do", "{", "}", "coproc"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")

# Programs that run the program named after their own options: the letters of options with a value, and how many
# operands of their own come first.
_WRAPPERS = {
    "builtin": ("", 0), "busybox": ("", 0), "command": ("", 0), "env": ("uCS", 0), "exec": ("a", 0), "ionice": ("cnp", 0),
    "nice": ("n", 0), "noglob": ("", 0), "nohup": ("", 0), "setsid": ("", 0), "stdbuf": ("ioe", 0), "sudo": ("ugpChDRTU", 0),
    "time": ("fo", 0), "timeout": ("ks", 1),
}  # fmt: skip
_XARGS_VALUES = "aEIdLnPs"
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_DEEPEST_SHELL = 3

_CHANGERS = frozenset({"cd", "chdir", "pushd"})
_POWERSHELL_CHANGERS = _CHANGERS | {"set-location", "sl", "push-location"}
_UNCHANGERS = frozenset({"popd", "pop-location"})

# Programs that number lines by themselves: a `12:text` in such a command's output need not be grep's.
_SILENT = frozenset(
    [
        "cd",
        ":",
        "true",
        "false",
        "test",
        "[",
        "[[",
        "export",
        "set",
        "unset",
        "local",
        "declare",
        "readonly",
        "shopt",
        "alias",
        "trap",
        "umask",
        "ulimit",
        "exit",
        "return",
        "wait",
        "sleep",
        "mkdir",
        "rmdir",
        "rm",
        "cp",
        "mv",
        "ln",
        "touch",
        "chmod",
        "echo",
        "printf",
        "pwd",
        "date",
        "ls",
        "wc",
        "which",
        "type",
        "command",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "!",
        "{",
        "}",
        "function",
        "break",
        "continue",
        "select",
        "in",
        "mktemp",
        "timeout",
    ]
)
_NUMBERING = frozenset(
    {
        "awk",
        "gawk",
        "mawk",
        "nl",
        "node",
        "perl",
        "python",
        "python3",
        "ruby",
        "ssh",
        "docker",
        "select-string",
        "sls",
    }
)


@dataclass(frozen=True, slots=True)
class _Search:
    tool: Tool
    options: Options
    any_file: bool = False
    """Whether the files come from elsewhere (xargs, find)."""
    folders: tuple[str | None, ...] = ()


class _Reader:
    """Collects what the simple commands of one command line say."""

    def __init__(self, *, powershell: bool) -> None:
        self.powershell = powershell
        self.changes: dict[tuple[int, ...], list[str | None]] = {}
        self.places: list[tuple[Place, int]] = []
        self.patterns: list[str] = []
        self.single: list[str] = []
        self.searches = 0
        self.numbers = False
        self.columns = False
        self.headings = False
        self.any_file = False
        self.shells = 0

    def read(self, commands: Sequence[Simple], around: tuple[int, ...], depth: int) -> None:
        for command in commands:
            words = _without_prefix(command.words)
            if not words:
                continue
            if not words[0].literal:
                self.any_file = True
                continue
            name = self._program(words[0].text)
            scope = around + command.scope
            if name in (_POWERSHELL_CHANGERS if self.powershell else _CHANGERS):
                self.changes.setdefault(scope, []).append(_target(name, words[1:]))
            elif name in _UNCHANGERS:
                self.changes.setdefault(scope, []).append(None)
            elif name in _SHELLS and depth < _DEEPEST_SHELL:
                self._inner_shell(words, scope, depth)
            else:
                self._search(name, words, command, scope)

    def answer(self) -> SearchCommand | None:
        if not self.searches:
            return None
        kept = tuple(self.changes.get((), ()))
        places = dict.fromkeys(replace(place, after=kept[at:]) for place, at in self.places)
        operands = None if self.any_file or not self.single else tuple(dict.fromkeys(self.single))
        patterns = tuple(dict.fromkeys(self.patterns))
        return SearchCommand(operands, self.numbers, self.columns, self.headings, tuple(places), patterns)

    def _program(self, text: str) -> str:
        name = text.rpartition("/")[2]
        if self.powershell:
            name = name.rpartition("\\")[2].lower().removesuffix(".exe")
        return name

    def _inner_shell(self, words: Sequence[Word], scope: tuple[int, ...], depth: int) -> None:
        options = options_of(words[1:], "cO", frozenset())
        script = next((value for name, value in options.values if name == "c"), None)
        if script is None and "c" not in options.given:
            return
        commands = simple_commands(script.text) if script is not None and script.literal else None
        if commands is None:
            self.any_file = True
        else:
            self.shells -= 1  # negative: apart from the numbers of this line's own subshells
            self.read(commands, (*scope, self.shells), depth + 1)

    def _search(self, name: str, words: Sequence[Word], command: Simple, scope: tuple[int, ...]) -> None:
        search = _found(name, words)
        if search is None:
            # What another program prints, a make or a `cat -n`, can look like a line of the one searched file.
            self.any_file = self.any_file or name in _NUMBERING or not (name in _SILENT or command.reads_pipe)
            return
        self.searches += 1
        outer = self.changes.get((), [])
        inside = [c for end in range(1, len(scope) + 1) for c in self.changes.get(scope[:end], ())]
        self.places.append((Place(tuple(outer), (*inside, *search.folders)), len(outer)))
        self._lines(search, command)

    def _lines(self, search: _Search, command: Simple) -> None:
        """Note what the search's lines look like, and of which file a line without a path is."""
        tool, options = search.tool, search.options
        patterns = [value for name, value in options.values if name in tool.patterns]
        files = list(options.operands)
        if not patterns and not options.has(tool.instead_of_pattern) and files:
            patterns.append(files.pop(0))
        self.patterns += [word.text for word in patterns if word.literal and word.text]
        self.columns = self.columns or options.has(tool.columns)
        self.headings = self.headings or options.has(tool.headings)
        if not (tool.numbered or options.has(tool.numbers)):
            return
        self.numbers = True
        piped = command.reads_pipe or command.reads_file
        walks = options.has(tool.recursive) or (tool.walks and (tool.named or not piped))
        nameless = options.has(tool.no_names)
        from_input = any(word.text == "-" for word in files) or (not files and not walks)
        if not from_input and (options.has(tool.names) or (tool.named and not nameless)):
            return  # the path stands on each line
        if from_input or search.any_file:
            self.any_file = True
        elif len(files) == 1 and files[0].literal and not (nameless and options.has(tool.recursive)):
            self.single.append(files[0].text)
        elif len(files) == 1 or nameless:
            self.any_file = True


def _without_prefix(words: Sequence[Word]) -> Sequence[Word]:
    """Take reserved words, assignments and wrapping programs off the front."""
    while words:
        text = words[0].text
        name = text.rpartition("/")[2]
        if text in _RESERVED or _ASSIGNMENT.match(text):
            words = words[1:]
        elif words[0].literal and name in _WRAPPERS:
            values, own = _WRAPPERS[name]
            words = _after_options(words[1:], values)[own:]
        else:
            break
    return words


def _after_options(words: Sequence[Word], values: str) -> Sequence[Word]:
    """Skip a wrapper's own options (the first word that is none ends them)."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        at += 1
        if text == "--":
            break
        if len(text) == 2 and text[1] in values:
            at += 1
    return words[at:]


def _found(name: str, words: Sequence[Word]) -> _Search | None:
    """Return the search that the words run, directly or through xargs, find or git."""
    if name == "git":
        return _git_grep(words)
    any_file = False
    if name == "xargs":
        words = _without_prefix(_after_options(words[1:], _XARGS_VALUES))
        any_file = True
    elif name == "find":
        start = next(
            (at for at, word in enumerate(words) if word.text in ("-exec", "-ok", "-execdir")), len(words)
        )
        words = _without_prefix(words[start + 1 :])
        end = next((at for at, word in enumerate(words) if word.text in (";", "+")), len(words))
        words = words[:end]
        any_file = True
    if any_file:
        name = words[0].text.rpartition("/")[2] if words and words[0].literal else ""
    if name not in _NAMES:
        return None
    tool = TOOLS[name]
    return _Search(tool, options_of(words[1:], tool.short_values, tool.long_values), any_file)


_GIT_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)


def _git_grep(words: Sequence[Word]) -> _Search | None:
    folders: list[str | None] = []
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        at += 1
        if text in _GIT_VALUES and at < len(words):
            if text == "-C":
                folders.append(words[at].text if words[at].literal else None)
            at += 1
    if at >= len(words) or words[at].text != "grep":
        return None
    tool = TOOLS["git grep"]
    options = options_of(words[at + 1 :], tool.short_values, tool.long_values)
    if options.has({"full-name"}):
        folders.append(None)  # relative to the top level, wherever that is
    return _Search(tool, options, folders=tuple(folders))


def _target(name: str, words: Sequence[Word]) -> str | None:
    """Where a `cd` goes: "~" for home, None where that is not known."""
    operands = [word for word in words if word.text in ("-", "--") or not word.text.startswith("-")]
    operands = [word for word in operands if word.text != "--"]
    if not operands:
        return "~" if name == "cd" else None
    first = operands[0]
    return None if not first.literal or first.text in ("-", "") or first.text[0] == "+" else first.text


def _not_understood(command: str) -> SearchCommand:
    changes = [match[2].strip() for match in _CHANGES.finditer(command)][:_MOST_CHANGES]
    places = (Place(), *(Place(inside=(change,)) for change in changes))
    return SearchCommand(headings="--heading" in command, places=places, understood=False)
