"""`index`: a workspace's index brought up to date, what it holds, SCIP files taken in beside it, and its removal."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING

from slicegrep.commands.parser import UsageError
from slicegrep.graph.place import graph_path
from slicegrep.graph.scip_store import remove_graph, sweep_graph, take
from slicegrep.graph.scip_tier import ScipTier
from slicegrep.home import home_folder
from slicegrep.index import open_view, workspace_of
from slicegrep.index.place import index_path
from slicegrep.index.store import remove
from slicegrep.lock import Busy
from slicegrep.terminal import progress, write

if TYPE_CHECKING:
    from argparse import Namespace

    from slicegrep.graph.scip_store import Taken
    from slicegrep.index import View
    from slicegrep.schema import IndexReport

__all__ = ["print_index"]

LISTED = 5
"""Skipped paths that are named without --all."""


def print_index(parsed: Namespace) -> int:
    """Bring the index of the workspace that `parsed.path` is in up to date and print what it holds, or remove it. 0.

    With `parsed.scip` that SCIP file is taken in before. 1 where there is nothing to remove. Raises OSError, UsageError,
    and ValueError for a file that is no SCIP index.
    """
    home = home_folder(os.environ)
    if parsed.remove:
        if parsed.scip:
            raise UsageError("--remove and --scip do not go together (see slicegrep index --help)")
        return _removed(workspace_of(parsed.path), home)
    begun = time.perf_counter()
    with progress("indexing file") as report:
        view = open_view(parsed.path, home, progress=report)
    sweep_graph(home)
    notes = _taken(parsed.scip, parsed.path, view, home, every=parsed.all) if parsed.scip else []
    found = _report(view, home, time.perf_counter() - begun)
    found = found.model_copy(update={"notes": [*notes, *found.notes]})
    if parsed.json:
        write(found.model_dump_json(indent=1))
    else:
        _tell(found, len(found.skipped) if parsed.all else LISTED)
    return 0


def _removed(workspace: str, home: str) -> int:
    file = index_path(workspace, home)
    there = os.path.exists(file)
    remove(file)
    there = remove_graph(workspace, home) or there
    write(f"{workspace}: {'its index is removed' if there else 'there is no index'}")
    return 0 if there else 1


def _taken(scip: str, path: str, view: View, home: str, *, every: bool) -> list[str]:
    """Take a SCIP file in; returns what became of it, a line each."""
    folder = os.path.relpath(os.path.realpath(path), view.root).replace(os.sep, "/")
    try:
        # a line in a pipe would say that only changes are taken in the next time
        with progress("taking in byte") if sys.stderr.isatty() else nullcontext() as report:
            taken = take(scip, view, home, "" if folder == "." else folder, report)
    except Busy as error:
        raise UsageError(f"another process is taking in a SCIP file ({error})") from None
    if not taken.documents:
        raise UsageError(
            f"{scip}: nothing of it was taken in: {len(taken.unknown):,} documents are of files that are not in the index of "
            f"{view.root}, {len(taken.stale):,} about another content than the file has"
        )
    return _told(taken, every=every)


def _told(taken: Taken, *, every: bool) -> list[str]:
    counts = f"{taken.definitions:,} definitions, {taken.references:,} references"
    lines = [f"scip     {taken.documents:,} documents of {taken.tool or 'an unnamed tool'}, {counts}"]
    for what, paths in (
        ("about another content than the file has", taken.stale),
        ("of files that are not in the index", taken.unknown),
    ):
        if paths:
            most = len(paths) if every else LISTED
            more = f" and {len(paths) - most:,} more" if most < len(paths) else ""
            lines.append(f"scip     {len(paths):,} {what}: {', '.join(paths[:most])}{more}")
    return lines


def _graph(view: View, home: str) -> list[str]:
    """Return a line that says which tier of the graph knows how many files, where a SCIP file was taken in."""
    if not os.path.exists(graph_path(view.root, home)):
        return []
    tier = ScipTier(view, home)
    code = sum(row is not None and row.kind == "code" for row in view.files)
    stale = f", {len(tier.stale):,} of them changed since their SCIP index was made" if tier.stale else ""
    known = f"graph    scip {len(tier.covered):,} files, parser {code - len(tier.covered):,}{stale}"
    return [*tier.causes] or [known]


def _report(view: View, home: str, seconds: float) -> IndexReport:
    from slicegrep.schema import IndexReport, Skipped  # noqa: PLC0415 (not to remove an index)

    file = index_path(view.root, home)
    rows = [row for row in view.files if row is not None]
    searched = [row for row in rows if row.chunks]
    return IndexReport(
        workspace=view.root,
        file=file,
        bytes=sum(os.path.getsize(file + end) for end in ("", "-wal") if os.path.exists(file + end)),
        seconds=round(seconds, 3),
        files=len(rows),
        languages=dict(Counter(row.language or row.kind for row in searched).most_common()),
        symbols=sum(end - first for first, end in (view.symbol_ids(row.id) for row in searched)),
        chunks=view.chunk_count,
        skipped=[Skipped(path=path, why=why) for path, why in view.skipped.items()],
        notes=[*_graph(view, home), *view.notes],
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
