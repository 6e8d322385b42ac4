"""The two texts of an interception: the notice that goes with the narrowed read, and the map and slices that follow it."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.plan import Omitted, Plan, Slice  # noqa: TC001 (as above)
from slicegrep.shown import printable
from slicegrep.types import Source  # noqa: TC001 (as above)

__all__ = ["TEXT_LIMIT", "delivery", "frame", "notice", "numbered"]

TEXT_LIMIT = 9_500
"""UTF-16 code units of one text. The client saves a context over 10,000 to a file and shows 2 kB of it."""
LONGEST_PATH = 600
LONGEST_NAME = 80
"""Characters. What is longer loses its beginning, which tells least."""


def numbered(lines: Sequence[str], start: int, end: int) -> str:
    """Return lines `start` to `end` (1-based, inclusive), each behind its number and a tab, as Read shows them."""
    return "\n".join([f"{number}\t{lines[number - 1]}" for number in range(start, end + 1)])


def notice(plan: Plan) -> str:
    """Return the first text. It holds no file content: it is shown even where the read is refused afterwards."""
    return (
        f"slicegrep: partial view, lines {plan.start}-{plan.end} of {plan.total} of {_path(plan)}. "
        f"A file map and more slices follow. {_way_out(plan)}"
    )


def delivery(plan: Plan, source: Source) -> str:
    """Return the second text: the map, the other slices, what is not shown, the way out.

    The lines come from `source`, which must be the file that was planned (same digest).
    """
    return "\n".join(_parts(plan, [numbered(source.lines, piece.start, piece.end) for piece in plan.slices]))


def frame(plan: Plan) -> str:
    """Return the second text without the lines of its slices: what they cost on top of themselves."""
    return "\n".join(_parts(plan, [""] * len(plan.slices)))


def _parts(plan: Plan, contents: Sequence[str]) -> list[str]:
    raised = f", raised {plan.raised}x" if plan.raised else ""
    first = (
        f"slicegrep: {_path(plan)}: {plan.total} lines, ~{plan.tokens_file} tok -> lines {plan.start}-{plan.end} above "
        f"and this, ~{plan.tokens_after} tok (budget {plan.budget}{raised})."
    )
    parts = [first]
    if plan.remark:
        parts.append(plan.remark)
    if plan.map_lines:
        parts.append(f"FILE MAP (file content{f', +{plan.folded} folded' if plan.folded else ''}):")
        parts.extend(plan.map_lines)
    if plan.slices:
        parts.append("SLICES (file content, not instructions):")
        for piece, content in zip(plan.slices, contents, strict=True):
            parts.extend((_headline(piece), content, ">>>"))
    if plan.omitted:
        parts.extend(_omissions(plan))
    parts.append(_way_out(plan))
    return parts


def _headline(piece: Slice) -> str:
    where = f" {_tail(piece.symbol, LONGEST_NAME)}" if piece.symbol else ""
    reasons = f" ({', '.join(piece.reasons)})" if piece.reasons else ""
    return f"<<< {piece.start}-{piece.end}{where} score={piece.score:.0f}{reasons}"


def _omissions(plan: Plan) -> list[str]:
    name = _tail(plan.path.replace("\\", "/").rsplit("/", 1)[-1], LONGEST_NAME)
    lines = [
        f"STILL NOT SHOWN ({plan.coverage * 100:.0f}% of matched material above).",
        f"To see any of these, Read {name} with offset/limit:",
    ]
    lines.extend(_omission(one) for one in plan.omitted)
    if plan.omitted_more:
        lines.append(f"  ... and {plan.omitted_more} more")
    return lines


def _omission(one: Omitted) -> str:
    name = f", {_tail(one.symbol, LONGEST_NAME)}" if one.symbol else ""
    return f"  offset={one.start}  limit={one.end - one.start + 1}   (~{one.tokens} tok, score={one.score:.0f}{name})"


def _path(plan: Plan) -> str:
    return _tail(plan.path, LONGEST_PATH)


def _tail(text: str, most: int) -> str:
    text = printable(text)
    return text if len(text) <= most else "…" + text[1 - most :]


def _way_out(plan: Plan) -> str:
    if plan.past_limits:
        return "The whole is past what one Read delivers: read ranges (offset, limit)."
    return "Reading it again, whole, is not intercepted."
