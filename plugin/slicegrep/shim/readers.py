"""Who reads what is printed: somebody who captures it, or another command of a pipeline."""

from __future__ import annotations

import os
import stat
import sys

__all__ = ["passes_on"]

_SHELLS = frozenset(
    {
        "sh", "bash", "rbash", "dash", "ash", "busybox", "zsh", "ksh", "ksh93", "mksh", "lksh", "oksh", "pdksh", "posh", "yash",
        "fish", "csh", "tcsh", "elvish", "nu", "osh", "oil", "xonsh", "pwsh", "es", "rc", "ion", "murex",
    }
)  # fmt: skip
_KORN = frozenset({"ksh", "ksh93"})
_PROC = "/proc"
_OWN = "/proc/self/fd"
_MOST_ANCESTORS = 64
_CREDENTIALS = 12
"""Bytes of Linux's struct ucred: process, user, group, 32 bits each."""


def passes_on(descriptor: int) -> bool:
    """Whether what is written there goes, for all that can be known, to another command rather than to who captures it.

    A pipe is captured by an ancestor that is no shell (a shell substitutes a command's output), or from outside of what
    can be seen: a container's output is read there. Without /proc every pipe is taken for captured. Raises OSError where
    the descriptor is closed.
    """
    status = os.fstat(descriptor)
    mode = status.st_mode
    if stat.S_ISREG(mode) and status.st_nlink == 0:  # ksh93 substitutes a command's output by such a file
        return any(_program(pid) in _KORN for pid in _ancestors())
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) or not os.path.exists(_OWN):
        return False
    ancestors = _ancestors()
    if stat.S_ISSOCK(mode):
        return _socket_passes_on(descriptor, ancestors)
    pipe = os.readlink(f"{_OWN}/{descriptor}")
    # As its input alone: what was forked just now for something else holds, for a moment, all that its parent does. Who
    # makes a pipeline by itself may still hold the end that it gave to another command, so these come first.
    if any(_input(child) == pipe for above in ancestors for child in _children(above)):
        return True
    for pid in ancestors:
        held = _reading(pid, pipe)
        if held:
            return _is_shell(pid) or _is_fed(pid, held)
        if held is None and _is_shell(pid):
            return True
    return _is_read_in_sight(pipe, ancestors)


def _is_read_in_sight(pipe: str, ancestors: list[int]) -> bool:
    """Whether a process reads the pipe, or may: one of an ancestor's children that cannot be looked into.

    The first process's children are the system's own, and most of them are somebody else's.
    """
    own = {os.getpid(), *ancestors}
    if os.getpid() not in _children(ancestors[0] if ancestors else 0):
        return True  # the kernel does not list children
    for above in ancestors:
        for pid in _children(above):
            held = [] if pid in own else _reading(pid, pipe)
            if held or (held is None and above != 1):
                return True
    return any(
        _reading(int(name), pipe) for name in os.listdir(_PROC) if name.isdigit() and int(name) not in own
    )


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


def _reading(pid: int, pipe: str) -> list[int] | None:
    """Return the descriptors by which a process can read a pipe: the links to it are readable then.

    None where the process may not be looked into.
    """
    folder = f"{_PROC}/{pid}/fd"
    found: list[int] = []
    try:
        names = os.listdir(folder)
    except PermissionError:
        return None
    except OSError:  # it has ended
        return found
    for name in names:
        link = f"{folder}/{name}"
        try:
            if os.readlink(link) == pipe and os.lstat(link).st_mode & stat.S_IRUSR:
                found.append(int(name))
        except OSError:  # closed since
            continue
    return found


def _input(pid: int) -> str:
    """Return what a process reads as its standard input."""
    try:
        return os.readlink(f"{_PROC}/{pid}/fd/0")
    except OSError:
        return ""


def _is_fed(pid: int, held: list[int]) -> bool:
    """Whether a process was started to read this: as its input, or by name, as in `cat <(grep ...)`.

    It is an ancestor then where the shell that started both has become it.
    """
    try:
        with open(f"{_PROC}/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return True
    return 0 in held or any(word.endswith(b"/fd/%d" % number) for word in words for number in held)


def _is_shell(pid: int) -> bool:
    return _program(pid) in _SHELLS


def _program(pid: int) -> str:
    """Return what a process runs, without a version; "sh" where that cannot be learned."""
    try:
        name = os.path.basename(os.readlink(f"{_PROC}/{pid}/exe")).removesuffix(" (deleted)")
    except OSError:  # another user's
        try:
            with open(f"{_PROC}/{pid}/comm", "rb") as file:
                name = os.fsdecode(file.read().strip())
        except OSError:
            return "sh"
    return name if name in _SHELLS else name.rstrip("0123456789.-")


def _children(pid: int) -> list[int]:
    """Return a process's children; none where the kernel does not list them."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"{_PROC}/{pid}/task"):
            with open(f"{_PROC}/{pid}/task/{thread}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
    except OSError:
        return found
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
    # 0: somebody out of sight, as around a container.
    return maker != 0 and (maker not in ancestors or _is_shell(maker))
