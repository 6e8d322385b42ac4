"""A home folder, a plugin folder and whatever engines run for them: hooks as the client calls them, engines ended for certain."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from prepared_home import ROOT, bare_environment, prepared_home

__all__ = [
    "ASK",
    "House",
    "copied_plugin",
    "end_engines",
    "house",
    "large_module",
    "leads",
    "plant",
    "processes_for",
    "until",
]

SECONDS = 120
"""For whatever has to happen: the machine may be busy with many other tests."""
PATIENT = {"SLICEGREP_HOOK_TIMEOUT": "60", "SLICEGREP_ANNOTATE_TIMEOUT_MS": "30000"}
"""What the tests are about is not how fast a busy machine is; with it the engine has 12 s to say that it is there."""
_PROGRAM = "plugin/slicegrep/resident/__main__.py"
ASK = """
import sys
sys.path.insert(0, sys.argv[3] + "/plugin")
from slicegrep.resident.ask import ask
reply = ask(sys.argv[1], sys.stdin.buffer.read(), sys.argv[2], sys.argv[4])
sys.stdout.buffer.write(reply.verdict.encode() + b"\\n" + reply.why.encode() + b"\\n" + reply.data)
"""
"""Puts an event to the engine: arguments EVENT, HOME_FOLDER, the plugin to ask with, and the one that is named."""


def until(holds: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """Wait until something holds, and return what it is then. Raises AssertionError when it never does."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, f"waited {seconds} s for this: {what}"
        time.sleep(0.02)
    return found


def large_module(functions: int = 120, word: str = "ember", wide: int = 0) -> str:
    """Return a Python module of so many functions; `wide` makes their lines longer."""
    body = '''def {word}_{n}(left, right):
    """Return what {word} {n} makes of both.{more}"""
    total = left * {n}
    for step in range(right):
        total += step % {n}
    return total


'''
    return "".join(body.format(word=word, n=n, more=" x" * wide) for n in range(1, functions + 1))


