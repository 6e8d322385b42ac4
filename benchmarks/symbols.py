"""Definition lookup in zod, serde and Django: the query is a bare name, the answer must show its definition's line.

    python benchmarks/symbols.py [--strategies all] [--cap 2000] [--only zod] [--json FILE] [--misses]
    python benchmarks/symbols.py --draw 7

The names are frozen in benchmarks/tasks/symbols.jsonl: functions, methods, classes and types of the project's own code, `unique` ones
and `shared` ones, which two or three definitions have. `found` counts where the line with the name of any of them is
inside a slice, `all` where those of all are, `first` where the first slice holds one. --draw draws other names by
another seed, which nothing was ever measured on. Intervals are 95% bootstrap ones over names.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from generate import symbol_tasks
from measure import SEED, TASKS, add_strategy_option, interval, judge, load, strategies_named, table
from setup_corpora import CorpusError, add_corpora_option, corpora, root_of

__all__ = ["Row", "rows_of"]

CORPORA = ("zod", "serde", "django")

Row = tuple[str, str, str, str, dict[str, float]]
"""Corpus, strategy, class, name, and what counted (0 or 1; `ms`: milliseconds)."""


def rows_of(root: str, names: list[Any], chosen: dict[str, Any], cap: int) -> list[Row]:
    """Ask every strategy every name of one corpus."""
    rows = []
    for strategy_name, make in chosen.items():
        strategy = make(root)
        for task in names:
            began = time.perf_counter()
            slices = strategy.slices(task.query, cap)
            ms = (time.perf_counter() - began) * 1000
            held, first = judge(task, slices), judge(task, slices[:1])
            counts = {"found": any(held.values()), "all": all(held.values()), "first": any(first.values())}
            counted = {key: float(value) for key, value in counts.items()} | {"ms": ms}
            rows.append((task.repo, strategy_name, task.family, task.query, counted))
    return rows


def shown(rows: list[Row], seed: int) -> str:
    """Return the table: a corpus, class and strategy a row."""
    groups: dict[tuple[str, str, str], list[dict[str, float]]] = defaultdict(list)
    for repo, strategy, kind, _, counted in rows:
        groups[repo, kind, strategy].append(counted)
        groups[repo, "both", strategy].append(counted)
    lines = []
    for (repo, kind, strategy), group in sorted(groups.items(), key=lambda entry: entry[0][:2]):
        cells = [repo, kind, strategy, str(len(group))]
        for measure in ("found", "all", "first"):
            mean, low, high = interval([one[measure] for one in group], seed)
            cells.append(f"{mean:.0%} ({low * 100:.0f}-{high:.0%})")
        ordered = sorted(one["ms"] for one in group)
        lines.append([*cells, f"{ordered[len(ordered) // 2]:.0f}"])
    return table(["corpus", "names", "strategy", "n", "found", "all", "first", "median ms"], lines)


def main(arguments: list[str] | None = None) -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_strategy_option(parser, "slicegrep")
    parser.add_argument("--cap", type=int, default=2000, help="tokens of an answer (default %(default)s)")
    parser.add_argument("--only", default=",".join(CORPORA), metavar="A,B", help="these corpora alone")
    parser.add_argument(
        "--draw", type=int, metavar="SEED", help="draw names anew in place of the frozen ones"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row there")
    parser.add_argument("--misses", action="store_true", help="list the names whose definition was not found")
    parser.add_argument("--seed", type=int, default=SEED, help="of the intervals (default %(default)s)")
    add_corpora_option(parser)
    given = parser.parse_args(arguments)
    frozen = load(TASKS / "symbols.jsonl") if given.draw is None else []
    rows: list[Row] = []
    try:
        chosen = strategies_named(given.strategies)
        for corpus in corpora(given.only.split(",")):
            root = root_of(corpus, given.corpora)
            names = [task for task in frozen if task.repo == corpus.name]
            if given.draw is not None:
                from facts import Facts

                names = symbol_tasks(corpus.name, Facts(root), given.draw)
            rows += rows_of(root, names, chosen, given.cap)
    except (CorpusError, LookupError) as error:
        parser.error(str(error))
    if given.misses:
        for repo, strategy, kind, name, counted in rows:
            if not counted["found"]:
                print(f"{repo} [{kind}] {name}: not found by {strategy}", file=sys.stderr)
    drawn = "frozen names" if given.draw is None else f"names drawn by seed {given.draw}"
    print(f"{given.cap} tokens; {drawn}; seed of the intervals {given.seed}\n")
    print(shown(rows, given.seed))
    if given.json:
        given.json.write_text(json.dumps([[*row] for row in rows], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
