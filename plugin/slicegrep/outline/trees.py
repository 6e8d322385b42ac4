"""What tree-sitter finds in a text: parsing under a deadline, and a query's captures as definitions."""

from __future__ import annotations

import re
import time
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Point, Query, QueryCursor, Tree

from slicegrep.languages import LANGUAGES
from slicegrep.outline.found import Found

if TYPE_CHECKING:
    from slicegrep.outline.rules import Rules

__all__ = ["definitions", "grammar_of", "parse"]

_CHUNK = 1 << 16
_SIGNATURE = 160
"""Characters. A map's line that is longer costs more than it says."""
_SIGNATURE_SOURCE = 2_000
"""Bytes of a definition that a signature is made from."""
_NAME = 120

_HELPERS = frozenset(
    {
        "name",
        "declarator",
        "known",
        "scope",
        "body",
        "value",
        "wrap",
        "decorated",
        "inner",
        "attribute",
        "callee",
    }
)


@cache
def grammar_of(language: str) -> Grammar | None:
    """Return the grammar of a language, or None where its wheel is not installed."""
    entry = LANGUAGES[language]
    try:
        module = import_module(entry.grammar_module)
    except ImportError:
        return None
    return Grammar(getattr(module, entry.grammar_function)())


@cache
def _query_of(language: str, query: str) -> Query:
    grammar = grammar_of(language)
    if grammar is None:
        raise LookupError(language)
    compiled: Query = Query(grammar, query)
    return compiled


