"""A server under load: many calls at once, each answered and each with its own answer, in memory that does not grow."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from served import write_tree

BENCHMARK = Path(__file__).resolve().parents[1] / "benchmarks" / "service.py"
TEXT = "".join(f"class C{at}:\n    def f(self):\n        return {at}\n\n\n" for at in range(60))


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("service_benchmark", BENCHMARK)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_fifty_calls_at_once_are_all_answered(tmp_path: Path) -> None:
    """Of 200 locations each, for three seconds: no error, none with another's answer, memory as it was, 40 ms for one alone."""
    tree, home = write_tree(tmp_path / "tree", {f"m{at}.py": TEXT for at in range(50)}), tmp_path / "home"
    home.mkdir()
    load = benchmark()
    bodies = [
        json.dumps({"locations": load.locations_of(tree, home, 50, 200, seed)}).encode() for seed in range(4)
    ]
    assert len(set(bodies)) == 4
    with load.server(tree, home) as server:
        found = asyncio.run(load.load(server, bodies, calls=50, seconds=3))
    assert (found["errors"], found["wrong"]) == ({}, 0)
    assert found["calls"] >= 100
    assert found["cpu_ms"] < 40  # of the server's processor time: the clock's depends on who else is running
    memory = found["resident_mb"]
    assert memory["end"] < memory["settled"] + 10, memory
