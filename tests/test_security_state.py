"""What stays in the home folder: no text of a file, nothing that others can read, and nothing through a link."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from security_stand import ROOT, House, big_python, everything_below
from slicegrep.home import append_private, replace_private

BODY, SIGNATURE, PROMPT, COMMAND, OUTPUT = (f"canary{n}zq" for n in range(5))


@dataclass
class Played:
    """A session that was played, and what was seen in the middle of it."""

    house: House
    waiting: dict[str, list[str]]
    """Where the canaries were between the phases."""
    delivered: str


@pytest.fixture(scope="module", params=[False, True], ids=["cold", "resident"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A session that uses every event, with and without the resident engine."""
    house = House(tmp_path_factory.mktemp("house"), resident=request.param)
    yield _play(house)
    house.close()


def _play(house: House) -> Played:
    text = big_python(f"        # {BODY} is said here and nowhere else\n", f"{SIGNATURE}_step")
    path = house.project / "big.py"
    path.write_text(text)
    other = house.project / "other.py"
    other.write_text(text + f"\n# {OUTPUT}\n")
    house.fire("prompt", {"session_id": house.session_id, "prompt": f"why is {PROMPT} step_7 wrong?"})
    first = house.before(path)
    assert first, "not intercepted"
    if house.resident:
        house.engine()
    waiting = {canary: house.where(canary) for canary in (BODY, SIGNATURE)}
    delivered = house.after(first, text)
    house.before(path)
    house.before(other)  # refused: no second phase
    line = text.split("\n")[5]
    hits = house.search(f"grep -n {COMMAND} big.py", f"6:{line}")
    assert SIGNATURE in str(hits)
    failed = house.payload("Bash", {"command": f"pytest {COMMAND}"}, error=f"big.py:6: {OUTPUT}")
    house.fire("post-failure", failed)
    house.quiet()
    return Played(house, waiting, delivered)


def test_no_text_of_a_file_is_kept(played: Played) -> None:
    """Bodies of functions, and what tools printed, are nowhere; a plan that waits has the lines of the map."""
    assert BODY in played.delivered and SIGNATURE in played.delivered
    assert played.waiting[BODY] == []
    assert [name.split("/")[2] for name in played.waiting[SIGNATURE]] == ["plans"]
    where = played.house.where
    assert where(BODY) == [] and where(OUTPUT) == []
    assert [name.split("/")[2] for name in where(SIGNATURE)] == ["plans"], "of the refused read alone"


def test_what_is_kept_of_prompts_and_commands_is_where_the_documents_say(played: Played) -> None:
    """docs/security.md names the files: they go with the session's folder."""
    state = f"state/{played.house.session_id}"
    assert played.house.where(PROMPT) == [f"{state}/prompts"]
    assert played.house.where(COMMAND) == [f"{state}/recent.jsonl"]


def test_everything_is_private_whatever_the_umask(played: Played) -> None:
    """Under umask 000, hooks and command line: files 0600, folders 0700, the socket 0600."""
    house = played.house
    for words in (("index",), (".", "total"), ("map", "big.py"), ("enclosing", "big.py:6"), ("stats",)):
        code, _, errors = house.slicegrep(*words)
        assert code == 0, errors
    assert {"index", "ledger", "run", "state"} <= set(house.kept())
    assert stat.S_IMODE(house.home.stat().st_mode) == 0o700
    wrong = {
        name: oct(mode)
        for name, (mode, _) in house.kept().items()
        if mode != (0o700 if (house.home / name).is_dir() else 0o600)
    }
    assert wrong == {}
    assert stat.S_IMODE((house.home / "pyc").stat().st_mode) == 0o700


def test_nothing_is_written_into_the_project(played: Played) -> None:
    """Neither by hooks nor by the command line."""
    played.house.slicegrep(".", "total")
    assert sorted(path.name for path in played.house.project.iterdir()) == ["big.py", "other.py"]


def test_every_file_that_is_kept_is_documented(played: Played) -> None:
    """Each kind that a session and the command line leave has its line in docs/security.md."""
    told = (ROOT / "docs" / "security.md").read_text("utf-8")
    house = played.house
    house.slicegrep(".", "total")
    for name in house.kept():
        top, _, rest = name.removeprefix(f"state/{house.session_id}/").partition("/")
        assert f"`{top}" in told or f"/{top}" in told, (name, rest)


