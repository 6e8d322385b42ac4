"""Search output, as the model gets it: every line the tool printed, with the enclosing definition behind true hits."""

from __future__ import annotations

import re
import subprocess

import pytest

from checks import CONTEXT_UNITS, units
from driver import NATIVE, NODE, Client, Received, World
from scripted_api import Tool

LEDGER = '''import math

NEEDLE = 1

class Ledger:
    """Keeps needle rows."""

    def post(self, row):
        if row:
            needle = math.floor(row)
            return needle  # 10:20
        return None


def outer():
    def inner():
        return "needle: 2026-01-02 10:20"
    return inner

needle = outer
'''

SUFFIX = re.compile(r" ⟵ (.+) (\d+)-(\d+)$")

HITS = {
    6: '    """Keeps needle rows.""" ⟵ Ledger 5-12',
    10: "            needle = math.floor(row) ⟵ Ledger.post 8-12",
    11: "            return needle  # 10:20 ⟵ Ledger.post 8-12",
    17: '        return "needle: 2026-01-02 10:20" ⟵ outer.inner 16-17',
    20: "needle = outer",
}
"""What `grep -n needle` of the file below should become: line number, text, suffix."""

TOOLS = ("--tools", "Read,Edit,Bash,Grep")


def _ledger(world: World, name: str = "pkg/ledger.py") -> None:
    world.write(name, LEDGER)


def _bash(command: str) -> Tool:
    return Tool("Bash", command=command)


def _assert_annotated(
    received: Received, client: Client, prefix: str, *, turn: int = 0, numbers: tuple[int, ...] = tuple(HITS)
) -> None:
    """Assert that the result is these hits, annotated in the result itself or, in the old client, in a context.

    The new client's own grep prints `a.py` where the system's prints `./a.py`; it is there once its shell is ready.
    """
    result = received.result(turn=turn)
    assert not result.error, result.text
    lines = [line.removeprefix("./") for line in result.text.strip().split("\n") if line.strip()]
    prefix = prefix.removeprefix("./")
    wanted = [f"{prefix}{number}:{HITS[number]}" for number in numbers]
    ours = received.ours_after(turn)
    if client.version == NATIVE:
        assert lines == wanted
        assert ours == []
        return
    assert lines == [SUFFIX.sub("", line) for line in wanted]
    [context] = ours
    assert units(context) < CONTEXT_UNITS + 100
    for number in numbers:
        found = SUFFIX.search(HITS[number])
        mentioned = [line for line in context.split("\n") if re.search(rf":{number}: ⟵ ", line)]
        if found is None:
            assert mentioned == []
        else:
            assert len(mentioned) == 1
            assert mentioned[0].endswith(found.group(0).strip())


COMMANDS = {
    "grep -rn needle .": "pkg/ledger.py:",
    "grep -rn needle pkg": "pkg/ledger.py:",
    "grep -n needle pkg/ledger.py": "",
    "grep -Hn needle pkg/ledger.py": "pkg/ledger.py:",
    "rg -n needle pkg/ledger.py": "",
    "rg -n needle": "pkg/ledger.py:",
    "rg -n --no-heading needle pkg": "pkg/ledger.py:",
    "grep -rnE 'needle|nadel' --include='*.py' .": "pkg/ledger.py:",
    "cd pkg && grep -n needle ledger.py": "",
    "grep -n needle ledger.py": "",
    "cd .. && grep -rn needle pkg": "pkg/ledger.py:",
    "cd pkg && grep -rn needle .": "ledger.py:",
    "cd .. && grep -rl needle .": None,
    "grep -rc needle pkg": None,
    "grep -rno needle pkg": None,
    "grep -rn needle . | wc -l": None,
    "grep -h needle pkg/ledger.py": None,
    "grep -rn needle . --null": None,
    "ls pkg": None,
}
"""Calls of one conversation, in this order, and how each hit begins before its number; None where nothing is annotated."""


@pytest.fixture(scope="module")
def searches(shared_world: World) -> Received:
    """Return what the model received in a conversation that makes all of COMMANDS."""
    _ledger(shared_world)
    turns = [[_bash(command)] for command in COMMANDS]
    allowed = ("Bash(grep:*)", "Bash(rg:*)", "Bash(cd:*)", "Bash(ls:*)", "Bash(wc:*)")
    return shared_world.play("Where is needle?", *turns, allowed=allowed)


