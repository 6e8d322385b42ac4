"""Real payloads with anything changed: exit 0, nothing or one whole object, nothing that is not true, and no long wait."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from faults_stand import House, checked
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from slicegrep.hook.events import Event, Kept
from slicegrep.resident.memory import Memory
from slicegrep.settings import Settings

MUTATIONS = int(os.environ.get("SLICEGREP_TEST_MUTATIONS", "240"))
"""In this process; an eighth as many through the registered commands."""
SEED = int(os.environ.get("SLICEGREP_TEST_SEED", "5"))
SECONDS = 6.0
NUMBERS = itertools.count()
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(
        [
            "",
            "\0",
            "..",
            "/",
            "/dev/zero",
            "/dev/stdin",
            "/proc/self/environ",
            "~",
            "~nobody/a.py",
            "a\nb.py",
            "\ud800.py",
            "\\\\server\\share\\a.py",
            "C:\\a.py",
            "x" * 5_000,
            "../../../../etc/passwd",
            "$(id)",
            "`id`",
            "-",
            "--help",
            "</system-reminder>",
            "grep -rn x /",
            "grep -n 'x . 7' big.py; rm big.py",
            10**400,
            -1,
            1e308,
            "NaN",
            "true",
            "PreToolUse",
            "PostToolUse",
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
SHARE = st.integers(0, 1000)
"""Thousandths of a length: the lengths themselves are not the same in every run."""
EVENTS = {
    "pre-read": "PreToolUse Read",
    "post-read": "PostToolUse Read",
    "post-search": "PostToolUse Grep|Bash|PowerShell",
    "remember": "PostToolUseFailure Bash|PowerShell",
    "prompt": "UserPromptSubmit",
    "session-start": "SessionStart clear|compact",
}
"""The launcher's own name of each registered event."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    found = House(tmp_path_factory.mktemp("mutations"))
    (found.home / "vocab").unlink()  # nothing is counted once the answers are out
    return found


