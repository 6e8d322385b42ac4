"""How a hook puts its event to the resident engine: nothing is imported but what a socket needs."""

# ruff: noqa: SLF001 - `posix._exit` is `os._exit`

import _socket
import posix
import sys
import time

__all__ = [
    "ANSWERED",
    "COLD",
    "GO",
    "MAGIC",
    "OFF_FILE",
    "OK",
    "OTHER",
    "SOCKET_FILE",
    "START",
    "TAKEN",
    "Reply",
    "ask",
    "off_until",
    "put",
    "seconds_of",
    "surroundings",
]

SOCKET_FILE = "engine.sock"
OFF_FILE = "engine.off"
"""Until when (seconds since the epoch, in ASCII) nobody asks or starts an engine, but for a look every `LOOK_SECONDS`."""
MAGIC = b"slicegrep 1"

TAKEN = b"+"
"""What a worker of the engine says first, once it has the connection."""
OK, OTHER, GO = b"ok", b"other", b"go"
"""How its answer begins, with the length of what follows: the hook's output; it is not one for this caller; it leaves, so
that the caller may start one of its own."""
ANSWERED, COLD, START = "answered", "cold", "start"

PATIENCE = 0.2
"""Of the time limit: how long the engine may take to say so. One that does not is stopped, or so much is asked of it that
there is no time to lose: then the caller works alone."""
LONGEST_PATH = 100
"""Bytes. The system's own limit is 108, on some 104."""
OFF_SECONDS = 86_400.0
LOOK_SECONDS = 300.0
"""After which an engine is started although it is switched off: it stays if its code is not what crashed."""
_HEAD_NAMES = (b"SLICEGREP_", b"CLAUDE_PLUGIN_OPTION_", b"CLAUDE_PROJECT_DIR")
_SECRET = b"SLICEGREP_API_KEY"
_NO = (b"0", b"off", b"no", b"false")


class Reply:
    """What became of a question."""

    def __init__(self, verdict: str, data: bytes = b"", why: str = "") -> None:
        self.verdict = verdict
        """ANSWERED: `data` is the hook's output. COLD: the caller does the work. START: that too, and has an engine started."""
        self.data = data
        self.why = why
        """Why the plain call happens although the engine had the request; "" where nothing went wrong."""


def put(event: str, payload: bytes, home: str, root: str, site: str) -> tuple[str, str]:
    """Put an event to the engine; the process ends here where it answers. Returns the verdict, and why nothing came of it.

    Where there is none, one is started: before the work, which may run out of time. Raises what importing raises.
    """
    reply = ask(event, payload, home, root)
    if reply.verdict == ANSWERED and not reply.why:
        _say(reply.data)
    if reply.verdict == START:
        from slicegrep.resident.starting import start  # noqa: PLC0415 (rarely needed)

        start(home, root, site, event)
    return reply.verdict, reply.why


def ask(event: str, payload: bytes, home: str, root: str, seconds: float = 0.0) -> Reply:
    """Put an event to the engine of the home folder `home`. `root` is the plugin's folder. Raises nothing.

    It may take `seconds`; 0: what the settings say.
    """
    environment = posix.environ
    if environment.get(b"SLICEGREP_RESIDENT", b"").strip().lower() in _NO or not hasattr(_socket, "AF_UNIX"):
        return Reply(COLD)
    run = home + "/run"
    if off_until(run) and not _is_long_off(run):
        return Reply(COLD)
    try:
        known = posix.stat(run)
    except OSError:
        return Reply(START)
    if known.st_uid != posix.geteuid() or known.st_mode & 0o077:
        return Reply(COLD)  # somebody else's folder, or one that others can write to
    try:
        folder = posix.getcwdb()
    except OSError:  # deleted
        return Reply(COLD)
    seconds = seconds or seconds_of(event, environment)
    head = [event.encode(), _bytes(root), folder, b"%d" % (seconds * 1000), surroundings()]
    head += [
        name + b"=" + value
        for name, value in environment.items()
        if (name.startswith(_HEAD_NAMES) and name != _SECRET) or name == b"HOME"
    ]
    packed = b"\0".join(head)
    request = b"%s %d %d\n%s%s" % (MAGIC, len(packed), len(payload), packed, payload)
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except OSError:  # a sandbox forbids it, or there are no more descriptors
        return Reply(COLD)
    connection.settimeout(seconds * PATIENCE)
    try:
        _connect(connection, run)
        return _exchange(connection, request, seconds) if _is_ours(connection) else Reply(COLD)
    except (FileNotFoundError, ConnectionRefusedError):
        return Reply(START)
    except OSError:
        return Reply(COLD)
    finally:
        connection.close()


