"""The resident engine through the commands of hooks.json: the same answers, started once, free of who started it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from resident_stand import House, house, large_module, until


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a user's home folder; its engines are ended."""
    with house(tmp_path) as made:
        yield made


def warm_rows(home: House, kind: str, count: int) -> list[object]:
    """Wait for so many rows of a kind; return what each says of the engine."""
    until(lambda: len(home.rows(kind)) >= count, f"{count} rows of {kind}")
    return [row["warm"] for row in home.rows(kind)]


def state_of(home: House) -> dict[str, bytes]:
    """Return what is kept for the session, by name, without times and without the size of what has times in it."""
    folder = home.home / "state"
    return {
        os.path.relpath(path, folder): re.sub(rb'"t":[0-9.]+', b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name not in {"plans", "costs"} and path.suffix != ".settled"
    }


def test_the_answers_are_those_of_a_cold_process_byte_for_byte(tmp_path: Path) -> None:
    """Both phases of reads, annotations, what is remembered, and what is kept of the session: engine off and on."""
    said: dict[str, list[bytes]] = {}
    kept: dict[str, dict[str, bytes]] = {}
    for resident in ("off", "on"):
        with house(tmp_path, name=f"home-{resident}", variables={"SLICEGREP_RESIDENT": resident}) as one:
            core, other = (
                one.file("core.py", large_module(150)),
                one.file("other.py", large_module(90, "cedar")),
            )
            if resident == "on":
                one.start()
            one.prompt("Why is the total of ember_77 wrong?")
            said[resident] = [one.grep("total = left . 5[0-9]$", core, other)]
            warm_rows(one, "annotate", 1)  # they are written after what is remembered
            said[resident].append(
                one.grep("def cedar_8", other, SLICEGREP_ANNOTATE="off")
            )  # remembered alone
            until(
                lambda here=one: b"cedar_8" in b"".join(state_of(here).values()),
                "the second search, remembered",
            )
            said[resident] += [one.read(core), one.read(core), one.read(other)]
            said[resident].append(one.grep("step % 33", core))
            assert warm_rows(one, "read", 2) == [[resident == "on"] * 2] * 2
            assert set(warm_rows(one, "annotate", 2)) == {resident == "on"}
            kept[resident] = state_of(one)
            assert one.rows("fail") == []
    assert said["on"] == said["off"]
    assert [bool(answer) for answer in said["on"]] == [True, False, True, False, True, True]
    assert kept["on"] == kept["off"]


def test_it_is_started_on_first_need_and_free_of_who_started_it(home: House) -> None:
    """In a session of its own, at the root, no descriptor of the caller open, nothing of its environment but five names."""
    path = home.file("core.py", large_module())
    pipes = [os.pipe() for _ in range(3)]
    kept = [writing for _, writing in pipes]
    secrets = {
        "ANTHROPIC_API_KEY": "sk-secret",
        "CLAUDE_CODE_MESSAGING_TOKEN": "secret-token",
        "SLICEGREP_API_KEY": "secret-key",
        "GITHUB_TOKEN": "secret-hub",
        "SLICEGREP_HOOK_BUDGET": "900",
    }
    process = home.popen(
        "pre-read", home.payload("Read", {"file_path": str(path)}), variables=secrets, pass_fds=kept
    )
    for writing in kept:
        os.close(writing)
    assert b"updatedInput" in process.communicate(timeout=120)[0]
    engine = home.engine()
    for reading, _ in pipes:
        os.set_blocking(reading, False)
        assert os.read(reading, 1) == b"", "somebody still holds a descriptor of the caller"
        os.close(reading)
    family = [engine, *home.workers(engine)]
    assert len(family) > 1
    for pid in family:
        assert os.getsid(pid) == engine
        variables = dict(
            entry.split(b"=", 1) for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if entry
        )
        assert set(variables) <= {b"PATH", b"HOME", b"TMPDIR", b"LANG", b"LC_ALL", b"SLICEGREP_HOME"}
        assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()
        for descriptor in (0, 1, 2):
            assert os.readlink(f"/proc/{pid}/fd/{descriptor}") == "/dev/null"
        assert not Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(home.project)
    # Of the supervisor: an epoll, a lock, the listener, its alarm's two ends and a channel.
    assert len(os.listdir(f"/proc/{engine}/fd")) <= 12


def test_what_the_caller_set_for_its_own_processes_does_not_reach_the_engine(home: House) -> None:
    """A blocked SIGALRM would take its time limit from a worker, an ignored SIGCHLD the end of one from the supervisor."""
    path = home.file("core.py", large_module())

    def limited() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.umask(0)

    process = home.popen("pre-read", home.payload("Read", {"file_path": str(path)}), preexec_fn=limited)
    assert b"updatedInput" in process.communicate(timeout=120)[0]
    engine = home.engine()
    for pid in (engine, *home.workers(engine)):
        told = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{pid}/status").read_text().splitlines()
            if ":\t" in line
        )
        assert int(told["SigBlk"], 16) == 0
        assert int(told["SigIgn"], 16) & (1 << signal.SIGCHLD - 1) == 0
        assert int(told["Umask"], 8) == 0o077
    (worker,) = home.workers(engine)
    os.kill(worker, signal.SIGTERM)
    home.gone(worker)
    until(
        lambda: home.workers(engine) or home.ask("pre-read", {"session_id": "x"})[0] == "answered",
        "another worker",
    )
    assert home.engines() == [engine]


