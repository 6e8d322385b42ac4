"""What a session did is read from the end of its transcript, bounded, whatever the file holds.

The rows have the shapes that 2.1.100 and 2.1.332 write (the keys before the body and the body are theirs; the rest is left out).
"""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odd_inputs import Told, transcripts
from slicegrep.transcript import Edit, Search, SessionLog, agent_transcript, read_session
from slicegrep.transcript_rows import Rows

ID = "6d5daec0-aeb9-4a93-b075-4f36230a914e"
Row = dict[str, object]


def user(content: object, **more: object) -> Row:
    """Return a user row: the person's prompt, or a list of tool results."""
    head = {"parentUuid": ID, "isSidechain": False, "promptId": ID, **more}
    return {**head, "type": "user", "message": {"role": "user", "content": content}, "version": "2.1.332"}


def assistant(*blocks: Row, **more: object) -> Row:
    """Return an assistant row."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    return {"parentUuid": ID, "isSidechain": False, **more, "message": message, "type": "assistant"}


def said(text: str) -> Row:
    """Return a block of the agent's own text."""
    return {"type": "text", "text": text}


def use(tool: str, call: str = "t1", **given: object) -> Row:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def result(content: object, call: str = "t1") -> Row:
    """Return a row that holds one tool result."""
    return user([{"tool_use_id": call, "type": "tool_result", "content": content, "is_error": False}])


def attachment(**body: object) -> Row:
    """Return a row that the client adds for itself."""
    return {"parentUuid": ID, "isSidechain": False, "attachment": body, "type": "attachment"}


BOUNDARY: Row = {
    "parentUuid": None,
    "logicalParentUuid": ID,
    "isSidechain": False,
    "type": "system",
    "subtype": "compact_boundary",
    "content": "Conversation compacted",
}


