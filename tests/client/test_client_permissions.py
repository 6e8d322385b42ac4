"""The user's own rules stay in force, and a read that they refuse shows nothing of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import assert_narrowed, numbered
from driver import Received, World
from samples import made_module
from scripted_api import Tool


def _assert_nothing_leaked(received: Received, path: Path, index: int = 0, turn: int = 0) -> None:
    assert received.result(index, turn).error
    text = received.text
    for line in path.read_text().split("\n"):
        bare = line.strip()
        assert len(bare) < 12 or bare not in text, bare
    for context in received.ours:
        assert not (str(path) in context and (numbered(context) or "FILE MAP" in context))


def test_an_ask_rule_leaks_nothing(world: World) -> None:
    """A read that must be asked for and is not granted shows no line, no name, no map (ast-bro#54, rtk#260)."""
    path = world.write("secret.py", made_module(150, target=70))
    world.settings(permissions={"ask": ["Read(secret.py)"]})
    received = world.play("What does settle_invoice do?", [world.read("secret.py")], mode="default")
    _assert_nothing_leaked(received, path)


def test_a_deny_rule_leaks_nothing(world: World) -> None:
    """A denied read stays denied and shows nothing."""
    path = world.write("secret.py", made_module(150, target=70))
    world.settings(permissions={"deny": ["Read(secret.py)"]})
    received = world.play("What does settle_invoice do?", [world.read("secret.py")])
    _assert_nothing_leaked(received, path)
    assert received.ours == []


@pytest.mark.parametrize("mode", ["default", "dontAsk"])
def test_a_file_outside_the_workspace_leaks_nothing(world: World, mode: str) -> None:
    """A read outside the workspace that nobody granted shows nothing."""
    path = world.project.parent / "outside.py"
    path.write_text(made_module(150, target=70))
    received = world.play(
        "What does settle_invoice do?", [Tool("Read", file_path=str(path))], mode=mode, allowed=("Edit",)
    )
    _assert_nothing_leaked(received, path)


def test_a_refused_read_beside_a_granted_one_leaks_nothing(world: World) -> None:
    """In one turn, the granted read gets its map and the refused one nothing."""
    secret = world.write(
        "secret.py", made_module(150, target=70).replace("total_", "hidden_").replace("turn_", "veil_")
    )
    granted = world.write("core.py", made_module(150).replace("step", "stage"))
    world.settings(permissions={"ask": ["Read(secret.py)"]})
    received = world.play(
        "What does settle_invoice do?", [world.read("secret.py"), world.read("core.py")], mode="default"
    )
    assert received.result(0).error
    assert "hidden_" not in received.text
    assert "veil_" not in received.text
    assert_narrowed(received.result(1), granted)
    assert not any(str(secret) in c and numbered(c) for c in received.ours)


def test_a_read_granted_after_a_refusal_still_works(world: World) -> None:
    """After a refused read the same file can be read, edited and searched when the rule is gone; nothing is stuck."""
    path = world.write("core.py", made_module(150))
    session = world.session()
    world.settings(permissions={"ask": ["Read(core.py)"]})
    first = session.play("Look", [world.read("core.py")], mode="default")
    _assert_nothing_leaked(first, path)
    world.settings(permissions={})
    edit = Tool("Edit", file_path=str(path), old_string="import math", new_string="import math as m")
    second = session.play("Look again", [world.read("core.py")], [edit])
    assert not second.result(turn=0).error
    assert not second.result(turn=1).error
