"""Imports: what a statement binds, and which file of the tree its module is."""

from __future__ import annotations

import pytest
from slicegrep.graph.imports import bindings_of
from slicegrep.graph.modules import Modules
from slicegrep.graph.uses import facts_of
from slicegrep.index import view_of
from slicegrep.source import source_of


def bound(language: str, statement: str) -> list[tuple[str, str, str]]:
    """Return local name, module and name of each binding."""
    return [(one.local, one.module, one.name) for one in bindings_of(language, statement, 1)]


def module(importer: str, name: str, *paths: str, family: str = "script", **texts: str) -> str:
    """Return the path of the file that a module is in a tree of these files; "" where it is none."""
    contents = dict.fromkeys([importer, *paths], "x = 1\n") | texts
    view = view_of([source_of(path, text.encode()) for path, text in contents.items()])
    found = Modules(view).file(family, importer, name)
    row = view.files[found] if found >= 0 else None
    return row.path if row is not None else ""


# What a statement binds


@pytest.mark.parametrize(
    ("statement", "bindings"),
    [
        ("import a", [("a", "a", "")]),
        ("import a.b", [("a.b", "a.b", "")]),
        ("import a.b as c, d", [("c", "a.b", ""), ("d", "d", "")]),
        ("from a import b", [("b", "a", "b")]),
        ("from a.b import (\n  c as d,  # why\n  e,\n)", [("d", "a.b", "c"), ("e", "a.b", "e")]),
        ("from . import a", [("a", ".", "a")]),
        ("from ..a import *", [("*", "..a", "*")]),
        ("from .. a import b", [("b", "..a", "b")]),
    ],
)
def test_python(statement, bindings):
    """All forms of import, with comments and over several lines."""
    assert bound("python", statement) == bindings


@pytest.mark.parametrize(
    ("statement", "bindings"),
    [
        ("import a from './a'", [("a", "./a", "default")]),
        ("import { a, b as c } from './a'", [("a", "./a", "a"), ("c", "./a", "b")]),
        ("import d, { type T } from './a'", [("T", "./a", "T"), ("d", "./a", "default")]),
        ("import type { T } from './a'", [("T", "./a", "T")]),
        ("import * as n from './a'", [("n", "./a", "")]),
        ("import './a'", []),
        ("import a = require('./a')", [("a", "./a", "")]),
        ("import a = b.c", [("a", "", "b.c")]),
        ("export * from './a'", [("*", "./a", "*")]),
        ("export * as n from './a'", [("n", "./a", "")]),
        ("export { a as b, default } from './a'", [("b", "./a", "a"), ("default", "./a", "default")]),
        ("export { a as b, c }", [("b", "", "a")]),
        ("export default a", [("default", "", "a")]),
        ("export default async function a() { return { b } }", [("default", "", "a")]),
        ("export const { a } = b", []),
        ("export function f() { return { a as b } }", []),
    ],
)
def test_typescript(statement, bindings):
    """All forms of import and export, and nothing of what only looks like one."""
    assert bound("typescript", statement) == bindings


