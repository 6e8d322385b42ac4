"""The two small projects of tests/cases that have a SCIP index made by a real indexer, as workspaces of a test."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from slicegrep.graph import Edge, Graph
from slicegrep.graph.scip_store import Taken, take
from slicegrep.graph.scip_tier import ScipTier
from slicegrep.index import View, open_view

__all__ = ["CASES", "Shop", "soon"]

CASES = Path(__file__).resolve().parent / "cases"


class Shop:
    """A copy of a project under a folder of its own, and a home beside it."""

    def __init__(self, folder: Path, language: str, inside: str = "") -> None:
        self.home = folder / "home"
        self.tree = folder / "tree"
        (self.tree / ".git").mkdir(parents=True, exist_ok=True)
        self.project = self.tree / inside
        case = CASES / f"scip_{language}"
        shutil.copytree(case, self.project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("index.scip"))
        self.scip = case / "index.scip"

    def view(self) -> View:
        """Return the index as the files are now."""
        return open_view(str(self.tree), str(self.home))

    def take(self, scip: Path | None = None, folder: str = "") -> Taken:
        """Take a SCIP file in, the project's own one."""
        return take(str(scip or self.scip), self.view(), str(self.home), folder)

    def tier(self) -> ScipTier:
        """Return the SCIP tier of the present view."""
        return ScipTier(self.view(), str(self.home))

    def graph(self) -> Graph:
        """Return the graph of the present view."""
        return Graph(self.view(), str(self.home))

    def symbol(self, qualified: str, path: str = "") -> int:
        """Return the last definition with a qualified name, in a file if one is named."""
        view = self.view()
        ids = [
            view.first_symbol[row.id] + at
            for row in view.files
            if row is not None and row.path.endswith(path)
            for at, one in enumerate(view.symbols_of(row.id))
            if one.qualified == qualified
        ]
        assert ids, f"no {qualified}"
        return ids[-1]

    def told(self, edges: list[Edge] | tuple[Edge, ...]) -> set[tuple[str, tuple[int, ...], str]]:
        """Return edges as file#name, lines and kind."""
        view = self.view()
        found = set()
        for edge in edges:
            row = view.files[edge.file]
            assert row is not None
            name = view.symbol(edge.symbol).qualified if edge.symbol >= 0 else ""
            found.add((f"{row.path}#{name}", edge.lines, edge.kind))
        return found

    def callers(self, qualified: str, path: str = "") -> set[tuple[str, tuple[int, ...], str]]:
        """Return the callers that the SCIP tier has."""
        found = self.tier().callers(self.symbol(qualified, path), until=soon())
        assert found is not None
        return self.told(found[0])

    def callees(self, qualified: str, path: str = "") -> set[tuple[str, tuple[int, ...], str]]:
        """Return the callees that the SCIP tier has."""
        found = self.tier().callees(self.symbol(qualified, path), until=soon())
        assert found is not None
        return self.told(found[0])


def soon() -> float:
    """Return a time that no test reaches."""
    return time.monotonic() + 60
