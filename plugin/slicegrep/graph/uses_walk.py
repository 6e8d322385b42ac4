"""One walk over a tree: the names that refer to something, and what local names stand for."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from typing import TYPE_CHECKING

from slicegrep.graph.facts import CALL, INHERITANCE, REFERENCE, Binding, FileFacts, Use
from slicegrep.graph.uses_rules import BIND, CALLED, DEFINED, INHERITED, MADE, READ, SKIP, TYPED, UseRules
from slicegrep.graph.uses_types import ANY, type_value

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

__all__ = ["Walk"]

_DEEPEST = 16
"""Members and calls in one expression; past it its value is unknown."""
_LONGEST = 160
"""Characters of an expression; past it its value is unknown."""
_SUBSTITUTED = 6
"""Local names that are looked through, one after the other."""
_OUTWARD = 100
"""Scopes that are looked into for one name: more are inside each other in code that was written to be odd."""
_CHECK = 4_096
"""Nodes between two looks at the clock (about 5 ms)."""

_KINDS = {READ: REFERENCE, CALLED: CALL, MADE: CALL, TYPED: REFERENCE, INHERITED: INHERITANCE}
_TYPE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
_OBJECTS = ((-1, "self"), (-1, "cls"))
_REQUIRED = re.compile(r"(?:require|import|@import)\s*\(?\s*[\"']([^\"'()]+)[\"']\s*\)?")
_PARTED = re.compile(r"::|\\|->")


class _Scope:
    """What has names of its own: the file (`line` 0), a class, or a function."""

    __slots__ = ("is_class", "is_function", "line", "names", "outer", "returned")

    def __init__(
        self, outer: _Scope | None, line: int, *, is_class: bool = False, is_function: bool = False
    ) -> None:
        self.outer = outer
        self.line = line
        self.is_class = is_class
        self.is_function = is_function
        self.names: dict[str, list[tuple[int, str]]] = {}
        self.returned: list[str] = []
        """The values of the return statements of a function that does not say its type."""

    def bind(self, name: str, byte: int, value: str) -> None:
        self.names.setdefault(name, []).append((byte, value))

    def value(self, name: str, byte: int) -> str | None:
        """Return the value that a name has at a place: the last one given before it, else the first one."""
        given = self.names.get(name)
        if given is None:
            return None
        return given[max(0, bisect_left(given, (byte,)) - 1)][1]


class Walk:
    """The walk over one text. `text` is what the tree was made of."""

    def __init__(self, rules: UseRules, text: bytes) -> None:
        self.rules = rules
        self.text = text
        self.imports: list[tuple[str, int]] = []
        """The import statements, and the lines that they begin in."""
        self.bindings: list[Binding] = []
        """What calls of `require` bind, and what is exported by assignment."""
        self.package = ""
        self.late = False
        self._file = _Scope(None, 0)
        self._scopes = [self._file]
        self._raw: list[tuple[str, str, int, int, int, str, _Scope]] = []
        self._bases: dict[int, list[str]] = {}
        self._returns: dict[int, str] = {}
        self._unsaid: list[tuple[_Scope, int]] = []
        """The functions that do not say what they return, and where they end."""

    # The walk

    def over(self, tree: Tree, deadline: float) -> None:
        """Walk until the deadline (of time.monotonic)."""
        cursor = tree.walk()
        stack: list[tuple[str, int, _Scope]] = []
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
        self, node: Node, around: str, field: str | None, role: int, scope: _Scope
    ) -> tuple[int, _Scope] | None:
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
            self.imports.append((self._text(node), node.start_point.row + 1))
            if kind != "export_statement" or node.child_by_field_name("source") is not None:
                return None
        elif kind == rules.package:
            self._note_package(node)
            return None
        if kind in rules.names:
            self._name(node, role, scope)
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
            scope.returned.append(self.path(node.named_child(0)) if node.named_child_count else "''")
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
        return parent is not None and self._child(parent, key) == node

    def _name(self, node: Node, role: int, scope: _Scope) -> None:
        text = self._text(node)
        if role == DEFINED:
            line = node.start_point.row + 1
            if scope.is_function and scope.line != line:
                scope.bind(text, -1, f"@{line}")
            return
        if role == BIND:
            if not (scope.names.get(text) and scope.names[text][-1][0] >= node.start_byte):
                scope.bind(text, node.end_byte, "?")
            return
        if text in self.rules.selfs or text in self.rules.supers or node.type in self.rules.variables:
            return
        self._use(text, "", node, role, scope)

    def _written_type(self, node: Node, scope: _Scope) -> None:
        start = node.start_point
        for found in _TYPE.finditer(self._text(node)):
            receiver, _, name = found.group().rpartition(".")
            column = start.column + found.end() - len(name)
            self._raw.append((name, receiver, start.row + 1, column, node.start_byte, REFERENCE, scope))

    def _member(self, node: Node, role: int, scope: _Scope) -> tuple[int, _Scope]:
        rules = self.rules
        value, name = (self._child(node, key) for key in rules.members[node.type])
        called = node.type in rules.called_members
        receiver = self.path(value) if value is not None else ""
        while name is not None and name.type in rules.members:  # `a::` of `a::b::c` stands outermost
            above, name = (self._child(name, key) for key in rules.members[name.type])
            receiver = f"{receiver}.{self.path(above)}" if above is not None else receiver
        leaf = self._leaf(name) if name is not None else None
        if leaf is not None and (receiver or called):
            how = CALLED if called else READ if role == BIND else role
            self._use(self._text(leaf), receiver, leaf, how, scope)
        return (READ, scope)

    def _selected(self, node: Node, scope: _Scope) -> bool:
        """Note a member of what stands before it: `a` `.b` `()` `.c` are siblings. False where it is none."""
        name = self._child(node, -1)
        at = node.parent if node.parent is not None and node.parent.type == "selector" else node
        following = at.next_named_sibling
        parts: list[str] = []
        before = at.prev_named_sibling
        while before is not None and before.type == "selector" and len(parts) < _DEEPEST:
            inner = self._child(before, 0)
            leaf = self._leaf(inner) if inner is not None and inner.type in self.rules.selectors else None
            parts.append(f".{self._text(leaf)}" if leaf is not None else "()")
            before = before.prev_named_sibling
        if name is None or before is None or name.type not in self.rules.names:
            return False
        called = following is not None and self._text(following).startswith("(")
        receiver = self.path(before) + "".join(reversed(parts))
        self._use(self._text(name), receiver, name, CALLED if called else READ, scope)
        return True

    def _leaf(self, node: Node) -> Node | None:
        """Return the name that a node begins with: `f` of `f<T>`."""
        found: Node | None = node
        while found is not None and found.type not in self.rules.names:
            found = self._child(found, 0)
        return found

    def _use(self, name: str, receiver: str, node: Node, role: int, scope: _Scope) -> None:
        start = node.start_point
        if role == INHERITED and scope.is_class:
            self._bases.setdefault(scope.line, []).append(f"{receiver}.{name}" if receiver else name)
        self._raw.append(
            (name, receiver, start.row + 1, start.column, node.start_byte, _KINDS.get(role, REFERENCE), scope)
        )

    # Scopes

    def _opened(self, node: Node, scope: _Scope) -> _Scope:
        rules, kind = self.rules, node.type
        name = node.child_by_field_name("name")
        line = (name or node).start_point.row + 1
        if name is not None and scope.is_function and rules.roles.get(f"{kind}.name") == DEFINED:
            scope.bind(self._text(name), -1, f"@{line}")
        if kind in rules.classes:
            self._scopes.append(inner := _Scope(scope, line, is_class=True))
            return inner
        opened = _Scope(scope, line, is_function=True)
        returned = self._child(node, rules.returns.get(kind, ""))
        if returned is not None and returned.type == "parameter_list":  # Go: a value and an error
            returned = self._child(returned, 0)
        if returned is not None and (value := self._type(returned)):
            self._returns[line] = value
        else:
            self._unsaid.append((opened, node.end_byte))
            body = node.child_by_field_name("body")
            if kind == "arrow_function" and body is not None and body.type != "statement_block":
                opened.returned.append(self.path(body))
        if rules.first_is_self and scope.is_class:
            self._bind_self(node, opened)
        return opened

    def _bind_self(self, node: Node, scope: _Scope) -> None:
        parameters = node.child_by_field_name("parameters")
        first = parameters.named_child(0) if parameters is not None and parameters.named_child_count else None
        if first is None:
            return
        name = first if first.type in self.rules.names else self._child(first, 0)
        before = self.text[max(0, node.start_byte - 200) : node.start_byte].rsplit(b"\n\n", 1)[-1]
        if name is None or b"@staticmethod" in before:
            return
        text = self._text(name)
        scope.bind(text, -1, "cls" if text in ("cls", "mcs") or b"@classmethod" in before else "self")
        scope.bind(text, name.end_byte, scope.names[text][0][1])

    def _note_package(self, node: Node) -> None:
        found = _TYPE.search(re.sub(r"^\s*(?:package|namespace|module)\s+", "", self._text(node)))
        if found is not None and not self.package:
            self.package = _PARTED.sub(".", found.group())

    # Values

    def _assigned(self, node: Node, around: str, scope: _Scope) -> None:
        rules, kind = self.rules, node.type
        left_key, right_key, type_key = rules.assigns[kind]
        left = self._child(node, left_key)
        right = self._child(node, right_key)
        typed = self._child(node, type_key)
        while left is not None and left.type in rules.wrappers:
            left = self._child(left, 0)
        if left is None:
            return
        if right is not None and rules.exports:
            self._exported(left, right)
        if right is not None and (right.type in rules.functions or right.type in rules.classes):
            value = f"@{left.start_point.row + 1}"
        elif typed is not None:
            value = self._type(typed)
        elif right is None or right == left:
            return
        else:
            value = self.path(right) + ("[w]" if around == "with_item" else "")
        if around == "except_clause":
            value = f"<{value}>" if value[0] not in "?'<" else ANY
        if left.type in rules.own_variables:
            self._of_class(scope, self._text(left), left, self._looked_through(value, left.start_byte, scope))
        elif left.type in rules.members:
            self._note_attribute(left, value, scope)
        elif value[0] == '"' and value[-1] == '"' and left.type not in rules.names:
            self._unpacked(left, value[1:-1])
        elif left.type in self.rules.names:
            name = self._text(left)
            # After the statement: `x = x.y` reads the old one.
            given = scope.names.get(name)
            if given is not None and given[0] in _OBJECTS:  # `self: T`
                return
            if kind != "assignment_expression" or given is not None:
                scope.bind(name, node.end_byte, value)
            telling = rules.promoted.get(kind)
            if telling == "" or (telling and self._child(node, f"#{telling}") is not None):
                self._of_class(scope, name, node, value)

    def _unpacked(self, pattern: Node, module: str) -> None:
        """Note what `const { a, b: c } = require(module)` binds."""
        for child in pattern.named_children:
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            name, local = key or child, value or child
            if name.child_count == 0 and local.child_count == 0:
                line = child.start_point.row + 1
                self.bindings.append(Binding(self._text(local), module, self._text(name), line))

    def _exported(self, left: Node, right: Node) -> None:
        """Note what `module.exports = ...` and `exports.a = ...` give to other files."""
        target = self.path(left).removeprefix("module.")
        if target == "exports" and right.type == "object":
            for child in right.named_children:
                value = child.child_by_field_name("value")
                name = child.child_by_field_name("key") or child.child_by_field_name("name") or child
                self._export(self._text(name), value or name)
        elif target == "exports":
            self._export("default", right)
        elif target.startswith("exports.") and target.count(".") == 1:
            self._export(target[len("exports.") :], right)

    def _export(self, name: str, value: Node) -> None:
        kind, line = value.type, value.start_point.row + 1
        expression = (
            f"@{line}" if kind in self.rules.functions or kind in self.rules.classes else self.path(value)
        )
        if kind == "property_identifier":  # a method of the object
            expression = f"@{line}"
        self.bindings.append(Binding(name, "", expression, line, exported=True))

    def _looped(self, node: Node, scope: _Scope) -> None:
        left, right = (self._child(node, key) for key in self.rules.loops[node.type])
        while left is not None and left.named_child_count == 1:
            left = self._child(left, 0)
        if left is not None and right is not None and left.type in self.rules.names:
            scope.bind(self._text(left), left.end_byte, self.path(right) + "[]")

    def _note_attribute(self, left: Node, value: str, scope: _Scope) -> None:
        owner, name = (self._child(left, key) for key in self.rules.members[left.type])
        if (
            owner is None
            or name is None
            or self._looked_through(self.path(owner), left.start_byte, scope) != "self"
        ):
            return
        self._of_class(scope, self._text(name), left, self._looked_through(value, left.start_byte, scope))

    def _of_class(self, scope: _Scope, name: str, node: Node, value: str) -> None:
        """Note a field of the class around."""
        around: _Scope | None = scope
        while around is not None and not around.is_class:
            around = around.outer
        if around is not None:
            around.bind(name, node.start_byte, value)

    def _type(self, node: Node) -> str:
        return type_value(self._text(node))

    def path(self, node: Node, depth: int = 0) -> str:
        """Return the expression that a node is; `?` where it is none."""
        rules, kind = self.rules, node.type
        if depth > _DEEPEST:
            return "?"
        if kind in rules.names or kind in rules.selfs or kind in rules.supers:
            text = self._text(node)
            if text in rules.selfs or kind in rules.selfs:
                return "self"
            if kind in rules.own_variables:
                return f"self.{text}"
            return "super" if text in rules.supers or kind in rules.supers else text
        if kind in rules.members:
            value, name = (self._child(node, key) for key in rules.members[kind])
            if name is None:
                return "?"
            leaf = self._leaf(name) if name.type not in rules.members else None
            whole = self._text(leaf) if leaf is not None else self.path(name, depth + 1)
            if value is not None:
                whole = f"{self.path(value, depth + 1)}.{whole}"
            whole += "()" if kind in rules.called_members else ""
        elif kind in rules.calls:
            callee = self._child(node, rules.calls[kind])
            required = _REQUIRED.fullmatch(self._text(node)) if callee is not None else None
            if required is not None:
                return f'"{required.group(1)}"'
            whole = "?" if callee is None else self.path(callee, depth + 1) + "()"
        elif kind in rules.makes:
            made = self._child(node, rules.makes[kind])
            whole = "?" if made is None else self._type(made)
        elif kind in rules.casts:
            cast = self._child(node, rules.casts[kind])
            whole = "?" if cast is None else self._type(cast)
        elif kind in rules.indexed:
            whole = self._indexed(node, depth)
        elif kind in rules.wrappers:
            inner = self._child(node, 0)
            whole = "?" if inner is None else self.path(inner, depth + 1)
        else:
            whole = "''" if kind in rules.literals else "?"
        return whole if len(whole) <= _LONGEST else "?"

    def _indexed(self, node: Node, depth: int) -> str:
        value = self._child(node, self.rules.indexed[node.type])
        return "?" if value is None else self.path(value, depth + 1) + "[]"

    def _looked_through(self, expression: str, byte: int, scope: _Scope) -> str:
        """Return an expression with its first name replaced by what that stands for in the functions around."""
        at: _Scope | None = scope
        outward = 0
        for _ in range(_SUBSTITUTED):
            first = re.match(r"[^.(\[]*", expression)
            name = first.group() if first else ""
            if not name or name[0] in "?<@'\"":
                return expression
            found = None
            while at is not None and (not at.is_function or (found := at.value(name, byte)) is None):
                at = at.outer if outward < _OUTWARD else None
                outward += 1
            if found is None or at is None:
                return expression
            if found == name:
                return expression
            if re.match(rf"{re.escape(name)}(?![\w$])", found) and name not in ("self", "super"):
                return "?"  # it is given a new value made of its old one
            expression = found + expression[len(name) :]
            if len(expression) > _LONGEST or expression.startswith(("self", "cls", "super")):
                break
        return expression if len(expression) <= _LONGEST else "?"

    # The result

    def facts(self) -> FileFacts:
        """Return what was found, without the imports' bindings."""
        uses = []
        for name, receiver, line, column, byte, kind, scope in self._raw:
            if receiver:
                value = self._looked_through(receiver, byte, scope)
                uses.append(Use(name, value, line, column, kind))
                continue
            value = self._looked_through(name, byte, scope)
            if name in ("self", "cls", "super"):
                continue
            if value == name:
                uses.append(Use(name, "", line, column, kind))
            elif value[0] == "@":
                uses.append(Use(name, value, line, column, kind))
            elif value[0] not in "?<'\"" and value[-1] not in ")]":
                above, _, last = value.rpartition(".")
                uses.append(Use(last, above, line, column, kind))
        for scope, byte in self._unsaid:
            returned = {self._looked_through(value, byte, scope) for value in scope.returned if value != "''"}
            if len(returned) == 1 and (value := returned.pop())[0] != "?":
                self._returns.setdefault(scope.line, value)
        return FileFacts(
            uses=tuple(uses),
            bases={line: tuple(bases) for line, bases in self._bases.items()},
            returns=self._returns,
            fields={scope.line: kept for scope in self._scopes if (kept := _fields(scope))},
            package=self.package,
        )

    def _child(self, node: Node, key: str | int) -> Node | None:
        if isinstance(key, str):
            if key[:1] == "#":
                kinds = key[1:].split("|")
                return next((one for one in reversed(node.named_children) if one.type in kinds), None)
            return node.child_by_field_name(key) if key else None
        count = node.named_child_count
        at = key if key >= 0 else count + key
        return node.named_child(at) if 0 <= at < count else None

    def _text(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _fields(scope: _Scope) -> dict[str, str]:
    """Return the value of each name: the first that says something, types before the rest."""
    kept = {}
    for name, given in scope.names.items():
        values = [value for _, value in given]
        typed = [value for value in values if value[0] == "<" and value != ANY]
        telling = [value for value in values if value[0] not in "?'<"]
        kept[name.lstrip("$")] = (typed or telling or values)[0]
    return kept
