"""A resident engine that is killed, stuck, left without its socket or told to end: no call is lost for longer than its limit."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from resident_stand import House, copied_plugin, house, large_module, plant, until
from slicegrep import ledger
from slicegrep.resident.ask import surroundings
from slicegrep.resident.identity import Identities
from slicegrep.resident.supervisor import MOST_WORKERS

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
        plant(made.root, STUCK, warm=True)
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
    assert len((home.run / "engine.crashes").read_text().splitlines()) == 1
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
    code = Identities().of(str(home.root))
    assert code
    home.run.mkdir(mode=0o700)
    old = "".join(f"{time.time() + far:.0f} {code.digest}\n" for far in (-4_000, 4_000))
    (home.run / "engine.crashes").write_text(old)
    (home.run / "engine.running").write_text(f"1\n{code.digest}\n/nowhere\n")
    home.start()
    assert not (home.run / "engine.off").exists()
    assert len((home.run / "engine.crashes").read_text().splitlines()) == 1


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
    """More stuck calls than workers: those that find none free in a fifth of their time work alone, and lose nothing."""
    stuck, core = (faulty.file(name, large_module()) for name in ("stuck.py", "core.py"))
    engine = faulty.start()
    running = []
    for n in range(MOST_WORKERS):
        faulty.session_id = f"s-{n}"
        payload = faulty.payload("Read", {"file_path": str(stuck)})
        running.append(faulty.popen("pre-read", payload, variables={"SLICEGREP_HOOK_TIMEOUT": "20"}))
        until((faulty.folder / "reached").exists, "the question, being answered")
        (faulty.folder / "reached").unlink()
    started = time.monotonic()
    payload = faulty.payload("Read", {"file_path": str(core)}, session_id="s-late")
    assert faulty.ask("pre-read", payload, variables={"SLICEGREP_HOOK_TIMEOUT": "4"}) == ("cold", b"", "")
    assert b"updatedInput" in read(faulty, core, "s-alone", SLICEGREP_HOOK_TIMEOUT="10")
    assert time.monotonic() - started < 15
    for process in running:
        assert process.communicate(timeout=60)[0] == b""
    assert len(faulty.workers(engine)) <= 4
    assert b"updatedInput" in read(faulty, core, "s-after")
    assert faulty.engines() == [engine]


def test_a_caller_whose_folder_does_not_answer_costs_a_worker_its_time_alone(home: House) -> None:
    """A disk that is gone under the caller's plugin (here: a FIFO that nobody writes to): the worker ends at the limit."""
    engine = home.start()
    assert home.ask("pre-read", ASKING)[0] == "answered"  # from here on there is a worker
    before = home.workers(engine)
    away = home.folder / "away"
    copied_plugin(away, home.folder / "unused")
    os.mkfifo(away / "plugin" / "slicegrep" / "aaa.py")
    started = time.monotonic()
    told = home.ask("pre-read", ASKING, root=away, variables={"SLICEGREP_HOOK_TIMEOUT": "2"})
    assert told[0] == "answered" and told[2].startswith("engine: ")
    home.gone(*before)
    assert time.monotonic() - started < 20
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [engine]
    assert not (home.run / "engine.crashes").exists()


def test_a_question_that_trickles_in_is_not_waited_for(home: House) -> None:
    """A byte now and then keeps no worker: all of a question has to be there in two seconds."""
    home.start()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(home.run / "engine.sock"))
        assert connection.recv(1) == b"+"
        connection.sendall(b"slicegrep 1 10 60000000\n")
        ends = time.monotonic() + 30

        def sent_away() -> bool:
            with suppress(BrokenPipeError):
                connection.sendall(b"x")
                return False
            return True

        while not sent_away():
            assert time.monotonic() < ends
            time.sleep(0.2)


