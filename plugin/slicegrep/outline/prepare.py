"""The text that a grammar gets to see: UTF-8, no absurd lines, no preprocessor; line numbers never shift."""

from __future__ import annotations

import re

from slicegrep.outline.found import Found

__all__ = ["LONGEST_LINE", "encoded", "repair", "without_preprocessor"]

LONGEST_LINE = 20_000
"""Characters. Longer lines (minified code, embedded data) are emptied: a parser spends about a second per MB on
them, and a map or an enclosing name is worth nothing where the whole program is one line."""


def encoded(lines: tuple[str, ...]) -> tuple[bytes, bool]:
    """Return the lines as UTF-8 joined by LF, and whether some were emptied for their length."""
    kept = [line if len(line) <= LONGEST_LINE else "" for line in lines]
    text = "\n".join(kept)
    return text.encode("utf-8", "surrogatepass"), len(text) < sum(map(len, lines)) + len(lines) - 1


def repair(text: bytes, repairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """Return the text with each (pattern, replacement) of equal length applied, line by line."""
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


_NOT_CODE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_MACRO = re.compile(rb"[ \t]+(\w+)(\([^()\n]*\))?")
_EXPORTED = re.compile(
    rb"\b(?:class|struct|union|enum(?:[ \t]+class)?)[ \t]+([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)"
    rb"(?=[ \t]+[A-Za-z_][\w:<>, ]*(?:[ \t]+final)?[ \t]*(?::[^:;{\n][^;{\n]*)?(?:\{|$))",
    re.MULTILINE,
)
_BRACKETS = {ord("{"): 1, ord("}"): -1, ord("("): 1, ord(")"): -1}
_OPENED = re.compile(rb"[{}()]")
_SPACE = re.compile(rb"[^\n]")


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
        out[start:end] = _spaces(text[start:end])
    for match in _EXPORTED.finditer(bytes(out)):
        start, end = match.span(1)
        out[start:end] = b" " * (end - start)
    return bytes(out), macros


def _choose(out: bytearray, masked: bytes, group: list[int]) -> None:
    branches = list(zip(group[::2], group[1::2], strict=True))
    if len(branches) == 1 or all(_whole(masked[start:end]) for start, end in branches):
        return
    for start, end in branches[1:]:
        out[start:end] = _spaces(bytes(out[start:end]))


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
    return depth == 0 and code[-1:] in b";}:,)"


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
    return found if found[:1] in b"\"'" and b"\n" not in found and len(found) < 3 else _spaces(found)


def _spaces(text: bytes) -> bytes:
    return _SPACE.sub(b" ", text)
