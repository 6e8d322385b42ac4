"""The server's outermost layer: bodies that are too large or too slow end here, and every error that nobody expected is logged."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from slicegrep.service.errors import TooLarge, TooSlow
from slicegrep.service.logs import failure

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MOST_BYTES", "Outermost", "body_of"]

MOST_BYTES = 1_000_000
"""Of a body: 200 of the longest locations."""
_BODY_SECONDS = 10.0
"""How long a body may take to come."""
_DRAINED_BYTES = 16_000_000
"""Of a body that is refused: so much is still read and dropped, since a caller that is cut off while it sends may never see
why."""
_DRAIN_SECONDS = 2.0
_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


async def body_of(request: Request) -> bytes:
    """Return a call's body. Raises TooLarge and TooSlow."""
    announced = request.headers.get("content-length", "")
    too_large = TooLarge(f"a body has {MOST_BYTES:,} bytes at most")
    if announced.isdecimal() and int(announced[:20]) > MOST_BYTES:
        raise too_large
    blocks: list[bytes] = []
    size = 0

    async def read() -> None:
        nonlocal size
        async for block in request.stream():
            size += len(block)
            if size > MOST_BYTES:
                raise too_large
            blocks.append(block)

    try:
        await asyncio.wait_for(read(), _BODY_SECONDS)
    except asyncio.TimeoutError:
        raise SlowBody(f"the body did not come within {_BODY_SECONDS:g} seconds") from None
    return b"".join(blocks)


class SlowBody(TooSlow):
    """A body that does not come."""

    status = 408


class Outermost:
    """Wraps the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reading = _Reading(receive)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                await reading.drain(scope)
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        try:
            await self._app(scope, reading.receive, answer)
        except Exception as error:  # noqa: BLE001 (the process boundary: it was answered, and is to be logged without a traceback)
            failure(error)


class _Reading:
    """What has been read of a call's body."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False
        self._any = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._any = True
        if message["type"] != "http.request" or not message.get("more_body"):
            self._ended = True
        return message

    async def drain(self, scope: Scope) -> None:
        """Read what is left of the body, as far as the limits go."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if not (headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers):
            return
        if not self._any and b"expect" in headers:  # it waits for a word before it sends
            return
        until, size = time.monotonic() + _DRAIN_SECONDS, 0
        with suppress(asyncio.TimeoutError):
            while not self._ended and size < _DRAINED_BYTES and (left := until - time.monotonic()) > 0:
                message = await asyncio.wait_for(self.receive(), left)
                size += len(message.get("body", b""))
