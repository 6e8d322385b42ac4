"""The references of a file: what counts as one, by what it is called, and what its receiver stands for."""

from __future__ import annotations

import time

import pytest
from slicegrep.graph.facts import FileFacts
from slicegrep.graph.uses import facts_of
from slicegrep.languages import LANGUAGES
from slicegrep.source import source_of

SUFFIX = {"typescript": "a.ts", "python": "a.py", "javascript": "a.js", "tsx": "a.tsx"}


def facts(text: str, language: str = "python") -> FileFacts:
    return facts_of(source_of(SUFFIX.get(language, "a"), text.encode(), language))


def found(text: str, language: str = "python") -> set[tuple[str, str, str]]:
    """Return kind, receiver and name of each reference."""
    return {(use.kind, use.receiver, use.name) for use in facts(text, language).uses}


def receivers(text: str, name: str, language: str = "python") -> list[str]:
    return [use.receiver for use in facts(text, language).uses if use.name == name]


# What is a reference


def test_calls_bases_decorators_values_and_types_are_references_of_their_kinds():
    """Each of the ways in which Python code refers to a definition is found, and named for what it is."""
    text = "@wrap(1)\nclass A(mod.Base):\n    x: Kind = make()\n\nregister(handler)\n"
    assert found(text) == {
        ("call", "", "wrap"),
        ("reference", "", "mod"),
        ("inheritance", "mod", "Base"),
        ("reference", "", "Kind"),
        ("call", "", "make"),
        ("call", "", "register"),
        ("reference", "", "handler"),
    }


def test_a_local_name_is_no_reference():
    """Parameters, variables, loop names and those of comprehensions hide what is defined elsewhere under their name."""
    text = "def f(a):\n    b = 1\n    for c in x:\n        g(a, b, c)\n    return [d for d in y] + [lambda e: e]\n"
    assert {name for _, _, name in found(text)} == {"x", "g", "y"}


def test_a_name_is_hidden_in_its_function_only():
    """The same name outside of the function refers to the module's."""
    assert [use.line for use in facts("def f(a):\n    return a\n\na()\n").uses] == [4]


def test_a_function_that_is_nested_is_referred_to_by_its_line():
    """A nested definition hides the module's of the same name, and is itself a definition."""
    assert receivers("def g():\n    def f():\n        pass\n    f()\n\n\nf()\n", "f") == ["@2", ""]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("typescript", "interface A<T> { m(x: T): U }"),
        ("java", "class A<T> { U m(T x) { } }"),
        ("rust", "impl<T> A<T> { fn m(x: T) -> U { } }"),
        ("kotlin", "class A<T> { fun m(x: T): U { } }"),
    ],
)
def test_a_type_parameter_hides_what_is_called_like_it(language, text):
    """The class's own T is no reference to a definition T."""
    names = {name for _, _, name in found(text, language)}
    assert "U" in names
    assert "T" not in names


def test_keyword_arguments_and_object_keys_are_no_references():
    """They name parameters and properties of who knows what."""
    assert found("f(key=value)\n") == {("call", "", "f"), ("reference", "", "value")}
    assert found("f({ key: value, short });\n", "javascript") == {
        ("call", "", "f"),
        ("reference", "", "value"),
        ("reference", "", "short"),
    }


def test_types_in_strings_are_references():
    """`"pkg.T"` as an annotation refers to T."""
    assert ("reference", "pkg", "T") in found('def f(a: "pkg.T"): ...\n')


def test_lines_and_columns_are_those_of_the_name():
    """Of a chain over several lines, each name has its own line."""
    uses = facts("(a\n    .b()\n    .c())\n").uses
    assert [(use.name, use.line, use.column) for use in uses] == [("a", 1, 1), ("b", 2, 5), ("c", 3, 5)]


# What a receiver stands for


@pytest.mark.parametrize(
    ("body", "receiver"),
    [
        ("x = Foo()\n    x.m()", "Foo()"),
        ("x: Foo = y\n    x.m()", "<Foo>"),
        ("x = 'text'\n    x.m()", "''"),
        ("x = y\n    x.m()", "y"),
        ("with Foo() as x:\n        x.m()", "Foo()[w]"),
        ("for x in items:\n        x.m()", "items[]"),
        ("x = a.b(1).c[0]\n    x.m()", "a.b().c[]"),
        ("x = Foo()\n    x = x.again()\n    x.m()", "?"),
        ("x = f()\n    z = x.g\n    z.m()", "f().g"),
        ("x = a + b\n    x.m()", "''"),
    ],
)
def test_a_local_receiver_is_replaced_by_what_it_was_given(body, receiver):
    """So that its class can be found outside of the function."""
    assert receivers(f"def f():\n    {body}\n", "m") == [receiver]


