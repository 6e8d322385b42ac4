"""How long the index takes on a tree: built, opened, asked, after an edit; how large it is, how much memory it took.

    python benchmarks/index_speed.py TREE [TREE ...] [--files 770] [--runs 20]
    python benchmarks/index_speed.py --synthetic 200000

Prints JSON. The trees are copied (those files that the index looks at; with --files, so many of them, taken evenly), because
edits are measured. `wall` is by the clock and `cpu` all processes together, in milliseconds: on a busy machine
compare the cpu. `built` is the median of --builds builds in fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
sys.path.insert(0, str(PLUGIN))

from slicegrep.index import let_go, open_view  # noqa: E402 (the package beside this file, not an installed one)
from slicegrep.index.documents import is_wanted  # noqa: E402
from slicegrep.walk import walk  # noqa: E402

SAMPLE_SECONDS = 0.01

OPEN = f"""
import json, os, resource, sys, time
sys.path.insert(0, {str(PLUGIN)!r})
started = time.perf_counter()
from slicegrep.index import open_view
imported = time.perf_counter()
view = open_view(sys.argv[1], sys.argv[2])
done = time.perf_counter()
own, workers = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({{
    "import": 1000 * (imported - started), "wall": 1000 * (done - imported),
    "cpu": 1000 * (own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime),
    "files": view.file_count, "chunks": view.chunk_count, "segments": len(view.columns.segments),
}}))
"""


def main() -> None:
    """Measure each step in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--synthetic", type=int, default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--builds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        if options.synthetic:
            made(tree, options.synthetic)
        else:
            copied(options.trees, tree, options.files)
        print(json.dumps(measured(tree, Path(folder), options.runs, options.builds), indent=1))


def measured(tree: Path, folder: Path, runs: int, builds: int) -> dict[str, Any]:
    """Return what each step took."""
    found: dict[str, Any] = {"built": [built(tree, folder / f"home{n}") for n in range(builds)]}
    home = folder / f"home{builds - 1}"
    found["megabytes"] = sum(path.stat().st_size for path in (home / "index").iterdir()) / 1e6
    fresh = [json.loads(in_process(tree, home)) for _ in range(max(runs // 4, 3))]
    found["opened in a new process"] = middle(fresh)
    for _ in range(3):
        open_view(str(tree), str(home))
    found["opened again in a process"] = timed(lambda: open_view(str(tree), str(home)), runs)
    found["asked for 13 terms"] = asked(tree, home, runs)
    found["brought up to date after an edit"] = edited(tree, home, runs)
    return found


def built(tree: Path, home: Path) -> dict[str, float]:
    """Build in another process; its memory and that of its workers is looked at all the time."""
    process = subprocess.Popen([sys.executable, "-c", OPEN, str(tree), str(home)], stdout=subprocess.PIPE)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(SAMPLE_SECONDS)
    assert process.stdout is not None
    return {**json.loads(process.stdout.read()), "peak megabytes": peak / 1e6}


def memory(pid: int) -> int:
    """Return the resident bytes of a process and its children (Linux; 0 elsewhere). What they share counts for each."""
    total = 0
    try:
        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                total += memory(int(child))
    except (OSError, ValueError, IndexError):
        return total
    return total


def in_process(tree: Path, home: Path) -> bytes:
    """Open the index in a new process."""
    return subprocess.run(
        [sys.executable, "-c", OPEN, str(tree), str(home)], stdout=subprocess.PIPE, check=True
    ).stdout


def timed(what: Any, runs: int) -> dict[str, float]:
    """Return the median time of a call."""
    rows = []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        what()
        rows.append({"wall": 1000 * (time.perf_counter() - wall), "cpu": 1000 * (time.process_time() - cpu)})
    return middle(rows)


def middle(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each column."""
    return {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}


def asked(tree: Path, home: Path, runs: int) -> dict[str, float]:
    """Look thirteen terms of middling and high frequency up, decoded anew each time."""
    view = open_view(str(tree), str(home))
    terms = [term for term in view.holders.terms_with_prefix("") if term.isalpha()]
    terms = sorted(terms, key=lambda term: -len(view.holders.chunk_postings(term)[0]))[10:400:30]

    def look() -> None:
        let_go()
        again = open_view(str(tree), str(home))
        started.append(time.perf_counter())
        for term in terms:
            again.holders.chunk_postings(term)
            again.holders.file_postings(term)
        ended.append(time.perf_counter())

    started: list[float] = []
    ended: list[float] = []
    for _ in range(max(runs // 4, 3)):
        look()
    times = [1000 * (end - start) for start, end in zip(started, ended, strict=True)]
    return {"terms": len(terms), "wall": round(statistics.median(times), 3)}


def edited(tree: Path, home: Path, runs: int) -> dict[str, float]:
    """Edit one code file after the other, of the middle half by size, and bring the index up to date."""
    view = open_view(str(tree), str(home))
    rows = sorted([row for row in view.files if row and row.kind == "code"], key=lambda row: row.size)
    chance = random.Random(1)
    chosen = chance.sample(rows[len(rows) // 4 : -len(rows) // 4 or None], min(runs, len(rows) // 2))
    times = []
    for row in chosen:
        with (tree / row.path).open("ab") as file:
            file.write(b"\nedited = 1\n")
        times.append(timed(lambda: open_view(str(tree), str(home)), 1))
    return {"bytes": statistics.median(row.size for row in chosen), **middle(times)}


def copied(trees: list[Path], target: Path, most: int) -> None:
    """Copy what the index looks at of some trees."""
    files = [(tree, file.path) for tree in trees for file in walk(str(tree), wanted=is_wanted).files]
    if most:
        step = max(len(files) / most, 1)
        files = [files[int(n * step)] for n in range(min(most, len(files)))]
    for tree, path in files:
        to = target / tree.name / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / path, to)


def made(target: Path, count: int) -> None:
    """Write many small modules."""
    chance = random.Random(7)
    words = [
        f"{a}{b}"
        for a in ["load", "send", "parse", "make", "find", "open", "read", "join"]
        for b in ["Page", "Row", "Item", "Job"]
    ]
    for n in range(count):
        folder = target / f"d{n % 997}" / f"e{n % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        name, other = chance.choice(words), chance.choice(words)
        text = f'"""Part {n}."""\n\n\ndef {name}_{n}(value):\n    return {other}(value, {n})\n'
        (folder / f"m{n}.py").write_text(text)


if __name__ == "__main__":
    main()
