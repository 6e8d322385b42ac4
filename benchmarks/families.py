"""Six families of questions, each drawn from what is mechanically true of a tree, with the lines that answer them.

A family takes the facts of one repository and a source of chance, and yields queries with their targets, in random
order and without end conditions: generate.py takes as many as it needs.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from facts import CALLABLE, IMPORT, Definition, Facts, File, Text

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep.words import sub_words

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from measure import Range
    from slicegrep.types import Symbol

    Question = tuple[str, dict[str, list[Range]]]
    """The query, and by what they are called the ranges of each target."""

__all__ = ["FAMILIES", "SHORTEST_NAME"]

SHORTEST_NAME = 4
LONGEST_CALLER = 80
"""Lines of a function that a chain begins in or a message is made in: an answer of 2,000 tokens can hold it."""
MOST_USES = 30
"""Lines of tests that use a name which is asked for: past it any answer has one by chance."""
MOST_USERS = 8
"""Files that use a setting which is asked for."""
MOST_GIVEN = 6
"""Lines that give a setting its value or type."""


def definition_lines(found: list[Definition]) -> list[Range]:
    """Return the first lines of a definition, and of its copies."""
    return [(one.file, one.symbol.name_line, one.last) for one in found]


def line_of(found: list[Definition], start: int, end: int, facts: Facts) -> list[Range]:
    """Return lines inside a definition (`start` to `end` of its file), and where its copies have the same text."""
    first = found[0]
    wanted = facts.text(first.file, start, end)
    moved = [(one.file, one.symbol.name_line - first.symbol.name_line) for one in found]
    return [
        (file, start + by, end + by) for file, by in moved if facts.text(file, start + by, end + by) == wanted
    ]


def askable(facts: Facts, *, compound: bool = False) -> Iterator[list[Definition]]:
    """Yield the definitions of the project's own code whose name is theirs alone, each with its copies."""
    for name in facts.definitions:
        if len(name) < SHORTEST_NAME or name.startswith("__") or (compound and len(sub_words(name)) < 2):
            continue
        if found := facts.only(name):
            yield found


def short(symbol: Symbol) -> str:
    """Return the last two parts of a qualified name, as the language spells them."""
    parts = re.split(r"(::|[.#:])", symbol.qualified)
    return "".join(parts[-3:])


