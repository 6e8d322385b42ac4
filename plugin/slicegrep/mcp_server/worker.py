"""The process that does the work of calls: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import IO

__all__ = ["serve"]


def serve() -> None:
    """Answer calls until the input ends, and end then, also in the middle of one.

    A call is {tool, arguments, roots}; its answer {text, structured} or {error}, a sentence.
    """
    source = sys.stdin.buffer
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints does not get between the answers
    calls: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(source, calls), daemon=True).start()
    from slicegrep.mcp_server.work import answer_of  # noqa: PLC0415 (the end of the input is heard meanwhile)

    while True:
        answer = _answered(json.loads(calls.get()), answer_of)
        # Names that are no UTF-8 have lone surrogates in them, which JSON cannot say.
        target.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        target.flush()


def _answered(call: dict[str, Any], answer_of: Any) -> dict[str, Any]:
    try:
        text, structured = answer_of(call["tool"], call["arguments"], call["roots"])
    except Exception as error:  # noqa: BLE001 (the process boundary: the client gets a sentence)
        from slicegrep.mcp_server.work import told  # noqa: PLC0415

        return {"error": told(error)}
    return {"text": text, "structured": structured}


def _receive(source: IO[bytes], calls: SimpleQueue[bytes]) -> None:
    for line in source:
        calls.put(line)
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)  # whom it answers has gone: nothing that it started goes on either
    os._exit(0)
