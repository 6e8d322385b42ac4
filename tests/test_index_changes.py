"""An index follows its tree: whatever is edited, it tells what an index made at once tells."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from index_told import told, write
from slicegrep.index import View, let_go, open_view

_homes = itertools.count()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    write(folder, {f"pkg/m{n}.py": _module(n, "first") for n in range(12)})
    write(folder, {"docs/guide.md": "How modules are loaded.\n", "setup.cfg": "[options]\n"})
    return folder


def _module(n: int, word: str) -> str:
    return f'"""Module {n}."""\n\n\nclass Module{n}:\n    def load_{word}(self):\n        return {word}_value({n})\n'


def _opened(root: Path, tmp_path: Path) -> View:
    return open_view(str(root), str(tmp_path / "home"))


def _new(root: Path, tmp_path: Path) -> View:
    return open_view(str(root), str(tmp_path / f"home{next(_homes)}"))


def _ids(view: View) -> dict[str, int]:
    return {row.path: row.id for row in view.files if row}


def test_edits_of_every_kind(root: Path, tmp_path: Path) -> None:
    """Edited, added, removed, renamed, grown, emptied, made binary, moved with its folder: after each step all is as new."""
    _opened(root, tmp_path)

    def binary() -> None:
        (root / "pkg/m3.py").write_bytes(b"def load(): pass\n\0\1")

    steps = [
        lambda: write(root, {"pkg/m1.py": _module(1, "second")}),
        lambda: write(root, {"pkg/new.py": _module(20, "third"), "deep/er/new.py": _module(21, "third")}),
        (root / "pkg/m2.py").unlink,
        lambda: (root / "pkg/m4.py").rename(root / "pkg/renamed.py"),
        lambda: (root / "pkg/m5.py").write_text(_module(5, "long") * 50),
        lambda: (root / "pkg/m6.py").write_text(""),
        binary,
        lambda: (root / "deep").rename(root / "elsewhere"),
        lambda: shutil.rmtree(root / "elsewhere"),
        (root / "setup.cfg").unlink,
        lambda: write(root, {"pkg/m3.py": _module(3, "back")}),
    ]
    for step in steps:
        step()
        assert told(_opened(root, tmp_path)) == told(_new(root, tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_any_run_of_edits(root: Path, tmp_path: Path, seed: int) -> None:
    """Merged segments, dead files, new processes in between: as new after every few edits."""
    chance = random.Random(seed)
    for step in range(60):
        name = f"pkg/m{chance.randrange(14)}.py"
        kind = chance.randrange(5)
        if kind == 0 and (root / name).exists():
            (root / name).unlink()
        elif kind == 1 and (root / name).exists():
            os.utime(root / name)
        else:
            write(root, {name: _module(chance.randrange(9), chance.choice(["one", "two", "three"]))})
        view = _opened(root, tmp_path)
        if step % 12 == 11:
            assert told(view) == told(_new(root, tmp_path))
            let_go()
    assert len(view.columns.segments) < 40


def test_a_touched_file_keeps_its_place(root: Path, tmp_path: Path) -> None:
    """Another time with the same content: compared by digest, not indexed again."""
    before = _ids(_opened(root, tmp_path))
    os.utime(root / "pkg/m1.py", (1_000_000_000, 1_000_000_000))
    os.chmod(root / "pkg/m2.py", 0o600)
    assert _ids(_opened(root, tmp_path)) == before
    let_go()
    assert _ids(_opened(root, tmp_path)) == before


def test_only_the_edited_file_gets_a_new_id(root: Path, tmp_path: Path) -> None:
    """An edit writes one small segment."""
    before = _ids(_opened(root, tmp_path))
    write(root, {"pkg/m1.py": _module(1, "second")})
    after = _ids(_opened(root, tmp_path))
    assert {path for path in after if after[path] != before[path]} == {"pkg/m1.py"}


def test_an_edit_that_keeps_size_and_time(root: Path, tmp_path: Path) -> None:
    """The same second, and even the same time set back: the system's change time and the digest tell."""
    _opened(root, tmp_path)
    path = root / "pkg/m1.py"
    for word in ("abcde", "edcba", "fghij"):
        status = path.stat()
        path.write_text(_module(1, word))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert _opened(root, tmp_path).symbols_named(f"load_{word}")
        let_go()


