"""Definitions come from an index where it holds exactly the content at hand, else from the parser: the answer is the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from index_told import write
from slicegrep import outline as parser
from slicegrep.definitions import DefinitionsUntil
from slicegrep.index import let_go, open_view
from slicegrep.source import read_source
from slicegrep.types import Source

TEXT = "class Store:\n    limit = 3\n\n    def fetch(self, key):\n        return key\n\nx = 1\n"
LINES = [1, 2, 3, 5, 7, 99]
NAMES = ["Store", "Store", "Store", "Store.fetch", "", ""]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths of what is parsed, as it is."""
    asked: list[str] = []
    real = parser.outline

    def outline(source: Source, *, seconds: float) -> object:
        asked.append(os.path.basename(source.path))
        return real(source, seconds=seconds)

    monkeypatch.setattr(parser, "outline", outline)
    return asked


def names(folders: list[Path], home: Path, *files: Path, seconds: float = 60) -> list[list[str]]:
    """Return the qualified names around LINES of each file, "" for none."""
    look_up = DefinitionsUntil([str(folder) for folder in folders], str(home), time.monotonic() + seconds)
    sources = [source for file in files if (source := read_source(str(file))) is not None]
    assert len(sources) == len(files)
    found = look_up([(source, LINES) for source in sources])
    return [[symbol.qualified if symbol else "" for symbol in row] for row in found]


def indexed(root: Path, home: Path) -> None:
    open_view(str(root), str(home))
    let_go()


def test_with_and_without_an_index(tmp_path: Path, parses: list[str]) -> None:
    """What the index holds is not parsed; what it holds otherwise, or not, is. The names are the same."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT, "b.py": TEXT, "sub/c.py": TEXT})
    files = [root / "a.py", root / "b.py", root / "sub/c.py"]
    assert names([root], home, *files) == [NAMES] * 3
    assert parses == ["a.py", "b.py", "c.py"]
    indexed(root, home)
    parses.clear()
    assert names([root], home, *files) == [NAMES] * 3
    assert parses == []
    (root / "b.py").write_text("# moved\n" + TEXT)
    write(root, {"new.py": TEXT})
    moved = ["", "Store", "Store", "Store.fetch", "", ""]
    assert names([root], home, *files, root / "new.py") == [NAMES, moved, NAMES, NAMES]
    assert parses == ["b.py", "new.py"]


@pytest.mark.parametrize("at", ["tree", "tree/sub", "link", "link/sub", "elsewhere", "tree/sub/.."])
def test_wherever_the_search_was_made(tmp_path: Path, parses: list[str], at: str) -> None:
    """In the top folder or below, through a link, or outside: a git tree's index is found from the file."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT, "sub/c.py": TEXT, ".git/HEAD": "ref: refs/heads/main\n"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(root)
    indexed(root, home)
    for spelled in (root, tmp_path / "link"):
        assert names([tmp_path / at], home, spelled / "a.py", spelled / "sub/c.py") == [NAMES] * 2
    assert parses == []


def test_several_trees_at_once(tmp_path: Path, parses: list[str]) -> None:
    """Files of two workspaces, one inside the other's folder, each from its own index."""
    outer, inner, home = tmp_path / "outer", tmp_path / "outer/lib/inner", tmp_path / "home"
    write(outer, {"a.py": TEXT, ".git/HEAD": "x"})
    indexed(outer, home)
    write(inner, {"a.py": "# inner\n" + TEXT, ".git/HEAD": "x"})
    write(tmp_path / "other", {"a.py": TEXT, ".git/HEAD": "x"})
    indexed(tmp_path / "other", home)
    found = names([outer], home, outer / "a.py", inner / "a.py", tmp_path / "other/a.py")
    assert found == [NAMES, ["", "Store", "Store", "Store.fetch", "", ""], NAMES]
    assert parses == ["a.py"]


def test_a_folder_without_git_is_known_from_where_the_search_was_made(
    tmp_path: Path, parses: list[str]
) -> None:
    """Its index is of the folder that was indexed; files below it are found in that."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"deep/er/c.py": TEXT})
    indexed(root, home)
    assert names([root], home, root / "deep/er/c.py") == [NAMES]
    assert parses == []


def test_when_the_time_is_over_nothing_is_parsed(tmp_path: Path, parses: list[str]) -> None:
    """What is indexed is still told; of the rest nothing is."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT})
    indexed(root, home)
    write(root, {"b.py": "# new\n" + TEXT})
    assert names([root], home, root / "a.py", root / "b.py", seconds=-1) == [NAMES, [""] * 6]
    assert parses == []
