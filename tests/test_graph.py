"""The graph over both tiers: SCIP where it is fresh, the parser elsewhere, and what is known of an answer's completeness."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from scip_bytes import document, index, occurrence, without
from scip_shop import Shop, soon
from slicegrep.graph import Found, Graph
from slicegrep.graph.scip_tier import OF_BASE, OUT_OF_TIME

DYNAMIC = "parser tier: dynamic calls are not resolved"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Make the project of Python, its SCIP file taken in."""
    made = Shop(tmp_path, "python")
    made.take()
    return made


def callers(shop: Shop, name: str) -> Found:
    """Return the graph's answer."""
    return shop.graph().callers(shop.symbol(name), until=soon())


def add(shop: Shop, path: str, text: str) -> None:
    """Write a file of the project."""
    (shop.project / path).parent.mkdir(parents=True, exist_ok=True)
    (shop.project / path).write_text(text)


def test_an_answer_is_complete_where_scip_knows_all_files_with_the_name(shop: Shop) -> None:
    """Text that is no code does not count."""
    add(shop, "NOTES.md", "checkout is the door\n")
    found = callers(shop, "checkout")
    assert (found.envelope.epistemic, found.envelope.tier, found.envelope.causes) == ("complete", "scip", ())
    assert [one.confidence for one in found.edges] == [1.0, 1.0]


def test_a_file_that_scip_does_not_know_is_the_parsers(shop: Shop) -> None:
    """Both tiers' edges, and why there may be more."""
    add(shop, "shop/night.py", "from shop.cart import checkout\n\n\ndef night():\n    return checkout()\n")
    found = callers(shop, "checkout")
    assert ("shop/night.py#night", (5,), "call") in shop.told(found.edges)
    assert [one.tier for one in found.edges] == ["scip", "scip", "parser", "parser"]
    assert (found.envelope.epistemic, found.envelope.tier) == ("lower_bound", "scip+parser")
    assert found.envelope.causes == ("scip tier: 1 of the files with that name are in no index", DYNAMIC)


def test_a_stale_file_falls_back_to_the_parser(shop: Shop) -> None:
    """Its lines are those that it has now, and the cause says how many have changed."""
    cart = shop.project / "shop" / "cart.py"
    cart.write_text(f"# more\n{cart.read_text()}")
    found = callers(shop, "price_of")
    assert ("shop/cart.py#checkout", (22,), "call") in shop.told(found.edges)
    assert {one.tier for one in found.edges} == {"parser"}
    assert (
        found.envelope.causes[0]
        == "scip tier: 1 of the files with that name changed since their index was made"
    )


def test_a_definition_of_a_stale_file_is_the_parsers_to_answer(shop: Shop) -> None:
    """Asked about what is in it, the tier is the parser's alone."""
    cart = shop.project / "shop" / "cart.py"
    cart.write_text(f"# more\n{cart.read_text()}")
    found = callers(shop, "checkout")
    assert ("tests/cart_cases.py#check_checkout", (8,), "call") in shop.told(found.edges)
    assert found.envelope.tier == "parser"
    assert found.envelope.causes[0] == "scip tier: the file has changed since its index was made"
    callees = shop.graph().callees(shop.symbol("checkout"), until=soon())
    assert ("shop/price.py#twice", (24,), "call") in shop.told(callees.edges)
    assert callees.envelope.tier == "parser"


def test_what_scip_knows_better_is_no_guess(tmp_path: Path) -> None:
    """Where SCIP knows whose `save` is called, it is not that of a file which SCIP does not know, as the parser guesses."""
    shop = Shop(tmp_path, "python")
    add(shop, "a.py", "class A:\n    def save(self): ...\n\n\ndef run(x):\n    x.save()\n")
    add(shop, "b.py", "class B:\n    def save(self): ...\n")
    symbol = "scip-python python shop 1 a/A#save()."
    file = tmp_path / "a.scip"
    parts = [occurrence(symbol, (1, 8, 12), 1), occurrence(symbol, (5, 6, 10))]
    guess = ("a.py#run", (6,), "call")
    assert guess in shop.told(callers(shop, "B.save").edges)
    file.write_bytes(index(document("a.py", parts)))
    shop.take(file)
    assert guess not in shop.told(callers(shop, "B.save").edges)
    assert guess in shop.told(callers(shop, "A.save").edges)
    callees = shop.graph().callees(shop.symbol("run"), until=soon())
    assert shop.told(callees.edges) == {("a.py#A.save", (6,), "call")}


def test_callees_in_files_that_scip_does_not_know_are_the_parsers(tmp_path: Path) -> None:
    """An index that has no document of price.py: what is in there is guessed, the rest known."""
    shop = Shop(tmp_path, "python")
    part = tmp_path / "part.scip"
    part.write_bytes(without(shop.scip.read_bytes(), "shop/price.py"))
    assert shop.take(part).documents == 4
    found = shop.graph().callees(shop.symbol("checkout"), until=soon())
    assert {who for who, _, _ in shop.told([one for one in found.edges if one.tier == "parser"])} == {
        "shop/price.py#price_of",
        "shop/price.py#twice",
    }
    assert ("shop/store.py#FileStore.save", (22,), "call") in shop.told(found.edges)
    assert (found.envelope.epistemic, found.envelope.tier) == ("lower_bound", "scip+parser")


