"""A whole-file Read of a large source file, as the model gets it: the range, the map, the slices, and what follows."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import tiktoken

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
from samples import made_module, real_source
from scripted_api import Request, Tool, flat_text
from worlds import one_version

THINKING_SECONDS = 3
"""What a model takes at least to answer. What was printed is noted in the background meanwhile."""


def test_a_large_file_is_narrowed_and_its_map_and_slices_follow(world: World) -> None:
    """The result is one true range; the map and slices come after it, each context under the client's cap."""
    path = world.write("configparser.py", real_source("configparser.py"))
    received = world.play("How does the parser report a duplicate option?", [world.read("configparser.py")])
    shown = assert_narrowed(received.result(), path)
    first, second = notice(received, path), delivery(received, path)
    assert f"{shown[0]}-{shown[-1]}" in first
    assert "partial" in first
    assert numbered(first) == []
    assert f"{shown[0]}-{shown[-1]}" in second
    assert "FILE MAP" in second
    assert re.search(r"\b\d+-\d+\b.*\bdef ", second)
    sliced = assert_true_lines(second, path)
    assert not set(sliced) & set(shown), "a slice repeats lines of the range"
    assert max(units(first), units(second)) < CONTEXT_UNITS + len(
        "PostToolUse:Read hook additional context: "
    )
    whole = units(path.read_text())
    assert units(received.result().text) + units(first) + units(second) < 0.65 * whole


def test_the_hook_answers_hold_no_permission_decision(world: World) -> None:
    """The client's own log of what the hooks printed has updatedInput and contexts, and never a decision."""
    world.write("core.py", made_module(150))
    received = world.play("Look at core.py", [world.read("core.py")])
    assert "updatedInput" in received.debug
    assert "additionalContext" in received.debug
    printed = [line for line in received.debug.splitlines() if "hookSpecificOutput" in line]
    assert printed
    assert not any("permissionDecision" in line for line in printed)


def test_what_the_prompt_names_is_in_the_range_that_read_returns(world: World) -> None:
    """A function named in the prompt is inside the narrowed range."""
    path = world.write("core.py", made_module(200, target=137))
    received = world.play("Why does settle_invoice return a wrong total?", [world.read("core.py")])
    shown = assert_narrowed(received.result(), path)
    assert file_lines(path).index("def settle_invoice(left_137, right_137):") + 1 in shown


@pytest.mark.parametrize("command", ["cat log.txt", "cat log.txt missing.txt"], ids=["success", "failure"])
def test_a_line_of_a_traceback_seen_in_bash_is_shown_first(world: World, command: str) -> None:
    """A file:line in what a command printed, failed commands' too, is inside the narrowed range of the next read."""
    path = world.write("core.py", made_module(200))
    line = next(n for n, text in enumerate(file_lines(path), 1) if text.startswith("    total_88 ="))
    world.write(
        "log.txt",
        "Traceback (most recent call last):\n"
        f'  File "{path}", line {line}, in ember_88\n'
        "TypeError: unsupported operand\n",
    )

    def after_a_while(_: Request) -> Sequence[Tool]:
        time.sleep(THINKING_SECONDS)
        return [world.read("core.py")]

    received = world.play("The run fails, fix it.", [Tool("Bash", command=command)], after_a_while)
    assert received.result().error == ("missing" in command)
    assert line in assert_narrowed(received.result(turn=1), path)


def test_what_was_grepped_before_is_in_the_range(world: World) -> None:
    """The pattern of an earlier Bash grep leads the next read to that function."""
    path = world.write("core.py", made_module(200, target=171))
    received = world.play(
        "There is a bug.", [Tool("Bash", command="grep -rn 'def settle_invoice' .")], [world.read("core.py")]
    )
    wanted = file_lines(path).index("def settle_invoice(left_171, right_171):") + 1
    assert wanted in assert_narrowed(received.result(turn=1), path)


def test_an_edit_of_a_shown_line_succeeds_right_after(world: World) -> None:
    """Edit works right after an intercepted Read (jcodemunch-mcp#241, lean-ctx#637, claude-mem#2094)."""
    path = world.write("core.py", made_module(200))

    def edit(request: Request) -> Sequence[Tool]:
        text = tool_results(request.messages)["toolu_m0_0_0"].text
        chosen = next(line for _, line in numbered(text) if "total_" in line and "*" in line)
        return [Tool("Edit", file_path=str(path), old_string=chosen, new_string=chosen + "  # seen")]

    received = world.play("Change core.py", [world.read("core.py")], edit)
    assert received.ours
    assert not received.result(turn=1).error, received.result(turn=1).text
    assert path.read_text().count("  # seen") == 1


