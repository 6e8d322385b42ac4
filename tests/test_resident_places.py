"""Where the resident engine lives: folders that are not the person's own, cannot be written, or have long names."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from prepared_home import ROOT
from resident_stand import ASK, House, house, large_module, until

ASKING = {"session_id": "s-0", "tool_name": "Read"}
"""A question that is answered with nothing."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a user's home folder; its engines are ended."""
    with house(tmp_path) as made:
        yield made


def test_a_home_folder_with_a_path_of_150_bytes_is_served(tmp_path: Path) -> None:
    """The system's limit on a socket's path is 108 bytes: it is reached from its own folder."""
    name = "ho me \u00e9/" + "x" * (150 - len(os.fsencode(tmp_path)) - 10 - len(" \u00e9".encode()))
    with house(tmp_path, name=name) as home:
        assert len(os.fsencode(home.home)) >= 140
        path = home.file("core.py", large_module())
        assert b"updatedInput" in home.before(path)
        engine = home.engine()
        home.session_id = "s-2"
        verdict, data, _ = home.ask("pre-read", home.payload("Read", {"file_path": str(path)}))
        assert (verdict, b"updatedInput" in data) == ("answered", True)
        assert home.engines() == [engine]


def test_the_socket_and_its_folder_are_the_persons_own(home: House) -> None:
    """0600 in 0700, as everything else that the engine leaves."""
    home.start()
    assert home.run.stat().st_mode & 0o777 == 0o700
    for path in home.run.iterdir():
        assert path.lstat().st_mode & 0o777 == 0o600, path.name


@pytest.mark.parametrize("mode", [0o777, 0o750, 0o701])
def test_a_folder_that_others_may_enter_is_not_used(home: House, mode: int) -> None:
    """Whoever could put a socket there would read the session: the call works alone, and starts nothing."""
    path = home.file("core.py", large_module())
    home.run.mkdir()
    home.run.chmod(mode)
    assert b"updatedInput" in home.before(path)
    assert home.processes() == []
    assert home.ask("pre-read", ASKING)[0] == "cold"


_STRANGER = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
os.setgid(65534); os.setuid(65534)
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    heard = b""
    try:
        connection.sendall(b"+")
        heard = connection.recv(1 << 16)
    except OSError:  # it is gone without a word
        pass
    print("heard", len(heard), flush=True)
    connection.close()
