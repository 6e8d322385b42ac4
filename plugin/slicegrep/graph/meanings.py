"""What an expression stands for: a module, a class, a value of a class, a function; found through imports, types and bases."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from slicegrep.graph.members import Members, likeness, parts_of
from slicegrep.graph.modules import Modules
from slicegrep.graph.value import (
    FIXTURE,
    GLOBAL_MANY,
    GLOBAL_ONE,
    HINTED,
    IMPORTED,
    INFERRED,
    NESTED,
    ONE_OF,
    OUTSIDE,
    OWN_CLASS,
    OWN_MODULE,
    PACKAGE,
    STAR,
    TYPED,
    UNKNOWN,
    UNLIKE,
    Value,
)
from slicegrep.languages import family_of, is_test_path
from slicegrep.outline.around import CLASS_KINDS, FUNCTION_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from slicegrep.graph.definitions import Definitions
    from slicegrep.graph.facts import Binding, FileFacts
    from slicegrep.graph.uses_rules import UseRules
    from slicegrep.index import View

__all__ = ["STEPS", "Meanings"]

STEPS = 12
"""Names, imports and bases that are followed from one reference."""
_GIVING_ONE = "get pop shift at find popleft first last next setdefault peek poll remove popitem findLast"
_GIVING_MANY = "values filter slice copy reversed concat sort sorted reverse iter"
_GIVE_ONE = frozenset(_GIVING_ONE.split())
_GIVE_MANY = frozenset(_GIVING_MANY.split())
"""Members of what holds values, that give one of them or some."""


class Meanings:
    """The meanings of expressions in the files of one view. `facts_of` returns the facts of a file by its id."""

    def __init__(self, view: View, definitions: Definitions, facts_of: Callable[[int], FileFacts]) -> None:
        self._view = view
        self._facts_of = facts_of
        self.definitions = definitions
        self.modules = Modules(view)
        self._given: dict[tuple[int, str], Value] = {}
        self.members = Members(view, definitions, facts_of, self)

    def value(self, file: int, expression: str, line: int, steps: int) -> Value:
        """Return what an expression in a line of a file stands for."""
        first, parts = parts_of(expression)
        value = self._first(file, first, line, steps)
        for part in parts:
            if value.kind in ("unknown", "outside") or steps <= 0:
                return value
            if part == "()":
                value = self._called(value, steps - 1)
            elif part == "__class__" and value.kind == "instance":
                value = value._replace(kind="class", defined=False)
            elif part == "new" and value.kind == "class" and self.definitions.language(file) == "ruby":
                continue
            elif value.kind == "many" and part in _GIVE_ONE:
                value = value._replace(kind="one of many")
            elif value.kind == "many" and part in _GIVE_MANY:
                value = value._replace(kind="some of many")
            elif part in ("[]", "[w]"):
                if value.kind == "many":
                    value = value._replace(kind="instance", sure=min(value.sure, INFERRED))
                elif part == "[]":
                    return UNKNOWN
            else:
                value = self.members.member(value, part, file, steps - 1)
        return value

    def _first(self, file: int, first: str, line: int, steps: int) -> Value:
        if first in ("self", "cls", "super"):
            around = self.definitions.class_around(file, line)
            kind = {"self": "instance", "cls": "class"}.get(first, "super")
            return Value(kind, around, file, sure=OWN_CLASS) if around else UNKNOWN
        if first[0] == "@":
            nested = self.definitions.defined(file, int(first[1:])) if first[1:].isdecimal() else ()
            return self.as_value(list(nested), file, NESTED) if nested else UNKNOWN
        if first[0] == "'":
            return OUTSIDE
        if first[0] == '"':
            return self._module(file, first[1:-1])
        if first[0] == "<":
            return self._typed(file, first[1:-1], line, steps)
        return (
            self._fixture(file, first[1:], steps) if first[0] == "?" else self.free(file, first, line, steps)
        )

    def _fixture(self, file: int, name: str, steps: int) -> Value:
        """Return what pytest gives to a parameter of a test that has the name of a fixture."""
        row = self._view.files[file]
        if row is None or row.language != "python" or not name or not is_test_path(row.path) or steps <= 0:
            return UNKNOWN
        folder, paths = row.path, [row.path]
        while folder:
            folder = posixpath.dirname(folder)
            paths.append(posixpath.join(folder, "conftest.py"))
        for path in paths:
            place = self._view.file_at(path)
            top = self.definitions.top(place.id).get(name) if place is not None else None
            if top and self._is_fixture(top[-1]):
                value = self._called(self.as_value(top, -1, FIXTURE), steps - 1)
                return value._replace(kind="instance") if value.kind == "many" else value
        return UNKNOWN

    def _is_fixture(self, symbol: int) -> bool:
        row = self._view.symbol(symbol)
        uses = self._facts_of(row.file).uses
        return any(use.name == "fixture" and row.start <= use.line < row.name_line for use in uses)

    def _typed(self, file: int, text: str, line: int, steps: int) -> Value:
        """Return a value of a type: `T`, `T*` (what holds such values) or `T|U`."""
        if text == "?" or steps <= 0:
            return UNKNOWN
        names = text.rstrip("*").split("|")
        found = [self.value(file, name, line, steps - 1) for name in names]
        classes = [one for one in found if one.kind == "class"]
        if not classes:
            return OUTSIDE if all(one.kind == "outside" for one in found) else UNKNOWN
        symbols = tuple(dict.fromkeys(symbol for one in classes for symbol in one.symbols))
        sure = min(TYPED if len(classes) == 1 else ONE_OF, *(one.sure for one in classes))
        return Value("many" if text[-1] == "*" else "instance", symbols, classes[0].file, sure=sure)

    def _module(self, file: int, path: str) -> Value:
        row = self._view.files[file]
        found = self.modules.file(family_of(row.language), row.path, path) if row is not None else -1
        return OUTSIDE if found < 0 else Value("module", file=found, sure=IMPORTED)

    def _called(self, value: Value, steps: int) -> Value:
        """Return what a call of a value gives."""
        if value.kind == "module" and steps > 0:  # what `module.exports = f` gives to `require`
            value = self.of_module(value.file, "default", steps - 1)
        if value.kind == "class":
            return value._replace(kind="instance", defined=False)
        if value.kind in ("one of many", "some of many"):
            return value._replace(
                kind="instance" if value.kind[0] == "o" else "many", sure=min(value.sure, INFERRED)
            )
        if value.kind == "super":
            return value
        if value.kind == "function" and value.symbols:
            symbol = self._view.symbol(value.symbols[-1])
            returned = self._facts_of(symbol.file).returns.get(symbol.name_line)
            if returned and steps > 0:
                found = self.value(symbol.file, returned, symbol.start, steps - 1)
                return found._replace(sure=min(found.sure, value.sure, INFERRED), defined=False)
        return UNKNOWN

    def as_value(self, symbols: list[int], file: int, sure: float) -> Value:
        """Return definitions as a value: a class, a function, or an object with members."""
        kind = self._view.symbol(symbols[-1]).kind
        if kind in CLASS_KINDS:
            return Value("class", tuple(symbols), file, sure=sure, defined=True)
        if kind in FUNCTION_KINDS or kind == "declaration":
            return Value("function", tuple(symbols), file, sure=sure, defined=True)
        return Value("instance", tuple(symbols), file, sure=sure, defined=True)

    def free(self, file: int, name: str, line: int, steps: int) -> Value:
        """Return what a name that stands alone means."""
        rules = self.definitions.rules(file)
        if rules is None:
            return self._anywhere(file, name)
        around = self.definitions.around(file, line)
        if around is not None and (rules.bare_members or self.definitions.in_class_body(file, around, line)):
            classes = self.definitions.class_around(file, line)
            if classes and steps > 0:
                found = self.members.member(
                    Value("class", classes, file, sure=OWN_CLASS), name, file, steps - 1
                )
                if found.kind not in ("unknown", "outside"):
                    return found
        top = self.definitions.seen(file, name, line)
        if top:
            inner = self._imported_around(file, name, line)
            return (
                self.as_value(top, file, OWN_MODULE) if inner is None else self.bound(file, inner, steps - 1)
            )
        return self.from_elsewhere(file, name, rules, steps)

    def _imported_around(self, file: int, name: str, line: int) -> Binding | None:
        """Return the import of a name in a function around a line: there it hides what the file defines."""
        for binding in self._facts_of(file).bindings:
            if binding.local == name and not binding.exported:
                at = self.definitions.around(file, binding.line)
                around = self._view.symbols_of(file)[at] if at is not None else None
                if (
                    around is not None
                    and around.kind in FUNCTION_KINDS
                    and around.start <= line <= around.end
                ):
                    return binding
        return None

    def from_elsewhere(self, file: int, name: str, rules: UseRules, steps: int) -> Value:
        """Return what a name means that its file does not define: an import, a variable, what is in the same folder."""
        facts = self._facts_of(file)
        if steps <= 0:
            return UNKNOWN
        for binding in facts.bindings:
            if binding.local == name and not binding.exported:
                return self.bound(file, binding, steps - 1)
            if binding.local.startswith(name + ".") and not binding.name:
                return self.bound(file, binding._replace(local=name, module=name), steps - 1)
        given = facts.fields.get(0, {}).get(name)
        if given is not None:
            if given[0] == "?" or given == name or given.startswith((name + ".", name + "(")):
                return UNKNOWN
            found = self.value(file, given, 0, steps - 1)
            return found._replace(defined=False)
        unsure = False
        for binding in facts.bindings:
            if binding.local == "*":
                found = self.bound(file, binding._replace(name=name), steps - 1)
                if found.kind not in ("unknown", "outside"):
                    return found._replace(sure=min(found.sure, STAR))
                unsure = True
        if rules.package_files:
            beside = self._in_package(file, name)
            if beside is not None:
                return beside
        if rules.textual or rules.macros:
            return self._anywhere(file, name, macros=rules.macros)
        return UNKNOWN if unsure else OUTSIDE

    def bound(self, file: int, binding: Binding, steps: int) -> Value:
        """Return what an import gives to a name."""
        row = self._view.files[file]
        if row is None or steps <= 0:
            return UNKNOWN
        family = family_of(row.language)
        if not binding.module:
            return self.value(file, binding.name, binding.line, steps - 1)
        if family == "go":
            folder = self.modules.folder(binding.module)
            if folder is not None and binding.name:
                return self.in_folder(folder, binding.name, family) or UNKNOWN
            return OUTSIDE if folder is None else Value("folder", path=folder, sure=IMPORTED)
        if family not in ("python", "script", "lua", "zig", "dart"):
            return self._hinted(file, binding)
        found = self.modules.file(family, row.path, binding.module)
        if not binding.name:
            return OUTSIDE if found < 0 else Value("module", file=found, sure=IMPORTED)
        if found < 0:
            whole = (
                f"{binding.module.rstrip('.')}.{binding.name}"
                if binding.module.strip(".")
                else binding.module + binding.name
            )
            inner = self.modules.file(family, row.path, whole) if family == "python" else -1
            return OUTSIDE if inner < 0 else Value("module", file=inner, sure=IMPORTED)
        member = self.of_module(found, binding.name, steps - 1)
        return member._replace(sure=min(member.sure, IMPORTED))

    def exported(self, file: int, name: str) -> Value:
        """Return what other files get under a name of a file."""
        return self.of_module(file, name, STEPS)

    def of_module(self, file: int, name: str, steps: int) -> Value:
        """Return what other files get under a name of a module."""
        known = self._given.get((file, name))
        row = self._view.files[file]
        if known is not None or steps <= 0 or row is None:
            return known or UNKNOWN
        self._given[file, name] = UNKNOWN  # modules may take from each other in a circle
        found = self._looked_for(file, name, family_of(row.language), steps)
        if steps < STEPS // 2:
            del self._given[file, name]
        else:
            self._given[file, name] = found
        return found

    def _looked_for(self, file: int, name: str, family: str, steps: int) -> Value:
        top = self.definitions.top(file).get(name)
        if top:
            return self.as_value(top, file, IMPORTED)
        facts = self._facts_of(file)
        for binding in facts.bindings:
            if binding.local == name and (binding.exported or family != "script" or not binding.module):
                return self.bound(file, binding, steps - 1)
        if family == "script" and name == "default":
            return UNKNOWN
        submodule = self.modules.submodule(family, file, name)
        if submodule >= 0:
            return Value("module", file=submodule, sure=IMPORTED)
        given = facts.fields.get(0, {}).get(name)
        if given is not None:
            found = self.value(file, given, 0, steps - 1) if given[0] != "?" and given != name else UNKNOWN
            return found._replace(defined=False)
        if family == "script":  # `import { a } from './x'; export { a }`
            for binding in facts.bindings:
                if binding.local == name:
                    return self.bound(file, binding, steps - 1)
        for binding in facts.bindings:
            if binding.local == "*" and (binding.exported or family != "script"):
                found = self.bound(file, binding._replace(name=name), steps - 1)
                if found.kind not in ("unknown", "outside"):
                    return found
        return UNKNOWN

    def _in_package(self, file: int, name: str) -> Value | None:
        """Return what a name means in the other files of the folder."""
        row = self._view.files[file]
        if row is None:
            return None
        return self.in_folder(posixpath.dirname(row.path), name, family_of(row.language))

    def in_folder(self, folder: str, name: str, family: str) -> Value | None:
        """Return what a name means in the files of a folder together."""
        found = [
            one
            for one in self.definitions.named(name, family)
            if not self.definitions.is_member(one) and posixpath.dirname(self.definitions.path(one)) == folder
        ]
        return self.as_value(found, -1, PACKAGE) if found else None

    def _anywhere(self, file: int, name: str, *, macros: bool = False) -> Value:
        """Return what a name means where a program is one space of names."""
        row = self._view.files[file]
        if row is None:
            return OUTSIDE
        found = [
            one
            for one in self.definitions.named(name, family_of(row.language))
            if not self.definitions.is_member(one)
        ]
        if macros:
            found = [one for one in found if self.definitions.kinds[one] == "macro"]
        if not found:
            return OUTSIDE if macros else UNKNOWN
        folder = posixpath.dirname(row.path)
        found = [one for one in found if posixpath.dirname(self.definitions.path(one)) == folder] or found
        distinct = len(
            {self.definitions.path(one) for one in found if self._view.symbol(one).kind != "declaration"}
        )
        sure = GLOBAL_ONE if distinct <= 1 else GLOBAL_MANY / distinct
        return self.as_value(found, -1, sure)

    def _hinted(self, file: int, binding: Binding) -> Value:
        """Return what an import names whose module path is like that of a file or folder, or else the only one of that name."""
        row = self._view.files[file]
        name = binding.name or binding.module.rpartition(".")[2]
        if row is None or not name:
            return UNKNOWN
        found = [
            one
            for one in self.definitions.named(name, family_of(row.language))
            if not self.definitions.is_member(one)
        ]
        if not found:
            return Value(
                "path", path=binding.module if not binding.name else f"{binding.module}.{binding.name}"
            )
        parts = [part for part in binding.module.split(".") if part not in ("crate", "self", "super", "")]
        scores = {one: likeness(self.definitions.path(one), parts) for one in found}
        best = max(scores.values())
        if not best and binding.local == "*":
            return UNKNOWN
        kept = [one for one in found if scores[one] == best]
        places = len({self.definitions.path(one) for one in kept})
        if places == 1 and best >= min(2, len(parts)):
            return self.as_value(kept, -1, IMPORTED)
        return self.as_value(kept, -1, (HINTED if best or not parts else UNLIKE) / places)
