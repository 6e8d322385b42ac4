"""What git's history says of files, in repositories that the tests make."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from slicegrep.history import COMMITS, HALF, SECONDS, WEIGHT, prior

NEWEST = 1 + WEIGHT


class Repository:
    """A git repository in `root` whose priors are kept in `home`."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "tree", folder / "home"
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        settings = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null")
        command = ["git", "-C", str(self.root), *settings, *arguments]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()

    def commit(self, *names: str) -> None:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write("x\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")

    def prior(self) -> dict[str, float]:
        return prior(str(self.root), str(self.home))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Make an empty repository."""
    return Repository(tmp_path)


def test_the_more_recent_a_change_the_larger_the_factor(repository: Repository) -> None:
    """By commits, not by days; a file's last change counts."""
    repository.commit("old.py", "src/both.py")
    repository.commit("mid.py")
    repository.commit("src/both.py")
    assert repository.prior() == {
        "src/both.py": NEWEST,
        "mid.py": 1 + WEIGHT / (1 + 1 / HALF),
        "old.py": 1 + WEIGHT / (1 + 2 / HALF),
    }


def test_only_ancestors_of_the_checked_out_commit_count(repository: Repository) -> None:
    """What comes later, on another branch or uncommitted, is not known yet."""
    repository.commit("a.py")
    first = repository.git("rev-parse", "HEAD")
    repository.commit("later.py")
    repository.git("checkout", "-q", first)
    (repository.root / "new.py").write_text("x\n")
    assert repository.prior() == {"a.py": NEWEST}


def test_the_answer_follows_the_checked_out_commit(repository: Repository) -> None:
    """What is kept of another HEAD is not given."""
    repository.commit("a.py")
    assert set(repository.prior()) == {"a.py"}
    repository.commit("b.py")
    assert set(repository.prior()) == {"a.py", "b.py"}


def test_the_answer_is_kept_for_the_person_alone(repository: Repository) -> None:
    """The second time no log is read: what the file holds is what is given."""
    repository.commit("a.py")
    repository.prior()
    (kept,) = (repository.home / "index").glob("*.history.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.write_text(json.dumps({"head": repository.git("rev-parse", "HEAD"), "ages": {"b.py": 0}}))
    assert repository.prior() == {"b.py": NEWEST}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"head": 1}', '{"ages": [1]}'])
def test_a_kept_answer_that_cannot_be_read_is_made_again(repository: Repository, text: str) -> None:
    """A disk may hold anything."""
    repository.commit("a.py")
    repository.prior()
    (kept,) = (repository.home / "index").glob("*.history.json")
    kept.write_text(text.replace('"head": 1', f'"head": "{repository.git("rev-parse", "HEAD")}"'))
    assert repository.prior() == {"a.py": NEWEST}


@pytest.mark.parametrize("name", ["über.py", "a b.py", "line\nbreak.py", os.fsdecode(b"odd\xff.py")])
def test_names_come_as_they_are(repository: Repository, name: str) -> None:
    """Not quoted, not decoded by guess; kept and read again too."""
    repository.commit(name)
    assert repository.prior() == {name: NEWEST}
    assert repository.prior() == {name: NEWEST}


def test_there_is_nothing_to_say_without_history(repository: Repository, tmp_path: Path) -> None:
    """No commit yet, no repository, no folder, or a clone without its past."""
    assert repository.prior() == {}
    assert prior(str(tmp_path / "home"), str(tmp_path / "home")) == {}
    assert prior(str(tmp_path / "missing"), str(tmp_path / "home")) == {}
    repository.commit("a.py")
    repository.commit("b.py")
    shallow = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth=1", f"file://{repository.root}", str(shallow))
    assert prior(str(shallow), str(tmp_path / "home")) == {}


def test_there_is_nothing_to_say_without_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not needed for anything else."""
    repository.commit("a.py")
    monkeypatch.setenv("PATH", str(repository.home))
    assert repository.prior() == {}


def test_a_home_that_cannot_be_written_keeps_nothing(repository: Repository) -> None:
    """The answer is given all the same."""
    repository.commit("a.py")
    repository.home.write_text("a file where the folder should be")
    assert repository.prior() == {"a.py": NEWEST}


def test_a_slow_git_is_not_waited_for(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has its time, and the next search does not wait for it again."""
    repository.commit("a.py")
    real = subprocess.run(["which", "git"], capture_output=True, check=True, text=True).stdout.strip()
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" log "*) exec sleep {SECONDS + 20};; esac\nexec {real} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    assert repository.prior() == {}
    (kept,) = (repository.home / "index").glob("*.history.json")
    assert json.loads(kept.read_text())["ages"] == {}


def test_only_the_newest_commits_are_looked_at(repository: Repository) -> None:
    """What was last changed before them is as good as never changed."""
    stream = ["blob\nmark :1\ndata 2\nx\n"]
    for number in range(COMMITS + 1):
        name = "old.py" if number == 0 else "new.py"
        stream.append(
            f"commit refs/heads/main\nmark :{number + 2}\ncommitter a <a@example.org> {number} +0000\ndata 1\nx\n"
            + (f"from :{number + 1}\n" if number else "")
            + f"M {100644 if number % 2 else 100755} :1 {name}\n"
        )
    command = ["git", "-C", str(repository.root), "fast-import", "--quiet"]
    subprocess.run(command, input="".join(stream).encode(), check=True)
    assert repository.prior() == {"new.py": NEWEST}
