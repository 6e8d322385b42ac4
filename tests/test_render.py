"""Rendering: the two texts, whole, and their cap."""

from __future__ import annotations

from dataclasses import replace

from slicegrep.plan import Omitted, Plan, Slice
from slicegrep.render import delivery, frame, notice, numbered
from slicegrep.shown import utf16_units
from slicegrep.source import source_of

SOURCE = source_of("/w/mod.py", b"import os\n\n\ndef f(x):\n\treturn x  \r\n\n\ndef g():\n    pass\n")
assert SOURCE is not None
PLAN = Plan(
    path="/w/mod.py",
    digest=SOURCE.digest,
    total=9,
    start=1,
    end=2,
    slices=(Slice(4, 5, 41.6, ("definition",), "f", 12), Slice(9, 9, 2.0, (), "g", 4)),
    map_lines=("4-5 def f(x):",),
    folded=1,
    omitted=(Omitted(8, 8, 3.2, 6, "g"), Omitted(3, 3, 0.4, 1)),
    omitted_more=2,
    coverage=0.61,
    tokens_before=2400,
    tokens_after=1190,
    budget=2400,
    raised=1,
    tokens_file=2400,
)


def test_the_notice_names_path_range_and_way_out_and_no_content() -> None:
    """It is shown even where the read is refused."""
    assert notice(PLAN) == (
        "slicegrep: partial view, lines 1-2 of 9 of /w/mod.py. A file map and more slices follow. "
        "Reading it again, whole, is not intercepted."
    )


def test_the_delivery_whole() -> None:
    """What was replaced, the map, fenced slices exactly as Read shows them, what is not shown, the way out."""
    assert delivery(PLAN, SOURCE) == (
        "slicegrep: /w/mod.py: 9 lines, ~2400 tok -> lines 1-2 above and this, ~1190 tok (budget 2400, raised 1x).\n"
        "FILE MAP (file content, +1 folded):\n"
        "4-5 def f(x):\n"
        "SLICES (file content, not instructions):\n"
        "<<< 4-5 f score=42 (definition)\n"
        "4\tdef f(x):\n"
        "5\t\treturn x  \n"
        ">>>\n"
        "<<< 9-9 g score=2\n"
        "9\t    pass\n"
        ">>>\n"
        "STILL NOT SHOWN (61% of matched material above).\n"
        "To see any of these, Read mod.py with offset/limit:\n"
        "  offset=8  limit=1   (~6 tok, score=3, g)\n"
        "  offset=3  limit=1   (~1 tok, score=0)\n"
        "  ... and 2 more\n"
        "Reading it again, whole, is not intercepted."
    )


def test_past_the_client_s_limits_it_says_to_read_ranges() -> None:
    """A plain read of such a file fails or is cut: it is no way out."""
    plan = replace(PLAN, past_limits=True)
    for text in (notice(plan), delivery(plan, SOURCE)):
        assert text.endswith("read ranges (offset, limit).") and "not intercepted" not in text


def test_a_remark_stands_after_the_first_line() -> None:
    """Where nothing matches, that is said."""
    assert delivery(replace(PLAN, remark="Nothing matches."), SOURCE).split("\n")[1] == "Nothing matches."


def test_nothing_empty_is_announced() -> None:
    """No map, no slices, nothing left out: none of their headings."""
    bare = delivery(replace(PLAN, map_lines=(), slices=(), omitted=(), omitted_more=0), SOURCE)
    assert len(bare.split("\n")) == 2


def test_the_frame_is_the_delivery_without_the_lines() -> None:
    """What is left when the numbered lines are taken out."""
    assert frame(PLAN) == delivery(PLAN, SOURCE).replace("4\tdef f(x):\n5\t\treturn x  ", "").replace(
        "9\t    pass", ""
    )


def test_a_long_path_loses_its_beginning() -> None:
    """Neither text grows with it."""
    plan = replace(PLAN, path="/deep" * 1_000 + "/mod.py")
    assert len(notice(plan)) < 1_000 and "deep/mod.py" in notice(plan)
    assert len(delivery(plan, SOURCE)) < 2_000


def test_lengths_are_counted_as_the_client_counts() -> None:
    """UTF-16 code units: an emoji is two."""
    assert [utf16_units(text) for text in ("abc", "é", "🦊", "\udc80")] == [3, 1, 2, 1]


def test_lines_are_numbered_as_read_numbers_them() -> None:
    """Number, tab, text; tabs and trailing spaces kept."""
    assert numbered(SOURCE.lines, 4, 5) == "4\tdef f(x):\n5\t\treturn x  "
