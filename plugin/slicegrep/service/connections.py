"""Open connections: how many there may be, how long one may keep the server waiting, and which are closed for others."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from slicegrep.service.logs import log

if TYPE_CHECKING:
    import asyncio

__all__ = ["PATIENCE_SECONDS", "Connection", "Connections"]

PATIENCE_SECONDS = 10.0
"""How long the head of a request may take to come (a body has as long), or an answer lie unread without a byte being taken."""
_LAST_SECONDS = 1.0
"""The same, when the server was asked to end."""
_LOOK_SECONDS = 0.5


class Connections:
    """Those that are open, `most` at once, the one that has waited longest first.

    Where one more comes, the first that holds no whole request, or does not take its answer, is closed for it; where there is
    none, the new one is. One that lets the server wait longer than `patience`, in seconds, is closed, too.
    """

    def __init__(self, most: int, patience: float = PATIENCE_SECONDS) -> None:
        self._most = most
        self._patience = patience
        self._open: dict[Connection, None] = {}
        self._look: asyncio.TimerHandle | None = None

    def protocol(self, **how: Any) -> Connection:
        """Return what serves one connection (as uvicorn makes it)."""
        return Connection(self, **how)

    def opened(self, one: Connection) -> None:
        """Take a connection in, and close another where there are too many."""
        if len(self._open) >= self._most:
            closed = next((other for other in self._open if not other.busy), one)
            log("too many connections", level=logging.WARNING, most=self._most)
            self.closed(closed)
            closed.transport.abort()
            if closed is one:
                return
        self.waits(one)
        if self._look is None:
            self._look = one.loop.call_later(_LOOK_SECONDS, self._look_around, one.loop)

    def waits(self, one: Connection) -> None:
        """Put a connection that waits for its caller from now on behind the others."""
        self._open.pop(one, None)
        self._open[one] = None

    def closed(self, one: Connection) -> None:
        """Forget a connection."""
        self._open.pop(one, None)

    def end(self) -> None:
        """Be patient no longer."""
        self._patience = _LAST_SECONDS

    def _look_around(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for one in list(self._open):
            if one.kept_waiting(now) > self._patience:
                one.transport.abort()
        self._look = loop.call_later(_LOOK_SECONDS, self._look_around, loop) if self._open else None


class Connection(H11Protocol):
    """One connection of uvicorn's that is counted."""

    def __init__(self, connections: Connections, **how: Any) -> None:
        super().__init__(**how)
        self._others = connections
        self._since = self.loop.time()
        self._unsent = 0

    @property
    def busy(self) -> bool:
        """Whether the server works on a whole request whose caller takes what is sent."""
        return not (self._without_request or self.cycle.more_body or self.flow.write_paused)

    def kept_waiting(self, now: float) -> float:
        """Return for how many seconds the caller has sent no request, or taken nothing of an answer, as far as this has been asked."""
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._since = unsent, now
        return now - self._since if unsent or self._without_request else 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; where there are too many, at another's expense."""
        super().connection_made(transport)
        self._others.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End, whoever wanted it."""
        self._others.closed(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._since = self.loop.time()
        self._others.waits(self)
        super().on_response_complete()  # which may begin with one that is there already

    def shutdown(self) -> None:
        """End with the call that runs; at once where there is none, but for an answer that is being read."""
        if self.busy:
            self.cycle.keep_alive = False
        else:
            self.transport.close()

    @property
    def _without_request(self) -> bool:
        return self.cycle is None or self.cycle.response_complete
