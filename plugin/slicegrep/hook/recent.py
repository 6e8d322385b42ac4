"""The session's notes of what searches and commands showed, written beside what reads make of them, which takes 6 ms to load."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.home import append_private
from slicegrep.hook.call import Call  # noqa: TC001 (as above)

__all__ = ["RECENT_FILE", "add_recent"]

RECENT_FILE = "recent.jsonl"
"""In the session's folder of state, a JSON object a line."""


def add_recent(call: Call, found: Iterable[dict[str, object]]) -> None:
    """Note what a search or a command showed, for the reads that follow. Raises OSError."""
    encode = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make an encoder for each row
    text = "".join(encode(row) + "\n" for row in found)
    if text:
        append_private(os.path.join(call.state, RECENT_FILE), text.encode())
