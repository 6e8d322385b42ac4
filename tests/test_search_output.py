"""Payloads of Grep, Bash and PowerShell, as the clients send them, become answers and things to remember."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from slicegrep import outline as parser
from slicegrep.client_version import client_version
from slicegrep.hook.call import call_of
from slicegrep.hook.search_output import answer, outcome, remember
from slicegrep.hook.searched import after
from slicegrep.index import let_go, open_view
from slicegrep.resident.memory import Memory
from slicegrep.settings import Settings
from slicegrep.shown import utf16_units
from slicegrep.types import Outline, Source

CORE = """\
class Store:
    def fetch(self, key):
        return needle(key)

def free():
    return needle
"""
HITS = "core.py:3:        return needle(key)\ncore.py:6:    return needle"
ANNOTATED = "core.py:3:        return needle(key) ⟵ Store.fetch 2-3\ncore.py:6:    return needle ⟵ free 5-6"
BARE = HITS.replace("core.py:", "")
BARE_ANNOTATED = ANNOTATED.replace("core.py:", "")
PATIENT = Settings(annotate_timeout_ms=60_000)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project of one file."""
    (tmp_path / "core.py").write_text(CORE)
    return tmp_path


def bash(cwd: Path, command: str, stdout: str, **more: Any) -> dict[str, Any]:
    """Return the payload of a Bash call in 2.1.332's form; `more` goes into the response."""
    response = {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    return {
        "session_id": "s", "transcript_path": str(cwd / "none.jsonl"), "cwd": str(cwd), "prompt_id": "p", "permission_mode": "acceptEdits",
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {**response, **more},
        "tool_use_id": "t", "duration_ms": 3,
    }  # fmt: skip


def grep(cwd: Path, content: str, **given_input: Any) -> dict[str, Any]:
    """Return the payload of the Grep tool in content mode."""
    response = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": content.count("\n") + 1,
    }
    payload = bash(cwd, "", "")
    tool_input = {"pattern": "needle", "output_mode": "content", **given_input}
    return {**payload, "tool_name": "Grep", "tool_input": tool_input, "tool_response": response}


def transcript(path: Path, version: str) -> None:
    """Write a transcript whose rows that version wrote."""
    row = {
        "type": "user",
        "message": {"content": "x"},
        "cwd": "/",
        "sessionId": "s",
        "version": version,
        "gitBranch": "main",
    }
    queued = {"type": "queue-operation", "sessionId": "s"}
    path.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in (row, row, queued)))


def test_the_answer_is_the_tool_s_own_shape_with_another_stdout(project: Path) -> None:
    """Every other field of the response stays; nothing decides over permissions."""
    payload = bash(project, "grep -rn needle .", HITS, stderr="warn", extra={"a": [1]})
    wanted = {**payload["tool_response"], "stdout": ANNOTATED}
    assert answer(payload, PATIENT, {}) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": wanted}
    }


