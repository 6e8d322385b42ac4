"""The JSON of a search: what it is said to be, and what it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, run
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from slicegrep.candidates import Chunk, Omission
from slicegrep.result import Result
from slicegrep.schema import Answer, IndexReport, json_schema
from slicegrep.stats import Report, Totals

PAGE = (ROOT / "docs" / "json.md").read_text("utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder in which a search finds, omits, skips and misses something."""
    folder = tmp_path_factory.mktemp("schema") / "tree"
    folder.mkdir()
    for name in ("cart", "shop", "till"):
        body = "".join(f"    total += {name}[{n}]  # add the {n}th\n" for n in range(60))
        (folder / f"{name}.py").write_text(
            f"def total_{name}({name}):\n    total = 0\n{body}    return total\n"
        )
    (folder / "pipe.py").symlink_to("nowhere")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["total|gone_basket", "--budget", "400"],
        ["gone_basket"],
        ["where is the total added up"],
        ["(?=total)tot", "--boundary", "fn"],
    ],
)
def test_what_is_printed_fits_the_model(tree: Path, tmp_path: Path, words: list[str]) -> None:
    """Nothing is missing and nothing is there that the model does not know."""
    code, out, err = run(tmp_path, str(tree), *words, "--json")
    assert (code in (0, 1), err) == (True, "")
    Answer.model_validate_json(out)


def result(**changes: Any) -> Result:
    """Return a small result."""
    chunk = Chunk("a.py", 1, 2, "def f():\n    pass", 2.5, "definition", "f", 7)
    omitted = Omission("b.py", 3, 9, 40, 1.5, "multi_match(2)", "")
    given: dict[str, Any] = {
        "path": "src",
        "pattern": "f",
        "route": "precise",
        "chunks": (chunk,),
        "omitted": (omitted,),
        "total_tokens": 90,
        "budget": 200,
        "coverage": 0.5,
        "omitted_tokens": 40,
        "skipped": (("c/", "Permission denied"),),
    }
    return Result(**{**given, **changes})


@settings(deadline=None)
@given(st.text(), st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_result_comes_through_json_unchanged(pattern: str, text: str, score: float) -> None:
    """Whatever is in a file: what a program reads is what the library returned."""
    chunk = Chunk("a.py", 1, 1 + text.count("\n"), text, score, "", "", 0)
    found = result(pattern=pattern, chunks=(chunk,)).to_dict()
    assert json.loads(json.dumps(found)) == found == Answer.model_validate(found).model_dump()


@pytest.mark.parametrize(
    "change",
    [{"more": 1}, {"coverage": 1.5}, {"route": "odd"}, {"chunks": [{"file": "a.py"}]}, {"notes": None}],
)
def test_the_model_refuses_what_it_does_not_know(change: dict[str, Any]) -> None:
    """A key too many, a value out of range, a key that is missing."""
    with pytest.raises(ValidationError):
        Answer.model_validate({**result().to_dict(), **change})


def test_the_documented_schema_is_the_models() -> None:
    """The last block of docs/json.md."""
    assert BLOCKS[-1] == json_schema()


def without_net(value: Any) -> Any:
    """Return a report without what is worked out from the rest."""
    if isinstance(value, dict):
        return {name: without_net(part) for name, part in value.items() if name != "net"}
    return value


def test_the_documented_examples_fit() -> None:
    """The first blocks of docs/json.md."""
    Answer.model_validate(BLOCKS[0])
    IndexReport.model_validate(BLOCKS[1])
    told = Report.model_validate(without_net(BLOCKS[2]))
    assert json.loads(told.model_dump_json()) == BLOCKS[2]


def test_the_documented_keys_are_the_models() -> None:
    """Each of its tables has the keys of one model, in their order."""
    tables = re.findall(r"\n\| key \|.*?\n\n", PAGE, re.DOTALL)
    keys = [re.findall(r"\n\| `(\w+)`", table) for table in tables]
    parts = json_schema()["$defs"]
    assert keys == [
        list(Answer.model_fields),
        list(parts["Chunk"]["properties"]),
        list(parts["Omission"]["properties"]),
        list(IndexReport.model_fields),
        list(Report.model_fields),
        [*Totals.model_fields, *Totals.model_computed_fields],
    ]
