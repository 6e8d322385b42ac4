"""What happens to an index when processes are killed, files are damaged and disks are full: nothing that a search sees."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from index_told import in_process, told, write
from slicegrep.index import Damaged, let_go, open_view, view_of, workspace
from slicegrep.index.documents import add_file
from slicegrep.index.segment import Builder
from slicegrep.index.workspace import Workspace
from slicegrep.source import source_of

FILES = {
    f"p{n % 9}/m{n}.py": f'"""Module {n}."""\n\n\nclass Module{n}:\n    def load(self):\n        return value_{n}({n})\n'
    * 4
    for n in range(300)
}
OPEN = """
from slicegrep.index import open_view
view = open_view(sys.argv[1], sys.argv[2])
print(view.file_count, len(view.symbols_named("load")), len(view.symbols_named("Module7")))
"""

DEADLY = """
import os, sys
sys.path.remove(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
del sys.modules["tree_sitter"]
import tree_sitter as real
own = real.Parser
class Parser:
    def __init__(self, grammar):
        self.parser = own(grammar)
    def parse(self, text, *more, **named):
        if b"deadly_one" in bytes(text(0, None)):
            os.kill(os.getpid(), 9)
        return self.parser.parse(text, *more, **named)
real.Parser = Parser
"""
"""A tree-sitter that ends the process on one text, as a fault in a grammar does."""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def expected() -> dict[str, object]:
    return told(view_of([source_of(path, text.encode()) for path, text in FILES.items()]))


def _database(home: Path) -> Path:
    (path,) = (home / "index").glob("*.sqlite")
    return path


def test_a_build_that_is_killed_is_gone_on_with(
    root: Path, tmp_path: Path, expected: dict[str, object]
) -> None:
    """Kill -9 at any moment: the file is whole, and what was written of the tree is not written again."""
    home = tmp_path / "home"
    for seconds in (0.2, 0.5, 0.8, 1.1):
        process = in_process(OPEN, str(root), str(home))
        time.sleep(seconds)
        process.kill()
        process.communicate()
    assert told(open_view(str(root), str(home))) == expected


def test_a_kill_in_the_middle_of_edits_loses_nothing(root: Path, tmp_path: Path) -> None:
    """A process that edits and updates all the time is killed; the next one has what is in the tree."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    let_go()
    code = """
import itertools, os
from slicegrep.index import open_view
open_view(sys.argv[1], sys.argv[2])
print("up", flush=True)
for n in itertools.count():
    with open(os.path.join(sys.argv[1], "p1", "m1.py"), "w") as file:
        file.write(f"def edit_{n}(): ...\\n")
    open_view(sys.argv[1], sys.argv[2])
"""
    chance = random.Random(1)
    for _ in range(4):
        process = in_process(code, str(root), str(home))
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.3)
        process.kill()
        process.communicate()
        view = open_view(str(root), str(home))
        sources = [source for row in view.files if row and (source := view.read(row.path))]
        assert told(view) == told(view_of(sources))
        let_go()


def test_four_processes_on_a_fresh_tree(root: Path, tmp_path: Path) -> None:
    """All answer, all alike, and one index is left."""
    home = tmp_path / "home"
    processes = [in_process(OPEN, str(root), str(home)) for _ in range(4)]
    answers = [process.communicate(timeout=60) for process in processes]
    assert answers == [(b"300 1200 4\n", b"")] * 4
    assert len(open_view(str(root), str(home)).files) == 300


def test_processes_that_edit_and_search_at_once(root: Path, tmp_path: Path) -> None:
    """Each finds its own edit at once, whoever else is writing."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    code = """
import os
from slicegrep.index import open_view
for n in range(25):
    with open(os.path.join(sys.argv[1], f"own{sys.argv[3]}.py"), "w") as file:
        file.write(f"def own{sys.argv[3]}_{n}(): ...\\n")
    view = open_view(sys.argv[1], sys.argv[2])
    assert len(view.symbols_named(f"own{sys.argv[3]}_{n}")) == 1, n
    assert len(view.symbols_named("load")) == 1200, n
