"""The commands of the command line: their names, and what each is for in one line."""

from __future__ import annotations

__all__ = ["COMMANDS"]

COMMANDS = {
    "map": "print a file's definitions with their line ranges",
    "enclosing": "print the definition around each location",
    "index": "bring the index of a workspace up to date, and say what it holds",
    "serve": "answer questions about code over HTTP, to holders of a token",
    "mcp": "serve an agent over the Model Context Protocol (stdio)",
    "stats": "what was saved, net of what was read again",
    "doctor": "look at each part and say how to mend it",
    "setup": "make the Python environment (--remove: delete everything)",
    "demo": "show what a model receives in place of a large file",
}
"""A first word that is none of these is the path of a search."""
