"""The shim's launcher, in every shell that `sh` may be: which tool is the real one, and when Python is asked at all."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SHIMS = REPOSITORY / "plugin" / "shims" / "bin"
SHELLS = {
    "dash": ["dash"],
    "bash": ["bash"],
    "bash-posix": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "zsh": ["zsh", "--emulate", "sh"],
    "ksh": ["ksh"],
    "mksh": ["mksh"],
}
TEXT = "needle\nother\n"


class Desk:
    """A folder with a file, a home folder whose Python only writes down what it is given, and one shell."""

    def __init__(self, folder: Path, shell: list[str]) -> None:
        """Make it."""
        self.folder = folder
        self.shell = shell
        self.home = folder / "a home"
        self.record = folder / "asked"
        key = (REPOSITORY / "plugin" / "requirements.key").read_text("utf-8").strip()
        ready = self.home / "env" / key / ".ready"
        ready.parent.mkdir(parents=True)
        self.python = self.program("python", f'printf "%s\\0" "$@" >"{self.record}"')
        ready.write_text(f"{self.python}\n{folder}/site packages\n", "utf-8")
        (folder / "a.py").write_text(TEXT, "utf-8")

    def program(self, name: str, script: str) -> Path:
        """Write a script that can be run."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)
        return path

    def run(
        self, *words: str, name: str = "grep", shim: str | Path = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the shim."""
        environment = {
            "PATH": f"{SHIMS}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "SLICEGREP_HOME": str(self.home),
        }
        program = shutil.which(self.shell[0])
        assert program
        return subprocess.run(
            [program, *self.shell[1:], str(shim or SHIMS / name), *words],
            env=environment | variables,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def asked(self) -> list[str] | None:
        """Return what Python was given, None where it was not started."""
        if not self.record.exists():
            return None
        found = self.record.read_text("utf-8").split("\0")[:-1]
        self.record.unlink()
        return found


@pytest.fixture(params=SHELLS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """Return a desk for each shell."""
    return Desk(tmp_path, SHELLS[request.param])


def test_python_is_asked_only_where_line_numbers_can_come(desk: Desk) -> None:
    """All else is the real tool's at once, with its own output and status."""
    for words in (
        ["needle", "a.py"],
        ["-c", "needle", "a.py"],
        ["--no-messages", "x", "a.py"],
        ["--", "needle", "a.py"],
    ):
        done = desk.run(*words)
        real = subprocess.run(
            ["/usr/bin/grep", *words], cwd=desk.folder, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr, done.returncode) == (real.stdout, real.stderr, real.returncode)
        assert desk.asked() is None
    for words in (["-n", "x"], ["-rni", "x"], ["--line-number", "x"], ["--line-n", "x"], ["x", "a.py", "-n"]):
        desk.run(*words)
        assert desk.asked() is not None, words


def test_python_gets_every_word_as_it_is(desk: Desk) -> None:
    """Spaces, quotes, stars, line ends, empty words; before them what only the shell knows."""
    words = ["-n", "a  b", "'\"$HOME`x`\\", "*", "", "line\nend", "-e", "Ё⟵"]
    desk.run(*words, LC_CTYPE="C.UTF-8")
    asked = desk.asked()
    assert asked is not None
    assert asked[:2] == ["-I", "-S"]
    assert os.path.realpath(asked[2]) == str(REPOSITORY / "plugin" / "slicegrep" / "shim" / "__main__.py")
    assert asked[3:7] == [f"{desk.home}/pyc", f"{desk.folder}/site packages", "grep", "/usr/bin/grep"]
    assert int(asked[7], 16) >> 12 & 1 == 0  # SIGPIPE is not ignored
    assert asked[8] == "=C.UTF-8"
    assert asked[9:] == words


def test_what_python_cannot_know_is_told(desk: Desk) -> None:
    """An ignored SIGPIPE (Python ignores it always), and that LC_CTYPE was not set (Python sets it in the C locale)."""
    shell = " ".join(desk.shell)
    script = desk.program("ignoring", f"trap '' PIPE\nexec {shell} {SHIMS}/grep -n x a.py")
    desk.run(shim=script)
    asked = desk.asked()
    assert asked is not None
    assert int(asked[7], 16) >> 12 & 1 == 1
    assert asked[8] == ""


@pytest.mark.parametrize("value", ["off", "OFF", "0", "no", "false"])
@pytest.mark.parametrize("name", ["SLICEGREP_SHIM", "LOOM_GREP_SHIM"])
def test_switched_off_python_is_not_started(desk: Desk, name: str, value: str) -> None:
    """Under both names."""
    assert desk.run("-n", "needle", "a.py", **{name: value}).stdout == "1:needle\n"
    assert desk.asked() is None


def test_the_newer_name_of_the_switch_wins(desk: Desk) -> None:
    """On by the new name, off by the old one: on."""
    desk.run("-n", "needle", "a.py", SLICEGREP_SHIM="on", LOOM_GREP_SHIM="off")
    assert desk.asked() is not None


def test_without_an_environment_the_real_tool_runs(desk: Desk) -> None:
    """No home, a half-made one, one whose Python is gone."""
    for home in ("/nowhere", "relative", str(desk.folder)):
        assert desk.run("-n", "needle", "a.py", SLICEGREP_HOME=home).stdout == "1:needle\n"
    desk.python.unlink()
    done = desk.run("-n", "needle", "a.py")
    assert (done.stdout, done.stderr, done.returncode) == ("1:needle\n", "", 0)


def test_no_chain_of_shims_runs_in_circles(desk: Desk) -> None:
    """Links to it, copies of it, links to its folder, and scripts that look for grep on PATH themselves."""
    copy = desk.folder / "copied"
    shutil.copytree(REPOSITORY / "plugin" / "shims", copy / "shims")
    linked = desk.folder / "linked"
    linked.mkdir()
    (linked / "grep").symlink_to(SHIMS / "grep")
    (desk.folder / "folder").symlink_to(SHIMS)
    wrapper = desk.program("wrapped/grep", f'echo "$$" >>"{desk.folder}/wrapped/log"; exec grep "$@"').parent
    other = desk.program("other/grep", 'echo again >>"${0%/*}/log"; exec grep -i "$@"').parent
    path = f"{copy}/shims/bin:{linked}:{SHIMS}:{desk.folder}/folder:{wrapper}:{SHIMS}:{other}:/usr/bin:/bin"
    for words in (["-c", "NEEDLE", "a.py"], ["NEEDLE", "a.py"]):
        done = desk.run(*words, PATH=path)
        assert (done.stdout.removesuffix("\n"), done.stderr) == ("1" if "-c" in words else "needle", ""), (
            words
        )
    assert (wrapper / "log").read_text().count("\n") == (other / "log").read_text().count("\n") == 2


def test_a_call_by_a_link_finds_the_rest_of_the_shim(desk: Desk) -> None:
    """Links to links, relative ones too."""
    folder = desk.folder / "with space"
    folder.mkdir()
    (folder / "first").symlink_to(SHIMS / "grep")
    (folder / "grep").symlink_to("first")
    desk.run("-n", "needle", "a.py", shim=folder / "grep", PATH=f"{folder}:/usr/bin:/bin")
    asked = desk.asked()
    assert asked is not None
    assert asked[6:7] == ["/usr/bin/grep"]


def test_folders_and_unreadable_entries_of_path_are_passed_over(desk: Desk) -> None:
    """A folder named grep, a file that cannot be run, entries with spaces, that are empty, or not there."""
    (desk.folder / "one" / "grep").mkdir(parents=True)
    (desk.folder / "two two").mkdir()
    (desk.folder / "two two" / "grep").write_text("no program")
    (desk.folder / "three 3 *").mkdir()
    (desk.folder / "three 3 *" / "grep").symlink_to("/usr/bin/grep")
    path = f"{SHIMS}:{desk.folder}/one:{desk.folder}/two two:/nowhere::{desk.folder}/three 3 *"
    desk.run("-n", "x", PATH=f"{path}:/usr/bin:/bin")
    asked = desk.asked()
    assert asked is not None
    assert asked[6] == f"{desk.folder}/three 3 */grep"
    (desk.folder / "grep").symlink_to("/usr/bin/grep")
    desk.run("-n", "x", PATH=f"{path}:/usr/bin:/bin")
    asked = desk.asked()
    assert asked is not None
    assert asked[6] == "./grep"


def test_forced_tools(desk: Desk) -> None:
    """By a path or by a name, under both names of the variable; the newer name wins."""
    tool = desk.program("tools/mygrep", 'echo "mine: $*"')
    for variables in (
        {"SLICEGREP_GREP_REAL": str(tool)},
        {"LOOM_GREP_REAL": str(tool)},
        {"SLICEGREP_GREP_REAL": "mygrep", "PATH": f"{SHIMS}:{tool.parent}:/usr/bin:/bin"},
        {"SLICEGREP_GREP_REAL": str(tool), "LOOM_GREP_REAL": "/usr/bin/grep"},
    ):
        assert desk.run("x", "y", **variables).stdout == "mine: x y\n"
    assert desk.run("x", name="rg", SLICEGREP_RG_REAL=str(tool)).stdout == "mine: x\n"
    assert (
        desk.run("needle", "a.py", SLICEGREP_GREP_REAL=str(SHIMS / "grep")).stdout == "needle\n"
    )  # itself: no loop


def test_where_there_is_no_tool_the_status_is_127(desk: Desk) -> None:
    """With one line that says which."""
    for variables in ({"PATH": f"{SHIMS}:/nowhere"}, {"SLICEGREP_RG_REAL": "/nowhere/rg"}):
        done = desk.run("-n", "x", name="rg", **variables)
        assert (done.stdout, done.returncode) == ("", 127)
        assert done.stderr == f"{variables.get('SLICEGREP_RG_REAL', 'rg')}: command not found\n"


def test_half_an_installation_is_the_systems_tool(desk: Desk) -> None:
    """An update took what both shims share, or left it empty, or took the package."""
    for kept in ([], ["empty"], ["shim.sh"]):
        alone = desk.folder / f"alone {kept}" / "shims" / "bin"
        alone.mkdir(parents=True)
        shutil.copy(SHIMS / "grep", alone)
        if kept == ["empty"]:
            (alone.parent / "shim.sh").write_text("")
        elif kept:
            shutil.copy(SHIMS.parent / "shim.sh", alone.parent)
            shutil.copy(REPOSITORY / "plugin" / "requirements.key", alone.parent.parent)
        done = desk.run("-n", "needle", "a.py", shim=alone / "grep")
        assert (done.stdout, done.stderr, done.returncode) == ("1:needle\n", "", 0)
        assert desk.run("-n", "nothing", "a.py", shim=alone / "grep").returncode == 1


def test_rgs_settings_file_is_pythons_to_read(desk: Desk) -> None:
    """It may ask for line numbers."""
    desk.program("tools/rg", "echo rg")
    path = f"{SHIMS}:{desk.folder}/tools:/usr/bin:/bin"
    desk.run("x", name="rg", PATH=path)
    assert desk.asked() is None
    desk.run("x", name="rg", PATH=path, RIPGREP_CONFIG_PATH="rgrc")
    assert desk.asked() is not None


def test_the_two_shims_are_one_but_for_the_name() -> None:
    """So what holds for one holds for the other."""
    grep, rg = ((SHIMS / name).read_text("utf-8") for name in ("grep", "rg"))
    assert rg == grep.replace("real grep", "real rg").replace("name=grep", "name=rg")
