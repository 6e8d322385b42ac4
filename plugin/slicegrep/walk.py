"""Which files of a folder a search looks at, and why the others are not."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slicegrep.git import git_output
from slicegrep.globs import matcher
from slicegrep.ripgrep import complaints, run_rg
from slicegrep.source import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Skipped", "Walk", "WalkedFile", "walk"]


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """A regular file. `path` is relative to the folder, with `/`, undecodable bytes as lone surrogates; `size` in bytes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is left out: a file, or a folder (`path` ends in `/`) with all in it."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The regular files in the order of their paths, and what is left out although it is not ignored."""

    files: list[WalkedFile]
    skipped: list[Skipped]
    notes: tuple[str, ...] = ()
    """What a person should know about how the files were found; each a sentence."""


_WORKTREES = ".claude/worktrees"  # the client's own: a copy of the repository for each (jcodemunch#372)
_GONE = "it vanished"
_ODD = "no regular file"
_NESTED = "a git worktree of its own"
_LINK = "a symbolic link (what it points to inside the folder is searched by its own name)"

# Where neither rg nor git says what is ignored: folders that hold what was built, fetched or cached.
_UNWRITTEN = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "bower_components"})

_GIT_SECONDS = 60.0
_MARKER_BYTES = 8192
"""Of a `.git` file: a path, and a few bytes."""


def walk(
    root: str,
    *,
    globs: Sequence[str] = (),
    types: Sequence[str] = (),
    no_ignore: bool = False,
    hidden: bool = False,
    wanted: Callable[[str], bool] | None = None,
) -> Walk:
    """List the files under the folder `root` that a search looks at.

    Left out without a word: what .gitignore, .git/info/exclude, .ignore or .rgignore hide (unless `no_ignore`; outside git
    too, but not by ignore files above a tree's top), names that begin with a dot (unless `hidden`), `.git`, what `globs`
    and `types` (globs.matcher) or `wanted` (asked with the path, before the file is touched) do not want, symbolic
    links, FIFOs and devices. The user's own configuration of git and rg changes nothing. Listed in `skipped`: folders
    without permission, files that vanish, git worktrees inside this one. Nothing is opened but `.git` files.

    Where rg is missing git lists the files, and outside git the folders are walked by simple rules; a note says so.
    Raises FileNotFoundError, NotADirectoryError or PermissionError for `root`; globs.GlobError.
    """
    asked = matcher(globs, types)
    os.scandir(root).close()
    names, skipped, notes = _listed(root, no_ignore=no_ignore, hidden=hidden)
    nested = _nested_worktrees(root, names)
    skipped += [Skipped(folder, _NESTED) for folder in nested]
    inside = tuple(nested)
    files = []
    prefix = os.path.join(root, "")
    for name in names:
        if (
            (not hidden and _is_hidden(name))
            or name == ".git"
            or name.endswith("/.git")
            or (inside and name.startswith(inside))
            or (asked is not None and not asked(name))
            or (wanted is not None and not wanted(name))
        ):
            continue
        try:
            status = os.lstat(prefix + name)
        except OSError as error:
            skipped.append(Skipped(name, _GONE if isinstance(error, FileNotFoundError) else _told(error)))
            continue
        if stat.S_ISREG(status.st_mode):
            files.append(WalkedFile(name, status.st_size, status.st_mtime_ns))
        else:
            skipped.append(Skipped(name, _LINK if stat.S_ISLNK(status.st_mode) else _ODD))
    return Walk(files, sorted(skipped, key=lambda row: row.path), notes)


