"""The doctor: whether each part of slicegrep works on this machine, and how to mend what does not.

Runs under any Python from 3.10 on with the standard library alone, so that it can say what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slicegrep.children import CommandError, run
from slicegrep.home import home_folder
from slicegrep.install import last_failure, retry_at
from slicegrep.ledger import TOO_EARLY, rows, settle
from slicegrep.lock import Busy, held
from slicegrep.pinned import Place, has_servers, is_ready, missing_modules
from slicegrep.programs import on_path
from slicegrep.resident import seen
from slicegrep.settings import KNOBS, Settings
from slicegrep.trial import Trial, try_hooks
from slicegrep.vocabulary import has_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Finding", "examine", "main"]

OK, WARN, FAIL = "ok", "warn", "fail"

_OLDEST_PYTHON = (3, 10)
_OLDEST_CLIENT = (2, 1, 100)  # the older of the two that the tests drive
_REPLACING_CLIENT = (2, 1, 121)  # the first in which a hook can change a tool's output
_CLIENT_SECONDS = 20
_RECENT_DAYS = 7
_SET_UP = "run: slicegrep setup"


@dataclass(frozen=True)
class Finding:
    """What was found about one part. `status` is ok, warn or fail; `mend` is what to do, "" when nothing."""

    check: str
    status: str
    text: str
    mend: str = ""


_SERVERS = Finding("servers", OK, "serve, mcp and the client have their packages")


def main(words: Sequence[str]) -> int:
    """Print what was examined, a line each, or as JSON. Returns 0, or 1 when something failed."""
    parser = argparse.ArgumentParser(
        prog="slicegrep doctor", description="Say what works here, and what does not."
    )
    parser.add_argument("--json", action="store_true", help="print a list of {check, status, text, mend}")
    chosen = parser.parse_args([word for word in words if word != "doctor"])
    findings = examine(os.environ)
    if chosen.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))  # noqa: T201
    else:
        for finding in findings:
            print(f"{finding.status:5} {finding.check:13} {finding.text}")  # noqa: T201
            if finding.mend:
                print(f"{'':19} -> {finding.mend}")  # noqa: T201
    return int(any(finding.status == FAIL for finding in findings))


def examine(environment: Mapping[str, str]) -> list[Finding]:
    """Examine every part, in the order in which one needs the other."""
    try:
        place = Place.find(environment)
    except PermissionError as error:
        mend = f"set SLICEGREP_HOME to a folder of yours, or take the others' rights away: chmod 700 {error.filename}"
        return [_python(), Finding("home", FAIL, f"{error.filename}: {error.strerror}", mend)]
    home = _home(place)
    ready = _environment(place)
    return [
        _python(),
        home,
        ready,
        _vocabulary(place),
        _servers(place),
        *_settings(environment),
        _client(),
        _interception(place, home, ready),
        _engine(place, environment, ready),
        _fail_opens(place),
    ]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", FAIL, f"{version} ({sys.executable})", "install Python 3.10 or later")
    return Finding("python", OK, f"{version} ({sys.executable})")


def _home(place: Place) -> Finding:
    other = "set SLICEGREP_HOME to a folder that can be written"
    if not os.path.lexists(place.home):  # and it is not made by looking at it
        above = next(folder for folder in place.home.parents if os.path.exists(folder))
        if not os.access(above, os.W_OK | os.X_OK):
            return Finding("home", FAIL, f"{place.home} cannot be made: {above} cannot be written", other)
        return Finding("home", OK, f"{place.home} is not there yet: set-up makes it")
    try:
        with tempfile.TemporaryFile(dir=place.home) as file:
            file.write(b"x" * 4096)
    except OSError as error:
        return Finding("home", FAIL, f"{place.home}: {error}", other)
    if sys.platform != "win32" and place.home.stat().st_mode & 0o077:
        return Finding("home", WARN, f"{place.home} can be read by others", f"run: chmod 700 {place.home}")
    return Finding("home", OK, f"{place.home} can be written")


def _environment(place: Place) -> Finding:
    name = "environment"
    if not is_ready(place):
        return _unready(place)
    try:
        lost = missing_modules(place)
    except CommandError as error:
        return Finding(name, FAIL, f"its Python does not run: {str(error).splitlines()[-1]}", _SET_UP)
    if lost:
        mend = _SET_UP if place.key else f"run: {sys.executable} -m pip install --upgrade {' '.join(lost)}"
        return Finding(name, FAIL, f"{place.key or 'this Python'} cannot import {', '.join(lost)}", mend)
    where = f"{place.key}, ready, every package imports" if place.key else f"packages of {sys.executable}"
    return Finding(name, OK, where)


def _unready(place: Place) -> Finding:
    if place.beside("lock").is_file():  # to try it would make it
        try:
            with held(place.beside("lock"), 0):
                pass
        except Busy as other:
            return Finding("environment", WARN, f"being set up now (process {other})", "wait a minute")
        except OSError:
            pass  # the home folder's own line says so
    failure = last_failure(place)
    if failure:
        wait = max(0, round((retry_at(failure) - time.time()) / 60))
        text = f"set-up failed: {failure.get('message')} (the next session tries again after {wait} min)"
        return Finding(
            "environment", FAIL, text, f"{_SET_UP} (its output is in {place.home / 'log' / 'setup.log'})"
        )
    return Finding(
        "environment", FAIL, f"{place.key} is not there yet: hooks pass everything through", _SET_UP
    )


def _vocabulary(place: Place) -> Finding:
    if has_vocabulary(place.vocabulary):
        return Finding("vocabulary", OK, "o200k_base is there, its hash is right")
    failure = last_failure(place, "vocabulary.json")
    why = f": {failure.get('message')}" if failure else ""
    return Finding("vocabulary", WARN, f"o200k_base is missing, counts are estimates (~){why}", _SET_UP)


def _servers(place: Place) -> Finding:
    if place.servers is None:
        lost = [name for name in ("fastapi", "uvicorn", "httpx", "mcp") if find_spec(name) is None]
        mend = "run: pip install 'slicegrep[serve,client,mcp]', or leave out what you do not use"
        return Finding("servers", WARN, f"not installed: {', '.join(lost)}", mend) if lost else _SERVERS
    if is_ready(place) and has_servers(place):
        return _SERVERS
    return Finding(
        "servers", WARN, "the packages of serve and mcp are not there; nothing else needs them", _SET_UP
    )


def _settings(environment: Mapping[str, str]) -> Iterator[Finding]:
    mistakes = list(_mistakes(environment))
    yield from mistakes
    settings = Settings.from_environment(environment)
    if settings.disabled:
        yield Finding(
            "settings", WARN, "SLICEGREP_HOOK_DISABLE is set: every hook is off", "unset it to use slicegrep"
        )
    changed = []
    for knob in KNOBS:
        value = getattr(settings, knob.field)
        if value != knob.default:
            own = knob.parsed(environment.get(knob.variable, "")) is not None
            changed.append(f"{knob.variable}={value}{'' if own else ' (plugin option)'}")
    defaults = "the others are at their defaults" if mistakes else "all at their defaults"
    yield Finding("settings", OK, ", ".join(changed) or defaults)


def _mistakes(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Tell of values that say nothing, and of names that are none."""
    settings = Settings.from_environment(environment)
    for knob in KNOBS:
        for name in knob.variables:
            raw = environment.get(name, "").strip()
            if raw and knob.parsed(raw) is None:
                what = "on or off: " if knob.switch else ""
                text = f"{name}={raw} is no value for it; {getattr(settings, knob.field) or 'off'} is used"
                mend = f"it is {what}{knob.help}, {knob.default or 'off'} by default"
                yield Finding("settings", WARN, text, mend)
    known = {knob.variable for knob in KNOBS}
    for name in sorted(environment):
        if name.startswith("SLICEGREP_HOOK_") and name not in known:
            yield Finding("settings", WARN, f"{name} is not a setting", "see the README for their names")
    chosen = environment.get("SLICEGREP_HOME", "")
    if chosen and not os.path.isabs(os.path.expanduser(chosen)):
        text = f"SLICEGREP_HOME={chosen} is no absolute path; {home_folder(environment)} is used"
        yield Finding("settings", WARN, text, "it is a path that begins with / or ~/")


