"""The graph by the parser: who refers to a definition and what it refers to, resolved by names, imports and types."""

from __future__ import annotations

import os
import posixpath
import re
import time
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, proxy, ref

from slicegrep.graph.definitions import around, constructors_of, is_inside
from slicegrep.graph.edges import Mention, edges_of, in_order
from slicegrep.graph.facts import FileFacts
from slicegrep.graph.kept import kept_of
from slicegrep.graph.modules import as_indexed
from slicegrep.graph.resolve import Resolver
from slicegrep.graph.uses import LONG_LINES, TOO_LONG, facts_of
from slicegrep.languages import LANGUAGES

try:  # as in source.py
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slicegrep.graph.answers import Edge
    from slicegrep.graph.facts import Use
    from slicegrep.index import SymbolRow, View

__all__ = ["CHANGED", "DYNAMIC", "ParserTier"]

DYNAMIC = "parser tier: dynamic calls are not resolved"
CHANGED = "parser tier: a file was left out, for it changed after the index had looked"
_WRITTEN_AT_ONCE = 64
"""Files whose facts are written together: a transaction takes about as long as parsing one."""
_MOST_USES = 300_000
"""References of one view's files that are at hand without asking `kept` (shared with it)."""
_MOST_TARGETS = 200_000
"""Resolved references of one view."""
_LEAST = 0.05
"""Less sure edges are not worth a line."""


class ParserTier:
    """The edges of one view. Any thread may ask; what was resolved is kept as long as the view."""

    def __init__(self, view: View, home: str) -> None:
        self._view = view
        views = _known.setdefault((os.getpid(), home), WeakKeyDictionary())
        state = views.get(view)
        if state is None:
            state = views[view] = _State(view, home)
        self._state = state
        self._resolver = state.resolver

    def callers(
        self, symbol: int, *, until: float, skip: frozenset[int] = frozenset()
    ) -> tuple[list[Edge], list[str]]:
        """Return the definitions that refer to one, the surest first, and why there may be more.

        Looks until `until` (of time.monotonic) and not into the files of `skip`.
        """
        row = self._view.symbol(symbol)
        wanted = self._names_of(row)
        asked: set[str] = set()
        done: set[int] = set(skip)
        late, causes = 0, [DYNAMIC, *self._state.left_out]
        found: list[Mention] = []
        while wanted - asked:
            files = [file for file in self._candidates(row, wanted - asked) if file not in done]
            asked |= wanted
            for at, file in enumerate(files):
                if time.monotonic() > until:
                    late += len(files) - at
                    break
                done.add(file)
                facts = self._state.facts_of(file)
                causes += facts.causes
                found += self._looked(file, facts, symbol, wanted)
                wanted |= self._passed_on(file, facts, symbol, wanted)
        self._state.write()
        if late:
            causes.append(f"{late} of {late + len(done - skip)} files were not looked at in time")
        return self._edges(found), list(dict.fromkeys(causes))

    def _looked(self, file: int, facts: FileFacts, symbol: int, wanted: set[str]) -> Iterator[Mention]:
        """Yield the references of a file to a definition that has one of these names in other files."""
        names = wanted | {
            one.local
            for one in facts.bindings
            if one.name in wanted or (not one.name and "default" in wanted)
        }
        for use in facts.uses:
            if use.name in names:
                sure = self._state.targets(file, use).get(symbol, 0.0)
                if sure >= _LEAST:
                    yield Mention(around(self._view, file, use.line), file, use.line, use.kind, sure)

    def _passed_on(self, file: int, facts: FileFacts, symbol: int, wanted: set[str]) -> set[str]:
        """Return other names under which a file gives the definition to whoever imports them from it."""
        return {
            one.local
            for one in facts.bindings
            if one.exported
            and one.local not in wanted
            and one.name in wanted
            and symbol in self._state.resolver.meanings.exported(file, one.local).symbols
        }

    def callees(self, symbol: int, *, until: float) -> tuple[list[Edge], list[str]]:
        """Return the definitions that one refers to, the surest first, and why there may be more."""
        row = self._view.symbol(symbol)
        causes = [DYNAMIC]
        facts = self._state.facts_of(row.file)
        causes += facts.causes
        found: list[Mention] = []
        for use in facts.uses:
            if time.monotonic() > until:
                causes.append("1 of 1 files were not looked at in time")
                break
            if row.start <= use.line <= row.end:
                for target, sure in self._state.targets(row.file, use).items():
                    if sure >= _LEAST and not is_inside(self._view, target, symbol):
                        file = self._view.symbol_file[target]
                        found.append(Mention(target, file, use.line, use.kind, sure))
        self._state.write()
        return self._edges(found), list(dict.fromkeys(causes))

    # Candidates

    def _names_of(self, row: SymbolRow) -> set[str]:
        names, definitions = {row.name}, self._resolver.definitions
        if row.name in constructors_of(definitions.language(row.file)) or row.kind == "constructor":
            owner = re.split(r"[.:#\\]+", definitions.owner(row.id))[-1]
            names |= {owner} - {""}
        if row.parent < 0:
            for one in self._state.facts_of(row.file).bindings:
                if one.exported and one.name.rpartition(".")[2] in names:
                    names.add(one.local)
        return names

    def _candidates(self, row: SymbolRow, wanted: Iterable[str]) -> list[int]:
        """Return the files that may refer to a definition, its own first, then the nearest."""
        own = self._view.files[row.file]
        if own is None:
            return []
        spelled = set(wanted)
        if "default" in spelled:  # whoever imports the file names it as it likes
            stem = posixpath.basename(own.path).partition(".")[0]
            spelled.add(stem if stem != "index" else posixpath.basename(posixpath.dirname(own.path)) or stem)
        files = [
            file
            for file in self._view.holders.files_with(spelled) | {row.file}
            if (other := self._view.files[file]) is not None and other.language in LANGUAGES
        ]
        folder = posixpath.dirname(own.path)
        near = {file: len(posixpath.commonprefix([folder, self._path(file)])) for file in files}
        return sorted(files, key=lambda file: (file != row.file, -near[file], file))

    def _path(self, file: int) -> str:
        row = self._view.files[file]
        return row.path if row is not None else ""

    def _edges(self, found: Iterable[Mention]) -> list[Edge]:
        return list(in_order(self._view, edges_of(found, "parser")))


