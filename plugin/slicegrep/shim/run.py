"""One search: by the real tool alone, or with the names behind the lines that it prints."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress

from slicegrep.shim.child import CHUNK, Child, RealTool
from slicegrep.shim.command_line import Search, plain_search
from slicegrep.shim.knobs import Knobs
from slicegrep.shim.output import Output, with_suffixes
from slicegrep.shim.readers import passes_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from slicegrep.shim.helper import Names

__all__ = ["run"]


def run(name: str, real: str, words: Sequence[str], ignored: int) -> NoReturn:
    """Run the real tool with these words, as `name` (grep or rg). `ignored`: the mask of signals ignored at the start."""
    start = time.monotonic()
    tool = RealTool(real, words, ignored)
    try:
        output = Output()
        search = _search(name, real, words, output)
        child = tool.start(errors_too=output.with_errors) if search is not None else None
    except Exception:  # noqa: BLE001 (the process boundary: nothing of ours may keep the tool from its work)
        child = None
    if child is None or search is None:
        tool.become()
    knobs = Knobs(os.environ)
    until = start + knobs.seconds
    raw, ended = child.collect(until, knobs.max_bytes, 1 if output.pipe else None, _prepare)
    try:
        if ended:
            _print(raw, search, knobs, until=until, child=child, output=output)
        else:
            _stream(raw, child, output)
    except OSError:  # it cannot be written: the tool itself is to say so, in its way
        child.kill()
        output.undo()
        tool.become()
    child.end_likewise()


def _search(name: str, real: str, words: Sequence[str], output: Output) -> Search | None:
    """Return the search whose lines are to be named, None where the tool is to be left alone."""
    if output.device or (output.terminal and os.path.basename(os.path.realpath(real)).startswith("ug")):
        return None  # ugrep is colourful on a terminal whether told or not
    search = plain_search(name, words, os.environ, terminal=output.terminal)
    return None if search is None or passes_on(1, thorough=False) else search


def _prepare() -> None:
    """Load what the names will need, while the tool is still at work."""
    with suppress(Exception):
        import slicegrep.shim.helper  # noqa: F401, PLC0415


def _print(raw: bytes, search: Search, knobs: Knobs, until: float, child: Child, output: Output) -> None:
    """Print the whole output, named where that is possible."""
    names = None
    began = time.monotonic()
    if raw and os.WIFEXITED(child.status()) and not child.signal:
        names = _names(raw, search, knobs, until, child)
    if names is None or child.signal or passes_on(1, thorough=True):
        child.printing = True
        output.write(raw)
        return
    child.printing = True
    output.write(with_suffixes(raw, names.suffixes) + names.related)
    if names.hits and not knobs.quiet:
        took = round((time.monotonic() - began) * 1_000)
        scoped = f"{len(names.suffixes)}/{names.hits} hits scoped to their enclosing function"
        output.tell(f"slicegrep: {scoped}, {names.source}, {took} ms")


def _names(raw: bytes, search: Search, knobs: Knobs, until: float, child: Child) -> Names | None:
    try:
        from slicegrep.shim.helper import names_for  # noqa: PLC0415 (most searches find nothing, or are not named)

        return names_for(raw, search, knobs, until=until, child=child)
    except Exception:  # noqa: BLE001 (as in `run`)
        return None


def _stream(raw: bytes, child: Child, output: Output) -> None:
    """Pass on what there is and what follows, as it is."""
    child.printing = True
    output.write(raw)
    while piece := os.read(child.output, CHUNK):
        output.write(piece)
