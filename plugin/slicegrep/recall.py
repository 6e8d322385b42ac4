"""From a query, what its patterns match and what the index knows, to the regions that may answer, best first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slicegrep.expand import keys_of
from slicegrep.filescore import Scores, score_files
from slicegrep.hits import Judge, Judgement
from slicegrep.regions import regions
from slicegrep.types import Candidate
from slicegrep.units import Unit, units_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.index import FileRow, View
    from slicegrep.match import Matches
    from slicegrep.query import Query
    from slicegrep.regions import Region
    from slicegrep.types import Hit, Source, Symbol

__all__ = ["REASONS", "recall"]

REASONS = {
    "multi_match": "so many different patterns match in the region",
    "co_occurrence": "more than one of several patterns match in it",
    "all_patterns": "every pattern matches in it",
    "rare_terms": "a pattern matches in it that matches in few places",
    "exact_symbol": "it defines a symbol that the query spells",
    "definition": "a pattern matches where something is defined or given its value",
    "name": "the name of its definition says what is asked",
    "dense": "several lines of it match",
    "match": "a pattern matches in it",
    "semantic-recall": "no pattern matches in it: its vocabulary was found",
    "test": "it is in a test",
    "aside": "documentation, configuration, vendored, generated or minified: it comes later",
    "declaration": "only imports, re-exports or forward declarations match: it comes later",
    "comment": "only comments match: it comes later",
}
"""What a candidate's reasons mean; `multi_match` carries its count."""

VOCABULARY_FILES = 24
"""Files whose units are ranked by vocabulary."""
UNITS = 8
"""Of each of them, the best so many."""
READ_FILES = 24
"""Files with hits that are read for what their lines and their vocabulary are, the best by vocabulary."""
READ_UNITS = 8
"""Files without hits that are read for the comments above their definitions."""
AGAIN = 0.5
"""Each further region of a file counts so much of the one before, so that one file does not take all the places."""
OWN_POWER = 1.0
"""A unit counts by its share of its file's best unit's score to this power."""
BESIDE_HITS = 0.3
"""What vocabulary alone is worth where names or patterns were found as they are spelled."""
FLOOR = 0.5
"""A hit's worth in a file of which the vocabulary says nothing, against the best file."""
TEST = 0.4
ASIDE = 0.4
"""Factors of hits in tests (unless asked for), and in what is not the project's own code."""
NAMED_ENOUGH = 0.6
"""A definition's name says what is asked from this share on."""
_OTHERS = frozenset({"vendored", "generated", "minified", "docs"})


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
    ("" or ending in `/`) in the view. `only` are the paths (of the view) that are searched, None for all. Candidates of
    one file do not overlap. Scores are hundredths of the best candidate's.
    """
    scores = score_files(view, query, keys_of(query), prefix=prefix, only=only)

    def cut(hits: Sequence[Hit], symbols: Sequence[Symbol], total: int, lines: Sequence[str]) -> list[Region]:
        return regions(hits, symbols, total, before=before, after=after, boundary=boundary, lines=lines)

    search = _Search(view, query, scores, prefix, read)
    search.take_hits(matches.by_file, cut)
    search.take_units()
    return search.ranked()


@dataclass(slots=True)
class _File:
    """What was found in one file: candidates with scores that no other of the file has lowered yet."""

    share: float
    """Of the best file's score."""
    row: FileRow | None
    units: Sequence[Unit] = ()
    """What its vocabulary finds in it, best first."""
    taken: list[tuple[float, Candidate]] = field(default_factory=list)
    """Each with its score; the candidate's own is set at the end."""


