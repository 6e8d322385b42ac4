"""How right the graph's parser tier is: its callers and callees against those that a SCIP index has.

    python benchmarks/graph.py TREE SCIP_FILE [TREE SCIP_FILE ...]

For every definition that the SCIP index knows, in files whose content is what the indexer saw, the edges of the parser tier
are compared with those of the SCIP tier; edges to other files do not count on either side. An edge is two definitions (by file and
qualified name, so that overloads are one). Those that SCIP has not are told apart by the reference that they stand on:

- wrong: SCIP knows what stands in that place, and it is something else (another definition, something external, a variable);
- silent: SCIP says nothing of that place (a receiver whose type it does not know; scip-python then has a local symbol that is
  defined nowhere; of the variable in `{name}` scip-typescript says nothing), or does not know that definition (scip-python
  takes a class with a built-in's name for the built-in), so nobody can tell.

`precision` counts the silent ones out, `strict` counts them as wrong. Micro: over all edges; macro: the mean over definitions with an
edge of that tier. `--wrong N` lists edges that are wrong, `--missed N` those that are missing.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
sys.path.insert(0, str(PLUGIN))

from slicegrep.graph.parser_tier import ParserTier  # noqa: E402 (the package beside this file, not an installed one)
from slicegrep.graph.scip import ScipFile  # noqa: E402
from slicegrep.graph.scip_match import facts_of  # noqa: E402
from slicegrep.graph.scip_store import take  # noqa: E402
from slicegrep.graph.scip_tier import ScipTier  # noqa: E402
from slicegrep.index import open_view  # noqa: E402
from slicegrep.types import Outline  # noqa: E402

if TYPE_CHECKING:
    from slicegrep.graph import Edge
    from slicegrep.index import View

BANDS = (0.8, 0.5, 0.0)
SECONDS = 60.0
"""For one question: no answer is cut off."""
CALLABLE = frozenset({"function", "method", "constructor"})
SURE = 1.0
"""SCIP edges below are guesses about overriding methods, and no truth."""

IDENTIFIER = re.compile(r"[^\W\d$][\w$]*|\$[\w$]*")

Key = tuple[str, str]
"""A definition: its file's path and its qualified name, "" for the module level."""


@dataclass
class Count:
    """Edges of one way and band."""

    right: int = 0
    wrong: int = 0
    silent: int = 0
    found: int = 0
    """Edges of SCIP that the parser tier has in this band."""
    there: int = 0
    """Edges of SCIP."""
    precisions: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def row(self) -> str:
        """Return the figures in the order of the head."""
        numbers = (
            _share(self.right, self.right + self.wrong),
            _mean(self.precisions),
            _share(self.right, self.right + self.wrong + self.silent),
            _share(self.found, self.there),
            _mean(self.recalls),
        )
        shares = "".join(f"{number:10.3f}" for number in numbers)
        return f"{shares}{self.right:8}{self.wrong:7}{self.silent:8}{self.there - self.found:8}"


HEAD = (
    f"{'precision':>10}{'macro':>10}{'strict':>10}{'recall':>10}{'macro':>10}"
    f"{'right':>8}{'wrong':>7}{'silent':>8}{'missed':>8}"
)


