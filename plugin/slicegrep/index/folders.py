"""The folders of a workspace: whether a look at them shows that it must be walked again."""

from __future__ import annotations

import os
import stat
from array import array
from typing import TYPE_CHECKING, NamedTuple

try:  # as in source.py
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

__all__ = ["Folders", "is_racy", "packed", "unpacked", "walked"]

_RACY_NS = 1_000_000_000
_RACY_COARSE_NS = 2_000_000_000
"""What changed less than this before it was looked at may change again and keep its time (the second where a file system
keeps whole seconds): that time is then not remembered. Git's rule, with a second in place of its index's own time."""
_IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})
_SEEN = _IGNORE_FILES | {".git"}
"""Hidden names that a walk looks at."""
_UNLISTED = 1000
"""Folders without a listed file that are watched at most: empty ones, where a file may appear. Ignored ones cannot be told
from them."""
_NEVER = frozenset({"__pycache__", "node_modules"})
"""Unlisted folders that are not watched: they are ignored, and what changes in them is many."""


class Folder(NamedTuple):
    """A folder with a number made of its status (`_stamp`) and a hash of the names in it."""

    stamp: int
    names: int


UNKNOWN = Folder(-1, 0)
"""What never is: the next look does not take the folder for one that it knows."""


class Folders(NamedTuple):
    """What was walked. Paths are relative to the root."""

    folders: dict[str, Folder]
    ignores: dict[str, tuple[int, int, int]]
    """Size, modification and change time of each ignore file; zeros where one is not there."""
    skipped: dict[str, str]
    """What the walk left out, and why."""
    notes: tuple[str, ...]
    """What a person should know about how the files were found."""

    def looked_at(self, root: str, now: int, heard: AbstractSet[str] | None = None) -> Folders | None:
        """Return what to remember now (this very object where all is as it was), or None where a walk is needed.

        `root` ends in a separator; `now` is the time, in nanoseconds. `heard` are the only files to which something has happened.
        """
        folders, ignores = self.folders, self.ignores
        if heard is not None:
            above = {path.rpartition("/")[0] for path in heard}
            folders = {path: folders[path] for path in above if path in folders}
            ignores = {path: status for path, status in ignores.items() if path in heard}
        if any(_ignore_status(root + path) != status for path, status in ignores.items()):
            return None
        try:
            stamps = [_stamp(status) for status in map(os.lstat, [root + path for path in folders])]
            changed: dict[str, Folder] = {}
            for (path, was), stamp in zip(folders.items(), stamps, strict=True):
                if stamp == was.stamp:
                    continue
                if not stamp:
                    return None
                names, _ = _scanned(root + path)
                status = os.lstat(root + path)
                if not names or names != was.names:
                    return None
                changed[path] = Folder(-1 if is_racy(status, now) else _stamp(status) or -1, names)
        except OSError:
            return None
        if all(self.folders[path] == folder for path, folder in changed.items()):
            return self
        return self._replace(folders={**self.folders, **changed})


def walked(
    root: str, before: Folders | None, wanted: Callable[[str], bool], now: int
) -> tuple[list[str], Folders]:
    """Walk the workspace: return the wanted files, and what to remember. `root` ends in a separator.

    Raises what walk.walk raises for `root`.
    """
    from slicegrep.walk import walk  # noqa: PLC0415 (it starts a process: not needed where nothing changed)

    listed: list[str] = []

    def noted(path: str) -> bool:
        listed.append(path)
        return wanted(path)

    walk_ = walk(root, wanted=noted)
    folders, ignores = _watched(root, _above(listed), before, now)
    skipped = {one.path: one.why for one in walk_.skipped}
    return [file.path for file in walk_.files], Folders(folders, ignores, skipped, tuple(walk_.notes))


def is_racy(status: os.stat_result, now: int) -> bool:
    """Whether what has this status may change again without another modification time. A time that was set is not racy."""
    coarse = status.st_mtime_ns % 1_000_000_000 == 0
    limit = now - (_RACY_COARSE_NS if coarse else _RACY_NS)
    changed = status.st_mtime_ns if os.name == "nt" else status.st_ctime_ns  # there: the time of creation
    return status.st_mtime_ns > limit and changed > limit


def _stamp(status: os.stat_result) -> int:
    """Return a number that is another where the folder was changed or is another one; 0 of what is no folder.

    The modification time alone can be set, as an archive does, on a folder or a link that takes the place of one.
    """
    if not stat.S_ISDIR(status.st_mode):
        return 0
    return hash((status.st_mtime_ns, status.st_ctime_ns, status.st_ino))


