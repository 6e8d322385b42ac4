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
    text = _without_comments(statement)
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


# Languages whose modules have dotted names

_GO = re.compile(r"(?:([\w.]+)\s+)?[\"`]([^\"`\n]+)[\"`]")
_VERSION = re.compile(r"v\d+$")


def _go(statement: str, line: int) -> Iterator[Binding]:
    for found in _GO.finditer(_without_comments(statement)):
        named, path = found.groups()
        at = line + statement.count("\n", 0, found.start())
        if named == ".":
            yield Binding("*", path, "*", at)
            continue
        parts = [part for part in path.split("/") if not _VERSION.match(part)] or [path]
        local = named if named and named != "import" else re.sub(r"^go-|[-.]go$|\.v\d+$", "", parts[-1])
        yield Binding(local, path, "", at)


_RUST_PART = re.compile(r"[\w#]+|::|[{},*]|\bas\b")


def _rust(statement: str, line: int) -> Iterator[Binding]:
    text = _without_comments(statement)
    start = re.search(r"\buse\b", text)
    above: list[list[str]] = [[]]
    path: list[str] = []
    local, at = "", 0
    for found in _RUST_PART.finditer(text, start.end() if start else 0):
        part = found.group()
        if part == "{":
            above.append(path)
            path = list(path)
        elif part in ",}":
            if path != above[-1] or local:
                yield from _rust_path(path, local, at)
            if part == "}" and len(above) > 1:
                above.pop()
            path, local = list(above[-1]), ""
        elif part == "as":
            local = "as"
        elif part != "::":
            at = line + text.count("\n", 0, found.start())
            if local == "as":
                local = part
            else:
                path = [*path, part]
    if path != above[0] and len(above) == 1:
        yield from _rust_path(path, local, at)


def _rust_path(path: list[str], local: str, line: int) -> Iterator[Binding]:
    if path and path[-1] == "self":
        path = path[:-1]
    if path:
        yield Binding(local or path[-1], ".".join(path[:-1]), path[-1], line)


_DOTTED = re.compile(
    r"import\s+(?:static\s+)?(?P<path>[\w$`]+(?:\s*\.\s*[\w$`]+)*)(?P<star>\s*\.\s*[*_])?(?:\s+as\s+(?P<local>\w+))?"
)
_SELECTED = re.compile(r"(?P<name>[\w*]+)(?:\s*(?:=>|as|:)\s*(?P<local>\w+))?")


def _dotted(statement: str, line: int) -> Iterator[Binding]:
    found = _DOTTED.match(statement)
    if found is None:
        return
    path = re.sub(r"[\s`]", "", found["path"])
    wild = bool(found["star"]) or path.endswith("._")
    path = path.removesuffix("._")
    listed = re.search(r"\{([^}]*)\}", statement)
    if listed is not None:  # Scala: import a.{B, C => D}
        for one in _SELECTED.finditer(listed.group(1)):
            at = line + statement.count("\n", 0, listed.start(1) + one.start())
            star = one["name"] in "_*"
            yield Binding(
                "*" if star else one["local"] or one["name"], path, "*" if star else one["name"], at
            )
    elif wild:
        yield Binding("*", path, "*", line)
    else:
        module, _, name = path.rpartition(".")
        yield Binding(found["local"] or name, module, name, line)


_USING = re.compile(r"(?:global\s+)?using\s+(?:static\s+)?(?:(?P<local>\w+)\s*=\s*)?(?P<path>[\w.]+)")


def _csharp(statement: str, line: int) -> Iterator[Binding]:
    found = _USING.match(statement)
    if found is not None and found["local"]:
        module, _, name = found["path"].rpartition(".")
        yield Binding(found["local"], module, name, line)
    elif found is not None:
        yield Binding("*", found["path"], "*", line)


_PHP_USE = re.compile(r"(?P<path>[\w\\]+)(?:\s+as\s+(?P<local>\w+))?\s*(?:,|;|$|\})")


def _php(statement: str, line: int) -> Iterator[Binding]:
    text = re.sub(r"^\s*use\s+(?:function\s+|const\s+)?", "", statement)
    before, opened, _ = text.partition("{")
    prefix = before.strip() if opened else ""
    for found in _PHP_USE.finditer(text, len(before) + 1 if opened else 0):
        path = (prefix + found["path"]).strip("\\").replace("\\", ".")
        module, _, name = path.rpartition(".")
        at = line + statement.count("\n", 0, len(statement) - len(text) + found.start())
        yield Binding(found["local"] or name, module, name, at)


_HASKELL = re.compile(
    r"import\s+(?:qualified\s+)?(?P<path>[\w.]+)(?:\s+qualified)?(?:\s+as\s+(?P<local>[\w.]+))?\s*(?P<hiding>hiding)?\s*(?P<list>\()?"
)


def _haskell(statement: str, line: int) -> Iterator[Binding]:
    found = _HASKELL.match(statement)
    if found is None:
        return
    yield Binding(found["local"] or found["path"], found["path"], "", line)
    if found["list"] and not found["hiding"]:
        for one in re.finditer(r"[A-Za-z_][\w']*", statement[found.end() :]):
            yield Binding(
                one.group(),
                found["path"],
                one.group(),
                line + statement.count("\n", 0, found.end() + one.start()),
            )
    elif "qualified" not in statement:
        yield Binding("*", found["path"], "*", line)


_DART = re.compile(
    r"(?P<kind>import|export|part)\s+[\"'](?P<path>[^\"']+)[\"'](?:\s+(?:deferred\s+)?as\s+(?P<local>\w+))?"
)


def _dart(statement: str, line: int) -> Iterator[Binding]:
    found = _DART.match(statement)
    if found is None:
        return
    path = re.sub(r"^package:[^/]+/", "", found["path"])
    if found["local"]:
        yield Binding(found["local"], path, "", line)
    else:
        yield Binding("*", path, "*", line, exported=found["kind"] == "export")


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


_READERS: dict[str, Callable[[str, int], Iterator[Binding]]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "go": _go,
    "rust": _rust,
    "java": _dotted,
    "kotlin": _dotted,
    "scala": _dotted,
    "csharp": _csharp,
    "php": _php,
    "haskell": _haskell,
    "dart": _dart,
}
