"""A home folder that the real set-up filled from the real pins: made once, shared by every test that needs one."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "bare_environment", "network_settings", "prepared_home"]

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 900

_NETWORK = re.compile(
    r"(PIP_|UV_|SSL_CERT_|NODE_EXTRA_CA_CERTS|npm_config_)|((https?|no|all)_proxy|REQUESTS_CA_BUNDLE)$",
    re.IGNORECASE,
)


def network_settings() -> dict[str, str]:
    """Return the settings with which pip, uv and npm reach their registries from here."""
    return {name: value for name, value in os.environ.items() if _NETWORK.match(name)}


def bare_environment(home: Path, **variables: str) -> dict[str, str]:
    """Return an environment with this PATH and nothing else of the caller's, `home` as HOME and temporary folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        **variables,
    }


def prepared_home() -> Path:
    """Return the shared SLICEGREP_HOME; only its `env` and `vocab` are to be used, by links."""
    cache = os.environ.get("SLICEGREP_TEST_CACHE") or Path("~/.cache/slicegrep-tests").expanduser()
    key = (ROOT / "plugin" / "requirements.key").read_text().strip()
    home = Path(cache) / f"prepared-{key}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(ROOT / "plugin" / "slicegrep" / "install.py"), "setup"],
            env={**os.environ, "SLICEGREP_HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert (home / "env" / key / ".ready").is_file(), done.stderr
    return home
