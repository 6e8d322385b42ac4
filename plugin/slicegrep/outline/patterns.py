"""The fallback where no grammar serves: definitions by their first line, ends by indentation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slicegrep.outline.found import Found

__all__ = ["by_patterns"]

_LONGEST = 400
"""Characters of a line that may begin a definition; more is data."""
_SIGNATURE = 160

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
_CALLED = r"(?:[\w:<>,*&\[\]?]+[ \t*&]+)*(?P<mname>~?[A-Za-z_$][\w:$~]*)\s*\([^;=]*\)[^;=()]*(?:\{[^{}]*\}?|\{|)\s*$"
_START = re.compile(rf"\s*{_MODIFIERS}(?:{_CLASS}|{_FUNCTION}|{_ASSIGNED}|{_CALLED})")
_NOT_NAMES = frozenset(
    {
        "if", "for", "while", "switch", "catch", "return", "else", "do", "elif", "elsif", "unless", "until", "with",
        "match", "case", "when", "except", "try", "throw", "new", "await", "yield", "assert", "sizeof", "foreach",
        "using", "lock", "synchronized", "not", "and", "or", "print", "defined",
    }
)  # fmt: skip
_CLOSER = re.compile(r"\s*(?:[}\])]|end\b)")
_CONTINUED = re.compile(r"\s*(?:\{|#|//|[A-Za-z_]\w*:\s*$|where\b|throws\b|then\b|do\b)")
_DECORATOR = re.compile(r"\s*(?:@\w|#\[|\[\w+[\](])")


@dataclass(slots=True)
class _Open:
    indent: int
    found: Found
    calls: bool
    """Whether only a body can tell it from a call."""
    body: bool = False


def by_patterns(lines: tuple[str, ...]) -> list[Found]:
    """Return the definitions that line patterns find; offsets are those of rows, not of bytes."""
    done: list[Found] = []
    opened: list[_Open] = []
    last = -1
    for row, line in enumerate(lines):
        stripped = line.lstrip()
        if not stripped:
            continue
        indent = len(line[: len(line) - len(stripped)].expandtabs(8))
        while opened and opened[-1].indent >= indent:
            one = opened[-1]
            if one.indent == indent and _CONTINUED.match(line) and row - one.found.start_row < _LONGEST:
                break
            end = row if one.indent == indent and _CLOSER.match(line) else last
            opened.pop()
            _close(one, end, done)
            if end == row:
                break
        if opened and indent > opened[-1].indent:
            opened[-1].body = True
        last = row
        if len(line) <= _LONGEST and stripped[0] not in "#*/-})];,":
            begun = _begun(lines, row, line)
            if begun is not None:
                opened.append(_Open(indent, begun[0], begun[1]))
    for one in reversed(opened):
        _close(one, last, done)
    return done


def _close(one: _Open, end: int, done: list[Found]) -> None:
    if one.calls and not one.body and "{" not in one.found.signature:
        return
    found = one.found
    found.end_row = max(end, found.name_row)
    found.end_byte = found.end_row + 1
    found.signature = found.signature.rstrip(" {:=")[:_SIGNATURE]
    done.append(found)


def _begun(lines: tuple[str, ...], row: int, line: str) -> tuple[Found, bool] | None:
    match = _START.match(line)
    if match is None:
        return None
    group = match.groupdict()
    name = group["cname"] or group["fname"] or group["aname"] or group["mname"]
    if not name or name in _NOT_NAMES:
        return None
    kind = group["class"].split()[0].partition("<")[0] if group["class"] else "function"
    kind = "module" if kind == "defmodule" else kind
    start = row
    while start and _DECORATOR.match(lines[start - 1]):
        start -= 1
    *scope, name = re.split(r"::|\.", name.rstrip(":.")) or [name]
    found = Found(kind, name, tuple(scope), start, row, start, row, row, " ".join(line.split()))
    return found, group["mname"] is not None
