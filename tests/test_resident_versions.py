"""Two slicegreps and one resident engine: the newer one serves, whichever of them called first, and a broken one harms nobody."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from resident_stand import House, copied_plugin, house, large_module, until

ASKING = {"session_id": "s-0", "tool_name": "Read"}
"""A question that is answered with nothing."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """Yield a home folder whose plugin folder is a copy; its engines are ended."""
    with house(tmp_path, root=tmp_path / "one") as made:
        copied_plugin(made.root, made.home)
        yield made


def change(root: Path, version: str = "") -> None:
    """Change a plugin folder: a line of code more, or another version, and the time that goes with it."""
    if version:
        path = root / ".claude-plugin" / "plugin.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    else:
        path = root / "plugin" / "slicegrep" / "hook" / "read.py"
        path.write_text(path.read_text() + "\n# more\n")


def read(home: House, path: Path, session: str) -> bytes:
    home.session_id = session
    return home.before(path)


def test_code_that_changed_in_place_is_answered_by_itself_and_replaces_the_engine(home: House) -> None:
    """The engine that loaded the old code is asked to leave; the new one serves the new code."""
    path = home.file("core.py", large_module())
    old = home.start()
    assert home.ask("pre-read", ASKING)[0] == "answered"
    change(home.root)
    assert b"updatedInput" in read(home, path, "s-1")
    new = home.engine(not_=old)
    home.gone(old)
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [new]
    assert home.rows("fail") == []
    assert not (home.run / "engine.crashes").exists()


def test_a_newer_version_elsewhere_replaces_the_engine_and_the_older_works_alone(home: House) -> None:
    """As after an update while old sessions go on: no throwing out in turns."""
    path = home.file("core.py", large_module())
    old = home.start()
    first, second = home.root, home.folder / "two"
    shutil.copytree(first, second)
    change(second, "99.0.0")
    assert home.ask("pre-read", ASKING)[0] == "answered"  # of the older: nothing changed for it
    home.root = second
    assert b"updatedInput" in read(home, path, "s-1")
    new = home.engine(not_=old)
    home.gone(old)
    assert home.ask("pre-read", ASKING)[0] == "answered"
    home.root = first
    for n in range(2, 5):
        assert b"updatedInput" in read(home, path, f"s-{n}")
        assert home.ask("pre-read", ASKING)[0] == "cold"
    assert home.engines() == [new]


def test_the_same_code_in_another_folder_is_served(home: House) -> None:
    """A marketplace and its installed copy are one slicegrep, whatever the times of their files."""
    engine = home.start()
    second = home.folder / "two"
    shutil.copytree(home.root, second, copy_function=shutil.copy)
    assert home.ask("pre-read", ASKING, root=second)[0] == "answered"
    assert home.engines() == [engine]


@pytest.mark.parametrize("harm", ["manifest", "key", "package"])
def test_a_caller_whose_folder_is_broken_does_not_end_the_engine(home: House, harm: str) -> None:
    """Half an update: the caller works alone, or not at all."""
    engine = home.start()
    second = home.folder / "two"
    shutil.copytree(home.root, second)
    if harm == "manifest":
        (second / ".claude-plugin" / "plugin.json").write_text('{"version": "99')
    elif harm == "key":
        (second / "plugin" / "requirements.key").unlink()
    else:
        shutil.rmtree(second / "plugin" / "slicegrep")
    assert home.ask("pre-read", ASKING, root=second)[0] == "cold"
    assert home.ask("pre-read", ASKING)[0] == "answered"
    assert home.engines() == [engine]


def test_an_engine_whose_own_folder_vanished_leaves(home: House) -> None:
    """An old version is deleted after an update: its engine goes by itself, and does so well."""
    engine = home.start(idle=40)
    shutil.rmtree(home.root)
    home.gone(engine)
    assert not (home.run / "engine.running").exists()
    assert not (home.run / "engine.sock").exists()


def test_code_that_changes_while_it_is_loaded_is_not_served(home: House) -> None:
    """Which of both is in memory cannot be known: the engine ends, without a crash, and may be started again."""
    marker = home.folder / "loading"
    path = home.root / "plugin" / "slicegrep" / "resident" / "warm.py"
    text = path.read_text()
    slow = "import os, time\nopen({0!r}, 'w').close()\nwhile os.path.exists({0!r}):\n    time.sleep(0.02)\n".format(
        str(marker)
    )
    head = "from __future__ import annotations\n"
    path.write_text(text.replace(head, head + slow, 1))
    core = home.file("core.py", large_module())
    assert b"updatedInput" in read(home, core, "s-1")
    until(marker.exists, "an engine that loads")
    (engine,) = home.engines()
    change(home.root)
    marker.unlink()
    home.gone(engine)
    assert not (home.run / "engine.sock").exists()
    assert not (home.run / "engine.running").exists()
    assert not (home.run / "engine.crashes").exists()


def test_an_engine_that_cannot_load_is_tried_three_times_and_then_not_for_a_day(home: House) -> None:
    """A plugin folder that hooks can use and the engine cannot: every call is answered, by itself."""
    path = home.root / "plugin" / "slicegrep" / "resident" / "warm.py"
    path.write_text(path.read_text() + "\nraise RuntimeError\n")
    core = home.file("core.py", large_module())
    for n in range(3):
        assert b"updatedInput" in read(home, core, f"s-{n}")
        starting = home.run / "engine.starting"
        until(lambda: not home.processes() and (home.run / "engine.running").exists(), "a failed start")
        assert starting.exists(), "what keeps the next call from trying at once"
        os.utime(starting, (1, 1))
    assert b"updatedInput" in read(home, core, "s-3")
    until((home.run / "engine.off").exists, "the engine, switched off")
    until(lambda: not home.processes(), "the end of the last one")
    (home.run / "engine.starting").unlink(missing_ok=True)
    assert b"updatedInput" in read(home, core, "s-4")
    assert home.processes() == []
    assert not (home.run / "engine.starting").exists()
    assert home.rows("fail") == []
