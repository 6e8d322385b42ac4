"""The language table: which path is source code, and which holds tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from slicegrep.languages import LANGUAGES, SUFFIXES, is_test_path, language_of

PLUGIN = Path(__file__).resolve().parent.parent / "plugin"

PROMISED = [
    "python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php", "kotlin",
    "swift", "scala", "bash", "lua", "elixir", "haskell", "zig", "dart", "sql", "vue", "svelte",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/core.py", "python"),
        ("core.pyi", "python"),
        ("a/b.jsx", "javascript"),
        ("a.mjs", "javascript"),
        ("a.d.ts", "typescript"),
        ("a.mts", "typescript"),
        ("A.tsx", "tsx"),
        ("main.go", "go"),
        ("lib.rs", "rust"),
        ("A.java", "java"),
        ("a.c", "c"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.cc", "cpp"),
        ("a.C", "cpp"),
        ("A.cs", "csharp"),
        ("a.rb", "ruby"),
        ("Rakefile", "ruby"),
        ("x/Gemfile", "ruby"),
        ("a.php", "php"),
        ("a.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("a.swift", "swift"),
        ("a.scala", "scala"),
        ("a.sh", "bash"),
        (".bashrc", "bash"),
        ("a.lua", "lua"),
        ("a.exs", "elixir"),
        ("A.hs", "haskell"),
        ("a.zig", "zig"),
        ("a.dart", "dart"),
        ("a.sql", "sql"),
        ("A.vue", "vue"),
        ("A.svelte", "svelte"),
        ("A.PY", "python"),
        (r"C:\src\a.py", "python"),
        ("README.md", ""),
        ("a.json", ""),
        ("a.yaml", ""),
        ("notebook.ipynb", ""),
        ("a.py.bak", ""),
        (".py", ""),
        ("py", ""),
        ("Makefile", ""),
        ("", ""),
        ("a.py/", ""),
    ],
)
def test_a_path_names_its_language(path: str, language: str) -> None:
    """The suffix, or a known whole file name, decides; anything else is not source code."""
    assert language_of(path) == language


@pytest.mark.parametrize(
    "head",
    [
        "#pragma once\nclass Foo : public Bar {\n",
        "namespace a::b {\n",
        "template <typename T>\nstruct X {};\n",
        "#include <vector>\n",
        "struct A {\n  std::string s;\n};\n",
        "enum class E { A };\n",
        "struct A {\n private:\n  int x;\n};\n",
    ],
)
def test_a_header_with_cpp_in_it_is_cpp(head: str) -> None:
    """A `.h` file is C++ when its text says so."""
    assert language_of("a.h", head) == "cpp"


@pytest.mark.parametrize(
    "head",
    [
        '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n',
        "/*\n * class of devices, see the namespace document\n */\nstruct a { int class_id; };\n",
        "#include <stdint.h>\ntypedef struct { int a; } b_t;\n",
        "",
    ],
)
def test_a_header_without_cpp_in_it_is_c(head: str) -> None:
    """Words in comments and `extern "C"` guards do not make a header C++."""
    assert language_of("a.h", head) == "c"


@pytest.mark.parametrize(
    ("head", "language"),
    [
        ("#!/usr/bin/env python3\n", "python"),
        ("#!/usr/bin/python3.11 -E\n", "python"),
        ("#!/bin/sh\n", "bash"),
        ("#!/usr/bin/env -S node --no-warnings\n", "javascript"),
        ("#! /usr/bin/env ruby\n", "ruby"),
        ("#!/usr/bin/perl\n", ""),
        ("import os\n", ""),
    ],
)
def test_a_script_without_a_suffix_is_known_by_its_first_line(head: str, language: str) -> None:
    """The interpreter on a `#!` line names the language."""
    assert language_of("bin/tool", head) == language


def test_a_first_line_does_not_overrule_a_suffix() -> None:
    """A text file that happens to begin with `#!` stays what its suffix says."""
    assert language_of("notes.txt", "#!/bin/sh\n") == ""


@pytest.mark.parametrize(
    "path",
    [
        "tests/helpers.py",
        "test_core.py",
        "pkg/core_test.go",
        "src/test/java/a/Foo.java",
        "a/FooTest.java",
        "a/FooTests.cs",
        "a/TestFoo.java",
        "a/FooIT.java",
        "src/a.test.ts",
        "src/a.spec.tsx",
        "src/__tests__/a.js",
        "spec/models/a_spec.rb",
        "conftest.py",
        r"pkg\tests\a.py",
        "a/FooSpec.scala",
        "cypress/e2e/login.js",
    ],
)
def test_test_files_are_known_by_their_path(path: str) -> None:
    """Folder names and the naming habits of each language count."""
    assert is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/contest.py",
        "latest.py",
        "src/attest.go",
        "protest/a.js",
        "a/Testament.py",
        "src/spectrum.ts",
        "greatest/x.rs",
        "core.py",
        "",
    ],
)
def test_names_that_only_contain_the_word_are_no_tests(path: str) -> None:
    """`latest`, `contest` and their like are ordinary files."""
    assert not is_test_path(path)


def test_every_promised_language_is_in_the_table() -> None:
    """The table holds each language that the README names, and nothing else."""
    assert sorted(LANGUAGES) == sorted(PROMISED)


def test_no_suffix_belongs_to_two_languages() -> None:
    """One suffix, one language; all lower case, with the dot."""
    suffixes = [suffix for language in LANGUAGES.values() for suffix in language.suffixes]
    assert len(suffixes) == len(set(suffixes)) == len(SUFFIXES)
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)


def test_importing_the_table_imports_no_grammar() -> None:
    """Who only asks for a language pays for no parser."""
    code = "import sys, slicegrep.languages; print([m for m in sys.modules if 'tree_sitter' in m])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PLUGIN)},
    )
    assert ran.stdout.strip() == "[]"