def test_an_index_spares_the_parser(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the index holds exactly is not parsed again; an edit that it has not seen is."""
    home = str(tmp_path_factory.mktemp("home"))
    open_view(str(project), home)
    let_go()
    parsed: list[str] = []
    real = parser.outline

    def outline(source: Source, **how: Any) -> Outline:
        parsed.append(source.path)
        return real(source, **how)

    monkeypatch.setattr(parser, "outline", outline)
    payload = bash(project, "grep -rn needle .", HITS)
    for edit, count in (("", 0), ("\n\n# the end", 1)):
        (project / "core.py").write_text(CORE + edit)
        found = answer(payload, PATIENT, {"SLICEGREP_HOME": home})
        assert found is not None
        assert found["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == ANNOTATED  # type: ignore[index]
        assert len(parsed) == count


def test_grep_s_content(project: Path) -> None:
    """The Grep tool's content is annotated in its own shape; a single file's lines are bare."""
    payload = grep(project, HITS)
    wanted = {**payload["tool_response"], "content": ANNOTATED}
    assert answer(payload, PATIENT, {}) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": wanted}
    }
    for path in ("core.py", str(project / "core.py")):
        one = answer(grep(project, BARE, path=path), PATIENT, {})
        assert one is not None
        assert one["hookSpecificOutput"]["updatedToolOutput"]["content"] == BARE_ANNOTATED  # type: ignore[index]


def test_grep_s_other_forms_are_left_alone(project: Path) -> None:
    """Files and count modes, content without numbers, bare lines of a directory."""
    payload = grep(project, HITS)
    for mode in ("files_with_matches", "count"):
        assert (
            answer({**payload, "tool_response": {**payload["tool_response"], "mode": mode}}, PATIENT, {})
            is None
        )
    assert answer(grep(project, HITS, **{"-n": False}), PATIENT, {}) is None
    assert answer(grep(project, BARE, path=str(project)), PATIENT, {}) is None
    assert answer(grep(project, BARE), PATIENT, {}) is None


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
def test_bare_lines_of_one_file(project: Path, tool: str) -> None:
    """`grep -n pat file`, in both shells."""
    payload = {**bash(project, "cd . && grep -n needle core.py | head -5", BARE), "tool_name": tool}
    done = outcome(payload, PATIENT, {})
    assert done.answer is not None
    assert done.answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == BARE_ANNOTATED  # type: ignore[index]
    assert (done.hits, done.annotated, done.late) == (2, 2, False)


@pytest.mark.parametrize(
    "change",
    [
        {"tool_name": "Read"},
        {"tool_name": "Task"},
        {"hook_event_name": "PostToolUseFailure"},
        {"tool_input": {"command": "cat core.py"}},
        {"tool_input": {"command": "grep needle core.py"}},
        {"tool_input": {}},
        {"tool_input": None},
        {"tool_response": "text"},
        {"tool_response": None},
        {"cwd": "relative"},
        {"cwd": None},
        {"cwd": "/nonexistent"},
    ],
)
def test_calls_that_are_no_search_here(project: Path, change: dict[str, Any]) -> None:
    """Other tools, other commands, other shapes: the output stays as it is."""
    assert answer({**bash(project, "grep -rn needle .", HITS), **change}, PATIENT, {}) is None


def test_output_that_the_client_already_cut(project: Path) -> None:
    """A result with `persistedOutputPath` is a preview; an image is no text."""
    assert answer(bash(project, "grep -rn needle .", HITS, persistedOutputPath="/x"), PATIENT, {}) is None
    assert answer(bash(project, "grep -rn needle .", HITS, isImage=True), PATIENT, {}) is None


def test_the_switch(project: Path) -> None:
    """SLICEGREP_ANNOTATE=off leaves all as it is."""
    payload = bash(project, "grep -rn needle .", HITS)
    assert answer(payload, Settings.from_environment({"SLICEGREP_ANNOTATE": "off"}), {}) is None


def test_out_of_time(project: Path) -> None:
    """With no time at all the output stays as it is, and the outcome says why."""
    done = outcome(bash(project, "grep -rn needle .", HITS), Settings(annotate_timeout_ms=0), {})
    assert (done.answer, done.late, done.annotated) == (None, True, 0)


@pytest.mark.parametrize(("tool", "cap", "key"), [("Bash", 30_000, "stdout"), ("Grep", 20_000, "content")])
def test_a_result_never_grows_past_what_the_client_shows(
    project: Path, tool: str, cap: int, key: str
) -> None:
    """Suffixes stop short of the client's own limit, measured for each tool in UTF-16 units."""
    hit = "core.py:6:    return needle"
    for count in (400, 650, 700, 740, 1050, 1100, 1111):
        text = "\n".join([hit] * count)
        payload = grep(project, text) if tool == "Grep" else bash(project, "grep -rn needle .", text)
        done = outcome(payload, PATIENT, {})
        if utf16_units(text) > cap - 1_000:
            assert done.answer is None
        elif done.answer is not None:
            new = done.answer["hookSpecificOutput"]["updatedToolOutput"][key]  # type: ignore[index]
            assert utf16_units(new) < cap - 1_000
            assert [line.partition(" ⟵ ")[0] for line in new.split("\n")] == [hit] * count


def test_stderr_counts_too(project: Path) -> None:
    """The client joins stderr to stdout before it cuts."""
    payload = bash(project, "grep -rn needle .", HITS, stderr="x" * 28_990)
    assert answer(payload, PATIENT, {}) is None


def test_an_old_client_is_told_beside_the_output(project: Path) -> None:
    """Before 2.1.121 a hook cannot change a result: one line a hit, under a heading that names slicegrep."""
    payload = bash(project, "grep -rn needle .", HITS)
    del payload["prompt_id"]
    transcript(project / "none.jsonl", "2.1.100")
    said = answer(payload, PATIENT, {})
    assert said is not None
    specific = said["hookSpecificOutput"]
    assert isinstance(specific, dict)
    heading, *lines = specific["additionalContext"].split("\n")
    assert "slicegrep" in heading
    assert "grep -rn needle ." in heading
    assert lines == ["core.py:3: ⟵ Store.fetch 2-3", "core.py:6: ⟵ free 5-6"]
    assert set(specific) == {"hookEventName", "additionalContext"}


def test_the_text_beside_stays_under_the_client_s_cap(project: Path) -> None:
    """9,500 UTF-16 units, whole lines only; the counts say how many hits were told."""
    payload = bash(project, "grep -rn needle .", "\n".join(["core.py:6:    return needle"] * 900))
    transcript(project / "none.jsonl", "2.1.100")
    done = outcome(payload, PATIENT, {})
    assert done.answer is not None
    text = done.answer["hookSpecificOutput"]["additionalContext"]  # type: ignore[index]
    assert 9_300 < utf16_units(text) <= 9_500
    assert text.count("\n") == done.annotated < done.hits == 900
    assert text.endswith("core.py:6: ⟵ free 5-6")


@pytest.mark.parametrize(
    ("version", "key"),
    [("2.1.120", "additionalContext"), ("2.1.121", "updatedToolOutput"), ("2.2.0", "updatedToolOutput")],
)
def test_the_transcript_tells_the_version(project: Path, version: str, key: str) -> None:
    """The newest row decides, whatever the payload looks like."""
    transcript(project / "none.jsonl", version)
    said = answer(bash(project, "grep -rn needle .", HITS), PATIENT, {})
    assert said is not None
    assert key in said["hookSpecificOutput"]  # type: ignore[operator]


def test_without_a_transcript_the_payload_s_form_tells(project: Path) -> None:
    """`prompt_id` came with a client that replaces results; without it the text beside works in every client."""
    payload = bash(project, "grep -rn needle .", HITS)
    del payload["prompt_id"]
    said = answer(payload, PATIENT, {})
    assert said is not None
    assert "additionalContext" in said["hookSpecificOutput"]  # type: ignore[operator]


def test_the_version_is_the_newest_row_s(tmp_path: Path) -> None:
    """Of a long transcript only the end is read; text that looks like a row, in a row, is escaped and does not count."""
    path = tmp_path / "t.jsonl"
    old = {"type": "user", "sessionId": "s", "version": "2.0.1", "gitBranch": "m"}
    new = {
        "type": "user",
        "text": '{"sessionId":"s","version":"9.9.9"}',
        "big": "x" * 100_000,
        "sessionId": "s",
        "version": "2.1.332",
        "gitBranch": "m",
    }
    path.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in (old, new)))
    assert client_version(str(path)) == (2, 1, 332)
    path.write_text('{"x":1}\n{"version": "2.1.9-beta", "type": "user"}\n{"version": 3}\n[1]\nbroken')
    assert client_version(str(path)) == (2, 1, 9)
    path.write_bytes(b"\xff\x00" * 100)
    assert client_version(str(path)) is None
    assert client_version(str(tmp_path / "gone")) is None
    assert client_version("") is None


