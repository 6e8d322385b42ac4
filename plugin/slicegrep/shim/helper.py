"""The process that finds the names: it may crash, hang or be late, and the one that holds the output is none the worse."""

from __future__ import annotations

import faulthandler
import os
import select
import sys
import time
from contextlib import suppress

from slicegrep import ledger
from slicegrep.annotate import ARROW, annotate
from slicegrep.bytecode import mend
from slicegrep.home import home_folder
from slicegrep.index.place import indexed_workspace
from slicegrep.related import plain
from slicegrep.shim.answers import Raw, answers_of
from slicegrep.shim.child import send

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal

    from slicegrep.shim.child import Child
    from slicegrep.shim.command_line import Search
    from slicegrep.shim.knobs import Knobs
else:
    import _signal

__all__ = ["Names", "names_for"]

_GRACE = 0.1
"""Seconds before the end of the time in which the helper has to be done, so that its answer still arrives."""
_LARGEST_FILE = 5_000_000
"""Bytes of a file that is read to verify its lines: as many as a Read may have that is narrowed."""
_ANY_LENGTH = 1 << 40
_LONGEST_NAME = 4_096
_GAP = b"\n\n"
_FAULT = b"!"
_END = b"\0"


class Names:
    """What the helper found for one output."""

    def __init__(self, answer: bytes) -> None:
        """Read its answer. Raises ValueError where that is not whole."""
        head, gap, rest = answer.partition(_GAP)
        if not gap:
            raise ValueError("the helper did not get so far")
        self.fault = ""
        """Why there are none, where that is for the person to mend."""
        if head.startswith(_FAULT):
            self.fault, head = head[1:].decode("utf-8", "surrogateescape"), b"0 "
        first, *rows = head.split(b"\n")
        hits, _, source = first.partition(b" ")
        self.hits = int(hits)
        self.source = source.decode("utf-8", "surrogateescape")
        self.suffixes = {
            int(at): ARROW.encode() + name for at, _, name in (row.partition(b" ") for row in rows)
        }
        """By the 0-based number of the line."""
        self.late = not rest.endswith(_END)
        """Whether it was not done in time with the graph's block."""
        self.related = b"" if self.late else rest[:-1]
        """The graph's block, nothing where there is none."""


def names_for(raw: bytes, search: Search, knobs: Knobs, *, until: float, child: Child) -> Names | None:
    """Let a helper find the names for an output; None where it did not by `until` (of `time.monotonic`).

    A signal that `child` meets ends the helper too. Raises OSError where no process can be started.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _help(raw, search, knobs, until - _GRACE, writing)
        except Raw as error:
            _send(writing, _FAULT + plain(str(error)).encode("utf-8", "surrogateescape") + _GAP)
        except BaseException as error:  # noqa: BLE001 (the process boundary: the output is printed as it is)
            mend(error, sys.pycache_prefix)
            os._exit(1)
        os._exit(0)
    child.helper = pid
    os.close(writing)
    answer = _answer(reading, until)
    child.helper = 0
    send(pid, _signal.SIGKILL)  # and is not waited for: what hangs in a system call does not even end of that
    os.close(reading)
    try:
        return Names(answer)
    except ValueError:
        return None


def _answer(reading: int, until: float) -> bytes:
    """Return what came until the end, or until it was time."""
    pieces: list[bytes] = []
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while (left := until - time.monotonic()) > 0:
        if poll.poll(left * 1_000 + 1):
            piece = os.read(reading, 1 << 20)
            if not piece:
                break
            pieces.append(piece)
    return b"".join(pieces)


def _help(raw: bytes, search: Search, knobs: Knobs, until: float, writing: int) -> None:
    began = time.monotonic()
    _stand_apart(until)
    home = home_folder(os.environ)
    top = indexed_workspace(search.folder, home)
    answers = answers_of(os.environ, knobs, top, home, until)
    found = annotate(
        raw.decode("utf-8", "surrogateescape"),
        roots=(os.getcwd(),),
        operands=None if search.operand is None else (search.operand,),
        definitions_of=answers.definitions_of,
        max_length=_ANY_LENGTH,
        max_bytes=_LARGEST_FILE,
        deadline=until,
        ranges=False,
    )
    if found.late:
        return
    head = [f"{found.hits} {answers.source}"]
    for row in found.rows:
        name = " ".join(row.symbol.qualified.split())
        if (
            len(name) <= _LONGEST_NAME and name.isprintable() and ARROW.strip() not in name
        ):  # else the tool's own line could not be told from it
            head.append(f"{row.index} {name}")
    _send(writing, "\n".join(head).encode("utf-8", "surrogateescape") + _GAP)
    if found.hits:
        _record(home, found.hits, len(head) - 1, began)
    # A block behind a line without LF could not be cut off at its header.
    related = answers.related(found.rows) if knobs.graph and raw.endswith(b"\n") else ""
    if related or time.monotonic() < until:
        _send(writing, related.encode("utf-8", "surrogateescape") + _END)


def _record(home: str, hits: int, named: int, began: float) -> None:
    """Note in the ledger how many lines there were, and how many of them got a name (0.2 ms)."""
    folder = os.getcwd()
    project = ledger.project_of(os.path.join(folder, ""), folder)
    with suppress(OSError):
        ms = round((time.monotonic() - began) * 1_000, 1)
        ledger.record(home, "shim", project=project, hits=hits, annotated=named, ms=ms)


def _stand_apart(until: float) -> None:
    """Let go of the caller's descriptors and handlers, and end in time even where nobody waits any more."""
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT):
        if _signal.getsignal(number) is not _signal.SIG_IGN:
            _signal.signal(number, _signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    faulthandler.dump_traceback_later(max(until - time.monotonic(), 0) + 1, exit=True, file=nowhere)


def _send(writing: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writing, view) :]
