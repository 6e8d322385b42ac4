"""The graph's block: a line for each function that was hit, from the tree's own graph or from a server's."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from enclosing_server import enclosing_server
from index_told import PLUGIN, write
from slicegrep.annotate import Row, annotate
from slicegrep.graph.place import graph_path
from slicegrep.index import let_go
from slicegrep.index.points import outlines
from slicegrep.related import ASKED_EACH, MOST_FUNCTIONS, block_of
from slicegrep.service.models import MOST_ANCHORS, MOST_NEIGHBOURS, EnclosingRequest
from slicegrep.service.operations import Code
from slicegrep.shim.answers import answers_of
from slicegrep.shim.knobs import Knobs
from slicegrep.source import read_source

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.item import price\n\n\nclass Cart:\n    def add(self, item):\n        return price(item)\n",
    "shop/item.py": "def price(item):\n    return item\n\n\ndef lonely():\n    return 1\n",
    "shop/pay.py": "from shop.cart import Cart\n\n\ndef checkout(item):\n    cart = Cart()\n    return cart.add(item)\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_add():\n    cart = Cart()\n    assert cart.add(1)\n",
}
HITS = "shop/cart.py:6:        return price(item)\nshop/cart.py:5:    def add(self, item):\nshop/item.py:2:    return item\n"
HEADER = "[Related from slicegrep dependency graph]\n"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small shop."""
    write(tmp_path / "tree", FILES)
    return tmp_path / "tree"


def home_of(tree: Path) -> str:
    return str(tree.parent / "home")


def related(tree: Path, text: str = HITS, *, seconds: float = 30, **variables: str) -> str:
    """Annotate an output as the shim does, and return the block."""
    environment = {"SLICEGREP_SHIM_GRAPH": "on", **variables}
    until = time.monotonic() + seconds
    answers = answers_of(environment, Knobs(environment), os.path.realpath(tree), home_of(tree), until)
    rows = rows_of(tree, answers.definitions_of, text)
    return answers.related(rows)


def last_is_indexed(tree: Path, number: int) -> bool:
    name = f"many/m{number}.py"
    source = read_source(str(tree / name))
    assert source is not None
    return bool(outlines(os.path.realpath(tree), home_of(tree), {name: source.digest}))


def rows_of(tree: Path, definitions_of: Any, text: str) -> tuple[Row, ...]:
    return annotate(
        text,
        roots=[str(tree)],
        operands=None,
        definitions_of=definitions_of,
        max_length=1 << 40,
        max_bytes=5_000_000,
        deadline=time.monotonic() + 60,
        ranges=False,
    ).rows


