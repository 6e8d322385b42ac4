"""Globs and file types as a searcher takes them (`-g`, `-t`), as one test of a path."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from slicegrep.languages import LANGUAGES
from slicegrep.ripgrep import run_rg

try:
    import re2
except ImportError:  # see expressions.py
    re2 = None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["GlobError", "matcher"]


class GlobError(ValueError):
    """A glob or a type that cannot be understood; the message is for a person, in one line."""


def matcher(globs: Sequence[str] = (), types: Sequence[str] = ()) -> Callable[[str], bool] | None:
    """Return whether a path (relative, `/`) is wanted, None where everything is.

    A glob is one of .gitignore's, with `{a,b}`: without a slash it is about a name at any depth, `!` excludes, the
    last one that fits decides, and one that names a folder is about all in it. A path must also be of one of `types`:
    rg's names (`py`, `rust`) and those of the language table. Globs only narrow: what .gitignore hides stays hidden.
    Raises GlobError.
    """
    if not globs and not types:
        return None
    rules = [(not glob.startswith("!"), _compiled(glob.removeprefix("!"))) for glob in globs]
    otherwise = not any(include for include, _ in rules)
    of_type = _compiled_types(tuple(sorted(set(types)))) if types else None

    def wanted(path: str) -> bool:
        path = _as_text(path)
        if of_type is not None and of_type.fullmatch(path.rpartition("/")[2]) is None:
            return False
        for include, rule in reversed(rules):
            if rule.match(path):
                return bool(include)
        return otherwise

    return wanted


def _as_text(path: str) -> str:
    """Return a path as RE2 takes it: bytes that are no UTF-8 as U+FFFD, in the path as in the glob."""
    return path if path.isascii() else path.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _built(expression: str) -> Any:
    """Compile for RE2, which takes a path in linear time: `re` tries every way to share a name out among wildcards.

    Raises GlobError.
    """
    if re2 is None:
        if len(_CHOICE.findall(expression)) > _MOST_CHOICES:
            raise GlobError(
                f"more than {_MOST_CHOICES} of * and {{ in a glob need google-re2, which is not there"
            )
        return re.compile(expression)
    options = re2.Options()
    options.log_errors = False
    return re2.compile(expression, options)


_RE2_ERRORS = () if re2 is None else (re2.error,)
_CHOICE = re.compile(r"[*|]")
_MOST_CHOICES = 6
"""`*?*?*?*?*?*?*?*?x` did not end in 90 s in one path of 100 characters."""


@lru_cache(maxsize=256)
def _compiled(glob: str) -> Any:
    """Return what matches at the start of a path that the glob is about, up to its end or a slash."""
    body = glob.rstrip("/") if glob.strip("/") else ""
    if not body:
        raise GlobError(f"{glob!r} is no glob: name files or folders, as in '*.py' or 'src/**'")
    anchored = "/" in body
    expression = _translated(_as_text(body.removeprefix("/")))
    try:
        return _built(f"(?s:{'' if anchored else '(?:.*/)?'}{expression}(?:/|$))")
    except (re.error, *_RE2_ERRORS) as error:
        why = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error
        raise GlobError(f"{glob!r} is no glob: {why}") from error


_PIECE = re.compile(r"(?:^|(?<=/))\*\*/|/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|[{},]|\\.|.", re.DOTALL)


def _translated(glob: str) -> str:
    """Return the regular expression of a glob's text."""
    depth = 0
    parts = []
    for piece in _PIECE.findall(glob):
        if piece == "**/":
            parts.append("(?:.*/)?")
        elif piece == "/**":
            parts.append("/.+")
        elif piece[0] == "*":
            parts.append("[^/]*")
        elif piece == "?":
            parts.append("[^/]")
        elif piece[0] == "[" and len(piece) > 1:
            inner = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[^{inner[1:]}/]" if inner.startswith("!") else f"[{inner}]")
        elif piece == "{":
            depth += 1
            parts.append("(?:")
        elif piece == "}" and depth:
            depth -= 1
            parts.append(")")
        elif piece == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(piece[-1]))
    if depth:
        raise GlobError(f"{glob!r} is no glob: a '{{' is not closed")
    return "".join(parts)


@lru_cache(maxsize=64)
def _compiled_types(types: tuple[str, ...]) -> Any:
    known = _type_table()
    for name in types:
        if name not in known:
            raise GlobError(
                f"there is no file type {name!r}; `rg --type-list` shows them, as do the language names"
            )
    return re.compile(
        "(?s:" + "|".join(_translated(glob) for name in types for glob in known[name]) + ")"
    )  # rg's own are plain


@cache
def _type_table() -> dict[str, tuple[str, ...]]:
    """Return the globs of file names for each type: rg's own, and the language table's where rg has none of that name."""
    table = {
        language.name: (*(f"*{suffix}" for suffix in language.suffixes), *language.file_names)
        for language in LANGUAGES.values()
    }
    answer = run_rg(["--type-list"], ".")
    if answer is not None and answer.code == 0:
        for line in answer.output.decode("utf-8", "replace").splitlines():
            name, _, globs = line.partition(": ")
            table[name] = tuple(globs.split(", "))
    return table
