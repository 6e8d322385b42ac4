"""How the server bears load: many calls of code.enclosing at once, each answer compared, with times and memory.

    python benchmarks/service.py TREE [--seconds 30] [--calls 50] [--locations 200] [--files 50] [--body]

Starts `slicegrep serve` on TREE with a home of its own (with --vocabulary, the folder with the token counter's file is linked into it),
asks once for what the answer is, then keeps --calls calls open for --seconds, each for --locations lines of --files files, and prints
JSON: calls, answers that were not as they should be, errors by kind, milliseconds (50%, 99%, most), and the server's resident
memory in MB: after the first second, and at the end. `alone_ms` is one call at a time on a kept connection before that, `cpu_ms` the
server's own processor time for each of those.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
sys.path.insert(0, str(PLUGIN))

from slicegrep.index import open_view  # noqa: E402 (the package beside this file, not an installed one)

START_SECONDS = 120
ALONE = 30
SETTLED_SECONDS = 1.0


class Server(NamedTuple):
    """A server that runs."""

    pid: int
    port: int
    token: str


@contextmanager
def server(tree: Path, home: Path) -> Iterator[Server]:
    """Start a server of one tree on a free port, and end it."""
    command = [sys.executable, "-I", "-B", str(PLUGIN / "slicegrep" / "__main__.py"), "serve"]
    environment = {**os.environ, "SLICEGREP_HOME": str(home)}
    made = subprocess.run(
        [*command, "--new-token", "load"], env=environment, capture_output=True, text=True, check=True
    )
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", "0", "--namespace", f"tree={tree}"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            yield Server(process.pid, int(told.rsplit(":", 1)[1]), made.stdout.strip())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(START_SECONDS)


def locations_of(tree: Path, home: Path, files: int, locations: int, seed: int = 1) -> list[str]:
    """Return lines of the tree's code files, the same for the same seed."""
    rows = [row for row in open_view(str(tree), str(home)).files if row is not None and row.language]
    chosen = random.Random(seed).sample(rows, min(files, len(rows)))
    lines = random.Random(seed)
    return [
        f"{row.path}:{lines.randint(1, max(1, row.lines))}"
        for row in (chosen[at % len(chosen)] for at in range(locations))
    ]


def request_of(server: Server, body: bytes) -> bytes:
    """Return the bytes of a call of code.enclosing."""
    head = (
        f"POST /v1/code.enclosing HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
        f"X-Slicegrep-Agent: load\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[Callable[[bytes], Awaitable[tuple[int, bytes]]]]:
    """Give what sends a call over one kept connection, and returns its status and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)

    async def ask(request: bytes) -> tuple[int, bytes]:
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        return status, await reader.readexactly(length)

    try:
        yield ask
    finally:
        writer.close()


async def load(server: Server, bodies: Sequence[bytes], *, calls: int, seconds: float) -> dict[str, Any]:
    """Keep so many calls open for so long; each answer must be that of the same call alone."""
    requests = [request_of(server, body) for body in bodies]
    expected: list[bytes] = []
    alone: list[float] = []
    async with connection(server.port) as ask:
        for request in requests:
            status, body = await ask(request)
            assert status == 200, body
            expected.append(body)
        before = processor_ms(server.pid)
        for at in range(ALONE):
            begun = time.perf_counter()
            await ask(requests[at % len(requests)])
            alone.append(1_000 * (time.perf_counter() - begun))
        cpu = (processor_ms(server.pid) - before) / ALONE
    times: list[float] = []
    errors: Counter[str] = Counter()
    wrong = 0
    end = time.monotonic() + seconds

    async def keep_asking(first: int) -> None:
        nonlocal wrong
        at = first
        async with connection(server.port) as ask:
            while time.monotonic() < end:
                begun = time.perf_counter()
                status, body = await ask(requests[at % len(requests)])
                times.append(1_000 * (time.perf_counter() - begun))
                if status != 200:
                    errors[str(status)] += 1
                wrong += body != expected[at % len(requests)]
                at += 1

    running = asyncio.gather(*(keep_asking(first) for first in range(calls)), return_exceptions=True)
    await asyncio.sleep(min(SETTLED_SECONDS, seconds / 3))
    settled = resident_mb(server.pid)
    for failed in await running:
        if failed is not None:
            errors[type(failed).__name__] += 1
    times.sort()
    return {
        "alone_ms": {"median": round(statistics.median(alone), 1), "least": round(min(alone), 1)},
        "cpu_ms": round(cpu, 1),
        "calls": len(times),
        "per_second": round(len(times) / seconds, 1),
        "wrong": wrong,
        "errors": dict(errors),
        "ms": {
            "50%": round(times[len(times) // 2], 1),
            "99%": round(times[int(len(times) * 0.99)], 1),
            "most": round(times[-1], 1),
        },
        "resident_mb": {"settled": settled, "end": resident_mb(server.pid)},
    }


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process (Linux)."""
    text = Path(f"/proc/{pid}/status").read_text()
    return round(int(text.split("VmRSS:")[1].split()[0]) / 1_000, 1)


def processor_ms(pid: int) -> float:
    """Return the processor time that a process has had (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return 1_000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--locations", type=int, default=200)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--body", action="store_true", help="ask for bodies, too")
    parser.add_argument("--vocabulary", type=Path, help="a folder with the token counter's file")
    asked = parser.parse_args()
    tree = asked.tree.resolve()
    home = Path(tempfile.mkdtemp(prefix="slicegrep-service-"))
    try:
        if asked.vocabulary:
            (home / "vocab").symlink_to(asked.vocabulary.resolve())
        bodies = [
            json.dumps(
                {
                    "locations": locations_of(tree, home, asked.files, asked.locations, seed),
                    "include_body": asked.body,
                }
            ).encode()
            for seed in range(4)
        ]
        with server(tree, home) as running:
            found = asyncio.run(load(running, bodies, calls=asked.calls, seconds=asked.seconds))
        print(json.dumps(found, indent=1))
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
