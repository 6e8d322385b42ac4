"""The answer as a value: JSON with every list whole, whatever the text folds."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest
from slicegrep.candidates import Chunk, Omission
from slicegrep.omissions import DUPLICATE
from slicegrep.recall import REASONS
from slicegrep.result import Layout, Result

RESULT = Result(
    path="src/",
    pattern="needle",
    route="precise",
    chunks=(Chunk("a.py", 1, 2, "x\ny", 100.0, "match", "f", 3),),
    omitted=tuple(Omission("b\udcff.py", n, n + 1, 12, 5.0, "match", "") for n in range(1, 41, 2)),
    total_tokens=90,
    budget=200,
    coverage=0.25,
    omitted_tokens=240,
    negative_evidence=tuple(f"Pattern 'y{n}' not found in src/" for n in range(50)),
    notes=("a note", "another"),
    skipped=(("c.bin", "binary"),),
    layout=Layout(omitted=1, negative=1, notes=0, names=20),
)


def test_json_holds_every_field_and_every_list_whole() -> None:
    """Only the layout of the text is not in it."""
    told = json.loads(json.dumps(RESULT.to_dict()))
    assert list(told) == [
        "path", "pattern", "route", "budget", "total_tokens", "exact_tokens", "coverage", "coverage_of", "chunks", "omitted",
        "omitted_tokens", "negative_evidence", "notes", "skipped",
    ]  # fmt: skip
    assert set(told) == {field.name for field in fields(Result)} - {"layout"}
    assert told["chunks"] == [
        {"file": "a.py", "line_start": 1, "line_end": 2, "text": "x\ny", "score": 100.0, "rank_reason": "match", "symbol": "f", "tokens": 3}
    ]  # fmt: skip
    assert told["omitted"][0] == {
        "file": "b\udcff.py", "line_start": 1, "line_end": 2, "tokens": 12, "score": 5.0, "rank_reason": "match", "symbol": "",
    }  # fmt: skip
    assert (len(told["omitted"]), len(told["negative_evidence"]), len(told["notes"])) == (20, 50, 2)
    assert told["skipped"] == [{"path": "c.bin", "why": "binary"}]


def test_the_text_folds_what_the_layout_says() -> None:
    """A count of the rest stands in its place."""
    text = RESULT.render()
    assert text.count("not found in src/") == 1
    assert "  ... and 49 more" in text
    assert "  ... and 19 more" in text
    assert "a note" not in text
    assert "NOTES:\n  ... and 3 more" in text
    assert "a note" in replace(RESULT, layout=Layout()).render()


def test_a_result_is_frozen() -> None:
    """Who wants another one makes it."""
    with pytest.raises(FrozenInstanceError):
        RESULT.budget = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "nearest"),
    [
        ({}, False),
        ({"coverage_of": "score"}, True),
        ({"coverage_of": "score", "route": "vague"}, False),
        ({"coverage_of": "score", "chunks": (), "omitted": ()}, False),
        ({"coverage_of": "score", "omitted": (Omission("b", 1, 1, 1, 1.0, "exact_symbol", ""),)}, False),
    ],
)
def test_what_the_vocabulary_finds_for_a_pattern_without_a_match_is_nearest_only(
    *, changes: dict[str, object], nearest: bool
) -> None:
    """Not in plain English, and not where the very name is defined."""
    assert replace(RESULT, **changes).nearest is nearest  # type: ignore[arg-type]


def test_the_page_on_json_says_what_each_reason_means() -> None:
    """Of every reason that there is, and of no other."""
    page = (Path(__file__).parents[1] / "docs" / "json.md").read_text("utf-8")
    told = page.split("What `rank_reason` joins:")[1].split("\n\n")[1]
    assert set(re.findall(r"^\| `([\w-]+)", told, re.MULTILINE)) == {*REASONS, DUPLICATE}
