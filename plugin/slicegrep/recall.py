"""From a query, what its patterns match and what the index knows, to the regions that may answer, best first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slicegrep.expand import keys_of
from slicegrep.filescore import Scores, score_files
from slicegrep.hits import Judge, Judgement
from slicegrep.regions import regions
from slicegrep.types import Candidate
from slicegrep.units import UNIT_LINES, Unit, units_of

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
SPELLED = 1.0
"""On top of all else, for the definition of a symbol that the query spells: it comes before what only mentions it. With a
qualifier (`Session.request`) the text of a regular expression seldom stands in the definition's own line."""
NESTED = 0.8
"""Of a definition inside of another, where the query gives no qualifier."""
DECLARED_WORTH = 0.5
"""Of a declaration without a body, against a definition."""
MOST_SPELLED = 20
"""Definitions of one name that are lifted so, those of the best files: `get` is defined hundreds of times."""
NAMED_LINE = 2.0
NAMED_FILE = 1.0
LATER_FRAME = 0.1
"""On top of all else, for the definition around a line that the query names, and for the best unit of a file that it names;
each further frame of a traceback counts a little less than the one before."""
BESIDE_PLACES = 0.3
"""What a spelled name is worth beside lines that are named: a traceback spells dozens."""
NEAR_LINES = 20
"""Around a line that is named, where its definition is long."""
MOST_ALIKE = 3
"""Files that one path may mean (`core.py`)."""
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

    search = _Search(view, query, scores, prefix=prefix, read=read, only=only)
    search.take_hits(matches.by_file, cut)
    search.take_spelled()
    search.take_places()
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
    lifted: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    """Why a region was lifted: no reason counts twice."""


class _Search:
    """Collects the candidates of one search, file by file."""

    def __init__(
        self,
        view: View,
        query: Query,
        scores: Scores,
        *,
        prefix: str,
        read: Callable[[str], Source | None],
        only: frozenset[str] | None,
    ) -> None:
        self._only = only
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

    def take_spelled(self) -> None:
        """Lift the definitions of symbols that the query spells, also where no pattern matches them."""
        weight = self._names if self._query.route == "vague" else 0.0 if self._query.prose else 1.0
        if any(line for _, line in self._query.places):
            weight *= BESIDE_PLACES
        found = [self._view.symbol(number) for number in self._scores.exact] if weight else []
        found.sort(key=lambda symbol: (-self._share.get(symbol.file, 0.0), symbol.id))
        for symbol in found[:MOST_SPELLED]:
            row = self._view.files[symbol.file]
            if row is not None:
                end = min(symbol.end, symbol.start + UNIT_LINES - 1)
                worth = weight * SPELLED * (DECLARED_WORTH if symbol.kind == "declaration" else 1.0)
                worth *= NESTED if symbol.depth and (symbol.name, "") in self._query.symbols else 1.0
                self._lift(
                    row,
                    (symbol.start, end),
                    symbol.name_line,
                    worth,
                    reason="exact_symbol",
                    name=symbol.qualified,
                )

    def take_places(self) -> None:
        """Lift what stands around the lines, and in the files, that the query names."""
        places = list(self._query.places)
        if "Traceback (most recent call last)" in self._query.text:
            places.reverse()
        paths = self._view.paths_under(self._prefix) if places else ()
        for order, (named, line) in enumerate(places):
            for path in _meant(named, paths):
                row = self._view.file_at(self._prefix + path)
                if row is None or (self._only is not None and row.path not in self._only):
                    continue
                if line:
                    start, end, name = self._around(row, line)
                    worth = NAMED_LINE - LATER_FRAME * min(order, 10)
                    self._lift(row, (start, end), min(line, row.lines), worth, reason="place", name=name)
                else:
                    self._lift_file(row)

    def _around(self, row: FileRow, line: int) -> tuple[int, int, str]:
        """Return the innermost definition around a line, or the lines near it where that is long."""
        inside = [symbol for symbol in self._view.symbols_of(row.id) if symbol.start <= line <= symbol.end]
        symbol = max(inside, key=lambda one: (one.start, -one.end), default=None)
        low, high = (symbol.start, symbol.end) if symbol is not None else (1, row.lines)
        if high - low >= UNIT_LINES:
            low, high = max(low, line - NEAR_LINES), min(high, line + NEAR_LINES)
        return low, max(high, low), symbol.qualified if symbol is not None else ""

    def _lift_file(self, row: FileRow) -> None:
        file = self._file(row)
        if file.units:
            best = file.units[0]
            name = self._view.symbol(best.symbol).qualified if best.symbol >= 0 else ""
            self._lift(row, (best.start, best.end), best.start, NAMED_FILE, reason="place", name=name)
        else:
            self._lift(row, (1, min(row.lines, 2 * NEAR_LINES)), 1, NAMED_FILE, reason="place", name="")

    def _file(self, row: FileRow) -> _File:
        """Return what was found in a file of the view, so far."""
        path = row.path[len(self._prefix) :]
        file = self._files.get(path)
        if file is None:
            source = self._read(path) if row.kind == "code" else None
            units = units_of(self._view, row, self._scores, source.lines if source is not None else ())
            file = self._files[path] = _File(self._share.get(row.id, 0.0), row, units)
        return file

    def _lift(
        self, row: FileRow, lines: tuple[int, int], best: int, worth: float, *, reason: str, name: str
    ) -> None:
        """Add `worth` to what holds the line `best`, or take these lines as far as nothing else has them."""
        file = self._file(row)
        start, end = lines
        if row.kind != "code" or not row.flags.isdisjoint(_OTHERS):
            worth *= ASIDE
        if "test" in row.flags and not self._query.wants_tests:
            worth *= TEST
        role = "definition" if reason == "exact_symbol" else ""
        for at, (value, one) in enumerate(file.taken):
            if one.start <= best <= one.end:
                lifted = file.lifted.setdefault((one.start, one.end), set())
                worth = 0.0 if reason in lifted else worth
                lifted.add(reason)
                reasons = tuple(dict.fromkeys((reason, *one.reasons)))
                file.taken[at] = (
                    value + worth,
                    Candidate(
                        one.file, one.start, one.end, 0.0, reasons, name, role or one.role, one.hits, best
                    ),
                )
                return
        start = max([start, *[one.end + 1 for _, one in file.taken if one.end < best]])
        end = min([end, *[one.start - 1 for _, one in file.taken if one.start > best]])
        path = row.path[len(self._prefix) :]
        file.taken.append((worth, Candidate(path, start, end, 0.0, (reason,), name, role, (), best)))

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


def _meant(named: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a path in a text can mean: those with most of its last parts, the outermost first."""
    base = named.replace("\\", "/").rpartition("/")[2]
    alike = {path: _in_common(named, path) for path in paths if path.endswith(base)}
    most = max(alike.values(), default=0)
    best = [path for path, parts in alike.items() if parts == most and most]
    return sorted(best, key=lambda path: (path.count("/"), path))[:MOST_ALIKE]


def _in_common(named: str, path: str) -> int:
    """Return how many last parts a path as a text names it and a file's have in common; 0 where they are not one file."""
    wanted, present = named.replace("\\", "/").split("/"), path.split("/")
    alike = 0
    while alike < min(len(wanted), len(present)) and wanted[-1 - alike] == present[-1 - alike]:
        alike += 1
    return alike


def _scored(one: Candidate, score: float) -> Candidate:
    """Return a candidate with its score: dataclasses.replace takes three times as long, and there are hundreds."""
    return Candidate(
        one.file, one.start, one.end, score, one.reasons, one.symbol, one.role, one.hits, one.best
    )
