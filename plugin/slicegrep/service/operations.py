"""The six code operations over one tree: what the server, MCP and Python ask, and what they answer."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

from slicegrep.index import Damaged, open_view
from slicegrep.revision import revision_of
from slicegrep.schema import Answer
from slicegrep.search import SearchError, focused_read
from slicegrep.service.bodies import Budget
from slicegrep.service.errors import Invalid, NotFound, ServiceError
from slicegrep.service.files import Files
from slicegrep.service.locations import inside, location_of
from slicegrep.service.models import (
    MOST_ANCHORS,
    EnclosingAnswer,
    EnclosingRow,
    ImpactAnswer,
    RelatedAnswer,
    SearchAnswer,
    SymbolAnswer,
    SymbolEntry,
)
from slicegrep.service.naming import Definition, named, place_of, the_one
from slicegrep.tokens import VOCABULARY_NAME, counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slicegrep.service.files import Content
    from slicegrep.service.models import (
        CalleesRequest,
        CallersRequest,
        EnclosingRequest,
        ImpactRequest,
        SearchRequest,
        SymbolRequest,
    )
    from slicegrep.service.related import Related

__all__ = ["GRAPH_SECONDS", "Code"]

GRAPH_SECONDS = 1.5
"""How long one call may work on the graph; what is missing then is named. The grep shim waits 2.5 s for the whole answer, and
a busy machine was seen to take 0.7 s over it."""
MOST_SYMBOLS = 20
"""Definitions that code.symbol lists; the rest is counted."""
_PASSED_ON = (
    *("before", "after", "budget", "boundary", "objective", "dedupe"),
    *("glob", "type", "case_sensitive"),
)
_TRIES = 2
_Answer = TypeVar("_Answer")


class Code:
    """One tree: the folder `root` with what its index holds. Every call looks at the files as they are then.

    Calls may come from several threads. All raise NotFound where the folder is gone, ServiceError where its index cannot be kept.
    Paths, of locations and in answers, are relative to `root`, with `/`.
    """

    def __init__(self, root: str, home: str) -> None:
        """`home` is SLICEGREP_HOME. Nothing is read yet."""
        self.root = os.path.realpath(root)
        self._home = home

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring the index up to date, as the first call would; `progress` as in index.open_view."""
        self._with_files(lambda files: files.view.root, progress)

    def enclosing(self, request: EnclosingRequest) -> EnclosingAnswer:
        """Return a row for each location, in order. Raises BadLocation for one that is not PATH:LINE."""
        places = [location_of(text) for text in request.locations]
        return self._with_files(lambda files: self._enclosing(files, request, places))

    def symbol(self, request: SymbolRequest) -> SymbolAnswer:
        """Return the definitions of an id or a name. Raises NotFound, Invalid, BadLocation."""
        return self._with_files(lambda files: self._symbol(files, request))

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Return what `slicegrep PATH PATTERN` would. Raises NotFound for a path that the index does not hold, Invalid."""
        return self._with_files(lambda files: self._search(files, request))

    def callers(self, request: CallersRequest) -> RelatedAnswer:
        """Return who refers to a definition. Raises NotFound, Ambiguous, Invalid, BadLocation."""
        return self._with_files(
            lambda files: self._related(files).callers(
                the_one(files, request.symbol_id, request.name), request
            )
        )

    def callees(self, request: CalleesRequest) -> RelatedAnswer:
        """Return what a definition refers to. Raises as `callers` does."""
        return self._with_files(
            lambda files: self._related(files).callees(
                the_one(files, request.symbol_id, request.name), request
            )
        )

    def impact(self, request: ImpactRequest) -> ImpactAnswer:
        """Return what depends on a definition, through others too. Raises as `callers` does."""
        return self._with_files(
            lambda files: self._related(files).impact(
                the_one(files, request.symbol_id, request.name), request
            )
        )

    def _with_files(
        self, work: Callable[[Files], _Answer], progress: Callable[[int, int], None] | None = None
    ) -> _Answer:
        for _ in range(_TRIES):
            try:
                view = open_view(self.root, self._home, progress=progress)
                inner = os.path.relpath(self.root, view.root).replace(os.sep, "/")
                return work(Files(view, "" if inner == "." else inner + "/"))
            except Damaged:  # noqa: PERF203 (it is made anew when it is opened again)
                continue
            except OSError as error:
                raise NotFound(f"the folder of this tree cannot be read: {error.strerror}") from error
        raise ServiceError("the index of this tree is damaged each time it is made")

    def _related(self, files: Files) -> Related:
        from slicegrep.service.related import Related  # noqa: PLC0415 (the graph, which few calls need)

        return Related(files, self._home, time.monotonic() + GRAPH_SECONDS)

    def _budget(self, tokens: int) -> Budget:
        folder = os.path.join(self._home, "vocab")
        there = os.path.exists(os.path.join(folder, VOCABULARY_NAME))
        count, _ = counter(folder if there else os.environ.get("TIKTOKEN_CACHE_DIR", ""))
        return Budget(tokens, count)

    def _enclosing(
        self, files: Files, request: EnclosingRequest, places: list[tuple[str, int]]
    ) -> EnclosingAnswer:
        budget = self._budget(request.token_budget) if request.include_body else None
        distinct: dict[str, Definition] = {}
        with_body: set[str] = set()
        rows: list[EnclosingRow] = []
        for location, (path, line) in zip(request.locations, places, strict=True):
            content = files.at(inside(path, files.top) or "")
            symbol = content.around(line) if content else None
            if content is None or symbol is None:
                rows.append(EnclosingRow(location=location, **_file_scope(content)))
                continue
            symbol_id = content.id_of(symbol)
            body = None
            if symbol_id not in distinct:
                distinct[symbol_id] = Definition(content, symbol)
                if budget and (lines := content.lines(files.view, symbol.start, symbol.end)) is not None:
                    body = budget.whole(lines)
                if body is not None:
                    with_body.add(symbol_id)
            rows.append(
                EnclosingRow(
                    location=location,
                    symbol=symbol.qualified,
                    symbol_id=symbol_id,
                    kind=symbol.kind,
                    path=content.path,
                    start=symbol.start,
                    end=symbol.end,
                    signature=symbol.signature,
                    digest=content.digest,
                    body=body,
                    next=call_for(symbol_id) if budget and symbol_id not in with_body else "",
                )
            )
        anchors = list(distinct.values())[:MOST_ANCHORS] if request.neighbours else []
        around = self._related(files).neighbourhoods(anchors, request.neighbour_k) if anchors else []
        return EnclosingAnswer(
            rows=rows,
            resolved=sum(bool(row.symbol) for row in rows),
            revision=revision_of(files.view.root),
            neighbours=around,
            anchors_capped=request.neighbours and len(distinct) > MOST_ANCHORS,
            digests=_digests(files, {end.path for e in around for end in (*e.callers, *e.callees, *e.tests)}),
        )

    def _symbol(self, files: Files, request: SymbolRequest) -> SymbolAnswer:
        found = named(files, request.symbol_id, request.name)
        budget = self._budget(request.token_budget) if request.include_body else None
        entries: list[SymbolEntry] = []
        for one in found[:MOST_SYMBOLS]:
            body, cut = None, False
            if budget:
                lines = one.content.lines(files.view, one.symbol.start, one.symbol.end) or ()
                body = budget.whole(lines) if lines else None
                cut = body is None
                body = budget.begun(lines) if cut else body
            entries.append(SymbolEntry(**place_of(one), body=body, truncated=cut))
        return SymbolAnswer(
            symbols=entries, more=len(found) - len(entries), revision=revision_of(files.view.root)
        )

    def _search(self, files: Files, request: SearchRequest) -> SearchAnswer:
        path = inside(request.path, files.top)
        if path is None or not (
            path == "" or files.at(path) or files.view.paths_under(f"{files.prefix}{path}/")
        ):
            raise NotFound(f"there is no file or folder {request.path!r} in the index of this tree")
        full = os.path.join(files.top, path) if path else files.top
        try:
            result = focused_read(
                full,
                request.pattern,
                shown=path or ".",
                top=files.top,
                home=self._home,
                **{name: getattr(request, name) for name in _PASSED_ON},
            )
        except SearchError as error:
            raise Invalid(str(error)) from error
        except OSError as error:  # it is gone since, or a link by now
            raise NotFound(
                f"there is no file or folder {request.path!r} in the index of this tree"
            ) from error
        return SearchAnswer(
            result=Answer.model_validate(result.to_dict()),
            text=result.render(),
            revision=revision_of(files.view.root),
        )


def call_for(symbol_id: str) -> str:
    """Return the call that brings a definition's body, as Python and JavaScript read it."""
    return f"code.symbol(symbol_id={json.dumps(symbol_id, ensure_ascii=False)})"


def _digests(files: Files, paths: Iterable[str]) -> dict[str, str]:
    """Return what the view has of files, by their paths below the folder that is served."""
    rows = {path: files.view.file_at(files.prefix + path) for path in sorted(paths)}
    return {path: files.view.digest(row.id) for path, row in rows.items() if row is not None}


def _file_scope(content: Content | None) -> dict[str, Any]:
    """Return what a row says of a line in no definition."""
    return {} if content is None else {"path": content.path, "digest": content.digest}