print("done")
"""
    processes = [in_process(code, str(root), str(home), str(n)) for n in range(3)]
    assert [process.communicate(timeout=60) for process in processes] == [(b"done\n", b"")] * 3


def _cut(path: Path, share: float) -> None:
    os.truncate(path, int(path.stat().st_size * share))


def _overwritten(path: Path, share: float) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(size * share))
        file.write(random.Random(7).randbytes(min(200_000, size // 3)))


def _of_another_version(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("UPDATE meta SET value = 999 WHERE name='version'")
    db.commit()
    db.close()


def _without_tables(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("DROP TABLE parts")
    db.commit()
    db.close()


def _without_rows(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("DELETE FROM segments WHERE id = (SELECT max(id) FROM segments)")
    db.commit()
    db.close()


def _executed(*statements: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            for statement in statements:
                db.execute(statement)

    return damage


DAMAGES = {
    "a version that is no number": _executed("UPDATE meta SET value = 'x' WHERE name='version'"),
    "a generation that is no number": _executed("UPDATE meta SET value = 'x' WHERE name='generation'"),
    "no outlines": _executed("DELETE FROM outlines"),
    "another file's outline": _executed(
        "UPDATE outlines SET data = (SELECT data FROM outlines WHERE file=3) WHERE file=7"
    ),
    "another term's postings": _executed(
        "UPDATE postings SET data = (SELECT data FROM postings ORDER BY rowid DESC LIMIT 1) WHERE rowid = 1"
    ),
    "another part": _executed(
        "UPDATE parts SET data = (SELECT data FROM parts WHERE name='size') WHERE name='mtime'"
    ),
    "more files": _executed("UPDATE segments SET files = files + 1"),
    "more chunks": _executed("UPDATE segments SET chunks = chunks + 1"),
    "fewer symbols": _executed("UPDATE segments SET symbols = symbols - 1"),
    "the first segment less": _executed("DELETE FROM segments WHERE id = (SELECT min(id) FROM segments)"),
    "zero bytes": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"something else " * 1000),
    "half": lambda path: _cut(path, 0.5),
    "nearly whole": lambda path: _cut(path, 0.95),
    "header": lambda path: _overwritten(path, 0.0),
    "middle": lambda path: _overwritten(path, 0.4),
    "end": lambda path: _overwritten(path, 0.65),
    "another version": _of_another_version,
    "a table less": _without_tables,
    "a segment less": _without_rows,
    "a foreign database": lambda path: (path.unlink(), sqlite3.connect(path).execute("CREATE TABLE t(x)")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_made_anew(
    root: Path, tmp_path: Path, expected: dict[str, object], damage: str
) -> None:
    """At once where opening it shows the damage; else the view says so when it meets it, and opening again mends it."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    let_go()
    path = _database(home)
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    DAMAGES[damage](path)
    for _ in range(3):
        try:
            assert told(open_view(str(root), str(home))) == expected
            break
        except Damaged:
            continue
    else:
        pytest.fail("never mended")
    let_go()
    assert told(open_view(str(root), str(home))) == expected


def test_a_log_that_is_damaged(root: Path, tmp_path: Path, expected: dict[str, object]) -> None:
    """SQLite's own log beside the file, as a crash of the machine leaves it."""
    home = tmp_path / "home"
    process = in_process(OPEN + "\nimport os; os._exit(0)", str(root), str(home))
    process.communicate()
    log = Path(f"{_database(home)}-wal")
    _overwritten(log, 0.3)
    assert told(open_view(str(root), str(home))) == expected


