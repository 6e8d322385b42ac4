"""Set-up's commands: `setup` (waits), `background` (the client's SessionStart hook), and what the person is told.

Runs under any Python from 3.10 on with the standard library alone: `python -I -B install.py COMMAND`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slicegrep.children import clean_environment
from slicegrep.home import create_private, replace_private
from slicegrep.lock import Busy, held
from slicegrep.pinned import (
    Place,
    SetUpError,
    ensure_environment,
    ensure_servers,
    explained,
    has_servers,
    is_ready,
    is_sound,
    warm_up,
)
from slicegrep.resident import seen
from slicegrep.vocabulary import fetch_vocabulary, has_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["HOME_ENTRIES", "last_failure", "main", "retry_at", "set_up"]

HOME_ENTRIES = frozenset(
    {
        "config.json", "env", "graph", "index", "ledger", "log", "models", "notice", "pyc", "run", "server.sqlite",
        "server.sqlite-shm", "server.sqlite-wal", "server.sqlite.damaged", "server.tokens", "state", "token", "vocab",
    }
)  # fmt: skip
"""What slicegrep and its documents keep in its home folder: `--remove` refuses a folder that holds anything else."""

_OLDEST_PYTHON = (3, 10)
_WAIT_SECONDS = 1200  # for another set-up that is at it: longer than one may take
_RETRY_SECONDS = 600  # after a first failure, doubled by each further one
_RETRY_MOST_SECONDS = 86_400
_LOG_BYTES = 262_144
_LEAVE_SECONDS = 30  # what the resident engine is at is answered first, which takes it ten seconds at most
_QUIET_SECONDS = (
    0.5  # a hook that was at work when its folder went away is done by then, and may have made it anew
)
_MOST_TIMES = 40  # 20 s: a hook has 5, and counts for 10 more once its answer is out
_ASIDE = ".removing-"  # and a process id: what a folder that is being deleted is called
_DELETE_SECONDS = 5  # for a folder that cannot be renamed, in which hooks go on to write
_NICENESS = 10  # the session's own work goes first

_STARTED = "slicegrep is setting up its Python environment in the background, once; until it is ready nothing changes."
_READY = "slicegrep is ready: large whole-file reads now become a map plus slices (SLICEGREP_HOOK_DISABLE=1 switches it off)."
_FAILED = "slicegrep could not set itself up, so nothing changes: {}. `slicegrep doctor` says more."


def main(words: Sequence[str]) -> int:
    """Run a command: `setup [--quiet] [--remove]`, `background`. Returns the exit status: 0, or 2 on an error."""
    parser = argparse.ArgumentParser(prog="slicegrep", description="Set slicegrep up, or take it away.")
    commands = parser.add_subparsers(dest="command", required=True)
    setup = commands.add_parser(
        "setup",
        help="make the environment, fetch the vocabulary, and wait for it",
        description="Make the Python environment and fetch the vocabulary, as far as they are missing, and wait for it. "
        "A resident engine that crashes switched off is switched on again.",
    )
    setup.add_argument("--quiet", action="store_true", help="say nothing but errors")
    setup.add_argument(
        "--remove",
        action="store_true",
        help="end the resident engine, and delete slicegrep's home folder, instead",
    )
    commands.add_parser("background", help="for the SessionStart hook: start it, and return at once")
    commands.add_parser("work", help="what `background` starts")
    chosen = parser.parse_args(words)
    if chosen.command == "background":
        return _background(os.environ)
    if chosen.command == "work":
        return _work(Place.find(os.environ))
    return _setup(os.environ, quiet=chosen.quiet, remove=chosen.remove)


def set_up(place: Place, say: Callable[[str], None], wait: float = 0) -> None:
    """Make the environment and fetch the vocabulary, as far as they are missing.

    A vocabulary that cannot be had is no failure: counts are estimates then. `wait` is how many seconds another
    set-up is waited for. Raises SetUpError, Busy (the other is still at it), OSError (the home folder).
    """
    if (
        is_sound(place) and has_vocabulary(place.vocabulary) and has_servers(place)
    ):  # even where nothing can be written
        warm_up(place)
        return
    place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(
        place.beside("lock"), wait, lambda pid: say(f"waiting for another set-up, process {pid}")
    ) as lock:
        ensure_environment(place, lock, say)
        place.beside("failed.json").unlink(missing_ok=True)
        if not has_vocabulary(place.vocabulary):
            say("fetching the vocabulary")
            trouble = _vocabulary_trouble(place)
            if trouble:
                say(f"{trouble}: token counts are estimates, marked ~, until it is there")
                _record(place, "vocabulary.json", trouble)
        if has_vocabulary(place.vocabulary):
            place.beside("vocabulary.json").unlink(missing_ok=True)
        ensure_servers(place, lock, say)
        warm_up(place)


def _vocabulary_trouble(place: Place) -> str:
    try:
        found = fetch_vocabulary(place.vocabulary, place.python)
    except OSError as error:
        return f"the vocabulary could not be kept ({error})"
    return "" if found else "neither tiktoken's host nor npm's registry gave the vocabulary"


def last_failure(place: Place, what: str = "failed.json") -> dict[str, object]:
    """Return {when (seconds since 1970), tries, message} of the last failure; empty when there is none."""
    try:
        found = json.loads(place.beside(what).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def retry_at(failure: Mapping[str, object]) -> float:
    """Return when (seconds since 1970) the background may try again after that failure; 0 when at once."""
    when, tries = failure.get("when"), failure.get("tries")
    if (
        not isinstance(when, (int, float)) or not isinstance(tries, int) or when > time.time()
    ):  # a clock set back
        return 0
    doublings = min(max(tries, 1) - 1, 16)
    return when + min(_RETRY_SECONDS * (1 << doublings), _RETRY_MOST_SECONDS)


def _setup(environment: Mapping[str, str], *, quiet: bool, remove: bool) -> int:
    def say(line: str) -> None:
        if not quiet:
            print(f"slicegrep: {line}", file=sys.stderr, flush=True)  # noqa: T201

    if sys.version_info < _OLDEST_PYTHON:
        print(f"slicegrep: Python 3.10 or later is needed, this is {sys.version.split()[0]}", file=sys.stderr)  # noqa: T201
        return 2
    trouble = _removal_trouble(environment, say) if remove else _set_up_trouble(environment, say)
    if not trouble:
        return 0
    print(f"slicegrep: {'removal' if remove else 'set-up'} failed: {trouble}", file=sys.stderr)  # noqa: T201
    return 2


def _set_up_trouble(environment: Mapping[str, str], say: Callable[[str], None]) -> str:
    """Set up; returns what a person is to be told when it fails, "" otherwise."""
    try:
        place = Place.find(environment)
    except PermissionError as error:  # the folder is somebody else's: nothing was tried
        return f"{error.filename}: {error.strerror} (see slicegrep doctor)"
    except OSError as error:
        return explained(str(error))
    try:
        set_up(place, say, _WAIT_SECONDS)
        seen.switch_on(str(place.home))
        say(f"ready in {place.home}")
    except Busy as other:
        return f"another set-up (process {other}) is still at work"
    except SetUpError as error:
        return str(error)
    except OSError as error:
        return explained(str(error))
    except KeyboardInterrupt:
        return "interrupted; run it again to go on"
    return ""


def _removal_trouble(environment: Mapping[str, str], say: Callable[[str], None]) -> str:
    """Remove the home folder; returns what a person is to be told when that fails, "" otherwise."""
    try:
        _remove(Place.find(environment), say)
    except Busy as other:
        return f"a set-up (process {other}) is at work"
    except SetUpError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
    except KeyboardInterrupt:
        return "interrupted; run it again to go on"
    return ""


def _background(environment: Mapping[str, str]) -> int:
    """Start the work in a session of its own (a headless client ends its hooks), telling the person once."""
    try:
        place = Place.find(environment)
        lacking = "failed.json" if not is_ready(place) else "vocabulary.json"
        if is_ready(place) and has_vocabulary(place.vocabulary):
            return 0
        if retry_at(last_failure(place, lacking)) > time.time():
            return 0
        place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (place.home / "log").mkdir(mode=0o700, exist_ok=True)
        log = place.home / "log" / "setup.log"
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.unlink()
        with log.open("ab") as output:  # two set-ups may write into it
            log.chmod(0o600)
            subprocess.Popen(
                [sys.executable, "-I", "-B", str(Path(__file__).resolve()), "work"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=clean_environment(),
                cwd=place.home,
                start_new_session=True,
                creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            )
        if lacking == "failed.json" and create_private(str(place.beside("announced")), b""):
            print(json.dumps({"systemMessage": _STARTED}), flush=True)  # noqa: T201
    except Exception as error:  # noqa: BLE001 (the process boundary: a session never sees set-up fail)
        with suppress(OSError, ValueError):
            print(f"slicegrep: {error}", file=sys.stderr)  # noqa: T201
    return 0


def _work(place: Place) -> int:
    def say(line: str) -> None:
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}", flush=True)  # noqa: T201

    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    was_ready = is_ready(place)
    try:
        set_up(place, say)
    except Busy as other:
        say(f"another set-up (process {other}) is at work")
        return 0
    except (SetUpError, OSError) as error:
        trouble = str(error) if isinstance(error, SetUpError) else explained(str(error))
        say(f"failed: {trouble}")
        if not last_failure(place):
            _notify(place, _FAILED.format(trouble))
        _record(place, "failed.json", trouble)
        return 2
    say("ready")
    if not was_ready and (place.home / "notice").exists():  # not seen yet: one line is enough
        _notify(place, _READY)
    return 0


def _record(place: Place, what: str, message: str) -> None:
    tries = last_failure(place, what).get("tries")
    entry = {"when": time.time(), "tries": (tries if isinstance(tries, int) else 0) + 1, "message": message}
    with suppress(OSError):  # a full or read-only disk may be the very failure
        replace_private(str(place.beside(what)), json.dumps(entry).encode())


def _notify(place: Place, message: str) -> None:
    """Leave one line of JSON for the next hook of a session to print and delete."""
    with suppress(OSError):
        replace_private(str(place.home / "notice"), json.dumps({"systemMessage": message}).encode() + b"\n")


def _remove(place: Place, say: Callable[[str], None]) -> None:
    """Delete the home folder, and what hooks that were at work make anew. Raises SetUpError, Busy (a set-up), OSError."""
    home = place.home
    for left in _set_aside(home):  # an earlier removal was interrupted
        _delete(left)
    if not home.exists():
        say(f"there is no {home}")
        return
    for _ in range(_MOST_TIMES):
        _check_ours(home)
        if place.beside("lock").is_file():
            with held(place.beside("lock"), 0):
                pass  # nobody is setting up; an open file could not be deleted everywhere
        _take_away(home, say)
        time.sleep(_QUIET_SECONDS)
        if not home.exists():
            say(f"removed {home}")
            return
    raise SetUpError(f"{home} was deleted, and sessions make it anew: end them, and run this again")


def _check_ours(home: Path) -> None:
    """Raise SetUpError where the folder is not slicegrep's alone."""
    foreign = sorted({entry.name for entry in home.iterdir()} - HOME_ENTRIES)
    if foreign or home.is_symlink() or home in (Path.home(), Path(home.anchor)):
        what = f"it holds {', '.join(foreign[:5])}" if foreign else "it is no folder of slicegrep's alone"
        raise SetUpError(f"{home} is left as it is: {what}")


