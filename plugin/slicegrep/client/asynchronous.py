"""The operations of a server, awaited."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from slicegrep.client.errors import BadAnswer, InvalidRequest
from slicegrep.client.exchange import Exchange, request_of
from slicegrep.connection import named_server
from slicegrep.service.models import (
    MOST_LOCATIONS,
    CalleesRequest,
    CallersRequest,
    EnclosingAnswer,
    EnclosingRequest,
    ImpactAnswer,
    ImpactRequest,
    RelatedAnswer,
    SearchAnswer,
    SearchRequest,
    SymbolAnswer,
    SymbolRequest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["SECONDS", "AsyncAgent", "AsyncCode"]

SECONDS = 30.0
"""A search in a tree that has no index yet is what takes longest: 2 to 3 s for 2,800 files."""


class AsyncCode:
    """The code operations. Each raises SlicegrepError; paths are relative to the tree's top, lines are 1-based."""

    def __init__(self, exchange: Exchange, namespace: str) -> None:
        self._exchange = exchange
        self._namespace = namespace

    async def enclosing(
        self,
        locations: Sequence[str],
        *,
        include_body: bool = False,
        token_budget: int = 4_000,
        neighbours: bool = False,
        neighbour_k: int = 5,
    ) -> EnclosingAnswer:
        """Return the definition around each location (`src/cart.py:12`), a row each, in their order.

        `include_body` puts the text of each on its first row, until `token_budget` (o200k_base tokens) is spent;
        `neighbours` adds up to `neighbour_k` callers, callees and tests of each. More than 200 locations go in several calls
        inside one time-out, and `revision` is empty where it changed in between; not with bodies or neighbours, whose limits are of
        one call.
        """
        if isinstance(locations, str):  # a str is a sequence of them, too
            raise InvalidRequest("locations is a list of PATH:LINE, not one text")
        wanted = list(locations)
        if len(wanted) > MOST_LOCATIONS and (include_body or neighbours):
            raise InvalidRequest(
                f"{len(wanted)} locations are too many with bodies or neighbours, "
                f"of which one call has one budget: {MOST_LOCATIONS} at most"
            )
        values = {
            "namespace": self._namespace,
            "include_body": include_body,
            "token_budget": token_budget,
            "neighbours": neighbours,
            "neighbour_k": neighbour_k,
        }
        requests = [
            request_of(EnclosingRequest, {**values, "locations": wanted[at : at + MOST_LOCATIONS]})
            for at in range(0, max(len(wanted), 1), MOST_LOCATIONS)
        ]
        end = self._exchange.end()
        answers = [await self._enclosing(request, end) for request in requests]
        return answers[0] if len(answers) == 1 else _joined(answers)

    async def symbol(
        self, symbol_id: str = "", *, name: str = "", include_body: bool = True, token_budget: int = 4_000
    ) -> SymbolAnswer:
        """Return the definition of that id, or those that a name fits (also qualified, or `PATH:LINE`).

        An id without `#` is taken for a name, here and in what follows.
        """
        values = {"include_body": include_body, "token_budget": token_budget, **self._which(symbol_id, name)}
        return await self._exchange.ask("code.symbol", request_of(SymbolRequest, values), SymbolAnswer)

    async def search(
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
        """Return the slices that answer, best first, inside `budget` o200k_base tokens: `slicegrep.focused_read`, there."""
        values = {
            "namespace": self._namespace,
            "pattern": pattern,
            "path": path,
            "before": before,
            "after": after,
            "budget": budget,
            "boundary": boundary,
            "objective": objective,
            "dedupe": dedupe,
            "glob": [glob] if isinstance(glob, str) else list(glob),
            "type": [type] if isinstance(type, str) else list(type),
            "case_sensitive": case_sensitive,
        }
        return await self._exchange.ask("code.search", request_of(SearchRequest, values), SearchAnswer)

    async def callers(
        self, symbol_id: str = "", *, name: str = "", k: int = 50, least_confidence: float = 0.5
    ) -> RelatedAnswer:
        """Return the `k` surest of the definitions that refer to this one."""
        values = {"k": k, "least_confidence": least_confidence, **self._which(symbol_id, name)}
        return await self._exchange.ask("code.callers", request_of(CallersRequest, values), RelatedAnswer)

    async def callees(
        self, symbol_id: str = "", *, name: str = "", k: int = 50, least_confidence: float = 0.5
    ) -> RelatedAnswer:
        """Return the `k` surest of the definitions that this one refers to."""
        values = {"k": k, "least_confidence": least_confidence, **self._which(symbol_id, name)}
        return await self._exchange.ask("code.callees", request_of(CalleesRequest, values), RelatedAnswer)

    async def impact(
        self,
        symbol_id: str = "",
        *,
        name: str = "",
        depth: int = 3,
        k: int = 100,
        least_confidence: float = 0.8,
    ) -> ImpactAnswer:
        """Return what a change of this definition may reach through at most `depth` references, nearest first."""
        values = {
            "depth": depth,
            "k": k,
            "least_confidence": least_confidence,
            **self._which(symbol_id, name),
        }
        return await self._exchange.ask("code.impact", request_of(ImpactRequest, values), ImpactAnswer)

    def _which(self, symbol_id: str, name: str) -> dict[str, object]:
        if bool(symbol_id) == bool(name):
            raise InvalidRequest("give exactly one of symbol_id and name")
        if symbol_id and "#" not in symbol_id:  # no id is without it: `code.symbol("total")`
            symbol_id, name = "", symbol_id
        return {"namespace": self._namespace, "symbol_id": symbol_id, "name": name}

    async def _enclosing(self, request: EnclosingRequest, end: float) -> EnclosingAnswer:
        answer = await self._exchange.ask("code.enclosing", request, EnclosingAnswer, end=end)
        if [row.location for row in answer.rows] != request.locations:
            raise BadAnswer("code.enclosing: the rows are not those of the locations that were asked for")
        return answer


def _joined(answers: Sequence[EnclosingAnswer]) -> EnclosingAnswer:
    revisions = {answer.revision for answer in answers}
    return EnclosingAnswer(
        rows=[row for answer in answers for row in answer.rows],
        resolved=sum(answer.resolved for answer in answers),
        revision=revisions.pop() if len(revisions) == 1 else "",
    )


class AsyncAgent:
    """A client of `slicegrep serve`; several calls may be under way at once.

    `url` is that of the server, as `http://127.0.0.1:8737`; `namespace` one of its trees ("" where it has one alone); `agent` who
    calls, for the server's record; `timeout` the seconds that a call may take, its second try included. A call is tried once more
    where the connection breaks or the status is 502, 503 or 504. Raises ValueError for what cannot be a URL, a token or a time.
    """

    def __init__(
        self, url: str, token: str, *, namespace: str = "", agent: str = "python", timeout: float = SECONDS
    ) -> None:
        self._exchange = Exchange(url, token, agent=agent, seconds=timeout)
        self.code = AsyncCode(self._exchange, namespace)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, *, timeout: float = SECONDS
    ) -> Self:
        """Return a client of the server that SLICEGREP_BASE_URL or `~/.slicegrep/config.json` names.

        Its token is in SLICEGREP_API_KEY, the file or `~/.slicegrep/token`. Raises ValueError where one is missing.
        """
        found = named_server(environment)
        agent = found.agent or "python"
        return cls(found.url, found.token, namespace=found.namespace, agent=agent, timeout=timeout)

    async def close(self) -> None:
        """Close the connections. Calls after that raise RuntimeError."""
        await self._exchange.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
