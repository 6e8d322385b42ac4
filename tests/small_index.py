"""A package index on 127.0.0.1 with one small wheel: the tests of set-up install from it for real, and can hold it up."""

from __future__ import annotations

import base64
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["SmallIndex", "small_index", "wheel"]


def wheel(name: str, files: Mapping[str, str]) -> bytes:
    """Return a pure wheel of version 1.0 with these files."""
    info = f"{name}-1.0.dist-info"
    whole = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text.encode())}\n" for path, text in whole.items())
    whole[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)
    return packed.getvalue()


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class SmallIndex(ThreadingHTTPServer):
    """The index. `downloads` counts the wheels asked for; while `gate` is clear they do not go out."""

    daemon_threads = True

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name, self.content = name, content
        self.downloads = 0
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()

    @property
    def requirements(self) -> str:
        """A requirements file that pins the wheel, from this index alone."""
        return f"--index-url http://127.0.0.1:{self.server_port}/simple/\n{self.name}==1.0\n"


class _Handler(BaseHTTPRequestHandler):
    server: SmallIndex

    def do_GET(self) -> None:
        """Answer the index page of the package, or the wheel."""
        file = f"{self.server.name}-1.0-py3-none-any.whl"
        if self.path == f"/simple/{self.server.name}/":
            self._send(
                "text/html", f'<!DOCTYPE html><html><body><a href="/{file}">{file}</a></body></html>'.encode()
            )
        elif self.path == f"/{file}":
            self.server.downloads += 1
            self.server.asked.set()
            self.server.gate.wait(60)
            self._send("application/octet-stream", self.server.content)
        else:
            self.send_error(404)

    def do_HEAD(self) -> None:
        """Refuse: uv then reads the whole wheel for its metadata."""
        self.send_error(405)

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def small_index(name: str = "tinypackage", files: Mapping[str, str] | None = None) -> Iterator[SmallIndex]:
    """Serve a wheel of that name with these files (a module of that name with nothing in it, else)."""
    server = SmallIndex(name, wheel(name, files or {f"{name}/__init__.py": ""}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()
        server.server_close()
