"""A server as a process of its own: how the tests start it, call it and end it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command import command, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["SECONDS", "Served", "serving", "token_of"]

SECONDS = 60


@dataclass
class Served:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    port: int
    token: str
    log: Path
    _connections: list[http.client.HTTPConnection] = field(default_factory=list)

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection that is kept until the test ends."""
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        self._connections.append(made)
        return made

    def call(
        self,
        operation: str,
        body: Any = None,
        *,
        token: str | None = None,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        connection: http.client.HTTPConnection | None = None,
    ) -> tuple[int, Any]:
        """Call `/v1/OPERATION` with a body (bytes as they are, else as JSON); returns the status and the JSON of the answer."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        own = connection or self.connection()
        shown = self.token if token is None else token
        own.request(
            method,
            f"/v1/{operation}",
            body=sent,
            headers={
                **({"Authorization": f"Bearer {shown}"} if shown else {}),
                **({"Content-Type": "application/json"} if sent is not None else {}),
                **(headers or {}),
            },
        )
        answer = own.getresponse()
        return answer.status, json.loads(answer.read())

    def refused(self, operation: str, body: Any = None, **how: Any) -> tuple[int, str, str]:
        """Return status, name and sentence of a refusal, which is to have nothing else."""
        status, answer = self.call(operation, body, **how)
        assert sorted(answer) == ["error", "message"], answer
        message = answer["message"]
        assert message and "\n" not in message and len(message) <= 500, message
        return status, answer["error"], message

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def token_of(home: Path, name: str, *options: str) -> str:
    """Return a new token for the home's servers."""
    status, token, told = run(home, "serve", "--new-token", name, *options)
    assert status == 0, told
    return token.strip()


@contextmanager
def serving(home: Path, *options: str, cwd: Path | None = None, **variables: str) -> Iterator[Served]:
    """Run a server on a free port, with a viewer's token."""
    token = token_of(home, "someone")
    log = home / "server.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command("serve", "--port", "0", *options),
            cwd=cwd,
            env=environment(home, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    told = process.stdout.readline()
    try:
        assert b" at http://127.0.0.1:" in told, (told, log.read_text())
        served = Served(process, int(told.rsplit(b":", 1)[1]), token, log)
        yield served
        for one in served._connections:
            one.close()
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(SECONDS)
        process.stdout.close()


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder, which is made; returns it."""
    for name, text in files.items():
        path = root / name
        os.makedirs(path.parent, exist_ok=True)
        path.write_text(text)
    return root
