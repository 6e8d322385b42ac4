"""The launcher decides cheaply, hands over exactly, and never disturbs a session, in every shell that `sh` may be."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from launcher_stand import HOOK_SHELLS, REPOSITORY, Stand, payload_of

from slicegrep.languages import SUFFIXES

EVENTS = ("pre-read", "post-read", "post-search", "prompt", "session-start", "set-up")
LARGE = 9000
SESSION = "5f0c-aa"


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """A stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


def line(payload: dict[str, Any]) -> bytes:
    """A payload as the client writes it."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def read(given: dict[str, Any], **more: Any) -> bytes:
    """A PreToolUse payload of Read."""
    return line(payload_of("PreToolUse", "Read", given, **more))


def bash(command: str, stdout: str = "", **answer: Any) -> bytes:
    """A PostToolUse payload of Bash."""
    shown = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **answer}
    return line(payload_of("PostToolUse", "Bash", {"command": command, "description": "Do it"}, shown))


def test_the_suffixes_are_those_of_the_language_table() -> None:
    """The one list that sh has to repeat never drifts from `languages.SUFFIXES`."""
    text = (REPOSITORY / "hooks" / "slicegrep-hook").read_text("utf-8")
    listed = re.search(r"^  ((?:\.\S+ \| )+\.\S+)\) ;;$", text, re.MULTILINE)
    assert listed
    assert set(listed.group(1).split(" | ")) == SUFFIXES


# ---- Registration


def registrations() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every (event, group, handler) of hooks.json."""
    found = json.loads((REPOSITORY / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    return [
        (event, group, handler)
        for event, groups in found.items()
        for group in groups
        for handler in group["hooks"]
    ]


def test_every_tool_hook_has_an_exact_matcher() -> None:
    """claude-plugins-official#5048: a hook without a matcher runs on every call."""
    matchers = sorted(
        (event, group.get("matcher")) for event, group, _ in registrations() if event.endswith("ToolUse")
    )
    assert matchers == [
        ("PostToolUse", "Grep|Bash|PowerShell"),
        ("PostToolUse", "Read"),
        ("PreToolUse", "Read"),
    ]


def test_only_set_up_is_asynchronous_and_every_hook_has_a_time_limit() -> None:
    """A hook that hangs is cut by the client long before its default of 600 seconds."""
    assert [handler["command"].split()[2] for _, _, handler in registrations() if handler.get("async")] == [
        "set-up"
    ]
    assert all(handler["timeout"] <= 10 or handler.get("async") for _, _, handler in registrations())


def registered(stand: Stand, event: str, payload: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the command of hooks.json itself."""
    command = next(h["command"] for _, _, h in registrations() if f" {event} " in h["command"])
    variables = stand.variables()
    return subprocess.run(
        [*stand.shell, "-c", command], input=payload, capture_output=True, env=variables, check=False
    )


def test_the_registered_commands_reach_the_launcher(stand: Stand) -> None:
    """The plugin's root has spaces, quotes, a dollar sign and letters outside ASCII in its name."""
    stand.behave("print('{\"ok\":1}')")
    done = registered(stand, "pre-read", read({"file_path": stand.file("a.py", LARGE)}))
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"ok":1}\n', b"")


@pytest.mark.parametrize("event", EVENTS)
def test_a_launcher_deleted_under_a_running_session_says_nothing(stand: Stand, event: str) -> None:
    """claude-code#46915: a plugin update deletes the directory under a running session."""
    (stand.root / "hooks" / "slicegrep-hook").unlink()
    done = registered(stand, event, read({"file_path": "/a.py"}))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_launcher_half_written_does_nothing(stand: Stand) -> None:
    """context-mode#604: wherever an update has got to with the file, no call is blocked and nothing is printed."""
    launcher = stand.root / "hooks" / "slicegrep-hook"
    whole = launcher.read_bytes()
    before = stand.kept()
    for size in range(0, len(whole) - len(b'main "$@"\nexit 0\n'), 397):
        launcher.write_bytes(whole[:size])
        done = registered(stand, "prompt", line(payload_of("UserPromptSubmit", prompt="hello")))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert stand.kept() == before


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes", "On"])
@pytest.mark.parametrize("event", EVENTS)
def test_disabled_nothing_is_started_read_or_written(stand: Stand, event: str, value: str) -> None:
    """selvedge#20: the opt-out is looked at first, whatever waits on standard input."""
    before = stand.kept()
    given = {"file_path": stand.file("a.py", LARGE)}
    assert stand.run(event, read(given, prompt="x" * 300_000), SLICEGREP_HOOK_DISABLE=value) == ""
    assert stand.calls() == []
    assert stand.kept() == before


# ---- PreToolUse of Read


def handed(stand: Stand, payload: bytes, **variables: str | None) -> bool:
    """Whether a read was handed to Python."""
    stand.forget_calls()
    stand.run("pre-read", payload, **variables)
    return len(stand.calls()) == 1


def test_python_gets_the_payload_to_the_byte(stand: Stand) -> None:
    """Whatever the letters of the path, and however the environment is set up; its answer comes back as it is."""
    answer = {"hookSpecificOutput": {"additionalContext": "Ё ⟵ \u2028 \\ \" '%s $x `y`\n\t" * 900}}
    stand.behave(
        f"sys.stdout.reconfigure(encoding='utf-8'); print({json.dumps(answer, ensure_ascii=False)!r})"
    )
    every = "".join(
        chr(c) for c in range(0xA1, 0x450)
    )  # in UTF-8 every byte that a shell may use as a mark of its own
    payload = read({"file_path": stand.file("Ёлка 'x' %s $HOME *.py", LARGE)}, agent_id=every)
    assert json.loads(stand.run("pre-read", payload)) == answer
    (call,) = stand.calls()
    assert call.words == ["pre-read", str(stand.site)]
    assert call.stdin == payload.rstrip(b"\n")
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
        json.dumps(payload).encode(),
        json.dumps(payload, indent=2).encode(),
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
        json.dumps(payload).encode(),
        json.dumps(payload, indent=2).encode(),
    )
    assert [handed(stand, text) for text in texts] == [True] * 4


def test_key_names_inside_strings_are_no_keys(stand: Stand) -> None:
    """A folder may be called `offset`, and text may hold JSON: neither passes a read through."""
    path = stand.file('offset/limit/"pages":1/a.py', LARGE)
    assert handed(stand, read({"file_path": path}))
    path = stand.file("offset/limit/a.py", LARGE)
    for cwd in ("offset", 'x","offset":3,"y":"', "{'offset': 3}", "allow_large:true", '"limit":5', "\\"):
        assert handed(stand, read({"file_path": path}, cwd=cwd))


@pytest.mark.parametrize(
    "name", ["a.md", "a.ipynb", "a.json", "a", "Makefile", ".py", "a.py.txt", "a.py/", "a.pyx", "a.mdpy"]
)
def test_what_is_no_source_code_passes(stand: Stand, name: str) -> None:
    """claude-mem#2193: Markdown, notebooks, configuration and files without a suffix are never touched."""
    path = stand.file(name.rstrip("/"), LARGE) + name[len(name.rstrip("/")) :]
    assert not handed(stand, read({"file_path": path}))


@pytest.mark.parametrize(
    "name", ["a.py", ".a.py", "a.b.tsx", "a.c++", "a.PY", "a.C", "[x] *?.go", "-n.rs", "a'b`c`$d.c"]
)
def test_large_source_code_is_handed_over(stand: Stand, name: str) -> None:
    """Whatever its name; a suffix in capitals is left to Python."""
    assert handed(stand, read({"file_path": stand.file(name, LARGE)}))


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
        payload = read({"file_path": stand.file(f"n{size}.py", size)})
        assert handed(stand, payload, **variables) is expected, (size, variables)


@pytest.mark.parametrize(
    "value", ["1e2", "007", "9.5", " 100 ", "-1", "many", "99999999999999999999", "$(echo 9)", "a[0]"]
)
def test_a_number_that_only_python_reads_is_left_to_python(stand: Stand, value: str) -> None:
    """The settings accept more than plain digits, and refuse more: sh does not guess."""
    payload = read({"file_path": stand.file("a.py", 250)})
    assert handed(stand, payload, SLICEGREP_HOOK_MIN_TOKENS=value)
    payload = read({"file_path": stand.file("b.py", LARGE)})
    assert handed(stand, payload, SLICEGREP_HOOK_MAX_BYTES=value)


def test_what_is_no_regular_file_passes(stand: Stand) -> None:
    """A missing file, a folder and a pipe that nobody writes to: the client itself says what is wrong."""
    (stand.work / "folder.py").mkdir()
    os.mkfifo(stand.work / "pipe.py")
    for name in ("missing.py", "folder.py", "pipe.py"):
        assert not handed(stand, read({"file_path": str(stand.work / name)}))


def test_paths_that_sh_would_have_to_guess_go_to_python(stand: Stand) -> None:
    """Escapes in the path, relative paths and `~`; on Windows at least the suffix decides."""
    path = stand.file('a\\b "c"\n.py', LARGE)
    for given in (path, "a.py", "~/a.py", "C:\\x\\a.py", "\\\\host\\x\\a.py", "/x\\a.md"):
        assert handed(stand, read({"file_path": given})), given
    for given in ("C:\\x\\a.md", "\\\\host\\x.py\\a", "C:/x/a.md", "a.md", "~/a"):
        assert not handed(stand, read({"file_path": given})), given


@pytest.mark.parametrize("given", [{}, {"file_path": ""}, {"file": "/a.py"}])
def test_a_read_without_a_path_passes(stand: Stand, given: dict[str, Any]) -> None:
    """There is nothing to narrow."""
    assert not handed(stand, read(given))


def test_passed_reads_are_kept_once_the_session_has_interceptions(stand: Stand) -> None:
    """One payload a line, private, only where `seen/` is there; a read handed over is Python's to record."""
    small, large = (
        read({"file_path": stand.file("s.py", 9)}),
        read({"file_path": stand.file("l.py", LARGE), "limit": 2}),
    )
    kept = stand.home / "state" / SESSION / "reads"
    stand.run("pre-read", small)
    assert not kept.exists()
    (kept.parent / "seen").mkdir(parents=True)
    stand.run("pre-read", small)
    stand.run("pre-read", large)
    stand.run("pre-read", read({"file_path": stand.file("l.py", LARGE)}))
    stand.run("pre-read", json.dumps(json.loads(small), indent=1).encode())
    assert kept.read_bytes() == small + large
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("session", ["../x", "a/b", "", ".", "a" * 129, "a b", "é", 7, None])
def test_a_session_id_that_is_no_plain_name_makes_no_path(stand: Stand, session: Any) -> None:
    """Nothing is written for it, and Python is asked in place of sh."""
    for name in ("seen", "x/seen", "a/b/seen"):
        (stand.home / "state" / name).mkdir(parents=True, exist_ok=True)
    before = stand.kept()
    assert handed(stand, read({"file_path": stand.file("s.py", 9)}, session_id=session))
    stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x", session_id=session)))
    assert stand.kept() == before


# ---- PostToolUse of Read


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
    assert stand.calls()[0].stdin == payload.rstrip(b"\n")


# ---- PostToolUse of Grep, Bash and PowerShell


def route(stand: Stand, payload: bytes, **variables: str | None) -> str:
    """Where a search result goes: front (Python's answer is waited for) or back (only remembered)."""
    stand.forget_calls()
    stand.behave('print(\'{"from":"python"}\')')
    said = stand.run("post-search", payload, **variables)
    (call,) = stand.calls(wait_for=1)
    assert call.words == ["post-search" if said else "remember", str(stand.site)]
    assert call.stdin == payload.rstrip(b"\n")
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
    assert route(stand, bash(command, "a.py:3:foo")) == "front"


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
            assert stand.run("post-search", bash(command, output * lines)) == ""
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
    assert route(stand, bash("make test", f"running\n{output}")) == "back"


def test_results_that_cannot_be_annotated_are_only_remembered(stand: Stand) -> None:
    """No match, a result of which only a preview is shown, names and counts, or annotation switched off."""
    grep = {"mode": "files_with_matches", "filenames": ["a.py"], "numFiles": 1}
    given = {"pattern": "foo", "output_mode": "files_with_matches"}
    assert route(stand, line(payload_of("PostToolUse", "Grep", given, grep))) == "back"
    assert route(stand, bash("grep foo a.py", "")) == "back"
    assert route(stand, bash("grep foo a.py", "a:1:foo", persistedOutputPath="/x")) == "back"
    for value in ("off", "0", "No", "FALSE"):
        assert route(stand, bash("grep foo a.py", "a:1:foo"), SLICEGREP_ANNOTATE=value) == "back"
    assert route(stand, bash("grep foo a.py", "a:1:foo"), CLAUDE_PLUGIN_OPTION_ANNOTATE="false") == "back"
    both = {"SLICEGREP_ANNOTATE": "on", "CLAUDE_PLUGIN_OPTION_ANNOTATE": "false"}
    assert route(stand, bash("grep foo a.py", "a:1:foo"), **both) == "front"


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
        assert route(stand, json.dumps(payload).encode()) == "front"
    assert route(stand, bash("grep foo a.py", "a.py:1:foo {}\n" * 20_000)) == "front"
    assert (
        route(stand, bash(f"cat >x <<'EOF'\n{'text ' * 20_000}\nEOF\ngrep foo a.py", "a.py:1:foo")) == "front"
    )


def test_remembering_keeps_nobody_waiting(stand: Stand) -> None:
    """It runs in a session of its own, without the client's pipes or token, while the call goes on."""
    stand.behave("time.sleep(3)")
    begun = time.monotonic()
    assert stand.run("post-search", bash("make", "a.py:3: error\n" * 9000)) == ""
    assert time.monotonic() - begun < 2
    (call,) = stand.calls(wait_for=1)
    assert call.record["session"] != os.getsid(0)
    assert call.record["token"] is None
    stand.calls(wait_for=1, stage="ended")


# ---- Prompts and sessions


def test_prompts_are_kept_privately_one_a_line(stand: Stand) -> None:
    """Exactly as they came, whatever is in them."""
    first = line(payload_of("UserPromptSubmit", prompt='say "hi"\nЁ \\ %s $(x) `y`', prompt_id="1"))
    second = line(payload_of("UserPromptSubmit", prompt="x" * 50_000))
    assert stand.run("prompt", first) == ""
    assert stand.run("prompt", second) == ""
    kept = stand.home / "state" / SESSION / "prompts"
    assert kept.read_bytes() == first + second
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_prompts_are_bounded(stand: Stand) -> None:
    """One of 64 kB or more is left to the transcript, and a file past 1 MB starts anew."""
    kept = stand.home / "state" / SESSION / "prompts"
    stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x" * 66_000)))
    assert not kept.exists()
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x" * 1_000_001)
    last = line(payload_of("UserPromptSubmit", prompt="last"))
    stand.run("prompt", last)
    assert kept.read_bytes() == last


def test_parallel_prompts_do_not_mix(stand: Stand) -> None:
    """Each is one write."""
    payloads = [line(payload_of("UserPromptSubmit", prompt=f"{n} " * 300)) for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda payload: stand.run("prompt", payload), payloads))
    kept = (stand.home / "state" / SESSION / "prompts").read_bytes()
    assert sorted(kept.splitlines(keepends=True)) == sorted(payloads)