def test_after_the_command_s_own_cd(project: Path) -> None:
    """The payload's cwd is the directory after it; a reset back to the project is told in stderr."""
    sub = project / "sub"
    sub.mkdir()
    (sub / "deep.py").write_text(CORE)
    hits, wanted = HITS.replace("core", "deep"), ANNOTATED.replace("core", "deep")
    cases = [
        (sub, "cd sub && grep -Hn needle deep.py", ""),
        (project, "(cd sub && grep -Hn needle deep.py)", ""),
        (project, "cd sub; grep -Hn needle deep.py; cd ..", ""),
        (project, f"cd {sub} && grep -Hn needle deep.py", f"\nShell cwd was reset to {project}"),
        (project, f"cd {sub} && grep -Hn needle deep.py; case x in y) ;; esac", ""),
    ]
    for cwd, command, stderr in cases:
        said = answer(bash(cwd, command, hits, stderr=stderr), PATIENT, {})
        assert said is not None, command
        assert said["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == wanted  # type: ignore[index]


def test_full_names_are_relative_to_the_project(project: Path) -> None:
    """`git grep --full-name` in a subdirectory prints from the top level."""
    sub = project / "sub"
    sub.mkdir()
    payload = bash(sub, "git grep -n --full-name needle ..", HITS)
    assert answer(payload, PATIENT, {}) is None
    assert answer(payload, PATIENT, {"CLAUDE_PROJECT_DIR": str(project)}) is not None


def test_patterns_and_commands_are_remembered(project: Path) -> None:
    """Who searched for what: the first 300 characters of a command, each pattern, the agent's id."""
    command = "cd sub && grep -n -e needle -e other core.py; " + "true; " * 100
    rows = remember({**bash(project, command, ""), "agent_id": "a1"})
    assert rows == [
        {"kind": "pattern", "text": "needle", "agent": "a1"},
        {"kind": "pattern", "text": "other", "agent": "a1"},
        {"kind": "command", "text": command[:300], "agent": "a1"},
    ]
    assert remember(grep(project, "")) == [{"kind": "pattern", "text": "needle", "agent": ""}]


def test_places_in_any_output_are_remembered(project: Path) -> None:
    """A traceback in stdout or stderr, absolute where the file exists, as printed where it does not."""
    rows = remember(
        bash(
            project,
            "pytest",
            '  File "core.py", line 3, in fetch\nother.py:9: E',
            stderr="\tat com.acme.Foo.bar(Foo.java:7)",
        )
    )
    assert rows[1:] == [
        {"kind": "ref", "path": str(project / "core.py"), "line": 3, "agent": ""},
        {"kind": "ref", "path": "other.py", "line": 9, "agent": ""},
        {"kind": "ref", "path": "com/acme/Foo.java", "line": 7, "agent": ""},
    ]


def test_a_failed_command_s_places_are_remembered(project: Path) -> None:
    """A failing test run ends in PostToolUseFailure, whose output stands in `error`."""
    payload = {
        **bash(project, "pytest", ""),
        "hook_event_name": "PostToolUseFailure",
        "error": "Exit code 1\ncore.py:6: AssertionError",
    }
    del payload["tool_response"]
    assert {"kind": "ref", "path": str(project / "core.py"), "line": 6, "agent": ""} in remember(payload)


def test_hits_are_places(project: Path) -> None:
    """A grep hit in this very file: with its path, or bare where one file was searched."""
    wanted = [(str(project / "core.py"), 3), (str(project / "core.py"), 6)]
    for payload in (
        bash(project, "grep -rn needle .", HITS), bash(project, "grep -n needle core.py", BARE), grep(project, BARE, path="core.py"),
    ):  # fmt: skip
        assert [(row["path"], row["line"]) for row in remember(payload) if row["kind"] == "ref"] == wanted


def test_what_is_remembered_is_bounded(project: Path) -> None:
    """200 places of the first 200 kB, ten patterns of 300 characters."""
    many = "\n".join(f"core.py:{n}: x" for n in range(1, 100_000))
    command = "grep -n " + " ".join(f"-e {'p' * 400}{n}" for n in range(20)) + " core.py"
    rows = remember(bash(project, command, many))
    kinds = [row["kind"] for row in rows]
    assert (kinds.count("pattern"), kinds.count("command"), kinds.count("ref")) == (10, 1, 200)
    assert all(len(str(row.get("text", ""))) <= 300 for row in rows)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    [
        "cwd",
        "tool_input",
        "tool_response",
        "tool_name",
        "transcript_path",
        "hook_event_name",
        "agent_id",
        "error",
    ]
)
INNER = st.sampled_from(
    [
        "command",
        "pattern",
        "path",
        "stdout",
        "stderr",
        "content",
        "mode",
        "-n",
        "persistedOutputPath",
        "isImage",
    ]
)


