"""State files that hold anything or are no files at all: calls pass or are answered truly, at once, and the next session works."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_stand import House

AT_ONCE = 4.0
"""Seconds for a call that is not to wait for anything, on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("state"))


def random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(str(path.name)).randbytes(5_000))


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_json(path: Path) -> None:
    path.write_text('{"plan":[1],"note":{"path":7},"delivered":{"a":1},"line":"x"}\n[]\nnull\n"x"\n1e999\n')


def deep_json(path: Path) -> None:
    path.write_text("[" * 100_000 + "\n" + '{"a":' * 100_000)


def nuls(path: Path) -> None:
    path.write_bytes(b"\0" * 100_000)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link_to_zeros(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def a_link_to_a_file_of_the_person(path: Path) -> None:
    path.unlink()
    path.symlink_to(_precious(path))


def _precious(path: Path) -> Path:
    home = next(one for one in path.parents if one.name == "home")
    return home.parent / "precious"


def read_only(path: Path) -> None:
    path.chmod(0o400)


DAMAGES: list[Callable[[Path], None]] = [
    random_bytes,
    cut_off,
    empty,
    other_json,
    deep_json,
    nuls,
    a_folder,
    a_fifo,
    a_link_to_zeros,
    a_link_to_a_file_of_the_person,
    read_only,
]
KINDS = {
    "files and plans": ("state/*/*/*",),
    "what the session said": ("state/*/*",),
    "what all share": ("ledger/*", "run/*", "notice"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_state(house: House, kind: str, damage: Callable[[Path], None]) -> None:
    """Between the two phases, before the next read of the file, before the next prompt; then a session begun anew works."""
    precious = house.folder / "precious"
    precious.write_text("precious")
    house.session = f"{damage.__name__}-{len(kind)}"
    (house.home / "notice").write_text('{"systemMessage":"slicegrep is ready"}\n')
    narrowed = house.before(house.big)
    assert narrowed
    house.fire(
        "PostToolUse Grep|Bash|PowerShell",
        house.payload("Bash", {"command": "make"}, tool_response={"stdout": f"{house.big}:232: boom"}),
    )
    house.quiet()
    (house.home / "run" / "swept").touch()
    (house.home / "state" / house.session / "reads").write_text('{"tool_name":"Read"}\n')
    (house.home / "state" / house.session / "prompts").write_text('{"prompt":"step_9"}\n')
    found = [path for one in KINDS[kind] for path in house.home.glob(one) if path.is_file()]
    assert found
    for path in found:
        damage(path)
    calls: list[Callable[[], object]] = [
        lambda: house.after(narrowed, house.big),
        lambda: house.before(house.big),
        lambda: house.ask("what does step_77 return"),
        lambda: house.grep(house.big),
        lambda: house.fire("PostToolUseFailure Bash|PowerShell", _failure(house)),
        house.quiet,
    ]
    for call in calls:
        started = time.monotonic()
        call()
        assert time.monotonic() - started < AT_ONCE, call
    assert precious.read_text() == "precious"
    stats = house.slicegrep("stats")
    assert (stats.returncode, b"Traceback" in stats.stderr) == (0, False), stats.stderr
    house.age(2 * 86_400)  # what is done once a day meets it too
    house.session = f"{house.session}-3"
    again = house.before(house.big)
    assert again, "the next session is not helped"
    assert house.after(again, house.big)
    house.quiet()
    for top in ("state", "ledger", "run", "notice"):  # for the next case
        path = house.home / top
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _failure(house: House) -> dict[str, object]:
    house.calls += 1
    payload = house.payload("Bash", {"command": "make"}, error=f"{house.big}:232: boom")
    return payload | {"hook_event_name": "PostToolUseFailure"}


@pytest.mark.parametrize(
    "name", ["state", "ledger", "run", "pyc", "index", "state/f-1", "state/f-1/seen", "state/f-1/plans"]
)
def test_a_file_where_a_folder_belongs(house: House, name: str) -> None:
    """The call passes; nothing waits; with the file gone all is as before."""
    path = house.home / name
    house.session = "f-1"
    house.before(house.big)
    house.quiet()
    kept = house.folder / "kept"
    if path.is_dir():
        path.rename(kept)
    path.write_bytes(b"")
    if name in {"state", "run"}:
        a_fifo(path)
    started = time.monotonic()
    narrowed = house.before(house.big)
    if narrowed:
        house.after(narrowed, house.big)
    house.ask("what does step_77 return")
    house.grep(house.big)
    house.quiet()
    assert time.monotonic() - started < 4 * AT_ONCE
    path.unlink(missing_ok=True)
    if kept.exists():
        kept.rename(path)
    house.works()
    shutil.rmtree(house.home / "state")
