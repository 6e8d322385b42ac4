"""How a resident engine begins and ends: what would keep it away for good, and what it must not take over or leave behind."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from resident_stand import House, copied_plugin, house, large_module, plant, until
from slicegrep.resident.identity import Identities

ASKING = {"session_id": "s-0", "tool_name": "Read"}
"""A question that is answered with nothing."""
_TICKS = os.sysconf("SC_CLK_TCK")

ENDLESS = """
if "endless.py" in str(payload):
    import os, time
    open(os.environ["HOME"] + "/reached", "a").write("x")
    while not os.path.exists(os.environ["HOME"] + "/go"):
        time.sleep(0.02)
"""
"""What a copy of the plugin does before its work, for files of this name."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a user's home folder; its engines are ended."""
    with house(tmp_path) as made:
        yield made


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[House]:
    """Yield a home folder with a copy of the plugin, for which some calls never end."""
    with house(tmp_path, root=tmp_path / "plugin copy") as made:
        copied_plugin(made.root, made.home)
        plant(made.root, ENDLESS, warm=False)
        yield made


def read(home: House, path: Path, session: str, **more: object) -> bytes:
    home.session_id = session
    return home.fire("pre-read", home.payload("Read", {"file_path": str(path)}), **more)


def seconds_used(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


# ---- When it begins --------------------------------------------------------------------------------------------


def test_a_call_that_runs_out_of_time_has_started_an_engine(copied: House) -> None:
    """The watchdog ends it in the middle of its work: who comes next is answered all the same."""
    endless, core = (copied.file(name, large_module()) for name in ("endless.py", "core.py"))
    payload = copied.payload("Read", {"file_path": str(endless)})
    with copied.popen("pre-read", payload, variables={"SLICEGREP_HOOK_TIMEOUT": "2"}) as process:
        assert process.communicate(timeout=60) == (b"", b"")
    engine = copied.engine()
    payload = copied.payload("Read", {"file_path": str(core)}, session_id="s-2")
    verdict, data, _ = copied.ask("pre-read", payload)
    assert (verdict, b"updatedInput" in data) == ("answered", True)
    assert copied.engines() == [engine]


def test_an_engine_begins_while_a_long_call_is_still_at_work(copied: House) -> None:
    """After a fifth of its limit, and a second at most: calls of other sessions need not wait for its end."""
    endless = copied.file("endless.py", large_module())
    payload = copied.payload("Read", {"file_path": str(endless)})
    process = copied.popen("pre-read", payload)
    try:
        copied.engine()
        assert process.poll() is None
        assert copied.ask("pre-read", ASKING)[0] == "answered"
    finally:
        (copied.folder / "go").touch()
        out, _ = process.communicate(timeout=120)
    assert b"updatedInput" in out


def test_a_call_that_is_killed_has_started_an_engine(copied: House) -> None:
    """A client that ends its hooks, with everything in their process group."""
    endless = copied.file("endless.py", large_module())
    payload = copied.payload("Read", {"file_path": str(endless)})
    process = copied.popen("pre-read", payload, start_new_session=True)
    until((copied.folder / "reached").exists, "the call, at work")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    copied.engine()


# ---- What the session that started it set for itself -----------------------------------------------------------


def test_the_starters_processors_and_soft_limits_are_not_the_engines(home: House) -> None:
    """A session on one processor, with tight soft limits: the engine serves the others as well as any."""
    limits = {
        name: getattr(resource, name)
        for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_DATA")
    }
    most = {name: resource.getrlimit(limit)[1] for name, limit in limits.items()}

    def confine() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        tight = {"RLIMIT_AS": 2_000_000_000, "RLIMIT_NPROC": 50_000, "RLIMIT_NOFILE": 100}
        for name, soft in {**tight, "RLIMIT_CPU": 100, "RLIMIT_DATA": 2_000_000_000}.items():
            hard = most[name]
            resource.setrlimit(limits[name], (soft if hard < 0 else min(soft, hard), hard))

    path = home.file("core.py", large_module())
    assert b"updatedInput" in read(home, path, "s-1", preexec_fn=confine)
    engine = home.engine()
    assert os.sched_getaffinity(engine) == os.sched_getaffinity(0)
    for name, limit in limits.items():
        assert resource.prlimit(engine, limit) == (most[name], most[name]), name


def test_a_session_with_a_low_hard_limit_leaves_the_starting_to_others(home: House) -> None:
    """What it cannot raise would fail every session's calls; its own work alone, and the next session starts one at once."""

    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    path = home.file("core.py", large_module())
    assert b"updatedInput" in read(home, path, "s-1", preexec_fn=confine)
    until(lambda: not (home.run / "engine.starting").exists(), "the end of the start")
    assert home.processes() == []
    assert b"updatedInput" in read(home, path, "s-2")
    home.engine()


def test_the_engine_of_a_niced_session_gives_way_to_one_that_is_not(home: House) -> None:
    """It serves those that are as nice; the first caller that is not is answered, and then has one of its own kind."""
    path = home.file("core.py", large_module())
    assert b"updatedInput" in read(home, path, "s-1", preexec_fn=lambda: os.nice(3))
    nice = home.engine()
    assert os.getpriority(os.PRIO_PROCESS, nice) == os.getpriority(os.PRIO_PROCESS, 0) + 3
    assert b"updatedInput" in read(home, path, "s-2", preexec_fn=lambda: os.nice(4))
    assert home.engines() == [nice]
    assert home.ask("pre-read", ASKING)[0] == "answered"
    home.gone(nice)
    assert b"updatedInput" in read(home, path, "s-3")
    new = home.engine(not_=nice)
    assert os.getpriority(os.PRIO_PROCESS, new) == os.getpriority(os.PRIO_PROCESS, 0)
    assert not (home.run / "engine.crashes").exists()


# ---- What lies in its place ------------------------------------------------------------------------------------


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("somebody's")


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("make", [_folder, _link, os.mkfifo])
@pytest.mark.parametrize("name", ["starting", "lock", "sock", "running", "crashes", "off"])
def test_what_lies_in_the_place_of_its_files_keeps_no_engine_away(
    home: House, name: str, make: Callable[[Path], None]
) -> None:
    """It is moved aside, without what is in it; a start that failed is tried again after its time, as ever."""
    home.run.mkdir(mode=0o700)
    place = home.run / f"engine.{name}"
    make(place)
    os.utime(place, (1, 1), follow_symlinks=False)
    path = home.file("core.py", large_module())
    assert b"updatedInput" in read(home, path, "s-1")
    until((home.run / "engine.running").is_file, "an engine")  # to read a FIFO would wait for its other end
    home.engine()
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert not (home.run / "nowhere").exists()
    assert not (home.run / "engine.crashes").is_file()
    if make is _folder:
        assert [path.read_text() for path in home.run.glob(f"engine.{name}.*/inside")] == ["somebody's"]


# ---- Crashes of other code -------------------------------------------------------------------------------------


def test_code_that_was_mended_is_not_kept_off_by_its_crashes(copied: House) -> None:
    """A file did not parse for a minute: within minutes after it does again there is an engine, not a day later."""
    core = copied.file("core.py", large_module())
    warm = copied.root / "plugin" / "slicegrep" / "resident" / "warm.py"
    sound = warm.read_text("utf-8")
    warm.write_text(sound + "\ndef (\n", "utf-8")
    off, starting = (copied.run / f"engine.{name}" for name in ("off", "starting"))
    for n in range(4):
        assert b"updatedInput" in read(copied, core, f"s-{n}")
        until(lambda: not copied.processes(), "the end of the start")
        until(lambda: off.exists() or (copied.run / "engine.running").exists(), "a crash")
        starting.unlink(missing_ok=True)
    until(off.exists, "the engine, switched off")
    os.utime(off, (1, 1))  # a while later
    assert b"updatedInput" in read(copied, core, "s-still")
    until(lambda: off.stat().st_mtime > 1, "a look at the same code")
    until(lambda: not copied.processes(), "its end")
    starting.unlink(missing_ok=True)
    assert copied.ask("pre-read", ASKING)[0] == "cold"
    warm.write_text(sound, "utf-8")
    os.utime(off, (1, 1))
    assert b"updatedInput" in read(copied, core, "s-mended")
    copied.engine()
    assert not off.exists()


def test_the_mark_of_other_code_is_no_crash_of_this_one(home: House) -> None:
    """An engine was killed, and then the plugin updated."""
    home.run.mkdir(mode=0o700)
    (home.run / "engine.running").write_text(f"1\n{'0' * 32}\n/nowhere\n")
    home.start()
    assert not (home.run / "engine.crashes").exists()


# ---- Its end ---------------------------------------------------------------------------------------------------


def test_no_worker_outlives_an_engine_that_leaves(copied: House) -> None:
    """Not even one that goes on for a minute, or is stopped: the folder may be deleted next, or another engine begin."""
    endless = copied.file("endless.py", large_module())
    engine = copied.start()
    calls = []
    for n in range(2):
        payload = copied.payload("Read", {"file_path": str(endless)}, session_id=f"s-{n}")
        calls.append(copied.popen("pre-read", payload))
    reached = copied.folder / "reached"
    until(lambda: reached.exists() and reached.read_text() == "xx", "both questions, being answered")
    workers = copied.workers(engine)
    os.kill(workers[0], signal.SIGSTOP)
    os.kill(engine, signal.SIGTERM)
    copied.gone(engine)
    copied.gone(*workers)
    for call in calls:
        assert call.communicate(timeout=60) == (b"", b"")
    assert not (copied.run / "engine.crashes").exists()
    assert not (copied.run / "engine.running").exists()


def test_a_worker_that_outlives_a_killed_engine_keeps_no_other_away(home: House) -> None:
    """It was stopped, or waits for a disk: the lock is the first process's alone."""
    path = home.file("core.py", large_module())
    old = home.start()
    workers = until(lambda: home.workers(old), "a worker")
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        os.kill(old, signal.SIGKILL)
        until(lambda: old not in home.processes(), "its end")
        assert b"updatedInput" in read(home, path, "s-1")
        home.engine(not_=old)
        assert set(workers) <= set(home.processes())
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)


