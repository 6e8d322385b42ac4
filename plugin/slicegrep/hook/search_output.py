"""PostToolUse of Grep, Bash and PowerShell: the payload turned into the answer, and into what to remember of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass

from slicegrep.annotate import ARROW, Annotated, DefinitionsOf, Row, annotate, told_name
from slicegrep.client_version import REPLACES_OUTPUT, client_version
from slicegrep.home import home_folder
from slicegrep.references import find_references
from slicegrep.search_command import SearchCommand, search_command
from slicegrep.search_roots import search_roots
from slicegrep.settings import Settings  # noqa: TC001 (as above)
from slicegrep.shown import imitates_frame, printable, utf16_units
from slicegrep.types import Source, Symbol  # noqa: TC001 (as above)

TYPE_CHECKING = False  # as above
if TYPE_CHECKING:
    from slicegrep.definitions import OutlineOf
    from slicegrep.source import SourceOf

__all__ = ["Outcome", "answer", "outcome", "remember"]

# UTF-16 code units of a result past which the client shows a 2 kB preview of it instead: 30,000 for Bash and 20,000
# for Grep, measured in 2.1.332 and 2.1.100. The margin is for what the client itself adds.
_MOST_BASH = 29_000
_MOST_GREP = 19_000
# The client's cap on an additionalContext is 10,000 UTF-16 code units.
_MOST_CONTEXT = 9_500
_UNBOUNDED = 1 << 40

_RESET = "Shell cwd was reset to"
_SHELLS = {"Bash": False, "PowerShell": True}

_MOST_REFERENCES = 200
_MOST_OUTPUT = 200_000
_MOST_PATTERNS = 10
_MOST_TEXT = 300
_BARE = re.compile(r"^(\d{1,7}):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one payload."""

    answer: dict[str, object] | None = None
    """The hook's JSON; None where the output stays as it is."""
    hits: int = 0
    """Match lines that a file was verified to hold."""
    annotated: int = 0
    """Of them, those whose definition the model is told."""
    late: bool = False
    """Whether the time ran out."""


@dataclass(frozen=True, slots=True)
class _Searched:
    """The output of a search, and what is known of how it was made."""

    response: Mapping[str, object]
    key: str
    text: str
    label: str
    roots: Sequence[str]
    command: SearchCommand
    max_length: int


def answer(
    payload: Mapping[str, object], settings: Settings, environment: Mapping[str, str]
) -> dict[str, object] | None:
    """Return the hook's JSON for a PostToolUse payload, or None where the output stays as it is.

    Raises what reading and parsing the files raises; the caller answers nothing then.
    """
    return outcome(payload, settings, environment).answer


def outcome(
    payload: Mapping[str, object],
    settings: Settings,
    environment: Mapping[str, str],
    outline_of: OutlineOf | None = None,
    source_of: SourceOf | None = None,
) -> Outcome:
    """Return the answer with the counts for the ledger. The time limit runs from this call on.

    Files that no index holds are parsed by `outline_of` (None: `outline`), sources are made by `source_of` (None: that of `source`).
    """
    deadline = time.monotonic() + settings.annotate_timeout_ms / 1000
    searched = _searched(payload, environment) if settings.annotate_on else None
    if searched is None:
        return Outcome()
    replaces = _replaces_output(payload)
    done = annotate(
        searched.text,
        roots=searched.roots,
        operands=searched.command.operands,
        columns=searched.command.columns,
        headings=searched.command.headings,
        definitions_of=_definitions_until(deadline, searched.roots, environment, outline_of),
        max_length=searched.max_length if replaces else _UNBOUNDED,
        max_bytes=settings.max_bytes,
        deadline=deadline,
        source_of=source_of,
    )
    block = _related(done, environment, deadline) if settings.annotate_graph_on else ""
    if replaces:
        return _replaced(searched, done, block)
    return _beside(searched, done, block)


