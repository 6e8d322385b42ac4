"""Reading a text with its grammar: what it is made to look like first, and the second try where errors remain."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING

from slicegrep.outline import trees
from slicegrep.outline.nest import FUNCTION_KINDS
from slicegrep.outline.prepare import repaired

if TYPE_CHECKING:
    from slicegrep.outline.found import Found
    from slicegrep.outline.rules import Rules

__all__ = ["by_grammar"]


def by_grammar(language: str, rules: Rules, text: bytes, seconds: float) -> tuple[list[Found], bool] | None:
    """Return what the grammar finds and whether it met errors; None without a grammar, or when parsing took too long.

    `text` is UTF-8. Parsing may take `seconds`, and as long again what is made of the tree (past that, a part of it).
    """
    deadline = time.monotonic() + seconds
    grammar = trees.grammar_of(language)
    if grammar is None:
        return None
    found: list[Found] = []
    seen = text
    if rules.preprocessor:
        from slicegrep.outline.preprocessor import hollowed, without_preprocessor  # noqa: PLC0415 - C and its kin only

        seen, found = without_preprocessor(text)
    seen = repaired(seen, rules.overwritten)
    tree = trees.parse(grammar, seen, deadline)
    if tree is None:
        return None
    broken = tree.root_node.has_error
    found += trees.definitions(tree, rules, language, text, deadline + seconds)
    late = time.monotonic() > deadline
    if late or not broken or not rules.repairs:
        return found, broken or time.monotonic() > deadline + seconds
    bolder = repaired(seen, rules.repairs)
    if rules.preprocessor:
        bolder = hollowed(bolder)
    other = trees.parse(grammar, bolder, deadline) if bolder != seen else None
    if other is not None and trees.errors(other, language) < trees.errors(tree, language):
        firm = trees.definitions(other, rules, language, text, deadline + seconds)
        found = firm + _inside(found, firm, rules, text) if rules.preprocessor else firm
    return found, broken


def _inside(found: list[Found], firm: list[Found], rules: Rules, text: bytes) -> list[Found]:
    """Return the macros of `found`, and what stands in the bodies of `firm`, which that parse saw empty."""
    bodies = sorted(
        (text.find(b"{", one.start_byte), one.end_byte)
        for one in firm
        if rules.renamed.get(one.kind, one.kind) in FUNCTION_KINDS
    )
    starts = [start for start, _ in bodies]
    kept = []
    for one in found:
        at = bisect_left(starts, one.start_byte) - 1
        if one.kind == "macro" or (at >= 0 and one.end_byte < bodies[at][1]):
            kept.append(one)
    return kept
