"""What grows with a tree: index, questions, edits, memory and disk, of made repositories of several sizes and of real ones.

    python benchmarks/scale.py [--files 1000,5000,50000] [--keep FOLDER] [TREE ...] [--only build,look] [--home HOME]

Prints a Markdown table: a row for each thing measured, a column for each tree, and how often the last made tree's figure
is the first one's. Times are medians in milliseconds, `cpu` of all processes together: on a busy machine compare those.
Made trees (monorepo.py) lie in FOLDER, by default a temporary one. Real trees are copied: edits are measured. --home is a
home folder that `slicegrep setup` has filled; nothing is written there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crowd
import monorepo
from index_speed import memory

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "plugin"))

from slicegrep.home import home_folder  # noqa: E402 (the package beside this file, not an installed one)
from slicegrep.index import let_go, open_view  # noqa: E402
from slicegrep.index.documents import is_wanted  # noqa: E402
from slicegrep.walk import walk  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from slicegrep.index import View

Figures = dict[str, float]

RUNS = 7
EDITS = 5
LOCATIONS = 200
HIT_FILES = 50
SAMPLE_SECONDS = 0.02
QUESTIONS = {"rare name": monorepo.RARE, "common word": monorepo.COMMON, "English": monorepo.ENGLISH}
_MB = 1e6


def timed(what: Callable[[], object], runs: int = RUNS) -> tuple[float, float]:
    """Return the medians of the time by the clock and of the processor time of a call, in milliseconds."""
    clock, spent = [], []
    for _ in range(runs):
        begun, cpu = time.perf_counter(), _processors()
        what()
        clock.append(1000 * (time.perf_counter() - begun))
        spent.append(1000 * (_processors() - cpu))
    return statistics.median(clock), statistics.median(spent)


def _processors() -> float:
    """Return the processor time of this process and of its children that have ended, in seconds."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def both(name: str, what: Callable[[], object], runs: int = RUNS) -> Figures:
    """Return the two figures of a call."""
    clock, cpu = timed(what, runs)
    return {f"{name}, ms": clock, f"{name}, cpu ms": cpu}


