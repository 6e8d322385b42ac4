"""How a hook has a resident engine started, whatever becomes of the hook itself."""

# ruff: noqa: SLF001 - `posix._exit` is `os._exit`

import _socket
import posix
import sys
import time

from slicegrep.resident.ask import seconds_of

__all__ = ["STARTING_FILE", "put_aside", "start"]

STARTING_FILE = "engine.starting"
"""Made by who starts one, removed by the engine when it listens."""
STARTING_SECONDS = 15.0
"""After which a start has failed, or its process was killed."""
DELAY = 0.2
"""Of the caller's time limit: after which the engine starts although the caller is still at work. One that runs out of
time needs it most, and one that is quick has the processor for itself."""
LONGEST_DELAY = 1.0
"""Seconds."""
LEAST = {
    "RLIMIT_AS": 2_000_000_000,
    "RLIMIT_DATA": 2_000_000_000,
    "RLIMIT_STACK": 1_000_000,
    "RLIMIT_FSIZE": 100_000_000,
    "RLIMIT_CPU": 1 << 40,
    "RLIMIT_NOFILE": 256,
    "RLIMIT_NPROC": 256,
}
"""What a session's hard limits must allow an engine that serves other sessions too: four workers of 200 MB, and their
files. All the processor time that there is: it would be killed in the end."""

_caller: object = None
"""Open until this process ends, however it does."""


def start(home: str, root: str, site: str, event: str) -> None:
    """Have an engine started for the home folder, detached, unless somebody is at it.

    It begins when this process has ended, or a share of the time limit of its `event` is over. Returns at once. Raises
    nothing.
    """
    global _caller
    delay = min(seconds_of(event, posix.environ) * DELAY, LONGEST_DELAY)
    try:
        if not _made(f"{home}/run"):
            return
        _caller, end = _socket.socketpair()
        end.settimeout(delay)
        if posix.fork() == 0:
            _become(home, root, site, end)
        end.close()
    except OSError:
        return


def put_aside(path: str) -> None:
    """Remove what stands in a file's place; a folder, which may hold anything, is renamed. Raises OSError."""
    try:
        posix.unlink(path)
    except (IsADirectoryError, PermissionError):  # which of both depends on the system
        posix.rename(path, f"{path}.{posix.getpid()}.aside")


def _made(run: str) -> bool:
    """Make the mark of a start in the folder `run`; False where somebody else's is new. Raises OSError."""
    mark = f"{run}/{STARTING_FILE}"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL
    try:
        posix.close(posix.open(mark, flags, 0o600))
    except FileNotFoundError:  # the first call of all
        posix.mkdir(run, 0o700)
        posix.close(posix.open(mark, flags, 0o600))
    except FileExistsError:
        if abs(time.time() - posix.lstat(mark).st_mtime) < STARTING_SECONDS:
            return False
        put_aside(mark)  # of several, one makes it anew
        posix.close(posix.open(mark, flags, 0o600))
    return True


def _become(home: str, root: str, site: str, caller: _socket.socket) -> None:
    """Let go what is the session's, wait for the caller's end, but not for longer than its delay, and be the engine."""
    try:
        posix.setsid()
        posix.chdir("/")
        nowhere = posix.open("/dev/null", posix.O_RDWR)
        for descriptor in (0, 1, 2):
            posix.dup2(nowhere, descriptor)
        for name in posix.listdir("/dev/fd"):  # the limit may be none, or may have been lowered since
            if (descriptor := int(name)) > 2 and descriptor != caller.fileno():
                try:
                    posix.close(descriptor)
                except OSError:  # that of the listing
                    continue
        if _is_confined():
            posix.unlink(f"{home}/run/{STARTING_FILE}")
            return
        _wait_for(caller)
        kept = (b"PATH", b"HOME", b"TMPDIR", b"LANG", b"LC_ALL")
        clean = {name: value for name, value in posix.environ.items() if name in kept}
        clean[b"SLICEGREP_HOME"] = home.encode("utf-8", "surrogateescape")
        program = f"{root}/plugin/slicegrep/resident/__main__.py"
        words = [sys.executable, "-I", "-S", "-X", f"slicegrep_pyc={home}/pyc", program, site, home]
        posix.execve(sys.executable, words, clean)
    finally:
        posix._exit(0)


def _wait_for(caller: _socket.socket) -> None:
    try:
        caller.recv(1)
    except OSError:  # it is still at work
        return


def _is_confined() -> bool:
    """Whether the session's hard limits, which nothing takes back, are too low for an engine."""
    import resource  # noqa: PLC0415 (rarely needed)

    for name, least in LEAST.items():
        if (limit := getattr(resource, name, None)) is not None:
            _, most = resource.getrlimit(limit)
            if most != resource.RLIM_INFINITY and most < least:
                return True
    return False
