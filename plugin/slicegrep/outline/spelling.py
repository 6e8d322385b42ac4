"""How a captured definition is called, and its signature on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from slicegrep.outline.rules import Rules

__all__ = ["Speller", "text_of"]

_SIGNATURE = 160
"""Characters. A map's line that is longer costs more than it says."""
_SIGNATURE_SOURCE = 2_000
"""Bytes of a definition that a signature is made from."""
_NAME = 120
"""Characters of a name that are kept."""

_TAIL_ENDS = (">", "{", ":", "=", ";", "do", "where", "end", "then")
"""How a text ends in which _TAIL finds something. It is tried at each white space, this once: 3 µs a definition."""
_TAIL = re.compile(r"(?:\s*(?:=>|->|\b(?:do|where|end|then)$|[{:=;]))+\s*$")
_TYPES = frozenset(
    {
        "generic_type", "template_type", "pointer_type", "reference_type", "scoped_type_identifier", "user_type",
        "template_function", "qualified_identifier",
    }
)  # fmt: skip
_DECLARATORS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})
_DECLARED = _DECLARATORS | {
    "identifier", "field_identifier", "type_identifier", "qualified_identifier", "function_declarator",
    "pointer_declarator", "array_declarator", "destructor_name", "operator_name", "operator_cast", "template_function",
}  # fmt: skip
_DECLARED_ENDS = frozenset({"qualified_identifier", "operator_cast", "destructor_name"})


def text_of(text: bytes, node: Node) -> str:
    """Return a node's text, cut where no name is that long."""
    return text[node.start_byte : min(node.end_byte, node.start_byte + 4 * _NAME)].decode("utf-8", "replace")


class Speller:
    """Names and signatures of one text under one language's rules."""

    def __init__(self, rules: Rules, line_comment: str, text: bytes) -> None:
        self._rules = rules
        self._text = text
        self._annotations = re.compile(rf"\s*(?:{rules.annotations})+")
        self._split = re.compile(rules.split) if rules.split else None
        self._ends = re.compile(rules.ends)
        self._comment = line_comment
        self._comments = re.compile(
            rf"(?:^|(?<=\s)){re.escape(line_comment)}[^\n]*|/\*.*?\*/", re.DOTALL | re.MULTILINE
        )

    def name(self, definition: Node, captures: dict[str, list[Node]]) -> tuple[str, tuple[str, ...], int]:
        """Return the name ("" for none), what qualifies it by its own spelling, and its 0-based row."""
        if "known" in captures:
            return self._rules.unnamed, (), captures["known"][0].start_point.row
        node = _named(definition, captures)
        if node is None:
            return "", (), 0
        if self._rules.called and definition.type == "function_definition":
            called = self._called(definition)
            if called:
                return called[:_NAME], (), definition.start_point.row
        name = " ".join(text_of(self._text, node).split())
        scope: tuple[str, ...] = ()
        if "scope" in captures:
            scope = (_plain_type(text_of(self._text, captures["scope"][0])),)
        if self._split is not None and self._split.search(name):
            *before, name = _divided(name, self._split)
            if name in self._rules.dropped and before:
                name = f"{before[-1]}{self._rules.separator}{name}"
            scope += tuple(part for part in before if part not in self._rules.dropped)
        name = _plain(name, node.type)
        if "more" in captures:
            more = " ".join(text_of(self._text, captures["more"][0]).split())
            words = name[-1:].isalnum() and more[:1].isalnum()
            name += (self._rules.joint or (" " if words else "")) + more
        while node.type == "qualified_identifier":  # GNU style: the scope may stand on the line above
            last = node.child_by_field_name("name")
            if last is None:
                break
            node = last
        return name[:_NAME] or "?", scope, node.start_point.row

    def _called(self, definition: Node) -> str:
        """Return the macro call that stands for a C function's head (`TEST(Suite, Name) {`), "" where there is none."""
        declarator = definition.child_by_field_name("declarator")
        head = definition.child_by_field_name("type")
        if declarator is None or (head is None) != (declarator.type == "function_declarator"):
            return ""
        if head is None:
            head = declarator.child_by_field_name("declarator")
        elif declarator.type != "parenthesized_declarator":
            return ""
        if head is None or not re.fullmatch(self._rules.called, text_of(self._text, head)):
            return ""
        return " ".join(self._text[head.start_byte : declarator.end_byte].decode("utf-8", "replace").split())

    def signature(self, start: int, node: Node, captures: dict[str, list[Node]], kind: str, name: str) -> str:
        """Return the text from the byte `start` to the body, white space folded, at most 160 characters."""
        body = captures["body"][0] if "body" in captures else None
        if body is None:
            owner = captures["value"][0] if "value" in captures else node
            body = owner.child_by_field_name("body")
            if body is None and self._rules.refined:
                body = _refined_body(node, self._rules)
        if body is None and kind in ("variable", "qualifier"):
            body = node.child_by_field_name("value") or node.child_by_field_name("right")
        end = body.start_byte if body is not None and body.start_byte > start else node.end_byte
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            if declarator is not None:  # C++: the initializers after it are no part of a signature
                end = min(end, max(declarator.end_byte, start))
        raw = self._text[start : min(end, start + _SIGNATURE_SOURCE)].decode("utf-8", "replace")
        leading = self._annotations.match(raw)
        if leading is not None:
            raw = raw[leading.end() :]
        if kind == "variable" and body is None:
            raw = raw.partition("\n")[0].rstrip(" \t([{")
        elif end == node.end_byte and kind != "signature" and (kind != "type" or "\n" in raw):
            raw = self._ends.split(raw, maxsplit=1)[0]
        if "/*" in raw or self._comment in raw:  # the pattern is tried at each byte: 3 µs a definition
            raw = self._comments.sub(" ", raw)
        folded = " ".join(raw.split())
        if folded.endswith(_TAIL_ENDS):
            folded = _TAIL.sub("", folded)
        if name not in folded and node.type == "type_definition":
            folded = f"{folded} {name}"
        folded = folded or name
        return folded if len(folded) <= _SIGNATURE else folded[: _SIGNATURE - 1] + "…"


