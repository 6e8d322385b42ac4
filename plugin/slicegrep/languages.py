"""The one table of languages: which suffix is which, where its grammar is, and what a test file is."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["LANGUAGES", "SCRIPTED", "SUFFIXES", "Language", "family_of", "is_test_path", "language_of"]


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `suffixes` are lower case with their dot; the grammar is imported by who parses, never here.

    `grammar_module` is "" where the project reads the language by patterns or by its script blocks.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar_module: str
    grammar_function: str = "language"
    line_comment: str = "//"
    block_comment: tuple[str, str] = ("/*", "*/")
    file_names: tuple[str, ...] = ()
    """Whole file names (lower case) that carry no telling suffix."""
    interpreters: tuple[str, ...] = ()
    """Names of interpreters on a `#!` line, without a version."""


_NONE = ("", "")

_TABLE = (
    Language(
        "python",
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python",
        line_comment="#",
        block_comment=_NONE,
        interpreters=("python", "pypy"),
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        interpreters=("node", "nodejs", "bun"),
    ),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        "language_typescript",
        interpreters=("deno", "tsx", "ts-node"),
    ),
    Language("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx"),
    Language("go", (".go",), "tree_sitter_go"),
    Language("rust", (".rs",), "tree_sitter_rust"),
    Language("java", (".java",), "tree_sitter_java"),
    Language("c", (".c", ".h"), "tree_sitter_c"),
    Language(
        "cpp",
        (
            ".cc",
            ".cpp",
            ".cxx",
            ".c++",
            ".hh",
            ".hpp",
            ".hxx",
            ".h++",
            ".ipp",
            ".inl",
            ".tpp",
            ".txx",
            ".cppm",
            ".ixx",
            ".cu",
            ".cuh",
            ".ino",
        ),
        "tree_sitter_cpp",
    ),
    Language("csharp", (".cs", ".csx"), "tree_sitter_c_sharp"),
    Language(
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru"),
        "tree_sitter_ruby",
        line_comment="#",
        block_comment=("=begin", "=end"),
        file_names=("rakefile", "gemfile", "guardfile", "vagrantfile", "podfile", "fastfile"),
        interpreters=("ruby", "jruby"),
    ),
    Language("php", (".php", ".phtml"), "tree_sitter_php", "language_php", interpreters=("php",)),
    Language("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    Language("swift", (".swift",), "tree_sitter_swift", interpreters=("swift",)),
    Language("scala", (".scala", ".sc"), "tree_sitter_scala", interpreters=("scala", "amm")),
    Language(
        "bash",
        (".sh", ".bash", ".zsh", ".ksh", ".bats"),
        "tree_sitter_bash",
        line_comment="#",
        block_comment=_NONE,
        file_names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zprofile"),
        interpreters=("sh", "bash", "dash", "zsh", "ksh", "ash", "bats"),
    ),
    Language(
        "lua",
        (".lua",),
        "tree_sitter_lua",
        line_comment="--",
        block_comment=("--[[", "]]"),
        interpreters=("lua", "luajit"),
    ),
    Language(
        "elixir",
        (".ex", ".exs"),
        "tree_sitter_elixir",
        line_comment="#",
        block_comment=_NONE,
        interpreters=("elixir",),
    ),
    Language(
        "haskell",
        (".hs",),
        "tree_sitter_haskell",
        line_comment="--",
        block_comment=("{-", "-}"),
        interpreters=("runhaskell", "runghc"),
    ),
    Language("zig", (".zig",), "tree_sitter_zig", block_comment=_NONE),
    Language("dart", (".dart",), "tree_sitter_dart"),
    Language("sql", (".sql",), "", line_comment="--"),
    Language("vue", (".vue",), "", block_comment=("<!--", "-->")),
    Language("svelte", (".svelte",), "", block_comment=("<!--", "-->")),
)

LANGUAGES: dict[str, Language] = {language.name: language for language in _TABLE}
"""Every language by its name."""

_BY_SUFFIX = {suffix: language.name for language in _TABLE for suffix in language.suffixes}
_BY_FILE_NAME = {name: language.name for language in _TABLE for name in language.file_names}
_BY_INTERPRETER = {name: language.name for language in _TABLE for name in language.interpreters}

SUFFIXES: frozenset[str] = frozenset(_BY_SUFFIX)
"""Every suffix of source code, lower case, with its dot. The launcher keeps a copy."""

_CPP_HEADER = (
    r"^[ \t]*(?:template[ \t]*<|namespace(?:[ \t]+[\w:]+)?[ \t]*(?:\{|$)|using[ \t]+[\w:]+"
    r"|(?:public|private|protected)[ \t]*:|(?:enum[ \t]+)?class[ \t]+[\w \t:]+(?:[;:{<]|final\b|$)"
    r"|(?:constexpr|virtual|explicit|inline[ \t]+constexpr)\b"
    r"|\#[ \t]*include[ \t]*<(?:algorithm|array|atomic|chrono|functional|iostream|map|memory|mutex|optional"
    r"|ostream|set|string|string_view|type_traits|unordered_map|utility|vector|c(?:stdint|stddef|string))>)"
    r"|\bstd::|\bnullptr\b|\bstatic_cast<"
)
_SHEBANG = r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*(?:\w+=\S*[ \t]+)*)?(?:\S*/)?([A-Za-z][A-Za-z+-]*)"


def language_of(path: str, head: str = "") -> str:
    """Name the language in `LANGUAGES`: "" when the path is not source code.

    `head` is the file's text or its first lines. With it a `.h` that looks like C++ is `cpp` (else `c`), and a
    file without a suffix is known by its `#!` line. Case does not matter, but for `.C` and `.H`, which are C++.
    """
    name = _file_name(path)
    dot = name.rfind(".")
    suffix = name[dot:] if dot > 0 else ""
    if suffix in (".C", ".H"):
        return "cpp"
    found = _BY_SUFFIX.get(suffix.lower(), "")
    if found == "c" and suffix == ".h" and head and re.search(_CPP_HEADER, head, re.MULTILINE):
        return "cpp"
    if found:
        return found
    found = _BY_FILE_NAME.get(name.lower(), "")
    if not found and not suffix and head.startswith("#!"):
        shebang = re.match(_SHEBANG, head)
        found = _BY_INTERPRETER.get(shebang.group(1), "") if shebang else ""
    return found


SCRIPTED = frozenset({"vue", "svelte"})
"""Languages whose code stands in script blocks."""
_FAMILIES = {
    "script": ("javascript", "typescript", "tsx", *SCRIPTED),
    "c": ("c", "cpp"),
    "jvm": ("java", "kotlin", "scala"),
}
_FAMILY_OF = {language: family for family, languages in _FAMILIES.items() for language in languages}


def family_of(language: str) -> str:
    """Return the family of a language, those that call each other: `script`, `c`, `jvm`, or itself."""
    return _FAMILY_OF.get(language, language)


_TEST_FOLDERS = frozenset(
    {"test", "tests", "__tests__", "spec", "specs", "testing", "testdata", "e2e", "androidtest", "unittests"}
)
_TEST_NAMES = frozenset({"conftest", "test", "tests"})
_TEST_NAME = r"(?i:test_.|.+_tests?$|.+_spec$|.+[.-](?:test|tests|spec|e2e|cy)$)|.*[a-z0-9](?:Tests?|TestCase|Spec|IT)$|Test[A-Z]"


def is_test_path(path: str) -> bool:
    """Whether a file holds tests, by its path alone: the one definition of a test file.

    Folders count as well as the name (`tests/`, `__tests__/`, `src/test/`; `test_x.py`, `x_test.go`, `x.spec.ts`,
    `FooTest.java`), so hand in a path relative to the workspace: a project kept under `/home/me/tests/` is no test.
    """
    parts = path.replace("\\", "/").split("/")
    if not _TEST_FOLDERS.isdisjoint(part.lower() for part in parts[:-1]):
        return True
    stem = parts[-1]
    dot = stem.rfind(".")
    if dot > 0:
        stem = stem[:dot]
    return stem.lower() in _TEST_NAMES or re.match(_TEST_NAME, stem) is not None


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
