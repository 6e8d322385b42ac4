"""The code graph: which definitions refer to which, by a SCIP index where there is one, by the parser elsewhere."""

from __future__ import annotations

from slicegrep.graph.graph import Graph
from slicegrep.graph.values import Edge, Envelope, Found, Impact, Reached

__all__ = ["Edge", "Envelope", "Found", "Graph", "Impact", "Reached"]
