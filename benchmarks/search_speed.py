"""How long a search takes in a process that has searched before: 20 searches of five kinds, in Django's words.

    python benchmarks/search_speed.py TREE [--rounds 5] [--budget 2000] [--each]

TREE is Django's source; it is indexed in a home folder of its own. Times are processor time in milliseconds, so that what else
runs counts less; it counts all the same: compare two versions in turns. `first` is a search that is asked for the first time,
`again` the median of --rounds more, all 20 in turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
sys.path.insert(0, str(PLUGIN))

from slicegrep.search import focused_read  # noqa: E402 (the package beside this file, not an installed one)

SEARCHES = {
    "names": ("get_object_or_404", "HttpResponseRedirect", "_fetch_all", "get_queryset", "Model.save"),
    "words": ("queryset", "middleware", "cookie"),
    "alternatives": (
        "session|cookie",
        "select_related|prefetch_related",
        "get_object_or_404|get_list_or_404",
        "ValidationError|clean|full_clean",
    ),
    "expressions": (r"class \w+Middleware", r"def \w+_view\(", r"raise \w+Error\("),
    "questions": (
        "how does the queryset evaluate lazily and cache results",
        "password hashing algorithm and upgrade on login",
        "what happens when a session expires",
        "where are migrations applied in order",
        "resolve url pattern to a view function",
    ),
}
BEFORE = ("test", "import", "the connection of a database wrapper is closed", "signals|receivers", "class")
"""Searches that bring the tree into memory, as a process that has served for a while has it."""


def milliseconds(tree: str, home: str, query: str, budget: int) -> float:
    """Return the processor time of one search."""
    begun = time.process_time()
    focused_read(tree, query, budget=budget, home=home)
    return 1000 * (time.process_time() - begun)


def percentile_90(values: list[float]) -> float:
    """Return the value that nine of ten are below."""
    return sorted(values)[min(int(0.9 * len(values)), len(values) - 1)]


def main() -> None:
    """Run, and print a row for each kind and one for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", metavar="TREE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=2000, help="tokens (default %(default)s)")
    parser.add_argument("--each", action="store_true", help="print each search, too")
    asked = parser.parse_args()
    queries = [query for some in SEARCHES.values() for query in some]
    with tempfile.TemporaryDirectory() as home:
        for query in BEFORE:
            milliseconds(asked.tree, home, query, asked.budget)
        first = {query: milliseconds(asked.tree, home, query, asked.budget) for query in queries}
        rounds = [
            {query: milliseconds(asked.tree, home, query, asked.budget) for query in queries}
            for _ in range(asked.rounds)
        ]
    again = {query: statistics.median([one[query] for one in rounds]) for query in queries}
    groups = {kind: list(some) for kind, some in SEARCHES.items()} | {"all": queries}
    groups |= {query: [query] for query in queries} if asked.each else {}
    print("| median (90th percentile), ms | first | again |\n| --- | --- | --- |")
    for name, some in groups.items():
        cells = [
            f"{statistics.median(values):.1f} ({percentile_90(values):.1f})"
            for values in ([first[query] for query in some], [again[query] for query in some])
        ]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
