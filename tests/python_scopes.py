"""An independent answer to "which definition is around this line?" for Python: the standard library's `ast`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["Scope", "scopes_of", "suffix_of"]


@dataclass(frozen=True)
class Scope:
    """A function or class; lines 1-based, inclusive, decorators included."""

    qualified: str
    start: int
    end: int


def scopes_of(text: str) -> list[Scope]:
    """Return every function and class of a module, outer before inner."""
    found: list[Scope] = []

    def walk(node: ast.AST, around: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{around}.{child.name}" if around else child.name
                start = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                assert child.end_lineno is not None
                found.append(Scope(name, start, child.end_lineno))
                walk(child, name)
            else:
                walk(child, around)

    walk(ast.parse(text), "")
    return found


def suffix_of(text: str, line: int) -> str:
    """Return the suffix that a hit on this line should get, "" at module level."""
    around = [s for s in scopes_of(text) if s.start <= line <= s.end]
    if not around:
        return ""
    inner = max(around, key=lambda s: (s.start, -s.end))
    return f" ⟵ {inner.qualified} {inner.start}-{inner.end}"
