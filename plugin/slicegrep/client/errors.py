"""The ways in which a call of the client can fail, each with one sentence that says why."""

# ruff: noqa: N818 (`except NotFound` is what one reads at the call)
from __future__ import annotations

__all__ = [
    "Ambiguous",
    "BadAnswer",
    "Busy",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "ServerFault",
    "SlicegrepError",
    "TimedOut",
    "TooLarge",
    "Unauthorized",
    "Unreachable",
    "error_of_status",
]


class SlicegrepError(Exception):
    """A call that brought no answer. `str()` of it is one sentence: the server's own where it sent one."""

    def __init__(self, sentence: str, *, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status
        """The HTTP status of the answer; 0 where there was none, or where the request was not sent."""


class Unauthorized(SlicegrepError):
    """The token is missing or wrong (401)."""


class Forbidden(SlicegrepError):
    """The token is right and does not reach this namespace or operation (403)."""


class NotFound(SlicegrepError):
    """There is no such namespace, symbol or route (404)."""


class Ambiguous(SlicegrepError):
    """The name fits several definitions, some of which the sentence names (409)."""


class InvalidRequest(SlicegrepError):
    """The request is wrong: found before it was sent, or by the server (422 and other 4xx)."""


class TooLarge(SlicegrepError):
    """The request is larger than the server reads (413)."""


class Busy(SlicegrepError):
    """The server has too much to do just now (429, 503)."""


class ServerFault(SlicegrepError):
    """The server, or what stands before it, failed (5xx)."""


class TimedOut(SlicegrepError):
    """There was no whole answer in time: in the client's, or in the server's own (408, 504)."""


class Unreachable(SlicegrepError):
    """No connection came about, or it broke, also on the second try."""


class BadAnswer(SlicegrepError):
    """What came back is no answer of slicegrep's, or one of another version."""


_BY_STATUS: dict[int, type[SlicegrepError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: TimedOut,
    409: Ambiguous,
    413: TooLarge,
    429: Busy,
    503: Busy,
    504: TimedOut,
}


def error_of_status(status: int) -> type[SlicegrepError]:
    """Return the error that an HTTP status, which is not of the 200s, stands for."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return ServerFault
    return InvalidRequest if status >= 400 else BadAnswer
