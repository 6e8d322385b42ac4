"""The search verb: `focused_read` over folders and files, and what it says of what cannot be searched."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import warnings
import weakref
from pathlib import Path

import pytest
from slicegrep import Result, SearchError, focused_read
from slicegrep.index import open_view

CART = '''"""A cart."""


def add_item(cart, item):
    """Put an item into the cart."""
    cart.append(item)
    return len(cart)


def total(cart):
    """Sum the prices."""
    return sum(item.price for item in cart)
'''
SHOP = "from cart import add_item\n\n\ndef buy(cart, item):\n    add_item(cart, item)\n"
CHECK = "import cart as basket\n\n\ndef test_add_item():\n    assert basket.add_item([], 1) == 1\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "tests").mkdir(parents=True)
    (root / "cart.py").write_text(CART)
    (root / "shop.py").write_text(SHOP)
    (root / "tests" / "test_cart.py").write_text(CHECK)
    return root


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


def files(result: Result) -> set[str]:
    return {chunk.file for chunk in result.chunks}


def test_definition_use_and_test_of_a_name_come_back(shop: Path, home: str) -> None:
    """The three that are asked for: where it is, who uses it, what tests it; the definition first."""
    result = focused_read(shop, "add_item", home=home)
    assert result.chunks[0].file == "cart.py"
    assert "def add_item" in result.chunks[0].text
    assert files(result) == {"cart.py", "shop.py", "tests/test_cart.py"}
    assert result.coverage == 1.0


def test_a_chunk_is_the_lines_that_it_claims(shop: Path, home: str) -> None:
    """Text and range agree with the file, line by line."""
    for chunk in focused_read(shop, "cart", home=home).chunks:
        lines = (shop / chunk.file).read_text().split("\n")
        assert chunk.text.split("\n") == lines[chunk.line_start - 1 : chunk.line_end]


def test_a_chunks_symbol_is_the_definition_around_its_best_line(shop: Path, home: str) -> None:
    """Qualified, by its path from the searched folder, also where that is not the workspace's; "" at module level."""
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / "tests" / "till.py").write_text(
        "class Till:\n    def __init__(self):\n        self.coins = []\n\n"
        "    def close(self):\n        return count_coins(self.coins)\n"
    )
    (shop / "tests" / "flat.py").write_text("count_coins = len\n")
    result = focused_read(shop / "tests", r"count_coins\(", before=0, after=0, boundary="none", home=home)
    assert [(chunk.file, chunk.symbol) for chunk in result.chunks if "(" in chunk.text] == [
        ("till.py", "Till.close")
    ]
    result = focused_read(shop / "tests", "count_coins = len", home=home)
    assert (result.chunks[0].file, result.chunks[0].symbol) == ("flat.py", "")


def test_an_edit_is_seen_by_the_next_search(shop: Path, home: str) -> None:
    """Also one that keeps the file's size, right after the search before."""
    assert focused_read(shop, "add_item", home=home).chunks
    (shop / "cart.py").write_text(CART.replace("add_item", "put_item"))
    result = focused_read(shop, "put_item", home=home)
    assert result.chunks[0].file == "cart.py"
    assert "def put_item" in result.chunks[0].text


def test_a_folder_inside_a_workspace_gives_paths_relative_to_it(shop: Path, home: str) -> None:
    """The index is the workspace's, the answer is the folder's."""
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    assert focused_read(shop, "add_item", home=home).chunks
    result = focused_read(shop / "tests", "add_item", home=home)
    assert files(result) == {"test_cart.py"}
    assert len(os.listdir(Path(home) / "index")) > 0


def test_one_file_is_searched_without_an_index(shop: Path, home: str) -> None:
    """Nothing is written for it."""
    result = focused_read(shop / "cart.py", "total", home=home)
    assert [chunk.file for chunk in result.chunks] == ["cart.py"]
    assert not (Path(home) / "index").exists()


