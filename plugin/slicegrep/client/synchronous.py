"""The same operations for code that does not await: an event loop in a thread of its own runs them, to the second of the time-out."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Literal, TypeVar

from slicegrep.client.asynchronous import SECONDS, AsyncAgent, AsyncCode
from slicegrep.connection import named_server

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from slicegrep.service.models import (
        EnclosingAnswer,
        ImpactAnswer,
        RelatedAnswer,
        SearchAnswer,
        SymbolAnswer,
    )

__all__ = ["Agent", "Code"]

_Answer = TypeVar("_Answer")

CLOSING_SECONDS = 5.0


class _Loop:
    """An event loop and a client on it, in a thread that ends when this is closed, or is no longer held by anyone.

    HTTP without awaiting has no time-out for a whole exchange, only for each piece that is read, so that a server which sends a byte a
    second holds its caller for ever.
    """

    def __init__(self, agent: AsyncAgent) -> None:
        self._code = agent.code
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(
            target=_run, args=(self._loop, agent.close), name="slicegrep-client", daemon=True
        )
        thread.start()
        self._end = weakref.finalize(self, _stop, self._loop, thread)

    def run(self, call: Callable[[AsyncCode], Coroutine[object, object, _Answer]]) -> _Answer:
        if not self._end.alive:
            raise RuntimeError("the client is closed")
        future = asyncio.run_coroutine_threadsafe(call(self._code), self._loop)
        try:
            return future.result()
        except CancelledError:
            raise RuntimeError("the client was closed during the call") from None
        finally:
            future.cancel()  # of a call that Ctrl-C ended; one that is done does not mind

    def close(self) -> None:
        self._end()


def _run(loop: asyncio.AbstractEventLoop, close: Callable[[], Coroutine[object, object, None]]) -> None:
    loop.run_forever()
    loop.run_until_complete(_wound_up(close))
    loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Stop the loop and wait until its connections are closed. In a forked process, which has no such thread, nothing is done."""
    if thread.is_alive():
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():  # where its own garbage is collected
            thread.join(CLOSING_SECONDS)


async def _wound_up(close: Callable[[], Coroutine[object, object, None]]) -> None:
    await _cancelled()
    await close()
    await _cancelled()  # closing can begin more


async def _cancelled() -> None:
    """End all tasks but this one."""
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    for task in under_way:
        task.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)


class _Door:
    """Keeps the loop, and makes another one in a forked process, which has no threads of its parent's."""

    def __init__(self, make: Callable[[], AsyncAgent]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._loop = _Loop(make())

    def ask(self, call: Callable[[AsyncCode], Coroutine[object, object, _Answer]]) -> _Answer:
        with self._lock:
            if self._loop.process != os.getpid():
                self._loop = _Loop(self._make())
            loop = self._loop
        return loop.run(call)

    def close(self) -> None:
        self._loop.close()


class Code:
    """The code operations: those of AsyncCode, each of which says what it returns."""

    def __init__(self, door: _Door) -> None:
        self._door = door

    def enclosing(
        self,
        locations: Sequence[str],
        *,
        include_body: bool = False,
        token_budget: int = 4_000,
        neighbours: bool = False,
        neighbour_k: int = 5,
    ) -> EnclosingAnswer:
        """As AsyncCode.enclosing: the definition around each `PATH:LINE`."""
        return self._door.ask(
            lambda code: code.enclosing(
                locations,
                include_body=include_body,
                token_budget=token_budget,
                neighbours=neighbours,
                neighbour_k=neighbour_k,
            )
        )

    def symbol(
        self, symbol_id: str = "", *, name: str = "", include_body: bool = True, token_budget: int = 4_000
    ) -> SymbolAnswer:
        """As AsyncCode.symbol: a definition by its id or its name."""
        return self._door.ask(
            lambda code: code.symbol(
                symbol_id, name=name, include_body=include_body, token_budget=token_budget
            )
        )

    def search(
        self,
        pattern: str,
        *,
        path: str = "",
        before: int = 40,
        after: int = 40,
        budget: int = 2_000,
        boundary: Literal["auto", "fn", "none"] = "auto",
        objective: Literal["auto", "def+caller", "def+test", "single"] = "auto",
        dedupe: bool = True,
        glob: Sequence[str] = (),
        type: Sequence[str] = (),  # noqa: A002 (the option's name)
        case_sensitive: bool = False,
    ) -> SearchAnswer:
        """As AsyncCode.search: the slices that answer, inside a budget."""
        return self._door.ask(
            lambda code: code.search(
                pattern,
                path=path,
                before=before,
                after=after,
                budget=budget,
                boundary=boundary,
                objective=objective,
                dedupe=dedupe,
                glob=glob,
                type=type,
                case_sensitive=case_sensitive,
            )
        )

    def callers(
        self, symbol_id: str = "", *, name: str = "", k: int = 50, least_confidence: float = 0.5
    ) -> RelatedAnswer:
        """As AsyncCode.callers: what refers to a definition."""
        return self._door.ask(
            lambda code: code.callers(symbol_id, name=name, k=k, least_confidence=least_confidence)
        )

    def callees(
        self, symbol_id: str = "", *, name: str = "", k: int = 50, least_confidence: float = 0.5
    ) -> RelatedAnswer:
        """As AsyncCode.callees: what a definition refers to."""
        return self._door.ask(
            lambda code: code.callees(symbol_id, name=name, k=k, least_confidence=least_confidence)
        )

    def impact(
        self,
        symbol_id: str = "",
        *,
        name: str = "",
        depth: int = 3,
        k: int = 100,
        least_confidence: float = 0.8,
    ) -> ImpactAnswer:
        """As AsyncCode.impact: what a change of a definition may reach."""
        return self._door.ask(
            lambda code: code.impact(
                symbol_id, name=name, depth=depth, k=k, least_confidence=least_confidence
            )
        )


class Agent:
    """As AsyncAgent, without awaiting; several threads may call at once.

    `with Agent(url, token) as agent: agent.code.enclosing(["src/cart.py:12"])`
    """

    def __init__(
        self, url: str, token: str, *, namespace: str = "", agent: str = "python", timeout: float = SECONDS
    ) -> None:
        def make() -> AsyncAgent:
            return AsyncAgent(url, token, namespace=namespace, agent=agent, timeout=timeout)

        self._door = _Door(make)
        self.code = Code(self._door)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, *, timeout: float = SECONDS
    ) -> Self:
        """As AsyncAgent.from_environment. Raises ValueError where no server is named, or there is no token."""
        found = named_server(environment)
        agent = found.agent or "python"
        return cls(found.url, found.token, namespace=found.namespace, agent=agent, timeout=timeout)

    def close(self) -> None:
        """Close the connections. Calls after that raise RuntimeError."""
        self._door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
