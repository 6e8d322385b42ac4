"""From a query, what its patterns match and what the index knows, to the regions that may answer, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slicegrep.candidates import Candidate
from slicegrep.expand import keys_of
from slicegrep.filescore import FIRST_FILES, Scores, score_files
from slicegrep.findings import ASIDE, TEST, Findings, is_aside
from slicegrep.hits import Judge, Judgement
from slicegrep.index.outlines import Outlined
from slicegrep.pointed import take_places, take_spelled
from slicegrep.regions import regions, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.candidates import Hit
    from slicegrep.findings import FileFindings
    from slicegrep.index import FileRow, View
    from slicegrep.match import Matches
    from slicegrep.query import Query
    from slicegrep.regions import Region
    from slicegrep.types import Source, Symbol
    from slicegrep.units import Unit

__all__ = ["REASONS", "recall"]

REASONS = {
    "multi_match": "so many different patterns match in the region",
    "co_occurrence": "more than one of several patterns match in it",
    "all_patterns": "every pattern matches in it",
    "rare_terms": "a pattern matches in it that matches in few places",
    "exact_symbol": "it defines a symbol that the query spells",
    "place": "the query names a line of it, as a traceback does, or its file",
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

VOCABULARY_FILES = FIRST_FILES
"""Files whose units are ranked by vocabulary."""
UNITS = 8
"""Of each of them, the best so many. With 4, 3 of 100 hunks of commits fewer are found."""
READ_FILES = 24
"""Files with hits, the best by vocabulary, that are read and outlined. Of the others a region is a window, and a use."""
READ_UNITS = 8
"""Files without hits that are read for the comments above their definitions."""
OWN_POWER = 1.0
"""A unit counts by its share of its file's best unit's score to this power."""
BESIDE_HITS = 0.6
"""What the vocabulary is worth where a query is all names or patterns."""
FLOOR = 0.5
"""A hit's worth in a file of which the vocabulary says nothing, against the best file."""
MOST_BESIDE = 64
"""Units of a file whose words are held against its hits, the best: a file of 100,000 functions takes minutes otherwise."""
NAMED_ENOUGH = 0.6
"""A definition's name says what is asked from this share on."""

_NOTHING = Outlined(b"")


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
    names = scores.spelled if query.route == "vague" else 1.0
    findings = Findings(view, scores, prefix=prefix, read=read, tests=query.wants_tests)
    search = _Search(view, query, findings, prefix, names)
    search.take_hits(matches.by_file, _Cut(before, after, boundary))
    take_spelled(findings, view, query, scores, names)
    take_places(findings, view, query, prefix=prefix, only=only)
    search.take_units(scores)
    return findings.ranked()


class _Cut(NamedTuple):
    """How regions are cut around hits."""

    before: int
    after: int
    boundary: str

    def of(
        self, hits: Sequence[Hit], symbols: Sequence[Symbol], total: int, lines: Sequence[str]
    ) -> list[Region]:
        return regions(
            hits, symbols, total, before=self.before, after=self.after, boundary=self.boundary, lines=lines
        )


class _Search:
    """Takes what the patterns and the vocabulary find into the findings."""

    def __init__(self, view: View, query: Query, findings: Findings, prefix: str, names: float) -> None:
        self._view, self._query, self._findings, self._prefix = view, query, findings, prefix
        self._names = names
        self._words = 1.0 if query.prose else 1 - (1 - BESIDE_HITS) * names
        """What names and vocabulary are worth in this query."""

    def take_hits(self, by_file: Mapping[str, Sequence[Hit]], cut: _Cut) -> None:
        """Take the regions of hits, and what the vocabulary says of the same lines."""
        judge = Judge(self._query, by_file, self._names)
        rows = {path: self._view.file_at(self._prefix + path) for path in by_file}
        share = self._findings.share
        order = {path: share(row.id) if row is not None else 0.0 for path, row in rows.items()}
        for place, path in enumerate(sorted(by_file, key=lambda path: (-order[path], path))):
            hits, row = by_file[path], rows[path]
            if not hits:
                continue
            near = place < READ_FILES
            if row is not None and not near and cut.boundary != "fn":
                self._take_windows(path, row, hits, cut, judge)
                continue
            file = self._findings.begin(path, row, read=near or row is None, units=near)
            outlined = row is not None and (near or cut.boundary == "fn")
            symbols = self._view.outlined(row.id) if row is not None and outlined else _NOTHING
            total = len(file.lines) or (row.lines if row is not None else hits[-1].line)
            test = row is not None and "test" in row.flags
            judged = judge.of_file(symbols, file.lines, test=test)
            for region in cut.of(hits, symbols, total, file.lines):
                said = judged(region)
                value, reasons, role = self._weighed(region, said, file, test=test)
                symbol = symbols[region.symbol].qualified if region.symbol >= 0 else ""
                hit = tuple([hit.line for hit in region.hits])
                one = Candidate(path, region.start, region.end, 0.0, reasons, symbol, role, hit, said.best)
                file.taken.append((value, one))

    def _take_windows(self, path: str, row: FileRow, hits: Sequence[Hit], cut: _Cut, judge: Judge) -> None:
        """Take the regions of a file that is not looked into: that costs a few microseconds each."""
        file = self._findings.begin(path, row, read=False, units=False)
        test = "test" in row.flags
        weighed: dict[tuple[tuple[str, ...], float], tuple[float, tuple[str, ...], str]] = {}
        for region in windows(hits, row.lines, before=cut.before, after=cut.after):
            said = judge.of_unread(region)
            key = said.reasons, said.value
            known = weighed.get(key)
            if known is None:
                known = weighed[key] = self._weighed(region, said, file, test=test)
            value, reasons, role = known
            lines = tuple([hit[0] for hit in region.hits])
            one = Candidate(path, region.start, region.end, 0.0, reasons, "", role, lines, said.best)
            file.taken.append((value, one))

    def _weighed(
        self, region: Region, said: Judgement, file: FileFindings, *, test: bool
    ) -> tuple[float, tuple[str, ...], str]:
        """Return a region's score (what its hits say, by what its file is and what the vocabulary says of it), reasons and role."""
        value, reasons, role = said.value * (FLOOR + (1 - FLOOR) * file.share), list(said.reasons), said.role
        if test:
            reasons.append("test")
            role = "test" if role in ("use", "") else role
            value *= 1.0 if self._query.wants_tests else TEST
        if is_aside(file.row):
            reasons.append("aside")
            role = ""
            value *= ASIDE
        units = file.units[:MOST_BESIDE]
        inside = [unit.score for unit in units if unit.start <= region.end and region.start <= unit.end]
        if inside:
            value += self._words * file.share * (max(inside) / units[0].score) ** OWN_POWER
        return value, tuple(reasons), role

    def take_units(self, scores: Scores) -> None:
        """Take the units of the best files that no region of hits touches."""
        for place, one in enumerate(scores.files[:VOCABULARY_FILES]):
            row = self._view.files[one.id]
            if row is None:
                continue
            path = row.path[len(self._prefix) :]
            file = self._findings.known(path) or self._findings.begin(
                path, row, read=place < READ_UNITS and row.kind == "code", units=True
            )
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
        heads = symbol is not None and unit.start <= symbol.name_line <= unit.end
        best = symbol.name_line if symbol is not None and heads else unit.start
        name = symbol.qualified if symbol is not None else ""
        return Candidate(path, unit.start, unit.end, 0.0, tuple(reasons), name, role, (), best)