def test_recursive_searches_the_folder_of_a_file(shop: Path, home: str) -> None:
    """`-r` forces a walk even for a file path."""
    assert "shop.py" in files(focused_read(shop / "cart.py", "add_item", recursive=True, home=home))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"glob": ["*.py", "!tests"]}, {"cart.py", "shop.py"}),
        ({"glob": ["tests/**"]}, {"tests/test_cart.py"}),
        ({"glob": "*.py"}, {"cart.py", "shop.py", "tests/test_cart.py"}),
        ({"type": "py"}, {"cart.py", "shop.py", "tests/test_cart.py"}),
        ({"type": ["js"]}, set()),
    ],
)
def test_globs_and_types_narrow(
    shop: Path, home: str, options: dict[str, list[str]], expected: set[str]
) -> None:
    """Vocabulary finds nothing outside of them either."""
    assert files(focused_read(shop, "add_item", home=home, **options)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"type": "php"}, "type php fits none of the 3 files here"),
        ({"glob": ["nothere/**"]}, "glob nothere/** fits none of the 3 files here"),
        ({"type": ["js"], "glob": ["shop*"]}, "type js with glob shop* fits none of the 3 files here"),
    ],
)
def test_where_no_file_fits_it_is_said_that_none_was_searched(
    shop: Path, home: str, options: dict[str, list[str]], why: str
) -> None:
    """And not that the pattern is absent: nobody looked."""
    result = focused_read(shop, "add_item", home=home, **options)  # type: ignore[arg-type]
    assert result.notes == (f"No file was searched: {why}.",)
    assert result.negative_evidence == ()
    assert "No file was searched" in result.render()


def test_of_an_empty_folder_it_is_said_that_no_file_was_searched(tmp_path: Path, home: str) -> None:
    """Likewise of one whose files are all ignored."""
    (tmp_path / "empty").mkdir()
    result = focused_read(tmp_path / "empty", "add_item", home=home)
    assert result.notes == ("No file was searched: there is none here that is neither ignored nor hidden.",)
    assert result.negative_evidence == ()


def test_a_type_that_fits_nothing_in_a_folder_does_not_bring_ignored_files(shop: Path, home: str) -> None:
    """Ignored files are looked at only where the named folder has no others."""
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / ".gitignore").write_text("*.js\n")
    (shop / "tests" / "made.js").write_text("add_item()\n")
    assert not focused_read(shop / "tests", "add_item", type="js", home=home).chunks


def test_what_gitignore_hides_is_found_only_when_asked_for(shop: Path, home: str) -> None:
    """By `no_ignore`, or by naming the folder."""
    (shop / ".gitignore").write_text("build/\n")
    (shop / "build").mkdir()
    (shop / "build" / "made.py").write_text("def add_item_made():\n    pass\n")
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    assert not focused_read(shop, "add_item_made", home=home).chunks or "build/made.py" not in files(
        focused_read(shop, "add_item_made", home=home)
    )
    assert "build/made.py" in files(focused_read(shop, "add_item_made", no_ignore=True, home=home))
    assert files(focused_read(shop / "build", "add_item_made", home=home)) == {"made.py"}


def test_data_is_searched_where_a_glob_names_it(shop: Path, home: str) -> None:
    """A table is no code, but what was asked for."""
    (shop / "prices.csv").write_text("name,price\nteapot,3\n")
    assert "prices.csv" not in files(focused_read(shop, "teapot", home=home))
    assert files(focused_read(shop, "teapot", glob=["*.csv"], home=home)) == {"prices.csv"}


