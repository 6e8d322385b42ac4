"""From a source to its outline: which reader serves, and how what it found nests and is called."""

from __future__ import annotations

import time
from bisect import bisect_right

from slicegrep.languages import LANGUAGES
from slicegrep.outline.found import HIDDEN, Found
from slicegrep.outline.prepare import encoded, without_preprocessor
from slicegrep.outline.rules import Rules, rules_of
from slicegrep.types import Outline, Source, Symbol

__all__ = ["PARSE_SECONDS", "enclosing", "enclosing_kinds", "outline"]

PARSE_SECONDS = 2.0
"""A 5 MB file of JavaScript takes about one second; past this the answer is by patterns."""

_QUALIFIER = 200
"""Characters. Past it a name starts anew: thousands of definitions inside each other would cost their square."""

_FUNCTIONS = frozenset({"function", "method", "constructor", "procedure", "trigger", "macro"})
_CLASSES = frozenset(
    {
        "class", "struct", "enum", "union", "interface", "trait", "impl", "object", "record", "protocol",
        "extension", "actor", "typedef", "mixin", "module", "type", "concept", "table", "view", "instance",
    }
)  # fmt: skip

enclosing_kinds: frozenset[str] = _FUNCTIONS | _CLASSES
"""The kinds that a line is said to be in. Namespaces, variables and declarations without a body are not among them."""


def outline(source: Source, *, seconds: float = PARSE_SECONDS) -> Outline:
    """Find the definitions of a source; an empty outline for what is not source code. Never raises for any text.

    `seconds` bounds the parser; past it the definitions are those of line patterns.
    """
    language = source.language
    if language not in LANGUAGES:
        return Outline(language)
    deadline = time.monotonic() + seconds
    rules = rules_of(language)
    if rules is None:
        return Outline(language)
    found, broken = _by_grammar(source, rules, deadline)
    return Outline(language, _nested(found, rules), broken=broken)


def _by_grammar(source: Source, rules: Rules, deadline: float) -> tuple[list[Found], bool]:
    from slicegrep.outline import trees  # noqa: PLC0415 - the grammar's import waits for the first source

    grammar = trees.grammar_of(source.language)
    text, emptied = encoded(source.lines)
    seen = text
    found: list[Found] = []
    if rules.preprocessor:
        seen, found = without_preprocessor(text)
    tree = trees.parse(grammar, seen, deadline) if grammar is not None else None
    if tree is None:
        return found, True
    found += trees.definitions(tree, rules, source.language, text)
    return found, emptied or tree.root_node.has_error


def enclosing(outline: Outline, line: int) -> Symbol | None:
    """Return the innermost function, method or class-like definition around a 1-based line, or None at module level."""
    symbols = outline.symbols
    at = bisect_right(symbols, line, key=lambda symbol: symbol.start) - 1
    while at >= 0:
        symbol = symbols[at]
        if symbol.end >= line and symbol.kind in enclosing_kinds:
            return symbol
        at = symbol.parent
    return None


def _nested(found: list[Found], rules: Rules) -> tuple[Symbol, ...]:
    found.sort(key=lambda one: (one.start_byte, -one.end_byte))
    symbols: list[Symbol] = []
    around: list[
        tuple[int, str, str, int, bool]
    ] = []  # end byte, kind, qualified, index of the nearest symbol, in a function
    for one in found:
        while around and around[-1][0] <= one.start_byte:
            around.pop()
        _, outer_kind, outer_name, parent, in_function = around[-1] if around else (0, "", "", -1, False)
        kind = one.kind
        if kind == "function" and outer_kind in _CLASSES:
            kind = rules.member_kind
        elif kind == "method" and outer_kind in ("", "namespace") and not one.scope and rules.split == ".":
            kind = "function"
        if kind == "variable" and (in_function or one.start_row == one.end_row):
            kind = HIDDEN
        qualified = _qualified(one, kind, outer_name, outer_kind, rules)
        index = parent
        if kind != HIDDEN:
            index = len(symbols)
            depth = symbols[parent].depth + 1 if parent >= 0 else 0
            symbols.append(
                Symbol(
                    kind,
                    one.name,
                    qualified,
                    one.start_row + 1,
                    one.end_row + 1,
                    one.signature,
                    one.name_row + 1,
                    parent,
                    depth,
                )
            )
        if kind != "typedef":  # the struct that a typedef names is not inside it
            around.append((one.end_byte, kind, qualified, index, in_function or kind in _FUNCTIONS))
    return tuple(symbols)


def _qualified(one: Found, kind: str, outer_name: str, outer_kind: str, rules: Rules) -> str:
    parts = list(one.scope)
    if outer_name and not one.absolute and len(outer_name) <= _QUALIFIER:
        parts.insert(0, outer_name)
    before = rules.separator.join(parts)
    if not before:
        return one.name
    between = rules.separator
    if rules.method_separator and kind == "method" and (one.scope or outer_kind in _CLASSES):
        between = rules.method_separator
    return f"{before}{between}{one.name}"
