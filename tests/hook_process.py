"""The hook's own main(), in a forked process of its own: what the launcher would start, without an interpreter's start."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slicegrep.hook import __main__ as hook
from slicegrep.source import source_of

__all__ = ["Session", "lines_of", "run_hook"]


def run_hook(event: str, payload: bytes, environment: dict[str, str]) -> tuple[int, bytes]:
    """Run one event; return the process's exit status (or -signal) and its standard output."""
    into, given = os.pipe()
    answer, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(into, 0)
        os.dup2(out, 1)
        for descriptor in (into, given, answer, out):
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["hook", event, ""]
        sys.stdin = io.TextIOWrapper(io.FileIO(0))
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), write_through=True)
        hook.main()
    os.close(into)
    os.close(out)
    with os.fdopen(given, "wb") as writer, suppress(BrokenPipeError):
        writer.write(payload)
    with os.fdopen(answer, "rb") as reader:
        said = reader.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, said


def lines_of(path: Path) -> tuple[str, ...]:
    """Return the lines of a file as Read shows them."""
    return source_of(str(path), path.read_bytes()).lines


@dataclass
class Session:
    """A session of the client as its hooks see it."""

    folder: Path
    session_id: str = "s-1"
    agent: str = ""
    transcript: str = ""
    calls: int = 0

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environment(self, **knobs: str) -> dict[str, str]:
        return {
            "SLICEGREP_HOME": str(self.home),
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            **knobs,
        }

    def payload(self, tool: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        agent = {"agent_id": self.agent, "agent_type": "general-purpose"} if self.agent else {}
        return {
            "session_id": self.session_id,
            "transcript_path": self.transcript,
            "cwd": str(self.folder),
            "prompt_id": "p",
            **agent,
            "tool_name": tool,
            "tool_input": given,
            **more,
        }

    def ask(self, prompt: str) -> None:
        """Note a prompt as the launcher does."""
        folder = self.home / "state" / self.session_id
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "prompts").open("a") as file:
            file.write(json.dumps({"session_id": self.session_id, "prompt": prompt}) + "\n")

    def fire(self, event: str, payload: dict[str, Any], **knobs: str) -> dict[str, Any]:
        """Run an event; return its answer ({} for none). The exit status is 0 and the output empty or one object."""
        status, said = run_hook(event, json.dumps(payload).encode(), self.environment(**knobs))
        assert status == 0
        answer = json.loads(said) if said else {}
        assert "permissionDecision" not in json.dumps(answer)
        return answer

    def before(self, path: Path | str, more: dict[str, Any] | None = None, **knobs: str) -> dict[str, Any]:
        """PreToolUse of Read; returns its hookSpecificOutput, {} where the read passes."""
        self.calls += 1
        given = {"file_path": str(path), **(more or {})}
        payload = self.payload("Read", given, tool_use_id=f"toolu_{self.session_id}_{self.calls}")
        return self.fire("pre-read", payload, **knobs).get("hookSpecificOutput", {})

    def after(
        self, first: dict[str, Any], path: Path, response: dict[str, Any] | None = None, **knobs: str
    ) -> dict[str, Any]:
        """PostToolUse of the Read that was answered `first`: the client's result for the narrowed range, or another."""
        narrowed = first["updatedInput"]
        if response is None:
            lines = lines_of(path)
            shown = lines[narrowed["offset"] - 1 :][: narrowed["limit"]]
            file = {
                "filePath": str(path),
                "content": "\n".join(shown),
                "numLines": len(shown),
                "startLine": narrowed["offset"],
                "totalLines": len(lines) + 1,
            }
            response = {"type": "text", "file": file}
        payload = self.payload(
            "Read", narrowed, tool_response=response, tool_use_id=f"toolu_{self.session_id}_{self.calls}"
        )
        return self.fire("post-read", payload, **knobs)

    def read(self, path: Path, **knobs: str) -> tuple[dict[str, Any], str]:
        """Both phases; returns the first answer and the delivered text."""
        first = self.before(path, **knobs)
        assert first, "the read was not intercepted"
        return first, self.after(first, path, **knobs)["hookSpecificOutput"]["additionalContext"]

    def ledger(self) -> list[dict[str, Any]]:
        """Return the rows of the ledger."""
        rows = []
        for file in sorted((self.home / "ledger").glob("*.jsonl")):
            rows += [json.loads(line) for line in file.read_text().splitlines()]
        return rows
