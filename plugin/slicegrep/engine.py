"""The verbs that every surface calls; each runs the stages in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from slicegrep import render
from slicegrep.filemap import file_map
from slicegrep.outline import enclosing, outline
from slicegrep.pack import Range, pack
from slicegrep.rank import Ranking, rank
from slicegrep.tokens import estimate
from slicegrep.types import Omitted, Outline, Plan, Slice, Source

if TYPE_CHECKING:
    from slicegrep.focus import Focus
    from slicegrep.settings import Settings

__all__ = ["line_costs", "read_instead"]

LARGEST_SHARE = 0.6
"""Of the file's own tokens; past that an interception saves too little."""
MAP_SHARE = 0.12
CLIENT_BYTES = 262_144
CLIENT_TOKENS = 25_000
"""The client's own limits of a plain read (CLIENT_FACTS)."""
REFUSAL_TOKENS = 60
"""What the model reads where the client refuses."""
SLICE_OVERHEAD = 18
OMITTED_TOKENS = 28
COVERAGE_POWER = 1.0


def line_costs(source: Source) -> list[int]:
    """Return the estimated o200k_base tokens of each line as Read shows it: number, tab, text, line end."""
    return [estimate(f"{number}\t{line}\n") for number, line in enumerate(source.lines, 1)]


def read_instead(
    source: Source, focus: Focus, settings: Settings, *, costs: list[int] | None = None, cuts_long_reads: bool = True
) -> Plan | None:
    """Plan what to show of a file in place of the whole of it; None where that does not pay.

    `costs` are `line_costs(source)`, where the caller has them. `cuts_long_reads` says that the client cuts a read at
    its own limit of tokens (2.1.332); an older one refuses it.
    """
    costs = line_costs(source) if costs is None else costs
    whole = sum(costs)
    if whole < settings.min_tokens or whole * LARGEST_SHARE < settings.budget:
        return None
    shape = outline(source)
    ranking = rank(source, shape, focus)
    ceiling = min(settings.max_budget, int(whole * LARGEST_SHARE))
    budget, raised = min(settings.budget, ceiling), 0
    while True:
        plan = _plan(source, shape, ranking, costs, whole, budget, raised)
        if plan is None or plan.coverage >= settings.min_coverage or budget >= ceiling:
            return plan and _against_client(plan, source, whole, cuts_long_reads=cuts_long_reads)
        budget, raised = min(budget * 2, ceiling), raised + 1


def _against_client(plan: Plan, source: Source, whole: int, *, cuts_long_reads: bool) -> Plan:
    """Say what the client itself would have delivered of the whole file."""
    if source.size > CLIENT_BYTES or (whole > CLIENT_TOKENS and not cuts_long_reads):
        return replace(plan, tokens_before=REFUSAL_TOKENS, past_limits=True)
    if whole > CLIENT_TOKENS:
        return replace(plan, tokens_before=CLIENT_TOKENS, past_limits=True)
    return plan


def _plan(source: Source, shape: Outline, ranking: Ranking, costs: list[int], whole: int, budget: int, raised: int) -> Plan | None:
    weights = _symbol_weights(shape, ranking)
    map_lines, folded = file_map(shape, weights, int(budget * MAP_SHARE))
    frame = Plan(
        source.path, source.digest, len(source.lines), 1, 1, (), map_lines, folded, (Omitted(1, 1, 0.0, 0),), 1, 0.5, whole, budget, budget, raised, tokens_file=whole
    )
    listed = 2 + raised
    room = budget - estimate(render.notice(frame)) - estimate(render.delivery(frame, source)) - OMITTED_TOKENS * (listed - 1)
    for _ in range(3):
        plan = _packed(frame, source, shape, ranking, costs, room, listed)
        if plan is None or 0 <= budget - plan.tokens_after <= budget // 50:
            break
        room += budget - plan.tokens_after - (budget // 100 if plan.tokens_after > budget else 0)
    return plan


def _packed(frame: Plan, source: Source, shape: Outline, ranking: Ranking, costs: list[int], room: int, listed: int) -> Plan | None:
    ranges = pack(ranking.gains, costs, ranking.blocks, room, SLICE_OVERHEAD)
    if not ranges:
        return None
    mass = [g**COVERAGE_POWER for g in ranking.gains]
    total = sum(mass) or 1.0
    best = max(ranges, key=lambda r: r.gain)
    rest = sorted((r for r in ranges if r is not best), key=lambda r: -r.gain)
    while True:
        shown = sum(sum(mass[r.start - 1 : r.end]) for r in (best, *rest))
        slices = tuple(_slice(r, shape, mass, total) for r in rest)
        omitted = _omitted(shape, ranking, [best, *rest], mass, total, costs)
        plan = replace(
            frame,
            start=best.start,
            end=best.end,
            slices=slices,
            omitted=tuple(omitted[:listed]),
            omitted_more=max(len(omitted) - listed, 0),
            coverage=shown / total,
        )
        text = render.delivery(plan, source)
        if render.utf16_units(text) <= render.TEXT_LIMIT or not rest:
            break
        rest.pop()
    after = estimate(render.notice(plan)) + estimate(text) + sum(costs[best.start - 1 : best.end])
    return replace(plan, tokens_after=after)


def _slice(r: Range, shape: Outline, mass: list[float], total: float) -> Slice:
    around = enclosing(shape, r.start)
    name = around.qualified if around else ""
    return Slice(r.start, r.end, 100 * sum(mass[r.start - 1 : r.end]) / total, (), name, r.tokens)


def _symbol_weights(shape: Outline, ranking: Ranking) -> list[float]:
    best = [0.0] * len(shape.symbols)
    for block in ranking.blocks:
        at = block.symbol
        peak = max(ranking.gains[block.start - 1 : block.end], default=0.0)
        if at >= 0:
            best[at] = max(best[at], peak)
    return best


def _omitted(shape: Outline, ranking: Ranking, ranges: list[Range], mass: list[float], total: float, costs: list[int]) -> list[Omitted]:
    shown = [False] * (len(mass) + 1)
    for r in ranges:
        shown[r.start : r.end + 1] = [True] * (r.end - r.start + 1)
    found: list[Omitted] = []
    for block in ranking.blocks:
        at = block.start
        while at <= block.end:
            if shown[at] or not any(ranking.hits[at - 1 : block.end]):
                at += 1
                continue
            end = at
            while end < block.end and not shown[end + 1]:
                end += 1
            symbol = shape.symbols[block.symbol].qualified if block.symbol >= 0 else ""
            found.append(Omitted(at, end, 100 * sum(mass[at - 1 : end]) / total, sum(costs[at - 1 : end]), symbol))
            at = end + 1
    return sorted(found, key=lambda o: -o.score)
