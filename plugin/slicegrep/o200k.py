"""The encoding o200k_base as far as counting needs it: how text is cut, and how many tokens each piece becomes."""

from __future__ import annotations

import os
import re
from binascii import a2b_base64, crc32
from collections.abc import Callable, Iterable  # noqa: TC003 (importing typing to hide it costs 3 ms)
from contextlib import suppress
from heapq import heapify, heappop, heappush

from slicegrep.home import open_plain, replace_private
from slicegrep.tokens import VOCABULARY_NAME

__all__ = [
    "RANKS_NAME",
    "VOCABULARY_NAME",
    "VOCABULARY_SHA256",
    "Counter",
    "Ranks",
    "open_ranks",
    "pieces_of",
]

RANKS_NAME = "o200k_base.ranks"
"""The vocabulary in a form that is looked up where it lies; made from tiktoken's file, beside it."""
VOCABULARY_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""What tiktoken itself expects of its file."""

# The encoding's own pattern (tiktoken_ext.openai_public.o200k_base), over ASCII and two characters more that stand for
# all letters without a case (\x80) and all marks (\x81).
_SPACE = r" \t\n\x0b\x0c\r"
_BEFORE = r"[^\r\nA-Za-z0-9\x80]?"
_UPPER = r"[A-Z\x80\x81]"
_LOWER = r"[a-z\x80\x81]"
_SHORT = r"(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?"
_PIECE = re.compile(
    rf"{_BEFORE}{_UPPER}*{_LOWER}+{_SHORT}"
    rf"|{_BEFORE}{_UPPER}+{_LOWER}*{_SHORT}"
    r"|[0-9]{1,3}"
    rf"| ?[^{_SPACE}A-Za-z0-9\x80]+[\r\n/]*"
    rf"|[{_SPACE}]*[\r\n]+"
    rf"|[{_SPACE}]+(?![^{_SPACE}])"
    rf"|[{_SPACE}]+"
)
_STAND_INS = {"Lu": "A", "Lt": "A", "Ll": "a", "Lm": "\x80", "Lo": "\x80", "M": "\x81", "N": "0"}
_SPACES = frozenset("\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}
_OTHER = "!"
_SOME_SPACE = "\x0b"

_MAGIC = b"slicegrep o200k_base 1\n"
_BUCKETS = 1 << 17
# A memo must not grow with what is read: a resident engine lives for hours.
_MEMO_PIECES = 60_000
_MEMO_LENGTH = 60


def pieces_of(text: str) -> list[str]:
    """Cut a text where the encoding never merges across; joined, the pieces are the text.

    Letters that are newer than this Python's `unicodedata` count as signs, which can move a cut.
    """
    if text.isascii():
        return _PIECE.findall(text)
    return [text[found.start() : found.end()] for found in _PIECE.finditer(text.translate(_CLASSES))]


class _Classes(dict[int, str]):
    """Code point -> the ASCII character that the pattern treats alike."""

    def __missing__(self, code: int) -> str:
        from unicodedata import category  # noqa: PLC0415 (a megabyte that ASCII does without)

        character = chr(code)
        if character in _SPACES:
            stand_in = _SOME_SPACE
        elif character == "\u017f":  # the one other letter that equals an `s` where case is ignored
            stand_in = "s"
        else:
            kind = category(character)
            stand_in = _STAND_INS.get(kind) or _STAND_INS.get(kind[0], _OTHER)
        self[code] = stand_in
        return stand_in


_CLASSES = _Classes({code: chr(code) for code in range(128)})


class Ranks:
    """The vocabulary: which bytes are a token, and in which order tokens are merged."""

    def __init__(self, data: bytes) -> None:
        """Take the bytes of a whole file as `_packed` makes it."""
        self._data = data
        self._at = len(_MAGIC) + 4

    def of(self, token: bytes) -> int:
        """Return a token's rank, -1 where the bytes are none."""
        data = self._data
        slot = self._at + 4 * (crc32(token) % _BUCKETS)
        at = int.from_bytes(data[slot : slot + 4], "little")
        end = int.from_bytes(data[slot + 4 : slot + 8], "little")
        length = len(token)
        while at < end:
            size = data[at]
            if size == length and data.startswith(token, at + 4):
                return int.from_bytes(data[at + 1 : at + 4], "little")
            at += 4 + size
        return -1


