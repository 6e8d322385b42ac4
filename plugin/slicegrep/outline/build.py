"""From a source to its outline: which reader serves its language."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slicegrep.languages import LANGUAGES, SCRIPTED, language_of
from slicegrep.outline.nest import nested
from slicegrep.outline.rules import Rules, rules_of
from slicegrep.types import Outline, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.outline.found import Found

__all__ = ["PARSE_SECONDS", "outline"]

PARSE_SECONDS = 3.0
"""Most 5 MB files take one to two seconds; past this the answer is a part of one by patterns. The hook has five."""
_LEAST_SHARE = 0.2
_WHOLE_SHARE_BYTES = 4_000_000
"""A file of this size may use all of the time, a small one a fifth: 4 kB that parse for seconds never end well."""

_PLAIN = Rules("")
_SQL = Rules("", member_kind="function")


def outline(source: Source, *, seconds: float = PARSE_SECONDS, lines: Sequence[int] | None = None) -> Outline:
    """Find the definitions of a source; an empty outline for what is not source code. Never raises for any text.

    `seconds` bounds it (a small file gets a share). Where parsing takes too much of that, and where the grammar's wheel
    is not installed, the definitions are those of line patterns; a file that is still not done has the first part's,
    and is `broken`. A `.h` file is C or C++ by its text.

    `lines` (1-based) asks only for what is around those: `enclosing` says of them what it says with the whole outline,
    but for `parent`, which counts the definitions that are there. A name takes a fifth of the time that parsing does.
    """
    language = source.language
    if language not in LANGUAGES:
        return Outline(language)
    if language == "c" and source.path.endswith(".h"):
        language = language_of(source.path, source.text)
    until = time.monotonic() + seconds * min(1.0, _LEAST_SHARE + source.size / _WHOLE_SHARE_BYTES)
    if language == "sql":
        from slicegrep.outline.statements import by_statements  # noqa: PLC0415 - compiling its patterns takes 5 ms

        return Outline(language, nested(by_statements(source.lines, until), _SQL), method="patterns")
    if language in SCRIPTED:
        return _of_scripts(source, until, lines)
    from slicegrep.outline.prepare import encoded  # noqa: PLC0415 - see by_statements

    rules = rules_of(language) or _PLAIN
    text, emptied = encoded(source.lines)
    answer = _by_grammar(language, rules, text, until, lines)
    if answer is None:
        return _by_patterns(source.lines, language, language, until)
    found, broken = answer
    return Outline(language, nested(found, rules), broken=emptied or broken)


def _of_scripts(source: Source, until: float, lines: Sequence[int] | None) -> Outline:
    from slicegrep.outline.prepare import encoded  # noqa: PLC0415 - see by_statements
    from slicegrep.outline.scripts import script_blocks  # noqa: PLC0415 - see by_statements

    text, broken = encoded(source.lines)
    found: list[Found] = []
    rules = _PLAIN
    for language, block in script_blocks(text):
        rules = rules_of(language) or _PLAIN
        answer = _by_grammar(language, rules, block, until, lines)
        if answer is None:
            return _by_patterns(source.lines, language, source.language, until)
        found += answer[0]
        broken = broken or answer[1]
    return Outline(source.language, nested(found, rules), broken=broken)


def _by_grammar(
    language: str, rules: Rules, text: bytes, until: float, lines: Sequence[int] | None
) -> tuple[list[Found], bool] | None:
    try:
        from slicegrep.outline.grammars import by_grammar  # noqa: PLC0415 - tree-sitter may not be installed
    except ImportError as error:
        if "memory" in str(error) or "map segment" in str(error):  # as in trees.grammar_of
            raise MemoryError(str(error)) from error
        return None
    return by_grammar(language, rules, text, until, lines)


def _by_patterns(lines: tuple[str, ...], language: str, named: str, until: float) -> Outline:
    from slicegrep.outline.patterns import by_patterns  # noqa: PLC0415 - see by_statements

    found = by_patterns(lines, language, until)
    return Outline(named, nested(found, rules_of(language) or _PLAIN), broken=True, method="patterns")
