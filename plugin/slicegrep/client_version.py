"""The version of the Claude Code client that runs a session, told from the end of its transcript."""

from __future__ import annotations

import json
import os
import re

from slicegrep.home import open_plain

__all__ = ["REPLACES_OUTPUT", "client_version"]

REPLACES_OUTPUT = (2, 1, 121)
"""The first version in which a hook's `updatedToolOutput` replaces a tool's result; older ones ignore it."""

_TAIL = 65_536
# In both pinned versions these keys stand at the end of each row of the conversation, in this order.
_ROW = re.compile(rb'"sessionId":"[^"]*","version":"(\d{1,4})\.(\d{1,4})\.(\d{1,6})')


def client_version(transcript_path: str) -> tuple[int, int, int] | None:
    """Return the version that wrote the newest row, or None where the last 64 kB do not tell."""
    try:
        with open_plain(transcript_path) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _TAIL))
            tail = file.read(_TAIL)
    except (OSError, ValueError):
        return None
    rows = _ROW.findall(tail)
    if rows:
        major, minor, patch = rows[-1]
        return int(major), int(minor), int(patch)
    return _in_rows(tail)


def _in_rows(tail: bytes) -> tuple[int, int, int] | None:
    """Parse the whole rows, newest first: for a client that orders its keys in another way."""
    for row in reversed(tail.split(b"\n")[1:]):
        try:
            entry = json.loads(row)
        except (ValueError, RecursionError):
            continue
        version = entry.get("version") if isinstance(entry, dict) else None
        matched = re.match(r"(\d{1,4})\.(\d{1,4})\.(\d{1,6})", version) if isinstance(version, str) else None
        if matched is not None:
            return int(matched[1]), int(matched[2]), int(matched[3])
    return None