def test_what_set_up_has_to_say_is_told_with_the_next_prompt_once(stand: Stand) -> None:
    """The notice is printed and taken away; one that is damaged is only taken away."""
    notice = stand.home / "notice"
    notice.write_text('{"systemMessage":"slicegrep is ready"}\n')
    prompt = line(payload_of("UserPromptSubmit", prompt="x"))
    assert [stand.run("prompt", prompt) for _ in range(2)] == ['{"systemMessage":"slicegrep is ready"}\n', ""]
    notice.write_text('{"systemMess')
    assert stand.run("prompt", prompt) == ""
    assert not notice.exists()


def test_clear_and_compaction_drop_what_was_shown(stand: Stand) -> None:
    """Of this session only; prompts and reads stay, for the focus and the ledger."""
    for session in (SESSION, "other"):
        for name in ("seen", "plans"):
            (stand.home / "state" / session / name).mkdir(parents=True)
            (stand.home / "state" / session / name / "x").write_text("x")
        (stand.home / "state" / session / "prompts").write_text("x")
    stand.run("session-start", line(payload_of("SessionStart", source="compact")))
    left = {str(path) for path in stand.kept() if path.startswith("state") and path.count("/") == 2}
    assert left == {
        f"state/{SESSION}/prompts",
        "state/other/prompts",
        "state/other/seen",
        "state/other/plans",
    }


