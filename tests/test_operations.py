"""The code operations on trees that change: what each answers, and what it never does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from served import write_tree
from slicegrep.index import open_view
from slicegrep.service import operations
from slicegrep.service.errors import Ambiguous, BadLocation, Invalid, NotFound
from slicegrep.service.files import Files
from slicegrep.service.models import (
    CalleesRequest,
    CallersRequest,
    EnclosingAnswer,
    EnclosingRequest,
    ImpactRequest,
    SearchRequest,
    SymbolRequest,
)
from slicegrep.service.operations import Code
from slicegrep.tokens import counter

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
CART = '''"""A cart."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        """Put an item in."""
        self.items.append(item)


def total(cart):
    return sum(cart.items)
'''
SHOP = "from cart import Cart, total\n\n\ndef buy(item):\n    cart = Cart()\n    cart.add(item)\n    return total(cart)\n"
CHECK = "from shop import buy\n\n\ndef test_buy():\n    assert buy(1) == 1\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = {"cart.py": CART, "shop.py": SHOP, "tests/test_shop.py": CHECK, ".gitignore": "hidden.py\n"}
    return write_tree(tmp_path / "shop", {**files, "hidden.py": CART, "tests/cart.py": CART})


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


def enclosing(code: Code, *locations: str, **options: Any) -> EnclosingAnswer:
    return code.enclosing(EnclosingRequest(locations=list(locations), **options))


def symbols(answer: EnclosingAnswer) -> list[str]:
    return [row.symbol for row in answer.rows]


def test_each_location_has_a_row_in_its_place(shop: Path, home: str) -> None:
    """Innermost definition, with its range and the digest of the content; file scope has a path and no symbol."""
    answer = enclosing(
        Code(str(shop), home), "cart.py:9", "shop.py:6", "cart.py:1", "cart.py:9", "cart.py:999"
    )
    assert symbols(answer) == ["Cart.add", "buy", "", "Cart.add", ""]
    first, _, scope, again, past = answer.rows
    assert first == again
    assert (first.symbol_id, first.kind, first.path, first.start, first.end, first.signature) == (
        *("cart.py#Cart.add", "method", "cart.py", 8, 10),
        "def add(self, item)",
    )
    assert first.digest == blake2b(CART.encode(), digest_size=16).hexdigest()
    assert (scope.path, scope.digest, scope.symbol_id, scope.start) == ("cart.py", first.digest, "", 0)
    assert past.path == "cart.py"
    assert answer.resolved == 3


def test_what_is_not_in_the_tree_is_unresolved(shop: Path, home: str, tmp_path: Path) -> None:
    """Outside by dots, by an absolute path or a link; ignored; not there; a folder: never a row about another file."""
    write_tree(tmp_path, {"cart.py": CART, "shop2/cart.py": CART})
    (shop / "link.py").symlink_to(tmp_path / "cart.py")
    (shop / "up").symlink_to(tmp_path)
    (shop / "tests" / "up").symlink_to("..")
    os.mkfifo(shop / "pipe.py")
    given = [
        *("../cart.py:9", "../../etc/passwd:1", f"{tmp_path}/cart.py:9", f"{shop}2/cart.py:9", "/cart.py:9"),
        *(
            "hidden.py:9",
            "link.py:9",
            "up/cart.py:9",
            "tests/up/cart.py:9",
            "tests/../cart.py:9",
            "pipe.py:9",
        ),
        *(
            "cart.pyc:9",
            "Cart.py:9",
            "cart:9",
            "tests:9",
            ".:9",
            "/:1",
            "cart.py/:9x:9",
            "cart.py\0:9",
        ),
    ]
    for row in enclosing(Code(str(shop), home), *given).rows:
        assert (row.symbol, row.path, row.digest) == ("", "", ""), row


def test_one_file_by_other_spellings_is_that_file(shop: Path, home: str) -> None:
    """`./`, doubled slashes, an absolute path inside the root: the row names the path as the index has it."""
    given = ["./cart.py:9", ".//cart.py:9", "tests/.//cart.py:9", f"{shop}/cart.py:9", f"{shop}//./cart.py:9"]
    rows = enclosing(Code(str(shop), home), *given).rows
    assert [row.path for row in rows] == ["cart.py", "cart.py", "tests/cart.py", "cart.py", "cart.py"]
    assert [row.location for row in rows] == given


def test_odd_names_are_names(tmp_path: Path, home: str) -> None:
    """Colons and digits in a path, spaces, a line end, `#`."""
    names = ["a:1.py", "a:1", "b c.py", "d\ne.py", "f#g.py", "h:2:3.py", "12"]
    shebang = f"#!/usr/bin/env python3\n{CART}"
    root = write_tree(tmp_path / "odd", dict.fromkeys(names, shebang))
    answer = enclosing(Code(str(root), home), *(f"{name}:10" for name in names))
    assert [row.path for row in answer.rows] == names
    assert symbols(answer) == ["Cart.add"] * len(names)


@pytest.mark.parametrize(
    "location", ["cart.py:0", ":12", "cart.py", "cart.py:", "cart.py:-1", "cart.py:x", "cart.py:1.5"]
)
def test_a_location_that_is_none_is_named(shop: Path, home: str, location: str) -> None:
    """One malformed location refuses the call, whose other rows might be taken for all."""
    with pytest.raises(BadLocation, match="is not PATH:LINE"):
        enclosing(Code(str(shop), home), "cart.py:9", location)


def test_an_edit_counts_at_once(shop: Path, home: str) -> None:
    """Also one that keeps size and time, one by rename, a removal, and what a hard link from elsewhere wrote."""
    code = Code(str(shop), home)
    assert symbols(enclosing(code, "cart.py:9")) == symbols(enclosing(code, "cart.py:9")) == ["Cart.add"]
    status = (shop / "cart.py").stat()
    (shop / "cart.py").write_text(CART.replace("def add", "def sub"))
    os.utime(shop / "cart.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert symbols(enclosing(code, "cart.py:9")) == ["Cart.sub"]
    (shop / "new.py").write_text("\n\n" + CART)
    (shop / "new.py").replace(shop / "cart.py")
    assert symbols(enclosing(code, "cart.py:9", "cart.py:11")) == ["Cart", "Cart.add"]
    os.link(shop / "cart.py", shop.parent / "elsewhere.py")
    enclosing(code, "cart.py:9")
    (shop.parent / "elsewhere.py").write_text(CART.replace("def add", "def far"))
    answer = enclosing(code, "cart.py:9", include_body=True)
    assert symbols(answer) == ["Cart.far"]
    assert "def far" in (answer.rows[0].body or "")
    assert answer.rows[0].digest == blake2b((shop / "cart.py").read_bytes(), digest_size=16).hexdigest()
    (shop / "cart.py").rename(shop / "moved.py")
    gone, moved = enclosing(code, "cart.py:9", "moved.py:9").rows
    assert (gone.path, moved.symbol) == ("", "Cart.far")


def test_lines_of_another_content_are_none(shop: Path, home: str) -> None:
    """Where the file changes between the look at it and the reading of a body: none rather than another's."""
    os.utime(shop / "cart.py", (0, 0))  # of a file that was just written the look itself reads the text
    files = Files(open_view(str(shop), home), "")
    content = files.at("cart.py")
    assert content
    (shop / "cart.py").write_text("#\n" + CART)
    assert content.lines(files.view, 8, 10) is None
    (shop / "cart.py").write_text(CART)
    assert content.lines(files.view, 8, 8) == ("    def add(self, item):",)


