"""The names of a file by the scopes that hold them, and what they stand for where they are used."""

from __future__ import annotations

import re
from bisect import bisect_left

from slicegrep.graph.uses_nodes import LONGEST
from slicegrep.graph.uses_types import ANY

__all__ = ["OBJECTS", "Scope", "fields_of", "looked_through"]

OBJECTS = ((-1, "self"), (-1, "cls"))
"""What a method's first parameter is bound to, before anything else."""
_SUBSTITUTED = 6
"""Local names that are looked through, one after the other."""
_OUTWARD = 100
"""Scopes that are looked into for one name: more are inside each other in code that was written to be odd."""


class Scope:
    """What has names of its own: the file (`line` 0), a class, or a function."""

    __slots__ = ("hidden", "is_class", "is_function", "line", "names", "outer", "returned")

    def __init__(
        self, outer: Scope | None, line: int, *, is_class: bool = False, is_function: bool = False
    ) -> None:
        self.outer = outer
        self.line = line
        self.is_class = is_class
        self.is_function = is_function
        self.names: dict[str, list[tuple[int, str]]] = {}
        self.hidden: set[str] = set()
        """Names that a class takes from what is around it: its type parameters."""
        self.returned: list[str] = []
        """The values of the return statements of a function that does not say its type."""

    def bind(self, name: str, byte: int, value: str) -> None:
        """Note that a name gets a value at a place; -1: it has it from the beginning."""
        self.names.setdefault(name, []).append((byte, value))

    def seen(self, name: str, byte: int) -> str | None:
        """Return the value of a name as the functions in this scope see it: None where they do not."""
        if self.is_function:
            return self.value(name, byte)
        return "?" if name in self.hidden else None

    def value(self, name: str, byte: int) -> str | None:
        """Return the value that a name has at a place: the last one given before it, else the first one."""
        given = self.names.get(name)
        if given is None:
            return None
        return given[max(0, bisect_left(given, (byte,)) - 1)][1]


def looked_through(expression: str, byte: int, scope: Scope) -> str:
    """Return an expression with its first name replaced by what that stands for in the functions around."""
    at: Scope | None = scope
    outward = 0
    for _ in range(_SUBSTITUTED):
        first = re.match(r"[^.(\[]*", expression)
        name = first.group() if first else ""
        if not name or name[0] in "?<@'\"":
            return expression
        found = None
        while at is not None and (found := at.seen(name, byte)) is None:
            at = at.outer if outward < _OUTWARD else None
            outward += 1
        if found is None or at is None:
            return expression
        if found == "?":  # what it is called is all that is known
            return f"?{expression}"
        if found == name:
            return expression
        if re.match(rf"{re.escape(name)}(?![\w$])", found) and name not in ("self", "super"):
            return "?"  # it is given a new value made of its old one
        expression = found + expression[len(name) :]
        if len(expression) > LONGEST or expression.startswith(("self", "cls", "super")):
            break
    return expression if len(expression) <= LONGEST else "?"


def fields_of(scope: Scope) -> dict[str, str]:
    """Return the value of each name: the first that says something, types before the rest."""
    kept = {}
    for name, given in scope.names.items():
        values = [value for _, value in given]
        typed = [value for value in values if value[0] == "<" and value != ANY]
        telling = [value for value in values if value[0] not in "?'<"]
        kept[name.lstrip("$")] = (typed or telling or values)[0]
    return kept
