"""The file map: definitions with their ranges and signatures, nested, folded to a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.shown import printable
from slicegrep.tokens import weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline, Source, Symbol

__all__ = ["file_map", "map_line"]

SIGNATURE_CHARACTERS = 96
MAP_CHARACTERS = 2_400
"""Of all lines together, whatever the budget: what one text may hold is needed for slices first."""


def file_map(
    source: Source,
    outline: Outline,
    relevance: Sequence[float],
    budget: float,
    known: dict[int, tuple[str, float]] | None = None,
) -> tuple[tuple[str, ...], int]:
    """Return the map's lines, in file order, and how many definitions are folded away.

    `relevance[i]` says how relevant symbol i is (any scale); the largest definitions come next. What a listed definition
    is in is listed too. `budget` is in estimated o200k_base tokens of the lines. `known` keeps the line of a symbol and its
    tokens for the next map of the same file.
    """
    known = {} if known is None else known
    symbols = outline.symbols
    highest = max(relevance, default=0.0) or 1.0
    longest = max((s.end - s.start + 1 for s in symbols), default=1)
    size = [((s.end - s.start + 1) / longest) ** 0.5 for s in symbols]
    order = sorted(range(len(symbols)), key=lambda i: (-(relevance[i] / highest + size[i]), i))
    listed: dict[int, str] = {}
    left, room = budget, MAP_CHARACTERS
    for i in order:
        new: dict[int, str] = {}
        at, characters, price = i, 0, 0.0
        while at >= 0 and at not in listed:
            if at not in known:
                line = map_line(symbols[at], source)
                known[at] = line, weigh(line + "\n")
            new[at], tokens = known[at]
            characters += len(new[at]) + 1
            price += tokens
            at = symbols[at].parent
        if characters > room:
            price = left + 1
        if price > left:
            if left < budget / 6:
                break
            continue
        listed.update(new)
        left -= price
        room -= characters
    return tuple(listed[i] for i in sorted(listed)), len(symbols) - len(listed)


def map_line(symbol: Symbol, source: Source | None = None) -> str:
    """Return `start-end signature`, indented by nesting; a long signature is cut.

    With `source` the signature is spelled as its own line is, where that holds all of it and hardly more.
    """
    signature = symbol.signature
    if source and symbol.name_line <= len(source.lines):
        line = source.lines[symbol.name_line - 1].strip()
        if line.startswith(signature) and len(line) <= len(signature) + 3:
            signature = line
    signature = printable(signature)
    if len(signature) > SIGNATURE_CHARACTERS:
        signature = signature[: SIGNATURE_CHARACTERS - 1] + "…"
    return f"{' ' * min(symbol.depth, 8)}{symbol.start}-{symbol.end} {signature}"
