"""The outline of a file and the definition around a line, whatever the file looks like."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from slicegrep.languages import LANGUAGES
from slicegrep.outline import enclosing, enclosing_kinds, outline
from slicegrep.source import read_source, source_of
from slicegrep.types import Outline

SAMPLES = Path(__file__).parent / "cases" / "outline"
PLUGIN = Path(__file__).resolve().parent.parent / "plugin"
PATIENT = 60.0
"""Seconds that a parse may take here: the machine that runs the tests may be busy with others."""


def outline_of(text: str | bytes, path: str) -> Outline:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return outline(source_of(path, data), seconds=PATIENT)


def around(text: str, path: str, needle: str) -> str:
    """Return the qualified name around the first line that holds the needle, "" at module level."""
    line = next(number for number, line in enumerate(text.split("\n"), 1) if needle in line)
    symbol = enclosing(outline_of(text, path), line)
    return symbol.qualified if symbol else ""


def shown(found: Outline) -> list[str]:
    return [
        f"{'  ' * one.depth}{one.kind} {one.qualified} {one.start}-{one.end} | {one.signature}"
        for one in found.symbols
    ]


def expected_outlines() -> dict[str, list[str]]:
    expected: dict[str, list[str]] = {}
    name = ""
    for line in (SAMPLES / "expected.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            name = line[3:]
            expected[name] = []
        elif line and not line.startswith("#"):
            expected[name].append(line)
    return expected


EXPECTED = expected_outlines()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_language_has_the_outline_that_its_sample_says(name: str) -> None:
    """Kinds, qualified names, ranges, nesting and signatures of every language, as reviewed by hand."""
    source = read_source(str(SAMPLES / name))
    assert source is not None
    assert shown(outline(source, seconds=PATIENT)) == EXPECTED[name]


def test_every_language_has_a_sample() -> None:
    """No language of the table is untested."""
    assert {source_of(name, b"").language for name in EXPECTED} == set(LANGUAGES)


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.parametrize("encoding", ["crlf", "utf-8-sig", "utf-16"])
def test_line_ends_and_encodings_do_not_change_an_outline(name: str, encoding: str) -> None:
    """rtk#4113, serena#2017: CRLF, a BOM or UTF-16 give the same outline as LF in UTF-8."""
    text = (SAMPLES / name).read_text(encoding="utf-8")
    data = text.replace("\n", "\r\n").encode() if encoding == "crlf" else text.encode(encoding)
    assert shown(outline_of(data, name)) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_symbols_are_ordered_and_nested(name: str) -> None:
    """Order is (start, -end); a parent comes first, is around its child, and is one level up."""
    source = read_source(str(SAMPLES / name))
    assert source is not None
    symbols = outline(source, seconds=PATIENT).symbols
    assert [one.start for one in symbols] == sorted(one.start for one in symbols)
    for index, one in enumerate(symbols):
        assert 1 <= one.start <= one.name_line <= one.end <= len(source.lines)
        assert len(one.signature) <= 160
        assert "\n" not in one.signature
        if one.parent >= 0:
            parent = symbols[one.parent]
            assert one.parent < index
            assert parent.start <= one.start
            assert parent.end >= one.end
            assert one.depth == parent.depth + 1
        else:
            assert one.depth == 0


def test_enclosing_is_the_innermost_named_definition() -> None:
    """A nested function encloses its lines, the outer one the rest, decorators included."""
    text = "@wrap\ndef outer():\n    def inner():\n        pass\n    return inner\n\nx = 1\n"
    found = outline_of(text, "a.py")
    names = [symbol.qualified if (symbol := enclosing(found, line)) else None for line in range(1, 8)]
    assert names == ["outer", "outer", "outer.inner", "outer.inner", "outer", None, None]


def test_lines_outside_the_file_have_no_enclosing_definition() -> None:
    """Line 0, negative lines and lines past the end are in nothing."""
    found = outline_of("def f():\n    pass\n", "a.py")
    assert [enclosing(found, line) for line in (-1, 0, 3, 10**9)] == [None] * 4


