"""The client without the plugin: what the other tests' assertions would see if nothing were intercepted."""

from __future__ import annotations

import pytest

from checks import assert_narrowed, assert_whole
from driver import World
from samples import made_module


def test_a_large_file_arrives_whole_without_the_plugin(bare_world: World) -> None:
    """A plain Read of a large file is whole, and no context names slicegrep."""
    path = bare_world.write("core.py", made_module(200))
    received = bare_world.play("Look at core.py", [bare_world.read("core.py")])
    assert_whole(received.result(), path)
    assert received.ours == []
    with pytest.raises(AssertionError):
        assert_narrowed(received.result(), path)


def test_calls_of_one_turn_are_told_apart_by_id(bare_world: World) -> None:
    """Two reads in one turn come back under their own ids."""
    one, two = bare_world.write("one.py", "first = 1\n"), bare_world.write("two.py", "second = 2\n")
    received = bare_world.play("Look", [bare_world.read("two.py"), bare_world.read("one.py")])
    assert_whole(received.result(0), two)
    assert_whole(received.result(1), one)