def served(tree: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Return the true answer with its neighbourhoods, as the code operations give it."""
    return Code(str(tree), home_of(tree)).enclosing(EnclosingRequest(**request)).model_dump()


def test_a_line_for_each_function_in_the_order_of_the_hits(tree: Path) -> None:
    """Module, callers with the place of the call, callees with that of the definition, tests, and what may be missing."""
    block = related(tree)
    assert block.startswith(HEADER)
    assert block.endswith("\n")
    first, second = block.splitlines()[1:]
    said, _, bound = first.partition(" (lower bound: ")
    assert said == (
        "Cart.add (shop.cart) callers: checkout shop/pay.py:6; callees: price shop/item.py:1; "
        "tests: test_add tests/test_cart.py:6"
    )
    assert bound.endswith(")")
    assert second.startswith("price (shop.item) callers: ")
    assert "Cart.add shop/cart.py:6" in second


def test_a_server_s_block_is_the_same(tree: Path) -> None:
    """Asked in the call that brings the definitions, and only where the block is wanted."""
    local, least = related(tree), related(tree, SLICEGREP_SHIM_GRAPH_K="1")
    with enclosing_server(tree) as server:
        named = {"SLICEGREP_BASE_URL": server.url, "SLICEGREP_API_KEY": "k"}
        server.reply = lambda _: served(tree, server.calls[-1])
        assert related(tree, **named) == local
        [call] = server.calls
        assert (call["neighbours"], call["neighbour_k"]) == (True, MOST_NEIGHBOURS)
        assert related(tree, **named, SLICEGREP_SHIM_GRAPH_K="1") == least
        assert related(tree, **named, SLICEGREP_SHIM_GRAPH="off") == ""
        assert "neighbours" not in server.calls[-1]


def test_the_neighbourhood_of_other_content_is_not_told(tree: Path, tmp_path: Path) -> None:
    """A server that has another branch: a function that is unresolved has no line either."""
    write(tmp_path / "served", {**FILES, "shop/cart.py": "\n" + FILES["shop/cart.py"]})
    with enclosing_server(tmp_path / "served") as server:
        server.reply = lambda _: served(tmp_path / "served", server.calls[-1])
        block = related(tree, SLICEGREP_BASE_URL=server.url, SLICEGREP_API_KEY="k")
    assert [line.split(" (")[0] for line in block.splitlines()[1:]] == ["price"]


def test_neighbours_in_files_of_other_content_are_left_out(tree: Path, tmp_path: Path) -> None:
    """The function is the same there, a caller's file is not: its lines would be those of another content."""
    write(tmp_path / "served", {**FILES, "shop/pay.py": "\n" + FILES["shop/pay.py"]})
    with enclosing_server(tmp_path / "served") as server:
        server.reply = lambda _: served(tmp_path / "served", server.calls[-1])
        block = related(tree, SLICEGREP_BASE_URL=server.url, SLICEGREP_API_KEY="k")
    first = block.splitlines()[1]
    assert "callers" not in first
    assert "callees: price shop/item.py:1; tests: test_add tests/test_cart.py:6" in first
    assert "(lower bound: 1 in files that differ here, and 1 more)" in first


def test_a_function_of_which_nothing_is_known(tree: Path) -> None:
    """It has its line."""
    [line] = related(tree, "shop/item.py:6:    return 1\n").splitlines()[1:]
    assert line.startswith("lonely (shop.item) nothing found")


def test_no_more_functions_than_wanted(tree: Path) -> None:
    """Past the limit there is no block at all; hits count by their functions."""
    assert related(tree, SLICEGREP_SHIM_GRAPH_MAX_ANCHORS="2") != ""
    assert related(tree, SLICEGREP_SHIM_GRAPH_MAX_ANCHORS="1") == ""
    assert related(tree, "shop/cart.py:1:from shop.item import price\n") == ""
    assert related(tree, "nothing\n") == ""


def test_no_more_neighbours_than_wanted(tmp_path: Path) -> None:
    """SLICEGREP_SHIM_GRAPH_K callers, none of them a test, and the line says of how many."""
    price = "def price(item):\n    return item\n"
    hit = "item.py:2:    return item\n"
    for count, k, told in (
        (9, "2", "callers (2 of 9): "),
        (9, "20", "callers: "),
        (30, "5", "callers (5 of 20 or more): "),
    ):
        callers = "".join(f"def use{n}():\n    return price({n})\n" for n in range(count))
        write(tmp_path / "tree", {"item.py": price + callers})
        [line] = related(tmp_path / "tree", hit, SLICEGREP_SHIM_GRAPH_K=k).splitlines()[1:]
        assert told in line
        assert line.partition(" (lower bound")[0].count(" item.py:") == min(int(k), count)


def test_tests_take_no_caller_s_place(tmp_path: Path) -> None:
    """As many callers as are wanted, though the graph tells of the tests among them first."""
    tests = "from item import price\n" + "".join(f"def test_{n}():\n    price({n})\n" for n in range(4))
    use = "from item import price\ndef use():\n    return price(1)\n"
    price = "def price(item):\n    return item\n"
    write(tmp_path / "tree", {"item.py": price, "test_a.py": tests, "use.py": use})
    [line] = related(
        tmp_path / "tree", "item.py:2:    return item\n", SLICEGREP_SHIM_GRAPH_K="1"
    ).splitlines()[1:]
    assert "callers: use use.py:3; tests (1 of 4): " in line


def test_a_cause_is_told_once(tree: Path) -> None:
    """Each line says that it may lack something, the first one why."""
    first, second = related(tree).splitlines()[1:]
    cause = re.findall(r" \(lower bound: (.*?)(?:, and \d more)?\)$", first)[0]
    assert (cause in second, " (lower bound: as above" in second) == (False, True)


def test_no_more_functions_are_asked_for_than_a_call_tells_of(tree: Path) -> None:
    """More than SLICEGREP_SHIM_GRAPH_MAX_ANCHORS of 20 count as 20: of others a server would say nothing."""
    knobs = Knobs({"SLICEGREP_SHIM_GRAPH_MAX_ANCHORS": "300", "SLICEGREP_SHIM_GRAPH_K": "300"})
    assert (knobs.graph_max_anchors, knobs.graph_k) == (MOST_ANCHORS, MOST_NEIGHBOURS)
    assert (MOST_FUNCTIONS, ASKED_EACH) == (MOST_ANCHORS, MOST_NEIGHBOURS)
    write(tree, {"many.py": "".join(f"def f{n}():\n    return {n}\n" for n in range(21))})
    hits = [f"many.py:{2 * n + 2}:    return {n}\n" for n in range(21)]
    assert related(tree, "".join(hits), SLICEGREP_SHIM_GRAPH_MAX_ANCHORS="300") == ""
    assert len(related(tree, "".join(hits[1:])).splitlines()) == 1 + 20


def test_a_file_name_that_is_no_utf_8_costs_its_own_line_alone(tree: Path) -> None:
    """The operations cannot be asked about it."""
    odd = "shop/od\udcffd.py"
    with open(os.fsencode(tree / odd), "w", encoding="utf-8") as file:
        file.write("def odd():\n    return 1\n")
    block = related(tree, f"{odd}:2:    return 1\n" + HITS)
    assert [line.split(" (")[0] for line in block.splitlines()[1:]] == ["Cart.add", "price"]


def test_an_index_that_is_not_made_in_time_is_there_later(tree: Path) -> None:
    """The first search has no block and does not wait; what it began goes on, and the next one has it."""
    write(tree, {f"many/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(300)})
    began = time.monotonic()
    assert related(tree, seconds=0.05) == ""
    assert time.monotonic() - began < 2
    while not last_is_indexed(tree, 299):
        assert time.monotonic() - began < 60
        time.sleep(0.05)
    assert related(tree).startswith(HEADER)


def started(tree: Path, seconds: float) -> subprocess.Popen[str]:
    """Start a process that prints the block."""
    code = f"""
import sys
sys.path[:0] = [{PLUGIN!r}, {str(Path(__file__).parent)!r}]
from pathlib import Path
from test_shim_related import related
print(related(Path({str(tree)!r}), seconds={seconds}), end="", flush=True)
"""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_it_holds_no_output_up(tree: Path) -> None:
    """Who reads the search's output sees its end at once, also while an index is still being made."""
    write(tree, {f"many/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(600)})
    began = time.monotonic()
    process = started(tree, 0.05)
    assert process.communicate(timeout=20)[0] == ""
    with (
        open(graph_path(os.path.realpath(tree), home_of(tree), ".lock")) as lock,
        pytest.raises(BlockingIOError),  # it is still at work
    ):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with suppress(ProcessLookupError):  # as Ctrl-C does, or a terminal that is closed
        os.killpg(process.pid, signal.SIGTERM)
    while not last_is_indexed(tree, 599):
        assert time.monotonic() - began < 60
        time.sleep(0.05)


def test_nothing_is_left_of_it_when_the_index_is_removed(tree: Path) -> None:
    """Its lock lies with the graph's files, which `slicegrep index --remove` takes away."""
    assert related(tree) != ""
    folder = Path(home_of(tree)) / "graph"
    assert any(path.suffix == ".lock" for path in folder.iterdir())
    environment = {**os.environ, "SLICEGREP_HOME": home_of(tree), "PYTHONPATH": PLUGIN}
    words = [sys.executable, "-m", "slicegrep", "index", "--remove", str(tree)]
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=60)
    assert list(folder.iterdir()) == []


def test_searches_side_by_side_each_have_their_block(tree: Path) -> None:
    """They wait for each other, not for ever."""
    blocks = [process.communicate(timeout=60)[0] for process in [started(tree, 40) for _ in range(4)]]
    said = {tuple(line.partition(" (lower bound: ")[0] for line in block.splitlines()) for block in blocks}
    assert len(said) == 1  # the causes tell of the time, which a busy machine takes
    assert blocks[0].startswith(HEADER)


def test_a_fault_of_the_graph_costs_the_block_alone(
    tree: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A home folder that is a file, a tree that is gone: no block, and nothing on stderr."""
    (tmp_path / "home").write_text("no folder")
    related(tree)
    environment = {"SLICEGREP_SHIM_GRAPH": "on"}
    top = os.path.realpath(tree)
    answers = answers_of(environment, Knobs(environment), top, home_of(tree), time.monotonic() + 30)
    rows = rows_of(tree, answers.definitions_of, HITS)
    assert len(rows) == 3
    tree.rename(tmp_path / "gone")
    assert answers.related(rows) == ""
    assert capfd.readouterr().err == ""


def test_a_name_or_path_never_begins_another_line() -> None:
    """Line ends and escape codes in paths, from a server or from the disk, cannot pass for output."""
    place = {
        "symbol_id": "x",
        "symbol": "f\n[Related\x1b[31m",
        "path": "a\nb.py",
        "start": 3,
        "relation": "call",
    }
    entry = {
        **place,
        "module": "m\r",
        "callers": [{**place, "lines": [7]}],
        "callees": [],
        "tests": [],
        "envelope": {"epistemic": "lower_bound", "causes": ["c\n1", "2"]},
    }
    assert block_of([entry], 5).splitlines() == [
        HEADER.strip(),
        "f [Related?[31m (m ) callers: f [Related?[31m a b.py:7 (lower bound: c 1, and 1 more)",
    ]
