"""Resolution: which definition a reference is to, and how sure that is said to be."""

from __future__ import annotations

import time

import pytest
from graph_tree import callees, callers
from slicegrep.graph.parser_tier import ParserTier
from slicegrep.index import view_of
from slicegrep.source import source_of

SURE = 0.8
"""From here on an edge is to be right nine times in ten."""


def sure(edges: dict[str, float]) -> set[str]:
    return {name for name, confidence in edges.items() if confidence >= SURE}


def unsure(edges: dict[str, float]) -> set[str]:
    return {name for name, confidence in edges.items() if confidence < SURE}


# Names


def test_a_name_of_the_same_module_is_its_definition_and_no_other_modules():
    """Two modules with a `helper` each."""
    texts = {
        "a.py": "def helper(): ...\n\n\ndef f():\n    helper()\n",
        "b.py": "def helper(): ...\n\n\ndef g():\n    helper()\n",
    }
    assert callers(texts, "a.py", "helper") == {"a.py#f": 0.96}


def test_an_imported_name_is_that_of_its_module_also_under_another_name():
    """`from a import helper as h`; a module that only mentions the name is none of it."""
    texts = {
        "a.py": "def helper(): ...\n",
        "b.py": "from a import helper as h\n\n\ndef f():\n    h()\n",
        "c.py": "def f(helper):\n    helper()\n",
        "d.py": "from other import helper\n\n\ndef f():\n    helper()\n",
    }
    assert sure(callers(texts, "a.py", "helper")) == {"b.py#", "b.py#f"}
    assert callers(texts, "a.py", "helper").keys() == {"b.py#", "b.py#f"}


def test_an_import_in_a_function_hides_the_name_that_its_file_defines():
    """`pformat` that hands on to the one of pprint does not call itself; another function does call it."""
    text = "def pformat(x):\n    from pprint import pformat\n\n    return pformat(x)\n\n\ndef g():\n    pformat(1)\n"
    assert callers({"a.py": text}, "a.py", "pformat").keys() == {"a.py#g"}
    text = text.replace("pprint", "b")
    texts = {"a.py": text, "b.py": "def pformat(x): ...\n"}
    assert sure(callers(texts, "b.py", "pformat")) == {"a.py#pformat"}


def test_of_several_namespaces_the_one_around_is_meant():
    """Each has its own type of that name; outside of them it may be any."""
    text = "namespace a {\n  export type id = string;\n}\nnamespace b {\n  type id = number;\n  export function f(x: id) {}\n}\n"
    assert callers({"a.ts": text}, "a.ts", "a.id") == {}
    assert callers({"a.ts": text}, "a.ts", "b.id").keys() == {"a.ts#b.f"}


@pytest.mark.parametrize(
    "use",
    [
        "import p.a\n\n\ndef f():\n    p.a.helper()\n",
        "import p.a as q\n\n\ndef f():\n    q.helper()\n",
        "from p import a\n\n\ndef f():\n    a.helper()\n",
        "from p import helper\n\n\ndef f():\n    helper()\n",
        "from p import *\n\n\ndef f():\n    helper()\n",
        "import p\n\n\ndef f():\n    p.helper()\n",
        "def f():\n    from p.a import helper\n    helper()\n",
        "from p import a\n\n\ndef f():\n    again = a.helper\n    again()\n",
    ],
)
def test_a_name_is_found_through_modules_packages_and_what_they_pass_on(use):
    """A package whose `__init__` passes on what a module of it defines."""
    texts = {"p/__init__.py": "from .a import helper\n", "p/a.py": "def helper(): ...\n", "u.py": use}
    assert "u.py#f" in sure(callers(texts, "p/a.py", "helper"))


def test_modules_that_import_each_other_end():
    """Star imports in a circle."""
    texts = {
        "a.py": "from b import *\n",
        "b.py": "from a import *\n",
        "c.py": "from a import *\n\n\ndef f():\n    g()\n",
        "d.py": "def g(): ...\n",
    }
    assert callers(texts, "d.py", "g") == {}


