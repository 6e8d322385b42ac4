"""The command line as a process of its own: how the tests start it, and how they give it a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Shown", "command", "environment", "on_terminal", "run"]

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60


def command(*words: str | bytes) -> list[str | bytes]:
    """Return what bin/slicegrep starts, with the interpreter of the tests."""
    return [sys.executable, "-I", "-B", str(ROOT / "plugin" / "slicegrep" / "__main__.py"), *words]


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Return an environment with nothing of the caller's but PATH and where the vocabulary is."""
    kept = {name: os.environ[name] for name in ("PATH", "TIKTOKEN_CACHE_DIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "SLICEGREP_HOME": str(home / "slicegrep"),
        "LANG": "C.UTF-8",
        **variables,
    }


def run(home: Path, *words: str | bytes, cwd: Path | None = None, **variables: str) -> tuple[int, str, str]:
    """Run the command with its output in pipes; returns its exit code, output and errors."""
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        env=environment(home, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, *(text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))


class Shown:
    """A command on a terminal of its own, as far as it has got."""

    def __init__(self, words: list[Any], variables: dict[str, str], *, columns: int, lines: int) -> None:
        self._master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST  # line ends as they are written
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True
        )
        os.close(slave)
        self.output = b""

    def until(self, text: bytes) -> None:
        """Wait until the text has been shown."""
        end = time.monotonic() + SECONDS
        while text not in self.output:
            assert time.monotonic() < end, self.output
            assert self._more(), self.output

    def type(self, text: bytes) -> None:
        """Send what a person types."""
        os.write(self._master, text)

    def end(self) -> tuple[int, str]:
        """Wait for the end; returns the exit code and all that was shown."""
        while self._more():
            pass
        os.close(self._master)
        return self.process.wait(SECONDS), self.output.decode("utf-8", "surrogateescape")

    def _more(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], SECONDS)
        assert ready, "nothing was shown for a minute"
        try:
            block = os.read(self._master, 65536)
        except OSError:  # all that had the terminal open have gone
            return False
        self.output += block
        return bool(block)


def on_terminal(
    home: Path, *words: str, columns: int = 80, lines: int = 40, **variables: str
) -> tuple[int, str]:
    """Run the command on a terminal of its own; returns its exit code and all that was shown."""
    shown = Shown(
        command(*words),
        environment(home, **{"TERM": "xterm-256color", **variables}),
        columns=columns,
        lines=lines,
    )
    return shown.end()
