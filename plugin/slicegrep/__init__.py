"""slicegrep: the few slices that answer the question, best first, inside a token budget."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
