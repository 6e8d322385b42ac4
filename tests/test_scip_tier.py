"""The SCIP tier: callers and callees as the indexers have them, for what is fresh, whatever becomes of its file."""

from __future__ import annotations

import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from scip_bytes import document, index, metadata, occurrence, without
from scip_shop import Shop, soon
from slicegrep.graph.place import graph_path
from slicegrep.graph.scip import ScipError
from slicegrep.graph.scip_store import remove_graph, sweep_graph
from slicegrep.graph.scip_tier import OF_BASE, OUT_OF_TIME

CHECKOUT = {
    ("shop/cart.py#Cart", (20,), "call"),
    ("shop/cart.py#Cart.__init__", (20,), "call"),
    ("shop/cart.py#Cart.add", (21,), "call"),
    ("shop/cart.py#Cart.total", (22, 23), "reference"),
    ("shop/price.py#price_of", (21,), "call"),
    ("shop/price.py#twice", (23,), "call"),
    ("shop/store.py#FileStore", (22,), "call"),
    ("shop/store.py#FileStore.save", (22,), "call"),
}


@pytest.fixture
def python(tmp_path: Path) -> Shop:
    """Make the project of Python, its SCIP file taken in."""
    shop = Shop(tmp_path, "python")
    assert shop.take().stale == ()
    return shop


@pytest.fixture
def typescript(tmp_path: Path) -> Shop:
    """Make the project of TypeScript, its SCIP file taken in."""
    shop = Shop(tmp_path, "typescript")
    assert shop.take().stale == ()
    return shop


def path_of(shop: Shop) -> Path:
    """Return where the tier's file is."""
    return Path(graph_path(str(shop.tree), str(shop.home)))


def test_what_is_taken_in_is_counted(tmp_path: Path) -> None:
    """Documents, definitions and references; nothing stale, nothing unknown."""
    taken = Shop(tmp_path, "python").take()
    assert taken.tool == "scip-python 0.6.6"
    assert (taken.documents, taken.stale, taken.unknown) == (5, (), ())
    assert (taken.definitions, taken.references) == (18, 58)


def test_callees_of_a_function_of_python(python: Shop) -> None:
    """With the lines and kinds of the references; a name behind a smiley is found in its place."""
    assert python.callees("checkout") == CHECKOUT


def test_callers_of_functions_of_python(python: Shop) -> None:
    """Under another name, by a property, by itself."""
    assert python.callers("price_of") == {
        ("shop/cart.py#", (2,), "import"),
        ("shop/cart.py#Cart.total", (16,), "call"),
        ("shop/cart.py#checkout", (21,), "call"),
    }
    assert python.callers("Cart.total") == {("shop/cart.py#checkout", (22, 23), "reference")}
    assert python.callers("countdown") == {("shop/cart.py#countdown", (27,), "call")}
    assert python.callers("check_checkout.expected") == {("tests/cart_cases.py#check_checkout", (8,), "call")}


def test_the_names_that_a_definition_goes_by(python: Shop) -> None:
    """Its own, and those that imports give it."""
    assert python.tier().names(python.symbol("price_of")) == {"price_of", "cost"}
    assert python.tier().names(python.symbol("Cart")) == {"Cart"}


def test_callees_are_without_what_lies_in_the_definition(python: Shop) -> None:
    """What an inner function refers to is the outer one's as well; the inner one is not."""
    assert python.callees("check_checkout") == {("shop/cart.py#checkout", (8,), "call")}
    assert python.callees("Cart") == {("shop/price.py#price_of", (16,), "call")}


def test_callers_of_a_class_of_typescript(typescript: Shop) -> None:
    """Made with `new`, inherited from, handed on under another name."""
    assert typescript.callers("Cart") == {
        ("src/cart.ts#checkout", (25,), "call"),
        ("src/cart.ts#BigCart", (31,), "inheritance"),
        ("src/index.ts#", (1,), "import"),
        ("test/cart.test.ts#", (1,), "import"),
        ("test/cart.test.ts#checkCheckout", (5,), "call"),
    }