@pytest.mark.parametrize("command", [c for c, prefix in COMMANDS.items() if prefix is not None])
def test_hits_of_a_search_command_get_their_enclosing_definition(
    searches: Received, claude: Client, command: str
) -> None:
    """Each hit inside a definition is annotated, one at module level is not, and no line changes otherwise."""
    prefix = COMMANDS[command]
    assert prefix is not None
    _assert_annotated(searches, claude, prefix, turn=list(COMMANDS).index(command))


@pytest.mark.parametrize("command", [c for c, prefix in COMMANDS.items() if prefix is None])
def test_output_that_is_no_list_of_hits_is_untouched(searches: Received, command: str) -> None:
    """Counts, names, bare matches and what feeds another command stay as they are (rtk#3338, rtk#2962)."""
    turn = list(COMMANDS).index(command)
    result = searches.result(turn=turn)
    assert not result.error, result.text
    assert result.text.strip()
    assert "⟵" not in result.text
    assert searches.ours_after(turn) == []


def test_an_absolute_path_is_annotated(world: World) -> None:
    """Hits under an absolute path are found as well."""
    _ledger(world)
    received = world.play("Where is needle?", [_bash(f"grep -rn needle {world.project}")])
    _assert_annotated(received, world.client, f"{world.project}/pkg/ledger.py:")


def test_output_cut_by_head_is_annotated(world: World) -> None:
    """A pipeline that ends in head keeps its lines and gets suffixes (rtk#4207)."""
    _ledger(world)
    received = world.play("Where is needle?", [_bash("grep -rn needle . | head -3")])
    _assert_annotated(received, world.client, "pkg/ledger.py:", numbers=(6, 10, 11))


def test_git_grep_is_annotated(world: World) -> None:
    """The hits of git grep, in a file that git has only staged."""
    _ledger(world)
    for words in (("init", "-q"), ("add", "pkg/ledger.py")):
        subprocess.run(["git", *words], cwd=world.project, check=True)
    received = world.play("Where?", [_bash("git grep -n needle")], allowed=("Bash(git grep:*)",))
    _assert_annotated(received, world.client, "pkg/ledger.py:")


def test_only_match_lines_are_annotated_among_context_lines(world: World) -> None:
    """Context lines and separators stay as they are (lean-ctx#1648, headroom#3545)."""
    _ledger(world)
    received = world.play("Where?", [_bash("grep -n -C1 floor pkg/ledger.py")])
    shown = received.result().text.strip("\n").split("\n")[:3]
    suffix = " ⟵ Ledger.post 8-12" if world.client.native else ""
    assert shown == [
        "9-        if row:",
        f"10:            needle = math.floor(row){suffix}",
        "11-            return needle  # 10:20",
    ]


