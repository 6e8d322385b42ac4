"""The code graph: which definitions refer to which, by a SCIP index where there is one, by the parser elsewhere."""

from __future__ import annotations

from slicegrep.graph.answers import Edge, Envelope, Found, Impact, Reached
from slicegrep.graph.graph import Graph

__all__ = ["Edge", "Envelope", "Found", "Graph", "Impact", "Reached"]
