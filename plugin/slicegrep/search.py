"""The search verb: from a path and a pattern, through the stages, to the slices that answer, inside a budget."""

from __future__ import annotations

import gc
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import replace
from errno import ENOENT
from typing import TYPE_CHECKING, NamedTuple

from slicegrep.assemble import LEAST_BUDGET, OBJECTIVES, assemble
from slicegrep.home import home_folder
from slicegrep.index import Damaged, open_view, view_of
from slicegrep.index.terms import joined
from slicegrep.index.texts import read_walked
from slicegrep.match import find
from slicegrep.query import query_of
from slicegrep.recall import recall
from slicegrep.regions import BOUNDARIES
from slicegrep.roles import LARGEST_CODE
from slicegrep.source import read_source, source_of
from slicegrep.tokens import VOCABULARY_NAME, counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from slicegrep.candidates import Candidate
    from slicegrep.index import View
    from slicegrep.query import Query
    from slicegrep.result import Result
    from slicegrep.types import Source
    from slicegrep.walk import Walk

__all__ = ["BOUNDARIES", "LEAST_BUDGET", "OBJECTIVES", "SearchError", "focused_read"]

TRIES = 2
LARGEST_FILE = 50_000_000
"""Bytes of a file that is named; of files that a walk finds, roles.kind_of says which are too large."""


class SearchError(ValueError):
    """What was asked cannot be searched; the message says why, and what would."""


