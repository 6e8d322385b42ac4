"""What the files of an index say of themselves, whatever is asked: their names, what they are for, who mentions them."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, proxy

from slicegrep.index.terms import path_stems

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """The facts of one view. Lists go by file id; replaced files have empty entries."""

    def __init__(self, view: View) -> None:
        self._view: View = proxy(view)  # itself it would keep the view, and with it the facts, for good
        self.rarity: dict[str, float] = {}
        """Of keys that were looked up."""
        self.factor: list[float] = []
        self.lowered: list[float] = []
        """`factor` where tests are not asked for."""
        central: list[float] = []
        for row in view.files:
            factor = _factor(row.kind, row.flags) if row is not None else 0.0
            self.factor.append(factor)
            self.lowered.append(factor * TEST if row is not None and "test" in row.flags else factor)
            central.append(math.log1p(row.mentions) if row is not None else 0.0)
        most = max(central, default=0.0) or 1.0
        self.central = [value / most for value in central]
        """How much the other files mention what a file defines, as a share of the most, by the logarithm."""
        self._runs: dict[int, float] = {}

    def rare(self, key: str) -> float:
        """Return BM25's inverse document frequency of a key, a chunk being a document."""
        known = self.rarity.get(key)
        if known is None:
            view = self._view
            known = self.rarity[key] = idf(len(view.chunk_postings(key)[0]), view.chunk_count)
        return known

    def names(self, file: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the stems of a file's name, and those with its folders'."""
        row = self._view.files[file]
        return _names_of(row.path) if row is not None else ((), ())

    def called(self, part: str) -> Sequence[int]:
        """Return the files whose `names` hold a stem."""
        return self._view.files_on_path(part)

    def platform(self, file: int) -> bool:
        """Return whether a file is for one platform."""
        row = self._view.files[file]
        return row is not None and _is_for_platform(row.path)

    def runs(self, file: int) -> float:
        """Return the factor for how much of a file is functions."""
        known = self._runs.get(file)
        if known is None:
            row = self._view.files[file]
            lines = self._view.outlined(file).lines_in_functions()
            share = min(lines / max(row.lines, 1) / RUNS_SHARE, 1.0) if row is not None else 0.0
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
