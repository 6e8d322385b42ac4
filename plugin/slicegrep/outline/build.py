"""From a source to its outline: which reader serves its language, and what is around a line."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from slicegrep.languages import LANGUAGES
from slicegrep.outline.nest import CLASS_KINDS, FUNCTION_KINDS, nested
from slicegrep.outline.patterns import by_patterns
from slicegrep.outline.prepare import encoded, repaired
from slicegrep.outline.preprocessor import hollowed, without_preprocessor
from slicegrep.outline.rules import Rules, rules_of
from slicegrep.outline.scripts import script_blocks
from slicegrep.outline.statements import by_statements
from slicegrep.types import Outline, Source, Symbol

if TYPE_CHECKING:
    from slicegrep.outline.found import Found

__all__ = ["PARSE_SECONDS", "enclosing", "enclosing_kinds", "outline"]

PARSE_SECONDS = 1.5
"""A 5 MB file of dense Python takes about one second; past this the answer is by patterns. The hook has five."""

enclosing_kinds: frozenset[str] = FUNCTION_KINDS | CLASS_KINDS
"""The kinds that a line is said to be in. Namespaces, variables and declarations without a body are not among them."""

_SCRIPTED = frozenset({"vue", "svelte"})
_PLAIN = Rules("")
_SQL = Rules("", split=r"\.", member_kind="function")


def outline(source: Source, *, seconds: float = PARSE_SECONDS) -> Outline:
    """Find the definitions of a source; an empty outline for what is not source code. Never raises for any text.

    `seconds` bounds the parser; past it, and where the grammar's wheel is not installed, the definitions are those
    of line patterns.
    """
    language = source.language
    if language not in LANGUAGES:
        return Outline(language)
    deadline = time.monotonic() + seconds
    if language == "sql":
        return Outline(language, nested(by_statements(source.lines, deadline), _SQL), method="patterns")
    if language in _SCRIPTED:
        return _of_scripts(source, deadline)
    rules = rules_of(language) or _PLAIN
    text, emptied = encoded(source.lines)
    answer = _by_grammar(language, rules, text, deadline)
    if answer is None:
        return Outline(
            language, nested(by_patterns(source.lines, language), rules), broken=True, method="patterns"
        )
    found, broken = answer
    return Outline(language, nested(found, rules), broken=emptied or broken)


def _of_scripts(source: Source, deadline: float) -> Outline:
    text, emptied = encoded(source.lines)
    found: list[Found] = []
    broken = emptied
    rules = _PLAIN
    for language, block in script_blocks(text):
        rules = rules_of(language) or _PLAIN
        answer = _by_grammar(language, rules, block, deadline)
        if answer is None:
            patterned = nested(
                by_patterns(tuple(block.decode("utf-8", "replace").split("\n")), language), rules
            )
            return Outline(source.language, patterned, broken=True, method="patterns")
        found += answer[0]
        broken = broken or answer[1]
    return Outline(source.language, nested(found, rules), broken=broken)


def _by_grammar(language: str, rules: Rules, text: bytes, deadline: float) -> tuple[list[Found], bool] | None:
    """Return what the grammar finds and whether it met errors; None without a grammar, or past the deadline."""
    try:
        from slicegrep.outline import trees  # noqa: PLC0415 - its import waits for the first source
    except ImportError:
        return None
    grammar = trees.grammar_of(language)
    if grammar is None:
        return None
    seen, found = without_preprocessor(text) if rules.preprocessor else (text, [])
    seen = repaired(seen, rules.overwritten)
    tree = trees.parse(grammar, seen, deadline)
    if tree is None:
        return None
    broken = tree.root_node.has_error
    found += trees.definitions(tree, rules, language, text)
    if broken and rules.repairs:
        bolder = repaired(seen, rules.repairs)
        if rules.preprocessor:
            bolder = hollowed(bolder)
        other = trees.parse(grammar, bolder, deadline) if bolder != seen else None
        if other is not None and trees.errors(other, language) < trees.errors(tree, language):
            firm = trees.definitions(other, rules, language, text)
            found = firm + _inside(found, firm, rules, text) if rules.preprocessor else firm
    return found, broken


def _inside(found: list[Found], firm: list[Found], rules: Rules, text: bytes) -> list[Found]:
    """Return the macros of `found`, and what stands inside the functions of `firm`, whose insides that parse did not see."""
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


def enclosing(outline: Outline, line: int) -> Symbol | None:
    """Return the innermost function, method or class-like definition around a 1-based line, or None at module level."""
    symbols = outline.symbols
    at = bisect_right(symbols, line, key=lambda symbol: symbol.start) - 1
    while at >= 0:
        symbol = symbols[at]
        if symbol.end >= line and symbol.kind in enclosing_kinds:
            return symbol
        at = symbol.parent
    return None
