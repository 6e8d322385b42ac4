"""The places that a text points to: file and line in tracebacks, compiler messages, test failures and search hits."""

from __future__ import annotations

import re
from collections.abc import Iterator  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.languages import language_of

__all__ = ["find_references", "refers_to"]

# A longer line is data, not a message; what points to a file stands near its start.
_LONGEST_LINE = 2_000
_LONGEST_PATH = 400
# The number of a message stands after one of its first few colons and brackets.
_MOST_IN_LINE = 20

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NUMBER = r"(\d{1,7})"
_BRACKETED = rf"\({_NUMBER}(?:[,:] ?\d{{1,7}})?\)"
# Every branch begins with one certain character: `re` skips to the next of those, which takes a third of the time away.
_ANCHOR = re.compile(
    rf'", line {_NUMBER}'  # Python: File "a.py", line 3
    rf"|:\[{_NUMBER}[,\]]"  # Maven: A.java:[3,5]
    rf"|: ?{_BRACKETED}| {_BRACKETED}|{_BRACKETED}"  # tsc, C#, pdb, Kotlin, GHC: a.ts(3,5)  a.py(3)  a.kt: (3, 5)  A.hs:(3,5)
    rf"|:{_NUMBER}(?!\d|\.\d)"  # everybody else: a.c:3:5
    rf"|: ?line {_NUMBER}| (?:on )?line {_NUMBER}"  # Perl, PHP, C#, sh: a.pl line 3
    rf"| {_NUMBER}:\d{{1,7}}(?!\S)"  # Dart: a.dart 3:5
)
# No anchor is without one, and few lines of code have one: looking for it takes a tenth of the time.
_DIGIT = re.compile(r"\d")
_BEFORE_PATH = re.compile(r"[\s\"'`()<>\[\]{},;=|]+")
_FRAME = re.compile(r"(?:^|[\s/])([\w$]+(?:\.[\w$<>]+)+)\($")
_LINTED = re.compile(r"\s+(\d{1,7}):\d{1,7}\s+(?:error|warning)\b")
_DRIVE = re.compile(r"(?:^|[^A-Za-z])([A-Za-z])$")


def find_references(text: str, limit: int) -> list[tuple[str, int]]:
    """Return up to `limit` different (path, 1-based line) in the order of the text, only of source code.

    Paths are as they were written, without `./` and `file://`; a Java frame's file carries its package's folders
    (`com/acme/Foo.java`). The time is linear in the text: long lines are looked at in part.
    """
    found: dict[tuple[str, int], None] = {}
    heading = ""
    for whole in text.split("\n"):
        line = whole[:_LONGEST_LINE]
        if "\x1b" in line:
            line = _COLOUR.sub("", line)
        linted = _LINTED.match(line) if heading else None
        if linted is not None:
            found[heading, int(linted[1])] = None
        else:
            heading = _cleaned(line.strip()) if "." in line and ":" not in line[2:] else ""
            if _DIGIT.search(line):
                found.update(dict.fromkeys(_in_line(line)))
        if len(found) >= limit:
            break
    return list(found)[:limit]


def refers_to(reference: str, file: str) -> bool:
    """Whether a path as `find_references` gives it can mean this file (an absolute path): by its last parts."""
    wanted = _parts(reference)
    present = _parts(file)
    if reference.startswith("/") or reference[1:2] == ":":
        return wanted == present
    return bool(wanted) and present[-len(wanted) :] == wanted


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]


def _in_line(line: str) -> Iterator[tuple[str, int]]:
    for tried, anchor in enumerate(_ANCHOR.finditer(line)):
        if tried == _MOST_IN_LINE:
            return
        number = int(anchor[anchor.lastindex or 0])
        start = anchor.start()
        before = line[max(0, start - _LONGEST_PATH) : start]
        quoted = before.rpartition('"')[2] if anchor[1] is not None else _BEFORE_PATH.split(before)[-1]
        path = _cleaned(quoted)
        if path and number:
            yield _with_package(path, before, quoted), number


def _cleaned(text: str) -> str:
    """Return the path in a word that ends where a path does, or "" where that is not one of source code."""
    head, colon, path = text.rpartition(":")
    drive = _DRIVE.search(head) if colon and path[:1] in ("\\", "/") and path[:2] != "//" else None
    if drive is not None:
        path = f"{drive[1]}:{path}"
    if path.startswith("//"):
        path = path.lstrip("/") if head.endswith("webpack") else "/" + path.lstrip("/")
    while path.startswith(("./", ".\\")):
        path = path[2:]
    return path if language_of(path) else ""


def _with_package(path: str, before: str, quoted: str) -> str:
    """Put the package of a JVM frame, `at com.acme.Foo.bar(Foo.java:3)`, in front of its bare file name."""
    if "/" in path or not before.endswith(f"({quoted}"):
        return path
    frame = _FRAME.search(before[: len(before) - len(quoted)])
    if frame is None or language_of(path) not in ("java", "kotlin", "scala"):
        return path
    package = frame[1].split(".")[:-2]
    return "/".join((*package, path))