def written(path: Path, *rows: Row | bytes, spaced: bool = False) -> str:
    """Write rows as the client does (no spaces), or as json.dumps does, and return the path."""
    separators = (", ", ": ") if spaced else (",", ":")
    lines = [
        r if isinstance(r, bytes) else json.dumps(r, separators=separators).encode() + b"\n" for r in rows
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return str(path)


@pytest.mark.parametrize("spaced", [False, True])
def test_a_whole_session_is_read_in_order(tmp_path: Path, spaced: bool) -> None:  # noqa: FBT001
    """Prompts, texts, searches, edits and outputs come oldest first; reads and receipts are no output."""
    path = written(
        tmp_path / "s.jsonl",
        {"type": "queue-operation", "operation": "enqueue", "content": "Fix parse"},
        user("Fix parse()"),
        attachment(type="prompt_snapshot", systemPrompt=["x" * 3000]),
        {"type": "api-request-blob", "sessionId": ID, "message": {"role": "user", "content": "not a prompt"}},
        assistant(said("I will look.")),
        assistant(use("Bash", "t1", command="grep -n parse core.py")),
        result("12:def parse():", "t1"),
        assistant(use("Grep", "t2", pattern="parse_\\w+", path="src")),
        assistant(use("Read", "t3", file_path="/p/core.py")),
        result([{"type": "text", "text": "src/a.py:3:parse_all()"}], "t2"),
        result("1\tdef parse():", "t3"),
        assistant(use("Edit", "t4", file_path="/p/core.py", old_string="def parse", new_string="def parse_one")),
        result("The file /p/core.py has been updated successfully.", "t4"),
        assistant(
            use("MultiEdit", "t5", file_path="/p/b.py", edits=[{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}])
        ),
        assistant(use("Write", "t6", file_path="/p/c.py", content="new = 1")),
        assistant(said("Done with it.")),
        user("Now the tests"),
        {"type": "last-prompt", "lastPrompt": "Now the tests"},
        spaced=spaced,
    )  # fmt: skip
    assert read_session(path) == SessionLog(
        prompts=("Fix parse()", "Now the tests"),
        assistant_texts=("I will look.", "Done with it."),
        searches=(Search("Bash", "grep -n parse core.py"), Search("Grep", "parse_\\w+", "src")),
        edits=(
            Edit("/p/core.py", "def parse", "def parse_one"),
            Edit("/p/b.py", "a", "b"),
            Edit("/p/b.py", "c", "d"),
            Edit("/p/c.py", "", "new = 1"),
        ),
        tool_outputs=("12:def parse():", "src/a.py:3:parse_all()"),
        version="2.1.332",
    )


@pytest.mark.parametrize(
    "row",
    [
        user("<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
        user("expanded text of a command", isMeta=True),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        user("<command-name>/compact</command-name>\n<command-args></command-args>"),
        user("<task-notification>\n<task-id>a1</task-id>", promptSource="system"),
        user("<bash-input>ls</bash-input>"),
        user("<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>"),
        user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        user("<system-reminder>todo list is empty</system-reminder>"),
        user("a subagent's task, in an older client's file", isSidechain=True),
        result("text that a tool printed"),
        attachment(type="queued_command", prompt="<task-notification>x", commandMode="task-notification"),
        attachment(type="queued_command", prompt="from the coordinator", commandMode="prompt", isMeta=True),
        attachment(type="file", filename="a.py", content="x"),
    ],
)
def test_what_the_client_writes_is_no_prompt(tmp_path: Path, row: Row) -> None:
    """Only the person's own words are prompts, though most user rows are not theirs."""
    assert read_session(written(tmp_path / "s.jsonl", user("mine"), row)).prompts == ("mine",)


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        (user([{"type": "text", "text": "see this"}, {"type": "image", "source": {}}]), "see this"),
        (user("do it<system-reminder>be brief</system-reminder> now"), "do it now"),
        (user("<command-name>/fix</command-name>\n<command-args>the parser\nplease</command-args>"), "the parser\nplease"),
        (user("<div> is rendered twice"), "<div> is rendered twice"),
        (attachment(type="queued_command", prompt="while you work: rename it", commandMode="prompt"), "while you work: rename it"),
        (attachment(type="queued_command", prompt=[{"type": "text", "text": "as blocks"}], commandMode="prompt"), "as blocks"),
    ],
)  # fmt: skip
def test_the_persons_words_are_found_in_every_shape(tmp_path: Path, row: Row, prompt: str) -> None:
    """Pasted pictures, slash commands with arguments and prompts typed while the agent works count."""
    assert read_session(written(tmp_path / "s.jsonl", row)).prompts == (prompt,)


def test_a_subagent_is_read_from_its_own_file(tmp_path: Path) -> None:
    """claude-code#76726: the payload names the parent's transcript; the task is the first row of the agent's own."""
    parent = written(tmp_path / "s.jsonl", user("the parent's prompt"))
    written(
        tmp_path / "s/subagents/agent-a1b2.jsonl",
        user("find where f9 is", isSidechain=True, agentId="a1b2"),
        assistant(use("Bash", command="grep -n f9 core.py"), isSidechain=True, agentId="a1b2"),
    )
    log = read_session(parent, "a1b2")
    assert log.prompts == ("find where f9 is",)
    assert log.searches == (Search("Bash", "grep -n f9 core.py"),)


def test_a_subagents_task_is_found_however_long_it_worked(tmp_path: Path) -> None:
    """The task stands first even where the reading from the end never comes to it."""
    parent = tmp_path / "s.jsonl"
    calls = [assistant(use("Bash", f"t{i}", command=f"echo {i}")) for i in range(60)]
    filling = [attachment(type="prompt_snapshot", systemPrompt=["x" * 300_000])] * 90
    written(
        tmp_path / "s/subagents/agent-a1.jsonl",
        user("the task"),
        *filling,
        *calls,
        user("and one more thing"),
    )
    assert read_session(str(parent), "a1").prompts == ("the task", "and one more thing")