def test_without_scip_the_parser_answers(tmp_path: Path) -> None:
    """Always a lower bound."""
    shop = Shop(tmp_path, "python")
    found = callers(shop, "checkout")
    assert ("tests/cart_cases.py#check_checkout", (8,), "call") in shop.told(found.edges)
    assert (found.envelope.epistemic, found.envelope.tier) == ("lower_bound", "parser")
    assert DYNAMIC in found.envelope.causes


def test_a_damaged_scip_tier_is_a_cause(shop: Shop) -> None:
    """The parser answers, and nobody thinks that SCIP did."""
    (file,) = (shop.home / "graph").glob("*.scip.sqlite")
    file.write_bytes(b"nothing")
    found = callers(shop, "checkout")
    assert found.envelope.tier == "parser"
    assert "cannot be read and is removed" in found.envelope.causes[0]


def test_the_surest_come_first(shop: Shop) -> None:
    """Then by path and line."""
    found = callers(shop, "FileStore.save")
    assert [one.confidence for one in found.edges] == [1.0, OF_BASE]


def test_tests_are_found_through_other_definitions(shop: Shop) -> None:
    """Cart.add is called by checkout, which a test calls."""
    found = shop.graph().tests(shop.symbol("Cart.add"), until=soon())
    assert shop.told(found.edges) == {("tests/cart_cases.py#check_checkout", (8,), "call")}


def test_impact_goes_on_to_callers_of_callers(shop: Shop) -> None:
    """Nearest first; each says through what it was reached. An import in a file that uses it, or by way of another, says nothing."""
    view = shop.view()
    found = shop.graph().impact(
        shop.symbol("price_of"), depth=3, most=100, least_confidence=0.8, until=soon()
    )
    told = [
        (
            view.symbol(one.edge.symbol).qualified if one.edge.symbol >= 0 else "-",
            one.depth,
            view.symbol(one.through).qualified,
        )
        for one in found.reached
    ]
    assert told == [
        ("Cart.total", 1, "price_of"),
        ("checkout", 1, "price_of"),
        ("check_checkout", 2, "checkout"),
    ]
    assert [one.is_test for one in found.reached] == [False, False, True]
    assert found.envelope.epistemic == "complete"


@pytest.mark.parametrize(("depth", "count"), [(1, 2), (2, 3), (10, 3)])
def test_impact_goes_no_deeper_than_asked(shop: Shop, depth: int, count: int) -> None:
    """And ends by itself where nothing more is reached; else it says that it was ended."""
    found = shop.graph().impact(
        shop.symbol("price_of"), depth=depth, most=100, least_confidence=0.8, until=soon()
    )
    assert len(found.reached) == count
    ended = (f"nothing beyond depth {depth} was looked at",)
    assert found.envelope.causes == (ended if depth < 10 else ())


def test_impact_of_definitions_that_call_each_other_ends(shop: Shop) -> None:
    """A cycle reaches each once, and not the one that was asked for."""
    add(shop, "shop/ring.py", "def a():\n    b()\n\n\ndef b():\n    c()\n\n\ndef c():\n    a()\n")
    view = shop.view()
    found = shop.graph().impact(shop.symbol("a"), depth=10, most=100, least_confidence=0.5, until=soon())
    assert [(view.symbol(one.edge.symbol).name, one.depth) for one in found.reached] == [("c", 1), ("b", 2)]


def test_impact_says_what_it_left_out(shop: Shop) -> None:
    """Past `most`, below the confidence, after the time."""
    graph, symbol = shop.graph(), shop.symbol("FileStore.save")
    few = graph.impact(symbol, depth=3, most=1, least_confidence=0.5, until=soon())
    assert len(few.reached) == 1
    assert few.envelope.causes == ("only the nearest 1 were looked at",)
    sure = graph.impact(symbol, depth=1, most=100, least_confidence=0.8, until=soon())
    assert shop.told([one.edge for one in sure.reached]) == {("shop/cart.py#checkout", (22,), "call")}
    assert sure.envelope.causes == (
        "edges of a confidence below 0.8 are left out",
        "nothing beyond depth 1 was looked at",
    )
    late = graph.impact(symbol, depth=3, most=100, least_confidence=0.8, until=time.monotonic() - 1)
    assert late.reached == ()
    assert OUT_OF_TIME in late.envelope.causes


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("shop/extra.py", "shop.extra"),
        ("shop/__init__.py", "shop"),
        ("src/lone.py", "lone"),
        ("tools/deep/lone.py", "tools.deep.lone"),
        ("src/pack/__init__.py", "pack"),
        ("web/page.ts", "web/page"),
    ],
)
def test_the_module_of_a_definition(shop: Shop, path: str, module: str) -> None:
    """Dotted from the outermost package in Python, the path without its suffix elsewhere."""
    add(shop, path, "def here(): ...\n" if path.endswith("py") else "function here() {}\n")
    assert Graph(shop.view(), str(shop.home)).module(shop.symbol("here")) == module
