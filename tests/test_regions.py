"""Regions: the lines that come with a hit, by window or by definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slicegrep.candidates import Hit
from slicegrep.outline import outline
from slicegrep.regions import BOUNDARIES, COMMENT_LINES, OWN_LINES, regions, windows
from slicegrep.source import source_of
from slicegrep.types import Source

PYTHON = '''import os
import sys

LIMIT = 3
NAME = "x"


# Greets somebody.
# Twice.
def greet(name):
    def inner(word):
        return word.upper()

    print(name)
    print(name)
    return inner(name)


class Box:
    """A box."""

    size = 1

    @property
    def full(self):
        return self.size > LIMIT

    def open(self):
        pass
'''


def source(text: str, path: str = "a.py") -> Source:
    return source_of(path, text.encode())


def found(
    text: str,
    *hits: int,
    boundary: str,
    before: int = 40,
    after: int = 40,
    path: str = "a.py",
    lines: bool = True,
) -> list[tuple[int, int, str]]:
    """Return (start, end, name of the symbol) of the regions of a text."""
    one = source(text, path)
    symbols = outline(one).symbols
    made = regions(
        [Hit(line, (0,)) for line in hits],
        symbols,
        len(one.lines),
        before=before,
        after=after,
        boundary=boundary,
        lines=one.lines if lines else (),
    )
    return [
        (region.start, region.end, symbols[region.symbol].name if region.symbol >= 0 else "")
        for region in made
    ]


def test_none_is_a_plain_window() -> None:
    """`before` and `after` lines whatever stands there, clipped to the file."""
    assert found(PYTHON, 14, boundary="none", before=2, after=3) == [(12, 17, "greet")]
    assert found(PYTHON, 2, boundary="none", before=40, after=0) == [(1, 2, "")]


def test_windows_that_overlap_are_one_and_others_are_not() -> None:
    """Windows that only touch stay apart."""
    assert found(PYTHON, 5, 9, boundary="none", before=2, after=2) == [(3, 11, "")]
    assert found(PYTHON, 5, 10, boundary="none", before=2, after=2) == [(3, 7, ""), (8, 12, "greet")]


def test_auto_stops_at_the_edges_of_the_outermost_definition() -> None:
    """The comment above and decorators belong to the definition; methods share their class's edges."""
    assert found(PYTHON, 14, boundary="auto") == [(8, 16, "greet")]
    assert found(PYTHON, 26, boundary="auto") == [(19, 29, "full")]
    assert found(PYTHON, 26, boundary="auto", before=1, after=1) == [(25, 27, "full")]


def test_auto_keeps_the_module_level_out_of_definitions() -> None:
    """A hit between definitions stops where they begin, their comments included."""
    assert found(PYTHON, 4, boundary="auto") == [(1, 7, "")]
    assert found(PYTHON, 18, boundary="auto") == [(17, 18, "")]


def test_auto_sees_through_namespaces() -> None:
    """A file's namespace is no definition that a window should be cut at."""
    text = "namespace a {\nint x;\n\nint f() {\n  return 1;\n}\n\nint g() {\n  return 2;\n}\n}\n"
    assert found(text, 5, boundary="auto", path="a.cpp") == [(4, 6, "f")]
    assert found(text, 2, boundary="auto", path="a.cpp") == [(1, 3, "a")]


def test_fn_takes_the_innermost_function() -> None:
    """With its comment and decorators; an outer function that is hit as well takes the inner one in."""
    assert found(PYTHON, 12, boundary="fn") == [(11, 12, "inner")]
    assert found(PYTHON, 12, 14, boundary="fn") == [(8, 16, "inner")]
    assert found(PYTHON, 26, boundary="fn") == [(24, 26, "full")]


def test_fn_takes_a_definition_for_its_comment() -> None:
    """A hit in the comment above a function is a hit of the function."""
    assert found(PYTHON, 9, boundary="fn") == [(8, 16, "greet")]
    assert found(PYTHON, 9, boundary="auto") == [(8, 16, "greet")]


