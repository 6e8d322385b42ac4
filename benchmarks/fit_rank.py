#!/usr/bin/env python3
"""Fit the weights of slicegrep.rank on real commits: a conditional logit over each file's lines.

    python benchmarks/fit_rank.py SESSIONS.jsonl --repos DIR [--l2 0.003]

SESSIONS.jsonl has one object a line: `repo` (owner/name), `sha`, `path`, `msg`, and `hunks` ([[first, last], ...], the lines
of the file before the commit that it touches). DIR holds owner+name/repo, owner+name, name or name.git. For each session
the chance of a line is a softmax over the file's lines; the likelihood of the touched lines is maximised with a small
quadratic penalty. Printed: the likelihood with each repository left out in turn, then the weights fitted on all.
Needs numpy and scipy. Fit on repositories that no published figure is measured on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep.focus import Said, focus_of
from slicegrep.prepared import Prepared
from slicegrep.rank import WEIGHTS, features
from slicegrep.source import source_of

SHORTEST = 6
"""Characters, stripped, of a touched line that counts: braces are touched by accident."""
FIXED = ("reference",)
"""Features that commits say nothing about."""
NAMES = [name for name in WEIGHTS if name not in FIXED]


@dataclass(frozen=True)
class Case:
    """One session: a row of `values` for each line, and the share of the touched lines that it is (sums to 1)."""

    repo: str
    values: np.ndarray
    touched: np.ndarray


def read_case(row: dict, repos: Path) -> Case | None:
    """Return a session's case; None where no touched line counts or the repository is not there."""
    owner, name = row["repo"].split("/")
    places = (
        repos / f"{owner}+{name}" / "repo",
        repos / f"{owner}+{name}",
        repos / name,
        repos / f"{name}.git",
    )
    repo = next((place for place in places if place.exists()), None)
    if repo is None:
        return None
    spec = f"{row['sha']}~1:{row['path']}"
    blob = subprocess.run(["git", "-C", repo, "show", spec], capture_output=True, check=True).stdout
    source = source_of(row["path"], blob)
    if source is None:
        return None
    touched = np.zeros(len(source.lines))
    for first, last in row["hunks"]:
        touched[max(first - 1, 0) : last] = 1
    touched *= [len(line.strip()) >= SHORTEST for line in source.lines]
    if not touched.any():
        return None
    focus = focus_of([Said(row["msg"], 1.0)], stem_of_file=PurePosixPath(row["path"]).stem)
    columns, _ = features(Prepared(source), focus)
    return Case(row["repo"], np.array([columns[name] for name in NAMES]).T, touched / touched.sum())


def chances(case: Case, weights: np.ndarray) -> np.ndarray:
    """Return the chance of each line."""
    scores = case.values @ weights
    odds = np.exp(scores - scores.max())
    return odds / odds.sum()


def fit(cases: list[Case], l2: float) -> np.ndarray:
    """Return the weights that make the touched lines likeliest."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros_like(weights)
        for case in cases:
            chance = chances(case, weights)
            total -= case.touched @ np.log(chance)
            slope -= case.values.T @ (case.touched - chance)
        return total / len(cases) + l2 * weights @ weights, slope / len(cases) + 2 * l2 * weights

    return minimize(loss, np.zeros(len(NAMES)), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x


def likelihood(cases: list[Case], weights: np.ndarray) -> float:
    """Return the mean log chance of a touched line."""
    return float(np.mean([case.touched @ np.log(chances(case, weights)) for case in cases]))


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sessions", type=Path)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--l2", type=float, default=0.003)
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.sessions.read_text().splitlines()]
    cases = [case for case in (read_case(row, given.repos) for row in rows) if case]
    repos = sorted({case.repo for case in cases})
    uniform = -float(np.mean([np.log(len(case.touched)) for case in cases]))
    print(
        f"{len(cases)} sessions of {len(repos)} repositories; mean log chance of a touched line, uniform: {uniform:.3f}"
    )
    held = 0.0
    for repo in repos if len(repos) > 1 else []:
        own = [case for case in cases if case.repo == repo]
        value = likelihood(own, fit([case for case in cases if case.repo != repo], given.l2))
        held += value * len(own) / len(cases)
        print(f"  without {repo}: {value:.3f} ({len(own)})")
    weights = fit(cases, given.l2)
    print(f"left out: {held:.3f}   fitted: {likelihood(cases, weights):.3f}")
    for name, weight in zip(NAMES, weights, strict=True):
        print(f"  {name:14} {weight:6.2f}   (in use: {WEIGHTS[name]})")


if __name__ == "__main__":
    main()
