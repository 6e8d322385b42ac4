"""The launcher tells search results, references and the rest apart, in every shell that `sh` may be."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from launcher_stand import HOOK_SHELLS, Stand, bash_result, line, payload_of, spaced


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """Return a stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


def route(stand: Stand, payload: bytes, **variables: str | None) -> str:
    """Where a search result goes: front (Python's answer is waited for) or back (only remembered)."""
    stand.forget_calls()
    stand.behave('print(\'{"from":"python"}\')')
    said = stand.run("post-search", payload, **variables)
    (call,) = stand.calls(wait_for=1)
    assert call.words[:-1] == ["post-search" if said else "remember", str(stand.site)]
    assert call.stdin.rstrip(b"\n") == payload.rstrip(b"\n")
    return "front" if said else "back"


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn foo .",
        "cd sub && grep -n foo a.py | head",
        "git grep foo",
        "rg foo",
        "cd x\nrg foo",
        "cd x;rg -n foo",
        "/usr/bin/rg foo",
        "\\rg foo",
        "(ag foo)",
        "ack\tfoo",
        "x && ugrep -n foo",
        'egrep "a|b" x',
        "rg",
        "rg.exe foo",
        "x=1\n\nag foo",
    ],
)
def test_search_commands_are_handed_over(stand: Stand, command: str) -> None:
    """Every tool that annotation knows, wherever it stands in the command."""
    assert route(stand, bash_result(command, "a.py:3:foo")) == "front"


def test_other_commands_pass(stand: Stand) -> None:
    """Words that only contain the name of a tool are none, and times or addresses are no references."""
    output = 'drwxr-xr-x 2 me me 4096 Nov 30 13:14 grep "rg" http://localhost:8080/a f(1) {"a":1}\n'
    for command in (
        "ls -la",
        "cat a.py",
        "cargo build",
        "./target/org --flag",
        "kubectl get pods",
        "make x-rg",
    ):
        for lines in (0, 3, 3000):
            assert stand.run("post-search", bash_result(command, output * lines)) == ""
    time.sleep(0.5)  # a background process that should not be there would have begun by now
    assert stand.calls() == []


@pytest.mark.parametrize(
    "output",
    [
        'Traceback:\n  File "/p/a.py", line 12, in f\n',
        "src/main.rs:10:5: error",
        "a.go:7: undefined",
        "\tat com.acme.A.run(A.java:12)",
        "src/a.ts(12,5): error TS2304",
        "x.scala:3: error",
        "B.svelte:4:1",
        "./a.sh: line 5: x: command not found",
    ],
)
def test_lines_of_files_in_other_output_are_remembered_behind_the_call(stand: Stand, output: str) -> None:
    """Tracebacks and compiler errors point the next read: nothing waits for that."""
    assert route(stand, bash_result("make test", f"running\n{output}")) == "back"


def test_results_that_cannot_be_annotated_are_only_remembered(stand: Stand) -> None:
    """No match, a result of which only a preview is shown, names and counts, or annotation switched off."""
    grep = {"mode": "files_with_matches", "filenames": ["a.py"], "numFiles": 1}
    given = {"pattern": "foo", "output_mode": "files_with_matches"}
    assert route(stand, line(payload_of("PostToolUse", "Grep", given, grep))) == "back"
    assert route(stand, bash_result("grep foo a.py", "")) == "back"
    assert route(stand, bash_result("grep foo a.py", "a:1:foo", persistedOutputPath="/x")) == "back"
    for value in ("off", "0", "No", "FALSE"):
        assert route(stand, bash_result("grep foo a.py", "a:1:foo"), SLICEGREP_ANNOTATE=value) == "back"
    assert (
        route(stand, bash_result("grep foo a.py", "a:1:foo"), CLAUDE_PLUGIN_OPTION_ANNOTATE="false") == "back"
    )
    both = {"SLICEGREP_ANNOTATE": "on", "CLAUDE_PLUGIN_OPTION_ANNOTATE": "false"}
    assert route(stand, bash_result("grep foo a.py", "a:1:foo"), **both) == "front"


def test_the_other_tools_and_shapes_are_handed_over(stand: Stand) -> None:
    """Grep's content mode, PowerShell, results of 300 kB, and a command longer than what is looked at first."""
    content = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": 'core.py:5:say("x")\n' * 4,
        "numLines": 4,
    }
    for payload in (
        payload_of("PostToolUse", "Grep", {"pattern": "foo", "output_mode": "content"}, content),
        payload_of("PostToolUse", "Grep", {"pattern": "foo"}, content),
        payload_of("PostToolUse", "PowerShell", {"command": "rg foo"}, {"stdout": "a:1:foo"}),
    ):
        assert route(stand, line(payload)) == "front"
        assert route(stand, spaced(payload)) == "front"
    assert route(stand, bash_result("grep foo a.py", "a.py:1:foo {}\n" * 20_000)) == "front"
    assert (
        route(stand, bash_result(f"cat >x <<'EOF'\n{'text ' * 20_000}\nEOF\ngrep foo a.py", "a.py:1:foo"))
        == "front"
    )


def test_remembering_keeps_nobody_waiting(stand: Stand) -> None:
    """It runs in a session of its own, without the client's pipes or token, while the call goes on."""
    stand.behave("time.sleep(8)")
    begun = time.monotonic()
    assert stand.run("post-search", bash_result("make", "a.py:3: error\n" * 9000)) == ""
    assert time.monotonic() - begun < 7
    (call,) = stand.calls(wait_for=1)
    assert call.record["session"] != os.getsid(0)
    assert call.record["token"] is None
    stand.calls(wait_for=1, stage="ended")


def test_a_failed_command_that_names_lines_is_remembered(stand: Stand) -> None:
    """Most test runs that find something end in an error; without a place in the text there is nothing to keep."""

    def failed(text: str) -> bytes:
        payload = payload_of("PostToolUseFailure", "Bash", {"command": "pytest"}, {})
        del payload["tool_response"]
        return line({**payload, "error": text})

    stand.behave('print(\'{"from":"python"}\')')
    assert stand.run("post-failure", failed('Exit code 1\n  File "a.py", line 12, in f\n')) == ""
    (call,) = stand.calls(wait_for=1)
    assert call.words[:-1] == ["remember", str(stand.site)]
    stand.forget_calls()
    for payload in (failed("Exit code 127: no such command"), b"", b"junk"):
        assert stand.run("post-failure", payload) == ""
    time.sleep(0.3)
    assert stand.calls() == []
