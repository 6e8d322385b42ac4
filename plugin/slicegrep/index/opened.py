"""The doors of the index: a workspace's view, up to date, and sources as a view in memory."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.index.mentions import mentions_of_all
from slicegrep.index.place import index_path, workspace_of
from slicegrep.index.sweep import sweep, used
from slicegrep.index.view import View
from slicegrep.index.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slicegrep.types import Source

__all__ = ["let_go", "open_view", "view_of"]

_opened: dict[tuple[int, str], Workspace] = {}
"""Workspaces by process (a fork must not share its parent's database) and path of their index."""
_opening = Lock()


def open_view(root: str, home: str, *, progress: Callable[[int, int], None] | None = None) -> View:
    """Return the index of the workspace that the folder `root` is in, up to date; `view.root` names the workspace.

    It lies in the `index` folder of the home folder `home`; where that cannot be written, in this process's memory.
    `progress(done, total)`, in files, is called about ten times a second while many files are indexed. A view can raise
    Damaged later: opening it again then builds the index anew.

    Raises FileNotFoundError, NotADirectoryError or PermissionError for `root`.
    """
    os.scandir(root).close()
    workspace = workspace_of(root)
    path = index_path(workspace, home)
    key = (os.getpid(), path)
    with _opening:
        opened = _opened.get(key)
        if opened is None:
            opened = _opened[key] = Workspace(workspace, path)
            used(path)
            sweep(os.path.dirname(path))
    return opened.view(progress)


def let_go() -> None:
    """Close the indexes of this process: a view that is kept open keeps SQLite's log from being folded into the file."""
    with _opening:
        _opened.clear()


def view_of(sources: Iterable[Source], root: str = "") -> View:
    """Return sources as a view in memory: for single files, and where there is no folder. Their paths are the view's."""
    view = View(root, []).plus(sources)
    if len(view.files) > 1:
        view.columns.mentions = mentions_of_all(view)  # before any row is made
    return view
