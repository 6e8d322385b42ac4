"""`slicegrep index --scip`: what it says of what it took in, and of files that it cannot take in."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command import run
from scip_shop import CASES, Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Make the project of Python where the command's home is."""
    return Shop(tmp_path, "python")


def index(shop: Shop, *words: str) -> tuple[int, str, str]:
    """Run the command on the project."""
    return run(shop.home, "index", *words, str(shop.tree))


def test_it_says_what_it_took_in(shop: Shop) -> None:
    """Counts, and how many files are which tier's; afterwards as well."""
    code, out, err = index(shop, "--scip", str(shop.scip))
    assert (code, err) == (0, "")
    assert out.splitlines()[-2:] == [
        "scip     5 documents of scip-python 0.6.6, 18 definitions, 58 references",
        "graph    scip 5 files, parser 0",
    ]
    _, later, _ = index(shop)
    assert later.splitlines()[-1] == "graph    scip 5 files, parser 0"


def test_for_programs_it_says_the_same_in_the_notes(shop: Shop) -> None:
    """As valid JSON."""
    _, out, _ = index(shop, "--scip", str(shop.scip), "--json")
    assert [note.split()[0] for note in json.loads(out)["notes"]] == ["scip", "graph"]


def test_it_counts_what_is_stale_and_what_is_not_there(shop: Shop) -> None:
    """And names them."""
    (shop.project / "shop" / "cart.py").write_text("def checkout(): ...\n")
    (shop.project / "tests" / "cart_cases.py").unlink()
    code, out, _ = index(shop, "--scip", str(shop.scip))
    assert code == 0
    assert out.splitlines()[-4:] == [
        "scip     3 documents of scip-python 0.6.6, 10 definitions, 20 references",
        "scip     1 about another content than the file has: shop/cart.py",
        "scip     1 of files that are not in the index: tests/cart_cases.py",
        "graph    scip 3 files, parser 1, 1 of them changed since their SCIP index was made",
    ]


def test_a_project_in_a_folder_of_the_workspace_is_named_by_it(tmp_path: Path) -> None:
    """The paths of the index are relative to the folder."""
    shop = Shop(tmp_path, "typescript", "front/web")
    code, out, _ = run(shop.home, "index", "--scip", str(shop.scip), str(shop.project))
    assert code == 0
    assert "graph    scip 5 files, parser 0" in out


def test_the_index_of_another_project_is_an_error(shop: Shop) -> None:
    """2, with a sentence: nothing of it is about this workspace."""
    away = shop.home.parent / "other"
    away.mkdir()
    (away / "a.py").write_text("def f(): ...\n")
    code, out, err = run(shop.home, "index", "--scip", str(shop.scip), str(away))
    assert (code, out) == (2, "")
    assert "nothing of it was taken in: 5 documents are of files that are not in the index of" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("what", ["another", "cut", "absent", "folder", "fifo"])
def test_what_is_no_scip_file_is_an_error_of_one_line(shop: Shop, tmp_path: Path, what: str) -> None:
    """2, and nothing was taken in."""
    file = tmp_path / "odd.scip"
    if what == "another":
        file.write_text("name: shop\n")
    elif what == "cut":
        file.write_bytes(shop.scip.read_bytes()[:5000])
    elif what == "fifo":
        os.mkfifo(file)
    elif what == "folder":
        file.mkdir()
    code, out, err = index(shop, "--scip", str(file))
    assert (code, out) == (2, "")
    assert err.startswith(f"slicegrep: {file}")
    assert err.count("\n") == 1
    assert "graph " not in index(shop)[1]


def test_removing_the_index_removes_the_graph(shop: Shop) -> None:
    """Also where the index itself is gone already."""
    index(shop, "--scip", str(shop.scip))
    assert index(shop, "--remove") == (0, f"{shop.tree}: its index is removed\n", "")
    assert list((shop.home / "slicegrep" / "graph").iterdir()) == []
    assert index(shop, "--remove")[0] == 1


def test_removing_and_taking_in_do_not_go_together(shop: Shop) -> None:
    """Neither is done."""
    code, _, err = index(shop, "--remove", "--scip", str(CASES))
    assert code == 2
    assert "--remove and --scip do not go together" in err
