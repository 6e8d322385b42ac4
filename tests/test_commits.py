"""Commits as tasks, and the second query of two rounds, on a repository that the test makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from commits import judge, query_of_message, read_commit, tasks, tree_at
from facts import Facts
from setup_corpora import corpora
from strategies import Slice
from turns import second_query

LINES = [f"line_{n} = {n}" for n in range(1, 41)]
MESSAGE = "Keep invoices of cancelled orders"


class Repository:
    """A git repository with `commit(files, message) -> sha`."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.git("init", "-q")

    def git(self, *arguments: str) -> str:
        settings = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null")
        done = subprocess.run(
            ["git", "-C", self.path, *settings, *arguments], capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str], message: str = MESSAGE) -> str:
        for name, text in files.items():
            path = Path(self.path, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Make a repository whose first commit holds a source file of 40 lines, a test and a document."""
    made = Repository(tmp_path)
    body = "\n".join(LINES) + "\n"
    made.commit({"src/shop.py": body, "tests/test_shop.py": body, "docs/shop.py": body, "notes.md": body})
    return made


def changed(*edits: tuple[int, str | None]) -> str:
    """Return the 40 lines with some replaced (None: deleted)."""
    lines: list[str | None] = list(LINES)
    for line, text in edits:
        lines[line - 1] = text
    return "\n".join(line for line in lines if line is not None) + "\n"


def test_targets_are_the_lines_of_the_parent_that_the_commit_touched(repository: Repository) -> None:
    """Replaced and deleted lines; changes six lines apart are one hunk, those further apart are two."""
    sha = repository.commit({"src/shop.py": changed((3, "a"), (10, None), (30, "b"))})
    commit = read_commit("shop", repository.path, sha)
    assert commit is not None
    assert commit.targets == ((("src/shop.py", 3, 10),), (("src/shop.py", 30, 30),))


def test_an_insertion_touches_its_neighbours(repository: Repository) -> None:
    """New lines have no line of the parent: the one before and the one after stand for them."""
    sha = repository.commit({"src/shop.py": changed((20, "line_20 = 20\nnew = 1"))})
    commit = read_commit("shop", repository.path, sha)
    assert commit is not None
    assert commit.targets == ((("src/shop.py", 20, 21),),)


def test_tests_documentation_and_white_space_are_no_targets(repository: Repository) -> None:
    """Only what a change of source code touched in source code is looked for."""
    text = changed((3, "a"))
    indented = changed((3, "a"), (30, "line_30  =  30"))
    sha = repository.commit(
        {"src/shop.py": indented, "tests/test_shop.py": text, "docs/shop.py": text, "notes.md": text}
    )
    commit = read_commit("shop", repository.path, sha)
    assert commit is not None
    assert commit.targets == ((("src/shop.py", 3, 3),),)


def test_the_same_change_in_a_copy_of_a_file_is_the_same_target(repository: Repository) -> None:
    """The smaller file's hunk comes first; each of equal hunks has its own place in the copy."""
    body = Path(repository.path, "src/shop.py").read_text()
    repository.commit({"copy/lib/shop.py": f"# made from src\n{body}"})
    text = changed((3, None), (20, "b"), (39, "b"))
    sha = repository.commit(
        {"src/shop.py": text, "copy/lib/shop.py": f"# made from src\n{text}", "src/other.py": ""}
    )
    commit = read_commit("shop", repository.path, sha)
    assert commit is not None
    assert commit.targets == tuple(
        (("src/shop.py", n, n), ("copy/lib/shop.py", n + 1, n + 1)) for n in (3, 20, 39)
    )


def test_the_same_change_in_files_of_other_names_is_another_target(repository: Repository) -> None:
    """Two files that both gain an import are two places to find."""
    repository.commit({"src/store.py": Path(repository.path, "src/shop.py").read_text()})
    sha = repository.commit({"src/shop.py": changed((3, "a")), "src/store.py": changed((3, "a"))})
    commit = read_commit("shop", repository.path, sha)
    assert commit is not None
    assert commit.targets == ((("src/shop.py", 3, 3),), (("src/store.py", 3, 3),))


@pytest.mark.parametrize(
    "message",
    [
        "Revert keeping invoices of cancelled orders",
        "Bump urllib3 version from 1.2 to 1.3 everywhere",
        "Release version 2.0 with invoices, orders, customers",
        "Fix typos around invoices, orders, customers",
        "Fix it",
    ],
)
def test_messages_that_describe_no_change_are_left_out(repository: Repository, message: str) -> None:
    """Reverts, bumps, releases, format-only changes, and fewer than three content words."""
    sha = repository.commit({"src/shop.py": changed((3, "a"))}, message)
    assert read_commit("shop", repository.path, sha) is None


def test_commits_of_six_source_files_and_those_that_move_files_are_left_out(repository: Repository) -> None:
    """A sweeping change has no place, and a moved file no lines."""
    repository.commit({f"src/part{n}.py": f"part = {n}\n" for n in range(6)})
    sweeping = repository.commit({f"src/part{n}.py": f"part = -{n}\n" for n in range(6)})
    repository.git("mv", "src/part1.py", "src/other.py")
    moved = repository.commit({"src/shop.py": changed((3, "a"))})
    assert read_commit("shop", repository.path, sweeping) is None
    assert read_commit("shop", repository.path, moved) is None


def test_merges_and_first_commits_are_left_out(repository: Repository) -> None:
    """The tree that is asked is the one parent's."""
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"src/other.py": "other = 1\n"})
    repository.git("checkout", "-q", "-b", "main-line", first)
    repository.commit({"src/shop.py": changed((3, "a"))})
    repository.git("merge", "-q", "--no-ff", "-m", MESSAGE, "side")
    assert read_commit("shop", repository.path, first) is None
    assert read_commit("shop", repository.path, repository.git("rev-parse", "HEAD")) is None


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("Keep invoices (#123)\n\nFixes shop/shop#7, GH-8.", "Keep invoices Fixes , ."),
        ("Keep invoices\n\nSigned-off-by: A <a@example.org>\nPR-URL: https://example.org/1", "Keep invoices"),
        ("[LANG-1234] Keep UTF-8 in invoices", "Keep UTF-8 in invoices"),
        ("Keep what 1a2b3c4d5e dropped, see https://example.org/x", "Keep what dropped, see"),
        ("Keep the added facade", "Keep the added facade"),
    ],
)
def test_a_query_is_the_message_without_what_no_tree_holds(message: str, query: str) -> None:
    """Trailers, issue numbers, addresses and hashes go; words that look like them stay."""
    assert query_of_message(message) == query


