"""What the files of an index say of themselves, whatever is asked: their names, what they are for, who mentions them."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, proxy

from slicegrep.index.terms import path_stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slicegrep.index import View

__all__ = ["PLATFORMS", "FileFacts", "facts_of", "idf"]

DOCUMENT = 0.3
CONFIG = 0.2
ASIDE = 0.3
"""Factors of documentation and examples, configuration, and vendored, generated or minified code."""
TEST = 0.4
"""Factor of a test, unless asked for."""
DESCRIBES = 0.1
RUNS_SHARE = 0.5
"""A file that only describes (types, constants, declarations) counts DESCRIBES less than one with RUNS_SHARE of its
lines in functions."""

_PLATFORM_NAMES = """
win win32 win64 windows linux darwin mac macos osx aix bsd freebsd openbsd netbsd sunos solaris android
ios os390 ibmi cygwin mingw haiku qnx hurd wasm wasi
"""
PLATFORMS = frozenset(_PLATFORM_NAMES.split())
"""Names of one platform; `unix` and `posix` are not among them: what stands there is the general case."""
_PLATFORM = re.compile(
    r"(?:^|[/_.-])(?:" + "|".join(sorted(PLATFORMS, key=len, reverse=True)) + r")(?=[/_.-])", re.IGNORECASE
)
_PATHS = (
    200_000  # of which the stems are kept: a tree that changes gets a new view, with mostly the same paths
)


class FileFacts:
    """The facts of one view. What goes by file id is of no use for files that are not there."""

    def __init__(self, view: View) -> None:
        self._view: View = proxy(view)  # itself it would keep the view, and with it the facts, for good
        self.rarity: dict[str, float] = {}
        """Of keys that were looked up."""
        labels = view.columns.labels
        self.factors = [_factor(label.kind, label.flags) for label in labels]
        """Of files by the place of their label, whatever became of the file."""
        self.lowered = [
            factor * (TEST if "test" in label.flags else 1.0)
            for factor, label in zip(self.factors, labels, strict=True)
        ]
        """`factors` where tests are not asked for."""
        mentions = view.columns.mentions
        self._mentions = mentions
        self._most = math.log1p(max(compress(mentions, view.there), default=0.0)) or 1.0
        self._names: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._runs: dict[int, float] = {}

    def rare(self, key: str) -> float:
        """Return BM25's inverse document frequency of a key, a chunk being a document."""
        known = self.rarity.get(key)
        if known is None:
            self.look_up([key])
            known = self.rarity[key]
        return known

    def look_up(self, keys: Iterable[str]) -> None:
        """Look up how rare many keys are at once."""
        view = self._view
        missing = {key for key in keys if key not in self.rarity}
        if missing:
            counts = view.holders.chunks_holding(missing)
            self.rarity.update({key: idf(count, view.chunk_count) for key, count in counts.items()})

    def central(self, file: int) -> float:
        """Return how much the other files mention what a file defines, as a share of the most, by the logarithm."""
        return math.log1p(self._mentions[file]) / self._most

    def names(self, file: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the stems of a file's name, and those with its folders'."""
        known = self._names.get(file)
        if known is None:
            known = self._names[file] = _names_of(self._view.columns.paths[file])
        return known

    def called(self, part: str) -> Sequence[int]:
        """Return the files whose `names` hold a stem."""
        return self._view.holders.files_on_path(part)

    def platform(self, file: int) -> bool:
        """Return whether a file is for one platform."""
        return _is_for_platform(self._view.columns.paths[file])

    def runs(self, file: int) -> float:
        """Return the factor for how much of a file is functions."""
        known = self._runs.get(file)
        if known is None:
            lines = self._view.outlined(file).lines_in_functions()
            share = min(lines / max(self._view.columns.lines[file], 1) / RUNS_SHARE, 1.0)
            known = self._runs[file] = 1 - DESCRIBES * (1 - share)
        return known


_KNOWN: WeakKeyDictionary[View, FileFacts] = WeakKeyDictionary()


def facts_of(view: View) -> FileFacts:
    """Return the facts of a view, which are gathered once."""
    known = _KNOWN.get(view)
    if known is None:
        known = _KNOWN[view] = FileFacts(view)
    return known


def idf(holding: int, count: int) -> float:
    """BM25's inverse document frequency (Robertson and Zaragoza 2009), never negative."""
    return math.log(1 + (max(count - holding, 0) + 0.5) / (holding + 0.5))


@lru_cache(maxsize=_PATHS)
def _names_of(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return path_stems(path)


@lru_cache(maxsize=_PATHS)
def _is_for_platform(path: str) -> bool:
    return _PLATFORM.search(path) is not None


@lru_cache(maxsize=1024)
def _factor(kind: str, flags: frozenset[str]) -> float:
    factor = {"docs": DOCUMENT, "config": CONFIG}.get(kind, 1.0)
    if "docs" in flags and kind == "code":
        factor *= DOCUMENT
    return factor if flags.isdisjoint(("vendored", "generated", "minified")) else factor * ASIDE
