"""Files made into segments by several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from contextlib import contextmanager, suppress
from queue import Queue
from typing import TYPE_CHECKING

from slicegrep.index.blocks import Small
from slicegrep.index.segment import Bases
from slicegrep.index.worker import received, sent

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import IO

    from slicegrep.index.tree import Status

__all__ = ["Team"]

_MOST_WORKERS = 8
"""More of them would wait for the one process that writes."""
_FLUSH_FILES = 800
_FLUSH_POSTINGS = 1_000_000
"""After so many files or (term, chunk) pairs a worker hands its segment over. As much is lost when a build is killed (a second
of work), and as much memory is taken (some 20 MB); fewer and larger segments are quicker to write and to read."""

_START = (
    "import sys; sys.pycache_prefix = sys.argv[1] or None; sys.path[:] = sys.argv[2:]; "
    "from slicegrep.index.worker import serve; serve()"
)
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_File = tuple[str, "Status"]
_Built = tuple[Small, list[str]]


class Team:
    """Worker processes for one run over files. Ids of the segments follow one another from `bases` on.

    `batch` files go to a worker at a time. Where one dies, what it had not handed over is missing from the answer, and the
    batch that it was at is in `suspects`: with a batch of 1, the file that it died of.
    """

    def __init__(self, root: str, files: Sequence[_File], bases: Bases, batch: int) -> None:
        self._root = root
        self._batches = deque(files[at : at + batch] for at in range(0, len(files), batch))
        self._bases = bases
        self._segments = 0
        self._lock = threading.Lock()
        self._results: Queue[tuple[int, _Built] | int | None] = Queue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._size = min(os.cpu_count() or 1, _MOST_WORKERS, len(self._batches))
        self.suspects: list[str] = []

    def built(self, progress: Callable[[int], None]) -> Generator[_Built, None, None]:
        """Yield segments, in the order of their ids, each with the paths in it. `progress` is told how many files were done meanwhile."""
        if not _is_python(sys.executable):
            return
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._size)]
        for thread in threads:
            thread.start()
        early: dict[int, _Built] = {}
        following, working = 0, len(threads)
        try:
            while working:
                result = self._results.get()
                if result is None:
                    working -= 1
                elif isinstance(result, int):
                    progress(result)
                else:
                    early[result[0]] = result[1]
                    while following in early:
                        yield early.pop(following)
                        following += 1
        finally:
            self._batches.clear()
            for process in self._processes:
                process.kill()
            for thread in threads:
                thread.join()

    def _work(self) -> None:
        """Keep one worker busy until no file is left, or it dies."""
        batch: Sequence[_File] = ()
        try:
            with self._worker() as (target, source):
                received(source)  # it has come up
                held: list[str] = []
                while batch := self._next():
                    sent(target, ("files", self._root, [(path, tuple(status)) for path, status in batch]))
                    postings = received(source)
                    held += [path for path, _ in batch]
                    self._results.put(len(batch))
                    if postings > _FLUSH_POSTINGS or len(held) >= _FLUSH_FILES:
                        self._hand_over(target, source, held)
                        held = []
                if held:
                    self._hand_over(target, source, held)
        except (OSError, EOFError, ValueError):
            self.suspects += [path for path, _ in batch]
        finally:
            self._results.put(None)

    def _next(self) -> Sequence[_File]:
        try:
            return self._batches.popleft()
        except IndexError:
            return ()

    def _hand_over(self, target: IO[bytes], source: IO[bytes], paths: list[str]) -> None:
        sent(target, ("counts",))
        counts = Bases(*received(source))
        with self._lock:
            bases, number = self._bases, self._segments
            self._bases = Bases(*map(sum, zip(bases, counts, strict=True)))
            self._segments += 1
        sent(target, ("segment", tuple(bases)))
        self._results.put((number, (Small(counts, *received(source)), paths)))

    @contextmanager
    def _worker(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        options = ["-I", "-S", "-B"] if sys.dont_write_bytecode else ["-I", "-S"]
        paths = [_PACKAGES, *map(os.path.abspath, sys.path)]
        process = subprocess.Popen(
            [sys.executable, *options, "-c", _START, sys.pycache_prefix or "", *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._processes.append(process)
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipe")
        try:
            yield process.stdin, process.stdout
        finally:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()
            process.wait()


def _is_python(program: str) -> bool:
    """Whether a program is an interpreter, and not one that Python is built into."""
    return os.path.basename(program or "").lower().startswith(("python", "pypy"))