# ---- Nothing disturbs the session


def remove(*names: str) -> Callable[[Stand], None]:
    """A fault: files of the plugin or the home folder are gone."""

    def fault(stand: Stand) -> None:
        for name in names:
            (stand.root / name if name.startswith("plugin") else stand.home / name).unlink()

    return fault


def write(name: str, text: str) -> Callable[[Stand], None]:
    """A fault: a file holds something else."""
    return lambda stand: (stand.home / name).write_text(text) and None or None


READY = "env/0123456789abcdef/.ready"
FAULTS: dict[str, Callable[[Stand], None]] = {
    "no environment": Stand.drop_environment,
    "half made": remove(READY),
    "ready is empty": write(READY, ""),
    "ready has no site": write(READY, "/bin/sh\n"),
    "ready is a folder": lambda stand: (stand.home / READY).unlink() or (stand.home / READY).mkdir(),
    "interpreter gone": remove("env/0123456789abcdef/bin/python"),
    "interpreter is no program": write(READY, f"{__file__}\n/x\n"),
    "hook gone": remove("plugin/slicegrep/hook/__main__.py"),
    "key gone": remove("plugin/requirements.key"),
    "key is empty": lambda stand: (stand.root / "plugin/requirements.key").write_text("\n") and None,
    "key climbs": lambda stand: (stand.root / "plugin/requirements.key").write_text("../../x\n") and None,
    "raises": lambda stand: stand.behave("print('{}'); raise SystemExit(1)"),
    "killed half-way": lambda stand: stand.behave(
        "sys.stdout.write('{\"a\":'); sys.stdout.flush(); os.kill(os.getpid(), 9)"
    ),
    "killed when done": lambda stand: stand.behave("print('{}', flush=True); os.kill(os.getpid(), 9)"),
    "prints half": lambda stand: stand.behave("print('{\"a\":')"),
    "prints a warning": lambda stand: stand.behave("print('warning {}')"),
    "only complains": lambda stand: stand.behave("print('x', file=sys.stderr)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_with_python_out_of_order_the_plain_call_happens(stand: Stand, fault: str) -> None:
    """Exit 0 and no output, on every event that would have asked it; nothing else is run in its place."""
    FAULTS[fault](stand)
    stand.fake("python3", f": >{str(stand.folder)!r}/ran; echo '{{}}'")
    (stand.home / "state" / SESSION / "plans").mkdir(parents=True, exist_ok=True)
    (stand.home / "state" / SESSION / "plans" / "x.json").write_text("{}")
    assert stand.run("pre-read", read({"file_path": stand.file("a.py", LARGE)})) == ""
    assert stand.run("post-read", line(payload_of("PostToolUse", "Read", {}, {"file": {}}))) == ""
    assert stand.run("post-search", bash("grep x a.py", "a.py:1:x")) == ""
    assert stand.run("post-search", bash("make", "a.py:1:x")) == ""
    assert not (stand.folder / "ran").exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"SLICEGREP_HOME": None, "HOME": None},
        {"SLICEGREP_HOME": "", "HOME": ""},
        {"SLICEGREP_HOME": "/dev/null"},
        {"SLICEGREP_HOME": "/proc/none"},
        {"SLICEGREP_HOME": "no/such/folder"},
        {"PATH": "/nowhere"},
    ],
)
def test_without_a_usable_home_or_path_nothing_happens(
    stand: Stand, variables: dict[str, str | None]
) -> None:
    """No home folder, one that is a file, one that cannot be written, no programs at all."""
    stand.shell[0] = str(stand.tools / stand.shell[0])
    before = sorted(stand.work.rglob("*"))
    payload = read({"file_path": stand.file("a.py", LARGE)}, prompt="x")
    for event in EVENTS:
        assert stand.run(event, payload, **variables) == ""
    assert set(stand.work.rglob("*")) - set(before) <= {
        stand.work / "a.py",
        *(stand.work / "no").rglob("*"),
        stand.work / "no",
    }


