"""The requests and answers of the code operations, as models that refuse what they do not know: one set for HTTP, client and MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from slicegrep.schema import Answer  # noqa: TC001 (pydantic reads the annotation)
from slicegrep.service.locations import LOCATION

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Ask",
    "CalleesRequest",
    "CallersRequest",
    "EnclosingAnswer",
    "EnclosingRequest",
    "EnclosingRow",
    "Envelope",
    "ErrorAnswer",
    "Health",
    "ImpactAnswer",
    "ImpactRequest",
    "LedgerAnswer",
    "LedgerRequest",
    "LedgerRow",
    "Neighbour",
    "NeighbourhoodEntry",
    "Place",
    "ReachedNeighbour",
    "RelatedAnswer",
    "SearchAnswer",
    "SearchRequest",
    "SymbolAnswer",
    "SymbolEntry",
    "SymbolRequest",
    "sentence_of",
]

MOST_LOCATIONS = 200
MOST_ANCHORS = 20
MOST_NEIGHBOURS = 20


def _whole(number: object) -> object:
    """Return 4 for 4.0: JSON has one kind of number, and its schema calls that an integer."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


_Asked = BeforeValidator(_whole)
_Line = Annotated[int, Field(ge=1)]
_Count = Annotated[int, Field(ge=0)]
_Name = Annotated[str, Field(min_length=1, max_length=4_096)]
_Budget = Annotated[int, Field(ge=200, le=100_000), _Asked]
_TOLD = f"^{LOCATION}$"
"""For the schema: locations.py checks it, and says what is wrong."""
_Location = Annotated[
    str,
    Field(
        min_length=3,
        max_length=4_200,
        json_schema_extra={"pattern": _TOLD},
    ),
]
_EITHER: dict[str, Any] = {
    "oneOf": [
        {"required": [given], "properties": {given: {"minLength": 1}, other: {"maxLength": 0}}}
        for given, other in (("symbol_id", "name"), ("name", "symbol_id"))
    ]
}
"""For the schema: one of the two is given, the other empty or not there. naming.py checks it."""


def sentence_of(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    """Return what the first of pydantic's errors (`ValidationError.errors()[0]`) about a model says, for a person."""
    place = ""
    for part in error["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    place = place[:80]
    message = str(error["msg"])
    match error["type"]:
        case "extra_forbidden":
            return f"there is no field {place!r}; there are {', '.join(model.model_fields)}"
        case "missing":
            return f"the field {place} is missing"
        case "json_invalid":
            return f"the body is not JSON: {error.get('ctx', {}).get('error', message)}"
    return f"{place or 'the body'}: {message[:1].lower()}{message[1:]}"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, frozen=True)


class Ask(_Model):
    """What every request may say."""

    namespace: Annotated[str, Field(max_length=200)] = ""
    """Which of the server's trees is asked; empty where it has only one."""


class EnclosingRequest(Ask):
    """Asks which definitions are around these lines."""

    locations: Annotated[list[_Location], Field(min_length=1, max_length=MOST_LOCATIONS)]
    """`PATH:LINE`, the path relative to the top of the tree, with `/`; lines are 1-based."""
    include_body: bool = False
    """Put each definition's text on the first row that it encloses, while `token_budget` lasts."""
    token_budget: _Budget = 4_000
    """o200k_base tokens for all bodies together."""
    neighbours: bool = False
    """Add callers, callees, tests and module of each distinct definition."""
    neighbour_k: Annotated[int, Field(ge=1, le=MOST_NEIGHBOURS), _Asked] = 5
    """How many of each at most."""


class Place(_Model):
    """A definition, and where it is. Lines are 1-based and inclusive."""

    symbol_id: str
    """Empty for the lines of a file outside of all definitions (kind `module`), which may refer to others, and where the path is no
    UTF-8, so that nobody could ask for it. Else
    `PATH#QUALIFIED`, with `~2` behind for the second definition of that name in the file, and so on. It outlives edits of other lines."""
    symbol: str
    """Its qualified name."""
    kind: str
    path: str
    start: _Line
    end: _Line
    signature: str


class EnclosingRow(_Model):
    """One location's answer, in the order of the locations."""

    location: str
    """As it was given."""
    symbol: str = ""
    """Qualified name of the innermost definition around the line; empty at file scope and where the path is not indexed."""
    symbol_id: str = ""
    kind: str = ""
    path: str = ""
    start: _Count = 0
    end: _Count = 0
    """1-based and inclusive; 0 where there is no definition."""
    signature: str = ""
    digest: str = ""
    """Hex BLAKE2b-128 of the file's bytes: the row is about that content and no other. Empty where the path is not indexed."""
    body: str | None = None
    """The definition's lines, joined by LF; on the first row of each definition, when asked for, while the budget lasts."""
    next: str = ""
    """Where the body was asked for and is not here: the call that brings it."""


class Envelope(_Model):
    """What is known of an answer's completeness."""

    epistemic: Literal["complete", "lower_bound"]
    tier: Literal["scip", "parser", "scip+parser"]
    causes: list[str]
    """Why there may be more, a clause each."""


class Neighbour(Place):
    """A definition at the other end of references."""

    lines: list[_Line]
    """Where the references stand, in the file of the definition that refers."""
    tier: Literal["scip", "parser"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    relation: Literal["call", "inheritance", "reference", "import"]


class NeighbourhoodEntry(Place):
    """What is around one definition in the graph."""

    module: str
    callers: list[Neighbour]
    callees: list[Neighbour]
    tests: list[Neighbour]
    envelope: Envelope


class EnclosingAnswer(_Model):
    """The answer of code.enclosing."""

    rows: list[EnclosingRow]
    resolved: _Count
    """Rows with a definition."""
    revision: str
    """The commit that the tree's HEAD is at, its first ten digits; empty outside of git."""
    neighbours: list[NeighbourhoodEntry] = []
    """One for each distinct definition, in the order of first appearance."""
    anchors_capped: bool = False
    """Whether there were more definitions than entries are made for (20)."""
    digests: dict[str, str] = {}
    """By path, the digest of each file that a neighbour is in: its lines are about that content, as `digest` says of a row."""


class SymbolRequest(Ask):
    """Asks for a definition. Exactly one of `symbol_id` and `name` is to be given."""

    model_config = ConfigDict(json_schema_extra=_EITHER)

    symbol_id: Annotated[str, Field(max_length=8_192)] = ""
    name: Annotated[str, Field(max_length=8_192)] = ""
    """A name, a qualified name or its end (`Cart.add`), or `PATH:LINE`."""
    include_body: bool = True
    token_budget: _Budget = 4_000
    """o200k_base tokens for all bodies together."""


class SymbolEntry(Place):
    """A definition with its text."""

    body: str | None = None
    """Its lines, joined by LF; cut at a line where the budget ends."""
    truncated: bool = False
    """Whether `body` is not the whole of it."""


class SymbolAnswer(_Model):
    """The answer of code.symbol: the likeliest first; more than one where the name is not unique."""

    symbols: list[SymbolEntry]
    more: _Count = 0
    """Further definitions of that name that are not listed."""
    revision: str


class SearchRequest(Ask):
    """As `slicegrep PATH PATTERN`: the slices that answer, inside a budget."""

    pattern: _Name
    path: Annotated[str, Field(max_length=4_096)] = ""
    """A file or folder relative to the top of the tree; empty: all of it."""
    before: Annotated[int, Field(ge=0, le=1_000), _Asked] = 40
    after: Annotated[int, Field(ge=0, le=1_000), _Asked] = 40
    budget: _Budget = 2_000
    boundary: Literal["auto", "fn", "none"] = "auto"
    objective: Literal["auto", "def+caller", "def+test", "single"] = "auto"
    dedupe: bool = True
    glob: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=20)] = []
    """.gitignore's syntax, `!` excludes."""
    type: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=50)] = []
    """ripgrep's names, and those of languages."""
    case_sensitive: bool = False