def test_bodies_are_the_lines_once_a_definition_inside_the_budget(tmp_path: Path, home: str) -> None:
    """In the order of first appearance; where one is not there, `next` is a call that brings it."""
    body = "\n".join(f"    value_{at} = compute(value_{at - 1}, {at})" for at in range(30))
    text = "".join(f"def function_{at}():\n{body}\n\n\n" for at in range(12))
    root = write_tree(tmp_path / "long", {"a.py": text})
    code = Code(str(root), home)
    given = [f"a.py:{1 + 33 * at + inner}" for at in range(12) for inner in (0, 5)]
    answer = enclosing(code, *given, include_body=True, token_budget=1_500)
    lines = text.split("\n")
    count, _ = counter(os.environ.get("TIKTOKEN_CACHE_DIR", ""))
    bodies = [row for row in answer.rows if row.body is not None]
    assert 2 <= len(bodies) < 12
    assert bodies == [row for at, row in enumerate(answer.rows) if at % 2 == 0][: len(bodies)]
    assert sum(count(row.body or "") for row in bodies) <= 1_500
    for row in bodies:
        assert (row.body or "").split("\n") == lines[row.start - 1 : row.end]
    asked = SimpleNamespace(symbol=lambda symbol_id: code.symbol(SymbolRequest(symbol_id=symbol_id)))
    for at, row in enumerate(answer.rows):
        if at < 2 * len(bodies):
            assert row.next == ""
        else:
            brought = eval(row.next, {"code": asked}).symbols[0]
            assert (brought.symbol, brought.start, brought.end) == (row.symbol, row.start, row.end)
            assert brought.body.split("\n") == lines[row.start - 1 : row.end]


