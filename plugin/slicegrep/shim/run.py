"""One search: by the real tool alone, or with the names behind the lines that it prints."""

from __future__ import annotations

import os
import sys
import time

from slicegrep.bytecode import mend
from slicegrep.shim.child import RealTool
from slicegrep.shim.command_line import plain_search
from slicegrep.shim.knobs import Knobs
from slicegrep.shim.output import Output, with_suffixes
from slicegrep.shim.readers import passes_on

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms, collections.abc 2
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from slicegrep.shim.child import Child
    from slicegrep.shim.command_line import Search
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
    began = time.monotonic()
    names = _names(raw, search, knobs, until, child) if ended else None
    child.printing = True
    try:
        if names is None:
            output.write(raw)
            output.pass_on(child.output)
        else:
            output.write(with_suffixes(raw, names.suffixes) + names.related)
    except OSError:  # it cannot be written: the tool itself is to say so, in its way
        child.kill()
        output.undo()
        tool.become()
    if names is not None and (names.hits or names.fault) and not knobs.quiet:
        late = ", no related block: out of time" if knobs.graph and names.late and not names.fault else ""
        output.tell(_summary(names, time.monotonic() - began) + late)
    child.end_likewise()


def _search(name: str, real: str, words: Sequence[str], output: Output) -> Search | None:
    """Return the search whose lines are to be named, None where the tool is to be left alone."""
    if output.device or output.crossed:
        return None
    if output.terminal and os.path.basename(os.path.realpath(real)).startswith("ug"):
        return None  # ugrep is colourful on a terminal whether told or not
    search = plain_search(name, words, os.environ, terminal=output.terminal)
    if search is None or output.may_be_read_by(search.searched, follows=search.follows):
        return None
    return None if passes_on(1) else search


def _prepare() -> None:
    """Load what the names will need, while the tool is still at work."""
    try:
        import slicegrep.shim.helper  # noqa: F401, PLC0415
    except Exception as error:  # noqa: BLE001 (as in `run`)
        mend(error, sys.pycache_prefix)


def _names(raw: bytes, search: Search, knobs: Knobs, until: float, child: Child) -> Names | None:
    """Return the names for the whole output; None where there are none, or where it is to be printed as it is."""
    if not raw or not os.WIFEXITED(child.status()):
        return None
    try:
        from slicegrep.shim.helper import names_for  # noqa: PLC0415 (a search that finds nothing needs none)

        names = names_for(raw, search, knobs, until=until, child=child)
        return None if child.signal or passes_on(1) else names
    except Exception as error:  # noqa: BLE001 (as in `run`)
        mend(error, sys.pycache_prefix)
        return None


def _summary(names: Names, seconds: float) -> str:
    if names.fault:
        return f"slicegrep: raw output, {names.fault}"
    scoped = f"{len(names.suffixes)}/{names.hits} hits scoped to their enclosing function"
    return f"slicegrep: {scoped}, {names.source}, {round(seconds * 1_000)} ms"