@pytest.mark.parametrize(
    "use",
    [
        "import { helper } from './p';\nexport function f() { helper(); }\n",
        "import { other as o } from './p';\nexport function f() { o(); }\n",
        "import h from './p/a';\nexport function f() { h(); }\n",
        "import * as n from './p';\nexport function f() { n.helper(); }\n",
        "const { helper } = require('./p/a');\nfunction f() { helper(); }\n",
        "const f = () => require('./p/a').helper();\n",
    ],
)
def test_a_script_name_is_found_through_index_files_and_renaming_exports(use):
    """`export *`, `export { a as b }`, default exports, require."""
    texts = {
        "p/index.ts": "export * from './a';\nexport { helper as other } from './a';\n",
        "p/a.ts": "export default function helper() {}\n",
        "u.ts": use,
    }
    assert "u.ts#f" in sure(callers(texts, "p/a.ts", "helper"))


def test_what_commonjs_exports_is_what_others_require():
    """`module.exports = f`, called as whatever it was bound to."""
    texts = {
        "a.js": "function build() {}\nmodule.exports = build;\n",
        "b.js": "const make = require('./a');\nfunction g() { make(); }\n",
    }
    assert callers(texts, "a.js", "build").get("b.js#g", 0) >= SURE


def test_builtin_and_foreign_names_are_no_edges():
    """`print` of the language and `get` of a package that is not in the tree, though the tree has such names."""
    texts = {
        "a.py": "def get(): ...\n\n\nclass A:\n    def print(self): ...\n",
        "b.py": "import requests\n\n\ndef f():\n    print(requests.get('x'))\n    ''.join([])\n",
    }
    assert callees(texts, "b.py", "f") == {}


# Members


def test_self_is_the_class_around_and_its_bases():
    """A method of the class, one of its base in another module, and one through super()."""
    texts = {
        "a.py": "class Base:\n    def m(self): ...\n\n    def n(self): ...\n",
        "b.py": "import a\n\n\nclass A(a.Base):\n    def n(self):\n        super().n()\n\n    def f(self):\n        self.m()\n        self.n()\n",
    }
    assert sure(callers(texts, "a.py", "Base.m")) == {"b.py#A.f"}
    assert sure(callers(texts, "a.py", "Base.n")) == {"b.py#A.n"}
    assert sure(callers(texts, "b.py", "A.n")) == {"b.py#A.f"}


@pytest.mark.parametrize(
    "body",
    [
        "x = Foo()\n    x.m()",
        "Foo().m()",
        "Foo.m(1)",
        "make().m()",
        "built().m()",
        "Holder().foo.m()",
        "Holder().made.m()",
        "with Foo() as x:\n        x.m()",
        "for x in many():\n        x.m()",
        "many()[0].m()",
        "by_name().get('a').m()",
        "shared.m()",
        "x = Holder()\n    y = x.foo\n    y.m()",
        "Foo().chained().m()",
        "Holder().kind().m()",
        "Foo().__class__().m()",
    ],
)
def test_a_receiver_whose_class_is_known_has_its_methods(body):
    """By a constructor, a declared or inferred return value, an attribute, a container, a variable of the module."""
    texts = {
        "a.py": "class Foo:\n    def m(self): ...\n\n    def chained(self):\n        return self\n\n\nclass Bar:\n    def m(self): ...\n",
        "b.py": (
            "from a import Foo\n\nshared = Foo()\n\n\ndef make() -> Foo: ...\n\n\ndef built():\n    return Foo()\n\n\n"
            "def many() -> list[Foo]: ...\n\n\ndef by_name() -> dict[str, Foo]: ...\n\n\n"
            "class Holder:\n    foo: Foo\n    kind: type[Foo]\n\n    def __init__(self):\n        self.made = Foo()\n\n\n"
            f"def f():\n    {body}\n"
        ),
    }
    assert "b.py#f" in sure(callers(texts, "a.py", "Foo.m"))
    assert "b.py#f" not in callers(texts, "a.py", "Bar.m")


def test_a_parameter_has_the_methods_of_its_type():
    """Also where the type is imported for checking alone, and written in a string."""
    texts = {
        "a.py": "class Foo:\n    def m(self): ...\n",
        "b.py": "if TYPE_CHECKING:\n    from a import Foo\n\n\ndef f(x: 'Foo | None'):\n    x.m()\n",
    }
    assert callers(texts, "a.py", "Foo.m") == {"b.py#f": 0.93}