def test_the_state_of_an_old_session_goes(tmp_path: Path) -> None:
    """What a session left is removed 14 days after its last change, prompts and commands with it."""
    house = House(tmp_path)
    old, newer = house.home / "state" / "old", house.home / "state" / "newer"
    for folder, days in ((old, 15), (newer, 13)):
        folder.mkdir(mode=0o700, parents=True)
        (folder / "prompts").write_text(PROMPT)
        for path in ((folder / "prompts"), folder):
            os.utime(path, (time.time() - days * 86_400,) * 2)
    path = house.project / "big.py"
    path.write_text(big_python())
    house.before(path)
    house.quiet()
    assert not old.exists() and (newer / "prompts").exists()


@pytest.mark.parametrize(
    "linked", ["state", "state/s-1", "state/s-1/plans", "state/s-1/prompts", "state/s-1/reads"]
)
def test_a_link_in_the_state_leads_nowhere(tmp_path: Path, linked: str) -> None:
    """Whatever part of a session's state is a link to another place: nothing there is written, changed or deleted."""
    house = House(tmp_path)
    outside = tmp_path / "outside"
    (outside / "s-1" / "seen").mkdir(parents=True)
    for name in ("seen", "plans", "tried"):
        (outside / name).mkdir()
        (outside / name / "precious").write_text("keep")
    for name in ("precious", "s-1/seen/precious", "prompts", "reads", "s-1/prompts", "s-1/reads"):
        (outside / name).write_text("keep")
    place = house.home / linked
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    whole = outside / Path(linked).name if linked.endswith(("prompts", "reads")) else outside
    place.symlink_to(whole)
    before = everything_below(outside)
    path = house.project / "big.py"
    path.write_text(big_python())
    house.fire("prompt", {"session_id": house.session_id, "prompt": "why?"})
    first = house.before(path)
    if first:
        house.after(first, path.read_text())
    house.search("grep -n total big.py", "3:    total = 0")
    house.fire("session-start", {"session_id": house.session_id, "source": "compact"})
    if (house.home / "run").exists():
        house.quiet()
    assert everything_below(outside) == before


def test_a_file_of_the_state_that_turns_into_a_link_is_not_followed(tmp_path: Path) -> None:
    """The append itself refuses it: between a look and the write there would be time."""
    precious = tmp_path / "precious"
    precious.write_text("keep")
    for write in (append_private, replace_private):
        path = tmp_path / "home" / "file"
        path.parent.mkdir(exist_ok=True)
        for name in (str(path), f"{path}.{os.getpid()}.new"):
            if not os.path.lexists(name):
                os.symlink(precious, name)
        with suppress(OSError):
            write(str(path), b"changed")
        assert precious.read_text() == "keep", write.__name__


@pytest.mark.parametrize("leads", ["elsewhere", "back"])
def test_a_link_that_is_turned_between_the_phases_shows_nothing(tmp_path: Path, leads: str) -> None:
    """The user's rules are asked of where it leads then: what they hold back must not come by way of the plan."""
    house = House(tmp_path)
    secret, harmless = tmp_path / "secret.py", house.project / "harmless.py"
    secret.write_text(big_python("        # secretzq\n"))
    harmless.write_text(big_python("        # harmless\n"))
    link = house.project / "link.py"
    link.symlink_to(secret)
    first = house.before(link)
    assert first and "secretzq" not in str(first)
    link.unlink()
    link.symlink_to(secret if leads == "back" else harmless)
    assert house.after(first, harmless.read_text()) == ""
    assert "secretzq" in house.after(house.before(secret, agent_id="other"), secret.read_text()), (
        "the test tests nothing"
    )


@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", "", "x" * 200, "a\nb", "-rf", "$(touch evil)"])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    """Of a session, a call or an agent: a plain name, or the call passes; nothing is made beside the home folder."""
    house = House(tmp_path)
    path = house.project / "big.py"
    path.write_text(big_python())
    for agent, use_id in ((name, "toolu_1"), ("", name)):
        house.before(path, agent_id=agent, tool_use_id=use_id)
    house.session_id = name
    house.fire("prompt", {"session_id": name, "prompt": "why?"})
    house.before(path, tool_use_id="toolu_2")
    house.search("grep -n total big.py", "3:    total = 0")
    house.fire("session-start", {"session_id": name, "source": "clear"})
    house.quiet()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "project"]
    assert os.listdir(house.project) == ["big.py"]
    plain = {"s-1", "-rf"}  # odd, but no path
    assert set(os.listdir(house.home / "state")) <= plain
    for found in house.kept():
        assert ".." not in found.split("/") and len(found) < 160
