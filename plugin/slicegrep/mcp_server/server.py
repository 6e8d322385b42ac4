"""The protocol: lists the tools, asks the client for its roots, and hands each call to a worker that a cancellation kills."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from slicegrep import __version__
from slicegrep.mcp_server.roots import folders_of
from slicegrep.mcp_server.tools import TOOLS
from slicegrep.terminal import complain

if TYPE_CHECKING:
    from slicegrep.mcp_server.crew import Crew, Worker

__all__ = ["serve"]

CALL_SECONDS = 300.0
"""What the first call in a tree of a million lines without an index may take, on a busy machine."""
ROOTS_SECONDS = 10.0
MOST_AT_ONCE = max(2, min(os.cpu_count() or 1, 4))
"""Calls that run at the same time; each has a process with an index of its own in memory (110 MB after searches and callers in 2,800 files)."""
SHOWS_TYPED = frozenset({"claude-code"})
"""Clients that show the model the typed result, as JSON, in place of the text (2.1.100 and 2.1.332): it costs up to five times as many
tokens and has no line numbers, so that they get the text alone."""
NOTHING_OPEN = (
    "no folder is open to this server: of what the client names none is a folder that is there, or it did not answer, "
    "or it names none and the working directory is the top of the file system, which is never open"
)

_ROOTS = "roots"


def serve(crew: Crew, *, structured: bool) -> None:
    """Serve the client on standard input and output until its input ends."""
    anyio.run(partial(_Session(crew, structured=structured).run))


class _Session:
    def __init__(self, crew: Crew, *, structured: bool) -> None:
        self._crew = crew
        self._structured = structured
        self._roots: list[str] | None = None
        self._changes = 0
        """How often the client's roots changed."""
        self._limit = anyio.Semaphore(MOST_AT_ONCE)

    async def run(self) -> None:
        server: Server[Any] = Server(
            "slicegrep", version=__version__, on_list_tools=self._list, on_call_tool=self._call
        )
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._roots_changed
        )
        async with stdio_server() as (source, target):
            await server.run(source, target, server.create_initialization_options())

    async def _list(self, context: Any, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        typed = self._typed(context)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=tool.description,
                    input_schema=tool.input_schema(),
                    output_schema=tool.output_schema() if typed else None,
                    annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
                )
                for name, tool in TOOLS.items()
            ]
        )

    async def _call(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.name not in TOOLS:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r:.80}")
        roots = await self._named_roots(context, params)
        if roots is None:
            return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})
        if not roots:
            return _refused(NOTHING_OPEN)
        call = {"tool": params.name, "arguments": params.arguments or {}, "roots": roots}
        answer = await self._answer(json.dumps(call).encode() + b"\n")
        if "error" in answer:
            return _refused(answer["error"])
        return types.CallToolResult(
            content=[_text(answer["text"])],
            structured_content=answer["structured"] if self._typed(context) else None,
        )

    def _typed(self, context: Any) -> bool:
        who = context.session.client_params
        return self._structured and (who is None or who.client_info.name not in SHOWS_TYPED)

    async def _answer(self, line: bytes) -> dict[str, Any]:
        async with self._limit:
            worker = self._crew.take()
            answered = False
            try:
                with anyio.fail_after(CALL_SECONDS):
                    answer = await anyio.to_thread.run_sync(worker.ask, line, abandon_on_cancel=True)
                answered = bool(answer)
            except TimeoutError:
                return {"error": f"no answer within {CALL_SECONDS:g} s"}
            finally:
                self._done(worker, whole=answered)
        if not answered:
            return {"error": "the process that worked on the call was killed; call again, or ask for less"}
        found: dict[str, Any] = json.loads(answer)
        return found

    def _done(self, worker: Worker, *, whole: bool) -> None:
        """Keep a worker that answered; kill one that is cancelled, too slow or dead."""
        if whole:
            self._crew.give_back(worker)
        else:
            self._crew.dismiss(worker)

    async def _roots_changed(self, _context: Any, _params: types.NotificationParams | None) -> None:
        self._roots = None
        self._changes += 1

    async def _named_roots(self, context: Any, params: types.CallToolRequestParams) -> list[str] | None:
        """Return the folders that the client names; the working directory where it knows no roots, or has none.

        None where the client is to be asked by the answer, and calls again with what it says: the protocol of 2026 has no requests
        of the server's own.
        """
        able = context.session.client_capabilities
        if able is None or able.roots is None:
            return _opened([])
        if context.session.can_send_request:
            if self._roots is not None:
                return self._roots
            before = self._changes
            named = await _asked(context)
            roots = _opened(named)
            if (
                named is not None and before == self._changes
            ):  # they are not older than what was said meanwhile
                self._roots = roots
            return roots
        told = (params.input_responses or {}).get(_ROOTS)
        if isinstance(told, types.ListRootsResult):
            return _opened([str(root.uri) for root in told.roots])
        return None if params.input_responses is None else []


class _Told(types.Result):
    """The client's answer, in which each root is looked at for itself: one that is no file must not hide the others."""

    roots: list[Any]


async def _asked(context: Any) -> list[str] | None:
    """Return the URIs of the client's roots; None where it does not say."""
    try:
        told = await context.session.send_request(
            types.ListRootsRequest(), _Told, request_read_timeout_seconds=ROOTS_SECONDS
        )
    except (MCPError, ValidationError) as error:
        complain(f"mcp: the client did not name its roots ({type(error).__name__}), so nothing is open")
        return None
    return [str(root.get("uri")) if isinstance(root, dict) else "" for root in told.roots]


def _opened(uris: list[str] | None) -> list[str]:
    """Return the folders of the roots that are there; of no roots the server's own folder.

    Never the top of the file system: some clients start their servers there, and it is no project.
    """
    if uris is None:
        return []
    folders = folders_of(uris) if uris else [os.path.realpath(os.getcwd())]
    return [folder for folder in folders if folder != os.path.dirname(folder)]


def _refused(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(sentence)], is_error=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