"""


@pytest.mark.parametrize("lying", ["file", "folder", "dangling link", "link to /"])
def test_whatever_lies_in_the_sockets_place_is_no_engine(home: House, lying: str) -> None:
    """The call works alone, and starts one that takes the place."""
    path = home.file("core.py", large_module())
    home.run.mkdir(mode=0o700)
    place = home.run / "engine.sock"
    if lying == "file":
        place.write_text("x")
    elif lying == "folder":
        place.mkdir()
    else:
        place.symlink_to("/" if lying == "link to /" else "nowhere")
    assert b"updatedInput" in home.before(path)
    home.engine()
    assert home.ask("pre-read", ASKING)[0] == "answered"


_HOOK = 'set -- pre-read "$CLAUDE_PLUGIN_ROOT" && . "$CLAUDE_PLUGIN_ROOT/hooks/slicegrep-hook"'


def _line(home: House, path: Path) -> bytes:
    return json.dumps(home.payload("Read", {"file_path": str(path)})).encode()


def test_a_question_that_is_none_harms_nobody(home: House) -> None:
    """Bytes of anything, half a question, nothing at all: the engine answers the next one."""
    engine = home.start()
    for said in (
        b"",
        b"\0" * 5_000,
        b"slicegrep 1 5 99999999999999\n",
        b"slicegrep 1 4 4\nabcdefgh",
        b"slicegrep 1 -1 5\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(home.run / "engine.sock"))
            assert connection.recv(1) == b"+"
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b""
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [engine]
    assert not (home.run / "engine.crashes").exists()


def test_a_crowd_is_answered_or_sent_away_at_once(home: House) -> None:
    """More connections than may wait, none of which says anything: a question comes through, and nothing is left waiting."""
    engine = home.start()
    crowd = []
    try:
        for _ in range(300):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(60)
            connection.connect(str(home.run / "engine.sock"))
            connection.settimeout(0)
            crowd.append(connection)

        def sent_away() -> int:
            found = 0
            for connection in crowd:
                with suppress(BlockingIOError):
                    found += connection.recv(1, socket.MSG_PEEK) == b""
            return found

        until(lambda: sent_away() >= 190, "the end of those who are too many")
    finally:
        for connection in crowd:
            connection.close()
    until(lambda: home.ask("pre-read", ASKING)[0] == "answered", "an answer")
    assert home.engines() == [engine]
    assert not (home.run / "engine.crashes").exists()


def test_a_call_that_may_open_no_socket_works_alone(home: House) -> None:
    """A sandbox that forbids it, or no descriptor left: nothing is raised."""
    home.start()
    limited = ASK.replace(
        "reply =", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\nreply ="
    )
    words = ["pre-read", str(home.home), str(ROOT), str(ROOT)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", limited, *words],
        input=b"{}",
        capture_output=True,
        env=home.environment(),
        cwd=home.project,
        check=False,
    )
    assert done.stdout == b"cold\n\n", done.stderr


if os.getuid() == 0:  # only root can play another user, or mount

    @pytest.mark.parametrize(
        "words",
        [
            ("-m", 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'),
            ("-p", "--fork", 'shift 2 && exec "$@"'),
        ],
        ids=["mounts", "processes"],
    )
    def test_a_call_to_which_paths_are_other_files_works_alone(
        home: House, tmp_path: Path, words: tuple[str, ...]
    ) -> None:
        """A container or a sandbox with the same home folder: the engine sees another tree there, and says nothing of it."""
        path = home.file("core.py", large_module())
        (tmp_path / "other").mkdir()
        home.start()
        ask = [sys.executable, "-I", "-S", "-B", "-c", ASK, "pre-read", str(home.home), str(ROOT), str(ROOT)]
        places = [str(tmp_path / "other"), str(home.project)]
        done = subprocess.run(
            ["unshare", *words[:-1], "sh", "-c", words[-1], "sh", *places, *ask],
            input=_line(home, path),
            capture_output=True,
            env=home.environment(),
            cwd=home.project,
            check=False,
        )
        assert done.stdout == b"cold\n\n", done.stderr
        assert home.ask("pre-read", ASKING)[0] == "answered"

    def test_a_folder_of_another_user_is_not_used(home: House) -> None:
        """Nor is what listens there asked."""
        path = home.file("core.py", large_module())
        home.run.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(home.run / "engine.sock"))
            listener.listen()
            listener.settimeout(0)
            os.chown(home.run, 65534, 65534)
            try:
                assert home.ask("pre-read", ASKING)[0] == "cold"
                assert b"updatedInput" in home.before(path)
                with pytest.raises(BlockingIOError):
                    listener.accept()
            finally:
                os.chown(home.run, os.geteuid(), os.getegid())

    def test_a_process_of_another_user_is_told_nothing(home: House) -> None:
        """A socket in the right place with the wrong process behind it: not one byte of the payload goes there."""
        home.run.mkdir(mode=0o700)
        words = [sys.executable, "-c", _STRANGER, str(home.run / "engine.sock")]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as stranger:
            try:
                assert stranger.stdout
                assert stranger.stdout.readline() == b"listening\n"
                assert home.ask("pre-read", ASKING)[0] == "cold"
                assert stranger.stdout.readline() == b"heard 0\n"
            finally:
                stranger.kill()

    def test_a_home_folder_that_cannot_be_written_starts_nothing(home: House) -> None:
        """A read-only file system: no mark, no engine; what the hook can do without state it does."""
        path = home.file("core.py", large_module())
        mounted = subprocess.run(
            [
                "unshare",
                "-m",
                "sh",
                "-c",
                f'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && {_HOOK}',
                "sh",
                str(home.home),
            ],
            input=_line(home, path),
            capture_output=True,
            env=home.environment(),
            cwd=home.project,
            check=False,
        )
        assert mounted.returncode == 0, mounted.stderr
        assert home.processes() == []
        assert not home.run.exists()
