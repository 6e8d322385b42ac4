"""The resident engine killed, stopped, lied to, replaced: calls end within their time, are true, and are warm again later."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faults_stand import ROOT, SECONDS, House, copied_plugin

KILLS = int(os.environ.get("SLICEGREP_TEST_KILLS", "30"))
"""A tenth as many each are of the engine's first process, of its workers and of who asks it."""
SEED = int(os.environ.get("SLICEGREP_TEST_SEED", "5"))
DAY = 86_400
LIMIT = 5.0
"""Seconds that a hook may take, as SLICEGREP_HOOK_TIMEOUT says here."""
ROOM = 3.0
"""Seconds more, for the start of processes on a busy machine."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Return a house of which all but the engine is as in every test."""
    found = House(tmp_path_factory.mktemp("engine"))
    try:
        yield found
    finally:
        found.end()


@pytest.fixture
def house(alone: House) -> House:
    """Return it with an engine that answers, and none that ever crashed."""
    forgive(alone)
    alone.variables = {
        "SLICEGREP_HOOK_TIMEOUT": str(LIMIT),
        "SLICEGREP_ANNOTATE_TIMEOUT_MS": str(int(LIMIT * 1000)),
    }
    alone.root = ROOT
    alone.with_engine()
    return alone


def run(house: House) -> Path:
    return house.home / "run"


def forgive(house: House) -> None:
    """Forget the crashes: they are the test's own."""
    for name in ("engine.crashes", "engine.off"):
        (run(house) / name).unlink(missing_ok=True)


def session(house: House) -> float:
    """Take a session through a read and a search, all true; returns the seconds of the slowest call."""
    house.session = f"s-{time.monotonic_ns()}"
    slowest = 0.0
    started = time.monotonic()
    narrowed = house.before(house.big)
    slowest = max(slowest, time.monotonic() - started)
    if narrowed:
        started = time.monotonic()
        house.after(narrowed, house.big)
        slowest = max(slowest, time.monotonic() - started)
        assert not house.before(house.big)
    started = time.monotonic()
    house.grep(house.big)
    return max(slowest, time.monotonic() - started)


def warm_again(house: House) -> None:
    """Wait until sessions are answered by the engine: its workers may be at what was asked before."""
    until = time.monotonic() + SECONDS
    while not house.is_warm():
        assert time.monotonic() < until, "no engine answers"


def hand(process: subprocess.Popen[bytes], payload: dict[str, Any]) -> None:
    """Give a started event its payload."""
    assert process.stdin
    process.stdin.write(json.dumps(payload).encode() + b"\n")
    process.stdin.close()
    process.stdin = None


def killed_while(house: House, kill: Callable[[], object], delay: float) -> None:
    """Run a read's first hook, kill something meanwhile; what it answers is true, and the next read is helped."""
    house.session = f"k-{time.monotonic_ns()}"
    house.calls += 1
    payload = house.payload("Read", {"file_path": str(house.big)})
    process = house.start("PreToolUse Read")
    hand(process, payload)
    time.sleep(delay)
    kill()
    narrowed = house.true_first(house.finish(process, b""), house.big)
    if narrowed:
        house.after(narrowed, house.big)
        assert not house.before(house.big)


