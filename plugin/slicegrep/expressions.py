"""Patterns made ready to run: RE2 where it can, an engine that backtracks under a time limit where it must, else plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from slicegrep.dialect import BrokenError, plain_text, reading_of

try:
    import re2
except ImportError:  # there is no wheel for musl and for Windows on ARM
    re2 = None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Expression", "Group", "expression_of", "groups_of", "literal_of", "salvaged"]

_MEMORY = 8 << 20
"""Bytes that RE2 may take for an expression; a larger one is given up."""
_SHARED_MEMORY = 64 << 20
"""For what runs: also many together. 10,000 words over Django's source take 18 ms with it, 112 ms with 8 MB."""
_APART = 4
"""So many expressions are faster one by one: RE2 leaps to the literal that one begins with, and nobody must ask which it was."""


_HELD = 5
"""Characters of a text that stands in few lines. RE2 takes 0.6 ms a MB where an expression begins with a text, and 1.5 where it
begins with an edge."""
_SAYS_MORE = 2
"""A text so many times as long as an identifier that stands in few files stands in fewer lines."""


@dataclass(slots=True)
class Expression:
    """One pattern of a query. `loose` is for RE2; where `exact` is set, it has the last word on a line that `loose` matches."""

    number: int
    """The index of the pattern in the query."""
    regex: str
    loose: str
    literals: tuple[str, ...]
    """Texts that a line which matches holds, in any case."""
    spans_lines: bool = False
    exact: Any = None
    left: float = 0.0
    """Seconds that `exact` may still take."""
    rarest: str = ""
    """A text that a line which matches holds, in any case, and that is known to stand in few files."""

    def matches(self, line: str) -> bool:
        """Whether the exact expression matches in a line; False once it has used up its time."""
        if self.left <= 0:
            return False
        begun = monotonic()
        try:
            return self.exact.search(line, timeout=self.left) is not None
        except TimeoutError:
            self.left = 0.0
            return False
        finally:
            self.left -= monotonic() - begun

    @property
    def is_spent(self) -> bool:
        """Whether it has used up its time, so that lines may be missing."""
        return self.exact is not None and self.left <= 0


class Group:
    """Expressions that are run together.

    `ends(data, start, end)` returns, for each line between two lines' edges in which one of them matches, where the line ends. A
    line may come twice.
    """

    def __init__(self, expressions: Sequence[Expression], *, case_sensitive: bool) -> None:
        """Compile them as one. Raises BrokenError where RE2 cannot hold them all."""
        self.expressions = tuple(expressions)
        self._options = _options(case_sensitive=case_sensitive, memory=_SHARED_MEMORY)
        self.only = expressions[0] if len(expressions) == 1 and expressions[0].exact is None else None
        """The one expression, where there is no need to ask `matching`."""
        loose = "|".join([f"(?:{one.loose})" for one in expressions])
        self._lines = _ends_of(_compiled(f"(?:{loose}).*", self._options))

    @cached_property
    def _held(self) -> Callable[[bytes, int, int], list[int]] | None:
        """Return what finds the lines with a text that every match holds, where that is quicker than to look for matches."""
        one = self.expressions[0]
        if len(self.expressions) > 1 or re2 is None or not one.loose.startswith(("^", r"\b")):
            return None
        texts = [
            part for text in one.literals for part in text.split("\0")
        ]  # it stands for the edge of a word
        longest = max(texts, key=len, default="")
        text = one.rarest if len(longest) < _SAYS_MORE * len(one.rarest) else longest
        if len(text) < _HELD:
            return None
        options = _options(case_sensitive=False, memory=_SHARED_MEMORY)
        return _ends_of(_compiled(f"{re2.escape(text)}.*", options))

    def ends(self, data: bytes, start: int, end: int) -> list[int]:
        """Return where lines end in which one of the expressions (their `loose`) matches."""
        if self._held is None:
            return self._lines(data, start, end)
        found = []
        for last in self._held(data, start, end):
            first = max(data.rfind(b"\n", start, last) + 1, start)
            if self._lines(data, first, last):
                found.append(last)
        return found

    def matching(self, line: bytes) -> list[Expression]:
        """Return the expressions that match in a line (without its end) that `ends` has found."""
        found = list(self.expressions) if len(self.expressions) == 1 or re2 is None else self._among(line)
        if all(one.exact is None for one in found):
            return found
        text = line.decode("utf-8", "replace")
        return [one for one in found if one.exact is None or one.matches(text)]

    def _among(self, line: bytes) -> list[Expression]:
        numbers = self._set.Match(line) if self._set is not None else None
        if numbers:
            return [self.expressions[number] for number in sorted(numbers)]
        # The set gives up on a line for which it would need more memory than it may have.
        return [one for one in self.expressions if _compiled(one.loose, self._options).search(line)]

    @cached_property
    def _set(self) -> Any:
        made = re2.Set.SearchSet(self._options)
        try:
            for one in self.expressions:
                made.Add(f"(?m){one.loose}")
            made.Compile()
        except re2.error:
            return None
        return made


