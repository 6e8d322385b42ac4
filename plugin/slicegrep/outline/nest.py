"""How definitions nest, and how each is called in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slicegrep.outline.around import CLASS_KINDS, FUNCTION_KINDS
from slicegrep.outline.found import HIDDEN, Found
from slicegrep.types import Symbol

if TYPE_CHECKING:
    from slicegrep.outline.rules import Rules

__all__ = ["nested"]

_QUALIFIER = 200
"""Characters. Past it a name starts anew: thousands of definitions inside each other would cost their square."""


def nested(found: list[Found], rules: Rules) -> tuple[Symbol, ...]:
    """Return the symbols in order of (start, -end), with parents, depths and qualified names."""
    found.sort(key=lambda one: (one.start_byte, -one.end_byte))
    if rules.equations:
        found = _joined(found)
    symbols: list[Symbol] = []
    around: list[_Around] = []
    for one in found:
        while around and around[-1].end_byte <= one.start_byte:
            around.pop()
        outer = around[-1] if around else _NOTHING
        kind = _kind(one, outer, rules)
        qualified = _qualified(one, kind, outer, rules)
        index = outer.symbol
        if kind not in (HIDDEN, "singleton"):
            index = len(symbols)
            symbols.append(
                Symbol(
                    kind=rules.renamed.get(kind, kind),
                    name=one.name,
                    qualified=qualified,
                    start=one.start_row + 1,
                    end=one.end_row + 1,
                    signature=one.signature,
                    name_line=one.name_row + 1,
                    parent=outer.symbol,
                    depth=symbols[outer.symbol].depth + 1 if outer.symbol >= 0 else 0,
                )
            )
        if kind != "typedef":  # the struct that a typedef names is not inside it
            inside = outer.in_function or kind in FUNCTION_KINDS
            lent = outer.qualified if kind == "singleton" or _says_nothing(one.name, rules) else qualified
            around.append(_Around(one.end_byte, kind, lent, index, inside))
    return tuple(symbols)


def _says_nothing(name: str, rules: Rules) -> bool:
    """Whether a name lends nothing to what is inside (`module.exports = {`)."""
    return bool(rules.dropped) and name.rpartition(rules.separator)[2] in rules.dropped


class _Around(NamedTuple):
    """A definition that is open at some point of the text; `symbol` is the index of the nearest symbol."""

    end_byte: int
    kind: str
    qualified: str
    symbol: int
    in_function: bool


_NOTHING = _Around(0, "", "", -1, in_function=False)


def _kind(one: Found, outer: _Around, rules: Rules) -> str:
    if rules.called and outer.kind in CLASS_KINDS:  # an upper-case constructor, not TEST(Suite, Name)
        one.name = one.name.partition("(")[0] if one.name[:1].isupper() else one.name
    if one.kind == "function" and (outer.kind in CLASS_KINDS or outer.kind == "singleton"):
        return rules.member_kind
    if one.kind == "variable" and (outer.in_function or one.start_row == one.end_row):
        return HIDDEN
    if one.kind == "signature":  # one that no equation followed: a class method, or a stub
        return "method" if outer.kind in CLASS_KINDS else HIDDEN
    return one.kind


def _qualified(one: Found, kind: str, outer: _Around, rules: Rules) -> str:
    parts = list(one.scope)
    if outer.qualified and not one.absolute and len(outer.qualified) <= _QUALIFIER:
        parts.insert(0, outer.qualified)
    before = rules.separator.join(parts)
    if not before:
        return one.name
    separators = rules.separators
    between = separators.get(f"in {outer.kind}") or separators.get(kind) or rules.separator
    return f"{before}{between}{one.name}"


def _joined(found: list[Found]) -> list[Found]:
    """Return the definitions with neighbours of one name made one (the equations of a Haskell function)."""
    joined: list[Found] = []
    open_at: list[Found] = []
    for one in found:
        while open_at and open_at[-1].end_byte <= one.start_byte and open_at[-1].name != one.name:
            open_at.pop()
        last = open_at[-1] if open_at else None
        if (
            last is not None
            and last.name == one.name
            and last.end_byte <= one.start_byte
            and last.kind in ("signature", "function")
            and one.kind == "function"
        ):
            last.kind = "function"
            last.end_byte, last.end_row = one.end_byte, one.end_row
            continue
        joined.append(one)
        open_at.append(one)
    return joined