def test_without_bodies_nothing_is_offered(shop: Path, home: str) -> None:
    """`next` is about a body that was asked for."""
    row = enclosing(Code(str(shop), home), "cart.py:9").rows[0]
    assert (row.body, row.next) == (None, "")


def test_a_symbol_is_found_by_id_name_end_and_location(shop: Path, home: str) -> None:
    """The code comes before tests; a name has upper and lower case."""
    code = Code(str(shop), home)

    def found(**asked: Any) -> list[str]:
        return [one.symbol_id for one in code.symbol(SymbolRequest(**asked)).symbols]

    both = ["cart.py#Cart.add", "tests/cart.py#Cart.add"]
    assert found(symbol_id="tests/cart.py#Cart.add") == both[1:]
    assert found(name="add") == found(name="Cart.add") == found(name="Cart::add") == both
    assert found(name="./tests/cart.py:9") == both[1:]
    for asked in (
        {"name": "Add"},
        {"name": "art.add"},
        {"name": "cart.py:1"},
        {"name": "hidden.py:9"},
        {"name": "."},
    ):
        with pytest.raises(NotFound):
            found(**asked)
    for asked in ({}, {"name": "add", "symbol_id": both[0]}):
        with pytest.raises(Invalid):
            found(**asked)
    with pytest.raises(BadLocation):
        found(name="cart.py:0")


def test_a_body_that_is_too_long_is_cut_at_a_line(tmp_path: Path, home: str) -> None:
    """As many lines as fit; what comes after has none, and says so."""
    body = "\n".join(f"    value_{at} = compute(value_{at - 1}, {at})" for at in range(200))
    root = write_tree(tmp_path / "long", {"a.py": f"def f():\n{body}\n", "b.py": f"def f():\n{body}\n"})
    first, second = Code(str(root), home).symbol(SymbolRequest(name="f", token_budget=400)).symbols
    count, _ = counter(os.environ.get("TIKTOKEN_CACHE_DIR", ""))
    lines = (first.body or "").split("\n")
    whole = f"def f():\n{body}".split("\n")
    assert lines == whole[: len(lines)]
    assert first.truncated and count("\n".join(lines)) <= 400 < count("\n".join(whole[: len(lines) + 1]))
    assert (second.body, second.truncated) == (None, True)


def test_what_a_limit_leaves_out_is_counted(tmp_path: Path, home: str) -> None:
    """Of a name that is defined everywhere twenty definitions are listed; of callers as many as are asked for."""
    files = {f"m{at:02}.py": f"from base import go\n\n\ndef run():\n    go({at})\n" for at in range(25)}
    code = Code(str(write_tree(tmp_path / "many", {**files, "base.py": "def go(n):\n    return n\n"})), home)
    answer = code.symbol(SymbolRequest(name="run", include_body=False))
    assert (len(answer.symbols), answer.more) == (20, 5)
    callers = code.callers(CallersRequest(name="go", k=4))
    whole = code.callers(CallersRequest(name="go", k=200))
    assert (len(callers.related), len(callers.related) + callers.more) == (4, len(whole.related))
    assert {one.symbol_id for one in whole.related} >= {f"m{at:02}.py#run" for at in range(25)}


