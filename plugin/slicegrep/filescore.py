"""How well each file of an index answers a query: its vocabulary, what its path and definitions say, and what it is for."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from slicegrep.outline.nest import FUNCTION_KINDS
from slicegrep.words import is_code_name, stem, sub_words

if TYPE_CHECKING:
    from slicegrep.index import FileRow, SymbolRow, View
    from slicegrep.query import Query

__all__ = ["FileScore", "Scores", "score_files"]

BEST_CHUNKS = 5
"""A file's chunks count by the sum of its best few."""
CHUNKS = 1.0
WHOLE = 1.0
"""What the best file by its chunks, and by its text as a whole, is worth."""
PATH = 1.2
FOLDERS = 0.8
"""What a file is worth whose stem the query names wholly, and one whose stem with its folders' names."""
MOST_FOLDERS = 2
NAMED = 1.0
"""The same for the best name of a definition."""
SHARE_POWER = 0.3
"""A name counts by the share of it that the query says, times the share of the query that it says to this power."""
EXACT = 0.7
NESTED = 0.8
"""What the definition of a symbol is worth that the query spells; one inside of another is worth NESTED of it."""
CENTRAL = 0.3
"""What the file is worth whose definitions the other files mention most, by the logarithm."""
TEST = 0.4
DOCUMENT = 0.3
CONFIG = 0.2
ASIDE = 0.3
"""Factors of a test (unless asked for), documentation and examples, configuration, and vendored or generated code."""
TWIN = 0.85
"""Factor of a file for one platform, unless the query names a platform."""
DESCRIBES = 0.1
RUNS_SHARE = 0.5
"""A file that only describes (types, constants, declarations) counts DESCRIBES less than one with RUNS_SHARE of its lines in functions."""
LOOKED_AT = 40
"""Of so many of the best files it is known which share of them runs."""
MOST_LOOKED_INTO = 600
"""Files whose chunks are looked at: the best by their text as a whole. A common word stands in most files of a large tree."""
MOST_FILES = 150
"""Files whose definitions are looked at: the best by vocabulary and path."""

_SEPARATORS = re.compile(r"\.|::|#")
_HOLDERS = frozenset({"index", "mod", "__init__", "__main__", "main", "lib", "init"})
"""Stems that say nothing: the folder is the name."""
_PLATFORM_NAMES = """
win win32 win64 windows linux darwin mac macos osx aix bsd freebsd openbsd netbsd sunos solaris android
ios os390 ibmi cygwin mingw haiku qnx hurd wasm wasi
"""
_PLATFORMS = frozenset(_PLATFORM_NAMES.split())
"""Names of one platform; `unix` and `posix` are not among them: what stands there is the general case."""
_PLATFORM = re.compile(
    r"(?:^|[/_.-])(" + "|".join(sorted(_PLATFORMS, key=len, reverse=True)) + r")(?=[/_.-])"
)


@dataclass(frozen=True, slots=True)
class FileScore:
    """One file's answer. `score` is on a scale on which 1 is about one full feature."""

    id: int
    score: float


@dataclass(frozen=True, slots=True)
class Scores:
    """The answer of an index. `files` best first, only those with something of the query."""

    files: tuple[FileScore, ...]
    chunks: list[float]
    """By chunk id: the sum of the keys' impacts times their rarity."""
    named: dict[int, float]
    """How far the query names a symbol, 0 to 1, by symbol id; only for symbols of the best files."""
    exact: frozenset[int]
    """Symbols that the query spells."""
    spelled: float
    """The share of the query's rarity that is in names spelled as code is."""


class _Facts:
    """What a view's files say of themselves, whatever is asked."""

    def __init__(self, view: View) -> None:
        self.rarity: dict[str, float] = {}
        paths = ["" if row is None else row.path for row in view.files]
        self.stems = [_path_stems(path) for path in paths]
        self.folders = [
            tuple(dict.fromkeys((*own, *_folder_stems(path))))
            for own, path in zip(self.stems, paths, strict=True)
        ]
        self.on_path: dict[str, list[int]] = {}
        """The files whose stem or folders hold a stem."""
        for at, parts in enumerate(self.folders):
            for part in parts:
                self.on_path.setdefault(part, []).append(at)
        self.present = [row is not None for row in view.files]
        central = [0.0 if row is None else math.log1p(row.mentions) for row in view.files]
        most = max(central, default=0.0) or 1.0
        self.central = [value / most for value in central]
        self.runs: dict[int, float] = {}
        self.symbol_stems: dict[int, tuple[str, ...]] = {}
        self.factors = [0.0 if row is None else _factor(row) for row in view.files]
        self.platform = [
            row is not None and _PLATFORM.search(row.path.lower()) is not None for row in view.files
        ]


