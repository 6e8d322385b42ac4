"""The expressions of a tree: a node's text, its children by a rule's key, and the path that stands for its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slicegrep.graph.uses_types import type_value

if TYPE_CHECKING:
    from tree_sitter import Node

    from slicegrep.graph.uses_rules import UseRules

__all__ = ["DEEPEST", "LONGEST", "Nodes"]

DEEPEST = 16
"""Members and calls in one expression; past it its value is unknown."""
LONGEST = 160
"""Characters of an expression; past it its value is unknown."""
_REQUIRED = re.compile(r"(?:require|import|@import)\s*\(?\s*[\"']([^\"'()]+)[\"']\s*\)?")


class Nodes:
    """Reads the nodes of one tree by the rules of its language. `text` is what the tree was made of."""

    def __init__(self, rules: UseRules, text: bytes) -> None:
        self._rules = rules
        self._text = text

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def child(self, node: Node, key: str | int) -> Node | None:
        """Return the child that a key of UseRules names; None for "" and where there is none."""
        if isinstance(key, str):
            if key[:1] == "#":
                kinds = key[1:].split("|")
                return next((one for one in reversed(node.named_children) if one.type in kinds), None)
            return node.child_by_field_name(key) if key else None
        count = node.named_child_count
        at = key if key >= 0 else count + key
        return node.named_child(at) if 0 <= at < count else None

    def leaf(self, node: Node) -> Node | None:
        """Return the name that a node begins with: `f` of `f<T>`."""
        found: Node | None = node
        while found is not None and found.type not in self._rules.names:
            found = self.child(found, 0)
        return found

    def type(self, node: Node) -> str:
        """Return the value of what has the type that a node writes."""
        return type_value(self.text(node))

    def path(self, node: Node, depth: int = 0) -> str:
        """Return the expression that a node is; `?` where it is none."""
        rules, kind = self._rules, node.type
        if depth > DEEPEST:
            return "?"
        if kind in rules.names or kind in rules.selfs or kind in rules.supers:
            text = self.text(node)
            if text in rules.selfs or kind in rules.selfs:
                return "self"
            if kind in rules.own_variables:
                return f"self.{text}"
            return "super" if text in rules.supers or kind in rules.supers else text or "?"
        if kind in rules.members:
            value, name = (self.child(node, key) for key in rules.members[kind])
            if name is None:
                return "?"
            leaf = self.leaf(name) if name.type not in rules.members else None
            whole = self.text(leaf) if leaf is not None else self.path(name, depth + 1)
            if value is not None:
                whole = f"{self.path(value, depth + 1)}.{whole}"
            whole += "()" if kind in rules.called_members else ""
        elif kind in rules.calls:
            callee = self.child(node, rules.calls[kind])
            short = node.end_byte - node.start_byte <= LONGEST
            required = _REQUIRED.fullmatch(self.text(node)) if short else None
            if required is not None:
                return f'"{required.group(1)}"'
            whole = "?" if callee is None else self.path(callee, depth + 1) + "()"
        elif kind in rules.makes:
            made = self.child(node, rules.makes[kind])
            whole = "?" if made is None else self.type(made)
        elif kind in rules.casts:
            cast = self.child(node, rules.casts[kind])
            whole = "?" if cast is None else self.type(cast)
        elif kind in rules.indexed:
            whole = self._indexed(node, depth)
        elif kind in rules.wrappers:
            inner = self.child(node, 0)
            whole = "?" if inner is None else self.path(inner, depth + 1)
        else:
            whole = "''" if kind in rules.literals else "?"
        return whole if len(whole) <= LONGEST else "?"

    def _indexed(self, node: Node, depth: int) -> str:
        value = self.child(node, self._rules.indexed[node.type])
        return "?" if value is None else self.path(value, depth + 1) + "[]"
