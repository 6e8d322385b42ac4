"""A stand-in plugin for the launcher's tests: the real shell scripts, and Python that only records what reaches it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "EVENTS",
    "HOOK_SHELLS",
    "REPOSITORY",
    "SESSION",
    "Call",
    "Stand",
    "bash_result",
    "handed",
    "line",
    "payload_of",
    "read_call",
    "spaced",
]

REPOSITORY = Path(__file__).resolve().parents[1]
KEY = "0123456789abcdef"
SESSION = "5f0c-aa"
EVENTS = ("pre-read", "post-read", "post-search", "prompt", "session-start", "set-up")
HOOK_SHELLS = {
    "dash": ["dash"],
    "bash": ["bash"],
    "bash-posix": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
}
"""The shells that `sh` is on the systems that Claude Code runs on."""

_STUB = """
import json, os, sys, time
given = sys.stdin.buffer.read() if {reads} else b""
record = dict(script={script!r}, words=sys.argv[1:], stdin=given.hex(), session=os.getsid(0), isolated=sys.flags.isolated,
    no_site=sys.flags.no_site, no_bytecode=sys.flags.dont_write_bytecode, pycache=sys._xoptions.get("slicegrep_pyc"), token=os.environ.get("CLAUDE_CODE_MESSAGING_TOKEN"))
def note(suffix):
    name = os.path.join({calls!r}, "%d-%d%s" % (time.time_ns(), os.getpid(), suffix))
    with open(name + ".part", "w") as file:
        json.dump(record, file)
    os.rename(name + ".part", name)