def remember(payload: Mapping[str, object]) -> list[dict[str, object]]:
    """Return what the session's focus should know of a tool call: rows of `kind` pattern, command or ref.

    Rows carry `agent` (the agent's id, "" for the session itself) and `text`, or `path` and `line` (1-based). Paths
    are absolute where the file exists, else as printed (`com/acme/Foo.java`). PostToolUseFailure payloads serve too:
    a failing test run ends in one.
    """
    given = _mapping(payload.get("tool_input"))
    tool = _text(payload.get("tool_name"))
    command = _text(given.get("command")) if tool in _SHELLS else ""
    search = search_command(command, powershell=_SHELLS[tool]) if command else None
    pattern = _text(given.get("pattern")) if tool == "Grep" else ""
    patterns = (pattern,) if pattern else search.patterns if search else ()
    agent = _text(payload.get("agent_id"))
    rows: list[dict[str, object]] = [
        {"kind": "pattern", "text": text[:_MOST_TEXT], "agent": agent} for text in patterns[:_MOST_PATTERNS]
    ]
    if command:
        rows.append({"kind": "command", "text": command[:_MOST_TEXT], "agent": agent})
    operand = _grep_operand(payload) if pattern else _only(search)
    roots = _roots(payload, search or SearchCommand(), {})
    rows += [
        {"kind": "ref", "path": path, "line": line, "agent": agent}
        for path, line in _references(_output(payload), operand, roots)
    ]
    return rows


def _searched(payload: Mapping[str, object], environment: Mapping[str, str]) -> _Searched | None:
    """Return the search that a payload tells of, or None where it is none, or its output was cut already."""
    response = _mapping(payload.get("tool_response"))
    given = _mapping(payload.get("tool_input"))
    tool = _text(payload.get("tool_name"))
    if payload.get("hook_event_name", "PostToolUse") != "PostToolUse":
        return None
    if tool == "Grep":
        text = _text(response.get("content"))
        if response.get("mode") != "content" or not text or given.get("-n") is False:
            return None
        operand = _grep_operand(payload)
        command = SearchCommand(operands=(operand,) if operand else None)
        label = f"Grep {_text(given.get('pattern'))}"
        return _Searched(
            response, "content", text, label, _roots(payload, command, environment), command, _MOST_GREP
        )
    if tool not in _SHELLS:
        return None
    text = _text(response.get("stdout"))
    if not text or response.get("persistedOutputPath") or response.get("isImage"):
        return None
    line = _text(given.get("command"))
    found = search_command(line, powershell=_SHELLS[tool])
    if found is None or not found.numbers:
        return None
    room = _MOST_BASH - utf16_units(_text(response.get("stderr")))
    return _Searched(response, "stdout", text, line, _roots(payload, found, environment), found, room)


def _related(done: Annotated, environment: Mapping[str, str], deadline: float) -> str:
    """Return the graph's block for what was annotated, in the workspace of the first hit, without its last LF."""
    from slicegrep.index.place import indexed_workspace  # noqa: PLC0415 (off by default)
    from slicegrep.related import MOST_EACH, MOST_FUNCTIONS, functions_of, local_block  # noqa: PLC0415

    functions = functions_of(done.rows, MOST_FUNCTIONS)
    if not functions:
        return ""
    home = home_folder(environment)
    top = indexed_workspace(os.path.dirname(functions[0].file), home)
    return local_block(functions, top, home, MOST_EACH, deadline).rstrip("\n")


def _replaced(searched: _Searched, done: Annotated, block: str) -> Outcome:
    text = f"{done.text}\n{block}" if block else done.text
    if utf16_units(text) >= searched.max_length:
        text = done.text
    changed = {**searched.response, searched.key: text} if done.annotated else None
    said = _specific("updatedToolOutput", changed) if changed is not None else None
    return Outcome(said, done.hits, done.annotated, done.late)


