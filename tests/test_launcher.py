"""The launcher decides reads cheaply and hands over exactly, in every shell that `sh` may be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from launcher_stand import (
    EVENTS,
    HOOK_SHELLS,
    REPOSITORY,
    SESSION,
    Stand,
    handed,
    line,
    payload_of,
    read_call,
    spaced,
)
from slicegrep.languages import SUFFIXES

LARGE = 9000


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """Return a stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes", "On"])
@pytest.mark.parametrize("event", EVENTS)
def test_disabled_nothing_is_started_read_or_written(stand: Stand, event: str, value: str) -> None:
    """selvedge#20: the opt-out is looked at first, whatever waits on standard input."""
    before = stand.kept()
    given = {"file_path": stand.file("a.py", LARGE)}
    assert stand.run(event, read_call(given, prompt="x" * 300_000), SLICEGREP_HOOK_DISABLE=value) == ""
    assert stand.calls() == []
    assert stand.kept() == before


def test_python_gets_the_payload_to_the_byte(stand: Stand) -> None:
    """Whatever the letters of the path, and however the environment is set up; its answer comes back as it is."""
    answer = {"hookSpecificOutput": {"additionalContext": "Ё ⟵ \u2028 \\ \" '%s $x `y`\n\t" * 900}}
    stand.behave(
        f"sys.stdout.reconfigure(encoding='utf-8'); print({json.dumps(answer, ensure_ascii=False)!r})"
    )
    every = "".join(
        chr(c) for c in range(0xA1, 0x450)
    )  # in UTF-8 every byte that a shell may use as a mark of its own
    payload = read_call({"file_path": stand.file("Ёлка 'x' %s $HOME *.py", LARGE)}, agent_id=every)
    assert json.loads(stand.run("pre-read", payload)) == answer
    (call,) = stand.calls()
    assert call.words[:-1] == ["pre-read", str(stand.site)]
    assert call.stdin.rstrip(b"\n") == payload.rstrip(b"\n")
    assert (call.record["isolated"], call.record["no_site"]) == (1, 1)
    assert call.record["pycache"] == str(stand.home / "pyc")
    assert call.record["token"] is None


@pytest.mark.parametrize(
    "extra",
    [
        {"offset": 1},
        {"limit": 20},
        {"offset": 0, "limit": 20},
        {"pages": "1-3"},
        {"allow_large": True},
        {"offset": "3"},
        {"limit": "3"},
        {"allow_large": "true"},
        {"pages": ["1"]},
    ],
)
def test_a_read_that_asks_for_a_part_or_for_all_passes(stand: Stand, extra: dict[str, Any]) -> None:
    """Any of offset, limit, pages and allow_large leaves the read alone, with or without spaces, in any order."""
    given = {"file_path": stand.file("a.py", LARGE), **extra}
    payload = payload_of("PreToolUse", "Read", given)
    turned = payload | {"tool_input": dict(reversed(given.items()))}
    texts = (
        line(payload),
        line(turned),
        spaced(payload),
        spaced(payload, indent=2),
    )
    assert [handed(stand, text) for text in texts] == [False] * 4


@pytest.mark.parametrize(
    "extra", [{"offset": None}, {"allow_large": False, "limit": None}, {"pages": ""}, {}]
)
def test_a_read_that_asks_for_no_part_is_handed_over(stand: Stand, extra: dict[str, Any]) -> None:
    """null, false and empty text ask for nothing; the order and the spacing of the keys do not matter."""
    given = {**extra, "file_path": stand.file("a b.py", LARGE)}
    payload = payload_of("PreToolUse", "Read", given)
    turned = dict(reversed(payload.items()))
    texts = (
        line(payload),
        line(turned),
        spaced(payload),
        spaced(payload, indent=2),
    )
    assert [handed(stand, text) for text in texts] == [True] * 4


def test_key_names_inside_strings_are_no_keys(stand: Stand) -> None:
    """A folder may be called `offset`, and text may hold JSON: neither passes a read through."""
    path = stand.file('offset/limit/"pages":1/a.py', LARGE)
    assert handed(stand, read_call({"file_path": path}))
    path = stand.file("offset/limit/a.py", LARGE)
    for cwd in ("offset", 'x","offset":3,"y":"', "{'offset': 3}", "allow_large:true", '"limit":5', "\\"):
        assert handed(stand, read_call({"file_path": path}, cwd=cwd))


@pytest.mark.parametrize(
    "name", ["a.md", "a.ipynb", "a.json", "a", "Makefile", ".py", "a.py.txt", "a.py/", "a.pyx", "a.mdpy"]
)
def test_what_is_no_source_code_passes(stand: Stand, name: str) -> None:
    """claude-mem#2193: Markdown, notebooks, configuration and files without a suffix are never touched."""
    path = stand.file(name.rstrip("/"), LARGE) + name[len(name.rstrip("/")) :]
    assert not handed(stand, read_call({"file_path": path}))


