"""Tokens: who holds one, files that are broken, rotation while a server runs, and what is kept of a token."""

from __future__ import annotations

import os
import stat
import time
from hashlib import sha256
from pathlib import Path

import pytest
from command import run
from served import serving, token_of, write_tree
from slicegrep.service.bearer import TokenFileError, Tokens, is_private, new_token

CALL = {"locations": ["a.py:2"]}


def digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def test_a_new_token_is_known_and_not_kept(tmp_path: Path) -> None:
    """The file, 0600, has its hash, its holder's name, role and namespaces."""
    path = tmp_path / "keys" / "tokens"
    token = new_token(str(path), "ann", "admin", ["one", "two"])
    other = new_token(str(path), "bob")
    assert len(token) > 40 and token != other
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and is_private(str(path))
    assert token not in path.read_text() and digest(token) in path.read_text()
    tokens = Tokens(str(path))
    ann, bob = tokens.holder(token), tokens.holder(other)
    assert ann and bob and len(tokens) == 2
    assert (ann.name, ann.role, ann.may_see("one"), ann.may_see("three")) == ("ann", "admin", True, False)
    assert (bob.name, bob.role, bob.may_see("three")) == ("bob", "viewer", True)


def test_what_is_near_a_token_is_none(tmp_path: Path) -> None:
    """Its beginning, its hash, another case, more behind it, nothing, a text that is no UTF-8, a very long one."""
    path = str(tmp_path / "tokens")
    token = new_token(path, "ann")
    tokens = Tokens(path)
    for near in (token[:-1], digest(token), token.upper(), f"{token} ", "", "\udcff", token * 1_000, "é"):
        assert tokens.holder(near) is None, near
    assert tokens.holder(token)


def test_a_file_written_by_hand_is_read(tmp_path: Path) -> None:
    """Comments, blank lines, CRLF, a hash in capitals, no line end at the end, before a new token too."""
    path = tmp_path / "tokens"
    path.write_bytes(
        f"# ours\r\n\r\nann admin a,b {digest('x').upper()} # until May\r\nbob viewer * {digest('y')}".encode()
    )
    token = new_token(str(path), "eve")
    tokens = Tokens(str(path))
    held = [tokens.holder(one) for one in ("x", "y", token)]
    assert [one.name if one else "" for one in held] == ["ann", "bob", "eve"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ann viewer *", "line 1: not NAME ROLE NAMESPACES SHA256"),
        (f"ann viewer * {digest('x')} more", "line 1: not NAME ROLE NAMESPACES SHA256"),
        (f"ann writer * {digest('x')}", "line 1: a role is one of viewer, admin"),
        ("ann viewer * token-itself", "line 1: the hash is not a SHA-256 in hex"),
        (f"ann viewer a/b {digest('x')}", "line 1: names are of"),
        (f"a/nn viewer a {digest('x')}", "line 1: names are of"),
    ],
)
def test_a_broken_line_is_named_and_not_quoted(tmp_path: Path, line: str, why: str) -> None:
    """It may hold a token that somebody took for a hash."""
    path = tmp_path / "tokens"
    path.write_text(line)
    with pytest.raises(TokenFileError, match=why) as raised:
        Tokens(str(path))
    assert "token-itself" not in str(raised.value)
    with pytest.raises(TokenFileError):
        new_token(str(path), "bob")
    assert path.read_text() == line


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """Not there, a folder, a FIFO (which is not waited for)."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("none", ".", "pipe"):
        with pytest.raises(TokenFileError):
            Tokens(str(tmp_path / name))


def test_a_change_counts_at_once_and_a_broken_one_not_at_all(tmp_path: Path) -> None:
    """A broken or missing file keeps the tokens that were there, and is told once; an empty one shuts all out."""
    path, told = tmp_path / "tokens", []
    old = new_token(str(path), "ann")
    tokens = Tokens(str(path), told.append)
    new = new_token(str(path), "ann")
    assert tokens.holder(old) and tokens.holder(new)
    path.write_text(path.read_text().replace(digest(old), "broken"))
    assert tokens.holder(old) and tokens.holder(new)
    assert len(told) == 2 and "line 2" in told[1]
    path.unlink()
    assert tokens.holder(old) and tokens.holder(old) and len(told) == 3
    path.write_text(f"ann viewer * {digest(new)}\n")
    assert tokens.holder(old) is None and tokens.holder(new)
    path.write_text("# nobody\n")
    assert tokens.holder(new) is None
    for text in told:
        assert str(tmp_path) not in text and old not in text and digest(old) not in text


def test_a_file_that_others_can_read_or_write_is_not_private(tmp_path: Path) -> None:
    """Group and world, reading and writing."""
    path = tmp_path / "tokens"
    new_token(str(path), "ann")
    for mode in (0o640, 0o620, 0o604, 0o602, 0o666):
        path.chmod(mode)
        assert not is_private(str(path)), oct(mode)
    path.chmod(0o400)
    assert is_private(str(path))
    assert not is_private(str(tmp_path / "none"))


def test_tokens_are_changed_without_a_restart(tmp_path: Path) -> None:
    """A new one opens, a removed one is refused, while the server goes on; a broken file changes nothing and is logged."""
    tree, home = write_tree(tmp_path / "tree", {"a.py": "def f():\n    pass\n"}), tmp_path / "home"
    home.mkdir()
    file = home / "slicegrep" / "server.tokens"
    with serving(home, "--namespace", f"t={tree}") as served:
        assert served.call("code.enclosing", CALL)[0] == 200
        fresh = token_of(home, "fresh")
        assert served.call("code.enclosing", CALL, token=fresh)[0] == 200
        kept = file.read_text()
        file.write_text(kept + "half a li")
        assert served.call("code.enclosing", CALL)[0] == 200
        file.write_text(
            "".join(line for line in kept.splitlines(keepends=True) if not line.startswith("someone "))
        )
        assert served.refused("code.enclosing", CALL)[:2] == (401, "unauthorized")
        assert served.call("code.enclosing", CALL, token=fresh)[0] == 200
        served.stop()
        log = served.log.read_text()
        assert "the tokens are as they were: line" in log
        assert served.token not in log and fresh not in log and str(tmp_path) not in log


def test_making_a_token_says_what_is_wrong(tmp_path: Path) -> None:
    """In one line, with exit code 2; nothing is written."""
    for words in (
        ("--new-token", "a b"),
        ("--new-token", "a", "--allow", "x/y"),
        ("--new-token", "a", "--role", "root"),
    ):
        status, out, told = run(tmp_path, "serve", *words)
        assert (status, out) == (2, "") and told.startswith("slicegrep: ") and told.count("\n") == 1, told
    assert not (tmp_path / "slicegrep").exists()


def test_comparing_takes_no_shorter_for_what_is_nearer(tmp_path: Path) -> None:
    """Every hash is compared: the first holder's token takes as long as an unknown one (to a factor of two)."""
    path = str(tmp_path / "tokens")
    first = new_token(path, "first")
    for at in range(300):
        new_token(path, f"n{at}")
    tokens = Tokens(path)

    def seconds(token: str) -> float:
        times = []
        for _ in range(30):
            begun = time.process_time()
            for _ in range(20):
                tokens.holder(token)
            times.append(time.process_time() - begun)
        return min(times)

    known, unknown = seconds(first), seconds("sg_" + "x" * 43)
    assert 0.5 < known / unknown < 2.0
