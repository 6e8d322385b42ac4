"""What must not grow with a tree does not, counted and not timed; and the repository that the benchmark makes is the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from monorepo import COMMON, RARE, made, path_of, text_of  # noqa: E402 (a benchmark beside this folder)

SMALL, LARGE = 40, 400
"""Files of the two trees: ten times as many must not be ten times the work."""

WORK = f"""
import json, os, sys
sys.path.insert(0, {str(ROOT / "plugin")!r})
root, home = sys.argv[1:]

from slicegrep.definitions import DefinitionsUntil
from slicegrep.index import let_go, open_view
from slicegrep.search import focused_read
from slicegrep.source import read_source

counted = {{}}


def count(name, work):
    calls = 0

    def called(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    counted[name] = calls


opened = set()
sys.addaudithook(lambda event, what: opened.add(what[0]) if event == "open" and isinstance(what[0], str) else None)
view = open_view(root, home)
files = [row for row in view.files if row and row.language == "python"][:5]
batch = [(read_source(os.path.join(root, row.path)), [10, 30]) for row in files]
points = lambda: DefinitionsUntil([root], home, 1e12)(batch)
let_go()
points()
count("calls of a hook that names the definitions around ten lines", points)

view = open_view(root, home)
open_view(root, home)
open_view(root, home)
looks = 0
lstat = os.lstat


def looked(path):
    global looks
    looks += 1
    return lstat(path)


os.lstat = looked
with open(os.path.join(root, files[0].path), "a") as file:
    file.write("# edited\\n")
open_view(root, home)
os.lstat = lstat
counted["files looked at after an edit"] = looks

opened.clear()
focused_read(root, "evictStaleLedgerCursor", home=home)
inside = {{path for path in opened if path.startswith(root) and os.path.isfile(path)}}
counted["files opened for a rare name"] = len(inside)
print(json.dumps(counted))
"""


def _counted(folder: Path, files: int) -> dict[str, int]:
    made(folder / "tree", files)
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(folder / "tree"), str(folder / "home")],
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, int]]:
    """What each step took in a small tree and in one ten times as large."""
    return {files: _counted(tmp_path_factory.mktemp(f"of{files}"), files) for files in (SMALL, LARGE)}


@pytest.mark.parametrize(
    "what",
    [
        "calls of a hook that names the definitions around ten lines",
        "files looked at after an edit",
        "files opened for a rare name",
    ],
)
def test_work_grows_with_the_answer_and_not_with_the_tree(
    counts: dict[int, dict[str, int]], what: str
) -> None:
    """Ten times the files, the same question: about the same work."""
    assert counts[LARGE][what] <= 1.5 * counts[SMALL][what] + 4, counts


def test_the_made_repository_is_the_same_each_time(tmp_path: Path) -> None:
    """Whatever was made before it, and however many files follow."""
    made(tmp_path / "one", 12)
    made(tmp_path / "two", 30)
    for number in range(12):
        path = path_of(number)
        assert (
            (tmp_path / "one" / path).read_text() == (tmp_path / "two" / path).read_text() == text_of(number)
        )
    assert text_of(3) != text_of(3, seed=1)


def test_the_made_repository_is_like_a_real_one() -> None:
    """200 lines a file, a name that stands in three files, a word that stands in nearly all, eight kinds of files."""
    texts = [text_of(number) for number in range(300)]
    assert 150 < sum(text.count("\n") for text in texts) / len(texts) < 250
    assert [number for number, text in enumerate(texts) if RARE in text] == [0, 1, 2]
    assert sum(COMMON in text.lower() for text in texts) > 0.8 * len(texts)
    assert len({path_of(number).rpartition(".")[2] for number in range(100)}) == 8
    assert len({path_of(number) for number in range(2000)}) == 2000


def test_an_index_is_about_half_of_its_source_at_most(tmp_path: Path) -> None:
    """Of this project's own files: 3 MB of dense code, of which two segments share little. Larger trees take 27 to 45%."""
    code = """
import os, sys
sys.path.insert(0, sys.argv[1])
from slicegrep.index import let_go, open_view
view = open_view(sys.argv[2], sys.argv[3])
source = sum(row.size for row in view.files if row)
let_go()
del view
folder = os.path.join(sys.argv[3], "index")
print(sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)) / source)
"""
    (tmp_path / "tree").mkdir()
    for folder in ("plugin/slicegrep", "tests", "docs"):
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix in (".py", ".md") and path.name != "piece_table.py":
                name = path.relative_to(ROOT).as_posix().replace("/", "-")
                (tmp_path / "tree" / name).write_bytes(path.read_bytes())
    words = [sys.executable, "-c", code, str(ROOT / "plugin"), str(tmp_path / "tree"), str(tmp_path / "home")]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    assert float(done.stdout) <= 0.53
