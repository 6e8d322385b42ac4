"""From a query, what its patterns match and what the index knows, to the regions that may answer, best first."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slicegrep.expand import keys_of
from slicegrep.filescore import Scores, score_files
from slicegrep.regions import Region, regions
from slicegrep.types import Candidate, Hit, Source, Symbol
from slicegrep.units import Unit, units_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.index import FileRow, View
    from slicegrep.match import Matches
    from slicegrep.query import Query

__all__ = ["REASONS", "recall"]

REASONS = {
    "multi_match": "so many different patterns match in the region",
    "co_occurrence": "more than one of several patterns match in it",
    "all_patterns": "every pattern matches in it",
    "rare_terms": "a pattern matches in it that matches in few places",
    "exact_symbol": "it defines a symbol that the query spells",
    "definition": "a pattern matches where a symbol is defined",
    "name": "the name of its definition says what is asked",
    "path": "the path of its file says what is asked",
    "dense": "several lines of it match",
    "match": "a pattern matches in it",
    "semantic-recall": "no pattern matches in it: its vocabulary was found",
    "test": "it is in a test",
    "aside": "documentation, configuration, vendored, generated or minified: it comes later",
    "declaration": "only an import or a declaration without a body: it comes later",
}
"""What a candidate's reasons mean; `multi_match` carries its count."""

VOCABULARY_FILES = 40
"""Files whose units are ranked by vocabulary."""
READ_FILES = 40
"""Files with hits that are read for comments above definitions and declarations: the best by vocabulary."""
AGAIN = 0.5
"""Each further region of a file counts so much of the one before, so that one file does not take all the places."""
HIT = 2.0
"""Of a pattern's match on the precise route: above anything that vocabulary alone finds."""
PHRASE = 1.0
"""Of the whole phrase on the vague route."""
PROSE_HIT = 0.3
"""Of one or two plain words that stand beside each other."""
FILE = 1.0
DEFINES = 1.0
DEFINED_NAME = 0.5
NAME = 0.5
TOGETHER = 1.0
RARE = 0.5
DENSE = 0.3
"""What the file's own score, a definition, several patterns together, rarity and density add to a hit."""
DECLARED = 0.5
TEST = 0.4
ASIDE = 0.4
"""Factors of declarations, tests and what is not the project's own code, for what a hit adds."""
NAMED_ENOUGH = 0.6

_DECLARES = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|export\s+(?:\*|\{[^}]*\}\s*from)|use\s|pub\s+use\s|mod\s+\w+;|#\s*include\b|using\s|package\s"
    r"|require\b|(?:const|let|var)\s.*=\s*require\(|extern\s.*;\s*$|(?:class|struct|enum|union)\s+\w+;\s*$|typedef\s.*;\s*$)"
)


def recall(
    view: View,
    query: Query,
    matches: Matches,
    read: Callable[[str], Source | None],
    *,
    before: int,
    after: int,
    boundary: str,
    prefix: str = "",
    only: frozenset[str] | None = None,
) -> list[Candidate]:
    """Return every region that a pattern matches, and the units that the vocabulary finds, best first.

    Paths of `matches`, of `read` and of the candidates are relative to the folder that is searched, which is `prefix`
    ("" or ending in `/`) in the view. `only` are the paths (of the view) that are searched, None for all. Regions of hits do not overlap.
    Scores are hundredths of the best candidate's.
    """
    scores = score_files(view, query, keys_of(view, query), prefix=prefix, only=only)
    ranking = _Ranking(view, query, scores, prefix)

    def cut(hits: Sequence[Hit], symbols: Sequence[Symbol], total: int, lines: Sequence[str]) -> list[Region]:
        return regions(hits, symbols, total, before=before, after=after, boundary=boundary, lines=lines)

    hit = _hit_regions(ranking, matches.by_file, read, cut)
    found = _of_hits(ranking, hit)
    found.extend(_of_vocabulary(ranking, hit))
    found.sort(key=lambda one: (-one.score, one.file, one.start))
    best = found[0].score if found else 1.0
    return [replace(one, score=round(100 * one.score / best, 1)) for one in found]


class _Ranking:
    """The files' scores by path, as shares of the best."""

    def __init__(self, view: View, query: Query, scores: Scores, prefix: str) -> None:
        self.view, self.query, self.scores, self.prefix = view, query, scores, prefix
        best = scores.files[0].score if scores.files else 1.0
        self.share: dict[str, float] = {}
        self.row: dict[str, FileRow] = {}
        for one in scores.files:
            row = view.files[one.id]
            if row is not None:
                path = row.path[len(prefix) :]
                self.share[path] = one.score / best
                self.row[path] = row
        self.rows = {
            row.path[len(prefix) :]: row
            for row in view.files
            if row is not None and row.path.startswith(prefix)
        }


@dataclass(frozen=True, slots=True)
class _Hits:
    """The regions of one file."""

    path: str
    row: FileRow | None
    symbols: Sequence[Symbol]
    regions: list[Region]
    source: Source | None


def _hit_regions(
    ranking: _Ranking,
    by_file: dict[str, tuple[Hit, ...]],
    read: Callable[[str], Source | None],
    cut: Callable[[Sequence[Hit], Sequence[Symbol], int, Sequence[str]], list[Region]],
) -> list[_Hits]:
    found = []
    order = sorted(by_file, key=lambda path: (-ranking.share.get(path, 0.0), path))
    for place, path in enumerate(order):
        hits = by_file[path]
        if not hits:
            continue
        row = ranking.rows.get(path)
        source = read(path) if place < READ_FILES or row is None else None
        symbols = ranking.view.symbols_of(row.id) if row is not None else ()
        total = len(source.lines) if source is not None else row.lines if row is not None else hits[-1].line
        lines = source.lines if source is not None else ()
        places = cut(hits, symbols, total, lines)
        found.append(_Hits(path, row, symbols, places, source))
    return found


