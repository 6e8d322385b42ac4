"""The code index of a workspace: files, chunks, symbols and postings, kept in SQLite and brought up to date before each use."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs a hook 3 ms
if TYPE_CHECKING:
    from slicegrep.index.columns import FileRow
    from slicegrep.index.opened import let_go, open_view, view_of
    from slicegrep.index.place import workspace_of
    from slicegrep.index.store import Damaged
    from slicegrep.index.view import SymbolRow, View

__all__ = ["Damaged", "FileRow", "SymbolRow", "View", "let_go", "open_view", "view_of", "workspace_of"]

_HOMES = {
    "Damaged": "store",
    "FileRow": "columns",
    "SymbolRow": "view",
    "View": "view",
    "let_go": "opened",
    "open_view": "opened",
    "view_of": "opened",
    "workspace_of": "place",
}


def __getattr__(name: str) -> object:
    """Load what is asked for: a hook that looks up a few outlines (points.py) needs none of it."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(name)
    from importlib import import_module  # noqa: PLC0415 (as for all here)

    return getattr(import_module(f"slicegrep.index.{home}"), name)
