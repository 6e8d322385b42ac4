"""A disk that is full, and home folders that cannot be used: at every write of a call, the plain call happens or the answer is true."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults_stand import House, faulty_plugin, without_privilege

EVENTS_OF_A_SESSION = 9
"""Writes that a call makes in the home folder, at least: a prompt, a plan, what was seen, marks, the ledger."""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def through(house: House, session: str) -> tuple[bool, bool]:
    """Take a session through every event; whether the read was intercepted and the search annotated. All is true."""
    house.session = session
    house.ask("what does step_77 return")
    read = house.read(house.big)
    if read:
        assert not house.before(house.big)
    house.calls += 1
    house.fire(
        "PostToolUse Grep|Bash|PowerShell",
        house.payload("Bash", {"command": "make"}, tool_response={"stdout": f"{house.big}:232: boom"}),
    )
    annotated = house.grep(house.big)
    start = {"session_id": session, "hook_event_name": "SessionStart", "source": "compact", "cwd": "/"}
    assert house.fire("SessionStart clear|compact", start) == {}
    house.quiet()
    return bool(read), annotated > 0


@pytest.mark.parametrize("fault", ["full", "kill"])
def test_a_fault_at_every_single_write(tmp_path: Path, fault: str) -> None:
    """The disk is full from the n-th opening, renaming, removing or making on, or the process is killed at it."""
    root = faulty_plugin(tmp_path / "plugin")
    house = House(tmp_path / "house", root=root)
    house.works()
    helped = 0
    for n in range(60):
        house.variables = {"FAULT": fault, "FAULT_AT": str(n)}
        house.session = f"w-{n}"
        house.ask("what does step_77 return")
        read = house.read(house.big)
        annotated = house.grep(house.big)
        house.variables = {}
        if read:
            helped += 1
            assert not house.before(house.big)
        else:  # passes now, or is intercepted, once
            again = house.before(house.big)
            assert not again or house.after(again, house.big)
            assert not house.before(house.big)
        if read and annotated and n > EVENTS_OF_A_SESSION:
            break
    else:
        pytest.fail("no call is ever without that fault")
    house.quiet()
    house.age(2 * 86_400)
    house.works()
    assert house.leavings() == []


@pytest.mark.parametrize("limit", [0, 1, 20, 300, 1_000, 4_000])
def test_files_that_cannot_grow(house: House, limit: int) -> None:
    """Each write comes up short at so many bytes, as on a disk with so little left; then there is room again."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    house.before_start = limited
    through(house, "limited")
    house.before_start = None
    through(house, "mending")  # one call may meet what was cut off
    house.age(2 * 86_400)
    house.works()
    assert house.leavings() == []


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[None]:
    """Mount a disk of `size` bytes where that is allowed; else the folder is left as it is."""
    place.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(place)]
    mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, left: int) -> None:
    """Write until only `left` bytes of the disk are free; at most 8 MB (where the folder is on the machine's own disk)."""
    free = os.statvfs(place)
    rest = max(0, min(free.f_bavail * free.f_frsize - left, 8_000_000))
    with (place / "filler").open("wb") as file:
        file.truncate(0)
        file.write(b"x" * rest)


def test_a_disk_that_is_filled_to_its_last_pages(tmp_path: Path) -> None:
    """With 0 to 12 pages left; when room is made the same session is helped again."""
    with small_disk(tmp_path / "house" / "home", 8_000_000):
        house = House(tmp_path / "house", exists=True)
        house.works()
        for pages in (0, 1, 2, 4, 8):
            fill(house.home, pages * 4096)
            through(house, f"full-{pages}")
            assert house.slicegrep("index", ".").returncode in {0, 1, 2}
            (house.home / "filler").unlink()
            house.works()
        house.age(2 * 86_400)
        house.works()
        assert house.leavings() == []


def read_only(house: House) -> None:
    for folder in (house.home, *(path for path in house.home.rglob("*") if path.is_dir())):
        if not folder.is_symlink():
            folder.chmod(0o500)


def of_others(house: House) -> None:
    house.home.chmod(0o000)


def _remove(folder: Path) -> None:
    """Delete a home folder in which something may still be counted."""
    until = time.monotonic() + 20
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=time.monotonic() < until)


def missing(house: House) -> None:
    _remove(house.home)


def a_file(house: House) -> None:
    _remove(house.home)
    house.home.write_text("not a folder")


def a_dangling_link(house: House) -> None:
    _remove(house.home)
    house.home.symlink_to(house.folder / "nowhere")


def a_loop(house: House) -> None:
    _remove(house.home)
    house.home.symlink_to(house.home)


def a_fifo(house: House) -> None:
    _remove(house.home)
    os.mkfifo(house.home)


HOMES: list[Callable[[House], None]] = [
    read_only,
    of_others,
    missing,
    a_file,
    a_dangling_link,
    a_loop,
    a_fifo,
]


@pytest.mark.parametrize("spoil", HOMES)
def test_a_home_folder_that_cannot_be_used(house: House, spoil: Callable[[House], None]) -> None:
    """Every event ends well, at once; a read is never intercepted where it could not be remembered."""
    house.works()
    spoil(house)
    house.before_start = without_privilege
    kept = sorted(house.project.rglob("*"))
    try:
        started = time.monotonic()
        intercepted, _ = through(house, "spoilt")
        assert not intercepted
        assert time.monotonic() - started < 8
        for words in (["stats"], ["index", "."], [".", "step_77"], ["doctor"]):
            said = house.slicegrep(*words)
            assert b"Traceback" not in said.stderr + said.stdout, said.stderr
    finally:
        house.before_start = None
        if spoil in (read_only, of_others):
            for folder, names, _ in os.walk(house.home):
                Path(folder).chmod(0o700)
                for name in names:
                    if not Path(folder, name).is_symlink():
                        Path(folder, name).chmod(0o700)
    assert sorted(house.project.rglob("*")) == kept
    assert not list(house.folder.rglob("nowhere"))