JUNK = {
    "nothing": b"",
    "an empty line": b"\n",
    "no JSON": b"hello\n",
    "an open brace": b"{",
    "an empty object": b"{}\n",
    "a list": b'["file_path","/a.py"]\n',
    "NUL bytes": b'{"session_id":"\0\0","tool_name":"Read\0"}\n',
    "bytes": bytes(range(256)) * 64,
    "bytes in braces": b"{" + bytes(range(1, 256)) * 64 + b"}",
    "quotes": b"{" + b'"' * 15_000 + b"}",
    "backslashes": b"{" + b"\\" * 40_000 + b"}",
    "stars": b'{"tool_input":' + b"*[a-z" * 9_000 + b"}",
    "1 MB": b'{"session_id":"a","tool_name":"Bash","tool_input":{"command":"' + b"x" * 1_000_000 + b'"}}\n',
    "an unfinished key": b'{"session_id":"a","tool_input":{"file_path":',
}


@pytest.mark.parametrize("junk", JUNK)
def test_junk_on_standard_input_is_survived(stand: Stand, junk: str) -> None:
    """Whatever arrives, on every event."""
    for event in (*EVENTS, "no-such-event", ""):
        stand.run(event, JUNK[junk])


def test_closed_standard_streams_are_survived(stand: Stand) -> None:
    """A client that went away has closed them."""
    for event in EVENTS:
        command = 'exec <&- >&- 2>&-; "$@"'
        words = [*stand.shell, str(stand.root / "hooks" / "slicegrep-hook"), event]
        done = subprocess.run(
            ["sh", "-c", command, "sh", *words], env=stand.variables(), timeout=60, check=False
        )
        assert done.returncode == 0