def copied_plugin(root: Path, home: Path) -> Path:
    """Copy what an installed plugin needs of the repository to `root`, and the byte code for it to `home`."""
    for name in ("hooks", "plugin", ".claude-plugin"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    made = _prepared() / "pyc" / str(ROOT / "plugin")[1:]
    if made.is_dir():
        shutil.copytree(made, home / "pyc" / str(root / "plugin")[1:], dirs_exist_ok=True)
    return root


def plant(root: Path, fault: str, *, warm: bool) -> None:
    """Have a copy of the plugin do something beside its work, for each payload; with `warm` in the engine alone."""
    entry = root / "plugin" / "slicegrep" / "hook" / "events.py"
    text = entry.read_text("utf-8")
    mark = "        call = self._called(payload, warm=kept.warm)\n"
    assert text.count(mark) == 1
    lines = ["if kept.warm:" if warm else "if True:", *(f"    {line}" for line in fault.strip().splitlines())]
    entry.write_text(text.replace(mark, "".join(f"        {line}\n" for line in lines) + mark), "utf-8")


@cache
def _prepared() -> Path:
    return prepared_home()


@cache
def _commands() -> Mapping[str, str]:
    """Return the commands of hooks.json by the launcher's event."""
    found = json.loads((ROOT / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    each = [handler["command"] for groups in found.values() for group in groups for handler in group["hooks"]]
    return {re.findall(r"set -- (\S+)", command)[0]: command for command in each}


@dataclass
class House:
    """One user's home folder with the real environment, a project, and one session of the client."""

    folder: Path
    root: Path = ROOT
    session_id: str = "s-1"
    name: str = "home"
    """Of the SLICEGREP_HOME in `folder`."""
    variables: dict[str, str] = field(default_factory=dict)
    calls: int = 0

    def __post_init__(self) -> None:
        self.home.mkdir(mode=0o700, parents=True)
        for part in ("env", "vocab"):
            (self.home / part).symlink_to(_prepared() / part)
        self.project.mkdir(exist_ok=True)
        if self.root == ROOT:
            (self.home / "pyc").symlink_to(_prepared() / "pyc")

    @property
    def home(self) -> Path:
        return self.folder / self.name

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def run(self) -> Path:
        return self.home / "run"

    # ---- Calls ------------------------------------------------------------------------------------------------

    def environment(self, **variables: str) -> dict[str, str]:
        own = {"SLICEGREP_HOME": str(self.home), "CLAUDE_PLUGIN_ROOT": str(self.root), **PATIENT}
        return {**bare_environment(self.folder), **own, **self.variables, **variables}

    def file(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def popen(self, event: str, payload: dict[str, Any], **more: Any) -> subprocess.Popen[bytes]:
        """Start an event's command with the payload on its standard input."""
        variables = more.pop("variables", {})
        process = subprocess.Popen(
            ["sh", "-c", _commands()[event]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**variables),
            cwd=more.pop("cwd", self.project),
            **more,
        )
        assert process.stdin
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(payload, separators=(",", ":")).encode() + b"\n")
            process.stdin.close()
        process.stdin = None
        return process

    def fire(self, event: str, payload: dict[str, Any], **more: Any) -> bytes:
        """Run an event's command to its end and return what it printed. It never fails, and says nothing else."""
        process = self.popen(event, payload, **more)
        out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, err) == (0, b"")
        assert b"permissionDecision" not in out
        return out

    def payload(self, tool: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        self.calls += 1
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.folder / "none.jsonl"),
            "cwd": str(self.project),
            "prompt_id": "p",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": given,
            **more,
            "tool_use_id": f"toolu_{self.session_id}_{self.calls}",
        }

    def prompt(self, text: str) -> None:
        whole = self.payload("", {}, hook_event_name="UserPromptSubmit", prompt=text)
        self.fire("prompt", {k: v for k, v in whole.items() if not k.startswith("tool_")})

    def before(self, path: Path, **variables: str) -> bytes:
        """PreToolUse of a whole read."""
        return self.fire("pre-read", self.payload("Read", {"file_path": str(path)}), variables=variables)

    def after(self, path: Path, answer: bytes, **variables: str) -> bytes:
        """PostToolUse of the read that `before` answered, with what the client would have read."""
        given = json.loads(answer)["hookSpecificOutput"]["updatedInput"]
        lines = path.read_text("utf-8").split("\n")
        first = given["offset"]
        shown = lines[first - 1 : first - 1 + given["limit"]]
        result = {
            "filePath": str(path),
            "content": "\n".join(shown),
            "numLines": len(shown),
            "startLine": first,
            "totalLines": len(lines),
        }
        self.calls -= 1  # it is the same call
        payload = self.payload("Read", given, tool_response={"type": "text", "file": result})
        return self.fire("post-read", {**payload, "hook_event_name": "PostToolUse"}, variables=variables)

    def read(self, path: Path, **variables: str) -> bytes:
        """Both phases of a read; returns what they printed, one after the other."""
        first = self.before(path, **variables)
        return first + (self.after(path, first, **variables) if first else b"")

    def grep(self, pattern: str, *paths: Path, **variables: str) -> bytes:
        """PostToolUse of a `grep -n` in Bash, with grep's real output."""
        words = ["grep", "-n", pattern, *(os.path.relpath(path, self.project) for path in paths), "/dev/null"]
        said = subprocess.run(words, cwd=self.project, capture_output=True, text=True, check=False).stdout
        response = {"stdout": said, "stderr": "", "interrupted": False, "isImage": False}
        payload = self.payload("Bash", {"command": " ".join(words)}, tool_response=response)
        return self.fire("post-search", {**payload, "hook_event_name": "PostToolUse"}, variables=variables)

    def ask(self, event: str, payload: dict[str, Any], **more: Any) -> tuple[str, bytes, str]:
        """Put an event to the engine by `ask.ask` in a process of its own; return verdict, answer and why."""
        root = more.pop("root", self.root)
        words = [event, str(more.pop("home", self.home)), str(ROOT), str(root)]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", ASK, *words],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.environment(**more.pop("variables", {})),
            cwd=self.project,
            timeout=SECONDS,
            check=True,
        )
        verdict, why, data = done.stdout.split(b"\n", 2)
        return verdict.decode(), data, why.decode()

    def rows(self, kind: str = "") -> list[dict[str, Any]]:
        """Return the rows of the ledger."""
        files = sorted((self.home / "ledger").glob("*.jsonl"))
        rows = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
        return [row for row in rows if kind in ("", row["kind"])]

    # ---- Engines ----------------------------------------------------------------------------------------------

    def processes(self) -> list[int]:
        """Return every process of an engine for this home folder, workers included."""
        return processes_for(self.home)

    def engines(self) -> list[int]:
        """Return the engines' first processes: the leaders of their sessions."""
        return [pid for pid in self.processes() if leads(pid)]

    def workers(self, engine: int) -> list[int]:
        return [pid for pid in self.processes() if pid != engine and _parent(pid) == engine]

    def engine(self, not_: int = 0) -> int:
        """Wait until an engine other than `not_` can be asked; returns its process id."""

        def listening() -> int:
            with suppress(OSError, ValueError):
                pid = int((self.run / "engine.running").read_text().split("\n")[0])
                starting = (self.run / "engine.starting").exists()
                if pid != not_ and (self.run / "engine.sock").exists() and not starting:
                    return pid
            return 0

        return int(until(listening, f"an engine that listens; here is {self.told()}"))

    def start(self, idle: float | None = None) -> int:
        """Start an engine as `starting.start` does, without a call; returns its process id when it can be asked."""
        self.run.mkdir(mode=0o700, exist_ok=True)
        python, site = self.ready()
        words = [
            python,
            "-I",
            "-S",
            "-X",
            f"slicegrep_pyc={self.home}/pyc",
            str(self.root / _PROGRAM),
            site,
            str(self.home),
        ]
        words += [] if idle is None else [str(idle)]
        subprocess.Popen(
            words,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "SLICEGREP_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        return self.engine()

    def ready(self) -> tuple[str, str]:
        """Return the interpreter of the environment, and its packages."""
        key = (self.root / "plugin" / "requirements.key").read_text().strip()
        python, site = (self.home / "env" / key / ".ready").read_text().split("\n")[:2]
        return python, site

    def told(self) -> str:
        """Return what lies in run/ and which engines run, for messages."""
        names = sorted(path.name for path in self.run.iterdir()) if self.run.is_dir() else []
        return f"{names}, processes {self.processes()}"

    def gone(self, *pids: int) -> None:
        """Wait until these processes are gone."""
        until(lambda: not set(pids) & set(self.processes()), f"the end of {pids}")

    def end(self) -> None:
        """End every engine of this home folder: none is left after a test."""
        end_engines(self.home)


def processes_for(home: Path) -> list[int]:
    """Return every process of an engine for a home folder, workers included; zombies are not counted."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if any(word.endswith(_PROGRAM.encode()) for word in words) and os.fsencode(home) in words:
                    found.append(int(entry.name))
    return sorted(found)


def leads(pid: int) -> bool:
    """Whether a process leads its session."""
    with suppress(OSError):
        return os.getsid(pid) == pid
    return False


def end_engines(home: Path) -> None:
    """End every engine of a home folder: by SIGTERM, and what does not end by that by SIGKILL."""
    for pid in processes_for(home):
        if leads(pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    try:
        until(lambda: not processes_for(home), "the end of the engines", 30)
    except AssertionError:
        for pid in processes_for(home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not processes_for(home), "the end of what was killed")


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(re.split(rb"\) ", Path(f"/proc/{pid}/stat").read_bytes())[-1].split()[1])
    return 0


@contextmanager
def house(folder: Path, **more: Any) -> Iterator[House]:
    """Yield a house, and end its engines."""
    made = House(folder, **more)
    try:
        yield made
    finally:
        made.end()