def _peak() -> float:
    """Return the most memory that this process had, in MB (Linux counts in kB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MB


def build(tree: str, home: str) -> Figures:
    """Build the index anew, watched from outside."""
    for path in Path(home, "index").glob("*"):
        path.unlink()
    begun, before = time.perf_counter(), _processors()
    process = subprocess.Popen(_again("opened", tree, home), stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(SAMPLE_SECONDS)
    if process.returncode:
        raise SystemExit("the build failed")
    wall, cpu = time.perf_counter() - begun, _processors() - before
    view = open_view(tree, home)
    rows = [row for row in view.files if row is not None]
    source = sum(row.size for row in rows)
    size = sum(path.stat().st_size for path in Path(home, "index").iterdir())
    return {
        "files": len(rows),
        "lines": sum(row.lines for row in rows),
        "source, MB": source / _MB,
        "cold index, s": wall,
        "cold index, cpu s": cpu,
        "cold index, files/s": len(rows) / wall,
        "cold index, all processes, MB": peak / _MB,
        "index on disk, MB": size / _MB,
        "index / source": size / source,
    }


def opened(tree: str, home: str) -> Figures:
    """Open the index in a process that has done nothing yet: load, and look at every file."""
    figures = both("opened in a new process", lambda: open_view(tree, home), 1)
    return {**figures, "opened in a new process, MB": _peak()}


def look(tree: str, home: str) -> Figures:
    """Open the index again: the second time every file is looked at, from the third on the kernel tells."""
    view = open_view(tree, home)
    paths = [os.path.join(view.root, row.path) for row in view.files if row is not None]
    figures = both("nothing changed: second look", lambda: open_view(tree, home), 1)
    figures |= both("nothing changed: later looks", lambda: open_view(tree, home))
    return figures | both("floor: lstat of every file", lambda: list(map(os.lstat, paths)), 3)


def search(tree: str, home: str) -> Figures:
    """Ask in one process, the second time and later."""
    from slicegrep.search import focused_read

    figures: Figures = {}
    for name, question in QUESTIONS.items():
        first, _ = timed(lambda question=question: focused_read(tree, question, home=home), 1)
        figures[f"search in process, first: {name}, ms"] = first
        figures |= both(
            f"search in process: {name}", lambda question=question: focused_read(tree, question, home=home)
        )
        result = focused_read(tree, question, home=home)
        figures[f"regions found: {name}"] = len(result.chunks) + len(result.omitted)
    return {**figures, "searching process, MB": _peak()}


def command(tree: str, home: str) -> Figures:
    """Ask by the command line, each time a new process."""
    figures: Figures = {}
    for name, question in QUESTIONS.items():
        figures |= both(f"search by CLI: {name}", lambda question=question: _run(home, tree, question), 3)
    return figures


def _run(home: str, *words: str) -> None:
    """Run the command line; 0 and 1 are answers."""
    done = subprocess.run(
        ["sh", str(REPOSITORY / "bin" / "slicegrep"), *words],
        env={**os.environ, "SLICEGREP_HOME": home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())


def edit(tree: str, home: str) -> Figures:
    """Edit one file, then bring the index up to date: in a process that knows it, and by the command line; add one file."""
    view = open_view(tree, home)
    open_view(tree, home)
    paths = [os.path.join(view.root, row.path) for row in _middling(view, EDITS)]
    clock, cpu = zip(*(_edited(path, lambda: open_view(tree, home)) for path in paths), strict=True)
    figures = {
        "one file edited, ms": statistics.median(clock),
        "one file edited, cpu ms": statistics.median(cpu),
    }
    added = os.path.join(os.path.dirname(paths[0]), "added_one.py")
    clock, cpu = zip(
        *(_edited(added + f"{n}.py", lambda: open_view(tree, home)) for n in range(3)), strict=True
    )
    figures |= {
        "one file added, ms": statistics.median(clock),
        "one file added, cpu ms": statistics.median(cpu),
    }
    clock, cpu = zip(*(_edited(path, lambda: _run(home, "index", tree)) for path in paths[:3]), strict=True)
    return figures | {
        "one file edited, by CLI, ms": statistics.median(clock),
        "one file edited, by CLI, cpu ms": statistics.median(cpu),
    }


def _edited(path: str, then: Callable[[], object]) -> tuple[float, float]:
    with open(path, "ab") as file:
        file.write(b"\n# edited = 1\n")
    return timed(then, 1)


def _middling(view: View, count: int) -> list[Any]:
    """Return code files of the middle by size, spread over the tree."""
    rows = sorted((row for row in view.files if row and row.kind == "code"), key=lambda row: row.size)
    middle = sorted(rows[len(rows) // 4 : -(len(rows) // 4) or None], key=lambda row: row.path)
    return middle[:: max(len(middle) // count, 1)][:count]


def points(tree: str, home: str) -> Figures:
    """Name the definitions around 200 lines of 50 files: as a hook does, and as the server does."""
    from slicegrep.definitions import DefinitionsUntil
    from slicegrep.service.models import EnclosingRequest
    from slicegrep.service.operations import Code
    from slicegrep.source import read_source

    view = open_view(tree, home)
    rows = _middling(view, HIT_FILES)
    each = LOCATIONS // len(rows)
    lines = {row.path: [max(row.lines * n // (each + 1), 1) for n in range(1, each + 1)] for row in rows}
    batch = [(read_source(os.path.join(view.root, path)), at) for path, at in lines.items()]
    batch = [(source, at) for source, at in batch if source is not None]
    let_go()
    figures = both(
        "200 lines in 50 files, as a hook",
        lambda: DefinitionsUntil([tree], home, time.monotonic() + 9)(batch),
    )
    code = Code(tree, home)
    request = EnclosingRequest(locations=[f"{path}:{at}" for path, lines_ in lines.items() for at in lines_])
    code.enclosing(request)
    return figures | both("code.enclosing of 200 lines", lambda: code.enclosing(request))


def hooks(tree: str, home: str) -> Figures:
    """Answer a Read of a large file and a grep with 200 hits as the hooks do, in this process."""
    from slicegrep.hook import read, search_output
    from slicegrep.hook.call import call_of
    from slicegrep.settings import Settings

    view = open_view(tree, home)
    root, settings, environment = view.root, Settings(), {"SLICEGREP_HOME": home}
    large = max(
        (row for row in view.files if row and row.kind == "code"), key=lambda row: min(row.lines, 2000)
    )
    files = _middling(view, HIT_FILES)
    let_go()
    turn = 0

    def intercepted() -> None:
        nonlocal turn
        turn += 1
        given = {"file_path": os.path.join(root, large.path)}
        asked = {
            "session_id": f"scale-{turn}",
            "cwd": root,
            "tool_name": "Read",
            "tool_use_id": "t1",
            "tool_input": given,
        }
        if read.before(call_of(asked, environment), settings, asked) is None:
            raise SystemExit("the read passed")

    figures = both("an intercepted read", intercepted)
    printed = []
    for row in files:
        text = Path(root, row.path).read_text("utf-8", "replace").split("\n")
        step = max(len(text) * HIT_FILES // LOCATIONS, 1)
        printed += [f"{row.path}:{n}:{text[n - 1]}" for n in range(max(step // 2, 1), len(text), step)][
            : LOCATIONS // HIT_FILES
        ]
    asked = {
        "session_id": "scale", "cwd": root, "tool_name": "Bash", "tool_input": {"command": "grep -rn x ."},
        "tool_response": {"stdout": "\n".join(printed), "stderr": "", "interrupted": False},
    }  # fmt: skip
    done = search_output.outcome(asked, settings, environment)
    figures["hits annotated"] = done.annotated
    return figures | both("200 hits annotated", lambda: search_output.outcome(asked, settings, environment))


def many_hooks(tree: str, home: str) -> Figures:
    """Start 400 hooks at once."""
    return crowd.crowded(Path(tree), Path(home))


PARTS: dict[str, Callable[[str, str], Figures]] = {
    "build": build,
    "opened": opened,
    "look": look,
    "search": search,
    "command": command,
    "edit": edit,
    "points": points,
    "hooks": hooks,
    "crowd": many_hooks,
}
"""Each runs in a process of its own, given a tree and a home folder. All but the first need an index."""


def _again(part: str, tree: str, home: str) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), "--part", part, tree, "--home", home]


def measured(tree: Path, home: Path, parts: list[str]) -> Figures:
    """Return the figures of a tree."""
    figures: Figures = {}
    for part in parts:
        done = subprocess.run(_again(part, str(tree), str(home)), stdout=subprocess.PIPE, check=False)
        if done.returncode:
            print(f"{tree.name}: {part} failed", file=sys.stderr)
            continue
        figures |= json.loads(done.stdout)
        print(f"{tree.name}: {part} done", file=sys.stderr)
    return figures


def table(columns: dict[str, Figures], made: list[str]) -> str:
    """Return the figures, a row each; behind them, how often the last made tree's is the first one's."""
    names = list(dict.fromkeys([name for figures in columns.values() for name in figures]))
    lines = ["| | " + " | ".join([*columns, "growth"]) + " |", "| --- |" + " ---: |" * (len(columns) + 1)]
    for name in names:
        values = [figures.get(name) for figures in columns.values()]
        first, last = (columns[made[at]].get(name) if len(made) > 1 else None for at in (0, -1))
        growth = f"{last / first:.1f}" if first and last is not None else ""
        lines.append("| " + " | ".join([name, *map(_told, values), growth]) + " |")
    return "\n".join(lines)


def _told(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def a_home(folder: Path, filled: Path) -> Path:
    """Return a home folder with the environment of another one, and an index and state of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("env", "vocab"):
        if not (folder / part).exists():
            (folder / part).symlink_to(filled / part)
    return folder


