"""What an expression stands for, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "FIXTURE",
    "GLOBAL_MANY",
    "GLOBAL_ONE",
    "HINTED",
    "IMPORTED",
    "INFERRED",
    "NESTED",
    "ONE_OF",
    "OUTSIDE",
    "OWN_CLASS",
    "OWN_MODULE",
    "PACKAGE",
    "STAR",
    "TYPED",
    "UNKNOWN",
    "UNLIKE",
    "Value",
]

NESTED = 0.97
OWN_MODULE = 0.96
OWN_CLASS = 0.95
IMPORTED = 0.96
STAR = 0.9
PACKAGE = 0.93
TYPED = 0.93
INFERRED = 0.85
ONE_OF = 0.75
FIXTURE = 0.75
HINTED = 0.85
GLOBAL_ONE = 0.82
GLOBAL_MANY = 0.7
UNLIKE = 0.5
"""How sure a name is that was found in each of these ways: nested in the function around, in the module, in the class
around, by an import, by one of all names, in the same folder, through a declared type, through what a function returns
or an attribute was given, through one of several types, as a fixture of pytest, by a path that is like the module's, as
the only or as one of several of that name where a program is one space of names, by an import of a path that is like none.

Against scip-python and scip-typescript (click, httpx, starlette, redux, immer, mobx) NESTED, OWN_MODULE, OWN_CLASS, IMPORTED,
TYPED and INFERRED were right in 97% of the cases or more. PACKAGE, HINTED and GLOBAL_ONE are of languages for which there was
no such index: judged by samples of cobra, gson, serde, monolog and libuv."""


class Value(NamedTuple):
    """What an expression stands for."""

    kind: str
    """`module`, `folder`, `path` (a package by its dotted name), `class`, `instance`, `many` (what holds instances),
    `one of many` and `some of many` (methods that give of them), `super`, `function`, `outside` (not of this tree), `unknown`."""
    symbols: tuple[int, ...] = ()
    file: int = -1
    path: str = ""
    sure: float = 1.0
    defined: bool = False
    """Whether `symbols` are what the expression itself refers to, not only the class of its value."""


UNKNOWN = Value("unknown")
OUTSIDE = Value("outside")
