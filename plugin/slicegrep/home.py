"""The home folder: where the environment, vocabulary, state and ledger are kept, and private atomic writes into it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress
from io import BufferedReader  # noqa: TC003 (loaded already)

__all__ = [
    "append_private",
    "create_private",
    "home_folder",
    "make_folder",
    "open_plain",
    "replace_private",
    "session_folder",
]

_MODE_FILE = 0o600
_MODE_FOLDER = 0o700
_BY_ANYBODY = 0o002
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""What a link leads to is not written: it may lie anywhere."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""The other end of a FIFO is not waited for."""
_READ = os.O_RDONLY | _NO_WAIT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def home_folder(environment: Mapping[str, str]) -> str:
    """Return `SLICEGREP_HOME`, else `~/.slicegrep`; it need not exist yet.

    A leading `~/` is the home directory (settings files do not expand it). A value that is not absolute then does not
    count: it would be a folder in whatever project the session is in.

    Raises PermissionError where it belongs to another user, or everybody can write in it: programs are started from there.
    """
    chosen = os.path.expanduser(environment.get("SLICEGREP_HOME", ""))
    home = chosen if os.path.isabs(chosen) else os.path.join(os.path.expanduser("~"), ".slicegrep")
    try:
        status = os.stat(home)
    except OSError:  # not there yet, or out of reach: who writes to it will learn
        return home
    if os.name != "nt" and (status.st_uid != os.geteuid() or status.st_mode & _BY_ANYBODY):
        told = "Permission denied: it belongs to another user, or everybody can write in it"
        raise PermissionError(errno.EACCES, told, home)
    return home


def session_folder(home: str, session_id: str) -> str:
    """Return the state folder of a session.

    Raises ValueError where the id is not a plain name (it becomes part of a path), and where the folder, the one above,
    or something in it is a link: none of them is slicegrep's.
    """
    if not session_id or len(session_id) > 128 or not _NAME.issuperset(session_id):
        raise ValueError("session id is not a plain name")
    folder = os.path.join(home, "state", session_id)
    if os.path.islink(os.path.dirname(folder)) or os.path.islink(folder) or _holds_link(folder):
        raise ValueError("there is a link in the session's state")
    return folder


def _holds_link(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_symlink() for entry in entries)
    except OSError:  # not there yet
        return False


def make_folder(folder: str) -> None:
    """Make a folder and those above it, 0700 each: os.makedirs gives its mode to the last one alone. Raises OSError."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above != folder:
        make_folder(above)
    with suppress(FileExistsError):
        os.mkdir(folder, _MODE_FOLDER)


def open_plain(path: str) -> BufferedReader:
    """Open a file for reading, at once. Raises OSError, also for what is no regular file: FIFOs and devices have no end."""
    handle = os.open(path, _READ)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "no regular file", path)


def create_private(path: str, data: bytes) -> bool:
    """Write a new file (0600, folders 0700). False, and nothing changed, where it exists already.

    Raises OSError where it cannot be written.
    """
    make_folder(os.path.dirname(path))
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE_FILE)
    except FileExistsError:
        return False
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return True


def replace_private(path: str, data: bytes) -> None:
    """Write a file whole or not at all (0600): a reader sees the old content or the new. Raises OSError."""
    make_folder(os.path.dirname(path))
    beside = f"{path}.{os.getpid()}.new"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, _MODE_FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        raise


def append_private(path: str, data: bytes) -> None:
    """Append in one write, so that parallel writers do not mix (0600). Raises OSError."""
    make_folder(os.path.dirname(path))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK | _NO_WAIT, _MODE_FILE)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