def symbols(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """Where something is defined: the bare name, the question, or Class.method whose last part may be common."""
    bare = list(askable(facts))
    rng.shuffle(bare)
    qualified: dict[str, list[Definition]] = defaultdict(list)
    for found in facts.definitions.values():
        for one in found:
            if (
                one.symbol.kind == "method"
                and one.symbol.parent >= 0
                and not one.symbol.name.startswith("__")
            ):
                qualified[short(one.symbol)].append(one)
    methods = [[one] for (one, *more) in qualified.values() if not more and facts.files[one.file].owned]
    rng.shuffle(methods)
    for found in bare:
        form = rng.randrange(3)
        if form == 2 and methods:
            chosen = methods.pop()
            yield short(chosen[0].symbol), {"definition": definition_lines(chosen)}
        else:
            name = found[0].symbol.name
            yield (name, f"where is {name} defined")[form % 2], {"definition": definition_lines(found)}


def concepts(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """Ask what a documentation comment says first, without the name of what it documents."""
    rows = []
    seen: dict[str, int] = defaultdict(int)
    for found in askable(facts):
        symbol = found[0].symbol
        sentence = first_sentence(documentation(facts.files[found[0].file], symbol))
        words = [word for word in sentence.split() if folded(word) != folded(symbol.name)]
        query = " ".join(words)
        if 5 <= len(words) <= 30 and len(words) >= len(sentence.split()) - 2:
            seen[query] += 1
            rows.append((query, found))
    rng.shuffle(rows)
    for query, found in rows:
        if seen[query] == 1:
            yield query, {"definition": definition_lines(found)}


def folded(word: str) -> str:
    """Return a word's letters and digits in lower case."""
    return re.sub(r"[\W_]", "", word).lower()


def documentation(file: File, symbol: Symbol) -> str:
    """Return the docstring or the comment right above a definition, markers taken off; "" without one."""
    if file.source.language == "python":
        body = [text for text in file.strings if symbol.name_line < text.start <= symbol.end]
        if body and body[0].text.lstrip("rRuU").startswith('"""') and _opens_body(file, symbol, body[0]):
            return body[0].text.lstrip("rRuU").strip('"')
        return ""
    above: list[Text] = []
    for text in reversed(file.comments):
        if text.end == (above[-1].start if above else symbol.start) - 1:
            above.append(text)
    joined = "\n".join(
        text.text for text in reversed(above) if re.search(r"\w", text.text) and "////" not in text.text
    )
    return re.sub(r"^[ \t]*(?:///?!?|/\*[*!]*|\*+/|\*|#)[ \t]?|\*/\s*$", "", joined, flags=re.MULTILINE)


def _opens_body(file: File, symbol: Symbol, text: Text) -> bool:
    between = " ".join(file.code[symbol.name_line - 1 : text.start]).rstrip()
    return between.endswith(":")


def first_sentence(text: str) -> str:
    """Return the first sentence of a documentation comment as plain words; "" where it begins with a tag."""
    paragraph = re.split(r"\n\s*\n|\n\s*(?:@|:\w+|\.\. |-{3}|={3}|[*-] |<p>)", text.strip())[0]
    paragraph = re.sub(
        r"\{@\w+\s+#?([^}]*)\}|:[\w:]+:`~?([^`<]*)[^`]*`", lambda m: m.group(1) or m.group(2), paragraph
    )
    paragraph = re.sub(
        r"^[@\\]brief\s+|</?[a-z]+[^<>]*>|\[\d+\]_?|`+|\*{1,2}(?=\w)|(?<=\w)\*{1,2}", "", paragraph
    )
    sentence = re.split(r"(?<=[\w)'\"])[.:](?:\s|$)", " ".join(paragraph.split()))[0]
    return (
        ""
        if re.match(r"[@\\]|copyright\b|SPDX|eslint|noinspection|TODO", sentence, re.IGNORECASE)
        else sentence
    )


def chains(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """How a function comes to call one that is defined in another file; any of its calls will do."""
    rows: dict[tuple[str, str], tuple[list[Definition], list[Definition], list[Range]]] = {}
    for callee in askable(facts, compound=True):
        if callee[0].symbol.kind not in CALLABLE:
            continue
        for mention in facts.mentions.get(callee[0].symbol.name, []):
            file = facts.files[mention.file]
            around = file.around(mention.line)
            if not (mention.called and file.owned and around) or mention.file == callee[0].file:
                continue
            caller = facts.only(around.name)
            brief = around.end - around.start < LONGEST_CALLER and len(around.name) >= SHORTEST_NAME
            if brief and caller and caller[0].symbol == around and meant(facts, callee[0], file):
                row = rows.setdefault((around.name, callee[0].symbol.name), (caller, callee, []))
                row[2].extend(line_of(caller, mention.line, mention.line, facts))
    shuffled = list(rows.items())
    rng.shuffle(shuffled)
    seen: set[str] = set()
    for names, (caller, callee, calls) in shuffled:
        if len(set(names)) == 2 and seen.isdisjoint(names):
            seen.update(names)
            yield (
                f"how does {names[0]} reach {names[1]}",
                {"caller": definition_lines(caller), "call": calls, "callee": definition_lines(callee)},
            )


def meant(facts: Facts, callee: Definition, file: File) -> bool:
    """Whether a call by that name can mean the callee: a function of the top level, or its class is spoken of too."""
    symbol = callee.symbol
    if symbol.kind == "function":
        return symbol.depth == 0
    owner = re.split(r"::|[.#:]", symbol.qualified)[-2:-1]
    return bool(owner) and any(mention.file == file.path for mention in facts.mentions.get(owner[0], []))


_RAISES = re.compile(
    r"\b(?:raise|throw|panic\w*|bail|fatal\w*|abort|warn\w*|perror|log|logger|trigger_error|JSON_THROW)\b"
    r"|\w*(?:Error|Exception|Errorf|Warning|[Ff]ail|[Ii]nvalid|UsageError)\w*\s*!?(?:::\w+)?\("
    r"|\berrors?\.\w+\(|\bfprintf\s*\(\s*stderr|\bPrintErr\w*\("
)
_QUOTED = re.compile(r"[rRbBuUfFL]*(?P<quote>[\"'`])(?P<text>.*)(?P=quote)$")
_VARIABLE = re.compile(
    r"\$?\{[\w.!:?#$\[\]()>-]*\}|%(?:\(\w+\))?[-+ #0]*[\d.]*(?:l|ll|z)?[sdqvrifux]|\$\w+(?:->\w+)?|\\?\$\{[^}]*\}"
)
_TRIPLE = ('"""', "'''")
_VALUES = ("alpha", "beta", "gamma", "delta")


def errors(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """Where a message comes from, its variable parts filled in as its reader sees it."""
    rows = []
    seen: dict[str, set[str]] = defaultdict(set)
    for file in facts.files.values():
        for start, end, literals in () if file.test else whole_strings(file):
            message = message_of(literals)
            if not message:
                continue
            seen[message].add(file.path)
            around = file.around(start)
            said = "\n".join(file.code[max(start - 4, 0) : end])
            if file.owned and around and around.end - around.start < LONGEST_CALLER and _RAISES.search(said):
                rows.append((message, Definition(file.path, around), start, end))
    rng.shuffle(rows)
    for message, here, start, end in rows:
        copies = [here, *(one for one in facts.only(here.symbol.name) if one.file != here.file)]
        if seen[message] <= {one.file for one in copies}:
            heads = [(one.file, one.symbol.name_line, one.symbol.name_line) for one in copies]
            yield message, {"function": heads, "message": line_of(copies, start, end, facts)}


def whole_strings(file: File) -> Iterator[tuple[int, int, list[str]]]:
    """Yield first line, last line and literals of each string, those that are joined to one another together."""
    parts: list[Text] = []
    for text in file.strings:
        if parts and not text.joined:
            yield parts[0].start, parts[-1].end, [part.text for part in parts]
            parts = []
        parts.append(text)
    if parts:
        yield parts[0].start, parts[-1].end, [part.text for part in parts]


def message_of(literals: list[str]) -> str:
    """Return string literals as one message with values in its variable parts; "" where it is no sentence."""
    quoted = [_QUOTED.match(literal) for literal in literals]
    raw = "".join(match.group("text") if match else "\n" for match in quoted)
    raw = re.sub(r"(?:\\[nr]|[\s:(])+$", "", raw).lstrip()
    for quote in "'\"":  # what a call goes on with ends in a quote that is not closed, or begins with one
        if raw.count(quote) % 2:
            begun = raw.startswith(quote + " ")
            raw = raw[2:].lstrip() if begun else raw.removesuffix(quote).rstrip(" :")
    if (
        "\\n" in raw
        or "\n" in raw
        or not 20 <= len(raw) <= 240
        or literals[0].lstrip("rRbBuUfF")[:3] in _TRIPLE
    ):
        return ""
    if len(re.findall(r"[A-Za-z]{2,}", _VARIABLE.sub(" ", raw))) < 4 or re.search(r"[<>=]{2}|</|::|;", raw):
        return ""
    values = cycle(_VALUES)

    def filled(match: re.Match[str]) -> str:
        found = match.group()
        if found[-1] in "dixu" and found[0] == "%":
            return "42"
        return f"'{next(values)}'" if found.endswith(("!r}", "q", "r")) and found[0] in "%{" else next(values)

    return re.sub(r"\\(.)", r"\1", _VARIABLE.sub(filled, raw))


_BAG = r"\b\w*(?:[Cc]onfig|[Ss]ettings?|[Oo]ptions?|[Oo]pts|environ|env|[Ff]lags)\w*(?:\(\))?"
_KNOB = r"(?i:allow|auto|default|disable|enable|hide|ignore|include|lenient|limit|max|min|no|show|silence|skip|strict|trust|use|with)"
_SETTING = re.compile(
    rf"{_BAG}(?:\[|\.get\(|\.set\(|\.pop\(|\.setdefault\(|->get\()\s*[\"'](?P<key>[\w.-]{{4,40}})[\"']"
    rf"|{_BAG}(?:\?\.|\.|->|::)\$?(?P<attribute>[A-Za-z_]\w{{3,}})\b(?!\s*[(<])"
    rf"|(?:\?\.|\.|->)(?P<knob>{_KNOB}[_A-Z]\w{{3,}})\b(?!\s*[(<])"
    r"|getenv\(\s*[\"'](?P<env>\w{4,})[\"']"
)
_CAPITALS = re.compile(r"(?<![\w.])[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b(?!\()")
_GIVEN = re.compile(
    r"(?:^|[{,(])\s*(?:[\w<>\[\]:,.?&*|]+ )*?[\"']?\$?(?P<name>[A-Za-z_]\w+)[\"']?\??\s*(?::(?!:)|=(?![=])|=>)"
    r"|^\s*(?P<field>[A-Za-z_]\w+)\s+(?:bool|string|int|\[\]\w+|map\S+|func\(.*)\s*$"
)
_CONSTANT = re.compile(
    r"\s*#\s*define\s+(\w+)[ \t]|\s*(?:[\w<>*&]+ )*([A-Z][A-Z0-9_]+)(?:\[\w*\]|\s*:[^=]+)?\s*=(?!=)"
)
_NO_SETTING = re.compile(r"_H(?:PP)?_*$|LICENSE|COPYRIGHT")


def flows(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """Where a setting is given its value or type, and where another file uses it.

    Keys and fields of what is called options, settings and the like come first, and fields with a name such as
    `allow_…`; constants and macros in capitals follow where a repository has not enough of those.
    """
    named = settings_of(facts, _SETTING, _GIVEN)
    constants = settings_of(facts, _CAPITALS, _CONSTANT)
    for rows in (named, [row for row in constants if row[0] in facts.names]):
        rng.shuffle(rows)
        for name, given, used in rows:
            query = (name, f"where is {name} set and where is it used")[rng.randrange(2)]
            yield query, {"given": given, "used": used}


def settings_of(
    facts: Facts, use: re.Pattern[str], give: re.Pattern[str]
) -> list[tuple[str, list[Range], list[Range]]]:
    """Return name, giving lines (in one file) and using lines (in others) of what the patterns match."""
    given: dict[str, list[Range]] = defaultdict(list)
    used: dict[str, list[Range]] = defaultdict(list)
    for file in facts.owned():
        for number, (line, code) in enumerate(zip(file.source.lines, file.code, strict=False), 1):
            if not code.strip() or len(line) > 300 or IMPORT.match(code):
                continue
            here = {match.group(match.lastindex) for match in give.finditer(line) if match.lastindex}
            for name in here:
                given[name].append((file.path, number, number))
            for match in use.finditer(line):
                name = match.group(match.lastindex or 0)
                # a word in capitals inside a comment or a message is no use; a key is inside a string
                place = (file.path, number, number)
                if name not in here and place not in used[name] and (match.lastindex or name in code):
                    used[name].append(place)
    rows = []
    for name, uses in used.items():
        homes = {file for file, *_ in given[name]} if name in given else set()
        elsewhere = [one for one in uses if one[0] not in homes]
        common = len({file for file, *_ in elsewhere}) > MOST_USERS or len(given.get(name, ())) > MOST_GIVEN
        if (
            len(homes) == 1
            and elsewhere
            and not common
            and len(sub_words(name)) > 1
            and not _NO_SETTING.search(name)
        ):
            rows.append((name, given[name], elsewhere))
    return rows


def tested(facts: Facts, rng: random.Random) -> Iterator[Question]:
    """A definition together with a test that uses it."""
    rows = []
    for found in askable(facts, compound=True):
        name = found[0].symbol.name
        mentions = facts.mentions.get(name, [])
        uses = [(m.file, m.line, m.line) for m in mentions if facts.files[m.file].test]
        if 1 <= len(uses) <= MOST_USES:
            rows.append((name, found, uses))
    rng.shuffle(rows)
    for name, found, uses in rows:
        query = (name, f"tests for {name}")[rng.randrange(2)]
        yield query, {"definition": definition_lines(found), "test": uses}


FAMILIES = {
    "symbol": symbols,
    "docstring concept": concepts,
    "cross-file call chain": chains,
    "error string": errors,
    "config flow": flows,
    "test + implementation": tested,
}