def _client() -> Finding:
    program = on_path("claude")
    if program is None:
        return Finding("client", OK, "claude is not on PATH: its version was not looked at")
    try:
        said = run([program, "--version"], seconds=_CLIENT_SECONDS)
    except CommandError as error:
        return Finding("client", WARN, f"claude --version: {error}", "reinstall Claude Code")
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", said)
    if not found:
        return Finding("client", WARN, f"claude --version said {said.strip()[:60]!r}")
    version = tuple(map(int, found.groups()))
    text = f"Claude Code {found.group()}"
    if version < _OLDEST_CLIENT:
        return Finding("client", WARN, f"{text}: older than any that was tested", "run: claude update")
    if version < _REPLACING_CLIENT:
        text += ": enclosing functions come as a list after the tool's output (from 2.1.121 on, within it)"
    return Finding("client", OK, text)


def _interception(place: Place, *needed: Finding) -> Finding:
    name = "interception"
    root = Path(__file__).resolve().parents[2]
    launcher = root / "hooks" / "slicegrep-hook"
    if not launcher.is_file():
        return Finding(name, OK, "this is the library, not the plugin: there are no hooks to try")
    for one in needed:
        if one.status == FAIL or (one.check == "environment" and one.status != OK):
            return Finding(name, WARN, f"not tried, for want of the {one.check} (see above)")
    trial: Trial = try_hooks(launcher, place)
    if trial.trouble:
        return Finding(
            name, FAIL, trial.trouble, "run it again; if it stays, report this line with your system's name"
        )
    return Finding(name, OK, trial.text)


