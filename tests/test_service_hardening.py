"""The server against connections that say nothing, calls that take for ever, tokens that are none, and floods of its log."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from command import ROOT, command, environment, run
from served import SECONDS, Served, serving, token_of, write_tree
from slicegrep.service.app import application
from slicegrep.service.bearer import TokenFileError, Tokens, new_token
from slicegrep.service.connections import Connections
from slicegrep.service.desk import Desk, Lane
from slicegrep.service.errors import Busy, TooSlow

CART = "class Cart:\n    def total(self):\n        return 3\n"
ONE = {"locations": ["a.py:3"]}
HALF_HEAD = b"POST /v1/code.enclosing HTTP/1.1\r\nHost: x\r\nX: "


@contextmanager
def with_descriptors(home: Path, most: int, *options: str) -> Iterator[Served]:
    """Run a server that may have so many files and connections open."""
    token = token_of(home, "someone")
    log = home / "server.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *command("serve", "--port", "0", *options)],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        told = process.stdout.readline()
        assert b" at http://127.0.0.1:" in told, log.read_text()
        yield Served(process, int(told.rsplit(b":", 1)[1]), token, log)
    finally:
        process.terminate()
        process.wait(SECONDS)
        process.stdout.close()


def test_half_open_connections_shut_nobody_out(tmp_path: Path) -> None:
    """300 half heads where 256 descriptors are all: a call is answered as ever, and the log stays small and JSON."""
    tree = write_tree(tmp_path / "tree", {"a.py": CART})
    with with_descriptors(tmp_path, 256, "--namespace", f"t={tree}") as served, ExitStack() as held:
        assert served.call("code.enclosing", ONE)[0] == 200
        for _ in range(300):
            one = held.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS))
            one.sendall(HALF_HEAD)
        begun = time.monotonic()
        assert served.call("code.enclosing", ONE)[0] == 200
        assert time.monotonic() - begun < 6  # half a head is given up after 10
        assert served.stop() == 0
        lines = served.log.read_text().splitlines()
        assert len(lines) < 40
        events = [json.loads(line)["event"] for line in lines]
        assert "too many connections" in events and set(events) <= {
            "started",
            "call",
            "too many connections",
            "ended",
        }


@contextmanager
def bounded(connections: Connections) -> Iterator[tuple[int, threading.Event]]:
    """Run an application over these connections: its port, and what lets `GET /wait` be answered.

    `GET /large` is answered with 4 MB, and a POST with 2 bytes when its body is there.
    """
    go = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while scope["method"] == "POST" and (await receive()).get("more_body"):
            pass
        if scope["path"] == "/wait":
            await asyncio.to_thread(go.wait, SECONDS)
        body = b"x" * (4_000_000 if scope["path"] == "/large" else 2)
        length = str(len(body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})

    listener = socket.create_server(("127.0.0.1", 0))
    made: Any = connections.protocol
    server = uvicorn.Server(uvicorn.Config(app, http=made, lifespan="off", log_config=None, loop="asyncio"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1], go
    finally:
        go.set()
        server.should_exit = True
        thread.join(SECONDS)


def request(path: str, *headers: str) -> bytes:
    """Return a request without a body, or the head of one that says its length."""
    method = "POST" if any(header.startswith("Content-Length") for header in headers) else "GET"
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def rest(one: socket.socket) -> bytes:
    """Return what comes before the server closes the connection."""
    data = b""
    try:
        while block := one.recv(65_536):
            data += block
    except ConnectionResetError:
        pass
    return data


def test_a_head_that_does_not_come_and_an_answer_that_is_not_read_are_given_up() -> None:
    """Each within its patience; a slow body, which the application minds itself, and a slow reader are served on."""
    with bounded(Connections(50, patience=0.6)) as (port, _), ExitStack() as held:

        def connected(data: bytes) -> socket.socket:
            one = held.enter_context(socket.socket())
            one.settimeout(SECONDS)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            one.connect(("127.0.0.1", port))
            one.sendall(data)
            return one

        half, silent = connected(HALF_HEAD), connected(b"")
        second = connected(request("/", "Content-Length: 0") + HALF_HEAD)
        unread = connected(request("/large"))
        body = connected(request("/", "Content-Length: 10", "Connection: close"))
        reader = connected(request("/large", "Connection: close"))
        got = 0
        for _ in range(10):
            time.sleep(0.2)
            body.sendall(b"x")
            end = time.monotonic() + 0.02
            while time.monotonic() < end:
                got += len(reader.recv(65_536))
        assert rest(half) == rest(silent) == b""
        assert rest(second).endswith(b"\r\n\r\nxx")
        assert rest(body).endswith(b"\r\n\r\nxx")
        assert got + len(rest(reader)) > 4_000_000
        assert len(rest(unread)) < 4_000_000


def test_a_call_that_runs_is_not_cut_off_for_others() -> None:
    """Of two places one is kept by a call; the other goes to whoever came last, and half a body keeps none."""
    with bounded(Connections(2)) as (port, go), ExitStack() as held:

        def connected(data: bytes) -> socket.socket:
            one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
            one.sendall(data)
            return one

        runs = connected(request("/wait"))
        half_body = connected(request("/", "Content-Length: 10") + b"x")
        time.sleep(0.2)
        half_head = connected(HALF_HEAD)
        assert rest(half_body) == b""
        last = connected(request("/wait"))
        assert rest(half_head) == b""
        time.sleep(0.2)
        assert rest(connected(b"")) == b""  # both run: there is no place for a third
        go.set()
        assert runs.recv(65_536).startswith(b"HTTP/1.1 200")
        assert last.recv(65_536).startswith(b"HTTP/1.1 200")


def test_the_end_waits_for_calls_and_not_for_callers(tmp_path: Path) -> None:
    """Half a head, half a body, an answer that is not read: SIGTERM ends the server within a few seconds, with 0."""
    text = "".join(f"def f{at}():\n    return {at}\n" * 40 for at in range(40))
    tree = write_tree(tmp_path / "tree", {f"m{at}.py": text for at in range(5)})
    wanted = {"locations": [f"m{at % 5}.py:{at + 2}" for at in range(200)], "include_body": True}
    with serving(tmp_path, "--namespace", f"t={tree}") as served, ExitStack() as held:
        data = json.dumps(wanted).encode()
        head = (
            f"POST /v1/code.enclosing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        ).encode()
        assert served.call("code.enclosing", wanted)[0] == 200
        for sent in (HALF_HEAD, head + data[:9], (head + data) * 30):
            one = held.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            one.connect(("127.0.0.1", served.port))
            one.sendall(sent)
        time.sleep(0.5)
        begun = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - begun < 6


def test_what_libraries_log_is_json_without_paths_and_does_not_flood() -> None:
    """A thousand tracebacks of asyncio's are ten lines; the next after a while says how many were left out."""
    code = r"""
import logging, time
from slicegrep.service import logs
logs.start_log()
logs._WINDOW_SECONDS = 0.5
logger = logging.getLogger("asyncio")
def flood(times):
    for _ in range(times):
        try:
            open("/secret/file")
        except OSError:
            logger.exception("socket.accept() out of system resource\n/secret/file %s", "def code()")
flood(1000)
for _ in range(20):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logs.log("call", status=200)
time.sleep(0.6)
flood(1)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={"PYTHONPATH": str(ROOT / "plugin"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    rows = [json.loads(line) for line in done.stderr.splitlines()]
    asyncios = [row for row in rows if row["event"] == "socket.accept() out of system resource"]
    assert len(asyncios) == 11 and asyncios[-1]["left_out"] == 990
    assert {key: asyncios[0][key] for key in ("level", "of", "error", "at")} == {
        "level": "error",
        "of": "asyncio",
        "error": "FileNotFoundError",
        "at": "__main__:10",
    }
    assert [row["event"] for row in rows].count("Invalid HTTP request received") == 10
    assert [row["event"] for row in rows].count("call") == 20
    assert "secret" not in done.stderr and "code" not in done.stderr


async def outcome(call: Any) -> str:
    """Return `done`, or the name of what a call of the desk raised."""
    try:
        await call
    except (Busy, TooSlow) as error:
        return type(error).__name__
    return "done"


def test_quick_calls_do_not_wait_for_slow_ones_and_keep_room() -> None:
    """Forty calls of each slow lane, without end: 32 of each are let in, and a quick one is answered at once."""
    go = threading.Event()

    async def scenario() -> tuple[list[str], str, int]:
        desk = Desk()

        async def call(work: Callable[[], Any], lane: Lane) -> None:
            with desk.place() as place:
                await desk.run(place, work, lane)

        slow = [
            asyncio.create_task(outcome(call(lambda: go.wait(SECONDS), lane)))
            for lane in (Lane.GRAPH, Lane.SEARCH)
            for _ in range(40)
        ]
        await asyncio.sleep(0)
        quick = await asyncio.wait_for(outcome(call(int, Lane.QUICK)), 2)
        threads = sum(thread.name.startswith(("graph", "search")) for thread in threading.enumerate())
        go.set()
        ended = await asyncio.gather(*slow)
        desk.close()
        return ended, quick, threads

    ended, quick, threads = asyncio.run(scenario())
    assert quick == "done"
    assert (ended.count("done"), ended.count("Busy")) == (64, 16)
    assert threads <= 4


def test_a_lane_whose_threads_are_held_refuses_at_once_until_one_is_free() -> None:
    """Work that outlives its callers holds its own lane alone, and what had not begun by then is never done."""
    go, begun = threading.Event(), []

    async def scenario() -> list[str]:
        desk = Desk(seconds=1.0)

        async def call(work: Callable[[], Any], lane: Lane = Lane.SEARCH) -> None:
            with desk.place() as place:
                await desk.run(place, work, lane)

        stuck = [outcome(call(lambda: go.wait(SECONDS))) for _ in range(2)]
        seen = await asyncio.gather(*stuck, outcome(call(lambda: begun.append(1))))
        started = time.monotonic()
        seen += [
            await outcome(call(int)),
            await outcome(call(int, Lane.GRAPH)),
            await outcome(call(int, Lane.QUICK)),
        ]
        assert time.monotonic() - started < 0.9
        go.set()
        for _ in range(500):
            if (last := await outcome(call(int))) == "done":
                break
            await asyncio.sleep(0.01)
        seen.append(last)
        for _ in range(500):
            if not desk._inside:
                break
            await asyncio.sleep(0.01)
        assert desk._inside == 0
        desk.close()
        return seen

    assert asyncio.run(scenario()) == ["TooSlow"] * 3 + ["Busy", "done", "done", "done"]
    assert begun == []


class _Tree:
    """A tree whose answers take as long as the test wants, but for those that the index holds ready."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[str] = []

    def __getattr__(self, operation: str) -> Callable[[Any], Any]:
        def answer(asked: Any) -> Any:
            self.begun.append(operation)
            if operation in ("search", "callers", "callees", "impact") or getattr(asked, "neighbours", False):
                self.go.wait(SECONDS)
            return asked

        return answer


