"""From where the shell ended up to where a search ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from slicegrep.search_command import search_command
from slicegrep.search_roots import search_roots


def roots(command: str, cwd: str, *known: str, reset: bool = False) -> list[str]:
    """Return the directories that a command's output may be relative to."""
    search = search_command(command)
    assert search is not None
    return search_roots(search, cwd, known=known, reset=reset)


@pytest.mark.parametrize(
    ("command", "cwd", "first"),
    [
        ("rg x", "/p", "/p"),
        ("cd a && rg x", "/p/a", "/p/a"),
        ("cd a/b && cd .. && rg x", "/p/a", "/p/a"),
        ("cd /q && rg x", "/q", "/q"),
        ("cd $UNKNOWN && rg x", "/q", "/q"),
        ("(cd a && rg x)", "/p", "/p/a"),
        ("cd a; rg x; cd ..", "/p", "/p/a"),
        ("rg x; cd a", "/p/a", "/p"),
        ("rg x; cd a/b/", "/p/a/b", "/p"),
        ("cd a; rg x; cd b", "/p/a/b", "/p/a"),
        ("cd /q; rg x; cd r", "/q/r", "/q"),
        ("git -C a grep x", "/p", "/p/a"),
        ("cd a && git -C b grep x", "/p/a", "/p/a/b"),
    ],
)
def test_the_first_root_is_where_the_search_ran(command: str, cwd: str, first: str) -> None:
    """The payload's cwd is the directory after the command's own cd's; a subshell's leave it alone."""
    assert roots(command, cwd)[0] == first


@pytest.mark.parametrize(
    ("command", "root"),
    [
        ("cd /q && rg x", "/q"),
        ("cd ../q && rg x", "/q"),
        ("cd a && rg x", "/p/a"),
        ("cd && rg x", str(Path.home())),
    ],
)
def test_a_shell_that_the_client_put_back(command: str, root: str) -> None:
    """After a cd out of the workspace the client resets the shell: its cwd is the one before."""
    assert roots(command, "/p", reset=True) == [root]


def test_the_directory_before_is_not_tried_where_the_search_s_own_is_known() -> None:
    """Copies of a file in both must not make a hit ambiguous."""
    assert "/p" not in roots("cd a && rg x", "/p/a", "/p")


def test_the_project_is_tried_where_nothing_else_is_known() -> None:
    """`--full-name` prints from the top level; a `cd -` after the search leaves several possibilities."""
    assert roots("git grep --full-name x", "/p/a", "/p") == ["/p/a", "/p"]
    assert "/p/a" in roots("cd a; rg x; cd -", "/p", "/p")


def test_two_searches_have_both_their_directories() -> None:
    """Each search's root is there, the surest first."""
    assert roots("cd a && rg x; cd b && rg y", "/p/a/b")[:2] == ["/p/a", "/p/a/b"]


def test_the_number_of_roots_is_bounded() -> None:
    """Each costs a stat for every path."""
    assert len(roots(";".join(f"(cd d{n}; rg x)" for n in range(100)), "/p")) <= 12
