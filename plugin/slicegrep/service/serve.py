"""The server as a process: where it listens and whom it refuses to, until it is asked to end."""

from __future__ import annotations

import gc
import ipaddress
import os
import signal
import socket
from typing import TYPE_CHECKING

from slicegrep.service.bearer import is_private
from slicegrep.service.logs import log, start_log

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from slicegrep.service.bearer import Tokens

__all__ = ["BACKLOG", "ServeError", "listening", "run", "trusted"]

_GRACE_SECONDS = 35
"""How long calls that run when the server is asked to end may take: longer than desk.CALL_SECONDS."""
BACKLOG = 512
"""Connections that wait to be taken."""
_EVERY = "0.0.0.0"  # noqa: S104 (what `--host ''` means; `trusted` decides)


class ServeError(ValueError):
    """Why the server does not start; the message is one sentence."""


def trusted(host: str, tokens: Tokens) -> None:
    """Raise ServeError unless the server may listen there: off this machine only with a token, in a file of one's own."""
    if all(ipaddress.ip_address(address).is_loopback for address in _addresses(host)):
        return
    if not len(tokens):
        raise ServeError(
            f"{host} can be reached from elsewhere, and {tokens.path} holds no token: make one first"
        )
    if not is_private(tokens.path):
        raise ServeError(
            f"{host} can be reached from elsewhere, and others can read or write {tokens.path}: chmod 600 it"
        )


def _addresses(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host or _EVERY, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ServeError(f"{host}: {error.strerror or error}") from error
    return [str(address[0]).partition("%")[0] for *_, address in found]


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that is bound there and refuses connections until `listen` is called. Raises ServeError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or _EVERY,
            port,
            type=socket.SOCK_STREAM,
        )[0]
        listener = socket.socket(family, kind, protocol)
        if os.name != "nt":  # there it would let two servers have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise ServeError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listener


def run(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; calls that run then are answered first."""
    import uvicorn  # noqa: PLC0415 (an extra)

    gc.enable()  # __main__ switches it off for commands that end soon
    start_log()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        backlog=BACKLOG,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn raises them once more when it has ended
        signal.signal(number, lambda *_: None)
    log("started", pid=os.getpid())
    uvicorn.Server(config).run(sockets=[listener])
    log("ended", pid=os.getpid())
