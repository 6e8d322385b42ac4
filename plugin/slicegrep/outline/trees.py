"""What tree-sitter finds in a text: parsing under a deadline, and a query's captures as definitions."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Point, Query, QueryCursor, Tree

from slicegrep.languages import LANGUAGES
from slicegrep.outline.found import Found
from slicegrep.outline.looks import around_rows, pieces
from slicegrep.outline.spelling import Speller, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from slicegrep.outline.looks import Span
    from slicegrep.outline.rules import Rules

__all__ = ["definitions", "errors", "grammar_of", "parse"]

_CHUNK = 1 << 16
"""Bytes that the parser is handed at a time."""
_BEFORE = 4_096
"""Bytes in which the attribute before a definition is looked for."""

_CHECK = 1_024
"""Definitions between two looks at the clock (about 30 ms)."""

_HELPERS = frozenset(
    {
        "name", "declarator", "known", "more", "scope", "body", "tail", "value", "callee", "wrap", "decorated",
        "inner", "attribute",
    }
)  # fmt: skip

_OUTER = frozenset({"wrap", "decorated", "attribute"})
"""The helpers before which an attribute may stand."""


@cache
def grammar_of(language: str) -> Grammar | None:
    """Return the grammar of a language, or None where its wheel is not installed.

    Raises MemoryError where it is, and there is no room for it: by patterns a method would lose its class's name.
    """
    entry = LANGUAGES[language]
    try:
        module = _binding_of(entry.grammar_module)
    except ImportError as error:
        if "memory" in str(error) or "map segment" in str(error):  # as the system's loader says it
            raise MemoryError(str(error)) from error
        return None
    return Grammar(getattr(module, entry.grammar_function)())


def _binding_of(package: str) -> ModuleType:
    """Load a grammar's compiled part by itself: its package imports importlib.resources, which takes 15 ms."""
    spec = PathFinder.find_spec(package)
    within = spec.submodule_search_locations if spec is not None else None
    binding = PathFinder.find_spec("_binding", list(within)) if within else None
    if binding is None or binding.loader is None:
        return import_module(package)
    module = module_from_spec(binding)
    binding.loader.exec_module(module)
    return module


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
    handed: list[memoryview] = []

    def read(offset: int, _point: Point) -> memoryview:
        handed.append(view[offset : offset + _CHUNK])
        return handed[-1]

    def expired(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - tree-sitter's own signature
        return time.monotonic() > deadline

    try:
        return Parser(grammar).parse(read, progress_callback=expired)
    except ValueError:
        return None
    finally:
        for one in (
            handed
        ):  # tree-sitter 0.26.1 never lets go of them, and they would keep every text that was parsed
            one.release()


def errors(tree: Tree, language: str) -> int:
    """Return how many bytes of the text the parser could make nothing of."""
    matches = QueryCursor(_query_of(language, "(ERROR) @error")).matches(tree.root_node)
    return sum(node.end_byte - node.start_byte for _, captures in matches for node in captures["error"])


def definitions(
    tree: Tree,
    rules: Rules,
    language: str,
    text: bytes,
    until: float,
    *,
    rows: Sequence[int] | None = None,
) -> list[Found]:
    """Return the definitions that the rules' query captures, in no order; the first ones when `until` (of `time.monotonic`) passed.

    `rows` (0-based, ascending) leaves out those that are around none of these.
    """
    comment = LANGUAGES[language].line_comment
    captured = _Captured(rules, comment.encode(), text, rows)
    query = _query_of(language, rules.query)
    spans = around_rows(rows) if rows is not None else []
    # A pattern of two siblings is not met where the first of them does not reach into what is looked at.
    if spans and all(query.is_pattern_rooted(one) for one in range(query.pattern_count)):
        captured.look_around(spans, query, tree.root_node)
    else:
        captured.look_at_all(query, tree.root_node, until)
    speller = Speller(rules, comment, text)
    found: list[Found] = []
    for key, (_, kind, node, captures) in captured.named.items():
        if key in captured.given:
            continue
        one = captured.found(speller, kind, node, captures)
        if one is not None:
            found.append(one)
        if len(found) % _CHECK == 0 and time.monotonic() > until:
            break
    return found


def _wrapped(captures: dict[str, list[Node]]) -> Node | None:
    """Return the node that a captured wrapper is about, None where none is captured."""
    wrapper = captures.get("wrap") or captures.get("decorated")
    if wrapper is None:
        return None
    if "inner" in captures:
        return captures["inner"][0]
    for name in ("declaration", "value", "definition", "type"):
        node = wrapper[0].child_by_field_name(name)
        if node is not None:
            return node
    count = wrapper[0].named_child_count
    return wrapper[0].named_child(count - 1) if count else None


class _Captured:
    """The captures of one text, by the node that they are about."""

    def __init__(self, rules: Rules, comment: bytes, text: bytes, rows: Sequence[int] | None) -> None:
        self.rules = rules
        self.rows = rows
        self.comment = comment
        self.text = text
        self.named: dict[int, tuple[int, str, Node, dict[str, list[Node]]]] = {}
        self.given: set[int] = set()
        """Functions whose own name counts for nothing."""
        self._wrappers: dict[int, tuple[Node, bool]] = {}
        self._attributes: dict[int, Node] = {}

    def look_at_all(self, query: Query, root: Node, until: float) -> None:
        """Add the captures of a tree, piece by piece; of the first ones when `until` passed."""
        # No progress callback and no predicates here: in tree-sitter 0.26.1 a callback given to `matches`, and a
        # predicate on a tree that was read through a callback, end the process with a segmentation fault.
        for start, end in pieces(root):
            cursor = QueryCursor(query)
            cursor.set_byte_range(start, end)
            for pattern, captures in cursor.matches(root):
                self._add(pattern, captures)
            if time.monotonic() > until:
                break

    def look_around(self, spans: Sequence[Span], query: Query, root: Node) -> None:
        """Add what is around some spans.

        A definition reaches into its lines, and so do its wrappers. But where only a wrapper does, or an attribute
        (which stands before its definition), what it belongs to is found by a look behind its seam; and attributes by
        one before what is captured.
        """
        cursor = QueryCursor(query)
        seams: list[int] = []
        for first, last in spans:
            cursor.set_point_range(first, last)
            for pattern, captures in cursor.matches(root):
                self._add(pattern, captures)
                seams += self._seams(captures)
        cursor = QueryCursor(query)
        looked_at: set[int] = set()
        while seams:
            at = seams.pop()
            if at not in looked_at:
                looked_at.add(at)
                cursor.set_byte_range(max(0, at - 1), at + 1)
                for pattern, captures in cursor.matches(root):
                    self._add(pattern, captures)
                    seams += self._seams(captures)

    def _seams(self, captures: dict[str, list[Node]]) -> Iterator[int]:
        """Yield the bytes at or just before which something may begin or end that belongs to what is captured."""
        if (wrapped := _wrapped(captures)) is not None:
            yield wrapped.start_byte
        if "@attribute" not in self.rules.query:
            return
        for key, (node, *_) in captures.items():
            if key not in _HELPERS or key in _OUTER:
                begin = max(0, node.start_byte - _BEFORE)
                yield begin + len(self.text[begin : node.start_byte].rstrip())
            if key == "attribute":
                after = self.text[node.end_byte : node.end_byte + _BEFORE]
                yield node.end_byte + len(after) - len(after.lstrip())

    def _add(self, pattern: int, captures: dict[str, list[Node]]) -> None:
        wrapper = captures.get("wrap") or captures.get("decorated")
        if wrapper is not None:
            inner = _wrapped(captures)
            if inner is not None:
                self._wrappers[inner.id] = (wrapper[0], "wrap" in captures)
            return
        if "attribute" in captures:
            node = captures["attribute"][0]
            self._attributes[node.end_byte] = node
            return
        key = next(key for key in captures if key not in _HELPERS)
        kind = self._kind(key, captures)
        if not kind:
            return
        node = captures[key][0]
        before = self.named.get(node.id)
        if before is None or before[0] > pattern or (before[0] == pattern and len(before[3]) < len(captures)):
            self.named[node.id] = (pattern, kind, node, captures)
        if "value" in captures:
            self.given.add(captures["value"][0].id)

    def _kind(self, kind: str, captures: dict[str, list[Node]]) -> str:
        """Return what the captured definition is; "" when it is none."""
        rules = self.rules
        node = captures[kind][0]
        if "callee" in captures:
            callee = text_of(self.text, captures["callee"][0])
            kinds = rules.callees if kind == "by_callee" else (kind,)
            kind = next((one for one in kinds if re.fullmatch(rules.callees[one], callee)), "")
        elif (
            kind in rules.bodiless
            and "declarator" not in captures
            and node.child_by_field_name("body") is None
        ):
            whole = (
                self.text[node.end_byte - 1 : node.end_byte] == b"}"
            )  # a body of another shape: `try { } catch`
            kind = kind if whole else rules.bodiless[kind]
        elif rules.refined and (refined := self._refined(kind, node)) is not None:
            kind = refined
        elif rules.kind_field:
            named = node.child_by_field_name(rules.kind_field)
            kind = kind if named is None else text_of(self.text, named)
        return kind

    def _refined(self, kind: str, node: Node) -> str | None:
        for before, field, types, beginning, after in self.rules.refined:
            if kind != before:
                continue
            value = node.child_by_field_name(field) if field else None
            if not field:
                return after
            if (
                value is not None
                and re.fullmatch(types or ".*", value.type)
                and re.match(beginning, text_of(self.text, value))
            ):
                self.given.add(value.id)
                return after
        return None

    def found(self, speller: Speller, kind: str, node: Node, captures: dict[str, list[Node]]) -> Found | None:
        outer, signed = node, node
        while outer.id in self._wrappers:
            wrapper, is_signed = self._wrappers[outer.id]
            between = self.text[wrapper.start_byte : outer.start_byte].rstrip()
            if wrapper.id == outer.id or between.endswith(
                b"("
            ):  # a group: `type (` begins no single definition
                break
            outer = wrapper
            signed = wrapper if is_signed else signed
        start_byte, start_row = self._with_attributes(outer)
        last = captures["tail"][0] if "tail" in captures else node
        end_row = self._last_row(last)
        if not self._is_wanted(start_row, end_row):
            return None
        name, scope, name_row = speller.name(node, captures)
        if not name:
            return None
        return Found(
            kind=kind,
            name=name,
            scope=scope,
            start_byte=start_byte,
            end_byte=last.end_byte,
            start_row=start_row,
            end_row=end_row,
            name_row=name_row,
            signature=speller.signature(signed.start_byte, node, captures, kind, name),
            absolute=self.rules.absolute_scope and bool(scope),
        )

    def _is_wanted(self, start_row: int, end_row: int) -> bool:
        if self.rows is None:
            return True
        at = bisect_left(self.rows, start_row)
        return at < len(self.rows) and self.rows[at] <= end_row

    def _with_attributes(self, node: Node) -> tuple[int, int]:
        byte, row = node.start_byte, node.start_point.row
        while self._attributes:
            begin = max(0, byte - _BEFORE)
            end = begin + len(self.text[begin:byte].rstrip())
            attribute = self._attributes.get(end) or self._attributes.get(end + 1)
            if attribute is None or attribute.start_byte >= byte:
                break
            byte, row = attribute.start_byte, attribute.start_point.row
        return byte, row

    def _last_row(self, node: Node) -> int:
        """Return the row of the last code: some grammars count the blank lines and comments after it as its own."""
        row: int = node.end_point.row
        end = node.end_byte
        while end > node.start_byte:
            begin = max(node.start_byte, end - _BEFORE)
            tail = self.text[begin:end]
            kept = tail.rstrip()
            row -= tail.count(b"\n", len(kept))
            end = begin + len(kept)
            line = kept.rfind(b"\n") + 1
            at = begin + line + len(kept[line:]) - len(kept[line:].lstrip())
            if not kept.startswith(self.comment, at - begin):
                break
            leaf = node.descendant_for_byte_range(at, at + 1)
            if leaf is None or "comment" not in leaf.type or leaf.start_byte != at:
                break
            end = at
        return row
