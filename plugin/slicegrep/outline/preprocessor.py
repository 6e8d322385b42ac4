"""C and its kin: text without its preprocessor lines, and without the insides of its functions."""

from __future__ import annotations

import re

from slicegrep.outline.found import Found
from slicegrep.outline.prepare import blank

__all__ = ["hollowed", "without_preprocessor"]

_NOT_CODE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_MACRO = re.compile(rb"[ \t]+(\w+)(\([^()\n]*\))?")
_BRACKETS = {ord("{"): 1, ord("}"): -1, ord("("): 1, ord(")"): -1}
_OPENED = re.compile(rb"[{}()]")


def without_preprocessor(text: bytes) -> tuple[bytes, list[Found]]:
    """C or C++ text of the same length with the preprocessor's lines blank, and its macros.

    Both branches of an `#if` stay where each is whole (so that both definitions of a function are known); where a
    branch opens what it does not close, only the first stays, and the brackets of the rest of the file hold.
    """
    masked = _NOT_CODE.sub(_blank, text)
    out = bytearray(text)
    macros: list[Found] = []
    row, at = 0, 0
    groups: list[list[int]] = []
    for match in _DIRECTIVE.finditer(masked):
        start, end = match.span()
        word = match.group(1) or b""
        row, at = row + text.count(b"\n", at, start), start
        end = _with_comment(text, start, end)
        if word == b"define":
            macro = _macro(text, match, row)
            if macro is not None:
                macros.append(macro)
        elif word in (b"if", b"ifdef", b"ifndef"):
            groups.append([end])
        elif word in (b"else", b"elif", b"elifdef", b"elifndef") and groups:
            groups[-1] += (start, end)
        elif word == b"endif" and groups:
            group = groups.pop()
            group.append(start)
            _choose(out, masked, group)
        out[start:end] = blank(text[start:end])
    return bytes(out), macros


def _with_comment(text: bytes, start: int, end: int) -> int:
    """Return the end of a directive with the comment that begins in it and goes on below."""
    opened = text.rfind(b"/*", start, end)
    if opened < 0 or text.find(b"*/", opened + 2, end) >= 0 or text.find(b"//", start, opened) >= 0:
        return end
    closed = text.find(b"*/", end)
    return closed + 2 if closed >= 0 else end


def _choose(out: bytearray, masked: bytes, group: list[int]) -> None:
    branches = list(zip(group[::2], group[1::2], strict=True))
    if len(branches) == 1 or all(_whole(masked[start:end]) for start, end in branches):
        return
    for start, end in branches[1:]:
        out[start:end] = blank(bytes(out[start:end]))


def _whole(branch: bytes) -> bool:
    """Whether a branch closes what it opens and ends where a statement or a definition ends."""
    code = b"\n".join(line for line in branch.split(b"\n") if not line.lstrip().startswith(b"#")).strip()
    if not code:
        return True
    depth = 0
    for bracket in _OPENED.findall(code):
        depth += _BRACKETS[bracket[0]]
        if depth < 0:
            return False
    return depth == 0 and code[-1:] in b";}:,"


def _macro(text: bytes, match: re.Match[bytes], row: int) -> Found | None:
    parts = _MACRO.match(match.group(2))
    if parts is None:
        return None
    start, end = match.span()
    rows = text.count(b"\n", start, end)
    if parts.group(2) is None and not rows:
        return None
    name = parts.group(1).decode("utf-8", "replace")
    signature = f"#define {name}{(parts.group(2) or b'').decode('utf-8', 'replace')}"
    return Found("macro", name, (), start, end, row, row + rows, row, signature, absolute=True)


def _blank(match: re.Match[bytes]) -> bytes:
    found = match.group()
    return found if found[:1] in b"\"'" and b"\n" not in found and len(found) < 3 else blank(found)


def hollowed(text: bytes) -> bytes:
    """Return the text with the bodies of functions blank but for their braces.

    What a grammar stumbles over stands mostly in bodies; without them the definitions around hold.
    """
    masked = _NOT_CODE.sub(_blank, text)
    out = bytearray(text)
    bodies: list[bool] = []
    begin = opened = 0
    inside = 0
    for match in _BRACES.finditer(masked):
        at = match.start()
        sign = masked[at : at + 1]
        if sign == b"{":
            header = masked[max(begin, at - _HEADER) : at]
            body = not inside and _BODY_FOLLOWS.search(header) is not None and not _TYPE.search(header)
            if body:
                opened = at + 1
            inside += body or inside > 0
            bodies.append(body)
        elif sign == b"}" and bodies:
            bodies.pop()
            if inside:
                inside -= 1
                if not inside:
                    out[opened:at] = blank(bytes(out[opened:at]))
        begin = at + 1
    return bytes(out)


_TYPE = re.compile(
    rb"(?<![<,])(?<![<,] )\b(?:class|interface|record|extension|protocol|actor)\s+\w|\bobject\s+\w+\s*[:{(]"
)
"""A class may take parameters too: `class A(x: Int) : B(x) {`."""
_BRACES = re.compile(rb"[{};]")
_HEADER = 2_000
"""Bytes before a brace in which a function's parameters are looked for."""
_BODY_FOLLOWS = re.compile(
    rb"\)(?:\s*(?:const|volatile|noexcept|override|final|mutable|constexpr|try|&&?))*(?:\s*->[^(){};]*(?:\([^{};]*\))?[^(){};]*)?\s*$"
)