_FACTS: WeakKeyDictionary[View, _Facts] = WeakKeyDictionary()


def score_files(
    view: View, query: Query, keys: dict[str, float], *, prefix: str = "", only: frozenset[str] | None = None
) -> Scores:
    """Rank the files under `prefix` (and in `only`, paths of the view, where that is given)."""
    facts = _FACTS.get(view)
    if facts is None:
        facts = _FACTS[view] = _Facts(view)
    allowed = facts.present
    if prefix or only is not None:
        allowed = [
            row is not None and row.path.startswith(prefix) and (only is None or row.path in only)
            for row in view.files
        ]
    rarity = {key: _rarity(view, facts, key) for key in keys}
    chunks = [0.0] * len(view.chunk_file)
    whole = [0.0] * len(view.files)
    for key, weight in keys.items():
        _add(chunks, view.chunk_postings(key), weight * rarity[key])
        files = view.file_postings(key)
        _add(whole, files, weight * _idf(len(files[0]), view.file_count))
    base = _base(view, allowed, chunks, whole)
    said = _Said(view, facts, keys, query)
    for at in {at for key in said.mass for at in facts.on_path.get(key, ())}:
        if at in base:
            base[at] += PATH * said.share(facts.stems[at]) + FOLDERS * said.share(facts.folders[at])
    exact = _exact(view, query, allowed)
    best = set(sorted(base, key=base.__getitem__, reverse=True)[:MOST_FILES])
    best.update(file for file, _ in exact.values())
    named = _named(view, facts, said, best)
    names: dict[int, float] = {}
    for file, share in named.values():
        names[file] = max(names.get(file, 0.0), share)
    spelled: dict[int, float] = {}
    for file, worth in exact.values():
        spelled[file] = max(spelled.get(file, 0.0), worth)
    asks_platform = not _PLATFORMS.isdisjoint(query.names)
    scored = []
    for file, value in base.items():
        total = (
            value
            + NAMED * names.get(file, 0.0)
            + EXACT * spelled.get(file, 0.0)
            + CENTRAL * facts.central[file]
        )
        factor = facts.factors[file]
        row = view.files[file]
        if row is not None and "test" in row.flags and not query.wants_tests:
            factor *= TEST
        if facts.platform[file] and not asks_platform:
            factor *= TWIN
        scored.append(FileScore(file, total * factor))
    scored.sort(key=lambda one: (-one.score, one.id))
    looked = [FileScore(one.id, one.score * _runs(view, facts, one.id)) for one in scored[:LOOKED_AT]]
    scored[:LOOKED_AT] = sorted(looked, key=lambda one: (-one.score, one.id))
    return Scores(
        tuple(scored),
        chunks,
        {symbol: share for symbol, (_, share) in named.items()},
        frozenset(exact),
        said.of_names(query),
    )


def _add(into: list[float], postings: tuple[object, bytes], weight: float) -> None:
    ids, impacts = postings
    share = weight / 255
    for at, impact in zip(ids, impacts, strict=True):  # type: ignore[call-overload]
        into[at] += impact * share


def _idf(holding: int, count: int) -> float:
    """BM25's inverse document frequency (Robertson and Zaragoza 2009), never negative."""
    return math.log(1 + (max(count - holding, 0) + 0.5) / (holding + 0.5))


def _rarity(view: View, facts: _Facts, key: str) -> float:
    known = facts.rarity.get(key)
    if known is None:
        known = facts.rarity[key] = _idf(len(view.chunk_postings(key)[0]), view.chunk_count)
    return known


def _base(view: View, allowed: list[bool], chunks: list[float], whole: list[float]) -> dict[int, float]:
    """Vocabulary: the best chunks and the whole text, each as a share of the best file's."""
    sums: dict[int, float] = {}
    holding = [file for file, value in enumerate(whole) if value and allowed[file]]
    if len(holding) > MOST_LOOKED_INTO:
        holding = sorted(holding, key=whole.__getitem__, reverse=True)[:MOST_LOOKED_INTO]
    for file in holding:
        row = view.files[file]
        if row is not None:
            mine = [value for value in chunks[row.first_chunk : row.first_chunk + row.chunks] if value]
            if len(mine) > BEST_CHUNKS:
                mine.sort(reverse=True)
            sums[file] = sum(mine[:BEST_CHUNKS])
    most = max(sums.values(), default=0.0) or 1.0
    most_whole = max([whole[file] for file in sums], default=0.0) or 1.0
    return {file: CHUNKS * value / most + WHOLE * whole[file] / most_whole for file, value in sums.items()}