def test_an_old_engine_leaves_the_mark_of_the_one_in_a_new_home_folder(home: House) -> None:
    """The folder was deleted and made again: each ends for itself."""
    path = home.file("core.py", large_module())
    old = home.start(idle=60)
    parts = [(home.home / part, (home.home / part).readlink()) for part in ("env", "vocab", "pyc")]
    shutil.rmtree(home.home)
    home.home.mkdir(mode=0o700)
    for part, real in parts:
        part.symlink_to(real)
    assert b"updatedInput" in read(home, path, "s-1")
    new = home.engine(not_=old)
    os.kill(old, signal.SIGTERM)
    home.gone(old)
    assert (home.run / "engine.running").read_text().startswith(f"{new}\n")
    assert home.ask("pre-read", ASKING)[0] == "answered"


def test_without_descriptors_it_does_not_spin(home: House) -> None:
    """Connections that it cannot take stay in the system's queue: it tries again in a while, and is there again."""
    engine = home.start()
    assert home.ask("pre-read", ASKING)[0] == "answered"
    limits = resource.prlimit(engine, resource.RLIMIT_NOFILE)
    taken = len(os.listdir(f"/proc/{engine}/fd"))
    resource.prlimit(engine, resource.RLIMIT_NOFILE, (taken, limits[1]))
    crowd = []
    try:
        for _ in range(20):
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(home.run / "engine.sock"))
            crowd.append(one)
        before, began = seconds_used(engine), time.monotonic()
        while time.monotonic() - began < 2:
            time.sleep(0.1)
        assert seconds_used(engine) - before < 0.3
        resource.prlimit(engine, resource.RLIMIT_NOFILE, limits)
    finally:
        for one in crowd:
            one.close()
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [engine]


