"""Real commits: whether a commit's message alone, asked of its parent's tree, brings up the lines that it touched.

    python benchmarks/commits.py run [--held-out] [--strategies "slicegrep,sub-word BM25"] [--only click,zod] [--corpora DIR]
    python benchmarks/commits.py mine [--corpora DIR] > benchmarks/tasks/commits.jsonl

DIR holds the checkouts with their history, as `setup_corpora.py --full` makes them. `run` checks the parent
of each commit out into --cache (one clone a repository, which takes no more than its largest tree), asks every strategy,
and prints the mean over commits with its 95% bootstrap interval (commits resampled), for each cap. Baselines see code alone,
as the targets are code: it makes them stronger by some seven points.

The measure. The query is the message, subject and body, without trailers, issue numbers, addresses and hashes. The targets
are the hunks of the commit in source files of the parent, tests, documentation and hidden files left out: changed lines that are at most
six unchanged ones apart are one hunk, as in `git diff`; white space alone changes nothing; an insertion touches the lines
before and after it. A hunk is found when a slice holds one of its lines, or one of the same hunk in a copy of the file that is
kept beside it and changed alike (zod's deno folder, the single header of nlohmann/json).

- hunks (the headline): the share of a commit's hunks that are found
- lines: the share of its touched lines that are shown
- any: whether one hunk is found
- files: the share of its touched files of which any slice is shown
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from measure import SEED, TASKS, add_strategy_option, interval, shown_lines, strategies_named
from setup_corpora import CorpusError, add_corpora_option, corpora
from slicegrep.languages import is_test_path, language_of
from slicegrep.words import STOP_WORDS, identifiers
from strategies import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from measure import Range
    from strategies import Slice

__all__ = [
    "MEASURES",
    "Commit",
    "cache_option",
    "judge",
    "query_of_message",
    "read_commit",
    "tasks",
    "tree_at",
]

MEASURES = ("hunks", "lines", "any", "files")
PER_REPOSITORY = 12
NEWEST = 2000
"""Commits up to the pinned one, merges left out, among which a repository's sample is drawn."""
MOST_FILES = 5
FEWEST_WORDS = 3
TOGETHER = 6
"""Unchanged lines between two changes of one hunk, at most."""
LARGEST = 400_000
"""Bytes of a source file that counts for itself: a larger one is put together from others (nlohmann/json's single header)."""

_NO_CHANGE = re.compile(
    r"\s*(?:\[[^]]*\]\s*)?(?:revert|merge|bump|releas|prepar|version|v?\d+\.\d+|format|reformat|lint|style|typo|chore|docs?\b|ci\b|build\b"
    r"|tests?\b|changelog|copyright|update (?:dep|change|copyright|version|readme)|upgrade dep|backport|sync\b|publish)"
    r"|.*\b(?:prettier|clang-format|gofmt|black|eslint|pre-commit|typos?|whitespace|spelling|changelog|copyright|dependabot|checkstyle|javadoc)\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|PR|Refs?|Fixe?s?|Close?s?d?|git-svn-id): .*$", re.MULTILINE
)
_NUMBER = re.compile(
    r"\(?(?i:\b[\w.-]+/[\w.-]+|\bGH-?|\bPR ?|\bissue ?)?#\d+\)?|\bGH-\d+|\[[A-Z]+-\d+\]|^[A-Z]+-\d+:?",
    re.MULTILINE,
)
_ADDRESS = re.compile(r"(?s:<!--.*?-->)|<?https?://\S+>?|\S+@\S+\.\w+|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b")
_DOCUMENTATION = frozenset({"doc", "docs", "website", "www", "example", "examples"})
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Commit:
    """A task. `targets` are the hunks: for each, its range in the parent, then the same in copies of its file."""

    repository: str
    sha: str
    query: str
    targets: tuple[tuple[Range, ...], ...]


def query_of_message(message: str) -> str:
    """Return what a commit's message says, on one line."""
    for noise in (_TRAILER, _ADDRESS, _NUMBER):
        message = noise.sub(" ", message)
    return " ".join(message.split())


