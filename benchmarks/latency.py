"""How long each hook takes, as a ratio to a bare shell and a bare interpreter in the same run.

    python benchmarks/latency.py [--runs 200] [--shell dash] [--only TEXT]

Each case is the command of hooks/hooks.json, run as the client runs it, with a recorded shape of payload. Runs are
interleaved, so that a busy machine slows all of them alike: compare the ratios. `fast` is the 10th percentile of the
time by the clock, `cpu` the median of the processor time of all processes of the call, the resident engine's included,
in milliseconds. `warm` cases have a resident engine, the others none. The rows of the index and of searches are those of
benchmarks/scale.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import product
from keyword import kwlist
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
SESSION = "3c1d9a52-6c1e-4a55-9a1e-0f4f3b1c2d3e"
KNOWING_SECONDS = 4.0
"""Without a call, in which the engine completes what it knows of the files that it has just seen."""
NAME = re.compile(rf"\b(?!(?:{'|'.join(kwlist)})\b)[a-z_]{{4,}}\b")
SHELL_CASE, PYTHON_CASE = "sh -c :", "python -I -S -c pass"


@dataclass(frozen=True)
class Case:
    """One kind of call. `target` is in milliseconds (0: none); `prepare` runs before each run and is not timed."""

    name: str
    event: str
    payload: bytes
    target: float = 5.0
    variables: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[], object] = lambda: None
    prints: bool = False
    """Whether Python must have answered: a case that silently passes measures nothing."""
    warm: bool = False
    """Whether the resident engine answers."""


@dataclass(frozen=True)
class Workshop:
    """Files and a home folder for one benchmark."""

    folder: Path

    @property
    def home(self) -> Path:
        """The home folder; it has no environment unless a case makes one."""
        return self.folder / "home"

    def file(self, name: str, lines: int) -> str:
        """Write a file of that many lines; returns its path."""
        path = self.folder / name
        path.write_text(
            "".join(f"    value_{n} = compute(value_{n - 1}, {n})\n" for n in range(lines)), "utf-8"
        )
        return str(path)


def payload(event: str, tool: str, given: dict[str, Any], answer: dict[str, Any] | None = None) -> bytes:
    """Return a payload as the client writes it."""
    found: dict[str, Any] = {
        "session_id": SESSION,
        "transcript_path": f"/home/me/.claude/projects/-home-me-proj/{SESSION}.jsonl",
        "cwd": "/home/me/proj",
        "prompt_id": "0b6d8f3e-94f6-4d0c-8d0d-2f1b7c1f2a10",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": given,
    }
    if answer is not None:
        found["tool_response"] = answer
    found["tool_use_id"] = "toolu_01Abcdefghijklmnopqrstuv"
    return json.dumps(found, separators=(",", ":")).encode() + b"\n"


def bash(command: str, stdout: str) -> bytes:
    """Return the payload after a Bash call."""
    answer = {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    return payload("PostToolUse", "Bash", {"command": command, "description": "Look"}, answer)


def passing_cases(workshop: Workshop) -> list[Case]:
    """Return the calls that do not qualify: all are decided without Python."""
    (workshop.home / "state" / SESSION / "seen").mkdir(
        parents=True
    )  # the dearer case: reads are kept for the ledger
    large, small = workshop.file("large.py", 2000), workshop.file("small.py", 40)
    notes = workshop.file("notes.md", 2000)
    listing = "-rw-r--r-- 1 me me  4096 Nov 30 13:14 some_file_name.txt\n"
    source = (REPOSITORY / "plugin" / "slicegrep" / "install.py").read_text("utf-8")

    def read(path: str, **more: Any) -> bytes:
        return payload("PreToolUse", "Read", {"file_path": path, **more})

    def result(size: int) -> bytes:
        shown = {"type": "text", "file": {"filePath": large, "content": (source * 20)[:size], "numLines": 9}}
        return payload("PostToolUse", "Read", {"file_path": large}, shown)

    return [
        Case("switched off", "pre-read", read(large), variables={"SLICEGREP_HOOK_DISABLE": "1"}),
        Case("read: Markdown", "pre-read", read(notes)),
        Case("read: a range", "pre-read", read(large, offset=10, limit=50)),
        Case("read: small file", "pre-read", read(small)),
        Case("read done: 2 kB", "post-read", result(2_000)),
        Case("read done: 200 kB", "post-read", result(200_000)),
        Case("ls: 1 kB", "post-search", bash("ls -la", listing * 20)),
        Case("ls: 30 kB", "post-search", bash("ls -la", listing * 520)),
        Case("ls: 200 kB", "post-search", bash("ls -lR", listing * 3450)),
        Case("cat: 9 kB of code", "post-search", bash("cat install.py", source[:9000])),
        Case("cat: 200 kB of code", "post-search", bash("cat *.py", (source * 20)[:200_000])),
    ]


def ready_home(workshop: Workshop) -> Path:
    """Return a home folder with the environment that `slicegrep setup` made, and state of its own."""
    home = workshop.folder / "ready"
    made = Path(os.environ.get("SLICEGREP_HOME") or Path.home() / ".slicegrep")
    if not list(made.glob("env/*/.ready")):
        raise SystemExit("run first: bin/slicegrep setup")
    home.mkdir()
    for part in ("env", "vocab", "pyc"):
        (home / part).symlink_to(made / part)
    return home


def working_cases(workshop: Workshop) -> list[Case]:
    """Return the calls that qualify, each in a process of its own, on real files: Python's argparse, and this project."""
    home = ready_home(workshop)
    # Limits out of the way: on a busy machine a case would pass in place of being slow.
    limits = {"SLICEGREP_ANNOTATE_TIMEOUT_MS": "20000", "SLICEGREP_HOOK_TIMEOUT": "30"}
    variables = {"SLICEGREP_HOME": str(home), **limits}
    state = home / "state" / SESSION
    source = Path(argparse.__file__)
    before = payload("PreToolUse", "Read", {"file_path": str(source)})
    asked = (
        json.dumps({"session_id": SESSION, "prompt": "Why does add_subparsers reject a second call?"}) + "\n"
    )

    def anew() -> None:
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir(parents=True)
        (state / "prompts").write_text(asked, "utf-8")

    anew()
    environment = {
        **os.environ,
        **variables,
        "SLICEGREP_RESIDENT": "off",
        "CLAUDE_PLUGIN_ROOT": str(REPOSITORY),
    }
    answer = json.loads(run(["sh", "-c", command_of("pre-read")], before, environment, Spent()))
    narrowed = answer["hookSpecificOutput"]["updatedInput"]
    plan = next((state / "plans").iterdir())
    planned = plan.read_bytes()
    lines = source.read_text("utf-8").split("\n")[narrowed["offset"] - 1 :][: narrowed["limit"]]
    file = {
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": narrowed["offset"],
        "totalLines": 9999,
    }
    after = payload(
        "PostToolUse", "Read", narrowed, {"type": "text", "file": {"filePath": str(source), **file}}
    )

    def planned_anew() -> None:
        plan.parent.mkdir(exist_ok=True)
        plan.write_bytes(planned)

    fresh = workshop.folder / "fresh.py"
    text = source.read_text("utf-8")

    def edited_anew() -> None:
        anew()
        fresh.write_text(f"{text}# {time.time_ns()}\n", "utf-8")

    endings = ("".join(pair) for pair in product(ascii_lowercase, repeat=3))

    def written_anew() -> None:
        """Write a file in which every name is new, and so is nearly every line."""
        anew()
        ending = next(endings)
        fresh.write_text(NAME.sub(lambda name: f"{name[0]}_{ending}", text), "utf-8")

    cold = {**variables, "SLICEGREP_RESIDENT": "off", "CLAUDE_PLUGIN_ROOT": str(REPOSITORY)}
    unknown = payload("PreToolUse", "Read", {"file_path": str(fresh)})
    found = hits(50, 4)
    return [
        Case("read: warm", "pre-read", before, 25.0, variables, anew, prints=True, warm=True),
        Case(
            "read: warm, edited file",
            "pre-read",
            unknown,
            25.0,
            variables,
            edited_anew,
            prints=True,
            warm=True,
        ),
        Case(
            "read: warm, new file", "pre-read", unknown, 25.0, variables, written_anew, prints=True, warm=True
        ),
        Case("read: cold", "pre-read", before, 250.0, cold, anew, prints=True),
        Case("read done: warm", "post-read", after, 15.0, variables, planned_anew, prints=True, warm=True),
        Case("read done: cold", "post-read", after, 60.0, cold, planned_anew, prints=True),
        Case("grep: 200 hits, warm", "post-search", found, 30.0, variables, prints=True, warm=True),
        Case("grep: 200 hits, cold", "post-search", found, 250.0, cold, prints=True),
    ]


