"""What a session said and did so far, from the hooks' own notes and the client's transcript, made into a focus."""

from __future__ import annotations

import json
import os
from collections.abc import Callable  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.focus import Focus, Said, Wording, focus_of, wording_of
from slicegrep.home import open_plain
from slicegrep.hook.call import Call  # noqa: TC001 (as above)
from slicegrep.hook.recent import RECENT_FILE
from slicegrep.references import find_references, refers_to
from slicegrep.transcript import SessionLog, read_session
from slicegrep.transcript_rows import Rows

__all__ = ["Conversation", "session_focus"]

PROMPT_DECAY = 0.4
"""Of each earlier prompt against the one after it: people go from one matter to the next."""
AGENT_TEXT = 0.3
SUMMARY = 0.2
PATTERN = 0.7
COMMAND = 0.3
EDIT = 0.25
DECAY = 0.8
"""Of each earlier search, edit or output against the one after it."""
PROMPTS = 6
RECENT = 12
REFERENCES_OF_ONE_OUTPUT = 8
"""Past so many lines of one file in one output, each of them says less."""

# The transcript's reader cuts a long prompt in its middle: the beginning tells which it is.
_SAME = 400
_TAIL_BYTES = 200_000
_ESCAPE = "\x1b"
"""Begins a colour, which may stand inside a name."""


_MOST_REFERENCES = 200
"""Of one output."""

References = tuple[tuple[str, int], ...]


class Conversation:
    """What was made of one conversation's texts, so that its next focus makes only what is new.

    It holds no more than a focus is made from: what the last one did not need is forgotten.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self._wordings: dict[tuple[str, bool], Wording] = {}
        self._references: dict[str, References] = {}
        self._last_wordings, self._last_references = self._wordings, self._references

    def begin(self) -> None:
        """Begin a focus."""
        self._last_wordings, self._wordings = self._wordings, {}
        self._last_references, self._references = self._references, {}

    def wording(self, text: str, code: bool) -> Wording:  # noqa: FBT001
        """Return what a text names, as `wording_of` does."""
        key = text, code
        if key not in self._wordings:
            self._wordings[key] = self._last_wordings.get(key) or wording_of(text, code)
        return self._wordings[key]

    def references(self, output: str) -> References:
        """Return the places that an output points to, each once."""
        if output not in self._references:
            known = self._last_references.get(output)
            found = tuple(find_references(output, _MOST_REFERENCES)) if known is None else known
            self._references[output] = found
        return self._references[output]


def session_focus(call: Call, real_path: str, conversation: Conversation | None = None) -> Focus:
    """Weigh what the session is working on, for the file at `real_path`. What cannot be read is left out.

    `conversation` is what was kept of the same session and agent; None makes all of it anew.
    """
    conversation = conversation or Conversation()
    conversation.begin()
    log = read_session(call.transcript, call.agent, rows=conversation.rows)
    recent = [
        row for row in _rows(os.path.join(call.state, RECENT_FILE)) if row.get("agent", "") == call.agent
    ]
    said = [*_prompts(call, log), *_texts(log), *_searches(log, recent), *_edits(log)]
    name = os.path.basename(real_path).rsplit(".", 1)[0]
    lines = _lines(log, recent, real_path, conversation.references)
    return focus_of(said, lines=lines, stem_of_file=name, wording=conversation.wording)


def _prompts(call: Call, log: SessionLog) -> list[Said]:
    """Return the newest prompt first. The transcript may lag behind the hook that saw the prompt itself."""
    texts = list(log.prompts)
    if not call.agent:
        texts += _unwritten(texts, os.path.join(call.state, "prompts"))
    return [Said(text, PROMPT_DECAY**age) for age, text in enumerate(reversed(texts[-PROMPTS:]))]


def _unwritten(known: list[str], path: str) -> list[str]:
    """Return the prompts that were noted after the last one the transcript knows: it holds only the last few."""
    prompts = [prompt for row in _rows(path) for prompt in [row.get("prompt")] if isinstance(prompt, str)]
    starts = [prompt.strip()[:_SAME] for prompt in prompts]
    last = known[-1].strip()[:_SAME] if known else None
    if last is None:
        return prompts
    if last in starts:
        return prompts[len(starts) - starts[::-1].index(last) :]
    return prompts[-1:]


def _texts(log: SessionLog) -> list[Said]:
    texts = [
        Said(text, AGENT_TEXT * DECAY**age) for age, text in enumerate(reversed(log.assistant_texts[-2:]))
    ]
    return [*texts, Said(log.summary, SUMMARY)] if log.summary else texts


def _searches(log: SessionLog, recent: list[dict[str, object]]) -> list[Said]:
    """Patterns and commands, newest first, from both memories; each text once."""
    found: dict[str, float] = {}
    noted = [
        (str(row["kind"]), row["text"])
        for row in recent
        if row.get("kind") in ("pattern", "command") and isinstance(row.get("text"), str)
    ]
    told = [("pattern" if search.tool == "Grep" else "command", search.text) for search in log.searches]
    for one in (noted, told):
        for age, (kind, text) in enumerate(reversed(one[-RECENT:])):
            weight = (PATTERN if kind == "pattern" else COMMAND) * DECAY**age
            found[str(text)] = max(found.get(str(text), 0.0), weight)
    return [Said(text, weight, code=True) for text, weight in found.items()]


def _edits(log: SessionLog) -> list[Said]:
    return [
        Said(f"{edit.old}\n{edit.new}", EDIT * DECAY**age, code=True)
        for age, edit in enumerate(reversed(log.edits[-RECENT:]))
    ]


def _lines(
    log: SessionLog,
    recent: list[dict[str, object]],
    real_path: str,
    references: Callable[[str], References],
) -> list[tuple[int, float]]:
    """Return the lines of this very file that tool output named: the hooks' notes, else the transcript."""
    weights: dict[int, float] = {}
    noted = [
        row["line"]
        for row in recent
        if row.get("kind") == "ref" and _same(row.get("path"), real_path) and isinstance(row.get("line"), int)
    ]
    groups: list[list[int]] = [[line for line in noted[-100:] if isinstance(line, int)]]
    name = os.path.basename(real_path)
    for output in reversed(log.tool_outputs[-RECENT:]):
        found = references(output) if name in output or _ESCAPE in output else ()
        meant = {path for path in {path for path, _ in found} if refers_to(path, real_path)}
        groups.append([line for path, line in found if path in meant])
    for age, group in enumerate(groups):
        lines = set(group)
        share = min(1.0, REFERENCES_OF_ONE_OUTPUT / len(lines)) if lines else 0.0
        for line in lines:
            weights[line] = max(weights.get(line, 0.0), share * DECAY ** max(age - 1, 0))
    return sorted(weights.items())


def _same(noted: object, real_path: str) -> bool:
    """Whether a noted path is the file. One that was printed without its directory (a Java frame) counts by its end."""
    if not isinstance(noted, str):
        return False
    try:
        if os.path.isabs(noted):
            return noted == real_path or os.path.realpath(noted) == real_path
        return refers_to(noted, real_path)
    except ValueError:  # a NUL or half a surrogate pair, printed by some command
        return False


def _rows(path: str) -> list[dict[str, object]]:
    try:
        with open_plain(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError:
        return []
    found = []
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found