def test_each_operation_waits_behind_its_own_kind(tmp_path: Path) -> None:
    """Three of each slow operation that hang: enclosing and symbol are answered, and four slow ones at most run."""
    tokens = str(tmp_path / "tokens")
    headers = {"Authorization": f"Bearer {new_token(tokens, 'ann')}"}
    tree: Any = _Tree()
    app: Any = application({"t": tree}, Tokens(tokens), None)
    name = {"name": "f"}
    slow = [("search", {"pattern": "x"}), ("callers", name), ("callees", name), ("impact", name)]
    slow.append(("enclosing", {**ONE, "neighbours": True}))

    async def scenario() -> tuple[list[int], list[int]]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://x", headers=headers, timeout=SECONDS
        ) as client:

            async def call(operation: str, body: Any) -> int:
                return (await client.post(f"/v1/code.{operation}", json=body)).status_code

            waiting = [asyncio.create_task(call(*one)) for one in slow * 3]
            for _ in range(500):
                await asyncio.sleep(0.01 * (len(tree.begun) < 4))
            quick = [await asyncio.wait_for(call(*one), 5) for one in (("enclosing", ONE), ("symbol", name))]
            assert len(tree.begun) == 6
            tree.go.set()
            return quick, await asyncio.gather(*waiting)

    assert asyncio.run(scenario()) == ([200, 200], [200] * 15)


