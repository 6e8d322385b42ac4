"""PreToolUse and PostToolUse of Read: narrow the call to the best range, then deliver the map and the other slices."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress
from fnmatch import fnmatch
from functools import partial

from slicegrep import ledger, render
from slicegrep.hook import planned
from slicegrep.hook.call import Call  # noqa: TC001 (as above)
from slicegrep.hook.counted import record_shown
from slicegrep.languages import language_of
from slicegrep.plan import Plan  # noqa: TC001 (as above)
from slicegrep.settings import Settings  # noqa: TC001 (as above)
from slicegrep.shown import imitates_frame, utf16_units
from slicegrep.source import read_source, shown_as_is
from slicegrep.types import Source  # noqa: TC001 (as above)

__all__ = ["after", "before"]

TYPE_CHECKING = False  # as above
if TYPE_CHECKING:
    from slicegrep.hook.memory import Conversation
    from slicegrep.prepared import Prepared
    from slicegrep.source import SourceOf

_WHOLE = ("offset", "limit", "pages", "allow_large")


def before(
    call: Call,
    settings: Settings,
    payload: Mapping[str, object],
    *,
    prepare: Callable[[Source, str], Prepared] | None = None,
    conversation_of: Callable[[Call], Conversation] | None = None,
    source_of: SourceOf | None = None,
) -> dict[str, object] | None:
    """Answer a PreToolUse of Read, or None: the plain read happens. Raises what reading and parsing raise.

    `prepare` gives what is known of a source (with the home folder, which has the indexes), `conversation_of` what was made of the session's texts,
    `source_of` the source of a file's bytes; None makes them anew. Who keeps them hands in what returns the kept ones.
    """
    started = time.perf_counter()
    path = call.file_path
    if (
        call.tool != "Read"
        or not path
        or not call.use_id
        or any(call.given.get(name) not in (None, False, "") for name in _WHOLE)
    ):
        return None
    real = os.path.realpath(path)
    if not language_of(real) or _excluded(path, real, settings.exclude):
        return None
    if planned.was_seen(call, real):
        return None
    source = read_source(real, max_bytes=settings.max_bytes, make=source_of)
    if source is None or not shown_as_is(source) or _could_break_out(path, source):
        return None
    if source.size > planned.LARGE_BYTES and not planned.first_try(call, real):
        return None
    planned.drop_orphans(call)
    if planned.is_to_sweep(call.home):
        call.later.append(partial(planned.sweep, call.home))

    from slicegrep.engine import read_instead  # noqa: PLC0415 (tree-sitter: only for a read that qualifies)
    from slicegrep.hook.memory import session_focus  # noqa: PLC0415 (as above)
    from slicegrep.prepared import prepared_of  # noqa: PLC0415 (as above)

    prepared = (prepare or prepared_of)(source, call.home)
    focus = session_focus(call, real, conversation_of(call) if conversation_of else None)
    plan = read_instead(prepared, focus, settings, cuts_long_reads="prompt_id" in payload)
    planned.end_try(call, real)
    if plan is None:
        return None
    note: dict[str, object] = {
        "project": ledger.project_of(real, call.cwd),
        "path": real,
        "costs": ledger.costs_of(prepared.costs),
        "ms": _since(started),
        "warm": call.warm,
    }
    planned.store_plan(call, plan, note)
    if not planned.mark_seen(call, real):
        planned.take_plan(call)
        return None
    narrowed = {**call.given, "offset": plan.start, "limit": plan.end - plan.start + 1}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": narrowed,
            "additionalContext": render.notice(plan),
        }
    }


def after(call: Call, settings: Settings, *, source_of: SourceOf | None = None) -> dict[str, object] | None:
    """Answer a PostToolUse of Read with what was planned for it, or None where the result is not what was planned.

    `source_of` is as in `before`.
    """
    started = time.perf_counter()
    taken = planned.take_plan(call) if call.tool == "Read" and call.use_id else None
    if taken is None:
        with suppress(OSError):
            planned.note_shown(call)
        return None
    plan, note = taken
    if not _as_planned(call.response, plan.start, plan.end - plan.start + 1):
        return None
    real = str(note["path"])
    source = read_source(real, max_bytes=settings.max_bytes, make=source_of)
    if source is None or source.digest != plan.digest or not _sound(plan, len(source.lines)):
        return None
    if not _was_read(call, plan, source, real):
        return None
    text = render.delivery(plan, source)
    if utf16_units(text) >= render.TEXT_LIMIT + 1:
        return None
    costs = note.get("costs")
    row: dict[str, object] = {
        "project": note.get("project"),
        "path": real,
        "lines": plan.total,
        "budget": plan.budget,
        "raised": plan.raised,
        "ms": [note.get("ms"), _since(started)],
        "warm": [note.get("warm"), call.warm],
    }
    with suppress(OSError):  # a full disk: the model's answer matters more than our count
        record_shown(call, plan, source, text, row, costs=costs if isinstance(costs, list) else [])
    answer: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": text}
    }
    if settings.notice_on:
        name = os.path.basename(plan.path)
        answer["systemMessage"] = (
            f"slicegrep: {name} read as slices, ~{plan.tokens_after} tokens in place of ~{plan.tokens_before}"
        )
    return answer


def _could_break_out(path: str, source: Source) -> bool:
    """Whether a name or a line could pass for a frame of the client's. What a file says is not changed: an Edit must be able to copy it."""
    return not path.isprintable() or imitates_frame(path) or imitates_frame(source.text)


def _sound(plan: Plan, total: int) -> bool:
    """Whether a stored plan is still one: its ranges lie in the file."""
    ranges = [(plan.start, plan.end), *((one.start, one.end) for one in plan.slices)]
    return all(1 <= start <= end <= total for start, end in ranges)


def _as_planned(response: Mapping[str, object], start: int, count: int) -> bool:
    file = response.get("file")
    return (
        response.get("type") == "text"
        and isinstance(file, dict)
        and file.get("startLine") == start
        and file.get("numLines") == count
    )


def _was_read(call: Call, plan: Plan, source: Source, real: str) -> bool:
    """Whether what the client showed is the planned file: a link that led elsewhere meanwhile was asked of the user's rules."""
    file = call.response.get("file")
    content = file.get("content") if isinstance(file, dict) else None
    planned_lines = "\n".join(source.lines[plan.start - 1 : plan.end])
    return (
        os.path.realpath(call.file_path) == real
        and isinstance(content, str)
        and content.replace("\r", "").strip() == planned_lines.replace("\r", "").strip()
    )


def _excluded(path: str, real: str, globs: str) -> bool:
    """Whether a glob names the file or a folder around it; a glob may begin anywhere along the path.

    `*` also crosses folders. So `*.gen.go`, `vendor`, `vendor/*`, `api/v1/*.py` and whole paths all do what they say.
    """
    wanted = [glob.strip().replace(os.sep, "/").strip("/") for glob in globs.split(",")]
    names = [name.replace(os.sep, "/").strip("/") for name in (path, real)]
    return any(
        fnmatch(name, form)
        for glob in wanted
        if glob
        for form in (glob, f"*/{glob}", f"{glob}/*", f"*/{glob}/*")
        for name in names
    )


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