def test_a_search_is_the_command_lines_and_tells_no_path_of_the_machine(shop: Path, home: str) -> None:
    """In the tree, a folder and a file."""
    code = Code(str(shop), home)
    whole = code.search(SearchRequest(pattern="total"))
    assert {one.file for one in whole.result.chunks} >= {"cart.py", "shop.py"}
    assert whole.result.path == "."
    assert code.search(SearchRequest(pattern="total", path="tests/")).result.path == "tests"
    for path in ("", ".", "./tests", "cart.py", str(shop / "cart.py")):
        answer = code.search(SearchRequest(pattern="total|no_such_name", path=path))
        assert str(shop.parent) not in answer.model_dump_json(), path


def test_a_search_stays_in_the_index(shop: Path, home: str, tmp_path: Path) -> None:
    """Not outside, through a link, in `.git`, nor in what is ignored, whatever the globs say."""
    write_tree(tmp_path, {"secret/cart.py": CART})
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / "link").symlink_to(tmp_path / "secret")
    (shop / "link.py").symlink_to(tmp_path / "secret" / "cart.py")
    code = Code(str(shop), home)
    for path in (
        "..",
        "../secret",
        str(tmp_path / "secret"),
        "link",
        "link.py",
        "link/cart.py",
        ".git",
        ".git/config",
    ):
        with pytest.raises(NotFound):
            code.search(SearchRequest(pattern="total", path=path))
    with pytest.raises(NotFound):
        code.search(SearchRequest(pattern="total", path="hidden.py"))
    for glob in ("hidden.py", ".git/**", "*", "link/**", "../secret/**"):
        answer = code.search(SearchRequest(pattern="total", glob=[glob]))
        assert {one.file for one in answer.result.chunks} <= {"cart.py", "shop.py", "tests/cart.py"}, glob


def test_many_wildcards_take_no_time(shop: Path, home: str) -> None:
    """A glob that a backtracking engine would try for minutes on one long name."""
    (shop / ("a" * 200)).write_text("total\n")
    code = Code(str(shop), home)
    for glob in ("*?*?*?*?*?*?*?*?x", "{a,?}{a,?}{a,?}{a,?}*", "**/" * 30 + "x"):
        code.search(SearchRequest(pattern="total", glob=[glob]))
    answer = code.search(SearchRequest(pattern="total", glob=["**/*.{py,pyi}", "!tests/**/test_*.py"]))
    assert answer.result.chunks


def test_a_tree_inside_a_repository_ends_at_its_folder(shop: Path, home: str) -> None:
    """Paths are relative to it, and what lies beside it is not there, nor a neighbour."""
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    code = Code(str(shop / "tests"), home)
    answer = enclosing(
        code, "cart.py:9", "shop.py:6", "../shop.py:6", "test_shop.py:4", f"{shop}/cart.py:9", neighbours=True
    )
    assert symbols(answer) == ["Cart.add", "", "", "test_buy", ""]
    assert answer.rows[0].symbol_id == "cart.py#Cart.add"
    ends = [one for entry in answer.neighbours for one in (*entry.callers, *entry.callees, *entry.tests)]
    assert {one.path for one in ends} <= {"cart.py", "test_shop.py"}
    with pytest.raises(NotFound):
        code.symbol(SymbolRequest(name="buy"))
    assert code.search(SearchRequest(pattern="buy")).result.chunks[0].file == "test_shop.py"


def test_impact_and_modules_name_nothing_beside_the_served_folder(tmp_path: Path, home: str) -> None:
    """A way that leads through a file outside ends inside; the step there is not named, nor a package above."""
    files = {
        "inn/__init__.py": "",
        "inn/a.py": "def base():\n    return 1\n",
        "inn/b.py": "from out import secret\n\n\ndef top():\n    return secret()\n",
        "out.py": "from inn.a import base\n\n\ndef secret():\n    return base()\n",
    }
    root = write_tree(tmp_path / "repo", {**files, "__init__.py": ""})
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    code = Code(str(root / "inn"), home)
    impact = code.impact(ImpactRequest(name="base"))
    assert [(one.symbol_id, one.depth, one.through) for one in impact.reached if one.symbol] == [
        ("b.py#top", 2, "")
    ]
    [entry] = enclosing(code, "a.py:2", neighbours=True).neighbours
    assert entry.module == "a"
    assert (
        enclosing(Code(str(root), home), "inn/a.py:2", neighbours=True).neighbours[0].module.endswith("inn.a")
    )