# ---- Its code --------------------------------------------------------------------------------------------------


def test_code_of_the_same_sizes_and_times_is_noticed(tmp_path: Path) -> None:
    """Two releases unpacked with one fixed time, and a link from one to the other; a file written over with its old time."""
    for name, text in (("one", "a = 1\n"), ("two", "a = 2\n")):
        code = tmp_path / name / "plugin" / "slicegrep"
        code.mkdir(parents=True)
        (tmp_path / name / ".claude-plugin").mkdir()
        (code / "a.py").write_text(text)
        (code.parent / "requirements.key").write_text("k\n")
        (tmp_path / name / ".claude-plugin" / "plugin.json").write_text('{"version": "1.0.0"}')
        for path in (tmp_path / name).rglob("*.*"):
            os.utime(path, (1_700_000_000,) * 2)
    current = tmp_path / "current"
    current.symlink_to("one")
    found = Identities()
    first = found.of(str(current))
    current.unlink()
    current.symlink_to("two")
    second = found.of(str(current))
    assert first and second
    assert first.digest != second.digest
    path = tmp_path / "two" / "plugin" / "slicegrep" / "a.py"
    path.write_text("a = 3\n")
    os.utime(path, (1_700_000_000,) * 2)
    third = found.of(str(current))
    assert third
    assert third.digest != second.digest
