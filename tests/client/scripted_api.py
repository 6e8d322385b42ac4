"""The scripted Messages API: an HTTP server on 127.0.0.1 that plays the model and keeps every request it got."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Request", "Script", "ScriptedAPI", "Tool", "Turn", "flat_text", "serving"]

SUMMARY_MARK = "create a detailed summary"
"""What both pinned clients ask for when they compact a conversation."""


@dataclass(frozen=True)
class Tool:
    """One tool call of a turn: `Tool("Read", file_path="/x.py")`."""

    name: str
    input: dict[str, Any]

    def __init__(self, name: str, **arguments: Any) -> None:
        """Take the tool's input as keywords."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "input", arguments)


Turn = Sequence["Tool | str"] | Callable[["Request"], Sequence["Tool | str"]]
"""What the model says in one answer: texts and tool calls, or a function of the request that makes them."""


@dataclass
class Script:
    """The turns of one conversation, told from others by `marker` in its first user message.

    The ids of its tool calls are `toolu_<name>_<turn>_<index>`, both counted from 0. After the last turn it says "Done.".
    """

    name: str
    marker: str
    turns: list[Turn] = field(default_factory=list)
    played: int = 0


@dataclass(frozen=True)
class Request:
    """One POST to /v1/messages. `script` is the conversation's name, "" for a side call."""

    script: str
    kind: str
    """`turn`, `side` (no tools) or `summary` (compaction)."""
    body: dict[str, Any]
    at: float
    """time.monotonic() of its arrival."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation as the model receives it."""
        return list(self.body.get("messages", []))


def flat_text(content: Any) -> str:
    """Return every text in a message's content, tool results included, joined by LF."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content or []:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(str(block.get("text", "")))
        elif block.get("type") == "tool_result":
            parts.append(flat_text(block.get("content")))
    return "\n".join(parts)


class ScriptedAPI:
    """Chooses the answer to each request and remembers the request. Safe for several clients at once."""

    def __init__(self, *scripts: Script) -> None:
        """Start with these conversations; more can be added while clients run."""
        self.scripts = list(scripts)
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self.url = ""
        self._lock = threading.Lock()
        self._calls = 0

    def add(self, script: Script) -> Script:
        """Add a conversation and return it."""
        with self._lock:
            self.scripts.append(script)
        return script

    def turns_of(self, name: str) -> list[Request]:
        """Return the requests that advanced this script, oldest first."""
        with self._lock:
            return [r for r in self.requests if r.script == name and r.kind == "turn"]

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the message for a request body (Messages API shape)."""
        with self._lock:
            self._calls += 1
            call = self._calls
            messages = body.get("messages", [])
            last = flat_text(messages[-1].get("content")) if messages else ""
            script = self._script_of(messages)
            if SUMMARY_MARK in last:
                kind = "summary"
            elif not body.get("tools") or script is None:
                kind = "side"
            else:
                kind = "turn"
            request = Request(script.name if script and kind != "side" else "", kind, body, time.monotonic())
            self.requests.append(request)
            blocks: Sequence[Tool | str] = ["A short answer."]
            name, turn = "side", call
            if kind == "summary":
                blocks = [f"<summary>\nThe work so far: {script.marker if script else ''}\n</summary>"]
            elif kind == "turn" and script is not None:
                name, turn = script.name, script.played
                blocks = self._play(script, request)
        return _message(body, blocks, name, turn, call)

    def _script_of(self, messages: list[dict[str, Any]]) -> Script | None:
        for message in messages:
            if message.get("role") == "user":
                text = flat_text(message.get("content"))
                for script in self.scripts:
                    if script.marker in text:
                        return script
        return None

    def _play(self, script: Script, request: Request) -> Sequence[Tool | str]:
        turn: Turn = script.turns[script.played] if script.played < len(script.turns) else ["Done."]
        script.played += 1
        if not callable(turn):
            return turn
        try:
            return turn(request)
        except Exception as error:  # noqa: BLE001 - a fault in a test's own function must reach the test, not the client
            self.faults.append(f"{script.name} turn {script.played - 1}: {error!r}")
            return ["Done."]


def _message(
    body: dict[str, Any], blocks: Sequence[Tool | str], name: str, turn: int, call: int
) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for index, block in enumerate(blocks):
        if isinstance(block, Tool):
            ident = f"toolu_{name}_{turn}_{index}"
            content.append({"type": "tool_use", "id": ident, "name": block.name, "input": block.input})
        else:
            content.append({"type": "text", "text": block})
    calls = any(b["type"] == "tool_use" for b in content)
    return {
        "id": f"msg_{call}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            start: dict[str, Any] = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ScriptedAPI

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: the requests themselves are kept."""

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(404, b'{"type":"error","error":{"type":"not_found_error","message":"scripted"}}')

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            self._send(200, json.dumps({"input_tokens": max(1, len(raw) // 4)}).encode())
            return
        if path != "/v1/messages":
            self._send(200, b"{}")
            return
        body = json.loads(raw)
        message = self.api.answer(body)
        if body.get("stream"):
            stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message))
            self._send(200, stream.encode(), "text/event-stream")
        else:
            self._send(200, json.dumps(message).encode())

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", "req_scripted")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up: a killed client does."""


@contextmanager
def serving(api: ScriptedAPI) -> Iterator[ScriptedAPI]:
    """Serve `api` on a free port of 127.0.0.1; its `url` is set while the block runs."""
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
