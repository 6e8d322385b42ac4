"""Which workspace a folder is of, and where that workspace's index is."""

from __future__ import annotations

import os
from pathlib import Path

from slicegrep.definitions import DefinitionsUntil
from slicegrep.index import let_go, open_view
from slicegrep.index.place import indexed_workspace, workspace_of
from slicegrep.source import read_source


def made(tmp_path: Path) -> tuple[str, str, str]:
    """Make a tree without git, and return it, a folder deep in it, and a home folder."""
    deep = tmp_path / "tree" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "m.py").write_text("def f():\n    return 1\n")
    return os.path.realpath(tmp_path / "tree"), str(deep), str(tmp_path / "home")


def test_without_git_the_index_of_a_folder_above_counts(tmp_path: Path) -> None:
    """`slicegrep index .` at the top, then a search further down: callers elsewhere in the tree count, too."""
    top, deep, home = made(tmp_path)
    assert indexed_workspace(deep, home) == workspace_of(deep) == os.path.realpath(deep)
    open_view(top, home)
    let_go()
    assert indexed_workspace(deep, home) == top
    assert workspace_of(deep) == os.path.realpath(deep)
    source = read_source(os.path.join(deep, "m.py"))
    assert source is not None
    look_up = DefinitionsUntil([deep], home, float("inf"))
    [[symbol]] = look_up([(source, [2])])
    assert (symbol.qualified if symbol else "", look_up.indexed) == ("f", True)


def test_with_git_the_top_level_is_the_workspace_whatever_is_indexed_above(tmp_path: Path) -> None:
    """An index of all repositories beside one another is not that of one."""
    top, deep, home = made(tmp_path)
    (tmp_path / "tree" / "a" / ".git").mkdir()
    open_view(top, home)
    let_go()
    assert indexed_workspace(deep, home) == os.path.join(top, "a")
