"""How the definitions of one file lie in the index: columns of numbers, names, and a text of the longer names."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.types import Symbol

__all__ = ["symbols_of"]


def symbols_of(
    data: bytes, kinds: Sequence[str], names: Sequence[str], lines: Sequence[int], parents: Sequence[int]
) -> tuple[Symbol, ...]:
    """Return the definitions of a file.

    `data` holds the qualified name and the signature of each; `lines` three numbers of each: first, last, the name's.
    Raises ValueError or IndexError where the pieces do not fit each other.
    """
    if not names:
        return ()
    texts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(texts) != 2 * len(names):
        raise ValueError("an outline that is not that of its file")
    symbols: list[Symbol] = []
    for at, parent in enumerate(parents):
        start, end, name_line = lines[3 * at : 3 * at + 3]
        depth = symbols[parent].depth + 1 if parent >= 0 else 0
        symbols.append(
            Symbol(
                kinds[at],
                names[at],
                texts[2 * at],
                start,
                end,
                texts[2 * at + 1],
                name_line,
                parent,
                depth,
            )
        )
    return tuple(symbols)