class Engine:
    """The resident engine of a home folder, as a hook starts it; ended with the benchmark."""

    def __init__(self, home: Path) -> None:
        """Nothing is started yet."""
        self._run = home / "run"

    def started(self, case: Case, environment: dict[str, str]) -> None:
        """Run the case until the engine is there, and then some more, so that it knows the files."""
        until = time.monotonic() + 30
        while not (self._run / "engine.sock").exists():
            if time.monotonic() > until:
                raise SystemExit("no resident engine: this benchmark needs one")
            case.prepare()
            run(["sh", "-c", command_of(case.event)], case.payload, environment | case.variables, Spent())
            time.sleep(0.5)
        case.prepare()
        run(["sh", "-c", command_of(case.event)], case.payload, environment | case.variables, Spent())
        time.sleep(KNOWING_SECONDS)

    def cpu(self) -> float:
        """Return the milliseconds of processor time of the engine and its workers so far."""
        pid = self._pid()
        if pid is None:
            return 0.0
        tick = os.sysconf("SC_CLK_TCK") / 1000
        total = 0.0
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == pid:  # its session
                    total += (int(fields[11]) + int(fields[12])) / tick
        return total

    def end(self) -> None:
        """End it, and wait for that."""
        pid = self._pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + 10
            while (self._run / "engine.running").exists() and time.monotonic() < until:
                time.sleep(0.05)

    def _pid(self) -> int | None:
        try:
            return int((self._run / "engine.running").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None


def hits(files: int, each: int) -> bytes:
    """Return the payload after a grep of Python's standard library: `each` lines of so many of its files."""
    found: list[str] = []
    folder = Path(argparse.__file__).parent
    for path in sorted(folder.glob("*.py")):
        lines = path.read_text("utf-8", "replace").split("\n")
        wanted = [f"{path}:{n}:{line}" for n, line in enumerate(lines, 1) if "return " in line][:each]
        if len(wanted) == each:
            found += wanted
    return bash("grep -rn 'return ' .", "\n".join(found[: files * each]))


CASES: list[Callable[[Workshop], list[Case]]] = [passing_cases, working_cases]
"""Where further kinds of calls are added: each function makes what its cases need."""


def command_of(event: str) -> str:
    """Return what hooks.json registers for an event of the launcher."""
    found = json.loads((REPOSITORY / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    handlers = [handler for groups in found.values() for group in groups for handler in group["hooks"]]
    return next(str(handler["command"]) for handler in handlers if f" {event} " in handler["command"])


@dataclass
class Spent:
    """What the runs of one case took, in milliseconds."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    engine: list[float] = field(default_factory=list)


def run(words: Sequence[str], data: bytes, environment: dict[str, str], into: Spent) -> bytes:
    """Run a command to its end; returns its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(words, input=data, stdout=subprocess.PIPE, env=environment, check=True)
    into.clock.append((time.perf_counter() - begun) * 1000)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    into.cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    return done.stdout


def measure(
    cases: Sequence[Case], shell: str, environment: dict[str, str], runs: int, engine: Engine
) -> dict[str, Spent]:
    """Return what every case and the two bare processes took."""
    python = str(Path(sys.executable).resolve())
    bare = {SHELL_CASE: [shell, "-c", ":"], PYTHON_CASE: [python, "-I", "-S", "-c", "pass"]}
    found = {name: Spent() for name in (*bare, *(case.name for case in cases))}
    for case in cases:
        if case.warm:
            engine.started(case, environment)
    for turn in range(runs + 2):
        if turn == 2:
            found = {name: Spent() for name in found}
        for name, words in bare.items():
            run(words, b"", environment, found[name])
        for case in cases:
            case.prepare()
            words = [shell, "-c", command_of(case.event)]
            before = engine.cpu() if case.warm else 0.0
            output = run(words, case.payload, environment | case.variables, found[case.name])
            if case.warm:
                found[case.name].engine.append(engine.cpu() - before)
            if bool(output) != case.prints:
                wanted = "an answer" if case.prints else "silence"
                raise SystemExit(f"{case.name}: expected {wanted}, got {output[:200]!r}")
    return found


def table(found: dict[str, Spent], targets: dict[str, float]) -> str:
    """Return the figures, a line a case. The ratios are of medians by the clock."""
    shell, python = (statistics.median(found[name].clock) for name in (SHELL_CASE, PYTHON_CASE))
    lines = [
        f"{'case':24}{'median':>8}{'p99':>8}{'fast':>8}{'cpu':>8}{'x sh':>7}{'x python':>10}{'target':>9}"
    ]
    for name, spent in found.items():
        median, fast = statistics.median(spent.clock), statistics.quantiles(spent.clock, n=10)[0]
        late = statistics.quantiles(spent.clock, n=100)[98]
        # A tick of the engine's clock is 10 ms: only the mean over the runs says something.
        cpu = statistics.median(spent.cpu) + (statistics.mean(spent.engine) if spent.engine else 0.0)
        figures = f"{median:8.2f}{late:8.2f}{fast:8.2f}{cpu:8.2f}"
        target = f"{targets[name]:g}" if targets.get(name) else ""
        lines.append(f"{name:24}{figures}{median / shell:7.1f}{median / python:10.2f}{target:>9}")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How long each hook takes.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--shell", default="sh", help="what stands for sh: dash, bash, busybox")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # something may still be counted
        workshop = Workshop(Path(folder))
        names = workshop.folder / "bin"
        names.mkdir()
        program = shutil.which(chosen.shell)
        if program is None:
            raise SystemExit(f"there is no {chosen.shell}")
        (names / "sh").symlink_to(program)  # busybox, too, goes by the name that it is called by
        environment = {
            "PATH": f"{names}:{os.environ['PATH']}",
            "HOME": folder,
            "SLICEGREP_HOME": str(workshop.home),
            "CLAUDE_PLUGIN_ROOT": str(REPOSITORY),
        }
        cases = [case for make in CASES for case in make(workshop) if chosen.only in case.name]
        engine = Engine(workshop.folder / "ready")
        try:
            found = measure(cases, str(names / "sh"), environment, chosen.runs, engine)
        finally:
            engine.end()
        print(table(found, {case.name: case.target for case in cases}))


if __name__ == "__main__":
    main()
