"""A trial of the hooks: one made-up read through the real launcher, in a folder that goes away again."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slicegrep.children import clean_environment
from slicegrep.programs import on_path
from slicegrep.source import source_of

if TYPE_CHECKING:
    from slicegrep.pinned import Place

__all__ = ["Interception", "Trial", "TrialError", "borrowed_home", "intercept", "try_hooks"]

_SECONDS = 20
_FUNCTIONS = 150  # well over the 2,000 tokens from which a read is intercepted
_ASKED = 42
_FUNCTION = '''
def step_{0}(values: list[int]) -> int:
    """Return the total of step {0}: each value by its weight, and its place."""
    total = 0
    for place, value in enumerate(values):
        total += value * {0} + place
    return total

'''


@dataclass(frozen=True)
class Trial:
    """How it went: what was done in one line, or what went wrong (`trouble`)."""

    text: str = ""
    trouble: str = ""


class TrialError(Exception):
    """A phase did not answer as it must; the message says how."""


def try_hooks(launcher: Path, place: Place) -> Trial:
    """Let the launcher intercept a read of a file made for it, in both phases, as the client would.

    Its session, state and ledger are in a temporary folder: nothing of it counts in `stats`.
    """
    shell = on_path("sh")
    if shell is None:
        return Trial(
            trouble="there is no sh on PATH; Claude Code runs hooks with it (on Windows: Git for Windows)"
        )
    with tempfile.TemporaryDirectory(prefix="slicegrep-trial-") as name:
        folder = Path(name).resolve()
        try:
            return _play([shell, str(launcher)], folder, borrowed_home(folder, place))
        except (TrialError, OSError, subprocess.TimeoutExpired) as error:
            return Trial(trouble=f"{error}{_cause(folder / 'home')}")


def borrowed_home(folder: Path, place: Place) -> Path:
    """Return a home folder with the real environment; the real one where links cannot be made.

    Without a vocabulary nothing is counted once a hook has answered: that would be written while the folder goes away.
    """
    home = folder / "home"
    home.mkdir(mode=0o700)
    for part in ("env", "pyc"):
        if (place.home / part).is_dir():
            try:
                (home / part).symlink_to(place.home / part, target_is_directory=True)
            except OSError:  # Windows, without the right to
                return place.home
    return home


@dataclass(frozen=True)
class Interception:
    """What the model would have received for one whole-file read: a range of the file (1-based), and two texts."""

    start: int
    lines: tuple[str, ...]
    total: int
    notice: str
    delivery: str
    seconds: tuple[float, float]
    """Of the two hooks, their processes' start included."""


def _play(launcher: list[str], folder: Path, home: Path) -> Trial:
    source = folder / "steps.py"
    source.write_text(
        "".join(_FUNCTION.format(number) for number in range(_FUNCTIONS)), "utf-8", newline="\n"
    )
    done = intercept(launcher, home, folder, source, f"Why is the total of step_{_ASKED} wrong?")
    before, after = done.seconds
    return Trial(
        f"a read of {done.total} lines became {len(done.lines)} lines, a map and slices "
        f"({before * 1000:.0f} ms before it, {after * 1000:.0f} ms after, without the resident engine)"
    )


def intercept(
    launcher: list[str], home: Path, folder: Path, source: Path, prompt: str, *, knobs: bool = False
) -> Interception:
    """Play a session in which `prompt` was asked and `source` is read whole, as the client calls the hooks.

    `folder` takes the session's transcript. `knobs`: with the caller's own settings. Raises TrialError where a phase
    does not answer as it must.
    """
    content = source_of(str(source), source.read_bytes()).lines
    transcript = folder / "session.jsonl"
    question = {"role": "user", "content": prompt}
    transcript.write_text(json.dumps({"type": "user", "message": question}) + "\n", "utf-8")
    payload: dict[str, Any] = {
        "session_id": f"slicegrep-trial-{os.getpid()}",
        "transcript_path": str(transcript),
        "cwd": str(source.parent),
        "prompt_id": "trial",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": str(source)},
        "tool_use_id": f"toolu_trial_{os.getpid()}",
    }
    before, first = _call(launcher, "pre-read", payload, home, knobs=knobs)
    narrowed = first.get("updatedInput") or {}
    offset, limit = narrowed.get("offset"), narrowed.get("limit")
    if narrowed.get("file_path") != str(source) or not isinstance(offset, int) or not isinstance(limit, int):
        raise TrialError("the read of a large file was not narrowed")
    shown = content[offset - 1 : offset - 1 + limit]
    result = {
        "filePath": str(source),
        "content": "\n".join(shown),
        "numLines": len(shown),
        "startLine": offset,
        "totalLines": len(content) + 1,
    }
    payload |= {
        "hook_event_name": "PostToolUse",
        "tool_input": narrowed,
        "tool_response": {"type": "text", "file": result},
    }
    after, second = _call(launcher, "post-read", payload, home, knobs=knobs)
    text = str(second.get("additionalContext"))
    if "slicegrep" not in text:
        raise TrialError("the read was narrowed, but its map did not come")
    return Interception(
        offset, shown, len(content), str(first.get("additionalContext")), text, (before, after)
    )


def _call(
    launcher: list[str], event: str, payload: dict[str, Any], home: Path, *, knobs: bool
) -> tuple[float, dict[str, Any]]:
    environment = {n: v for n, v in clean_environment().items() if knobs or not n.startswith("SLICEGREP_")}
    started = time.perf_counter()
    done = subprocess.run(
        [*launcher, event],
        input=json.dumps(payload),
        env={**environment, "SLICEGREP_HOME": str(home), "SLICEGREP_RESIDENT": "off"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    seconds = time.perf_counter() - started
    if not done.stdout.strip():
        raise TrialError(f"{event} gave no answer (exit {done.returncode}, {seconds:.1f} s)")
    try:
        answer = json.loads(done.stdout)["hookSpecificOutput"]
    except (ValueError, KeyError, TypeError) as error:
        raise TrialError(f"{event} answered {done.stdout[:80]!r}") from error
    return seconds, answer if isinstance(answer, dict) else {}


def _cause(home: Path) -> str:
    """Return what the trial's own ledger says of it, when it says anything."""
    rows = [line for path in home.glob("ledger/*.jsonl") for line in path.read_text("utf-8").splitlines()]
    return f"; the ledger says: {rows[-1][:300]}" if rows else ""
