"""The file map: definitions with their ranges and signatures, nested, folded to a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.types import Outline, Symbol

__all__ = ["file_map", "map_line"]

SIGNATURE_CHARACTERS = 96


def file_map(outline: Outline, weight: Sequence[float], budget: int) -> tuple[tuple[str, ...], int]:
    """Return the map's lines and how many definitions are folded away.

    `weight[i]` says how relevant symbol i is (any scale); the largest definitions come next. An ancestor of a
    listed definition is listed too. `budget` is in estimated o200k_base tokens of the lines.
    """
    symbols = outline.symbols
    highest = max(weight, default=0.0) or 1.0
    longest = max((s.end - s.start + 1 for s in symbols), default=1)
    order = sorted(
        range(len(symbols)),
        key=lambda i: (-(weight[i] / highest + ((symbols[i].end - symbols[i].start + 1) / longest) ** 0.5), i),
    )
    listed: set[int] = set()
    left = budget
    for i in order:
        chain = [i]
        while symbols[chain[-1]].parent >= 0:
            chain.append(symbols[chain[-1]].parent)
        new = [k for k in chain if k not in listed]
        price = sum(estimate(map_line(symbols[k])) + 1 for k in new)
        if price > left:
            if left < budget // 6:
                break
            continue
        listed.update(new)
        left -= price
    return tuple(map_line(symbols[i]) for i in sorted(listed)), len(symbols) - len(listed)


def map_line(symbol: Symbol) -> str:
    """Return `start-end signature`, indented by nesting; a long signature is cut."""
    signature = symbol.signature
    if len(signature) > SIGNATURE_CHARACTERS:
        signature = signature[: SIGNATURE_CHARACTERS - 1] + "…"
    return f"{' ' * symbol.depth}{symbol.start}-{symbol.end} {signature}"
