"""Which files cannot hold what a search looks for, told without reading them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from slicegrep.ripgrep import run_rg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slicegrep.expressions import Expression
    from slicegrep.index.view import View

__all__ = ["narrowed"]

_MOST_EXPRESSIONS = 32
"""So many are asked of the index. Each takes about 1 ms, and the union of many leaves nothing out."""
_MOST_IDENTIFIERS = 100
"""A text that stands in more identifiers is no help: looking up their files takes longer than reading them."""
_MOST_PIECES = 3
_FEW = 32  # files that are read faster than another text is looked up
_LEAST_PIECE = 3  # characters; a shorter text stands in most files

_LONG_S = "\u017f"  # what case-insensitive search takes for an s, and lower case does not

_FOR_RIPGREP = 4_000
"""From so many files on, rg reads them instead: on two cores both take 21 ms a thousand files, and rg uses every further core."""
_ARGUMENTS = 500_000  # bytes of paths for one run; Linux allows 2 MB with the environment, macOS 1 MB


def narrowed(
    root: str, files: Sequence[str], expressions: Sequence[Expression], *, view: View | None, prefix: str
) -> Sequence[str]:
    """Return those of `files` (relative to `root`) in which one of the expressions may match, in the same order.

    None that matches is left out: it goes by texts that a match must hold, and by what the view says of the files that it
    has (at `prefix` + path), else by what rg finds in them.
    """
    if view is not None and len(expressions) <= _MOST_EXPRESSIONS:
        allowed: set[int] | None = set()
        for expression in expressions:
            found = _indexed(expression.literals, view)
            allowed = None if found is None or allowed is None else allowed | found
        if allowed is not None:
            # Of a file without chunks the index knows nothing, unless it is empty.
            without = {
                row.path
                for row in view.files
                if row is not None and row.id not in allowed and (row.chunks or not row.size)
            }
            return [path for path in files if prefix + path not in without]
    if len(files) >= _FOR_RIPGREP and os.name != "nt":
        return _by_ripgrep(root, files, expressions)
    return files


def _indexed(literals: Sequence[str], view: View) -> set[int] | None:
    """Return the files that hold, inside identifiers, what each of the texts has of them; None where nothing can be told."""
    pieces = {piece for literal in literals for piece in _pieces(literal)}
    allowed: set[int] | None = None
    used = 0
    for piece, begins, ends in sorted(pieces, key=lambda one: (-len(one[0]), one)):
        if (
            len(piece) < _LEAST_PIECE
            or used == _MOST_PIECES
            or (allowed is not None and len(allowed) <= _FEW)
        ):
            break
        # RE2 has the edge of an ASCII word inside of `éfilter`.
        beyond = view.identifiers_beyond_ascii
        if begins and ends:
            identifiers = [piece, *[name for name in beyond if piece in name]]
        else:
            identifiers = [
                name
                for name in view.identifiers_containing(piece)
                if ((name.startswith(piece) or not begins) and (name.endswith(piece) or not ends))
                or not name.isascii()
            ]
        if "s" in piece:
            identifiers += [name for name in beyond if _LONG_S in name]
        if len(identifiers) <= _MOST_IDENTIFIERS:
            used += 1
            found = view.files_with(identifiers)
            allowed = found if allowed is None else allowed & found
    return allowed


def _pieces(literal: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield what a text has of identifiers, in lower case, and whether one begins and ends with it."""
    for found in re.finditer(r"[A-Za-z0-9_]+", literal):
        before, after = literal[: found.start()][-1:], literal[found.end() :][:1]
        # An identifier begins after the digits that a word begins with.
        yield found[0].lstrip("0123456789").lower(), _is_edge(before), _is_edge(after)


def _is_edge(char: str) -> bool:
    return char != "" and not char.isalnum() and char != "_"


def _by_ripgrep(root: str, files: Sequence[str], expressions: Sequence[Expression]) -> Sequence[str]:
    wanted = []
    for expression in expressions:
        pieces = re.findall(r"[\x20-\x7e]{2,}", "\n".join(expression.literals))
        if not pieces:
            return files
        wanted.append(max(pieces, key=len))
    lines = "\n".join(wanted).encode()
    holding: set[str] = set()
    for batch in _batches(files):
        answer = run_rg(
            [
                "--files-with-matches",
                "--null",
                "--text",
                "--ignore-case",
                "--fixed-strings",
                "--file=-",
                "--",
                *batch,
            ],
            root,
            given=lines,
        )
        if answer is None or answer.code == 2:
            return files
        holding.update(os.fsdecode(answer.output).split("\0"))
    return [path for path in files if path in holding]


def _batches(files: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    size = 0
    for path in files:
        size += len(os.fsencode(path)) + 9
        if size > _ARGUMENTS:
            batches.append([])
            size = 0
        batches[-1].append(path)
    return batches
