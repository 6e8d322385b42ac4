"""Several readers at once: subagents, parallel calls of one turn, parallel sessions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from checks import assert_narrowed, assert_whole, delivery, notice
from driver import NATIVE, Received, World, tool_results
from samples import made_module
from scripted_api import Script, Tool

EVERYTHING = ("Read", "Edit", "Agent", "Task", "Bash(grep:*)")


def _agent(world: World, marker: str) -> Tool:
    extra = {"run_in_background": False} if world.client.version == NATIVE else {}
    name = "Agent" if world.client.version == NATIVE else "Task"
    words = {"description": "look at it", "subagent_type": "general-purpose"}
    return Tool(name, prompt=f"Find the rounding in core.py {marker}", **words, **extra)


def _seen_by(world: World, script: str) -> Received:
    return Received(0, "", "", "", world.api.turns_of(script), 0)


def test_a_subagent_reads_the_file_that_its_parent_has_read(world: World) -> None:
    """Memory is kept by agent: narrowed once for the parent, once for the subagent (claude-code#76726, codebase-memory#288)."""
    path = world.write("core.py", made_module(150))
    read = world.read("core.py")
    world.api.add(Script("sub", "[sub]", [[read], [read]]))
    received = world.play("Look at core.py", [read], [_agent(world, "[sub]")], [read], allowed=EVERYTHING)
    inner = _seen_by(world, "sub")
    assert_narrowed(received.result(turn=0), path)
    assert_narrowed(tool_results(inner.messages)["toolu_sub_0_0"], path)
    assert_whole(tool_results(inner.messages)["toolu_sub_1_0"], path)
    assert_whole(received.result(turn=2), path)
    assert len(inner.ours) == 2
    assert len(received.ours) == 2
    assert delivery(inner, path)


def test_a_parent_reads_the_file_that_its_subagent_has_read(world: World) -> None:
    """A subagent's read does not use up the parent's interception."""
    path = world.write("core.py", made_module(150))
    read = world.read("core.py")
    world.api.add(Script("sub", "[sub]", [[read]]))
    received = world.play("Look at core.py", [_agent(world, "[sub]")], [read], allowed=EVERYTHING)
    assert_narrowed(tool_results(_seen_by(world, "sub").messages)["toolu_sub_0_0"], path)
    assert_narrowed(received.result(turn=1), path)


def test_a_subagent_is_answered_by_its_own_task(world: World) -> None:
    """The focus inside a subagent is its own task prompt, not the parent's."""
    path = world.write("core.py", made_module(200, target=150))
    world.api.add(Script("sub", "[sub]", [[world.read("core.py")]]))
    agent = _agent(world, "[sub]")
    agent.input["prompt"] = "Explain what settle_invoice does [sub]"
    world.play("Who calls basil_13 and cedar_14?", [agent], allowed=EVERYTHING)
    shown = assert_narrowed(tool_results(_seen_by(world, "sub").messages)["toolu_sub_0_0"], path)
    wanted = path.read_text().split("\n").index("def settle_invoice(left_150, right_150):") + 1
    assert wanted in shown


def test_two_reads_in_one_turn_are_each_narrowed_and_told_apart(world: World) -> None:
    """Each result belongs to its call, and each context names its own file and range."""
    one = world.write("one.py", made_module(120))
    two = world.write("two.py", made_module(160).replace("total_", "sum_"))
    received = world.play("Look at one.py and two.py", [world.read("two.py"), world.read("one.py")])
    for index, path in ((0, two), (1, one)):
        shown = assert_narrowed(received.result(index), path)
        assert f"{shown[0]}-{shown[-1]}" in notice(received, path)
        assert f"{shown[0]}-{shown[-1]}" in delivery(received, path)


def test_one_file_read_twice_in_one_turn_is_narrowed_once(world: World) -> None:
    """Of two parallel reads of one file exactly one is narrowed; which one is the client's order, so match by range."""
    path = world.write("core.py", made_module(150))
    received = world.play("Look", [world.read("core.py"), world.read("core.py")])
    sizes = sorted(len(received.result(i).text) for i in (0, 1))
    assert sizes[0] < 0.6 * path.stat().st_size <= sizes[1]
    assert len(received.ours) == 2


def test_eight_sessions_at_once_each_get_their_own_interception(world: World) -> None:
    """Parallel sessions of one user in one project share the home folder and nothing else."""
    path = world.write("core.py", made_module(150))
    sessions = [world.session() for _ in range(8)]
    with ThreadPoolExecutor(4) as pool:
        runs = list(
            pool.map(
                lambda s: s.play("Look at core.py", [world.read("core.py")], [world.read("core.py")]),
                sessions,
            )
        )
    for received in runs:
        assert_narrowed(received.result(), path)
        assert_whole(received.result(turn=1), path)
        assert len(received.ours) == 2
