"""Odd circumstances of ordinary sessions: other hooks, odd folders, background agents, wide characters, many files."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from checks import (
    CONTEXT_UNITS,
    assert_narrowed,
    assert_true_lines,
    assert_whole,
    delivery,
    file_lines,
    notice,
    numbered,
    units,
)
from driver import Client, Received, World, tool_results
from samples import made_module
from scripted_api import Script, Tool
from worlds import adopt, one_version


def _own_hook(world: World, event: str, script: str) -> None:
    """Give the user a hook of their own for Read: a shell script with the payload on its standard input."""
    path = world.home / f"own-{event}.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    hook = {"matcher": "Read", "hooks": [{"type": "command", "command": f"sh {path}"}]}
    world.settings(hooks={event: [hook]})


def test_a_read_that_another_hook_changed_gets_no_delivery(world: World) -> None:
    """The user's own hook rewrites the input last: what comes back is not the planned range, so nothing is delivered."""
    path = world.write("core.py", made_module(150))
    answer = (
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
        f'"updatedInput":{{"file_path":"{path}","offset":700,"limit":7}}}}}}'
    )
    _own_hook(world, "PreToolUse", f"sleep 3\necho '{answer}'")
    received = world.play("What does the import do?", [world.read("core.py")])
    assert [n for n, _ in numbered(received.result().text)] == list(range(700, 707))
    assert not any(c.startswith("PostToolUse") for c in received.ours)
    assert not any(numbered(c) for c in received.ours)


def test_a_file_that_changes_between_the_phases_gets_no_delivery(world: World) -> None:
    """The file is rewritten after the plan was made: the slices would be another text's, so none are shown."""
    path = world.write("core.py", made_module(150))
    _own_hook(
        world, "PreToolUse", f"sleep 3\nprintf '# new\\n' | cat - {path} > {path}.new && mv {path}.new {path}"
    )
    received = world.play("Look", [world.read("core.py")])
    assert_true_lines(received.result().text, path)
    assert not any(c.startswith("PostToolUse") for c in received.ours)


def test_another_hooks_context_is_shown_beside_ours(world: World) -> None:
    """A hook of the user's own keeps working: both contexts arrive."""
    path = world.write("core.py", made_module(150))
    answer = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"MINE"}}'
    _own_hook(world, "PostToolUse", f"echo '{answer}'")
    received = world.play("Look", [world.read("core.py")])
    assert_narrowed(received.result(), path)
    assert delivery(received, path)
    assert any(c.endswith("MINE") for c in received.contexts)


def test_folders_with_spaces_and_letters_outside_ascii_work(
    bare_world: World, marketplace: Path, prepared: Path, byte_code: Path, tmp_path: Path
) -> None:
    """The plugin, the home folder and the project may lie under any name."""
    world = bare_world
    adopt(world, prepared, byte_code)
    odd = tmp_path / "it's mine & ünï ☃"
    shutil.copytree(marketplace, odd / "plug in")
    shutil.copytree(world.data, odd / "data", symlinks=True)
    world.variables["SLICEGREP_HOME"] = str(odd / "data")
    world.project = odd / "my project"
    world.project.mkdir()
    world.install(odd / "plug in")
    path = world.write("core.py", made_module(150))
    received = world.play(
        "Look", [world.read("core.py")], [Tool("Bash", command="grep -n 'return total_7$' core.py")]
    )
    assert_narrowed(received.result(), path)
    assert delivery(received, path)
    text = received.result(turn=1).text if world.client.native else "\n".join(received.ours)
    assert "⟵ haven_7 " in text


def test_the_plugin_works_from_a_plugin_dir(
    bare_world: World, marketplace: Path, prepared: Path, byte_code: Path
) -> None:
    """`--plugin-dir` without any installation does the same."""
    world = bare_world
    adopt(world, prepared, byte_code)
    path = world.write("core.py", made_module(150))
    received = world.play("Look", [world.read("core.py")], words=("--plugin-dir", str(marketplace)))
    assert_narrowed(received.result(), path)
    assert delivery(received, path)


@one_version
def test_a_background_subagent_and_its_parent_read_at_the_same_time(world: World, claude: Client) -> None:
    """In the new client a subagent runs beside its parent: each gets its own narrowed read."""
    assert claude.native
    path = world.write("core.py", made_module(150))
    read = world.read("core.py")
    world.api.add(Script("sub", "[sub]", [[read], [read]]))
    agent = Tool("Agent", description="look", prompt="Look at core.py [sub]", subagent_type="general-purpose")
    wait = Tool("Bash", command="sleep 4")
    received = world.play("Look", [agent], [read], [wait], [read], allowed=("Read", "Agent", "Bash(sleep:*)"))
    inner = Received(0, "", "", "", world.api.turns_of("sub"), 0)
    assert_narrowed(received.result(turn=1), path)
    assert_whole(received.result(turn=3), path)
    results = tool_results(inner.messages)
    assert_narrowed(results["toolu_sub_0_0"], path)
    assert_whole(results["toolu_sub_1_0"], path)


def test_six_files_read_in_one_turn_are_all_narrowed(world: World) -> None:
    """Parallel hooks do not get in each other's way, and each context stays under the cap."""
    names = [f"part{n}.py" for n in range(6)]
    paths = [world.write(name, made_module(120 + n)) for n, name in enumerate(names)]
    received = world.play(
        "Look at all of it", [world.read(name) for name in names], SLICEGREP_HOOK_TIMEOUT="9"
    )
    for index, path in enumerate(paths):
        shown = assert_narrowed(received.result(index), path)
        assert f"{shown[0]}-{shown[-1]}" in notice(received, path)
        assert units(delivery(received, path)) < CONTEXT_UNITS + 100


