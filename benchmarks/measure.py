"""What the benchmarks share: tasks and how an answer is judged, tokens, intervals by resampling, tables.

Strategies come from strategies.py: a class with `name`, `__init__(root)` and `slices(query, cap)`, which returns objects
with `file`, `start` and `end` (1-based, inclusive), best first, shown in at most `cap` o200k_base tokens.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strategies import STRATEGIES, count_tokens

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep.home import home_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from strategies import Slice, Strategy

__all__ = [
    "RESAMPLES", "SEED", "TASKS", "Range", "Task", "add_strategy_option", "count_tokens", "interval", "judge", "load",
    "shown_lines", "strategies_named", "table",
]  # fmt: skip

TASKS = Path(__file__).parent / "tasks"
SEED = 20_261_130
RESAMPLES = 5_000

Range = tuple[str, int, int]
"""File, first and last line (1-based, inclusive)."""


@dataclass(frozen=True)
class Task:
    """A question and what its answer must hold: of each target at least one of its ranges, wholly."""

    family: str
    repo: str
    query: str
    targets: dict[str, list[Range]]


# slicegrep's own set-up has fetched the vocabulary that tiktoken would fetch again
_VOCABULARY = os.path.join(home_folder(os.environ), "vocab")
if os.path.isdir(_VOCABULARY):
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", _VOCABULARY)


def load(file: Path) -> list[Task]:
    """Read frozen tasks, one JSON object a line."""
    return [Task(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def shown_lines(slices: Iterable[Slice]) -> dict[str, set[int]]:
    """Return the lines of each file that an answer shows."""
    lines: dict[str, set[int]] = defaultdict(set)
    for one in slices:
        lines[one.file].update(range(one.start, one.end + 1))
    return lines


def judge(task: Task, slices: Iterable[Slice]) -> dict[str, bool]:
    """Say of each target whether the answer holds one of its ranges, be it in several slices."""
    lines = shown_lines(slices)
    return {
        target: any(lines[file].issuperset(range(start, end + 1)) for file, start, end in ranges)
        for target, ranges in task.targets.items()
    }


def interval(
    values: Sequence[float], seed: int = SEED, resamples: int = RESAMPLES
) -> tuple[float, float, float]:
    """Return the mean and its 95% bootstrap interval (percentiles; the values are resampled). Empty: three zeros."""
    if not values:
        return 0.0, 0.0, 0.0
    rng = random.Random(seed)
    means = sorted(sum(rng.choices(values, k=len(values))) for _ in range(resamples))
    n = len(values)
    return sum(values) / n, means[int(0.025 * resamples)] / n, means[int(0.975 * resamples) - 1] / n


def add_strategy_option(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --strategies."""
    parser.add_argument(
        "--strategies",
        default=default,
        metavar="A,B",
        help=f"names, comma-separated, or `all` (default: {default}); there are {', '.join(STRATEGIES)}",
    )


def strategies_named(names: str) -> dict[str, Callable[[str], Strategy]]:
    """Return the strategies of a comma-separated list; `all` are all. An unknown name: LookupError."""
    chosen = list(STRATEGIES) if names == "all" else names.split(",")
    if unknown := [name for name in chosen if name not in STRATEGIES]:
        raise LookupError(f"no such strategy: {', '.join(unknown)}; there are {', '.join(STRATEGIES)}")
    return {name: STRATEGIES[name] for name in chosen}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned, the first to the left."""
    lines = [list(head), *(list(row) for row in rows)]
    wide = [max(len(row[column]) for row in lines) for column in range(len(head))]
    shown = [
        "| "
        + " | ".join(cell.rjust(wide[at]) if at else cell.ljust(wide[at]) for at, cell in enumerate(row))
        + " |"
        for row in lines
    ]
    rule = (
        "| "
        + " | ".join("-" * wide[at] if not at else "-" * (wide[at] - 1) + ":" for at in range(len(head)))
        + " |"
    )
    return "\n".join([shown[0], rule, *shown[1:]])
