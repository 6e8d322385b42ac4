"""Files of every kind: Windows line ends, byte order marks, the client's own size limits, other languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from checks import assert_narrowed, assert_true_lines, assert_whole, delivery, file_lines, notice, numbered
from driver import World, tool_results
from samples import large_real_source, made_module
from scripted_api import Request, Tool, flat_text
from worlds import one_version

BOM = b"\xef\xbb\xbf"


def _lines_of_slices(request: Request) -> list[tuple[int, str]]:
    contexts = flat_text(request.messages[-1]["content"]).split("<system-reminder>")
    return numbered(next(c for c in contexts if "PostToolUse:Read" in c and "slicegrep" in c))


@pytest.mark.parametrize("bom", [b"", BOM], ids=["plain", "bom"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_an_edit_copied_from_range_or_slice_works_whatever_the_line_ends(
    world: World, ends: str, bom: bytes
) -> None:
    """CRLF and BOM files: the lines shown are Read's own, and Edit accepts two of them copied with LF between (lean-ctx#628)."""
    text = made_module(200, target=20)
    path = world.write("core.py", bom + text.replace("\n", ends).encode())
    edits: list[str] = []

    def copied(lines: list[tuple[int, str]], new: str) -> Tool:
        at = next(i for i, (_, line) in enumerate(lines) if line.startswith("    total_") and "\t" in line)
        assert lines[at + 1][0] == lines[at][0] + 1
        old = f"{lines[at][1]}\n{lines[at + 1][1]}"
        edits.append(old)
        return Tool("Edit", file_path=str(path), old_string=old, new_string=new)

    def from_slice(request: Request) -> Sequence[Tool]:
        return [copied(_lines_of_slices(request), "    if sliced:")]

    def from_range(request: Request) -> Sequence[Tool]:
        return [copied(numbered(tool_results(request.messages)["toolu_m0_0_0"].text), "    if ranged:")]

    received = world.play(
        "Compare settle_invoice with amber_96 and lotus_179", [world.read("core.py")], from_slice, from_range
    )
    shown = assert_narrowed(received.result(), Path(_copy(world, bom + text.replace("\n", ends).encode())))
    assert shown
    for turn in (1, 2):
        assert not received.result(turn=turn).error, (edits, received.result(turn=turn).text)
    raw = path.read_bytes()
    assert f"    if sliced:{ends}".encode() in raw
    assert f"    if ranged:{ends}".encode() in raw
    assert raw.startswith(bom)
    assert not any("\r" in old for old in edits)


def _copy(world: World, content: bytes) -> str:
    path = world.home / "copy.py"
    path.write_bytes(content)
    return str(path)


def test_a_bom_file_is_shown_without_its_bom(world: World) -> None:
    """No text that the model gets has the byte order mark."""
    path = world.write("core.py", BOM + made_module(150).encode())
    received = world.play("What does the import do?", [world.read("core.py")])
    assert_narrowed(received.result(), path)
    assert "\ufeff" not in received.text


def test_a_form_feed_and_other_separators_stay_inside_their_lines(world: World) -> None:
    """Only LF ends a line: form feed, U+2028, NEL and a lone CR do not shift the numbers."""
    odd = "# a\x0cb\u2028c\x85d\re\n"
    path = world.write("core.py", odd * 3 + made_module(150, target=90))
    received = world.play("What does settle_invoice do?", [world.read("core.py")])
    shown = assert_narrowed(received.result(), path)
    assert file_lines(path).index("def settle_invoice(left_90, right_90):") + 1 in shown
    assert_true_lines(delivery(received, path), path)


def test_a_file_of_600_kb_is_narrowed_and_ranges_are_advised(world: World) -> None:
    """Past the client's 256 kB a plain read fails, so the texts say to read ranges, and a ranged read works."""
    path = world.write("big.py", large_real_source(600_000))
    received = world.play(
        "How is a quoted string parsed?",
        [world.read("big.py")],
        [world.read("big.py", offset=5000, limit=20)],
    )
    assert_narrowed(received.result(), path)
    for text in (notice(received, path), delivery(received, path)):
        assert "offset" in text
        assert "for the whole file" not in text
    assert_true_lines(delivery(received, path), path)
    assert [n for n, _ in numbered(received.result(turn=1).text)] == list(range(5000, 5020))


def test_a_second_read_of_a_600_kb_file_is_the_clients_own_affair(world: World) -> None:
    """A second plain read is not intercepted: the model gets what the client says without the plugin."""
    world.write("big.py", large_real_source(600_000))
    received = world.play("Look", [world.read("big.py")], [world.read("big.py")])
    assert "exceeds maximum allowed size" in received.result(turn=1).text
    assert len(received.ours) == 2


