"""One call of a hook: the payload's fields with their types checked, and where the session keeps its state."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass, field

from slicegrep.home import home_folder, session_folder

__all__ = ["Call", "call_of"]

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the client describes it. A field of another type than expected counts as absent ("" or {})."""

    session: str
    agent: str
    cwd: str
    transcript: str
    tool: str
    use_id: str
    given: Mapping[str, object]
    response: Mapping[str, object]
    home: str
    state: str
    """The session's state folder."""
    warm: bool = False
    """Whether the resident engine answers; the ledger tells its times apart."""
    later: list[Callable[[], None]] = field(default_factory=list)
    """What is done once the answer is out: who appends here does not hold the call up."""

    @property
    def file_path(self) -> str:
        """The absolute path that a Read asks for, not resolved; "" where it asks for none."""
        named = self.given.get("file_path")
        if not isinstance(named, str) or not named or "\0" in named:
            return ""
        return os.path.join(self.cwd, os.path.expanduser(named))


def call_of(
    payload: Mapping[str, object],
    environment: Mapping[str, str],
    *,
    warm: bool = False,
    later: list[Callable[[], None]] | None = None,
) -> Call:
    """Check a payload. Raises ValueError where the session's or the call's id is not a plain name."""
    home = home_folder(environment)
    session = _text(payload.get("session_id"))
    use_id = _text(payload.get("tool_use_id"))
    if use_id and (len(use_id) > 128 or not _PLAIN.issuperset(use_id)):
        raise ValueError("tool_use_id is not a plain name")
    return Call(
        session,
        _text(payload.get("agent_id")),
        _text(payload.get("cwd")) or os.getcwd(),
        _text(payload.get("transcript_path")),
        _text(payload.get("tool_name")),
        use_id,
        _mapping(payload.get("tool_input")),
        _mapping(payload.get("tool_response")),
        home,
        session_folder(home, session),
        warm,
        [] if later is None else later,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
