"""`slicegrep mcp` in the real client: added by its own command, called by the model, and what the model then sees."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from checks import assert_true_lines, file_lines
from driver import ToolResult, World
from samples import made_module
from scripted_api import Request, Tool
from worlds import adopt, one_version

TOOLS = tuple(
    f"mcp__slicegrep__{name}"
    for name in ("focused_read", "file_map", "enclosing", "symbol", "search", "callers", "callees", "impact")
)
PROMPT = "How is an invoice settled?"
CONNECTING_SECONDS = 2
"""The clients do not wait for their servers: what a model calls at once may not be there yet on a busy machine."""


@pytest.fixture
def mcp_world(bare_world: World, prepared: Path, byte_code: Path) -> World:
    """Return a world with an empty HOME and without the plugin, but with what `slicegrep setup` makes."""
    adopt(bare_world, prepared, byte_code)
    return bare_world


def add_server(world: World, marketplace: Path) -> None:
    """Add the server as the README says."""
    (line,) = re.findall(
        r"^claude (mcp add .*)$", (marketplace / "README.md").read_text("utf-8"), re.MULTILINE
    )
    done = world.command(*shlex.split(line.replace("$PWD", str(marketplace))))
    assert done.returncode == 0, (done.stdout, done.stderr)


def play(world: World, *calls: Tool, words: tuple[str, ...] = ()) -> list[ToolResult]:
    """Have the model make these calls at once, after another one; returns what it sees of them."""
    world.write("README.md", "A project.\n")

    def think(_: Request) -> Sequence[Tool]:
        time.sleep(CONNECTING_SECONDS)
        return [world.read("README.md")]

    received = world.play(PROMPT, think, list(calls), allowed=("Read", *TOOLS), words=words)
    return [received.result(index, turn=1) for index in range(len(calls))]


def test_the_client_connects_to_the_server_that_its_own_command_added(
    mcp_world: World, marketplace: Path
) -> None:
    """`claude mcp add` and `claude mcp list` in an empty HOME."""
    add_server(mcp_world, marketplace)
    listed = mcp_world.command("mcp", "list").stdout
    assert "slicegrep" in listed
    assert "Connected" in listed


def test_the_model_reads_slices_with_the_files_own_line_numbers(mcp_world: World, marketplace: Path) -> None:
    """focused_read and enclosing give it numbered lines as Read would, not JSON, whichever protocol the client speaks."""
    path = mcp_world.write("core.py", made_module(200, target=137))
    first = file_lines(path).index("def settle_invoice(left_137, right_137):") + 1
    add_server(mcp_world, marketplace)
    read, around, shape = play(
        mcp_world,
        Tool(TOOLS[0], path="core.py", pattern="def settle_invoice"),
        Tool(TOOLS[2], locations=[f"core.py:{first + 4}", "core.py:1"], include_body=True),
        Tool(TOOLS[1], path=str(path), budget=400),
    )
    assert not (read.error or around.error or shape.error), (read, around, shape)
    assert first in assert_true_lines(read.text, path)
    assert f"core.py:{first + 4}  settle_invoice {first}-{first + 7}" in around.text
    assert assert_true_lines(around.text, path) == list(range(first, first + 8))
    assert shape.text.startswith(f"core.py: {len(file_lines(path)) - 1} lines\n")


def test_what_is_outside_of_the_clients_own_folder_is_refused(mcp_world: World, marketplace: Path) -> None:
    """The client names the project as its root, and the model is told where it ends."""
    mcp_world.write("core.py", made_module(20))
    (mcp_world.home / "secret.py").write_text("def secret():\n    return 'do not show'\n")
    (mcp_world.project / "link.py").symlink_to(mcp_world.home / "secret.py")
    add_server(mcp_world, marketplace)
    results = play(
        mcp_world, *(Tool(TOOLS[0], path=path, pattern="secret") for path in ("../home/secret.py", "link.py"))
    )
    for result in results:
        assert result.error
        assert "is outside of what this server may read" in result.text
        assert "do not show" not in result.text


@one_version
def test_a_configuration_file_serves_as_well(mcp_world: World, marketplace: Path) -> None:
    """`--mcp-config` with the same command; who calls a function is answered in one call."""
    mcp_world.write(
        "shop.py", "def charge(amount):\n    return amount\n\n\ndef pay(cart):\n    return charge(cart)\n"
    )
    server = {"command": str(marketplace / "bin" / "slicegrep"), "args": ["mcp"]}
    config = mcp_world.home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"slicegrep": server}}))
    (result,) = play(
        mcp_world, Tool(TOOLS[5], symbol_id="shop.py#charge"), words=("--mcp-config", str(config))
    )
    assert "shop.py:5-6 pay" in result.text
    assert "lines 6" in result.text