def test_fn_takes_a_short_class_whole_and_of_a_long_one_its_own_lines() -> None:
    """The methods of a long class are not the lines around a hit in its head."""
    assert found(PYTHON, 22, boundary="fn") == [(19, 29, "Box")]
    methods = "".join(f"    def m{i}(self):\n        pass\n\n" for i in range(OWN_LINES))
    assert found(f'class Big:\n    """Doc."""\n\n    size = 1\n\n{methods}', 2, boundary="fn") == [
        (1, 5, "Big")
    ]
    fields = "".join(f"    f{i} = {i}\n" for i in range(200))
    assert found(f"class Big:\n{fields}", 100, boundary="fn") == [(85, 114, "Big")]


def test_fn_takes_the_paragraph_at_the_module_level() -> None:
    """Up to blank lines and definitions, at most OWN_LINES."""
    assert found(PYTHON, 4, boundary="fn") == [(4, 5, "")]
    assert found(PYTHON, 1, 5, boundary="fn") == [(1, 2, ""), (4, 5, "")]
    assert found("x = 1\n" * 200, 100, boundary="fn") == [(85, 114, "")]


def test_a_long_comment_is_not_taken_along() -> None:
    """A licence above the first function stays where it is."""
    text = "# words\n" * COMMENT_LINES + "def f():\n    pass\n"
    assert found(text, COMMENT_LINES + 2, boundary="fn") == [(COMMENT_LINES + 1, COMMENT_LINES + 2, "f")]


def test_without_lines_comments_are_not_seen() -> None:
    """Who has no text at hand gets the outline's own ranges."""
    assert found(PYTHON, 14, boundary="fn", lines=False) == [(10, 16, "greet")]


def test_preprocessor_lines_are_no_comment() -> None:
    """`#include` above a C function belongs to the module level."""
    text = "#include <a.h>\n#define B 1\nint f(void) {\n  return B;\n}\n"
    assert found(text, 4, boundary="fn", path="a.c") == [(3, 5, "f")]


def test_another_boundary_is_refused() -> None:
    """The message names those there are."""
    with pytest.raises(ValueError, match="auto, fn, none"):
        regions([], (), 10, before=1, after=1, boundary="class")


@given(
    hits=st.sets(st.integers(1, PYTHON.count("\n"))),
    boundary=st.sampled_from(BOUNDARIES),
    before=st.integers(0, 12),
    after=st.integers(0, 12),
    lines=st.booleans(),
)
def test_every_hit_is_in_exactly_one_region(
    *, hits: set[int], boundary: str, before: int, after: int, lines: bool
) -> None:
    """Regions ascend, do not overlap, stay inside the file and hold the hits they name."""
    one = source(PYTHON)
    made = regions(
        [Hit(line, (0,)) for line in sorted(hits)],
        outline(one).symbols,
        len(one.lines),
        before=before,
        after=after,
        boundary=boundary,
        lines=one.lines if lines else (),
    )
    assert [hit.line for region in made for hit in region.hits] == sorted(hits)
    last = 0
    for region in made:
        assert last < region.start <= region.end <= len(one.lines)
        assert all(region.start <= hit.line <= region.end for hit in region.hits)
        last = region.end


@given(
    hits=st.sets(st.integers(1, 60), min_size=1, max_size=12),
    before=st.integers(0, 12),
    after=st.integers(0, 12),
    boundary=st.sampled_from(["auto", "none"]),
)
def test_windows_are_the_regions_of_a_file_without_definitions(
    *, hits: set[int], before: int, after: int, boundary: str
) -> None:
    """What a file that is not outlined gets in the quick way is what the slow one gives."""
    found = [Hit(line, (0,)) for line in sorted(hits)]
    slowly = regions(found, (), 60, before=before, after=after, boundary=boundary)
    assert windows(found, 60, before=before, after=after) == slowly
