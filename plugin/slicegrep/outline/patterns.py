"""The fallback where no grammar serves: definitions by their first line, ends by indentation."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from slicegrep.outline.found import Found

__all__ = ["by_patterns"]

_LONGEST = 400
"""Characters of a line that may begin a definition; more is data."""
_SIGNATURE = 160
_CHECK = 4_096
"""Lines between two looks at the clock."""
_HEADER = 12
"""Lines that a function's parameters may take."""

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|open|sealed|data|pub"
    r"(?:\([\w ]+\))?|unsafe|extern|const|virtual|inline|constexpr|local|partial|case|implicit|suspend|declare|readonly"
    r"|template\s*<[^>]*>)\s+)*"
)
_CLASS = (
    r"(?P<class>class|struct|enum(?:\s+class)?|union|interface|trait|impl(?:<[^>]*>)?|object|record|protocol|extension"
    r"|actor|mixin|module|defmodule)\s+(?P<cname>[A-Za-z_$][\w:.$]*)"
)
_FUNCTION = (
    r"(?P<func>def|defp|defmacro|fn|fun|func|function\*?|sub|proc)\s+(?:\([^)]*\)\s*)?(?:self\.)?"
    r"(?P<fname>[A-Za-z_$][\w.:$?!]*)"
)
_ASSIGNED = (
    r"(?:(?:const|let|var|local)\s+)?(?P<aname>[A-Za-z_$][\w.$]*)\s*[:=]\s*(?:async\s+)?"
    r"(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|\w+\s*=>)"
)
_CALLED = r"(?:[\w:<>,*&\[\]?.@]+[ \t]+)*[*&]*(?P<mname>~?[A-Za-z_$][\w:$~]*)\s*\([^;=]*\)[^;=()]*\{?\s*$"
_KEYWORDS = rf"\s*{_MODIFIERS}(?:{_CLASS}|{_FUNCTION}|{_ASSIGNED}"
_START = re.compile(_KEYWORDS + ")")
_START_OR_CALL = re.compile(rf"{_KEYWORDS}|{_CALLED})")
_CALL_LIKE = frozenset({"c", "cpp", "java", "csharp", "dart", "javascript", "typescript", "tsx", "bash"})
"""Languages whose functions may begin like a call: only a block after it tells."""
_NOT_NAMES = frozenset(
    {
        "if", "for", "while", "switch", "catch", "return", "else", "do", "elif", "elsif", "unless", "until", "with",
        "match", "case", "when", "except", "try", "throw", "new", "await", "yield", "assert", "sizeof", "foreach",
        "using", "lock", "synchronized", "not", "and", "or", "print", "defined",
    }
)  # fmt: skip
_CLOSER = re.compile(r"\s*(?:[}\])]|end\b)")
_CONTINUED = re.compile(r"\s*(?:\{|#|//|where\b|throws\b|then\b|do\b)")
_MARGIN = re.compile(
    r"#\s*(?:if|ifdef|ifndef|else|elif|endif|define|undef|pragma|region|endregion)\b|\w+:\s*$"
)
_OPENS = ("{", "=>", ":", "(", "[")
_DECORATOR = re.compile(r"\s*(?:@\w|#\[|\[\w+[\](])")


@dataclass(slots=True)
class _Open:
    indent: int
    found: Found
    calls: bool
    """Whether only a body can tell it from a call."""
    body: bool = False
    block: bool = False


def by_patterns(lines: tuple[str, ...], language: str, deadline: float) -> list[Found]:
    """Return the definitions that line patterns find until the deadline; offsets are those of rows, not of bytes."""
    start = _START_OR_CALL if language in _CALL_LIKE else _START
    done: list[Found] = []
    opened: list[_Open] = []
    last = -1
    for row, line in enumerate(lines):
        if row % _CHECK == _CHECK - 1 and time.monotonic() > deadline:
            break
        stripped = line.lstrip()
        if not stripped:
            continue
        if opened and _MARGIN.match(line):  # directives and labels stand at the margin inside functions
            continue
        indent = _indent(line)
        while opened and opened[-1].indent >= indent:
            one = opened[-1]
            heading = stripped[0] == "{" and not one.block
            if one.indent == indent and (heading or not one.body) and _CONTINUED.match(line):
                one.block = one.block or stripped[0] == "{"
                break
            closes = one.indent == indent and _CLOSER.match(line) is not None
            if closes and line.rstrip().endswith(_OPENS):  # `) -> T {` after parameters on lines of their own
                one.block = True
                break
            end = row if closes else last
            opened.pop()
            _close(one, end, done)
            if end == row:
                break
        if opened and indent > opened[-1].indent:
            opened[-1].body = True
        last = row
        if len(line) <= _LONGEST and stripped[0] not in "#*/-})];,":
            begun = _begun(start, lines, row)
            if begun is not None:
                opened.append(begun)
    for one in reversed(opened):
        _close(one, last, done)
    return done


def _close(one: _Open, end: int, done: list[Found]) -> None:
    if one.calls and not one.block:
        return
    found = one.found
    found.end_row = max(end, found.name_row)
    found.end_byte = found.end_row + 1
    found.signature = found.signature.rstrip(" {:=")[:_SIGNATURE]
    done.append(found)


def _begun(pattern: re.Pattern[str], lines: tuple[str, ...], row: int) -> _Open | None:
    line = lines[row]
    if pattern is _START_OR_CALL:
        line = _header(lines, row)
    match = pattern.match(line)
    if match is None:
        return None
    group = match.groupdict()
    called = group.get("mname")
    name = group["cname"] or group["fname"] or group["aname"] or called
    if not name or (called and called in _NOT_NAMES):
        return None
    kind = group["class"].split()[0].partition("<")[0] if group["class"] else "function"
    kind = "module" if kind == "defmodule" else kind
    start = row
    while start and _DECORATOR.match(lines[start - 1]):
        start -= 1
    *scope, name = re.split(r"::|\.", name.rstrip(":.")) or [name]
    found = Found(kind, name, tuple(scope), start, row, start, row, row, " ".join(line.split()))
    return _Open(_indent(lines[row]), found, called is not None, block=line.rstrip().endswith("{"))


def _header(lines: tuple[str, ...], row: int) -> str:
    """Return the line, with those after it that its open parenthesis needs."""
    line = lines[row]
    for follower in lines[row + 1 : row + _HEADER]:
        if line.count("(") <= line.count(")") or ";" in line or len(line) > _LONGEST:
            break
        line = f"{line} {follower}"
    return line


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))