def _of_hits(ranking: _Ranking, files: list[_Hits]) -> list[Candidate]:
    query = ranking.query
    counts = [0] * len(query.patterns)
    for file in files:
        for region in file.regions:
            for pattern in {p for hit in region.hits for p in hit.patterns}:
                counts[pattern] += 1
    total = sum([len(file.regions) for file in files])
    found = []
    for file in files:
        mine = [_of_region(ranking, file, region, counts, total) for region in file.regions]
        mine.sort(key=lambda one: (-one.score, one.start))
        base = _base(query)
        demotion = 1.0
        for one in mine:
            found.append(replace(one, score=base + (one.score - base) * demotion))
            demotion *= AGAIN
    return found


def _base(query: Query) -> float:
    if query.route == "vague":
        return PHRASE
    return PROSE_HIT if query.prose else HIT


def _of_region(ranking: _Ranking, file: _Hits, region: Region, counts: list[int], total: int) -> Candidate:
    query, share = ranking.query, ranking.share.get(file.path, 0.0)
    reasons: list[str] = []
    score = FILE * share
    lines = {hit.line for hit in region.hits}
    defined = [symbol for symbol in file.symbols if symbol.name_line in lines]
    wanted = {name.replace("_", "").lower() for name, _ in query.symbols}
    best = region.hits[0].line
    role = "use" if query.route == "precise" else ""
    spelled = [symbol for symbol in defined if symbol.name.replace("_", "").lower() in wanted]
    if spelled:
        score += DEFINES
        reasons.append(
            "exact_symbol" if any(s.name in {n for n, _ in query.symbols} for s in spelled) else "definition"
        )
        best, role = spelled[0].name_line, "definition"
    elif defined:
        score += DEFINED_NAME
        reasons.append("definition")
        best = defined[0].name_line
    patterns = {p for hit in region.hits for p in hit.patterns}
    if len(patterns) > 1:
        score += TOGETHER * (len(patterns) - 1) / (len(query.patterns) - 1)
        reasons[:0] = [f"multi_match({len(patterns)})", "co_occurrence"]
        if len(patterns) == len(query.patterns):
            reasons.insert(2, "all_patterns")
        if not spelled:
            best = max(region.hits, key=lambda hit: (len(hit.patterns), -hit.line)).line
    rare = max(math.log((total + 1) / counts[p]) for p in patterns) / math.log(total + 1)
    if len(query.patterns) > 1:
        score += RARE * rare
        if rare > 0.5 and total > 4:
            reasons.append("rare_terms")
    if len(region.hits) > 1:
        score += DENSE * min(1.0, math.log(len(region.hits)) / math.log(8))
        reasons.append("dense")
    reasons = reasons or ["match"]
    factor = 1.0
    if file.row is not None and "test" in file.row.flags:
        role = "test" if role in ("use", "") else role
        if not query.wants_tests:
            factor *= TEST
        reasons.append("test")
    if file.row is not None and (
        file.row.kind != "code"
        or not file.row.flags.isdisjoint(("vendored", "generated", "minified", "docs"))
    ):
        factor *= ASIDE
        reasons.append("aside")
    if file.source is not None and all(
        _DECLARES.match(file.source.lines[line - 1]) for line in lines if line <= len(file.source.lines)
    ):
        factor *= DECLARED
        reasons.append("declaration")
        role = "" if role == "use" else role
    symbol = file.symbols[region.symbol].qualified if region.symbol >= 0 else ""
    return Candidate(
        file.path,
        region.start,
        region.end,
        (_base(query) + score) * factor,
        tuple(reasons),
        symbol,
        role,
        tuple(sorted(lines)),
        best,
    )


def _of_vocabulary(ranking: _Ranking, files: list[_Hits]) -> list[Candidate]:
    taken = {file.path: [(region.start, region.end) for region in file.regions] for file in files}
    found: list[Candidate] = []
    for one in ranking.scores.files[:VOCABULARY_FILES]:
        row = ranking.view.files[one.id]
        if row is None:
            continue
        path = row.path[len(ranking.prefix) :]
        units = units_of(ranking.view, row, ranking.scores)
        if not units:
            continue
        demotion, most = 1.0, units[0].score
        for unit in units[:6]:
            if any(start <= unit.end and unit.start <= end for start, end in taken.get(path, ())):
                demotion *= AGAIN
                continue
            found.append(
                _of_unit(ranking, row, path, unit, ranking.share[path] * demotion * unit.score / most)
            )
            demotion *= AGAIN
    return found


def _of_unit(ranking: _Ranking, row: FileRow, path: str, unit: Unit, score: float) -> Candidate:
    reasons = ["semantic-recall"]
    role = ""
    if unit.exact:
        reasons.insert(0, "exact_symbol")
        role = "definition"
    elif unit.named >= NAMED_ENOUGH:
        reasons.append("name")
    if "test" in row.flags:
        reasons.append("test")
        role = "test"
    symbol = ranking.view.symbol(unit.symbol) if unit.symbol >= 0 else None
    best = (
        symbol.name_line if symbol is not None and unit.start <= symbol.name_line <= unit.end else unit.start
    )
    return Candidate(
        path, unit.start, unit.end, score, tuple(reasons), symbol.qualified if symbol else "", role, (), best
    )
