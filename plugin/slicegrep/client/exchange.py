"""One question to the server: sent at most twice, inside one time-out, and its answer, or its error, as a value of ours."""

from __future__ import annotations

import os
import socket
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar
from urllib.request import getproxies

import anyio
import httpx
from pydantic import BaseModel, ValidationError

from slicegrep.client.address import is_here, server_url
from slicegrep.client.body import ENCODINGS, Undecodable, body_of
from slicegrep.client.errors import (
    BadAnswer,
    InvalidRequest,
    SlicegrepError,
    TimedOut,
    Unreachable,
    error_of_status,
)
from slicegrep.service.models import ErrorAnswer, sentence_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Exchange", "request_of"]

LARGEST_ANSWER = 64_000_000
"""Bytes after decompression. 200 bodies of 100,000 tokens together are under 1 MB: past this the server is no slicegrep."""
PAUSE = 0.2
"""Seconds before the second try where the server names none: long enough for a restart behind a proxy to be noticed."""
AGAIN = frozenset({502, 503, 504})
"""What a second try may mend. Every operation only reads, so that it may be sent twice."""

_Answer = TypeVar("_Answer", bound=BaseModel)
_Request = TypeVar("_Request", bound=BaseModel)


def request_of(model: type[_Request], values: Mapping[str, object]) -> _Request:
    """Return the request of these values. Raises InvalidRequest, with a sentence for the first that is wrong."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidRequest(sentence_of(model, first)) from None


class Exchange:
    """A server, as one who calls it knows it: its address, the token, and the seconds that a call may take."""

    def __init__(self, url: str, token: str, *, agent: str, seconds: float) -> None:
        """Raise ValueError where the URL is none of HTTP's, or a header cannot hold the token or the agent's name."""
        self._url = server_url(url)
        for name, text in (("token", token), ("agent", agent)):
            if not (isinstance(text, str) and text.isascii() and text.isprintable() and text == text.strip()):
                raise ValueError(f"the {name} holds characters that no HTTP header can, or is no text")
        if not token:
            raise ValueError("the token is empty")
        if not (isinstance(seconds, int | float) and seconds > 0):
            raise ValueError("the time-out is a number of seconds above 0")
        self.seconds = seconds
        here = is_here(self._url.host)
        self._by = "" if here or not getproxies() else " (the environment names a proxy)"
        try:
            self._http = httpx.AsyncClient(
                base_url=self._url,
                headers={
                    "Authorization": f"Bearer {token}",
                    "X-Slicegrep-Agent": agent,
                    "Content-Type": "application/json",
                    "Accept": "application/json",
                    "Accept-Encoding": ENCODINGS,
                },
                timeout=None,  # noqa: S113 (the whole call has one)
                follow_redirects=False,  # the token is for this server
                # one of its own knows no proxy of the environment's: none is told what is asked on this machine
                transport=httpx.AsyncHTTPTransport() if here else None,
            )
        except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
            raise ValueError(
                f"the environment names a proxy or certificates that cannot be used ({type(error).__name__})"
            ) from None

    async def ask(
        self, operation: str, request: BaseModel, model: type[_Answer], *, end: float | None = None
    ) -> _Answer:
        """Return the server's answer, where it is whole before `end` (of time.monotonic; by default the time-out from now).

        Raises SlicegrepError, whatever happens on the way.
        """
        end = self.end() if end is None else end
        try:
            with anyio.fail_after(end - time.monotonic()):
                status, data = await self._twice(operation, request.model_dump_json().encode(), end)
        except TimeoutError:
            raise TimedOut(f"{operation}: no answer within {self.seconds:g} s") from None
        except Undecodable as error:
            raise BadAnswer(f"{operation}: {error}") from None
        except httpx.HTTPError as error:
            raise Unreachable(f"{operation}: {self._broken(error)}") from None
        if not 200 <= status < 300:
            raise _refusal(operation, status, data)
        try:
            return model.model_validate_json(data)
        except ValidationError:
            raise BadAnswer(
                f"{operation}: the answer is not what this version of slicegrep knows; is the server of another one?",
                status=status,
            ) from None

    def end(self) -> float:
        """Return when a call that begins now times out, of time.monotonic."""
        return time.monotonic() + self.seconds

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _twice(self, operation: str, body: bytes, end: float) -> tuple[int, bytes]:
        wait = PAUSE
        try:
            status, data, wait = await self._once(operation, body)
            if status not in AGAIN or time.monotonic() + wait >= end:
                return status, data
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            if time.monotonic() + wait >= end:
                raise
        await anyio.sleep(wait)
        status, data, _ = await self._once(operation, body)
        return status, data

    async def _once(self, operation: str, body: bytes) -> tuple[int, bytes, float]:
        """Return status, body, and the seconds to wait before another try. Raises httpx.HTTPError, Undecodable."""
        async with self._http.stream("POST", f"v1/{operation}", content=body) as answer:
            data = await body_of(answer, LARGEST_ANSWER)
            return answer.status_code, data, _pause(answer.headers.get("Retry-After", ""))

    def _broken(self, error: httpx.HTTPError) -> str:
        where = str(self._url).rstrip("/")
        if isinstance(error, httpx.ConnectError):
            return f"{where} cannot be reached: {_reason(error)}{self._by}"
        if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
            return f"the connection to {where} broke before the answer was whole"
        return f"the exchange with {where} failed: {str(error)[:200] or type(error).__name__}{self._by}"


def _pause(header: str) -> float:
    """Return the seconds that a Retry-After asks for, whichever of its two forms it has; PAUSE where it is none."""
    if header.isascii() and header.isdecimal():
        return max(float(header), PAUSE)
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), PAUSE)
    except (ValueError, OverflowError):
        return PAUSE


def _reason(error: BaseException) -> str:
    """Return what the system said: the innermost error's words."""
    inner: BaseException | None = error
    reason = ""
    while inner is not None:
        if isinstance(inner, socket.gaierror | ssl.SSLError):
            reason = inner.strerror or reason
        elif isinstance(inner, OSError) and inner.errno:
            reason = os.strerror(inner.errno)  # asyncio puts the address into its own words
        several = getattr(inner, "exceptions", None)  # one for each address that was tried
        inner = several[0] if several else inner.__cause__ or inner.__context__
    return reason or str(error) or type(error).__name__


def _refusal(operation: str, status: int, data: bytes) -> SlicegrepError:
    try:
        sentence = ErrorAnswer.model_validate_json(data).message
    except ValidationError:
        sentence = f"{operation}: HTTP status {status} without a sentence of slicegrep's"
    return error_of_status(status)(sentence, status=status)