note(".begun")
exec(open({behaviour!r}).read())
note(".ended")
"""

_TOOLS = "bash busybox cat cp dash dd echo env false head kill ls mkdir mv nohup printf readlink rm setsid sh sleep timeout true wc"


@dataclass(frozen=True)
class Call:
    """What one start of Python was given."""

    script: str
    words: list[str]
    stdin: bytes
    record: dict[str, Any]


@dataclass
class Stand:
    """A plugin root, a home folder with a ready environment, and a PATH without any Python."""

    folder: Path
    shell: list[str]
    root: Path = field(init=False)
    home: Path = field(init=False)
    calls_folder: Path = field(init=False)
    behaviour: Path = field(init=False)
    tools: Path = field(init=False)
    work: Path = field(init=False)

    def __post_init__(self) -> None:
        """Lay everything out under names that a shell can stumble on."""
        self.root = self.folder / "it's a pl\u00fcgin $HOME (1)"
        self.home = self.folder / "ho  me \u0421\u0401 * [x]"
        self.calls_folder = self.folder / "calls"
        self.behaviour = self.folder / "behaviour.py"
        self.tools = self.folder / "tools"
        self.work = self.folder / "work \u00e9 \u0441\u0401"
        for place in (self.root, self.home, self.calls_folder, self.tools, self.work):
            place.mkdir()
        for name in ("hooks/slicegrep-hook", "hooks/hooks.json", "bin/slicegrep", "bin/fr"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(REPOSITORY / name, self.root / name)
        launcher = self.root / "hooks" / "slicegrep-hook"
        text = launcher.read_text("utf-8")
        for place in ("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"):
            assert f" {place} " in text
            text = text.replace(
                f" {place} ", f" /nowhere{place} "
            )  # what this machine has there is not the tests' to use
        launcher.write_text(text, "utf-8")
        package = self.root / "plugin" / "slicegrep"
        (package / "hook").mkdir(parents=True)
        for name in ("hook/__main__.py", "__main__.py", "install.py", "doctor.py"):
            self.stub(package / name, name)
        (self.root / "plugin" / "requirements.key").write_text(f"{KEY}\n")
        self.behave("")
        for tool in _TOOLS.split():
            found = shutil.which(tool)
            assert found, f"{tool} is needed for these tests"
            (self.tools / tool).symlink_to(found)
        self.make_environment()

    def stub(self, path: Path, name: str) -> None:
        """Write a Python file that records how it was started, then does what `behave` said last."""
        text = _STUB.format(
            script=name,
            calls=str(self.calls_folder),
            behaviour=str(self.behaviour),
            reads=name.startswith("hook/"),
        )
        path.write_text(text, "utf-8")

    def behave(self, code: str) -> None:
        """Choose what the recording Python does after it has recorded."""
        self.behaviour.write_text(code, "utf-8")

    @property
    def environment_folder(self) -> Path:
        """The environment that the launcher may use."""
        return self.home / "env" / KEY

    @property
    def site(self) -> Path:
        """The site-packages named in `.ready`."""
        return self.environment_folder / "lib" / "site-packages"

    def make_environment(self) -> None:
        """Make the environment ready, and the vocabulary present."""
        python = self.environment_folder / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        self.site.mkdir(parents=True, exist_ok=True)
        python.symlink_to(sys.executable)
        (self.environment_folder / ".ready").write_text(f"{python}\n{self.site}\n", "utf-8")
        (self.home / "vocab").mkdir()
        (self.home / "vocab" / "o200k").write_text("x")

    def drop_environment(self) -> None:
        """Take the environment away, as before set-up."""
        shutil.rmtree(self.home / "env")

    def variables(self, **changes: str | None) -> dict[str, str]:
        """Return the client's environment for a hook; None takes a name out."""
        found: dict[str, str | None] = {
            "PATH": str(self.tools),
            "HOME": str(self.folder),
            "SLICEGREP_HOME": str(self.home),
            "CLAUDE_PLUGIN_ROOT": str(self.root),
            "CLAUDE_CODE_MESSAGING_TOKEN": "secret",
            **changes,
        }
        return {name: value for name, value in found.items() if value is not None}

    def command(self, event: str) -> str:
        """Return what hooks.json registers for an event of the launcher."""
        text = (self.root / "hooks" / "hooks.json").read_text("utf-8")
        found = re.findall(r'"command": (".*? pre-read .*")', text)
        return str(json.loads(found[0])).replace(" pre-read ", f" {event} ")

    def run(self, event: str, payload: bytes = b"", **variables: str | None) -> str:
        """Run the launcher as the client does; returns its standard output. Asserts what always holds."""
        done = subprocess.run(
            [*self.shell, "-c", self.command(event)],
            input=payload,
            capture_output=True,
            env=self.variables(**variables),
            cwd=self.work,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0
        assert done.stderr == b""
        said = done.stdout.decode("utf-8")
        if said:
            found = json.loads(said)
            assert isinstance(found, dict)
            assert "permissionDecision" not in said
        return said

    def calls(self, *, wait_for: int = 0, stage: str = "begun") -> list[Call]:
        """Return what Python was started for so far, in order; waits until there are that many."""
        until = time.monotonic() + 20
        while True:
            names = sorted(p for p in self.calls_folder.iterdir() if p.suffix == f".{stage}")
            if len(names) >= wait_for or time.monotonic() > until:
                break
            time.sleep(0.02)
        found = []
        for name in names:
            record = json.loads(name.read_text("utf-8"))
            found.append(Call(record["script"], record["words"], bytes.fromhex(record["stdin"]), record))
        assert len(found) >= wait_for
        return found

    def forget_calls(self) -> None:
        """Start counting calls anew."""
        for name in self.calls_folder.iterdir():
            name.unlink(missing_ok=True)  # one of the background may be renaming its own

    def file(self, name: str, size: int) -> str:
        """Write a file of that many bytes into the work folder; returns its path."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((b"value = 1\n" * (size // 10 + 1))[:size])
        return str(path)

    def ask(self, question: str, **variables: str | None) -> str:
        """Return what the launcher answers bin/slicegrep."""
        words = [*self.shell, str(self.root / "hooks" / "slicegrep-hook"), question]
        done = subprocess.run(
            words, capture_output=True, env=self.variables(**variables), timeout=60, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def fake(self, name: str, script: str) -> Path:
        """Put a program on PATH."""
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!{shutil.which('dash')}\n{script}\n", "utf-8")
        path.chmod(0o755)
        return path

    def kept(self) -> set[str]:
        """Return every file and folder under the home folder, relative to it, but for Python's byte code."""
        found = {os.path.relpath(path, self.home) for path in self.home.rglob("*")}
        return {path for path in found if path.split(os.sep)[0] != "pyc"}


def payload_of(
    event: str, tool: str = "", given: Any = None, answer: Any = None, **more: Any
) -> dict[str, Any]:
    """Return a payload with the client's keys in the client's order."""
    payload: dict[str, Any] = {
        "session_id": SESSION,
        "transcript_path": "/home/me/.claude/projects/-home-me-proj/5f0c-aa.jsonl",
        "cwd": "/home/me/proj",
        "prompt_id": "0d1e",
        "permission_mode": "default",
        "hook_event_name": event,
    }
    if tool:
        payload |= {"tool_name": tool, "tool_input": given}
        if answer is not None:
            payload["tool_response"] = answer
        payload["tool_use_id"] = "toolu_1_0"
    return payload | more


def line(payload: dict[str, Any]) -> bytes:
    """Return a payload as the client writes it."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def spaced(payload: dict[str, Any], indent: int | None = None) -> bytes:
    """Return a payload with spaces after the colons, as other serializers write it."""
    return json.dumps(payload, indent=indent, ensure_ascii=False).encode()


def read_call(given: dict[str, Any], **more: Any) -> bytes:
    """Return a PreToolUse payload of Read."""
    return line(payload_of("PreToolUse", "Read", given, **more))


def bash_result(command: str, stdout: str = "", **answer: Any) -> bytes:
    """Return a PostToolUse payload of Bash."""
    shown = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **answer}
    return line(payload_of("PostToolUse", "Bash", {"command": command, "description": "Do it"}, shown))


def handed(stand: Stand, payload: bytes, **variables: str | None) -> bool:
    """Whether a read is handed to Python."""
    stand.forget_calls()
    stand.run("pre-read", payload, **variables)
    return len(stand.calls()) == 1