@pytest.mark.parametrize(
    ("annotation", "receiver"),
    [
        ("Foo", "<Foo>"),
        ("'Foo'", "<Foo>"),
        ("pkg.Foo", "<pkg.Foo>"),
        ("Optional[Foo]", "<Foo>"),
        ("Foo | None", "<Foo>"),
        ("Foo | Bar", "<Foo|Bar>"),
        ("list[Foo]", "<Foo*>"),
        ("dict[str, Foo]", "<Foo*>"),
        ("type[Foo]", "<Foo>.__class__"),
        ("Callable[[int], Foo]", "<Callable>"),
    ],
)
def test_a_parameter_has_the_value_of_its_annotation(annotation, receiver):
    """Containers are told from what they hold."""
    assert receivers(f"def f(x: {annotation}):\n    x.m()\n", "m") == [receiver]


def test_what_is_caught_has_the_class_of_its_clause():
    """`except Foo as e` gives a value of Foo, not Foo itself."""
    assert receivers("def f():\n    try:\n        g()\n    except Foo as e:\n        e.m()\n", "m") == [
        "<Foo>"
    ]


def test_self_and_cls_are_the_class_around_and_static_methods_have_none():
    """Whatever the first parameter is called, and annotated or not."""
    text = (
        "class A:\n    def f(this: T):\n        this.m()\n    @classmethod\n    def g(cls):\n        cls.m()\n"
        "    @staticmethod\n    def h(self):\n        self.m()\n"
    )
    assert receivers(text, "m") == ["self", "cls", "?self"]


def test_attributes_of_self_are_known_by_what_they_were_given():
    """A declared type counts more than a value, a value more than `None`."""
    text = "class A:\n    z: Z\n    def f(self, p: P):\n        self.a = None\n        self.a = Foo()\n        self.p = p\n"
    assert facts(text).fields[1] == {"z": "<Z>", "a": "Foo()", "p": "<P>"}


def test_what_a_function_returns_is_declared_or_inferred():
    """By its annotation, else by its only returned value."""
    text = "def a() -> Foo: ...\n\n\ndef b():\n    x = Foo()\n    return x\n\n\ndef c():\n    if d:\n        return e()\n    return g()\n"
    assert facts(text).returns == {1: "<Foo>", 4: "Foo()"}


# Languages


CALLS = {
    "javascript": "class A extends B { m() { this.n(); super.m(); new C(); f(g); } }",
    "typescript": "class A extends B implements I { x: T = new C(); m(p: T) { p.walk(); this.n(); f(g); } }",
    "tsx": "const a = (h) => <Foo onClick={g}>{f()}</Foo>;",
    "go": "package p\n\nfunc (a *A) m(p T) { a.n(); p.walk(); f(g) }\n",
    "rust": "impl B for A { fn m(&self, p: &T) { self.n(); p.walk(); f(g); } }",
    "java": "class A extends B { T t = new C(); R m(T p) { p.walk(); this.n(); f(g); } }",
    "c": "static int m(T *p) { p->walk(1); return f(g); }",
    "cpp": "class A : public B { int m(T &p) { p.walk(); this->n(); return f(g); } };",
    "csharp": "class A : B { R m(T p) { p.walk(); this.n(); f(g); } }",
    "kotlin": "class A : B() { fun m(p: T): R { p.walk(); this.n(); f(g) } }",
    "swift": "class A: B { func m(p: T) -> R { p.walk(); self.n(); f(g) } }",
    "scala": "class A extends B { def m(p: T): R = { p.walk(); this.n(); f(g) } }",
    "php": "<?php class A extends B { function m(T $p) { $p->walk(); $this->n(); f(g); } }",
    "dart": "class A extends B { R m(T p) { p.walk(); this.n(); f(g); } }",
    "ruby": "class A < B\n  def m(p)\n    x = T.new\n    x.go\n    self.n\n    f(1)\n  end\nend\n",
    "lua": "function A.m(p)\n  p.walk()\n  self.n()\n  f(g)\nend\n",
    "bash": "m() {\n  f g\n}\n",
    "elixir": "defmodule A do\n  def m(p) do\n    f(g)\n    B.n(p)\n  end\nend\n",
    "haskell": "m x = f (g x)\n",
    "zig": "fn m(p: T) void { p.walk(); f(g); }",
    "sql": "SELECT f(x) FROM g;\n",
    "vue": "<template/>\n<script lang='ts'>\nf(g);\n</script>\n",
    "svelte": "<script>\nf(g);\n</script>\n",
}


