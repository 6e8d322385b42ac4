"""Messages of compilers, test runners and interpreters point to files and lines, and are read as such."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slicegrep.references import find_references, refers_to


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('  File "/home/me/my dir/x.py", line 12, in f', "/home/me/my dir/x.py", 12),
        ("tests/test_x.py:12: AssertionError", "tests/test_x.py", 12),
        ("> /p/x.py(12)fn()", "/p/x.py", 12),
        ("src/a.py:3: error: Incompatible types  [assignment]", "src/a.py", 3),
        ("src/a.c:12:5: error: expected ';'", "src/a.c", 12),
        ("In file included from src/a.h:7,", "src/a.h", 7),
        ("/p/a.cpp:9: Failure", "/p/a.cpp", 9),
        ("    at fn (file.js:12:3)", "file.js", 12),
        ("    at async Object.<anonymous> (/p/src/a.test.ts:4:11)", "/p/src/a.test.ts", 4),
        ("    at file:///p/m.mjs:1:2", "/p/m.mjs", 1),
        ("    at webpack:///./src/w.js:9:1", "src/w.js", 9),
        ("src/a.ts(12,5): error TS2304: no name", "src/a.ts", 12),
        ("\x1b[96msrc/q.ts\x1b[0m:\x1b[93m4\x1b[0m:\x1b[93m6\x1b[0m - error", "src/q.ts", 4),
        ("  --> src/main.rs:3:5", "src/main.rs", 3),
        ("thread 'main' panicked at src/lib.rs:30:9:", "src/lib.rs", 30),
        ("\t/p/a.go:12 +0x1d", "/p/a.go", 12),
        ("./a.go:13:2: undefined: x", "a.go", 13),
        ("[ERROR] /p/Foo.java:[12,5] cannot find symbol", "/p/Foo.java", 12),
        ("\tat com.acme.Foo.bar(Foo.java:77)", "com/acme/Foo.java", 77),
        ("\tat com.acme.Foo$Inner.<init>(Foo.java:7)", "com/acme/Foo.java", 7),
        ("\tat java.base/java.util.ArrayList.get(ArrayList.java:1)", "java/util/ArrayList.java", 1),
        ("e: file:///p/a.kt:12:5 Unresolved reference", "/p/a.kt", 12),
        ("e: /p/a.kt: (12, 5): Unresolved reference", "/p/a.kt", 12),
        ("   at N.C.M() in /p/a.cs:line 99", "/p/a.cs", 99),
        ("PHP Fatal error:  x in /p/y.php on line 12", "/p/y.php", 12),
        ("\tfrom lib/a.rb:3:in 'call'", "lib/a.rb", 3),
        ("A.hs:(12,5)-(13,7): error:", "A.hs", 12),
        ("    (app 0.1.0) lib/a.ex:12: Mod.f/1", "lib/a.ex", 12),
        ("  test/a_test.dart 12:5  main.<fn>", "test/a_test.dart", 12),
        ("lua: a.lua:4: attempt to call", "a.lua", 4),
        ("./run.sh: line 12: foo: command not found", "run.sh", 12),
        ("C:\\w\\y.py:44: boom", "C:\\w\\y.py", 44),
        ("at f (C:\\w\\y.js:4:1)", "C:\\w\\y.js", 4),
        ("src/a.py:12:    return x", "src/a.py", 12),
        ("see src/a.py:12.", "src/a.py", 12),
        ("`src/a.py:12`", "src/a.py", 12),
        ("/p/b.js\n  12:5  error  'x' is not defined  no-undef", "/p/b.js", 12),
    ],
)  # fmt: skip
def test_a_message(text: str, path: str, line: int) -> None:
    """One message of each kind points to one place."""
    assert find_references(text, 200) == [(path, line)]


@pytest.mark.parametrize(
    "text",
    [
        "12:34:56 ok", "http://localhost:8080/", "a.py", "a.py:x", "a.py:0: none", "a.py:12.5", "notes.txt:12: x", "3 passed in 1.2s", '{"a":1}',
        'File "<string>", line 1', "core-12-context", "::1", "10:20", "ratio 3:2", "@@ -1,5 +12,7 @@", "", "\n\n", ":12", "(12)", '", line 12',
    ],
)  # fmt: skip
def test_what_points_nowhere(text: str) -> None:
    """Times, addresses, other files and line zero are no references."""
    assert find_references(text, 200) == []


def test_each_place_once_in_order_and_bounded() -> None:
    """A traceback that repeats a place names it once; the first ones are kept."""
    text = "b.py:2: x\na.py:1: y\nb.py:2: z\n" + "\n".join(f"c.py:{n}: x" for n in range(1, 500))
    found = find_references(text, 10)
    assert found[:3] == [("b.py", 2), ("a.py", 1), ("c.py", 1)]
    assert len(found) == 10


@pytest.mark.parametrize(
    "text",
    [
        ":1" * 100_000, "a.py:1\n" * 28_000, ("a" * 1_999 + "\n") * 100, "(" * 200_000, '", line ' * 25_000, " " * 200_000, ("(1," * 600 + "\n") * 100,
        "a.b" * 60_000, "\x1b[" * 100_000, ("x" * 300 + ":1 ") * 600, "a(b.java:1)" * 18_000, ("a.b" * 300 + "(c.java:1\n") * 200,
        "\n".join(f"x/y{n}.py:{n}: foo" for n in range(10_000)),
    ],
)  # fmt: skip
def test_time_is_linear(text: str) -> None:
    """200 kB of the worst text is looked through in a fraction of a second (no more than 0.1 s where nothing else runs)."""
    start = time.process_time()
    find_references(text, 100_000)
    assert time.process_time() - start < 1


@given(st.text("ab./\\:()[],\"' 12\nline FleC\x1b[m-$", max_size=200))
def test_any_text_gives_places_that_stand_in_it(text: str) -> None:
    """No text is an error; a line number is above zero and is one of the text's own."""
    for path, line in find_references(text, 50):
        assert path
        assert line > 0
        assert str(line) in text


@pytest.mark.parametrize(
    ("reference", "file", "same"),
    [
        ("/p/a.py", "/p/a.py", True),
        ("/p/a.py", "/q/p/a.py", False),
        ("a.py", "/p/a.py", True),
        ("src/a.py", "/p/src/a.py", True),
        ("rc/a.py", "/p/src/a.py", False),
        ("src/a.py", "/p/a.py", False),
        ("../src/a.py", "/p/src/a.py", True),
        ("com/acme/Foo.java", "/p/src/main/java/com/acme/Foo.java", True),
        ("src\\a.py", "C:\\p\\src\\a.py", True),
        ("C:\\p\\a.py", "C:/p/a.py", True),
        ("", "/p/a.py", False),
    ],
)
def test_which_file_a_reference_can_mean(reference: str, file: str, *, same: bool) -> None:
    """An absolute path is that file; another one is any file whose last parts it is."""
    assert refers_to(reference, file) is same