class _Search:
    """Collects the candidates of one search, file by file."""

    def __init__(
        self, view: View, query: Query, scores: Scores, prefix: str, read: Callable[[str], Source | None]
    ) -> None:
        self._view, self._query, self._scores, self._prefix, self._read = view, query, scores, prefix, read
        best = scores.files[0].score if scores.files else 1.0
        self._share = {one.id: one.score / best for one in scores.files}
        self._files: dict[str, _File] = {}
        names = scores.spelled if query.route == "vague" else 0.0 if query.prose else 1.0
        self._names = 1.0 if query.prose else names
        self._words = 1 - (1 - BESIDE_HITS) * names
        """What names and vocabulary are worth in this query."""

    def take_hits(
        self,
        by_file: dict[str, tuple[Hit, ...]],
        cut: Callable[[Sequence[Hit], Sequence[Symbol], int, Sequence[str]], list[Region]],
    ) -> None:
        """Take the regions of hits, and what the vocabulary says of the same lines."""
        judge = Judge(self._query, by_file, self._names)
        rows = {path: self._view.file_at(self._prefix + path) for path in by_file}
        share = {path: self._share.get(row.id, 0.0) if row else 0.0 for path, row in rows.items()}
        for place, path in enumerate(sorted(by_file, key=lambda path: (-share[path], path))):
            hits, row = by_file[path], rows[path]
            if not hits:
                continue
            source = self._read(path) if place < READ_FILES or row is None else None
            symbols = self._view.symbols_of(row.id) if row is not None else ()
            lines = source.lines if source is not None else ()
            total = len(lines) or (row.lines if row is not None else hits[-1].line)
            units = (
                units_of(self._view, row, self._scores, lines)
                if row is not None and place < READ_FILES
                else []
            )
            file = self._files[path] = _File(share[path], row, units)
            test = row is not None and "test" in row.flags
            judged = judge.of_file(symbols, lines, test=test)
            for region in cut(hits, symbols, total, lines):
                said = judged(region)
                value, reasons, role = self._weighed(region, said, file, units)
                symbol = symbols[region.symbol].qualified if region.symbol >= 0 else ""
                hit = tuple([hit.line for hit in region.hits])
                one = Candidate(path, region.start, region.end, 0.0, reasons, symbol, role, hit, said.best)
                file.taken.append((value, one))

    def _weighed(
        self, region: Region, said: Judgement, file: _File, units: Sequence[Unit]
    ) -> tuple[float, tuple[str, ...], str]:
        """Return a region's score (what its hits say, by what its file is and what the vocabulary says of it), reasons and role."""
        test = file.row is not None and "test" in file.row.flags
        value, reasons, role = said.value * (FLOOR + (1 - FLOOR) * file.share), list(said.reasons), said.role
        if test:
            reasons.append("test")
            role = "test" if role in ("use", "") else role
            value *= 1.0 if self._query.wants_tests else TEST
        if file.row is None or file.row.kind != "code" or not file.row.flags.isdisjoint(_OTHERS):
            reasons.append("aside")
            role = ""
            value *= ASIDE
        inside = [unit.score for unit in units if unit.start <= region.end and region.start <= unit.end]
        if inside:
            value += self._words * file.share * (max(inside) / units[0].score) ** OWN_POWER
        return value, tuple(reasons), role

    def take_units(self) -> None:
        """Take the units of the best files that no region of hits touches."""
        for place, one in enumerate(self._scores.files[:VOCABULARY_FILES]):
            row = self._view.files[one.id]
            if row is None:
                continue
            path = row.path[len(self._prefix) :]
            file = self._files.get(path)
            if file is None:
                source = self._read(path) if place < READ_UNITS and row.kind == "code" else None
                units = units_of(self._view, row, self._scores, source.lines if source is not None else ())
                file = self._files[path] = _File(self._share[one.id], row, units)
            hit = [(taken.start, taken.end) for _, taken in file.taken]
            for unit in file.units[:UNITS]:
                if not any(start <= unit.end and unit.start <= end for start, end in hit):
                    value = self._words * file.share * (unit.score / file.units[0].score) ** OWN_POWER
                    file.taken.append((value, self._of_unit(path, row, unit)))

    def _of_unit(self, path: str, row: FileRow, unit: Unit) -> Candidate:
        reasons, role = ["semantic-recall"], ""
        if unit.exact:
            reasons.insert(0, "exact_symbol")
            role = "definition"
        elif unit.named >= NAMED_ENOUGH:
            reasons.append("name")
        if "test" in row.flags:
            reasons.append("test")
            role = "test" if self._query.wants_tests else ""
        symbol = self._view.symbol(unit.symbol) if unit.symbol >= 0 else None
        best = (
            symbol.name_line
            if symbol is not None and unit.start <= symbol.name_line <= unit.end
            else unit.start
        )
        name = symbol.qualified if symbol is not None else ""
        return Candidate(path, unit.start, unit.end, 0.0, tuple(reasons), name, role, (), best)

    def ranked(self) -> list[Candidate]:
        """Return all candidates, best first, the further ones of a file lowered."""
        found: list[tuple[float, str, int, Candidate]] = []
        for path, file in self._files.items():
            demotion = 1.0
            for value, one in sorted(file.taken, key=lambda taken: (-taken[0], taken[1].start)):
                found.append((-value * demotion, path, one.start, one))
                demotion *= AGAIN
        found.sort(key=lambda one: one[:3])
        best = found[0][0] if found else 1.0
        return [_scored(one, round(100 * value / best, 2)) for value, _, _, one in found]


def _scored(one: Candidate, score: float) -> Candidate:
    """Return a candidate with its score: dataclasses.replace takes three times as long, and there are hundreds."""
    return Candidate(
        one.file, one.start, one.end, score, one.reasons, one.symbol, one.role, one.hits, one.best
    )