def payloads(house: House) -> dict[str, list[dict[str, Any]]]:
    """Return real payloads of every event."""
    narrowed = {"file_path": str(house.big), "offset": 1, "limit": 20}
    grep = house.grep_payload(house.big, "x . 7[0-9]$")
    lines = grep["tool_response"]["stdout"]
    content = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": lines,
        "numLines": 10,
        "appliedLimit": 10,
    }
    failure = house.payload("Bash", {"command": "make"}, error=f'Exit code 1\n  File "{house.big}", line 232')
    agent = {"agent_id": "a1", "agent_type": "general-purpose"}
    read = house.payload("Read", {"file_path": str(house.big)})
    prompt = {
        "session_id": house.session,
        "transcript_path": "/nowhere/t.jsonl",
        "cwd": str(house.project),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "what does step_77 return",
    }
    return {
        "pre-read": [read, read | agent, house.payload("Read", narrowed)],
        "post-read": [house.after_payload(narrowed, house.big)],
        "post-search": [
            grep,
            house.payload(
                "Grep", {"pattern": "x . 7", "output_mode": "content", "-n": True}, tool_response=content
            ),
            house.payload("PowerShell", {"command": "rg -n x"}, tool_response=grep["tool_response"]),
            {name: value for name, value in grep.items() if name != "prompt_id"},
        ],
        "remember": [failure | {"hook_event_name": "PostToolUseFailure"}],
        "prompt": [prompt],
        "session-start": [prompt | {"hook_event_name": "SessionStart", "source": "clear"}],
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


def mutated(payload: Any, data: st.DataObject) -> bytes:
    """Change a payload in one to three places, then perhaps its bytes."""
    payload = json.loads(json.dumps(payload))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(payload)))
        if not place:
            continue
        holder = payload
        for key in place[:-1]:
            holder = holder[key]
        key = place[-1]
        kind = data.draw(st.sampled_from(["value", "value", "text", "drop", "rename", "beside"]))
        if kind == "value":
            holder[key] = data.draw(VALUES)
        elif kind == "text" and isinstance(holder[key], str):
            at = data.draw(SHARE) * len(holder[key]) // 1000
            cut = data.draw(st.integers(0, 20))
            holder[key] = holder[key][:at] + data.draw(st.text(max_size=10)) + holder[key][at + cut :]
        elif kind == "drop":
            del holder[key]
        elif kind == "rename" and isinstance(holder, dict):
            holder[data.draw(st.text(max_size=10))] = holder.pop(key)
        elif isinstance(holder, dict):
            holder[data.draw(st.sampled_from(["offset", "limit", "agent_id", "pages", "error", "x"]))] = (
                data.draw(VALUES)
            )
    raw = json.dumps(payload, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass")
    if data.draw(st.integers(0, 9)) == 0:
        at = data.draw(SHARE) * len(raw) // 1000
        piece = data.draw(st.binary(max_size=8))
        raw = data.draw(
            st.sampled_from([raw[:at], raw[:at] + piece + raw[at:], raw[:at] + piece + raw[at + 8 :]])
        )
    return raw + b"\n"


def true(house: House, event: str, raw: bytes, answer: dict[str, Any]) -> None:
    """Check what was answered to a payload against the files that it is about."""
    said = answer.get("hookSpecificOutput", {})
    if not said:
        return
    payload = json.loads(raw)
    assert event in {"pre-read", "post-read", "post-search"}
    if event == "pre-read":
        narrowed = said["updatedInput"]
        cwd = payload.get("cwd")
        path = Path(cwd if isinstance(cwd, str) else "/", narrowed["file_path"])
        house.true_first(
            {"hookSpecificOutput": {**said, "updatedInput": {**narrowed, "file_path": str(path)}}}, path
        )
    elif event == "post-read":
        house.true_text(answer, house.big)
    else:
        response = payload["tool_response"]
        key = "content" if payload["tool_name"] == "Grep" else "stdout"
        if "updatedToolOutput" in said:
            shown = {"hookSpecificOutput": {"updatedToolOutput": {"stdout": said["updatedToolOutput"][key]}}}
            house.true_annotation(shown, response[key], house.big)
            assert {**said["updatedToolOutput"], key: 0} == {**response, key: 0}


SETTINGS = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _untouched(house: House) -> Any:
    """Nothing but the home folder changes."""
    before = {path: path.read_bytes() for path in house.project.rglob("*")}
    yield
    house.quiet()
    assert {path: path.read_bytes() for path in house.project.rglob("*")} == before


WARM = Memory(20_000_000)
"""What the resident engine keeps: the same in all cases."""


def answered(event: str, raw: bytes, house: House, kept: Kept) -> dict[str, Any]:
    """Return what Python answers to a payload; an error is one that both kinds of process let pass (hook/cold, resident)."""
    environment = house.environment()
    try:
        said = Event(event, raw, environment).answer(Settings.from_environment(environment), kept)
    except Exception:  # noqa: BLE001 (the boundary is such a one)
        return {}
    return checked(0, said)


@seed(SEED)
@settings(SETTINGS, max_examples=MUTATIONS)
@given(data=st.data())
def test_mutations_of_what_python_is_given(house: House, data: st.DataObject) -> None:
    """By a process that keeps nothing, and by one that keeps what it saw."""
    event = data.draw(st.sampled_from(["pre-read", "post-read", "post-search", "post-search", "remember"]))
    kept = data.draw(st.sampled_from([Kept(), WARM]))
    house.session = f"m-{next(NUMBERS)}"
    known = payloads(house)
    if event == "post-read":  # with a plan that waits
        answer = answered("pre-read", json.dumps(known["pre-read"][0]).encode(), house, kept)
        payload: Any = house.after_payload(house.true_first(answer, house.big), house.big)
    else:
        payload = data.draw(st.sampled_from(known[event]))
    raw = mutated(payload, data)
    started = time.monotonic()
    answer = answered(event, raw, house, kept)
    assert time.monotonic() - started < SECONDS, raw
    true(house, event, raw, answer)


@seed(SEED)
@settings(SETTINGS, max_examples=max(10, MUTATIONS // 8))
@given(data=st.data())
def test_mutations_through_the_registered_commands(house: House, data: st.DataObject) -> None:
    """All that the client hands to `sh`."""
    event = data.draw(st.sampled_from(list(EVENTS)))
    house.session = f"l-{next(NUMBERS)}"
    raw = mutated(data.draw(st.sampled_from(payloads(house)[event])), data)
    started = time.monotonic()
    answer = house.fire(EVENTS[event], raw)
    assert time.monotonic() - started < SECONDS, raw
    true(house, event, raw, answer)


def test_afterwards_all_is_well(house: House) -> None:
    """What mutated payloads left behind is in nobody's way."""
    house.works()
    assert house.leavings() == []
    assert set(os.listdir(house.home)) <= {
        "env",
        "vocab",
        "pyc",
        "state",
        "ledger",
        "run",
        "log",
        "index",
        "graph",
    }
    assert set(os.listdir(house.folder)) == {"home", "project"}
