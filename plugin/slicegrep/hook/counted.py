"""The ledger's rows of what the model was shown: counted by the vocabulary once the answer is out, else estimated."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress
from io import FileIO

from slicegrep import ledger, render
from slicegrep.hook.call import Call  # noqa: TC001 (as above)
from slicegrep.plan import Plan  # noqa: TC001 (as above)
from slicegrep.types import Source  # noqa: TC001 (as above)

__all__ = ["record_annotated", "record_shown"]

_FRAME = "<system-reminder>\n{}:Read hook additional context: \n</system-reminder>\n"
"""What both tested clients put around a hook's text (2.1.100, 2.1.332)."""
_LONGEST = 1_000_000
"""Characters of a file that are counted (0.5 s); in a longer one the lines keep their estimates, and what is shown is counted."""


def record_shown(
    call: Call, plan: Plan, source: Source, text: str, row: Mapping[str, object], *, costs: Sequence[int]
) -> None:
    """Record an interception whose second text is `text`.

    `row` is what the row says besides tokens, `costs` are the estimates of the file (`ledger.costs_of`). Raises OSError
    where it is written at once, and cannot be.
    """

    def write(count: Callable[[str], int] | None) -> None:
        if count is None:
            lines, whole, after = list(costs), plan.tokens_before, plan.tokens_after
        else:
            lines, whole, after = _counted(count, plan, source, text, costs)
        offered = [[one.start, one.end - one.start + 1] for one in plan.omitted]
        kept = {"agent": call.agent, "path": row["path"], "project": row["project"], "lines": plan.total}
        kept |= {"costs": lines, "whole": whole, "offered": offered}
        ledger.keep_costs(call.state, call.use_id, kept)
        told = {"before": whole, "after": after, "exact": count is not None}
        ledger.record(call.home, "read", session=call.session, agent=call.agent, **told, **row)

    _afterwards(call, write)


def record_annotated(call: Call, answer: Mapping[str, object] | None, row: Mapping[str, object]) -> None:
    """Record an annotation and what its answer adds to the tool's own output. Raises OSError as `record_shown`."""
    said = (answer or {}).get("hookSpecificOutput")
    said = said if isinstance(said, dict) else {}

    def write(count: Callable[[str], int] | None) -> None:
        from slicegrep.tokens import estimate  # noqa: PLC0415 (3 ms, which the answer does not wait for)

        told = {"added": _added(count or estimate, call.response, said), "exact": count is not None}
        ledger.record(call.home, "annotate", session=call.session, agent=call.agent, **told, **row)

    _afterwards(call, write)


def _counted(
    count: Callable[[str], int], plan: Plan, source: Source, text: str, costs: Sequence[int]
) -> tuple[list[int], int, int]:
    """Return the costs of the lines, of what the client itself would have delivered, and of what was shown."""
    shown = count(render.numbered(source.lines, plan.start, plan.end))
    for event, one in (("PreToolUse", render.notice(plan)), ("PostToolUse", text)):
        shown += count(_FRAME.format(event)) + count(one)
    if sum(map(len, source.lines)) > _LONGEST:
        return list(costs), plan.tokens_before, shown
    lines = [count(f"{number}\t{line}\n") for number, line in enumerate(source.lines, 1)]
    return ledger.costs_of(lines), _plain(sum(lines), plan, source), shown


def _plain(whole: int, plan: Plan, source: Source) -> int:
    """Return what the client itself would have delivered of a file of `whole` tokens."""
    if not plan.past_limits and whole <= plan.tokens_before:  # the estimate leans high
        return whole
    from slicegrep.engine import CLIENT_BYTES, CLIENT_TOKENS, REFUSAL_TOKENS  # noqa: PLC0415 (tree-sitter: seldom needed)

    if source.size > CLIENT_BYTES or (whole > CLIENT_TOKENS and plan.tokens_before <= REFUSAL_TOKENS):
        return REFUSAL_TOKENS
    return min(whole, CLIENT_TOKENS)


def _added(count: Callable[[str], int], own: Mapping[str, object], said: Mapping[str, object]) -> int:
    """Return how many tokens an answer makes the model read beyond the tool's own output."""
    beside = said.get("additionalContext")
    if isinstance(beside, str):
        return count(beside) + count(_FRAME.format("PostToolUse"))
    now = said.get("updatedToolOutput")
    if not isinstance(now, dict):
        return 0
    texts = [(text, own.get(name)) for name, text in now.items() if isinstance(text, str)]
    return sum(count(text) - count(old if isinstance(old, str) else "") for text, old in texts if text != old)


def _afterwards(call: Call, write: Callable[[Callable[[str], int] | None], None]) -> None:
    """Have `write` done with the exact counter once the answer is out.

    At once, without one, where there is no vocabulary, or no process beside this one can do it later (Windows).

    Who wants the ledger's rows waits for those that are on their way (`ledger.settle`).
    """
    vocabulary = os.path.join(call.home, "vocab")
    if not os.path.isdir(vocabulary) or not hasattr(os, "fork"):
        write(None)
        return
    lock: FileIO | None = None
    with suppress(OSError, ImportError):
        # As an object, so that it is freed with the work where that is dropped.
        lock = FileIO(ledger.uncounted(call.home, shared=True), "r")

    def count_and_write() -> None:
        from slicegrep.tokens import exact_encoder  # noqa: PLC0415 (3 ms, which the answer does not wait for)

        try:
            write(exact_encoder(vocabulary))
        finally:
            if lock:
                lock.close()

    call.later.append(count_and_write)
