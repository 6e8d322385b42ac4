"""A server of code.enclosing on 127.0.0.1 that answers truly of a tree, or in any wrong way that a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from slicegrep.outline import enclosing, outline
from slicegrep.source import read_source
from slicegrep.types import Outline, Source

__all__ = ["EnclosingServer", "enclosing_server"]


class EnclosingServer(ThreadingHTTPServer):
    """The server. `reply` turns the true answer into what is sent: bytes, or what is written as JSON."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.status = 200
        self.reply: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.seconds = 0.0
        """How long each answer takes."""
        self.drip = 0.0
        """Seconds between two bytes of an answer's body."""
        self.cut = False
        """Whether the connection is closed in the middle of the body."""
        self.calls: list[dict[str, Any]] = []
        """Bodies that were received."""
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def begin(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> None:
        with self._lock:
            self.paths.append(path)
            self.headers.append(headers)
            self.calls.append(body)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def end(self) -> None:
        with self._lock:
            self._at_once -= 1

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the true answer."""
        rows = [self._row(location) for location in body["locations"]]
        resolved = sum(bool(row["symbol"]) for row in rows)
        return {
            "rows": rows,
            "resolved": resolved,
            "revision": "c7a9fe7c9f",
            "neighbours": [],
            "anchors_capped": False,
        }

    def _row(self, location: str) -> dict[str, Any]:
        path, _, line = location.rpartition(":")
        source = read_source(str(self.root / path))
        symbol = enclosing(_outline(source), int(line)) if source else None
        row: dict[str, Any] = dict.fromkeys(
            ("symbol", "symbol_id", "kind", "path", "signature", "digest", "next"), ""
        )
        row |= {"location": location, "start": 0, "end": 0, "body": None}
        if source is not None:
            row |= {"path": path, "digest": source.digest}
        if symbol is not None:
            row |= {
                "symbol": symbol.qualified,
                "symbol_id": f"{path}#{symbol.qualified}",
                "kind": symbol.kind,
            }
            row |= {"start": symbol.start, "end": symbol.end, "signature": symbol.signature}
        return row


@cache
def _outline(source: Source) -> Outline:
    return outline(source)


class _Handler(BaseHTTPRequestHandler):
    server: EnclosingServer

    def do_POST(self) -> None:
        """Answer one call."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.begin(self.path, dict(self.headers), body)
        try:
            time.sleep(self.server.seconds)
            found = self.server.reply(self.server.answer(body))
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(self.server.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.server.drip:
                for byte in data:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(self.server.drip)
            else:
                self.wfile.write(data[: len(data) // 2] if self.server.cut else data)
        except OSError:  # the shim has not waited
            return
        finally:
            self.server.end()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def enclosing_server(root: Path) -> Iterator[EnclosingServer]:
    """Serve a tree until the end of the block."""
    server = EnclosingServer(root)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