def test_an_edit_copied_from_a_slice_succeeds(world: World) -> None:
    """Several lines copied from a slice of the context are accepted by Edit (lean-ctx#628)."""
    path = world.write("core.py", made_module(200, target=20))
    chosen: list[str] = []

    def edit(request: Request) -> Sequence[Tool]:
        contexts = flat_text(request.messages[-1]["content"]).split("<system-reminder>")
        text = next(c for c in contexts if "PostToolUse:Read" in c and "slicegrep" in c)
        lines = numbered(text)
        start = next(i for i, (_, line) in enumerate(lines) if line.rstrip() and "total_" in line)
        run = [line for offset, (n, line) in enumerate(lines[start:]) if n == lines[start][0] + offset][:4]
        chosen.append("\n".join(run))
        return [Tool("Edit", file_path=str(path), old_string=chosen[0], new_string="    changed = 1")]

    received = world.play("Compare settle_invoice with amber_96 and lotus_179", [world.read("core.py")], edit)
    assert chosen
    assert not received.result(turn=1).error, (chosen, received.result(turn=1).text)
    assert "    changed = 1" in path.read_text()


def test_the_second_read_returns_the_whole_file(world: World) -> None:
    """Reading again gives all of it, in both versions (claude-mem#1719, claude-code#88118)."""
    path = world.write("configparser.py", real_source("configparser.py"))
    received = world.play("Look", [world.read("configparser.py")], [world.read("configparser.py")])
    assert_narrowed(received.result(), path)
    assert_whole(received.result(turn=1), path)
    assert len(received.ours) == 2


def test_a_third_read_is_not_intercepted_either(world: World) -> None:
    """After the whole file was read, a ranged read and an edit go on as without the plugin."""
    path = world.write("core.py", made_module(150))
    received = world.play(
        "Look",
        [world.read("core.py")],
        [world.read("core.py")],
        [world.read("core.py", offset=10, limit=5)],
        [Tool("Edit", file_path=str(path), old_string="import math", new_string="import math as m")],
    )
    assert [n for n, _ in numbered(received.result(turn=2).text)] == [10, 11, 12, 13, 14]
    assert not received.result(turn=3).error
    assert len(received.ours) == 2


UNTOUCHED: dict[str, tuple[str, dict[str, int]]] = {
    "range": ("core.py", {"offset": 400, "limit": 30}),
    "limit": ("core.py", {"limit": 900}),
    "offset": ("core.py", {"offset": 3}),
    "small": ("small.py", {}),
    "markdown": ("guide.md", {}),
    "json": ("data.json", {}),
    "text": ("notes.txt", {}),
}
"""Calls of one conversation that do not qualify: the file and the arguments of Read."""


@pytest.fixture(scope="module")
def untouched(shared_world: World) -> Received:
    """Return what the model received in a conversation that makes all of UNTOUCHED."""
    for name, _ in UNTOUCHED.values():
        shared_world.write(name, made_module(4 if name == "small.py" else 200))
    return shared_world.play("Look", *([shared_world.read(n, **a)] for n, a in UNTOUCHED.values()))


@pytest.mark.parametrize("kind", UNTOUCHED)
def test_a_call_that_does_not_qualify_is_untouched(
    untouched: Received, shared_world: World, kind: str
) -> None:
    """A ranged read, a small file, and files that are not source code arrive as without the plugin (claude-mem#2193)."""
    name, arguments = UNTOUCHED[kind]
    path, turn = shared_world.project / name, list(UNTOUCHED).index(kind)
    assert untouched.ours_after(turn) == []
    shown = assert_true_lines(untouched.result(turn=turn).text, path)
    start = arguments.get("offset", 1)
    count = arguments.get("limit", len(file_lines(path)))
    assert shown[0] == start
    assert shown[-1] in (min(start + count - 1, len(file_lines(path))), len(file_lines(path)) - 1)


def test_a_notebook_is_untouched(world: World) -> None:
    """A notebook ignores ranges, so it is read as it is."""
    cell = '{"cell_type":"code","metadata":{},"outputs":[],"execution_count":null,"source":["value = 1\\n"]}'
    world.write(
        "n.ipynb", f'{{"nbformat":4,"nbformat_minor":5,"metadata":{{}},"cells":[{",".join([cell] * 300)}]}}'
    )
    received = world.play("Look", [world.read("n.ipynb")])
    assert received.ours == []
    assert received.result().text.count("value = 1") == 300


