"""The code index of a workspace: files, chunks, symbols and postings, kept in SQLite and brought up to date before each use."""

from __future__ import annotations

from slicegrep.index.columns import FileRow
from slicegrep.index.opened import let_go, open_view, view_of, workspace_of
from slicegrep.index.store import Damaged
from slicegrep.index.view import SymbolRow, View

__all__ = ["Damaged", "FileRow", "SymbolRow", "View", "let_go", "open_view", "view_of", "workspace_of"]
