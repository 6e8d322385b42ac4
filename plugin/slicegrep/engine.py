"""What an interception shows of a file: ranks, packs and trims until the budget and the client's cap are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from slicegrep import render
from slicegrep.explain import Explainer
from slicegrep.filemap import file_map
from slicegrep.pack import Packer, Range, Sums, grow
from slicegrep.plan import Omitted, Plan, Slice
from slicegrep.rank import Ranking, rank, rank_unmatched
from slicegrep.shown import utf16_units
from slicegrep.tokens import weigh

if TYPE_CHECKING:
    from slicegrep.focus import Focus
    from slicegrep.prepared import Prepared
    from slicegrep.settings import Settings
    from slicegrep.types import Source

__all__ = ["CLIENT_BYTES", "CLIENT_TOKENS", "read_instead"]

CLIENT_BYTES = 262_144
CLIENT_TOKENS = 25_000
"""The client's own limits of a plain read."""
REFUSAL_TOKENS = 60
"""What the model reads where the client refuses."""
LARGEST_SHARE = 0.6
"""Of the file's own tokens; past that an interception saves too little."""
UNMATCHED_SHARE = 0.25
"""Of a file in which nothing matches no more than this is shown instead: past it, the plain read is the better guess."""
SMALL_FILE = 8_000
LEAST_SAVING = 0.12
"""In files of fewer tokens than SMALL_FILE (twice the largest default budget) the chance that what is needed is shown must be
larger by this than the share of the file that is: where the focus says little of a small file, the agent goes on to read it
whole. On the tuning files 5% of the reads pass because of it; of the others 27.7% of the tokens are shown in place of
29.4%, and of the touched lines 66.6% in place of 67.0%, which doubling the budget a little more often more than gives back."""
LARGEST_RANGE = 20_000
"""Tokens. A narrowed Read has the client's own limit, too."""
MAP_SHARE = 0.05
"""Of the budget. A map of 10% cost 1.4 and 2.4 points of touched lines against 6% on the halves of two sets of files; 3%
changed no more than noise, but it is two lines of a first budget."""
SLICE_OVERHEAD = 32
"""Tokens that packing charges for a slice on top of its lines. Its headline and fence are about 19: charging more makes
fewer and longer slices: on the tuning files 70.0% of the touched lines at 30.1% of the tokens, with 18 68.9% at 29.6%. What is planned is measured."""
LISTED = 2
"""Withheld regions that are listed at the first budget; one more each time it was raised."""
MATTER_POWER = 0.88
"""Matched material is the lines' chances to this power, so that weak matches are missed a little more than they are
likely: with the default knobs the budget then doubles often enough for 30% of a file's tokens on the tuning files."""
OMISSION_TOKENS = 28
OMISSION_UNITS = 170
LIST_UNITS = 240
"""The most that a line of the list, and what stands around the lines, take of the text (a name is cut at 80)."""
TRIES = 5
CLOSE_ENOUGH = 0.01
"""Packing is tried again, TRIES times at most, while more of the budget than this is left."""
UNMATCHED = (
    "Nothing here matches what the session is working on: the head and the most referenced definitions."
)


@dataclass(frozen=True, slots=True)
class _Work:
    """What stays the same while budgets are tried. Gains are chances: they sum to 1."""

    prepared: Prepared
    ranking: Ranking
    gains: Sums
    matter: Sums
    """How much of the matched material each line is."""
    relevance: tuple[float, ...]
    """For each symbol, the best chance of a line in its own blocks."""
    packer: Packer
    explainer: Explainer
    blank: Plan
    """What every plan of the file says alike."""
    slices: dict[tuple[int, int], Slice]
    """What is said of each range so far."""


