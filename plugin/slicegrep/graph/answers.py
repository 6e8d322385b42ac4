"""The values of the code graph: an edge between two definitions, and an answer with what is known of its completeness."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Edge", "Envelope", "Found", "Impact", "Reached"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A definition at the other end of references. `symbol` and `file` are ids of the view that was asked."""

    symbol: int
    """-1: the module level of `file`."""
    file: int
    lines: tuple[int, ...]
    """1-based, ascending: where the references stand, in the file of the definition that refers; of imports only where it is
    nothing else."""
    tier: str
    """`scip` or `parser`."""
    confidence: float
    """0 to 1: how likely the reference is to this definition; in the `scip` tier 1.0, and less for what overrides a base method."""
    kind: str
    """The strongest of the references: `call`, `inheritance`, `reference` (a name handed on, a type) or `import`."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is known of an answer's completeness."""

    epistemic: str
    """`complete`: nothing is missing; `lower_bound`: there may be more."""
    tier: str
    """`scip`, `parser`, or `scip+parser` where both contributed."""
    causes: tuple[str, ...] = ()
    """Why it is a lower bound, a short clause each: `parser tier: dynamic calls are not resolved`."""


@dataclass(frozen=True, slots=True)
class Found:
    """Edges, the surest first, then by path and line."""

    edges: tuple[Edge, ...]
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition that depends on another one, through `depth` edges (1: it refers to it itself)."""

    edge: Edge
    depth: int
    through: int
    """Id of the symbol by which it was reached: the one asked for at depth 1. -1 never."""
    is_test: bool


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of a definition can reach, nearest first."""

    reached: tuple[Reached, ...]
    envelope: Envelope
