"""The plugin as a package: its manifests, its installation, its command on Bash's PATH, its removal."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from checks import assert_narrowed, assert_whole
from driver import Client, World, network_environment
from samples import made_module
from scripted_api import Tool
from worlds import adopt, one_version

FIRST_SET_UP_SECONDS = 600
"""The wheels of some 30 packages on a slow line, on two busy cores."""


@one_version
@pytest.mark.parametrize(
    "words",
    [
        ("--profile", "directory", "."),
        ("--profile", "directory", ".claude-plugin/plugin.json"),
        (".claude-plugin/marketplace.json",),
    ],
    ids=["folder", "plugin", "marketplace"],
)
def test_the_manifests_validate_without_a_warning(
    bare_world: World, marketplace: Path, claude: Client, words: tuple[str, ...]
) -> None:
    """`claude plugin validate --strict` finds nothing, on the folder and on each manifest, also for the directory."""
    assert claude.native
    bare_world.project = marketplace
    done = bare_world.command("plugin", "validate", "--strict", *words)
    assert done.returncode == 0, done.stdout
    assert "Validation passed" in done.stdout
    for word in ("warning", "refuses a submission", "Unknown field", "ICON_MISSING"):
        assert word not in done.stdout, done.stdout


def test_the_plugin_is_listed_as_enabled(world: World) -> None:
    """After marketplace add and install the client lists the plugin, enabled."""
    done = world.command("plugin", "list")
    assert done.returncode == 0, done.stderr
    assert "slicegrep@slicegrep" in done.stdout
    assert "enabled" in done.stdout.lower()
    assert "error" not in done.stdout.lower()


def test_sessions_leave_the_plugins_folder_as_it_was(
    world: World, marketplace: Path, installed: Path
) -> None:
    """No byte code, log or state is written into the plugin, where the client runs it from or keeps a copy."""
    roots = (marketplace, installed / ".claude" / "plugins" / "cache")

    def listing() -> set[str]:
        return {str(p) for root in roots for p in root.rglob("*") if p.is_file()}

    before = listing()
    world.write("core.py", made_module(150))
    world.play("Look", [world.read("core.py")], [Tool("Bash", command="grep -n math core.py")])
    assert before
    assert listing() == before


def test_the_command_is_on_the_path_of_bash(world: World) -> None:
    """While the plugin is enabled, `slicegrep` and `fr` run in the session's Bash."""
    received = world.play(
        "Try it",
        [Tool("Bash", command="slicegrep --version"), Tool("Bash", command="fr --version")],
        allowed=("Bash(slicegrep:*)", "Bash(fr:*)"),
    )
    version = json.loads((Path(__file__).parents[2] / ".claude-plugin" / "plugin.json").read_text())[
        "version"
    ]
    for index in (0, 1):
        assert not received.result(index).error, received.result(index).text
        assert version in received.result(index).text


def test_stats_in_the_session_tell_what_was_done(world: World) -> None:
    """`slicegrep stats --json` counts the interception, the whole file read again, and the annotated hit."""
    world.write("core.py", made_module(150))
    received = world.play(
        "Look",
        [world.read("core.py")],
        [world.read("core.py")],
        [Tool("Bash", command="grep -n 'return total_7$' core.py")],
        [Tool("Bash", command="slicegrep stats --json")],
        allowed=("Read", "Bash(grep:*)", "Bash(slicegrep:*)"),
    )
    told = received.result(turn=3)
    assert not told.error, told.text
    figures = json.loads(told.text[told.text.index("{") : told.text.rindex("}") + 1])
    total, [project] = figures["total"], figures["projects"]
    assert Path(project).name == world.project.name
    assert {k: total[k] for k in ("reads", "whole_again", "annotated")} == {
        "reads": 1,
        "whole_again": 1,
        "annotated": 1,
    }
    assert 0 < total["tokens_after"] < total["tokens_before"]
    assert total["tokens_again"] >= 0.9 * total["tokens_before"]
    spent = total["tokens_after"] + total["tokens_again"] + total["tokens_annotations"]
    assert total["net"] == total["tokens_before"] - spent
    assert figures["fail_opens"] == {}


def test_an_uninstalled_plugin_leaves_sessions_plain(
    bare_world: World, marketplace: Path, prepared: Path, byte_code: Path
) -> None:
    """Installed, a read is narrowed; after `claude plugin uninstall` the same read is whole."""
    world = bare_world
    adopt(world, prepared, byte_code)
    path = world.write("core.py", made_module(150))
    world.install(marketplace)
    assert_narrowed(world.play("Look", [world.read("core.py")]).result(), path)
    done = world.command("plugin", "uninstall", "slicegrep@slicegrep")
    assert done.returncode == 0, done.stderr
    received = world.play("Look", [world.read("core.py")])
    assert_whole(received.result(), path)
    assert received.ours == []


@pytest.mark.slow
@one_version
def test_a_first_session_sets_itself_up_and_the_next_intercepts(
    unprepared_world: World, claude: Client
) -> None:
    """From nothing: the first session is plain and starts set-up, which outlives it; later the same read is narrowed."""
    assert claude.native
    world = unprepared_world
    world.variables.update(network_environment())
    path = world.write("core.py", made_module(150))
    first = world.play("Look", [world.read("core.py")])
    assert_whole(first.result(), path)
    assert first.ours == []
    deadline = time.monotonic() + FIRST_SET_UP_SECONDS
    while not list(world.data.glob("env/*/.ready")):
        assert time.monotonic() < deadline, _log(world)
        time.sleep(0.5)
    later = world.play("Look", [world.read("core.py")])
    assert_narrowed(later.result(), path)
    assert oct(world.data.stat().st_mode & 0o777) == "0o700"


def _log(world: World) -> str:
    return "\n".join(p.read_text("utf-8", "replace")[-4000:] for p in world.data.glob("log/*"))
