"""What a view tells, without its ids, so that an index that has seen edits can be held against one made at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from slicegrep.index import View

__all__ = ["PLUGIN", "in_process", "told", "write"]

PLUGIN = str(Path(__file__).resolve().parents[1] / "plugin")


def write(root: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def told(view: View) -> dict[str, object]:
    """Return files, symbols and postings by path and lines."""
    files: dict[str, object] = {}
    places: dict[int, tuple[str, int, int]] = {}
    for row in view.files:
        if row is None:
            continue
        symbols = view.symbols_of(row.id)
        for chunk in range(row.first_chunk, row.first_chunk + row.chunks):
            assert view.chunk_file[chunk] == row.id
            places[chunk] = (row.path, view.chunk_start[chunk], view.chunk_end[chunk])
            symbol = view.chunk_symbol[chunk]
            if symbol >= 0:
                assert view.symbol_file[symbol] == row.id
                own = symbols[symbol - view.first_symbol[row.id]]
                assert view.symbol(symbol).qualified == own.qualified
                assert own.start <= view.chunk_start[chunk] <= own.end
        files[row.path] = (row.language, row.kind, row.flags, row.size, row.lines, symbols)
    assert view.file_count == len(files)
    assert view.chunk_count == len(places)
    terms = view.holders.terms_with_prefix("")
    postings: dict[str, object] = {}
    for term in terms:
        chunks, impacts = view.holders.chunk_postings(term)
        whole, file_impacts = view.holders.file_postings(term)
        assert list(chunks) == sorted(set(chunks))
        assert list(whole) == sorted(set(whole))
        held = (
            sorted((places[c], i) for c, i in zip(chunks, impacts, strict=True) if c in places),
            sorted((row.path, i) for f, i in zip(whole, file_impacts, strict=True) if (row := view.files[f])),
            sorted(
                (row.path, view.symbol_name(s))
                for s in view.holders.name_postings(term)
                if (row := view.files[view.symbol_file[s]])
            ),
        )
        if any(held):
            postings[term] = held
    return {"files": files, "postings": postings}


def in_process(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start another interpreter that runs code of the package."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {PLUGIN!r}); sys.argv[1:] = {list(arguments)!r}\n{code}",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
