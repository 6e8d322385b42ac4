"""What a language's rules are made of, and which module holds whose."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

__all__ = ["Rules", "rules_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How one language's definitions are found and named.

    `query` is a tree-sitter query. In each of its patterns one capture is the definition and its name is the
    symbol's kind (`@function`, `@class`, `@namespace`, `@qualifier` for what only lends its name). The others:

    - `@name` the name; `@declarator` the top of a C declarator, followed down to its name;
      `@known` a definition without a name of its own, called as `unnamed` says
      where several patterns capture one node, the first in the query counts
    - `@scope` what qualifies the name by its own spelling (a receiver, a class)
    - `@body` where the signature ends, where the field `body` does not say it; `@value` the function that has
      been given the name, so that its own name counts for nothing
    - `@callee` what is called with the function, which must be one of `callees`
    - `@wrap` and `@inner`: the range (and the signature) of the inner node begins where the wrapper begins;
      `@decorated` and `@inner`: only the range does; `@attribute`: a sibling before the definition that belongs to it
    """

    query: str
    separator: str = "."
    method_separator: str = ""
    """Between a class and its method, where it is not `separator`."""
    split: str = ""
    """What divides a name as written (`A::b`) into scope and name."""
    callees: str = ""
    """Calls that hand back the function they were given (a regular expression for the text of `@callee`)."""
    dropped: frozenset[str] = frozenset()
    """Parts of a divided name that say nothing (`prototype`, `exports`)."""
    absolute_scope: bool = False
    """Whether a `@scope` stands alone: what is around the definition does not qualify it."""
    unnamed: str = "default"
    annotations: str = r"@(?!interface\b)[\w.:]+\s*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*"
    """What may stand before a signature and is no part of it (a regular expression)."""
    preprocessor: bool = False
    """Whether `#if` and `#define` lines are taken out before the grammar sees the text."""
    member_kind: str = "method"
    """What a function directly inside a class-like definition is."""


_HOMES = {
    "python": "rules_script",
    "javascript": "rules_script",
    "typescript": "rules_script",
    "tsx": "rules_script",
    "go": "rules_systems",
    "rust": "rules_systems",
    "c": "rules_systems",
    "cpp": "rules_systems",
    "java": "rules_managed",
}


def rules_of(language: str) -> Rules | None:
    """Return the rules of a language by its name in `LANGUAGES`, or None where there are none."""
    home = _HOMES.get(language)
    if home is None:
        return None
    table: dict[str, Rules] = import_module(f"slicegrep.outline.{home}").RULES
    return table[language]