@pytest.mark.parametrize(
    ("language", "statement", "bindings"),
    [
        ("go", 'import "a/b"', [("b", "a/b", "")]),
        (
            "go",
            'import (\n\tx "a/b"\n\t"c/d/v2"\n\t. "e"\n)',
            [("x", "a/b", ""), ("d", "c/d/v2", ""), ("*", "e", "*")],
        ),
        ("rust", "use a::b;", [("b", "a", "b")]),
        (
            "rust",
            "pub use a::{b, c as d, e::{f, self}, g::*};",
            [("b", "a", "b"), ("d", "a", "c"), ("f", "a.e", "f"), ("e", "a", "e"), ("*", "a.g", "*")],
        ),
        ("java", "import a.b.C;", [("C", "a.b", "C")]),
        ("java", "import static a.B.c;", [("c", "a.B", "c")]),
        ("java", "import a.b.*;", [("*", "a.b", "*")]),
        ("kotlin", "import a.b.C as D", [("D", "a.b", "C")]),
        ("scala", "import a.b.{C, D => E, _}", [("C", "a.b", "C"), ("E", "a.b", "D"), ("*", "a.b", "*")]),
        ("scala", "import a.b._", [("*", "a.b", "*")]),
        ("csharp", "using A.B;", [("*", "A.B", "*")]),
        ("csharp", "using X = A.B;", [("X", "A", "B")]),
        ("php", "use A\\B;", [("B", "A", "B")]),
        ("php", "use A\\{B, C as D};", [("B", "A", "B"), ("D", "A", "C")]),
        ("php", "use function A\\b as c;", [("c", "A", "b")]),
        ("dart", "import 'a.dart' as p;", [("p", "a.dart", "")]),
        ("dart", "export 'package:x/a.dart';", [("*", "a.dart", "*")]),
        ("haskell", "import qualified A.B as C", [("C", "A.B", "")]),
        ("haskell", "import A (b, C(..))", [("A", "A", ""), ("b", "A", "b"), ("C", "A", "C")]),
    ],
)
def test_other_languages(language, statement, bindings):
    """The module is written with dots, whatever the language writes between its parts."""
    assert sorted(bound(language, statement)) == sorted(bindings)


def test_a_binding_has_the_line_of_its_name():
    """In a list over several lines each name has its own."""
    assert [one.line for one in bindings_of("python", "from a import (\n  b,\n  c,\n)", 7)] == [8, 9]
    assert [one.line for one in bindings_of("typescript", "import {\n  b,\n  c\n} from 'a'", 7)] == [8, 9]


def test_require_binds_and_module_exports_exports():
    """CommonJS: what is taken apart, and what is given."""
    text = "const { a, b: c } = require('./x');\nmodule.exports = { d, e: f };\nexports.g = h;\nmodule.exports = i;\n"
    have = facts_of(source_of("a.js", text.encode())).bindings
    assert [(one.local, one.module, one.name) for one in have if not one.exported] == [
        ("a", "./x", "a"),
        ("c", "./x", "b"),
    ]
    assert [(one.local, one.name) for one in have if one.exported] == [
        ("d", "d"),
        ("e", "f"),
        ("g", "h"),
        ("default", "i"),
    ]


@pytest.mark.parametrize(
    "text", ["", "import", "from", "from x", "import {", "export {", "use ;", "import (", "using", "\0"]
)
@pytest.mark.parametrize(
    "language", ["python", "typescript", "go", "rust", "java", "csharp", "php", "haskell", "dart", "sql"]
)
def test_what_is_no_import_raises_nothing(language, text):
    """Statements of files that are being written."""
    bindings_of(language, text, 1)


# Which file a module is


@pytest.mark.parametrize(
    ("importer", "name", "paths", "found"),
    [
        ("a/b.py", "a.c", ["a/__init__.py", "a/c.py"], "a/c.py"),
        ("tests/t.py", "a.c", ["src/a/__init__.py", "src/a/c.py"], "src/a/c.py"),
        ("a/b.py", "c", ["a/__init__.py", "a/c.py"], ""),
        ("a/b.py", "c", ["a/c.py"], "a/c.py"),
        ("t.py", "c", ["a/__init__.py", "a/c.py"], ""),
        ("a/b.py", ".c", ["a/c.py"], "a/c.py"),
        ("a/b.py", ".", ["a/__init__.py"], "a/__init__.py"),
        ("a/d/b.py", "..c", ["a/c/__init__.py"], "a/c/__init__.py"),
        ("x/a/t.py", "m", ["x/m.py", "y/m.py"], "x/m.py"),
        ("t.py", "os.path", ["a/path.py"], ""),
    ],
)
def test_python_modules(importer, name, paths, found):
    """Relative ones by the folder; absolute ones from a folder that is no package itself, the nearest first.

    So a module of a package is none of its siblings' (`import json` in a package that has a `json` of its own).
    """
    assert module(importer, name, *paths, family="python") == found


