"""The Python client of `slicegrep serve`: `Agent(url, token).code.enclosing([...])`, and `AsyncAgent`, the same awaited."""

from __future__ import annotations

try:
    import httpx as _httpx  # noqa: F401
except ImportError:
    raise ImportError("slicegrep.client needs httpx: pip install 'slicegrep[client]'") from None

from slicegrep.client.asynchronous import AsyncAgent, AsyncCode
from slicegrep.client.errors import (
    Ambiguous,
    BadAnswer,
    Busy,
    Forbidden,
    InvalidRequest,
    NotFound,
    ServerFault,
    SlicegrepError,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
)
from slicegrep.client.synchronous import Agent, Code

__all__ = [
    "Agent",
    "Ambiguous",
    "AsyncAgent",
    "AsyncCode",
    "BadAnswer",
    "Busy",
    "Code",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "ServerFault",
    "SlicegrepError",
    "TimedOut",
    "TooLarge",
    "Unauthorized",
    "Unreachable",
]