@hypothesis_settings(deadline=None)
@given(
    tool=st.sampled_from(["Bash", "Grep", "PowerShell", "Read"]),
    outer=st.dictionaries(FIELDS, JSON, max_size=3),
    given_input=st.dictionaries(INNER, JSON, max_size=4),
    response=st.dictionaries(INNER, JSON, max_size=4),
)
def test_any_payload_is_answered_or_left_alone(
    tool: str, outer: dict[str, Any], given_input: dict[str, Any], response: dict[str, Any]
) -> None:
    """No payload is an error, whatever its fields hold; an answer never decides over permissions."""
    payload = {
        "tool_name": tool, "cwd": "/", "tool_input": {"command": "grep -rn x .", **given_input},
        "tool_response": {"stdout": "a.py:1:x", "mode": "content", "content": "a.py:1:x", **response}, **outer,
    }  # fmt: skip
    said = answer(payload, PATIENT, {})
    assert said is None or "permissionDecision" not in json.dumps(said)
    assert isinstance(json.dumps(remember(payload)), str)


CASES = sorted((Path(__file__).parent / "cases" / "search_output").glob("*.json"))


@pytest.mark.parametrize("case", CASES, ids=[path.stem for path in CASES])
def test_reported_cases(tmp_path: Path, case: Path) -> None:
    """Outputs that comparable tools got wrong (the reports stand in each file): whole outputs, line by line.

    rtk#3338, rtk#2962, rtk#4207, rtk#1613, qwen-code#5370, headroom#2084, rtk#206, rtk#1436, rtk#4113, serena#2017,
    rtk#4065, lean-ctx#1648, headroom#3545, codegraph#1474; and rtk#2280: only the output is answered with.
    """
    told = json.loads(case.read_text("utf-8"))
    for name, content in told["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])
        )
    for run in told["runs"]:
        said = answer(bash(tmp_path / run["cwd"], run["command"], run["stdout"]), PATIENT, {})
        lines = run["stdout"].split("\n")
        wanted = [
            f"{line} ⟵ {run['suffixes'][str(n)]}" if str(n) in run["suffixes"] else line
            for n, line in enumerate(lines)
        ]
        got = said["hookSpecificOutput"]["updatedToolOutput"]["stdout"] if said else run["stdout"]  # type: ignore[index]
        assert got.split("\n") == wanted, run["command"]
        assert said is None or set(said["hookSpecificOutput"]) == {"hookEventName", "updatedToolOutput"}  # type: ignore[call-overload]
    assert told["reports"]


