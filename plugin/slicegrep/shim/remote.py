"""A server's answers for the shim: how it is asked, and what of its answer is believed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass, field

from slicegrep.annotate import Row  # noqa: TC001 (as above)
from slicegrep.index.place import location_path
from slicegrep.related import ASKED_EACH
from slicegrep.shim.raw import Raw
from slicegrep.source import read_source
from slicegrep.types import Source, Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from slicegrep.connection import Connection

__all__ = ["Remote"]

MOST_LOCATIONS = 200
"""Of one call (service.models says the same; pydantic would take longer to load than the call)."""
MOST_PARALLEL = 5
LARGEST_ANSWER = 8_000_000
"""Bytes: 200 rows and 20 neighbourhoods take less than a tenth."""
_LONGEST_LOCATION = 4_200
_REFUSALS = {
    401: "the server refused the token",
    403: "the token is for another namespace",
    404: "the server does not know the namespace, or the operation",
}
_AGENT = "grep-shim"
_PATH = "/v1/code.enclosing"


@dataclass(slots=True)
class _Call:
    """One call of code.enclosing: at most 200 locations, and its rows in the same order."""

    locations: list[str]
    rows: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    revision: str = ""
    fault: str = "the server did not answer in time"
    """Why there are no rows; "" when there are."""


class Remote:
    """A server that has the same tree, perhaps at another commit: a row counts only where it is about the same content."""

    def __init__(self, connection: Connection, top: str, until: float, *, neighbours: bool = False) -> None:
        """`top` is the real path that locations are relative to; `neighbours` asks for the graph's answers too.

        Nothing is waited for past `until` (of `time.monotonic`).
        """
        self._connection = connection
        self._top = top
        self._until = until
        self._neighbours = neighbours
        self._ids: dict[tuple[str, str, int], str] = {}
        self._entries: dict[str, dict[str, Any]] = {}
        self._theirs: dict[str, str] = {}
        self._same: dict[str, bool] = {}
        self.revision = ""
        """The commit that the server's tree was at, as its last answer said."""

    def definitions_of(self, batch: Sequence[tuple[Source, Sequence[int]]]) -> list[list[Symbol | None]]:
        """Return the definitions that the server knows around the lines of exactly these contents. Raises Raw."""
        within = [location_path(self._top, source.path) for source, _ in batch]
        wanted: dict[str, dict[str, Any]] = {
            f"{path}:{line}": {}
            for path, (_, lines) in zip(within, batch, strict=True)
            if path
            for line in lines
        }
        locations = [location for location in wanted if len(location) <= _LONGEST_LOCATION]
        for call in self._called(locations):
            wanted.update(zip(call.locations, call.rows, strict=True))
            self._entries.update((entry["symbol_id"], entry) for entry in call.entries)
            self._theirs.update(call.digests)
            self.revision = call.revision
        return [
            [self._symbol(wanted.get(f"{path}:{line}", {}), source, line) for line in lines]
            for path, (source, lines) in zip(within, batch, strict=True)
        ]

    def neighbours_of(self, row: Row) -> dict[str, Any] | None:
        """Return what the server said of the neighbourhood of a row's definition, None where it said nothing.

        Neighbours in files that are not the same here are left out: their lines would be those of another content.
        """
        symbol = row.symbol
        entry = self._entries.get(self._ids.get((row.file, symbol.qualified, symbol.start), ""))
        if entry is None:
            return None
        lists = {name: [one for one in entry[name] if self._is_same(one["path"])] for name in _LISTS}
        lost = sum(len(entry[name]) - len(lists[name]) for name in _LISTS)
        if not lost:
            return entry
        causes = [f"{lost} in files that differ here", *entry["envelope"]["causes"]]
        return {**entry, **lists, "envelope": {"epistemic": "lower_bound", "causes": causes}}

    def _is_same(self, path: str) -> bool:
        """Whether a file has the content here of which the server spoke."""
        if path not in self._same:
            file = os.path.join(self._top, *path.split("/"))
            source = (
                read_source(file)
                if time.monotonic() < self._until and location_path(self._top, file)
                else None
            )
            self._same[path] = source is not None and source.digest == self._theirs.get(path)
        return self._same[path]

    def _called(self, locations: list[str]) -> list[_Call]:
        """Ask for all locations. Raises Raw where a call failed, or was not done in time."""
        import threading  # noqa: PLC0415 (outputs without hits ask nothing)

        calls = [
            _Call(locations[at : at + MOST_LOCATIONS]) for at in range(0, len(locations), MOST_LOCATIONS)
        ]
        left = iter(calls)

        def work() -> None:
            for call in left:  # a list's iterator hands each call to one thread only
                self._answer(call)
                if call.fault:
                    return

        # Threads, also for one call: they are waited for no longer than until the deadline, whatever they hang on (a
        # name that is looked up, an answer that comes a byte at a time).
        threads = [threading.Thread(target=work, daemon=True) for _ in calls[:MOST_PARALLEL]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, self._until - time.monotonic()))
        for call in calls:
            if call.fault:
                raise Raw(call.fault)
        return calls

    def _answer(self, call: _Call) -> None:
        """Make one call; `fault` says what was wrong."""
        import http.client  # noqa: PLC0415 (6 ms)
        import json  # noqa: PLC0415 (2 ms)

        body: dict[str, Any] = {"locations": call.locations}
        if self._connection.namespace:
            body["namespace"] = self._connection.namespace
        if self._neighbours:
            body.update(neighbours=True, neighbour_k=ASKED_EACH)
        try:
            data = self._posted(json.dumps(body, ensure_ascii=False).encode())
            rows, entries, digests, revision = _believed(data, call.locations)
        except (OSError, http.client.HTTPException) as error:
            call.fault = f"the server cannot be asked ({type(error).__name__})"
        except Raw as error:
            call.fault = str(error)
        except ValueError:  # its text may hold the token
            call.fault = "the server's address or the token cannot be used"
        else:
            call.rows, call.entries, call.digests = rows, entries, digests
            call.revision, call.fault = revision, ""

    def _posted(self, body: bytes) -> bytes:
        """Post the body and return the answer's. Raises OSError, HTTPException, Raw, and ValueError where a header cannot be sent."""
        import http.client  # noqa: PLC0415 (as above)
        from urllib.parse import urlsplit  # noqa: PLC0415

        url = urlsplit(self._connection.url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise Raw("the server's address is no http or https URL")
        make = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        seconds = max(0.001, self._until - time.monotonic())
        connection = make(url.hostname, url.port, timeout=seconds)
        headers = {
            "Authorization": f"Bearer {self._connection.token}",
            "Content-Type": "application/json",
            "X-Slicegrep-Agent": self._connection.agent or _AGENT,
        }
        try:
            connection.request("POST", url.path.rstrip("/") + _PATH, body, headers)
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise Raw(_REFUSALS.get(answer.status, f"the server answered with status {answer.status}"))
            data = answer.read(LARGEST_ANSWER + 1)
        finally:
            connection.close()
        if len(data) > LARGEST_ANSWER:
            raise Raw("the server's answer is too large")
        return data

    def _symbol(self, row: Mapping[str, Any], source: Source, line: int) -> Symbol | None:
        """Return the definition that a row tells of; None where it is about other content, or makes no sense for this."""
        if not row.get("symbol") or row["digest"] != source.digest:
            return None
        start, end = row["start"], row["end"]
        if not 1 <= start <= line <= end <= len(source.lines):
            return None
        self._ids[source.path, row["symbol"], start] = row["symbol_id"]
        return Symbol(row["kind"], row["symbol"], row["symbol"], start, end, row["signature"], start)


_ROW = {
    **dict.fromkeys(("location", "symbol", "symbol_id", "kind", "signature", "digest"), str),
    "start": int,
    "end": int,
}
_PLACE = {**dict.fromkeys(("symbol_id", "symbol", "path"), str), "start": int}
_LISTS = ("callers", "callees", "tests")


def _believed(
    data: bytes, locations: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, str], str]:
    """Return the rows, the neighbourhoods, their files' digests and the revision of an answer. Raises Raw where it is not one to these locations."""
    import json  # noqa: PLC0415 (as above)

    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Raw("the server's answer is none: no object")
    rows, entries, revision = answer.get("rows"), answer.get("neighbours", []), answer.get("revision", "")
    if not isinstance(rows, list) or [_said(row, "location") for row in rows] != locations:
        raise Raw("the server's answer is none: its rows are not those of the locations")
    if not all(_is(row, _ROW) for row in rows):
        raise Raw("the server's answer is none: a row has another shape")
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise Raw("the server's answer is none: a neighbourhood has another shape")
    if not isinstance(revision, str) or not ((revision.isascii() and revision.isalnum()) or not revision):
        raise Raw("the server's answer is none: its revision is none")
    digests = answer.get("digests", {})
    if not isinstance(digests, dict) or not all(isinstance(digest, str) for digest in digests.values()):
        raise Raw("the server's answer is none: its digests are none")
    return rows, entries, digests, revision[:10]


def _said(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, dict) else None


def _is(value: object, fields: Mapping[str, type]) -> bool:
    return isinstance(value, dict) and all(type(value.get(name)) is kind for name, kind in fields.items())


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or not _is(value, {**_PLACE, "module": str, "envelope": dict}):
        return False
    envelope: dict[str, Any] = value["envelope"]
    causes = envelope.get("causes")
    return (
        isinstance(envelope.get("epistemic"), str)
        and isinstance(causes, list)
        and all(isinstance(cause, str) for cause in causes)
        and all(isinstance(value.get(name), list) for name in _LISTS)
        and all(_is_neighbour(one) for name in _LISTS for one in value[name])
    )


def _is_neighbour(value: object) -> bool:
    lines = _said(value, "lines")
    fields = {**_PLACE, "relation": str}
    return _is(value, fields) and isinstance(lines, list) and all(type(line) is int for line in lines)