@one_version
def test_allow_large_is_untouched(world: World, claude: Client) -> None:
    """A model that says it needs all of it gets all of it (clients before `allow_large` refuse the parameter themselves)."""
    assert claude.native
    path = world.write("core.py", made_module(200))
    received = world.play("Look", [world.read("core.py", allow_large=True)])
    assert_whole(received.result(), path)
    assert received.ours == []


def test_an_excluded_path_is_untouched(world: World) -> None:
    """`SLICEGREP_HOOK_EXCLUDE` exempts what its globs match, and nothing else (codebase-memory#188)."""
    kept = world.write("vendor/core.py", made_module(150))
    other = world.write("core.py", made_module(150))
    received = world.play(
        "Look",
        [world.read("vendor/core.py")],
        [world.read("core.py")],
        SLICEGREP_HOOK_EXCLUDE="*.rb,**/vendor/**",
    )
    assert_whole(received.result(), kept)
    assert_narrowed(received.result(turn=1), other)


def test_a_plugin_option_counts_and_the_environment_wins(world: World) -> None:
    """An option set by /plugin reaches the hook; the environment variable of the same knob overrides it."""
    path = world.write("core.py", made_module(150))
    world.settings(
        pluginConfigs={"slicegrep@slicegrep": {"options": {"exclude": "*.py", "min_tokens": 1000}}},
    )
    by_option = world.play("Look", [world.read("core.py")])
    assert_whole(by_option.result(), path)
    by_variable = world.play("Look", [world.read("core.py")], SLICEGREP_HOOK_EXCLUDE="*.rb")
    assert_narrowed(by_variable.result(), path)


def test_a_smaller_budget_shows_less(world: World) -> None:
    """`SLICEGREP_HOOK_BUDGET` and `SLICEGREP_HOOK_MAX_BUDGET` bound what the model is made to read."""
    path = world.write("configparser.py", real_source("configparser.py"))
    sizes = []
    for most in ("1200", "4000"):
        received = world.play(
            "How are sections, options, defaults and interpolation read and written?",
            [world.read("configparser.py")],
            SLICEGREP_HOOK_MAX_BUDGET=most,
        )
        assert_narrowed(received.result(), path)
        sizes.append(
            units(received.result().text) + units(notice(received, path)) + units(delivery(received, path))
        )
    assert sizes[0] < sizes[1]
    assert sizes[0] < 1200 * 5


def test_the_person_is_told_only_when_asked_for(world: World) -> None:
    """`SLICEGREP_HOOK_NOTICE=on` sends one line to the person; by default there is none."""
    world.write("core.py", made_module(150))
    for wanted, extra in ((0, {}), (1, {"SLICEGREP_HOOK_NOTICE": "on"})):
        received = world.play("Look", [world.read("core.py")], **extra)
        parsed = [line for line in received.debug.splitlines() if "Parsed initial response" in line]
        assert sum('"systemMessage"' in line for line in parsed) == wanted


def test_nothing_is_written_beside_the_users_files(world: World) -> None:
    """After an interception the project holds the user's files and nothing else."""
    world.write("core.py", made_module(150))
    world.play("Look", [world.read("core.py")], [Tool("Bash", command="grep -n math core.py")])
    assert [p.name for p in world.project.rglob("*")] == ["core.py"]


def test_the_budget_is_kept_by_an_exact_count(
    shared_world: World, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For real files, all that an interception makes the model read is within the largest budget and 60% of the file."""
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(prepared / "vocab"))
    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    names = ("argparse.py", "configparser.py", "subprocess.py", "typing.py", "difflib.py", "shutil.py")
    paths = [shared_world.write(name, real_source(name)) for name in names]
    received = shared_world.play(
        "How are errors of the arguments reported, and who calls that?",
        *([shared_world.read(n)] for n in names),
    )
    for turn, path in enumerate(paths):
        assert_narrowed(received.result(turn=turn), path)
        parts = [received.result(turn=turn).text.rstrip(), notice(received, path), delivery(received, path)]
        spent = sum(len(encode(part)) for part in parts)
        whole = len(encode("\n".join(f"{n}\t{line}" for n, line in enumerate(file_lines(path), 1))))
        assert spent <= 1.05 * min(4000, 0.6 * whole) + 2 * len(
            encode("PreToolUse:Read hook additional context: ")
        )
