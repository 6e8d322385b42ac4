"""The graph that a view is asked by: callers, callees, tests, module and impact, from both tiers, with what is missing."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from slicegrep.graph.answers import Envelope, Found, Impact, Reached
from slicegrep.graph.definitions import owner_of
from slicegrep.graph.edges import in_order, merged
from slicegrep.graph.facts import IMPORT
from slicegrep.graph.scip_tier import OUT_OF_TIME, ScipTier
from slicegrep.languages import is_test_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slicegrep.graph.answers import Edge
    from slicegrep.graph.parser_tier import ParserTier
    from slicegrep.index import View

__all__ = ["Graph"]

_TEST_DEPTH = 3
"""Edges between a definition and the tests that `tests` finds."""
_TEST_CONFIDENCE = 0.5
_MOST_TESTS = 500
"""Definitions that `tests` looks through."""
_TEST = re.compile(r"\b_*[Tt]est|(?:T|_t)ests?\b|^(?:Benchmark|Example|Fuzz)")
"""In the qualified name of a test, or of the class that holds it."""
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
"""Folders that are no part of a Python module's name."""


class Graph:
    """The definitions of a view and the references between them. `until` is a time of time.monotonic()."""

    def __init__(self, view: View, home: str) -> None:
        self._view = view
        self._home = home
        self._scip = ScipTier(view, home)

    @cached_property
    def _parser(self) -> ParserTier:
        from slicegrep.graph.parser_tier import ParserTier  # noqa: PLC0415 (not where SCIP knows it all)

        return ParserTier(self._view, self._home)

    def callers(self, symbol: int, *, until: float) -> Found:
        """Return who refers to a definition: by SCIP in the files that it covers, by the parser in the others."""
        row = self._view.symbol(symbol)
        known = self._scip.callers(symbol, until=until)
        if known is None:
            edges, causes = self._parser.callers(symbol, until=until)
            edges = [kept for one in edges if (kept := self._unresolved(one, one.file, row.name))]
            return self._found(edges, [*self._not_by_scip(row.file), *causes], "parser")
        edges, causes = known
        holding = {
            file for file in self._view.holders.files_with(self._scip.names(symbol)) if self._is_code(file)
        }
        outside = holding - self._scip.covered
        if not outside:
            return self._found(edges, causes, "scip")
        more, guessed = self._parser.callers(symbol, until=until, skip=self._scip.covered)
        causes = [
            *causes,
            *_outside(len(outside & self._scip.stale), len(outside - self._scip.stale)),
            *guessed,
        ]
        return self._found([*edges, *more], causes, "scip+parser" if more else "scip")

    def callees(self, symbol: int, *, until: float) -> Found:
        """Return what a definition refers to: by SCIP where its file is covered, and by the parser what SCIP lacks."""
        row = self._view.symbol(symbol)
        known = self._scip.callees(symbol, until=until)
        if known is None:
            edges, causes = self._parser.callees(symbol, until=until)
            return self._found(edges, [*self._not_by_scip(row.file), *causes], "parser")
        edges, causes = known
        if all(file in self._scip.covered for file in self._code):
            return self._found(edges, causes, "scip")
        guesses, guessed = self._parser.callees(symbol, until=until)
        more = [
            kept
            for one in guesses
            if one.file not in self._scip.covered
            and (kept := self._unresolved(one, row.file, self._name(one.symbol)))
        ]
        return self._found(
            [*edges, *more], [*causes, *(guessed if more else ())], "scip+parser" if more else "scip"
        )

    def tests(self, symbol: int, *, until: float) -> Found:
        """Return the test code that reaches a definition, itself or through other definitions (three edges at most).

        Tests come before what helps them, direct ones before others, those that are called like the definition or its file first.
        """
        reached, envelope, _ = self._walked(
            symbol, depth=_TEST_DEPTH, most=_MOST_TESTS, least_confidence=_TEST_CONFIDENCE, until=until
        )
        own = self._view.symbol(symbol)
        names = {_plain(own.name), _plain(_stem(self._path(own.file)))}

        def rank(one: Reached) -> tuple[bool, int, bool, float, str, tuple[int, ...]]:
            edge = one.edge
            path = self._path(edge.file)
            called = _plain(f"{_stem(path)} {self._qualified(edge.symbol)}")
            alike = any(len(name) > 2 and name in called for name in names)
            return not self._runs(edge), one.depth, not alike, -edge.confidence, path, edge.lines

        tests = sorted((one for one in reached if one.is_test), key=rank)
        return Found(tuple(one.edge for one in tests), envelope)

    def module(self, symbol: int, prefix: str = "") -> str:
        """Return the name of the module that a definition is in: dotted in Python, else the path without its suffix.

        It names nothing above the folder `prefix` ("" or ending in `/`), which is to hold the definition.
        """
        row = self._view.files[self._view.symbol_file[symbol]]
        if row is None:
            return ""
        path = row.path.removeprefix(prefix)
        stem, dot, _ = path.rpartition(".")
        stem = stem if dot else path
        if row.language != "python":
            return stem
        parts = stem.split("/")
        top = len(parts) - 1
        while top and self._view.file_at(prefix + "/".join([*parts[:top], "__init__.py"])):
            top -= 1
        if top == len(parts) - 1:  # in no package: a script, or a namespace's
            top = int(top > 0 and parts[0] in _SOURCE_FOLDERS)
        names = parts[top:]
        return ".".join(names[:-1] if len(names) > 1 and names[-1] == "__init__" else names)

    def impact(self, symbol: int, *, depth: int, most: int, least_confidence: float, until: float) -> Impact:
        """Return what depends on a definition, nearest first: by `depth` edges at most, each as sure as is asked.

        `most` bounds the definitions that are returned. What is reached twice is there once, by the shortest way. A file
        that only imports is there at depth 1, and is no test.
        """
        reached, envelope, ended = self._walked(
            symbol, depth=depth, most=most, least_confidence=least_confidence, until=until
        )
        if not ended:
            causes = (*envelope.causes, f"nothing beyond depth {depth} was looked at")
            envelope = replace(envelope, epistemic="lower_bound", causes=causes)
        return Impact(tuple(reached), envelope)

    def is_test(self, file: int) -> bool:
        """Whether a file of the view holds tests."""
        row = self._view.files[file]
        return row is not None and ("test" in row.flags or is_test_path(row.path))

    def is_of(self, symbol: int, other: int) -> bool:
        """Whether a definition is a member of another one: inside it, or by its name (Go's methods)."""
        row = self._view.symbol(symbol)
        return other >= 0 and (
            row.parent == other or owner_of(row.qualified, row.name) == self._view.symbol(other).qualified
        )

    def _walked(
        self, symbol: int, *, depth: int, most: int, least_confidence: float, until: float
    ) -> tuple[list[Reached], Envelope, bool]:
        """Return what is reached, what is known of its completeness, and whether nothing lies deeper."""
        reached: list[Reached] = []
        seen = {(symbol, self._view.symbol_file[symbol])}
        open_symbols = deque([(symbol, 1)])
        causes: dict[str, None] = {}
        tiers: set[str] = set()
        ended = True
        while open_symbols:
            at, level = open_symbols.popleft()
            if time.monotonic() > until:
                causes[OUT_OF_TIME] = None
                break
            found = self.callers(at, until=until)
            tiers.update(found.envelope.tier.split("+"))
            causes.update(dict.fromkeys(found.envelope.causes))
            using = {edge.file for edge in found.edges if edge.kind != IMPORT}
            for edge in found.edges:
                key = (edge.symbol, edge.file)
                is_test = self.is_test(edge.file)
                if key in seen or (edge.kind == IMPORT and (level > 1 or is_test or edge.file in using)):
                    continue
                if edge.confidence < least_confidence:
                    causes[f"edges of a confidence below {least_confidence:g} are left out"] = None
                    continue
                if len(reached) == most:
                    causes[f"only the nearest {most} were looked at"] = None
                    open_symbols.clear()
                    break
                seen.add(key)
                reached.append(Reached(edge, level, at, is_test))
                if edge.symbol >= 0 and level < depth:
                    open_symbols.append((edge.symbol, level + 1))
                ended = ended and (level < depth or edge.symbol < 0 or (is_test and self._runs(edge)))
        tier = "scip+parser" if len(tiers) > 1 else next(iter(tiers), "parser")
        told = merged(causes)
        return reached, Envelope("lower_bound" if told else "complete", tier, told), ended

    def _unresolved(self, edge: Edge, file: int, name: str) -> Edge | None:
        """Return a guess without the lines of `file` at which SCIP knows another definition of that name."""
        lines = self._scip.resolved(file, name).intersection(edge.lines)
        if not lines:
            return edge
        left = tuple(line for line in edge.lines if line not in lines)
        return replace(edge, lines=left) if left else None

    def _name(self, symbol: int) -> str:
        return self._view.symbol_name(symbol) if symbol >= 0 else ""

    @property
    def _code(self) -> Iterable[int]:
        return (row.id for row in self._view.files if row is not None and self._is_code(row.id))

    def _is_code(self, file: int) -> bool:
        row = self._view.files[file]
        return row is not None and row.kind == "code" and bool(row.language)

    def _runs(self, edge: Edge) -> bool:
        """Whether what is in a test file is a test, by its name, and not what helps one. Calls at module level are
        (`it("...", () => ...)`).
        """  # noqa: D205
        return edge.symbol < 0 or _TEST.search(self._qualified(edge.symbol)) is not None

    def _qualified(self, symbol: int) -> str:
        return self._view.symbol(symbol).qualified if symbol >= 0 else ""

    def _path(self, file: int) -> str:
        row = self._view.files[file]
        return row.path if row is not None else ""

    def _not_by_scip(self, file: int) -> list[str]:
        return (
            ["scip tier: the file has changed since its index was made"] if file in self._scip.stale else []
        )

    def _found(self, edges: Iterable[Edge], causes: Iterable[str], tier: str) -> Found:
        known = merged([*self._scip.causes, *causes])
        envelope = Envelope("lower_bound" if known or tier != "scip" else "complete", tier, known)
        return Found(in_order(self._view, edges), envelope)


def _outside(stale: int, absent: int) -> list[str]:
    causes = []
    if stale:
        causes.append(f"scip tier: {stale} of the files with that name changed since their index was made")
    if absent:
        causes.append(f"scip tier: {absent} of the files with that name are in no index")
    return causes


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _plain(name: str) -> str:
    """Return a name as it is compared: `test_add_item` is called like `addItem`."""
    return name.replace("_", "").lower()