def test_an_answer_is_judged_by_hunks_lines_and_files() -> None:
    """One of three hunks is met by one of its lines."""
    slices = [Slice("a.py", 10, 12, ""), Slice("c.py", 1, 9, "")]
    targets = [[("a.py", 12, 15)], [("a.py", 30, 33)], [("b.py", 1, 2)]]
    assert judge(slices, targets) == {"hunks": 1 / 3, "lines": 1 / 10, "any": 1.0, "files": 1 / 2}


def test_a_hunk_is_found_in_a_copy_of_its_file() -> None:
    """Which of two equal files an answer shows makes no difference."""
    targets = [[("src/a.py", 12, 15), ("copy/a.py", 13, 16)]]
    assert judge([Slice("copy/a.py", 1, 20, "")], targets) == dict.fromkeys(
        ("hunks", "lines", "any", "files"), 1.0
    )


def test_the_parent_is_checked_out_without_what_an_earlier_one_left(
    repository: Repository, tmp_path: Path
) -> None:
    """One clone serves all commits of a repository."""
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit({"src/late.py": "late = 1\n"})
    folder = str(tmp_path / "trees" / "shop")
    Path(tree_at(repository.path, second, folder), "left.txt").write_text("x")
    tree_at(repository.path, first, folder)
    assert not Path(folder, "src/late.py").exists()
    assert not Path(folder, "left.txt").exists()
    assert Path(folder, "src/shop.py").exists()


def test_the_frozen_commits_are_of_pinned_repositories_in_their_half() -> None:
    """Twelve each, by full hash, none twice."""
    halves = {corpus.name: corpus.half for corpus in corpora() if corpus.sha}
    rows = tasks()
    assert {row["repository"]: row["half"] for row in rows} == halves
    assert len({row["commit"] for row in rows}) == len(rows) == 12 * len(halves)
    assert {len(row["commit"]) for row in rows} == {40}


def test_the_second_query_names_what_the_answer_calls_and_does_not_show(repository: Repository) -> None:
    """Defined in another file, not asked for, not shown yet, the rarest first."""
    repository.commit(
        {
            "src/cart.py": "def total(rows):\n    local(rows)\n    return with_tax(rounded(seen_rows(rows)))\n\n\ndef local(rows):\n    pass\n",
            "src/tax.py": "def with_tax(rows):\n    return rows\n\n\ndef seen_rows(rows):\n    return rows\n",
            "src/cents.py": "def rounded(rows):\n    return rows\n",
            "src/page.py": "def page(rows):\n    return rounded(rows)\n",
        }
    )
    facts = Facts(repository.path)
    slices = [Slice("src/cart.py", 1, 3, ""), Slice("src/tax.py", 5, 6, "")]
    assert second_query(facts, "how does total work", slices) == "with_tax|rounded"
    assert second_query(facts, "how does total call rounded", slices) == "with_tax"
    assert second_query(facts, "anything", [Slice("notes.md", 1, 3, "")]) == ""
