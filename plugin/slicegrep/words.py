"""Text to terms: identifiers, their sub-words, stop-words and light stems."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["IDENTIFIER", "STOP_WORDS", "SYNONYMS", "identifiers", "is_code_name", "stem", "sub_words"]

IDENTIFIER = re.compile(r"[^\W\d]\w*")
"""An identifier of any script: letters, digits and underscores, not beginning with a digit."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_CODE_NAME = re.compile(
    r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^_+[A-Za-z]|[A-Za-z]\d|^[A-Z]{2,}$|[A-Z]{2,}[a-z]"
)

_STOP = """
a about above after again all also always am an and any are as at be because been before being below between both but by
can cannot could did do does doing done down during each either else etc even every few for from further get gets getting
give go going got had has have having he hence her here him his how however i if in instead into is it its itself just
kind let like made make makes making many may maybe me might more most much must my need needed needs neither never no nor
not now of off ok on once one only onto or other others our out over own per please rather really same see seem seems shall
she should simply since so some something still such sure take than that the their them then there these they thing things
this those though through thus to together too toward towards under until up upon us use used uses using very via want wants
was way we well were what when where whether which while who whose why will with within without would yes yet you your
add added adding adds allow allows change changed changes changing code fix fixed fixes fixing file files find implement
implemented improve improved issue issues line lines look method methods function functions class classes new now pr bug
remove removed removes removing rename renamed support supports update updated updates updating work works working
explain show tell read write check run help
"""
STOP_WORDS = frozenset(_STOP.split())
"""English function words, and the verbs and nouns that every request for a change to code holds."""

_KEEP_DOUBLE = frozenset("lsz")


@lru_cache(maxsize=65536)
def sub_words(identifier: str) -> tuple[str, ...]:
    """Split camelCase, PascalCase, snake_case and digits, lower-cased: `HTTPServer_2x` -> http, server, 2, x."""
    return tuple(part.lower() for part in _PART.findall(identifier))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a light English stem of a lower-case word: plural, -ing, -ed, -er, -ation and -ly endings off."""
    n = len(word)
    if n < 4 or not word.isascii():
        return word
    if word.endswith("ies") and n > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (
        ("ization", 9),
        ("ation", 8),
        ("izing", 8),
        ("ating", 8),
        ("ing", 6),
        ("ated", 7),
        ("ate", 8),
        ("ied", 5),
        ("ed", 5),
        ("ly", 6),
        ("er", 6),
        ("or", 6),
    ):
        if word.endswith(ending) and len(word) >= least:
            word = word[: -len(ending)]
            if ending == "ied":
                return word + "y"
            if word[-1] == word[-2] and word[-1] not in _KEEP_DOUBLE:
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def identifiers(text: str) -> list[str]:
    """Return every identifier and word of the text, in order, as written."""
    return IDENTIFIER.findall(text)


def is_code_name(word: str) -> bool:
    """Whether a word is spelled as a name in code is (camelCase, snake_case, digits, capitals) rather than as prose."""
    return _CODE_NAME.search(word) is not None


_ALIKE = """
argument arg parameter param; authentication auth login; buffer buf; button btn; callback cb handler; character char;
command cmd; compare cmp equal; configuration config settings options; connection conn; constructor init initialize;
context ctx; convert cast; copy clone; count number num; create make new build; current cur; database db; date time;
debug dbg; declaration decl; default fallback; delete remove drop erase; destination dst; difference diff; directory dir folder;
document doc; element elem el; environment env; error err exception; event evt; execute exec run; expression expr;
file path; function func fn; generate gen; height width size; identifier id; image img; implementation impl; index idx;
information info; initialize init setup; integer int; iterator iter; javascript js; language lang; length len size; library lib;
maximum max; memory mem; message msg; minimum min; object obj; operation op; package pkg; pointer ptr; position pos; previous prev;
print output write; process proc; quote escape; reference ref; regex regexp pattern; repository repo; request req;
response resp res; result ret; return ret; source src; specification spec; statistics stats; status state; string str text;
synchronous sync; temporary tmp temp; test spec; typescript ts; url uri; utility util; value val; variable var; version ver;
warning warn deprecated; window win windows; throw raise; parse decode; serialize encode; send dispatch emit; listen subscribe;
stop close cancel abort; start open begin; list array; dictionary dict map; boolean bool; null none nil undefined; void unit
"""


def _synonyms() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for group in _ALIKE.split(";"):
        stems = [stem(word) for word in group.split()]
        for word in stems:
            table.setdefault(word, set()).update(other for other in stems if other != word)
    return {word: tuple(sorted(others)) for word, others in table.items()}


SYNONYMS = _synonyms()
"""Stem -> stems of words that stand for the same in code: abbreviations first of all."""