def test_a_list_of_impact_that_is_cut_says_by_how_many(tmp_path: Path, home: str) -> None:
    """Each list for itself: many callers do not hide that there are tests."""
    uses = "".join(f"def use{at}():\n    base()\n\n\n" for at in range(6))
    tests = "".join(f"def test_{at}():\n    assert base() == 1\n\n\n" for at in range(4))
    files = {
        "a.py": "def base():\n    return 1\n\n\n" + uses,
        "tests/test_a.py": "from a import base\n\n\n" + tests,
    }
    impact = Code(str(write_tree(tmp_path / "wide", files)), home).impact(
        ImpactRequest(name="base", k=2, depth=1)
    )
    assert (len(impact.reached), impact.more) == (2, 4)
    assert (len(impact.tests), impact.more_tests) == (2, 2)


def test_neighbours_begin_with_what_says_most(tmp_path: Path, home: str) -> None:
    """Callers are no tests, calls come before names handed on, near ones before others; a test is above what helps it."""
    use = "from a import work\n\n\ndef {}():\n    return {}\n"
    files = {
        "a.py": "def work():\n    return 1\n",
        "above/early.py": use.format("handed", "work"),
        "above/late.py": use.format("called", "work()"),
        "z.py": use.format("beside", "work()"),
        "tests/aaa.py": use.format("helper", "work()"),
        "tests/test_a.py": use.format("test_work", "work()") + "\n\ndef test_two():\n    work()\n",
        "tests/test_b.py": "from z import beside\n\n\ndef test_beside():\n    beside()\n",
    }
    code = Code(str(write_tree(tmp_path / "near", files)), home)
    [entry] = enclosing(code, "a.py:1", neighbours=True, neighbour_k=2).neighbours
    assert [one.symbol for one in entry.callers] == ["beside", "called"]
    assert entry.callers[0].lines == [5]
    assert "2 of 3 callers are listed" in entry.envelope.causes
    [entry] = enclosing(code, "a.py:1", neighbours=True, neighbour_k=9).neighbours
    assert [one.symbol for one in entry.callers] == ["beside", "called", "handed"]
    assert [one.symbol for one in entry.tests] == ["test_work", "test_two", "test_beside", "helper"]
    related = code.callers(CallersRequest(name="work")).related
    assert [one.path.startswith("tests/") for one in related] == [False] * 6 + [True] * 5


def test_the_type_around_a_method_is_no_callee_of_it(tmp_path: Path, home: str) -> None:
    """Of a receiver every method has it; what is called comes first."""
    text = "package p\n\ntype Box struct{}\ntype Lid struct{}\n\nfunc open() *Lid { return nil }\n\nfunc (b *Box) Use(l *Lid) {\n\topen()\n}\n"
    code = Code(str(write_tree(tmp_path / "go", {"p.go": text, "go.mod": "module p\n"})), home)
    [entry] = enclosing(code, "p.go:9", neighbours=True).neighbours
    assert [one.symbol for one in entry.callees] == ["open", "Lid"]


def test_neighbours_are_callers_callees_and_tests_of_each_definition(shop: Path, home: str) -> None:
    """With module and envelope; ids that code.symbol takes; none under 0.8, and no import lines, which are no use of it."""
    code = Code(str(shop), home)
    answer = enclosing(code, "shop.py:6", "shop.py:7", "cart.py:14", neighbours=True)
    buy, total = answer.neighbours
    assert (buy.symbol_id, buy.module) == ("shop.py#buy", "shop")
    assert {one.symbol_id for one in buy.callees} >= {"cart.py#Cart", "cart.py#total"}
    assert [one.symbol_id for one in buy.tests] == ["tests/test_shop.py#test_buy"]
    assert [(one.symbol_id, one.lines, one.relation) for one in total.callers] == [
        ("shop.py#buy", [7], "call")
    ]
    assert buy.envelope.epistemic == "lower_bound" and buy.envelope.tier == "parser" and buy.envelope.causes
    for one in (*buy.callees, *total.callers):
        assert one.confidence >= 0.8
        assert code.symbol(SymbolRequest(symbol_id=one.symbol_id)).symbols[0].path == one.path


