"""What speaks for a region that patterns match: what its lines define, which patterns meet there, and how rare they are."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.words import is_code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.candidates import Hit
    from slicegrep.index.outlines import Outlined
    from slicegrep.query import Query
    from slicegrep.regions import Region
    from slicegrep.types import Symbol

__all__ = ["Judge", "Judgement", "lines_matching"]

USE = 0.35
"""What a region is worth that only mentions what was asked for, against 1 for its definition."""
DEFINED = 0.6
"""A pattern matches where something else is defined: `def \\w+_handler`, or a name that has the word in it."""
GIVEN = 0.6
"""A line gives a name its value, type or default, where no outline has it: constants, fields, options."""
GIVEN_OUTSIDE = 0.9
"""The same outside of all blocks: a setting, a constant of a module."""
PHRASE = 1.0
"""A phrase of several words stands there as it was said."""
WORDS = 0.15
"""One or two plain words stand beside each other: more often prose about the thing than the thing."""
TOGETHER = 0.3
"""All of several patterns in one region, against one of them."""
RARE = 0.1
DENSE = 0.1
"""The rarest pattern of all matched; eight or more lines match."""
MANY_LINES = 8
DECLARATION = 0.5
IMPLEMENTATION = 0.7
"""Factors of definitions that are declared only, and of blocks that add to a type (`impl`)."""
DECLARED_ONLY = 0.4
COMMENT_ONLY = 0.6
"""Factors of regions whose hits are all imports or forward declarations, or all comments."""
RARE_SHARE = 0.5
"""A pattern is called rare whose rarity among the hits is more than this."""

_DECLARES = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|export\s+(?:type\s+)?(?:\*|\{[^}]*\}\s*from)|(?:pub(?:\([^)]*\))?\s+)?use\s|(?:pub\s+)?mod\s+\w+;"
    r"|#\s*include\b|using\s|package\s|require(?:_relative)?\b|(?:const|let|var)\s.*=\s*require\("
    r"|extern\s.*;\s*$|(?:class|struct|enum|union)\s+\w+;\s*$)"
)
_COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|elif|pragma|undef|error)\b|\[)|//|\*|/\*|--|\"\"\"|''')"
)
_BEFORE_NAME = r"(?:^|[\s,({;.\"'\[*&:-])"
_AFTER_NAME = r"[\"'\]]?\s*(?:\??:(?![:=])|=(?![=>~])|:=|\|\|=)"
_DEFINES = r"(?:#\s*define|const|static|final|let|var|val|type|--)\s+(?:\w+[\s*&<>]+)*"


class Judgement(NamedTuple):
    """What the hits of a region say. `value` is 1 for the definition of what was asked for."""

    value: float
    reasons: tuple[str, ...]
    role: str
    best: int
    """The line to keep."""


class Judge:
    """Knows what one search's patterns match in all, and judges region by region."""

    def __init__(self, query: Query, by_file: Mapping[str, Sequence[Hit]], weight: float) -> None:
        """`weight` is what names are worth in this query, from 0 to 1; phrases are worth the same in any."""
        self._query, self._weight = query, weight
        counts = lines_matching(by_file, len(query.patterns))
        self._rarity = _rarities(counts)
        self._found = sum([1 for count in counts if count])
        self._phrase = [pattern.literal and len(pattern.text.split()) > 1 for pattern in query.patterns]
        self._wanted = {name.replace("_", "").lower() for name, _ in query.symbols}
        self._spelled = {name for name, _ in query.symbols}
        names = [re.escape(n) for n in self._spelled if is_code_name(n) or len(self._spelled) == 1]
        joined = "|".join(sorted(names, key=len, reverse=True))
        self._plain: dict[tuple[frozenset[int], int], Judgement] = {}
        self._given = (
            re.compile(rf"{_BEFORE_NAME}(?:{joined}){_AFTER_NAME}|{_DEFINES}(?:{joined})\b")
            if names
            else None
        )

    def of_file(
        self, symbols: Outlined, lines: Sequence[str], *, test: bool
    ) -> Callable[[Region], Judgement]:
        """Return what judges the regions of a file. `symbols` are the file's, `lines` too (none where it was not read)."""
        named = symbols.by_name_line()
        return lambda region: self._judge(region, symbols, named, lines, test=test)

    def of_unread(self, region: Region) -> Judgement:
        """Judge a region of a file of which neither text nor definitions are known: by its patterns, and by how many lines match."""
        hits = region.hits
        best = hits[0]
        patterns = set(best.patterns)
        for hit in hits[1:]:
            patterns.update(hit.patterns)
            if len(hit.patterns) > len(best.patterns):
                best = hit
        key = frozenset(patterns), min(len(hits), MANY_LINES)
        known = self._plain.get(key)
        if known is None:
            known = self._plain[key] = self._judge(region, (), {}, (), test=False)
        return Judgement(known.value, known.reasons, known.role, best.line)

    def _judge(
        self,
        region: Region,
        symbols: Sequence[Symbol],
        named: dict[int, list[int]],
        lines: Sequence[str],
        *,
        test: bool,
    ) -> Judgement:
        query = self._query
        reasons: list[str] = []
        patterns = {pattern for hit in region.hits for pattern in hit.patterns}
        texts = {hit.line: lines[hit.line - 1] for hit in region.hits if hit.line <= len(lines)}
        best = max(region.hits, key=lambda hit: (len(hit.patterns), -hit.line)).line
        value, role = (WORDS, "") if query.prose else (USE, "use")
        if query.prose and any(_is_quoted(query.text, text) for text in texts.values()):
            value = PHRASE
        defined = self._defined(region, symbols, named)
        if defined is not None:
            symbol, worth = defined
            best = symbol.name_line
            asked = worth > DEFINED
            reasons.append("exact_symbol" if asked and symbol.name in self._spelled else "definition")
            value, role = max(value, worth), "definition" if asked else role
        elif self._given is not None and not test:
            given = next((line for line, text in texts.items() if self._given.search(text)), 0)
            if given:
                worth = GIVEN_OUTSIDE if texts[given][:1].strip() else GIVEN
                value, role, best = max(value, worth), "definition", given
                reasons.append("definition")
        if len(patterns) > 1:
            reasons[:0] = [f"multi_match({len(patterns)})", "co_occurrence"]
            if len(patterns) == len(query.patterns):
                reasons.insert(2, "all_patterns")
            value += TOGETHER * (len(patterns) - 1) / (self._found - 1)
        rarity = max([self._rarity[pattern] for pattern in patterns])
        if rarity > RARE_SHARE and self._found > 1:
            reasons.append("rare_terms")
        if len(region.hits) > 1:
            reasons.append("dense")
        value *= self._weight
        if any(self._phrase[pattern] for pattern in patterns):
            value += PHRASE
        value += RARE * rarity + DENSE * min(math.log(len(region.hits)) / math.log(MANY_LINES), 1.0)
        if texts and defined is None:
            if all(_DECLARES.match(text) for text in texts.values()):
                value, role = value * DECLARED_ONLY, ""
                reasons.append("declaration")
            elif all(_COMMENT.match(text) for text in texts.values()):
                value, role = value * COMMENT_ONLY, ""
                reasons.append("comment")
        return Judgement(value, tuple(reasons) or ("match",), role, best)

    def _defined(
        self, region: Region, symbols: Sequence[Symbol], named: dict[int, list[int]]
    ) -> tuple[Symbol, float] | None:
        """Return the best definition whose name stands in a line that matches, with what it is worth."""
        best: tuple[Symbol, float] | None = None
        for symbol in [symbols[at] for hit in region.hits for at in named.get(hit.line, ())]:
            worth = 1.0 if symbol.name.replace("_", "").lower() in self._wanted else DEFINED
            if symbol.kind == "declaration":
                worth *= DECLARATION
            elif symbol.kind == "impl":
                worth *= IMPLEMENTATION
            if best is None or worth > best[1]:
                best = symbol, worth
        return best


def lines_matching(by_file: Mapping[str, Sequence[Hit]], patterns: int) -> list[int]:
    """Return how many lines each of so many patterns matches."""
    together: Counter[tuple[int, ...]] = Counter()
    for hits in by_file.values():
        together.update([hit[1] for hit in hits])
    counts = [0] * patterns
    for numbers, count in together.items():
        for number in numbers:
            counts[number] += count
    return counts


def _is_quoted(phrase: str, line: str) -> bool:
    """Whether a phrase stands in a string of a line: a message is looked for."""
    at = line.lower().find(phrase.lower())
    return at > 0 and any(quote in line[:at] for quote in "\"'`")


def _rarities(counts: Sequence[int]) -> list[float]:
    """Return 1 for a pattern that matches one line, falling with the logarithm of its lines to 0 for all of them."""
    total = math.log(1 + sum(counts)) or 1.0
    return [1 - math.log(max(count, 1)) / total for count in counts]