class Counter(dict[str, int]):
    """Piece -> its tokens, and the count of whole texts. Equals tiktoken's, and warm takes its time (docs/tokens.md)."""

    def __init__(self, rank_of: Callable[[bytes], int]) -> None:
        super().__init__()
        self._rank_of = rank_of

    def __missing__(self, piece: str) -> int:
        data = piece.encode()
        tokens = 1 if self._rank_of(data) >= 0 else _merged(data, self._rank_of)
        if len(piece) <= _MEMO_LENGTH:
            if len(self) >= _MEMO_PIECES:
                self.clear()
            self[piece] = tokens
        return tokens

    def count(self, text: str) -> int:
        """Return the tokens of a text. What looks like a special token is text; half a surrogate pair is U+FFFD."""
        try:
            return sum(map(self.__getitem__, pieces_of(text)))
        except UnicodeEncodeError:
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return sum(map(self.__getitem__, pieces_of(whole)))


def open_ranks(folder: str) -> Ranks | None:
    """Return the vocabulary that lies in `folder`, None where it is not there or not whole.

    Where only tiktoken's file is there the other is made from it, which takes 0.3 s once, and written beside it if
    that can be. Never touches the network and raises nothing.
    """
    path = os.path.join(folder, RANKS_NAME)
    with suppress(OSError):
        with open_plain(path) as file:
            data = file.read()
        head = len(_MAGIC)
        if data.startswith(_MAGIC) and int.from_bytes(data[head : head + 4], "little") == crc32(
            memoryview(data)[head + 4 :]
        ):
            return Ranks(data)
    vocabulary = _whole_vocabulary(os.path.join(folder, VOCABULARY_NAME))
    if vocabulary is None:
        return None
    data = _packed(_ranked(vocabulary))
    with suppress(OSError):
        replace_private(path, data)
    return Ranks(data)


def _whole_vocabulary(path: str) -> bytes | None:
    from hashlib import sha256  # noqa: PLC0415 (3 ms that a count does without)

    try:
        with open_plain(path) as file:
            data = file.read()
    except OSError:
        return None
    return data if sha256(data).hexdigest() == VOCABULARY_SHA256 else None


def _ranked(vocabulary: bytes) -> Iterable[tuple[bytes, int]]:
    for line in vocabulary.splitlines():
        token, _, rank = line.partition(b" ")
        yield a2b_base64(token), int(rank)


def _packed(ranked: Iterable[tuple[bytes, int]]) -> bytes:
    """Lay the vocabulary out: magic, checksum, where each bucket begins (from the file's start), the buckets' entries."""
    buckets: list[bytes] = [b""] * _BUCKETS
    for token, rank in ranked:
        buckets[crc32(token) % _BUCKETS] += bytes((len(token),)) + rank.to_bytes(3, "little") + token
    at = len(_MAGIC) + 4 + 4 * (_BUCKETS + 1)
    starts = []
    for bucket in buckets:
        starts.append(at.to_bytes(4, "little"))
        at += len(bucket)
    starts.append(at.to_bytes(4, "little"))
    body = b"".join((*starts, *buckets))
    return _MAGIC + crc32(body).to_bytes(4, "little") + body


def _merged(piece: bytes, rank_of: Callable[[bytes], int]) -> int:
    """Return how many tokens byte pair merging leaves of a piece that is no token: the lowest rank first, leftmost first.

    A heap, so that a line of 100,000 letters takes a second and not an hour.
    """
    length = parts = len(piece)
    before = list(range(-1, length - 1))
    after = list(range(1, length + 1))  # of a part by its start: where the next one starts
    rank = [rank_of(piece[at : at + 2]) for at in range(length - 1)]
    rank.append(-1)
    heap = [(value, at) for at, value in enumerate(rank) if value >= 0]
    heapify(heap)
    while heap:
        value, at = heappop(heap)
        if rank[at] != value:  # merged meanwhile
            continue
        gone = after[at]
        end = after[at] = after[gone]
        rank[gone] = -1
        parts -= 1
        rank[at] = -1
        if end < length:
            before[end] = at
            rank[at] = rank_of(piece[at : after[end]])
            if rank[at] >= 0:
                heappush(heap, (rank[at], at))
        left = before[at]
        if left >= 0:
            rank[left] = rank_of(piece[left:end])
            if rank[left] >= 0:
                heappush(heap, (rank[left], left))
    return parts