def test_random_payloads_end_well_and_no_qualifying_read_is_lost(stand: Stand) -> None:
    """300 random reads: exit 0, empty or JSON, and Python asked exactly where a parser says that the read may qualify."""
    chance = random.Random(20)
    stand.behave("print('{}')")
    files = {
        stand.file(name, LARGE): True
        for name in ("a.py", "Ё б.ts", "x y/c.rs", "'$d`.go", "file_path.c", "offset.py")
    }
    files |= {stand.file(name, LARGE): False for name in ("a.md", "Ё", "b.txt")}
    files |= {stand.file(name, 300): False for name in ("small.py", "s Ё.go")}
    words = [
        "offset",
        "limit",
        "pages",
        "allow_large",
        "file_path",
        "session_id",
        "a:b",
        "{",
        "}",
        ",",
        "null",
        "Ё",
        " ",
        "",
    ]
    wrong = []
    for _ in range(300):
        path = chance.choice(list(files))
        extra = {
            chance.choice(words[:4]): chance.choice([None, False, 3, True, "", "2"])
            for _ in range(chance.choice([0, 0, 1, 2]))
        }
        noise = {
            chance.choice(words) + "_": chance.choice([*words, 5, None, [chance.choice(words)], {"x": 1}])
            for _ in range(3)
        }
        given = list({"file_path": path, **extra}.items())
        chance.shuffle(given)
        items = list(payload_of("PreToolUse", "Read", dict(given), **noise).items())
        chance.shuffle(items)
        spaces = chance.choice([(",", ":"), (", ", ": ")])
        text = json.dumps(
            dict(items), separators=spaces, ensure_ascii=False, indent=chance.choice([None, None, None, 1])
        )
        may = files[path] and all(
            value in (None, False, "") and value != 0 or value is False for value in extra.values()
        )
        if handed(stand, text.encode() + b"\n") != may:
            wrong.append((text, may))
    assert wrong == []


def test_random_bytes_end_well_on_every_event(stand: Stand) -> None:
    """200 payloads made of pieces that mean something to the launcher, cut and joined anywhere."""
    chance = random.Random(21)
    stand.behave("print('{}')")
    whole = [
        read({"file_path": stand.file("a.py", LARGE)}),
        bash("grep x", "a.py:1:x"),
        bash("ls", 'a "b" \\ c.py:3\n'),
        line(payload_of("UserPromptSubmit", prompt="x")),
        bytes(range(256)),
    ]
    for _ in range(200):
        pieces = []
        for _ in range(chance.randrange(1, 5)):
            source = chance.choice(whole)
            begin = chance.randrange(len(source))
            pieces.append(source[begin : begin + chance.randrange(300)])
        payload = b"".join(pieces)
        stand.run(chance.choice(EVENTS[:5]), chance.choice([payload, b"{" + payload + b"}"]))