@pytest.mark.parametrize("agent", ["../../etc/x", "a/b", "a.b", "a" * 200])
def test_an_agent_id_is_no_path(agent: str) -> None:
    """An id that is not a plain name leads to no file."""
    assert agent_transcript("/t/s.jsonl", agent) == ""
    assert read_session("/t/s.jsonl", agent) == SessionLog()


def test_prompts_before_a_compaction_are_counted(tmp_path: Path) -> None:
    """After a compaction the older prompts stay, told apart; the summary is no prompt; only late calls stay."""
    old = [assistant(use("Bash", f"t{i}", command=f"old {i}")) for i in range(30)]
    path = written(
        tmp_path / "s.jsonl",
        user("first"),
        *old,
        user("second"),
        BOUNDARY,
        user("This session is being continued. f4 became g4.", isCompactSummary=True),
        user("third"),
        assistant(use("Bash", "n", command="new")),
    )
    log = read_session(path)
    assert log.prompts == ("first", "second", "third")
    assert log.compacted == 2
    assert log.summary == "This session is being continued. f4 became g4."
    assert [s.text for s in log.searches] == [*(f"old {i}" for i in range(20, 30)), "new"]


def test_only_the_latest_is_kept(tmp_path: Path) -> None:
    """The last 8 prompts, 40 calls, 20 outputs and 4 texts, in order."""
    rows: list[Row] = []
    for i in range(100):
        rows += [user(f"prompt {i}"), assistant(said(f"text {i}"), use("Bash", f"t{i}", command=f"call {i}"))]
        rows += [result(f"output {i}", f"t{i}")]
    log = read_session(written(tmp_path / "s.jsonl", *rows))
    assert log.prompts == tuple(f"prompt {i}" for i in range(92, 100))
    assert [s.text for s in log.searches] == [f"call {i}" for i in range(60, 100)]
    assert log.tool_outputs == tuple(f"output {i}" for i in range(80, 100))
    assert log.assistant_texts == tuple(f"text {i}" for i in range(96, 100))


def test_a_long_output_loses_whole_lines_of_its_middle(tmp_path: Path) -> None:
    """A traceback's end and a compiler's first error stay; no line is cut in two, for `a.py:12` of `a.py:1234` is a lie."""
    lines = [f"core.py:{i}: error" for i in range(5000)]
    log = read_session(
        written(tmp_path / "s.jsonl", assistant(use("Bash", command="make")), result("\n".join(lines)))
    )
    (output,) = log.tool_outputs
    kept = output.split("\n")
    assert len(output) <= 20_000
    assert set(kept) <= set(lines)
    assert (kept[0], kept[-1]) == (lines[0], lines[-1])


def test_the_last_prompt_row_serves_where_no_prompt_is_in_reach(tmp_path: Path) -> None:
    """Past the bound of reading, the client's own note of the last prompt is what is left."""
    filling = [attachment(type="prompt_snapshot", systemPrompt=["x" * 390_000])] * 70
    path = written(
        tmp_path / "s.jsonl", user("far away"), *filling, {"type": "last-prompt", "lastPrompt": "noted"}
    )
    assert read_session(path).prompts == ("noted",)


def test_a_half_written_end_is_left_out(tmp_path: Path) -> None:
    """The client may be in the middle of a row; a row that lacks only its line feed counts."""
    whole = json.dumps(user("second")).encode()
    assert read_session(written(tmp_path / "a.jsonl", user("first"), whole)).prompts == ("first", "second")
    assert read_session(written(tmp_path / "b.jsonl", user("first"), whole[:-9])).prompts == ("first",)


