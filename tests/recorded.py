"""Recorded sessions: a stand-in for the client plays payloads through the real launcher, and counts what the model was shown."""

from __future__ import annotations

import json
import os
import subprocess
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tiktoken
from prepared_home import ROOT
from resident_stand import SECONDS, House

__all__ = ["NEW", "OLD", "Recorded", "stats", "tokens"]

NEW, OLD = "2.1.332", "2.1.100"
CLIENT_BYTES, CLIENT_TOKENS = 256 * 1024, 25_000
REFUSAL = (
    "File content ({}KB) exceeds maximum allowed size (256KB). Use offset and limit parameters to read specific portions "
    "of the file, or search for specific content instead of reading the whole file."
)

_ENCODING = tiktoken.get_encoding("o200k_base")


def tokens(text: str) -> int:
    """Return how many o200k_base tokens a text has, by tiktoken itself."""
    return len(_ENCODING.encode(text, disallowed_special=()))


def stats(machine: House, *words: str) -> dict[str, Any]:
    """Return what `slicegrep stats --json` tells."""
    done = subprocess.run(
        [str(ROOT / "bin" / "slicegrep"), "stats", "--json", *words],
        capture_output=True,
        text=True,
        env=machine.environment(),
        cwd=machine.folder,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass
class Recorded:
    """One session of one client in one project. `spent` is what the model was shown, by tiktoken."""

    machine: House
    project: Path
    ident: str
    version: str = NEW
    spent: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    intercepted: set[tuple[str, str]] = field(default_factory=set)
    read_before: dict[tuple[object, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin the transcript: it tells the client's version."""
        self.transcript = self.machine.folder / f"{self.ident}.jsonl"
        self.transcript.write_text("")
        self.row("user", "begin")

    def row(self, kind: str, content: str) -> None:
        """Add a row to the transcript."""
        with self.transcript.open("a") as file:
            file.write(
                json.dumps(
                    {"type": kind, "version": self.version, "message": {"role": kind, "content": content}}
                )
                + "\n"
            )

    def payload(self, event: str, tool: str, agent: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return a payload with the version's keys in its order."""
        head = {
            "session_id": self.ident,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **({"prompt_id": "5f0c"} if self.version == NEW else {}),
            "permission_mode": "default",
            **({"agent_id": agent, "agent_type": "general-purpose"} if agent else {}),
            **({"effort": {"level": "high"}} if self.version == NEW else {}),
            "hook_event_name": event,
        }
        return {**head, **({"tool_name": tool, "tool_input": given} if tool else {})}

    def fire(self, event: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Run a hook; returns its hookSpecificOutput, {} for none."""
        said = self.machine.fire(event, payload)
        found: dict[str, Any] = json.loads(said).get("hookSpecificOutput", {}) if said else {}
        return found

    def ask(self, prompt: str) -> None:
        """Say what the session is about."""
        self.row("user", prompt)
        self.fire("prompt", {**self.payload("UserPromptSubmit", "", "", {}), "prompt": prompt})

    def compact(self) -> None:
        """The client drops what was said."""
        self.fire("session-start", {**self.payload("SessionStart", "", "", {}), "source": "compact"})
        self.read_before.clear()

    def read(self, name: str, *, agent: str = "", refused: bool = False, **ranged: int) -> bool:
        """Read a file; says whether the read was intercepted."""
        (one,) = self.reads([(name, agent, ranged)], refused=refused)
        return one

    def reads(self, wanted: list[tuple[str, str, dict[str, int]]], *, refused: bool = False) -> list[bool]:
        """Read at the same time: all the first hooks, the results, all the second hooks."""
        begun = []
        for name, agent, ranged in wanted:
            given = {"file_path": str(self.project / name), **ranged}
            self.calls += 1
            use = {"tool_use_id": f"toolu_{self.calls}"}
            said = self.fire("pre-read", {**self.payload("PreToolUse", "Read", agent, given), **use})
            key = agent, given["file_path"]
            again = key in self.intercepted
            if said and not refused:
                self.intercepted.add(key)
            begun.append(
                (key, said.get("updatedInput", given), use, said.get("additionalContext", ""), again)
            )
        if not refused:
            for key, given, use, context, again in begun:
                self._finish(key, given, use, context, again=again)
        return [bool(context) for _, _, _, context, _ in begun]

    def _finish(
        self, key: tuple[str, str], given: dict[str, Any], use: dict[str, str], context: str, *, again: bool
    ) -> None:
        agent, path = key
        shown, response = self._result(agent, Path(path), given)
        said: dict[str, Any] = {}
        if response:
            ended = {**self.payload("PostToolUse", "Read", agent, given), "tool_response": response, **use}
            said = self.fire("post-read", ended)
        text = said.get("additionalContext", "")
        if context and text:
            plain, _ = self._result(agent, Path(path), {"file_path": path}, fresh=True)
            self.spent["before"] += tokens(plain)
            self.spent["after"] += tokens(shown)
            self.spent["after"] += sum(
                tokens(
                    f"<system-reminder>\n{event}:Read hook additional context: {one}\n</system-reminder>\n"
                )
                for event, one in (("PreToolUse", context), ("PostToolUse", text))
            )
            self.spent["reads"] += 1
        elif again and response.get("type") == "text":
            self.spent["again"] += tokens(shown)

    def _result(
        self, agent: str, path: Path, given: dict[str, Any], *, fresh: bool = False
    ) -> tuple[str, dict[str, Any]]:
        """Return what the model reads and the hook's tool_response ({} where the client refuses the read)."""
        data = path.read_bytes()
        asked = (agent, str(path), given.get("offset"), given.get("limit"))
        if not fresh and self.version == OLD and self.read_before.get(asked) == str(hash(data)):
            return "File unchanged since last read.", {
                "type": "file_unchanged",
                "file": {"filePath": str(path)},
            }
        ranged = len(given) > 1
        if not ranged and len(data) > CLIENT_BYTES:
            return REFUSAL.format(len(data) // 1024), {}
        lines = data.decode().split("\n")
        first = given.get("offset", 1)
        lines = lines[first - 1 :][: given.get("limit")]
        numbered = [f"{number}\t{line}" for number, line in enumerate(lines, first)]
        if tokens("\n".join(numbered)) > CLIENT_TOKENS:
            if self.version == OLD:
                return REFUSAL, {}
            kept = bisect_right(
                range(len(lines)), CLIENT_TOKENS, key=lambda count: tokens("\n".join(numbered[: count + 1]))
            )
            lines, numbered = lines[:kept], numbered[:kept]
        if not fresh:
            self.read_before[asked] = str(hash(data))
        file = {
            "filePath": str(path),
            "content": "\n".join(lines),
            "numLines": len(lines),
            "startLine": first,
        }
        return "\n".join(numbered), {"type": "text", "file": {**file, "totalLines": data.count(b"\n") + 1}}

    def grep(self, command: str, *, tool: str = "Bash") -> int:
        """Run a search; returns how many of its lines got a name."""
        done = subprocess.run(
            ["sh", "-c", command],
            capture_output=True,
            text=True,
            cwd=self.project,
            check=False,
            env=os.environ,
        )
        out = done.stdout.rstrip("\n")
        given = {"command": command}
        response: dict[str, Any] = {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
        self.calls += 1
        said = self.fire(
            "post-search",
            {
                **self.payload("PostToolUse", tool, "", given),
                "tool_response": response,
                "tool_use_id": f"toolu_{self.calls}",
            },
        )
        beside = said.get("additionalContext", "")
        if beside:
            self.spent["added"] += tokens(
                f"<system-reminder>\nPostToolUse:Read hook additional context: {beside}\n</system-reminder>\n"
            )
        updated = said.get("updatedToolOutput", response)["stdout"]
        self.spent["added"] += tokens(updated) - tokens(out)
        return (updated + beside).count("⟵")