@pytest.mark.parametrize(
    ("language", "name"), [("python", "Cart.__init__"), ("typescript", "Cart.constructor")]
)
def test_who_makes_an_object_calls_its_constructor(tmp_path: Path, language: str, name: str) -> None:
    """scip-python names the class there, scip-typescript the constructor."""
    shop = Shop(tmp_path, language)
    shop.take()
    assert any(who.endswith("#checkout") and kind == "call" for who, _, kind in shop.callers(name))


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_overloads_are_one_definition(tmp_path: Path, language: str) -> None:
    """Callers of the first are those of the last; a callee is the last, which has the body. No overload calls another."""
    shop = Shop(tmp_path, language)
    shop.take()
    last = shop.symbol("twice")
    tier = shop.tier()
    answers = [tier.callers(one, until=soon()) for one in (last, last - 1, last - 2)]
    assert answers[0] is not None
    assert answers[0][0]
    assert answers[0] == answers[1] == answers[2]
    found = tier.callees(shop.symbol("checkout"), until=soon())
    assert found is not None
    assert [one.symbol for one in found[0] if shop.view().symbol(one.symbol).name == "twice"] == [last]
    assert shop.callees("twice") == set()


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_call_of_the_base_method_may_be_one_of_what_overrides_it(tmp_path: Path, language: str) -> None:
    """With less confidence than where the class is known; from the other end as well."""
    shop = Shop(tmp_path, language)
    shop.take()
    tier, view = shop.tier(), shop.view()
    callers = tier.callers(shop.symbol("FileStore.save"), until=soon())
    callees = tier.callees(shop.symbol("keep"), until=soon())
    assert callers is not None
    assert callees is not None
    assert {(view.symbol(e.symbol).qualified, e.confidence) for e in callers[0]} == {
        ("checkout", 1.0),
        ("keep", OF_BASE),
    }
    methods = {(view.symbol(e.symbol).qualified, e.confidence) for e in callees[0] if e.kind == "call"}
    assert methods == {("Store.save", 1.0), ("FileStore.save", OF_BASE)}


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_receiver_of_unknown_type_is_a_cause(tmp_path: Path, language: str) -> None:
    """`thing.add()` may be Cart's: who asks for its callers, or for what is called there, is told."""
    shop = Shop(tmp_path, language)
    shop.take()
    tier = shop.tier()
    callers = tier.callers(shop.symbol("Cart.add"), until=soon())
    callees = tier.callees(shop.symbol("loose"), until=soon())
    assert callers is not None
    assert callers[1] == ["scip tier: references of that name that it does not resolve: 1"]
    assert callees == ([], ["scip tier: references that it does not resolve: 1"])


def test_a_changed_file_is_not_covered(python: Shop) -> None:
    """Its references are gone, those of other files stay; and they are back when the content is."""
    cart = python.project / "shop" / "cart.py"
    before = cart.read_text()
    cart.write_text(f"# more\n{before}")
    tier, view = python.tier(), python.view()
    row = view.file_at("shop/cart.py")
    assert row is not None
    assert tier.stale == {row.id}
    assert row.id not in tier.covered
    assert python.callers("price_of") == set()
    assert tier.callers(python.symbol("Cart.add"), until=soon()) is None
    cart.write_text(before)
    assert len(python.callers("price_of")) == 3


def test_a_document_of_another_content_is_stale_from_the_start(tmp_path: Path) -> None:
    """It is named, and the others are taken in."""
    shop = Shop(tmp_path, "python")
    cart = shop.project / "shop" / "cart.py"
    cart.write_text(cart.read_text().replace("def add", "def put"))
    taken = shop.take()
    assert (taken.documents, taken.stale) == (4, ("shop/cart.py",))
    view = shop.view()
    row = view.file_at("shop/cart.py")
    assert row is not None
    assert shop.tier().stale == {row.id}


def test_local_symbols_are_those_of_their_document(tmp_path: Path) -> None:
    """`local 0` of another file is another one."""
    shop = Shop(tmp_path, "python")
    text = "def out():\n    def inner(): ...\n    inner()\n"
    parts = [occurrence("local 0", (1, 8, 13), 1), occurrence("local 0", (2, 4, 9))]
    for name in ("a.py", "b.py"):
        (shop.project / name).write_text(text)
    file = tmp_path / "two.scip"
    file.write_bytes(index(document("a.py", parts), document("b.py", parts)))
    shop.take(file)
    assert shop.callers("out.inner", "a.py") == {("a.py#out", (3,), "call")}