def read_commit(repository: str, git: str, sha: str) -> Commit | None:
    """Read a commit as a task. None where the filters leave it out."""
    message = _git(git, "show", "-s", "--format=%B", sha)
    query = query_of_message(message)
    words = {word.lower() for word in identifiers(query) if word.lower() not in STOP_WORDS and len(word) > 1}
    if _NO_CHANGE.match(message.partition("\n")[0]) or len(words) < FEWEST_WORDS:
        return None
    sizes = _source_files(git, sha)
    if sizes is None or not 1 <= len(sizes) <= MOST_FILES:
        return None
    diffs = {
        path: _git(git, "diff", "-U0", "-w", "--no-renames", f"{sha}^", sha, "--", path) for path in sizes
    }
    places: dict[tuple[str, int, str], list[Range]] = {}
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        name = path.rpartition("/")[2]
        for first, last, text in _hunks(diffs[path]):
            alike = [
                found
                for (other, _, said), found in places.items()
                if said == text
                and (sizes[path] > LARGEST or other.rpartition("/")[2] == name)
                and all(file != path for file, *_ in found)
            ]
            if alike:
                alike[0].append((path, first, last))
            elif sizes[path] <= LARGEST:
                places[path, first, text] = [(path, first, last)]
    return Commit(repository, sha, query, tuple(map(tuple, places.values()))) if places else None


def _source_files(git: str, sha: str) -> dict[str, int] | None:
    """Return the bytes of each source file that the commit changes; None where it is not a change of one parent's code."""
    if len(_git(git, "show", "-s", "--format=%P", sha).split()) != 1:
        return None
    sizes: dict[str, int] = {}
    fields = _git(git, "diff", "--raw", "-z", "--no-abbrev", "--no-renames", f"{sha}^", sha).split("\0")
    for entry, path in zip(fields[::2], fields[1::2], strict=False):
        if _is_source(path):
            _, _, before, _, status = entry.split(" ")
            if status == "D":
                return None  # moved or deleted: no lines to find
            if status == "M":
                sizes[path] = int(_git(git, "cat-file", "-s", before))
    return sizes


def _is_source(path: str) -> bool:
    parts = path.lower().split("/")
    hidden = any(part.startswith(".") for part in parts)  # no search looks there unless it is told to
    return bool(language_of(path)) and not (hidden or is_test_path(path)) and _DOCUMENTATION.isdisjoint(parts)


def _hunks(diff: str) -> list[tuple[int, int, str]]:
    """Return first and last touched line of the parent's file and the changed text, changes close together joined."""
    joined: list[tuple[int, int, str]] = []
    for part in re.split(r"^(?=@@ )", diff, flags=re.MULTILINE)[1:]:
        header, _, text = part.partition("\n")
        numbers = _HUNK.match(header)
        start, count = int(numbers[1]), int(numbers[2] or 1)
        first, last = (start, start + count - 1) if count else (max(start, 1), start + 1)
        if joined and first - joined[-1][1] <= TOGETHER + 1:
            before = joined.pop()
            first, last, text = before[0], max(last, before[1]), before[2] + text
        joined.append((first, last, text))
    return joined


def judge(slices: Sequence[Slice], targets: Sequence[Sequence[Range]]) -> dict[str, float]:
    """Return the MEASURES of an answer, each from 0 to 1."""
    shown = shown_lines(slices)
    held = [
        max(len(shown[file] & set(range(first, last + 1))) / (last + 1 - first) for file, first, last in hunk)
        for hunk in targets
    ]
    sizes = [hunk[0][2] + 1 - hunk[0][1] for hunk in targets]
    files: dict[str, bool] = defaultdict(bool)
    for hunk in targets:
        files[hunk[0][0]] |= any(shown[file] for file, *_ in hunk)
    return {
        "hunks": sum(1 for share in held if share) / len(held),
        "lines": sum(share * size for share, size in zip(held, sizes, strict=True)) / sum(sizes),
        "any": float(any(held)),
        "files": sum(files.values()) / len(files),
    }


def tasks() -> list[dict[str, Any]]:
    """Return the rows of the frozen list: repository, half, and the commit's full SHA."""
    return [json.loads(line) for line in (TASKS / "commits.jsonl").read_text("utf-8").splitlines()]


def history_of(folder: Path, name: str) -> str:
    """Return the checkout of a repository that has its history. CorpusError where it is not there or shallow."""
    place = folder / name
    if (
        not (place / ".git").exists()
        or _git(str(place), "rev-parse", "--is-shallow-repository").strip() == "true"
    ):
        raise CorpusError(
            f"no history in {place}: python benchmarks/setup_corpora.py --only {name} --full --corpora {folder}"
        )
    return str(place)


def tree_at(git: str, sha: str, folder: str) -> str:
    """Check a commit out in `folder`, a clone of `git` that is made where it is not there; return the folder.

    What strategies were built for the commit before is stale then.
    """
    if not os.path.isdir(os.path.join(folder, ".git")):
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", git, folder], check=True)
    # a mirror may lack some large file that no search would look at: what counts is that the rest is there
    subprocess.run(
        ["git", "-C", folder, "checkout", "-q", "--force", "--detach", sha], capture_output=True, check=False
    )
    _git(folder, "clean", "-q", "-ffdx")
    if _git(folder, "rev-parse", "HEAD") != _git(git, "rev-parse", sha):
        raise SystemExit(f"{folder}: git could not check {sha} out")
    tree_of.cache_clear()
    return folder


