"""A made repository of any size, the same for the same seed, so that what grows with a tree can be told from what does not.

    python benchmarks/monorepo.py FOLDER --files 5000

A file depends on the seed and its number alone: the tree of 1,000 files is the beginning of that of 50,000. Names are drawn by
Zipf's law from words, new ones keep coming (Heaps' law), and each file has names that stand nowhere else. A hundred files
make an area of four packages. Files have 20 to 1,200 lines, 200 on average.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["COMMON", "ENGLISH", "RARE", "SEED", "made", "path_of", "text_of"]

SEED = 20_261_130
RARE = "evictStaleLedgerCursor"
"""A name that is defined in the first file, called in the second and third and nowhere else, however large the tree."""
COMMON = "payload"
"""A word of nearly every file."""
ENGLISH = "how are expired sessions evicted from the cache"
"""A question that the second file's comment answers; each of its words stands in one file of three."""

_PACKAGE = 25
_AREA = 4 * _PACKAGE
_VERBS = (  # noqa: SIM905 (easier to read and to add to)
    "load send parse make find open read join merge split count check build fetch store drop scan walk pack sort bind wrap"
    " emit retry flush evict trim patch route sign seal decode encode resolve render index rank lock"
).split()
_NOUNS = (  # noqa: SIM905 (easier to read and to add to)
    "payload request session cache token ledger order invoice cursor batch shard window frame header footer page row item job"
    " queue worker lease policy quota limit rule label tag node edge path route host port user group role grant scope key"
    " value record event metric gauge trace span sample budget price account region zone cluster replica leader digest"
    " schema column table field filter sorter reader writer buffer stream channel signal timer clock mutex"
).split()
_PLAIN = (  # noqa: SIM905 (easier to read and to add to)
    "the of a to in when is that and not each for with from it are be by after before only until so call holds no lock here"
    " must because may empty list means nothing was found order kept as given see also owner result bytes seconds limit"
).split()
_ASKED = "expired sessions evicted cache callers retry server late answer stale default".split()  # noqa: SIM905
_SYLLABLES = "ra lu tem pol vin dor sel mar ki gon ter ba fli mo nas pre cul von ti sa".split()  # noqa: SIM905
_INVENTED = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES if a != b != c]
"""Some 7,000 words that no language has: a project has many of its own."""


_TOPICS = 90
"""Names that one file is about. Real files have 90 to 280 that differ, and 10 to 25 that stand nowhere else."""


class _Words(NamedTuple):
    """Texts and their running weights, as `random.choices` takes them."""

    texts: list[str]
    weights: list[float]

    def drawn(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self.texts, cum_weights=self.weights, k=count)


def _zipf(texts: list[str]) -> _Words:
    return _Words(texts, list(accumulate(1 / rank for rank in range(1, len(texts) + 1))))


def _names() -> _Words:
    """Return some 30,000 names of one to three words, in a fixed order."""
    chance = random.Random(SEED)
    words = _zipf([*_NOUNS, *chance.sample(_INVENTED, 3000)])
    pairs = [f"{verb}_{word}" for verb in _VERBS for word in words.drawn(chance, 400)]
    longer = [
        f"{verb}_{one}_{two}"
        for verb in _VERBS
        for one, two in zip(words.drawn(chance, 500), words.drawn(chance, 500), strict=True)
    ]
    chance.shuffle(pairs)
    chance.shuffle(longer)
    single = words.texts[len(_NOUNS) : len(_NOUNS) + 400]
    return _zipf(list(dict.fromkeys([*_NOUNS, *single, *pairs, *longer])))


def _said() -> _Words:
    """Return the words of comments: the plain ones, then those of this trade among invented ones."""
    words = random.Random(SEED).sample(_INVENTED, 2000)
    return _zipf([*_PLAIN, *words[:40], *_ASKED, *words[40:]])


_NAMES = _names()
_SAID = _said()


class _Draft:
    """What is drawn for one file: names, most of them again and again, phrases, and names that are only here."""

    def __init__(self, seed: int, number: int) -> None:
        self.chance = random.Random(f"{seed}:{number}")
        self.lines = max(20, min(1200, int(self.chance.lognormvariate(5.02, 0.75))))
        topics = list(dict.fromkeys(_NAMES.drawn(self.chance, _TOPICS)))
        self._names = _Endless(self.chance, _zipf(topics))
        self._said = _Endless(self.chance, _SAID)

    def name(self) -> str:
        """Return one of the names that this file is about."""
        return next(self._names)

    def own(self) -> str:
        """Return a name that most likely stands in this file alone."""
        return f"{next(self._names)}_{self.chance.randrange(16**4):04x}"

    def phrase(self) -> str:
        """Return a few plain words."""
        return " ".join([next(self._said) for _ in range(9)])

    def statements(self) -> range:
        """Return as many as a function has."""
        return range(self.chance.randrange(3, 36))


