"""What a person sees of the shim: suffixes, the summary, the graph's block, and the knobs."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest
from shim_stand import ARROW, Case, Ran, Stand, Tree, program, small
from slicegrep.graph.place import graph_path
from slicegrep.index import let_go, open_view
from slicegrep.shim.knobs import Knobs, value_of

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"
README = (PLUGIN.parent / "README.md").read_text("utf-8")
HEADER = b"[Related from slicegrep dependency graph]\n"

CALLS = """\
|from one import one
|
user|def user():
user|    return one()
|
other|def other():
other|    return one()
"""


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    """Return a git tree of two files, one of which calls the other's function, and GNU grep."""
    tree = Tree(tmp_path / "tree")
    tree.put("one.py", small("one"))
    tree.put("user.py", CALLS)
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=tree.folder, check=True)
    return Stand(tmp_path, tree, "grep", program("grep"))


def _run(stand: Stand, *words: str, **variables: str) -> Ran:
    return stand.run(Case(words, variables=variables), shim=True)


def test_the_name_stands_behind_the_line_and_the_summary_on_standard_error(stand: Stand) -> None:
    """The whole of both streams, with the commit that the tree is at, and whether the index was of any use."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=stand.tree.folder, capture_output=True, text=True, check=True
    )
    for source in ("working tree", "index"):
        found = _run(stand, "-n", "needle", "one.py")
        assert found.out == b'1:top = "needle of one"\n3:    return "needle in one"' + ARROW + b"one\n"
        head, _, took = found.error.decode().rpartition(", ")
        scoped = "slicegrep: 1/2 hits scoped to their enclosing function"
        assert head == f"{scoped}, {source} at {commit.stdout[:10]}"
        assert took.removesuffix(" ms\n").isdigit()
        assert found.status == 0
        open_view(str(stand.tree.folder), str(stand.home))
        let_go()


@pytest.mark.parametrize("name", ["SLICEGREP_SHIM_QUIET", "LOOM_GREP_SHIM_QUIET"])
def test_the_summary_can_be_dropped(stand: Stand, name: str) -> None:
    """And nothing else goes with it."""
    found = _run(stand, "-n", "needle", "one.py", **{name: "1"})
    assert found.error == b""
    assert ARROW + b"one\n" in found.out


def test_a_search_without_hits_says_nothing(stand: Stand) -> None:
    """Nor does one whose hits are in no code."""
    (stand.tree.folder / "notes.txt").write_text("needle\n", "utf-8")
    for words in (["-n", "nowhere", "one.py"], ["-rn", "nowhere"], ["-n", "needle", "notes.txt"]):
        assert _run(stand, *words).error == b""


@pytest.mark.parametrize("name", ["SLICEGREP_SHIM_GRAPH", "LOOM_GREP_SHIM_GRAPH"])
def test_the_graphs_block_follows_the_output(stand: Stand, name: str) -> None:
    """A line for each function, and cutting from the header on gives the tool's own bytes."""
    found = _run(stand, "-n", "in one", "one.py", **{name: "on"})
    real, header, block = found.out.partition(HEADER)
    assert header
    assert real.replace(ARROW + b"one", b"") == stand.run(Case(("-n", "in one", "one.py")), shim=False).out
    (line,) = block.decode().splitlines()
    assert line.startswith("one (one)")
    assert "callers: user user.py:4, other user.py:7" in line
    assert "(lower bound: " in line


def test_the_graphs_block_is_bounded(stand: Stand) -> None:
    """By callers on a line, and by functions over which there is none."""
    one = _run(stand, "-n", "in one", "one.py", SLICEGREP_SHIM_GRAPH="on", SLICEGREP_SHIM_GRAPH_K="1")
    assert b"user.py:4" in one.out
    assert b"user.py:7" not in one.out
    words = ("-rn", "return")
    assert HEADER in _run(stand, *words, SLICEGREP_SHIM_GRAPH="on").out
    many = _run(stand, *words, SLICEGREP_SHIM_GRAPH="on", SLICEGREP_SHIM_GRAPH_MAX_ANCHORS="2")
    assert HEADER not in many.out
    assert many.out.count(ARROW) == 3


def test_a_block_that_does_not_come_in_time_is_told_of(stand: Stand) -> None:
    """Another process is at the graph: the names stay, and the summary's end says why nothing is below."""
    lock = Path(graph_path(os.path.realpath(stand.tree.folder), str(stand.home), ".lock"))
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        wanted = {"SLICEGREP_SHIM_GRAPH": "on", "SLICEGREP_SHIM_TIMEOUT_MS": "3000"}
        found = _run(stand, "-n", "in one", "one.py", **wanted)
    assert ARROW in found.out
    assert HEADER not in found.out
    assert found.error.endswith(b" ms, no related block: out of time\n")
    assert b"related" not in _run(stand, "-n", "in one", "one.py", SLICEGREP_SHIM_GRAPH="on").error


