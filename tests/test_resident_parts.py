"""The parts of the resident engine: what a shelf keeps, what a record counts, and which of two slicegreps is the newer."""

from __future__ import annotations

import gc
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resident_stand import large_module
from slicegrep.hook.call import Call, call_of
from slicegrep.hook.events import seconds_for
from slicegrep.resident import ask
from slicegrep.resident.identity import Identities
from slicegrep.resident.memory import FORGET_SECONDS, MOST_CONVERSATIONS, Memory
from slicegrep.resident.record import Record
from slicegrep.resident.shelf import Shelf
from slicegrep.settings import Settings
from slicegrep.source import source_of
from slicegrep.types import Source


def source(name: str, text: str) -> Source:
    return source_of(f"/project/{name}", text.encode(), "python")


# ---- The shelf -------------------------------------------------------------------------------------------------


def test_the_least_recently_used_goes_first() -> None:
    """What was asked for stays; what was put first and never asked for goes."""
    shelf: Shelf[str] = Shelf(10)
    for key in "abc":
        shelf.put(key, key.upper(), 3)
    assert shelf.get("a") == "A"
    shelf.put("d", "D", 3)
    assert shelf.values() == ["C", "A", "D"]
    assert shelf.get("b") is None
    assert shelf.weight == 9


def test_what_weighs_over_half_is_not_kept_and_an_older_form_of_it_goes() -> None:
    """One huge file does not push everything else out."""
    shelf: Shelf[str] = Shelf(10)
    shelf.put("a", "small", 2)
    shelf.put("b", "other", 2)
    shelf.put("a", "huge", 6)
    assert (shelf.values(), shelf.weight) == (["other"], 2)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 12), st.booleans())))
def test_a_shelf_never_weighs_more_than_it_may(steps: list[tuple[str, int, bool]]) -> None:
    """Whatever is put and dropped, its weight is the sum of what it holds, and within the limit."""
    shelf: Shelf[int] = Shelf(20)
    for key, weight, drop in steps:
        if drop:
            shelf.drop(key)
        else:
            shelf.put(key, weight, weight)
            assert shelf.get(key) == (weight if weight <= 10 else None)
        assert shelf.weight == sum(shelf.values()) <= 20


# ---- What a worker keeps of files ------------------------------------------------------------------------------


def test_the_same_content_is_the_same_and_another_is_not() -> None:
    """By path and content: a changed file is new, the same text under another name is another file."""
    memory = Memory(10_000_000)
    first = memory.prepare(source("a.py", large_module(5)))
    assert memory.prepare(source("a.py", large_module(5))) is first
    assert memory.prepare(source("a.py", large_module(6))) is not first
    assert memory.prepare(source("b.py", large_module(5))).source.path == "/project/b.py"


def test_a_source_is_that_of_its_own_path_and_bytes() -> None:
    """Bytes of the same length are others, and the same bytes are another language elsewhere."""
    memory = Memory(10_000_000)
    first = memory.source_of("/project/a.py", b"x = 1\n")
    assert memory.source_of("/project/a.py", b"x = 1\n") is first
    assert memory.source_of("/project/a.py", b"x = 2\n") == source_of("/project/a.py", b"x = 2\n")
    assert memory.source_of("/project/a.js", b"x = 2\n") == source_of("/project/a.js", b"x = 2\n")


def test_sources_are_bounded_in_real_memory() -> None:
    """A search that hits many files keeps a part of what is allowed for all."""
    memory = Memory(20_000_000)
    text = large_module(600)
    gc.collect()
    before = _resident()
    for n in range(300):
        memory.source_of(f"/project/{n}.py", f"# {n}\n{text}".encode())
    gc.collect()
    assert len(text) * 300 > 30_000_000
    assert _resident() - before < 10_000_000
    last = memory.source_of("/project/299.py", f"# 299\n{text}".encode())
    assert last is memory.source_of("/project/299.py", f"# 299\n{text}".encode())


def test_an_outline_for_some_lines_is_completed_in_idle_time_and_kept_whole() -> None:
    """What was made for some lines is never taken for a whole one."""
    memory = Memory(10_000_000)
    asked = source("a.py", large_module(50))
    part = memory.outline_of(asked, seconds=60, lines=[3])
    assert memory.has_more()
    memory.complete_one()
    assert not memory.has_more()
    whole = memory.outline_of(asked, seconds=60, lines=[3])
    assert whole is memory.outline_of(source("a.py", large_module(50)), seconds=60)
    assert len(whole.symbols) == 50 >= len(part.symbols)


