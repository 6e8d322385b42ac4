"""Real sessions with the resident engine: the model is told the same, and the engine is nobody's child."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from resident_stand import end_engines, leads, processes_for, until

from checks import delivery, numbered
from driver import NATIVE, Received, World, tool_results
from samples import made_module
from scripted_api import Request, Script, Tool, flat_text

EVERYTHING = ("Read", "Edit", "Agent", "Task", "Grep", "Bash(grep:*)")
PATIENCE = {"SLICEGREP_HOOK_TIMEOUT": "30"}
"""Of which the engine has a fifth to say that it is there."""


@pytest.fixture
def resident(world: World) -> Iterator[World]:
    """Yield a world whose engines are ended."""
    try:
        yield world
    finally:
        end_engines(world.data)


@dataclass(frozen=True)
class Told:
    """What the models of one session were told, without what differs from session to session."""

    received: Received
    text: str
    inner: str


def session(world: World, engine: str) -> Told:
    """Play a session: searches, reads, an edit of what was read, a subagent that reads, and reads of what was read."""
    core = world.write("core.py", made_module(150, target=88))
    world.write("other.py", made_module(120).replace("total_", "sum_"))
    name = f"sub{engine}"
    world.api.add(Script(name, f"[{name}]", [[world.read("core.py")], [world.read("other.py")]]))
    native = world.client.version == NATIVE
    words = {"description": "look at it", "subagent_type": "general-purpose"}
    background = {"run_in_background": False} if native else {}
    agent = Tool("Agent" if native else "Task", prompt=f"Find the rounding [{name}]", **words, **background)

    def edit(request: Request) -> Sequence[Tool]:
        found = next(r for i, r in tool_results(request.messages).items() if i.endswith("_1_0"))
        line = next(text for _, text in numbered(found.text) if "total_" in text and "*" in text)
        return [Tool("Edit", file_path=str(core), old_string=line, new_string=line + "  # seen")]

    received = world.play(
        "Why is the result of settle_invoice wrong?",
        [Tool("Bash", command="grep -n 'return total' core.py")],
        [world.read("core.py")],
        edit,
        [agent],
        [world.read("other.py")],
        [world.read("core.py")],
        [Tool("Bash", command="grep -n 'sum_7[0-9] =' other.py")],
        allowed=EVERYTHING,
        SLICEGREP_RESIDENT=engine,
        **PATIENCE,
    )
    assert core.read_text().count("  # seen") == 1
    inner = world.api.turns_of(name)
    return Told(received, _bare(received.messages), _bare(inner[-1].messages))


def _bare(messages: list[dict[str, Any]]) -> str:
    """Return what was said to a model, without the marks of the scripts and the client's own times and numbers."""
    said = "\n".join(flat_text(message.get("content")) for message in messages)
    return re.sub(r"\[(m\d+|sub\w+)\]|\ba[0-9a-f]{16}\b|duration_ms: \d+|\b\d+ms\b", "", said)


def rows(world: World) -> list[dict[str, Any]]:
    files = sorted((world.data / "ledger").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]


def test_a_session_is_told_the_same_with_the_engine_as_without(resident: World) -> None:
    """Searches, reads, an edit and a subagent, without it, with one that starts meanwhile, and with one that runs."""
    without = session(resident, "off")
    assert delivery(without.received, resident.project / "core.py")
    assert "other.py" in without.inner
    assert processes_for(resident.data) == []
    cold = len(
        until(lambda: [row for row in rows(resident) if row["kind"] == "read"], "the first session's rows")
    )
    assert not any(row["warm"] != [False, False] for row in rows(resident) if row["kind"] == "read")

    first = session(resident, "on")
    running = until(lambda: processes_for(resident.data), "an engine that outlives its client")
    second = session(resident, "yes")
    for told in (first, second):
        assert told.text == without.text
        assert told.inner == without.inner

    (engine,) = [pid for pid in running if leads(pid)]
    assert engine in processes_for(resident.data), "it serves the second session, too"
    found = until(lambda: _later(resident, 3 * cold), "the rows of all three sessions")
    assert [row["warm"] for row in found[2 * cold :]] == [[True, True]] * cold
    assert any(row["warm"] is True for row in rows(resident) if row["kind"] == "annotate")
    assert [row for row in rows(resident) if row["kind"] == "fail"] == []

    for pid in running:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"ANTHROPIC" not in environment
        assert b"CLAUDE" not in environment
        assert b"sk-ant" not in environment
        targets = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        assert not any(target.startswith("pipe:") for target in targets)


def _later(world: World, count: int) -> list[dict[str, Any]]:
    found = [row for row in rows(world) if row["kind"] == "read"]
    return found if len(found) >= count else []