def _engine(place: Place, environment: Mapping[str, str], ready: Finding) -> Finding:
    """Tell of the resident engine; without one the hooks work as well, only slower."""
    name, alone = "engine", "each hook starts a process of its own"
    if not hasattr(socket, "AF_UNIX") or sys.platform == "win32":
        return Finding(name, OK, f"none on this system: {alone}")
    home = str(place.home)
    engine = seen.running(home)
    if not Settings.from_environment(environment).resident_on:
        text = f"switched off by SLICEGREP_RESIDENT: {alone}"
        left = (
            f"; one that others use runs (process {engine.pid}), and ends when it is idle" if engine else ""
        )
        return Finding(name, OK, text + left)
    until = seen.off_until(home)
    if until:
        text = f"off until {_clock(until)}, as it crashed three times within an hour: {alone}"
        return Finding(name, WARN, text, f"{_SET_UP} (switches it on again); report it if it stays so")
    folder = place.home / "run"
    if folder.is_dir() and folder.stat().st_mode & 0o077:
        return Finding(name, WARN, f"{folder} is open to others: {alone}", f"run: chmod 700 {folder}")
    if engine is None:
        starts = "the next read or search that needs it starts it"
        return Finding(
            name, OK, f"not running: {starts if ready.status == OK else 'there is no environment'}"
        )
    if not seen.answers(home, engine):
        text = f"process {engine.pid} runs and does not answer: {alone}"
        return Finding(
            name, WARN, text, f"run: kill -9 {engine.pid} (the next read or search starts another)"
        )
    memory = f", {engine.memory / 1e6:.0f} MB" if engine.memory else ""
    return Finding(name, OK, f"answers, running since {_clock(engine.since)} (process {engine.pid}{memory})")


def _clock(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def _fail_opens(place: Place) -> Finding:
    """Tell how often the plain call happened in the last days because a hook failed, and the commonest cause."""
    since = time.time() - _RECENT_DAYS * 86_400
    settle(str(place.home))
    recent = [row for row in rows(str(place.home)) if _time(row) >= since]
    failed = [row for row in recent if row["kind"] == "fail"]
    causes = Counter(
        f"{row.get('event')}: {row.get('cause')}" for row in failed if row.get("cause") != TOO_EARLY
    )
    early = len(failed) - causes.total()
    before = f"; {early} {'call' if early == 1 else 'calls'} passed before set-up was done" if early else ""
    if not causes:
        text = f"no hook failed in the last {_RECENT_DAYS} days ({len(recent)} rows{before})"
        return Finding("ledger", OK, text)
    ((cause, count),) = causes.most_common(1)
    text = f"{causes.total()} of {len(recent)} times in {_RECENT_DAYS} days a hook gave up and the plain call happened"
    return Finding(
        "ledger", WARN, text + before, f"{count} times it was {cause}; report that line if it goes on"
    )


def _time(row: Mapping[str, object]) -> float:
    when = row.get("t")
    return float(when) if isinstance(when, (int, float)) else 0.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
