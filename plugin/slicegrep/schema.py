"""The JSON of a search (`--json`, `Result.to_dict()`) and of `index --json`, as models that refuse what they do not know."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema

__all__ = ["Answer", "IndexReport", "Skipped", "json_schema"]

_Line = Annotated[int, Field(ge=1)]
_Count = Annotated[int, Field(ge=0)]
_Share = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, frozen=True)


class Chunk(_Strict):
    """A slice. Lines are 1-based and inclusive."""

    file: str
    """Relative to the folder that was searched (of a file: to its folder), with `/`; bytes that are no UTF-8 as lone surrogates."""
    line_start: _Line
    line_end: _Line
    text: str
    """The lines, joined by LF: without line numbers, CRs before an LF, and a line end after the last."""
    score: float
    """Higher is better; to be compared within one answer only."""
    rank_reason: str
    """Why it is here, joined by commas."""
    symbol: str
    """Qualified name of the definition that the best line is in; empty at module level."""
    tokens: _Count
    """Of `text`."""


class Omission(_Strict):
    """A region that matched and is not, or not wholly, among the slices. Lines are 1-based and inclusive."""

    file: str
    line_start: _Line
    line_end: _Line
    tokens: _Count
    """An estimate."""
    score: float
    rank_reason: str
    symbol: str


class Skipped(_Strict):
    """A path that was not searched."""

    path: str
    """A folder ends in `/`."""
    why: str


class Answer(_Strict):
    """The answer to one search. Tokens are those of o200k_base."""

    path: str
    """As it was given."""
    pattern: str
    route: Literal["precise", "vague"]
    """`precise`: what the patterns match is ranked first; `vague`: English, ranked by vocabulary."""
    budget: _Count
    total_tokens: _Count
    """Of the rendered text."""
    exact_tokens: bool
    """False where the vocabulary is not there: tokens are then estimates that lean high."""
    coverage: _Share
    """How much of what was found is among `chunks`, measured as `coverage_of` says."""
    coverage_of: Literal["lines", "score"]
    """`lines`: of the lines that a pattern matches; `score`: where no pattern matches, of the candidates' scores."""
    chunks: list[Chunk]
    """Best first."""
    omitted: list[Omission]
    """Worst loss first; all of them, however many the text lists."""
    omitted_tokens: _Count
    """An estimate."""
    negative_evidence: list[str]
    """What was not found, a sentence each."""
    notes: list[str]
    """What else to know of how it was searched, a sentence each: a pattern that ran as a literal, say."""
    skipped: list[Skipped]


class IndexReport(_Strict):
    """What `slicegrep index --json` prints."""

    workspace: str
    """The git top level, else the folder: an absolute path."""
    file: str
    """The SQLite file."""
    bytes: _Count
    """On disk."""
    seconds: float
    """That it took to bring the index up to date."""
    files: _Count
    languages: dict[str, int]
    """Files by language, or `docs` and `config`, most first. Those of `files` that are in none have no text to index."""
    symbols: _Count
    chunks: _Count
    skipped: list[Skipped]
    notes: list[str]


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles of fields, which are their names once more."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002
        return False


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of an answer."""
    return Answer.model_json_schema(mode="serialization", schema_generator=_Untitled)