def test_twenty_calls_at_once_start_one_engine(home: House) -> None:
    """All are answered, by themselves or by it, and one engine is there in the end."""
    path = home.file("core.py", large_module())
    running = []
    for n in range(20):
        home.session_id = f"s-{n}"
        running.append(home.popen("pre-read", home.payload("Read", {"file_path": str(path)})))
    answers = [process.communicate(timeout=240)[0] for process in running]
    assert all(b"updatedInput" in answer for answer in answers)
    engine = home.engine()
    until(lambda: home.engines() == [engine], "one engine alone")
    home.session_id = "s-last"
    assert b"updatedInput" in home.before(path)
    assert home.engines() == [engine]
    assert home.rows("fail") == []


def test_knobs_are_those_of_each_call_never_of_who_started_it(home: House) -> None:
    """The engine is started by a call with knobs of every kind; each later call is answered by its own."""
    core, other = home.file("core.py", large_module(150)), home.file("other.py", large_module(150, "cedar"))
    started = {
        "SLICEGREP_HOOK_BUDGET": "700",
        "SLICEGREP_HOOK_EXCLUDE": "*/core.py",
        "SLICEGREP_ANNOTATE": "off",
        "SLICEGREP_NOTICE": "on",
    }
    small = home.read(other, **started)
    assert b"updatedInput" in small
    engine = home.engine()

    home.session_id = "s-2"
    assert len(home.read(other)) > len(small)
    assert home.before(core, SLICEGREP_HOOK_EXCLUDE="*/core.py") == b""
    assert b"updatedInput" in home.before(core)
    assert home.grep("def ember_7", core, SLICEGREP_ANNOTATE="off") == b""
    assert b"ember_7" in home.grep("def ember_7", core)
    home.session_id = "s-3"
    assert home.before(other, CLAUDE_PLUGIN_OPTION_EXCLUDE="*/other.py", SLICEGREP_HOOK_EXCLUDE="") == b""
    assert home.before(other, SLICEGREP_HOOK_MIN_TOKENS="900000") == b""
    assert home.before(other, SLICEGREP_HOOK_DISABLE="1") == b""
    assert b"updatedInput" in home.before(other)
    assert home.engines() == [engine]


def test_off_means_none(home: House) -> None:
    """SLICEGREP_RESIDENT=off, in any spelling of no: no engine is started, and a running one is not asked."""
    path = home.file("core.py", large_module())
    for n, word in enumerate(("off", "0", "No", "FALSE")):
        home.session_id = f"s-{n}"
        assert b"updatedInput" in home.before(path, SLICEGREP_RESIDENT=word)
    assert home.processes() == []
    assert not list(home.run.glob("engine*"))
    home.start()
    assert home.ask("pre-read", {"session_id": "x"}, variables={"SLICEGREP_RESIDENT": "off"})[0] == "cold"


def test_another_home_goes_the_cold_way(home: House, tmp_path: Path) -> None:
    """Another HOME, or another SLICEGREP_HOME than the engine's own, is none of its business."""
    payload = home.payload("Read", {"file_path": "/none.py"})
    home.start()
    assert home.ask("pre-read", payload)[0] == "answered"
    (tmp_path / "other").mkdir(mode=0o700)
    assert home.ask("pre-read", payload, variables={"HOME": str(tmp_path / "other")})[0] == "cold"
    # The socket is that of one home folder, the environment names another.
    told = home.ask("pre-read", payload, variables={"SLICEGREP_HOME": str(tmp_path / "other")})
    assert told[0] == "cold"


def test_a_home_that_ends_in_a_slash_is_the_same(home: House) -> None:
    """HOME=/home/me/ is how some systems set it; the default folder below it is served like any other."""
    (home.folder / ".slicegrep").symlink_to(home.home)
    variables = {"HOME": f"{home.folder}/", "SLICEGREP_HOME": ""}
    path = home.file("core.py", large_module())
    assert b"updatedInput" in home.before(path, **variables)
    until((home.run / "engine.sock").exists, "an engine")
    payload = home.payload("Read", {"file_path": "/none.py"})
    folder = f"{home.folder}//.slicegrep"
    try:
        assert home.ask("pre-read", payload, home=folder, variables=variables)[0] == "answered"
    finally:
        engine = int((home.run / "engine.running").read_text().split()[0])
        os.kill(engine, signal.SIGTERM)
        until(lambda: not (home.run / "engine.running").exists(), "its end")


def test_a_changed_file_is_never_answered_from_memory(home: House) -> None:
    """Of the same size and with the same times: content counts."""
    text = large_module(150)
    path = home.file("core.py", text)
    home.start()
    home.read(path)
    status = path.stat()
    changed = text.replace("ember_", "umber_")
    assert len(changed) == len(text)
    path.write_text(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    home.session_id = "s-2"
    said = home.read(path)
    assert b"umber_" in said
    assert b"ember_" not in said.replace(b"umber_", b"")
    found = home.grep("step % 77", path)
    assert b"umber_77" in found
    assert b"ember_77" not in found.replace(b"umber_77", b"")


def test_a_call_from_a_folder_that_is_gone_is_done_by_itself(home: House) -> None:
    """A deleted working directory is nothing to answer from; nothing fails either."""
    path = home.file("core.py", large_module())
    home.start()
    gone = home.folder / "gone"
    gone.mkdir()
    payload = home.payload("Read", {"file_path": str(path)})
    words = "rmdir ../gone && . ../launch"
    (home.folder / "launch").write_text(
        '(set -- pre-read "$CLAUDE_PLUGIN_ROOT"; . "$CLAUDE_PLUGIN_ROOT/hooks/slicegrep-hook") 2>/dev/null\n'
    )
    done = subprocess.run(
        ["sh", "-c", words],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=home.environment(),
        cwd=gone,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"updatedInput" in done.stdout