def test_a_clock_that_was_set_back(root: Path, tmp_path: Path) -> None:
    """Any other time counts, also an earlier one."""
    _opened(root, tmp_path)
    write(root, {"pkg/m1.py": _module(1, "older")})
    os.utime(root / "pkg/m1.py", (1, 1))
    assert _opened(root, tmp_path).symbols_named("load_older")


def test_gitignore_changes_are_followed(root: Path, tmp_path: Path) -> None:
    """Made, edited in place, removed: what it hides is not in the index, and comes back."""
    _opened(root, tmp_path)
    write(root, {".gitignore": "docs/\n"})
    assert _opened(root, tmp_path).file_at("docs/guide.md") is None
    with (root / ".gitignore").open("a") as file:
        file.write("m1.py\n")
    view = _opened(root, tmp_path)
    assert view.file_at("pkg/m1.py") is None
    assert not view.symbols_named("Module1")
    (root / ".gitignore").unlink()
    assert told(_opened(root, tmp_path)) == told(_new(root, tmp_path))


def test_a_file_in_a_folder_that_was_empty(root: Path, tmp_path: Path) -> None:
    """Folders without a listed file are watched too, at any depth."""
    (root / "empty/inner").mkdir(parents=True)
    _opened(root, tmp_path)
    for folder in (root / "empty/inner", root / "empty"):
        os.utime(folder, (1_000_000_000, 1_000_000_000))
    _opened(root, tmp_path)
    let_go()
    _opened(root, tmp_path)
    write(root, {"empty/inner/late.py": "def late(): ...\n"})
    assert _opened(root, tmp_path).symbols_named("late")


def test_worktrees_and_hidden_folders_stay_out(root: Path, tmp_path: Path) -> None:
    """jcodemunch#372: `.claude/worktrees` multiply the index; a linked worktree anywhere else too."""
    git = ["git", "-C", str(root), "-c", "user.email=a@b", "-c", "user.name=c"]
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "x"],
        ["worktree", "add", "-q", "linked"],
    ):
        subprocess.run([*git, *arguments], check=True)
    write(root, {".claude/worktrees/w/pkg/m1.py": _module(1, "copy")})
    view = _opened(root, tmp_path)
    assert [row.path for row in view.files if row and row.path.startswith(("linked/", ".claude"))] == []
    assert list(view.skipped) == ["linked/"]
    assert len(view.symbols_named("Module1")) == 1


def test_names_that_are_no_text(root: Path, tmp_path: Path) -> None:
    """Undecodable bytes and newlines in names: indexed under them, read by them, removed by them."""
    name = b"n\xff\nx.py"
    path = os.path.join(os.fsencode(root), name)
    with open(path, "wb") as file:
        file.write(b"def odd(): ...\n")
    view = _opened(root, tmp_path)
    (number,) = view.symbols_named("odd")
    row = view.files[view.symbol(number).file]
    assert row is not None
    assert os.fsencode(row.path) == name
    assert view.utf8_lines(row.path) == b"def odd(): ...\n"
    let_go()
    assert _opened(root, tmp_path).file_at(row.path) is not None
    os.unlink(path)
    assert not _opened(root, tmp_path).symbols_named("odd")


def test_links_pipes_and_devices_are_never_opened(root: Path, tmp_path: Path) -> None:
    """A FIFO would wait for ever; a link out of the workspace is not followed, nor one that loops."""
    write(tmp_path, {"outside.py": "def outside(): ...\n"})
    os.mkfifo(root / "pkg/pipe.py")
    (root / "pkg/out.py").symlink_to(tmp_path / "outside.py")
    (root / "pkg/loop").symlink_to(root / "pkg")
    (root / "pkg/gone.py").symlink_to(root / "nothing")
    view = _opened(root, tmp_path)
    assert not view.symbols_named("outside")
    assert len(view.symbols_named("Module1")) == 1
    (root / "pkg/m1.py").unlink()
    os.mkfifo(root / "pkg/m1.py")
    assert not _opened(root, tmp_path).symbols_named("Module1")


