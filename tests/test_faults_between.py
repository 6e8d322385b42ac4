"""What becomes of a file between the two phases of its read: what was planned of another content is never delivered."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from faults_stand import House, without_privilege, write_steps


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("between"))


@pytest.fixture(autouse=True)
def _as_it_was(house: House) -> None:
    """Each case begins with the file as it was made, in a session of its own."""
    _put_back(house)
    house.session = f"b-{time.monotonic_ns()}"
    house.before_start = None


def _put_back(house: House) -> None:
    if house.big.is_dir():
        house.big.rmdir()
    else:
        house.big.unlink(missing_ok=True)
    write_steps(house.big)


def same_size_and_times(house: House) -> None:
    """Another content of the same length, and the times put back."""
    was = house.big.stat()
    text = house.big.read_text()
    house.big.write_text(text.replace("return x * 7", "return x + 7"))
    os.utime(house.big, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert (house.big.stat().st_size, house.big.stat().st_mtime_ns) == (was.st_size, was.st_mtime_ns)
    assert house.big.read_text() != text


def one_line_more(house: House) -> None:
    with house.big.open("a") as file:
        file.write("\n")


def replaced(house: House) -> None:
    """By another file, moved in its place as editors do."""
    write_steps(house.project / "new.py", word="y").replace(house.big)


def deleted(house: House) -> None:
    house.big.unlink()


def cut_off(house: House) -> None:
    os.truncate(house.big, house.big.stat().st_size // 2)


def emptied(house: House) -> None:
    house.big.write_bytes(b"")


def a_link_to_a_secret(house: House) -> None:
    other = write_steps(house.folder / "secret.py", word="key")
    house.big.unlink()
    house.big.symlink_to(other)


def a_dangling_link(house: House) -> None:
    house.big.unlink()
    house.big.symlink_to("nowhere.py")


def a_fifo(house: House) -> None:
    house.big.unlink()
    os.mkfifo(house.big)


def a_folder(house: House) -> None:
    house.big.unlink()
    house.big.mkdir()


def a_socket(house: House) -> None:
    house.big.unlink()
    was = Path.cwd()
    os.chdir(house.project)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("big.py")
    os.chdir(was)


def a_device(house: House) -> None:
    """As far as one may be made: a link to one."""
    house.big.unlink()
    house.big.symlink_to("/dev/zero")


def without_permission(house: House) -> None:
    house.big.chmod(0)


def its_folder_gone(house: House) -> None:
    shutil.rmtree(house.project)


def nuls_in_it(house: House) -> None:
    data = bytearray(house.big.read_bytes())
    data[1000] = 0
    house.big.write_bytes(bytes(data))


def too_large(house: House) -> None:
    os.truncate(house.big, 6_000_000)


CHANGES: list[Callable[[House], None]] = [
    same_size_and_times,
    one_line_more,
    replaced,
    deleted,
    cut_off,
    emptied,
    a_link_to_a_secret,
    a_dangling_link,
    a_fifo,
    a_folder,
    a_socket,
    a_device,
    without_permission,
    its_folder_gone,
    nuls_in_it,
    too_large,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_became_another_is_not_delivered(house: House, change: Callable[[House], None]) -> None:
    """Nothing of the plan and nothing of what is there now, and no plan stays; where it is put back a read works."""
    house.before_start = without_privilege
    narrowed = house.before(house.big)
    assert narrowed
    payload = house.after_payload(narrowed, house.big)
    change(house)
    assert house.fire("PostToolUse Read", payload) == {}
    assert house.fire("PostToolUse Read", payload) == {}  # once is all
    state = house.home / "state" / house.session
    assert list((state / "plans").iterdir()) == []
    assert not any(b'"delivered"' in path.read_bytes() for path in state.glob("reads*"))  # it does not count
    _put_back(house)
    assert not house.before(house.big)  # the second read passes, whatever became of the first
    house.session += "-2"
    again = house.before(house.big)
    assert again
    assert house.after(again, house.big)
    assert house.leavings() == []


@pytest.mark.parametrize("change", [deleted, a_link_to_a_secret, a_fifo, a_folder, same_size_and_times])
def test_a_searched_file_that_became_another(house: House, change: Callable[[House], None]) -> None:
    """Between the search and its hook: a line is annotated only where the file still holds it."""
    payload = house.grep_payload(house.big, "x . 7[0-9]$")
    assert payload["tool_response"]["stdout"].count("return x * 7") == 10
    change(house)
    assert house.fire("PostToolUse Grep|Bash|PowerShell", payload) == {}


def test_a_file_that_is_written_all_the_time(house: House) -> None:
    """Two contents take turns while sessions read: whatever is delivered is wholly of the one that was planned."""
    one = house.big.read_bytes()
    two = write_steps(house.folder / "two.py", 650, "yy")
    kept = {"2100 lines": house.folder / "one.py", "1950 lines": two}
    kept["2100 lines"].write_bytes(one)
    child = os.fork()
    if child == 0:
        beside = house.project / "beside"
        # Two hooks take 0.2 seconds, and more on a busy machine: some of the turns are long enough for them.
        for content, pause in zip(cycle((two.read_bytes(), one)), cycle((0.1, 0.4, 2.0))):
            beside.write_bytes(content)
            beside.replace(house.big)
            time.sleep(pause)
    try:
        answers = 0
        for n in range(12):
            house.session = f"turn-{n}"
            house.calls += 1
            answer = house.fire("PreToolUse Read", house.payload("Read", {"file_path": str(house.big)}))
            narrowed = answer["hookSpecificOutput"]["updatedInput"]
            answer = house.fire("PostToolUse Read", house.after_payload(narrowed, house.big))
            text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
            if text:
                (content,) = [path for total, path in kept.items() if f": {total}," in text.split("\n")[0]]
                house.true_text(answer, content)
                answers += 1
        assert answers > 0
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    house.big.write_bytes(one)
    house.works()