def test_an_empty_token_opens_nothing(tmp_path: Path) -> None:
    """Not even where somebody wrote the hash of an empty variable into the file; the sentence says so."""
    path = tmp_path / "tokens"
    for digest in (sha256(b"").hexdigest(), sha256(b"").hexdigest().upper()):
        path.write_text(f"# ours\nann viewer * {digest}\n")
        with pytest.raises(TokenFileError, match=r"^line 2: the hash is that of an empty token$"):
            Tokens(str(path))
    new_token(str(tmp_path / "others"), "ann")
    assert Tokens(str(tmp_path / "others")).holder("") is None


def test_no_token_and_a_wrong_one_are_told_apart(tmp_path: Path) -> None:
    """Both are 401; whoever has a token that was taken back reads that, not that one is needed."""
    tree = write_tree(tmp_path / "tree", {"a.py": CART})
    with serving(tmp_path, "--namespace", f"t={tree}") as served:
        for shown in ("", "Bearer", "Bearer ", "Bearer  ", f"Basic {served.token}"):
            refused = served.refused("code.enclosing", ONE, token="", headers={"Authorization": shown})
            assert refused[:2] == (401, "unauthorized") and "a token is needed" in refused[2], shown
        refused = served.refused("code.enclosing", ONE, token=served.token + "x")
        assert refused == (401, "unauthorized", "this server does not know that token")


def test_tokens_of_one_name_are_told_apart_by_their_date(tmp_path: Path) -> None:
    """The line has it behind the hash, and what the token opens is printed."""
    for options, opens in (
        ((), "it opens every namespace;"),
        (("--allow", "shop", "--allow", "web"), "it opens what is served as shop, web;"),
    ):
        status, _, told = run(tmp_path, "serve", "--new-token", "me", *options)
        assert status == 0 and opens in told
    lines = (tmp_path / "slicegrep" / "server.tokens").read_text().splitlines()[1:]
    assert len(lines) == 2
    for line in lines:
        assert re.fullmatch(r"me viewer \S+ [0-9a-f]{64} # 20\d\d-\d\d-\d\d", line)
    assert len(Tokens(str(tmp_path / "slicegrep" / "server.tokens"))) == 2