def _take_away(home: Path, say: Callable[[str], None]) -> None:
    """End the engine, and delete the folder: renamed first, so that from one moment on no hook finds anything in it."""
    aside = home.with_name(f"{home.name}{_ASIDE}{os.getpid()}")
    try:
        with seen.kept_away(
            str(home),
            _LEAVE_SECONDS,
            lambda engine: say(f"waiting for the resident engine, process {engine}, to end"),
        ):
            try:
                home.rename(aside)
            except OSError:  # where something is mounted, or the folder above is not ours
                aside = home
            _delete(aside)
    except Busy as engine:
        raise SetUpError(
            f"the resident engine (process {engine}) does not end; end it (kill -9 {engine}) and run this again"
        ) from engine


def _set_aside(home: Path) -> list[Path]:
    """Return the folders that a removal of this home folder renamed and did not delete to the end."""
    found = []
    with suppress(OSError):
        for path in home.parent.iterdir():
            name, _, number = path.name.rpartition(_ASIDE)
            if name == home.name and number.isdigit() and path.is_dir() and not path.is_symlink():
                found.append(path)
    return found


def _delete(folder: Path) -> None:
    """Delete a folder in which others may still write. Raises OSError."""
    until = time.monotonic() + _DELETE_SECONDS
    while folder.exists():
        if time.monotonic() >= until:
            shutil.rmtree(folder)  # says what is in the way
        shutil.rmtree(folder, ignore_errors=True)  # goes on to what can be deleted, the environment above all
        if folder.exists():
            time.sleep(_QUIET_SECONDS / 10)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