def moments(kind: str, seconds: float) -> list[float]:
    """Return a moment in each of equal parts of a run and a bit more."""
    chance = random.Random(f"{SEED} {kind}")
    count = max(3, KILLS // 10)
    return [(n + chance.random()) / count * 1.2 * seconds for n in range(count)]


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def test_workers_that_are_killed(house: House) -> None:
    """At any moment of a call: it passes or is answered; the engine has another worker; the first process stays."""
    first = house.engine()[0]
    for delay in moments("workers", 0.1):
        killed_while(house, lambda: [kill(one) for one in house.engine()[1:]], delay)
        forgive(house)
    assert house.is_warm()
    assert house.engine()[0] == first


def test_an_engine_that_is_killed(house: House) -> None:
    """Its first process, at any moment: workers end, nothing stays but a mark, and another engine comes."""
    for delay in moments("supervisor", 0.1):
        old = house.engine()
        killed_while(house, lambda first=old[0]: kill(first), delay)
        until = time.monotonic() + SECONDS
        while set(house.engine()) & set(old):
            assert time.monotonic() < until, "workers outlive their engine"
            time.sleep(0.02)
        forgive(house)
        house.with_engine()
    house.works()
    house.quiet()
    house.age(2 * DAY)
    house.variables["SLICEGREP_RESIDENT"] = "off"
    house.works()
    assert house.leavings() == []
    assert [path.name for path in run(house).glob("engine.sock.*")] == []


def test_callers_that_are_killed(house: House) -> None:
    """Who asks is gone at any moment: the engine and its workers go on for the others."""
    before = house.engine()[0]
    for delay in moments("callers", 0.06):
        house.session = f"k-{time.monotonic_ns()}"
        house.calls += 1
        process = house.start("PreToolUse Read")
        hand(process, house.payload("Read", {"file_path": str(house.big)}))
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert house.is_warm()
    assert house.engine()[0] == before


def test_three_crashes_in_an_hour_leave_it_off_for_a_day(house: House) -> None:
    """Calls are answered by processes of their own; a day later there is an engine again."""
    for _ in range(3):
        kill(house.engine()[0])
        until = time.monotonic() + SECONDS
        while house.engine():
            assert time.monotonic() < until
            time.sleep(0.02)
        house.session = f"c-{time.monotonic_ns()}"
        house.before(house.big)  # notices, and starts another
        until = time.monotonic() + SECONDS
        while not house.engine() and not (run(house) / "engine.off").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        while (run(house) / "engine.starting").exists() and not (run(house) / "engine.off").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
    assert (run(house) / "engine.off").exists()
    for _ in range(3):
        assert not house.is_warm()
    assert house.engine() == []
    (run(house) / "engine.off").write_text(str(time.time() - 1))
    house.with_engine()


def test_an_engine_that_is_stopped(house: House) -> None:
    """SIGSTOP of all of it: each call ends within its time, and when it goes on it answers again."""
    stopped = house.engine()
    for one in stopped:
        os.kill(one, signal.SIGSTOP)
    assert session(house) < LIMIT + ROOM
    assert house.engine() == stopped
    for one in stopped:
        os.kill(one, signal.SIGCONT)
    assert house.is_warm()


def test_workers_that_are_stopped(house: House) -> None:
    """The engine takes a call and then nothing comes of it: the plain call happens, within its time."""
    house.variables["SLICEGREP_HOOK_TIMEOUT"] = "2"
    for _ in range(3):
        for one in house.engine()[1:]:
            os.kill(one, signal.SIGSTOP)
        assert session(house) < 2 + ROOM
    for one in house.engine():
        os.kill(one, signal.SIGCONT)
    house.variables["SLICEGREP_HOOK_TIMEOUT"] = str(LIMIT)
    warm_again(house)


GARBAGE = {
    "nothing": b"",
    "a line end": b"\n",
    "bytes": bytes(range(256)) * 100,
    "no line end": b"slicegrep 1 " + b"9" * 500,
    "a head without end": b"slicegrep 1 99999999999 99999999999\n",
    "less than told": b"slicegrep 1 100 100\nabc",
    "no numbers": b"slicegrep 1 x y\n",
    "negative": b"slicegrep 1 -1 -1\n",
    "an old magic": b"slicegrep 0 0 0\n",
    "an empty question": b"slicegrep 1 0 0\n",
    "a question of nuls": b"slicegrep 1 20 20\n" + b"\0" * 40,
    "a web browser": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "too much": b"slicegrep 1 3 2\nabc{}" + b"x" * 1_000_000,
}


def test_garbage_on_the_socket(house: House) -> None:
    """Whatever arrives, and whoever says nothing at all: others are answered meanwhile, and no process dies of it."""
    before = house.engine()[0]
    silent = [_connection(house) for _ in range(2)]
    for data in GARBAGE.values():
        for closing in (True, False):
            with _connection(house) as one, suppress(OSError):
                one.settimeout(0.2)
                one.sendall(data)
                if closing:
                    one.shutdown(socket.SHUT_WR)
                while one.recv(65_536):
                    pass
    assert session(house) < LIMIT + ROOM
    for one in silent:
        one.close()
    warm_again(house)
    assert house.engine()[0] == before
    assert not (run(house) / "engine.crashes").exists()


def _connection(house: House) -> socket.socket:
    here = Path.cwd()
    os.chdir(run(house))
    try:
        one = socket.socket(socket.AF_UNIX)
        one.connect("engine.sock")
    finally:
        os.chdir(here)
    return one


def stale(place: Path) -> socket.socket | None:
    """The socket of one that is gone."""
    with _bound(place):
        return None


def silent(place: Path) -> socket.socket | None:
    """Somebody listens, and never says a word."""
    return _bound(place)


def a_file(place: Path) -> socket.socket | None:
    place.write_text("x")
    return None


def a_folder(place: Path) -> socket.socket | None:
    place.mkdir()
    return None


def a_fifo(place: Path) -> socket.socket | None:
    os.mkfifo(place)
    return None


def a_dangling_link(place: Path) -> socket.socket | None:
    place.symlink_to("nowhere")
    return None


def a_datagram_socket(place: Path) -> socket.socket | None:
    return _bound(place, socket.SOCK_DGRAM)


def _bound(place: Path, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    here = Path.cwd()
    os.chdir(place.parent)
    try:
        one = socket.socket(socket.AF_UNIX, kind)
        one.bind(place.name)
    finally:
        os.chdir(here)
    if kind == socket.SOCK_STREAM:
        one.listen()
    return one


def test_something_else_where_the_socket_belongs(house: House) -> None:
    """Calls are answered in their time whatever lies there; when it is gone an engine comes again."""
    for lay in (stale, silent, a_file, a_folder, a_fifo, a_dangling_link, a_datagram_socket):
        house.end()
        place = run(house) / "engine.sock"
        place.unlink(missing_ok=True)
        forgive(house)
        held = lay(place)
        house.variables["SLICEGREP_RESIDENT"] = "on"
        assert session(house) < LIMIT + ROOM, lay
        if held is not None:
            held.close()
        if lay is a_folder:
            place.rmdir()
        elif lay in (silent, a_datagram_socket):
            place.unlink(missing_ok=True)
    forgive(house)
    house.with_engine()


def test_two_versions_at_once(house: House, tmp_path: Path) -> None:
    """The older engine leaves when a newer plugin asks; whoever asks is answered truly, by its own code or none."""
    other = copied_plugin(tmp_path / "newer")
    manifest = other / ".claude-plugin" / "plugin.json"
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "99'))
    older = house.root
    before = house.engine()[0]
    for n in range(6):
        house.root = other if n % 2 else older
        session(house)
    until = time.monotonic() + SECONDS
    while before in house.engine():
        house.root = other
        session(house)
        assert time.monotonic() < until, "the older engine stays"
    house.root = other
    house.with_engine()
    house.root = older
    house.works()
    house.quiet()
    assert house.engine()  # of the newer one: the older plugin works alone
    house.end()


def test_a_plugin_that_is_gone_takes_its_engine_along(tmp_path: Path) -> None:
    """Nothing is answered by code that is not there any more."""
    house = House(tmp_path / "house", root=copied_plugin(tmp_path / "plugin"))
    try:
        house.with_engine()
        (house.root / "plugin" / "slicegrep" / "hook" / "read.py").unlink()
        before = house.engine()
        session(house)
        until = time.monotonic() + SECONDS
        while set(house.engine()) & set(before):
            assert time.monotonic() < until, "it stays"
            session(house)
            time.sleep(0.1)
    finally:
        house.end()


def test_the_engine_holds_nothing_of_the_session(house: House) -> None:
    """No descriptor of the client's, no working directory, no terminal, none of its secrets."""
    for one in house.engine():
        links = {os.readlink(path) for path in Path("/proc", str(one), "fd").iterdir()}
        assert not any("pipe:" in link or "/pts/" in link or str(house.project) in link for link in links), (
            links
        )
        assert str(house.project) not in os.readlink(f"/proc/{one}/cwd")
        assert os.getsid(one) != os.getsid(0)
        assert b"CLAUDE" not in Path("/proc", str(one), "environ").read_bytes()
    assert subprocess.run(["true"], check=True).returncode == 0
