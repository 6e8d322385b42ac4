"""Symbol ids as they go over the wire: `PATH#QUALIFIED`, with `~2` behind for the second definition of that name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slicegrep.index import View
    from slicegrep.types import Symbol

__all__ = ["askable", "id_of", "ids_in", "symbol_of"]


def ids_in(path: str, symbols: Sequence[Symbol]) -> list[str]:
    """Return the ids of a file's definitions, in their order. `path` is what they begin with."""
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for symbol in symbols:
        seen[symbol.qualified] += 1
        ids.append(_numbered(path, symbol.qualified, seen[symbol.qualified]))
    return ids


def id_of(view: View, symbol: int, prefix: str = "") -> str:
    """Return the id of a definition of the view. The path in it is relative to the folder `prefix` ("" or ending in `/`)."""
    file = view.symbol_file[symbol]
    row = view.files[file]
    if row is None:
        raise LookupError(f"symbol {symbol} is of a file that was replaced")
    own = symbol - view.first_symbol[file]
    symbols = view.symbols_of(file)
    qualified = symbols[own].qualified
    number = sum(one.qualified == qualified for one in symbols[: own + 1])
    return _numbered(row.path.removeprefix(prefix), qualified, number)


def _numbered(path: str, qualified: str, number: int) -> str:
    return f"{path}#{qualified}~{number}" if number > 1 else f"{path}#{qualified}"


def askable(text: str) -> str:
    """Return an id as it is told: "" where its path is no UTF-8, since no request can hold it."""
    return text if text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text) else ""


def symbol_of(view: View, text: str, prefix: str = "") -> int | None:
    """Return the definition of the view with that id; None where there is none, or where the text can be read as two."""
    found = list(_readings(view, text, prefix))
    return found[0] if len(found) == 1 else None


def _readings(view: View, text: str, prefix: str) -> Iterator[int]:
    """Yield the definitions that the id may mean: paths may hold `#`, and so may names (`Foo.#bar`)."""
    at = text.find("#")
    while at >= 0:
        path = text[:at]
        row = view.file_at(prefix + path)
        if row is not None:
            ids = ids_in(path, view.symbols_of(row.id))
            if text in ids:
                yield view.first_symbol[row.id] + ids.index(text)
        at = text.find("#", at + 1)
