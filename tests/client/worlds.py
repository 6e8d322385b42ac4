"""New worlds: a HOME copied from one in which the plugin is installed, with the dependencies that set-up made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driver import NATIVE, Client, World, tool_folder
from scripted_api import ScriptedAPI, serving

__all__ = ["adopt", "new_world", "one_version"]

one_version = pytest.mark.parametrize("claude", [NATIVE], indirect=True)
"""Of a test in many variants that the client's version has no part in, or that only the newest client can run."""

PATIENCE = {"SLICEGREP_ANNOTATE_TIMEOUT_MS": "8000"}
"""These tests are about what is shown; 800 ms is short for a cold process beside many clients on two cores."""


@contextmanager
def new_world(claude: Client, folder: Path, template: Path | None = None) -> Iterator[World]:
    """Yield a world in `folder`: an empty HOME, or a copy of the template; an empty project; an API that is served."""
    home, project = folder / "home", folder / "project"
    project.mkdir()
    if template is None:
        home.mkdir()
    else:
        # The plugin's own files stay where they were installed: the records name that folder.
        shutil.copytree(template, home, symlinks=True, ignore=shutil.ignore_patterns("cache"))
    with serving(ScriptedAPI()) as api:
        yield World(claude, home, project, api, str(tool_folder(folder / "bin")))


def adopt(world: World, prepared: Path, byte_code: Path) -> None:
    """Give a world the shared environment, vocabulary and byte code; all else in its SLICEGREP_HOME is its own."""
    world.data.mkdir(mode=0o700)
    for name in ("env", "vocab"):
        if (prepared / name).is_dir():
            (world.data / name).symlink_to(prepared / name)
    (world.data / "pyc").symlink_to(byte_code)
    world.variables.update(PATIENCE)