def test_without_being_asked_for_there_is_no_block(stand: Stand) -> None:
    """By default, and by a no; nor where the output is passed on as it comes."""
    for variables in (
        {},
        {"SLICEGREP_SHIM_GRAPH": "off"},
        {"SLICEGREP_SHIM_GRAPH": "on", "SLICEGREP_SHIM_MAX_BYTES": "1"},
    ):
        assert HEADER not in _run(stand, "-n", "in one", "one.py", **variables).out


def test_a_file_of_another_tree_is_named_from_there(stand: Stand, tmp_path: Path) -> None:
    """The workspace is that of what is searched, not of where one stands."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    case = Case(("-n", "in one", "../tree/one.py"), folder="../elsewhere")
    found = stand.run(case, shim=True)
    assert found.out == b'3:    return "needle in one"' + ARROW + b"one\n"
    assert b"working tree at " in found.error


def test_knobs_have_two_names_and_the_newer_wins() -> None:
    """An empty newer one counts as not given."""
    assert value_of({"LOOM_BASE_URL": "old"}, "BASE_URL") == "old"
    assert value_of({"LOOM_BASE_URL": "old", "SLICEGREP_BASE_URL": "new"}, "BASE_URL") == "new"
    assert value_of({"LOOM_BASE_URL": "old", "SLICEGREP_BASE_URL": ""}, "BASE_URL") == "old"
    assert value_of({"LOOM_GREP_SHIM_QUIET": "1"}, "SHIM_QUIET") == "1"
    assert value_of({}, "SHIM_QUIET") == ""


def test_knobs_are_kept_in_range() -> None:
    """What is no number counts as not given; what is too much or too little, as the nearest that is allowed."""
    assert (Knobs({}).seconds, Knobs({}).max_bytes, Knobs({}).graph_k, Knobs({}).graph_max_anchors) == (
        2.5,
        8_000_000,
        5,
        20,
    )
    given = {
        "SLICEGREP_SHIM_TIMEOUT_MS": "1250",
        "LOOM_GREP_SHIM_MAX_BYTES": "7",
        "SLICEGREP_SHIM_GRAPH_K": "500",
        "LOOM_GREP_SHIM_GRAPH_MAX_ANCHORS": "0",
    }
    assert (
        Knobs(given).seconds,
        Knobs(given).max_bytes,
        Knobs(given).graph_k,
        Knobs(given).graph_max_anchors,
    ) == (1.25, 7, 20, 1)
    for nonsense in ("", "x", "-1", "1.5", "²", "9" * 5_000):
        assert Knobs({"SLICEGREP_SHIM_GRAPH_K": nonsense}).graph_k in (5, 20)


def test_the_readme_s_table_is_what_is_read() -> None:
    """Each variable with its default and range; what is not in Knobs is read by the launcher alone."""
    part = README.split("\n## Grep in a shell without hooks: the shim\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`SLICEGREP_.*?) \| (.*?) \| (.*?) \|$", part, re.MULTILINE)
    table = {name.strip("`"): (default, told) for name, default, told in rows}
    assert [
        table.pop(name)[0] for name in ("SLICEGREP_SHIM", "SLICEGREP_GREP_REAL`, `SLICEGREP_RG_REAL")
    ] == [
        "on",
        "",
    ]
    plain = vars(Knobs({}))
    read = []
    for variable, (default, told) in table.items():
        assert vars(Knobs({variable: default})) == plain
        other = {"off": "on"}.get(default) or str(int(default) - 1)
        found = vars(Knobs({variable: other}))
        read += [name for name, value in plain.items() if found[name] != value]
        for least, most in re.findall(r"\((\d+) to (\d+)\)", told):
            for value, kept in (("0", least), ("999999999", most)):
                assert int(vars(Knobs({variable: value}))[read[-1]]) == int(kept)
    assert read == list(plain)


def test_the_readme_names_every_variable_of_a_server() -> None:
    """And no other."""
    source = (PLUGIN / "slicegrep" / "connection.py").read_text("utf-8")
    read = {f"SLICEGREP_{name}" for name in re.findall(r'named\("(\w+)"\)', source)}
    part = README.split("| what | where it is looked for |")[1].split("\n\n")[0]
    assert set(re.findall(r"SLICEGREP_\w+", part)) == read


def test_switches_say_no_in_four_ways() -> None:
    """Anything else is a yes."""
    for value, on in (
        ("on", True),
        ("1", True),
        ("yes", True),
        ("off", False),
        ("0", False),
        ("No", False),
        ("FALSE", False),
        (" ", False),
    ):
        assert Knobs({"SLICEGREP_SHIM_GRAPH": value, "SLICEGREP_SHIM_QUIET": value}).graph is on
        assert Knobs({"SLICEGREP_SHIM_GRAPH": value, "SLICEGREP_SHIM_QUIET": value}).quiet is on