def test_an_edge_is_as_strong_as_its_strongest_reference(tmp_path: Path) -> None:
    """All lines are in it."""
    shop = Shop(tmp_path, "python")
    (shop.project / "a.py").write_text("def run(): ...\ndef go():\n    run\n    run()\n    run\n")
    parts = [occurrence("x . . . a/run().", (line, 4, 7), int(line == 0)) for line in (0, 2, 3, 4)]
    file = tmp_path / "one.scip"
    file.write_bytes(index(document("a.py", parts)))
    shop.take(file)
    assert shop.callers("run") == {("a.py#go", (3, 4, 5), "call")}


def test_an_annotated_variable_has_one_name(tmp_path: Path) -> None:
    """scip-python calls it one way where it is defined, and another one in other files."""
    shop = Shop(tmp_path, "python")
    (shop.project / "a.py").write_text("limits: dict = make(\n    1,\n)\n")
    (shop.project / "b.py").write_text("import a\nprint(a.limits)\n")
    symbol = "scip-python python shop 1 a/limits"
    file = tmp_path / "two.scip"
    file.write_bytes(
        index(
            document("a.py", [occurrence(f"{symbol}.limits.", (0, 0, 6), 1)]),
            document("b.py", [occurrence(f"{symbol}#", (1, 8, 14))]),
        )
    )
    shop.take(file)
    assert shop.callers("limits") == {("b.py#", (2,), "reference")}


def test_taken_in_again_it_is_replaced(python: Shop) -> None:
    """As if it had been taken in once."""
    once = python.callees("checkout"), path_of(python).stat().st_size
    python.take()
    assert (python.callees("checkout"), path_of(python).stat().st_size) == once


def test_what_an_index_has_no_more_goes(tmp_path: Path) -> None:
    """The same file, made anew without one of the documents."""
    shop = Shop(tmp_path, "python")
    file = tmp_path / "index.scip"
    file.write_bytes(shop.scip.read_bytes())
    shop.take(file)
    file.write_bytes(without(shop.scip.read_bytes(), "shop/price.py"))
    shop.take(file)
    assert len(shop.tier().covered) == 4


def test_an_index_of_another_content_takes_nothing_from_a_fresh_one(python: Shop, tmp_path: Path) -> None:
    """An old index that is taken in later does not hide what is known."""
    old = tmp_path / "old.scip"
    old.write_bytes(index(document("shop/cart.py", [occurrence("x . . . old().", (0, 0, 4), 1)])))
    assert python.take(old).stale == ("shop/cart.py",)
    assert python.callees("checkout") == CHECKOUT


def test_two_projects_of_a_workspace_have_their_own_index(tmp_path: Path) -> None:
    """Each in its folder, known by the folder that is given: the roots are another machine's."""
    python = Shop(tmp_path, "python", "back")
    typescript = Shop(tmp_path, "typescript", "front/web")
    assert python.take(folder="back").documents == 5
    assert typescript.take(folder="front/web").documents == 5
    assert {who for who, _, _ in python.callers("Cart.total", "back/shop/cart.py")} == {
        "back/shop/cart.py#checkout"
    }
    assert len(typescript.callers("Cart", "front/web/src/cart.ts")) == 5
    assert len(python.tier().covered) == 10


def test_the_root_that_the_index_names_is_found_in_the_workspace(tmp_path: Path) -> None:
    """Without a folder given, percent signs and all."""
    shop = Shop(tmp_path, "python", "back end")
    data = shop.scip.read_bytes()
    other = tmp_path / "moved.scip"
    other.write_bytes(metadata(f"file://{quote(str(shop.project))}") + data[2 + data[1] :])
    assert shop.take(other).documents == 5


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "shop/../../x.py", "shop", "", "nothing.py"]
)
def test_a_path_out_of_the_index_is_unknown(tmp_path: Path, path: str) -> None:
    """Nothing is read that the workspace's index does not have."""
    shop = Shop(tmp_path, "python")
    file = tmp_path / "odd.scip"
    file.write_bytes(index(document(path, [occurrence("x . . . root/", (0, 0, 4), 1)])))
    taken = shop.take(file)
    assert (taken.documents, taken.stale, taken.unknown) == (0, (), (path,))


