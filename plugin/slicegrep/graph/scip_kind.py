"""What the text around a reference tells of its kind, which SCIP does not say: a call, a base class, an import, or a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slicegrep.graph.facts import CALL, INHERITANCE, REFERENCE
from slicegrep.outline import enclosing
from slicegrep.outline.around import CLASS_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline

__all__ = ["import_lines", "kind_of_reference"]

_CALLED = re.compile(r"(?:\?\.|!|::)?(?:<[^;{}()=]*>)?\s?\(")
"""What stands behind a name that is called; type arguments may be between."""
_MADE = re.compile(r"(?:^|[^\w$.])new\s+(?:[\w$]+\s*(?:\.|::)\s*)*\Z")
"""What stands before a class of which an object is made."""
_IMPORT = re.compile(
    r"\s*(?:from\s+\S+\s+import\b|import\b|export\s*(?:type\s*)?[{*]"
    r"|(?:pub(?:\([^)]*\))?\s+)?use\s|using\s|#\s*include\b)"
)
_BASE = re.compile(r"\b(?:extends|implements|with|permits)\b|[(:<]")
_MOST_LINES = 60
"""Of one import statement, and of a class's head."""


def import_lines(lines: Sequence[str]) -> set[int]:
    """Return the 1-based lines of import statements, which reach over lines while a bracket is open."""
    found: set[int] = set()
    depth = begun = 0
    for number, text in enumerate(lines, 1):
        if depth <= 0 or number - begun > _MOST_LINES:
            if not _IMPORT.match(text):
                depth = 0
                continue
            depth, begun = 0, number
        found.add(number)
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    return found


def kind_of_reference(lines: Sequence[str], line: int, start: int, end: int, outline: Outline) -> str:
    """Return the kind (as Edge.kind, but for `import`) of what a 1-based line has at the columns `start` to `end`."""
    text = lines[line - 1]
    if _CALLED.match(text, end) or _MADE.search(text[:start]):
        return CALL
    return INHERITANCE if _is_base(lines, line, start, outline) else REFERENCE


def _is_base(lines: Sequence[str], line: int, start: int, outline: Outline) -> bool:
    """Whether a place is in the head of a class, behind its name."""
    around = enclosing(outline, line)
    if around is None or around.kind not in CLASS_KINDS or not 0 <= line - around.name_line < _MOST_LINES:
        return False
    head = "\n".join([*lines[around.name_line - 1 : line - 1], lines[line - 1][:start]])
    name_at = head.find(around.name)
    between = head[name_at + len(around.name) :] if name_at >= 0 else "{"
    return "{" not in between and "):" not in between and _BASE.search(between) is not None