class _State:
    """What is known of one view: the facts of its files, and what their references were resolved to."""

    def __init__(self, view: View, home: str) -> None:
        self._view = ref(view)
        self._kept = kept_of(view.root, home)
        self._facts: dict[int, FileFacts] = {}
        self._held = 0
        self._new: dict[str, FileFacts] = {}
        self._lock = Lock()
        self._resolving = Lock()  # what is being resolved counts as unknown: another thread must not see that
        self._targets: dict[tuple[int, Use], dict[int, float]] = {}
        flagged = [
            row
            for row in view.files
            if row is not None and "minified" in row.flags and row.language in LANGUAGES
        ]
        self.left_out = (LONG_LINES,) if flagged else ()
        """Why references may be missing whatever is asked."""
        self.resolver = Resolver(proxy(view), self.facts_of)

    def targets(self, file: int, use: Use) -> dict[int, float]:
        """Return what a reference was resolved to."""
        known = self._targets.get((file, use))
        if known is None:
            with self._resolving:
                known = self.resolver.targets(file, use)
            if len(self._targets) >= _MOST_TARGETS:
                self._targets = {}
            self._targets[file, use] = known
        return known

    def facts_of(self, file: int) -> FileFacts:
        """Return the facts of a file, by its content in the view; without any where it has another by now."""
        facts = self._facts.get(file)
        if facts is None:
            facts = self._looked_up(file)
            if self._held > _MOST_USES:
                self._facts, self._held = {}, 0
            self._facts[file] = facts
            self._held += len(facts.uses) + 50
        return facts

    def _looked_up(self, file: int) -> FileFacts:
        view = self._view()
        row = view.files[file] if view is not None else None
        if view is None or row is None or row.language not in LANGUAGES or "minified" in row.flags:
            return FileFacts()
        how = f"{view.digest(file)} {row.language} {posixpath.splitext(row.path)[1]}"
        key = blake2b(how.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        facts = self._kept.get([key]).get(key)
        if facts is not None:
            return facts
        source = as_indexed(view, file)
        if source is None:
            return FileFacts(causes=(CHANGED,))
        facts = facts_of(source)
        if TOO_LONG in facts.causes:  # another time the machine may be less busy
            return facts
        with self._lock:
            self._new[key] = facts
        if len(self._new) >= _WRITTEN_AT_ONCE:
            self.write()
        return facts

    def write(self) -> None:
        """Write what was found since the last time."""
        with self._lock:
            new, self._new = self._new, {}
        if new:
            self._kept.put(new)


_known: dict[tuple[int, str], WeakKeyDictionary[View, _State]] = {}
"""By process (see kept), home and view."""