@pytest.mark.parametrize("language", sorted(CALLS))
def test_a_plain_call_is_found_in_every_language(language):
    """`f` is referred to, as a call where the grammar can tell."""
    uses = [use for use in facts(CALLS[language], language).uses if use.name == "f"]
    assert uses, language
    assert uses[0].receiver == ""
    if language not in ("dart", "bash", "haskell"):
        assert uses[0].kind == "call"


def test_the_languages_of_this_test_are_all_there_are():
    """A language that is added needs rules here, too."""
    assert set(CALLS) | {"python"} == set(LANGUAGES)


@pytest.mark.parametrize(
    "language",
    sorted(
        set(CALLS)
        & {"typescript", "go", "rust", "java", "c", "cpp", "csharp", "kotlin", "swift", "scala", "php", "zig"}
    ),
)
def test_a_typed_parameter_is_a_receiver_of_its_type(language):
    """`p.walk()` where `p` was declared as a T."""
    assert receivers(CALLS[language], "walk", language)[0] == "<T>"


@pytest.mark.parametrize(
    "language",
    sorted(
        set(CALLS)
        & {
            "javascript",
            "typescript",
            "rust",
            "java",
            "cpp",
            "csharp",
            "kotlin",
            "swift",
            "scala",
            "php",
            "dart",
            "ruby",
            "lua",
        }
    ),
)
def test_the_object_around_is_called_self_in_every_language(language):
    """`this.n()`, `self.n()`, `$this->n()`."""
    assert "self" in receivers(CALLS[language], "n", language)


@pytest.mark.parametrize(
    "language",
    sorted(
        set(CALLS)
        & {
            "javascript",
            "typescript",
            "rust",
            "java",
            "cpp",
            "csharp",
            "kotlin",
            "swift",
            "scala",
            "php",
            "dart",
            "ruby",
        }
    ),
)
def test_a_base_class_is_a_reference_by_inheritance(language):
    """And is remembered as a base of the class whose name stands in that line."""
    have = facts(CALLS[language], language)
    assert ("inheritance", "B") in {(use.kind, use.name) for use in have.uses}
    assert any("B" in bases for bases in have.bases.values())


def test_the_lines_of_a_script_block_are_those_of_its_file():
    """A Vue file's script is read where it stands."""
    assert [use.line for use in facts(CALLS["vue"], "vue").uses if use.name == "f"] == [3]


# Bad input


def test_nothing_is_found_in_what_is_no_code():
    """Documentation and data have no references."""
    assert facts_of(source_of("a.md", b"f(x)")) == FileFacts()


def test_a_minified_file_is_left_out_and_says_so():
    """One line of 100 kB is no program that a person asks about."""
    have = facts("f(x);" * 20_000, "javascript")
    assert have.uses == ()
    assert have.causes == ("minified files were left out",)


def test_a_file_that_takes_too_long_says_so():
    """No time at all: nothing is found, and the cause is named."""
    source = source_of("a.py", b"f(x)\n" * 100_000)
    assert facts_of(source, seconds=0.0).causes == ("a file took too long to parse",)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(:\n  class (\n f(x\n"),
        ("python", "x = " + "(" * 5_000 + "y" + ")" * 5_000),
        ("python", "a" + ".b" * 5_000 + "()"),
        ("javascript", "a" + ".b(c, d)" * 3_000),
        ("javascript", "f(" * 5_000 + ")" * 5_000),
        ("typescript", "let x: " + "A<" * 3_000 + ">" * 3_000),
        ("java", "class A { void f() { " + "x.y(" * 3_000),
        ("kotlin", "val a = " + "b(" * 3_000),
        ("python", "\n".join(" " * n + "def f():" for n in range(1_000))),
        ("python", "def f():\n" + "    x = g()\n    x.m()\n" * 5_000),
        ("c", "#if 0\n}}}\n#endif\nint f(void) {\n\udcff\ud800"),
    ],
)
def test_odd_code_is_read_in_time_and_raises_nothing(language, text):
    """Broken, deeply nested and repetitive code."""
    begin = time.process_time()
    facts_of(source_of("a", text.encode("utf-8", "surrogatepass"), language))
    assert time.process_time() - begin < 8
