"""`slicegrep index`: what it says of a workspace, and that it can be interrupted and thrown away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import Shown, command, environment, run
from slicegrep.schema import IndexReport


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a git top level with two files of Python, one of Markdown, and folders that are no files."""
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    (folder / "shop").mkdir()
    (folder / "shop" / "cart.py").write_text("class Cart:\n    def add(self, item): ...\n")
    (folder / "shop" / "till.py").write_text("def pay(cart): ...\n")
    (folder / "README.md").write_text("# Shop\n")
    return folder


def report(tree: Path, home: Path, *words: str) -> IndexReport:
    """Run the command for programs; returns what it printed."""
    code, out, err = run(home, "index", str(tree), "--json", *words)
    assert (code, err) == (0, "")
    return IndexReport.model_validate_json(out)


def test_it_says_what_is_held(tree: Path, tmp_path: Path) -> None:
    """Files by language, definitions, where it lies; for the whole workspace, from any folder in it."""
    found = report(tree / "shop", tmp_path)
    assert found.workspace == str(tree)
    assert (found.files, found.languages, found.symbols) == (3, {"python": 2, "docs": 1}, 3)
    assert Path(found.file).parent == tmp_path / "slicegrep" / "index"
    assert found.bytes >= Path(found.file).stat().st_size > 0


def test_for_people_it_says_the_same(tree: Path, tmp_path: Path) -> None:
    """A line each."""
    code, out, err = run(tmp_path, "index", cwd=tree)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == [str(tree), "files    3   python 2, docs 1", "symbols  3"]
    assert [line.split()[0] for line in lines[3:]] == ["chunks", "on", "seconds"]


def test_it_brings_the_index_up_to_date(tree: Path, tmp_path: Path) -> None:
    """A file more, a file less."""
    report(tree, tmp_path)
    (tree / "shop" / "till.py").unlink()
    (tree / "run.sh").write_text("pay() { :; }\n")
    assert report(tree, tmp_path).languages == {"python": 1, "docs": 1, "bash": 1}


def test_what_is_skipped_is_named_with_its_reason(tree: Path, tmp_path: Path) -> None:
    """The first five; with --all all of them."""
    for n in range(8):
        (tree / f"copy{n}").mkdir()
        (tree / f"copy{n}" / ".git").write_text(f"gitdir: {tree}/.git/worktrees/copy{n}\n")
        (tree / f"copy{n}" / "till.py").write_text("def pay(cart): ...\n")
    found = report(tree, tmp_path)
    assert [one.path for one in found.skipped] == [f"copy{n}/" for n in range(8)]
    _, few, _ = run(tmp_path, "index", str(tree))
    assert few.count("  copy") == 5
    assert few.endswith("  ... and 3 more (--all)\n")
    _, everything, _ = run(tmp_path, "index", str(tree), "--all")
    assert everything.count("  copy") == 8


def test_it_can_be_removed(tree: Path, tmp_path: Path) -> None:
    """Nothing of it stays but the lock that processes hold; a second time there is nothing to do, which is 1."""
    file = Path(report(tree, tmp_path).file)
    assert run(tmp_path, "index", "--remove", str(tree)) == (0, f"{tree}: its index is removed\n", "")
    assert [path for path in file.parent.iterdir() if path.suffix != ".lock"] == []
    assert run(tmp_path, "index", "--remove", str(tree)) == (1, f"{tree}: there is no index\n", "")


@pytest.mark.parametrize("name", ["gone", "README.md"])
def test_what_is_no_folder_is_2(tree: Path, tmp_path: Path, name: str) -> None:
    """One line that names it."""
    code, out, err = run(tmp_path, "index", str(tree / name))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"slicegrep: {tree / name}: ")


def test_an_interrupted_build_is_130_and_quiet(tmp_path: Path) -> None:
    """Its progress is shown until then, and gone afterwards; the processes that help say nothing, and are gone too."""
    folder = tmp_path / "large"
    folder.mkdir()
    body = "".join(
        f"def step_{n}(cart, item_{n}):\n    return cart.total + item_{n}\n\n\n" for n in range(150)
    )
    (folder / "part.py").write_text(body)
    for n in range(3_000):
        (folder / f"part_{n}.py").hardlink_to(folder / "part.py")
    shown = Shown(
        ["setsid", "--ctty", "--wait", *command(str(folder), "def step_7")],
        environment(tmp_path, TERM="xterm"),
        columns=80,
        lines=40,
    )
    shown.until(b"indexing file ")
    shown.type(b"\x03")
    status, text = shown.end()
    assert status == 130
    assert re.fullmatch(r"(\r\x1b\[Kslicegrep: indexing file [\d,]+ of 3,001)+(\^C)?\r\x1b\[K", text)
