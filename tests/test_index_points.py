"""Outlines straight from an index's file: exactly those of the content at hand, or none; and nothing is made or mended."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from index_told import PLUGIN, in_process, write
from slicegrep.index import let_go, open_view
from slicegrep.index.place import index_path, workspace_of
from slicegrep.index.points import outlines
from slicegrep.outline import outline
from slicegrep.source import read_source
from slicegrep.types import Outline

FILES = {
    "pkg/store.py": "@deco\nclass Store:\n    limit = 3\n\n    def fetch(self, key):\n        return key\n\n\ndef free(): ...\n",
    "pkg/cart.ts": "export class Cart {\n  add(item: Item): void {\n    this.items.push(item);\n  }\n}\n",
    "pkg/empty.py": "",
    "pkg/flat.py": "x = 1\n",
    "shop.go": "package shop\n\nfunc (s *Shop) Open() int {\n\treturn 1\n}\n",
    "README.md": "# Shop\n",
    **{f"many/m{n}.py": f"class M{n}:\n    def m{n}(self):\n        return {n}\n" for n in range(60)},
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Write a tree and index it; returns the tree."""
    folder = tmp_path / "tree"
    write(folder, FILES)
    indexed(folder)
    return folder


def home_of(root: Path) -> str:
    return str(root.parent / "home")


def indexed(root: Path) -> None:
    """Bring the index up to date and close it, as a process does that ends."""
    open_view(str(root), home_of(root))
    let_go()


def digest(path: Path) -> str:
    source = read_source(str(path))
    assert source is not None
    return source.digest


def looked_up(root: Path, *names: str) -> dict[str, Outline]:
    """Ask for the content at hand."""
    return outlines(
        workspace_of(str(root)), home_of(root), {name: digest(root / name) for name in names or FILES}
    )


def parsed(path: Path) -> Outline:
    source = read_source(str(path))
    assert source is not None
    found = outline(source)
    return Outline(found.language, found.symbols)


def everything(root: Path) -> dict[str, Outline]:
    return {name: parsed(root / name) for name in FILES}


def test_they_are_those_that_the_parser_finds(root: Path) -> None:
    """Every kind of file that is indexed, with definitions and without."""
    assert looked_up(root) == everything(root)


def test_only_the_content_at_hand_counts(root: Path) -> None:
    """codegraph#1474: an edit that the index has not seen has no outline, in either direction."""
    store = root / "pkg/store.py"
    before = digest(store)
    store.write_text("def other(): ...\n")
    assert looked_up(root, "pkg/store.py", "shop.go") == {"shop.go": parsed(root / "shop.go")}
    indexed(root)
    assert looked_up(root, "pkg/store.py") == {"pkg/store.py": parsed(store)}
    assert outlines(workspace_of(str(root)), home_of(root), {"pkg/store.py": before}) == {}
    assert outlines(workspace_of(str(root)), home_of(root), {"shop.go": before, "nowhere.py": before}) == {}


def test_the_last_row_of_a_path_wins(root: Path) -> None:
    """Edits, deletions and files that come back, over so many segments that some are merged."""
    wanted = dict(FILES)
    chance = random.Random(4)
    for turn in range(40):
        name = chance.choice(["pkg/store.py", "shop.go", "many/m7.py", "many/m9.py"])
        if turn % 3 == 2 and name in wanted:
            (root / name).unlink()
            del wanted[name]
        else:
            wanted[name] = f"# {turn}\n" * chance.randrange(4) + FILES[name]
            write(root, {name: wanted[name]})
        indexed(root)
        assert looked_up(root, *wanted) == {name: parsed(root / name) for name in wanted}
    gone = {name: "0" * 32 for name in FILES if name not in wanted}
    assert outlines(workspace_of(str(root)), home_of(root), gone) == {}


def test_a_deleted_file_that_the_index_knows_of_is_not_there(root: Path) -> None:
    """Its row is dead, although the content would be the same."""
    was = {"shop.go": digest(root / "shop.go")}
    (root / "shop.go").unlink()
    indexed(root)
    assert outlines(workspace_of(str(root)), home_of(root), was) == {}


def test_without_an_index_nothing_is_made(tmp_path: Path) -> None:
    """Neither a home folder nor a database."""
    write(tmp_path / "tree", FILES)
    assert looked_up(tmp_path / "tree") == {}
    assert os.listdir(tmp_path) == ["tree"]
    (tmp_path / "home/index").mkdir(parents=True)
    assert looked_up(tmp_path / "tree") == {}
    assert os.listdir(tmp_path / "home/index") == []


@pytest.mark.parametrize("content", [b"", b"no database at all\n" * 500, None])
def test_what_is_no_index_stays_as_it_is(root: Path, content: bytes | None) -> None:
    """An empty file, another file, a folder: no answer, no mending."""
    path = Path(index_path(workspace_of(str(root)), home_of(root)))
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    assert looked_up(root) == {}
    assert path.is_dir() if content is None else path.read_bytes() == content