@pytest.mark.parametrize(
    "name", ["a.py", ".a.py", "a.b.tsx", "a.c++", "a.PY", "a.C", "[x] *?.go", "-n.rs", "a'b`c`$d.c"]
)
def test_large_source_code_is_handed_over(stand: Stand, name: str) -> None:
    """Whatever its name; a suffix in capitals is left to Python."""
    assert handed(stand, read_call({"file_path": stand.file(name, LARGE)}))


def test_sizes_are_those_of_the_knobs(stand: Stand) -> None:
    """Below two bytes a token nothing can qualify, nor above the largest size; the variable wins over the option."""
    for size, variables, expected in [
        (3999, {}, False),
        (4000, {}, True),
        (3999, {"SLICEGREP_HOOK_MIN_TOKENS": "100"}, True),
        (199, {"SLICEGREP_HOOK_MIN_TOKENS": "100"}, False),
        (199, {"CLAUDE_PLUGIN_OPTION_MIN_TOKENS": "90"}, True),
        (199, {"SLICEGREP_HOOK_MIN_TOKENS": "100", "CLAUDE_PLUGIN_OPTION_MIN_TOKENS": "1"}, False),
        (199, {"SLICEGREP_HOOK_MIN_TOKENS": "", "CLAUDE_PLUGIN_OPTION_MIN_TOKENS": "1"}, True),
        (0, {"SLICEGREP_HOOK_MIN_TOKENS": "0"}, True),
        (5001, {"SLICEGREP_HOOK_MAX_BYTES": "5000"}, False),
        (5000, {"SLICEGREP_HOOK_MAX_BYTES": "5000"}, True),
    ]:
        payload = read_call({"file_path": stand.file(f"n{size}.py", size)})
        assert handed(stand, payload, **variables) is expected, (size, variables)


@pytest.mark.parametrize(
    "value", ["1e2", "007", "9.5", " 100 ", "-1", "many", "99999999999999999999", "$(echo 9)", "a[0]"]
)
def test_a_number_that_only_python_reads_is_left_to_python(stand: Stand, value: str) -> None:
    """The settings accept more than plain digits, and refuse more: sh does not guess."""
    payload = read_call({"file_path": stand.file("a.py", 250)})
    assert handed(stand, payload, SLICEGREP_HOOK_MIN_TOKENS=value)
    payload = read_call({"file_path": stand.file("b.py", LARGE)})
    assert handed(stand, payload, SLICEGREP_HOOK_MAX_BYTES=value)


def test_what_is_no_regular_file_passes(stand: Stand) -> None:
    """A missing file, a folder and a pipe that nobody writes to: the client itself says what is wrong."""
    (stand.work / "folder.py").mkdir()
    os.mkfifo(stand.work / "pipe.py")
    for name in ("missing.py", "folder.py", "pipe.py"):
        assert not handed(stand, read_call({"file_path": str(stand.work / name)}))


def test_paths_that_sh_would_have_to_guess_go_to_python(stand: Stand) -> None:
    """Escapes in the path, relative paths and `~`; on Windows at least the suffix decides."""
    path = stand.file('a\\b "c"\n.py', LARGE)
    for given in (path, "a.py", "~/a.py", "C:\\x\\a.py", "\\\\host\\x\\a.py", "/x\\a.md"):
        assert handed(stand, read_call({"file_path": given})), given
    for given in ("C:\\x\\a.md", "\\\\host\\x.py\\a", "C:/x/a.md", "a.md", "~/a"):
        assert not handed(stand, read_call({"file_path": given})), given


@pytest.mark.parametrize("given", [{}, {"file_path": ""}, {"file": "/a.py"}])
def test_a_read_without_a_path_passes(stand: Stand, given: dict[str, Any]) -> None:
    """There is nothing to narrow."""
    assert not handed(stand, read_call(given))


def read_result(given: dict[str, Any], kind: str = "text") -> bytes:
    """Return a PostToolUse payload of Read."""
    shown = {"type": kind, "file": {"filePath": given["file_path"], "content": "x", "numLines": 1}}
    return line(payload_of("PostToolUse", "Read", given, shown))


