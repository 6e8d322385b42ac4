"""The parser tier: edges by definition, in time, and facts that are kept by content for later processes."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from graph_tree import symbol_of
from slicegrep.graph import kept, uses
from slicegrep.graph.facts import Binding, FileFacts, Use
from slicegrep.graph.kept import Kept, kept_of
from slicegrep.graph.parser_tier import CHANGED, DYNAMIC, ParserTier
from slicegrep.index import open_view, view_of
from slicegrep.source import source_of

FACTS = FileFacts(
    (Use("f", "", 1, 0, "call"), Use("g", "a.b()", 2, 4, "reference")),
    (Binding("f", "a", "f", 1), Binding("x", "", "y", 3, exported=True)),
    {4: ("B", "c.D")},
    {7: "<T>"},
    {0: {"a": "B()"}, 4: {"\udcff": "?"}},
    ("why",),
)


def far() -> float:
    return time.monotonic() + 30


def tier_of(home: Path | str, **texts: str) -> tuple[ParserTier, object]:
    view = view_of([source_of(name.replace("_py", ".py"), text.encode()) for name, text in texts.items()])
    return ParserTier(view, str(home)), view


def workspace(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("_py", ".py")).write_text(text)
    return folder


# Edges


def test_references_from_one_definition_are_one_edge_with_all_their_lines(tmp_path):
    """Ascending lines, the strongest kind, the greatest confidence."""
    tier, view = tier_of(tmp_path, a_py="def f(): ...\n\n\ndef g():\n    x = f\n    f()\n    f()\n")
    edges, causes = tier.callers(symbol_of(view, "a.py", "f"), until=far())
    assert [(edge.symbol, edge.lines, edge.kind, edge.tier) for edge in edges] == [
        (symbol_of(view, "a.py", "g"), (5, 6, 7), "call", "parser")
    ]
    assert causes == [DYNAMIC]


def test_what_stands_at_module_level_is_an_edge_of_the_file(tmp_path):
    """Symbol -1: a call of the script. Where the file uses it, the line of its import is not told."""
    tier, view = tier_of(tmp_path, a_py="def f(): ...\n", b_py="from a import f\n\nf()\n")
    edges, _ = tier.callers(symbol_of(view, "a.py", "f"), until=far())
    assert [(edge.symbol, edge.file, edge.lines, edge.kind) for edge in edges] == [
        (-1, view.file_at("b.py").id, (3,), "call")
    ]


def test_the_surest_edges_come_first_then_by_path_and_line(tmp_path):
    """So that a reader of a few sees the best."""
    guess = "def x(a):\n    a.special()\n"
    known = "from a import A\n\n\ndef y(a: A):\n    a.special()\n\n\ndef z(a: A):\n    a.special()\n"
    tier, view = tier_of(
        tmp_path, a_py="class A:\n    def special(self): ...\n", b_py=guess, d_py=known, c_py=known
    )
    edges, _ = tier.callers(symbol_of(view, "a.py", "A.special"), until=far())
    names = [f"{view.files[edge.file].path}:{edge.lines[0]}" for edge in edges]
    assert names == ["c.py:5", "c.py:9", "d.py:5", "d.py:9", "b.py:2"]
    assert [edge.confidence for edge in edges] == sorted([edge.confidence for edge in edges], reverse=True)


def test_a_decorator_and_a_base_are_references_of_what_they_stand_on(tmp_path):
    """By the outline's own rule of what is around a line."""
    text = "def wrap(f): ...\n\n\nclass B: ...\n\n\n@wrap\ndef g(): ...\n\n\nclass C(B): ...\n"
    tier, view = tier_of(tmp_path, a_py=text)
    (wrapped,), _ = tier.callers(symbol_of(view, "a.py", "wrap"), until=far())
    (based,), _ = tier.callers(symbol_of(view, "a.py", "B"), until=far())
    assert (wrapped.symbol, wrapped.lines) == (symbol_of(view, "a.py", "g"), (7,))
    assert (based.symbol, based.kind) == (symbol_of(view, "a.py", "C"), "inheritance")


def test_callees_are_what_the_lines_of_a_definition_refer_to(tmp_path):
    """With the lines in the file that refers; a function inside is part of it, and no callee."""
    text = "def f(): ...\n\n\ndef g():\n    def inner():\n        f()\n    inner()\n    h()\n\n\ndef h(): ...\n\n\nf()\n"
    tier, view = tier_of(tmp_path, a_py=text)
    edges, _ = tier.callees(symbol_of(view, "a.py", "g"), until=far())
    assert {(view.symbol(edge.symbol).qualified, edge.lines) for edge in edges} == {("f", (6,)), ("h", (8,))}


