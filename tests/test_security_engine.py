"""The resident engine: who may ask it, whom a hook asks, and what it knows of the session that started it."""

from __future__ import annotations

import os
import re
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from security_stand import House, big_python

SECRETS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_MESSAGING_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLICEGREP_API_KEY")
NOBODY = 65_534


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A home folder with an engine that a hook full of secrets started."""
    found = House(tmp_path_factory.mktemp("house"), resident=True)
    path = found.project / "big.py"
    path.write_text(big_python())
    payload = found.payload("Read", {"file_path": str(path)}, tool_use_id="toolu_first")
    found.fire("pre-read", payload, **dict.fromkeys(SECRETS, "secretzq"))
    found.engine()
    yield found
    found.close()


def _family(pid: int) -> list[int]:
    """Return a process and its children."""
    found = [pid]
    for task in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = re.sub(r"\(.*\)", "x", task.read_text(), flags=re.DOTALL).split()
        except OSError:
            continue
        if int(parts[3]) == pid:
            found.append(int(parts[0]))
    return found


def test_nobody_else_reaches_the_socket(house: House) -> None:
    """0600 in a folder that is 0700."""
    run = house.home / "run"
    modes = [stat.S_IMODE(path.lstat().st_mode) for path in (run, run / "engine.sock")]
    assert modes == [0o700, 0o600]


def test_it_knows_no_secret_of_the_session_that_started_it(house: House) -> None:
    """It outlives the session: of the environment it has what it needs to run, no descriptor, and / as its folder."""
    family = _family(house.engine())
    assert len(family) > 1
    for pid in family:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"secretzq" not in environment
        names = {one.split(b"=")[0] for one in environment.split(b"\0") if one}
        assert names <= {b"PATH", b"HOME", b"TMPDIR", b"LANG", b"LC_ALL", b"LC_CTYPE", b"SLICEGREP_HOME"}
        assert os.readlink(f"/proc/{pid}/cwd") in ("/", str(house.home / "run"))
        files = [os.readlink(f"/proc/{pid}/fd/{one}") for one in ("0", "1", "2")]
        assert files == ["/dev/null"] * 3


def test_a_secret_does_not_travel(house: House, tmp_path: Path) -> None:
    """What a hook sends are its payload and the knobs; a listener in the engine's place sees it all."""
    other = House(tmp_path, resident=True)
    heard = _listen(other)
    path = other.project / "big.py"
    path.write_text(big_python())
    payload = other.payload("Read", {"file_path": str(path)}, tool_use_id="toolu_1")
    other.fire("pre-read", payload, SLICEGREP_HOOK_BUDGET="1300", **dict.fromkeys(SECRETS, "secretzq"))
    heard.end()
    assert b"SLICEGREP_HOOK_BUDGET=1300" in heard.data and b"secretzq" not in heard.data


class _Listener:
    """Something that listens in the engine's place, says that it has the question, and keeps what it is sent."""

    def __init__(self, path: Path) -> None:
        self.data = b""
        self.asked = 0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        self.socket.listen()
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.asked += 1
            with connection:
                connection.settimeout(1)
                try:
                    connection.sendall(b"+")
                    while piece := connection.recv(1 << 16):
                        self.data += piece
                        if self.data.endswith(b"}"):
                            break
                    connection.sendall(b"other 0\n")
                except OSError:
                    continue

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def _listen(house: House, *, mode: int = 0o700) -> _Listener:
    run = house.home / "run"
    run.mkdir()
    run.chmod(mode)
    os.chdir(run)  # the path of a test's folder is longer than a socket's may be
    listener = _Listener(Path("engine.sock"))
    os.chdir("/")
    listener.start()
    return listener


def _asked(house: House, listener: _Listener) -> tuple[int, bytes, bool]:
    """Fire a read; return how often the listener was asked, what it heard, and whether the read was intercepted all the same."""
    path = house.project / "big.py"
    path.write_text(big_python())
    first = house.before(path)
    listener.end()
    return listener.asked, listener.data, bool(first)


def test_a_folder_that_others_can_enter_is_not_trusted(tmp_path: Path) -> None:
    """Whoever can put a socket there would be told prompts' surroundings and paths, and could answer in the engine's name."""
    house = House(tmp_path, resident=True)
    assert _asked(house, _listen(house, mode=0o777)) == (0, b"", True)


if os.getuid() == 0:  # only root can play another user

    def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path) -> None:
        """The same, where it belongs to somebody else."""
        house = House(tmp_path, resident=True)
        listener = _listen(house)
        os.chown(house.home / "run", NOBODY, -1)
        assert _asked(house, listener) == (0, b"", True)

    def test_a_hook_tells_nothing_to_another_users_process(tmp_path: Path) -> None:
        """The system says whose process listens: the question is not sent to another's."""
        house = House(tmp_path, resident=True)
        run = house.home / "run"
        run.mkdir(mode=0o700)
        os.chdir(run)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind("engine.sock")
        os.chdir("/")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                listening.listen()  # from here on the system names this user
                os.write(writing, b"up")
                listening.settimeout(20)
                connection, _ = listening.accept()
                connection.settimeout(2)
                try:
                    connection.sendall(b"+")
                    heard = connection.recv(1 << 16)
                except OSError:
                    heard = b""
                os.write(writing, b"heard:" + heard)
            finally:
                os._exit(0)
        assert os.read(reading, 2) == b"up"
        path = house.project / "big.py"
        path.write_text(big_python())
        assert house.before(path), "the work is done without an engine"
        os.close(writing)
        assert os.read(reading, 1 << 16) == b"heard:"
        os.waitpid(child, 0)
        os.close(reading)
        listening.close()

    def test_the_engine_answers_no_other_user(house: House) -> None:
        """Even where socket and folders were opened to all by mistake."""
        house.engine()
        opened = [house.home, house.home / "run", house.home / "run" / "engine.sock"]
        above = [one for one in house.home.parents if len(one.parts) > 2]
        before = {path: stat.S_IMODE(path.stat().st_mode) for path in (*opened, *above)}
        reading, writing = os.pipe()
        try:
            for path in before:
                path.chmod(0o755 if path.is_dir() else 0o666)
            child = os.fork()
            if child == 0:
                try:
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                    os.chdir(house.home / "run")
                    asking = socket.socket(socket.AF_UNIX)
                    asking.settimeout(10)
                    asking.connect("engine.sock")
                    os.write(writing, b"connected:" + asking.recv(100))
                except OSError as error:
                    os.write(writing, type(error).__name__.encode())
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
        finally:
            for path, mode in before.items():
                path.chmod(mode)
        os.close(writing)
        assert os.read(reading, 100) in (b"connected:", b"ConnectionResetError")
        os.close(reading)
