"""How well each file of an index answers a query: its vocabulary, and what its path and its definitions are called."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.filefacts import PLATFORMS, facts_of
from slicegrep.index.terms import stems_of
from slicegrep.wholes import Wholes
from slicegrep.words import is_code_name

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Collection, Iterable, Sequence

    from slicegrep.filefacts import FileFacts
    from slicegrep.index import SymbolRow, View
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
NAMED = 1.0
"""What a file is worth that defines something that the query names wholly."""
SHARE_POWER = 0.3
"""A name counts by the share of it that the query says, times the share of the query that it says to this power."""
UNSAID = 5.0
"""Rarity of a part of a name that the query does not say: a middling one, for a first ranking: the true one costs a look-up each."""
EXACT = 0.7
NESTED = 0.8
"""What the definition of a symbol is worth that the query spells; one inside of another is worth NESTED of it."""
CENTRAL = 0.3
"""What the file is worth whose definitions the other files mention most."""
TWIN = 0.85
"""Factor of a file for one platform, unless the query names a platform."""
MOST_FILES = 150
"""Files that are looked into: the best by their texts as wholes and their paths."""
LOOKED_AT = 40
"""So many of the best of them are weighed by the true rarity of their names, and by how much of them runs."""
REFINED = 0.7
"""Symbols whose share is at least this share of the best of their file are looked at again."""
FIRST_FILES = 20
"""So many are ranked among all files; of the others, those that were looked into."""
WIDE = 2_000
"""A key of more chunks or symbols is only looked up in the files that are looked into."""


class FileScore(NamedTuple):
    """One file's answer. `score` is on a scale on which 1 is about one full feature."""

    id: int
    score: float


class Scores(NamedTuple):
    """The answer of an index."""

    files: tuple[FileScore, ...]
    """Those that were looked into, and what else is among the first FIRST_FILES, best first; only files with something of the query."""
    of: Callable[[int], float]
    """Returns the score of a file by its id, also of those that are not in `files`; 0 where nothing of the query is in it."""
    chunks: list[float]
    """By chunk id: the sum of the keys' impacts times their rarity. Only of the files that were looked into."""
    named: dict[int, float]
    """How far the query names a symbol, 0 to 1, by symbol id; only for symbols of those files."""
    exact: frozenset[int]
    """Symbols that the query spells."""
    spelled: float
    """The share of the query's rarity that is in names spelled as code is."""


def score_files(
    view: View, query: Query, keys: dict[str, float], *, prefix: str = "", only: frozenset[str] | None = None
) -> Scores:
    """Rank the files under `prefix` (and in `only`, paths of the view, where that is given)."""
    facts = facts_of(view)
    view.holders.look_up(keys)
    wholes = Wholes(view, keys, prefix, only)
    about = wholes.about
    said = _Said(facts, keys, query)
    factors, label = facts.factors if query.wants_tests else facts.lowered, view.columns.label
    name = (
        view.columns.paths
    )  # of equal files the first by path: ids depend on which process was quicker at the index
    paths = said.of_paths(facts, about)
    exact = _exact(view, query, about)

    def of_text(at: int) -> float:
        return WHOLE * wholes.of(at) / wholes.most

    def worth(at: int) -> float:
        return (of_text(at) + paths.get(at, 0.0)) * factors[label[at]]

    def by_path(least: float) -> list[int]:
        scale = wholes.scale
        return [
            at for at, value in paths.items() if (about[at] + value * scale) * factors[label[at]] >= least
        ]

    likely, least = wholes.likely(factors, label, MOST_FILES)
    first = sorted({*likely, *by_path(least)}, key=lambda at: (-worth(at), name[at]))[:MOST_FILES]
    looked = set(first)
    looked.update(file for file, _ in exact.values())
    twins = {at for at in looked if facts.platform(at)} if PLATFORMS.isdisjoint(query.names) else ()
    chunks = _chunk_scores(view, facts, keys, looked)
    known = {at: of_text(at) + CHUNKS * value for at, value in _best_chunks(view, chunks, looked).items()}
    for at, value in _most(exact.values()).items():
        known[at] += EXACT * value
    named = said.of_symbols(view, looked)
    names = _most(named.values())

    def weighed(at: int, value: float) -> float:
        factor = factors[label[at]] * TWIN if at in twins else factors[label[at]]
        return (value + CENTRAL * facts.central(at)) * factor

    scores = {
        at: weighed(at, value + paths.get(at, 0.0) + NAMED * names.get(at, 0.0))
        for at, value in known.items()
    }
    best = set(sorted(looked, key=lambda at: (-scores[at], name[at]))[:LOOKED_AT])
    said.refine(named, names, best, view)
    names = _most(named.values())
    facts.look_up({part for at in best for part in facts.names(at)[1]})
    for at in best:
        value = known[at] + said.of_path(facts, at, true=True) + NAMED * names.get(at, 0.0)
        scores[at] = weighed(at, value) * facts.runs(at)

    def score_of(at: int) -> float:
        if at in scores or not about[at]:
            return scores.get(at, 0.0)
        return weighed(at, of_text(at) + paths.get(at, 0.0))

    ranked = sorted([(-score, name[at], at) for at, score in scores.items()])
    # A file that was not looked into can pass the last of the first by CENTRAL at most.
    floor = (-ranked[FIRST_FILES - 1][0] - CENTRAL) * wholes.scale - wholes.error if least else 0.0
    if least > floor:
        others = {at for at, value in enumerate(about) if value > floor}.union(by_path(floor)) - looked
        ranked = sorted([*ranked, *[(-score_of(at), name[at], at) for at in others]])
    return Scores(
        tuple([FileScore(at, -score) for score, _, at in ranked]),
        score_of,
        chunks,
        {symbol: share for symbol, (_, share) in named.items()},
        frozenset(exact),
        said.in_names(query),
    )