class Trial:
    """One tree with its SCIP file."""

    def __init__(self, tree: Path, scip: Path, home: str, listed: argparse.Namespace) -> None:
        self.view: View = open_view(str(tree), home)
        taken = take(str(scip), self.view, home)
        self.scip = ScipTier(self.view, home)
        self.parser = ParserTier(self.view, home)
        self.listed = listed
        self.unknown = self._unknown(scip)
        self.counts: dict[tuple[str, str, float], Count] = defaultdict(Count)
        self.kinds: Counter[str] = Counter()
        self.seconds = [0.0, 0.0]
        print(
            f"{tree.name}: {taken.tool}, {taken.documents} documents, {taken.definitions} definitions,"
            f" {taken.references} references, {len(taken.stale)} of another content, {len(taken.unknown)} unknown"
        )

    def _unknown(self, scip: Path) -> dict[tuple[str, int], set[str]]:
        """Return the names of which SCIP says nothing, by path and line."""
        names: dict[tuple[str, int], set[str]] = defaultdict(set)
        for one in ScipFile(str(scip)).documents():
            row, source = self.view.file_at(one.path), self.view.read(one.path)
            if row is not None and source is not None:
                facts = facts_of(one, source, Outline(source.language, self.view.symbols_of(row.id)))
                for line, name in facts.silent if facts else ():
                    names[one.path, line].add(name)
        return names

    def run(self) -> None:
        """Compare every definition."""
        for file in sorted(self.scip.covered):
            first = self.view.first_symbol[file]
            for symbol in range(first, first + len(self.view.symbols_of(file))):
                self._compare(symbol)

    def _compare(self, symbol: int) -> None:
        until = time.monotonic() + SECONDS
        started = time.process_time()
        callers = self.scip.callers(symbol, until=until)
        callees = self.scip.callees(symbol, until=until)
        self.seconds[0] += time.process_time() - started
        if callers is None or callees is None:
            return
        self.kinds[self.view.symbol(symbol).kind] += 1
        started = time.process_time()
        guessed = self.parser.callers(symbol, until=until)[0], self.parser.callees(symbol, until=until)[0]
        self.seconds[1] += time.process_time() - started
        for way, truth, guesses in (("callers", callers[0], guessed[0]), ("callees", callees[0], guessed[1])):
            self._count(symbol, way, truth, guesses)

    def _count(self, symbol: int, way: str, truth: list[Edge], guesses: list[Edge]) -> None:
        row = self.view.symbol(symbol)
        known = {self._key(edge): edge for edge in truth if edge.confidence >= SURE}
        sure: dict[Key, float] = {}
        judged: dict[Key, str] = {}
        for edge in guesses:
            if edge.file not in self.scip.covered:
                continue
            key = self._key(edge)
            sure[key] = max(sure.get(key, 0.0), edge.confidence)
            if key in known:
                judged[key] = "right"
            elif judged.get(key) != "silent":
                file, name = (edge.file, row.name) if way == "callers" else (row.file, key[1])
                unknown = way == "callees" and self.scip.callers(edge.symbol, until=math.inf) is None
                judged[key] = "silent" if unknown or self._is_silent(file, edge.lines, name) else "wrong"
            if judged[key] == "wrong":
                self._list("wrong", way, symbol, edge)
        for edge in known.values():
            if self._key(edge) not in sure:
                self._list("missed", way, symbol, edge)
        groups = ["all"] + (["functions"] if row.kind in CALLABLE else [])
        for group in groups:
            for band in BANDS:
                self._add(
                    self.counts[way, group, band], known, judged, {k for k, c in sure.items() if c >= band}
                )

    @staticmethod
    def _add(count: Count, known: dict[Key, Edge], judged: dict[Key, str], band: set[Key]) -> None:
        each = Counter(judged[key] for key in band)
        count.right += each["right"]
        count.wrong += each["wrong"]
        count.silent += each["silent"]
        count.there += len(known)
        count.found += each["right"]
        if each["right"] + each["wrong"]:
            count.precisions.append(each["right"] / (each["right"] + each["wrong"]))
        if known:
            count.recalls.append(each["right"] / len(known))

    def _key(self, edge: Edge) -> Key:
        return self._path(edge.file), self.view.symbol(edge.symbol).qualified if edge.symbol >= 0 else ""

    def _path(self, file: int) -> str:
        row = self.view.files[file]
        return row.path if row else ""

    def _is_silent(self, file: int, lines: tuple[int, ...], qualified: str) -> bool:
        """Whether SCIP says nothing of the name in one of these lines; of any name, where it stands there as another."""
        path = self._path(file)
        source = self.view.read(path)
        name = re.split(r"[.:#]+", qualified)[-1]
        for line in lines:
            unknown = self.unknown[path, line]
            if name in unknown or (
                unknown and source and name not in IDENTIFIER.findall(source.lines[line - 1])
            ):
                return True
        return False

    def _list(self, what: str, way: str, symbol: int, edge: Edge) -> None:
        left = getattr(self.listed, what)
        if left <= 0 or (what == "wrong" and edge.confidence < self.listed.least):
            return
        setattr(self.listed, what, left - 1)
        row = self.view.symbol(symbol)
        lines = ",".join(map(str, edge.lines[:5]))
        print(
            f"  {what} {way} of {self._path(row.file)}#{row.qualified} ({row.kind}): {'#'.join(self._key(edge))}"
            f" lines {lines} {edge.kind} {edge.confidence}"
        )


def main() -> None:
    """Print a table for each tree and one for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", type=Path, metavar="TREE SCIP_FILE")
    parser.add_argument("--wrong", type=int, default=0, help="list so many wrong edges")
    parser.add_argument("--missed", type=int, default=0, help="list so many missing edges")
    parser.add_argument("--least", type=float, default=0.8, help="of --wrong: the least confidence")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for tree, scip in zip(parsed.pairs[::2], parsed.pairs[1::2], strict=True):
            trial = Trial(tree, scip, home, parsed)
            trial.run()
            kinds = ", ".join(f"{kind} {count}" for kind, count in trial.kinds.most_common(8))
            print(f"compared: {kinds}; CPU scip {trial.seconds[0]:.1f} s, parser {trial.seconds[1]:.1f} s")
            _print(trial.counts)


def _print(counts: dict[tuple[str, str, float], Count]) -> None:
    print(f"{'':28}{HEAD}")
    for group in ("all", "functions"):
        for way in ("callers", "callees"):
            for band in BANDS:
                print(f"{group:10}{way:9}{f'>= {band}' if band else 'any':9}{counts[way, group, band].row()}")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


if __name__ == "__main__":
    main()
