"""The HTTP routes: who may call what, requests checked, and every refusal as one sentence of JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends, FastAPI, Query, Response, params
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002 (FastAPI reads the annotation)

from slicegrep import __version__
from slicegrep.service.desk import Desk, Lane
from slicegrep.service.errors import Forbidden, Invalid, NotFound, ServiceError, Unauthorized, WrongType
from slicegrep.service.logs import log
from slicegrep.service.models import (
    Ask,
    CalleesRequest,
    CallersRequest,
    EnclosingAnswer,
    EnclosingRequest,
    ErrorAnswer,
    Health,
    ImpactAnswer,
    ImpactRequest,
    LedgerAnswer,
    LedgerRequest,
    LedgerRow,
    RelatedAnswer,
    SearchAnswer,
    SearchRequest,
    SymbolAnswer,
    SymbolRequest,
    sentence_of,
)
from slicegrep.service.outermost import Outermost, body_of
from slicegrep.service.page import page_of
from slicegrep.service.record import Call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.types import ASGIApp

    from slicegrep.service.bearer import Holder, Tokens
    from slicegrep.service.operations import Code
    from slicegrep.service.record import Record

__all__ = ["AGENT_HEADER", "application"]

AGENT_HEADER = "X-Slicegrep-Agent"
_AGENT = re.compile(r"[^\w.:+@-]")
_LONGEST_AGENT = 64
_LONGEST_MESSAGE = 500
"""Characters: what a message quotes of the request can be long."""
_JSON = "application/json"


class _Operation(NamedTuple):
    """One of the operations: what it takes and gives, and what the OpenAPI page says of it."""

    request: type[Ask]
    answer: type[BaseModel]
    summary: str


_OPERATIONS = {
    "enclosing": _Operation(
        EnclosingRequest, EnclosingAnswer, "Which definition is around each of up to 200 lines"
    ),
    "symbol": _Operation(SymbolRequest, SymbolAnswer, "A definition with its text, by id, name or location"),
    "search": _Operation(
        SearchRequest, SearchAnswer, "The slices that answer a pattern or a question, inside a budget"
    ),
    "callers": _Operation(CallersRequest, RelatedAnswer, "Who refers to a definition"),
    "callees": _Operation(CalleesRequest, RelatedAnswer, "What a definition refers to"),
    "impact": _Operation(ImpactRequest, ImpactAnswer, "What a change of a definition may reach"),
}
_REFUSALS = {
    401: "no token, or one that is not known",
    403: "a token of another role or namespace",
    404: "no such namespace, symbol or path",
    408: "the body does not come",
    409: "a name that fits several definitions",
    413: "a body over 1 MB",
    415: "a body that is not declared as JSON",
    422: "a request that cannot be answered",
    500: "a fault of the server's own",
    503: "too many calls at once",
    504: "no answer in time",
}
_NAMES = {404: NotFound.name, 405: "wrong_method"}


def application(
    trees: Mapping[str, Code], tokens: Tokens, record: Record | None, desk: Desk | None = None
) -> ASGIApp:
    """Return the server of these trees, by namespace. `record` None keeps no ledger."""
    serving = _Serving(trees, tokens, record, desk or Desk())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        serving.close()

    app = FastAPI(
        title="slicegrep",
        version=__version__,
        description="The code operations over the trees that this server was started for. Lines are 1-based, ranges inclusive.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        exception_handlers={
            ServiceError: _refused,
            RequestValidationError: _refused,
            HTTPException: _refused,
            Exception: _refused,
        },
        redirect_slashes=False,
    )
    bearer = Depends(HTTPBearer(auto_error=False, description="A token of the server's token file."))
    for name, operation in _OPERATIONS.items():
        _add(app, name, operation, _endpoint(serving, name, operation), bearer)

    @app.get("/v1/health", operation_id="health", summary="Whether the server is there; without a token")
    async def health() -> Health:
        return Health(version=__version__)

    @app.get(
        "/v1/ledger",
        operation_id="ledger",
        summary="The newest calls; for the role admin",
        response_model=LedgerAnswer,
        responses=_refusals(401, 403, 422, 500, 503),
        dependencies=[Depends(serving.admin), bearer],
    )
    async def ledger(asked: Annotated[LedgerRequest, Query()]) -> LedgerAnswer:
        rows = await serving.recorded(asked)
        return LedgerAnswer(calls=[LedgerRow(id=number, **asdict(call)) for number, call in rows])

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(page_of(app.openapi()), media_type="text/html")

    described = app.openapi
    app.openapi = lambda: _with_requests(described())  # type: ignore[method-assign]
    return Outermost(app)


def _add(
    app: FastAPI,
    name: str,
    operation: _Operation,
    endpoint: Callable[[Request], Awaitable[Response]],
    bearer: params.Depends,
) -> None:
    """Add an operation's route; what it takes is told to OpenAPI alone, since the endpoint checks it itself."""
    taken = {"$ref": f"#/components/schemas/{operation.request.__name__}"}
    agent = {
        "name": AGENT_HEADER,
        "in": "header",
        "required": False,
        "description": "Who calls, for the ledger.",
        "schema": {"type": "string"},
    }
    app.add_api_route(
        f"/v1/code.{name}",
        endpoint,
        methods=["POST"],
        operation_id=name,
        summary=operation.summary,
        response_model=operation.answer,
        responses=_refusals(*_REFUSALS),
        dependencies=[bearer],
        openapi_extra={
            "requestBody": {"required": True, "content": {_JSON: {"schema": taken}}},
            "parameters": [agent],
        },
    )


