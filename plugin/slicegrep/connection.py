"""Which server is asked, and with which token, as environment, configuration file and token file say."""

from __future__ import annotations

import os
from collections.abc import Mapping  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.home import home_folder
from slicegrep.shim.knobs import value_of

__all__ = ["Connection", "connection_of", "named_server"]

_KEYS = ("url", "token", "namespace")
_MOST_CHARACTERS = 65_536


class Connection:
    """A server and how it is asked. No dataclass: the shim would wait 12 ms for it."""

    __slots__ = ("agent", "namespace", "token", "url")

    def __init__(self, url: str, token: str, namespace: str = "", agent: str = "") -> None:
        """`namespace` and `agent` are "" where nothing names one."""
        self.url = url
        self.token = token
        self.namespace = namespace
        self.agent = agent


def connection_of(environment: Mapping[str, str], home: str) -> Connection | None:
    """Return the server that the environment names, else the configuration file; None where neither does.

    The token is that of the environment, else of the file that the environment names, else of the configuration, else of
    `token` in the home folder `home`. Each variable has an older name (`LOOM_` in place of `SLICEGREP_`), which counts where the new
    one is not set; so do the older files in `~/.loom`, where the new ones are not there. Raises ValueError that says
    what is missing, or wrong with a file; a configuration file that is named must be there where it is needed.
    """

    def named(name: str) -> str:
        return value_of(environment, name)

    path = _file(named("CONFIG_FILE"), home, "config.json")
    told = _configuration(path)
    lost = f"{path} is not there" if named("CONFIG_FILE") and not os.path.exists(path) else ""
    url = named("BASE_URL") or told.get("url", "")
    if not url:
        if lost:
            raise ValueError(lost)
        return None
    token_file = _file(named("API_KEY_FILE"), home, "token")
    chosen = _text(token_file) if named("API_KEY_FILE") else ""
    token = named("API_KEY") or chosen or told.get("token", "") or _text(token_file)
    if not token:
        raise ValueError(lost or f"there is no token: set SLICEGREP_API_KEY, or write it into {token_file}")
    return Connection(url, token, named("CODE_NAMESPACE") or told.get("namespace", ""), named("AGENT"))


def named_server(environment: Mapping[str, str]) -> Connection:
    """Return what `connection_of` does with the environment's own home folder. Raises ValueError also where no server is named."""
    home = home_folder(environment)
    found = connection_of(environment, home)
    if found is None:
        raise ValueError(
            f"no server is named: set SLICEGREP_BASE_URL, or write url into {os.path.join(home, 'config.json')}"
        )
    return found


def _file(named: str, home: str, name: str) -> str:
    if named:
        return os.path.expanduser(named)
    new, old = os.path.join(home, name), os.path.join(os.path.expanduser("~"), ".loom", name)
    return old if not os.path.exists(new) and os.path.exists(old) else new


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_MOST_CHARACTERS).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        raise ValueError(f"{path} cannot be read") from None


def _configuration(path: str) -> dict[str, str]:
    text = _text(path)
    if not text:
        return {}
    import json  # noqa: PLC0415 (2 ms; most have no such file)

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(found.get(key, ""), str) for key in _KEYS):
        raise ValueError(f"{path} is not a JSON object with texts for {', '.join(_KEYS)}")
    return {key: found[key] for key in _KEYS if key in found}
