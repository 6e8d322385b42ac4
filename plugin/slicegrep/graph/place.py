"""Where the files of a workspace's graph are."""

from __future__ import annotations

import os

from slicegrep.index.place import index_path

__all__ = ["graph_path"]


def graph_path(workspace: str, home: str, end: str = ".scip.sqlite") -> str:
    """Return where a file of the graph of a workspace (a real path) lies; `end` `.sqlite` is the parser tier's."""
    name = os.path.basename(index_path(workspace, home)).removesuffix(".sqlite")
    return os.path.join(home, "graph", name + end)
