"""Which slicegrep a plugin folder holds: its version, a hash of its code, and which of two is the newer."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["Identities", "Identity"]

_Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Path, time of change, inode, time of change of the inode, and size of each file that counts, in the order of the paths
(times in nanoseconds). Size and time of change can be made the same: by who unpacks with fixed times, or swaps a link."""

_BESIDE = ("plugin/requirements.key", ".claude-plugin/plugin.json")


@dataclass(frozen=True, slots=True)
class Identity:
    """One slicegrep. Equal digests are the same code."""

    version: tuple[int, ...]
    changed: int
    """When the newest of its files was changed, in nanoseconds since the epoch."""
    digest: str

    def newer_than(self, other: Identity) -> bool:
        """Whether it is to replace the other: by version, else by the time of its files."""
        return (self.version, self.changed, self.digest) > (other.version, other.changed, other.digest)


class Identities:
    """The identities of plugin folders; each is made again only when one of its files changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamp, Identity]] = {}

    def of(self, root: str) -> Identity | None:
        """Return what the plugin folder `root` holds at this moment; None where it is none, or is going."""
        stamp = _stamp(root)
        if not stamp:
            self._known.pop(root, None)
            return None
        known = self._known.get(root)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            identity = _identity(root, stamp)
        except (OSError, ValueError):
            return None
        if len(self._known) > 8:
            self._known.clear()
        self._known[root] = stamp, identity
        return identity


def _stamp(root: str) -> _Stamp:
    found: list[tuple[str, int, int, int, int]] = []
    folders = [os.path.join(root, "plugin", "slicegrep")]
    try:
        found += [(name, *_marks(os.stat(os.path.join(root, name)))) for name in _BESIDE]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        found.append((entry.path, *_marks(entry.stat())))
                    elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                        folders.append(entry.path)
    except OSError:
        return ()
    return tuple(sorted(found))


def _marks(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_mtime_ns, status.st_ino, status.st_ctime_ns, status.st_size


def _identity(root: str, stamp: _Stamp) -> Identity:
    """Hash the files of a stamp. Raises OSError and ValueError where one is gone or half written."""
    total = blake2b(digest_size=16)
    for path, *_ in stamp:
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        name = os.path.relpath(os.path.join(root, path), root)
        total.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    with open(os.path.join(root, _BESIDE[1]), "rb") as file:
        told = json.load(file)
    version = str(told.get("version", "")) if isinstance(told, dict) else ""
    numbers = tuple(int(part) if part.isdigit() else 0 for part in version.split("."))
    return Identity(numbers, max(changed for _, changed, *_ in stamp), total.hexdigest())
