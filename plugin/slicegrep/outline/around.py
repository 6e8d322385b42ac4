"""Which definition is around a line, and the kinds that a line is said to be in."""

from __future__ import annotations

from bisect import bisect_right

from slicegrep.types import Outline, Symbol  # noqa: TC001 (importing typing to hide it costs 3 ms)

__all__ = ["CLASS_KINDS", "FUNCTION_KINDS", "enclosing", "enclosing_kinds"]

FUNCTION_KINDS = frozenset({"function", "method", "constructor", "procedure", "trigger", "macro", "property"})
"""The kinds that run."""
CLASS_KINDS = frozenset(
    {
        "class", "struct", "enum", "union", "interface", "trait", "impl", "object", "record", "protocol",
        "extension", "actor", "typedef", "mixin", "module", "type", "concept", "table", "view", "instance",
    }
)  # fmt: skip
"""The kinds that hold or describe."""

enclosing_kinds: frozenset[str] = FUNCTION_KINDS | CLASS_KINDS
"""The kinds that a line is said to be in. Namespaces, variables and declarations without a body are not among them."""


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