def test_a_file_that_turns_into_a_folder(root: Path, tmp_path: Path) -> None:
    """And back."""
    _opened(root, tmp_path)
    (root / "pkg/m1.py").unlink()
    write(root, {"pkg/m1.py/inner.py": "def inner(): ...\n"})
    view = _opened(root, tmp_path)
    assert view.symbols_named("inner")
    assert not view.symbols_named("Module1")
    shutil.rmtree(root / "pkg/m1.py")
    write(root, {"pkg/m1.py": _module(1, "first")})
    assert told(_opened(root, tmp_path)) == told(_new(root, tmp_path))


def test_a_process_that_has_looked_often_misses_nothing(root: Path, tmp_path: Path) -> None:
    """From the second look on the kernel's notices are relied on: edits in place, by renaming, in new folders."""
    for _ in range(4):
        _opened(root, tmp_path)
    write(root, {"pkg/m1.py": _module(1, "inplace")})
    assert _opened(root, tmp_path).symbols_named("load_inplace")
    for _ in range(3):
        _opened(root, tmp_path)
    write(root, {"m1.new": _module(1, "swapped")})
    os.replace(root / "m1.new", root / "pkg/m1.py")
    assert _opened(root, tmp_path).symbols_named("load_swapped")
    for n in range(3):
        write(root, {f"fresh{n}/a.py": f"def fresh{n}(): ...\n"})
        assert _opened(root, tmp_path).symbols_named(f"fresh{n}")
        write(root, {f"fresh{n}/a.py": f"def again{n}(): ...\n"})
        assert _opened(root, tmp_path).symbols_named(f"again{n}")
        (root / f"fresh{n}/a.py").unlink()
        assert not _opened(root, tmp_path).symbols_named(f"again{n}")
    for n in range(3):
        shutil.rmtree(root / "pkg")
        write(root, {"pkg/m1.py": _module(1, "remade")})
        for _ in range(n):
            assert _opened(root, tmp_path).symbols_named("load_remade")
        write(root, {"pkg/m1.py": _module(1, f"later{n}")})
        assert _opened(root, tmp_path).symbols_named(f"load_later{n}")
    assert told(_opened(root, tmp_path)) == told(_new(root, tmp_path))


def test_a_view_stays_what_it_was(root: Path, tmp_path: Path) -> None:
    """A search that is under way is not disturbed by edits, merges, or another process's writing."""
    view = _opened(root, tmp_path)
    before = told(view)
    for n in range(40):
        write(root, {"pkg/m1.py": _module(1, f"w{n}")})
        _opened(root, tmp_path)
    view.holders._kept.clear()
    view._outlines.clear()
    assert told(view) == before


def test_an_index_that_is_mostly_dead_is_made_anew(tmp_path: Path) -> None:
    """A tree whose files are edited over and over does not grow its index without end."""
    root = tmp_path / "tree"
    for turn in range(9):
        write(root, {f"m{n}.py": _module(n, f"t{turn}") for n in range(39)})
        view = _opened(root, tmp_path)
    assert len(view.files) < 220
    assert told(view) == told(_new(root, tmp_path))


def test_a_large_change_at_once(tmp_path: Path) -> None:
    """A checkout of another branch: many files by worker processes, on top of what is there."""
    root = tmp_path / "tree"
    write(root, {f"m{n}.py": _module(n, "old") for n in range(130)})
    _opened(root, tmp_path)
    write(root, {f"m{n}.py": _module(n, "young") for n in range(60)})
    write(root, {f"more{n}.py": _module(n, "young") for n in range(20)})
    view = _opened(root, tmp_path)
    assert told(view) == told(_new(root, tmp_path))
    assert len(view.symbols_named("load_young")) == 80