def test_a_receiver_that_is_not_known_is_a_guess():
    """One definition of that name: likely; the more there are, the less."""
    one = {"a.py": "class Foo:\n    def special(self): ...\n", "b.py": "def f(x):\n    x.special()\n"}
    two = one | {"c.py": "class Bar:\n    def special(self): ...\n"}
    first, second = callers(one, "a.py", "Foo.special"), callers(two, "a.py", "Foo.special")
    assert first.keys() == second.keys() == {"b.py#f"}
    assert SURE > first["b.py#f"] > second["b.py#f"] > 0


def test_a_receiver_that_is_called_like_the_class_is_a_better_guess():
    """`invoice.special()` is more likely Invoice's."""
    texts = {
        "a.py": "class Invoice:\n    def special(self): ...\n\n\nclass Bar:\n    def special(self): ...\n",
        "b.py": "def f(invoice):\n    invoice.special()\n",
    }
    assert callers(texts, "a.py", "Invoice.special").keys() == {"b.py#f"}
    assert callers(texts, "a.py", "Bar.special") == {}


def test_a_method_that_replaces_the_one_that_was_found_is_an_unsure_edge():
    """A receiver of the base class may be one of a class below."""
    texts = {
        "a.py": "class Base:\n    def m(self): ...\n\n\nclass Sub(Base):\n    def m(self): ...\n\n\ndef f(x: Base):\n    x.m()\n"
    }
    assert sure(callers(texts, "a.py", "Base.m")) == {"a.py#f"}
    assert unsure(callers(texts, "a.py", "Sub.m")) == {"a.py#f"}


def test_making_an_object_runs_its_constructor():
    """`Foo()` refers to Foo and to its `__init__`, in both directions."""
    texts = {"a.py": "class Foo:\n    def __init__(self): ...\n\n\ndef f():\n    Foo()\n"}
    assert sure(callers(texts, "a.py", "Foo")) == {"a.py#f"}
    assert sure(callers(texts, "a.py", "Foo.__init__")) == {"a.py#f"}
    assert callees(texts, "a.py", "f").keys() == {"a.py#Foo", "a.py#Foo.__init__"}


@pytest.mark.parametrize("body", ["return Foo()", "foo = Foo()\n    yield foo"])
def test_a_fixture_of_pytest_gives_a_tests_parameter_its_class(body):
    """Of the test's file or of a conftest above; a parameter of other functions is not known by its name."""
    texts = {
        "a.py": "class Foo:\n    def m(self): ...\n\n\nclass Bar:\n    def m(self): ...\n",
        "tests/conftest.py": f"import pytest\nfrom a import Foo\n\n\n@pytest.fixture\ndef thing():\n    {body}\n",
        "tests/b/test_c.py": "def test_m(thing):\n    thing.m()\n",
        "d.py": "def f(thing):\n    thing.m()\n",
    }
    edges = callers(texts, "a.py", "Foo.m")
    assert edges["tests/b/test_c.py#test_m"] == 0.75
    assert edges["d.py#f"] < 0.5
    assert "tests/b/test_c.py#test_m" not in callers(texts, "a.py", "Bar.m")


def test_a_class_body_sees_the_names_of_its_class_and_its_methods_do_not():
    """A decorator of a method, and a call in it, of the same name."""
    texts = {
        "a.py": "def x(): ...\n\n\nclass A:\n    def x(self): ...\n\n    @x.setter\n    def y(self):\n        x()\n"
    }
    assert callers(texts, "a.py", "A.x") == {"a.py#A.y": 0.95}
    assert callers(texts, "a.py", "x") == {"a.py#A.y": 0.96}


def test_a_class_that_inherits_from_itself_by_name_ends():
    """`class A(A)` after an import of A, and two classes that inherit from each other."""
    texts = {
        "a.py": "class A(B):\n    def f(self):\n        self.g()\n\n\nclass B(A):\n    def h(self): ...\n\n\nclass C(C):\n    def f(self):\n        self.g()\n"
    }
    assert callees(texts, "a.py", "A.f") == {}
    assert callees(texts, "a.py", "C.f") == {}


# Other languages

