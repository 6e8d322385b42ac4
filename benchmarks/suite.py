"""Six families of questions at equal token caps: how often an answer holds all that was asked for.

    python benchmarks/suite.py [--strategies all] [--cap 2000] [--json FILE] [--only click,zod] [--misses]
    python benchmarks/suite.py --held-out

The tasks are frozen in benchmarks/tasks/suite-*.jsonl (see README.md, and generate.py, which drew them). A task counts
where every target is inside the returned slices, wholly; `partial` is the mean share of its targets. The intervals are
95% bootstrap ones over tasks. The tuning half is the default; the held-out half is for confirming, once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import SEED, TASKS, Task, add_strategy_option, interval, judge, load, strategies_named, table
from setup_corpora import CorpusError, add_corpora_option, corpora, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from strategies import Strategy

__all__ = ["Outcome", "outcomes", "report"]

ALL = "all families"


@dataclass(frozen=True)
class Outcome:
    """What a strategy's answer to one task held."""

    task: Task
    strategy: str
    cap: int
    """o200k_base tokens."""
    held: dict[str, bool]
    seconds: float

    @property
    def whole(self) -> bool:
        """Whether every target is held."""
        return all(self.held.values())

    @property
    def share(self) -> float:
        """The share of the targets that are held."""
        return sum(self.held.values()) / len(self.held)


def outcomes(
    tasks: Sequence[Task],
    roots: dict[str, str],
    chosen: dict[str, Callable[[str], Strategy]],
    caps: Sequence[int],
) -> Iterator[Outcome]:
    """Ask every strategy every task, repository by repository, so that only one is in memory."""
    for repo, root in roots.items():
        asked = [task for task in tasks if task.repo == repo]
        for name, make in chosen.items() if asked else ():
            strategy = make(root)
            for task in asked:
                for cap in caps:
                    began = time.perf_counter()
                    slices = strategy.slices(task.query, cap)
                    seconds = time.perf_counter() - began
                    yield Outcome(task, name, cap, judge(task, slices), seconds)


def report(found: Sequence[Outcome], seed: int) -> list[dict[str, Any]]:
    """Return a row for each cap, family and strategy: tasks, success, its interval, partial credit, median time (ms)."""
    groups: dict[tuple[int, str, str], list[Outcome]] = defaultdict(list)
    for one in found:
        groups[one.cap, one.task.family, one.strategy].append(one)
        groups[one.cap, ALL, one.strategy].append(one)
    rows = []
    for (cap, family, strategy), group in groups.items():
        mean, low, high = interval([float(one.whole) for one in group], seed)
        row = {"cap": cap, "family": family, "strategy": strategy, "tasks": len(group), "success": mean}
        row |= {"low": low, "high": high, "partial": statistics.mean(one.share for one in group)}
        rows.append(row | {"ms": statistics.median(one.seconds for one in group) * 1000})
    return rows


def differences(found: Sequence[Outcome], seed: int) -> list[dict[str, Any]]:
    """Return, for each cap, how much the first strategy is above each other one on the same tasks, with intervals."""
    whole = {
        (one.cap, one.strategy, one.task.repo, one.task.family, one.task.query): one.whole for one in found
    }
    names = list(dict.fromkeys(one.strategy for one in found))
    rows = []
    for cap in dict.fromkeys(one.cap for one in found):
        first = {key[2:]: value for key, value in whole.items() if key[:2] == (cap, names[0])}
        for name in names[1:]:
            pairs = [float(value) - float(whole[(cap, name, *key)]) for key, value in first.items()]
            mean, low, high = interval(pairs, seed)
            rows.append(
                {"cap": cap, "first": names[0], "other": name, "above": mean, "low": low, "high": high}
            )
    return rows


def shown(rows: Sequence[dict[str, Any]], against: Sequence[dict[str, Any]]) -> str:
    """Return the tables, in percent: a family a row, a strategy a column."""
    parts = []
    for cap in dict.fromkeys(row["cap"] for row in rows):
        here = {(row["family"], row["strategy"]): row for row in rows if row["cap"] == cap}
        strategies = list(dict.fromkeys(strategy for _, strategy in here))
        families = [family for family in dict.fromkeys(family for family, _ in here) if family != ALL]
        lines = []
        for family in (*families, ALL):
            cells = [here[family, strategy] for strategy in strategies]
            texts = [f"{c['success']:.0%} ({c['low']:.0%}-{c['high']:.0%})".replace("%-", "-") for c in cells]
            lines.append([family, str(cells[0]["tasks"]), *texts])
        lines.append(["partial", "", *(f"{here[ALL, strategy]['partial']:.0%}" for strategy in strategies)])
        lines.append(["median ms", "", *(f"{here[ALL, strategy]['ms']:.0f}" for strategy in strategies)])
        parts.append(f"{cap} tokens\n\n" + table(["family", "tasks", *strategies], lines))
        gaps = [row for row in against if row["cap"] == cap]
        said = [f"{r['other']} {r['above']:+.0%} ({r['low']:+.0%} to {r['high']:+.0%})" for r in gaps]
        if said:
            parts.append(f"{gaps[0]['first']} above, on the same tasks: " + "; ".join(said))
    return "\n\n".join(parts)


def main(arguments: list[str] | None = None) -> int:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_strategy_option(parser, "all")
    parser.add_argument(
        "--cap", default="2000", metavar="A,B", help="tokens of an answer, comma-separated (2000)"
    )
    parser.add_argument("--held-out", action="store_true", help="the half that constants were not chosen on")
    parser.add_argument("--only", default="", metavar="A,B", help="these corpora alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome and every row there")
    parser.add_argument("--misses", action="store_true", help="list what the first strategy did not hold")
    parser.add_argument("--seed", type=int, default=SEED, help="of the intervals (default %(default)s)")
    add_corpora_option(parser)
    given = parser.parse_args(arguments)
    half = "held-out" if given.held_out else "tuning"
    tasks = load(TASKS / f"suite-{half}.jsonl")
    try:
        chosen = strategies_named(given.strategies)
        pins = corpora([name for name in given.only.split(",") if name], half=half)
        roots = {corpus.name: root_of(corpus, given.corpora) for corpus in pins}
    except (CorpusError, LookupError) as error:
        parser.error(str(error))
    found = []
    for one in outcomes(tasks, roots, chosen, [int(cap) for cap in given.cap.split(",")]):
        found.append(one)
        if given.misses and one.strategy == next(iter(chosen)) and not one.whole:
            missed = ", ".join(target for target, held in one.held.items() if not held)
            print(
                f"{one.cap} {one.task.repo} [{one.task.family}] {one.task.query}: no {missed}",
                file=sys.stderr,
            )
    rows = report(found, given.seed)
    against = differences(found, given.seed)
    languages = {language for corpus in pins for language in corpus.languages}
    print(f"{half} half: {len(roots)} repositories, {len(languages)} languages; seed {given.seed}\n")
    print(shown(rows, against))
    if given.json:
        every = [
            {
                "repo": o.task.repo,
                "family": o.task.family,
                "query": o.task.query,
                "strategy": o.strategy,
                "cap": o.cap,
            }
            | {"held": o.held, "ms": round(o.seconds * 1000, 2)}
            for o in found
        ]
        revisions = {corpus.name: corpus.revision for corpus in pins}
        whole = {"half": half, "seed": given.seed, "corpora": revisions, "rows": rows, "differences": against}
        given.json.write_text(json.dumps(whole | {"outcomes": every}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
