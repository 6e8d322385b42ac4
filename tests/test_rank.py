"""Ranking: which lines a focus speaks for."""

from __future__ import annotations

from slicegrep.focus import Said, focus_of
from slicegrep.outline import outline
from slicegrep.prepared import Prepared
from slicegrep.rank import WEIGHTS, Ranking, features, rank, rank_unmatched
from slicegrep.source import source_of
from slicegrep.types import Source

FUNCTIONS = ("load_config", "parse_tokens", "write_report", "send_message", "close_socket", "draw_canvas")


def source(text: str) -> Source:
    found = source_of("/w/module.py", text.encode())
    assert found is not None
    return found


def body(name: str) -> str:
    return (
        f"def {name}(value):\n"
        + "".join(f"    step_{i} = value + {i}\n" for i in range(20))
        + "    return value\n\n\n"
    )


MODULE = source("import os\nimport sys\n\n\n" + "".join(body(name) for name in FUNCTIONS))


def ranked(text: str, module: Source = MODULE, lines: tuple[tuple[int, float], ...] = ()) -> Ranking:
    return rank(Prepared(module), focus_of([Said(text, 1.0)], lines=lines))


def best_line(ranking: Ranking) -> int:
    return max(range(len(ranking.gains)), key=ranking.gains.__getitem__) + 1


def around(line: int, module: Source = MODULE) -> str:
    return next((s.name for s in outline(module).symbols if s.start <= line <= s.end), "")


def test_the_definition_that_is_named_comes_first() -> None:
    """By its exact name, and by the words in it in another form."""
    for text in ("`write_report` loses its last row", "The report is written twice", "writing reports twice"):
        assert around(best_line(ranked(text))) == "write_report"


def test_a_literal_is_found_where_it_stands() -> None:
    """Quoted text and numbers count as they are."""
    module = source(MODULE.text.replace("step_7 = value + 7", 'raise ValueError("no such thing")', 1))
    assert (
        module.lines[best_line(ranked('it says "no such thing"', module)) - 1]
        .strip()
        .startswith("raise ValueError")
    )


def test_a_named_line_comes_before_everything() -> None:
    """A reference in tool output outranks the definition that the prompt names."""
    wanted = MODULE.text.split("\n").index("def close_socket(value):") + 10
    assert abs(best_line(ranked("`load_config` and write_report fail", lines=((wanted, 1.0),))) - wanted) <= 1


def test_several_terms_together_beat_one() -> None:
    """Two different terms close by count more than one said twice."""
    module = source(
        "x = 0\n" * 40 + "alpha = alpha + alpha\n" + "x = 0\n" * 40 + "alpha = beta + x\n" + "x = 0\n" * 40
    )
    assert best_line(ranked("alpha beta", module)) == 82


def test_comments_count_only_when_they_are_meant() -> None:
    """The same words rank a comment lower, unless the request is about documentation."""
    module = source(
        "x = 0\n" * 60
        + "# overflow of the buffer\n"
        + "x = 0\n" * 60
        + "overflow(buffer, size, x)\n"
        + "x = 0\n" * 60
    )
    assert best_line(ranked("buffer overflow", module)) == 122
    plain, asked = ranked("buffer overflow", module), ranked("typo in comments: buffer overflow", module)
    assert asked.gains[60] / asked.gains[121] > 2 * plain.gains[60] / plain.gains[121]


def test_nothing_in_common_is_said() -> None:
    """No term, no match; the head and the most mentioned definitions come first then."""
    nothing = ranked("Zebra")
    assert not nothing.matched
    fallback = rank_unmatched(Prepared(MODULE), nothing)
    assert best_line(fallback) == 1 and not fallback.matched


def test_every_feature_has_a_value_for_every_line() -> None:
    """The table of weights and the features name the same things."""
    columns, _ = features(Prepared(MODULE), focus_of([Said("load the config", 1.0)]))
    assert columns.keys() == WEIGHTS.keys()
    assert {len(values) for values in columns.values()} == {len(MODULE.lines)}


def test_any_file_can_be_ranked() -> None:
    """Empty lines, one giant line, no definition, broken syntax."""
    for text in ("", "\n\n\n", "a" * 100_000, "def (((\n" * 50, "x = 1"):
        module = source(text)
        assert len(ranked("alpha x def", module).gains) == len(module.lines)