class _Serving:
    """What the routes share."""

    def __init__(self, trees: Mapping[str, Code], tokens: Tokens, record: Record | None, desk: Desk) -> None:
        self.desk = desk
        self._trees = trees
        self._tokens = tokens
        self._record = record
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="ledger")

    def holder(self, request: Request) -> Holder:
        """Return whose token a call shows. Raises Unauthorized."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized("a token is needed: the header `Authorization: Bearer TOKEN`")
        holder = self._tokens.holder(token.strip())
        if holder is None:
            raise Unauthorized("this server does not know that token")
        return holder

    def admin(self, request: Request) -> None:
        """Refuse a call whose token has another role. Raises Unauthorized, Forbidden."""
        if self.holder(request).role != "admin":
            raise Forbidden("the ledger is for tokens of the role admin")

    def tree(self, namespace: str, holder: Holder) -> tuple[str, Code]:
        """Return the tree that is asked for, with its name. Raises NotFound, Forbidden, Invalid."""
        if not namespace:
            names = [name for name in self._trees if holder.may_see(name)]
            if len(names) != 1:
                raise Invalid(
                    f"name a namespace: {', '.join(names) or 'this token opens none of those served'}"
                )
            namespace = names[0]
        if namespace not in self._trees:
            raise NotFound(f"there is no namespace {namespace[:80]!r} on this server")
        if not holder.may_see(namespace):
            raise Forbidden(f"this token is not for the namespace {namespace}")
        return namespace, self._trees[namespace]

    def note(self, call: Call) -> None:
        """Log a call, and write it into the ledger: in a thread, since a disk may be slow, and in order."""
        fields = asdict(call)
        del fields["time"]
        log("call", **fields)
        if self._record is not None:
            self._writing.submit(self._write, self._record, call)

    async def recorded(self, asked: LedgerRequest) -> list[tuple[int, Call]]:
        """Return the newest calls, with all that have been noted until now."""
        if self._record is None:
            return []
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self._record.rows, asked.limit, asked.before)

    def close(self) -> None:
        """End: what was noted is written; work that nobody waits for any more is left."""
        self.desk.close()
        self._writing.shutdown()

    @staticmethod
    def _write(record: Record, call: Call) -> None:
        try:
            record.add(call)
        except sqlite3.Error as error:  # a full disk: the answer is worth more than its entry
            log("ledger", level=logging.WARNING, error=type(error).__name__)


def _endpoint(
    serving: _Serving, name: str, operation: _Operation
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        begun = time.perf_counter()
        holder = serving.holder(request)
        namespace, count, resolved, status = "", 0, 0, 500
        try:
            with serving.desk.place() as place:
                asked = _checked(operation.request, request, await body_of(request), name)
                count = len(getattr(asked, "locations", "1"))
                namespace, code = serving.tree(asked.namespace, holder)

                def work() -> tuple[bytes, int]:
                    answer = getattr(code, name)(asked)
                    return _json(answer), getattr(answer, "resolved", 1)

                body, resolved = await serving.desk.run(place, work, _lane(name, asked))
            status = 200
            return Response(body, media_type=_JSON)
        except ServiceError as error:
            status = error.status
            raise
        finally:
            agent = _AGENT.sub("", request.headers.get(AGENT_HEADER, ""))[:_LONGEST_AGENT]
            ms = round(1_000 * (time.perf_counter() - begun), 1)
            serving.note(Call(time.time(), agent, holder.name, name, namespace, count, resolved, ms, status))

    return endpoint


def _lane(name: str, asked: Ask) -> Lane:
    if name == "search":
        return Lane.SEARCH
    if name in ("enclosing", "symbol") and not getattr(asked, "neighbours", False):
        return Lane.QUICK
    return Lane.GRAPH


_Request = TypeVar("_Request", bound=Ask)


def _checked(model: type[_Request], request: Request, body: bytes, name: str) -> _Request:
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].partition(";")[0].strip(" \"'")
    if kind.strip() != _JSON or charset not in ("", "utf-8", "utf8"):
        raise WrongType(f"the body of code.{name} is JSON: send it as content-type {_JSON}, in UTF-8")
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise Invalid(sentence_of(model, error.errors(include_url=False, include_input=False)[0])) from None


def _json(answer: BaseModel) -> bytes:
    try:
        return answer.model_dump_json().encode()
    except ValueError:  # a file name that is not UTF-8: lone surrogates, which JSON can only escape
        return json.dumps(answer.model_dump(mode="python")).encode()


async def _refused(_: Request, error: Exception) -> Response:
    headers: Mapping[str, str] = {}
    if isinstance(error, ServiceError):
        status, name, message = error.status, error.name, str(error)
    elif isinstance(error, RequestValidationError):
        first = dict(error.errors()[0])
        first["loc"] = first["loc"][1:]  # without `query`
        status, name, message = Invalid.status, Invalid.name, sentence_of(LedgerRequest, first)
    elif isinstance(error, HTTPException):
        status, name, message = error.status_code, _NAMES.get(error.status_code, Invalid.name), _said(error)
        headers = error.headers or {}
    else:  # Starlette raises it again, and the outermost layer logs it
        status, name = ServiceError.status, ServiceError.name
        message = "a fault of the server's own; its log says where"
    if status == Unauthorized.status:
        headers = {"WWW-Authenticate": "Bearer"}
    elif status == 503:
        headers = {"Retry-After": "1"}
    body = ErrorAnswer(error=name, message=message[:_LONGEST_MESSAGE])
    return Response(_json(body), status, headers, media_type=_JSON)


def _said(error: HTTPException) -> str:
    if error.status_code == 404:
        return "there is nothing at this address; the operations are POST /v1/code.enclosing and the like (see /docs)"
    if error.status_code == 405:
        return f"this address takes another method: {(error.headers or {}).get('Allow', 'see /docs')}"
    return f"the request was not understood: {error.detail}"


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorAnswer, "description": _REFUSALS[status]} for status in statuses}


def _with_requests(described: dict[str, Any]) -> dict[str, Any]:
    """Add the requests' models, which the routes check themselves."""
    models = [(operation.request, "validation") for operation in _OPERATIONS.values()]
    _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    described["components"]["schemas"].update(schemas["$defs"])
    return described
