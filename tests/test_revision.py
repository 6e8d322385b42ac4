"""The revision of a work tree, read from git's files: what git itself says, in every state of a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from slicegrep.revision import revision_of


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    return root


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")[:10]


def test_it_is_gits_own_on_a_branch_detached_and_packed(tree: Path) -> None:
    """Loose refs, packed refs, a loose one newer than the packed, a branch with a slash, no branch."""
    assert revision_of(str(tree)) == head(tree) != ""
    git(tree, "pack-refs", "--all")
    assert revision_of(str(tree)) == head(tree)
    before = head(tree)
    git(tree, "commit", "-q", "--allow-empty", "-m", "two")
    assert revision_of(str(tree)) == head(tree) != before
    git(tree, "checkout", "-q", "-b", "topic/main", "HEAD~1")
    git(tree, "pack-refs", "--all")
    assert revision_of(str(tree)) == before
    git(tree, "checkout", "-q", "--detach", "main")
    assert revision_of(str(tree)) == head(tree) != before


def test_it_is_gits_own_in_a_linked_work_tree(tree: Path, tmp_path: Path) -> None:
    """Whose `.git` is a file, whose refs lie in the main repository, loose and packed."""
    git(tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = tmp_path / "linked"
    assert revision_of(str(linked)) == head(linked) != ""
    git(linked, "commit", "-q", "--allow-empty", "-m", "there")
    assert revision_of(str(linked)) == head(linked) != head(tree)
    git(linked, "pack-refs", "--all")
    assert revision_of(str(linked)) == head(linked)


def test_it_is_gits_own_with_sha_256(tmp_path: Path) -> None:
    """Whose hashes have 64 digits."""
    git(tmp_path, "init", "-q", "--object-format=sha256")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    assert revision_of(str(tmp_path)) == head(tmp_path)


def test_there_is_none_without_a_commit_or_a_repository(tmp_path: Path) -> None:
    """Nothing is raised, and no file that HEAD cannot mean is read."""
    assert revision_of(str(tmp_path)) == ""
    git(tmp_path, "init", "-q")
    assert revision_of(str(tmp_path)) == ""
    for text in (
        "ref: refs/../../secret",
        "ref: /etc/hostname",
        "",
        "\0",
        "ref: refs/heads/\0",
        "0123456789",
    ):
        (tmp_path / ".git" / "HEAD").write_text(text)
        assert revision_of(str(tmp_path)) == "", text