def _listed(root: str, *, no_ignore: bool, hidden: bool) -> tuple[list[str], list[Skipped], tuple[str, ...]]:
    """Return the names (sorted; hidden ones and `.git` files may be among them), what could not be read, and notes."""
    arguments = [
        "--files",
        "--null",
        "--no-ignore-global",
        "--no-ignore-messages",
        "--hidden",
    ]
    # Dot folders are not even entered, but dot files are listed: a `.git` file tells a worktree.
    arguments += ["--glob=!.git/", f"--glob=!**/{_WORKTREES}/"] if hidden else ["--glob=!.*/"]
    if no_ignore:
        arguments.append("--no-ignore")
    else:
        arguments += _about_parents(root)
    answer = run_rg(arguments, root)
    if answer is not None:
        names = _split(answer.output)
        bad = [Skipped(_as_folder(root, path), why) for path, why in complaints(answer.errors)]
        if names or answer.code != 2 or bad:
            return names, bad, ()
    skipped: list[Skipped] = []
    if not no_ignore:
        listed = _git_listed(root)
        if listed is not None:
            return sorted(listed), skipped, ("rg is not there: git listed the files.",)
    note = "rg is not there: ignore files were not looked at."
    return sorted(_walked(root, skipped, hidden=hidden, everything=no_ignore)), skipped, (note,)


def _split(output: bytes) -> list[str]:
    text = os.fsdecode(output)
    if os.sep != "/":
        text = text.replace(os.sep, "/")
    return sorted(text.split("\0")[:-1])


def _as_folder(root: str, path: str) -> str:
    return path + "/" if os.path.isdir(os.path.join(root, path)) else path


def _about_parents(root: str) -> list[str]:
    """Return rg's arguments for which ignore files above `root` count: those of the git tree that it is a part of."""
    above = os.path.realpath(root)
    if os.path.lexists(os.path.join(above, ".git")):
        return ["--no-ignore-parent"]
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        if os.path.lexists(os.path.join(above, ".git")):
            return []
    return ["--no-ignore-parent", "--no-require-git"]


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


def _nested_worktrees(root: str, names: Iterable[str]) -> list[str]:
    """Return the folders (with `/`) below `root` that are git worktrees: their `.git` file points into `.../worktrees/`."""
    return [
        name.removesuffix(".git")
        for name in names
        if name.endswith("/.git") and _is_worktree(os.path.join(root, name))
    ]


def _is_worktree(marker: str) -> bool:
    try:
        if not stat.S_ISREG(os.lstat(marker).st_mode):
            return False
    except OSError:
        return False
    source = read_source(marker, max_bytes=_MARKER_BYTES)  # waits for nothing: it may be a FIFO by now
    target = source.text if source is not None else ""
    parts = target.strip().replace("\\", "/").split("/")
    # A submodule (`modules/NAME`) is part of the code, also one that is itself called worktrees/x.
    return target.startswith("gitdir:") and parts[-2:-1] == ["worktrees"] and parts[-3:-2] != ["modules"]


def _git_listed(root: str) -> list[str] | None:
    """Return what git tracks or does not ignore, submodules and nested repositories walked into; None outside git."""
    printed = git_output(root, "ls-files", "-co", "--exclude-standard", "-z", seconds=_GIT_SECONDS)
    if printed is None:
        return None
    names: list[str] = []
    folders: set[str] = set()
    for name in set(os.fsdecode(printed).split("\0")[:-1]):
        full = os.path.join(root, name)
        if os.path.islink(full) or f"/{_WORKTREES}/" in f"/{name}/":
            continue
        if os.path.isdir(full):
            inside = _git_listed(full)
            inside = list(_walked(full, [], hidden=True, everything=True)) if inside is None else inside
            names += [name.rstrip("/") + "/" + inner for inner in inside]
            folders.add(name.rstrip("/"))
        else:
            names.append(name)
            folders.add(os.path.dirname(name))
    return names + [
        f"{folder}/.git" for folder in folders if folder and _is_worktree(os.path.join(root, folder, ".git"))
    ]


def _walked(root: str, skipped: list[Skipped], *, hidden: bool, everything: bool) -> Iterator[str]:
    """Yield the regular files of a folder and those below it, by names alone."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(root, folder)))
        except OSError as error:
            skipped.append(Skipped(folder, _told(error)))
            continue
        for entry in entries:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if (
                    entry.name == ".git"
                    or (not hidden and entry.name.startswith("."))
                    or f"/{path}/".endswith(f"/{_WORKTREES}/")
                    or (not everything and entry.name in _UNWRITTEN)
                ):
                    continue
                waiting.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                yield path


def _told(error: OSError) -> str:
    return error.strerror or type(error).__name__