def copied(tree: Path, target: Path) -> Path:
    """Copy what the index looks at of a tree."""
    for file in walk(str(tree), wanted=is_wanted).files:
        to = target / file.path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / file.path, to)
    subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def main() -> None:
    """Measure each tree in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--files", default="", help="sizes of made trees, comma-separated")
    parser.add_argument("--keep", type=Path, help="where made trees and indexes are, and stay")
    parser.add_argument(
        "--only",
        default=",".join(name for name in PARTS if name != "crowd"),
        help=f"of {', '.join(PARTS)}; crowd only when it is named",
    )
    parser.add_argument("--home", type=Path, default=Path(home_folder(os.environ)))
    parser.add_argument("--json", type=Path, help="a file that figures are added to, and shown with")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.part:
        print(json.dumps(PARTS[chosen.part](str(chosen.trees[0]), str(chosen.home))))
        return
    if not list(chosen.home.glob("env/*/.ready")):
        raise SystemExit("run first: bin/slicegrep setup")
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        known = json.loads(chosen.json.read_text()) if chosen.json and chosen.json.exists() else {}
        made = []
        for files in [int(text) for text in chosen.files.split(",") if text]:
            tree = folder / f"t{files}"
            monorepo.made(tree, files)
            made.append(f"{files:,} files")
            figures = measured(
                tree, a_home(folder / f"home-{tree.name}", chosen.home), chosen.only.split(",")
            )
            known[made[-1]] = known.get(made[-1], {}) | figures
        for given in chosen.trees:
            tree = folder / "real" / given.name
            tree = tree if tree.is_dir() else copied(given, tree)
            figures = measured(
                tree, a_home(folder / f"home-{tree.name}", chosen.home), chosen.only.split(",")
            )
            known[given.name] = known.get(given.name, {}) | figures
        if chosen.json:
            chosen.json.write_text(json.dumps(known, indent=1))
    print(table(known, [name for name in known if name.endswith(" files")]))


if __name__ == "__main__":
    main()
