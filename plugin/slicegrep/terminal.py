"""What is special about a terminal: colour, highlighted code, a pager, and a line of progress that goes away again."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["complain", "open_streams", "progress", "show", "visible", "wants_colour", "write"]

PROGRESS_AFTER = 0.7
"""Seconds before work that goes on is spoken of: what is over sooner needs no line that flickers."""
PIPE_AFTER = 2.0
"""Seconds before it is spoken of where no terminal is: an agent that waits learns why, and a search in an index gets no line."""
PROGRESS_EVERY = 0.1
"""Seconds between two lines."""

_ERASE_LINE = "\r\x1b[K"

# File text may hold escape sequences, which a terminal would obey: every control character but tab and line end is
# shown as `less` and `cat -v` do.
_VISIBLE = {code: f"^{chr(code ^ 0x40)}" for code in (*range(32), 127) if chr(code) not in "\t\n"} | {
    code: f"<{code:02X}>" for code in (*range(128, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def open_streams() -> None:
    """Make standard output and error take every text: as UTF-8 whatever the locale says, undecodable bytes of paths as they are.

    A stream that was closed (`>&-`) swallows what it is given.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for as long as the process lives)
        elif hasattr(stream, "reconfigure"):  # not so under a test's capture
            stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")


def write(text: str) -> None:
    """Print a text and a line end on standard output. Raises OSError."""
    sys.stdout.write(text)
    sys.stdout.write("\n")


def complain(text: str) -> None:
    """Print one line on standard error, whatever characters are in it."""
    with suppress(OSError):
        sys.stderr.write(f"slicegrep: {text.translate(_VISIBLE | {10: '^J'})}\n")


def wants_colour(choice: str, environment: Mapping[str, str]) -> bool:
    """Whether standard output gets colour: `always`, `never`, or `auto`: a terminal that has it, unless NO_COLOR is set."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not environment.get("NO_COLOR") and not _is_dumb(environment)


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "dumb") == "dumb" and os.name != "nt"


def show(text: str, *, page: bool, environment: Mapping[str, str]) -> None:
    """Print a text and a line end for somebody to read; in a pager where `page` and it is longer than the screen."""
    command = _pager(environment) if page and not _is_dumb(environment) and not _fits(text) else []
    if not command or not _paged(f"{text}\n", command, environment):
        write(text)


def visible(text: str) -> str:
    """Return a text without a character that a terminal would act on, but for tab and LF."""
    return text.translate(_VISIBLE)


def _pager(environment: Mapping[str, str]) -> list[str]:
    """Return the program to page with, with its arguments; empty where none is wanted."""
    import shlex  # noqa: PLC0415 (most output is not paged)

    for name in ("SLICEGREP_PAGER", "PAGER"):
        if name in environment:
            try:
                return shlex.split(environment[name])
            except ValueError:
                return []
    return ["less", "-FRX"]


def _fits(text: str) -> bool:
    """Whether a text and the prompt after it fit the screen; colour, which takes no room, counted as if it did."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return True
    return sum(1 + max(len(line) - 1, 0) // max(columns, 1) for line in text.split("\n")) < max(lines, 2)


def _paged(text: str, command: list[str], environment: Mapping[str, str]) -> bool:
    """Show a text in a pager and wait for its end. False where it could not be started."""
    import signal  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    sys.stdout.flush()
    # Ctrl-C is for the pager, which goes on: we must not leave it behind with a terminal in its hands. (A handler of our
    # own, where one that ignores would be the pager's too.)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": "FRX", **environment})
        child.communicate(text.encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to call with how much is done, of how much, as often as one likes.

    Where the work goes on for long, a line on standard error says so: on a terminal it counts, and is gone in the end; else
    it is one line, that stays.
    """
    screen = sys.stderr.isatty()
    later = time.monotonic() + (PROGRESS_AFTER if screen else PIPE_AFTER)
    shown = False

    def say(text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def report(done: int, of: int) -> None:
        nonlocal later, shown
        now = time.monotonic()
        if now >= later and not screen:
            later = float("inf")
            say(f"slicegrep: {what} {done:,} of {of:,}; the next time only what has changed\n")
        elif now >= later:
            later = now + PROGRESS_EVERY
            shown = True
            say(f"{_ERASE_LINE}slicegrep: {what} {done:,} of {of:,}")

    try:
        yield report
    finally:
        if shown:
            say(_ERASE_LINE)
