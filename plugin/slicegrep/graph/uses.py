"""From a source to its facts: which reader serves its language, within which bounds."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from slicegrep.graph.facts import CALL, IMPORT, REFERENCE, FileFacts, Use
from slicegrep.graph.imports import bindings_of
from slicegrep.graph.uses_rules import use_rules_of
from slicegrep.languages import LANGUAGES, SCRIPTED, language_of
from slicegrep.outline.prepare import encoded, repaired
from slicegrep.outline.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slicegrep.types import Source

__all__ = ["EXTRACT_SECONDS", "LONG_LINES", "TOO_LONG", "facts_of"]

EXTRACT_SECONDS = 2.0
"""For parsing one file, and as long again for the walk; as outline.PARSE_SECONDS."""

_QUOTED = re.compile(r"--[^\n]*|'(?:[^'\n]|'')*'")
_CALLS = re.compile(r"(?:(?P<receiver>[A-Za-z_][\w.]*)\.)?(?P<name>[A-Za-z_]\w*)(?P<called>\s*\()?")
LONG_LINES = "minified files were left out"
NOT_PARSED = "a file was read by patterns: it has no grammar here"
TOO_LONG = "a file took too long to parse"


def facts_of(source: Source, *, seconds: float = EXTRACT_SECONDS) -> FileFacts:
    """Find what a source refers to. Never raises for any text; empty facts for what is not source code."""
    language = source.language
    if language not in LANGUAGES:
        return FileFacts()
    if language == "c" and source.path.endswith(".h"):
        language = language_of(source.path, source.text)
    text, emptied = encoded(source.lines)
    if emptied and len(text) * 2 < source.size:
        return FileFacts(causes=(LONG_LINES,))
    if language in SCRIPTED:
        from slicegrep.outline.scripts import script_blocks  # noqa: PLC0415 (compiling its patterns)

        return _together(_by_grammar(inner, block, seconds) for inner, block in script_blocks(text))
    return _by_grammar(language, text, seconds)


def _by_grammar(language: str, text: bytes, seconds: float) -> FileFacts:
    rules = use_rules_of(language)
    if rules is None:
        return _by_patterns(text)
    try:
        from slicegrep.graph.uses_walk import Walk  # noqa: PLC0415 (tree-sitter may not be installed)
        from slicegrep.outline import trees  # noqa: PLC0415
    except ImportError:
        return replace(_by_patterns(text), causes=(NOT_PARSED,))
    grammar = trees.grammar_of(language)
    if grammar is None:
        return replace(_by_patterns(text), causes=(NOT_PARSED,))
    deadline = time.monotonic() + seconds
    seen = text
    outline_rules = rules_of(language)
    if outline_rules is not None:
        if outline_rules.preprocessor:
            from slicegrep.outline.preprocessor import without_preprocessor  # noqa: PLC0415 (C and its kin)

            seen, _ = without_preprocessor(text)
        seen = repaired(seen, outline_rules.overwritten)
    tree = trees.parse(grammar, seen, deadline)
    if tree is None:
        return FileFacts(causes=(TOO_LONG,))
    walk = Walk(rules, seen)
    walk.over(tree, deadline + seconds)
    facts = walk.facts()
    bindings = walk.bindings
    for statement, line in walk.imports:
        bindings += bindings_of(language, statement, line)
    uses = [
        *facts.uses,
        *(
            Use(one.name, "", one.line, -1, IMPORT)
            for one in bindings
            if one.module and one.name not in ("", "*")
        ),
    ]
    uses.sort(key=lambda use: (use.line, use.column))
    return replace(facts, uses=tuple(uses), bindings=tuple(bindings), causes=(TOO_LONG,) if walk.late else ())


def _by_patterns(text: bytes) -> FileFacts:
    """Return every name of a text as a reference, without strings and comments: what SQL has, and what no grammar reads."""
    uses = []
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        for found in _CALLS.finditer(_QUOTED.sub(lambda match: " " * len(match.group()), line)):
            kind = CALL if found["called"] else REFERENCE
            uses.append(Use(found["name"], found["receiver"] or "", number, found.start("name"), kind))
    return FileFacts(uses=tuple(uses))


def _together(parts: Iterable[FileFacts]) -> FileFacts:
    whole = FileFacts()
    for part in parts:
        whole = FileFacts(
            (*whole.uses, *part.uses),
            (*whole.bindings, *part.bindings),
            {**whole.bases, **part.bases},
            {**whole.returns, **part.returns},
            {**whole.fields, **part.fields, 0: {**whole.fields.get(0, {}), **part.fields.get(0, {})}},
            (*whole.causes, *part.causes),
        )
    return whole