class _Said:
    """How far the query says a name."""

    def __init__(self, view: View, facts: _Facts, keys: dict[str, float], query: Query) -> None:
        self._view, self._facts = view, facts
        self.mass = {
            key: min(weight, 1.0) * _rarity(view, facts, key) for key, weight in keys.items() if key[0] != "="
        }
        self._total = sum([self.mass[term] for term in query.terms]) or 1.0

    def share(self, parts: tuple[str, ...]) -> float:
        """Return the share of a name's rarity that is said, times the share of the query that it says ^ SHARE_POWER."""
        mass = self.mass
        hit = sum([mass[part] for part in parts if part in mass])
        if not hit:
            return 0.0
        whole = sum([_rarity(self._view, self._facts, part) for part in parts])
        return hit / whole * math.pow(min(hit / self._total, 1.0), SHARE_POWER)

    def of_names(self, query: Query) -> float:
        """Return the share of the query's rarity that is in names spelled as code is."""
        parts = {part for name, _ in query.symbols if is_code_name(name) for part in _stems(name)}
        return sum([self.mass[part] for part in query.terms if part in parts]) / self._total


def _named(view: View, facts: _Facts, said: _Said, best: set[int]) -> dict[int, tuple[int, float]]:
    """Return (file, share) for each symbol of the best files whose name holds something of the query."""
    found: dict[int, tuple[int, float]] = {}
    known = facts.symbol_stems
    firsts = view.first_symbol
    for key in said.mass:
        for at in view.name_postings(key):
            if at in found:
                continue
            file = bisect_right(firsts, at) - 1
            if file in best:
                parts = known.get(at)
                if parts is None:
                    parts = known[at] = _stems(view.symbol_name(at))
                found[at] = file, said.share(parts)
    return found


def _exact(view: View, query: Query, allowed: list[bool]) -> dict[int, tuple[int, float]]:
    """Return (file, worth) for each symbol that the query spells, wholly: `Session`, `app.set`, `url_for`.

    Where a qualifier is given, definitions inside of it come before all others of the name.
    """
    found: dict[int, tuple[int, float]] = {}
    alone = len(query.symbols) == 1
    firsts = view.first_symbol
    for name, qualifier in query.symbols:
        if not (alone or qualifier or is_code_name(name) or name[:1].isupper()):
            continue
        there: dict[int, tuple[int, float]] = {}
        inside: dict[int, tuple[int, float]] = {}
        for at in view.symbols_named(name.replace("_", "").lower()):
            file = bisect_right(firsts, at) - 1
            if allowed[file] and view.symbol_name(at) == name:
                symbol = view.symbol(at)
                there[at] = file, (NESTED if symbol.depth else 1.0)
                if qualifier and _is_inside(view, symbol, qualifier):
                    inside[at] = file, 1.0
        found.update(inside or there)
    return found


def _is_inside(view: View, symbol: SymbolRow, qualifier: str) -> bool:
    """Whether a definition is of the class, type or module that the qualifier names."""
    wanted = qualifier.replace("_", "").lower()
    outer = _SEPARATORS.split(symbol.qualified)[:-1]
    row = view.files[symbol.file]
    stem_of_file = row.path.rpartition("/")[2].split(".")[0] if row is not None else ""
    return wanted in {part.replace("_", "").lower() for part in (*outer[-1:], stem_of_file)}


def _stems(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([stem(part) for part in sub_words(name)]))


def _path_stems(path: str) -> tuple[str, ...]:
    folder, _, name = path.rpartition("/")
    first = name.lstrip(".").split(".")[0]
    if first.lower() in _HOLDERS and folder:
        first = folder.rpartition("/")[2]
    return _stems(first)


def _folder_stems(path: str) -> tuple[str, ...]:
    folders = path.split("/")[:-1]
    return tuple([part for folder in folders[-MOST_FOLDERS:] for part in _stems(folder)])


def _runs(view: View, facts: _Facts, file: int) -> float:
    """Return the factor for how much of a file is functions."""
    known = facts.runs.get(file)
    if known is None:
        row = view.files[file]
        lines = sum(
            [
                s.end - s.start + 1
                for s in view.symbols_of(file)
                if s.kind in FUNCTION_KINDS and s.end > s.start
            ]
        )
        share = min(lines / max(row.lines, 1) / RUNS_SHARE, 1.0) if row is not None else 0.0
        known = facts.runs[file] = 1 - DESCRIBES * (1 - share)
    return known


def _factor(row: FileRow) -> float:
    factor = {"docs": DOCUMENT, "config": CONFIG}.get(row.kind, 1.0)
    if "docs" in row.flags and row.kind == "code":
        factor *= DOCUMENT
    if not row.flags.isdisjoint(("vendored", "generated", "minified")):
        factor *= ASIDE
    return factor
