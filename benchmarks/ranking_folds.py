"""The ranking of whole trees on annotated queries: by repository, without each feature, and with constants chosen elsewhere.

    python benchmarks/ranking_folds.py ANNOTATIONS REPOS REPOS_JSON [--only a,b] [--table] [--folds] [--samples N]

ANNOTATIONS holds a JSON file a repository (`query`, `relevant`, `secondary`, `category`), REPOS the checkouts, REPOS_JSON
their names and the folder that is searched (`benchmark_root`). The figure is NDCG@10 over the regions of `recall`, best
first, before a budget cuts them: a target counts at the rank of the first region of its file (and of its lines where
it has some).

--table leaves one feature out at a time. --folds splits the repositories into five folds; for each, the constants are drawn
--samples times (each times 0.5 to 2, log-uniformly), those that are best on the other folds are kept, and measured on the
fold; beside it stands what the constants in use give. The draw is seeded.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep import expand, filefacts, filescore, findings, hits, query, recall
from slicegrep.index import View, open_view
from slicegrep.match import find

__all__ = ["Corpus", "main", "ndcg"]

SEED = 20_261_130
FOLDS = 5
BEST = 10

WITHOUT: dict[str, list[tuple[Any, str, object]]] = {
    "whole files": [(filescore, "WHOLE", 0.0)],
    "chunks": [(filescore, "CHUNKS", 0.0)],
    "names of files": [(filescore, "PATH", 0.0), (filescore, "FOLDERS", 0.0)],
    "folders beside the stem": [(filescore, "FOLDERS", 0.0)],
    "names of definitions": [(filescore, "NAMED", 0.0)],
    "symbols that are spelled": [(filescore, "EXACT", 0.0)],
    "mentions by other files": [(filescore, "CENTRAL", 0.0)],
    "tests lowered": [(filescore, "TEST", 1.0), (findings, "TEST", 1.0), (recall, "TEST", 1.0)],
    "documents lowered": [(filefacts, "DOCUMENT", 1.0), (filefacts, "CONFIG", 1.0)],
    "platforms lowered": [(filescore, "TWIN", 1.0)],
    "what only describes lowered": [(filefacts, "DESCRIBES", 0.0)],
    "beginnings of words": [(expand, "PREFIX_WEIGHT", 0.0)],
    "synonyms": [(query, "SYNONYM_WEIGHT", 0.0)],
    "joined words and initials": [(query, "JOINED_STEM_WEIGHT", 0.0)],
    "whole identifiers": [(expand, "NAME_SHARE", 0.0)],
    "further regions lowered": [(findings, "AGAIN", 1.0)],
}
"""What is left out, and what then stands in its place."""
DRAWN: list[tuple[Any, str]] = [
    (filescore, "WHOLE"), (filescore, "CHUNKS"), (filescore, "PATH"), (filescore, "FOLDERS"), (filescore, "NAMED"),
    (filescore, "EXACT"), (filescore, "CENTRAL"), (filescore, "SHARE_POWER"), (filescore, "TEST"), (filefacts, "DOCUMENT"),
    (filefacts, "DESCRIBES"), (expand, "PREFIX_WEIGHT"), (expand, "NAME_SHARE"), (query, "SYNONYM_WEIGHT"),
    (query, "JOINED_STEM_WEIGHT"), (findings, "AGAIN"), (hits, "USE"), (hits, "WORDS"),
]  # fmt: skip


@dataclass(slots=True)
class Corpus:
    """A checkout with its queries and its index."""

    name: str
    root: Path
    prefix: str
    items: list[dict[str, Any]]
    home: str
    view: View = field(init=False)
    matched: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.view = open_view(str(self.root / self.prefix), self.home)
        inside = (self.root / self.prefix).resolve().relative_to(self.view.root).as_posix()
        self.prefix = "" if inside == "." else inside + "/"

    def answers(self, text: str) -> list[tuple[str, int, int]]:
        """Return the first regions of an answer: path in the repository, first and last line."""
        view, prefix = self.view, self.prefix
        asked = query.query_of(text)

        def read(path: str) -> Any:
            return view.read(prefix + path)

        matches = self.matched.get(text)
        if matches is None:
            files = view.paths_under(prefix)
            folder = str(Path(view.root) / prefix)
            matches = find(folder, files, asked.patterns, view=view, read=read, prefix=prefix)
            self.matched[text] = matches
        found = recall.recall(view, asked, matches, read, before=40, after=40, boundary="fn", prefix=prefix)
        return [(prefix + one.file, one.start, one.end) for one in found[:BEST]]

    def figures(self) -> list[tuple[str, float]]:
        """Return each query's category and its NDCG."""
        return [(item.get("category") or "other", self._figure(item)) for item in self.items]

    def _figure(self, item: dict[str, Any]) -> float:
        answers = self.answers(item["query"])
        every = [*item.get("relevant", []), *item.get("secondary", [])]
        targets = [target if isinstance(target, dict) else {"path": target} for target in every]
        ranks = [
            next((rank for rank, one in enumerate(answers, 1) if _holds(one, target)), 0)
            for target in targets
        ]
        return ndcg([rank for rank in ranks if rank], len(targets))


