"""What `slicegrep mcp` costs: tokens of its tools, seconds to its first answers, and seconds until a cancelled call ends.

    python benchmarks/mcp_cost.py FOLDER [--pattern 'def echo'] [--runs 5]

FOLDER is any source tree; its index is made in a home folder of the run's own (the first line's first call), then used. Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SLOW_FUNCTIONS = 400_000
"""Of the file whose map is cancelled: about 5 s in the parser."""


class Server:
    """A server and the raw protocol."""

    def __init__(self, folder: str, home: str) -> None:
        self.begun = time.perf_counter()
        options = ["-I", "-X", f"pycache_prefix={home}/pyc"]
        main = str(REPOSITORY / "plugin" / "slicegrep" / "__main__.py")
        self.process = subprocess.Popen(
            [sys.executable, *options, main, "mcp"],
            cwd=folder,
            env={**os.environ, "SLICEGREP_HOME": home},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.id = 0

    def send(self, method: str, *, ident: int | None = None, **params: Any) -> None:
        """Send a notification, or with `ident` a request."""
        assert self.process.stdin
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.process.stdin.write(
            json.dumps(message if ident is None else {**message, "id": ident}).encode() + b"\n"
        )
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request."""
        self.id += 1
        self.send(method, ident=self.id, **params)
        assert self.process.stdout
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if message.get("id") == self.id:
                return dict(message["result"])

    def initialize(self) -> None:
        """Shake hands."""
        who = {"name": "benchmark", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        self.send("notifications/initialized")

    def call(self, tool: str, **arguments: Any) -> float:
        """Return the seconds that a call takes."""
        begun = time.perf_counter()
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return time.perf_counter() - begun

    def processor(self) -> float:
        """Return the seconds of processor time that the server itself has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def workers(self) -> list[int]:
        """Return the processes that it started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def end(self) -> None:
        """Close its input and wait."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def tokens() -> None:
    """Print what a model pays for the tools."""
    sys.path.insert(0, str(REPOSITORY / "plugin"))
    import tiktoken
    from slicegrep.mcp_server.tools import TOOLS

    count = tiktoken.get_encoding("o200k_base").encode
    each = {
        name: len(
            count(
                json.dumps(
                    {
                        "name": f"mcp__slicegrep__{name}",
                        "description": tool.description,
                        "input_schema": tool.input_schema(),
                    },
                    separators=(",", ":"),
                )
            )
        )
        for name, tool in TOOLS.items()
    }
    print(
        f"tokens of the tools: {sum(each.values())} (" + ", ".join(f"{n} {c}" for n, c in each.items()) + ")"
    )


def starts(folder: str, home: str, pattern: str) -> None:
    """Print how long a new server takes to each of its first answers."""
    server = Server(folder, home)
    server.initialize()
    ready, taken = time.perf_counter() - server.begun, server.processor()
    server.ask("tools/list")
    first = server.call("focused_read", path=".", pattern=pattern, budget=500)
    total = time.perf_counter() - server.begun
    again = min(server.call("focused_read", path=".", pattern=pattern, budget=500) for _ in range(5))
    quick = min(server.call("enclosing", locations=["none.py:1"]) for _ in range(5))
    status = Path(f"/proc/{server.workers()[0]}/status").read_text()
    memory = int(status.partition("VmRSS:")[2].split()[0]) / 1000
    server.end()
    print(
        f"initialize {ready:.2f} s ({taken:.2f} s of a processor), first call {first:.2f} s, start to its answer {total:.2f} s; then focused_read "
        f"{again * 1000:.0f} ms, enclosing {quick * 1000:.0f} ms; worker {memory:.0f} MB"
    )


def cancels(home: str) -> None:
    """Print how long a call goes on that is cancelled in the middle of a parser's work."""
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "slow.py").open("w") as file:
            file.writelines(f"def f{n}(a, b):\n    return a + b * {n}\n" for n in range(SLOW_FUNCTIONS))
        server = Server(folder, home)
        server.initialize()
        server.send("tools/call", ident=99, name="file_map", arguments={"path": "slow.py"})
        time.sleep(1.5)
        (worker,) = server.workers()
        begun = time.perf_counter()
        server.send("notifications/cancelled", requestId=99)
        while worker in server.workers():
            time.sleep(0.001)
        print(f"cancelled call: its process is gone after {(time.perf_counter() - begun) * 1000:.0f} ms")
        server.end()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--pattern", default="def echo")
    parser.add_argument("--runs", type=int, default=5)
    parsed = parser.parse_args()
    tokens()
    with tempfile.TemporaryDirectory() as home:
        for _ in range(parsed.runs):
            starts(parsed.folder, home, parsed.pattern)
        for _ in range(parsed.runs):
            cancels(home)


if __name__ == "__main__":
    main()