def test_nothing_found_says_so(shop: Path, home: str) -> None:
    """Negative evidence, and no slices that match."""
    result = focused_read(shop, "warehouse_robot", home=home)
    assert any("warehouse_robot" in line for line in result.negative_evidence)
    assert result.coverage in (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"pattern": " | "}, "pattern is empty"),
        ({"budget": 199}, "200 or more"),
        ({"before": -1}, "0 or more"),
        ({"boundary": "function"}, "auto, fn, none"),
        ({"objective": "best"}, "def+caller"),
        ({"type": "pyton"}, "'pyton'"),
        ({"glob": "{a"}, "not closed"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(
    shop: Path, home: str, options: dict[str, object], part: str
) -> None:
    """A SearchError, which is a ValueError."""
    asked = {"pattern": "add_item", "home": home, **options}
    with pytest.raises(SearchError, match=part.replace("+", r"\+")):
        focused_read(shop, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"budget": "2000"}, "budget is an int, not '2000'"), ({"pattern": None}, "pattern is a str, not None")],
)
def test_an_argument_of_another_type_is_named(
    shop: Path, home: str, options: dict[str, object], said: str
) -> None:
    """A TypeError, as Python's own."""
    with pytest.raises(TypeError, match=said):
        focused_read(shop, **{"pattern": "add_item", "home": home, **options})  # type: ignore[arg-type]


def test_a_binary_file_is_refused(tmp_path: Path, home: str) -> None:
    """Its lines are none that Read shows."""
    (tmp_path / "a.bin").write_bytes(b"\0\1\2" * 100)
    with pytest.raises(SearchError, match="binary"):
        focused_read(tmp_path / "a.bin", "x", home=home)


def test_a_pipe_is_refused_at_once(tmp_path: Path, home: str) -> None:
    """Opening it would wait for a writer."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SearchError, match="neither a file nor a folder"):
        focused_read(tmp_path / "pipe", "x", home=home)


def test_a_missing_path_is_a_file_not_found_error(tmp_path: Path, home: str) -> None:
    """As open() has it."""
    with pytest.raises(FileNotFoundError):
        focused_read(tmp_path / "nothing", "x", home=home)


@pytest.mark.parametrize(
    "damaged", [("postings",), ("outlines",), ("parts", "postings", "outlines")], ids=str
)
def test_an_index_that_is_damaged_under_a_search_is_made_anew(
    shop: Path, home: str, damaged: tuple[str, ...]
) -> None:
    """Rows that were changed behind its back cost one more look, not an error and not a wrong line.

    Damage to `parts` shows when the index is opened, to the others only in the middle of the search.
    """
    expected = focused_read(shop, "total", home=home).to_dict()
    [database] = (Path(home) / "index").glob("*.sqlite")
    with sqlite3.connect(database) as db:
        for table in damaged:
            assert db.execute(f"UPDATE {table} SET data = zeroblob(length(data))").rowcount > 0
    from slicegrep.index.opened import let_go

    let_go()
    assert focused_read(shop, "total", home=home).to_dict() == expected


def test_a_home_that_cannot_be_written_costs_the_index_not_the_answer(shop: Path, tmp_path: Path) -> None:
    """A file stands where the folder would be."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    result = focused_read(shop, "add_item", home=str(blocked / "home"))
    assert result.chunks[0].file == "cart.py"


