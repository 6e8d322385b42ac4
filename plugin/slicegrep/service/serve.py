"""The server as a process: where it listens and whom it refuses to, until it is asked to end."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from slicegrep.service.bearer import is_private
from slicegrep.service.logs import log, start_log

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

    from slicegrep.service.bearer import Tokens

__all__ = ["BACKLOG", "ServeError", "listening", "run", "trusted"]

_GRACE_SECONDS = 35
"""How long calls that run when the server is asked to end may take: longer than desk.CALL_SECONDS."""
BACKLOG = 512
"""Connections that wait to be taken."""
_AT_ONCE = 16
"""Of them, how many asyncio takes before it looks at those that it has: they are open and not yet counted."""
_MOST_CONNECTIONS = 1_024
"""Open ones: eight times the calls that are let in. h11 holds 16 kB of a half head."""
_DESCRIPTORS = 4_096
"""What the process takes where the system gives less by itself (often 1,024). Not more: the limit is that of the processes it starts,
too, some of which close every descriptor that there could be."""
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

    from slicegrep.service.connections import Connections  # noqa: PLC0415 (as above)

    gc.enable()  # __main__ switches it off for commands that end soon
    start_log()
    connections = Connections(_most_connections())

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            listener.listen(BACKLOG)  # asyncio has made it _AT_ONCE

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            connections.end()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=cast("type[asyncio.Protocol]", connections.protocol),
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        backlog=_AT_ONCE,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = Server(config)

    def end(*_: object) -> None:
        server.should_exit = True

    for number in (
        signal.SIGTERM,
        signal.SIGINT,
    ):  # before uvicorn listens to them, and when it raises them once more
        signal.signal(number, end)
    log("started", pid=os.getpid())
    server.run(sockets=[listener])
    log("ended", pid=os.getpid())


def _most_connections() -> int:
    """Return how many connections may be open: half of the descriptors, of which the process takes as many as it may need."""
    if os.name == "nt":
        return _MOST_CONNECTIONS
    import resource  # noqa: PLC0415 (not on Windows)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinite = resource.RLIM_INFINITY
    wanted = _DESCRIPTORS if hard == infinite else min(hard, _DESCRIPTORS)
    if soft != infinite and soft < wanted:
        with suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return _MOST_CONNECTIONS if soft == infinite else max(1, min(_MOST_CONNECTIONS, soft // 2))
