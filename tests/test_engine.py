"""The engine: what an interception shows, within the budget and the client's cap."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import pytest
from slicegrep.engine import read_instead
from slicegrep.focus import Said, focus_of
from slicegrep.plan import Plan
from slicegrep.prepared import Prepared, line_costs
from slicegrep.render import TEXT_LIMIT, delivery, notice, numbered
from slicegrep.settings import Settings
from slicegrep.shown import utf16_units
from slicegrep.source import source_of
from slicegrep.tokens import estimate
from slicegrep.types import Source

ARGPARSE = Path(argparse.__file__).read_bytes()


def source(data: bytes, path: str = "/w/argparse.py") -> Source:
    found = source_of(path, data)
    assert found is not None
    return found


def planned(text: str, src: Source, lines: tuple[tuple[int, float], ...] = (), **knobs: int) -> Plan | None:
    return read_instead(Prepared(src), focus_of([Said(text, 1.0)], lines=lines), Settings(**knobs))


def plan_of(text: str, src: Source, lines: tuple[tuple[int, float], ...] = (), **knobs: int) -> Plan:
    plan = planned(text, src, lines, **knobs)
    assert plan is not None
    return plan


def shown(plan: Plan) -> set[int]:
    ranges = [(plan.start, plan.end), *((one.start, one.end) for one in plan.slices)]
    return {line for start, end in ranges for line in range(start, end + 1)}


def read_tokens(plan: Plan, src: Source) -> int:
    return estimate(
        notice(plan) + "\n" + delivery(plan, src) + "\n" + numbered(src.lines, plan.start, plan.end)
    )


BIG = source(ARGPARSE)
PROMPTS = (
    "How do subparsers get their prog? Fix `add_subparsers`",
    "The usage line wraps wrongly when a metavar holds brackets",
    "Fix typos in the comments",
    "tidy",
)


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize(("budget", "most"), [(1200, 4000), (600, 600), (3000, 9000)])
def test_the_budget_covers_all_that_is_read(prompt: str, budget: int, most: int) -> None:
    """Notice, range, map, slices and lists together stay within it, and the plan says how many they are."""
    plan = planned(prompt, BIG, budget=budget, max_budget=most)
    if plan is None:
        return
    assert read_tokens(plan, BIG) <= plan.budget + 2
    assert abs(plan.tokens_after - read_tokens(plan, BIG)) <= 3
    assert plan.budget <= most


@pytest.mark.parametrize("most", [4_000, 20_000, 10**9])
def test_both_texts_stay_under_the_cap_whatever_the_budget(most: int) -> None:
    """What the second text cannot hold, the native range carries."""
    plan = plan_of("fix usage actions help format parser", BIG, budget=min(most, 15_000), max_budget=most)
    assert utf16_units(notice(plan)) <= TEXT_LIMIT and utf16_units(delivery(plan, BIG)) <= TEXT_LIMIT
    assert plan.tokens_after > 0.85 * plan.budget


def test_long_lines_and_paths_stay_under_the_cap() -> None:
    """Emoji, lines of 8,000 characters, a path of 4,000."""
    rng = random.Random(5)
    rows = [
        f"def handler_{i}(request):\n    return '{'🦊' * rng.choice((3, 40, 4_000))}'\n" for i in range(300)
    ]
    src = source("".join(rows).encode(), "/w" + "/deep" * 800 + "/mod.py")
    plan = plan_of("handler_7 and handler_70 return the wrong request", src, max_budget=100_000)
    for text in (notice(plan), delivery(plan, src)):
        assert utf16_units(text) <= TEXT_LIMIT


def test_what_is_asked_for_is_shown() -> None:
    """The definition that the prompt names stands in the range."""
    plan = plan_of(PROMPTS[0], BIG)
    wanted = next(n for n, line in enumerate(BIG.lines, 1) if "def add_subparsers" in line)
    assert plan.start <= wanted <= plan.end


def test_a_named_line_is_in_the_range() -> None:
    """A traceback's line comes before what the prompt says."""
    plan = plan_of("fix usage actions help format parser", BIG, lines=((1234, 1.0),))
    assert plan.start <= 1234 <= plan.end
    assert plan_of("", BIG, lines=((2000, 1.0),)).start <= 2000


