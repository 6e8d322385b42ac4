"""A resident engine that is killed, stuck, left without its socket or told to end: no call is lost for longer than its limit."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from resident_stand import House, copied_plugin, house, large_module, until

DAY = 86_400
ASKING = {"session_id": "s-0", "tool_name": "Read"}
"""A question that is answered with nothing."""

STUCK = """
if "stuck.py" in str(payload):
    import ctypes, os
    open(os.environ["HOME"] + "/reached", "w").close()
    ctypes.PyDLL(None).sleep(1_000)  # a C call that does not return, with the interpreter's lock held
if "crash.py" in str(payload):
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)
if "slow.py" in str(payload):
    import os, time
    open(os.environ["HOME"] + "/reached", "w").close()
    while not os.path.exists(os.environ["HOME"] + "/go"):
        time.sleep(0.02)
"""
"""What a copy of the plugin does beside its work, for files of these names."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a user's home folder; its engines are ended."""
    with house(tmp_path) as made:
        yield made


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[House]:
    """Yield a home folder with a copy of the plugin in which some files' names bring a fault into the engine alone."""
    with house(tmp_path, root=tmp_path / "plugin copy") as made:
        copied_plugin(made.root, made.home)
        entry = made.root / "plugin" / "slicegrep" / "hook" / "events.py"
        text = entry.read_text("utf-8")
        mark = "        from slicegrep.hook.call import call_of  # noqa: PLC0415\n"
        assert text.count(mark) == 1
        fault = "".join(f"            {line}\n" for line in STUCK.strip().splitlines())
        entry.write_text(text.replace(mark, f"        if kept.warm:\n{fault}{mark}"), "utf-8")
        yield made


def read(home: House, path: Path, session: str, **variables: str) -> bytes:
    home.session_id = session
    return home.before(path, **variables)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_after_a_crash_the_next_call_works_alone_and_starts_a_new_engine(home: House, number: int) -> None:
    """A killed engine leaves its socket: nobody listens there, which is seen at once. Its workers end with it."""
    path = home.file("core.py", large_module())
    old = home.start()
    family = home.processes()
    os.kill(old, number)
    home.gone(*family)
    assert (home.run / "engine.sock").exists()
    assert b"updatedInput" in read(home, path, "s-1")
    new = home.engine(not_=old)
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [new]
    assert len((home.run / "engine.crashes").read_text().split()) == 1
    assert home.rows("fail") == []


def test_three_crashes_within_an_hour_switch_it_off_for_a_day(home: House) -> None:
    """Then on again, by itself. A clock that was far off when it was switched off does not keep it off."""
    path = home.file("core.py", large_module())
    engine = 0
    for n in range(3):
        assert b"updatedInput" in read(home, path, f"s-{n}")
        engine = home.engine(not_=engine)
        os.kill(engine, signal.SIGKILL)
        until(lambda: not home.processes(), "the end of all its workers")
    assert b"updatedInput" in read(home, path, "s-3")  # this one starts an engine that counts the third crash
    off = home.run / "engine.off"
    until(off.exists, "the engine, switched off")
    until(lambda: not home.processes(), "the end of the last one")
    assert abs(float(off.read_text()) - time.time() - DAY) < 600
    (home.run / "engine.starting").unlink(missing_ok=True)
    assert b"updatedInput" in read(home, path, "s-4")
    assert home.processes() == []
    for text in (f"{time.time() - 1:.0f}\n", f"{time.time() + 3 * DAY:.0f}\n", "nan", "", "tomorrow"):
        off.write_text(text)
        assert home.ask("pre-read", ASKING)[0] == "start", text
    assert b"updatedInput" in read(home, path, "s-5")
    home.engine()


def test_old_crashes_do_not_count(home: House) -> None:
    """Two crashes of more than an hour ago, or of a clock that was ahead, and one now: the engine goes on."""
    home.run.mkdir(mode=0o700)
    (home.run / "engine.crashes").write_text(f"{time.time() - 4_000:.0f}\n{time.time() + 4_000:.0f}\n")
    (home.run / "engine.running").write_text("1\n/nowhere\n")
    home.start()
    assert not (home.run / "engine.off").exists()
    assert len((home.run / "engine.crashes").read_text().split()) == 1


def test_a_stuck_worker_is_ended_at_its_limit_and_others_are_answered_meanwhile(faulty: House) -> None:
    """In a C call that never returns: that call passes and the ledger tells it; the engine goes on, without a crash."""
    stuck, core = (faulty.file(name, large_module()) for name in ("stuck.py", "core.py"))
    engine = faulty.start()
    limit = {"SLICEGREP_HOOK_TIMEOUT": "8"}
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(read, faulty, stuck, "s-stuck", **limit)
        until((faulty.folder / "reached").exists, "the question, being answered")
        started = time.monotonic()
        payload = faulty.payload("Read", {"file_path": str(core)}, session_id="s-1")
        verdict, data, _ = faulty.ask("pre-read", payload)
        assert (verdict, b"updatedInput" in data) == ("answered", True)
        assert not late.done() or time.monotonic() - started > 7
        assert late.result() == b""
    (row,) = until(lambda: faulty.rows("fail"), "the row of what passed")
    assert row["cause"] in {"engine: ended before its answer", "engine: TimeoutError"}
    assert b"updatedInput" in read(faulty, core, "s-2")
    assert faulty.engines() == [engine]
    assert not (faulty.run / "engine.crashes").exists()


