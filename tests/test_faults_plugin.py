"""An environment, a vocabulary or a plugin that is broken, changes under a running session, or is there twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from faults_stand import ROOT, House, copied_plugin

KEY = (ROOT / "plugin" / "requirements.key").read_text("utf-8").strip()
SEED = int(os.environ.get("SLICEGREP_TEST_SEED", "5"))
AT_ONCE = 8.0


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Return one whose environment is its own: links to what the shared one has, each of which can be replaced."""
    found = House(tmp_path_factory.mktemp("plugin"))
    shared = found.home / "env"
    python, site = (shared / KEY / ".ready").read_text().splitlines()
    shared.unlink()
    own = found.home / "env" / KEY
    (own / "site").mkdir(parents=True)
    for entry in Path(site).iterdir():
        (own / "site" / entry.name).symlink_to(entry)
    (own / "python").symlink_to(Path(python).resolve())
    (own / ".ready").write_text(f"{own / 'python'}\n{own / 'site'}\n")
    vocabulary = found.home / "vocab"
    kept = vocabulary.resolve()
    vocabulary.unlink()
    shutil.copytree(kept, vocabulary)
    return found


def _own(house: House, name: str) -> Path:
    """Return a package of the environment as a copy that can be damaged."""
    place = house.home / "env" / KEY / "site" / name
    kept = place.resolve()
    place.rename(place.with_name(f"{name}.kept"))
    shutil.copytree(kept, place)
    return place


def _binary(house: House) -> Path:
    (found,) = _own(house, "tree_sitter").glob("_binding*.so")
    return found


def library_missing(house: House) -> None:
    _binary(house).unlink()


def library_empty(house: House) -> None:
    _binary(house).write_bytes(b"")


