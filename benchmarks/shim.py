"""How long grep takes behind the shim, over the same grep without it, in one run.

    python benchmarks/shim.py [--runs 40] [--home HOME] [--only TEXT]

HOME is a home folder with an environment (default: one is made that points to the interpreter running this). Every case is run in
turn with its counterpart, so that a busy machine slows both alike. `fast` is the 10th percentile of the time by the clock,
`cpu` the median of the processor time of the call's processes (without the helper's, which is not waited for), in
milliseconds; `over` is what the shim adds to `fast`, `over/py` that as a ratio to a bare `python -I -S -c pass` of the same run.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SHIMS = REPOSITORY / "plugin" / "shims" / "bin"
SHELL, PYTHON = "sh -c :", "python -I -S -c pass"
FILES, HITS_A_FILE = 50, 4


@dataclass(frozen=True)
class Case:
    """One command line, for grep and for the shim. `most` is what the shim may add, in milliseconds."""

    name: str
    words: tuple[str, ...]
    most: float
    variables: dict[str, str] = field(default_factory=dict)
    warm: bool = True
    """Whether there is an index."""
    names: int = 0
    """How many suffixes the shim must print: a case that silently passes measures nothing."""
    pipe: bool = False
    runs: int = 0


@dataclass
class Spent:
    """Milliseconds of each run."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def fast(self) -> float:
        """Return the 10th percentile."""
        return (
            statistics.quantiles(self.clock, n=10, method="inclusive")[0]
            if len(self.clock) > 1
            else self.clock[0]
        )


def tree(folder: Path) -> Path:
    """Write 50 files of 200 lines with four hits each, all inside functions; a git tree, so that its index serves each of them."""
    (folder / ".git").mkdir(parents=True)
    for number in range(FILES):
        lines = [f'"""Module {number}."""\n']
        for at in range(40):
            lines += [f"def step_{at}(value):\n", f"    total = value * {at}\n"]
            lines += [
                "    needle(total)\n" if at % 10 == 0 else "    other(total)\n",
                "    return total\n",
                "\n",
            ]
        path = folder / f"part{number % 5}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), "utf-8")
    return folder


def made_home(folder: Path) -> Path:
    """Return a home folder whose environment is this interpreter."""
    key = (REPOSITORY / "plugin" / "requirements.key").read_text("utf-8").strip()
    site = next(path for path in sys.path if path.endswith("site-packages"))
    ready = folder / "env" / key / ".ready"
    ready.parent.mkdir(parents=True)
    folder.chmod(0o700)
    ready.write_text(f"{sys.executable}\n{site}\n", "utf-8")
    return folder


def server(kind: str) -> str:
    """Start a server that is slow or answers nonsense, in a thread; returns its URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            connection, _ = listening.accept()
            if kind == "slow":
                held.append(connection)
            else:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<nonsense")
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def refused() -> str:
    """Return the URL of a port where nobody listens any more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


def cases() -> list[Case]:
    """Return what is measured."""
    one, search = "part0/module_0.py", ("-rn", "needle(", ".")
    hits = FILES * HITS_A_FILE
    token = {"SLICEGREP_API_KEY": "t"}
    return [
        Case("no line numbers", ("needle", one), 15),
        Case("switched off", search, 15, {"SLICEGREP_SHIM": "off"}),
        Case("-n with -c", ("-nc", "needle", one), 15),
        Case("-n of standard input", ("-n", "needle"), 15),
        Case("-rn into a pipeline", search, 15, pipe=True),
        Case("-n, nothing found", ("-n", "nothing_here", one), 60),
        Case("4 hits in a file", ("-n", "needle(", one), 60, names=4),
        Case(f"{hits} hits, index", search, 60, names=hits),
        Case(f"{hits} hits, no index", search, 250, warm=False, names=hits),
        Case("server killed", search, 2_500, {"SLICEGREP_BASE_URL": refused(), **token}, runs=5),
        Case("server nonsense", search, 2_500, {"SLICEGREP_BASE_URL": server("nonsense"), **token}, runs=5),
        Case("server slow", search, 2_600, {"SLICEGREP_BASE_URL": server("slow"), **token}, runs=3),
    ]


def run(words: list[str], variables: dict[str, str], folder: Path, spent: Spent) -> bytes:
    """Run a command as an agent does, which captures what it prints."""
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        words, env=variables, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    spent.clock.append((time.perf_counter() - start) * 1_000)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent.cpu.append((after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime) * 1_000)
    return done.stdout


def measure(case: Case, real: str, variables: dict[str, str], folder: Path, runs: int) -> tuple[Spent, Spent]:
    """Run grep and the shim in turn; returns what each took."""
    plain, shimmed = Spent(), Spent()
    for turn in range(-2, case.runs or runs):
        if turn == 0:
            plain, shimmed = Spent(), Spent()
        printed = []
        for program, spent in ((real, plain), (str(SHIMS / "grep"), shimmed)):
            words = [program, *case.words]
            if case.pipe:
                words = ["sh", "-c", '"$@" | cat', "sh", *words]
            printed.append(run(words, variables | case.variables, folder, spent))
        if printed[1].count(" ⟵ ".encode()) != case.names or (not case.names and printed[0] != printed[1]):
            raise SystemExit(f"{case.name}: {printed[1][:200]!r}")
    return plain, shimmed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How long grep takes behind the shim.")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--home", type=Path, help="a home folder with an environment")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    chosen = parser.parse_args()
    real = shutil.which("grep", path=os.defpath)
    if real is None:
        raise SystemExit("there is no grep")
    with tempfile.TemporaryDirectory() as scratch:
        folder = tree(Path(scratch) / "tree")
        home = chosen.home or made_home(Path(scratch) / "home")
        made_home(Path(scratch) / "cold")
        variables = {
            "PATH": f"{SHIMS}:{os.environ['PATH']}",
            "HOME": scratch,
            "LANG": "C.UTF-8",
            "SLICEGREP_HOME": str(home),
        }
        source = REPOSITORY / "plugin" / "slicegrep" / "__main__.py"
        subprocess.run(
            [sys.executable, source, "index", folder], env=variables, stdout=subprocess.DEVNULL, check=True
        )
        print(f"{'case':24}{'grep':>8}{'shim':>9}{'over':>9}{'over/py':>9}{'cpu over':>10}{'most':>7}")
        bare = {
            SHELL: ["sh", "-c", ":"],
            PYTHON: [str(Path(sys.executable).resolve()), "-I", "-S", "-c", "pass"],
        }
        fast = {}
        for name, words in bare.items():
            spent = Spent()
            for _ in range(chosen.runs):
                run(words, variables, folder, spent)
            fast[name] = spent.fast()
            print(f"{name:24}{spent.fast():8.2f}{'':34}  (cpu {statistics.median(spent.cpu):.2f})")
        for case in cases():
            if chosen.only not in case.name:
                continue
            own = variables if case.warm else variables | {"SLICEGREP_HOME": f"{scratch}/cold"}
            plain, shimmed = measure(case, real, own, folder, chosen.runs)
            over = shimmed.fast() - plain.fast()
            cpu = statistics.median(shimmed.cpu) - statistics.median(plain.cpu)
            figures = (
                f"{plain.fast():8.2f}{shimmed.fast():9.2f}{over:9.2f}{over / fast[PYTHON]:9.2f}{cpu:10.2f}"
            )
            print(f"{case.name:24}{figures}{case.most:7g}")


if __name__ == "__main__":
    main()