OTHERS = {
    "go": (
        {
            "go.mod": "module x\n",
            "a/a.go": "package a\n\ntype T struct{}\n\nfunc (t *T) M() {}\n\nfunc New() *T { return nil }\n",
            "b.go": 'package b\n\nimport "x/a"\n\nfunc f(t *a.T) {\n\tt.M()\n\ta.New().M()\n}\n',
        },
        ("a/a.go", "T.M", "b.go#f"),
    ),
    "go-package": (
        {
            "a/a.go": "package a\n\nfunc helper() {}\n",
            "a/b.go": "package a\n\nfunc f() { helper() }\n",
            "c/c.go": "package c\n\nfunc helper() {}\n",
        },
        ("a/a.go", "helper", "a/b.go#f"),
    ),
    "rust": (
        {
            "src/a.rs": "pub struct T;\nimpl T {\n    pub fn m(&self) {}\n}\n",
            "src/b.rs": "use crate::a::T;\nfn f(t: &T) {\n    t.m();\n}\n",
        },
        ("src/a.rs", "T::m", "src/b.rs#f"),
    ),
    "java": (
        {
            "p/T.java": "package p;\npublic class T {\n  public void m() {\n  }\n}\n",
            "q/U.java": "package q;\nimport p.T;\nclass U {\n  T t;\n  void f() {\n    t.m();\n  }\n}\n",
        },
        ("p/T.java", "T.m", "q/U.java#U.f"),
    ),
    "java-same-class": (
        {"p/T.java": "package p;\nclass T {\n  void m() {\n  }\n  void f() {\n    m();\n  }\n}\n"},
        ("p/T.java", "T.m", "p/T.java#T.f"),
    ),
    "kotlin": (
        {
            "p/T.kt": "package p\nclass T {\n    fun m() {\n    }\n}\n",
            "q/U.kt": "package q\nimport p.T\nfun f(t: T) {\n    t.m()\n}\n",
        },
        ("p/T.kt", "T.m", "q/U.kt#f"),
    ),
    "scala": (
        {
            "p/T.scala": "package p\nclass T {\n  def m(): Int = 1\n}\n",
            "q/U.scala": "package q\nimport p.T\nobject U {\n  def f(t: T): Int = t.m()\n}\n",
        },
        ("p/T.scala", "T.m", "q/U.scala#U.f"),
    ),
    "csharp": (
        {
            "T.cs": "namespace P {\nclass T {\n  void M() {\n  }\n}\n}\n",
            "U.cs": "using P;\nclass U {\n  void F(T t) {\n    t.M();\n  }\n}\n",
        },
        ("T.cs", "P.T.M", "U.cs#U.F"),
    ),
    "php": (
        {
            "p/T.php": "<?php\nnamespace P;\nclass T {\n  function m() {\n  }\n}\n",
            "u.php": "<?php\nuse P\\T;\nfunction f(T $t) {\n  $t->m();\n}\n",
        },
        ("p/T.php", "T::m", "u.php#f"),
    ),
    "c": (
        {
            "a.h": "int helper(int a);\n",
            "a.c": "int helper(int a) {\n  return a;\n}\n",
            "b.c": '#include "a.h"\nint f(void) {\n  return helper(1);\n}\n',
        },
        ("a.c", "helper", "b.c#f"),
    ),
    "cpp": (
        {
            "a.hpp": "class T {\n public:\n  void m() {\n  }\n};\n",
            "b.cpp": '#include "a.hpp"\nvoid f(T& t) {\n  t.m();\n}\n',
        },
        ("a.hpp", "T::m", "b.cpp#f"),
    ),
    "ruby": (
        {
            "a.rb": "class T\n  def m\n    1\n  end\nend\n",
            "b.rb": "class U\n  def f\n    t = T.new\n    t.m\n  end\nend\n",
        },
        ("a.rb", "T#m", "b.rb#U#f"),
    ),
    "lua": (
        {
            "a.lua": "local M = {}\nfunction M.helper()\n  return 1\nend\nreturn M\n",
            "b.lua": "local a = require('a')\nfunction f()\n  return a.helper()\nend\n",
        },
        ("a.lua", "M.helper", "b.lua#f"),
    ),
    "bash": (
        {"a.sh": "helper() {\n  echo\n}\n", "b.sh": ". ./a.sh\nf() {\n  helper x\n}\n"},
        ("a.sh", "helper", "b.sh#f"),
    ),
    "swift": (
        {"a.swift": "class T {\n  func m() {\n  }\n}\n", "b.swift": "func f(t: T) {\n  t.m()\n}\n"},
        ("a.swift", "T.m", "b.swift#f"),
    ),
    "haskell": (
        {
            "A.hs": "module A where\nhelper x = x\n",
            "B.hs": "module B where\nimport A (helper)\nf x = helper x\n",
        },
        ("A.hs", "helper", "B.hs#f"),
    ),
    "vue": (
        {
            "a.ts": "export function helper() {}\n",
            "b.vue": "<template/>\n<script setup lang='ts'>\nimport { helper } from './a'\nfunction f() {\n  helper()\n}\n</script>\n",
        },
        ("a.ts", "helper", "b.vue#f"),
    ),
}