def library_cut_off(house: House) -> None:
    """Its pages past the end are mapped and not there: touching them ends a process by a signal."""
    path = _binary(house)
    os.truncate(path, path.stat().st_size // 3)


def library_of_random_bytes(house: House) -> None:
    path = _binary(house)
    path.write_bytes(path.read_bytes()[:4096] + random.Random(1).randbytes(path.stat().st_size))


def package_empty(house: House) -> None:
    (_own(house, "tree_sitter") / "__init__.py").write_bytes(b"")


def package_of_random_bytes(house: House) -> None:
    (_own(house, "tree_sitter") / "__init__.py").write_bytes(random.Random(2).randbytes(3_000))


def package_that_ends_the_process(house: House) -> None:
    (_own(house, "tree_sitter") / "__init__.py").write_text("raise SystemExit(2)\n")


def package_that_kills_the_process(house: House) -> None:
    (_own(house, "tree_sitter") / "__init__.py").write_text("import os\nos.abort()\n")


def package_that_prints(house: House) -> None:
    (_own(house, "tree_sitter") / "__init__.py").write_text("print('deprecated')\nraise ImportError\n")


def no_packages(house: House) -> None:
    site = house.home / "env" / KEY / "site"
    site.rename(site.with_name("site.kept"))
    site.mkdir()


def python_deleted(house: House) -> None:
    (house.home / "env" / KEY / "python").unlink()


def python_is_text(house: House) -> None:
    python_deleted(house)
    (house.home / "env" / KEY / "python").write_text("nonsense {}\n")
    (house.home / "env" / KEY / "python").chmod(0o700)


def python_is_a_folder(house: House) -> None:
    python_deleted(house)
    (house.home / "env" / KEY / "python").mkdir()


def ready_of_random_bytes(house: House) -> None:
    (house.home / "env" / KEY / ".ready").write_bytes(random.Random(3).randbytes(2_000))


def ready_of_nuls(house: House) -> None:
    (house.home / "env" / KEY / ".ready").write_bytes(b"\0" * 2_000)


def ready_that_is_a_script(house: House) -> None:
    (house.home / "env" / KEY / ".ready").write_text('$(touch "$HOME/ran")\n`touch "$HOME/ran"`\n')


def ready_for_another_python(house: House) -> None:
    (house.home / "env" / KEY / ".ready").write_text("/bin/true\n/\n")


ENVIRONMENTS: list[Callable[[House], None]] = [
    library_missing,
    library_empty,
    library_cut_off,
    library_of_random_bytes,
    package_empty,
    package_of_random_bytes,
    package_that_ends_the_process,
    package_that_kills_the_process,
    package_that_prints,
    no_packages,
    python_deleted,
    python_is_text,
    python_is_a_folder,
    ready_of_random_bytes,
    ready_of_nuls,
    ready_that_is_a_script,
    ready_for_another_python,
]


WITHOUT_PARSER = ENVIRONMENTS[:10]
"""Those in which patterns may still tell what the parser would: only tree-sitter is broken."""


@contextmanager
def put_back(folder: Path) -> Iterator[None]:
    """Let a folder be spoilt; it is as before afterwards."""
    kept = folder.with_name(f"{folder.name}.kept")
    shutil.copytree(folder, kept, symlinks=True)
    try:
        yield
    finally:
        shutil.rmtree(folder)
        kept.rename(folder)


@pytest.mark.parametrize("spoil", ENVIRONMENTS)
def test_a_broken_environment(house: House, spoil: Callable[[House], None]) -> None:
    """Reads and searches pass at once, or are answered truly without it; nothing runs that should not; mended, all is well."""
    house.session = spoil.__name__
    house.ask("what does step_77 return")
    with put_back(house.home / "env"):
        spoil(house)
        started = time.monotonic()
        read = house.read(house.big)
        house.grep(house.big)
        house.quiet()
        assert time.monotonic() - started < AT_ONCE
        assert not (house.folder / "ran").exists()
        if spoil not in WITHOUT_PARSER:
            assert not read
    house.session += "-2"
    narrowed = house.before(house.big)
    assert narrowed, "not helped again"
    assert house.after(narrowed, house.big)
    assert house.grep(house.big) == 10
    assert set(house.project.iterdir()) == {house.big}


def gone(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(4).randbytes(path.stat().st_size))


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def bytes_changed(path: Path) -> None:
    """Here and there, behind its head: what it says is another thing, and it looks the same."""
    data = bytearray(path.read_bytes())
    for at in range(64, len(data), 37):
        data[at] ^= 1
    path.write_bytes(bytes(data))


def a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


SEARCH = (".", "step_29", "--json")


@pytest.fixture(scope="module")
def whole(house: House) -> Any:
    """Return what a search answers where nothing is broken."""
    found = json.loads(house.slicegrep(*SEARCH).stdout)
    assert found["exact_tokens"] is True
    return found


@pytest.mark.parametrize("which", ["ranks", "vocabulary", "both"])
@pytest.mark.parametrize("damage", [gone, empty, random_bytes, cut_off, bytes_changed, a_fifo, a_folder])
def test_a_broken_vocabulary(
    house: House, whole: dict[str, Any], which: str, damage: Callable[[Path], None]
) -> None:
    """Counts are exact, or said to be estimates; what can be made again is; hooks go on."""
    folder = house.home / "vocab"
    with put_back(folder):
        for path in sorted(folder.iterdir()):
            if which == "both" or (path.suffix == ".ranks") == (which == "ranks"):
                damage(path)
        done = house.slicegrep(*SEARCH)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        if found["exact_tokens"]:
            assert which != "both"
            assert found["total_tokens"] == whole["total_tokens"]
        else:
            assert which != "ranks"  # they are made again
        house.session = f"{damage.__name__}-{which}"
        narrowed = house.before(house.big)
        assert house.after(narrowed, house.big)
        house.quiet()


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Return one whose plugin is a copy that can be changed under it."""
    folder = tmp_path_factory.mktemp("updated")
    found = House(folder / "house", root=copied_plugin(folder / "plugin"), warm=False)
    found.works()
    return found


ALWAYS = (
    "hook/__main__.py",
    "hook/read.py",
    "hook/planned.py",
    "home.py",
    "engine.py",
    "source.py",
    "annotate.py",
)


def test_a_plugin_whose_files_vanish_or_are_half_written(updated: House) -> None:
    """Between the shell and Python: any module gone, cut at any line, empty; the call passes or is true; put back, it works."""
    chance = random.Random(SEED)
    package = updated.root / "plugin" / "slicegrep"
    others = [
        os.path.relpath(path, package) for path in sorted(package.rglob("*.py")) if "server" not in str(path)
    ]
    helped = 0
    for name in (*ALWAYS, *chance.sample(others, 8)):
        path = package / name
        whole, times = path.read_bytes(), path.stat()
        lines = whole.splitlines(keepends=True)
        half = b"".join(lines[: chance.randrange(1, len(lines) + 1)])
        for data in (None, chance.choice([half, half[:-3], b""])):
            if data is None:
                path.unlink()
            else:
                path.write_bytes(data)
            updated.session = f"u-{time.monotonic_ns()}"
            updated.ask("what does step_77 return")
            helped += bool(updated.read(updated.big))
            updated.grep(updated.big)
            updated.quiet()
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert helped < 2 * (len(ALWAYS) + 8)
    updated.works()
    assert updated.leavings() == []


def test_a_plugin_that_is_replaced_all_the_time(updated: House) -> None:
    """Removed and copied anew while a session goes on: exit 0, nothing or the truth, and at the end it works."""
    stop = threading.Event()

    def replace() -> None:
        while not stop.is_set():
            shutil.rmtree(updated.root, ignore_errors=True)
            time.sleep(0.02)
            copied_plugin(updated.root)
            stop.wait(0.3)

    updater = threading.Thread(target=replace)
    updater.start()
    try:
        for n in range(10):
            updated.session = f"replaced-{n}"
            updated.ask("what does step_77 return")
            updated.read(updated.big)
            updated.grep(updated.big)
    finally:
        stop.set()
        updater.join()
    updated.quiet()
    updated.works()


def test_two_versions_share_a_home_and_a_session(updated: House, tmp_path: Path) -> None:
    """Phases of one read by either, sessions of both at once: delivered whole and true, or not at all."""
    other = copied_plugin(tmp_path / "other")
    plan = other / "plugin" / "slicegrep" / "plan.py"
    text = plan.read_text("utf-8")
    changed = text.replace(
        "    past_limits: bool = False\n", "    past_limits: bool = False\n    made_by: str = 'x'\n", 1
    )
    assert changed != text
    plan.write_text(changed, "utf-8")
    one = updated.root
    for n, (first, second) in enumerate([(one, other), (other, one), (one, one), (other, other)]):
        updated.session = f"both-{n}"
        updated.root = first
        narrowed = updated.before(updated.big)
        updated.root = second
        if narrowed:
            updated.after(narrowed, updated.big)
        assert not updated.before(updated.big)
        updated.root = first
        assert updated.grep(updated.big) == 10
    updated.root = one
    updated.works()
    assert updated.leavings() == []