def test_an_index_of_another_version_does_not_count(root: Path) -> None:
    """Its columns may mean something else."""
    path = index_path(workspace_of(str(root)), home_of(root))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value=value+1 WHERE name='version'")
    assert looked_up(root) == {}


@pytest.mark.parametrize("half", [0, 1])
def test_a_damaged_index_gives_right_answers_or_none(root: Path, half: int) -> None:
    """Bytes are changed all over the file: what is still told is true, and the file is left for the next opening to mend."""
    path = Path(index_path(workspace_of(str(root)), home_of(root)))
    whole = path.read_bytes()
    wanted = everything(root)
    chance = random.Random(half)
    missing = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 4, 40])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        if half:
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(5_000)] = b""
        path.write_bytes(data)
        found = looked_up(root)
        assert found.items() <= wanted.items()
        missing += len(found) < len(wanted)
        assert path.read_bytes() == data
    assert missing > 50


def test_rows_that_do_not_fit_each_other(root: Path) -> None:
    """Rows that are swapped, missing or of another type: none is believed."""
    path = index_path(workspace_of(str(root)), home_of(root))
    whole = Path(path).read_bytes()
    for change in (
        "UPDATE outlines SET file=-1-file",
        "UPDATE outlines SET data=NULL",
        "UPDATE outlines SET data=1",
        "DELETE FROM outlines",
        "UPDATE places SET file=file+1",
        "UPDATE places SET data=NULL",
        "UPDATE places SET data=(SELECT data FROM places WHERE path=CAST('shop.go' AS BLOB))",
        "DROP TABLE amended",
        "DROP TABLE meta",
        "DELETE FROM places",
    ):
        Path(path).write_bytes(whole)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        assert looked_up(root, "pkg/store.py") == {}, change


def test_a_database_that_is_held_is_not_waited_for(root: Path) -> None:
    """Another process mends the file: the answer is that there is none, within a moment."""
    path = index_path(workspace_of(str(root)), home_of(root))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        assert looked_up(root) == {}
        assert time.monotonic() - began < 4  # SQLite itself waits 5


def test_beside_a_process_that_edits_all_the_time(root: Path) -> None:
    """A writer never keeps a reader out, and what is read is of one moment."""
    code = """
import itertools, os
from slicegrep.index import open_view
for n in itertools.count():
    with open(os.path.join(sys.argv[1], "many", "m1.py"), "w") as file:
        file.write(f"def edit_{n}(): ...\\n")
    open_view(sys.argv[1], sys.argv[2])
    if n == 0:
        print("up", flush=True)
"""
    process = in_process(code, str(root), home_of(root))
    assert process.stdout is not None
    process.stdout.readline()
    others = [name for name in FILES if name != "many/m1.py"]
    wanted = {name: parsed(root / name) for name in others}
    answered = 0
    try:
        for _ in range(50):
            found = looked_up(root, *others)
            assert found in ({}, wanted)
            answered += found == wanted
    finally:
        process.kill()
        process.communicate()
    assert answered >= 45


def test_names_and_folders_with_anything_in_them(tmp_path: Path) -> None:
    """Line ends, bytes that are no UTF-8, and in the home folder what an address would read otherwise."""
    root = tmp_path / "tree"
    home = str(tmp_path / "h %41?#&= é")
    names = [b"a\nb.py", b"l\xe9.py", "é#.py".encode(), b" .py"]
    root.mkdir()
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(root), name))).write_text(FILES["pkg/store.py"])
    open_view(str(root), home)
    let_go()
    one = digest(root / " .py")
    found = outlines(workspace_of(str(root)), home, {os.fsdecode(name): one for name in names})
    assert found == {os.fsdecode(name): parsed(root / " .py") for name in names}
    assert outlines(workspace_of(str(root)), home + "\0", {" .py": one}) == {}


def test_it_loads_little(root: Path) -> None:
    """A hook looks outlines up in a process of its own: neither the index nor the parser is loaded for it."""
    code = f"""
import sys
sys.path.insert(0, {PLUGIN!r})
from slicegrep.index.place import workspace_of
from slicegrep.index.points import outlines
root = workspace_of({str(root)!r})
print(len(outlines(root, {home_of(root)!r}, {{"shop.go": {digest(root / "shop.go")!r}}})))
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    count, modules = done.stdout.splitlines()
    loaded = set(modules.split())
    assert count == "1"
    assert not loaded & {"sqlite3", "pydantic", "tree_sitter", "hashlib"}
    assert {name for name in loaded if name.startswith("slicegrep.index.")} == {
        "slicegrep.index.outlines",
        "slicegrep.index.place",
        "slicegrep.index.points",
        "slicegrep.index.seal",
    }


def test_a_build_leaves_nothing_in_the_log(tmp_path: Path) -> None:
    """SQLite's log would be gone through by every hook that opens the file."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(300):
        (tree / f"m{number}.py").write_text(f"def made_{number}():\n    return {number}\n" * 20)
    home = str(tmp_path / "home")
    view = open_view(str(tree), home)
    (log,) = Path(home, "index").glob("*.sqlite-wal")
    assert (log.stat().st_size, view.file_count) == (0, 300)
