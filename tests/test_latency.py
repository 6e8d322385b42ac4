"""What the hooks cost, as ratios to a bare interpreter in the same run (codebase-memory#858, #2058)."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from prepared_home import ROOT, prepared_home

# 250 ms before a read and 60 after it, where `python -I -S -c pass` takes 8: the second with room for a busy machine.
MOST_BEFORE = 31
MOST_AFTER = 12


def test_what_does_not_qualify_starts_no_python_and_what_does_stays_in_bounds() -> None:
    """The benchmark's own table: calls in sh cost less than a bare interpreter, an interception a few of them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "latency.py"), "--runs", "9", "--shell", "dash"],
        capture_output=True,
        text=True,
        env={**os.environ, "SLICEGREP_HOME": str(prepared_home())},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"(?m)^(.{24}) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ +[\d.]+ +([\d.]+)$", done.stdout)
    cpu = {name.strip(): float(spent) for name, spent, _ in rows}
    bare = float(re.search(r"(?m)^python -I -S -c pass +[\d.]+ +[\d.]+ +([\d.]+)", done.stdout)[1])  # type: ignore[index]
    assert cpu.pop("read: intercepted") < MOST_BEFORE * bare
    assert cpu.pop("read done: delivered") < MOST_AFTER * bare
    cpu.pop("grep: 200 hits")
    assert len(cpu) == 11
    assert max(cpu.values()) < bare
