"""What the tools do: arguments and roots in, text and typed answer out."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from slicegrep.arisen import arisen
from slicegrep.filemap import map_line
from slicegrep.home import home_folder
from slicegrep.mcp_server import texts
from slicegrep.mcp_server.roots import NotThereError, Place, RefusedError, placed, places_of
from slicegrep.mcp_server.tools import TOOLS, Definition, MapAnswer, Slice, SlicesAnswer, Withheld
from slicegrep.outline import outline
from slicegrep.present import printable
from slicegrep.search import SearchError, focused_read
from slicegrep.service.errors import NotFound, ServiceError
from slicegrep.service.locations import is_location, location_of
from slicegrep.service.models import sentence_of
from slicegrep.service.operations import Code
from slicegrep.source import read_source
from slicegrep.tokens import weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.mcp_server.tools import MapRequest, ReadRequest
    from slicegrep.result import Result
    from slicegrep.schema import Answer
    from slicegrep.service.models import EnclosingRequest, SearchRequest
    from slicegrep.types import Symbol

__all__ = ["answer_of", "told"]

LARGEST = 50_000_000
"""Bytes of a file that is mapped, as on the command line."""
LISTED = 20
"""Withheld regions in a typed answer; the text lists fewer. All of them can be several times the budget."""


class _Answered(NamedTuple):
    text: str
    answer: BaseModel


def answer_of(tool: str, arguments: dict[str, Any], roots: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the text and the typed answer of a call. Raises what `told` says in a sentence."""
    unknown = [name for name in arguments if name not in TOOLS[tool].arguments]
    if unknown:
        known = ", ".join(TOOLS[tool].arguments)
        raise RefusedError(f"{tool} has no argument {unknown[0]!r:.80}; it has {known}")
    try:
        request = TOOLS[tool].request.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise RefusedError(sentence_of(TOOLS[tool].request, first)) from None
    text, answer = _WORK[tool](request, roots)
    return text, answer.model_dump(mode="json", exclude_defaults=True)


def told(error: Exception) -> str:
    """Return one sentence for whoever called; of a fault of our own where it happened, without file content."""
    if isinstance(error, ServiceError | RefusedError | SearchError):
        return printable(str(error))
    if isinstance(error, OSError):
        return f"{error.strerror or type(error).__name__}"
    return f"a fault of slicegrep's own ({arisen(error)})"


def _read(request: ReadRequest, roots: Sequence[str]) -> _Answered:
    place = placed(request.path, roots)
    result = focused_read(
        place.full,
        request.pattern,
        before=request.before,
        after=request.after,
        budget=request.budget,
        boundary=request.boundary,
        shown=place.path or ".",
        home=_home(),
    )
    folder = place.path if os.path.isdir(place.full) else os.path.dirname(place.path)
    return _Answered(result.render(), _slices(result, folder))


def _search(request: SearchRequest, roots: Sequence[str]) -> _Answered:
    place = placed(request.path, roots)
    code, path = _code(place.root), place.path
    answer = code.search(request.model_copy(update={"path": path}))
    folder = path if os.path.isdir(place.full) else os.path.dirname(path)
    return _Answered(answer.text, _slices(answer.result, folder))


def _slices(result: Result | Answer, folder: str) -> SlicesAnswer:
    """Return the typed answer of a search, whose files are relative to `folder`."""

    def at(file: str) -> str:
        return f"{folder}/{file}" if folder else file

    return SlicesAnswer(
        slices=[
            Slice(
                file=at(one.file),
                line_start=one.line_start,
                line_end=one.line_end,
                symbol=one.symbol,
                text=one.text,
                score=one.score,
                rank_reason=one.rank_reason,
            )
            for one in result.chunks
        ],
        coverage=result.coverage,
        omitted=[
            Withheld(
                file=at(one.file),
                line_start=one.line_start,
                line_end=one.line_end,
                symbol=one.symbol,
                tokens=one.tokens,
            )
            for one in result.omitted[:LISTED]
        ],
        omitted_more=max(0, len(result.omitted) - LISTED),
        negative_evidence=list(result.negative_evidence),
        notes=list(result.notes),
    )


def _map(request: MapRequest, roots: Sequence[str]) -> _Answered:
    place = placed(request.path, roots)
    if os.path.isdir(place.full):
        raise RefusedError(f"{place.path or '.'} is a folder; a map is of a file")
    source = read_source(place.full, max_bytes=LARGEST)
    if source is None:
        raise RefusedError(f"{place.path} cannot be read, or is over {LARGEST // 1_000_000} MB")
    if not source.language:
        raise RefusedError(f"{place.path} is not source code that slicegrep knows")
    symbols = outline(source).symbols
    kept, lines = _folded(symbols, [map_line(symbol, source) for symbol in symbols], request.budget)
    answer = MapAnswer(
        path=place.path,
        lines=len(source.lines),
        definitions=[
            Definition(symbol=s.qualified, kind=s.kind, start=s.start, end=s.end, signature=s.signature)
            for s in kept
        ],
        more=len(symbols) - len(kept),
    )
    return _Answered(texts.map_text(answer, lines), answer)


