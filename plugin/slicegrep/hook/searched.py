"""PostToolUse of Grep, Bash and PowerShell: annotate the hits, remember what was looked for, record both."""

from __future__ import annotations

import time
from collections.abc import Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress

from slicegrep import ledger
from slicegrep.hook import search_output
from slicegrep.hook.call import Call  # noqa: TC001 (as above)
from slicegrep.hook.counted import record_annotated
from slicegrep.hook.recent import add_recent
from slicegrep.settings import Settings  # noqa: TC001 (as above)

TYPE_CHECKING = False  # as above
if TYPE_CHECKING:
    from slicegrep.definitions import OutlineOf
    from slicegrep.source import SourceOf

__all__ = ["after"]


def after(
    call: Call,
    settings: Settings,
    payload: Mapping[str, object],
    environment: Mapping[str, str],
    *,
    annotating: bool,
    outline_of: OutlineOf | None = None,
    source_of: SourceOf | None = None,
) -> dict[str, object] | None:
    """Return the answer (None: the output stays as it is). Raises what reading and parsing raise.

    Files that no index holds are parsed by `outline_of` (None: `outline`), sources are made by `source_of` (None: that of `source`).
    What the session should remember is noted once the answer is out, where the engine gives it (200 hits: 4 ms).
    """
    started = time.perf_counter()
    done = search_output.Outcome()
    if annotating:
        done = search_output.outcome(payload, settings, environment, outline_of, source_of)

    def note() -> None:
        add_recent(call, search_output.remember(payload))

    # Before the count: the next read asks for it. A process of its own would perhaps start another one to do it later.
    if annotating and call.warm:
        call.later.append(note)
    else:
        with suppress(OSError):  # a full disk: the answer matters more than our notes
            note()
    if done.hits or done.late:
        with suppress(OSError):  # as above
            _record(call, done, started)
    return done.answer


def _record(call: Call, done: search_output.Outcome, started: float) -> None:
    row: dict[str, object] = {
        "project": ledger.project_of(call.cwd + "/", call.cwd),
        "hits": done.hits,
        "annotated": done.annotated,
        "late": done.late,
        "ms": round((time.perf_counter() - started) * 1000, 1),
        "warm": call.warm,
    }
    record_annotated(call, done.answer, row)
