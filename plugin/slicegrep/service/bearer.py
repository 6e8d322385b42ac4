"""Bearer tokens: a file of their hashes, read again whenever it changes, and who holds the token that a call shows."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import time
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from slicegrep.home import append_private

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ROLES", "Holder", "TokenFileError", "Tokens", "is_private", "new_token"]

ROLES = ("viewer", "admin")
"""What a token may do: `viewer` asks about code; `admin` also reads the ledger."""
_EVERYWHERE = "*"
_LARGEST = 1_000_000
"""Bytes of a token file: 10,000 tokens."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")
_LONGEST_TOKEN = 512
_OF_NOTHING = sha256(b"").hexdigest()
"""What `sha256sum` says of an empty variable: as a token's hash it would let in whoever shows none."""
_SECRET_BYTES = 32
_HEAD = "# slicegrep serve: NAME ROLE NAMESPACES SHA-256 of the token; NAMESPACES are * or names with commas between\n"


class TokenFileError(Exception):
    """A token file that cannot be used; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose token it is, and what it opens."""

    name: str
    role: str
    namespaces: frozenset[str]
    """Names, or `*` for all."""

    def may_see(self, namespace: str) -> bool:
        """Whether the token is for that namespace."""
        return _EVERYWHERE in self.namespaces or namespace in self.namespaces


class Tokens:
    """The tokens of the file at `path`, one a line: `NAME ROLE NAMESPACES SHA256`; `#` begins a comment.

    A file that is broken or gone while the server runs changes nothing: `told` gets a sentence, and the tokens that were
    there stay. One without a token shuts everybody out. Raises TokenFileError where it cannot be read at first.
    """

    def __init__(self, path: str, told: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self._told = told
        self._lock = Lock()
        self._status = _status(path)
        self._holders = _read(path)

    def __len__(self) -> int:
        return len(self._holders)

    def holder(self, token: str) -> Holder | None:
        """Return whose token it is, None for nobody's. Every hash is compared, each in constant time."""
        self._renew()
        if len(token) > _LONGEST_TOKEN:
            return None
        digest = sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for one, holder in self._holders:
            if hmac.compare_digest(one, digest):
                found = holder
        return found

    def _renew(self) -> None:
        status = _status(self.path)
        if status == self._status:
            return
        with self._lock:
            if status == self._status:
                return
            try:
                self._holders = _read(self.path)
                self._told(f"the token file was read again: {len(self._holders)} tokens")
            except TokenFileError as error:
                self._told(f"the tokens are as they were: {error}")
            self._status = status


def is_private(path: str) -> bool:
    """Whether nobody but its owner, who is this user or root, can read or write the file."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return os.name == "nt" or (not stat.S_IMODE(status.st_mode) & 0o077 and status.st_uid in (os.getuid(), 0))


def new_token(path: str, name: str, role: str = "viewer", namespaces: Sequence[str] = ()) -> str:
    """Return a new token, whose hash is added to the file (0600 where it is made). Without `namespaces` it opens all.

    Raises TokenFileError for a name or a role that cannot be, and where the file is none of tokens; OSError.
    """
    for one in (name, *namespaces):
        if not _NAME.fullmatch(one):
            raise TokenFileError(f"{one!r} is no name: letters, digits and . _ - (64 at most)")
    if role not in ROLES:
        raise TokenFileError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    before = b""
    if os.path.lexists(path):
        _read(path)
        with open(path, "rb") as file:
            before = file.read()
    token = f"sg_{secrets.token_urlsafe(_SECRET_BYTES)}"
    digest = sha256(token.encode()).hexdigest()
    today = time.strftime("%Y-%m-%d", time.gmtime())  # two tokens of one name are told apart by it
    line = f"{name} {role} {','.join(namespaces) or _EVERYWHERE} {digest} # {today}\n"
    between = _HEAD if not before else "" if before.endswith(b"\n") else "\n"
    append_private(os.path.realpath(path), (between + line).encode())  # it may be a link of the user's own
    return token


def _status(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(path: str) -> list[tuple[str, Holder]]:
    """Return the hashes with their holders. Raises TokenFileError."""
    try:
        with open(path, "rb", opener=_opened) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise TokenFileError("not a file")
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise TokenFileError(error.strerror or "it cannot be read") from error
    if len(data) > _LARGEST:
        raise TokenFileError(f"over {_LARGEST // 1_000_000} MB")
    lines = data.decode("utf-8", "replace").split("\n")
    return [
        _parsed(words, f"line {number}")
        for number, line in enumerate(lines, 1)
        if (words := line.partition("#")[0].split())
    ]


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def _parsed(words: list[str], where: str) -> tuple[str, Holder]:
    if len(words) != 4:
        raise TokenFileError(f"{where}: not NAME ROLE NAMESPACES SHA256")
    name, role, namespaces, digest = words
    names = frozenset(namespaces.split(","))
    if not _NAME.fullmatch(name) or not all(one == _EVERYWHERE or _NAME.fullmatch(one) for one in names):
        raise TokenFileError(f"{where}: names are of letters, digits and . _ -")
    if role not in ROLES:
        raise TokenFileError(f"{where}: a role is one of {', '.join(ROLES)}")
    if not _HASH.fullmatch(digest.lower()):
        raise TokenFileError(f"{where}: the hash is not a SHA-256 in hex")
    if digest.lower() == _OF_NOTHING:
        raise TokenFileError(f"{where}: the hash is that of an empty token")
    return digest.lower(), Holder(name, role, names)