class _Endless:
    """Words drawn many at a time."""

    def __init__(self, chance: random.Random, words: _Words) -> None:
        self._chance = chance
        self._words = words
        self._drawn: Iterator[str] = iter(())

    def __next__(self) -> str:
        for word in self._drawn:
            return word
        self._drawn = iter(self._words.drawn(self._chance, 256))
        return next(self._drawn)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([part.capitalize() for part in rest])


def _pascal(name: str) -> str:
    return "".join([part.capitalize() for part in name.split("_")])


def _python(draft: _Draft, near: list[str]) -> Iterator[str]:
    yield f'"""{draft.phrase().capitalize()}."""'
    yield ""
    yield "from __future__ import annotations"
    yield ""
    for module in near:
        yield f"from {module.replace('/', '.')} import {draft.name()}"
    yield ""
    while True:
        yield ""
        yield ""
        yield f"class {_pascal(draft.own())}:"
        yield f'    """{draft.phrase().capitalize()}."""'
        for _ in range(draft.chance.randrange(2, 6)):
            yield ""
            yield from _python_function(draft, "    ")


def _python_function(draft: _Draft, indent: str) -> Iterator[str]:
    given = draft.name()
    yield f"{indent}def {draft.own()}(self, {given}: str, {draft.name()}=None):"
    yield f'{indent}    """{draft.phrase().capitalize()}."""'
    for _ in draft.statements():
        kind = draft.chance.randrange(10)
        name, other = draft.name(), draft.name()
        if kind == 0:
            yield f"{indent}    if {name} is None and {other}:"
            yield f"{indent}        raise ValueError('{draft.phrase()}')"
        elif kind == 1:
            yield f"{indent}    # {draft.phrase()}"
        elif kind == 2:
            yield ""
        elif kind < 6:
            yield f"{indent}    self.{name}({other})"
        else:
            yield f"{indent}    {name} = {other}({given}, {draft.chance.randrange(1000)})"
    yield f"{indent}    return {draft.name()}"


def _braces(
    head: Callable[[_Draft, list[str]], Iterator[str]],
    opened: str,
    function: str,
    statement: str,
    comment: str = "//",
) -> Callable[[_Draft, list[str]], Iterator[str]]:
    """Return the maker of a language with braces. In the forms: `{n}` a name of this file, `{a}` and so on drawn ones."""

    def make(draft: _Draft, near: list[str]) -> Iterator[str]:
        yield f"{comment} {draft.phrase().capitalize()}."
        yield from head(draft, near)
        while True:
            if opened:
                yield ""
                yield opened.format(P=_pascal(draft.own()))
            for _ in range(draft.chance.randrange(2, 6)):
                yield ""
                yield f"  {comment} {draft.phrase().capitalize()}."
                named = draft.own()
                yield "  " + function.format(n=_camel(named), P=_pascal(named), a=_camel(draft.name()))
                for _ in draft.statements():
                    kind, name, other = draft.chance.randrange(10), draft.name(), draft.name()
                    if kind == 0:
                        yield f"    {comment} {draft.phrase()}"
                    elif kind == 1:
                        yield ""
                    elif kind < 5:
                        yield f"    {_camel(name)}({_camel(other)});"
                    else:
                        yield "    " + statement.format(
                            _camel(name), _camel(other), draft.chance.randrange(1000)
                        )
                yield "  }"
            if opened:
                yield "}"

    return make


def _typescript_head(draft: _Draft, near: list[str]) -> Iterator[str]:
    for module in near:
        yield f'import {{ {_camel(draft.name())} }} from "~/{module}";'


def _go_head(draft: _Draft, near: list[str]) -> Iterator[str]:
    yield f"package {draft.chance.choice(_NOUNS)}"
    yield ""
    yield "import ("
    for module in near:
        yield f'\t"example.com/mono/{module.rpartition("/")[0]}"'
    yield ")"


def _java_head(draft: _Draft, near: list[str]) -> Iterator[str]:
    yield f"package com.example.{draft.chance.choice(_NOUNS)};"
    yield ""
    for module in near:
        yield f"import com.example.{module.replace('/', '.')};"


def _c_head(draft: _Draft, near: list[str]) -> Iterator[str]:
    for module in near:
        yield f'#include "{module}.h"'
    yield f"#define {draft.own().upper()} {draft.chance.randrange(4096)}"


