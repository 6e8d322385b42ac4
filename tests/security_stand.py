"""The hooks as the client runs them, in a home folder that is looked at afterwards: every file, its mode, what it holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from prepared_home import ROOT, bare_environment, prepared_home

__all__ = ["ROOT", "House", "big_python", "everything_below"]

SECONDS = 60
_HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
_LINKED = ("env", "vocab")


@cache
def _prepared() -> Path:
    """Return the home folder that set-up filled; to ask for it takes seconds."""
    return prepared_home()


def command_of(event: str) -> str:
    """Return the command of hooks.json for one of the launcher's events."""
    for groups in _HOOKS.values():
        for group in groups:
            for one in group["hooks"]:
                if f"-- {event} " in one["command"]:
                    return str(one["command"])
    raise AssertionError(event)


def big_python(body: str = "", name: str = "step") -> str:
    """Return a file that is worth to be intercepted; `body` stands in every function."""
    return "".join(
        f'def {name}_{number}(values, most):\n    """Return the sum of {number}."""\n    total = {number}\n'
        f"    for value in values:\n        total += value * {number}\n{body}    return min(total, most)\n\n\n"
        for number in range(120)
    )


def everything_below(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of every file below a folder, by relative path; links are told, not followed."""
    found: dict[str, tuple[int, bytes]] = {}
    for above, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(above, name)
            with suppress(FileNotFoundError):  # an engine is at work there
                status = path.lstat()
                data = os.readlink(path).encode() if stat.S_ISLNK(status.st_mode) else b""
                if stat.S_ISREG(status.st_mode):
                    data = path.read_bytes()
                found[str(path.relative_to(folder))] = stat.S_IMODE(status.st_mode), data
    return found


@dataclass
class House:
    """A home folder with the real environment, a project, and one session of the client."""

    folder: Path
    resident: bool = False
    session_id: str = "s-1"
    calls: int = 0

    def __post_init__(self) -> None:
        self.home.mkdir(mode=0o700)
        for name in _LINKED:
            (self.home / name).symlink_to(_prepared() / name, target_is_directory=True)
        self.project.mkdir()

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self, **variables: str) -> dict[str, str]:
        """Return what a hook of the client has, as far as it counts here."""
        resident = {} if self.resident else {"SLICEGREP_RESIDENT": "off"}
        own = {"SLICEGREP_HOME": str(self.home), "CLAUDE_PLUGIN_ROOT": str(ROOT), **resident}
        return {**bare_environment(self.folder), **own, **variables}

    def payload(self, tool: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.folder / "none.jsonl"),
            "cwd": str(self.project),
            "prompt_id": "p",
            "tool_name": tool,
            "tool_input": given,
            **more,
        }

    def fire(
        self, event: str, payload: dict[str, Any], *, before: tuple[str, ...] = (), **variables: str
    ) -> dict[str, Any]:
        """Run an event as the client does, under umask 000; `before` is put before the shell's words. Returns its answer."""
        done = subprocess.run(
            [*before, "sh", "-c", f"umask 000; {command_of(event)}"],
            input=json.dumps(payload, separators=(",", ":")),
            capture_output=True,
            text=True,
            env=self.environment(**variables),
            cwd=self.project,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout)) if done.stdout.strip() else {}

    def before(self, path: Path | str, **more: Any) -> dict[str, Any]:
        """PreToolUse of a whole read; returns its hookSpecificOutput, {} where it passes."""
        self.calls += 1
        use_id = more.pop("tool_use_id", f"toolu_{self.calls}")
        payload = self.payload("Read", {"file_path": str(path)}, tool_use_id=use_id, **more)
        return dict(self.fire("pre-read", payload).get("hookSpecificOutput", {}))

    def after(self, first: dict[str, Any], shown: str) -> str:
        """PostToolUse of the read that was answered `first`, of a file with the text `shown`; returns the delivered text."""
        narrowed = first["updatedInput"]
        lines = shown.split("\n")[narrowed["offset"] - 1 :][: narrowed["limit"]]
        file = {
            "filePath": narrowed["file_path"],
            "content": "\n".join(lines),
            "numLines": len(lines),
            "startLine": narrowed["offset"],
            "totalLines": len(shown.split("\n")),
        }
        response = {"type": "text", "file": file}
        payload = self.payload("Read", narrowed, tool_response=response, tool_use_id=f"toolu_{self.calls}")
        said = self.fire("post-read", payload).get("hookSpecificOutput", {})
        return str(said.get("additionalContext", ""))

    def search(self, command: str, stdout: str, **variables: str) -> dict[str, Any]:
        """PostToolUse of Bash; returns the hookSpecificOutput."""
        self.calls += 1
        response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        payload = self.payload(
            "Bash", {"command": command}, tool_response=response, tool_use_id=f"toolu_{self.calls}"
        )
        return dict(self.fire("post-search", payload, **variables).get("hookSpecificOutput", {}))

    def slicegrep(self, *words: str, before: tuple[str, ...] = (), **variables: str) -> tuple[int, str, str]:
        """Run bin/slicegrep in the project, under umask 000."""
        done = subprocess.run(
            [*before, "sh", "-c", 'umask 000; exec "$0" "$@"', str(ROOT / "bin" / "slicegrep"), *words],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env=self.environment(**variables),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def kept(self) -> dict[str, tuple[int, bytes]]:
        """Return what the home folder holds but for what set-up made and byte code."""
        found = everything_below(self.home)
        return {name: one for name, one in found.items() if name.split("/")[0] not in (*_LINKED, "pyc")}

    def where(self, text: str, *, but: str = "") -> list[str]:
        """Return the files of the home folder (names too) that hold a text, byte code included."""
        found = everything_below(self.home)
        wanted = text.encode()
        return sorted(
            name
            for name, (_, data) in found.items()
            if name.split("/")[0] not in _LINKED
            and (wanted in data or wanted in name.encode())
            and name != but
        )

    def quiet(self) -> None:
        """Wait until nothing works in the background any more, and what is counted afterwards is written."""
        end = time.monotonic() + SECONDS
        before: dict[str, tuple[int, bytes]] = {}
        while (now := self.kept()) != before or any(name.startswith("run/hook-") for name in now):
            assert time.monotonic() < end
            before = now
            time.sleep(0.7)

    def engine(self) -> int:
        """Return the process id of the resident engine once it can be asked."""
        end = time.monotonic() + SECONDS
        run = self.home / "run"
        while not (run / "engine.sock").exists() or (run / "engine.starting").exists():
            assert time.monotonic() < end, os.listdir(self.home / "run")
            time.sleep(0.02)
        found = re.match(r"\d+", (self.home / "run" / "engine.running").read_text())
        assert found is not None
        return int(found[0])

    def close(self) -> None:
        """End the engine, if there is one, and wait for its end."""
        with suppress(OSError, ValueError):
            pid = int((self.home / "run" / "engine.running").read_text().split("\n")[0])
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                os.kill(pid, 0)
                time.sleep(0.02)
        shutil.rmtree(self.home, ignore_errors=True)