def test_nothing_changes_where_a_file_is_damaged_in_the_middle(python: Shop, tmp_path: Path) -> None:
    """What was there before is there afterwards, and no half of anything beside it."""
    cut = tmp_path / "cut.scip"
    cut.write_bytes(python.scip.read_bytes()[:-40])
    with pytest.raises(ScipError):
        python.take(cut)
    assert python.callees("checkout") == CHECKOUT
    assert sorted(path.name.partition(".")[2] for path in path_of(python).parent.iterdir()) == [
        "scip.lock",
        "scip.sqlite",
    ]


@pytest.mark.parametrize("damage", ["text", "empty", "cut", "zeros"])
def test_a_damaged_file_goes_and_says_so(python: Shop, damage: str) -> None:
    """Nothing is known, the cause is named, and taking in again mends it."""
    file = path_of(python)
    data = file.read_bytes()
    broken = {
        "text": b"no database at all" * 400,
        "empty": b"",
        "cut": data[: len(data) // 2],
        "zeros": data[:4096] + bytes(len(data) - 4096),
    }[damage]
    file.write_bytes(broken)
    tier = python.tier()
    asked = tier.callers(python.symbol("price_of"), until=soon())
    assert asked is None or not asked[0]
    assert tier.causes == (
        "scip tier: what was taken in cannot be read and is removed; run `slicegrep index --scip FILE` again",
    )
    assert not file.exists()
    python.take()
    assert python.callees("checkout") == CHECKOUT


def test_a_tier_in_use_keeps_what_it_had(python: Shop, tmp_path: Path) -> None:
    """Another process takes in an index that has nothing of the project any more."""
    tier, symbol = python.tier(), python.symbol("price_of")
    nothing = tmp_path / "nothing.scip"
    nothing.write_bytes(index(document("shop/cart.py", [])))
    python.take(nothing)
    found = tier.callers(symbol, until=soon())
    assert found is not None
    assert len(found[0]) == 3


def test_its_file_is_the_owners_alone(python: Shop) -> None:
    """0600 in folders of 0700, under any umask."""
    file = path_of(python)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_both_tiers_files_are_removed(python: Shop) -> None:
    """The parser tier's as well; a second time there is nothing."""
    beside = Path(graph_path(str(python.tree), str(python.home), ".sqlite"))
    beside.write_bytes(b"")
    assert remove_graph(str(python.tree), str(python.home))
    assert list(beside.parent.iterdir()) == []
    assert not remove_graph(str(python.tree), str(python.home))


def test_what_is_kept_of_a_workspace_goes_with_its_index(python: Shop) -> None:
    """A day after it was written, not before, and not while the index is there."""
    file, day = path_of(python), time.time() - 100_000
    os.utime(file, (day, day))
    sweep_graph(str(python.home))
    assert file.exists()
    for one in (python.home / "index").glob("*.sqlite*"):
        one.unlink()
    os.utime(file)
    sweep_graph(str(python.home))
    assert file.exists()
    os.utime(file, (day, day))
    sweep_graph(str(python.home))
    assert not file.exists()


def test_any_thread_may_ask(python: Shop) -> None:
    """All get the same answer of one tier."""
    tier, symbol = python.tier(), python.symbol("checkout")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: tier.callees(symbol, until=soon()), range(400)))
    assert answers == [tier.callees(symbol, until=soon())] * 400


def test_past_the_time_the_answer_says_that_it_is_not_whole(python: Shop) -> None:
    """Both ways."""
    tier, until = python.tier(), time.monotonic() - 1
    for found in (
        tier.callers(python.symbol("price_of"), until=until),
        tier.callees(python.symbol("checkout"), until=until),
    ):
        assert found is not None
        assert found == ([], [OUT_OF_TIME])


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    """And none is made by asking."""
    shop = Shop(tmp_path, "python")
    tier = shop.tier()
    assert tier.callers(shop.symbol("price_of"), until=soon()) is None
    assert (tier.covered, tier.stale, tier.causes) == (frozenset(), frozenset(), ())
    assert not os.path.exists(path_of(shop))