def test_an_index_that_vanishes_under_a_process(
    root: Path, tmp_path: Path, expected: dict[str, object]
) -> None:
    """`rm -rf` of the home folder while a process has it open: it is made again."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    for path in (home / "index").iterdir():
        path.unlink()
    assert told(open_view(str(root), str(home))) == expected
    assert _database(home).stat().st_size > 0


@pytest.mark.parametrize("home", ["/proc/nothing", "/dev/null/home"])
def test_where_nothing_can_be_written_it_is_kept_in_memory(
    root: Path, home: str, expected: dict[str, object]
) -> None:
    """A read-only home: the same answers, and edits are followed."""
    assert told(open_view(str(root), home)) == expected
    write(root, {"p1/m1.py": "def edited(): ...\n"})
    assert open_view(str(root), home).symbols_named("edited")


def test_an_index_that_cannot_be_written_any_more_still_answers(root: Path, tmp_path: Path) -> None:
    """A full disk (here: the process's limit for files): the edit is there, from memory, and no error."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    let_go()
    code = """
import os, resource, signal
from slicegrep.index import open_view
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for n in range(3):
    view = open_view(sys.argv[1], sys.argv[2])
    print(view.file_count, len(view.symbols_named("edited")))
"""
    write(root, {"p1/m1.py": "def edited(): ...\n"})
    answer = in_process(code, str(root), str(home)).communicate()
    assert answer == (b"300 1\n" * 3, b"")
    assert open_view(str(root), str(home)).symbols_named("edited")


def test_a_build_on_a_full_disk(root: Path, tmp_path: Path) -> None:
    """Nothing fits: the index is made in memory."""
    code = """
import resource, signal
from slicegrep.index import open_view
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
print(open_view(sys.argv[1], sys.argv[2]).file_count)
"""
    assert in_process(code, str(root), str(tmp_path / "home")).communicate() == (b"300\n", b"")


def test_another_process_that_holds_the_file_does_not_stop_a_search(root: Path, tmp_path: Path) -> None:
    """A writer in the middle of its work: reading goes on beside it."""
    home = tmp_path / "home"
    before = told(open_view(str(root), str(home)))
    let_go()
    other = sqlite3.connect(_database(home), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    assert told(open_view(str(root), str(home))) == before
    assert time.monotonic() - started < 5
    other.execute("ROLLBACK")
    other.close()


def test_a_worker_that_dies_costs_one_file_its_definitions(root: Path, tmp_path: Path) -> None:
    """A parser that ends the process on one file: that file is still found by its words, all others wholly."""
    write(root, {"p3/deadly.py": "def deadly_one(): ...\n"})
    packages = tmp_path / "packages"
    write(packages, {"tree_sitter/__init__.py": DEADLY})
    code = f"""
sys.path.insert(0, {str(packages)!r})
{OPEN}
print(len(view.holders.files_with(["deadly_one"])), view.symbols_named("deadly_one"))
"""
    answer = in_process(code, str(root), str(tmp_path / "home")).communicate(timeout=120)
    assert answer == (b"301 1200 4\n1 []\n", b"")


def test_where_no_worker_can_be_started(root: Path, tmp_path: Path, expected: dict[str, object]) -> None:
    """An interpreter that is built into a program: everything happens in this process."""
    code = "sys.executable = '/usr/bin/blender'\n" + OPEN
    assert in_process(code, str(root), str(tmp_path / "home")).communicate() == (b"300 1200 4\n", b"")
    assert told(open_view(str(root), str(tmp_path / "home"))) == expected


def test_files_that_come_and_go_while_they_are_indexed(root: Path, tmp_path: Path) -> None:
    """Vanished, grown, replaced between the walk and the reading: never a traceback, and right once it is quiet."""
    churn = """
import os, time, random
chance = random.Random(3)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    n = chance.randrange(300)
    path = os.path.join(sys.argv[1], f"p{n % 9}", f"m{n}.py")
    try:
        if chance.random() < 0.5:
            os.unlink(path)
        else:
            with open(path, "a") as file:
                file.write("def churned(): ...\\n" * chance.randrange(200))
    except FileNotFoundError:
        pass
"""
    other = in_process(churn, str(root), "2.5")
    home = tmp_path / "home"
    while other.poll() is None:
        open_view(str(root), str(home))
    assert other.communicate() == (b"", b"")
    view = open_view(str(root), str(home))
    there = {path: path_.read_bytes() for path in FILES if (path_ := root / path).exists()}
    assert {row.path for row in view.files if row} == set(there)
    assert told(view) == told(view_of([source_of(path, data) for path, data in there.items()]))


def test_a_fork_has_its_own_index(root: Path, tmp_path: Path) -> None:
    """A database must not be shared with a child, and neither must the kernel's notices."""
    code = """
import os
from slicegrep.index import open_view
for _ in range(3):
    open_view(sys.argv[1], sys.argv[2])
child = os.fork()
path = os.path.join(sys.argv[1], "p1", "m1.py")
if child == 0:
    with open(path, "w") as file:
        file.write("def from_child(): ...\\n")
    assert open_view(sys.argv[1], sys.argv[2]).symbols_named("from_child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(open_view(sys.argv[1], sys.argv[2]).symbols_named("from_child")))
"""
    assert in_process(code, str(root), str(tmp_path / "home")).communicate() == (b"1\n", b"")


def test_the_main_module_of_a_program_is_not_run_again(root: Path, tmp_path: Path) -> None:
    """A script without a `__main__` guard that searches: workers are no copies of it."""
    script = tmp_path / "script.py"
    plugin = Path(__file__).resolve().parents[1] / "plugin"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(plugin)!r})\nprint('main')\nsys.argv[1:] = {[str(root), str(tmp_path / 'home')]!r}\n{OPEN}"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"main\n300 1200 4\n", b"")


