"""The home folder: private from its first folder on, whole files or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from slicegrep.home import append_private, create_private, home_folder, replace_private, session_folder


def test_every_folder_on_the_way_is_private(tmp_path: Path) -> None:
    """Whoever makes the home first, its parents below an existing folder are 0700 and its files 0600."""
    before = os.umask(0o022)
    try:
        append_private(str(tmp_path / "home" / "state" / "s" / "recent.jsonl"), b"x")
    finally:
        os.umask(before)
    modes = [(tmp_path / part).stat().st_mode & 0o777 for part in ("home", "home/state", "home/state/s")]
    assert modes == [0o700] * 3
    assert (tmp_path / "home/state/s/recent.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_is_made_once(tmp_path: Path) -> None:
    """Of two that make it, one is told so, and nothing is written over."""
    path = tmp_path / "seen" / "a"
    assert create_private(str(path), b"first")
    assert not create_private(str(path), b"second")
    assert path.read_bytes() == b"first"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """What cannot be written leaves the old content and no rest."""
    path = tmp_path / "plan"
    replace_private(str(path), b"old")
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError):
        replace_private(str(path), b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan"]


def test_appended_rows_of_many_processes_do_not_mix(tmp_path: Path) -> None:
    """One write a row."""
    path = tmp_path / "rows"
    children = []
    for n in range(8):
        child = os.fork()
        if child == 0:
            for _ in range(200):
                append_private(str(path), f"{n}".encode() * 100 + b"\n")
            os._exit(0)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
    rows = path.read_bytes().split(b"\n")[:-1]
    assert len(rows) == 1600
    assert all(len(row) == 100 and len(set(row)) == 1 for row in rows)


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a\0", "x" * 129, "é", "a.b"])
def test_a_session_id_that_is_no_plain_name_is_refused(name: str) -> None:
    """It becomes part of a path."""
    with pytest.raises(ValueError, match="plain name"):
        session_folder("/home", name)


def test_the_home_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """SLICEGREP_HOME, else ~/.slicegrep."""
    monkeypatch.setenv("HOME", "/u/me")
    assert home_folder({"SLICEGREP_HOME": "/x"}) == "/x"
    assert home_folder({}) == "/u/me/.slicegrep"
