"""Whatever the payload, the file and the transcript: exit 0, nothing or one JSON object, and no line that is not the file's."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from hook_process import Session, lines_of, run_hook
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "session_id",
    "transcript_path",
    "cwd",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "agent_id",
    "prompt_id",
]
LINE = st.one_of(
    st.text(alphabet=st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=60),
    st.sampled_from(
        [
            "def alpha(x):",
            "    return beta(x)",
            "class Gamma:",
            "",
            "\t",
            "}",
            "function delta() {",
            "\r",
            "\x0c",
            "1\tnot a number",
            ">>>",
            "<<< 1-2",
        ]
    ),
)
ANSWERED = {"pre-read", "post-read", "post-search"}
SUFFIX = st.sampled_from([".py", ".ts", ".go", ".rs", ".c", ".java", ".rb", ".php", ".sql", ".vue"])
RELAXED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def checked(status: int, said: bytes) -> dict[str, Any]:
    """Return the answer, {} for none."""
    assert status == 0
    answer = json.loads(said) if said else {}
    assert isinstance(answer, dict)
    assert b"permissionDecision" not in said
    return answer


@given(
    event=st.sampled_from(["pre-read", "post-read", "post-search", "remember", "nonsense", ""]),
    data=st.data(),
)
@RELAXED
def test_any_payload_is_survived(event: str, data: st.DataObject) -> None:
    """Missing, extra and wrongly typed keys; half a payload; no payload."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # the daily sweep goes on beside it
        session = Session(Path(name))
        session.ask("what does step_77 return")
        path = Path(name) / "a.py"
        path.write_text("".join(f"def step_{n}(x):\n    return x * {n}\n\n" for n in range(300)))
        given_input: dict[str, Any] = {"file_path": str(path)}
        response: dict[str, Any] = {}
        if event == "post-read":  # with a plan that waits for it
            given_input = session.before(path)["updatedInput"]
            start, count = given_input["offset"], given_input["limit"]
            content = "\n".join(path.read_text().split("\n")[start - 1 :][:count])
            response = {
                "type": "text",
                "file": {"startLine": start, "numLines": count, "content": content},
            }
        elif event != "pre-read":
            given_input = {"command": "grep -n return a.py"}
            response = {
                "stdout": "2:    return x * 0\n5:    return x * 1",
                "stderr": "",
                "interrupted": False,
            }
        tool = "Read" if event.endswith("read") else "Bash"
        payload = session.payload(
            tool, given_input, tool_response=response, tool_use_id=f"toolu_{session.session_id}_1"
        )
        raw = json.dumps(payload).encode()
        if event in ANSWERED and event != "pre-read":
            spoiled = {**payload, "tool_use_id": "toolu_other"} if event == "post-read" else payload
            checked(*run_hook(event, json.dumps(spoiled).encode(), session.environment()))
        payload |= data.draw(st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=3))
        mutated = json.dumps(payload).encode()
        cut = data.draw(st.integers(0, len(mutated)) | st.just(len(mutated)))
        checked(*run_hook(event, mutated[:cut], session.environment()))
        if event in ANSWERED:  # and after all that the same call, whole, is still answered
            session.session_id = "s-2"
            session.ask("what does step_77 return")
            again = json.loads(raw) | {"session_id": "s-2"}
            if event == "post-read":
                session.agent = "fresh"
                first = session.before(path)
                assert session.after(first, path)
            else:
                assert checked(*run_hook(event, json.dumps(again).encode(), session.environment()))


@given(
    lines=st.lists(LINE, min_size=20, max_size=200),
    repeat=st.integers(1, 4),
    suffix=SUFFIX,
    ending=st.sampled_from(["\n", "\r\n"]),
    last=st.sampled_from(["", "\n"]),
    prompt=st.text(max_size=80),
    data=st.data(),
)
@RELAXED
def test_no_line_is_shown_that_is_not_the_file_s(
    lines: list[str], repeat: int, suffix: str, ending: str, last: str, prompt: str, data: st.DataObject
) -> None:
    """Random text in every language, with frames and numbers of its own that try to look like ours."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # the daily sweep goes on beside it
        session = Session(Path(name))
        session.ask(prompt + " alpha beta gamma step_77")
        path = Path(name) / f"a{suffix}"
        solid = [f"function step_{n}(x) {{ return x * {n}; }}" for n in range(500)]
        path.write_bytes(
            (ending.join([*lines * repeat, *solid, *lines]) + last).encode("utf-8", "surrogatepass")
        )
        transcript = Path(name) / "t.jsonl"
        rows = data.draw(st.lists(JUNK, max_size=5))
        transcript.write_text(
            "".join(json.dumps(row) + "\n" for row in rows) + '{"type":"user","message":{"con'
        )
        session.transcript = str(transcript)
        first = session.before(path)
        assume(first)
        wanted = lines_of(path)
        narrowed = first["updatedInput"]
        assert narrowed["offset"] >= 1 and narrowed["limit"] >= 1
        assert narrowed["offset"] + narrowed["limit"] - 1 <= len(wanted)
        text = session.after(first, path)["hookSpecificOutput"]["additionalContext"]
        assert len(text.encode("utf-16-le", "surrogatepass")) // 2 < 9500
        slices = re.findall(r"(?m)^<<< (\d+)-(\d+)[^\n]*\n", text)
        at = text.find("\n<<< ")
        for start, end in slices:
            at = text.index(f"\n<<< {start}-{end}", at)
            body = text[text.index("\n", at + 1) + 1 :]
            expected = "\n".join(f"{n}\t{wanted[n - 1]}" for n in range(int(start), int(end) + 1)) + "\n>>>"
            assert body.startswith(expected)
            at += len(expected)