def test_an_anonymous_function_is_in_the_nearest_named_one() -> None:
    """Callbacks have no name of their own to give."""
    text = "function load() {\n  items.map((x) => {\n    needle();\n  });\n}\n"
    assert around(text, "a.js", "needle") == "load"


def test_a_callback_at_module_level_is_module_level() -> None:
    """Nothing named is around a line in a top-level callback."""
    text = "describe('x', () => {\n  it('y', () => {\n    needle();\n  });\n});\n"
    assert around(text, "a.js", "needle") == ""


def test_namespaces_and_tables_enclose_nothing() -> None:
    """They qualify names, but a line in one of them is at module level."""
    assert around("namespace a {\nint needle = 1;\n}\n", "a.cpp", "needle") == ""
    assert around("mod a {\n    const NEEDLE: u8 = 1;\n}\n", "a.rs", "NEEDLE") == ""
    assert around("TABLE = {\n    'needle': 1,\n}\n", "a.py", "needle") == ""
    assert enclosing_kinds.isdisjoint({"namespace", "variable", "declaration"})


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.c", "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n  needle();\n}\nint after(void) {\n}\n", "f"),
        ("a.c", "int f(int a) {\n#if X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    b();\n  }\n}\nint g(void) {\n  needle();\n}\n", "g"),
        ("a.c", "#if X /* why\n  int (*{ */\n#endif\nint g(void) {\n  needle();\n}\n", "g"),
        ("a.c", "#define BEGIN(x) { \\\n  if (x) {\nint g(void) {\n  needle();\n}\n", "g"),
        ("a.c", 'const char* s = "}}}";\nchar c = \'{\';\nint g(void) {\n  needle();\n}\n', "g"),
        ("a.cpp", "namespace a { class B; }\nvoid a::B::run(int x) noexcept\n{\n  needle();\n}\n", "a::B::run"),
        ("a.cpp", "class EXPORT_API A final : public B {\n  void m() {\n    needle();\n  }\n};\n", "A::m"),
        ("a.cpp", "class A {\n  Q_OBJECT\n public slots:\n  void m() {\n    needle();\n  }\n};\n", "A::m"),
        ("a.cpp", "UCLASS(Blueprintable)\nclass GAME_API A : public B\n{\n  GENERATED_BODY()\n  UFUNCTION(Exec)\n  void M()\n  {\n    needle();\n  }\n};\n", "A::M"),
        ("a.cpp", "struct A {\n  A() : x{1}, y{2} {\n    needle();\n  }\n};\n", "A::A"),
        ("a.cpp", "void f() {\n  TRY_ALL {\n    a(;\n  }\n}\nvoid g() {\n  needle();\n}\n", "g"),
        ("a.cpp", "template <>\nint ns::f<int>(int x) {\n  needle();\n}\n", "ns::f"),
    ],
)  # fmt: skip
def test_the_preprocessor_and_macros_do_not_hide_c_definitions(path: str, text: str, name: str) -> None:
    """Branches that open what they do not close, exports, annotations and Qt's or Unreal's words."""
    assert around(text, path, "needle") == name