def test_a_function_that_calls_itself_is_its_own_caller(tmp_path):
    """Recursion is a reference like any other."""
    tier, view = tier_of(tmp_path, a_py="def f():\n    f()\n")
    number = symbol_of(view, "a.py", "f")
    assert [edge.symbol for edge in tier.callers(number, until=far())[0]] == [number]
    assert [edge.symbol for edge in tier.callees(number, until=far())[0]] == [number]


def test_files_that_another_tier_covers_are_not_looked_at(tmp_path):
    """`skip`."""
    tier, view = tier_of(tmp_path, a_py="def f(): ...\n", b_py="from a import f\n", c_py="from a import f\n")
    edges, _ = tier.callers(
        symbol_of(view, "a.py", "f"), until=far(), skip=frozenset({view.file_at("b.py").id})
    )
    assert [view.files[edge.file].path for edge in edges] == ["c.py"]


def test_past_the_time_there_is_what_was_found_and_a_cause(tmp_path):
    """No time at all: no file is looked at, and the answer says how many were not."""
    tier, view = tier_of(
        tmp_path, a_py="def f():\n    f()\n", b_py="from a import f\n", c_py="from a import f\n"
    )
    edges, causes = tier.callers(symbol_of(view, "a.py", "f"), until=time.monotonic() - 1)
    assert edges == []
    assert "3 of 3 files were not looked at in time" in causes
    assert (
        "1 of 1 files were not looked at in time" in tier.callees(symbol_of(view, "a.py", "f"), until=0.0)[1]
    )


def test_a_minified_file_is_a_cause_where_it_may_refer(tmp_path):
    """It is not read, and the answer says so."""
    view = view_of([source_of("a.js", b"function special() {}\n"), source_of("b.js", b"special();" * 30_000)])
    edges, causes = ParserTier(view, str(tmp_path)).callers(symbol_of(view, "a.js", "special"), until=far())
    assert edges == []
    assert causes == [DYNAMIC, "minified files were left out"]


def test_several_threads_get_the_same_answer(tmp_path):
    """A server asks for many definitions at once."""
    texts = {f"m{n}_py": f"from a import A\n\n\ndef f{n}(a: A):\n    a.special()\n" for n in range(30)}
    tier, view = tier_of(tmp_path, a_py="class A:\n    def special(self): ...\n", **texts)
    number = symbol_of(view, "a.py", "A.special")
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(tier.callers(number, until=far()))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all(answer == answers[0] for answer in answers)
    assert len(answers[0][0]) == 30


def test_file_names_and_texts_of_any_bytes_are_no_matter(tmp_path):
    """Newlines, colons and undecodable bytes in names; broken UTF-8 in text."""
    odd = "b \n:#\udcff.py"
    view = view_of(
        [source_of("a.py", b"def f(): ...\n"), source_of(odd, b"from a import f\n\n\n# \xff\xfe\nf()\n")]
    )
    edges, _ = ParserTier(view, str(tmp_path)).callers(symbol_of(view, "a.py", "f"), until=far())
    assert [(view.files[edge.file].path, edge.lines) for edge in edges] == [(odd, (5,))]


# What is kept


def test_facts_come_back_as_they_were(tmp_path):
    """From another process's file, and from memory."""
    path = str(tmp_path / "graph" / "a.sqlite")
    Kept(path).put({"ab" * 16: FACTS})
    assert Kept(path).get(["ab" * 16, "cd" * 16]) == {"ab" * 16: FACTS}


def test_the_file_is_private(tmp_path):
    """0600 in a folder of 0700, whatever the umask."""
    before = os.umask(0)
    try:
        path = tmp_path / "home" / "graph" / "a.sqlite"
        Kept(str(path)).put({"ab" * 16: FACTS})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(beside.stat().st_mode) == 0o600 for beside in path.parent.iterdir())


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"x" * 4_000])
def test_a_damaged_file_is_made_anew(tmp_path, content):
    """What is no database is replaced, and serves the next process."""
    path = tmp_path / "graph" / "a.sqlite"
    path.parent.mkdir()
    path.write_bytes(content)
    Kept(str(path)).put({"ab" * 16: FACTS})
    assert Kept(str(path)).get(["ab" * 16]) == {"ab" * 16: FACTS}