@pytest.mark.parametrize("command", ["grep -rn nothinglikethis .", "rg -n nothinglikethis"])
def test_no_match_is_untouched(world: World, command: str) -> None:
    """Exit 1, no match: the result is what the client makes of it (rtk#162)."""
    _ledger(world)
    plain = world.play("Where?", [_bash(command)], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Where?", [_bash(command)])
    assert received.result().text.strip() == plain.result().text.strip()
    assert received.result().error == plain.result().error
    assert received.ours == []


def test_an_error_is_untouched(world: World) -> None:
    """Exit 2, a missing file beside a good one: the error stays an error (rtk#162)."""
    _ledger(world)
    received = world.play("Where?", [_bash("grep -n needle pkg/ledger.py missing.py")])
    assert received.result().error
    assert "No such file" in received.result().text
    assert "⟵" not in received.text


def test_a_line_that_only_looks_like_a_hit_is_untouched(world: World) -> None:
    """A text that says path:line:text of something the file does not hold is not annotated (rtk#1613, headroom#2084)."""
    _ledger(world)
    lines = [
        "pkg/ledger.py:10:needle is not this line",
        "2026-01-02 10:20:30 needle in a log",
        "C:/pkg/ledger.py:10:needle",
        "10:needle",
    ]
    world.write("seen.txt", "\n".join(lines) + "\n")
    received = world.play("Where?", [_bash("grep -h needle seen.txt")])
    assert received.result().text.strip().split("\n")[:4] == lines
    assert "⟵" not in received.text


def test_a_path_with_colons_spaces_and_a_date_is_annotated(world: World) -> None:
    """A path that itself looks like path:line is told apart by the file's own text (qwen-code#5370)."""
    name = "log 2026-01-02:10:20/led ger.py"
    _ledger(world, name)
    received = world.play("Where?", [_bash("grep -rn needle .")])
    _assert_annotated(received, world.client, f"{name}:")


def test_the_working_tree_counts_right_after_an_edit(world: World) -> None:
    """After an edit the ranges are those of the file as it is now (codegraph#1474)."""
    _ledger(world)
    path = str(world.project / "pkg/ledger.py")
    edit = Tool(
        "Edit",
        file_path=path,
        old_string="        if row:\n",
        new_string="        row = row or 0\n        if row:\n",
    )
    received = world.play(
        "Where?", [Tool("Read", file_path=path)], [edit], [_bash("grep -n floor pkg/ledger.py")]
    )
    assert not received.result(turn=1).error, received.result(turn=1).text
    text = received.result(turn=2).text if world.client.native else "\n".join(received.ours)
    assert "⟵ Ledger.post 8-13" in text


def test_bytes_that_are_not_utf_8_do_not_hide_the_hits(world: World) -> None:
    """A Latin-1 line is shown as without the plugin, and the hits around it are annotated (rtk#4113, serena#2017)."""
    world.write("latin.py", b"def f():\n    a = 'caf\xe9 needle'\n    b = 'needle'\n    return a + b\n")
    plain = world.play("Where?", [_bash("grep -an needle latin.py")], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Where?", [_bash("grep -an needle latin.py")])
    bare = [SUFFIX.sub("", line) for line in received.result().text.strip().split("\n")]
    assert bare == plain.result().text.strip().split("\n")
    text = received.result().text if world.client.native else "\n".join(received.ours)
    assert "⟵ f 1-4" in text


def test_a_last_hit_whose_trailing_space_the_client_trimmed_is_annotated(world: World) -> None:
    """Both clients trim the end of Bash's output, so the last line may lack the white space that the file has."""
    world.write("core.py", "def f(x):\n    a = x  \n    b = a\t \n    return b\n")
    received = world.play("Where?", [_bash("grep -n ' = ' core.py")])
    if world.client.native:
        lines = received.result().text.strip().split("\n")
        assert lines == ["2:    a = x   ⟵ f 1-4", "3:    b = a ⟵ f 1-4"]
    else:
        assert re.findall(r":(\d): ⟵ f 1-4", "\n".join(received.ours)) == ["2", "3"]


def test_a_crlf_file_is_annotated(world: World) -> None:
    """Lines that end in CR LF verify, and keep their ends."""
    world.write("pkg/ledger.py", LEDGER.replace("\n", "\r\n"))
    received = world.play("Where?", [_bash("grep -n floor pkg/ledger.py")])
    text = received.result().text if world.client.native else "\n".join(received.ours)
    assert "⟵ Ledger.post 8-12" in text


def _many(world: World, count: int, name: str) -> list[str]:
    """Write a module with `count` hits in functions of long names; return the lines that grep -n prints."""
    body = "".join(f"def {name}_{n:04d}(value):\n    return value  # needle {n:04d}\n" for n in range(count))
    world.write("m.py", body)
    return [f"{2 * n + 2}:    return value  # needle {n:04d}" for n in range(count)]


@pytest.mark.parametrize(("count", "length"), [(500, 20), (700, 60), (790, 90), (800, 4)])
def test_annotation_never_pushes_the_output_over_what_the_client_shows(
    world: World, count: int, length: int
) -> None:
    """Whatever the suffixes would come to, every hit is shown: no 2 kB preview, no lost line."""
    wanted = _many(world, count, "f" * length)
    assert len("\n".join(wanted)) < 30_000
    received = world.play("Where?", [_bash("grep -n needle m.py")])
    text = received.result().text
    assert "persisted" not in text.lower()
    shown = [SUFFIX.sub("", re.sub(r" ⟵ \S+$", "", line)) for line in text.strip().split("\n")[:count]]
    assert shown == wanted
    assert len(text) < 30_000
    assert all(units(c) < CONTEXT_UNITS + 100 for c in received.ours)


def test_output_that_the_client_cut_itself_is_left_alone(world: World) -> None:
    """Over 30,000 characters the client shows a preview: the same with the plugin as without."""
    _many(world, 1200, "f")
    plain = world.play("Where?", [_bash("grep -n needle m.py")], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Where?", [_bash("grep -n needle m.py")])
    places = re.compile(r"/\S+/tool-results/\S+")
    assert places.sub("", received.result().text) == places.sub("", plain.result().text)
    assert "⟵" not in received.text


@pytest.mark.parametrize("value", ["off", "0"])
def test_annotation_can_be_switched_off_alone(world: World, value: str) -> None:
    """`SLICEGREP_ANNOTATE=off` leaves search output alone."""
    _ledger(world)
    received = world.play("Where?", [_bash("grep -rn needle .")], SLICEGREP_ANNOTATE=value)
    assert "⟵" not in received.text
    assert received.result().text.count("needle") == len(HITS)


def test_grep_in_content_mode_is_annotated(world: World) -> None:
    """The Grep tool's hits get their definition; its context lines and separators do not."""
    _ledger(world)
    received = world.play(
        "Where?",
        [Tool("Grep", pattern="needle", output_mode="content", **{"-n": True})],
        words=TOOLS,
    )
    _assert_annotated(received, world.client, "pkg/ledger.py:")


def test_grep_with_context_lines_is_annotated_on_match_lines(world: World) -> None:
    """With -C the match line is annotated and its neighbours are not."""
    _ledger(world)
    received = world.play(
        "Where?",
        [Tool("Grep", pattern="floor", output_mode="content", **{"-n": True, "-C": 1})],
        words=TOOLS,
    )
    text = received.result().text if world.client.native else "\n".join(received.ours)
    assert re.findall(r"\b(\d+):.*⟵ Ledger.post 8-12", text) == ["10"]


@pytest.mark.parametrize("mode", ["files_with_matches", "count"])
def test_grep_in_other_modes_is_untouched(world: World, mode: str) -> None:
    """Names and counts have no lines to annotate."""
    _ledger(world)
    received = world.play("Where?", [Tool("Grep", pattern="needle", output_mode=mode)], words=TOOLS)
    assert "pkg/ledger.py" in received.result().text
    assert "⟵" not in received.text
    assert received.ours == []


@pytest.mark.parametrize("claude", [NODE], indirect=True)
def test_a_client_without_output_rewriting_is_told_in_a_context_under_its_cap(
    world: World, claude: Client
) -> None:
    """The old client's result is as grep printed it; the context names path, line, definition and range, under the cap."""
    assert not claude.native
    wanted = _many(world, 600, "function")
    received = world.play("Where?", [_bash("grep -n needle m.py")])
    assert received.result().text.strip().split("\n") == wanted
    [context] = received.ours
    assert units(context) < CONTEXT_UNITS + 100
    assert re.search(r"m\.py:2: ⟵ function_0000 1-2$", context, re.MULTILINE)


def test_grep_tool_output_is_never_pushed_over_its_own_limit(world: World) -> None:
    """The client cuts the Grep tool's result at 20,000 characters: the suffixes stop short of that."""
    wanted = [f"m.py:{line}" for line in _many(world, 480, "f" * 40)]
    assert len("\n".join(wanted)) < 20_000
    received = world.play(
        "Where?",
        [Tool("Grep", pattern="needle", output_mode="content", head_limit=0, **{"-n": True})],
        words=TOOLS,
    )
    text = received.result().text
    assert "persisted" not in text.lower()
    assert [SUFFIX.sub("", re.sub(r" ⟵ \S+$", "", line)) for line in text.strip().split("\n")] == wanted
    assert all(units(c) < CONTEXT_UNITS + 100 for c in received.ours)