def test_ranges_do_not_overlap_and_come_best_first() -> None:
    """No line is shown twice; scores fall."""
    plan = plan_of(PROMPTS[1], BIG)
    ranges = [(plan.start, plan.end), *((one.start, one.end) for one in plan.slices)]
    assert sum(end - start + 1 for start, end in ranges) == len(shown(plan))


def test_what_is_listed_as_not_shown_is_not_shown() -> None:
    """The list is honest: worst loss first, nothing of it above, the rest counted."""
    plan = plan_of("fix usage actions help format parser", BIG)
    assert plan.omitted and plan.omitted_more > 0
    assert [one.score for one in plan.omitted] == sorted((one.score for one in plan.omitted), reverse=True)
    for one in plan.omitted:
        assert shown(plan).isdisjoint(range(one.start, one.end + 1))


def test_the_budget_doubles_while_little_is_shown() -> None:
    """A vague prompt raises it to the limit, an exact one leaves it."""
    assert plan_of("parser argument action option format help usage", BIG).budget == 4000
    assert plan_of("`add_subparsers`", BIG, max_budget=1200).raised == 0
    assert plan_of("parser argument action", BIG, max_budget=2000).budget == 2000


def test_small_files_and_small_savings_pass() -> None:
    """Below the least tokens, and where 60% of the file is less than the first budget."""
    small = source(b"".join(ARGPARSE.splitlines(keepends=True)[:60]))
    assert planned("usage", small) is None
    middle = source(b"".join(ARGPARSE.splitlines(keepends=True)[:190]))
    assert planned("usage", middle, min_tokens=100) is None


def test_where_nothing_matches_that_is_said() -> None:
    """A large file gives its map, head and most mentioned definitions, once; a smaller one passes."""
    plan = plan_of("Zyzzyva quokka", BIG)
    assert plan.remark and plan.remark in delivery(plan, BIG)
    assert plan.raised == 0 and plan.map_lines and 1 in shown(plan) and not plan.omitted
    part = source(b"".join(ARGPARSE.splitlines(keepends=True)[:420]))
    assert planned("Zyzzyva quokka", part) is None


def test_what_the_client_would_have_delivered() -> None:
    """All of a plain file; its limit of a long one; a refusal of a huge one. The way out fits."""
    long = source(ARGPARSE * 2)
    huge = source(ARGPARSE * 3)
    part = source(b"".join(ARGPARSE.splitlines(keepends=True)[:1_500]))
    plain = plan_of("usage", part)
    assert plain.tokens_before == sum(line_costs(part)) and not plain.past_limits
    assert (plan_of("usage", long).tokens_before, plan_of("usage", long).past_limits) == (25_000, True)
    focus = focus_of([Said("usage", 1.0)])
    older = read_instead(Prepared(long), focus, Settings(), cuts_long_reads=False)
    assert older is not None and older.tokens_before < 100 and older.past_limits
    assert plan_of("usage", huge).tokens_before < 100
    assert plan_of("usage", huge).tokens_file == sum(line_costs(huge))


def test_line_costs_add_up() -> None:
    """Rounding a line never adds up over the file."""
    whole = estimate("\n".join(f"{n}\t{line}" for n, line in enumerate(BIG.lines, 1)) + "\n")
    assert abs(sum(line_costs(BIG)) - whole) <= 2


@pytest.mark.parametrize(
    "data",
    [b"a" * 1_000_000, b"\n" * 50_000, ("x = '" + "é" * 200_000 + "'\n").encode() * 3, b"def (((\n" * 4_000],
    ids=["one line", "blank lines", "three giant lines", "broken"],
)
def test_odd_files_pass_or_keep_the_rules(data: bytes) -> None:
    """A line that no budget holds is never cut; whatever is planned keeps budget and cap."""
    src = source(data)
    plan = planned("def x a broken", src)
    if plan:
        assert read_tokens(plan, src) <= plan.budget + 2
        assert utf16_units(delivery(plan, src)) <= TEXT_LIMIT


def test_equal_input_gives_an_equal_plan() -> None:
    """Nothing depends on the order of a set."""
    assert plan_of(PROMPTS[1], BIG) == plan_of(PROMPTS[1], source(ARGPARSE))
