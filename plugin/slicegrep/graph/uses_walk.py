"""One walk over a tree: the names that refer to something, and what local names stand for."""

from __future__ import annotations

import re
import time
from sys import intern
from typing import TYPE_CHECKING

from slicegrep.graph.facts import CALL, INHERITANCE, REFERENCE, Binding, FileFacts, Use
from slicegrep.graph.uses_nodes import DEEPEST, Nodes
from slicegrep.graph.uses_rules import BIND, CALLED, DEFINED, INHERITED, MADE, READ, SKIP, TYPED
from slicegrep.graph.uses_scope import OBJECTS, Scope, fields_of, looked_through
from slicegrep.graph.uses_types import ANY

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from slicegrep.graph.uses_rules import UseRules

__all__ = ["Walk"]

_CHECK = 4_096
"""Nodes between two looks at the clock (about 5 ms)."""

_KINDS = {READ: REFERENCE, CALLED: CALL, MADE: CALL, TYPED: REFERENCE, INHERITED: INHERITANCE}
_TYPE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")


class Walk:
    """The walk over one text. `text` is what the tree was made of."""

    def __init__(self, rules: UseRules, text: bytes) -> None:
        self.rules = rules
        self._text = text
        self._nodes = Nodes(rules, text)
        self.imports: list[tuple[str, int]] = []
        """The import statements, and the lines that they begin in."""
        self.bindings: list[Binding] = []
        """What calls of `require` bind, and what is exported by assignment."""
        self.late = False
        self._file = Scope(None, 0)
        self._scopes = [self._file]
        self._raw: list[tuple[str, str, int, int, int, str, Scope]] = []
        self._bases: dict[int, list[str]] = {}
        self._returns: dict[int, str] = {}
        self._unsaid: list[tuple[Scope, int]] = []
        """The functions that do not say what they return, and where they end."""

    # The walk

    def over(self, tree: Tree, deadline: float) -> None:
        """Walk until the deadline (of time.monotonic)."""
        cursor = tree.walk()
        stack: list[tuple[str, int, Scope]] = []
        count = 0
        stack.append((tree.root_node.type, READ, self._file))
        if not cursor.goto_first_child():
            return
        while True:
            node = cursor.node
            if node is not None and node.is_named:
                count += 1
                if count % _CHECK == 0 and time.monotonic() > deadline:
                    self.late = True
                    return
                around, role, scope = stack[-1]
                entered = self._enter(node, around, cursor.field_name, role, scope)
                if entered is not None and cursor.goto_first_child():
                    stack.append((node.type, *entered))
                    continue
            while not cursor.goto_next_sibling():
                stack.pop()
                if not stack or not cursor.goto_parent():
                    return

    def _enter(
        self, node: Node, around: str, field: str | None, role: int, scope: Scope
    ) -> tuple[int, Scope] | None:
        """Note what a node says; return the role and scope of what is in it, or None where that is of no interest."""
        rules, kind = self.rules, node.type
        given = rules.roles.get(f"{around}.{field}") if field else None
        if given is None:
            given = rules.roles.get(kind)
        if given is not None:
            role = role if given == TYPED and role == INHERITED else given
        elif around in rules.calls and self._is(node, field, rules.calls[around]):
            role = CALLED
        elif around in rules.makes and self._is(node, field, rules.makes[around]):
            role = MADE
        elif (
            role in (CALLED, MADE)
            and kind not in rules.names
            and kind not in rules.members
            and kind not in rules.wrappers
        ):
            role = READ
        if role == SKIP or (around in rules.members and self._is(node, field, rules.members[around][1])):
            return (READ, scope) if role != SKIP and kind in rules.members else None
        if kind in rules.imports:
            self.imports.append((self._nodes.text(node), node.start_point.row + 1))
            if kind != "export_statement" or node.child_by_field_name("source") is not None:
                return None
        if kind in rules.names:
            self._name(node, around, role, scope)
            return None
        if kind in rules.selectors:
            return None if self._selected(node, scope) else (READ, scope)
        if kind in rules.members:
            return self._member(node, role, scope)
        if kind in rules.assigns:
            self._assigned(node, around, scope)
        if kind in rules.classes or kind in rules.functions:
            return READ, self._opened(node, scope)
        if kind in rules.loops:
            self._looped(node, scope)
        elif kind in rules.returned and scope.is_function:
            scope.returned.append(self._nodes.path(node.named_child(0)) if node.named_child_count else "''")
        if kind == "string" and role == TYPED and rules.string_types:
            self._written_type(node, scope)
        if role == DEFINED:
            return None
        if kind in rules.literals and role == BIND and kind not in ("list", "tuple"):
            role = READ
        return role, scope

    def _is(self, node: Node, field: str | None, key: str | int) -> bool:
        if isinstance(key, str):
            return field == key
        parent = node.parent
        return parent is not None and self._nodes.child(parent, key) == node

    def _name(self, node: Node, around: str, role: int, scope: Scope) -> None:
        text = self._nodes.text(node)
        if role == DEFINED:
            line = node.start_point.row + 1
            if scope.is_function and scope.line != line:
                scope.bind(text, -1, f"@{line}")
            return
        if role == BIND and scope.is_class and around.startswith("type_param"):
            scope.hidden.add(text)
            return
        if role == BIND:
            if not (scope.names.get(text) and scope.names[text][-1][0] >= node.start_byte):
                scope.bind(text, node.end_byte, "?")
            return
        if text in self.rules.selfs or text in self.rules.supers or node.type in self.rules.variables:
            return
        self._use(text, "", node, role, scope)

    def _written_type(self, node: Node, scope: Scope) -> None:
        start = node.start_point
        for found in _TYPE.finditer(self._nodes.text(node)):
            receiver, _, name = found.group().rpartition(".")
            column = start.column + found.end() - len(name)
            self._raw.append((name, receiver, start.row + 1, column, node.start_byte, REFERENCE, scope))

    def _member(self, node: Node, role: int, scope: Scope) -> tuple[int, Scope]:
        rules = self.rules
        value, name = (self._nodes.child(node, key) for key in rules.members[node.type])
        called = node.type in rules.called_members
        receiver = self._nodes.path(value) if value is not None else ""
        while name is not None and name.type in rules.members:  # `a::` of `a::b::c` stands outermost
            above, name = (self._nodes.child(name, key) for key in rules.members[name.type])
            receiver = f"{receiver}.{self._nodes.path(above)}" if above is not None else receiver
        leaf = self._nodes.leaf(name) if name is not None else None
        if leaf is not None and (receiver or called):
            how = CALLED if called else READ if role == BIND else role
            self._use(self._nodes.text(leaf), receiver, leaf, how, scope)
        return (READ, scope)

    def _selected(self, node: Node, scope: Scope) -> bool:
        """Note a member of what stands before it: `a` `.b` `()` `.c` are siblings. False where it is none."""
        name = self._nodes.child(node, -1)
        at = node.parent if node.parent is not None and node.parent.type == "selector" else node
        following = at.next_named_sibling
        parts: list[str] = []
        before = at.prev_named_sibling
        while before is not None and before.type == "selector" and len(parts) < DEEPEST:
            inner = self._nodes.child(before, 0)
            leaf = (
                self._nodes.leaf(inner) if inner is not None and inner.type in self.rules.selectors else None
            )
            parts.append(f".{self._nodes.text(leaf)}" if leaf is not None else "()")
            before = before.prev_named_sibling
        if name is None or before is None or name.type not in self.rules.names:
            return False
        called = following is not None and self._nodes.text(following).startswith("(")
        receiver = self._nodes.path(before) + "".join(reversed(parts))
        self._use(self._nodes.text(name), receiver, name, CALLED if called else READ, scope)
        return True

    def _use(self, name: str, receiver: str, node: Node, role: int, scope: Scope) -> None:
        start = node.start_point
        if not name:  # the parser put it in to go on
            return
        if role == INHERITED and scope.is_class:
            self._bases.setdefault(scope.line, []).append(f"{receiver}.{name}" if receiver else name)
        self._raw.append(
            (name, receiver, start.row + 1, start.column, node.start_byte, _KINDS.get(role, REFERENCE), scope)
        )

    # Scopes

    def _opened(self, node: Node, scope: Scope) -> Scope:
        rules, kind = self.rules, node.type
        name = node.child_by_field_name("name")
        line = (name or node).start_point.row + 1
        if name is not None and scope.is_function and rules.roles.get(f"{kind}.name") == DEFINED:
            scope.bind(self._nodes.text(name), -1, f"@{line}")
        if kind in rules.classes:
            self._scopes.append(inner := Scope(scope, line, is_class=True))
            return inner
        opened = Scope(scope, line, is_function=True)
        returned = self._nodes.child(node, rules.returns.get(kind, ""))
        if returned is not None and returned.type == "parameter_list":  # Go: a value and an error
            returned = self._nodes.child(returned, 0)
        if returned is not None and (value := self._nodes.type(returned)):
            self._returns[line] = value
        else:
            self._unsaid.append((opened, node.end_byte))
            body = node.child_by_field_name("body")
            if kind == "arrow_function" and body is not None and body.type != "statement_block":
                opened.returned.append(self._nodes.path(body))
        if rules.first_is_self and scope.is_class:
            self._bind_self(node, opened)
        return opened

    def _bind_self(self, node: Node, scope: Scope) -> None:
        parameters = node.child_by_field_name("parameters")
        first = parameters.named_child(0) if parameters is not None and parameters.named_child_count else None
        if first is None:
            return
        name = first if first.type in self.rules.names else self._nodes.child(first, 0)
        before = self._text[max(0, node.start_byte - 200) : node.start_byte].rsplit(b"\n\n", 1)[-1]
        if name is None or b"@staticmethod" in before:
            return
        text = self._nodes.text(name)
        scope.bind(text, -1, "cls" if text in ("cls", "mcs") or b"@classmethod" in before else "self")
        scope.bind(text, name.end_byte, scope.names[text][0][1])

    # Values

    def _assigned(self, node: Node, around: str, scope: Scope) -> None:
        rules, kind = self.rules, node.type
        left_key, right_key, type_key = rules.assigns[kind]
        left = self._nodes.child(node, left_key)
        right = self._nodes.child(node, right_key)
        typed = self._nodes.child(node, type_key)
        while left is not None and left.type in rules.wrappers:
            left = self._nodes.child(left, 0)
        if left is None:
            return
        if right is not None and rules.exports:
            self._exported(left, right)
        if right is not None and (right.type in rules.functions or right.type in rules.classes):
            value = f"@{left.start_point.row + 1}"
        elif typed is not None:
            value = self._nodes.type(typed)
        elif right is None or right == left:
            return
        else:
            value = self._nodes.path(right) + ("[w]" if around == "with_item" else "")
        if around == "except_clause":
            value = f"<{value}>" if value[0] not in "?'<" else ANY
        if left.type in rules.own_variables:
            self._of_class(scope, self._nodes.text(left), left, looked_through(value, left.start_byte, scope))
        elif left.type in rules.members:
            self._note_attribute(left, value, scope)
        elif value[0] == '"' and value[-1] == '"' and left.type not in rules.names:
            self._unpacked(left, value[1:-1])
        elif left.type in self.rules.names:
            name = self._nodes.text(left)
            if value[0] == value[-1] == '"':
                self.bindings.append(Binding(name, value[1:-1], "", left.start_point.row + 1))
            # After the statement: `x = x.y` reads the old one.
            given = scope.names.get(name)
            if given is not None and given[0] in OBJECTS:  # `self: T`
                return
            if kind != "assignment_expression" or given is not None:
                scope.bind(name, node.end_byte, value)
            telling = rules.promoted.get(kind)
            if telling == "" or (telling and self._nodes.child(node, f"#{telling}") is not None):
                self._of_class(scope, name, node, value)

    def _unpacked(self, pattern: Node, module: str) -> None:
        """Note what `const { a, b: c } = require(module)` binds."""
        for child in pattern.named_children:
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            name, local = key or child, value or child
            if name.child_count == 0 and local.child_count == 0:
                line = child.start_point.row + 1
                self.bindings.append(Binding(self._nodes.text(local), module, self._nodes.text(name), line))

    def _exported(self, left: Node, right: Node) -> None:
        """Note what `module.exports = ...` and `exports.a = ...` give to other files."""
        target = self._nodes.path(left).removeprefix("module.")
        if target == "exports" and right.type == "object":
            for child in right.named_children:
                value = child.child_by_field_name("value")
                name = child.child_by_field_name("key") or child.child_by_field_name("name") or child
                self._export(self._nodes.text(name), value or name)
        elif target == "exports":
            self._export("default", right)
        elif target.startswith("exports.") and target.count(".") == 1:
            self._export(target[len("exports.") :], right)

    def _export(self, name: str, value: Node) -> None:
        kind, line = value.type, value.start_point.row + 1
        expression = (
            f"@{line}"
            if kind in self.rules.functions or kind in self.rules.classes
            else self._nodes.path(value)
        )
        if kind == "property_identifier":  # a method of the object
            expression = f"@{line}"
        self.bindings.append(Binding(name, "", expression, line, exported=True))

    def _looped(self, node: Node, scope: Scope) -> None:
        left, right = (self._nodes.child(node, key) for key in self.rules.loops[node.type])
        while left is not None and left.named_child_count == 1:
            left = self._nodes.child(left, 0)
        if left is not None and right is not None and left.type in self.rules.names:
            scope.bind(self._nodes.text(left), left.end_byte, self._nodes.path(right) + "[]")

    def _note_attribute(self, left: Node, value: str, scope: Scope) -> None:
        owner, name = (self._nodes.child(left, key) for key in self.rules.members[left.type])
        if (
            owner is None
            or name is None
            or looked_through(self._nodes.path(owner), left.start_byte, scope) != "self"
        ):
            return
        self._of_class(scope, self._nodes.text(name), left, looked_through(value, left.start_byte, scope))

    def _of_class(self, scope: Scope, name: str, node: Node, value: str) -> None:
        """Note a field of the class around."""
        around: Scope | None = scope
        while around is not None and not around.is_class:
            around = around.outer
        if around is not None:
            around.bind(name, node.start_byte, value)

    # The result

    def facts(self) -> FileFacts:
        """Return what was found, without the imports' bindings."""
        uses = []
        for name, receiver, line, column, byte, kind, scope in self._raw:
            if receiver:
                value = looked_through(receiver, byte, scope)
                uses.append(Use(intern(name), intern(value), line, column, kind))
                continue
            value = looked_through(name, byte, scope)
            if name in ("self", "cls", "super"):
                continue
            if value == name:
                uses.append(Use(intern(name), "", line, column, kind))
            elif value[0] == "@":
                uses.append(Use(name, value, line, column, kind))
            elif value[0] not in "?<'\"" and value[-1] not in ")]":
                above, _, last = value.rpartition(".")
                uses.append(Use(last, above, line, column, kind))
        for scope, byte in self._unsaid:
            returned = {looked_through(value, byte, scope) for value in scope.returned if value != "''"}
            if len(returned) == 1 and (value := returned.pop())[0] != "?":
                self._returns.setdefault(scope.line, value)
        return FileFacts(
            uses=tuple(uses),
            bases={line: tuple(bases) for line, bases in self._bases.items()},
            returns=self._returns,
            fields={scope.line: kept for scope in self._scopes if (kept := fields_of(scope))},
        )
