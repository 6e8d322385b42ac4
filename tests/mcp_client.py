"""`slicegrep mcp` as a process of its own: by the SDK's client, and by hand where the process itself is what is tested."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import mcp_types as types
from command import command, environment
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

__all__ = ["ByHand", "connected", "descendants", "one_text", "still_there"]

warnings.filterwarnings("ignore", category=UserWarning, module="mcp")


@contextlib.asynccontextmanager
async def connected(
    home: Path,
    cwd: Path,
    *words: str,
    mode: str = "legacy",
    roots: Callable[[], Sequence[Path]] | None = None,
    name: str = "tests",
) -> AsyncIterator[Client]:
    """Yield the SDK's client of a new server; `roots` is called each time that the server asks for them.

    What the server says on standard error is without a traceback, or the test fails.
    """

    async def named(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in (roots or list)()])

    program, *rest = map(os.fsdecode, command("mcp", *words))
    server = StdioServerParameters(command=program, args=rest, env=environment(home), cwd=cwd)
    with tempfile.TemporaryFile("w+") as errors:
        async with Client(
            stdio_client(server, errlog=errors),
            mode=mode,
            list_roots_callback=named if roots else None,
            client_info=types.Implementation(name=name, version="1"),
        ) as client:
            yield client
        errors.seek(0)
        said = errors.read()
    assert "Traceback" not in said, said


def one_text(result: types.CallToolResult) -> str:
    """Return the text of an answer, which has one."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


class ByHand:
    """A server whose lines of JSON the test writes and reads itself."""

    def __init__(self, home: Path, cwd: Path, *, roots: Any = None) -> None:
        """`roots` is what a client that has them answers when it is asked for them."""
        self._roots = roots
        self.process = subprocess.Popen(
            command("mcp"),
            cwd=cwd,
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._id = 0
        who = {"name": "tests", "version": "1"}
        able = {} if roots is None else {"roots": {}}
        self.answer(self.ask("initialize", protocolVersion="2025-06-18", capabilities=able, clientInfo=who))
        self.send(method="notifications/initialized")

    def send(self, **message: Any) -> None:
        """Write one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; returns its id."""
        self._id += 1
        self.send(id=self._id, method=method, params=params)
        return self._id

    def call(self, tool: str, **arguments: Any) -> int:
        """Send a call of a tool; returns its id."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def answer(self, ident: int) -> dict[str, Any]:
        """Return the answer to a request; every line until then is JSON."""
        assert self.process.stdout
        while True:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            message: dict[str, Any] = json.loads(line)
            if message.get("method") == "roots/list":
                self.send(id=message["id"], result=self._roots)
            if message.get("id") == ident and "method" not in message:
                return message

    def end(self) -> tuple[int, bytes, bytes]:
        """Close the server's input; returns its exit code, what else it printed, and what it said on standard error."""
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


def descendants(pid: int) -> dict[int, float]:
    """Return the processes below one, each with the seconds of processor time that it has taken (0 for one that ended)."""
    below: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                state, parent, *fields = (folder / "stat").read_text().rpartition(")")[2].split()
                below.setdefault(int(parent), []).append(int(folder.name))
                taken = (int(fields[9]) + int(fields[10])) / os.sysconf("SC_CLK_TCK")
                seconds[int(folder.name)] = 0.0 if state == "Z" else taken
    found: dict[int, float] = {}
    waiting = list(below.get(pid, []))
    while waiting:
        one = waiting.pop()
        found[one] = seconds[one]
        waiting += below.get(one, [])
    return found


def still_there(pids: Sequence[int], *, seconds: float) -> list[int]:
    """Return which of the processes still run when that much time has passed; sooner where none does."""
    end = time.monotonic() + seconds
    while True:
        there = [pid for pid in pids if _runs(pid)]
        if not there or time.monotonic() > end:
            return there
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