def test_a_file_of_40_000_tokens_is_narrowed_and_ranges_are_advised(world: World) -> None:
    """Between the client's two limits: over 25,000 tokens, under 256 kB."""
    text = large_real_source(160_000)[:160_000].rsplit("\n", 1)[0] + "\n"
    path = world.write("mid.py", text)
    received = world.play("How is a quoted string parsed?", [world.read("mid.py")])
    assert_narrowed(received.result(), path)
    assert "offset" in notice(received, path)
    assert "for the whole file" not in notice(received, path)
    assert_true_lines(delivery(received, path), path)


def test_a_published_typescript_file_is_narrowed(world: World) -> None:
    """The declarations that the client's own package publishes: names of types in the map, true lines."""
    package = _client_package(world)
    path = world.write("sdk-tools.d.ts", (package / "sdk-tools.d.ts").read_bytes())
    received = world.play("Which fields has the input of the file edit tool?", [world.read("sdk-tools.d.ts")])
    assert_narrowed(received.result(), path)
    text = delivery(received, path)
    assert "FILE MAP" in text
    assert "interface FileEditInput" in received.text


def _client_package(world: World) -> Path:
    for word in world.client.command:
        for folder in Path(word).parents:
            if (folder / "claude-code" / "sdk-tools.d.ts").is_file():
                return folder / "claude-code"
    message = f"no sdk-tools.d.ts beside {world.client.command}"
    raise AssertionError(message)


def test_a_symbolic_link_and_its_target_are_one_file(world: World) -> None:
    """A file read through a link after itself is whole: the memory is by real path."""
    path = world.write("core.py", made_module(150))
    (world.project / "link.py").symlink_to(path)
    received = world.play("Look", [world.read("core.py")], [world.read("link.py")])
    assert_narrowed(received.result(), path)
    assert_whole(received.result(turn=1), path)


@one_version
@pytest.mark.parametrize(
    "name",
    ["a b.py", "ünï-☃.py", "quote'd.py", "dollar$HOME.py", 'say "x".py', "back\\slash.py"],
)
def test_a_path_of_any_spelling_is_narrowed(world: World, name: str) -> None:
    """Spaces, quotes, dollars and letters outside ASCII in a path change nothing."""
    path = world.write(name, made_module(150))
    received = world.play("Look", [world.read(name)])
    assert_narrowed(received.result(), path)
    assert notice(received, path)
    assert delivery(received, path)


@one_version
def test_a_path_that_cannot_be_printed_is_read_whole(world: World) -> None:
    """What the model would be told to read could not be the file's own name."""
    path = world.write("tab\there.py", made_module(150))
    received = world.play("Look", [world.read("tab\there.py")])
    assert_whole(received.result(), path)
    assert received.ours == []


def test_a_project_behind_a_symbolic_link_is_served(world: World, tmp_path: Path) -> None:
    """Where the working directory is a link (as /tmp is on macOS), reads and hits work under either spelling."""
    link = tmp_path / "link"
    link.symlink_to(world.project)
    path = world.write("core.py", made_module(150))
    world.project = link
    grep = Tool("Bash", command="grep -rn 'return total_7$' .")
    received = world.play("Look", [world.read("core.py")], [Tool("Read", file_path=str(path))], [grep])
    assert_narrowed(received.result(), path)
    assert_whole(received.result(turn=1), path)
    text = received.result(turn=2).text if world.client.native else "\n".join(received.ours)
    assert "⟵ haven_7 " in text


def test_a_relative_path_is_served_or_refused_as_the_client_does(world: World) -> None:
    """A model may name a file relative to the working directory: narrowed where the client accepts that."""
    path = world.write("core.py", made_module(150))
    call = Tool("Read", file_path="core.py")
    plain = world.play("Look", [call], SLICEGREP_HOOK_DISABLE="1")
    received = world.play("Look", [call], [call])
    assert received.result().error == plain.result().error
    if not plain.result().error:
        assert_narrowed(received.result(), path)
        assert_whole(received.result(turn=1), path)


def test_a_file_changed_between_two_reads_is_read_as_it_is_now(world: World) -> None:
    """After an edit the next read shows the new text under the new numbers."""
    path = world.write("core.py", made_module(150))
    edit = Tool(
        "Edit",
        file_path=str(path),
        old_string="import math\n",
        new_string="import math\nimport os\nimport re\n",
    )
    received = world.play("Look", [world.read("core.py")], [edit], [world.read("core.py")])
    assert not received.result(turn=1).error
    assert_whole(received.result(turn=2), path)
