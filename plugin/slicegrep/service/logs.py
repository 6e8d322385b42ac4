"""The server's log: one JSON object a line on standard error, without code, paths or tokens."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from typing import Any

__all__ = ["failure", "log", "start_log"]

_LOG = logging.getLogger("slicegrep.service")
_FIELDS = "fields"


_WINDOW_SECONDS = 10.0
_MOST_ALIKE = 10
"""Warnings of one kind in that time: whoever calls can cause some as often as it likes."""
_MOST_KINDS = 200
_PLAIN = re.compile(r"[A-Za-z_.() ]*")
"""The beginning of a library's message up to what may be a path, an address, or what a caller sent."""


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return json.dumps(
            {
                "time": f"{moment}.{int(record.msecs):03d}Z",
                "level": record.levelname.lower(),
                "event": _event(record),
                **_fields(record),
            }
        )


class _Fewer(logging.Filter):
    """Leaves warnings out where there are many of one kind; the next that comes through says how many."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        event, now = _event(record), time.monotonic()
        if len(self._seen) > _MOST_KINDS:
            self._seen.clear()
        since, count = self._seen.get(event, (now, 0))
        if now - since >= _WINDOW_SECONDS:
            if count > _MOST_ALIKE:
                setattr(record, _FIELDS, {**_fields(record), "left_out": count - _MOST_ALIKE})
            since, count = now, 0
        self._seen[event] = since, count + 1
        return count < _MOST_ALIKE


def _ours(record: logging.LogRecord) -> bool:
    return record.name == _LOG.name


def _event(record: logging.LogRecord) -> str:
    if _ours(record):
        return record.getMessage()
    plain = _PLAIN.match(record.getMessage())
    return plain[0].strip(" .") if plain else ""


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return what is told beside the event: of a library's, whose it is and where an error arose."""
    if hasattr(record, _FIELDS):
        return dict(getattr(record, _FIELDS))
    if _ours(record):
        return {}
    error = record.exc_info[1] if record.exc_info else None
    return {"of": record.name, **(_arisen(error) if error else {})}


def start_log() -> None:
    """Send what the server logs, and the warnings of libraries, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    handler.addFilter(_Fewer())
    for name, level in ((_LOG.name, logging.INFO), ("", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
    _LOG.propagate = False


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with its fields. What a caller wrote is not to be among them, but for names that were checked."""
    _LOG.log(level, event, extra={_FIELDS: fields})


def failure(error: BaseException) -> None:
    """Log where an unexpected error arose: its message may quote code, its traceback paths."""
    log("failed", level=logging.ERROR, **_arisen(error))


def _arisen(error: BaseException) -> dict[str, str]:
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    module = at.tb_frame.f_globals.get("__name__", "") if at else ""
    return {"error": type(error).__name__, "at": f"{module}:{at.tb_lineno}" if at else ""}
