"""The outline against Python's own `ast`, on the standard library that the tests run on."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from outline_oracles import ast_disagreements, stdlib_sample
from slicegrep.source import source_of

FILES = 60
"""A fifth of what the benchmark checks: under 5 s on two cores."""


def test_every_line_of_a_sample_of_the_standard_library_agrees_with_ast() -> None:
    """Name, first line (decorators included) and last line of the enclosing definition, line by line."""
    checked = 0
    differing = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in stdlib_sample(FILES):
            data = path.read_bytes()
            try:
                ast.parse(data)
            except (SyntaxError, ValueError):  # the library keeps a few files that are broken on purpose
                continue
            source = source_of(str(path), data)
            checked += len(source.lines)
            differing += [(str(path), *found) for found in ast_disagreements(source, data)]
    assert checked > 5_000
    assert differing == []
