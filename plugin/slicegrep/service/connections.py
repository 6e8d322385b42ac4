"""Open connections: how many there may be, how long one may keep the server waiting, and which are closed for others."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from slicegrep.service.logs import log

if TYPE_CHECKING:
    import asyncio

__all__ = ["Connection", "Connections"]

_PATIENCE_SECONDS = 10.0
"""How long the head of a request may take to come (a body has as long), or an answer lie unread without a byte being taken."""
_LAST_SECONDS = 1.0
"""The same, when the server was asked to end."""
_LOOK_SECONDS = 0.5


class Connections:
    """Those that are open, `most` at once, the one that has waited longest first.

    Where one more comes, the first that holds no whole request, or does not take its answer, is closed for it; where there is
    none, the new one is.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting_since: dict[Connection, float] = {}
        self._ending = False
        self._look: asyncio.TimerHandle | None = None

    def protocol(self, **how: Any) -> Connection:
        """Return what serves one connection (as uvicorn makes it)."""
        return Connection(self, **how)

    def opened(self, one: Connection) -> None:
        """Take a connection in, and close another where there are too many."""
        if len(self._waiting_since) >= self._most:
            closed = next((other for other in self._waiting_since if not other.busy), one)
            log("too many connections", level=logging.WARNING, most=self._most)
            self.closed(closed)
            closed.transport.abort()
            if closed is one:
                return
        self.waits(one)
        if self._look is None:
            self._look = one.loop.call_later(_LOOK_SECONDS, self._look_around, one.loop)

    def waits(self, one: Connection) -> None:
        """From now on a connection owes the server a request."""
        self._waiting_since.pop(one, None)
        self._waiting_since[one] = one.loop.time()

    def closed(self, one: Connection) -> None:
        """Forget a connection."""
        self._waiting_since.pop(one, None)

    def end(self) -> None:
        """Be patient no longer."""
        self._ending = True

    def _look_around(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        until = now - (_LAST_SECONDS if self._ending else _PATIENCE_SECONDS)
        for one, since in list(self._waiting_since.items()):
            if (one.unread_since(now) if one.unsent else since if one.without_request else now) < until:
                one.transport.abort()
        self._look = loop.call_later(_LOOK_SECONDS, self._look_around, loop) if self._waiting_since else None


class Connection(H11Protocol):
    """One connection of uvicorn's that is counted."""

    def __init__(self, connections: Connections, **how: Any) -> None:
        super().__init__(**how)
        self._others = connections
        self._unread = 0
        self._unread_since = 0.0

    @property
    def without_request(self) -> bool:
        """Whether it is the caller's turn to send one."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def busy(self) -> bool:
        """Whether the server works on a whole request whose caller takes what is sent."""
        return not (self.without_request or self.cycle.more_body or self.flow.write_paused)

    @property
    def unsent(self) -> int:
        """How many bytes of answers the caller has not taken yet, beyond what the system holds."""
        return self.transport.get_write_buffer_size()

    def unread_since(self, now: float) -> float:
        """Return since when nothing of them has been taken, as far as this has been asked."""
        if self.unsent != self._unread:
            self._unread, self._unread_since = self.unsent, now
        return self._unread_since

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
        self._others.waits(self)
        super().on_response_complete()  # which may begin with one that is there already

    def shutdown(self) -> None:
        """End with the call that runs; at once where there is none, but for an answer that is being read."""
        if self.busy:
            self.cycle.keep_alive = False
        else:
            self.transport.close()