class SearchAnswer(_Model):
    """The answer of code.search: what `slicegrep --json` prints, and the text of it."""

    result: Answer
    text: str
    """Rendered as the command line does, inside the budget."""
    revision: str


class _Related(Ask):
    model_config = ConfigDict(json_schema_extra=_EITHER)

    symbol_id: Annotated[str, Field(max_length=8_192)] = ""
    name: Annotated[str, Field(max_length=8_192)] = ""
    """As in code.symbol; it must fit one definition."""


class CallersRequest(_Related):
    """Asks who refers to a definition."""

    k: Annotated[int, Field(ge=1, le=200), _Asked] = 50
    least_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Guesses of the parser tier below this are left out, and named among the causes."""


class CalleesRequest(CallersRequest):
    """Asks what a definition refers to."""


class RelatedAnswer(_Model):
    """The answer of code.callers and code.callees."""

    symbol: Place
    related: list[Neighbour]
    """The surest first."""
    more: _Count = 0
    """Further ones that `k` left out."""
    envelope: Envelope
    revision: str


class ImpactRequest(_Related):
    """Asks what a change of a definition may reach."""

    depth: Annotated[int, Field(ge=1, le=10), _Asked] = 3
    k: Annotated[int, Field(ge=1, le=500), _Asked] = 100
    least_confidence: Annotated[float, Field(ge=0, le=1)] = 0.8


class ReachedNeighbour(Neighbour):
    """A definition that depends on the one asked for."""

    depth: _Line
    """1: it refers to it itself."""
    through: str
    """symbol_id of the definition by which it was reached; empty where that is outside of the tree."""


class ImpactAnswer(_Model):
    """The answer of code.impact: nearest first."""

    symbol: Place
    reached: list[ReachedNeighbour]
    tests: list[ReachedNeighbour]
    """Those of what was reached that are tests."""
    more: _Count = 0
    """Further ones of `reached` that `k` left out."""
    more_tests: _Count = 0
    """Further ones of `tests` that `k` left out."""
    envelope: Envelope
    revision: str


class ErrorAnswer(_Model):
    """Why a request was not served: one sentence."""

    error: str
    """A short name: `invalid_request`, `unauthorized`, `forbidden`, `not_found`, `wrong_method`, `wrong_type`, `ambiguous`,
    `too_large`, `too_slow`, `busy`, `internal`."""
    message: str


class Health(_Model):
    """That the server is there."""

    status: Literal["ok"] = "ok"
    version: str


class LedgerRequest(_Model):
    """Asks for the newest calls; the role `admin` may."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    before: Annotated[int, Field(ge=0, le=1 << 53)] = 0
    """Only calls with a number below this: the last one's `id` of the page before."""


class LedgerRow(_Model):
    """One call."""

    id: int
    """Its number; later calls have larger ones."""
    time: float
    """When it ended, in seconds since 1970."""
    agent: str
    """What the call's header `X-Slicegrep-Agent` said."""
    token: str
    """The name of the token's holder."""
    operation: str
    namespace: str
    count: _Count
    """Locations, or 1."""
    resolved: _Count
    """How many of them were found."""
    ms: float
    """How long it took in the server."""
    status: int
    """The HTTP status of the answer."""


class LedgerAnswer(_Model):
    """The newest calls first."""

    calls: list[LedgerRow]