def read_instead(
    prepared: Prepared,
    focus: Focus,
    settings: Settings,
    *,
    cuts_long_reads: bool = True,
) -> Plan | None:
    """Plan what to show of a file in place of the whole of it; None where that does not pay.

    `cuts_long_reads` says that the client cuts a read at its own limit of tokens (2.1.332); an older one refuses it.
    """
    whole = ceil(prepared.cost_sums.all)
    if whole < settings.min_tokens or int(whole * LARGEST_SHARE) < settings.budget:
        return None
    ranking = rank(prepared, focus)
    if not ranking.matched:
        if settings.budget > whole * UNMATCHED_SHARE:
            return None
        ranking = rank_unmatched(prepared, ranking)
    plain_read = _plain_read(prepared.source, whole, cuts_long_reads=cuts_long_reads)
    work = _work(prepared, ranking, referred=[line for line, _ in focus.lines], plain_read=plain_read)
    most = (
        min(settings.max_budget, int(whole * LARGEST_SHARE), LARGEST_RANGE)
        if ranking.matched
        else settings.budget
    )
    budget, raised = min(settings.budget, most), 0
    while True:
        plan = _plan(work, budget, raised)
        if budget >= most or (plan and plan.coverage >= settings.min_coverage):
            return plan if plan and _pays(plan, work, whole) else None
        budget, raised = min(budget * 2, most), raised + 1


def _pays(plan: Plan, work: _Work, whole: int) -> bool:
    """Whether the slices are worth more than any piece of the file of their size: no guess in place of a small file."""
    if whole >= SMALL_FILE or not work.ranking.matched:
        return True
    shown = [(plan.start, plan.end), *((one.start, one.end) for one in plan.slices)]
    return sum(work.gains.of(*one) for one in shown) - plan.tokens_after / whole >= LEAST_SAVING


def _plain_read(source: Source, whole: int, *, cuts_long_reads: bool) -> tuple[int, bool]:
    """Return the tokens that the client itself would have delivered, and whether that is not the whole file."""
    if source.size > CLIENT_BYTES or (whole > CLIENT_TOKENS and not cuts_long_reads):
        return REFUSAL_TOKENS, True
    return min(whole, CLIENT_TOKENS), whole > CLIENT_TOKENS


def _work(
    prepared: Prepared,
    ranking: Ranking,
    *,
    referred: list[int],
    plain_read: tuple[int, bool],
) -> _Work:
    source, shape, costs = prepared.source, prepared.outline, prepared.cost_sums
    total = sum(ranking.gains) or 1.0
    gains = Sums([gain / total for gain in ranking.gains])
    powers = [gain**MATTER_POWER for gain in ranking.gains]
    all_powers = sum(powers) or 1.0
    matter = Sums([power / all_powers for power in powers])
    relevance = [0.0] * len(shape.symbols)
    for block in ranking.evidence.blocks:
        if block.symbol >= 0:
            peak = max(ranking.gains[block.start - 1 : block.end], default=0.0)
            relevance[block.symbol] = max(relevance[block.symbol], peak)
    return _Work(
        prepared=prepared,
        ranking=ranking,
        gains=gains,
        matter=matter,
        relevance=tuple(relevance),
        explainer=Explainer(prepared, ranking, matter, referred),
        packer=Packer(
            gains,
            costs,
            ranking.evidence.blocks,
            prepared.blank,
            SLICE_OVERHEAD,
            definitions=[(symbol.start, min(symbol.end, len(source.lines))) for symbol in shape.symbols],
            atoms=prepared.atoms,
        ),
        slices={},
        blank=Plan(
            path=source.path,
            digest=source.digest,
            total=len(source.lines),
            start=1,
            end=1,
            slices=(),
            map_lines=(),
            folded=0,
            omitted=(),
            omitted_more=0,
            coverage=0.0,
            tokens_before=plain_read[0],
            tokens_after=0,
            budget=0,
            raised=0,
            past_limits=plain_read[1],
            remark="" if ranking.matched else UNMATCHED,
            tokens_file=ceil(costs.all),
        ),
    )