def test_what_was_shown_is_noted_once_something_was_delivered(stand: Stand) -> None:
    """The request alone, one a line, private: of a text, not of `file_unchanged`, and only where `reads` is there."""
    kept = stand.home / "state" / SESSION / "reads"
    ranged = {"file_path": stand.file("s.py", 9), "offset": 3}
    stand.run("post-read", read_result(ranged))
    assert not kept.exists()
    kept.parent.mkdir(parents=True)
    kept.touch(0o600)
    stand.run("pre-read", read_call(ranged))
    stand.run("post-read", read_result(ranged, "file_unchanged"))
    stand.run("post-read", spaced(json.loads(read_result(ranged)), indent=1))
    assert kept.read_bytes() == b""
    stand.run("post-read", read_result(ranged))
    (row,) = kept.read_text("utf-8").splitlines()
    wanted = payload_of("PostToolUse", "Read", ranged) | {"shown": True}
    del wanted["tool_use_id"]
    assert json.loads(row) == wanted
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("status", "cause"), [("1", "1"), ("137", "137")])
def test_a_failure_of_python_is_noted_for_the_ledger(stand: Stand, status: str, cause: str) -> None:
    """Where the session has state; with the number that the mark of a killed one is named after."""
    kept = stand.home / "state" / SESSION / "reads"
    stand.behave(f"os._exit({status})")
    payload = read_call({"file_path": stand.file("l.py", LARGE)})
    stand.run("pre-read", payload)
    assert not kept.exists()
    kept.parent.mkdir(parents=True)
    stand.run("pre-read", payload)
    row = json.loads(kept.read_text("utf-8"))
    assert row == {"failed": "pre-read", "cause": cause, "call": int(stand.calls()[-1].words[-1])}


@pytest.mark.parametrize("name", ["prompts", "reads"])
def test_a_fifo_in_the_place_of_a_state_file_holds_nothing_up(stand: Stand, name: str) -> None:
    """Nor is a link followed."""
    folder = stand.home / "state" / SESSION
    folder.mkdir(parents=True)
    os.mkfifo(folder / name)
    stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x")))
    stand.run("post-read", read_result({"file_path": stand.file("s.py", 9)}))
    stand.drop_environment()
    stand.run("pre-read", read_call({"file_path": stand.file("l.py", LARGE)}))


@pytest.mark.parametrize("session", ["../x", "a/b", "", ".", "a" * 129, "a b", "é", 7, None])
def test_a_session_id_that_is_no_plain_name_makes_no_path(stand: Stand, session: Any) -> None:
    """Nothing is written for it, and Python is asked in place of sh."""
    for name in ("seen", "x/seen", "a/b/seen"):
        (stand.home / "state" / name).mkdir(parents=True, exist_ok=True)
    before = stand.kept()
    assert handed(stand, read_call({"file_path": stand.file("s.py", 9)}, session_id=session))
    stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x", session_id=session)))
    assert stand.kept() == before


def test_a_read_without_a_plan_passes(stand: Stand) -> None:
    """Nearly every read; the result may be as large as the client allows."""
    answer = {
        "type": "text",
        "file": {"filePath": "/a", "content": 'a "quoted" line\n' * 15_000, "numLines": 15_000},
    }
    payload = line(payload_of("PostToolUse", "Read", {"file_path": "/a"}, answer))
    (stand.home / "state" / SESSION / "plans").mkdir(parents=True)
    assert stand.run("post-read", payload) == ""
    assert stand.calls() == []


@pytest.mark.parametrize("size", [10, 3000, 32_700, 40_000, 300_000, 1_200_000])
def test_a_read_with_a_plan_reaches_python_whole(stand: Stand, size: int) -> None:
    """Also when it is larger than what the launcher looks at, and where the cut falls behind a brace."""
    folder = stand.home / "state" / SESSION / "plans"
    folder.mkdir(parents=True)
    (folder / "toolu_1_0.json").write_text("{}")
    payload = line(
        payload_of("PostToolUse", "Read", {"file_path": "/a"}, {"file": {"content": "}Ё\n" * (size // 4)}})
    )
    stand.behave("print('{}')")
    assert stand.run("post-read", payload) == "{}\n"
    assert stand.calls()[0].stdin.rstrip(b"\n") == payload.rstrip(b"\n")


def test_a_payload_that_arrives_in_pieces_is_taken_whole(stand: Stand) -> None:
    """A pipe hands over what is there: the first piece may end before anything is known."""
    folder = stand.home / "state" / SESSION / "plans"
    folder.mkdir(parents=True)
    (folder / "toolu_1_0.json").write_text("{}")
    payload = line(payload_of("PostToolUse", "Read", {"file_path": "/a"}, {"file": {"content": "x" * 9000}}))
    words = [*stand.shell, str(stand.root / "hooks" / "slicegrep-hook"), "post-read"]
    with subprocess.Popen(words, env=stand.variables(), stdin=subprocess.PIPE) as hook:
        assert hook.stdin
        for piece in (payload[:20], payload[20:500], payload[500:]):
            hook.stdin.write(piece)
            hook.stdin.flush()
            time.sleep(0.3)
        hook.stdin.close()
        assert hook.wait(20) == 0
    assert [call.stdin for call in stand.calls()] == [payload.rstrip(b"\n")]


def test_the_suffixes_are_those_of_the_language_table() -> None:
    """The one list that sh has to repeat never drifts from `languages.SUFFIXES`."""
    text = (REPOSITORY / "hooks" / "slicegrep-hook").read_text("utf-8")
    listed = re.search(r"^  ((?:\.\S+ \| )+\.\S+)\) ;;$", text, re.MULTILINE)
    assert listed
    assert set(listed.group(1).split(" | ")) == SUFFIXES