def _add(into: list[float], ids: array[int], impacts: bytes, weight: float) -> None:
    share = weight / 255
    for at, impact in zip(ids, impacts, strict=True):
        into[at] += impact * share


def _chunk_scores(
    view: View, facts: FileFacts, keys: dict[str, float], looked: Collection[int]
) -> list[float]:
    chunks = [0.0] * len(view.chunk_file)
    wide = []
    for key, weight in keys.items():
        ids, impacts = view.holders.chunk_postings(key)
        if len(ids) <= WIDE:
            _add(chunks, ids, impacts, weight * facts.rare(key))
        else:
            wide.append((ids, impacts, weight * facts.rare(key)))
    first, counts = view.columns.first_chunk, view.columns.chunk_counts
    ranges = [(first[at], first[at] + counts[at]) for at in sorted(looked)]
    for ids, impacts, weight in wide:
        low = 0
        for begin, end in ranges:
            low = bisect_left(ids, begin, low)
            if low < len(ids) and ids[low] < end:
                high = bisect_left(ids, end, low, min(low + end - begin, len(ids)))
                _add(chunks, ids[low:high], impacts[low:high], weight)
    return chunks


def _best_chunks(view: View, chunks: list[float], looked: Iterable[int]) -> dict[int, float]:
    """Return for each file the sum of its best chunks, as a share of the best file's."""
    first, counts = view.columns.first_chunk, view.columns.chunk_counts
    sums: dict[int, float] = {}
    for at in looked:
        mine = sorted(chunks[first[at] : first[at] + counts[at]], reverse=True)
        sums[at] = sum(mine[:BEST_CHUNKS])
    most = max(sums.values(), default=0.0) or 1.0
    return {at: value / most for at, value in sums.items()}