def test_when_all_workers_are_stuck_new_calls_end_in_time(faulty: House) -> None:
    """More stuck calls than workers: every call, one that would be answered at once among them, ends within its limit."""
    stuck, core = (faulty.file(name, large_module()) for name in ("stuck.py", "core.py"))
    engine = faulty.start()
    running = []
    for n in range(6):
        faulty.session_id = f"s-{n}"
        payload = faulty.payload("Read", {"file_path": str(stuck)})
        running.append(faulty.popen("pre-read", payload, variables={"SLICEGREP_HOOK_TIMEOUT": "4"}))
    started = time.monotonic()
    faulty.session_id = "s-late"
    payload = faulty.payload("Read", {"file_path": str(core)})
    verdict, _, why = faulty.ask("pre-read", payload, variables={"SLICEGREP_HOOK_TIMEOUT": "4"})
    assert (verdict, why) in {("answered", "engine: TimeoutError"), ("answered", ""), ("cold", "")}
    for process in running:
        assert process.communicate(timeout=60)[0] == b""
    assert time.monotonic() - started < 40
    assert len(faulty.workers(engine)) <= 4
    assert b"updatedInput" in read(faulty, core, "s-after")
    assert faulty.engines() == [engine]


def test_a_worker_that_crashes_costs_its_call_alone(faulty: House) -> None:
    """The call passes and the ledger tells; the next is answered; the third crash within an hour ends the engine for a day."""
    crash, core = (faulty.file(name, large_module()) for name in ("crash.py", "core.py"))
    engine = faulty.start()
    for n in range(2):
        assert read(faulty, crash, f"s-{n}") == b""
        until(lambda n=n: len(faulty.rows("fail")) == n + 1, "the row of what passed")
        assert faulty.ask("pre-read", ASKING)[0] == "answered"
    assert faulty.engines() == [engine]
    assert len((faulty.run / "engine.crashes").read_text().split()) == 2
    assert read(faulty, crash, "s-3") == b""
    faulty.gone(engine)
    assert (faulty.run / "engine.off").exists()
    assert not (faulty.run / "engine.running").exists(), "its crash would be counted a second time"
    assert b"updatedInput" in read(faulty, core, "s-4")
    assert {row["cause"] for row in faulty.rows("fail")} == {"engine: ended before its answer"}
    assert faulty.processes() == []


def test_an_engine_that_is_told_to_end_answers_what_it_is_at_first(faulty: House) -> None:
    """SIGTERM: nobody finds it any more, what was asked before is answered, then all of it is gone."""
    slow, core = (faulty.file(name, large_module()) for name in ("slow.py", "core.py"))
    engine = faulty.start()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(read, faulty, slow, "s-1")
        until((faulty.folder / "reached").exists, "the question, being answered")
        os.kill(engine, signal.SIGTERM)
        until(lambda: not (faulty.run / "engine.sock").exists(), "an engine that takes no more")
        assert faulty.ask("pre-read", ASKING)[0] == "start"
        assert not answer.done()
        (faulty.folder / "go").touch()
        assert b"updatedInput" in answer.result()
    faulty.gone(engine)
    until(lambda: not faulty.processes(), "the end of its workers")
    assert not (faulty.run / "engine.running").exists()
    assert faulty.rows("fail") == []
    assert b"updatedInput" in read(faulty, core, "s-2")
    faulty.engine(not_=engine)


def test_an_engine_whose_socket_was_removed_leaves(home: House) -> None:
    """Nobody finds it any more: the next call starts another, and two would be one too many."""
    path = home.file("core.py", large_module())
    old = home.start(idle=40)
    (home.run / "engine.sock").unlink()
    assert b"updatedInput" in read(home, path, "s-1")
    home.gone(old)
    (home.run / "engine.starting").unlink(
        missing_ok=True
    )  # the one that was started meanwhile found it still there
    assert b"updatedInput" in read(home, path, "s-2")
    new = home.engine(not_=old)
    assert home.engines() == [new]


def test_it_ends_when_nobody_asks(home: House) -> None:
    """After its idle seconds, well, with nothing left of it but what a lock needs; a question keeps it."""
    started = time.monotonic()
    engine = home.start(idle=6)
    home.gone(engine)
    assert time.monotonic() - started > 5
    left = {path.name for path in home.run.iterdir()}
    assert left == {"engine.lock"}


def test_a_stopped_engine_is_not_waited_for(home: House) -> None:
    """SIGSTOP, or a machine that is too busy: within a fifth of the limit the caller does the work itself."""
    path = home.file("core.py", large_module())
    engine = home.start()
    os.kill(engine, signal.SIGSTOP)
    try:
        assert b"updatedInput" in read(home, path, "s-1", SLICEGREP_HOOK_TIMEOUT="20")
        assert home.ask("pre-read", ASKING, variables={"SLICEGREP_HOOK_TIMEOUT": "2"})[0] == "cold"
    finally:
        os.kill(engine, signal.SIGCONT)
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [engine]
