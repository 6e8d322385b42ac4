"""What a language's rules are made of, and which module holds whose."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module

__all__ = ["Rules", "rules_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How one language's definitions are found and named.

    `query` is a tree-sitter query. In each of its patterns one capture is the definition and its name is the
    symbol's kind (`@function`, `@class`, `@namespace`; `@qualifier` for what only lends its name). Where several
    patterns capture one node, the first in the query counts. The other captures:

    - `@name` the name; `@declarator` the top of a C declarator, followed down to its name (without either, the field
      `name` or `declarator`: a pattern of one node costs nothing to compile, one with children 1 to 10 ms); `@known`
      a definition without a name of its own, called as `unnamed` says; `@more` text that belongs to the name
    - `@scope` what qualifies the name by its own spelling (a receiver, a class)
    - `@body` where the signature ends, where the field `body` does not say it; `@tail` a sibling that ends the
      definition; `@value` the function that has been given the name, so that its own name counts for nothing
    - `@callee` what is called, which must match `callees[kind]`; of a `@by_callee` it decides the kind
    - `@wrap`: the range (and the signature) of the node inside begins where the wrapper begins; `@decorated`: only
      the range does; `@inner`: which node that is, where it is not the last one
    - `@attribute` a sibling before the definition that belongs to it
    """

    query: str
    separator: str = "."
    separators: dict[str, str] = field(default_factory=dict)
    """By the kind in the query (`method`), or `in KIND` for what is directly inside, where it is not `separator`."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Kinds of the query that are called otherwise in the outline."""
    called: str = ""
    """C: names (a regular expression) of macros that are called where a function stands; the call is the name."""
    split: str = ""
    """What divides a name as written (`A::b`) into scope and name (a regular expression)."""
    joint: str = ""
    """Between a name and `@more`; "" puts a space between two words and nothing elsewhere."""
    callees: dict[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    """Parts of a divided name that say nothing (`prototype`, `exports`)."""
    absolute_scope: bool = False
    """Whether a `@scope` stands alone: what is around the definition does not qualify it."""
    bodiless: dict[str, str] = field(default_factory=dict)
    """What a definition without a field `body` is instead, by kind; "" is nothing at all."""
    refined: tuple[tuple[str, str, str, str, str], ...] = ()
    """(kind, field, node types, text, new kind): what a definition is when the node in its field has one of the types
    (regular expression) and begins with the text (regular expression). That node's name counts for nothing."""
    kind_field: str = ""
    """A field whose text is the kind, where a node has it."""
    unnamed: str = ""
    annotations: str = r"@(?!interface\b)[\w.:]+[ \t]*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*"
    """What may stand before a signature and is no part of it (a regular expression)."""
    ends: str = r"\{"
    """Where a signature ends when no body was captured (a regular expression)."""
    preprocessor: bool = False
    """Whether `#if` and `#define` lines are taken out before the grammar sees the text."""
    overwritten: tuple[tuple[bytes, bytes], ...] = ()
    """(pattern, filler): what the grammar has no word for; each group (or match) becomes the filler, byte by byte."""
    repairs: tuple[tuple[bytes, bytes], ...] = ()
    """The same, bolder: tried when the grammar met errors, kept when fewer remain."""
    hollow: bool = False
    """Whether that second try sees the bodies of functions empty."""
    member_kind: str = "method"
    """What a function directly inside a class-like definition is."""
    equations: bool = False
    """Whether neighbours of one name are one definition (and a `signature` its beginning)."""


_HOMES = {
    "rules_script": ("python", "javascript", "typescript", "tsx"),
    "rules_dynamic": ("ruby", "php", "lua", "bash", "elixir"),
    "rules_systems": ("go", "rust", "c", "cpp", "zig"),
    "rules_managed": ("java", "csharp", "kotlin", "swift", "scala", "dart", "haskell"),
}
_HOME_OF = {language: home for home, languages in _HOMES.items() for language in languages}


def rules_of(language: str) -> Rules | None:
    """Return the rules of a language by its name in `LANGUAGES`, or None where no grammar serves it."""
    home = _HOME_OF.get(language)
    if home is None:
        return None
    table: dict[str, Rules] = import_module(f"slicegrep.outline.{home}").RULES
    return table[language]
