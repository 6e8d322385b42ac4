"""A walk lists the regular files that a search looks at, and says what it leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from odd_folder import PLUGIN, git, make_odd, without_privileges
from slicegrep.globs import GlobError
from slicegrep.walk import Skipped, walk


def paths(folder: Path, **how: object) -> set[str]:
    """Return the paths that a walk finds."""
    return {file.path for file in walk(str(folder), **how).files}  # type: ignore[arg-type]


def tree(folder: Path, *names: str, **texts: str) -> Path:
    """Make files that hold their own name, or a text."""
    for name, text in {**{name: name for name in names}, **texts}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_every_regular_file_is_found_and_nothing_else_opened(tmp_path: Path) -> None:
    """Links, FIFOs, sockets and odd names: each regular file once, by its own name, and no wait."""
    folder = tmp_path / "odd"
    folder.mkdir()
    expected = make_odd(folder)
    found = walk(str(folder))
    assert [file.path for file in found.files] == sorted(expected)
    assert found.skipped == []


def test_size_and_time_are_those_of_the_file(tmp_path: Path) -> None:
    """What an index compares to know that a file has changed."""
    (tmp_path / "a.py").write_bytes(b"x" * 321)
    os.utime(tmp_path / "a.py", ns=(5, 1_600_000_000_123_456_789))
    (file,) = walk(str(tmp_path)).files
    assert (file.size, file.mtime_ns) == (321, os.lstat(tmp_path / "a.py").st_mtime_ns)


def test_the_folder_may_be_a_link(tmp_path: Path) -> None:
    """A path that a person names is followed; links below it are not."""
    tree(tmp_path / "real", "a.py")
    (tmp_path / "link").symlink_to("real")
    assert paths(tmp_path / "link") == {"a.py"}


@pytest.mark.parametrize("repository", [True, False])
def test_gitignore_hides_with_git_and_without(tmp_path: Path, repository: bool) -> None:  # noqa: FBT001
    """A tree that was unpacked from an archive has the same files as its clone."""
    tree(tmp_path, "a.py", "build/b.py", "sub/c.py", "sub/d.log")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    if repository:
        git(tmp_path, "init", "-q")
    assert paths(tmp_path) == {"a.py", "sub/c.py"}
    assert paths(tmp_path, no_ignore=True) == {"a.py", "build/b.py", "sub/c.py", "sub/d.log"}
    assert paths(tmp_path / "build") == {"b.py"}


def test_ignore_files_count_up_to_the_top_level_only(tmp_path: Path) -> None:
    """A sub-folder heeds its repository's .gitignore; a `*` in the home folder's hides nothing."""
    (tmp_path / ".gitignore").write_text("*\n")
    tree(tmp_path / "plain", "a.py")
    assert paths(tmp_path / "plain") == {"a.py"}
    repository = tree(tmp_path / "repository", "sub/a.py", "sub/made.py")
    git(repository, "init", "-q")
    (repository / ".gitignore").write_text("made.py\n")
    (repository / ".git" / "info" / "exclude").write_text("kept_out.py\n")
    tree(repository, "sub/kept_out.py")
    assert paths(repository) == {"sub/a.py"}
    assert paths(repository / "sub") == {"a.py"}


def test_the_configuration_of_the_user_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rg's own configuration file nor a global gitignore hides or adds a file silently."""
    tree(tmp_path / "home" / ".config" / "git", ignore="*.py\n")
    tree(tmp_path / "home", rgrc="--glob=!*.py\n--hidden\n")
    folder = tree(tmp_path / "work", "a.py", ".hidden.py")
    git(folder, "init", "-q")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "home" / "rgrc"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    assert paths(folder) == {"a.py"}


def test_hidden_names_only_on_demand_and_git_never(tmp_path: Path) -> None:
    """`.github` is for `--hidden`; the repository's own files are for nobody."""
    tree(tmp_path, "a.py", ".env.py", ".github/ci.yml", "sub/.tool/b.py")
    git(tmp_path, "init", "-q")
    assert paths(tmp_path) == {"a.py"}
    assert paths(tmp_path, hidden=True) == {"a.py", ".env.py", ".github/ci.yml", "sub/.tool/b.py"}


def test_worktrees_inside_the_folder_are_left_out(tmp_path: Path) -> None:
    """jcodemunch#372, codegraph#868: each worktree would double the tree; it is named once. A submodule is part of it."""
    library = tree(tmp_path / "library", "lib.py")
    git(library, "init", "-q")
    git(library, "add", ".")
    git(library, "commit", "-q", "-m", "one")
    main = tree(tmp_path / "main", "a.py")
    git(main, "init", "-q")
    git(main, "submodule", "add", "-q", str(library), "worktrees/lib")
    git(main, "add", ".")
    git(main, "commit", "-q", "-m", "one")
    git(main, "worktree", "add", "-q", "trees/feature")
    git(main, "worktree", "add", "-q", ".claude/worktrees/agent")
    found = walk(str(main))
    assert {file.path for file in found.files} == {"a.py", "worktrees/lib/lib.py"}
    assert found.skipped == [Skipped("trees/feature/", "a git worktree of its own")]
    everything = walk(str(main), hidden=True, no_ignore=True)
    assert {file.path for file in everything.files} == {"a.py", ".gitmodules", "worktrees/lib/lib.py"}
    assert paths(main / ".claude" / "worktrees" / "agent") == {"a.py"}


