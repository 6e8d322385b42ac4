"""Which files cannot hold what a search looks for, told without reading them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slicegrep.expressions import Expression
    from slicegrep.index.view import View

__all__ = ["narrowed"]

_MOST_EXPRESSIONS = 32
"""So many are asked of the index. Each takes about 1 ms, and the union of many leaves nothing out."""
_MOST_IDENTIFIERS = 100
_IDENTIFIERS_SHARE = 1 / 8
"""A text that stands in more identifiers than this, or than this share of the files, is no help: the files of an identifier take 50 to 75 µs
to look up the first time. With 1/16, words took 71 ms in place of 35 in Django, asked again: each file costs calls besides what RE2 takes."""
_MOST_PIECES = 3  # of which all identifiers are looked up
_FEW, _FEW_OF_WORD = (
    32,
    4,
)  # files that are read faster than another text, and than another whole identifier, is looked up
_LEAST_PIECE = 3  # characters; a shorter text stands in most files

_LONG_S = "\u017f"  # what case-insensitive search takes for an s, and lower case does not

_FOR_RIPGREP = 4_000
"""From so many files on, rg reads them instead: on two cores both take 21 ms a thousand files, and rg uses every further core."""
_IN_MEMORY = 0.5
"""Not where the texts of such a share of them are in memory: RE2 takes 4 ms a thousand then."""
_EVERYWHERE = 0.5
"""Nor where such a share of the files holds all that an expression asks for."""
_ARGUMENTS = 500_000  # bytes of paths for one run; Linux allows 2 MB with the environment, macOS 1 MB


def narrowed(
    root: str,
    files: Sequence[str],
    groups: Sequence[Sequence[Expression]],
    *,
    view: View | None,
    prefix: str,
) -> list[Sequence[str]]:
    """Return for each group those of `files` (relative to `root`) in which one of its expressions may match, in the same order.

    None that matches is left out: it goes by texts that a match must hold, and by what the view says of the files that it
    has (at `prefix` + path), else by what rg finds in them.
    """
    found: list[Sequence[str]] = [files] * len(groups)
    untold = list(range(len(groups)))
    if view is not None and sum(map(len, groups)) <= _MOST_EXPRESSIONS:
        for number, group in enumerate(groups):
            allowed = _indexed(group, view, max(_MOST_IDENTIFIERS, int(_IDENTIFIERS_SHARE * len(files))))
            if allowed is not None:
                found[number] = _allowed(files, allowed | view.files_untold, view, prefix)
                untold.remove(number)
    in_memory = view is not None and view.texts_kept >= _IN_MEMORY * len(files)
    rest = [expression for number in untold for expression in groups[number]]
    useful = rest and len(files) >= _FOR_RIPGREP and os.name != "nt" and not in_memory
    if useful and not (view is not None and any(_is_everywhere(one, view, len(files)) for one in rest)):
        left = _by_ripgrep(root, files, rest)
        for number in untold:
            found[number] = left
    return found


def _is_everywhere(expression: Expression, view: View, files: int) -> bool:
    """Whether all the words of an expression stand in most files: rg would leave few out, and MOST_HITS are found in the first."""
    pieces = [piece for literal in expression.literals for piece, _, _ in _pieces(literal)]
    return pieces != [] and min([view.holders.count_with([piece]) for piece in pieces]) >= _EVERYWHERE * files


def _allowed(files: Sequence[str], allowed: set[int], view: View, prefix: str) -> Sequence[str]:
    """Return those of `files` that the view has among `allowed`, or does not have."""
    paths = view.paths_of(allowed, prefix)
    if files is view.paths_under(prefix):  # time goes by what is left, not by all that there is
        return paths
    known = set(paths)
    return [path for path in files if path in known or view.file_at(prefix + path) is None]


def _indexed(expressions: Sequence[Expression], view: View, most: int) -> set[int] | None:
    """Return the files in which one of the expressions may match; None where nothing can be told."""
    allowed: set[int] = set()
    for expression in expressions:
        found = _holding(expression, view, most)
        if found is None:
            return None
        allowed |= found
    return allowed


def _holding(expression: Expression, view: View, most: int) -> set[int] | None:
    """Return the files that hold, inside identifiers, what each of its texts has of them; None where nothing can be told.

    A text that stands in more than `most` identifiers tells nothing. The whole identifier that stands in the fewest files
    is noted.
    """
    pieces = {piece for literal in expression.literals for piece in _pieces(literal)}
    pieces = {piece for piece in pieces if len(piece[0]) >= _LEAST_PIECE}
    beyond = view.holders.beyond_ascii
    long_s = beyond(_LONG_S)
    words: list[tuple[int, str, list[str]]] = []
    for piece in sorted([piece for piece, begins, ends in pieces if begins and ends]):
        # RE2 has the edge of an ASCII word inside of `éfilter`.
        names = [piece, *beyond(piece), *(long_s if "s" in piece else ())]
        words.append((view.holders.count_with(names), piece, names))
    words.sort()
    if words:
        expression.rarest = words[0][1]
    allowed: set[int] | None = None
    for _, _, names in words:
        if allowed is None or len(allowed) > _FEW_OF_WORD:
            allowed = view.holders.files_with(names, allowed)
    used = 0
    parts = [piece for piece in pieces if not (piece[1] and piece[2])]
    for piece, begins, ends in sorted(parts, key=lambda one: (-len(one[0]), one)):
        left = len(view.files) if allowed is None else len(allowed)
        if used == _MOST_PIECES or (allowed is not None and left <= _FEW):
            break
        gain = most if allowed is None else int(_IDENTIFIERS_SHARE * left)
        found = view.holders.files_holding(piece, min(most, gain), begins=begins, ends=ends)
        if found is not None:
            used += 1
            if "s" in piece:
                found = found | view.holders.files_with(long_s)
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
    from slicegrep.ripgrep import run_rg  # noqa: PLC0415 (5 ms, and most often the index tells)

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