def test_indexes_that_nobody_needs_are_removed(root: Path, tmp_path: Path) -> None:
    """Those of folders that are gone, and those not asked for in a month; once a day, the others stay."""
    home = tmp_path / "home"
    for name in ("gone", "old", "kept"):
        write(tmp_path, {f"{name}/a.py": f"def {name}(): ...\n"})
        open_view(str(tmp_path / name), str(home))
    let_go()
    paths = {name: _path_of(home, tmp_path / name) for name in ("gone", "old", "kept")}
    (tmp_path / "gone/a.py").unlink()
    (tmp_path / "gone").rmdir()
    month = time.time() - 31 * 86_400
    os.utime(paths["old"], (month, month))
    open_view(str(root), str(home))
    assert all(path.exists() for path in paths.values())
    let_go()
    os.utime(home / "index/swept", (month, month))
    open_view(str(root), str(home))
    assert {name for name, path in paths.items() if path.exists()} == {"kept"}


def _path_of(home: Path, root: Path) -> Path:
    def root_of(path: Path) -> bytes:
        db = sqlite3.connect(path)
        (value,) = db.execute("SELECT value FROM meta WHERE name='root'").fetchone()
        db.close()
        return bytes(value)

    return next(path for path in (home / "index").glob("*.sqlite") if root_of(path) == os.fsencode(root))


def test_the_index_is_private(root: Path, tmp_path: Path) -> None:
    """0600 in a folder of 0700, whatever the umask."""
    before = os.umask(0)
    try:
        open_view(str(root), str(tmp_path / "home"))
    finally:
        os.umask(before)
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home/index").stat().st_mode & 0o777 == 0o700
    for path in (tmp_path / "home/index").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_file_that_becomes_a_symlink_is_not_followed(root: Path, tmp_path: Path) -> None:
    """Neither by a view that listed it as a file nor by the indexing of what a walk listed: it may lead anywhere."""
    outside = tmp_path / "outside.py"
    outside.write_text("def kept_outside(): ...\n")
    view = open_view(str(root), str(tmp_path / "home"))
    (root / "p1/m1.py").unlink()
    (root / "p1/m1.py").symlink_to(outside)
    assert view.read("p1/m1.py") is None
    assert view.utf8_lines("p1/m1.py") is None
    builder = Builder()
    add_file(builder, str(root), "p1/m1.py", (1, 0, 0))
    assert not builder.used


def test_an_index_of_mostly_dead_files_that_others_write_all_the_time(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is built anew in memory where the file cannot be come by."""
    path = str(tmp_path / "home" / "index" / "one.sqlite")
    Workspace(str(root), path).view(None)
    write(root, {name: text.replace("load", "reload") for name, text in list(FILES.items())[:200]})
    monkeypatch.setattr(workspace, "_ATTEMPTS", 0)
    opened = Workspace(str(root), path)
    view = opened.view(None)
    assert (view.file_count, len(view.symbols_named("reload"))) == (300, 800)


@pytest.mark.parametrize("kind", ["folder", "fifo", "symlink"])
def test_something_else_lies_where_the_lock_is_to_be(root: Path, tmp_path: Path, kind: str) -> None:
    """The search goes on in memory, and what a symlink leads to stays as it is."""
    home = tmp_path / "home"
    open_view(str(root), str(home))
    let_go()
    path = _database(home)
    path.unlink()
    lock = path.with_name(path.name + ".lock")
    lock.unlink()
    other = tmp_path / "other"
    other.write_text("precious")
    if kind == "folder":
        lock.mkdir()
    elif kind == "fifo":
        os.mkfifo(lock)
    else:
        lock.symlink_to(other)
    assert open_view(str(root), str(home)).file_count == 300
    assert other.read_text() == "precious"


def test_the_folders_of_an_index_are_private_whatever_the_umask(root: Path, tmp_path: Path) -> None:
    """Those above the index's own too."""
    before = os.umask(0)
    try:
        open_view(str(root), str(tmp_path / "deep" / "er" / "home"))
    finally:
        os.umask(before)
    for folder in ("deep", "deep/er", "deep/er/home", "deep/er/home/index"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700