def test_neighbourhoods_are_made_for_twenty_definitions(tmp_path: Path, home: str) -> None:
    """And it is said where there were more; of each list as many as are asked for, and how many there were."""
    text = "def base():\n    pass\n\n\n" + "".join(f"def f{at}():\n    base()\n\n\n" for at in range(24))
    code = Code(str(write_tree(tmp_path / "many", {"a.py": text})), home)
    locations = [f"a.py:{1 + 4 * at}" for at in range(25)]
    enclosing(
        code, locations[1], neighbours=True
    )  # loads the parsers, which on a busy machine takes all the time there is
    answer = enclosing(code, *locations, neighbours=True, neighbour_k=3)
    assert (len(answer.neighbours), answer.anchors_capped) == (20, True)
    assert len(answer.neighbours[0].callers) == 3
    assert "3 of 24 callers are listed" in answer.neighbours[0].envelope.causes
    assert not enclosing(code, *locations[:20], neighbours=True).anchors_capped


def test_callers_callees_and_impact_are_of_one_definition(shop: Path, home: str) -> None:
    """By id or name; how far, through what; where a name fits several they are named."""
    code = Code(str(shop), home)
    callers = code.callers(CallersRequest(symbol_id="cart.py#total"))
    assert callers.symbol.symbol_id == "cart.py#total"
    assert [(one.path, one.symbol, one.kind, one.relation) for one in callers.related] == [
        ("shop.py", "", "module", "import"),
        ("shop.py", "buy", "function", "call"),
    ]
    callees = code.callees(CalleesRequest(name="buy"))
    assert {one.symbol_id for one in callees.related} >= {"cart.py#Cart", "cart.py#total"}
    impact = code.impact(ImpactRequest(symbol_id="cart.py#total"))
    reached = [(one.symbol_id, one.depth, one.through) for one in impact.reached]
    assert ("shop.py#buy", 1, "cart.py#total") in reached
    assert ("tests/test_shop.py#test_buy", 2, "shop.py#buy") in [
        (one.symbol_id, one.depth, one.through) for one in impact.tests
    ]
    with pytest.raises(Ambiguous, match=r"cart\.py#Cart\.add, tests/cart\.py#Cart\.add"):
        code.callers(CallersRequest(name="add"))
    with pytest.raises(NotFound):
        code.impact(ImpactRequest(name="nobody"))


def test_what_cannot_be_asked_for_has_no_id(tmp_path: Path, home: str) -> None:
    """A path that is no UTF-8 stands in no request; its definitions are told all the same."""
    root = write_tree(tmp_path / "odd", {"a.py": "def base():\n    return 1\n"})
    text = "from a import base\n\n\ndef one():\n    return base()\n\n\ndef two():\n    return base()\n"
    with open(os.path.join(os.fsencode(root), b"b\xff.py"), "w") as file:
        file.write(text)
    code = Code(str(root), home)
    found = code.callers(CallersRequest(name="base")).related
    assert {(one.symbol, one.symbol_id) for one in found if one.symbol} == {("one", ""), ("two", "")}
    answer = code.symbol(SymbolRequest(name="two"))
    assert [(one.symbol_id, one.body is not None) for one in answer.symbols] == [("", True)]


def test_overloads_are_one_definition(tmp_path: Path, home: str) -> None:
    """Their name is not ambiguous: what implements them, the last, is meant."""
    text = "from typing import overload\n\n\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a):\n    return a\n\n\ndef g():\n    f(1)\n"
    code = Code(str(write_tree(tmp_path / "over", {"a.py": text})), home)
    assert code.callers(CallersRequest(name="f")).symbol.symbol_id == "a.py#f~3"


