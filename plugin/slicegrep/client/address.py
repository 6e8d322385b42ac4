"""The address of a server: which URLs can be one, and which of them are on this machine."""

from __future__ import annotations

import ipaddress
import re
import socket

import httpx

__all__ = ["is_here", "server_url"]

_HOST = re.compile(
    r"(?=.{1,253}$)([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(%[\w.-]+)?"
)
"""Of a name or an IPv4 address; of an IPv6 address, which may name a network device."""
_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
"""What systems call themselves by default."""
_SHOWN = 200


def server_url(url: str) -> httpx.URL:
    """Return the URL below which the server's routes are. Raises ValueError, with a sentence that never quotes a password."""
    if not isinstance(url, str):
        raise ValueError(f"the URL of a server is a text, not {type(url).__name__}")  # noqa: TRY004 (ValueError is what is promised)
    if "@" in url:
        raise ValueError(
            "the URL of a server holds no @: a token is given beside it, and a user or a password is not used"
        )
    for mark, what in (("?", "query"), ("#", "fragment")):
        if mark in url:
            raise ValueError(f"the URL of a server has no {what}: {url!r:.{_SHOWN}}")
    try:
        parsed = httpx.URL(url.rstrip("/") + "/")
        right = (
            url.isprintable()
            and " " not in url
            and parsed.scheme in ("http", "https")
            and parsed.host != ""  # decodes a name that begins with xn--, or raises
            and _HOST.fullmatch(parsed.raw_host.decode("ascii")) is not None
            and (parsed.port is None or 0 < parsed.port < 65_536)
        )
    except (httpx.InvalidURL, ValueError):  # what cannot be decoded is a ValueError
        right = False
    if not right:
        raise ValueError(f"not the URL of a server (http://HOST:PORT): {url!r:.{_SHOWN}}")
    return parsed


def is_here(host: str) -> bool:
    """Whether that is this machine, by a loopback or unspecified address in any form, or by a name that means one."""
    name = host.lower().rstrip(".")
    if name in _NAMES or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(name))  # 127.1, 0x7f000001
        except (OSError, UnicodeError):
            return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return bool(inner.is_loopback or inner.is_unspecified)
