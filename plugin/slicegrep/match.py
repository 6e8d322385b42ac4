"""Which lines of which files the patterns of a search match."""

from __future__ import annotations

import os
import re
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.candidates import Hit
from slicegrep.dialect import BrokenError
from slicegrep.expressions import expression_of, groups_of, literal_of, salvaged
from slicegrep.narrowing import narrowed
from slicegrep.source import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from slicegrep.expressions import Expression, Group
    from slicegrep.index.view import View
    from slicegrep.query import Pattern
    from slicegrep.types import Source
    from slicegrep.walk import Skipped

__all__ = ["LONGEST_LINE", "MOST_HITS", "Matches", "find"]

LONGEST_LINE = 5_000
"""Characters. A longer line is minified or encoded, and is not searched."""
MOST_HITS = 50_000
"""Lines. Patterns that match more tell nothing apart (`e` matches 340,000 lines of Django, which takes a second)."""

# Bytes that are searched between two looks at the clock, to a line's end. A line of LONGEST_LINE characters fits. RE2
# falls back to its slowest engine where a DFA grows too large: `[a-z].{900}q` takes 0.05 s for so much ordinary code.
_CHUNK = 32_768

_HIT = partial(tuple.__new__, Hit)
"""Makes one of a line and its patterns: a named tuple's own way takes three times as long, and there can be 50,000."""
_SHOWN = 60  # characters of a pattern in a note
_NAMED = 5  # patterns that are named in notes of one kind


class Matches(NamedTuple):
    """The lines that match. Paths as they were handed in; a file's hits ascend."""

    by_file: dict[str, tuple[Hit, ...]]
    notes: tuple[str, ...] = ()
    """What was not taken at its word or not looked at, each a sentence."""
    skipped: tuple[Skipped, ...] = ()
    """Files that could not be read."""


def find(
    root: str,
    files: Sequence[str],
    patterns: Sequence[Pattern],
    *,
    case_sensitive: bool = False,
    seconds: float = 2.0,
    view: View | None = None,
    read: Callable[[str], Source | None] | None = None,
    prefix: str = "",
) -> Matches:
    """Find the lines of `files` (paths relative to the folder `root`, with `/`) that a pattern's `regex` matches.

    A line is one of source.source_of's: up to an LF, without its CR. One of more than LONGEST_LINE characters is left
    out. RE2 runs what it can, in time linear in the text; look-around and back-references are run by an engine that
    backtracks, for at most half of `seconds` each. What is no regular expression, or runs out of time, is searched as
    a literal; so is one without a match that was perhaps not meant as one (`get(x)`). A pattern that matches an empty
    line counts for nothing. It stops after `seconds` (at most twice that with the second look at literals), or at MOST_HITS
    lines. The notes tell each of these.

    Files are read through `view` (which has them at `prefix` + path, and whose identifiers tell which of them cannot
    match), else by `read`, else from the disk. Raises nothing.
    """
    search = _Search(root, view, read, prefix, case_sensitive=case_sensitive, seconds=seconds)
    first = search.expressions([(number, pattern.regex) for number, pattern in enumerate(patterns)])
    search.run(files, first)
    again: dict[int, str] = {}
    missed: dict[int, str] = {}
    for one in first:
        if one.is_spent and not search.is_full:
            search.note("takes too long to match: searched as a literal too", one.regex)
            again[one.number] = literal_of(one.regex)
        elif one.number not in search.matched and not search.stopped and not patterns[one.number].literal:
            other = _otherwise(one.regex)
            if other is not None:
                again[one.number] = other
                missed[one.number] = one.regex
    if again:
        search.run(files, search.expressions(again.items(), quietly=True))
        for number in sorted(search.matched & missed.keys()):
            search.note(
                "matches nothing as a regular expression: searched as it was perhaps meant", missed[number]
            )
    return search.result()


def _otherwise(regex: str) -> str | None:
    """Return what a regular expression without a match may have meant: grep's basic syntax, or the text itself."""
    if "\\|" in regex:
        return re.sub(r"\\([|()])", r"\1", regex)
    if re.search(r"(?<!\\)[()\[\]{}*+?^$]", regex):
        return literal_of(regex)
    return None