def test_a_worker_that_outlives_its_engine_keeps_no_other_from_beginning(home: House) -> None:
    """The first process is killed while a worker is stopped: the next call starts another engine all the same."""
    path = home.file("core.py", large_module())
    old = home.start()
    assert home.ask("pre-read", ASKING)[0] == "answered"  # from here on there is a worker
    (worker,) = home.workers(old)
    os.kill(worker, signal.SIGSTOP)
    try:
        os.kill(old, signal.SIGKILL)
        home.gone(old)
        assert b"updatedInput" in read(home, path, "s-1")
        new = home.engine(not_=old)
        assert home.ask("pre-read", ASKING)[0] == "answered"
        assert home.engines() == [new]
    finally:
        os.kill(worker, signal.SIGKILL)


def test_a_worker_that_crashes_costs_its_call_alone(faulty: House) -> None:
    """The call passes and the ledger tells; the next is answered; the third crash within an hour ends the engine for a day."""
    crash, core = (faulty.file(name, large_module()) for name in ("crash.py", "core.py"))
    engine = faulty.start()
    for n in range(2):
        assert read(faulty, crash, f"s-{n}") == b""
        until(lambda n=n: len(faulty.rows("fail")) == n + 1, "the row of what passed")
        assert faulty.ask("pre-read", ASKING)[0] == "answered"
    assert faulty.engines() == [engine]
    assert len((faulty.run / "engine.crashes").read_text().splitlines()) == 2
    assert read(faulty, crash, "s-3") == b""
    faulty.gone(engine)
    assert (faulty.run / "engine.off").exists()
    assert not (faulty.run / "engine.running").exists(), "its crash would be counted a second time"
    assert b"updatedInput" in read(faulty, core, "s-4")
    told = {(row["cause"], row["session"], row["project"]) for row in faulty.rows("fail")}
    project = str(faulty.project)
    assert told == {("engine: ended before its answer", f"s-{n}", project) for n in (0, 1, 3)}
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


@contextmanager
def asked(home: House, event: str, payload: dict[str, Any]) -> Iterator[socket.socket]:
    """Yield a connection over which a question was sent, as `ask.ask` does it, and whose answer nobody has read yet."""
    variables = home.environment()
    named = [f"{name}={variables[name]}" for name in variables if name.startswith(("SLICEGREP_", "HOME"))]
    told = [event, str(home.root), str(home.project), "60000", surroundings().decode()]
    head = "\0".join([*told, *named]).encode()
    data = json.dumps(payload).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(home.run / "engine.sock"))
        assert connection.recv(1) == b"+"
        connection.sendall(b"slicegrep 1 %d %d\n" % (len(head), len(data)) + head + data)
        yield connection


def found_in(home: House, path: Path) -> dict[str, Any]:
    """Return the payload behind a grep that found a line of a file."""
    response = {"stdout": f"{path.name}:3:    total = left * 1\n", "stderr": "", "interrupted": False}
    command = f"grep -n total {path.name} /dev/null"
    more = {"tool_response": response, "hook_event_name": "PostToolUse"}
    return home.payload("Bash", {"command": command}, **more)


def test_callers_that_are_gone_leave_nothing_behind(faulty: House) -> None:
    """What they were not shown is not counted, and holds no lock: reads again can be told from first ones (`ledger.settle`)."""
    slow, core = (faulty.file(name, large_module()) for name in ("slow.py", "core.py"))
    (faulty.folder / "go").touch()
    engine = faulty.start()
    narrowed = read(faulty, slow, "s-1")
    given = json.loads(narrowed)["hookSpecificOutput"]["updatedInput"]
    lines = slow.read_text().split("\n")[given["offset"] - 1 :][: given["limit"]]
    shown = {
        "filePath": str(slow),
        "content": "\n".join(lines),
        "totalLines": len(slow.read_text().split("\n")),
    }
    shown |= {"numLines": len(lines), "startLine": given["offset"]}
    faulty.calls -= 1
    more = {"tool_response": {"type": "text", "file": shown}, "hook_event_name": "PostToolUse"}
    delivered = faulty.payload("Read", given, **more)
    for event, payload in (("post-search", found_in(faulty, slow)), ("post-read", delivered)):
        for name in ("go", "reached"):
            (faulty.folder / name).unlink(missing_ok=True)
        with asked(faulty, event, payload):
            until((faulty.folder / "reached").exists, "the question, being answered")
        (faulty.folder / "go").touch()
    assert faulty.ask("post-search", found_in(faulty, core))[0] == "answered"
    until(lambda: faulty.rows("annotate"), "the row of the one that was answered")
    assert ledger.settle(str(faulty.home), 30)
    assert len(faulty.rows("annotate")) == 1
    assert faulty.rows("read") == []
    assert faulty.engines() == [engine]