def test_a_relative_home_is_one_in_the_current_folder(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As any path that a program is given."""
    monkeypatch.chdir(tmp_path)
    assert focused_read("shop", "add_item", home="kept").chunks
    assert list((tmp_path / "kept" / "index").glob("*.sqlite"))


def test_without_a_home_directory_nothing_is_kept(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user of a container whom no list names: the answer comes, and no folder `~` is made in the project."""
    for name in ("HOME", "SLICEGREP_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.chdir(shop)
    before = sorted(os.listdir(shop))
    assert focused_read(".", "add_item").chunks
    assert sorted(os.listdir(shop)) == before


def test_history_lifts_what_was_changed_lately(tmp_path: Path, home: str) -> None:
    """Two files that answer alike: the one of the newest commit comes first, if that is asked for."""
    root = tmp_path / "twins"
    root.mkdir()
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    bodies = {
        "a.py": "def frobnicate(stone):\n    return stone.left\n",
        "b.py": "def frobnicate(wood):\n    return wood\n",
    }
    for name, body in bodies.items():
        (root / name).write_text(body)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", name], check=True)
    plain = [chunk.file for chunk in focused_read(root, "frobnicate", home=home).chunks]
    lifted = [chunk.file for chunk in focused_read(root, "frobnicate", history=True, home=home).chunks]
    assert sorted(plain) == sorted(lifted) == ["a.py", "b.py"]
    assert lifted[0] == "b.py"


def test_a_path_means_what_it_means_to_the_system(tmp_path: Path, home: str) -> None:
    """`link/../z.py` is beside what the link points to."""
    (tmp_path / "q" / "r").mkdir(parents=True)
    (tmp_path / "o").mkdir()
    (tmp_path / "q" / "z.py").write_text("needle = 'there'\n")
    (tmp_path / "o" / "z.py").write_text("needle = 'here'\n")
    (tmp_path / "o" / "link").symlink_to(tmp_path / "q" / "r")
    found = focused_read(f"{tmp_path}/o/link/../z.py", "needle", home=home)
    assert [chunk.text for chunk in found.chunks] == ["needle = 'there'"]
    found = focused_read(f"{tmp_path}/o/link/..", "needle", home=home)
    assert [chunk.text for chunk in found.chunks] == ["needle = 'there'"]


def test_a_view_is_freed_when_a_newer_one_has_taken_its_place(shop: Path, home: str) -> None:
    """A process that searches a tree that is edited for hours: the views of before are gone, with what was found out of them."""
    views = []
    for n in range(4):
        (shop / "cart.py").write_text(CART + f"# {n}\n")
        focused_read(shop, "add_item", home=home)
        views.append(weakref.ref(open_view(str(shop), home)))
    assert [view() is None for view in views] == [True, True, True, False]


def test_lines_are_those_of_the_file_also_where_the_index_heard_of_no_change(shop: Path, home: str) -> None:
    """Written through another name, which no notice tells of: it is noticed when the file is read, and searched as it is."""
    os.link(shop / "cart.py", shop.parent / "other_name")
    for _ in range(4):
        focused_read(shop, "buy", home=home)
    (shop.parent / "other_name").write_text("# one\n# two\n" + CART)
    lines = (shop / "cart.py").read_text().split("\n")
    chunk = focused_read(shop, "total", home=home).chunks[0]
    assert chunk.text.split("\n") == lines[chunk.line_start - 1 : chunk.line_end]
    assert "return sum(" in chunk.text


def test_below_a_folder_no_link_is_followed(shop: Path, tmp_path: Path, home: str) -> None:
    """A server's tree: what took a file's or a folder's place leads nowhere, whatever narrows or widens the search."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "deep.py").write_text("secret = 'add_item'\n")
    (shop / "folder").symlink_to(outside)
    (shop / "file.py").symlink_to(outside / "deep.py")
    for path in ("folder", "file.py"):
        with pytest.raises(FileNotFoundError):
            focused_read(shop / path, "secret", top=str(shop), home=home)
    for options in ({}, {"glob": "*.py"}, {"no_ignore": True, "hidden": True}):
        assert not focused_read(shop, "secret", top=str(shop), home=home, **options).chunks
    # a folder above the file is the link
    with contextlib.suppress(FileNotFoundError, SearchError):
        assert not focused_read(shop / "folder" / "deep.py", "secret", top=str(shop), home=home).chunks
    with pytest.raises(SearchError, match="not below"):
        focused_read(outside, "secret", top=str(shop), home=home)
    found = focused_read(shop / "tests", "add_item", top=str(shop), home=home)
    assert files(found) == {"test_cart.py"}


def test_a_pattern_that_python_warns_of_is_searched_in_silence(shop: Path, home: str) -> None:
    """A warning goes to standard error, with the path of the installation."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pattern in ("[[a]nothing", "[a||b]nothing", "(?<=x)[[a]nothing"):
            assert "not found" in focused_read(shop, pattern, home=home).negative_evidence[0]