def test_a_file_that_was_written_since_is_not_read_as_what_it_was(root: Path, tmp_path: Path) -> None:
    """Lines and definitions are of one content: another one is not given, nor kept for when the first comes back."""
    path = root / "pkg/m1.py"
    first, status = path.read_text(), path.stat()
    view = _opened(root, tmp_path)
    path.write_text("# one\n# two\n" + first)
    assert view.read("pkg/m1.py") is None
    assert view.utf8_lines("pkg/m1.py") is None
    assert view.is_outdated
    path.write_text(first)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    again = _opened(root, tmp_path)
    assert not again.is_outdated
    for one in (view, again):
        assert one.read("pkg/m1.py").text == first.rstrip("\n")
        assert one.utf8_lines("pkg/m1.py") == first.encode()


def test_a_write_that_nobody_told_of_is_noticed_when_the_file_is_read(root: Path, tmp_path: Path) -> None:
    """Through another name of the file, outside of what is watched: the next view has it."""
    os.link(root / "pkg/m1.py", tmp_path / "other_name")
    for _ in range(4):
        view = _opened(root, tmp_path)
    (tmp_path / "other_name").write_text(_module(1, "unheard"))
    assert view.read("pkg/m1.py") is None
    assert _opened(root, tmp_path).symbols_named("load_unheard")


@pytest.mark.parametrize("names_its_files", [True, False])
def test_no_file_is_read_through_a_link(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, names_its_files: bool
) -> None:
    """Neither a file nor a folder that was replaced by one, on a system that names open files and on others."""
    if not names_its_files:
        monkeypatch.setattr(os, "readlink", lambda path: "")
    write(root, {"pkg/deep/er/a.py": "inside = 1\n", "pkg/b.py": "inside = 2\n"})
    view = _opened(root, tmp_path)
    assert view.read("pkg/deep/er/a.py").lines == ("inside = 1",)
    let_go()
    view = _opened(root, tmp_path)
    outside = tmp_path / "outside"
    (root / "pkg").rename(outside)
    (root / "pkg").symlink_to(outside)
    assert view.read("pkg/deep/er/a.py") is None
    assert view.read("pkg/b.py") is None
    assert view.read("pkg/not_indexed") is None
    (root / "pkg").unlink()
    outside.rename(root / "pkg")
    assert view.read("pkg/b.py").lines == ("inside = 2",)


def test_a_folder_that_became_a_link_with_its_times_is_not_in_the_index(root: Path, tmp_path: Path) -> None:
    """The same names and modification times on both sides, in this process and in the next one."""
    outside = tmp_path / "outside"
    for folder, word in ((root / "pkg/deep", "inside"), (outside, "outside")):
        write(folder, {"a.py": f"def load_{word}(): ...\n"})
    for path in (root, outside, *root.rglob("*"), *outside.rglob("*")):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    _opened(root, tmp_path)
    let_go()
    assert _opened(root, tmp_path).symbols_named("load_inside")
    (root / "pkg/deep").rename(tmp_path / "moved")
    (root / "pkg/deep").symlink_to(outside)
    os.utime(root / "pkg/deep", (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    os.utime(root / "pkg", (1_000_000_000, 1_000_000_000))
    for _ in range(2):
        view = _opened(root, tmp_path)
        assert view.file_at("pkg/deep/a.py") is None
        assert not view.symbols_named("load_inside")
        assert not view.symbols_named("load_outside")
        let_go()


def test_texts_of_earlier_contents_are_not_kept(root: Path, tmp_path: Path) -> None:
    """A file that is edited over and over takes the memory of one."""
    for n in range(5):
        write(root, {"pkg/m1.py": _module(1, f"w{n}") * 1000})
        view = _opened(root, tmp_path)
        source = view.read("pkg/m1.py")
    assert view._texts._held == 3 * source.size