def test_files_that_wait_for_their_outlines_are_bounded_in_real_memory() -> None:
    """Searches that hit many files of the largest size that waits: the newest few stay."""
    memory = Memory(10_000_000)
    text = large_module(1_300)
    assert 200_000 < len(text) < 250_000
    gc.collect()
    before = _resident()
    for n in range(60):
        memory.outline_of(source(f"{n}.py", f"# {n}\n{text}"), seconds=0.01, lines=[3])
    gc.collect()
    assert memory.has_more()
    assert _resident() - before < 30_000_000


def call(session: str, transcript: str = "/t.jsonl", agent: str = "") -> Call:
    payload = {"session_id": session, "transcript_path": transcript, "agent_id": agent, "cwd": "/"}
    return call_of(payload, {"SLICEGREP_HOME": "/nowhere"})


def test_a_conversation_is_one_of_a_session_an_agent_and_a_transcript() -> None:
    """What one has said and done never reaches another one's focus."""
    memory = Memory(10_000_000)
    first = memory.conversation_of(call("s1"))
    assert memory.conversation_of(call("s1")) is first
    for other in (call("s2"), call("s1", "/u.jsonl"), call("s1", agent="a1")):
        assert memory.conversation_of(other) is not first


def test_few_conversations_are_kept_and_none_for_long() -> None:
    """The one that was read in last stays longest, and goes when half an hour is over."""
    memory = Memory(10_000_000)
    first, second = memory.conversation_of(call("first")), memory.conversation_of(call("second"))
    for n in range(MOST_CONVERSATIONS - 2):
        memory.conversation_of(call(f"s{n}"))
    assert memory.conversation_of(call("first")) is first
    memory.conversation_of(call("one-more"))
    assert memory.conversation_of(call("first")) is first
    assert memory.conversation_of(call("second")) is not second
    assert 0 < (memory.forget_conversations(time.monotonic()) or 0) <= FORGET_SECONDS
    assert memory.conversation_of(call("first")) is first
    assert memory.forget_conversations(time.monotonic() + FORGET_SECONDS) is None
    assert memory.conversation_of(call("first")) is not first


def test_many_large_files_stay_within_the_limit_in_real_memory() -> None:
    """What a file is said to weigh is what it takes, once all is known of it: measured on this process."""
    most, total = 12_000_000, 0
    memory = Memory(most)
    texts = [large_module(400, f"name{n}", wide=n % 7) for n in range(100)]
    gc.collect()
    before = _resident()
    for n, text in enumerate(texts):
        prepared = memory.prepare(source(f"{n}.py", text))
        prepared.complete()
        memory.settle()
        total += prepared.weight
    gc.collect()
    grown = _resident() - before
    assert total > 5 * most, "not enough files for this test"
    assert grown < 4 * most  # what was freed is not all given back
    last = memory.prepare(source("99.py", texts[99]))
    assert "lexicon" in vars(last), "the last one is still known"
    assert "lexicon" not in vars(memory.prepare(source("0.py", texts[0]))), "the first one is not"


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- The record of crashes -------------------------------------------------------------------------------------


def test_an_engine_that_ended_well_is_no_crash(tmp_path: Path) -> None:
    """Begun and ended ten times: nothing is counted, and nothing is left."""
    record = Record(str(tmp_path), "c0de")
    for _ in range(10):
        assert record.begin("/plugin")
        record.ended()
    assert list(tmp_path.iterdir()) == []


def test_the_third_crash_within_an_hour_switches_it_off(tmp_path: Path) -> None:
    """For a day, and for this code alone; what is written is the person's own."""
    record = Record(str(tmp_path), "c0de")
    assert record.begin("/plugin")
    assert record.begin("/plugin")
    assert record.begin("/plugin")
    assert not record.begin("/plugin")
    off = tmp_path / "engine.off"
    assert abs(float(off.read_text()) - time.time() - 86_400) < 60
    assert off.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"engine.off", "engine.crashes"}
    assert not record.begin("/plugin")
    assert Record(str(tmp_path), "0ther").begin("/plugin")
    assert {path.name for path in tmp_path.iterdir()} == {"engine.running", "engine.crashes"}


@pytest.mark.parametrize(
    "text", ["", "x\n", "1e999\n", "nan\n", "-5\n" * 10, "9" * 5_000, "1e999 c0de\n" * 5, "nan c0de\n" * 5]
)
def test_a_damaged_count_counts_nothing(tmp_path: Path, text: str) -> None:
    """Half a line after a crash of the system: the next crash is the first one."""
    (tmp_path / "engine.crashes").write_text(text)
    record = Record(str(tmp_path), "c0de")
    assert not record.crashed()
    assert len((tmp_path / "engine.crashes").read_text().splitlines()) == 1


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    """A folder that is gone: an engine may run there all the same, for who asks it by then."""
    record = Record(str(tmp_path / "file" / "run"), "c0de")
    (tmp_path / "file").touch()
    assert record.begin("/plugin")
    record.listening()
    assert not record.crashed()
    record.ended()


