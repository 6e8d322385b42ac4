"""Two rounds: what a second query finds that is made mechanically from the first answer, within the same tokens.

    python benchmarks/turns.py [--held-out] [--tokens 5000] [--strategies all] [--only click,zod] [--corpora DIR]

Tasks are the call chains of the suite, asked by the caller's name alone (so that nothing names the callee), and the commits of
commits.py. One round spends all tokens on the query. Two rounds spend half on it, half on a second query: names that the
first answer's slices call, best slice first, the rarest of a slice first, which are defined in another file and not yet
shown: at most NAMES of them, joined by `|`. The rule is the same for every strategy, and so are the tokens.

A chain counts by the share of its targets (the caller, the call, the callee) that both answers together hold wholly, a
commit by the share of its hunks that they touch. Intervals are 95% bootstrap ones over tasks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from commits import cache_option, history_of, read_commit, tree_at
from commits import judge as judge_commit
from commits import tasks as commit_tasks
from facts import Facts
from measure import SEED, TASKS, add_strategy_option, interval, judge, load, strategies_named, table
from setup_corpora import CorpusError, add_corpora_option, corpora, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from setup_corpora import Corpus
    from strategies import Slice, Strategy

    Judge = Callable[[Sequence[Slice]], float]
    """The share of a task that slices hold."""

__all__ = ["second_query"]

NAMES = 4
"""Names of a second query."""
SHORTEST = 4
"""Characters of such a name."""
_CALLED = re.compile(r"\b([^\W\d]\w*)!?\(")
_CHAIN = re.compile(r"how does (\S+) reach \S+$")


def second_query(facts: Facts, query: str, slices: Sequence[Slice]) -> str:
    """Return what to ask after an answer; "" where it calls nothing that is defined elsewhere."""
    shown = defaultdict(set)
    for part in slices:
        shown[part.file].update(range(part.start, part.end + 1))
    names: list[str] = []
    for part in slices:
        text = (
            "\n".join(facts.files[part.file].source.lines[part.start - 1 : part.end])
            if part.file in facts.files
            else ""
        )
        called = {name for name in _CALLED.findall(text) if len(name) >= SHORTEST and name not in query}
        unseen = [name for name in called if _elsewhere(facts, name, part.file, shown)]
        names += [
            name
            for name in sorted(unseen, key=lambda name: (_spread(facts, name), name))
            if name not in names
        ]
    return "|".join(names[:NAMES])


def _elsewhere(facts: Facts, name: str, file: str, shown: dict[str, set[int]]) -> bool:
    """Whether a name is defined, in other files only, where no slice shows it."""
    found = facts.definitions.get(name, [])
    return bool(found) and all(
        one.file != file and one.symbol.name_line not in shown[one.file] for one in found
    )


def _spread(facts: Facts, name: str) -> int:
    """In how many files a name stands."""
    return len({mention.file for mention in facts.mentions.get(name, [])})


def _chains(
    pins: Sequence[Corpus], folder: Path, half: str
) -> Iterator[tuple[str, Facts, list[tuple[str, Judge]], bool]]:
    """Yield, a repository at a time, its folder, facts and questions, and whether only code can answer them."""
    every = [task for task in load(TASKS / f"suite-{half}.jsonl") if _CHAIN.match(task.query)]
    for corpus in pins:
        asked = [task for task in every if task.repo == corpus.name]
        root = root_of(corpus, folder)
        questions = []
        for task in asked:
            caller = _CHAIN.match(task.query)

            def share(slices: Sequence[Slice], task=task) -> float:
                held = judge(task, slices)
                return sum(held.values()) / len(held)

            questions.append((f"how does {caller[1]} work", share))
        yield root, Facts(root), questions, False


def _commits(
    pins: Sequence[Corpus], folder: Path, cache: Path
) -> Iterator[tuple[str, Facts, list[tuple[str, Judge]], bool]]:
    """Yield the same, a commit at a time."""
    for task in commit_tasks():
        if task["repository"] in {corpus.name for corpus in pins}:
            git = history_of(folder, task["repository"])
            commit = read_commit(task["repository"], git, task["commit"])
            root = tree_at(git, f"{task['commit']}^", str(cache / task["repository"]))

            def share(slices: Sequence[Slice], targets=commit.targets) -> float:
                return judge_commit(slices, targets)["hunks"]

            yield root, Facts(root), [(commit.query, share)], True


def _asked(strategy: Strategy, facts: Facts, query: str, tokens: int, share: Judge) -> tuple[float, float]:
    """Return what one round and what two rounds hold."""
    first = strategy.slices(query, tokens // 2)
    more = second_query(facts, query, first)
    second = strategy.slices(more, tokens - tokens // 2) if more else []
    return share(strategy.slices(query, tokens)), share([*first, *second])


def main(arguments: list[str] | None = None) -> int:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_strategy_option(parser, "all")
    add_corpora_option(parser)
    cache_option(parser)
    parser.add_argument("--held-out", action="store_true", help="the half that constants were not chosen on")
    parser.add_argument("--only", default="", metavar="A,B", help="these corpora alone")
    parser.add_argument(
        "--tokens", type=int, default=5000, help="of all answers to a task together (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the intervals (default %(default)s)")
    given = parser.parse_args(arguments)
    half = "held-out" if given.held_out else "tuning"
    try:
        chosen = strategies_named(given.strategies)
        pins = corpora([name for name in given.only.split(",") if name], half=half)
        kinds = {
            "call chains": _chains(pins, given.corpora, half),
            "commits": _commits(pins, given.corpora, given.cache),
        }
        for kind, groups in kinds.items():
            found: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for root, facts, questions, code_only in groups:
                for name, build in chosen.items() if questions else ():
                    strategy = build(root, code_only=code_only)
                    found[name] += [
                        _asked(strategy, facts, query, given.tokens, share) for query, share in questions
                    ]
            print(
                f"{half}, {kind}: {max(map(len, found.values()), default=0)} tasks, {given.tokens} tokens in all, seed {given.seed}\n"
            )
            print(
                table(
                    ["strategy", "one round", "two rounds", "gain"],
                    [_row(*entry, given.seed) for entry in found.items()],
                ),
                "\n",
            )
    except (CorpusError, LookupError) as error:
        parser.error(str(error))
    return 0


def _row(name: str, pairs: Sequence[tuple[float, float]], seed: int) -> list[str]:
    columns = ([one for one, _ in pairs], [two for _, two in pairs], [two - one for one, two in pairs])
    means = [interval(column, seed) for column in columns]
    return [name, *(f"{mean:.1%} ({low:.1%} to {high:.1%})" for mean, low, high in means)]


if __name__ == "__main__":
    sys.exit(main())
