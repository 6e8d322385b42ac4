"""Commands that set-up runs: with a clean environment, within a time, ended with all their children."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CommandError", "clean_environment", "run"]

_KEPT_LINES = 6
_KEPT_CHARACTERS = 1200

# The session's tokens stay out of what outlives it, and pip is not to be led to another place than it is given.
_UNWANTED = re.compile(
    r"CLAUDE|ANTHROPIC|PYTHON|VIRTUAL_ENV|CONDA_|PIP_(TARGET|PREFIX|ROOT|USER|REQUIRE_VIRTUALENV)$"
)


class CommandError(Exception):
    """A command failed, was too slow or could not be started; the message is its last lines."""


def clean_environment() -> dict[str, str]:
    """Return this process's environment for a child: without the session's tokens, the network's settings kept."""
    kept = {name: value for name, value in os.environ.items() if not _UNWANTED.match(name)}
    return {**kept, "PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(
    words: Sequence[str],
    *,
    seconds: float,
    cwd: Path | None = None,
    lock: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Return what a command printed (both streams). Raises CommandError.

    It inherits `lock` (an open handle), so that a lock outlives its killed holder until the command has ended too.
    """
    posix = sys.platform != "win32"
    name = Path(words[0]).name
    try:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env={**clean_environment(), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=posix,
            pass_fds=(lock,) if posix and lock is not None else (),
        )
    except OSError as error:
        raise CommandError(f"{name} could not be started: {error}") from error
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        _kill(process)
        raise CommandError(f"{name} took over {seconds:g} s") from error
    except BaseException:  # an interrupt: the command is in a session of its own and did not get it
        _kill(process)
        raise
    if process.returncode:
        lines = [line for line in said.splitlines() if line.strip()][-_KEPT_LINES:]
        raise CommandError("\n".join(lines)[-_KEPT_CHARACTERS:] or f"{name} ended with {process.returncode}")
    return said


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
