"""What a session said and did, as the focus of its next read: whose it is, what counts more, what is bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hook_process import Session
from slicegrep.focus import Focus
from slicegrep.hook.call import call_of
from slicegrep.hook.memory import Conversation, session_focus


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = Session(tmp_path, transcript=str(tmp_path / "t.jsonl"))
    (session.home / "state" / session.session_id).mkdir(parents=True)
    (tmp_path / "a.py").write_text("x = 1\n")
    return session


def focus(session: Session, conversation: Conversation | None = None, file: str = "a.py") -> Focus:
    """Return the focus for a.py."""
    call = call_of(session.payload("Read", {}, tool_use_id="t"), session.environment())
    return session_focus(call, str(session.folder / file), conversation)


def note(session: Session, *rows: dict[str, Any]) -> None:
    """Note what hooks saw."""
    with (session.home / "state" / session.session_id / "recent.jsonl").open("a") as file:
        file.writelines(json.dumps({"agent": "", **row}) + "\n" for row in rows)


def tell(path: Path, *messages: tuple[str, Any]) -> None:
    """Write rows of a transcript: (role, content)."""
    rows = [{"type": role, "message": {"role": role, "content": content}} for role, content in messages]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_newer_prompt_weighs_more(session: Session) -> None:
    """People go from one matter to the next."""
    for prompt in ("about oldmatter", "about newmatter"):
        session.ask(prompt)
    names = focus(session).names
    assert names["newmatter"] > names["oldmatter"] > 0


def test_what_another_agent_searched_is_not_this_one_s(session: Session) -> None:
    """The notes are one file a session (claude-code#76726)."""
    note(
        session, {"kind": "pattern", "text": "theirs", "agent": "other"}, {"kind": "pattern", "text": "mine"}
    )
    note(session, {"kind": "ref", "path": str(session.folder / "a.py"), "line": 7, "agent": "other"})
    found = focus(session)
    assert "mine" in found.names
    assert "theirs" not in found.names
    assert found.lines == ()


def test_a_subagent_does_not_work_on_its_parent_s_prompt(session: Session) -> None:
    """Its task is in its own transcript."""
    session.ask("parentmatter")
    tell(Path(session.transcript), ("user", "parentmatter too"))
    own = session.folder / "t" / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    tell(own, ("user", "childmatter"))
    session.agent = "a1"
    names = focus(session).names
    assert "childmatter" in names
    assert "parentmatter" not in names


def test_the_transcript_tells_of_texts_searches_and_edits(session: Session) -> None:
    """What no hook of ours saw: the agent's own words, its calls, its edits."""
    calls = [
        {"type": "text", "text": "I suspect ledgerscan"},
        {"type": "tool_use", "id": "1", "name": "Grep", "input": {"pattern": "find_orphan"}},
        {
            "type": "tool_use",
            "id": "2",
            "name": "Edit",
            "input": {"file_path": "/b.py", "old_string": "was_here", "new_string": "is_here"},
        },
    ]
    tell(Path(session.transcript), ("user", "go on"), ("assistant", calls))
    names = focus(session).names
    assert {"ledgerscan", "findorphan", "washere", "ishere"} <= set(names)
    assert names["findorphan"] > names["washere"]


def test_lines_that_output_named_lead(session: Session) -> None:
    """From the hooks' notes and from results in the transcript, for this very file only."""
    here, there = str(session.folder / "a.py"), "/elsewhere/b.py"
    note(session, {"kind": "ref", "path": here, "line": 5}, {"kind": "ref", "path": there, "line": 6})
    output = f'  File "{here}", line 12, in f\n  File "{there}", line 13, in g\n'
    use = [{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "pytest"}}]
    result = [{"type": "tool_result", "tool_use_id": "1", "content": output}]
    tell(Path(session.transcript), ("user", "go on"), ("assistant", use), ("user", result))
    assert focus(session).lines == ((5, 1.0), (12, 1.0))


def test_many_lines_of_one_file_say_less_each(session: Session) -> None:
    """A grep with forty hits in a file points nowhere in particular."""
    note(session, *({"kind": "ref", "path": str(session.folder / "a.py"), "line": n} for n in range(1, 41)))
    assert focus(session).lines == tuple((n, 8 / 40) for n in range(1, 41))


def test_a_prompt_repeated_is_the_newest_again(session: Session) -> None:
    """The place after which the transcript lags is that of its last mention."""
    for prompt in ("go on", "about alpha", "go on", "about betamatter"):
        session.ask(prompt)
    tell(Path(session.transcript), ("user", "go on"), ("user", "about alpha"), ("user", "go on"))
    names = focus(session).names
    assert names["betamatter"] > names["alpha"]
    assert names["betamatter"] == pytest.approx(1.0)


def test_a_kept_conversation_gives_the_focus_that_a_new_one_gives(session: Session) -> None:
    """Whatever was said and printed since, and whichever file is asked about."""
    kept = Conversation()
    told: list[tuple[str, Any]] = []
    for n in range(30):
        call = f"t{n}"
        told.append(("user", f"prompt {n} about `matter{n % 7}`, see line {n}"))
        shell = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"make target{n % 3}"}}
        edit = {"type": "tool_use", "id": f"e{n}", "name": "Edit"}
        edit["input"] = {"file_path": "/b.py", "old_string": "def old(): 0", "new_string": f"def new{n}(): 1"}
        told.append(("assistant", [{"type": "text", "text": f"I run target{n % 3}"}, shell, edit]))
        output = f"a.py:{n + 1}: wrong" if n % 4 else "nothing named"
        told.append(("user", [{"type": "tool_result", "tool_use_id": call, "content": output}]))
        tell(Path(session.transcript), *told)
        for file in ("a.py", "b.py"):
            assert focus(session, kept, file) == focus(session, None, file)


def test_a_conversation_that_ended_leaves_nothing_in_the_next_focus(session: Session) -> None:
    """The transcript was cleared: what was made of its old texts is not looked at."""
    kept = Conversation()
    tell(Path(session.transcript), ("user", "oldmatter"))
    assert "oldmatter" in focus(session, kept).names
    tell(Path(session.transcript), ("user", "newmatter"))
    assert focus(session, kept).names.keys() == {"newmatter"}
