"""Four hundred hooks started at once: whether all end well, how many answer, how long it takes, what they leave behind.

`benchmarks/scale.py --only crowd` runs it on a tree. Two of three hooks are reads of large files, the others greps with 200 hits, of
forty sessions; each is the command of hooks/hooks.json, run as the client runs it. First each in a process of its own, then with the
resident engine.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latency import REPOSITORY, command_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["crowded"]

HOOKS = 400
SESSIONS = 40
PROMPT = "How are expired sessions evicted from the cache?"
LEAST_BYTES = 12_000
"""Of a file whose read is sure to qualify."""
SAMPLE_SECONDS = 0.2
GONE_SECONDS = 30.0
"""How long what works on behind an answer may take on a machine that 400 processes have kept busy."""
_MB = 1e6


class Hook:
    """One call: its payload, and what came of it."""

    def __init__(self, event: str, payload: dict[str, Any]) -> None:
        self.event = event
        self._payload = json.dumps(payload, separators=(",", ":")).encode() + b"\n"
        self.seconds = 0.0
        self.code = -1
        self.printed = b""

    def run(self, environment: dict[str, str]) -> None:
        """Run it to its end."""
        begun = time.perf_counter()
        done = subprocess.run(
            ["sh", "-c", command_of(self.event)],
            input=self._payload,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
        self.seconds = time.perf_counter() - begun
        self.code, self.printed = done.returncode, done.stdout

    def is_sound(self) -> bool:
        """Whether it ended with 0 and printed an answer or nothing."""
        try:
            return self.code == 0 and (not self.printed or isinstance(json.loads(self.printed), dict))
        except ValueError:
            return False


def crowded(tree: Path, home: Path, hooks: int = HOOKS) -> dict[str, float]:
    """Return what starting so many hooks at once showed. Raises SystemExit where one of them did not end well."""
    figures: dict[str, float] = {}
    for name, resident in (("cold", "off"), ("engine", "on")):
        with tempfile.TemporaryDirectory(prefix="crowd-") as folder:
            own = Path(folder, "home")
            own.mkdir(0o700)
            for part in ("env", "vocab", "index"):
                own.joinpath(part).symlink_to((home / part).resolve())
            temporary = Path(folder, "tmp")
            temporary.mkdir()
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "TMPDIR": str(temporary),
                "SLICEGREP_HOME": str(own),
                "SLICEGREP_RESIDENT": resident,
                "CLAUDE_PLUGIN_ROOT": str(REPOSITORY),
            }
            calls = calls_of(tree, own, hooks)
            calls[0].run(environment)  # byte code is written once, and the engine comes up
            time.sleep(2)
            figures |= {
                f"{hooks} hooks at once, {name}: {what}": of
                for what, of in _at_once(calls, environment).items()
            }
            figures |= {
                f"{hooks} hooks at once, {name}: {what}": of for what, of in _left(own, temporary).items()
            }
    return figures


def calls_of(tree: Path, home: Path, count: int) -> list[Hook]:
    """Return calls on files of a tree, the prompts of whose sessions are known."""
    files = sorted(
        path for path in tree.rglob("*.py") if path.is_file() and path.stat().st_size >= LEAST_BYTES
    )
    calls = []
    for number in range(count):
        session = f"crowd-{number % SESSIONS}"
        state = home / "state" / session
        state.mkdir(0o700, parents=True, exist_ok=True)
        (state / "prompts").write_text(json.dumps({"session_id": session, "prompt": PROMPT}) + "\n", "utf-8")
        common = {"session_id": session, "cwd": str(tree), "tool_use_id": f"toolu_{number}", "prompt_id": "p"}
        if number % 3 < 2:
            given: dict[str, Any] = {"file_path": str(files[number % len(files)])}
            event = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": given}
            calls.append(Hook("pre-read", common | event))
        else:
            printed = {
                "stdout": grepped(files[number : number + 50] or files[:50]),
                "stderr": "",
                "interrupted": False,
            }
            event = {
                "hook_event_name": "PostToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": "grep -n x *"},
            }
            calls.append(Hook("post-search", common | event | {"tool_response": printed}))
    return calls


def grepped(files: Iterable[Path]) -> str:
    """Return four hits of each file, as grep prints them."""
    rows = []
    for path in files:
        lines = [(n, line) for n, line in enumerate(path.read_text("utf-8").split("\n"), 1) if " = " in line]
        rows += [f"{path}:{n}:{line}" for n, line in lines[:4]]
    return "\n".join(rows)


def _at_once(calls: Sequence[Hook], environment: dict[str, str]) -> dict[str, float]:
    threads = [threading.Thread(target=call.run, args=(environment,)) for call in calls]
    begun = time.perf_counter()
    peak = 0
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        peak = max(peak, _unshared(environment["SLICEGREP_HOME"]))
        time.sleep(SAMPLE_SECONDS)
    took = time.perf_counter() - begun
    bad = [call for call in calls if not call.is_sound()]
    if bad:
        raise SystemExit(
            f"{len(bad)} hooks did not end well, as {bad[0].event}: {bad[0].code}, {bad[0].printed[:300]!r}"
        )
    times = sorted(1000 * call.seconds for call in calls)
    percentiles = statistics.quantiles(times, n=100)
    figures = {"all done, s": took, "p50, ms": percentiles[49], "p99, ms": percentiles[98]}
    for event in ("pre-read", "post-search"):
        own = [call for call in calls if call.event == event]
        figures[f"{event} answered, %"] = 100 * sum(bool(call.printed) for call in own) / len(own)
    return figures | {"memory of all, MB": peak / _MB}


def _unshared(home: str) -> int:
    """Return the memory that the processes of a home folder have for themselves, in bytes (Linux; 0 elsewhere)."""
    total = 0
    for number in _processes(home):
        try:
            _, resident, shared, *_ = Path(f"/proc/{number}/statm").read_text().split()
        except (OSError, ValueError):
            continue
        total += (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return total


def _processes(home: str) -> list[int]:
    """Return the processes whose command line names the home folder."""
    found = []
    wanted = home.encode()
    for name in os.listdir("/proc") if sys.platform == "linux" else []:
        try:
            if name.isdigit() and wanted in Path("/proc", name, "cmdline").read_bytes():
                found.append(int(name))
        except OSError:  # noqa: PERF203 (it has ended meanwhile)
            continue
    return found


def _left(home: Path, temporary: Path) -> dict[str, float]:
    """Return what is there once all is done: processes but for the engine's, marks of hooks at work, temporary files."""
    until = time.monotonic() + GONE_SECONDS
    while (
        working := [one for one in _processes(str(home)) if not _is_engine(one)]
    ) and time.monotonic() < until:
        time.sleep(SAMPLE_SECONDS)
    marks = list(home.joinpath("run").glob("hook-*")) if home.joinpath("run").is_dir() else []
    odd = [path for path in home.rglob("*") if path.name.endswith((".new", ".tmp")) or ".part" in path.name]
    figures = {
        "left: processes": len(working),
        "left: marks": len(marks),
        "left: files": len(list(temporary.iterdir())) + len(odd),
    }
    for number in _processes(
        str(home)
    ):  # the engine of this home folder alone: it would stay for half an hour
        with suppress(OSError):
            os.kill(number, 15)
    shutil.rmtree(home / "state", ignore_errors=True)
    return figures


def _is_engine(number: int) -> bool:
    try:
        return b"resident" in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False
