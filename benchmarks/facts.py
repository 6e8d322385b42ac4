"""What is mechanically true of a tree: its definitions, comments and strings, and where names are used in code.

The task generators and compare_one.py know no more than this: definitions as slicegrep's outline gives them, comments
and string literals as the tree-sitter grammars see them, and identifiers that stand in neither.
"""

from __future__ import annotations

import re
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strategies import tree_of
from tree_sitter import Query, QueryCursor

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep.languages import LANGUAGES, is_test_path, language_of
from slicegrep.outline import outline
from slicegrep.outline.trees import grammar_of, parse
from slicegrep.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slicegrep.types import Outline, Source, Symbol

__all__ = ["CALLABLE", "IMPORT", "KINDS", "Definition", "Facts", "File", "Mention", "Text"]

KINDS = frozenset(
    {"function", "method", "class", "struct", "interface", "type", "typedef", "trait", "enum", "union"}
)
"""The definitions that tasks ask for: functions, methods, classes and types."""
RIVALS = KINDS | {"variable", "macro"}
"""What else makes a name ambiguous. Prototypes, constructors and Rust's impl blocks go with the definition."""
CALLABLE = frozenset({"function", "method"})
FIRST_LINES = 3
"""How many lines, from the one with the name on, an answer must show of a definition (fewer where it ends sooner)."""
PARSE_SECONDS = 20.0
LARGEST_OWNED = 400_000
"""Bytes. Larger source files are put together by a program (nlohmann/json's single header) or hold data."""
MOST_COPIES = 4
_APART = frozenset(
    [
        "vendor",
        "third_party",
        "thirdparty",
        "node_modules",
        "dist",
        "build",
        "doc",
        "docs",
        "docs_src",
        "website",
        "www",
        "example",
        "examples",
        "bench",
        "benches",
        "benchmark",
        "benchmarks",
        "perf",
        "sample",
        "samples",
        "single_include",
        "fixtures",
        "migrations",
        "generated",
        "tools",
        "scripts",
    ]
)
"""Folders whose files no task asks for: not the library's own code. All strategies see them nevertheless."""
_COMMENTS = ("comment", "line_comment", "block_comment")
_STRINGS = (
    "string", "string_literal", "raw_string_literal", "char_literal", "template_string", "interpreted_string_literal",
    "rune_literal", "encapsed_string", "heredoc", "nowdoc", "regex",
)  # fmt: skip
IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|(?:pub\s+)?use\s|#\s*include\b|using\s|package\s|export\s+(?:\*|(?:type\s+)?\{)"
    r"|\}\s*from\b|(?:const|let|var)\s.*=\s*require\(|(?:type\s+)?\w+(?:\s+as\s+\w+)?,?\s*$)"
)
"""A line that imports, or one of a list of names that an import takes over several lines."""


class Text(NamedTuple):
    """A comment or a string literal as it stands in the file. Lines 1-based, inclusive."""

    start: int
    end: int
    text: str
    joined: bool
    """Whether nothing but white space or a sign of concatenation is between this one and the one before."""


@dataclass(frozen=True)
class Definition:
    """A named definition of one file."""

    file: str
    symbol: Symbol

    @property
    def last(self) -> int:
        """The last line that an answer must show of it."""
        return max(self.symbol.name_line, min(self.symbol.end, self.symbol.name_line + FIRST_LINES - 1))


class Mention(NamedTuple):
    """An identifier that stands in code. Line 1-based; `called`: a `(` follows."""

    file: str
    line: int
    called: bool


@dataclass(frozen=True)
class File:
    """A source file. `owned`: it is of the project's own code, no test, example, documentation or copy."""

    path: str
    source: Source
    test: bool
    owned: bool

    @cached_property
    def outline(self) -> Outline:
        """Its definitions."""
        return outline(self.source, seconds=PARSE_SECONDS)

    @cached_property
    def _texts(self) -> tuple[list[Text], list[Text], list[str]]:
        return _texts(self.source)

    @property
    def comments(self) -> list[Text]:
        """Comments, in order."""
        return self._texts[0]

    @property
    def strings(self) -> list[Text]:
        """String literals with their quotes, in order; none that stands inside another."""
        return self._texts[1]

    @property
    def code(self) -> list[str]:
        """The lines with comments and strings overwritten by spaces, columns kept."""
        return self._texts[2]

    def around(self, line: int) -> Symbol | None:
        """Return the innermost function or method around a line."""
        inside = [s for s in self.outline.symbols if s.kind in CALLABLE and s.start <= line <= s.end]
        return max(inside, key=lambda symbol: symbol.start, default=None)