@pytest.mark.parametrize("case", sorted(OTHERS))
def test_the_surest_caller_is_found_in_other_languages(case):
    """Through the language's own way of saying what a name is."""
    texts, (path, qualified, caller) = OTHERS[case]
    edges = callers(texts, path, qualified)
    assert edges.get(caller, 0) >= SURE, edges


@pytest.mark.parametrize(
    ("texts", "path", "qualified", "caller"),
    [
        ({"a.ex": "defmodule A.B do\n  def helper(x) do\n    x\n  end\nend\n", "b.ex": "defmodule C do\n  alias A.B\n  def f(x) do\n    B.helper(x)\n  end\nend\n"}, "a.ex", "A.B.helper", "b.ex#C.f"),
        ({"a.dart": "class T {\n  int m() {\n    return 1;\n  }\n}\n", "b.dart": "import 'a.dart';\nint f(T t) {\n  return t.m();\n}\n"}, "a.dart", "T.m", "b.dart#f"),
        ({"a.sql": "CREATE FUNCTION total(a INT) RETURNS INT AS $$ SELECT a; $$;\n", "b.sql": "CREATE VIEW v AS\nSELECT total(x) FROM t;\n"}, "a.sql", "total", "b.sql#v"),
    ],
)  # fmt: skip
def test_the_caller_is_found_if_unsurely(texts, path, qualified, caller):
    """Elixir's modules, Dart's parameters and SQL are read with less care."""
    assert callers(texts, path, qualified).get(caller, 0) > 0


def test_overloads_share_what_a_call_says():
    """Java: which of two methods of one name is called cannot be told by the name."""
    texts = {
        "p/T.java": "class T {\n  void m(int a) {\n  }\n  void m(String a) {\n  }\n  void f() {\n    m(1);\n  }\n}\n"
    }
    assert callers(texts, "p/T.java", "T.m")["p/T.java#T.f"] < SURE


def test_an_import_from_a_package_that_is_not_in_the_tree_is_no_sure_edge():
    """Java: `org.other.Tool` is not the tree's Tool, and hardly ever means it."""
    texts = {
        "p/Tool.java": "package p;\nclass Tool {\n}\n",
        "q/U.java": "package q;\nimport org.other.Tool;\nclass U {\n  Tool t;\n}\n",
    }
    assert sure(callers(texts, "p/Tool.java", "Tool")) == set()


def test_languages_do_not_refer_to_each_other():
    """A Python name is no JavaScript definition."""
    texts = {"a.js": "function helper() {}\n", "b.py": "from a import helper\n\n\ndef f():\n    helper()\n"}
    assert callers(texts, "a.js", "helper") == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.zig", "fn f() void { const x = @importdef (1); x.y(); }"),
        ("a.py", "class A(:\n    def f(self, =):\n        self.()\n        .g()\n"),
        ("a.ts", "export default ;\nexport { as };\nclass extends { m(){ this. } }"),
        ("a.py", 'def f():\n    "".x()\n    x = ""\n    x[.y]()\n'),
    ],
)
def test_code_that_is_being_written_has_callees(path, text):
    """What a parser makes of half a statement is resolved like the rest; found by mutated samples of all languages."""
    view = view_of([source_of(path, text.encode())])
    tier = ParserTier(view, "/dev/null/none")
    for symbol in range(len(view.symbol_file)):
        tier.callees(symbol, until=time.monotonic() + 30)
        tier.callers(symbol, until=time.monotonic() + 30)
