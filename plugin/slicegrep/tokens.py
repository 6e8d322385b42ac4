"""How many o200k_base tokens a text has: exact where the vocabulary is on disk, else an estimate that errs high."""

from __future__ import annotations

import os
import re
from collections.abc import Callable  # noqa: TC003 (importing typing to hide it costs 3 ms)

__all__ = ["VOCABULARY_NAME", "count", "estimate", "exact_encoder"]

# The name under which tiktoken keeps o200k_base in its cache folder: the SHA-1 of the address it fetches from.
VOCABULARY_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|[^\w\s]+|\n+|[ \t]{2,}|_|[^\x00-\x7f]")
_SCALE = 1.1


def estimate(text: str) -> int:
    """Return about how many o200k_base tokens `text` has, leaning high; needs no vocabulary and no import."""
    return int(len(_PIECE.findall(text)) * _SCALE + 0.999)


def exact_encoder(vocab_dir: str) -> Callable[[str], int] | None:
    """Return the exact o200k_base counter, or None where tiktoken or its vocabulary file is not in `vocab_dir`.

    Never touches the network: tiktoken is asked only when its file is there under its name.
    """
    if not os.path.isfile(os.path.join(vocab_dir, VOCABULARY_NAME)):  # noqa: PTH113, PTH118 (pathlib: 10 ms)
        return None
    try:
        import tiktoken  # noqa: PLC0415 (300 ms with the vocabulary: only where asked for)
    except ImportError:
        return None
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = vocab_dir
    try:
        encoding = tiktoken.get_encoding("o200k_base")
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def count(text: str, vocab_dir: str = "") -> tuple[int, bool]:
    """Return the o200k_base tokens of `text`, and whether the count is exact (the vocabulary is in `vocab_dir`)."""
    encoder = exact_encoder(vocab_dir) if vocab_dir else None
    return (encoder(text), True) if encoder else (estimate(text), False)