def test_a_file_of_another_version_is_made_anew(tmp_path):
    """Its rows were found by other rules."""
    path = tmp_path / "graph" / "a.sqlite"
    Kept(str(path)).put({"ab" * 16: FACTS})
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    assert Kept(str(path)).get(["ab" * 16]) == {}


@pytest.mark.parametrize("row", [b"", b"x", b"x\x9c\x03\x00\x00\x00\x00\x01", 7, "text", None])
def test_a_damaged_row_is_dropped(tmp_path, row):
    """And found anew by who asked."""
    path = tmp_path / "graph" / "a.sqlite"
    Kept(str(path)).put({"ab" * 16: FACTS, "cd" * 16: FACTS})
    with sqlite3.connect(path) as db:
        db.execute("UPDATE facts SET data=? WHERE key=?", (row, bytes.fromhex("ab" * 16)))
    db.close()
    again = Kept(str(path))
    assert again.get(["ab" * 16, "cd" * 16]) == {"cd" * 16: FACTS}
    again.put({"ab" * 16: FACTS})
    assert Kept(str(path)).get(["ab" * 16]) == {"ab" * 16: FACTS}


def test_a_file_that_is_damaged_while_it_is_open_is_made_anew(tmp_path):
    """The answer goes on without what it held."""
    path = tmp_path / "graph" / "a.sqlite"
    one = Kept(str(path))
    one.put({f"{n:032x}": FACTS for n in range(300)})
    other = Kept(str(path))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = bytearray(path.read_bytes())
    content[4_096:] = b"\xff" * (len(content) - 4_096)
    path.write_bytes(content)
    assert other.get([f"{299:032x}"]) == {}
    other.put({"ab" * 16: FACTS})
    assert Kept(str(path)).get(["ab" * 16]) == {"ab" * 16: FACTS}


@pytest.mark.parametrize("home", ["/dev/null/x", "/proc/none"])
def test_a_home_that_cannot_be_written_keeps_facts_in_memory(home):
    """The same answers, in this process alone."""
    one = Kept(f"{home}/graph/a.sqlite")
    one.put({"ab" * 16: FACTS})
    assert one.get(["ab" * 16]) == {"ab" * 16: FACTS}


def test_memory_is_bounded(tmp_path, monkeypatch):
    """What was asked for longest ago goes; the file still has it."""
    monkeypatch.setattr(kept, "_MOST_USES", 500)
    one = Kept(str(tmp_path / "graph" / "a.sqlite"))
    one.put({f"{n:032x}": FACTS for n in range(100)})
    assert len(one._memory) <= 10
    assert len(one.get([f"{n:032x}" for n in range(100)])) == 100


def test_the_file_is_bounded(tmp_path, monkeypatch):
    """Past its size the older half of the rows goes."""
    monkeypatch.setattr(kept, "_MOST_BYTES", 100_000)
    path = str(tmp_path / "graph" / "a.sqlite")
    one = Kept(path)
    for start in range(0, 4_000, 200):
        one.put({f"{n:032x}": FACTS for n in range(start, start + 200)})
    again = Kept(path)
    assert again.get([f"{0:032x}"]) == {}
    assert again.get([f"{3_999:032x}"]) != {}


_WRITER = """
import sys
from slicegrep.graph.kept import Kept
from slicegrep.graph.facts import FileFacts, Use
one = Kept(sys.argv[1])
for n in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    one.put({f"{n:032x}": FileFacts((Use("f", "", n + 1, 0, "call"),))})
"""


def test_several_processes_write_at_once(tmp_path):
    """Nothing is lost and nobody fails."""
    path = str(tmp_path / "graph" / "a.sqlite")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "plugin")}
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, path, str(start)], env=environment)
        for start in (0, 40, 80)
    ]
    assert [writer.wait(30) for writer in writers] == [0, 0, 0]
    assert len(Kept(path).get([f"{n:032x}" for n in range(120)])) == 120


