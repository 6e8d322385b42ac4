"""A session of the client against the real plugin: the registered commands, a home folder, a project whose truth is known."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from prepared_home import ROOT, prepared_home

__all__ = [
    "HOME_FILES",
    "House",
    "checked",
    "copied_plugin",
    "faulty_plugin",
    "true_lines",
    "without_privilege",
    "write_steps",
]

STEPS = 700
"""Functions of the large file: 2,100 lines, about 15,000 tokens."""
HOME_FILES = ("state", "ledger", "run", "pyc", "index", "log")
SECONDS = 60
"""Seconds after which a call has hung: a hook's own limit is 5, the client's 10."""
COUNTED_SECONDS = 5
"""In which the engine has counted what it answered: 0.02 s after the answer, on a machine with nothing else to do."""
_ARROW = re.compile(r"^(?:.*?:)?(\d+):(.*) ⟵ (\S+) (\d+)-(\d+)$")
_MAPPED = re.compile(r"(?m)^(\d+)-(\d+) ((?:def|class) .*)$")
_NUMBERED = re.compile(r"(?m)^(\d+)\t(.*)$")
_DAC_OVERRIDE, _DAC_READ_SEARCH, _PR_CAPBSET_DROP = 1, 2, 24


def write_steps(path: Path, steps: int = STEPS, word: str = "x") -> Path:
    """Write a file of small functions: `step_N` is lines 3N+1 to 3N+2."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"def step_{n}({word}):\n    return {word} * {n}\n\n" for n in range(steps)))
    return path


def true_lines(path: Path) -> list[str]:
    """Return a file's lines, read without any of the plugin's code."""
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    return [line.removesuffix("\r") for line in text.split("\n")]


def checked(status: int, said: bytes) -> dict[str, Any]:
    """Return the answer of a hook, {} for none: it ended well, and said nothing or one whole object."""
    assert status == 0, (status, said)
    if not said:
        return {}
    answer = json.loads(said)  # raises where it is not one whole JSON
    assert isinstance(answer, dict)
    assert b"permissionDecision" not in said
    return answer


def without_privilege() -> None:
    """Give up, in a child before it starts, what lets an administrator write where the mode forbids it."""
    for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


