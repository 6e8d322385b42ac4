"""The candidates of one search, file by file, with scores that may still be raised, until they are ranked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slicegrep.candidates import Candidate
from slicegrep.units import units_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.filescore import Scores
    from slicegrep.index import FileRow, View
    from slicegrep.types import Source
    from slicegrep.units import Unit

__all__ = ["ASIDE", "TEST", "FileFindings", "Findings", "is_aside"]

AGAIN = 0.5
"""Each further region of a file counts so much of the one before, so that one file does not take all the places."""
TEST = 0.4
ASIDE = 0.4
"""Factors of what is in tests (unless asked for), and in what is not the project's own code."""

_OTHERS = frozenset({"vendored", "generated", "minified", "docs"})


@dataclass(slots=True)
class FileFindings:
    """What was found in one file."""

    path: str
    """Relative to the folder that is searched."""
    row: FileRow | None
    """None for a file that the index does not have."""
    share: float
    """Its score as a share of the best file's."""
    lines: Sequence[str] = ()
    """Its text, where it was read."""
    units: Sequence[Unit] = ()
    """What its vocabulary finds in it, best first."""
    taken: list[tuple[float, Candidate]] = field(default_factory=list)
    """Each with its score; the candidate's own is set at the end."""
    lifted: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    """Why a region was lifted: no reason counts twice."""


class Findings:
    """What was found so far. Paths are relative to the folder that is searched, `prefix` in the view."""

    def __init__(
        self, view: View, scores: Scores, *, prefix: str, read: Callable[[str], Source | None], tests: bool
    ) -> None:
        """`read` takes such paths. `tests`: whether tests are asked for."""
        self._view, self._scores, self._prefix, self._read, self._tests = view, scores, prefix, read, tests
        self._best = scores.files[0].score if scores.files else 1.0
        self._files: dict[str, FileFindings] = {}

    def share(self, file: int) -> float:
        """Return a file's score as a share of the best file's."""
        return self._scores.of(file) / self._best

    def known(self, path: str) -> FileFindings | None:
        """Return what was found in a file, None where it was not looked at."""
        return self._files.get(path)

    def begin(self, path: str, row: FileRow | None, *, read: bool, units: bool) -> FileFindings:
        """Look at a file for the first time: read it, and take its units, as far as told."""
        source = self._read(path) if read else None
        lines = source.lines if source is not None else ()
        found = units_of(self._view, row, self._scores, lines) if units and row is not None else ()
        share = self.share(row.id) if row is not None else 0.0
        file = self._files[path] = FileFindings(path, row, share, lines, found)
        return file

    def of(self, row: FileRow) -> FileFindings:
        """Return what was found in a file of the view so far; one that was not looked at is read."""
        path = row.path[len(self._prefix) :]
        return self._files.get(path) or self.begin(path, row, read=row.kind == "code", units=True)

    def lift(
        self,
        row: FileRow,
        lines: tuple[int, int],
        best: int,
        worth: float,
        *,
        reason: str,
        name: str,
        role: str,
    ) -> None:
        """Add `worth` to the region that holds the line `best`, or take `lines` as far as no other region has them."""
        file = self.of(row)
        start, end = lines
        worth *= ASIDE if is_aside(row) else 1.0
        worth *= TEST if "test" in row.flags and not self._tests else 1.0
        for at, (value, one) in enumerate(file.taken):
            if one.start <= best <= one.end:
                lifted = file.lifted.setdefault((one.start, one.end), set())
                worth = 0.0 if reason in lifted else worth
                lifted.add(reason)
                reasons = tuple(dict.fromkeys((reason, *one.reasons)))
                role = role or one.role
                raised = Candidate(one.file, one.start, one.end, 0.0, reasons, name, role, one.hits, best)
                file.taken[at] = (value + worth, raised)
                return
        start = max([start, *[one.end + 1 for _, one in file.taken if one.end < best]])
        end = min([end, *[one.start - 1 for _, one in file.taken if one.start > best]])
        file.taken.append((worth, Candidate(file.path, start, end, 0.0, (reason,), name, role, (), best)))

    def ranked(self) -> list[Candidate]:
        """Return all candidates, best first, the further ones of a file lowered; scores in hundredths of the best one's."""
        found: list[tuple[float, str, int, int, Candidate]] = []
        for path, file in self._files.items():
            demotion = 1.0
            taken = [(-value, one[1], at, one) for at, (value, one) in enumerate(file.taken)]
            taken.sort()
            for value, start, _, one in taken:
                found.append((value * demotion, path, start, len(found), one))
                demotion *= AGAIN
        found.sort()
        best = found[0][0] if found else 1.0
        return [
            Candidate(one[0], one[1], one[2], round(100 * value / best, 2), *one[4:])
            for value, _, _, _, one in found
        ]


def is_aside(row: FileRow | None) -> bool:
    """Whether a file is something else than the project's own code: documentation, configuration, vendored, generated."""
    return row is None or row.kind != "code" or not row.flags.isdisjoint(_OTHERS)