def cache_option(parser: argparse.ArgumentParser) -> None:
    """Add --cache."""
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir(), "slicegrep-trees"),
        help="where parents are checked out",
    )


def _git(git: str, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", git, *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _mine(folder: Path, seed: int) -> Iterator[dict[str, Any]]:
    for corpus in corpora():
        if not corpus.sha:
            continue  # a distribution has no history
        git = history_of(folder, corpus.name)
        commits = _git(git, "log", "--no-merges", f"-{NEWEST}", "--format=%H", corpus.sha).split()
        random.Random(f"{seed} {corpus.name}").shuffle(commits)
        found = 0
        while found < PER_REPOSITORY and commits:
            commit = read_commit(corpus.name, git, commits.pop())
            if commit is not None:
                found += 1
                yield {"repository": corpus.name, "half": corpus.half, "commit": commit.sha}


def _run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    chosen = strategies_named(arguments.strategies)
    half = "held-out" if arguments.held_out else "tuning"
    wanted = {
        corpus.name for corpus in corpora([name for name in arguments.only.split(",") if name], half=half)
    }
    for task in tasks():
        name = task["repository"]
        if name not in wanted:
            continue
        git = history_of(arguments.corpora, name)
        commit = read_commit(name, git, task["commit"])
        if commit is None:
            raise SystemExit(
                f"{name} {task['commit']}: the filters leave this commit out; was the list made by another version?"
            )
        root = tree_at(git, f"{commit.sha}^", str(arguments.cache / name))
        for label, build in chosen.items():
            began = time.perf_counter()
            strategy = build(root, code_only=True)
            for cap in map(int, arguments.cap.split(",")):
                scores = judge(strategy.slices(commit.query, cap), commit.targets)
                rows.append({**task, "strategy": label, "cap": cap, **scores})
            print(f"{name} {commit.sha[:10]} {label} {time.perf_counter() - began:.1f} s", file=sys.stderr)
    return rows


def _report(rows: Iterable[dict[str, Any]], seed: int) -> None:
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["half"], row["cap"], row["strategy"]].append(row)
    for (half, cap), entries in _grouped(groups):
        print(
            f"\n{half}, {cap} tokens, mean over {len(entries[0][1])} commits, 95% interval of hunks by commit, seed {seed}"
        )
        print(f"{'':28}{'hunks':>7}  {'interval':13}" + "".join(f"{m:>7}" for m in MEASURES[1:]))
        for strategy, found in entries:
            mean, low, high = interval([row["hunks"] for row in found], seed)
            others = "".join(f"{sum(row[m] for row in found) / len(found):7.1%}" for m in MEASURES[1:])
            print(f"{strategy:28}{mean:7.1%}  {low:5.1%}-{high:5.1%}  {others}")
        names = sorted({row["repository"] for _, found in entries for row in found})
        print(f"{'hunks':28}" + "".join(f"{name[:9]:>10}" for name in names))
        for strategy, found in entries:
            means = [[row["hunks"] for row in found if row["repository"] == name] for name in names]
            print(f"{strategy:28}" + "".join(f"{sum(m) / len(m):10.0%}" for m in means))


def _grouped(
    groups: Mapping[tuple[str, int, str], list[dict[str, Any]]],
) -> Iterator[tuple[tuple[str, int], list[tuple[str, list[dict[str, Any]]]]]]:
    tables: dict[tuple[str, int], list[tuple[str, list[dict[str, Any]]]]] = defaultdict(list)
    for (half, cap, strategy), rows in groups.items():
        tables[half, cap].append((strategy, rows))
    yield from sorted(tables.items())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("mine", "run"):
        command = commands.add_parser(name)
        add_corpora_option(command)
        command.add_argument("--seed", type=int, default=SEED)
    cache_option(command)
    command.add_argument("--held-out", action="store_true", help="the half that constants were not chosen on")
    command.add_argument("--only", default="", metavar="A,B", help="these corpora alone")
    add_strategy_option(command, "all")
    command.add_argument(
        "--cap", default="2500,7500", metavar="A,B", help="tokens of an answer, comma-separated"
    )
    command.add_argument("--rows", type=Path, help="write each answer's scores to this file, as JSON lines")
    arguments = parser.parse_args()
    try:
        if arguments.command == "mine":
            for row in _mine(arguments.corpora, arguments.seed):
                print(json.dumps(row), flush=True)
            return
        rows = _run(arguments)
    except (CorpusError, LookupError) as error:
        parser.error(str(error))
    if arguments.rows:
        arguments.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _report(rows, arguments.seed)


if __name__ == "__main__":
    main()
