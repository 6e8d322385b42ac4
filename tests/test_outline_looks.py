"""An outline for some lines says of them what the whole one says, and an outline of anything ends in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from slicegrep.languages import language_of
from slicegrep.outline import enclosing, outline
from slicegrep.source import read_source, source_of
from slicegrep.types import Source, Symbol

SAMPLES = Path(__file__).parent / "cases" / "outline"
PATIENT = 60.0


def alone(source: Source, line: int) -> tuple[str, int, int, str] | None:
    """Return the definition around a line, of an outline for that line only."""
    return told(enclosing(outline(source, seconds=PATIENT, lines=[line]), line))


def told(symbol: Symbol | None) -> tuple[str, int, int, str] | None:
    return None if symbol is None else (symbol.qualified, symbol.start, symbol.end, symbol.signature)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in SAMPLES.iterdir() if language_of(path.name, path.read_text("utf-8")))
)
def test_a_line_alone_is_in_what_it_is_in_with_the_whole_outline(name: str) -> None:
    """Of every language: each line by itself, and all of the lines at once."""
    source = read_source(str(SAMPLES / name))
    assert source is not None
    lines = range(1, len(source.lines) + 1)
    whole = outline(source, seconds=PATIENT)
    expected = [told(enclosing(whole, line)) for line in lines]
    assert any(expected)
    assert [alone(source, line) for line in lines] == expected
    together = outline(source, seconds=PATIENT, lines=lines)
    assert [told(enclosing(together, line)) for line in lines] == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "@first\n@second(\n    1,\n)\n# why\nasync def f():\n    pass\n", ("f", 1, 7)),
        ("a.py", "class A:\n    @first\n    @second\n    def f(self):\n        pass\n", ("A.f", 2, 5)),
        ("a.js", "export const\n  f\n  = () => {\n    return 1\n  }\n", ("f", 1, 5)),
        ("a.ts", "class A {\n  @First()\n  @Second({\n    a: 1,\n  })\n  private f() {\n    return 1\n  }\n}\n", ("A.f", 2, 8)),
        ("a.rs", "#[first]\n#[second(\n  a,\n)]\npub\nfn f() {\n  1\n}\n", ("f", 1, 8)),
        ("a.rs", "impl A {\n  #[first]\n  #[second]\n  fn f() {\n    1\n  }\n}\n", ("A::f", 2, 6)),
        ("a.dart", "@first\n@Second(\n  1,\n)\nint f(\n  int a,\n) {\n  return a;\n}\n", ("f", 1, 9)),
        ("a.dart", "class A {\n  @first\n  @second\n  int f() {\n    return 1;\n  }\n}\n", ("A.f", 2, 6)),
        ("a.java", "class A {\n  @First\n  @Second(\n    1\n  )\n  int f() {\n    return 1;\n  }\n}\n", ("A.f", 2, 8)),
        ("a.cpp", "template\n<class T>\nint\nf(T a)\n{\n  return 1;\n}\n", ("f", 1, 7)),
        ("a.cpp", "TEST(Suite,\n     Name)\n{\n  run();\n}\n", ("TEST(Suite, Name)", 1, 5)),
    ],
)  # fmt: skip
def test_what_belongs_to_a_definition_tells_of_it(
    path: str, text: str, expected: tuple[str, int, int]
) -> None:
    """Attributes and wrappers stand on lines that the definition's own node does not reach; bodies beside its head."""
    source = source_of(path, text.encode())
    _, start, end = expected
    assert [(alone(source, line) or ())[:3] for line in range(start, end + 1)] == [expected] * (
        end + 1 - start
    )


@pytest.mark.parametrize("brackets", ["()", "[]", "{}"])
@pytest.mark.parametrize(
    "suffix",
    [
        "py",
        "js",
        "ts",
        "c",
        "cpp",
        "rs",
        "java",
        "go",
        "cs",
        "rb",
        "php",
        "kt",
        "swift",
        "scala",
        "sh",
        "lua",
        "ex",
        "hs",
        "zig",
        "dart",
    ],
)
def test_a_hundred_thousand_brackets_inside_each_other_cost_no_more_than_their_parse(
    suffix: str, brackets: str
) -> None:
    """An error's children hang in a chain, and past 65,535 levels a query takes a hundred times as long."""
    rows = [bracket * 1_000 for bracket in brackets for _ in range(100)]
    source = source_of(f"a.{suffix}", "\n".join(rows).encode())
    begun = time.process_time()
    outline(source, seconds=2.0)
    assert time.process_time() - begun < 2.0


@pytest.mark.parametrize(
    "line", ["a\n", "a = 1\n", "def f(): pass\n", "1, 2, 3, (4), [5],\n", "a b ) ] }\n", "f(a, b)[c].d(e)\n"]
)
def test_five_megabytes_of_anything_end_in_their_time(line: str) -> None:
    """What is not done by then is a part, and says so."""
    source = source_of("a.py", (line * (5_000_000 // len(line))).encode())
    begun = time.process_time()
    found = outline(source, seconds=0.5)
    assert time.process_time() - begun < 1.5
    assert found.broken