def test_a_header_is_read_as_the_language_of_its_text() -> None:
    """A `.h` file with classes is C++ though its suffix is C's."""
    assert around("class A {\n public:\n  void m() {\n    needle();\n  }\n};\n", "a.h", "needle") == "A::m"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def good():\n    needle()\n\ndef broken(:\n    x = (\n"),
        ("a.js", "function good() {\n  needle();\n}\nfunction broken( {\n"),
        ("a.go", "package m\nfunc good() {\n\tneedle()\n}\nfunc broken( {\n"),
        ("a.rs", "fn good() {\n    needle();\n}\nfn broken( {\n"),
        ("A.java", "class A {\n  void good() {\n    needle();\n  }\n  void broken( {\n"),
        ("a.rb", "def good\n  needle\nend\ndef broken(\n"),
    ],
)
def test_broken_syntax_keeps_what_is_whole(path: str, text: str) -> None:
    """The definition before the fault is still known, and the outline says that it met one."""
    found = outline_of(text, path)
    symbol = enclosing(found, next(n for n, line in enumerate(text.split("\n"), 1) if "needle" in line))
    assert symbol is not None
    assert symbol.name == "good"
    assert found.broken


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\n",
        b"\x00\x00\x00",
        bytes(range(256)) * 8,
        b"\xff\xfe\x00\xd8\x00\xd8",
        b"((((((((((" * 300,
        b"{[(<" * 300,
        b"}])>" * 300,
        b"\"'`" * 300,
        b"#if\n#else\n#endif\n#endif\n#define\n#",
        b"class class class def fn func function\n" * 30,
        "\u2028\u2029\x0b\x0c\r\u00e9\U0001f600\n".encode() * 30,
        b"CREATE TABLE\nCREATE FUNCTION f AS\nBEGIN END",
        b"<script>" * 30,
    ],
)  # fmt: skip
def test_no_text_raises(language: str, data: bytes) -> None:
    """Garbage in any language is an outline, if an empty one; its ranges stay in the file."""
    source = source_of(f"x{LANGUAGES[language].suffixes[0]}", data, language)
    for one in outline(source, seconds=PATIENT).symbols:
        assert 1 <= one.start <= one.end <= max(1, len(source.lines))


def test_what_is_not_source_code_has_an_empty_outline() -> None:
    """A language that the table does not know is no error."""
    assert outline_of("# Title\n", "README.md") == Outline("")


def test_only_lf_ends_a_line() -> None:
    """A form feed, a lone CR and U+2028 stay inside their line, as Read shows them."""
    text = "def f():\n    a = 1\r    b = 2\n\x0c\ndef g():\n    s = '\u2028'\n    needle()\n"
    assert around(text, "a.py", "needle") == "g"
    assert [(one.name, one.start, one.end) for one in outline_of(text, "a.py").symbols] == [
        ("f", 1, 2),
        ("g", 4, 6),
    ]


def test_nul_bytes_do_not_end_the_text() -> None:
    """What stands after a NUL is still parsed."""
    assert around("def f():\n    s = '\0'\n\ndef g():\n    needle()\n", "a.py", "needle") == "g"


def test_latin_1_is_read_as_far_as_it_goes() -> None:
    """rtk#4065: a byte that is no UTF-8 spoils nothing around it."""
    found = outline_of(b"def f():\n    s = '\xe9\xff'\n    return s\n", "a.py")
    assert [(one.name, one.start, one.end) for one in found.symbols] == [("f", 1, 3)]


def test_tabs_and_wide_characters_do_not_shift_lines() -> None:
    """Columns are bytes to the parser; only lines are taken from it."""
    text = "class Ä:\n\tdef größe(self):\n\t\treturn '\U0001f600'\n\n\tdef end(self):\n\t\tneedle()\n"
    assert around(text, "a.py", "needle") == "Ä.end"


def test_thousands_of_levels_do_not_exhaust_the_stack() -> None:
    """Nesting is walked with a list, and a qualified name does not grow for ever."""
    deep = 3_000
    found = outline_of("function f(){\n" * deep + "}\n" * deep, "a.js")
    assert len(found.symbols) == deep
    assert max(len(one.qualified) for one in found.symbols) < 300
    assert enclosing(found, deep) == found.symbols[-1]


@pytest.mark.parametrize("name", ["bundle.js", "bundle.ts", "a.py", "a.cpp", "a.vue", "a.sql"])
def test_a_minified_line_of_a_megabyte_costs_milliseconds(name: str) -> None:
    """codebase-memory#212, pixel#194: such a line is not parsed; the short lines around it are."""
    text = "var a={b:function(c){return c+1}};" * 30_000 + "\n"
    source = source_of(name, text.encode())
    outline(source_of(name, b"x"))  # the grammar is loaded
    begun = time.process_time()
    outline(source)
    assert time.process_time() - begun < 0.25


