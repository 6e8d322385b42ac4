"""The demo: one whole-file read of a real file through the real hooks, printed as the model would receive it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from slicegrep.engine import CLIENT_BYTES, CLIENT_TOKENS
from slicegrep.home import home_folder
from slicegrep.pinned import Place
from slicegrep.programs import on_path
from slicegrep.render import numbered
from slicegrep.settings import Settings
from slicegrep.source import shown_as_is, source_of
from slicegrep.tokens import estimate, exact_encoder
from slicegrep.trial import TrialError, borrowed_home, intercept

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["demonstrate"]

PROMPT = "parse_args says 'the following arguments are required: None' for my subparsers. Where does that come from?"
"""About the file that is read when none is named: Python's own argparse, on every machine that runs this."""


def demonstrate(file: str, prompt: str) -> int:
    """Print the exchange. Returns 0; 1 where the file is read as it is; 2 where it cannot be read."""
    source = Path(file).resolve() if file else Path(argparse.__file__).resolve()
    if not source.is_file():
        print(f"slicegrep: {file}: no such file, or no regular one", file=sys.stderr)
        return 2
    asked = prompt or (f"How does {source.stem} work?" if file else PROMPT)
    launcher = Path(__file__).resolve().parents[2] / "hooks" / "slicegrep-hook"
    place = Place.find(os.environ)
    with tempfile.TemporaryDirectory(prefix="slicegrep-demo-") as name:
        folder = Path(name).resolve()
        home = borrowed_home(folder, place)
        try:
            done = intercept([on_path("sh") or "sh", str(launcher)], home, folder, source, asked, knobs=True)
        except TrialError as error:
            print(f"slicegrep: {source}: read as it is: {_reason(source, error)}", file=sys.stderr)
            return 1
    everything = source_of(str(source), source.read_bytes()).lines
    lines = numbered(everything, done.start, done.start + len(done.lines) - 1)
    count, mark = _counter()
    whole = count(numbered(everything, 1, len(everything)))
    after = count(done.notice) + count(lines) + count(done.delivery)
    for title, text in (
        ("The session is working on", asked),
        ("The agent calls", f"Read {source}"),
        ("slicegrep narrows the call, and tells the model", done.notice),
        ("The client reads that range; the model receives", lines),
        ("slicegrep adds", done.delivery),
    ):
        print(f"── {title}\n{text}\n")
    print(
        f"── {mark}{after} tokens in place of {mark}{_delivered(whole, source)} (o200k_base tokens, counted "
        f"{'by an estimate' if mark else 'with tiktoken'}; the numbers in the text above are estimates that err high).\n"
        f"   These are the hooks that Claude Code runs, with your settings: {done.seconds[0] * 1000:.0f} ms before the "
        f"read, {done.seconds[1] * 1000:.0f} ms after.\n"
        "   No model was asked: this shows what one would receive, not what it makes of it."
    )
    return 0


def _delivered(whole: int, source: Path) -> str:
    """Say what the client itself would have delivered: it has limits of its own."""
    if source.stat().st_size > CLIENT_BYTES:
        return f"an error message: the client refuses files over {CLIENT_BYTES // 1024} kB (this one has {whole} tokens)"
    if whole > CLIENT_TOKENS:
        return f"{CLIENT_TOKENS}, where the client cuts a file of {whole}"
    return str(whole)


def _reason(source: Path, error: TrialError) -> str:
    settings = Settings.from_environment(os.environ)
    size = source.stat().st_size
    if settings.disabled:
        return "SLICEGREP_HOOK_DISABLE is set"
    if size > settings.max_bytes:
        return f"it has {size} bytes, more than SLICEGREP_HOOK_MAX_BYTES ({settings.max_bytes})"
    read = source_of(str(source), source.read_bytes())
    if not read.language:
        return "its name is not that of source code that slicegrep knows"
    if not shown_as_is(read):
        return f"it is {read.encoding}, which clients show in different ways"
    tokens = estimate(numbered(read.lines, 1, len(read.lines)))
    if tokens < settings.min_tokens:
        return f"it has ~{tokens} tokens, fewer than SLICEGREP_HOOK_MIN_TOKENS ({settings.min_tokens})"
    return f"too little would be saved, or SLICEGREP_HOOK_EXCLUDE names it ({error})"


def _counter() -> tuple[Callable[[str], int], str]:
    """Return a counter of o200k_base tokens, and `~` where it estimates."""
    exact = exact_encoder(os.path.join(home_folder(os.environ), "vocab"))
    return (exact, "") if exact else (estimate, "~")