def _plan(work: _Work, budget: int, raised: int) -> Plan | None:
    prepared = work.prepared
    map_lines, folded = file_map(
        prepared.source, prepared.outline, work.relevance, budget * MAP_SHARE, prepared.map_lines
    )
    blank = replace(
        work.blank, map_lines=map_lines, folded=folded, tokens_after=budget, budget=budget, raised=raised
    )
    fits: Plan | None = None
    room = (
        budget
        - weigh(render.notice(blank))
        - weigh(render.frame(blank))
        - OMISSION_TOKENS * (LISTED + raised)
    )
    low, high = 0.0, float(budget)
    for _ in range(TRIES):
        packed = _packed(work, blank, room)
        if packed is None:
            break
        plan = _measured(work, blank, *packed)
        spare = budget - plan.tokens_after
        if spare < 0:
            high = room
            room = max(room + spare - 1, (low + room) / 2)
            fits = fits or _cut(work, blank, *packed)
            continue
        if fits is None or plan.coverage > fits.coverage:
            fits = plan
        if spare <= budget * CLOSE_ENOUGH or high - room < 1:
            break
        low = room
        room = min(room + spare / 2, (room + high) / 2)
    return fits


def _packed(work: _Work, blank: Plan, room: float) -> tuple[Range, list[Range]] | None:
    """Return the range that the read is narrowed to, and the slices, best first."""
    ranges = work.packer.ranges(room)
    if not ranges:
        return None
    best = max(ranges, key=lambda one: one.gain)
    rest = sorted((one for one in ranges if one is not best), key=lambda one: -one.gain)
    kept = _within_text(work, blank, best, rest)
    if len(kept) < len(rest):  # what the text cannot hold, the range carries
        spent = sum(one.tokens + SLICE_OVERHEAD for one in kept)
        best = grow(best, work.gains, work.prepared.cost_sums, len(work.prepared.source.lines), room - spent)
        kept = [one for one in kept if one.end < best.start or one.start > best.end]
    return best, kept


def _cut(work: _Work, blank: Plan, best: Range, rest: list[Range]) -> Plan | None:
    """Return the plan with as few of its last slices left off as keep the budget; None where none of them is enough."""
    while rest:
        rest = rest[:-1]
        plan = _measured(work, blank, best, rest)
        if plan.tokens_after <= blank.budget:
            return plan
    return None


def _within_text(work: _Work, blank: Plan, best: Range, rest: list[Range]) -> list[Range]:
    """Return the first of the ranges that the second text can hold, with the lists around them."""
    bare = replace(blank, start=best.start, end=best.end, slices=tuple(_slice(work, one) for one in rest))
    room: float = render.TEXT_LIMIT - LIST_UNITS - OMISSION_UNITS * (LISTED + blank.raised)
    room -= utf16_units(render.frame(bare))
    kept: list[Range] = []
    for one in rest:
        units = work.prepared.unit_sums.of(one.start, one.end)
        if units <= room:
            kept.append(one)
            room -= units
    return kept


def _measured(work: _Work, blank: Plan, best: Range, rest: list[Range]) -> Plan:
    shown = [best, *rest]
    left_out, more = work.explainer.left_out([(one.start, one.end) for one in shown], LISTED + blank.raised)
    plan = replace(
        blank,
        start=best.start,
        end=best.end,
        slices=tuple(_slice(work, one) for one in rest),
        omitted=tuple(
            Omitted(
                start,
                end,
                100 * work.matter.of(start, end),
                ceil(work.prepared.cost_sums.of(start, end)),
                name,
            )
            for start, end, name in left_out
        ),
        omitted_more=more,
        coverage=min(sum(work.matter.of(one.start, one.end) for one in shown), 1.0)
        if work.ranking.matched
        else 0.0,
    )
    after = weigh(render.notice(plan)) + weigh(render.frame(plan)) + sum(_exactly(work, one) for one in shown)
    return replace(plan, tokens_after=ceil(after))


def _exactly(work: _Work, one: Range) -> float:
    if work.prepared.exact:
        return one.tokens
    return weigh(render.numbered(work.prepared.source.lines, one.start, one.end) + "\n")


def _slice(work: _Work, one: Range) -> Slice:
    key = one.start, one.end
    if key not in work.slices:
        work.slices[key] = Slice(
            *key,
            100 * work.matter.of(*key),
            work.explainer.reasons(*key),
            work.explainer.name_of(one.start),
            ceil(one.tokens),
        )
    return work.slices[key]