def test_the_graph_has_its_time_and_says_what_is_missing(
    shop: Path, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it runs out, the answer comes all the same, with the cause."""
    monkeypatch.setattr(operations, "GRAPH_SECONDS", -1.0)
    answer = Code(str(shop), home).callers(CallersRequest(symbol_id="cart.py#total"))
    assert answer.envelope.epistemic == "lower_bound"
    assert any("time" in cause for cause in answer.envelope.causes), answer.envelope


def test_calls_from_many_threads_are_each_about_one_content(shop: Path, home: str) -> None:
    """While a file is rewritten, no row mixes one content's lines with the other's digest or body."""
    texts = [CART, "# moved\n" * 7 + CART]
    starts = {blake2b(text.encode(), digest_size=16).hexdigest(): 8 + 7 * at for at, text in enumerate(texts)}
    code = Code(str(shop), home)
    end = time.monotonic() + 1.5

    def ask(_: int) -> int:
        asked = 0
        while time.monotonic() < end:
            row = enclosing(code, "cart.py:16", include_body=True).rows[0]
            row = row if row.symbol == "Cart.add" else enclosing(code, "cart.py:9", include_body=True).rows[0]
            asked += 1
            if row.symbol == "Cart.add":
                assert row.start == starts[row.digest]
                assert row.body is None or row.body.startswith("    def add")
        return asked

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(ask, at) for at in range(4)]
        at = 0
        while time.monotonic() < end:
            at += 1
            beside = shop.parent / "beside.py"
            beside.write_text(texts[at % 2])
            beside.replace(shop / "cart.py")
            time.sleep(0.01)
        assert all(one.result() > 5 for one in running)


def test_a_folder_that_is_gone_is_said_to_be(shop: Path, home: str) -> None:
    """Without its path: the sentence goes to callers elsewhere."""
    code = Code(str(shop), home)
    code.prepare()
    shop.rename(shop.parent / "away")
    with pytest.raises(NotFound, match="the folder of this tree cannot be read") as raised:
        enclosing(code, "cart.py:9")
    assert str(shop) not in str(raised.value)


def test_a_damaged_index_is_made_anew(shop: Path, home: str) -> None:
    """Nobody who asks sees it."""
    code = Code(str(shop), home)
    assert symbols(enclosing(code, "cart.py:9")) == ["Cart.add"]
    for file in Path(home, "index").glob("*.sqlite"):
        file.write_bytes(b"damaged" * 1_000)
    assert symbols(enclosing(Code(str(shop), home), "cart.py:9", "shop.py:6")) == ["Cart.add", "buy"]


def test_the_revision_is_heads(shop: Path, home: str) -> None:
    """Of the repository that the tree is in; none outside of one."""
    code = Code(str(shop), home)
    assert enclosing(code, "cart.py:9").revision == ""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    subprocess.run(["git", "-C", str(shop), *who, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    said = subprocess.run(
        ["git", "-C", str(shop), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert enclosing(Code(str(shop / "tests"), home), "cart.py:9").revision == said.stdout[:10]


def test_two_hundred_locations_in_fifty_files_take_thirty_milliseconds(tmp_path: Path, home: str) -> None:
    """Warm, of this process's processor time, with bodies and without."""
    text = "".join(f"class C{at}:\n    def f(self):\n        return {at}\n\n\n" for at in range(100))
    code = Code(str(write_tree(tmp_path / "wide", {f"m{at}.py": text for at in range(50)})), home)
    locations = [f"m{at % 50}.py:{3 + 5 * at // 2}" for at in range(200)]
    for options in ({}, {"include_body": True}):
        times = []
        for _ in range(6):
            begun = time.process_time()
            enclosing(code, *locations, **options)
            times.append(time.process_time() - begun)
        assert min(times) < 0.030, times


def test_the_operations_do_without_the_server() -> None:
    """Nothing of the [serve] extra is loaded: MCP and Python call them in an installation without it."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('fastapi', 'uvicorn', 'starlette', 'httpx', 'mcp')))\n"
        f"sys.path.insert(0, {str(PLUGIN)!r})\n"
        "import slicegrep.service.operations, slicegrep.service.related, slicegrep.graph\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