# ---- Time limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["pre-read", "post-read", "post-search", "remember"])
@pytest.mark.parametrize("limit", ["", "2", "0.5", "1e9", "-1", "nan", "x", "60", "61", " 3 "])
@pytest.mark.parametrize("annotating", ["", "0", "900", "900.5", "60001", "-1", "1e3", "1_0"])
def test_who_asks_and_who_answers_mean_the_same_time_limit(event: str, limit: str, annotating: str) -> None:
    """The caller reads it without `settings`, which would take longer to load than it waits for an answer."""
    variables = {"SLICEGREP_HOOK_TIMEOUT": limit, "SLICEGREP_ANNOTATE_TIMEOUT_MS": annotating}
    raw = {name.encode(): value.encode() for name, value in variables.items()}
    assert ask.seconds_of(event, raw) == seconds_for(event, Settings.from_environment(variables))


# ---- Identities ------------------------------------------------------------------------------------------------


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a plugin folder with a little code."""
    root = tmp_path / "one"
    for name, text in {
        "plugin/requirements.key": "k\n",
        ".claude-plugin/plugin.json": '{"version": "1.9.0"}',
        "plugin/slicegrep/a.py": "a = 1\n",
        "plugin/slicegrep/deep/b.py": "b = 1\n",
        "plugin/slicegrep/data.txt": "no code\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_equal_code_has_an_equal_digest_wherever_it_lies(plugin: Path, tmp_path: Path) -> None:
    """Another folder, other times, other byte code and data: the same slicegrep."""
    other = tmp_path / "two"
    shutil.copytree(plugin, other, copy_function=shutil.copy)
    (other / "plugin/slicegrep/__pycache__").mkdir()
    (other / "plugin/slicegrep/__pycache__/a.py").write_text("x")
    (other / "plugin/slicegrep/data.txt").write_text("other\n")
    found = Identities()
    one, two = found.of(str(plugin)), found.of(str(other))
    assert one and two
    assert one.digest == two.digest


@pytest.mark.parametrize(
    "name",
    [
        "plugin/requirements.key",
        ".claude-plugin/plugin.json",
        "plugin/slicegrep/deep/b.py",
        "plugin/slicegrep/new.py",
    ],
)
def test_a_changed_added_or_removed_file_is_other_code(plugin: Path, name: str) -> None:
    """Each is noticed at once."""
    found = Identities()
    before = found.of(str(plugin))
    path = plugin / name
    path.write_text(path.read_text().replace("1", "2") + " \n" if path.exists() else "")
    after = found.of(str(plugin))
    assert before and after
    assert before.digest != after.digest


def test_the_newer_is_told_by_version_and_then_by_time(plugin: Path, tmp_path: Path) -> None:
    """1.10.0 is newer than 1.9.0 whatever the files' times; of one version the later changed."""
    other = tmp_path / "two"
    shutil.copytree(plugin, other)
    (other / ".claude-plugin/plugin.json").write_text('{"version": "1.10.0"}')
    for path in other.rglob("*.*"):
        os.utime(path, (1, 1))
    found = Identities()
    one, two = found.of(str(plugin)), found.of(str(other))
    assert one and two
    assert two.newer_than(one) and not one.newer_than(two)
    (other / ".claude-plugin/plugin.json").write_text('{"version": "1.9.0"}')
    path = other / "plugin/slicegrep/a.py"
    path.write_text("a = 3\n")
    later = time.time() + 100
    os.utime(path, (later, later))
    three = found.of(str(other))
    assert three
    assert three.newer_than(one) and not one.newer_than(three) and not three.newer_than(three)


@pytest.mark.parametrize("harm", ["no folder", "no manifest", "half a manifest", "a list", "no code"])
def test_a_broken_folder_has_no_identity_or_an_old_one(plugin: Path, harm: str) -> None:
    """None of them is newer than a sound one, and nothing is raised."""
    found = Identities()
    sound = found.of(str(plugin))
    assert sound
    manifest = plugin / ".claude-plugin/plugin.json"
    if harm == "no folder":
        shutil.rmtree(plugin)
    elif harm == "no manifest":
        manifest.unlink()
    elif harm == "no code":
        shutil.rmtree(plugin / "plugin/slicegrep")
    else:
        manifest.write_text('{"version": "2' if harm == "half a manifest" else '["2.0.0"]')
    broken = found.of(str(plugin))
    assert broken is None or not broken.newer_than(sound)