def test_a_long_line_hides_only_itself() -> None:
    """Definitions before and after an embedded megabyte keep their lines."""
    text = "def f():\n    pass\nDATA = '" + "x" * 1_000_000 + "'\ndef g():\n    needle()\n"
    assert around(text, "a.py", "needle") == "g"
    assert outline_of(text, "a.py").broken


def test_a_megabyte_of_typescript_has_its_symbols() -> None:
    """codebase-memory#212: large files with ordinary lines are parsed whole."""
    text = "export class C {\n  run(a: string): void {\n    this.a(a);\n    this.b(a);\n  }\n}\n" * 13_000
    assert len(text) > 1_000_000
    found = outline_of(text, "a.ts")
    assert len(found.symbols) == 26_000
    assert found.symbols[-1].end == 13_000 * 6 - 1


def test_five_megabytes_are_read_whole() -> None:
    """The largest file that the hooks look at has every definition, given the time."""
    block = "def f(a):\n" + "    value = call(a, 'text', [1, 2, 3])\n" * 60 + "\n\n"
    text = block * (5_000_000 // len(block))
    found = outline_of(text, "a.py")
    count = text.count("def f")
    assert len(found.symbols) == count
    assert (found.symbols[-1].start, found.symbols[-1].end) == ((count - 1) * 63 + 1, count * 63 - 2)
    assert not found.broken


def test_a_parse_that_takes_too_long_is_answered_by_patterns() -> None:
    """Past the deadline the definitions are those of line patterns, and the outline says so."""
    text = "def f(a):\n    return a\n\n\nclass A:\n    def m(self):\n        return 1\n"
    found = outline(source_of("a.py", text.encode() * 20_000), seconds=0.05)
    assert found.method == "patterns"
    assert found.broken
    assert [(one.qualified, one.start, one.end) for one in found.symbols[:3]] == [
        ("f", 1, 2),
        ("A", 5, 7),
        ("A.m", 6, 7),
    ]


PATTERNED = {
    "a.py": "@dec\ndef f(a):\n    needle()\n\nclass A:\n    async def m(self):\n        x()\n",
    "a.go": "func (s *S) f(\n\ta int,\n) error {\n\tneedle()\n}\n",
    "a.c": "static int f(int a,\n             int b)\n{\n  needle();\n#if X\n  y();\n#endif\nout:\n  return 1;\n}\n",
    "A.java": "class A {\n  public void f(int a) throws E {\n    needle();\n  }\n}\n",
    "a.rb": "class A\n  def f(a)\n    needle\n  end\nend\n",
    "a.ts": "export const f = (a: string) => {\n  needle();\n};\n",
}


@pytest.mark.parametrize("path", sorted(PATTERNED))
def test_without_grammars_the_answer_keeps_its_shape(path: str) -> None:
    """Where no wheel is installed, line patterns answer; nothing raises."""
    code = (
        "import sys, json\n"
        "class Blocked:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.startswith('tree_sitter'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "from slicegrep.source import source_of\n"
        "from slicegrep.outline import outline, enclosing\n"
        "path, text, line = json.load(sys.stdin)\n"
        "found = outline(source_of(path, text.encode()))\n"
        "print(found.method, enclosing(found, line).name)\n"
    )
    text = PATTERNED[path]
    line = next(number for number, line in enumerate(text.split("\n"), 1) if "needle" in line)
    payload = __import__("json").dumps([path, text, line])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=payload,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PLUGIN)},
    )
    assert ran.stdout.split() == ["patterns", "f"]


