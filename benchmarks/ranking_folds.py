"""How well the ranking's constants carry over: NDCG@10 with constants chosen on other repositories than those measured.

    python benchmarks/ranking_folds.py ANNOTATIONS REPOS REPOS_JSON [--draws 16] [--seed 20261130] [--json FILE]

ANNOTATIONS holds NAME.json (a list of {query, relevant, secondary}), REPOS a checkout NAME of each repository of
REPOS_JSON (its `name` and `benchmark_root`). Each draw multiplies every constant of CONSTANTS by 2^u, u uniform in
[-1, 1]; draw 0 leaves them as they are. Printed: the mean of each draw over all queries (what the constants matter),
and for five folds by repository the mean over the left-out queries with the draw that was best on the other four,
beside that of the constants as they are. A target counts at the rank of the first of ten candidates of its file
(and lines, where it has some), as in MinishLab/semble's benchmark.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plugin"))

from slicegrep.index import open_view
from slicegrep.match import find
from slicegrep.query import query_of
from slicegrep.recall import recall

CONSTANTS = {
    "filescore": (
        "CHUNKS",
        "WHOLE",
        "PATH",
        "FOLDERS",
        "NAMED",
        "SHARE_POWER",
        "EXACT",
        "CENTRAL",
        "TEST",
        "TWIN",
    ),
    "filefacts": ("DOCUMENT", "CONFIG", "DESCRIBES"),
    "units": ("FURTHER_CHUNKS", "NAMED", "EXACT"),
    "recall": ("AGAIN", "BESIDE_HITS", "FLOOR", "SPELLED"),
    "hits": ("USE", "DEFINED", "PHRASE", "WORDS", "TOGETHER", "RARE", "DENSE"),
}
FOLDS = 5
AT_MOST_ONE = frozenset({"TEST", "TWIN", "DOCUMENT", "CONFIG", "AGAIN", "FLOOR", "BESIDE_HITS"})


def ndcg(ranks: list[int], targets: int) -> float:
    gains = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    return gains / sum(1 / math.log2(rank + 1) for rank in range(1, min(targets, 10) + 1))


def same(path: str, target: str) -> bool:
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


class Repository:
    """One checkout with its questions, and what its patterns match: that no constant changes."""

    def __init__(self, root: Path, annotations: Path, home: str) -> None:
        self.root = root
        self.view = open_view(str(root), home)
        inside = str(root.resolve().relative_to(self.view.root))
        self.prefix = "" if inside == "." else f"{inside}/"
        self.tasks = []
        files = self.view.paths_under(self.prefix)
        for item in json.loads(annotations.read_text()):
            said = [*item.get("relevant", []), *item.get("secondary", [])]
            targets = [t if isinstance(t, dict) else {"path": t} for t in said]
            query = query_of(item["query"])
            matches = find(str(root), files, query.patterns, view=self.view, prefix=self.prefix)
            self.tasks.append((query, matches, targets))

    def read(self, path: str) -> object:
        """Return a file's lines; `path` is relative to the root."""
        return self.view.read(self.prefix + path)

    def scores(self) -> list[float]:
        """Return NDCG@10 of each question."""
        values = []
        for query, matches, targets in self.tasks:
            found = recall(
                self.view, query, matches, self.read, before=40, after=40, boundary="fn", prefix=self.prefix
            )
            ranks = []
            for target in targets:
                for rank, one in enumerate(found[:10], 1):
                    inside = target.get("start_line") is None or (
                        one.start <= int(target["end_line"]) and one.end >= int(target["start_line"])
                    )
                    if same(str(self.root / one.file), target["path"]) and inside:
                        ranks.append(rank)
                        break
            values.append(ndcg(ranks, len(targets)))
        return values


def drawn(seed: int, draw: int) -> dict[tuple[str, str], float]:
    rng = random.Random(f"{seed} {draw}")
    values = {}
    for module, names in CONSTANTS.items():
        for name in names:
            value = getattr(import_module(f"slicegrep.{module}"), name) * 2 ** (
                rng.uniform(-1, 1) if draw else 0
            )
            values[module, name] = min(value, 1.0) if name in AT_MOST_ONE else value
    return values


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("annotations", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("specifications", type=Path)
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        repositories = {}
        for spec in json.loads(given.specifications.read_text()):
            root = given.repositories / spec["name"] / spec.get("benchmark_root", "")
            repositories[spec["name"]] = Repository(root, given.annotations / f"{spec['name']}.json", home)
        draws = [drawn(given.seed, draw) for draw in range(given.draws + 1)]
        table = []
        for values in draws:
            for (module, name), value in values.items():
                setattr(import_module(f"slicegrep.{module}"), name, value)
            table.append({name: repository.scores() for name, repository in repositories.items()})
    report(table, list(repositories), given)
    return 0


def report(table: list[dict[str, list[float]]], names: list[str], given: argparse.Namespace) -> None:
    def mean(row: dict[str, list[float]], chosen: list[str]) -> float:
        return statistics.fmean([value for name in chosen for value in row[name]])

    order = random.Random(given.seed).sample(names, len(names))
    chosen_values, plain_values = [], []
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        best = max(table, key=lambda row: mean(row, [name for name in names if name not in out]))
        chosen_values += [value for name in out for value in best[name]]
        plain_values += [value for name in out for value in table[0][name]]
    every = sorted(mean(row, names) for row in table[1:])
    print(f"seed {given.seed}, {len(every)} draws, {len(plain_values)} queries")
    print(f"constants as they are: {mean(table[0], names):.3f}")
    if every:
        print(f"draws: {every[0]:.3f} to {every[-1]:.3f}, median {statistics.median(every):.3f}")
        print(f"five folds, chosen on the other four: {statistics.fmean(chosen_values):.3f}")
    for name in names:
        print(f"  {name:<12} {statistics.fmean(table[0][name]):.3f}")
    if given.json:
        given.json.write_text(json.dumps(table))


if __name__ == "__main__":
    sys.exit(main())