def _rust_head(_: _Draft, near: list[str]) -> Iterator[str]:
    for module in near:
        yield f"use crate::{module.replace('/', '::')}::*;"


def _markdown(draft: _Draft, _: list[str]) -> Iterator[str]:
    while True:
        yield f"## {draft.phrase().capitalize()}"
        yield ""
        for _ in range(draft.chance.randrange(2, 6)):
            yield f"{draft.phrase().capitalize()}, {draft.phrase()}: `{draft.name()}`."
        yield ""


def _settings(draft: _Draft, _: list[str]) -> Iterator[str]:
    while True:
        yield f"{draft.name()}:"
        for _ in range(draft.chance.randrange(2, 8)):
            yield f"  {draft.name()}: {draft.chance.randrange(10_000)}"


_KINDS: list[tuple[int, str, Callable[[_Draft, list[str]], Iterator[str]]]] = [
    (32, "py", _python),
    (22, "ts", _braces(_typescript_head, "export class {P} {{", "async {n}({a}: string): Promise<void> {{",
                       "const {0} = await this.{1}({2});")),
    (14, "go", _braces(_go_head, "", "func {P}({a} string) error {{", "{0} := {1}({2})")),
    (12, "java", _braces(_java_head, "public class {P} {{", "public String {n}(String {a}) {{",
                         "String {0} = this.{1}({2});")),
    (8, "cpp", _braces(_c_head, "", "int {n}(const char *{a}) {{", "auto {0} = {1}({2});")),
    (6, "rs", _braces(_rust_head, "", "pub fn {n}({a}: &str) -> u32 {{", "let {0} = {1}({2});")),
    (4, "md", _markdown),
    (2, "yaml", _settings),
]  # fmt: skip
"""Of a hundred files so many, their suffix, and what makes their lines."""
_ENDLESS = [(suffix, make) for count, suffix, make in _KINDS for _ in range(count)]


def _kind(number: int) -> tuple[str, Callable[[_Draft, list[str]], Iterator[str]]]:
    """Return the suffix of a file and what makes its lines: 37 has no factor of 100, so each hundred has all kinds."""
    return _ENDLESS[number * 37 % len(_ENDLESS)]


def _stem(number: int) -> str:
    """Return the path of a file without its suffix."""
    area, package = number // _AREA, number // _PACKAGE
    noun = _NOUNS[package % len(_NOUNS)]
    folder = f"area{area:03}/{noun}_{package}/{'tests' if number % 6 == 5 else 'src'}"
    verb = _VERBS[number * 7 % len(_VERBS)]
    name = f"{verb}_{_NOUNS[number * 11 % len(_NOUNS)]}_{number}"
    return f"{folder}/{'test_' + name if number % 6 == 5 else name}"


def path_of(number: int) -> str:
    """Return the path of a file, relative to the tree."""
    return f"{_stem(number)}.{_kind(number)[0]}"


def text_of(number: int, seed: int = SEED) -> str:
    """Return the text of a file."""
    draft = _Draft(seed, number)
    package = number - number % _PACKAGE
    near = [_stem(package + n) for n in draft.chance.sample(range(_PACKAGE), draft.chance.randrange(1, 8))]
    near.append(_stem(int(number * draft.chance.random() ** 3)))  # the oldest are used the most
    lines = [line for line, _ in zip(_kind(number)[1](draft, near), range(draft.lines), strict=False)]
    return "\n".join([*lines, *_PLANTED.get(number, ())]) + "\n"


_PLANTED = {
    0: ["", "", f"def {RARE}(cursor):", "    return cursor.seal()"],
    1: ["", f"// Expired sessions are evicted from the cache here, by {RARE}.", f"{RARE}(1);"],
    2: ["", f"// see {RARE}"],
}
"""What is put behind the first files; `_kind` makes the first a Python file."""


def made(folder: Path, files: int, seed: int = SEED) -> None:
    """Write the tree into a folder, under git (nothing is committed). One that is there already is gone on with."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").is_dir():
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_text("node_modules/\n*.log\n", "utf-8")
    known: set[str] = set()
    for number in range(files):
        path = os.path.join(folder, path_of(number))
        above = os.path.dirname(path)
        if above not in known:
            os.makedirs(above, exist_ok=True)
            known.add(above)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text_of(number, seed))


def main() -> None:
    """Make a tree."""
    parser = argparse.ArgumentParser(description="Make a repository.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    made(chosen.folder, chosen.files, chosen.seed)


if __name__ == "__main__":
    main()
