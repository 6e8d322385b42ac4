"""The map: definitions with ranges and signatures, folded to a budget."""

from __future__ import annotations

from slicegrep.filemap import file_map, map_line
from slicegrep.outline import outline
from slicegrep.source import source_of
from slicegrep.tokens import estimate
from slicegrep.types import Source


def source(text: str, name: str = "a.py") -> Source:
    found = source_of(f"/w/{name}", text.encode())
    assert found is not None
    return found


NESTED = source("class A:\n    def small(self):\n        return 1\n\n\ndef big(x):\n" + "    x += 1\n" * 30)


def test_everything_is_listed_where_it_fits() -> None:
    """Ranges, nesting by indentation, signatures as the lines spell them."""
    shape = outline(NESTED)
    assert file_map(NESTED, shape, [0.0] * len(shape.symbols), 500) == (
        ("1-3 class A:", " 2-3 def small(self):", "6-36 def big(x):"),
        0,
    )


def test_the_largest_stays_and_the_rest_is_counted() -> None:
    """Where nothing is relevant, size decides."""
    shape = outline(NESTED)
    assert file_map(NESTED, shape, [0.0] * 3, 12) == (("6-36 def big(x):",), 2)


def test_the_relevant_stays_with_what_it_is_in() -> None:
    """A listed method brings its class."""
    shape = outline(NESTED)
    found, folded = file_map(NESTED, shape, [0.0, 5.0, 0.0], 17)
    assert found == ("1-3 class A:", " 2-3 def small(self):") and folded == 1


def test_the_budget_is_kept_whatever_it_is() -> None:
    """A thousand definitions fold to any budget, and to 2,400 characters under a huge one."""
    many = source("".join(f"def function_number_{i}(argument):\n    return {i}\n\n\n" for i in range(1_000)))
    shape = outline(many)
    for budget in (0, 10, 70, 300, 1_000_000):
        found, folded = file_map(many, shape, [0.0] * len(shape.symbols), budget)
        assert estimate("\n".join(found)) <= budget or not found
        assert len("\n".join(found)) <= 2_400
        assert len(found) + folded == len(shape.symbols)


def test_a_long_signature_is_cut() -> None:
    """A line of the map says what is there, not all of it."""
    long = source("def f(" + ", ".join(f"parameter_{i}" for i in range(60)) + "):\n    pass\n")
    line = map_line(outline(long).symbols[0], long)
    assert len(line) <= 110 and line.endswith("…")


def test_a_file_without_definitions_has_an_empty_map() -> None:
    """Constants only: nothing is listed and nothing folded."""
    plain = source("x = 1\n" * 50)
    assert file_map(plain, outline(plain), [], 100) == ((), 0)
