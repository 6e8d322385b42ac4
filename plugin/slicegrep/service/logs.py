"""The server's log: one JSON object a line on standard error, without code, paths or tokens."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

__all__ = ["failure", "log", "start_log"]

_LOG = logging.getLogger("slicegrep.service")
_FIELDS = "fields"


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, _FIELDS, {})
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return json.dumps(
            {
                "time": f"{moment}.{int(record.msecs):03d}Z",
                "level": record.levelname.lower(),
                "event": record.getMessage(),
                **fields,
            }
        )


def start_log() -> None:
    """Send what the server logs, and uvicorn's warnings, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name, level in (("slicegrep.service", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with its fields. What a caller wrote is not to be among them, but for names that were checked."""
    _LOG.log(level, event, extra={_FIELDS: fields})


def failure(error: BaseException) -> None:
    """Log where an unexpected error arose: its message may quote code, its traceback paths."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    module = at.tb_frame.f_globals.get("__name__", "") if at else ""
    place = f"{module}:{at.tb_lineno}" if at else ""
    log("failed", level=logging.ERROR, error=type(error).__name__, at=place)
