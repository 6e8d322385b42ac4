"""The definitions of a view as a reference sees them: by name, by place, as members of a class."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from slicegrep.graph.uses_rules import UseRules, use_rules_of
from slicegrep.languages import SCRIPTED, family_of
from slicegrep.outline import enclosing
from slicegrep.outline.around import CLASS_KINDS, FUNCTION_KINDS
from slicegrep.types import Outline

if TYPE_CHECKING:
    from slicegrep.index import View

__all__ = ["Definitions", "around", "constructors_of", "is_inside", "last_name", "owner_of"]

_CONSTRUCTORS = {
    "python": ("__init__", "__new__"),
    "script": ("constructor",),
    "php": ("__construct",),
    "ruby": ("initialize",),
    "swift": ("init",),
}
_SPREAD = frozenset(
    {"go", "rust", "cpp", "c", "swift", "csharp", "ruby", "kotlin", "elixir", "lua", "scala", "dart"}
)
"""Languages whose members may stand outside of their class."""
_ADDING = frozenset({"impl", "extension", "instance"})
"""Kinds that add members to a type under its name, and do not define it."""
_OVERLOADING = frozenset({"java", "csharp", "kotlin", "cpp", "scala", "swift"})
"""Languages that tell definitions of one name apart by their parameters."""


class Definitions:
    """The definitions of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.kinds = view.columns.symbol_kind
        """By symbol id."""
        self._tops: dict[int, dict[str, list[int]]] = {}
        self._members: dict[int, dict[str, dict[str, list[int]]]] = {}
        self._lines: dict[int, dict[int, list[int]]] = {}

    def path(self, symbol: int) -> str:
        """Return the path of the file that a definition is in."""
        row = self._view.files[self._view.symbol_file[symbol]]
        return row.path if row is not None else ""

    def named(self, name: str, family: str) -> list[int]:
        """Return the definitions of exactly that name in a family of languages ("": any)."""
        view = self._view
        kept = []
        for one in view.symbols_named(name):
            row = view.files[view.symbol_file[one]]
            if (
                row is not None
                and view.symbol_name(one) == name
                and self.kinds[one] not in _ADDING
                and family in ("", family_of(row.language))
            ):
                kept.append(one)
        return kept

    def is_member(self, symbol: int) -> bool:
        """Whether a definition is inside a class, or an object with members."""
        row = self._view.symbol(symbol)
        if row.parent >= 0:
            return self._view.symbol(row.parent).kind != "namespace"
        owner = owner_of(row.qualified, row.name)
        return bool(owner) and row.kind in ("method", "constructor")

    def top(self, file: int) -> dict[str, list[int]]:
        """Return the definitions of a file that are in no class and no function, by name."""
        found = self._tops.get(file)
        if found is None:
            found = self._tops[file] = {}
            symbols = self._view.symbols_of(file)
            first = self._view.first_symbol[file]
            for at, symbol in enumerate(symbols):
                above = symbol.parent
                while above >= 0 and symbols[above].kind == "namespace":
                    above = symbols[above].parent
                # A method without a class: Go's have their own index, others are an error of the parser.
                bare = symbol.kind == "method" and symbol.parent < 0
                if above < 0 and not bare and symbol.kind not in _ADDING:
                    found.setdefault(symbol.name, []).append(first + at)
        return found

    def seen(self, file: int, name: str, line: int) -> list[int]:
        """Return those of `top` that a name in a line can mean: of several the ones in the innermost namespace around it."""
        found = self.top(file).get(name, [])
        if len(found) < 2:
            return found
        rows = [self._view.symbol(one) for one in found]
        above = [self._view.symbol(row.parent) if row.parent >= 0 else None for row in rows]
        around = [
            (one.start, row.qualified)
            for row, one in zip(rows, above, strict=True)
            if one is not None and one.start <= line <= one.end
        ]
        if not around:
            return found
        name = max(around)[1]
        return [one for one, row in zip(found, rows, strict=True) if row.qualified == name]

    def own_members(self, symbol: int) -> dict[str, list[int]]:
        """Return the members of a class in its own file, by name."""
        file = self._view.symbol_file[symbol]
        of_file = self._members.get(file)
        if of_file is None:
            of_file = self._members[file] = {}
            first = self._view.first_symbol[file]
            for at, one in enumerate(self._view.symbols_of(file)):
                owner = owner_of(one.qualified, one.name)
                if owner:
                    of_file.setdefault(owner, {}).setdefault(one.name, []).append(first + at)
        return of_file.get(self._view.symbol(symbol).qualified, {})

    def spread_members(self, symbol: int, name: str) -> list[int]:
        """Return a member that is defined outside of its class's file: methods of Go, C++, Rust, extensions."""
        row = self._view.symbol(symbol)
        file = self._view.files[row.file]
        if file is None or file.language not in _SPREAD:
            return []
        own = row.qualified
        folder = posixpath.dirname(file.path)
        found = [one for one in self.named(name, family_of(file.language)) if self.owner(one) == own]
        if file.language == "go":
            found = [one for one in found if posixpath.dirname(self.path(one)) == folder]
        return found

    def defined(self, file: int, line: int) -> tuple[int, ...]:
        """Return the definition whose name stands in a line."""
        lines = self._lines.get(file)
        if lines is None:
            lines = self._lines[file] = {}
            first = self._view.first_symbol[file]
            for at, symbol in enumerate(self._view.symbols_of(file)):
                lines.setdefault(symbol.name_line, []).append(first + at)
        return tuple(lines.get(line, ())[:1])

    def around(self, file: int, line: int) -> int | None:
        """Return the position, among those of its file, of the definition around a line."""
        at = around(self._view, file, line)
        return None if at < 0 else at - self._view.first_symbol[file]

    def class_around(self, file: int, line: int) -> tuple[int, ...]:
        """Return the class whose `self` a line is about."""
        symbols, first = self._view.symbols_of(file), self._view.first_symbol[file]
        at = self.around(file, line)
        while at is not None and at >= 0:
            symbol = symbols[at]
            if symbol.kind in CLASS_KINDS:
                return (first + at,)
            if symbol.parent < 0 or symbols[symbol.parent].kind not in CLASS_KINDS | FUNCTION_KINDS:
                owner = owner_of(symbol.qualified, symbol.name)
                if owner:
                    last = last_name(owner)
                    return tuple(
                        one for one in self.named(last, "") if self._view.symbol(one).qualified == owner
                    )[:1]
            at = symbol.parent
        return ()

    def owner(self, symbol: int) -> str:
        """Return the qualified name of what a definition is a member of; "" for none."""
        row = self._view.symbol(symbol)
        return owner_of(row.qualified, row.name)

    def rules(self, file: int) -> UseRules | None:
        """Return the rules of a file's language."""
        row = self._view.files[file]
        return (
            None if row is None else use_rules_of("typescript" if row.language in SCRIPTED else row.language)
        )

    def language(self, file: int) -> str:
        """Return the language of a file."""
        row = self._view.files[file]
        return "" if row is None else row.language

    def overloads(self, symbols: list[int]) -> int:
        """Return how many definitions share a call: where a language tells them apart by their parameters."""
        row = self._view.files[self._view.symbol_file[symbols[0]]]
        return len(symbols) if row is not None and row.language in _OVERLOADING else 1

    def constructors(self, symbol: int) -> list[int]:
        """Return the constructors that are called like their class."""
        name = self._view.symbol_name(symbol)
        return [
            one
            for one in self.own_members(symbol).get(name, ())
            if self._view.symbol(one).kind == "constructor"
        ]

    def in_class_body(self, file: int, around: int, line: int) -> bool:
        """Whether a line sees the names of a class: in its body, or before the name of one of its methods (a decorator)."""
        symbol = self._view.symbols_of(file)[around]
        return symbol.kind in CLASS_KINDS or (symbol.kind in FUNCTION_KINDS and line < symbol.name_line)


def around(view: View, file: int, line: int) -> int:
    """Return the symbol id of the innermost function, method or class-like definition around a 1-based line; -1: none."""
    symbols = view.symbols_of(file)
    found = enclosing(Outline("", symbols), line)
    if found is None:
        return -1
    at = bisect_left(symbols, found.start, key=lambda symbol: symbol.start)
    while symbols[at] is not found:
        at += 1
    return view.first_symbol[file] + at


def is_inside(view: View, inner: int, outer: int) -> bool:
    """Whether a definition lies in another one."""
    while inner >= 0:
        inner = view.symbol(inner).parent
        if inner == outer:
            return True
    return False


def constructors_of(language: str) -> tuple[str, ...]:
    """Return the names of the methods that a call of their class runs, where the language has such names."""
    return _CONSTRUCTORS.get(family_of(language), ())


def owner_of(qualified: str, name: str) -> str:
    """Return the qualified name of what holds a definition; "" for none."""
    return qualified[: -len(name)].rstrip(".:#\\/") if name and qualified.endswith(name) else ""


def last_name(qualified: str) -> str:
    """Return the last part of a qualified name."""
    return re.split(r"[.:#\\/]+", qualified)[-1]
