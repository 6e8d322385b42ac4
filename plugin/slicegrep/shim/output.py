"""Standard output as the real tool would leave it: what kind it is, whole writes, and what is undone when they fail."""

from __future__ import annotations

import os
import select
import stat

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms, collections.abc 2
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHUNK", "Output", "with_suffixes"]

CHUNK = 1 << 20
"""Bytes that are read at once."""

_OUT, _ERROR = 1, 2


class Output:
    """Standard output."""

    def __init__(self) -> None:
        """Note how it is at the start. Raises OSError where it, or standard input or error, is closed."""
        os.fstat(0)
        status = os.fstat(_OUT)
        error = os.fstat(_ERROR)
        self.terminal = os.isatty(_OUT)
        self.pipe = stat.S_ISFIFO(status.st_mode)
        self.device = stat.S_ISCHR(status.st_mode) and not self.terminal
        """Whether it is something like /dev/null or /dev/full, where nobody reads suffixes and tools behave in their own ways."""
        self._start: int | None = None
        if stat.S_ISREG(status.st_mode):
            self._start = os.lseek(_OUT, 0, os.SEEK_CUR)
        self._size = status.st_size
        self._written = 0
        self._links = status.st_nlink
        self._identity = (status.st_dev, status.st_ino)
        same = (error.st_dev, error.st_ino) == self._identity
        one = self._start is None or not same or self._one_place(self._start)
        self.with_errors = same and one
        """Whether standard error is the same, so that the order of both is to be kept."""
        self.crossed = same and not one
        """Whether standard error is the same file at another place of it, as after `>file 2>file`: both write over each
        other, in an order that only the tool itself can keep."""

    @staticmethod
    def _one_place(start: int) -> bool:
        """Whether both streams write at the same place of a file, and go on together.

        Only at the file's beginning one has to be moved to learn it: two openings are seldom anywhere else at the same place.
        """
        same = os.lseek(_ERROR, 0, os.SEEK_CUR) == start
        if start or not same:
            return same
        os.lseek(_OUT, 1, os.SEEK_SET)
        together = os.lseek(_ERROR, 0, os.SEEK_CUR) == 1
        os.lseek(_OUT, 0, os.SEEK_SET)
        return together

    def may_be_read_by(self, searched: Sequence[str], *, follows: bool) -> bool:
        """Whether the output goes into a file that is itself searched, for all that can be known.

        The tools know their own output among the files, and leave it out or say so: behind a pipe they could not.
        """
        if self._start is None or self._links == 0:
            return False
        if follows or self._links > 1:
            return True
        try:
            path = os.readlink("/proc/self/fd/1")
        except OSError:
            return True
        return any(self._is_or_holds(name, path) for name in searched)

    def _is_or_holds(self, name: str, path: str) -> bool:
        try:
            status = os.stat(name)
        except OSError:
            return False
        if stat.S_ISDIR(status.st_mode):
            return path.startswith(os.path.join(os.path.realpath(name), ""))
        return (status.st_dev, status.st_ino) == self._identity

    def write(self, data: bytes) -> None:
        """Write all of it. Raises OSError."""
        view = memoryview(data)
        while view:
            try:
                written = os.write(_OUT, view)
                self._written += written
                view = view[written:]
            except BlockingIOError:  # noqa: PERF203 (each write can be the one)
                waiting = select.poll()
                waiting.register(_OUT, select.POLLOUT)
                waiting.poll()

    def pass_on(self, source: int) -> None:
        """Write all that comes from a pipe until its end. Raises OSError."""
        while piece := os.read(source, CHUNK):
            self.write(piece)

    def undo(self) -> None:
        """Take back what was written to the end of a file. Nothing can be taken back from anything else."""
        if self._start is None or self._start != self._size:
            return
        try:
            if os.fstat(_OUT).st_size == self._start + self._written:  # else somebody else writes there too
                os.ftruncate(_OUT, self._start)
                os.lseek(_OUT, self._start, os.SEEK_SET)
        except OSError:
            return

    @staticmethod
    def tell(line: str) -> None:
        """Write a line to standard error; where that is not possible there is nobody to tell."""
        try:
            os.write(_ERROR, line.encode("utf-8", "surrogateescape") + b"\n")
        except OSError:
            return


def with_suffixes(raw: bytes, suffixes: dict[int, bytes]) -> bytes:
    """Append to lines, by their 0-based numbers; whatever else is there stays, byte by byte.

    A suffix stands after the CR of a line that ends in CR LF, and at the very end where the last line has no LF. A line
    with a NUL is left alone: it is part of a binary file.
    """
    lines = raw.split(b"\n")
    for at, suffix in suffixes.items():
        if 0 <= at < len(lines) and b"\0" not in lines[at]:
            lines[at] += suffix
    return b"\n".join(lines)