def test_a_second_process_parses_nothing(tmp_path, monkeypatch):
    """The facts of the first serve a tier of a new view."""
    root = workspace(tmp_path / "w", a_py="def f(): ...\n", b_py="from a import f\n\n\ndef g():\n    f()\n")
    home = str(tmp_path / "home")
    view = open_view(str(root), home)
    first = ParserTier(view, home).callers(symbol_of(view, "a.py", "f"), until=far())
    assert len(first[0]) == 2
    monkeypatch.setattr(kept, "_all", {})
    monkeypatch.setattr("slicegrep.graph.parser_tier._known", {})
    monkeypatch.setattr(
        "slicegrep.graph.parser_tier.facts_of", lambda source: pytest.fail(f"parsed {source.path}")
    )
    assert ParserTier(view, home).callers(symbol_of(view, "a.py", "f"), until=far()) == first


def test_what_took_too_long_is_not_kept(tmp_path, monkeypatch):
    """A moment in which the machine was busy does not count for ever."""
    root = workspace(tmp_path / "w", a_py="def f():\n" + "    f()\n" * 30_000)
    home = str(tmp_path / "home")
    view = open_view(str(root), home)
    number = symbol_of(view, "a.py", "f")
    real = uses.facts_of
    monkeypatch.setattr("slicegrep.graph.parser_tier.facts_of", lambda source: real(source, seconds=0.0))
    edges, causes = ParserTier(view, home).callers(number, until=far())
    assert (edges, causes) == ([], [DYNAMIC, "a file took too long to parse"])
    monkeypatch.setattr("slicegrep.graph.parser_tier.facts_of", real)
    monkeypatch.setattr("slicegrep.graph.parser_tier._known", {})
    assert len(ParserTier(view, home).callers(number, until=far())[0]) == 1


def test_a_changed_file_is_found_anew(tmp_path):
    """Facts go by content: an edit, and an edit that is taken back."""
    root = workspace(tmp_path / "w", a_py="def f(): ...\n", b_py="from a import f\n\n\ndef g():\n    f()\n")
    home = str(tmp_path / "home")

    def lines() -> list[tuple[int, ...]]:
        view = open_view(str(root), home)
        return [
            edge.lines
            for edge in ParserTier(view, home).callers(symbol_of(view, "a.py", "f"), until=far())[0]
        ]

    assert lines() == [(1,), (5,)]
    (root / "b.py").write_text("from a import f\n\n\n\ndef g():\n    f()\n")
    assert lines() == [(1,), (6,)]
    (root / "b.py").write_text("")
    assert lines() == []
    (root / "b.py").write_text("from a import f\n\n\ndef g():\n    f()\n")
    assert lines() == [(1,), (5,)]


@pytest.mark.parametrize("warm", [False, True])
def test_a_file_that_changes_after_the_index_looked_names_no_other_definition(tmp_path, warm):
    """It is left out and named, or its lines are those of the content whose definitions are known; never a mix of both."""
    caller = "from a import f\n\n\ndef g():\n    f()\n\n\ndef h():\n    pass\n"
    root = workspace(tmp_path / "w", a_py="def f(): ...\n", b_py=caller)
    home = str(tmp_path / "home")
    view = open_view(str(root), home)
    number = symbol_of(view, "a.py", "f")
    if warm:
        ParserTier(view, home).callers(number, until=far())
    (root / "b.py").write_text(caller.replace("def g", "\n\n\n\ndef g"))
    edges, causes = ParserTier(view, home).callers(number, until=far())
    assert [edge.lines for edge in edges] == ([(1,), (5,)] if warm else [])
    assert (CHANGED in causes) is not warm
    callees, causes = ParserTier(view, home).callees(symbol_of(view, "b.py", "g"), until=far())
    assert [edge.symbol for edge in callees] == ([number] if warm else [])
    assert (CHANGED in causes) is not warm
    edges, causes = ParserTier(open_view(str(root), home), home).callers(number, until=far())
    assert [edge.lines for edge in edges] == [(1,), (9,)]
    assert CHANGED not in causes


def test_a_workspace_has_one_file_named_as_its_index(tmp_path):
    """So that whoever removes one finds the other."""
    root = workspace(tmp_path / "w", a_py="def f():\n    f()\n")
    home = tmp_path / "home"
    view = open_view(str(root), str(home))
    ParserTier(view, str(home)).callers(symbol_of(view, "a.py", "f"), until=far())
    assert kept_of(view.root, str(home)) is kept_of(view.root, str(home))
    names = {path.name for path in (home / "graph").glob("*.sqlite")}
    assert names == {path.name for path in (home / "index").glob("*.sqlite")}