@cache
def _registered() -> Mapping[str, str]:
    """Return the command of hooks.json for each event and matcher."""
    found = json.loads((ROOT / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    return {
        f"{event} {group.get('matcher', '')}".strip(): handler["command"]
        for event, groups in found.items()
        for group in groups
        for handler in group["hooks"]
    }


@cache
def _warm_byte_code() -> Path:
    """Return byte code as earlier calls leave it, so that every test's own home need not make it anew."""
    folder = Path(tempfile.mkdtemp(prefix="slicegrep-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    house = House(folder, warm=False)
    house.works()
    house.end()
    return house.home / "pyc"


_FAULTY = """
import errno as _errno, os as _os, sys as _sys
_names = {"open": 0, "os.rename": 0, "os.remove": 0, "os.mkdir": 0}
_home, _fault, _left = _os.environ["SLICEGREP_HOME"], _os.environ.get("FAULT"), [int(_os.environ.get("FAULT_AT", -1))]
def _meet(name, given):
    if name not in _names or not _fault:
        return
    path = _os.fsdecode(given[0]) if isinstance(given[0], (str, bytes)) else ""
    inside = path.startswith((_home + "/state", _home + "/run", _home + "/ledger"))
    if not inside or (name == "open" and not given[2] & (_os.O_WRONLY | _os.O_RDWR)):
        return
    _left[0] -= 1
    if _left[0] >= 0:
        return
    if _fault == "kill":
        _os.kill(_os.getpid(), 9)
    if name != "os.remove":  # a full disk still removes
        raise OSError(_errno.ENOSPC, "No space left on device", path)
_sys.addaudithook(_meet)
"""
"""What meets every change that Python makes in the home folder, from the FAULT_AT-th on."""


def faulty_plugin(root: Path) -> Path:
    """Copy the plugin to `root`, with faults in its hooks that FAULT (`full`, `kill`) and FAULT_AT choose."""
    copied_plugin(root)
    entry = root / "plugin" / "slicegrep" / "hook" / "__main__.py"
    text = entry.read_text("utf-8")
    mark = "from __future__ import annotations\n"
    assert mark in text
    entry.write_text(text.replace(mark, mark + _FAULTY), "utf-8")
    return root


def copied_plugin(root: Path) -> Path:
    """Copy what an installed plugin needs of the repository to `root`."""
    for name in ("hooks", "bin", "plugin", ".claude-plugin"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@dataclass
class House:
    """A home folder of its own (environment and vocabulary by links), a project with `big.py`, and one session in it."""

    folder: Path
    root: Path = ROOT
    warm: bool = True
    exists: bool = False
    """Whether the home folder is there already, empty."""
    session: str = "f-0"
    calls: int = 0
    variables: dict[str, str] = field(default_factory=dict)
    before_start: Callable[[], None] | None = None
    """Called in every child before it starts: a limit, a privilege given up."""

    def __post_init__(self) -> None:
        """Lay home and project out."""
        self.home = self.folder / "home"
        self.project = self.folder / "project"
        self.home.mkdir(parents=True, mode=0o700, exist_ok=self.exists)
        prepared = prepared_home()
        for name in ("env", "vocab"):
            (self.home / name).symlink_to(prepared / name)
        self.big = write_steps(self.project / "big.py")
        if self.warm:
            shutil.copytree(_warm_byte_code(), self.home / "pyc")

    # ---- The client's side ------------------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """Return what the client hands its hooks."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "SLICEGREP_HOME": str(self.home),
            "CLAUDE_PLUGIN_ROOT": str(self.root),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "LANG": "C.UTF-8",
            "SLICEGREP_RESIDENT": "off",
            "SLICEGREP_HOOK_TIMEOUT": "30",  # the machines that run tests are shared and busy
            "SLICEGREP_ANNOTATE_TIMEOUT_MS": "30000",
            **self.variables,
        }

    def payload(self, tool: str, given: Any, **more: Any) -> dict[str, Any]:
        """Return a payload of a tool call with the client's keys in their order."""
        return {
            "session_id": self.session,
            "transcript_path": str(self.folder / f"{self.session}.jsonl"),
            "cwd": str(self.project),
            "prompt_id": "p",
            "permission_mode": "default",
            "hook_event_name": "PostToolUse" if "tool_response" in more else "PreToolUse",
            "tool_name": tool,
            "tool_input": given,
            **more,
            "tool_use_id": f"toolu_{self.session}_{self.calls}",
        }

    def start(self, event: str) -> subprocess.Popen[bytes]:
        """Start the command that hooks.json registers for `event` ("PreToolUse Read"), in a session of its own."""
        return subprocess.Popen(
            ["sh", "-c", _registered()[event]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.project if self.project.is_dir() else "/",
            start_new_session=True,
            preexec_fn=self.before_start,  # noqa: PLW1509 (this process has one thread)
        )

    def fire(self, event: str, payload: Mapping[str, Any] | bytes) -> dict[str, Any]:
        """Run an event as the client does; returns its answer, {} for none."""
        process = self.start(event)
        return self.finish(process, payload)

    def finish(
        self, process: subprocess.Popen[bytes], payload: Mapping[str, Any] | bytes, status: int = 0
    ) -> dict[str, Any]:
        """Hand a started event its payload and wait for its end; returns its answer."""
        given = payload if isinstance(payload, bytes) else _line(payload)
        said, complained = process.communicate(given, timeout=SECONDS)
        assert complained == b""
        return checked(process.returncode - status, said)

    def ask(self, prompt: str) -> dict[str, Any]:
        """Fire the prompt's event."""
        given = {
            "session_id": self.session,
            "hook_event_name": "UserPromptSubmit",
            "cwd": str(self.project),
            "prompt": prompt,
        }
        return self.fire("UserPromptSubmit", given)

    def before(self, path: Path, **more: Any) -> dict[str, Any]:
        """Fire PreToolUse of Read; returns the narrowed input, {} where the read passes."""
        self.calls += 1
        answer = self.fire("PreToolUse Read", self.payload("Read", {"file_path": str(path), **more}))
        return self.true_first(answer, path)

    def true_first(self, answer: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """Check the first answer to a read against the file; returns the narrowed input."""
        if not answer:
            return {}
        said = answer["hookSpecificOutput"]
        narrowed: dict[str, Any] = said["updatedInput"]
        total = len(true_lines(path))
        assert narrowed["file_path"] == str(path)
        assert min(narrowed["offset"], narrowed["limit"]) >= 1
        assert narrowed["offset"] + narrowed["limit"] - 1 <= total
        assert not _NUMBERED.search(said["additionalContext"])  # it is shown even where the read is refused
        return narrowed

    def result(self, narrowed: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """Return what the client's own Read answers to the narrowed input."""
        lines = true_lines(path)
        shown = lines[narrowed["offset"] - 1 :][: narrowed["limit"]]
        content = {
            "filePath": str(path),
            "content": "\n".join(shown),
            "numLines": len(shown),
            "startLine": narrowed["offset"],
            "totalLines": len(lines),
        }
        return {"type": "text", "file": content}

    def after_payload(
        self, narrowed: Mapping[str, Any], path: Path, response: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the payload of PostToolUse of Read."""
        return self.payload("Read", narrowed, tool_response=response or self.result(narrowed, path))

    def after(self, narrowed: Mapping[str, Any], path: Path, response: dict[str, Any] | None = None) -> str:
        """Fire PostToolUse of Read; returns the delivered text, "" for none. What it shows is the file's."""
        answer = self.fire("PostToolUse Read", self.after_payload(narrowed, path, response))
        return self.true_text(answer, path)

    def true_text(self, answer: Mapping[str, Any], path: Path) -> str:
        """Check what a read delivered against the file; returns it."""
        text: str = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        lines = true_lines(path) if text else []
        for number, shown in _NUMBERED.findall(text):
            assert lines[int(number) - 1] == shown
        for start, end, signature in _MAPPED.findall(text):
            assert signature.rstrip("…") in lines[int(start) - 1]
            assert not any(re.match(r"\S", line) for line in lines[int(start) : int(end)])
        return text

    def read(self, path: Path) -> str:
        """Read a file as the client would, both phases; returns the delivered text, "" where the read passed."""
        narrowed = self.before(path)
        return self.after(narrowed, path) if narrowed else ""

    def grep_payload(self, path: Path, pattern: str) -> dict[str, Any]:
        """Return the payload of a grep in a file of steps, with the tool's true output."""
        name = os.path.relpath(path, self.project)
        found = subprocess.run(
            ["grep", "-nH", pattern, name], cwd=self.project, capture_output=True, text=True, check=False
        ).stdout.removesuffix("\n")
        response = {"stdout": found, "stderr": "", "interrupted": False, "isImage": False}
        command = f"grep -nH '{pattern}' {name}"
        return self.payload("Bash", {"command": command}, tool_response=response)

    def grep(self, path: Path, pattern: str = "x . 7[0-9]$") -> int:
        """Search as the client would; returns how many lines were annotated, each rightly."""
        payload = self.grep_payload(path, pattern)
        answer = self.fire("PostToolUse Grep|Bash|PowerShell", payload)
        return self.true_annotation(answer, payload["tool_response"]["stdout"], path)

    def true_annotation(self, answer: Mapping[str, Any], printed: str, path: Path) -> int:
        """Check annotated output against what the tool printed and the file; returns how many lines are annotated."""
        if not answer:
            return 0
        said: str = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        lines = true_lines(path)
        annotated = 0
        for was, line in zip(printed.split("\n"), said.split("\n"), strict=True):
            assert line.startswith(was)
            if line == was:
                continue
            annotated += 1
            match = _ARROW.match(line)
            assert match, line
            at, start, end = int(match[1]), int(match[4]), int(match[5])
            assert lines[at - 1] == match[2]
            assert start <= at <= end
            assert re.match(rf"\s*(?:def|class) {re.escape(match[3].rsplit('.')[-1])}\b", lines[start - 1])
            assert not any(re.match(r"\S", one) for one in lines[start:end])  # it is one definition
        return annotated

    # ---- What holds after every fault -------------------------------------------------------------------------

    def works(self) -> None:
        """Assert that an ordinary session, begun now, is helped: a read is intercepted, a grep annotated, all true."""
        self.session = f"f-{time.monotonic_ns()}"
        assert self.ask("what does step_77 return") == {}
        narrowed = self.before(self.big)
        assert narrowed, "the read was not intercepted"
        text = self.after(narrowed, self.big)
        assert text, "nothing was delivered"
        asked = 77 * 3 + 1
        seen = narrowed["offset"] <= asked < narrowed["offset"] + narrowed["limit"]
        assert seen or f"\n{asked}\t" in text, "what was asked about is not shown"
        assert self.grep(self.big) > 0, "the search was not annotated"

    def processes(self) -> Iterator[int]:
        """Yield the processes that were started for this home folder, but for a resident engine."""
        mark = b"SLICEGREP_HOME=%b\0" % os.fsencode(self.home)
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # it has ended meanwhile
                if mark in Path("/proc", name, "environ").read_bytes():
                    words = Path("/proc", name, "cmdline").read_bytes()
                    if words and b"resident" not in words:
                        yield int(name)

    def engine(self) -> list[int]:
        """Return the processes of the resident engine, the one that listens first."""
        mark = b"SLICEGREP_HOME=%b\0" % os.fsencode(self.home)
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes()
                if b"/resident/__main__.py" in words and mark in Path("/proc", name, "environ").read_bytes():
                    found.append((int(name), _parent(int(name))))
        known = [pid for pid, _ in found]
        return [pid for pid, parent in sorted(found, key=lambda one: (one[1] in known, one[0]))]

    def with_engine(self) -> None:
        """Let calls start an engine, and wait until there is one that answers."""
        self.variables["SLICEGREP_RESIDENT"] = "on"
        until = time.monotonic() + SECONDS
        while not self.is_warm():
            assert time.monotonic() < until, "no engine answers"
        first = int((self.home / "run" / "engine.running").read_text().split()[0])
        for one in self.engine():  # one more that was started meanwhile waits for the place of the first
            if one != first and _parent(one) != first:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    def is_warm(self) -> bool:
        """Assert that an ordinary session is helped; whether the engine answered in it, as the ledger tells a moment later."""
        ledger = self.home / "ledger"
        shutil.rmtree(ledger, ignore_errors=True)
        self.works()
        self.quiet()
        until = time.monotonic() + COUNTED_SECONDS
        while True:
            rows = [
                json.loads(row) for path in ledger.glob("*.jsonl") for row in path.read_text().splitlines()
            ]
            kinds = {row["kind"] for row in rows}
            if {"read", "annotate"} <= kinds or time.monotonic() > until:
                return any("true" in json.dumps(row.get("warm")) for row in rows)
            time.sleep(0.02)

    def quiet(self) -> None:
        """Wait for what works on in the background; fails where that does not end."""
        until = time.monotonic() + SECONDS
        while left := list(self.processes()):
            assert time.monotonic() < until, left
            time.sleep(0.02)

    def leavings(self) -> list[str]:
        """Return what a killed process can leave in the home folder: half-written files, marks, locks that are held."""
        found = []
        for path in self.home.rglob("*"):
            unfinished = path.name.endswith(".new") or re.search(r"\.pyc\.\d+$", path.name)
            if unfinished or (path.parent.name == "run" and path.name.startswith("hook-")):
                found.append(os.path.relpath(path, self.home))
        return sorted(found)

    def age(self, seconds: float) -> None:
        """Make all that lies in the home folder's own files older."""
        then = time.time() - seconds
        for top in HOME_FILES:
            for path in (self.home / top).rglob("*"):
                with suppress(OSError):
                    os.utime(path, (then, then), follow_symlinks=False)

    def slicegrep(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run the command line of this plugin."""
        return subprocess.run(
            ["sh", str(self.root / "bin" / "slicegrep"), *words],
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )

    def end(self) -> None:
        """End the engine and wait for background work: nothing that was started here goes on."""
        until = time.monotonic() + SECONDS
        while left := self.engine():
            for one in left:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)
            with suppress(ProcessLookupError):
                os.kill(left[0], signal.SIGTERM)
            assert time.monotonic() < until, left
            time.sleep(0.02)
        self.quiet()


def _parent(process: int) -> int:
    with suppress(OSError):
        return int(Path("/proc", str(process), "stat").read_text().rsplit(")", 1)[1].split()[1])
    return 0


def _line(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
