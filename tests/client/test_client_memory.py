"""What is remembered across the life of a conversation: resumed, forked, compacted, cleared."""

from __future__ import annotations

from pathlib import Path

from checks import assert_narrowed, assert_whole, delivery
from driver import Client, Session, World
from samples import made_module
from worlds import one_version


def _started(world: World) -> tuple[Session, Path]:
    path = world.write("core.py", made_module(150))
    session = world.session()
    first = session.play("Look at core.py", [world.read("core.py")])
    assert_narrowed(first.result(), path)
    return session, path


def test_a_resumed_session_remembers_what_it_was_shown(world: World) -> None:
    """After --resume the second read is whole: the conversation still holds the first."""
    session, path = _started(world)
    second = session.play("Go on", [world.read("core.py")])
    assert_whole(second.result(), path)


def test_after_compaction_a_read_is_narrowed_again_and_the_next_is_whole(world: World) -> None:
    """/compact drops the memory of what was shown, since the conversation no longer holds it."""
    session, path = _started(world)
    compacted = session.play("/compact")
    assert compacted.code == 0
    assert [r.kind for r in world.api.requests if r.kind == "summary"] == ["summary"]
    again = session.play("Go on with core.py", [world.read("core.py")], [world.read("core.py")])
    assert_narrowed(again.result(), path)
    assert delivery(again, path)
    assert_whole(again.result(turn=1), path)


@one_version
def test_after_clear_a_read_is_narrowed_again(world: World, claude: Client) -> None:
    """/clear begins a conversation that was shown nothing (headless, only the new client knows the command)."""
    assert claude.native
    session, path = _started(world)
    assert session.play("/clear").code == 0
    transcripts = (world.home / ".claude" / "projects").rglob("*.jsonl")
    session.ident = max(transcripts, key=lambda p: p.stat().st_mtime_ns).stem
    again = session.play("Look at core.py", [world.read("core.py")], [world.read("core.py")])
    assert_narrowed(again.result(), path)
    assert_whole(again.result(turn=1), path)


def test_a_forked_session_is_never_trapped(world: World) -> None:
    """A fork has an id of its own: its first read may be narrowed once more, its second is whole."""
    session, path = _started(world)
    fork = session.play(
        "Try it another way", [world.read("core.py")], [world.read("core.py")], words=("--fork-session",)
    )
    assert not fork.result().error
    assert_whole(fork.result(turn=1), path)


def test_the_latest_prompt_of_a_resumed_session_leads(world: World) -> None:
    """In a resumed session the focus is the new prompt."""
    world.write("core.py", made_module(100))
    path = world.write("bill.py", made_module(200, target=160))
    session = world.session()
    session.play("What do amber_12 and basil_13 do?", [world.read("core.py")])
    second = session.play("And settle_invoice in bill.py?", [world.read("bill.py")])
    wanted = path.read_text().split("\n").index("def settle_invoice(left_160, right_160):") + 1
    assert wanted in assert_narrowed(second.result(), path)


def test_the_newest_of_many_prompts_leads(world: World) -> None:
    """In a long conversation the focus is the newest prompt, not one of the oldest."""
    path = world.write("core.py", made_module(200, target=160))
    session = world.session()
    for number in (12, 25, 38, 51, 64, 77, 90, 103):
        session.play(f"What does {_name(number)} do?")
    last = session.play("And what is wrong in settle_invoice?", [world.read("core.py")])
    wanted = path.read_text().split("\n").index("def settle_invoice(left_160, right_160):") + 1
    assert wanted in assert_narrowed(last.result(), path)


def _name(number: int) -> str:
    """Return the name of a function of the made module."""
    found = [line for line in made_module(200).split("\n") if line.startswith("def ")][number]
    return found.removeprefix("def ").split("(")[0]
