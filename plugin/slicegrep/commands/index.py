"""`index`: a workspace's index brought up to date, what it holds, and its removal."""

from __future__ import annotations

import os
import time
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from slicegrep.home import home_folder
from slicegrep.index import open_view, workspace_of
from slicegrep.index.store import remove
from slicegrep.terminal import progress, write

if TYPE_CHECKING:
    from argparse import Namespace

    from slicegrep.index import View
    from slicegrep.schema import IndexReport

__all__ = ["print_index"]

LISTED = 5
"""Skipped paths that are named without --all."""


def print_index(parsed: Namespace) -> int:
    """Bring the index of the workspace that `parsed.path` is in up to date and print what it holds, or remove it. 0.

    1 where there is nothing to remove. Raises OSError.
    """
    home = home_folder(os.environ)
    file = _file_of(workspace_of(parsed.path), home)
    if parsed.remove:
        return _removed(parsed.path, file)
    begun = time.perf_counter()
    with progress("indexing file") as report:
        view = open_view(parsed.path, home, progress=report)
    found = _report(view, file, time.perf_counter() - begun)
    if parsed.json:
        write(found.model_dump_json(indent=1))
    else:
        _tell(found, len(found.skipped) if parsed.all else LISTED)
    return 0


def _file_of(workspace: str, home: str) -> str:
    """Return where index.open_view keeps the index of a workspace."""
    name = blake2b(os.fsencode(workspace), digest_size=16).hexdigest()
    return os.path.join(home, "index", f"{name}.sqlite")


def _removed(path: str, file: str) -> int:
    there = os.path.exists(file)
    remove(file)
    write(f"{workspace_of(path)}: {'its index is removed' if there else 'there is no index'}")
    return 0 if there else 1


def _report(view: View, file: str, seconds: float) -> IndexReport:
    from slicegrep.schema import IndexReport, Skipped  # noqa: PLC0415 (not to remove an index)

    rows = [row for row in view.files if row is not None]
    searched = [row for row in rows if row.chunks]
    return IndexReport(
        workspace=view.root,
        file=file,
        bytes=sum(os.path.getsize(file + end) for end in ("", "-wal") if os.path.exists(file + end)),
        seconds=round(seconds, 3),
        files=len(rows),
        languages=dict(Counter(row.language or row.kind for row in searched).most_common()),
        symbols=sum(len(view.symbols_of(row.id)) for row in searched),
        chunks=view.chunk_count,
        skipped=[Skipped(path=path, why=why) for path, why in view.skipped.items()],
        notes=list(view.notes),
    )


def _tell(found: IndexReport, most: int) -> None:
    languages = ", ".join(f"{name} {count:,}" for name, count in found.languages.items())
    rest = found.files - sum(found.languages.values())
    write(found.workspace)
    write(f"files    {found.files:,}   {languages}{f', without text to index {rest:,}' if rest else ''}")
    write(f"symbols  {found.symbols:,}")
    write(f"chunks   {found.chunks:,}")
    write(f"on disk  {found.bytes / 1e6:.1f} MB   {found.file}")
    write(f"seconds  {found.seconds:.2f}")
    if found.skipped:
        write(f"skipped  {len(found.skipped):,}")
    for one in found.skipped[:most]:
        write(f"  {one.path}: {one.why}")
    if most < len(found.skipped):
        write(f"  ... and {len(found.skipped) - most:,} more (--all)")
    for note in found.notes:
        write(note)