def _exchange(connection: _socket.socket, request: bytes, seconds: float) -> Reply:
    until = time.monotonic() + seconds
    try:
        if connection.recv(1) != TAKEN:
            return Reply(COLD)
    except OSError:
        return Reply(COLD)
    try:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        connection.sendall(request)
        connection.settimeout(max(until - time.monotonic(), 0.001))  # it comes in one piece, or not at all
        pieces = []
        while piece := connection.recv(1 << 18):
            pieces.append(piece)
    except OSError as error:
        return Reply(ANSWERED, why=f"engine: {type(error).__name__}")
    said, _, data = b"".join(pieces).partition(b"\n")
    word, _, length = said.partition(b" ")
    if length != b"%d" % len(data):
        return Reply(ANSWERED, why="engine: ended before its answer")
    if word == OK:
        return Reply(ANSWERED, data)
    return Reply(START if word == GO else COLD)


def _say(data: bytes) -> None:
    """Print a hook's output and end the process, without the interpreter's own farewell (3 ms)."""
    try:
        while data:
            data = data[posix.write(1, data) :]
    finally:
        posix._exit(0)


def _connect(connection: _socket.socket, run: str) -> None:
    path = f"{run}/{SOCKET_FILE}"
    if len(_bytes(path)) < LONGEST_PATH:
        connection.connect(path)
        return
    here = posix.open(".", posix.O_RDONLY)
    try:
        posix.chdir(run)
        connection.connect(SOCKET_FILE)
    finally:
        posix.fchdir(here)
        posix.close(here)


def surroundings() -> bytes:
    """Return what tells apart processes to which the same path may be another file: mount namespace (Linux) and root."""
    try:
        mounts = posix.readlink(b"/proc/self/ns/mnt")
    except OSError:
        mounts = b""
    top = posix.stat("/")
    return b"%s %d %d" % (mounts, top.st_dev, top.st_ino)


def _is_ours(connection: _socket.socket) -> bool:
    """Whether this user's process listens there. Where the system does not tell, the folder's owner and mode must do.

    One of another process namespace (a container around this one) has no number here.
    """
    asked = getattr(_socket, "SO_PEERCRED", None)
    if asked is None:
        return True
    told = connection.getsockopt(_socket.SOL_SOCKET, asked, 12)  # pid, uid, gid
    pid, user = (int.from_bytes(told[at : at + 4], sys.byteorder) for at in (0, 4))
    return pid != 0 and user == posix.geteuid()


def off_until(run: str) -> float:
    """Return until when (seconds since the epoch) no engine is to run, as the folder `run` says; 0 where one may."""
    try:
        file = posix.open(f"{run}/{OFF_FILE}", posix.O_RDONLY | posix.O_NONBLOCK)
    except OSError:
        return 0.0
    try:
        until = float(posix.read(file, 64))
    except (ValueError, OSError):
        return 0.0
    finally:
        posix.close(file)
    return until if 0 <= until - time.time() <= OFF_SECONDS else 0.0  # further off: the clock was set back


def _is_long_off(run: str) -> bool:
    try:
        return abs(time.time() - posix.stat(f"{run}/{OFF_FILE}").st_mtime) > LOOK_SECONDS
    except OSError:
        return False


def seconds_of(event: str, environment: dict[bytes, bytes]) -> float:
    """Return how many seconds an event may take, as `events.seconds_for` does by the settings, which take long to load."""
    limit = _number(environment.get(b"SLICEGREP_HOOK_TIMEOUT"), 5.0, 0.001, 60)
    if event == "post-search":
        annotating = _number(environment.get(b"SLICEGREP_ANNOTATE_TIMEOUT_MS"), 800, 0, 60_000)
        limit = min(limit, int(annotating) / 1000 + 0.7)
    return limit


def _number(text: bytes | None, default: float, least: float, most: float) -> float:
    try:
        found = float(text or b"")
    except ValueError:
        return default
    return found if least <= found <= most else default


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