def test_globs_and_types_narrow(tmp_path: Path) -> None:
    """They say which of the files, and bring none back that is ignored."""
    tree(tmp_path, "a.py", "b.go", "sub/c.py", "sub/test_c.py", "made.py")
    (tmp_path / ".gitignore").write_text("made.py\n")
    assert paths(tmp_path, globs=["*.py", "!test_*"]) == {"a.py", "sub/c.py"}
    assert paths(tmp_path, types=["go"]) == {"b.go"}
    assert paths(tmp_path, globs=["sub"], types=["py"]) == {"sub/c.py", "sub/test_c.py"}
    with pytest.raises(GlobError, match="no file type 'klingon'"):
        walk(str(tmp_path), types=["klingon"])


def test_a_file_that_vanishes_is_listed_as_skipped(tmp_path: Path) -> None:
    """Between rg's list and the look at it a file may go, or become something else."""
    tree(tmp_path, "a.py", "gone.py", "swapped.py")

    def meddle(path: str) -> bool:
        if path == "gone.py":
            (tmp_path / path).unlink()
        if path == "swapped.py":
            (tmp_path / path).unlink()
            (tmp_path / path).mkdir()
        return True

    found = walk(str(tmp_path), wanted=meddle)
    assert [file.path for file in found.files] == ["a.py"]
    assert found.skipped == [Skipped("gone.py", "it vanished"), Skipped("swapped.py", "no regular file")]


def test_folders_without_permission_are_listed_as_skipped() -> None:
    """What cannot be looked into is named; the rest is searched."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        folder = tree(Path(made), "a.py", "closed/b.py", "open/c.py", "new\nline: odd/d.py")
        for closed in (folder / "closed", folder / "new\nline: odd"):
            closed.chmod(0)
        folder.chmod(0o755)
        code = f"found = walk({made!r})\nprint([file.path for file in found.files], [(s.path, s.why) for s in found.skipped])"
        told = without_privileges(code)
        for closed in (folder / "closed", folder / "new\nline: odd"):
            closed.chmod(0o755)
    assert told.strip() == str(
        (["a.py", "open/c.py"], [("closed/", "Permission denied"), ("new\nline: odd/", "Permission denied")])
    ).strip("()").replace("], [", "] [")


def test_a_folder_that_cannot_be_walked_is_an_error(tmp_path: Path) -> None:
    """Errors of the operating system, for whoever asked."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError):
        walk(str(tmp_path / "missing"))
    with pytest.raises(NotADirectoryError):
        walk(str(tmp_path / "file"))


@pytest.fixture
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder for PATH with an interpreter and git, but no rg."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "python").symlink_to(os.path.realpath(sys.executable))
    git_program = subprocess.run(["sh", "-c", "command -v git"], check=True, capture_output=True, text=True)
    (folder / "git").symlink_to(git_program.stdout.strip())
    return str(folder)


def bare_walk(bin_folder: str, folder: Path) -> tuple[set[str], str]:
    """Return what a walk finds where there is no rg, and its notes."""
    code = (
        f"import sys; sys.path[:0] = [{PLUGIN!r}]\nfrom slicegrep.walk import walk\nfound = walk({str(folder)!r})\n"
        "sys.stdout.buffer.write('\\0'.join([*found.notes, *[f.path for f in found.files]]).encode(errors='surrogateescape'))"
    )
    done = subprocess.run(
        [f"{bin_folder}/python", "-I", "-S", "-c", code],
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": bin_folder},
    )
    note, *names = os.fsdecode(done.stdout).split("\0")
    return set(names), note


def test_without_rg_git_lists_the_same_files(tmp_path: Path, bare_python: str) -> None:
    """The wheel of ripgrep is missing on some systems: in a repository nothing is lost."""
    folder = tmp_path / "work"
    folder.mkdir()
    make_odd(folder)
    tree(folder, "made/x.py", ".hidden/y.py", ".hidden.py", "nested/z.py", "tree/q.py")
    (folder / ".gitignore").write_text("made/\n")
    git(folder, "init", "-q")
    git(folder, "add", "plain.py", "sub")
    git(folder, "commit", "-q", "-m", "one")
    git(folder / "nested", "init", "-q")
    (folder / "tree" / ".git").write_text("gitdir: /elsewhere/.git/worktrees/tree\n")
    found, note = bare_walk(bare_python, folder)
    assert found == paths(folder)
    assert note == "rg is not there: git listed the files."


def test_without_rg_and_git_the_folders_are_walked(tmp_path: Path, bare_python: str) -> None:
    """Outside of git only the well-known folders of fetched and made things are left out, and a note says so."""
    folder = tmp_path / "work"
    folder.mkdir()
    expected = make_odd(folder)
    tree(folder, "node_modules/x.js", ".hidden/y.py", "tree/q.py")
    (folder / "tree" / ".git").write_text("gitdir: /elsewhere/.git/worktrees/tree\n")
    found, note = bare_walk(bare_python, folder)
    assert found == expected
    assert note == "rg is not there: ignore files were not looked at."