def test_a_search_without_a_match(project: Path) -> None:
    """rtk#162: grep's exit 1 is no error; its empty output stays empty."""
    assert answer(bash(project, "grep -rn nothing .", ""), PATIENT, {}) is None


def related(project: Path, home: Path, **payload: Any) -> tuple[str, str]:
    """Return the annotated output, and what stands below it, of a search with the graph's block on."""
    settings = Settings(annotate_timeout_ms=60_000, annotate_graph="on")
    done = answer(
        {**bash(project, "grep -rn needle .", HITS), **payload}, settings, {"SLICEGREP_HOME": str(home)}
    )
    assert done is not None
    text = done["hookSpecificOutput"].get("updatedToolOutput", {}).get("stdout")
    text = done["hookSpecificOutput"]["additionalContext"] if text is None else text
    output, _, block = text.partition("[Related from slicegrep dependency graph]\n")
    return output, block


def test_the_graphs_block_stands_below_the_output_where_it_is_asked_for(
    project: Path, tmp_path: Path
) -> None:
    """One line for each function that was hit, after the last line; the lines above are as without it."""
    (project / "use.py").write_text("from core import free\n\ndef user():\n    return free()\n")
    output, block = related(project, tmp_path / "home")
    assert output == ANNOTATED + "\n"
    first, second = block.splitlines()
    assert first.startswith("Store.fetch (core) ")
    assert second.startswith("free (core) callers: user use.py:4")
    assert "(lower bound: " in second
    plain = answer(
        bash(project, "grep -rn needle .", HITS), PATIENT, {"SLICEGREP_HOME": str(tmp_path / "home")}
    )
    assert plain is not None
    assert plain["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == ANNOTATED  # off by default


def test_a_client_that_lets_no_hook_change_a_result_gets_the_block_behind_the_list(
    project: Path, tmp_path: Path
) -> None:
    """2.1.100, whose transcript tells its version."""
    transcript(project / "t.jsonl", "2.1.100")
    output, block = related(project, tmp_path / "home", transcript_path=str(project / "t.jsonl"))
    assert output.splitlines()[-1] == "core.py:6: ⟵ free 5-6"
    assert len(block.splitlines()) == 2


def test_the_block_never_makes_a_result_longer_than_the_client_shows(project: Path, tmp_path: Path) -> None:
    """An output that leaves no room for it is annotated alone."""
    long = "x" * (29_000 - len(HITS) - 120)
    done = answer(
        bash(project, "grep -rn needle .", f"{HITS}\n{long}"),
        Settings(annotate_timeout_ms=60_000, annotate_graph="on"),
        {"SLICEGREP_HOME": str(tmp_path / "home")},
    )
    assert done is not None
    text = done["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert (text.splitlines()[0], "Related" in text) == (ANNOTATED.splitlines()[0], False)


def test_the_hook_passes_on_what_stands_for_the_parser(project: Path, tmp_path: Path) -> None:
    """The resident engine keeps outlines; the answer is the same."""
    payload = bash(project, "grep -rn needle", HITS)
    environment = {"SLICEGREP_HOME": str(tmp_path / "home")}
    asked: list[str] = []

    def kept(source: Source, **_: Any) -> Outline:
        asked.append(source.path)
        return parser.outline(source)

    call = call_of(payload, environment)
    said = after(call, PATIENT, payload, environment, annotating=True, outline_of=kept)
    assert said == after(call, PATIENT, payload, environment, annotating=True)
    assert said is not None
    assert asked == [str(project / "core.py")]


def test_a_file_that_changed_between_two_searches_is_never_taken_for_what_it_was(project: Path) -> None:
    """Its size and its time are the same: an engine that keeps both the lines and the definitions sees other bytes."""
    memory, file = Memory(10_000_000), project / "core.py"

    def told(text: str) -> str:
        payload = bash(project, "grep -n needle *.py", text)
        done = outcome(payload, PATIENT, {}, memory.outline_of, memory.source_of)
        while memory.has_more():
            memory.complete_one()
        return done.answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"] if done.answer else text

    assert told(HITS) == told(HITS) == ANNOTATED
    status = file.stat()
    file.write_text(CORE.replace("needle", "noodle").replace("free", "easy"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert told(HITS) == HITS
    assert told(HITS.replace("needle", "noodle")) == ANNOTATED.replace("needle", "noodle").replace(
        "free", "easy"
    )
