"""What each feature of a line adds to the log-odds that it is needed."""

from __future__ import annotations

__all__ = ["WEIGHTS"]

WEIGHTS = {
    "line": 0.60,  # terms in the line itself
    "near": 0.33,  # different terms within NEAR_LINES
    "window": 0.46,  # within WINDOW_LINES
    "wide": 0.42,  # within WIDE_LINES
    "definition": 0.63,  # BM25 of the innermost definition with all that is in it
    "name": 0.78,  # how far the focus names the innermost definition
    "outer name": 1.17,  # the focus names a definition around that one: all of it is meant
    "outside": 0.45,  # of no definition: imports, constants, tables are touched beside what is asked for
    "head": 0.52,  # likewise the first lines
    "import": 0.96,  # likewise
    "block length": -0.62,  # a change in a long block touches a smaller part of it
    "comment": -1.06,  # requests are seldom about comments,
    "comment asked": 1.16,  # but where they say so, comments are what is meant
    "length": 2.41,  # a long line holds more that may change, and costs more
    "blank": -1.18,  # nothing to change
    "reference": 8.0,  # recent tool output named the line: first, whatever speaks for others. Not fitted
}
"""The log-odds that each feature adds to a line: a conditional logit (softmax over the file's lines)."""
