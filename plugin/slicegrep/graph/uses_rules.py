"""What a language's rules of reference are made of, and which module holds whose."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

__all__ = [
    "BIND",
    "CALLED",
    "DEFINED",
    "INHERITED",
    "MADE",
    "READ",
    "SKIP",
    "TYPED",
    "UseRules",
    "use_rules_of",
]

READ, CALLED, MADE, BIND, DEFINED, TYPED, INHERITED, SKIP = range(8)
"""What a node is to the one around it: a value, what is called, a class that is made, names that get values, the name of a
definition, a type, a base class, nothing."""


@dataclass(frozen=True, slots=True)
class UseRules:
    """How one language's references are found in its tree.

    Node types by their names in the grammar. Where a child is: its field, its position among the named children (negative: from the end), or `#TYPE|TYPE`, the last child of one of these types.
    """

    names: frozenset[str]
    """Leaves that are names."""
    calls: dict[str, str | int] = field(default_factory=dict)
    """Calls, and where the callee is."""
    makes: dict[str, str | int] = field(default_factory=dict)
    """Calls of a constructor, and where the class is."""
    members: dict[str, tuple[str | int, str | int]] = field(default_factory=dict)
    """What takes a member of a value: where the value is, where the member's name. The member may be one of them again."""
    called_members: frozenset[str] = frozenset()
    """Those of `members` that call it, also without a value (Java's `f(x)`)."""
    roles: dict[str, int] = field(default_factory=dict)
    """By `TYPE.FIELD`, or `TYPE` where the grammar names no field: what that child, or such a node, is."""
    functions: frozenset[str] = frozenset()
    """What has local names of its own."""
    classes: frozenset[str] = frozenset()
    """What has members."""
    assigns: dict[str, tuple[str | int, str | int, str | int]] = field(default_factory=dict)
    """What gives a value to names: where they are, the value, its type ("": nowhere)."""
    returns: dict[str, str | int] = field(default_factory=dict)
    """Functions, and where the type is that they return."""
    loops: dict[str, tuple[str | int, str | int]] = field(default_factory=dict)
    """What gives a name each of the values that something holds: where the name is, and what holds them."""
    indexed: dict[str, str | int] = field(default_factory=dict)
    """What takes one of the values that something holds: where that is."""
    returned: frozenset[str] = frozenset()
    """Statements whose first named child is what the function returns."""
    imports: frozenset[str] = frozenset()
    """Statements whose text `imports.bindings_of` reads."""
    selfs: frozenset[str] = frozenset({"this"})
    """Leaves (types or texts) that are the object around."""
    supers: frozenset[str] = frozenset({"super"})
    literals: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    """What has the value of its first named child."""
    casts: dict[str, str | int] = field(default_factory=dict)
    """What says a value's type: where it is."""
    first_is_self: bool = False
    """Whether a method's first parameter is the object (Python)."""
    bare_members: bool = False
    """Whether members of the class around need no `this`."""
    package_files: bool = False
    """Whether the files of one folder see each other's names without an import."""
    promoted: dict[str, str] = field(default_factory=dict)
    """Parameters of a constructor that are fields as well, and the child that tells so ("": always)."""
    own_variables: frozenset[str] = frozenset()
    """Leaves that name a field of the object around (Ruby's `@x`)."""
    variables: frozenset[str] = frozenset()
    """Leaves that never name a definition (PHP's `$x`)."""
    selectors: frozenset[str] = frozenset()
    """What takes a member of the siblings before it (Dart)."""
    exports: bool = False
    """Whether `module.exports` says what other files get."""
    string_types: bool = False
    """Whether types may be written in strings (Python)."""
    macros: bool = False
    """Whether macros are seen without an import (Rust)."""
    textual: bool = False
    """Whether a file sees what any file defines that it includes, or that is loaded with it (C, Ruby, Bash)."""


_HOMES = {
    "uses_script": ("python", "javascript", "typescript", "tsx"),
    "uses_dynamic": ("ruby", "php", "lua", "bash", "elixir"),
    "uses_systems": ("go", "rust", "c", "cpp", "zig"),
    "uses_managed": ("java", "csharp", "kotlin", "swift", "scala", "dart", "haskell"),
}
_HOME_OF = {language: home for home, languages in _HOMES.items() for language in languages}


@cache
def use_rules_of(language: str) -> UseRules | None:
    """Return the rules of a language by its name in `LANGUAGES`, or None where no grammar serves it."""
    home = _HOME_OF.get(language)
    if home is None:
        return None
    table: dict[str, UseRules] = import_module(f"slicegrep.graph.{home}").RULES
    return table[language]