def _above(paths: Iterable[str]) -> dict[str, None]:
    """Return every folder that holds one of the paths, at any depth, in order; the root is ""."""
    folders: dict[str, None] = {"": None}
    for path in paths:
        folder = path.rpartition("/")[0]
        new = []
        while folder not in folders:
            new.append(folder)
            folder = folder.rpartition("/")[0]
        folders.update(dict.fromkeys(reversed(new)))
    return folders


def _watched(
    root: str, listed: dict[str, None], before: Folders | None, now: int
) -> tuple[dict[str, Folder], dict[str, tuple[int, int, int]]]:
    """Look at the folders that hold listed files, and those below them that hold none; `before` spares most of it."""
    known = before.folders if before else {}
    within_known: dict[str, list[str]] = {}
    for path in [*known, *(before.ignores if before else ())]:
        folder, _, name = path.rpartition("/")
        if name:
            within_known.setdefault(folder, []).append(name)
    folders: dict[str, Folder] = {}
    ignores: dict[str, tuple[int, int, int]] = {}
    waiting = list(listed)
    for path in waiting:  # grows
        was = known.get(path)
        try:
            stamp = _stamp(os.lstat(root + path))
            if not stamp:  # it was replaced by a link or a file since it was listed
                continue
            if was and was.stamp == stamp:
                folders[path], inside = was, within_known.get(path, [])
            else:
                names, inside = _scanned(root + path)
                status = os.lstat(root + path)
                # Of a racy folder, what is seen now is not certainly what the walk saw.
                folders[path] = UNKNOWN if is_racy(status, now) else Folder(_stamp(status) or -1, names)
        except OSError:
            continue
        within = f"{path}/" if path else ""
        for name in inside:
            if name in _IGNORE_FILES:
                ignores[within + name] = _ignore_status(root + within + name)
            elif (
                within + name not in listed and name not in _NEVER and len(waiting) < len(listed) + _UNLISTED
            ):
                waiting.append(within + name)
    ignores[".git/info/exclude"] = _ignore_status(f"{root}.git/info/exclude")
    return folders, ignores


def _scanned(folder: str) -> tuple[int, list[str]]:
    """Return a hash of the names in a folder, and its ignore files and folders; 0 where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            names = [
                (
                    entry.name,
                    "d" if entry.is_dir(follow_symlinks=False) else "l" if entry.is_symlink() else "f",
                )
                for entry in entries
                if entry.name[0] != "." or entry.name in _SEEN
            ]
    except OSError:
        return 0, []
    names.sort()
    text = "\0".join([kind + name for name, kind in names])
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=7).digest()
    inside = [name for name, kind in names if kind == "d" or name in _IGNORE_FILES]
    return int.from_bytes(digest, "little") + 1, [name for name in inside if name != ".git"]


def packed(folders: Folders) -> dict[str, bytes]:
    """Return what `unpacked` makes folders of again."""
    entries = folders.folders.values()
    return {
        "folders": _text([path + "/" for path in folders.folders]),
        # The name is that of the times alone: an older index is looked through once, and not made anew.
        "folder_mtimes": array("q", [entry.stamp for entry in entries]).tobytes(),
        "folder_names": array("q", [entry.names for entry in entries]).tobytes(),
        "ignores": _text(folders.ignores),
        "ignore_statuses": array("q", [n for status in folders.ignores.values() for n in status]).tobytes(),
        "skipped": _text([text for pair in folders.skipped.items() for text in pair]),
        "notes": _text(folders.notes),
    }


def unpacked(part: Callable[[str], bytes]) -> Folders:
    """Return the folders that were `packed`; `part` gives each piece by its name."""

    def texts(name: str) -> list[str]:
        return [text for text in part(name).decode("utf-8", "surrogateescape").split("\0") if text]

    def numbers(name: str) -> array[int]:
        values = array("q")
        values.frombytes(part(name))
        return values

    entries = map(Folder, numbers("folder_mtimes"), numbers("folder_names"))
    statuses = iter(numbers("ignore_statuses"))
    skipped = texts("skipped")
    return Folders(
        dict(zip([path[:-1] for path in texts("folders")], entries, strict=True)),
        dict(zip(texts("ignores"), zip(statuses, statuses, statuses, strict=True), strict=True)),
        dict(zip(skipped[::2], skipped[1::2], strict=True)),
        tuple(texts("notes")),
    )


def _text(names: Iterable[str]) -> bytes:
    return "\0".join(names).encode("utf-8", "surrogateescape")


def _ignore_status(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0, 0
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
