"""What a name means in a tree: an id, a qualified name or its end, or the definition around a location."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from slicegrep.languages import is_test_path
from slicegrep.outline import enclosing_kinds
from slicegrep.service.errors import Ambiguous, Invalid, NotFound
from slicegrep.service.locations import inside, is_location, location_of
from slicegrep.service.symbol_ids import askable, symbol_of

if TYPE_CHECKING:
    from slicegrep.service.files import Content, Files
    from slicegrep.types import Symbol

__all__ = ["Definition", "named", "place_of", "the_one"]

_BETWEEN = re.compile(r"::|[.#/:\\]")
"""What stands between the parts of a qualified name, in one language or another."""
_LISTED = 5
"""Candidates that the refusal of a name that is not unique lists."""
_SHOWN = 80


class Definition(NamedTuple):
    """A definition, with the content that it is of."""

    content: Content
    symbol: Symbol

    @property
    def id(self) -> str:
        """Its symbol id."""
        return self.content.id_of(self.symbol)


def named(files: Files, symbol_id: str, name: str) -> list[Definition]:
    """Return the definitions that the one of the two that is given means, the likeliest first; at least one.

    Raises Invalid where both or none are given, NotFound, BadLocation.
    """
    if bool(symbol_id) == bool(name):
        raise Invalid("give either symbol_id or name, one of the two")
    if symbol_id:
        found = _with_id(files, symbol_id)
    elif is_location(name):
        found = _around(files, name)
    else:
        found = _with_name(files, name)
    if not found:
        raise NotFound(f"there is no definition {_short(symbol_id or name)!r} in the index of this tree")
    return found


def the_one(files: Files, symbol_id: str, name: str) -> Definition:
    """Return the one definition that is meant. Raises Ambiguous where there are several, and as `named` does.

    Several of one qualified name in one file (overloads and what implements them) are one: the last, which implements.
    """
    found = named(files, symbol_id, name)
    if len({(one.content.path, one.symbol.qualified) for one in found}) > 1:
        listed = ", ".join(one.id for one in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise Ambiguous(
            f"{_short(name)!r} fits {len(found)} definitions; give the symbol_id of one: {listed}{more}"
        )
    return max(found, key=lambda one: one.symbol.start)


def place_of(one: Definition) -> dict[str, Any]:
    """Return what models.Place says of a definition."""
    symbol = one.symbol
    return {
        "symbol_id": askable(one.id),
        "symbol": symbol.qualified,
        "kind": symbol.kind,
        "path": one.content.path,
        "start": symbol.start,
        "end": symbol.end,
        "signature": symbol.signature,
    }


def _with_id(files: Files, symbol_id: str) -> list[Definition]:
    number = symbol_of(files.view, symbol_id, files.prefix)
    row = None if number is None else files.view.files[files.view.symbol_file[number]]
    content = None if row is None else files.at(row.path[len(files.prefix) :])
    if content is None or symbol_id not in content.ids:
        return []
    return [Definition(content, content.symbols[content.ids.index(symbol_id)])]


def _around(files: Files, location: str) -> list[Definition]:
    path, line = location_of(location)
    content = files.at(inside(path, files.top) or "")
    symbol = content.around(line) if content else None
    return [Definition(content, symbol)] if content and symbol else []


def _with_name(files: Files, name: str) -> list[Definition]:
    parts = _BETWEEN.split(name)
    view, found = files.view, []
    for number in view.symbols_named(parts[-1]):
        row = view.files[view.symbol_file[number]]
        if row is None or not row.path.startswith(files.prefix):
            continue
        symbol = view.symbols_of(row.id)[number - view.first_symbol[row.id]]
        if symbol.name != name and not _ends(symbol.qualified, parts):
            continue
        content = files.at(row.path[len(files.prefix) :])
        if content is not None and content.digest == view.digest(row.id):
            found.append(Definition(content, symbol))
    return sorted(found, key=_likelihood)


def _ends(qualified: str, parts: list[str]) -> bool:
    return _BETWEEN.split(qualified)[-len(parts) :] == parts


def _likelihood(one: Definition) -> tuple[bool, bool, bool, float, str, int]:
    """Order what is executed before declarations, code before tests and what others wrote, what is much used first."""
    row = one.content.row
    return (
        one.symbol.kind not in enclosing_kinds,
        is_test_path(one.content.path),
        bool(row.flags),
        -row.mentions,
        one.content.path,
        one.symbol.start,
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
