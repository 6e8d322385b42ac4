"""Reading a text with its grammar: what it is made to look like first, and the second try where errors remain."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING

from slicegrep.outline import trees
from slicegrep.outline.around import FUNCTION_KINDS
from slicegrep.outline.looks import longest
from slicegrep.outline.prepare import repaired

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Language, Tree

    from slicegrep.outline.found import Found
    from slicegrep.outline.rules import Rules

__all__ = ["by_grammar"]

_SHARE = 0.6
"""Of the time, for parsing. What is made of the tree takes a third as long in code, as long in data."""


def by_grammar(
    language: str, rules: Rules, text: bytes, until: float, lines: Sequence[int] | None = None
) -> tuple[list[Found], bool] | None:
    """Return what the grammar finds and whether it met errors; None without a grammar, or when there is no tree in time.

    `text` is UTF-8. Past `until` (of `time.monotonic`) what is found is a part, and counts as broken.
    `lines` (1-based) asks only for what is around those; where neighbours are one definition, all is found.
    """
    rows = None if lines is None or rules.equations else sorted(line - 1 for line in lines)
    grammar = trees.grammar_of(language)
    if grammar is None:
        return None
    found: list[Found] = []
    seen = text
    if rules.preprocessor:
        from slicegrep.outline.preprocessor import without_preprocessor  # noqa: PLC0415 - C and its kin only

        seen, found = without_preprocessor(text)
    seen = repaired(seen, rules.overwritten)
    tree = _parsed(grammar, seen, until)
    if tree is None:
        return None
    broken = tree.root_node.has_error
    found += trees.definitions(tree, rules, language, text, until, rows=rows)
    late = time.monotonic() > until
    if late or not broken or not (rules.repairs or rules.hollow):
        return found, broken or late
    remaining = trees.errors(tree, language)
    best, hollow = None, False
    for attempt, hollowed in _attempts(seen, rules):
        other = _parsed(grammar, attempt, until) if remaining and attempt != seen else None
        if other is not None and (fewer := trees.errors(other, language)) < remaining:
            best, remaining, hollow = other, fewer, hollowed
    if best is not None:
        firm = trees.definitions(best, rules, language, text, until, rows=rows)
        found = [*firm, *_left(found, firm, rules, text, hollow=hollow)]
    return found, True


def _parsed(grammar: Language, text: bytes, until: float) -> Tree | None:
    """Return the tree of a text, or None where making it or looking at it takes too long."""
    now = time.monotonic()
    tree = trees.parse(grammar, text, now + _SHARE * (until - now))
    if tree is None or time.monotonic() + longest(tree.root_node) > until:
        return None
    return tree


def _attempts(seen: bytes, rules: Rules) -> Iterator[tuple[bytes, bool]]:
    """Yield what may parse with fewer errors, and whether the bodies of functions are empty in it."""
    bolder = repaired(seen, rules.repairs)
    yield bolder, False
    if rules.hollow:
        from slicegrep.outline.preprocessor import hollowed  # noqa: PLC0415 - broken files only

        yield hollowed(bolder), True


def _left(found: list[Found], firm: list[Found], rules: Rules, text: bytes, *, hollow: bool) -> list[Found]:
    """Return what a better parse cannot know of the first one's: macros, and what is in bodies that it saw empty."""
    bodies = sorted(
        (opening, one.end_byte)
        for one in firm
        if rules.renamed.get(one.kind, one.kind) in FUNCTION_KINDS
        and (opening := text.find(b"{", one.start_byte, one.end_byte)) >= 0
    )
    starts = [start for start, _ in bodies]
    kept = []
    for one in found:
        at = bisect_left(starts, one.start_byte) - 1
        if _is_directive(one) or (hollow and at >= 0 and one.end_byte < bodies[at][1]):
            kept.append(one)
    return kept


def _is_directive(one: Found) -> bool:
    return one.kind == "macro" and one.signature.startswith("#")