def parse(grammar: Grammar, text: bytes, deadline: float) -> Tree | None:
    """Return the tree of a text, or None when the deadline (of `time.monotonic`) passed first."""
    view = memoryview(text)

    def read(offset: int, _point: Point) -> memoryview:
        return view[offset : offset + _CHUNK]

    def expired(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - tree-sitter's own signature
        return time.monotonic() > deadline

    try:
        return Parser(grammar).parse(read, progress_callback=expired)
    except ValueError:
        return None


def definitions(tree: Tree, rules: Rules, language: str, text: bytes) -> list[Found]:
    """Return the definitions that the rules' query captures, in no order."""
    query = _query_of(language, rules.query)
    # No progress callback here: in tree-sitter 0.26.1 one given to `matches` ends the process with a segmentation
    # fault. A query costs a third of the parse that the deadline has already allowed.
    matches = QueryCursor(query).matches(tree.root_node)
    wrappers: dict[int, tuple[Node, bool]] = {}
    attributes: dict[int, Node] = {}
    given: set[int] = set()
    named: dict[int, tuple[int, str, Node, dict[str, list[Node]]]] = {}
    for pattern, captures in matches:
        if "inner" in captures:
            signed = "wrap" in captures
            wrappers[captures["inner"][0].id] = (captures["wrap" if signed else "decorated"][0], signed)
            continue
        if "attribute" in captures:
            node = captures["attribute"][0]
            attributes[node.end_byte] = node
            continue
        if "callee" in captures and not re.fullmatch(rules.callees, _text(text, captures["callee"][0])):
            continue
        kind = next(key for key in captures if key not in _HELPERS)
        node = captures[kind][0]
        if node.id not in named or named[node.id][0] > pattern:
            named[node.id] = (pattern, kind, node, captures)
        if "value" in captures:
            given.add(captures["value"][0].id)
    maker = _Maker(rules, language, text, wrappers, attributes)
    return [
        found
        for key, (_, kind, node, captures) in named.items()
        if key not in given and (found := maker.found(kind, node, captures)) is not None
    ]


def _text(text: bytes, node: Node) -> str:
    return text[node.start_byte : min(node.end_byte, node.start_byte + 4 * _NAME)].decode("utf-8", "replace")


class _Maker:
    """Turns captures into definitions; holds what all of a file's have in common."""

    def __init__(
        self,
        rules: Rules,
        language: str,
        text: bytes,
        wrappers: dict[int, tuple[Node, bool]],
        attributes: dict[int, Node],
    ) -> None:
        self.rules = rules
        self.text = text
        self.wrappers = wrappers
        self.attributes = attributes
        self.annotations = re.compile(rf"\s*(?:{rules.annotations})+")
        comment = re.escape(LANGUAGES[language].line_comment)
        self.comments = re.compile(rf"(?:^|(?<=\s)){comment}[^\n]*|/\*.*?\*/", re.DOTALL | re.MULTILINE)

    def found(self, kind: str, node: Node, captures: dict[str, list[Node]]) -> Found | None:
        name, scope, name_node = self._name(captures)
        if not name:
            return None
        outer, signed = node, node
        while outer.id in self.wrappers:
            wrapper, is_signed = self.wrappers[outer.id]
            if (
                wrapper.id == outer.id
                or self.text[wrapper.start_byte : outer.start_byte].rstrip()[-1:] == b"("
            ):
                break
            outer = wrapper
            signed = wrapper if is_signed else signed
        start_byte, start_row = self._with_attributes(outer)
        return Found(
            kind,
            name,
            scope,
            start_byte,
            node.end_byte,
            start_row,
            _last_row(node),
            name_node.start_point.row,
            self._signature(signed.start_byte, node, captures, kind, name),
            absolute=self.rules.absolute_scope and bool(scope),
        )

    def _name(self, captures: dict[str, list[Node]]) -> tuple[str, tuple[str, ...], Node]:
        if "declarator" in captures:
            node = _declared(captures["declarator"][0])
        elif "name" in captures:
            node = captures["name"][0]
        else:
            return self.rules.unnamed, (), captures["known"][0]
        name = " ".join(_text(self.text, node).split())
        scope: tuple[str, ...] = ()
        if "scope" in captures:
            scope = (_plain_type(_text(self.text, captures["scope"][0])),)
        if self.rules.split and self.rules.split in name:
            *before, name = _split(name, self.rules.split)
            if name in self.rules.dropped and before:
                name = f"{before[-1]}{self.rules.split}{name}"
            scope += tuple(part for part in before if part not in self.rules.dropped)
        if name[:1] in "\"'" and name[-1:] == name[:1]:
            name = name[1:-1]
        if node.type == "operator_cast" or (name.startswith("operator ") and "(" in name):
            name = name.partition("(")[0].rstrip()
        if node.type in _TYPES:
            name = _plain_type(name)
        return name[:_NAME], scope, node

    def _with_attributes(self, node: Node) -> tuple[int, int]:
        byte, row = node.start_byte, node.start_point.row
        while self.attributes:
            before = self.text[max(0, byte - 4096) : byte].rstrip()
            end = byte - min(byte, 4096) + len(before)
            attribute = self.attributes.get(end) or self.attributes.get(end + 1)
            if attribute is None:
                break
            byte, row = attribute.start_byte, attribute.start_point.row
        return byte, row

    def _signature(
        self, start: int, node: Node, captures: dict[str, list[Node]], kind: str, name: str
    ) -> str:
        body = captures["body"][0] if "body" in captures else None
        if body is None:
            owner = captures["value"][0] if "value" in captures else node
            body = owner.child_by_field_name("body")
        if body is None and kind in ("variable", "qualifier"):
            body = node.child_by_field_name("value") or node.child_by_field_name("right")
        end = body.start_byte if body is not None else node.end_byte
        if node.type == "function_definition" and "declarator" in captures and body is not None:
            end = min(end, max(captures["declarator"][0].end_byte, start))
        raw = self.text[start : min(end, start + _SIGNATURE_SOURCE)].decode("utf-8", "replace")
        leading = self.annotations.match(raw)
        if leading is not None:
            raw = raw[leading.end() :]
        if body is None:
            raw = raw.partition("{")[0] if kind not in ("variable", "type") else raw.partition("\n")[0]
        folded = _TAIL.sub("", " ".join(self.comments.sub(" ", raw).split()))
        if name not in folded:
            folded = f"{folded} {name}"
        return folded if len(folded) <= _SIGNATURE else folded[: _SIGNATURE - 1] + "…"


_TAIL = re.compile(r"(?:\s*(?:=>|[{:=;]))+\s*$")
_TYPES = frozenset(
    {"generic_type", "template_type", "pointer_type", "reference_type", "scoped_type_identifier"}
)


def _declared(node: Node) -> Node:
    """Return the name at the end of a C declarator (`*(*f(int))[3]` is `f`)."""
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in _DECLARATORS:
            inner = next((child for child in node.named_children if child.type in _DECLARED), None)
        if inner is None or node.type in _ENDS:
            return node
        node = inner


_DECLARATORS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})
_DECLARED = _DECLARATORS | {
    "identifier", "field_identifier", "type_identifier", "qualified_identifier", "function_declarator",
    "pointer_declarator", "array_declarator", "destructor_name", "operator_name", "operator_cast", "template_function",
}  # fmt: skip
_ENDS = frozenset({"qualified_identifier", "operator_cast", "destructor_name"})


def _plain_type(text: str) -> str:
    """Return a type as people name it: no pointer, no reference, no type arguments, no package path."""
    return re.sub(r"[\s*&()]|\b(?:mut|dyn|const)\b|'\w+", "", re.split(r"[<\[]", text, maxsplit=1)[0]).split(
        "::"
    )[-1]


def _split(name: str, separator: str) -> list[str]:
    """Return the parts of `A<x::y>::b`, without what stands in angle brackets of the scope."""
    depth = 0
    parts = [""]
    at = 0
    while at < len(name):
        if name.startswith("operator", at) and not depth and not parts[-1]:
            parts[-1] = name[at:]
            break
        if not depth and name.startswith(separator, at):
            parts.append("")
            at += len(separator)
            continue
        depth += {"<": 1, "[": 1, ">": -1, "]": -1}.get(name[at], 0)
        parts[-1] += name[at]
        at += 1
    scope = [re.split(r"[<\[]", part, maxsplit=1)[0].strip() for part in parts[:-1]]
    return [part for part in scope if part] + [parts[-1].strip()]


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row