def _folded(symbols: Sequence[Symbol], lines: Sequence[str], budget: int) -> tuple[list[Symbol], list[str]]:
    """Return what fits: the outer definitions first, the longest of each depth before others, in the file's order."""
    order = sorted(
        range(len(symbols)), key=lambda i: (symbols[i].depth, symbols[i].start - symbols[i].end, i)
    )
    left, kept = float(budget), []
    for i in order:
        left -= weigh(lines[i] + "\n")
        if left < 0:
            break
        kept.append(i)
    kept.sort()
    return [symbols[i] for i in kept], [lines[i] for i in kept]


def _enclosing(request: EnclosingRequest, roots: Sequence[str]) -> _Answered:
    """Answer for locations that are all in one root; a path that is in none is refused, not there, or an unresolved row."""
    found: list[str] = []
    used: set[str] = set()
    for text in request.locations:
        path, line = location_of(text)
        place = _maybe(path, roots)
        used |= {place.root} if place else set()
        found.append(f"{place.path}:{line}" if place and place.path else text)
    if len(used) > 1:
        raise RefusedError(
            f"the locations of one call are to be in one root, not in {' and '.join(sorted(used))}"
        )
    answer = _code(used.pop() if used else roots[0]).enclosing(
        request.model_copy(update={"locations": found})
    )
    rows = [
        row.model_copy(update={"location": text})
        for row, text in zip(answer.rows, request.locations, strict=True)
    ]
    answer = answer.model_copy(update={"rows": rows})
    return _Answered(texts.enclosing_text(answer), answer)


def _maybe(path: str, roots: Sequence[str]) -> Place | None:
    """Return the place of a path; None where it is not there. Raises RefusedError where no root holds it, or several do."""
    try:
        return placed(path, roots)
    except NotThereError:
        return None


def _asked_of_a_root(operation: str, text: Callable[[Any], str]) -> Callable[[Any, Sequence[str]], _Answered]:
    """Return what asks for a definition by its name or id: of the root that its path names, else of the one that has it."""

    def work(request: Any, roots: Sequence[str]) -> _Answered:
        asked = _by_root(request, roots)
        found: dict[str, BaseModel] = {}
        missing: NotFound | None = None
        for root, spelled in asked.items():
            try:
                found[root] = getattr(_code(root), operation)(spelled)
            except NotFound as error:  # noqa: PERF203 (another root may have it)
                missing = error
        if len(found) > 1:
            named = " and ".join(found)
            raise RefusedError(
                f"{request.symbol_id or request.name} is in {named}; put that folder before the path of its symbol_id"
            )
        if not found:
            raise missing or NotFound("no folder is named")
        (root, answer), *_ = found.items()
        head = f"in {root}:\n" if len(asked) > 1 else ""
        return _Answered(head + text(answer), answer)

    return work


def _by_root(request: Any, roots: Sequence[str]) -> dict[str, Any]:
    """Return what each root is to be asked: those in which the path of an id or a location is, else all of them.

    Raises RefusedError for an absolute path that is in none.
    """
    field = "symbol_id" if request.symbol_id else "name"
    text = getattr(request, field)
    found: dict[str, Any] = {}
    refused: RefusedError | None = None
    for end in _path_ends(field, text):
        try:
            for place in places_of(text[:end], roots):
                spelled = request.model_copy(update={field: place.path + text[end:]})
                found.setdefault(place.root, spelled)
        except RefusedError as error:  # noqa: PERF203 (another end may be the right one)
            refused = refused or error
    if refused and not found and os.path.isabs(text):
        raise refused
    return found or dict.fromkeys(roots, request)


def _path_ends(field: str, text: str) -> list[int]:
    """Return where the path in an id or a location may end: paths may hold `#`, and so may names."""
    if field == "symbol_id":
        return [at for at, letter in enumerate(text) if letter == "#"]
    return [text.rindex(":")] if is_location(text) else []


@lru_cache(maxsize=16)
def _code(root: str) -> Code:
    return Code(root, _home())


def _home() -> str:
    return home_folder(os.environ)


_WORK: dict[str, Callable[[Any, Sequence[str]], _Answered]] = {
    "focused_read": _read,
    "file_map": _map,
    "enclosing": _enclosing,
    "search": _search,
    "symbol": _asked_of_a_root("symbol", texts.symbol_text),
    "callers": _asked_of_a_root("callers", lambda answer: texts.related_text(answer, "callers")),
    "callees": _asked_of_a_root("callees", lambda answer: texts.related_text(answer, "callees")),
    "impact": _asked_of_a_root("impact", texts.impact_text),
}