class _Search:
    """A run of `find`: what was found so far, and how long it may still take."""

    def __init__(
        self,
        root: str,
        view: View | None,
        read: Callable[[str], Source | None] | None,
        prefix: str,
        *,
        case_sensitive: bool,
        seconds: float,
    ) -> None:
        self.root = root
        self.view = view
        self.read = read
        self.prefix = prefix
        self.case_sensitive = case_sensitive
        self.seconds = seconds
        self.found: dict[str, dict[int, tuple[int, ...]]] = {}
        self.matched: set[int] = set()
        self.stopped = False
        self._count = 0
        self._deadline = 0.0
        self._said: dict[str, list[str]] = {}
        self._notes: list[str] = []
        self._long: dict[str, int] = {}
        self._skipped: dict[str, Skipped] = {}

    def note(self, what: str, regex: str) -> None:
        """Say something about a pattern."""
        self._said.setdefault(what, []).append(repr(regex if len(regex) <= _SHOWN else regex[:_SHOWN] + "…"))

    def expressions(self, patterns: Iterable[tuple[int, str]], *, quietly: bool = False) -> list[Expression]:
        """Make patterns ready to run, and note those that are not taken at their word."""
        ready = []
        for number, regex in patterns:
            notes = []
            try:
                one = self._expression(number, regex)
            except BrokenError as error:
                notes.append(f"is no regular expression ({error}): searched as a literal")
                try:
                    one = self._expression(number, salvaged(regex, case_sensitive=self.case_sensitive))
                except BrokenError:
                    notes[:] = ["is too large to be searched: left out"]
                    one = None
            if one is not None:
                ready.append(one)
                if one.spans_lines:
                    notes.append("asks for a line's end, but a match is within one line")
            elif not notes:
                notes.append("matches an empty line, so it tells nothing apart: left out")
            for note in notes if not quietly else ():
                self.note(note, regex)
        return ready

    def _expression(self, number: int, regex: str) -> Expression | None:
        return expression_of(number, regex, case_sensitive=self.case_sensitive, seconds=self.seconds / 2)

    def run(self, files: Sequence[str], expressions: Sequence[Expression]) -> None:
        """Search files for expressions, and add what is found."""
        groups = groups_of(expressions, case_sensitive=self.case_sensitive)
        if not groups:
            return
        chosen, of_group = self._narrowed(files, groups)
        self._deadline = monotonic() + self.seconds
        self.stopped = False
        for done, path in enumerate(chosen):
            data = self._data(path)
            if data is None:
                from slicegrep.walk import Skipped  # noqa: PLC0415 (2 ms, and most files can be read)

                self._skipped[path] = Skipped(path, "it cannot be read")
                continue
            for group, its in zip(groups, of_group, strict=True):
                if its is None or path in its:
                    self._search(path, data, group)
            if self.stopped:
                self._notes.append(f"{done + 1} of {len(chosen)} files were searched before it stopped.")
                return

    def _narrowed(
        self, files: Sequence[str], groups: Sequence[Group]
    ) -> tuple[Sequence[str], list[frozenset[str] | None]]:
        """Return the files to be searched, and for each group which of them: None for all."""
        found = narrowed(
            self.root, files, [group.expressions for group in groups], view=self.view, prefix=self.prefix
        )
        if len(groups) == 1:
            return found[0], [None]
        of_group = [None if one is files else frozenset(one) for one in found]
        if None in of_group:
            return files, of_group
        there = frozenset().union(*found)
        return [path for path in files if path in there], of_group

    def _data(self, path: str) -> bytes | None:
        """Return the lines of a file as UTF-8, each but the last with its LF."""
        if self.view is not None:
            return self.view.utf8_lines(self.prefix + path)
        source = self.read(path) if self.read is not None else read_source(os.path.join(self.root, path))
        return None if source is None else source.text.encode("utf-8", "replace")

    def _search(self, path: str, data: bytes, group: Group) -> None:
        line, counted, last = 1, 0, 0
        only = None if group.only is None else (group.only.number,)
        lines = self.found.get(path, {})
        for at, stop in _pieces(data):
            if stop - at > _CHUNK:  # one line
                self._long.setdefault(path, data.count(b"\n", 0, at) + 1)
                continue
            for end in group.ends(data, at, stop):
                line += data.count(b"\n", counted, end)
                counted = end
                if line == last:
                    continue
                last = line
                begin = data.rfind(b"\n", 0, end) + 1
                if end - begin > LONGEST_LINE and _is_long(data[begin:end]):
                    self._long.setdefault(path, line)
                    continue
                numbers = only or tuple([one.number for one in group.matching(data[begin:end])])
                if numbers:
                    known = lines.get(line)
                    lines[line] = tuple(sorted({*known, *numbers})) if known else numbers
                    self._count += 1
                    self.matched.update(numbers)
            if self.is_full or monotonic() > self._deadline:
                self._stop()
                break
        if lines:
            self.found[path] = lines

    @property
    def is_full(self) -> bool:
        """Whether more matched than is of use."""
        return self._count >= MOST_HITS

    def _stop(self) -> None:
        if not self.stopped:
            self.stopped = True
            self._notes.append(
                f"Over {MOST_HITS:,} lines match: ask for something rarer."
                if self.is_full
                else f"The search was ended after {self.seconds:g} seconds."
            )

    def result(self) -> Matches:
        """Return all that was found."""
        notes = []
        for what, patterns in self._said.items():
            notes += [f"{pattern} {what}." for pattern in patterns[:_NAMED]]
            if len(patterns) > _NAMED:
                notes.append(f"{len(patterns) - _NAMED:,} further patterns: {what}.")
        if self._long:
            path, line = next(iter(self._long.items()))
            notes.append(
                f"Lines of over {LONGEST_LINE:,} characters were not searched, in {len(self._long)} files; the first is {path}:{line}."
            )
        return Matches(
            {path: tuple(map(_HIT, sorted(lines.items()))) for path, lines in sorted(self.found.items())},
            (*notes, *self._notes),
            tuple(self._skipped.values()),
        )


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where pieces begin and end: at lines' edges, the last LF of each left out.

    A piece has at most _CHUNK bytes, but for a line that is longer: it is a piece of its own.
    """
    at, size = 0, len(data)
    while at < size:
        stop = size
        if size - at > _CHUNK:
            stop = data.rfind(b"\n", at, at + _CHUNK)
            if stop < 0:
                stop = data.find(b"\n", at + _CHUNK)
                stop = size if stop < 0 else stop
        yield at, stop
        at = stop + 1


def _is_long(line: bytes) -> bool:
    return len(line.decode("utf-8", "replace")) > LONGEST_LINE
