"""Set-up: made once, resumed after a kill, one at a time, polite when it fails, and taken away without a trace."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from slicegrep.service.record import Record
from small_index import SmallIndex, small_index

ROOT = Path(__file__).resolve().parents[1]
INSTALL = ROOT / "plugin" / "slicegrep" / "install.py"
SECONDS = 60


@pytest.fixture
def index() -> Iterator[SmallIndex]:
    """Serve the small index."""
    with small_index() as server:
        yield server


class World:
    """A home folder, an environment with nothing of the caller's, and pins from a small index."""

    def __init__(self, folder: Path, requirements: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.pins = folder / "pins.txt"
        self.pins.write_text(requirements)
        self.tools = folder / "bin"
        self.tools.mkdir()
        self.variables = {
            "PATH": str(self.tools),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "SLICEGREP_HOME": str(self.home),
            "SLICEGREP_SETUP_REQUIREMENTS": str(self.pins),
        }

    def start(self, *words: str, prepare: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-I", "-B", str(INSTALL), *words],
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509 (it only sets a limit or a group)
        )

    def run(self, *words: str, prepare: Callable[[], None] | None = None) -> tuple[int, str, str]:
        process = self.start(*words, prepare=prepare)
        out, err = process.communicate(timeout=SECONDS)
        return process.returncode, out, err

    @property
    def ready(self) -> list[Path]:
        return list(self.home.glob("env/*/.ready"))

    def is_ready(self) -> bool:
        return len(self.ready) == 1

    def failure(self) -> dict[str, object]:
        return json.loads(next(self.home.glob("env/*.failed.json")).read_text())


@pytest.fixture
def world(tmp_path: Path, index: SmallIndex) -> World:
    """Make a home folder with pins from the small index, and uv on the path."""
    made = World(tmp_path, index.requirements)
    (made.tools / "uv").symlink_to(uv())
    return made


@pytest.fixture
def plain(tmp_path: Path, index: SmallIndex) -> World:
    """Make a home folder with pins from the small index, and no uv."""
    return World(tmp_path, index.requirements)


def until(condition: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def test_setup_makes_an_environment_that_imports_its_packages_and_says_where(plain: World) -> None:
    """One command, exit 0; `.ready` names an interpreter and the folder of its packages; all is private."""
    code, out, err = plain.run("setup")
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == f"slicegrep: ready in {plain.home}"
    python, site = plain.ready[0].read_text().splitlines()
    assert (Path(site) / "tinypackage").is_dir()
    assert subprocess.run([python, "-I", "-c", "import tinypackage"], check=False).returncode == 0
    assert (plain.home.stat().st_mode & 0o777, plain.ready[0].stat().st_mode & 0o777) == (0o700, 0o600)


def test_setup_a_second_time_downloads_nothing(world: World, index: SmallIndex) -> None:
    """What is whole is left as it is."""
    world.run("setup")
    before = world.ready[0].stat().st_mtime_ns
    assert world.run("setup", "--quiet") == (0, "", "")
    assert (index.downloads, world.ready[0].stat().st_mtime_ns) == (1, before)


def test_setup_uses_uv_where_it_is_on_the_path(world: World) -> None:
    """With uv the environment is made by uv, which leaves its mark in pyvenv.cfg."""
    code, _, err = world.run("setup")
    assert code == 0
    assert "with uv" in err
    assert "uv = " in (world.ready[0].parent / "pyvenv.cfg").read_text()


def test_setup_falls_back_on_pip_when_uv_fails(plain: World) -> None:
    """A uv that cannot reach what pip's own configuration can is no reason to fail."""
    broken = plain.tools / "uv"
    broken.write_text("#!/bin/sh\necho 'error: no route' >&2\nexit 2\n")
    broken.chmod(0o755)
    code, _, err = plain.run("setup")
    assert code == 0
    assert "error: no route" in err


def test_setup_adds_what_only_the_servers_need_after_the_rest(plain: World, index: SmallIndex) -> None:
    """servers.txt beside the pins goes into the same environment; a second run leaves it, other pins there bring it again."""
    plain.pins.with_name("servers.txt").write_text(index.requirements)
    code, _, err = plain.run("setup")
    assert (code, "adding what serve and mcp need" in err) == (0, True)
    assert "adding" not in plain.run("setup")[2]
    plain.pins.with_name("servers.txt").write_text(index.requirements + "# another\n")
    assert "adding" in plain.run("setup")[2]


def test_setup_is_ready_without_the_servers_packages(plain: World) -> None:
    """No hook needs them: where they cannot be had it is said, and the rest serves."""
    plain.pins.with_name("servers.txt").write_text("tinypackage==99\n")
    code, _, err = plain.run("setup")
    assert (code, plain.is_ready()) == (0, True)
    assert "serve and mcp will not start" in err
    assert err.splitlines()[-1].startswith("slicegrep: ready in")


def test_setup_killed_while_it_downloads_is_begun_again_and_ends(plain: World, index: SmallIndex) -> None:
    """A kill -9 in the middle leaves nothing that counts as ready; the next run makes it whole."""
    index.gate.clear()
    process = plain.start("setup")
    assert index.asked.wait(SECONDS)
    process.kill()
    process.wait(SECONDS)
    assert plain.ready == []
    index.gate.set()
    assert plain.run("setup")[0] == 0
    assert len(plain.ready) == 1


def test_two_setups_at_once_make_one_environment(plain: World, index: SmallIndex) -> None:
    """The second waits for the first and finds its work done."""
    index.gate.clear()
    first = plain.start("setup")
    assert index.asked.wait(SECONDS)
    second = plain.start("setup")
    assert second.stderr is not None
    assert second.stderr.readline() == f"slicegrep: waiting for another set-up, process {first.pid}\n"
    index.gate.set()
    assert (first.wait(SECONDS), second.wait(SECONDS)) == (0, 0)
    first.communicate()
    second.communicate()
    assert index.downloads == 1


def test_an_installer_left_by_a_kill_keeps_the_next_setup_waiting(plain: World, index: SmallIndex) -> None:
    """The orphaned pip holds the lock until it ends, so that two of them never write into one environment."""
    index.gate.clear()
    first = plain.start("setup")
    assert index.asked.wait(SECONDS)
    first.kill()
    first.wait(SECONDS)
    second = plain.start("setup")
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()
    index.gate.set()
    assert second.communicate(timeout=SECONDS)[1].endswith(f"ready in {plain.home}\n")


def test_an_environment_whose_python_was_taken_away_is_made_again(world: World) -> None:
    """An upgrade of the system's Python leaves a dangling link; `.ready` alone does not count."""
    world.run("setup")
    python = Path(world.ready[0].read_text().splitlines()[0])
    python.unlink()
    python.symlink_to("/nonexistent/python3")
    assert world.run("setup")[0] == 0
    assert subprocess.run([str(python), "-I", "-c", "import tinypackage"], check=False).returncode == 0


def test_an_environment_that_lost_a_package_is_made_again(world: World) -> None:
    """`setup` is the way to mend what `doctor` finds."""
    world.run("setup")
    site = Path(world.ready[0].read_text().splitlines()[1])
    shutil.rmtree(site / "tinypackage")
    assert world.run("setup")[0] == 0
    assert (site / "tinypackage").is_dir()


def test_a_package_that_installs_and_does_not_import_is_a_failure(tmp_path: Path) -> None:
    """A wheel for another system can install and be of no use: nothing is marked ready, and the package is named."""
    with small_index(files={"tinypackage/__init__.py": "raise ImportError('wrong system')\n"}) as index:
        world = World(tmp_path, index.requirements)
        code, _, err = world.run("setup")
    assert code == 2
    assert "does not import: tinypackage" in err
    assert world.ready == []


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    """No wheel of google-re2 exists for musl: set-up goes on without it, as no hook needs it."""
    with small_index() as index:
        world = World(tmp_path, f"{index.requirements}google-re2==1.0\n")
        code, _, err = world.run("setup")
    assert (code, len(world.ready)) == (0, 1)
    assert "without what is optional" in err


def test_without_a_network_setup_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """Exit 2, one line that names the network, no half-made environment."""
    world = World(tmp_path, "--index-url http://127.0.0.1:9/simple/\ntinypackage==1.0\n")
    code, _, err = world.run("setup", "--quiet")
    assert code == 2
    assert re.fullmatch(r"slicegrep: set-up failed: no package index was reached.*\n", err)
    assert [p.name for p in (world.home / "env").iterdir() if p.is_dir()] == []


def test_a_full_disk_is_named_and_nothing_half_made_stays(tmp_path: Path) -> None:
    """A limit on file sizes fails writes as a full disk does; with room again, set-up ends."""
    ballast = "x = '" + "a" * 400_000 + "'\n"
    with small_index(files={"tinypackage/__init__.py": ballast}) as index:
        world = World(tmp_path, index.requirements)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
        code, _, err = world.run("setup", "--quiet", prepare=limit)
        assert code == 2
        assert err.startswith("slicegrep: set-up failed: the disk is full")
        assert world.ready == []
        assert world.run("setup")[0] == 0


def test_a_home_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Where a file stands in the way (or the disk is read-only) the message says what to change."""
    world = World(tmp_path, "tinypackage==1.0\n")
    world.home.write_text("a file")
    code, _, err = world.run("setup")
    assert code == 2
    assert "SLICEGREP_HOME" in err


def test_background_returns_at_once_tells_the_person_once_and_the_work_goes_on(
    world: World, index: SmallIndex
) -> None:
    """The hook's process group may be killed when a headless client ends; the environment is made all the same."""
    index.gate.clear()
    began = time.monotonic()
    process = world.start("background", prepare=lambda: os.setpgid(0, 0))
    out, err = process.communicate(timeout=SECONDS)
    assert time.monotonic() - began < 5
    assert (process.returncode, err) == (0, "")
    assert list(json.loads(out)) == ["systemMessage"]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    assert index.asked.wait(SECONDS)
    assert world.run("background") == (0, "", "")
    index.gate.set()
    until(world.is_ready)
    assert index.downloads == 1


def test_what_two_set_ups_say_stands_in_the_log_whole(world: World, index: SmallIndex) -> None:
    """A session that starts while another's set-up goes on adds its line; neither writes over the other's."""
    index.gate.clear()
    world.run("background")
    assert index.asked.wait(SECONDS)
    world.run("background")
    log = world.home / "log" / "setup.log"
    until(lambda: log.read_text().endswith("is at work\n"))
    index.gate.set()
    until(lambda: log.read_text().endswith(" ready\n"))
    assert all(re.match(r"\d{4}-\d\d-\d\d ", line) for line in log.read_text().splitlines())


@pytest.mark.parametrize("seen", [False, True])
def test_the_person_gets_one_line_about_set_up(world: World, index: SmallIndex, *, seen: bool) -> None:
    """The launcher keeps the line in `notice` until a prompt shows it: the outcome replaces it, or is not told at all."""
    index.gate.clear()
    notice = world.home / "notice"
    out = world.run("background")[1]
    if not seen:
        notice.write_text(out)
    index.gate.set()
    log = world.home / "log" / "setup.log"
    until(lambda: log.read_text().endswith(" ready\n"))
    if seen:
        assert not notice.exists()
    else:
        until(lambda: "slicegrep is ready" in json.loads(notice.read_text())["systemMessage"])


def test_background_hands_no_token_of_the_session_on(tmp_path: Path) -> None:
    """What outlives the session must not carry CLAUDE_CODE_MESSAGING_TOKEN; settings of the network do go along."""
    dump = "import os, pathlib\npathlib.Path(__file__ + '.env').write_text('\\n'.join(os.environ))\n"
    with small_index(files={"tinypackage/__init__.py": dump}) as index:
        world = World(tmp_path, index.requirements)
        world.variables |= {"CLAUDE_CODE_MESSAGING_TOKEN": "x", "ANTHROPIC_API_KEY": "y", "HTTPS_PROXY": ""}
        world.run("background")
        until(world.is_ready)
    site = Path(world.ready[0].read_text().splitlines()[1])
    names = (site / "tinypackage" / "__init__.py.env").read_text().split()
    assert "HTTPS_PROXY" in names
    assert not [n for n in names if n.startswith(("CLAUDE", "ANTHROPIC"))]


def test_background_waits_longer_after_each_failure_and_setup_does_not(tmp_path: Path) -> None:
    """A failure is recorded and told once; until its time is up no session tries again, and a person always can."""
    with small_index() as index:
        world = World(tmp_path, index.requirements.replace("==1.0", "==2.0"))
        world.run("background")
        until((world.home / "notice").is_file)
        until(lambda: any(world.home.glob("env/*.failed.json")))
        assert world.failure()["tries"] == 1
        assert "could not set itself up" in json.loads((world.home / "notice").read_text())["systemMessage"]
        log = (world.home / "log" / "setup.log").read_text()
        assert world.run("background") == (0, "", "")
        assert (world.home / "log" / "setup.log").read_text() == log
        assert world.run("setup")[0] == 2


@pytest.mark.parametrize(("ago", "tries"), [(601, 1), (1201, 2), (86_401, 9), (-3600, 5)])
def test_background_tries_again_when_its_time_is_up(world: World, ago: int, tries: int) -> None:
    """Ten minutes after the first failure, twice that after the second, a day at most; at once when the clock was set back."""
    world.run("setup")
    shutil.rmtree(world.ready[0].parent)
    record = next(world.home.glob("env/*.lock")).with_suffix(".failed.json")
    record.write_text(json.dumps({"when": time.time() - ago, "tries": tries, "message": "m"}))
    assert world.run("background")[0] == 0
    until(world.is_ready)
    until(lambda: not record.exists())


@pytest.mark.parametrize(("ago", "tries"), [(590, 1), (1190, 2), (80_000, 9)])
def test_background_holds_still_until_then(world: World, index: SmallIndex, ago: int, tries: int) -> None:
    """Just before its time nothing is started."""
    world.run("setup")
    shutil.rmtree(world.ready[0].parent)
    record = next(world.home.glob("env/*.lock")).with_suffix(".failed.json")
    record.write_text(json.dumps({"when": time.time() - ago, "tries": tries, "message": "m"}))
    before = index.downloads
    assert world.run("background") == (0, "", "")
    assert not (world.home / "log").exists()
    assert index.downloads == before


def test_background_never_fails_the_session(tmp_path: Path) -> None:
    """Even where nothing can be written it exits 0 and prints nothing on standard output."""
    world = World(tmp_path, "tinypackage==1.0\n")
    world.home.write_text("a file")
    code, out, _ = world.run("background")
    assert (code, out) == (0, "")


def test_environments_of_other_versions_go_when_unused_for_14_days(world: World) -> None:
    """An old one goes, one that was used last week stays, and so does a folder that is no environment."""
    folder = world.home / "env"
    ages = {"0123456789abcdef": 15, "fedcba9876543210": 7, "notes": 90}
    for name, days in ages.items():
        (folder / name).mkdir(parents=True)
        for file in (folder / name / "pyvenv.cfg", folder / name / ".ready"):
            file.write_text("")
            os.utime(file, (time.time() - days * 86_400,) * 2)
    (folder / "0123456789abcdef.announced").touch()
    assert world.run("setup")[0] == 0
    assert sorted(p.name for p in folder.iterdir() if p.name[:16] in ages) == ["fedcba9876543210", "notes"]


def test_the_vocabulary_is_taken_from_a_cache_of_tiktoken_only_when_its_hash_is_right(world: World) -> None:
    """A file of the right name and another content is not used, and its absence is no failure."""
    cache = world.folder / "cache"
    cache.mkdir()
    (cache / "fb374d419588a4632f3f557e76b4b70aebbca790").write_text("not it")
    world.variables["TIKTOKEN_CACHE_DIR"] = str(cache)
    code, _, err = world.run("setup")
    assert code == 0
    assert "estimates, marked ~" in err
    assert list((world.home / "vocab").iterdir()) == []


def test_setup_writes_the_byte_code_of_what_hooks_import(world: World) -> None:
    """Hooks look for byte code in `pyc` alone: the package's own is there before the first of them."""
    world.run("setup")
    names = {path.name.split(".")[0] for path in (world.home / "pyc").rglob("plugin/slicegrep/*.pyc")}
    assert {path.stem for path in INSTALL.parent.glob("*.py")} <= names


def test_remove_deletes_the_home_folder(world: World) -> None:
    """`setup --remove` leaves nothing; doing it twice is no error."""
    world.run("setup")
    assert world.run("setup", "--remove") == (0, "", f"slicegrep: removed {world.home}\n")
    assert not world.home.exists()
    assert world.run("setup", "--remove")[0] == 0


def test_remove_knows_a_ledger_that_was_put_aside(world: World) -> None:
    """The server renames a damaged one, and leaves it to be looked at."""
    ledger = world.home / "server.sqlite"
    ledger.parent.mkdir()
    ledger.write_text("no database" * 99)
    Record(str(ledger)).close()
    assert len(list(world.home.iterdir())) > 1
    assert world.run("setup", "--remove")[0] == 0
    assert not world.home.exists()


def test_remove_ends_what_an_earlier_one_began(world: World) -> None:
    """It renames the folder before it deletes it; what a killed one left goes with the next, and nothing else beside it does."""
    world.run("setup")
    left = world.home.with_name("home.removing-123")
    shutil.copytree(world.home, left, symlinks=True)
    others = [world.home.with_name(name) for name in ("home.removing-x", "home2.removing-1", "home.old")]
    for other in others:
        other.mkdir()
    assert world.run("setup", "--remove") == (0, "", f"slicegrep: removed {world.home}\n")
    assert [path.exists() for path in (world.home, left, *others)] == [False, False, True, True, True]
    left.mkdir()
    assert world.run("setup", "--remove")[0] == 0
    assert not left.exists()


def test_remove_takes_the_models_that_the_readme_has_put_there(world: World) -> None:
    """`models` is a folder of the home folder as any other; what a link in it leads to stays."""
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    (world.home / "models").mkdir(parents=True)
    (world.home / "models" / "one").symlink_to(elsewhere)
    assert world.run("setup", "--remove")[0] == 0
    assert (world.home.exists(), elsewhere.exists()) == (False, True)


def test_remove_does_what_it_can_where_the_folder_cannot_be_renamed(world: World) -> None:
    """A mount, a folder above that is not ours; here a file has the name: it is deleted where it is."""
    world.run("setup")
    taken = lambda: world.home.with_name(f"home.removing-{os.getpid()}").write_text("")  # noqa: E731
    code, _, err = world.run("setup", "--remove", prepare=taken)
    assert (code, err) == (0, f"slicegrep: removed {world.home}\n")
    assert not world.home.exists()


def test_remove_refuses_a_folder_that_holds_anything_else(world: World) -> None:
    """A SLICEGREP_HOME that is somebody's own folder is left as it is, and what was found in it is named."""
    world.run("setup")
    (world.home / "thesis.tex").write_text("")
    code, _, err = world.run("setup", "--remove")
    assert code == 2
    assert "thesis.tex" in err
    assert world.ready


def test_remove_refuses_while_a_setup_is_at_work(world: World, index: SmallIndex) -> None:
    """Deleting under an installer would leave half of it behind."""
    index.gate.clear()
    first = world.start("setup")
    assert index.asked.wait(SECONDS)
    code, _, err = world.run("setup", "--remove")
    assert (code, f"process {first.pid}" in err) == (2, True)
    index.gate.set()
    assert first.wait(SECONDS) == 0
    first.communicate()


def uv() -> str:
    """Find the uv that the tests' requirements bring."""
    found = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert found, "uv is among the tests' requirements"
    return found