class _Said:
    """How far the query says names."""

    def __init__(self, facts: FileFacts, keys: dict[str, float], query: Query) -> None:
        self._facts = facts
        self._rarity = {key: facts.rare(key) for key in keys if key[0] != "="}
        self._mass = {key: min(keys[key], 1.0) * rarity for key, rarity in self._rarity.items()}
        self._total = sum([self._mass[term] for term in query.terms]) or 1.0

    def share(self, parts: Sequence[str], *, true: bool = False) -> float:
        """Return the share of a name's rarity that is said, times the share of the query that it says ^ SHARE_POWER.

        Parts that the query does not say are taken for UNSAID rare, unless `true`: that costs a look-up each.
        """
        mass, rarity = self._mass, self._rarity
        hit = whole = 0.0
        for part in parts:
            if part in mass:
                hit += mass[part]
                whole += rarity[part]
            else:
                whole += self._facts.rare(part) if true else UNSAID
        return hit / whole * math.pow(min(hit / self._total, 1.0), SHARE_POWER) if hit else 0.0

    def of_path(self, facts: FileFacts, at: int, *, true: bool = False) -> float:
        """Return what the path of a file is worth: PATH by the `share` of its name, FOLDERS by that of both."""
        own, both = facts.names(at)
        mass, rarity = self._mass, self._rarity
        hit = whole = value = 0.0
        last = len(own) - 1
        for number, part in enumerate(both):  # which begin with its own
            if part in mass:
                hit += mass[part]
                whole += rarity[part]
            else:
                whole += self._facts.rare(part) if true else UNSAID
            if number == last and hit:
                value = PATH * (hit / whole * math.pow(min(hit / self._total, 1.0), SHARE_POWER))
        if hit:
            value += FOLDERS * (hit / whole * math.pow(min(hit / self._total, 1.0), SHARE_POWER))
        return value

    def of_paths(self, facts: FileFacts, about: Sequence[int]) -> dict[int, float]:
        """Return what paths are worth, by file id, of files that have an `about`; those that say nothing are left out.

        Names of as many parts, of which the same one is said, are worth the same: most are such.
        """
        touched: dict[int, str] = {}
        for key in self._mass:
            for at in facts.called(key):
                touched[at] = "" if at in touched else key
        found: dict[int, float] = {}
        alike: dict[tuple[str, bool, int, int], float] = {}
        for at, key in touched.items():
            if not about[at]:
                continue
            if not key:
                found[at] = self.of_path(facts, at)
                continue
            own, both = facts.names(at)
            like = key, key in own, len(own), len(both)
            value = alike.get(like)
            if value is None:
                value = alike[like] = self.of_path(facts, at)
            found[at] = value
        return found

    def of_symbols(self, view: View, files: Collection[int]) -> dict[int, tuple[int, float]]:
        """Return (file, share) for each symbol of `files` whose name holds something of the query."""
        of_file, names = view.symbol_file, view.columns.symbol_names
        touched: set[int] = set()
        ranges = [view.symbol_ids(file) for file in sorted(files)]
        for found in map(view.holders.name_postings, self._mass):
            if len(found) <= WIDE:
                touched.update([at for at in found if of_file[at] in files])
                continue
            low = 0
            for first, end in ranges:
                low = bisect_left(found, first, low)
                if low < len(found) and found[low] < end:
                    touched.update(found[low : bisect_left(found, end, low)])
        shares = {name: self.share(stems_of(name)) for name in {names[at] for at in touched}}
        return {at: (of_file[at], shares[names[at]]) for at in touched}

    def refine(
        self, named: dict[int, tuple[int, float]], best: dict[int, float], files: Collection[int], view: View
    ) -> None:
        """Give the symbols that may be the best of their files, in `files`, their true share."""
        near = [
            at
            for at, (file, share) in named.items()
            if share and file in files and share >= REFINED * best[file]
        ]
        parts = {at: stems_of(view.symbol_name(at)) for at in near}
        self._facts.look_up({part for of_name in parts.values() for part in of_name})
        for at in near:
            named[at] = named[at][0], self.share(parts[at], true=True)

    def in_names(self, query: Query) -> float:
        """Return the share of the query's rarity that is in names spelled as code is."""
        parts = {part for name, _ in query.symbols if is_code_name(name) for part in stems_of(name)}
        return sum([self._mass[part] for part in query.terms if part in parts]) / self._total


def _most(worths: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the largest worth of each file."""
    found: dict[int, float] = {}
    for file, worth in worths:
        if worth > found.get(file, 0.0):
            found[file] = worth
    return found


_SEPARATORS = re.compile(r"\.|::|#")


def _exact(view: View, query: Query, about: Sequence[int]) -> dict[int, tuple[int, float]]:
    """Return (file, worth) for each symbol that the query spells, wholly: `Session`, `app.set`, `url_for`, in files with an `about`.

    Where a qualifier is given, definitions inside of it come before all others of the name.
    """
    found: dict[int, tuple[int, float]] = {}
    alone = len(query.symbols) == 1
    for name, qualifier in query.symbols:
        if not (alone or qualifier or is_code_name(name) or name[:1].isupper()):
            continue
        there: dict[int, tuple[int, float]] = {}
        inside: dict[int, tuple[int, float]] = {}
        spelled = name
        numbers = view.symbols_named(name)
        if not numbers and name.startswith("$"):  # PHP's outline has its names without the sign
            spelled = name[1:]
            numbers = view.symbols_named(spelled)
        for at in numbers:
            file = view.symbol_file[at]
            if about[file] and view.symbol_name(at) == spelled:
                there[at] = file, (NESTED if view.is_nested(at) else 1.0)
                if qualifier and _is_inside(view, view.symbol(at), qualifier):
                    inside[at] = file, 1.0
        found.update(inside or there)
    return found


def _is_inside(view: View, symbol: SymbolRow, qualifier: str) -> bool:
    """Whether a definition is of the class, type or module that the qualifier names."""
    wanted = qualifier.replace("_", "").lower()
    outer = _SEPARATORS.split(symbol.qualified)[:-1]
    row = view.files[symbol.file]
    of_file = row.path.rpartition("/")[2].split(".")[0] if row is not None else ""
    return wanted in {part.replace("_", "").lower() for part in (*outer[-1:], of_file)}