def _holds(answer: tuple[str, int, int], target: dict[str, Any]) -> bool:
    path, start, end = answer
    if path != target["path"] and not path.endswith("/" + target["path"]):
        return False
    first = target.get("start_line")
    return first is None or (start <= int(target["end_line"]) and end >= int(first))


def ndcg(ranks: list[int], relevant: int) -> float:
    """Return NDCG@10 for targets at these ranks (1 is the first) of so many relevant ones."""
    gained = sum(1 / math.log2(rank + 1) for rank in set(ranks) if rank <= BEST)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, BEST) + 1))
    return gained / ideal if ideal else 0.0


def mean(values: list[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def _all(corpora: list[Corpus]) -> list[float]:
    return [value for corpus in corpora for _, value in corpus.figures()]


def _show(corpora: list[Corpus]) -> None:
    categories: dict[str, list[float]] = defaultdict(list)
    began = time.process_time()
    for corpus in corpora:
        found = corpus.figures()
        for category, value in found:
            categories[category].append(value)
        print(f"{corpus.name:12}{mean([value for _, value in found]):.3f}")
    every = [value for values in categories.values() for value in values]
    each = "  ".join(f"{name} {mean(values):.3f}" for name, values in sorted(categories.items()))
    spent = (time.process_time() - began) / max(len(every), 1) * 1000
    print(f"{'all':12}{mean(every):.3f}  {each}  {spent:.1f} ms a query, matching included")


def _table(corpora: list[Corpus]) -> None:
    base = mean(_all(corpora))
    for name, changes in WITHOUT.items():
        kept = [(module, constant, getattr(module, constant)) for module, constant, _ in changes]
        for module, constant, value in changes:
            setattr(module, constant, value)
        filefacts._factor.cache_clear()  # noqa: SLF001 (the constants are in it)
        filefacts._KNOWN.clear()  # noqa: SLF001
        print(f"without {name:30}{mean(_all(corpora)) - base:+.3f}", flush=True)
        for module, constant, value in kept:
            setattr(module, constant, value)
    filefacts._factor.cache_clear()  # noqa: SLF001
    filefacts._KNOWN.clear()  # noqa: SLF001


def _folds(corpora: list[Corpus], samples: int) -> None:
    draw = random.Random(SEED)
    kept = [(module, constant, getattr(module, constant)) for module, constant in DRAWN]
    tried: list[dict[str, float]] = []
    for sample in range(samples + 1):
        for module, constant, value in kept:
            factor = 1.0 if sample == 0 else 2 ** draw.uniform(-1, 1)
            setattr(module, constant, value * factor)
        filefacts._factor.cache_clear()  # noqa: SLF001
        filefacts._KNOWN.clear()  # noqa: SLF001
        tried.append({corpus.name: mean([v for _, v in corpus.figures()]) for corpus in corpora})
        print(f"{sample}/{samples} {mean(list(tried[-1].values())):.3f}", file=sys.stderr, flush=True)
    for module, constant, value in kept:
        setattr(module, constant, value)
    names = [corpus.name for corpus in corpora]
    random.Random(SEED).shuffle(names)
    left_out: list[float] = []
    in_sample: list[float] = []
    for fold in range(FOLDS):
        out = names[fold::FOLDS]
        rest = [name for name in names if name not in out]
        best = max(tried[1:], key=lambda one: mean([one[name] for name in rest]))
        left_out += [best[name] for name in out]
        in_sample.append(mean([best[name] for name in rest]))
        print(f"fold {fold + 1}: {', '.join(out):24} {mean([best[name] for name in out]):.3f}")
    spread = sorted(mean(list(one.values())) for one in tried[1:])
    print(f"constants in use {mean(list(tried[0].values())):.3f}")
    print(f"chosen on the other folds {mean(left_out):.3f}, on those themselves {mean(in_sample):.3f}")
    low, high = spread[len(spread) // 10], spread[-1 - len(spread) // 10]
    print(f"constants times 0.5 to 2, 10th to 90th percentile of {samples}: {low:.3f} to {high:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("annotations", "repos", "specs"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--home", default="", help="where the indexes are kept; a temporary folder by default"
    )
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--samples", type=int, default=60)
    asked = parser.parse_args()
    only = asked.only.split(",") if asked.only else []
    with tempfile.TemporaryDirectory() as folder:
        corpora = [
            Corpus(
                spec["name"],
                asked.repos / spec["name"],
                spec.get("benchmark_root", ""),
                json.loads((asked.annotations / f"{spec['name']}.json").read_text("utf-8")),
                asked.home or folder,
            )
            for spec in json.loads(asked.specs.read_text("utf-8"))
            if not only or spec["name"] in only
        ]
        _show(corpora)
        if asked.table:
            _table(corpora)
        if asked.folds:
            _folds(corpora, asked.samples)


if __name__ == "__main__":
    main()