def _beside(searched: _Searched, done: Annotated, block: str) -> Outcome:
    """Tell the definitions in a text of their own, for clients that let no hook change a result."""
    label = printable(" ".join(searched.label[:100].split()))
    lines = [f"slicegrep: the definitions around the hits of `{label}` (path:line: ⟵ name start-end)"]
    room = _MOST_CONTEXT - utf16_units(lines[0])
    for row in done.rows:
        line = _context_line(row)
        room -= utf16_units(line) + 1
        if room <= 0:
            break
        lines.append(line)
    told = len(lines) - 1
    if block and utf16_units(block) + 1 < room:
        lines.append(block)
    text = "\n".join(lines)
    if imitates_frame(text):  # a file's name can be any text
        return Outcome(None, done.hits, 0, done.late)
    said = _specific("additionalContext", text) if told else None
    return Outcome(said, done.hits, told, done.late)


def _context_line(row: Row) -> str:
    symbol = row.symbol
    return f"{printable(row.path)}:{row.line}:{ARROW}{told_name(symbol)} {symbol.start}-{symbol.end}"


def _specific(key: str, value: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", key: value}}


def _replaces_output(payload: Mapping[str, object]) -> bool:
    """Whether this client lets a hook replace a result; when its transcript does not tell, `prompt_id` does.

    2.1.332's payloads have it, 2.1.100's have not. A client of which nothing is known gets a text of its own: that
    works in every version.
    """
    version = client_version(_text(payload.get("transcript_path")))
    return version >= REPLACES_OUTPUT if version is not None else "prompt_id" in payload


def _definitions_until(
    deadline: float, roots: Sequence[str], environment: Mapping[str, str], outline_of: OutlineOf | None
) -> DefinitionsOf:
    """Make the lookup of definitions: from the index, else by the parser, which is stopped at the deadline."""

    def definitions_of(batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
        from slicegrep.definitions import DefinitionsUntil  # noqa: PLC0415 (most searches hit no source code)

        return DefinitionsUntil(roots, home_folder(environment), deadline, outline_of)(batch)

    return definitions_of


def _roots(
    payload: Mapping[str, object], command: SearchCommand, environment: Mapping[str, str]
) -> list[str]:
    cwd = _text(payload.get("cwd"))
    if not os.path.isabs(cwd):
        return []
    project = environment.get("CLAUDE_PROJECT_DIR", "")
    known = [project] if os.path.isabs(project) else []
    stderr = _text(_mapping(payload.get("tool_response")).get("stderr"))
    return search_roots(command, cwd, known=known, reset=_RESET in stderr)


def _grep_operand(payload: Mapping[str, object]) -> str:
    """Return the file that the Grep tool was pointed at, "" where it was a directory or none."""
    path = _text(_mapping(payload.get("tool_input")).get("path"))
    file = os.path.join(_text(payload.get("cwd")), os.path.expanduser(path))
    return file if path and _is_file(file) else ""


def _only(search: SearchCommand | None) -> str:
    operands = search.operands if search is not None else None
    return operands[0] if operands and len(operands) == 1 else ""


def _output(payload: Mapping[str, object]) -> str:
    response = payload.get("tool_response")
    parts = [response, payload.get("error")]
    if isinstance(response, dict):
        parts += [response.get("stdout"), response.get("content"), response.get("stderr")]
    return "\n".join(part for part in parts if isinstance(part, str))[:_MOST_OUTPUT]


def _references(text: str, operand: str, roots: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Return up to 200 places: the numbered lines of the one file searched, then those that name their file."""
    found: dict[tuple[str, int], None] = {}
    whole: dict[str, str] = {}
    if operand:
        for match in _BARE.finditer(text):
            found[operand, int(match[1])] = None
            if len(found) == _MOST_REFERENCES:
                break
    found.update(dict.fromkeys(find_references(text, _MOST_REFERENCES)))
    for path, line in list(found)[:_MOST_REFERENCES]:
        if path not in whole:
            files = (os.path.normpath(os.path.join(root, os.path.expanduser(path))) for root in roots)
            whole[path] = next(filter(_is_file, files), path)
        yield whole[path], line


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in a printed path
        return False


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