def groups_of(expressions: Sequence[Expression], *, case_sensitive: bool) -> list[Group]:
    """Return expressions, each of which RE2 can run, in groups: a few one by one, more in as few as it can hold."""
    if len(expressions) <= _APART:
        return [Group([one], case_sensitive=case_sensitive) for one in expressions]
    try:
        return [Group(expressions, case_sensitive=case_sensitive)]
    except BrokenError:
        half = len(expressions) // 2
        return [
            *groups_of(expressions[:half], case_sensitive=case_sensitive),
            *groups_of(expressions[half:], case_sensitive=case_sensitive),
        ]


def expression_of(number: int, regex: str, *, case_sensitive: bool, seconds: float) -> Expression | None:
    """Make a regular expression ready to run on lines; None where it matches an empty line, and so every line.

    `seconds` is what an expression that must backtrack may take in all. Raises BrokenError.
    """
    reading = reading_of(regex)
    program = _compiled(reading.loose, _options(case_sensitive=case_sensitive))
    ready = Expression(number, regex, reading.loose, reading.literals, reading.spans_lines)
    if not reading.linear or re2 is None:
        # RE2 has bounded the size: what it takes is not too large for the other engine.
        ready.exact = _backtracking(reading.exact, wide=reading.wide, case_sensitive=case_sensitive)
        ready.left = seconds
        return None if ready.matches("") else ready
    return None if program.search(b"") else ready


def literal_of(regex: str) -> str:
    """Return the regular expression for a text that stands for itself."""
    return re.escape(plain_text(regex))


def salvaged(regex: str, *, case_sensitive: bool) -> str:
    """Return a broken regular expression with those of its alternatives that are broken taken as literals."""
    parts = []
    for part in re.split(r"(?<!\\)\|", regex):
        try:
            reading = reading_of(part)
            _compiled(reading.loose, _options(case_sensitive=case_sensitive))
            sound = reading.linear
        except BrokenError:
            sound = False
        if part:
            parts.append(part if sound else literal_of(part))
    return "|".join(parts)


def _options(*, case_sensitive: bool, memory: int = _MEMORY) -> Any:
    if re2 is None:
        return None
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.max_mem = memory
    options.never_capture = True
    options.never_nl = True  # so that a whole file is searched at once, and no match goes past a line's end
    return options


def _compiled(loose: str, options: Any) -> Any:
    if re2 is None:
        return re.compile(
            rb"^.*$", re.MULTILINE
        )  # every line is a candidate, for the exact expressions to decide
    try:
        return re2.compile(f"(?m){loose}", options)
    except re2.error as error:
        why = error.args[0]
        raise BrokenError(why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)) from error


def _ends_of(compiled: Any) -> Callable[[bytes, int, int], list[int]]:
    """Return what finds where the matches of an expression end: (data, start, end) -> ascending offsets.

    RE2 is asked by its binding: the module's own `finditer` makes a generator a call and an object a match, which takes a third of
    the time that 880 files of 6 kB take (4.5 ms against 2.8), and more where much matches. Another release may have another
    binding: then the module itself is asked.
    """
    try:
        match, unanchored = compiled._regexp.Match, re2._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001 (there is no other door)
    except (AttributeError, NameError):  # also without RE2
        return lambda data, start, end: [match.end() for match in compiled.finditer(data, start, end)]

    def ends(data: bytes, start: int, end: int) -> list[int]:
        found: list[int] = []
        while True:
            begin, last = match(unanchored, data, start, end)[0]  # named groups follow
            if begin < 0:
                return found
            found.append(last)
            start = last + 1  # a match ends where its line does
            if start > end:
                return found

    return ends


def _backtracking(exact: str, *, wide: bool, case_sensitive: bool) -> Any:
    import regex  # noqa: PLC0415 (15 ms that most searches do not need)

    flags = (0 if wide else regex.ASCII) | (0 if case_sensitive else regex.IGNORECASE)
    try:
        return regex.compile(exact, flags)
    except (regex.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise BrokenError(str(error)) from error