def test_damage_costs_only_its_own_row(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, no JSON, no object, or of another shape leave the other rows readable."""
    path = written(
        tmp_path / "s.jsonl",
        user("first"),
        b'{"type":"user","message":{"role":"user","content":"caf\xe9"}}\n',
        b'\0\0\0\0\n[]\n"text"\n{"type":"user"}\n{"message":{"role":"user","content":3},"type":"user"}\n',
        b'{"type":"user","message":{"role":"user","content":"half a pair \\ud83d"}}\n',
        b'{"type":"user","message":' + b"[" * 90_000 + b"\n",
        b'{"type":"assistant","message":{"role":"assistant","content":[3,null,{"type":"tool_use","input":7}]}}\n',
        user("last"),
    )
    assert read_session(path).prompts == ("first", "caf\ufffd", "half a pair ?", "last")


def test_what_cannot_be_read_is_an_empty_log(tmp_path: Path) -> None:
    """No file, a folder, a FIFO, an empty path, an empty file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for name in ("missing", "pipe", "empty", ""):
        assert read_session(str(tmp_path / name)) == SessionLog()
    assert read_session("a\0b") == SessionLog()


def test_parsing_stops_at_max_bytes(tmp_path: Path) -> None:
    """With little to spend, only the newest rows are read."""
    rows = [assistant(use("Bash", f"t{i}", command=f"call {i}")) for i in range(30)]
    log = read_session(written(tmp_path / "s.jsonl", *rows), max_bytes=5_000)
    assert [s.text for s in log.searches] == [f"call {i}" for i in range(25, 30)]


@pytest.mark.parametrize(
    "filling", [b"\n", b"x\n", b'{"type":"user","message":{"role":"user","content":"a"}}\n', b"\0"]
)
def test_a_giant_file_costs_no_more_than_its_end(tmp_path: Path, filling: bytes) -> None:
    """A transcript of 1 GB (sparse) or of endless tiny rows is read in the time that its last megabytes take."""
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.seek(1_000_000_000)
        file.write(filling * (24_000_000 // len(filling)) + b"\n" + json.dumps(user("last")).encode() + b"\n")
    started = time.process_time()
    log = read_session(str(path))
    assert log.prompts[-1] == "last"
    assert (
        time.process_time() - started < 0.5
    )  # 5 to 35 ms; without its bound each of these took 0.15 to 16 s


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(told=transcripts())
def test_a_transcript_is_read_as_it_was_told(tmp_path: Path, told: Told) -> None:
    """Whatever stands between, the person's prompts, the commands and their outputs are found, in order."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(told.data)
    log = read_session(str(path))
    assert log.prompts == told.prompts[-8:]
    assert tuple(search.text for search in log.searches) == told.commands
    assert log.tool_outputs == told.outputs[-20:]


TEXT = st.text(max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "content", "message", "input", "name", "id"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
ROWS = st.one_of(
    st.binary(max_size=60),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.builds(lambda content: json.dumps(user(content)).encode(), TEXT | JSON),
    st.builds(lambda block: json.dumps(assistant(block)).encode(), JSON),
    st.builds(lambda tool, given: json.dumps(assistant(use(tool, file_path=given, command=given, edits=given))).encode(),
              st.sampled_from(["Bash", "Grep", "Edit", "MultiEdit"]), JSON),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(ROWS, max_size=8))
def test_any_bytes_are_read_without_an_error(tmp_path: Path, rows: list[bytes]) -> None:
    """Whatever the file holds, a log comes back whose texts UTF-8 can hold."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join(rows))
    log = read_session(str(path))
    for text in (*log.prompts, *log.assistant_texts, *log.tool_outputs, *(s.text for s in log.searches)):
        text.encode("utf-8")


def _session(seed: int) -> list[bytes]:
    """Return rows of a session of all kinds, some of them damaged, some repeated."""
    chance = random.Random(seed)
    rows: list[bytes] = []
    for n in range(chance.randint(1, 120)):
        call = f"t{n}"
        row = chance.choice(
            [
                user(chance.choice(["the same again", f"prompt {n}"])),
                assistant(said(f"text {n}"), use("Bash", call, command=f"make {n}")),
                assistant(
                    use("Grep", call, pattern=f"pattern{n}"), use("Read", call + "r", file_path="/a.py")
                ),
                assistant(use("Edit", call, file_path="/a.py", old_string="a", new_string=f"b{n}")),
                result(f"a.py:{n}: error"),
                BOUNDARY,
                user(f"summary {n}", isCompactSummary=True),
                {"type": "last-prompt", "lastPrompt": f"last {n}"},
                {"type": "progress", "data": "x" * chance.choice([10, 3_000])},
                user(f"from a subagent {n}", isSidechain=True),
            ]
        )
        data = json.dumps(row).encode()
        rows.append(chance.choice([data] * 12 + [b"", data[: len(data) // 2], b"[1]"]))
    return rows


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_transcript_that_grows_is_read_as_if_anew(tmp_path: Path, agent: str) -> None:
    """Whatever was appended between two readings, whole rows or half of one."""
    for seed in range(60):
        chance = random.Random(seed)
        main = tmp_path / f"{seed}.jsonl"
        path = Path(agent_transcript(str(main), agent)) if agent else main
        path.parent.mkdir(parents=True, exist_ok=True)
        data, rows, at = b"\n".join(_session(seed)) + b"\n", Rows(), 0
        while at < len(data):
            at = min(len(data), at + chance.choice([1, 200, 900, 5_000, 40_000]))
            if chance.random() < 0.5:
                at = data.find(b"\n", at - 1) + 1
            path.write_bytes(data[:at])  # the same file
            assert read_session(str(main), agent, rows=rows) == read_session(str(main), agent), (seed, at)


def test_what_was_read_is_not_parsed_again(tmp_path: Path) -> None:
    """A reading that follows another one looks at what is new alone: here all that is old has been made unreadable."""
    path = tmp_path / "t.jsonl"
    rows, old = Rows(), [user("an old prompt"), *[assistant(said("x" * 500))] * 60]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in old)
    path.write_bytes(data)
    read_session(str(path), rows=rows)
    with path.open("r+b") as file:
        file.seek(5_000)
        file.write(b"\0" * (len(data) - 15_000))
        file.seek(0, os.SEEK_END)
        file.write(json.dumps(user("a new prompt")).encode() + b"\n")
    log = read_session(str(path), rows=rows)
    assert log.prompts == ("an old prompt", "a new prompt")
    assert len(log.assistant_texts) == 4


@pytest.mark.parametrize("how", ["shorter", "rewritten", "replaced", "another beginning", "gone"])
def test_a_transcript_that_did_not_only_grow_is_read_anew(tmp_path: Path, how: str) -> None:
    """Cut off, written again or put in its place: nothing of the old one stays."""
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(user(f"old {n}")) + "\n" for n in range(40)))
    rows = Rows()
    read_session(str(path), rows=rows)
    new = "".join(json.dumps(user(f"new {n}")) + "\n" for n in range(60))
    if how == "shorter":
        os.truncate(path, path.stat().st_size - 100)
    elif how == "rewritten":
        path.write_text(new)
    elif how == "replaced":
        (tmp_path / "other").write_text(path.read_text() + new)
        (tmp_path / "other").replace(path)
    elif how == "another beginning":
        path.write_text(path.read_text().replace("old 0", "OLD 0") + new)
    else:
        path.unlink()
    assert read_session(str(path), rows=rows) == read_session(str(path))


def test_a_subagents_task_is_that_of_its_own_file(tmp_path: Path) -> None:
    """Where another file has taken its place, the old task is forgotten."""
    own = Path(agent_transcript(str(tmp_path / "t.jsonl"), "a1"))
    own.parent.mkdir(parents=True)
    rows = Rows()
    for task in ("the first task", "another task"):
        own.write_text("".join(json.dumps(row) + "\n" for row in [user(task), *[user("later")] * 3]))
        assert read_session(str(tmp_path / "t.jsonl"), "a1", rows=rows).prompts[0] == task
