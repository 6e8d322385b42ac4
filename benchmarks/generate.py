"""The tasks of suite.py and symbols.py, drawn from the corpora by seed: six families, and names to look up.

    python benchmarks/generate.py [--half tuning|held-out] [--corpora DIR] [--seed N]

Writes benchmarks/tasks/suite-HALF.jsonl and symbols.jsonl, which are frozen: results are of those files. Nobody picks a
task; each family takes the repositories in turn and of each the next one in an order that the seed shuffles. README.md
says what each family asks and which ranges of lines an answer must hold.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from facts import KINDS, Facts
from families import FAMILIES, SHORTEST_NAME
from measure import SEED, TASKS, Task
from setup_corpora import CorpusError, add_corpora_option, corpora, root_of

__all__ = ["drawn", "symbol_tasks"]

PER_FAMILY = 36
"""Tasks of a family and half."""
PER_CORPUS = 100
"""Names that symbols.py asks of a corpus, of each class."""
MOST_SHARING = 3
"""Definitions of a shared name."""
SYMBOL_CORPORA = ("zod", "serde", "django")


def drawn(facts: dict[str, Facts], seed: int, per_family: int = PER_FAMILY) -> list[Task]:
    """Draw the tasks of one half: the repositories in turn, of each the next one that its seed gives.

    A repository gives no more than a quarter of a family, which may stay smaller than `per_family` for that.
    """
    tasks = []
    for family, of in FAMILIES.items():
        sources = {
            repo: islice(of(found, random.Random(f"{seed} {family} {repo}")), max(per_family // 4, 1))
            for repo, found in facts.items()
        }
        taken: list[Task] = []
        while sources and len(taken) < per_family:
            for repo, source in list(sources.items()):
                question = next(source, None)
                if question is None:
                    del sources[repo]
                elif len(taken) < per_family:
                    taken.append(Task(family, repo, *question))
        tasks += taken
    return tasks


def symbol_tasks(repo: str, facts: Facts, seed: int, per_class: int = PER_CORPUS) -> list[Task]:
    """Draw names to look up: `unique` ones, and `shared` ones, which two or three definitions have."""
    classes: dict[str, list[str]] = {"unique": [], "shared": []}
    for name, found in facts.definitions.items():
        plain = len(name) >= SHORTEST_NAME and not name.startswith("__")
        if (
            plain
            and all(one.symbol.kind in KINDS and facts.files[one.file].owned for one in found)
            and len(found) <= 3
        ):
            classes["unique" if len(found) == 1 else "shared"].append(name)
    tasks = []
    for family, names in classes.items():
        rng = random.Random(f"{seed} {family} {repo}")
        for name in sorted(rng.sample(names, min(per_class, len(names)))):
            places = {
                f"{one.symbol.kind} {number}": [(one.file, one.symbol.name_line, one.symbol.name_line)]
                for number, one in enumerate(facts.definitions[name], 1)
            }
            tasks.append(Task(family, repo, name, places))
    return tasks


def save(file: Path, tasks: list[Task]) -> None:
    """Write tasks, one JSON object a line."""
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks), "utf-8")
    print(f"{file}: {len(tasks)} tasks")


def main(arguments: list[str] | None = None) -> int:
    """Draw and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--half", choices=("tuning", "held-out"), help="this half alone (and no symbols.jsonl)"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="default %(default)s")
    parser.add_argument("--out", type=Path, default=TASKS, help="folder to write to")
    add_corpora_option(parser)
    given = parser.parse_args(arguments)
    try:
        for half in (given.half,) if given.half else ("tuning", "held-out"):
            facts = {corpus.name: Facts(root_of(corpus, given.corpora)) for corpus in corpora(half=half)}
            save(given.out / f"suite-{half}.jsonl", drawn(facts, given.seed))
        if not given.half:
            names = [
                task
                for corpus in corpora(list(SYMBOL_CORPORA))
                for task in symbol_tasks(corpus.name, Facts(root_of(corpus, given.corpora)), given.seed)
            ]
            save(given.out / "symbols.jsonl", names)
    except CorpusError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