@pytest.mark.parametrize(
    ("importer", "name", "paths", "found"),
    [
        ("a/b.ts", "./c", ["a/c.ts"], "a/c.ts"),
        ("a/b.ts", "./c", ["a/c/index.tsx"], "a/c/index.tsx"),
        ("a/b.ts", "./c.js", ["a/c.ts"], "a/c.ts"),
        ("a/b.ts", "./c.js", ["a/c.ts", "a/c.js"], "a/c.js"),
        ("a/b.ts", "../c.vue", ["c.vue"], "c.vue"),
        ("a/b.ts", ".", ["a/index.ts"], "a/index.ts"),
        ("a/b.ts", "../../../etc/passwd", ["etc/passwd.ts"], ""),
        ("a/b.ts", "react", ["react.ts"], ""),
        ("p/a/b.ts", "@/c", ["p/src/c.ts"], "p/src/c.ts"),
        ("p/a/b.ts", "src/c", ["p/src/c.ts"], "p/src/c.ts"),
    ],
)
def test_script_modules(importer, name, paths, found):
    """Without suffix, with that of what is built, folders with an index, and never out of the tree."""
    assert module(importer, name, *paths) == found


def test_packages_of_a_workspace_are_found_by_their_names():
    """By package.json: its main module where that is source, `src/index` where it is built, and modules inside."""
    manifest = {"packages/core/package.json": '{"name": "@x/core", "main": "dist/index.js"}'}
    paths = ["packages/core/src/index.ts", "packages/core/src/deep.ts"]
    assert module("app/a.ts", "@x/core", *paths, **manifest) == "packages/core/src/index.ts"
    assert module("app/a.ts", "@x/core/deep", *paths, **manifest) == "packages/core/src/deep.ts"
    assert module("app/a.ts", "@x/other", *paths, **manifest) == ""


def test_paths_of_a_tsconfig_are_followed():
    """With comments and trailing commas, from its folder downwards, the deepest configuration first."""
    config = '{ // why\n "compilerOptions": { "baseUrl": ".", "paths": { "#lib/*": ["lib/*"], "exact": ["lib/b"], }, }, }'
    texts = {"p/tsconfig.json": config}
    assert module("p/src/a.ts", "#lib/b", "p/lib/b.ts", **texts) == "p/lib/b.ts"
    assert module("p/src/a.ts", "exact", "p/lib/b.ts", **texts) == "p/lib/b.ts"
    assert module("p/src/a.ts", "exactly", "p/lib/b.ts", **texts) == ""
    assert module("q/a.ts", "#lib/b", "p/lib/b.ts", **texts) == ""


@pytest.mark.parametrize(
    "text", ['{"compilerOptions": 1}', '{"compilerOptions": {"paths": {"a": 1, "b": [2]}}}', "{", "//"]
)
def test_a_damaged_configuration_is_passed_over(text):
    """tsconfig.json files, too."""
    assert module("a.ts", "b", "c.ts", **{"tsconfig.json": text}) == ""


@pytest.mark.parametrize("text", ["{", "[]", '{"name": 1}', '{"name": "p", "main": 1}', "[" * 10_000])
def test_a_damaged_manifest_is_passed_over(text):
    """package.json files are data of whoever wrote the tree."""
    assert module("a.ts", "q", "b.ts", **{"p/package.json": text}) == ""


def test_go_packages_are_folders_of_the_module():
    """By go.mod, also where it is not at the top."""
    view = view_of([source_of("m/go.mod", b"module example.com/m\n"), source_of("m/a/b.go", b"package a\n")])
    modules = Modules(view)
    assert modules.folder("example.com/m/a") == "m/a"
    assert modules.folder("example.com/m") == "m"
    assert modules.folder("example.com/mm") is None
