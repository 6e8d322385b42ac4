"""Whatever is broken, missing or sent, the launcher ends well and the plain call happens."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launcher_stand import (
    EVENTS,
    HOOK_SHELLS,
    REPOSITORY,
    SESSION,
    Stand,
    bash_result,
    handed,
    line,
    payload_of,
    read_call,
)

LARGE = 9000


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """Return a stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


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
        (event, group.get("matcher")) for event, group, _ in registrations() if "ToolUse" in event
    )
    assert matchers == [
        ("PostToolUse", "Grep|Bash|PowerShell"),
        ("PostToolUse", "Read"),
        ("PostToolUseFailure", "Bash|PowerShell"),
        ("PreToolUse", "Read"),
    ]


def test_only_set_up_is_asynchronous_and_every_hook_has_a_time_limit() -> None:
    """A hook that hangs is cut by the client long before its default of 600 seconds."""
    assert [
        handler["command"].partition("(set -- ")[2].split()[0]
        for _, _, handler in registrations()
        if handler.get("async")
    ] == ["set-up"]
    assert all(handler["timeout"] <= 10 or handler.get("async") for _, _, handler in registrations())


def registered(stand: Stand, event: str, payload: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the command of hooks.json itself."""
    variables = stand.variables()
    return subprocess.run(
        [*stand.shell, "-c", stand.command(event)],
        input=payload,
        capture_output=True,
        env=variables,
        check=False,
    )


def test_the_registered_commands_reach_the_launcher(stand: Stand) -> None:
    """The plugin's root has spaces, quotes, a dollar sign and letters outside ASCII in its name."""
    stand.behave("print('{\"ok\":1}')")
    done = registered(stand, "pre-read", read_call({"file_path": stand.file("a.py", LARGE)}))
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"ok":1}\n', b"")


@pytest.mark.parametrize("event", EVENTS)
def test_a_launcher_deleted_under_a_running_session_says_nothing(stand: Stand, event: str) -> None:
    """claude-code#46915: a plugin update deletes the directory under a running session."""
    (stand.root / "hooks" / "slicegrep-hook").unlink()
    done = registered(stand, event, read_call({"file_path": "/a.py"}))
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


def remove(*names: str) -> Callable[[Stand], None]:
    """Return a fault: files of the plugin or the home folder are gone."""

    def fault(stand: Stand) -> None:
        for name in names:
            (stand.root / name if name.startswith("plugin") else stand.home / name).unlink()

    return fault


def write(name: str, text: str) -> Callable[[Stand], None]:
    """Return a fault: a file of the plugin or the home folder holds something else."""

    def fault(stand: Stand) -> None:
        (stand.root / name if name.startswith("plugin") else stand.home / name).write_text(text)

    return fault


def ready_is_a_folder(stand: Stand) -> None:
    """Put a folder in the file's place."""
    (stand.home / READY).unlink()
    (stand.home / READY).mkdir()


READY = "env/0123456789abcdef/.ready"
FAULTS: dict[str, Callable[[Stand], None]] = {
    "no environment": Stand.drop_environment,
    "half made": remove(READY),
    "ready is empty": write(READY, ""),
    "ready has no site": write(READY, "/bin/sh\n"),
    "ready is a folder": ready_is_a_folder,
    "interpreter gone": remove("env/0123456789abcdef/bin/python"),
    "interpreter is no program": write(READY, f"{__file__}\n/x\n"),
    "hook gone": remove("plugin/slicegrep/hook/__main__.py"),
    "key gone": remove("plugin/requirements.key"),
    "key is empty": write("plugin/requirements.key", "\n"),
    "key climbs": write("plugin/requirements.key", "../../x\n"),
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
    assert stand.run("pre-read", read_call({"file_path": stand.file("a.py", LARGE)})) == ""
    assert stand.run("post-read", line(payload_of("PostToolUse", "Read", {}, {"file": {}}))) == ""
    assert stand.run("post-search", bash_result("grep x a.py", "a.py:1:x")) == ""
    assert stand.run("post-search", bash_result("make", "a.py:1:x")) == ""
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
    payload = read_call({"file_path": stand.file("a.py", LARGE)}, prompt="x")
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
    """200 random reads: exit 0, empty or JSON, and Python asked exactly where a parser says that the read may qualify."""
    chance = random.Random(20)
    stand.behave("print('{}')")
    files = {
        stand.file(name, LARGE): True
        for name in ("a.py", "Ё ж.ts", "x y/c.rs", "'$d`.go", "file_path.c", "offset.py")
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
    for _ in range(200):
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
        may = files[path] and all(value is None or value is False or value == "" for value in extra.values())
        if handed(stand, text.encode() + b"\n") != may:
            wrong.append((text, may))
    assert wrong == []


def test_random_bytes_end_well_on_every_event(stand: Stand) -> None:
    """200 payloads made of pieces that mean something to the launcher, cut and joined anywhere."""
    chance = random.Random(21)
    stand.behave("print('{}')")
    whole = [
        read_call({"file_path": stand.file("a.py", LARGE)}),
        bash_result("grep x", "a.py:1:x"),
        bash_result("ls", 'a "b" \\ c.py:3\n'),
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


if os.geteuid() == 0:  # who else cannot be another user without any process

    @pytest.mark.parametrize("event", EVENTS)
    def test_a_shell_that_cannot_fork_ends_well(event: str) -> None:
        """Status 2 would block the call. dash: bash tries to fork for longer than the client waits."""
        text = (REPOSITORY / "hooks" / "hooks.json").read_text("utf-8")
        groups = [group for groups in json.loads(text)["hooks"].values() for group in groups]
        (command,) = [h["command"] for g in groups for h in g["hooks"] if f" {event} " in h["command"]]

        def alone() -> None:
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        done = subprocess.run(
            ["dash", "-c", command],
            input=b"{}",
            capture_output=True,
            env={"PATH": os.environ["PATH"], "CLAUDE_PLUGIN_ROOT": "/nowhere"},
            cwd="/",
            preexec_fn=alone,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
