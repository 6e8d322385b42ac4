"""Every knob of the hooks: its name, type, default and plugin option, resolved once, at the edge."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass

__all__ = ["KNOBS", "Knob", "Settings"]

_YES = frozenset({"on", "1", "true", "yes"})
_NO = frozenset({"off", "0", "false", "no"})


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable. `option` is its name under /plugin (userConfig), "" where it has none."""

    field: str
    variable: str
    default: int | float | str
    option: str
    help: str
    least: float = 0
    most: float = 1e9
    """Values outside of least..most count as not given."""
    switch: bool = False
    """Whether it is either on or off: it reads as `on` or `off`, however that is written, and anything else as not given."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variable, then that of its plugin option, if it has one."""
        return (self.variable, *([f"CLAUDE_PLUGIN_OPTION_{self.option.upper()}"] if self.option else []))

    def parsed(self, raw: str) -> int | float | str | None:
        """Return the value that a text says; None where it says none: it is empty, no number, out of range, no switch's."""
        text = raw.strip()
        if self.switch:
            return "on" if text.lower() in _YES else "off" if text.lower() in _NO else None
        if isinstance(self.default, str):
            return text or None
        try:
            number = float(text)
        except ValueError:
            return None
        if not self.least <= number <= self.most:  # also false for NaN
            return None
        return int(number) if isinstance(self.default, int) else number


KNOBS = (
    Knob(
        "budget", "SLICEGREP_HOOK_BUDGET", 1200, "budget", "tokens that an interception starts with", 200, 1e6
    ),
    Knob(
        "max_budget", "SLICEGREP_HOOK_MAX_BUDGET", 4000, "max_budget", "tokens that it may grow to", 200, 1e6
    ),
    Knob(
        "min_coverage",
        "SLICEGREP_HOOK_MIN_COVERAGE",
        0.55,
        "min_coverage",
        "share of the matched material below which the budget doubles",
        0,
        1,
    ),
    Knob(
        "min_tokens",
        "SLICEGREP_HOOK_MIN_TOKENS",
        2000,
        "min_tokens",
        "files below this many tokens are read as they are",
    ),
    Knob(
        "max_bytes",
        "SLICEGREP_HOOK_MAX_BYTES",
        5_000_000,
        "",
        "files above this many bytes are read as they are",
    ),
    Knob(
        "timeout", "SLICEGREP_HOOK_TIMEOUT", 5.0, "", "seconds after which the plain call happens", 0.001, 60
    ),
    Knob(
        "exclude", "SLICEGREP_HOOK_EXCLUDE", "", "exclude", "globs, comma-separated, of files to leave alone"
    ),
    Knob(
        "notice",
        "SLICEGREP_HOOK_NOTICE",
        "off",
        "notice",
        "on: one line to the person per interception",
        switch=True,
    ),
    Knob("disable", "SLICEGREP_HOOK_DISABLE", "", "", "1 switches every hook off", switch=True),
    Knob("annotate", "SLICEGREP_ANNOTATE", "on", "annotate", "off: leave grep output as it is", switch=True),
    Knob(
        "annotate_graph",
        "SLICEGREP_ANNOTATE_GRAPH",
        "off",
        "",
        "on: below annotated output, callers, callees and tests of each function",
        switch=True,
    ),
    Knob(
        "annotate_timeout_ms",
        "SLICEGREP_ANNOTATE_TIMEOUT_MS",
        800,
        "",
        "milliseconds that annotating may take",
        0,
        60_000,
    ),
    Knob(
        "resident",
        "SLICEGREP_RESIDENT",
        "on",
        "",
        "off: no process stays for the next calls; each starts its own",
        switch=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The resolved knobs. Tokens are o200k_base, times are in the unit of the name."""

    budget: int = 1200
    max_budget: int = 4000
    min_coverage: float = 0.55
    min_tokens: int = 2000
    max_bytes: int = 5_000_000
    timeout: float = 5.0
    exclude: str = ""
    notice: str = "off"
    disable: str = ""
    annotate: str = "on"
    annotate_graph: str = "off"
    annotate_timeout_ms: int = 800
    resident: str = "on"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the knobs: the variable wins over the plugin option, a value that says nothing over neither."""
        found: dict[str, int | float | str] = {}
        for knob in KNOBS:
            for name in knob.variables:
                value = knob.parsed(environment.get(name, ""))
                if value is not None:
                    found[knob.field] = value
                    break
        return cls(**found)  # type: ignore[arg-type]

    @property
    def disabled(self) -> bool:
        """Whether every hook is off."""
        return self.disable == "on"

    @property
    def notice_on(self) -> bool:
        """Whether the person is told of each interception."""
        return self.notice == "on"

    @property
    def annotate_on(self) -> bool:
        """Whether grep output is annotated."""
        return self.annotate == "on"

    @property
    def resident_on(self) -> bool:
        """Whether the resident engine may be asked and started."""
        return self.resident == "on"

    @property
    def annotate_graph_on(self) -> bool:
        """Whether the graph's block stands below annotated output."""
        return self.annotate_graph == "on"
