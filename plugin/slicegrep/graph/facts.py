"""What is known of one file by itself: what it refers to, what its imports bind, and which types its names have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["CALL", "IMPORT", "INHERITANCE", "REFERENCE", "STRENGTH", "Binding", "FileFacts", "Use"]

CALL, INHERITANCE, REFERENCE, IMPORT = "call", "inheritance", "reference", "import"
STRENGTH = {kind: -at for at, kind in enumerate((CALL, INHERITANCE, REFERENCE, IMPORT))}
"""The greater, the stronger: what an edge is called by."""


class Use(NamedTuple):
    """A name that stands for something defined elsewhere. Lines are 1-based, columns 0-based in bytes of UTF-8."""

    name: str
    receiver: str
    """An expression (see `FileFacts`) on whose value `name` is looked up; "" where it stands alone."""
    line: int
    column: int
    kind: str


class Binding(NamedTuple):
    """A name that an import gives to something of another module, or an export to something of this one."""

    local: str
    """`*`: all names of the module become names of this file."""
    module: str
    """As written; "" for this file itself (`export { a as b }`)."""
    name: str
    """"" is the module itself."""
    line: int
    exported: bool = False
    """Whether other files see it under `local` although it is no name inside this one."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of one content in one language.

    An expression is a path: `a.b().c`, with `()` after what is called and `[]` after what is indexed. Its first part is
    a name that is not local to a function, or `self`, `cls` (the class around), `super`, `<T>` (a value of the type T),
    `@12` (what is defined in line 12), `''` (a literal), `?` or `?name` (unknown).
    """

    uses: tuple[Use, ...] = ()
    bindings: tuple[Binding, ...] = ()
    bases: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By the line of a class's name, what it inherits from."""
    returns: dict[int, str] = field(default_factory=dict)
    """By the line of a function's name, what it returns."""
    fields: dict[int, dict[str, str]] = field(default_factory=dict)
    """By the line of a class's name (0: the file), the values of its names."""
    causes: tuple[str, ...] = ()
    """Why references may be missing, a short clause each."""