class Facts:
    """The source files of a folder, those that the strategies see, and what can be looked up in them."""

    def __init__(self, root: str) -> None:
        self.files: dict[str, File] = {}
        for path, data in tree_of(root).data.items():
            if language_of(path):
                parts = {part.lower() for part in path.split("/")[:-1]}
                test = is_test_path(path)
                owned = not test and parts.isdisjoint(_APART) and len(data) <= LARGEST_OWNED
                self.files[path] = File(path, source_of(path, data), test, owned)

    def owned(self) -> Iterator[File]:
        """Yield the files of the project's own code."""
        return (file for file in self.files.values() if file.owned)

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """By name, every definition of RIVALS outside tests, in order of path and line."""
        found: dict[str, list[Definition]] = defaultdict(list)
        for file in self.files.values():
            if not file.test:
                for symbol in file.outline.symbols:
                    if symbol.kind in RIVALS:
                        found[symbol.name].append(Definition(file.path, symbol))
        return dict(found)

    def only(self, name: str) -> list[Definition]:
        """Return the one definition of a name, the project's own first, then its copies; [] where there are several.

        Copies begin with the same lines: a header beside the single header that it was merged into.
        """
        found = self.definitions.get(name, [])
        found = sorted(found, key=lambda one: not self.files[one.file].owned)
        alike = {self.text(one.file, one.symbol.name_line, one.last) for one in found}
        if len(alike) != 1 or len(found) > MOST_COPIES or not self.files[found[0].file].owned:
            return []
        return found if found[0].symbol.kind in KINDS else []

    def text(self, file: str, start: int, end: int) -> tuple[str, ...]:
        """Return lines without the white space around them."""
        return tuple(line.strip() for line in self.files[file].source.lines[start - 1 : end])

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that anything is defined by, variables and declarations included."""
        return frozenset(symbol.name for file in self.files.values() for symbol in file.outline.symbols)

    @cached_property
    def mentions(self) -> dict[str, list[Mention]]:
        """By identifier, where it stands in code, imports left out; one a line, a call first."""
        found: dict[str, dict[tuple[str, int], bool]] = defaultdict(dict)
        for file in self.files.values():
            if file.source.size > LARGEST_OWNED:
                continue
            for number, line in enumerate(file.code, 1):
                if IMPORT.match(line):
                    continue
                for match in _WORD.finditer(line):
                    place = (file.path, number)
                    called = match.group(2) is not None
                    found[match.group(1)][place] = found[match.group(1)].get(place, False) or called
        return {
            name: [Mention(*place, called) for place, called in places.items()]
            for name, places in found.items()
        }


_WORD = re.compile(r"([^\W\d]\w*)(!?\()?")


def _texts(source: Source) -> tuple[list[Text], list[Text], list[str]]:
    """Return comments, strings, and the lines without either; all of it is code where no grammar serves."""
    language = source.language if source.language in LANGUAGES else ""
    if language == "c" and source.path.endswith(".h"):
        language = language_of(source.path, source.text)
    grammar = grammar_of(language) if language and LANGUAGES[language].grammar_module else None
    data = bytearray(source.text.encode("utf-8", "surrogatepass"))
    tree = parse(grammar, bytes(data), time.monotonic() + PARSE_SECONDS) if grammar else None
    if grammar is None or tree is None:
        return [], [], list(source.lines)
    wanted = [
        f"({kind}) @{'comment' if kind in _COMMENTS else 'string'}"
        for kind in (*_COMMENTS, *_STRINGS)
        if grammar.id_for_node_kind(kind, True)  # noqa: FBT003 - named nodes
    ]
    found = QueryCursor(Query(grammar, "\n".join(wanted))).captures(tree.root_node)
    seen = bytes(data)
    texts: dict[str, list[Text]] = {"comment": [], "string": []}
    for kind, into in texts.items():
        reached = 0
        for node in sorted(found.get(kind, []), key=lambda node: (node.start_byte, -node.end_byte)):
            if node.start_byte < reached:  # a string in the placeholder of another
                continue
            joined = bool(into) and _JOINED.fullmatch(seen, reached, node.start_byte) is not None
            reached = node.end_byte
            text = seen[node.start_byte : reached].decode("utf-8", "replace").rstrip("\n")
            start = node.start_point[0] + 1
            into.append(Text(start, start + text.count("\n"), text, joined))
            data[node.start_byte : reached] = re.sub(rb"[^\n]", b" ", data[node.start_byte : reached])
    return texts["comment"], texts["string"], bytes(data).decode("utf-8", "replace").split("\n")


_JOINED = re.compile(rb"[\s+.\\&]*")