def focused_read(
    path: str | bytes | os.PathLike[str],
    pattern: str,
    *,
    before: int = 40,
    after: int = 40,
    budget: int = 2000,
    boundary: str = "auto",
    objective: str = "auto",
    dedupe: bool = True,
    recursive: bool = False,
    glob: str | Sequence[str] = (),
    type: str | Sequence[str] = (),  # noqa: A002 (the option's name)
    no_ignore: bool = False,
    hidden: bool = False,
    case_sensitive: bool = False,
    history: bool = False,
    home: str = "",
    shown: str = "",
    top: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Return the slices of `path` that answer `pattern`, best first, inside `budget` o200k_base tokens of rendered text.

    `path` is a file, or a folder with all in it that .gitignore does not hide; `recursive` searches the folder of a
    file. `pattern` is a regular expression (RE2's syntax and more) without regard to case unless `case_sensitive`, its
    alternatives joined by `|`, or plain English of three or more content words. `before` and `after` are lines around a match
    (boundary `none`: exactly, `auto`: not past the outermost definition; `fn` takes the enclosing definition instead).
    `objective` says what a place is kept for: `def+caller`, `def+test`, both (`auto`), or the best slice alone
    (`single`). `dedupe` lets near-duplicates collapse. `glob` (.gitignore's syntax, `!` excludes) and `type` (ripgrep's names), one or several, narrow the
    files of a folder; `no_ignore` and `hidden` widen them. `history` lets files count more that git's log saw changed lately (history.py: not
    shown to help). `home` is SLICEGREP_HOME, from the environment by default. `shown` is what the answer calls `path`, where
    that is not to be told. `top` is a real path that `path` lies under by its name: no link is followed from there on, so that what
    takes the place of a file or folder meanwhile leads nowhere else. `progress(done, total)`,
    in files, is called while a long index is made.

    Raises OSError (FileNotFoundError, PermissionError) for a `path` that is not there or cannot be read, SearchError
    (a ValueError) for all else that cannot be searched, TypeError for an argument of another type.
    """
    _checked(pattern, before=before, after=after, budget=budget, boundary=boundary, objective=objective)
    path = os.fsdecode(path)
    place = _place_below(top, path) if top else _place(path, recursive=recursive)
    place = place._replace(shown=shown or place.shown)
    home = _home(home)
    asked = _Asked(
        query_of(pattern, case_sensitive=case_sensitive),
        before=before,
        after=after,
        budget=budget,
        boundary=boundary,
        objective=objective,
        dedupe=dedupe,
        history=history,
    )
    wanted = _Wanted(_several(glob), _several(type), no_ignore=no_ignore, hidden=hidden)
    result = None
    for _ in range(TRIES):
        with suppress(Damaged):  # it is made anew when it is opened again
            scope = _scope(place, home, wanted, progress=progress)
            with _uncollected():
                result = _answer(place, scope, asked, home)
            if not scope.view.is_outdated:  # else a file was written while it was searched
                break
    if result is not None:
        return result
    raise SearchError(f"the index under {home} is damaged each time it is made: is the disk failing?")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python's collector of cycles from running: a search makes thousands of values and no cycles.

    Its passes over them, and over all else in the process, took 3 to 28% of a warm search's time, by its kind.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _answer(place: _Place, scope: _Scope, asked: _Asked, home: str) -> Result:
    query, view, prefix = asked.query, scope.view, scope.prefix

    def read(file: str) -> Source | None:
        return view.read(prefix + file)

    def symbols_at(lines: Sequence[tuple[str, int]]) -> list[str]:
        rows = [view.file_at(prefix + file) for file, _ in lines]
        known = [at for at, row in enumerate(rows) if row is not None]
        names = [""] * len(lines)
        places = [(row.id, line) for row, (_, line) in zip(rows, lines, strict=True) if row is not None]
        for at, name in zip(known, view.enclosing(places), strict=True):
            names[at] = name
        return names

    matches = find(
        place.folder,
        scope.files,
        query.patterns,
        case_sensitive=query.case_sensitive,
        view=view,
        read=read,
        prefix=prefix,
    )
    only = None if scope.only is None else frozenset(prefix + file for file in scope.only)
    candidates = recall(
        view,
        query,
        matches,
        read,
        before=asked.before,
        after=asked.after,
        boundary=asked.boundary,
        prefix=prefix,
        only=only,
    )
    if asked.history:
        candidates = _by_history(candidates, view.root, home, prefix)
    if query.route == "vague" and (os.environ.get("SLICEGREP_DENSE_MODEL") or os.path.isdir(_models(home))):
        from slicegrep.dense import knobs_of, with_dense  # noqa: PLC0415 (few have a model)

        knobs = knobs_of(os.environ)
        candidates = with_dense(
            candidates, view, query.text, home=home, knobs=knobs, prefix=prefix, only=only
        )
    count, exact = counter(_vocabulary(home))
    return assemble(
        candidates,
        read,
        path=place.shown,
        query=query,
        budget=asked.budget,
        objective=asked.objective,
        dedupe=asked.dedupe,
        boundary=asked.boundary,
        hits=matches.by_file if scope.files else None,  # where nothing was looked at, nothing is absent
        count=count,
        exact=exact,
        notes=(*scope.notes, *matches.notes),
        skipped=(*scope.skipped, *((one.path, one.why) for one in matches.skipped)),
        symbols_at=symbols_at,
        defined=lambda name: bool(view.symbols_named(joined(name))),
    )


class _Asked(NamedTuple):
    """What was asked for, checked; the names are `focused_read`'s."""

    query: Query
    before: int
    after: int
    budget: int
    boundary: str
    objective: str
    dedupe: bool
    history: bool


class _Place(NamedTuple):
    """Where to search: a folder (absolute), and one file in it or all."""

    shown: str
    """The path as it was given."""
    folder: str
    file: str = ""
    top: str = ""
    """Where it is not "": the folder from which on no link is followed."""


class _Wanted(NamedTuple):
    """Which files were asked for."""

    globs: tuple[str, ...]
    types: tuple[str, ...]
    no_ignore: bool
    hidden: bool

    @property
    def everything(self) -> bool:
        """Whether the index holds just what is asked for."""
        return not (self.globs or self.types or self.no_ignore or self.hidden)


class _Scope(NamedTuple):
    """What is searched. `files` are relative to the folder, which is `prefix` in the view."""

    view: View
    prefix: str
    files: list[str]
    only: frozenset[str] | None
    """The files as a set, where they are fewer than the view has under the prefix."""
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def _checked(pattern: str, *, before: int, after: int, budget: int, boundary: str, objective: str) -> None:
    if not isinstance(pattern, str):
        raise TypeError(f"pattern is a str, not {pattern!r}")
    for name, number in (("before", before), ("after", after), ("budget", budget)):
        if not isinstance(number, int):
            raise TypeError(f"{name} is an int, not {number!r}")
    if not pattern.strip(" \t\r\n|"):
        raise SearchError("the pattern is empty: give a word, a regular expression or a question")
    if budget < LEAST_BUDGET:
        raise SearchError(
            f"a budget of {budget} tokens is too small to show anything: {LEAST_BUDGET} or more"
        )
    if before < 0 or after < 0:
        raise SearchError("lines before and after a match are 0 or more")
    if boundary not in BOUNDARIES:
        raise SearchError(f"boundary is one of {', '.join(BOUNDARIES)}, not {boundary!r}")
    if objective not in OBJECTIVES:
        raise SearchError(f"objective is one of {', '.join(OBJECTIVES)}, not {objective!r}")


def _by_history(candidates: list[Candidate], root: str, home: str, prefix: str) -> list[Candidate]:
    from slicegrep.history import prior  # noqa: PLC0415 (off by default)

    factors = prior(root, home)
    weighed = [one._replace(score=one.score * factors.get(prefix + one.file, 1.0)) for one in candidates]
    return sorted(weighed, key=lambda one: -one.score)


def _several(one_or_more: str | Sequence[str]) -> tuple[str, ...]:
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def _home(given: str) -> str:
    home = os.path.abspath(given) if given else home_folder(os.environ)
    # A user without a home directory: nothing can be below a device, so nothing is kept, least of all in the project.
    return home if os.path.isabs(home) else os.path.join(os.devnull, "slicegrep")


def _models(home: str) -> str:
    return os.path.join(home, "models")


def _vocabulary(home: str) -> str:
    """Return the folder that the token counter reads: the home's, else tiktoken's own cache, as its variable names it."""
    own = os.path.join(home, "vocab")
    return (
        own
        if os.path.exists(os.path.join(own, VOCABULARY_NAME))
        else os.environ.get("TIKTOKEN_CACHE_DIR", "")
    )


def _place(path: str, *, recursive: bool) -> _Place:
    if "\0" in path or not path:
        raise SearchError("the path is empty, or holds a NUL")
    mode = os.stat(path).st_mode
    try:
        absolute = os.path.abspath(path)
    except FileNotFoundError:
        raise SearchError("the current folder is deleted: go to another, or give an absolute path") from None
    if stat.S_ISDIR(mode):
        return _Place(path, os.path.realpath(path))
    if not stat.S_ISREG(mode):
        raise SearchError(f"{path}: neither a file nor a folder")
    # By the system's own steps: in `link/../a.py` the `..` is that of the link's target.
    folder, file = os.path.realpath(os.path.dirname(path) or os.curdir), os.path.basename(absolute)
    if recursive:
        return _Place(os.path.dirname(path) or ".", folder)
    return _Place(path, folder, file)


def _place_below(top: str, path: str) -> _Place:
    path = os.path.normpath(path)
    if os.path.commonpath((top, path)) != top:
        raise SearchError(f"{path}: not below {top}")
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        return _Place(path, path, top=top)
    if not stat.S_ISREG(mode):
        raise FileNotFoundError(ENOENT, "neither a file nor a folder", path)
    return _Place(path, *os.path.split(path), top)


def _scope(
    place: _Place, home: str, wanted: _Wanted, *, progress: Callable[[int, int], None] | None
) -> _Scope:
    if place.file:
        return _one_file(place)
    view = open_view(place.top or place.folder, home, progress=progress)
    prefix = _prefix(view.root, place.folder)
    present = view.paths_under(prefix)
    if wanted.everything and present:
        return _Scope(view, prefix, present, None, _told(view.skipped, prefix), view.notes)
    walked = _walked(place.folder, wanted)
    if prefix and not walked.files and not present:  # a folder that is ignored, and was named all the same
        wanted = wanted._replace(no_ignore=True)
        walked = _walked(place.folder, wanted)
    files = [file.path for file in walked.files]
    skipped = tuple((one.path, one.why) for one in walked.skipped)
    beyond = set(files).difference(present)
    if beyond:
        view = view.plus(_texts(place, prefix, sorted(beyond)))
        files = [file for file in files if view.file_at(prefix + file) is not None]
    notes = walked.notes if files else (*walked.notes, _none_searched(place, wanted, walked))
    return _Scope(view, prefix, files, frozenset(files), skipped, notes)


def _walked(folder: str, wanted: _Wanted) -> Walk:
    from slicegrep.globs import GlobError  # noqa: PLC0415 (most often the index has walked)
    from slicegrep.walk import walk  # noqa: PLC0415

    try:
        return walk(
            folder, globs=wanted.globs, types=wanted.types, no_ignore=wanted.no_ignore, hidden=wanted.hidden
        )
    except GlobError as error:
        raise SearchError(str(error)) from error


def _none_searched(place: _Place, wanted: _Wanted, walked: Walk) -> str:
    """Say why no file was searched."""
    if walked.files:
        return "No file was searched: none of those that fit holds text."
    narrowing = [*(f"type {name}" for name in wanted.types), *(f"glob {text}" for text in wanted.globs)]
    there = len(_walked(place.folder, wanted._replace(globs=(), types=())).files) if narrowing else 0
    if there:
        return f"No file was searched: {' with '.join(narrowing)} fits none of the {there:,} files here."
    return "No file was searched: there is none here that is neither ignored nor hidden."


def _prefix(root: str, folder: str) -> str:
    inside = os.path.relpath(folder, root).replace(os.sep, "/")  # both are real
    if f"{inside}/".startswith("../"):
        raise FileNotFoundError(ENOENT, "it was replaced meanwhile", folder)
    return "" if inside == "." else inside + "/"


def _told(skipped: Mapping[str, str], prefix: str) -> tuple[tuple[str, str], ...]:
    return tuple([(path[len(prefix) :], why) for path, why in skipped.items() if path.startswith(prefix)])


def _texts(place: _Place, prefix: str, files: Sequence[str]) -> list[Source]:
    """Read files that the index does not hold; binary ones, too large ones and those that are gone are left out."""
    top = place.top or place.folder
    below = _prefix(top, place.folder)
    found = [(prefix + file, read_walked(top, below + file, LARGEST_CODE)) for file in files]
    sources = [source_of(path, data) for path, data in found if data is not None]
    return [source for source in sources if source.encoding != "binary"]


def _one_file(place: _Place) -> _Scope:
    path = os.path.join(place.folder, place.file)
    if place.top:
        data = read_walked(place.top, _prefix(place.top, place.folder) + place.file, LARGEST_FILE)
        if data is None:
            raise FileNotFoundError(ENOENT, "it was replaced meanwhile, or is too large", path)
        source: Source | None = source_of(path, data)
    else:
        with open(path, "rb"):  # says why it cannot be read
            pass
        source = read_source(path, max_bytes=LARGEST_FILE)
    if source is None:
        raise SearchError(
            f"{place.shown}: over {LARGEST_FILE // 1_000_000} MB, or it changes while it is read"
        )
    if source.encoding == "binary":
        raise SearchError(f"{place.shown}: a binary file")
    return _Scope(view_of([replace(source, path=place.file)]), "", [place.file], None)
