"""Where the server is and with which token it is asked, as environment, configuration file and token file say."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.home import home_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Connection", "connection_of"]


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and how it is asked; `agent` is "" where nothing names one."""

    url: str
    token: str
    namespace: str = ""
    agent: str = ""


def connection_of(environment: Mapping[str, str]) -> Connection:
    """Return what the environment names, and where it is silent the configuration file, then the token file.

    Each variable has an older name (`LOOM_` in place of `SLICEGREP_`), which counts where the new one is not set; so do the
    older files, where the new ones are not there. Raises ValueError that says what is missing, or wrong with a file.
    """

    def named(name: str) -> str:
        return environment.get(f"SLICEGREP_{name}", "").strip() or environment.get(f"LOOM_{name}", "").strip()

    file = _file(named("CONFIG_FILE"), environment, "config.json")
    told = _config(file)
    url = named("BASE_URL") or told.get("url", "")
    if not url:
        raise ValueError(f"no server is named: set SLICEGREP_BASE_URL, or write url into {file}")
    token_file = _file(named("API_KEY_FILE"), environment, "token")
    chosen = _text(token_file) if named("API_KEY_FILE") else ""
    token = named("API_KEY") or chosen or told.get("token", "") or _text(token_file)
    if not token:
        raise ValueError(f"there is no token: set SLICEGREP_API_KEY, or write it into {token_file}")
    return Connection(url, token, named("CODE_NAMESPACE") or told.get("namespace", ""), named("AGENT"))


def _file(named: str, environment: Mapping[str, str], name: str) -> str:
    if named:
        return os.path.expanduser(named)
    new = os.path.join(home_folder(environment), name)
    old = os.path.join(os.path.expanduser("~"), ".loom", name)
    return old if not os.path.exists(new) and os.path.exists(old) else new


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(65_536).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        raise ValueError(f"{path} cannot be read") from None


def _config(path: str) -> dict[str, str]:
    text = _text(path)
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"{path} is not a JSON object of texts: url, token, namespace")
    return found
