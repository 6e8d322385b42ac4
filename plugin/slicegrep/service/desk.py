"""How much the server does at once: calls that are let in, the threads that answer them, and how long anybody waits."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from slicegrep.service.errors import Busy, TooSlow

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["CALL_SECONDS", "Desk"]

MOST_INSIDE = 128
"""Calls that run or wait. One that waits holds its body (1 MB at most), and waits as long as all before it take."""
_WORKERS = 4
"""Threads. The interpreter runs one at a time; more than one lets a quick call pass a slow search."""
CALL_SECONDS = 30.0
"""How long a caller waits for an answer."""

_Answer = TypeVar("_Answer")


class Desk:
    """Lets calls in, `most` at once, and runs their work in threads."""

    def __init__(self, most: int = MOST_INSIDE, seconds: float = CALL_SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._inside = 0
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="call")

    def place(self) -> _Place:
        """Return a place for one call, to be used in `with`. Raises Busy."""
        if self._inside >= self._most:
            raise Busy("the server has as many calls as it takes; try again in a moment")
        return _Place(self)

    async def run(self, place: _Place, work: Callable[[], _Answer]) -> _Answer:
        """Return what `work` returns, from a thread. The place is given up when that ends, however long the caller waits.

        Raises TooSlow.
        """
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        place.until(future)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except asyncio.TimeoutError:
            future.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # nobody asks for it any more
            raise TooSlow(f"no answer within {self._seconds:g} seconds; ask for less at once") from None

    def close(self) -> None:
        """Take no more work. What runs goes on, but the process need not wait for it."""
        self._pool.shutdown(wait=False, cancel_futures=True)


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
