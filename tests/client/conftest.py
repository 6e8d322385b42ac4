"""Fixtures of the client tests: the clients, the plugin as a user installs it, one HOME and one API for each test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import (
    NATIVE,
    NODE,
    REPOSITORY,
    Client,
    World,
    client,
    locked,
    network_environment,
)
from worlds import adopt, new_world

SETUP_SECONDS = 900
"""Set-up downloads some 40 wheels; this is the limit on a slow line."""


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks: `-m "not client"` leaves the real client out, `-m "not slow"` its longest tests."""
    config.addinivalue_line("markers", "client: drives the real Claude Code")
    config.addinivalue_line("markers", "slow: takes over half a minute")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("client")


@pytest.fixture(scope="session", params=[NATIVE, NODE])
def claude(request: pytest.FixtureRequest) -> Client:
    """Each pinned client in turn. A failure to install it is an error, never a skip."""
    return client(request.param)


@pytest.fixture(scope="session")
def marketplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository as a user's clone would be: what git tracks or would track, nothing else."""
    target = tmp_path_factory.mktemp("marketplace") / "slicegrep"
    listed = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", ".*_cache")
        shutil.copytree(REPOSITORY, target, ignore=left_out)
        return target
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    return target


@pytest.fixture(scope="session")
def prepared(marketplace: Path) -> Path:
    """Return a SLICEGREP_HOME that `slicegrep setup` has filled, shared by all runs with the same requirements."""
    key = (marketplace / "plugin" / "requirements.key").read_text().strip()
    with locked("prepared") as root:
        home = root / f"prepared-{key}"
        ready = home / "env" / key / ".ready"
        if not ready.exists():
            own = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "SLICEGREP_HOME": str(home)}
            done = subprocess.run(
                [str(marketplace / "bin" / "slicegrep"), "setup"],
                env={**network_environment(), **own},
                capture_output=True,
                text=True,
                timeout=SETUP_SECONDS,
                check=False,
            )
            assert ready.exists(), f"slicegrep setup failed:\n{done.stdout}\n{done.stderr}"
    return home


@pytest.fixture(scope="session")
def installed(claude: Client, marketplace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a HOME in which the client's own commands added the marketplace and installed the plugin."""
    with new_world(claude, tmp_path_factory.mktemp(f"installed-{claude.version}")) as world:
        world.variables["SLICEGREP_HOOK_DISABLE"] = "1"
        world.install(marketplace)
    return world.home


@pytest.fixture(scope="session")
def byte_code(
    prepared: Path, installed: Path, marketplace: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return byte code for the plugin wherever it runs from, made by `slicegrep setup` as for any user."""
    home = tmp_path_factory.mktemp("byte-code")
    for name in ("env", "vocab"):
        (home / name).symlink_to(prepared / name)
    copies = (installed / ".claude" / "plugins" / "cache").glob("*/*/*/bin/slicegrep")
    for command in (marketplace / "bin" / "slicegrep", *copies):
        own = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "SLICEGREP_HOME": str(home)}
        subprocess.run([str(command), "setup", "--quiet"], env=own, timeout=SETUP_SECONDS, check=True)
    return home / "pyc"


@pytest.fixture
def bare_world(claude: Client, tmp_path: Path) -> Iterator[World]:
    """Yield a world without the plugin: what the client does by itself."""
    with new_world(claude, tmp_path) as world:
        yield world


@pytest.fixture
def world(
    claude: Client, installed: Path, prepared: Path, byte_code: Path, tmp_path: Path
) -> Iterator[World]:
    """Yield a fresh world with the plugin installed and its dependencies in place."""
    with new_world(claude, tmp_path, installed) as world:
        adopt(world, prepared, byte_code)
        yield world


@pytest.fixture
def unprepared_world(claude: Client, installed: Path, tmp_path: Path) -> Iterator[World]:
    """Yield a fresh world with the plugin installed whose dependencies are not there yet."""
    with new_world(claude, tmp_path, installed) as world:
        yield world


@pytest.fixture(scope="module")
def shared_world(
    claude: Client,
    installed: Path,
    prepared: Path,
    byte_code: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """Yield a world like `world` for the tests of one module: one conversation, many calls, a test for each."""
    with new_world(claude, tmp_path_factory.mktemp("shared"), installed) as world:
        adopt(world, prepared, byte_code)
        yield world
