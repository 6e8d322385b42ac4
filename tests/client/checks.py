"""What the client tests assert again and again: numbered lines that are true, a read that was narrowed, a leak."""

from __future__ import annotations

import re
from pathlib import Path

from driver import Received, ToolResult

__all__ = [
    "CONTEXT_UNITS",
    "assert_narrowed",
    "assert_true_lines",
    "assert_whole",
    "delivery",
    "file_lines",
    "notice",
    "numbered",
    "units",
]

CONTEXT_UNITS = 9_500
"""UTF-16 code units that one context may have; past 10,000 the client shows a 2 kB preview."""

_NUMBERED = re.compile(r"^ *(\d+)(?:[\t→](.*)$|\s*\Z)", re.MULTILINE)
"""A number, a tab (an arrow in other clients), the line. The client trims the end of a result: an empty last line has no tab."""


def units(text: str) -> int:
    """Return the UTF-16 code units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def file_lines(path: Path) -> list[str]:
    """Return a file's lines as Read shows them: split on LF only, CR of CRLF and the BOM dropped, an empty last one kept."""
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    return [line.removesuffix("\r") for line in text.split("\n")]


def numbered(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines of a text as (1-based number, line)."""
    return [(int(m.group(1)), m.group(2) or "") for m in _NUMBERED.finditer(text)]


def assert_true_lines(text: str, path: Path) -> list[int]:
    """Assert that each numbered line of `text` is the file's own line of that number; return the numbers.

    The client trims the end of a result that it folds a reminder into, so the last line may lack trailing space.
    """
    lines, shown = file_lines(path), numbered(text)
    assert shown, text[:500]
    for number, line in shown[:-1]:
        assert line == lines[number - 1], f"line {number} is not the file's"
    number, line = shown[-1]
    assert line.rstrip() == lines[number - 1].rstrip(), f"line {number} is not the file's"
    return [number for number, _ in shown]


def assert_whole(result: ToolResult, path: Path) -> None:
    """Assert that the result is the plain, whole file."""
    assert not result.error, result.text[:500]
    lines = file_lines(path)
    shown = assert_true_lines(result.text, path)
    last = [len(lines), len(lines) - 1] if not lines[-1] else [len(lines)]
    assert shown == list(range(1, shown[-1] + 1))
    assert shown[-1] in last


def assert_narrowed(result: ToolResult, path: Path) -> range:
    """Assert that the result is one contiguous part of the file, with true numbers; return its lines."""
    assert not result.error, result.text[:500]
    shown = assert_true_lines(result.text, path)
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert len(shown) < 0.6 * len(file_lines(path)), "the read was not narrowed"
    return range(shown[0], shown[-1] + 1)


def notice(received: Received, path: Path) -> str:
    """Return the one context of PreToolUse about this file."""
    return _only(received, path, "PreToolUse:Read")


def delivery(received: Received, path: Path) -> str:
    """Return the one context of PostToolUse about this file."""
    return _only(received, path, "PostToolUse:Read")


def _only(received: Received, path: Path, event: str) -> str:
    found = [c for c in received.ours if c.startswith(event) and str(path) in c]
    assert len(found) == 1, (event, len(found), received.contexts)
    return found[0]
