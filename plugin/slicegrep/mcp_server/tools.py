"""The tools: what a model reads of each, the arguments that it takes, and the shape of its typed answer."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from slicegrep.service.models import (
    CalleesRequest,
    CallersRequest,
    EnclosingAnswer,
    EnclosingRequest,
    ImpactAnswer,
    ImpactRequest,
    RelatedAnswer,
    SearchRequest,
    SymbolAnswer,
    SymbolRequest,
)

__all__ = [
    "TOOLS",
    "Definition",
    "MapAnswer",
    "MapRequest",
    "ReadRequest",
    "Slice",
    "SlicesAnswer",
    "Tool",
    "Withheld",
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadRequest(SearchRequest):
    """A search in one file or folder, which is to be named."""

    path: Annotated[str, Field(min_length=1, max_length=4_096)]


class MapRequest(_Model):
    """Asks for the definitions of a file."""

    path: Annotated[str, Field(min_length=1, max_length=4_096)]
    budget: Annotated[int, Field(ge=200, le=100_000)] = 2_000
    """o200k_base tokens."""


class Definition(_Model):
    """A definition of a map. Lines are 1-based and inclusive."""

    symbol: str
    kind: str
    start: int
    end: int
    signature: str


class MapAnswer(_Model):
    """The definitions of a file, in its order."""

    path: str
    lines: int
    definitions: list[Definition]
    more: int = 0
    """Nested ones that the budget leaves out."""


class Slice(_Model):
    """Lines that answer. They are 1-based and inclusive; `text` is without their numbers."""

    file: str
    """Relative to the root."""
    line_start: int
    line_end: int
    symbol: str
    text: str
    score: float
    rank_reason: str


class Withheld(_Model):
    """A region that matched and is not returned. Tokens are an estimate."""

    file: str
    line_start: int
    line_end: int
    symbol: str
    tokens: int


class SlicesAnswer(_Model):
    """The slices of a search, best first, and the largest losses."""

    slices: list[Slice]
    coverage: float
    omitted: list[Withheld]
    omitted_more: int
    negative_evidence: list[str]
    notes: list[str]


class Tool(NamedTuple):
    """A tool. `arguments` are those of the request's fields that it takes, with what a model is told of them."""

    description: str
    request: type[BaseModel]
    answer: type[BaseModel]
    arguments: dict[str, str]

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments: limits are left to the refusal, as a model pays for each of its words."""
        told = self.request.model_json_schema()["properties"]
        kept = ("type", "items", "enum", "default")
        properties = {}
        for name, note in self.arguments.items():
            properties[name] = {key: told[name][key] for key in kept if key in told[name]}
            if "items" in properties[name]:
                properties[name]["items"] = {"type": "string"}
            if properties[name].get("default") in ("", []):
                del properties[name]["default"]
            if note:
                properties[name]["description"] = note
        required = [name for name, field in self.request.model_fields.items() if field.is_required()]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the typed answer, in which what has its default may be missing."""
        return self.answer.model_json_schema(mode="validation")


_PATTERN = "regex (a|b|c), or 3+ plain words"
_WHICH = {"name": "e.g. Cart.add, or PATH:LINE", "symbol_id": "PATH#NAME, instead of name"}
_BUDGET = "max tokens"

TOOLS = {
    "focused_read": Tool(
        "The slices of a file or folder that answer a pattern, best first; what is left out is listed. Use it before reading whole files.",
        ReadRequest,
        SlicesAnswer,
        {
            "path": "",
            "pattern": _PATTERN,
            "before": "lines",
            "after": "lines",
            "budget": _BUDGET,
            "boundary": "fn: whole definitions",
        },
    ),
    "file_map": Tool(
        "A file's definitions with line ranges.", MapRequest, MapAnswer, {"path": "", "budget": _BUDGET}
    ),
    "enclosing": Tool(
        "The function, method or class around each line.",
        EnclosingRequest,
        EnclosingAnswer,
        {
            "locations": "PATH:LINE, up to 200",
            "include_body": "",
            "token_budget": "",
            "neighbours": "add callers, callees, tests",
        },
    ),
    "symbol": Tool(
        "Where a definition is, and its code.",
        SymbolRequest,
        SymbolAnswer,
        {**_WHICH, "include_body": "", "token_budget": ""},
    ),
    "search": Tool(
        "As focused_read, in the whole project.",
        SearchRequest,
        SlicesAnswer,
        {"pattern": _PATTERN, "path": "", "glob": "", "type": "py, rust, ...", "budget": _BUDGET},
    ),
    "callers": Tool("What refers to a definition.", CallersRequest, RelatedAnswer, {**_WHICH, "k": ""}),
    "callees": Tool("What a definition refers to.", CalleesRequest, RelatedAnswer, {**_WHICH, "k": ""}),
    "impact": Tool(
        "What changing a definition may break: transitive callers, and tests to run.",
        ImpactRequest,
        ImpactAnswer,
        {**_WHICH, "depth": "", "k": ""},
    ),
}