def test_characters_of_two_code_units_stay_under_the_cap(world: World) -> None:
    """Emoji count twice in the client's cap: the texts stay under it, and whole."""
    text = made_module(200, target=50).replace("Return the", "Return 🧮🧾📒📕🗂🗃🗄📁📂 the")
    path = world.write("core.py", text)
    received = world.play("Compare settle_invoice with amber_96 and lotus_179", [world.read("core.py")])
    assert_narrowed(received.result(), path)
    text = delivery(received, path)
    assert_true_lines(text, path)
    assert units(text) < CONTEXT_UNITS + 100
    assert "persisted" not in received.text.lower()


def test_a_file_of_one_giant_line_is_as_without_the_plugin(world: World) -> None:
    """A minified file cannot be cut at lines: what the client says is what the model gets."""
    world.write("bundle.js", "!function(){" + "var a=1;" * 40_000 + "}();\n")
    plain = world.play("Look", [world.read("bundle.js")], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Look", [world.read("bundle.js")])
    assert received.result().text.strip() == plain.result().text.strip()
    assert received.ours == []


@pytest.mark.parametrize("name", ["missing.py", "folder.py"])
def test_a_read_that_fails_fails_as_without_the_plugin(world: World, name: str) -> None:
    """A missing file and a directory give the client's own error and nothing of ours."""
    (world.project / "folder.py").mkdir()
    plain = world.play("Look", [world.read(name)], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Look", [world.read(name)])
    assert received.result().error
    assert received.result().text.strip() == plain.result().text.strip()
    assert received.ours == []


@one_version
@pytest.mark.parametrize("lines", [700, 2500], ids=["29kB", "100kB"])
@pytest.mark.parametrize("question_first", [True, False], ids=["before", "after"])
def test_a_question_beside_a_long_pasted_log_leads_the_read(
    world: World, lines: int, *, question_first: bool
) -> None:
    """A prompt of 100 kB, as pasted logs are, still leads the read, wherever in it the question stands."""
    path = world.write("core.py", made_module(200, target=120))
    noise = "[12:40:31] INFO scheduler: queue drained\n" * lines
    question = "Why is settle_invoice wrong?"
    prompt = f"{question}\n{noise}" if question_first else f"{noise}\n{question}"
    received = world.play(prompt, [world.read("core.py")])
    wanted = file_lines(path).index("def settle_invoice(left_120, right_120):") + 1
    assert wanted in assert_narrowed(received.result(), path)


def test_what_was_just_edited_leads_the_next_read(world: World) -> None:
    """After an edit through a ranged read, the whole read is centred on what was edited."""
    path = world.write("core.py", made_module(200, target=130))
    start = file_lines(path).index("def settle_invoice(left_130, right_130):") + 1
    edit = Tool(
        "Edit",
        file_path=str(path),
        old_string="    total_130 = left_130 * 130\t+ right_130\n",
        new_string="    total_130 = settle_fee(left_130) + right_130\n",
    )
    received = world.play(
        "Go on.", [world.read("core.py", offset=start, limit=8)], [edit], [world.read("core.py")]
    )
    assert not received.result(turn=1).error, received.result(turn=1).text
    assert start + 2 in assert_narrowed(received.result(turn=2), path)


def test_what_is_kept_is_for_the_user_alone(world: World) -> None:
    """Every folder that slicegrep makes is 0700 and every file 0600."""
    world.write("core.py", made_module(150))
    world.play("Look", [world.read("core.py")], [Tool("Bash", command="grep -n math core.py")])
    seen = 0
    for folder, folders, names in os.walk(world.data):
        for name in (*folders, *names):
            path = Path(folder) / name
            with suppress(FileNotFoundError):  # an engine is at work there
                status = path.lstat()
                if not stat.S_ISLNK(status.st_mode):
                    seen += 1
                    mode = stat.S_IMODE(status.st_mode)
                    assert mode == (0o700 if stat.S_ISDIR(status.st_mode) else 0o600), (path, oct(mode))
    assert seen > 3


def test_doctor_finds_nothing_wrong_in_a_session(world: World) -> None:
    """`slicegrep doctor`, run by the agent itself, ends well."""
    received = world.play(
        "Try it", [Tool("Bash", command="slicegrep doctor")], allowed=("Bash(slicegrep:*)",)
    )
    assert not received.result().error, received.result().text
    assert "interpreter" in received.result().text.lower() or "python" in received.result().text.lower()


@pytest.mark.parametrize(
    "extra", [{}, {"path": "pkg"}, {"path": "pkg/core.py"}, {"glob": "*.py"}, {"-i": True}]
)
def test_grep_tool_variants_are_annotated(world: World, extra: dict[str, object]) -> None:
    """Grep with a folder, a file, a glob or -i: the hit is annotated whatever form its line has."""
    world.write("pkg/core.py", "def f(x):\n    needle = x\n    return needle + 1\n")
    call = Tool("Grep", pattern="needle = x", output_mode="content", **{"-n": True, **extra})
    received = world.play("Where?", [call], words=("--tools", "Read,Edit,Bash,Grep"))
    assert "needle = x" in received.result().text
    text = received.result().text if world.client.native else "\n".join(received.ours)
    assert "⟵ f 1-3" in text
