"""What a code operation refuses, and why: each error with its HTTP status, its short name and one sentence."""

# ruff: noqa: N818 (read as what is refused: `except NotFound`)
from __future__ import annotations

__all__ = [
    "Ambiguous",
    "BadLocation",
    "Busy",
    "Forbidden",
    "Invalid",
    "NotFound",
    "ServiceError",
    "TooLarge",
    "TooSlow",
    "Unauthorized",
    "WrongType",
]


class ServiceError(Exception):
    """A request that is not served; the message is one sentence for whoever asked."""

    status = 500
    name = "internal"


class Invalid(ServiceError):
    """The request does not say anything that could be answered."""

    status = 422
    name = "invalid_request"


class BadLocation(Invalid):
    """A location that is not `PATH:LINE`."""


class NotFound(ServiceError):
    """What was named is not there: a namespace, a symbol, a path to search."""

    status = 404
    name = "not_found"


class Ambiguous(ServiceError):
    """A name that fits several definitions, where one is asked for."""

    status = 409
    name = "ambiguous"


class Unauthorized(ServiceError):
    """No token, or one that is not known."""

    status = 401
    name = "unauthorized"


class Forbidden(ServiceError):
    """A token whose role or namespaces do not reach so far."""

    status = 403
    name = "forbidden"


class TooLarge(ServiceError):
    """A body over the limit."""

    status = 413
    name = "too_large"


class WrongType(ServiceError):
    """A body that is not declared as JSON."""

    status = 415
    name = "wrong_type"


class Busy(ServiceError):
    """As many calls as the server takes are running and waiting already."""

    status = 503
    name = "busy"


class TooSlow(ServiceError):
    """The answer took longer than the server waits."""

    status = 504
    name = "too_slow"