def _refined_body(node: Node, rules: Rules) -> Node | None:
    """Return where the signature of a definition ends that its field makes one (an arrow function, a computed value)."""
    for _, field, types, _, _ in rules.refined:
        value = node.child_by_field_name(field) if field else None
        if value is not None and re.fullmatch(types or ".*", value.type):
            return value.child_by_field_name("body") or value.child_by_field_name("block") or value
    return None


def _plain(name: str, node_type: str) -> str:
    """Return a name without quotes, sigils, type arguments and parameters."""
    if name[:1] in "\"'`" and name[-1:] == name[:1]:
        name = name[1:-1]
    if name[:1] == "(" and name[-1:] == ")":
        name = name[1:-1]
    if node_type in ("variable_name", "simple_symbol"):  # PHP's $x, Ruby's :x
        name = name.lstrip("$:")
    if name.startswith("operator"):
        return name.partition("(")[0].rstrip() if not name.startswith("operator()") else "operator()"
    return _plain_type(name) if node_type in _TYPES else name


def _named(definition: Node, captures: dict[str, list[Node]]) -> Node | None:
    """Return the node whose text is the name."""
    if "name" in captures:
        node = captures["name"][0]
        while (inner := _headed(node)) is not None:
            node = inner
        return node
    if "declarator" in captures:
        return _declared(captures["declarator"][0])
    named = definition.child_by_field_name("name")
    declarator = None if named is not None else definition.child_by_field_name("declarator")
    return named if declarator is None else _declared(declarator)


def _headed(node: Node) -> Node | None:
    """Return the next node on the way to a name in Elixir, where `m(a) when a > 1` is `m` and `a + b` is `+`."""
    if node.type == "call":
        return node.child_by_field_name("target")
    if node.type != "binary_operator":
        return None
    operator = node.child_by_field_name("operator")
    return node.child_by_field_name("left") if operator is not None and operator.type == "when" else operator


def _declared(node: Node) -> Node:
    """Return the name at the end of a C declarator (`*(*f(int))[3]` is `f`)."""
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in _DECLARATORS:
            inner = next((child for child in node.named_children if child.type in _DECLARED), None)
        if inner is None or node.type in _DECLARED_ENDS:
            return node
        node = inner


def _plain_type(text: str) -> str:
    """Return a type as people name it: no pointer, no reference, no type arguments, no path."""
    plain = re.sub(r"^(?:[\s*&]|'\w+\b|\b(?:mut|dyn|const)\b)+", "", text)
    if plain[:1] in ("[", "("):  # Rust: impl Read for [u8], for (A, B)
        return " ".join(plain.split())
    return re.split(r"[<\[\s]", plain, maxsplit=1)[0].rpartition("::")[2]


def _divided(name: str, split: re.Pattern[str]) -> list[str]:
    """Return the parts of `A<x::y>::b`, the scope without what stands in its brackets."""
    depth = 0
    parts = [""]
    at = 0
    while at < len(name):
        if not depth and not parts[-1] and name.startswith("operator", at):
            parts[-1] = name[at:]
            break
        between = None if depth else split.match(name, at)
        if between is not None:
            parts.append("")
            at = between.end()
            continue
        depth += {"<": 1, "[": 1, "(": 1, ">": -1, "]": -1, ")": -1}.get(name[at], 0)
        parts[-1] += name[at]
        at += 1
    scope = [re.split(r"[<\[(]", part, maxsplit=1)[0].strip() for part in parts[:-1]]
    return [part for part in scope if part] + [parts[-1].strip()]
