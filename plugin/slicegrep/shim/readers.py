"""Who reads what is printed: somebody who captures it, or another command of a pipeline."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress

__all__ = ["passes_on"]

_SHELLS = frozenset(
    {
        "sh", "bash", "rbash", "dash", "ash", "busybox", "zsh", "ksh", "ksh93", "mksh", "lksh", "oksh", "pdksh", "posh", "yash",
        "fish", "csh", "tcsh", "elvish", "nu", "osh", "oil", "xonsh", "pwsh", "es", "rc", "ion", "murex",
    }
)  # fmt: skip
_PROC = "/proc"
_OWN = "/proc/self/fd"
_MOST_ANCESTORS = 64
_CREDENTIALS = 12
"""Bytes of Linux's struct ucred: process, user, group, 32 bits each."""


def passes_on(descriptor: int, *, thorough: bool) -> bool:
    """Whether what is written there goes, for all that can be known, to another command rather than to who captures it.

    Of a pipe whose reader is not found, or is a shell (it substitutes a command's output), that is assumed. Where
    there is no /proc every pipe is taken for captured. `thorough` looks for other readers beside one that captures.
    Raises OSError where the descriptor is closed.
    """
    status = os.fstat(descriptor)
    if not (stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)) or not os.path.exists(_OWN):
        return False
    ancestors = _ancestors()
    if stat.S_ISSOCK(status.st_mode):
        return _socket_passes_on(descriptor, ancestors)
    pipe = os.readlink(f"{_OWN}/{descriptor}")
    reader = next((pid for pid in ancestors if _reads(pid, pipe)), 0)
    if not reader or _is_shell(reader):
        return True
    # Who makes a pipeline by itself may still hold the reading end that it gave to another command, as its input. (A
    # process that was forked just now for something else holds, for a moment, all that its parent does.)
    return thorough and any(_input(pid) == pipe for pid in _children(reader))


def _ancestors() -> list[int]:
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and len(found) < _MOST_ANCESTORS:
        found.append(pid)
        pid = _parent(pid)
    return found


def _parent(pid: int) -> int:
    """Return the parent's number, 0 where it cannot be read. The name before it may hold spaces and brackets."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _reads(pid: int, pipe: str) -> bool:
    """Whether a process holds the reading end of a pipe: the link to it is then readable."""
    folder = f"{_PROC}/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:  # another user's
        return False
    for name in names:
        with suppress(OSError):  # closed since
            link = f"{folder}/{name}"
            if os.readlink(link) == pipe and os.lstat(link).st_mode & stat.S_IRUSR:
                return True
    return False


def _input(pid: int) -> str:
    try:
        return os.readlink(f"{_PROC}/{pid}/fd/0")
    except OSError:
        return ""


def _is_shell(pid: int) -> bool:
    try:
        name = os.path.basename(os.readlink(f"{_PROC}/{pid}/exe"))
    except OSError:  # another user's
        try:
            with open(f"{_PROC}/{pid}/comm", "rb") as file:
                name = os.fsdecode(file.read().strip())
        except OSError:
            return True
    return name.removesuffix(" (deleted)").rstrip("0123456789.-") in _SHELLS or name in _SHELLS


def _children(pid: int) -> list[int]:
    """Return a process's children; none where the kernel does not list them."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"{_PROC}/{pid}/task"):
            with open(f"{_PROC}/{pid}/task/{thread}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
    except OSError:
        pass
    return found


def _socket_passes_on(descriptor: int, ancestors: list[int]) -> bool:
    """Tell it by who made the pair of sockets: node captures by one, ksh93 makes its pipelines of them.

    A socket of another family was given by a server to the whole command.
    """
    import _socket  # noqa: PLC0415 (the package socket imports enum and selectors: 8 ms)

    held = _socket.socket(fileno=os.dup(descriptor))
    try:
        if held.family != _socket.AF_UNIX:
            return False
        credentials = held.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _CREDENTIALS)
    except OSError:
        return True
    finally:
        held.close()
    maker = int.from_bytes(credentials[:4], sys.byteorder)
    return maker not in ancestors or _is_shell(maker)
