"""What import statements bind, by their text, one language after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slicegrep.graph.facts import Binding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["bindings_of"]

_NAME = r"[A-Za-z_$][\w$]*"


def bindings_of(language: str, statement: str, line: int) -> list[Binding]:
    """Return what the import statement that begins in a line binds. Nothing for a text that is none."""
    reader = _READERS.get(language)
    return [] if reader is None else list(reader(statement, line))


# Python

_FROM = re.compile(r"from\s*(?P<module>[.\s]*[\w.]*)\s*\bimport\b", re.DOTALL)
_PYTHON_NAME = re.compile(r"(?P<name>\*|[\w.]+)(?:\s+as\s+(?P<local>\w+))?")


def _python(statement: str, line: int) -> Iterator[Binding]:
    text = re.sub(r"#[^\n]*", lambda match: " " * len(match.group()), statement)
    opened = _FROM.match(text)
    if opened is not None:
        module = re.sub(r"\s", "", opened["module"])
        for found in _PYTHON_NAME.finditer(text, opened.end()):
            name = found["name"]
            yield Binding(found["local"] or name, module, name, line + text.count("\n", 0, found.start()))
        return
    for found in _PYTHON_NAME.finditer(text, len("import")):
        name, local = found["name"], found["local"]
        at = line + text.count("\n", 0, found.start())
        yield Binding(local or name, name, "", at)


# JavaScript and TypeScript

_SOURCE = re.compile(r"(?:\bfrom\s*|^\s*import\s*)[\"']([^\"']+)[\"']")
_REQUIRED = re.compile(
    rf"import\s+({_NAME})\s*=\s*(?:require\s*\(\s*[\"']([^\"']+)[\"']|({_NAME}(?:\.{_NAME})*))"
)
_LISTED = re.compile(rf"(?:type\s+)?(?P<name>{_NAME})(?:\s+as\s+(?P<local>{_NAME}))?\s*(?:,|$)")
_DEFAULT = re.compile(rf"\s*import\s+(?:type\s+)?({_NAME})\s*(?:,|\bfrom\b)")
_STAR = re.compile(rf"\*(?:\s*as\s+({_NAME}))?")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_EXPORTED_DEFAULT = re.compile(
    rf"\s*export\s+default\s+(?:(?:async\s+)?function\*?\s*|(?:abstract\s+)?class\s+)?({_NAME}(?:\.{_NAME})*)"
)


def _script(statement: str, line: int) -> Iterator[Binding]:
    exported = statement.startswith("export")
    if exported and "{" in statement and re.match(r"export\s+(?!type\s*\{|\{|\*)", statement):
        statement = statement[: statement.index("{")]
    text = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), statement)
    source = _SOURCE.search(text)
    if source is None:
        yield from _without_source(text, line)
        return
    module = source.group(1)
    head = text[: source.start()] or text
    opened, closed = head.find("{"), head.find("}")
    outside = head if opened < 0 else head[:opened]
    if opened >= 0:
        yield from _listed(head, opened + 1, closed, module, line, exported=exported)
    default = _DEFAULT.match(text)
    if default is not None and not exported:
        yield Binding(default.group(1), module, "default", line)
    star = _STAR.search(outside)
    if star is not None and star.group(1):
        yield Binding(star.group(1), module, "", line, exported)
    elif star is not None:
        yield Binding("*", module, "*", line, exported)


def _listed(text: str, start: int, end: int, module: str, line: int, *, exported: bool) -> Iterator[Binding]:
    at = start
    for item in text[start:end].split(","):
        found = _LISTED.search(item.strip())
        if found is not None:
            where = line + text.count("\n", 0, at + len(item) - len(item.lstrip()))
            yield Binding(found["local"] or found["name"], module, found["name"], where, exported)
        at += len(item) + 1


def _without_source(text: str, line: int) -> Iterator[Binding]:
    required = _REQUIRED.match(text)
    if required is not None:
        yield Binding(
            required.group(1), required.group(2) or "", "" if required.group(2) else required.group(3), line
        )
        return
    default = _EXPORTED_DEFAULT.match(text)
    if default is not None:
        yield Binding("default", "", default.group(1), line, exported=True)
    elif "{" in text:
        for one in _listed(text, text.index("{") + 1, text.find("}"), "", line, exported=True):
            if one.local != one.name:
                yield one


_READERS: dict[str, Callable[[str, int], Iterator[Binding]]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
}
