"""Every knob of the shim: its variable, its older name, and its value, read once."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms, collections.abc 2
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Knobs", "is_off", "value_of"]

_NEW = "SLICEGREP_"
_OLD = "LOOM_"
_SHIM_OLD = "LOOM_GREP_SHIM"
_NO = frozenset({"", "0", "off", "no", "false"})


def value_of(environment: Mapping[str, str], name: str) -> str:
    """Return the value of `SLICEGREP_<name>`, else of the older name, else "". A new name that is empty counts as absent.

    The older names are `LOOM_<name>`; of `SHIM...`, `LOOM_GREP_SHIM...`.
    """
    old = _SHIM_OLD + name[4:] if name[:4] == "SHIM" else _OLD + name
    return environment.get(_NEW + name, "").strip() or environment.get(old, "").strip()


def is_off(value: str) -> bool:
    """Whether a switch's value says no: off, 0, no, false, or nothing."""
    return value.lower() in _NO


class Knobs:
    """The resolved knobs of one run. A value that is no number counts as not given, one out of range as the nearest."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read them."""
        self.quiet = not is_off(value_of(environment, "SHIM_QUIET"))
        """Whether the summary is dropped."""
        self.seconds = _number(environment, "SHIM_TIMEOUT_MS", 2_500, 0, 600_000) / 1_000
        """How long the real tool's output may be held back, and annotated, before it is passed on as it is."""
        self.max_bytes = _number(environment, "SHIM_MAX_BYTES", 8_000_000, 0, 1 << 30)
        """Bytes of output over which it is passed on as it is."""
        self.graph = not is_off(value_of(environment, "SHIM_GRAPH"))
        """Whether the graph's block is appended."""
        self.graph_k = _number(environment, "SHIM_GRAPH_K", 5, 1, 20)
        """Callers, callees and tests on each line of that block."""
        self.graph_max_anchors = _number(environment, "SHIM_GRAPH_MAX_ANCHORS", 20, 1, 20)
        """Enclosing functions over which the block is dropped. A call tells of 20."""


def _number(environment: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    raw = value_of(environment, name)
    if not (raw.isascii() and raw.isdigit()):
        return default
    return max(least, min(most, int(raw[:15])))
