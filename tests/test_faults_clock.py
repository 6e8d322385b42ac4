"""The clock set back or ahead: what carries the time of another year is neither lost nor in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from faults_stand import House, write_steps

YEAR = 365 * 86_400


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("years", [1, -1])
def test_state_of_another_year(house: House, years: int) -> None:
    """All that is kept was written a year ago, or a year ahead: calls are answered truly, the notes stay, marks go."""
    house.works()
    house.session = "kept"
    house.ask("what does step_77 return")
    assert house.slicegrep("index", ".").returncode == 0
    narrowed = house.before(house.big)
    assert narrowed
    house.quiet()
    (house.home / "run" / "hook-pre_read-1").touch()
    house.age(years * YEAR)
    for path in house.project.rglob("*"):
        os.utime(path, (time.time() - years * YEAR,) * 2)
    assert house.after(narrowed, house.big)
    assert house.before(house.big) == {}  # it is remembered
    assert house.grep(house.big) == 10
    found = house.slicegrep(".", "step_29")
    assert found.returncode == 0
    assert b"step_29" in found.stdout
    assert house.slicegrep("stats").returncode == 0
    house.works()
    assert house.slicegrep("stats").returncode == 0
    house.quiet()
    assert house.leavings() == []


def test_a_file_that_changes_while_the_clock_goes_back(house: House) -> None:
    """The index follows what a file holds: an edit that carries an older time, or the same one, is found."""
    part = write_steps(house.project / "part.py", 40)
    assert house.slicegrep("index", ".").returncode == 0
    for back in (YEAR, 0, -YEAR):
        then = time.time() - back
        text = part.read_text()
        part.write_text(f"def begun_{abs(back)}_{back < 0}(x):\n    return x\n\n\n{text}")
        os.utime(part, (then, then))
        house.calls += 1
        assert house.grep(part, "return x . 7$") == 1
        found = house.slicegrep("enclosing", f"{part}:2")
        assert f"begun_{abs(back)}_{back < 0}".encode() in found.stdout, found
