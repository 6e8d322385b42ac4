"""How much the server does at once: calls that are let in, the lanes in which they are answered, and how long anybody waits."""

from __future__ import annotations

import asyncio
import enum
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from slicegrep.service.errors import Busy, TooSlow

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["CALL_SECONDS", "Desk", "Lane"]

MOST_INSIDE = 128
"""Calls that run or wait. One that waits holds its body (1 MB at most), and waits as long as all before it take."""
CALL_SECONDS = 30.0
"""How long a caller waits for an answer."""

_Answer = TypeVar("_Answer")


class Lane(enum.Enum):
    """What a call waits behind: only calls of its own kind, so that a few milliseconds do not wait for seconds."""

    QUICK = "quick"
    """What the index holds ready."""
    GRAPH = "graph"
    """What follows references: 1.5 s a call at most."""
    SEARCH = "search"
    """Searches, which nothing bounds but their end."""


_THREADS = {Lane.QUICK: 2, Lane.GRAPH: 2, Lane.SEARCH: 2}
"""The interpreter runs one at a time; a second lets a call pass one that waits for the disk or for a process."""
_MOST = {Lane.QUICK: MOST_INSIDE, Lane.GRAPH: 32, Lane.SEARCH: 32}
"""Calls of a lane that run or wait: 32 of 1.5 s are more than two threads answer within 30 s, and the quick ones keep half the room."""


class Desk:
    """Lets calls in, `most` at once, and runs their work in threads."""

    def __init__(self, most: int = MOST_INSIDE, seconds: float = CALL_SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._inside = 0
        self._lanes = {lane: _Threads(lane) for lane in Lane}

    def place(self) -> _Place:
        """Return a place for one call, to be used in `with`. Raises Busy."""
        if self._inside >= self._most:
            raise Busy("the server has as many calls as it takes; try again in a moment")
        return _Place(self)

    async def run(self, place: _Place, work: Callable[[], _Answer], lane: Lane = Lane.QUICK) -> _Answer:
        """Return what `work` returns, from a thread of the lane.

        The place is given up when the work ends, however long the caller waits; work that has not begun by then is dropped.
        Raises Busy where the lane is full, or taken by work whose callers have gone; TooSlow.
        """
        threads = self._lanes[lane]
        future = threads.start(work)
        place.until(future)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except asyncio.TimeoutError:
            threads.desert(future)
            raise TooSlow(f"no answer within {self._seconds:g} seconds; ask for less at once") from None

    def close(self) -> None:
        """Take no more work. What runs goes on, but the process need not wait for it."""
        for threads in self._lanes.values():
            threads.close()


class _Threads:
    """The threads of one lane. Only the event loop's thread counts."""

    def __init__(self, lane: Lane) -> None:
        self._name = lane.value
        self._most = _MOST[lane]
        self._count = _THREADS[lane]
        self._jobs: dict[asyncio.Future[Any], Future[Any]] = {}
        self._deserted = 0
        """Works that run although nobody waits for them any more: a thread cannot be stopped."""
        self._pool = ThreadPoolExecutor(self._count, thread_name_prefix=lane.value)

    def start(self, work: Callable[[], _Answer]) -> asyncio.Future[_Answer]:
        """Return what will be what `work` returns. Raises Busy."""
        if self._deserted >= self._count:
            raise Busy(
                f"{self._name} calls that take too long hold up those behind them; other operations are answered"
            )
        if len(self._jobs) >= self._most:
            raise Busy(f"the server has as many {self._name} calls as it takes; try again in a moment")
        job = self._pool.submit(work)
        future = asyncio.wrap_future(job)
        self._jobs[future] = job
        future.add_done_callback(self._ended)
        return future

    def desert(self, future: asyncio.Future[_Answer]) -> None:
        """Drop work whose caller is gone, where it has not begun; else let it run to its end."""
        if not self._jobs[future].cancel():
            self._deserted += 1
            future.add_done_callback(self._back)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ended(self, future: asyncio.Future[_Answer]) -> None:
        del self._jobs[future]
        if not future.cancelled():
            future.exception()  # or asyncio would log one that nobody asked for any more

    def _back(self, _: asyncio.Future[_Answer]) -> None:
        self._deserted -= 1


class _Place:
    """One call's place, from before its body is read until its work has ended."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._left_to_work = False
        desk._inside += 1  # noqa: SLF001 (the desk's own; only the event loop's thread counts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if not self._left_to_work:
            self._leave()

    def until(self, work: asyncio.Future[_Answer]) -> None:
        """Leave when the work has ended, and not before."""
        self._left_to_work = True
        work.add_done_callback(lambda _: self._leave())

    def _leave(self) -> None:
        self._desk._inside -= 1  # noqa: SLF001
