"""Nothing of a project runs, and nothing from a folder of somebody else's: configuration, PATH, home folder, byte code."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from odd_folder import git
from security_stand import ROOT, House, big_python
from slicegrep.git import git_output
from slicegrep.home import home_folder
from slicegrep.programs import on_path

LAUNCHER = str(ROOT / "hooks" / "slicegrep-hook")
NOBODY = 65_534


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose own configuration names programs; each leaves `ran` beside it."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    evil = _script(tmp_path / "evil.sh", f"touch '{tmp_path}/ran'")
    for name, value in (
        ("core.fsmonitor", str(evil)),
        ("core.pager", str(evil)),
        ("core.sshCommand", str(evil)),
        ("diff.external", str(evil)),
        ("gpg.program", str(evil)),
        ("log.showSignature", "true"),
        ("protocol.allow", "always"),
    ):
        git(folder, "config", name, value)
    (tmp_path / "ran").unlink(missing_ok=True)
    return folder


LISTING = ("ls-files", "-co", "--exclude-standard", "-z")
LOG = ("log", "-z", "--name-only", "--no-show-signature", "--format=%x01", "-5", "HEAD")


def test_listing_files_runs_no_program_of_the_repository(repository: Path) -> None:
    """Listing files starts what core.fsmonitor names: a tree that was unpacked brings its configuration along."""
    ran = repository.parent / "ran"
    git(repository, *LISTING)
    assert ran.exists(), "git itself does not do it any more: the test tests nothing"
    ran.unlink()
    assert git_output(str(repository), *LISTING, seconds=30) == b"a.py\0"
    assert not ran.exists()


def test_what_is_missing_of_a_partial_clone_is_not_fetched(repository: Path) -> None:
    """The fetch would run core.sshCommand, and reach out."""
    ran = repository.parent / "ran"
    tree = git_output(str(repository), "rev-parse", "HEAD^{tree}", seconds=30)
    assert tree is not None
    name = tree.decode().strip()
    (repository / ".git" / "objects" / name[:2] / name[2:]).unlink()
    for key, value in (
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://example.invalid/x"),
    ):
        git(repository, "config", key, value)
    ran.unlink(missing_ok=True)
    subprocess.run(["git", *LOG], cwd=repository, capture_output=True, check=False)
    assert ran.exists(), "git itself does not do it any more: the test tests nothing"
    ran.unlink()
    assert git_output(str(repository), *LOG, seconds=30) is None
    assert not ran.exists()


def test_a_relative_path_entry_names_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With "." on PATH a project's own git or rg would be run."""
    for name in ("git", "rg"):
        _script(tmp_path / name, f"touch '{tmp_path}/ran'")
    monkeypatch.chdir(tmp_path)
    for entries in (".", "", ".:relative:", f".:{os.environ['PATH']}"):
        monkeypatch.setenv("PATH", entries)
        for name in ("git", "rg"):
            assert os.path.isabs(on_path(name) or "/") and on_path(name) != str(tmp_path / name)


def test_the_launcher_starts_no_program_of_the_project(tmp_path: Path) -> None:
    """Neither by "." on PATH, nor through a version manager that asks the folder that it is in."""
    project = tmp_path / "project"
    real = shutil.which("python3")
    assert real is not None
    manager = _script(
        tmp_path / "bin" / "python3", f'[ ! -f pinned ] || touch "{tmp_path}/ran"\nexec {real} "$@"'
    )
    project.mkdir()
    (project / "pinned").write_text("")
    for name in ("python3", "uv", "timeout", "cat"):
        _script(project / name, f"touch '{tmp_path}/ran'")
    environment = {"HOME": str(tmp_path), "PATH": f".::{manager.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", LAUNCHER, "find-python"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip(), done.stderr
    assert not (tmp_path / "ran").exists()


def _trap(house: House) -> Path:
    """Put an environment into the home folder whose interpreter leaves a trace."""
    key = (ROOT / "plugin" / "requirements.key").read_text().strip()
    (house.home / "env").unlink()
    trap = _script(house.folder / "trap", f"touch '{house.folder}/ran'")
    ready = house.home / "env" / key / ".ready"
    ready.parent.mkdir(parents=True)
    ready.write_text(f"{trap}\n{trap.parent}\n")
    path = house.project / "big.py"
    path.write_text(big_python())
    return path


def test_the_trap_works(tmp_path: Path) -> None:
    """What is ready in one's own home folder is started: that is what the next test holds back."""
    house = House(tmp_path)
    house.before(_trap(house))
    assert (tmp_path / "ran").exists()


def test_a_home_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    """Whoever made it first, in /tmp perhaps, would have programs started and be told the prompts."""
    house = House(tmp_path)
    path = _trap(house)
    for name in (house.home, house.home / "env"):
        os.chown(name, NOBODY if os.getuid() == 0 else os.getuid(), -1)
    home = (
        str(house.home) if os.getuid() == 0 else "/usr"
    )  # without privileges only root's own is another user's
    variables = {"SLICEGREP_HOME": home}
    prompt = {"session_id": house.session_id, "prompt": "secret"}
    house.fire("prompt", prompt, **variables)
    house.fire("pre-read", house.payload("Read", {"file_path": str(path)}, tool_use_id="t"), **variables)
    house.fire("set-up", {"session_id": house.session_id}, **variables)
    code, out, errors = house.slicegrep("map", str(path), **variables)
    assert (code, out) == (2, "") and errors
    assert not (tmp_path / "ran").exists()
    assert not (house.home / "state").exists() and not (house.home / "log").exists()
    with pytest.raises(PermissionError, match="another user"):
        home_folder(variables)


def test_a_home_folder_that_everybody_can_write_in_is_not_used(tmp_path: Path) -> None:
    """Its byte code, its index and its environment could be anybody's; doctor and set-up say so."""
    house = House(tmp_path)
    house.home.chmod(0o777)
    path = house.project / "big.py"
    path.write_text(big_python())
    assert house.before(path) == {}
    for words in (("map", "big.py"), ("setup",)):
        code, _, errors = house.slicegrep(*words)
        assert code == 2 and "everybody can write" in errors
    code, told, _ = house.slicegrep("doctor")
    assert code != 0 and ("everybody can write" in told or "everybody can write" in _)
    assert set(os.listdir(house.home)) <= {"env", "vocab", "pyc"}


def test_a_relative_home_folder_is_none_of_the_projects(tmp_path: Path) -> None:
    """Byte code below a folder of the project would be run; and nothing is written into a project."""
    house = House(tmp_path)
    path = house.project / "big.py"
    path.write_text(big_python())
    (tmp_path / ".slicegrep").symlink_to(house.home)
    for chosen in ("sg", "./sg", "~x/sg"):
        code, _, errors = house.slicegrep("map", "big.py", SLICEGREP_HOME=chosen)
        assert code == 0, errors
    assert os.listdir(house.project) == ["big.py"]