def test_an_outline_does_not_depend_on_what_was_parsed_before() -> None:
    """Parsers and queries are shared; answers are not."""
    python, script = (SAMPLES / "a.py").read_bytes(), (SAMPLES / "a.ts").read_bytes()
    first = (outline_of(python, "a.py"), outline_of(script, "a.ts"))
    assert (outline_of(python, "a.py"), outline_of(script, "a.ts")) == first


def test_tests_named_by_a_macro_are_called_by_the_whole_call() -> None:
    """`TEST(Suite, Name)` says more than `TEST`."""
    assert around("TEST(Suite, Name) {\n  needle();\n}\n", "a.cc", "needle") == "TEST(Suite, Name)"


def test_a_signature_has_no_body_no_decorator_and_one_line() -> None:
    """White space is folded and comments are dropped; 160 characters at most."""
    text = "@dec(1)\ndef f(\n    a: int,  # why\n    b: str = 'x',\n) -> dict[str, int]:  # note\n    return {}\n"
    assert outline_of(text, "a.py").symbols[0].signature == "def f( a: int, b: str = 'x', ) -> dict[str, int]"
    wide = outline_of(f"def f({', '.join(f'argument_{n}' for n in range(60))}):\n    pass\n", "a.py").symbols[
        0
    ]
    assert len(wide.signature) == 160
    assert wide.signature.endswith("…")


def test_what_a_module_exports_is_called_by_its_own_name() -> None:
    """`module.exports = {` lends no name to what is inside."""
    text = "module.exports = {\n  load() {\n    needle();\n  },\n};\n"
    assert around(text, "a.js", "needle") == "load"


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.js", "const slice = createSlice({\n  reducers: {\n    add(state) {\n      needle();\n    },\n  },\n});\n", "slice.reducers.add"),
        ("a.js", "class A {\n  constructor() {\n    this.f = () => {\n      needle();\n    };\n  }\n}\n", "A.constructor.f"),
        ("a.js", "export const api = {\n  get: async () => {\n    needle();\n  },\n};\n", "api.get"),
        ("a.ts", "const load = async <T>(\n  url: string,\n): Promise<T> => {\n  needle();\n};\n", "load"),
        ("a.tsx", "export default function App() {\n  useEffect(() => {\n    needle();\n  }, []);\n}\n", "App"),
        ("a.py", "def f():\n    class Local:\n        def m(self):\n            needle()\n", "f.Local.m"),
        ("a.go", "package m\n\nfunc (Server) Run() {\n\tdefer func() {\n\t\tneedle()\n\t}()\n}\n", "Server.Run"),
        ("a.rs", "impl<'a, T: X> Iterator for Iter<'a, T> {\n    fn next(&mut self) {\n        needle();\n    }\n}\n", "Iter::next"),
        ("A.java", "class A {\n  static class B {\n    void m() {\n      run(() -> {\n        needle();\n      });\n    }\n  }\n}\n", "A.B.m"),
        ("a.rb", "class A\n  def m\n    each do |x|\n      needle\n    end\n  end\nend\n", "A#m"),
        ("a.php", "<?php\nclass A {\n  function m() {\n    needle();\n  }\n}\n", "A::m"),
        ("a.sh", "f() {\n  cat <<EOF\n}\nEOF\n  needle\n}\n", "f"),
    ],
)  # fmt: skip
def test_the_nearest_named_definition_is_called_in_full(path: str, text: str, name: str) -> None:
    """Objects, classes, receivers and impls qualify what is inside them."""
    assert around(text, path, "needle") == name


def test_a_text_that_was_parsed_is_not_kept() -> None:
    """A server outlines every edit of a file: tree-sitter kept each text that it was handed, for good."""
    line = f"x = '{'a' * 1000}'\n"
    sources = [source_of("a.py", f"# {n}\n{line * 100}".encode()) for n in range(12)]
    outline(sources[0], seconds=PATIENT)
    tracemalloc.start()
    try:
        for one in sources[1:]:
            outline(one, seconds=PATIENT)
            outline(one, seconds=0.0)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 2 * sources[0].size