def test_a_worker_that_is_asked_without_a_pause_counts_as_it_goes(home: House) -> None:
    """Rows come while it is asked, and no more locks are held than there are workers."""
    core = home.file("core.py", large_module())
    engine = home.start()
    ends = time.monotonic() + 3

    def locks() -> int:
        found = 0
        for pid in home.workers(engine):
            with suppress(OSError):
                names = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")]
                found += sum(name.endswith("/counting") for name in names)
        return found

    def ask_on() -> int:
        answers = 0
        while time.monotonic() < ends:
            with asked(home, "post-search", found_in(home, core)) as connection:
                answers += connection.recv(1 << 16).startswith(b"ok ")
        return answers

    with ThreadPoolExecutor(5) as pool:
        asking = [pool.submit(ask_on) for _ in range(4)]
        most = 0
        while time.monotonic() < ends:
            most = max(most, locks())
            time.sleep(0.05)
        answered = sum(one.result() for one in asking)
        rows = len(home.rows("annotate"))
    assert answered > 20
    assert rows > answered - 10
    assert most <= len(home.workers(engine))


def test_what_is_counted_outlives_the_engine(faulty: House) -> None:
    """Its first process is killed while a worker answers: the answer comes, and its row is written."""
    slow = faulty.file("slow.py", large_module())
    engine = faulty.start()
    with asked(faulty, "post-search", found_in(faulty, slow)) as connection:
        until((faulty.folder / "reached").exists, "the question, being answered")
        os.kill(engine, signal.SIGKILL)
        faulty.gone(engine)
        (faulty.folder / "go").touch()
        assert connection.recv(1 << 16).startswith(b"ok ")
    until(lambda: faulty.rows("annotate"), "its row")
    until(lambda: not faulty.processes(), "the end of its workers")


def test_who_asks_while_a_delivery_is_counted_goes_to_another_worker(faulty: House) -> None:
    """A large file takes long to count; nobody waits for it. Then the first worker answers again: it keeps more of the files."""
    counted = faulty.root / "plugin" / "slicegrep" / "hook" / "counted.py"
    text = counted.read_text("utf-8")
    mark = "            write(exact_encoder(vocabulary))\n"
    assert text.count(mark) == 1
    slow = 'import time\n            while not os.path.exists(os.environ["HOME"] + "/go"): time.sleep(0.02)\n'
    counted.write_text(text.replace(mark, f"            {slow}{mark}"), "utf-8")
    core = faulty.file("core.py", large_module())
    engine = faulty.start()
    (first,) = until(lambda: faulty.workers(engine), "a worker")
    with asked(faulty, "post-search", found_in(faulty, core)) as connection:
        assert connection.recv(1 << 16).startswith(b"ok ")
        assert connection.recv(1) == b"", "the answer is whole before it is counted"
    for _ in range(3):
        assert faulty.ask("pre-read", ASKING)[0] == "answered"
    assert faulty.rows("annotate") == []
    (second,) = set(faulty.workers(engine)) - {first}
    (faulty.folder / "go").touch()
    until(lambda: faulty.rows("annotate"), "its row")
    time.sleep(0.3)  # it says that it is free after that
    os.kill(second, signal.SIGSTOP)
    assert faulty.ask("pre-read", ASKING)[0] == "answered"
    os.kill(second, signal.SIGCONT)


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
