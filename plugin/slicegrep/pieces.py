"""How text falls into the pieces that o200k_base merges within, and about how many tokens each piece is.

The vocabulary never merges across pieces, so a text costs the sum of its pieces. The frequent ones are listed with
their cost; a word costs what words of its kind cost on average: its case, what stands before it, whether the vocabulary
knows it, else how many known parts it falls into. The vocabulary itself (0.3 s, 40 MB) is never loaded.
"""

from __future__ import annotations

import re

from slicegrep import piece_table as table

__all__ = ["HUNDREDTHS", "PIECE", "Prices", "word_class"]

HUNDREDTHS = 100
"""Costs are whole hundredths of a token, so that sums are exact and fast."""

# The vocabulary's own split for ASCII; a run of anything else is one piece and priced by its characters.
# Each alternative but the last three begins with one character or set, which the engine tests before it enters:
# 2.8 ms for 100 kB against 3.4 for `x?y+` forms. The fifth takes indentation but its last space, as `\s+(?!\S)` would.
_MARK = r"!-/:-@\[-`{-~"
_ODD = r"\x00-\x08\x0e-\x1f\x7f"
PIECE = re.compile(
    rf"[ {_MARK}\t](?:[a-z]+|[A-Z]+[a-z]*)"
    r"|[a-z][a-z]*"
    r"|[A-Z][A-Z]*[a-z]*"
    rf"|[{_MARK}{_ODD}][{_MARK}{_ODD}]*[\r\n/]*"
    r"|  *(?= \S)"
    r"|[0-9][0-9]?[0-9]?"
    rf"| [{_MARK}{_ODD}]+[\r\n/]*"
    r"|[^\x00-\x7f][^\x00-\x7f]*"
    r"| [^\x00-\x7f]+"
    r"|\s*\n+|\s+(?!\S)|\s"
)

_ACCENTS = re.compile("[\xc0-\u024f\u1e00-\u1eff]+$")
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_LONGEST_STEM = 12
# Of a word longer than this only the beginning is cut into parts; no name is, and a line of base64 must stay cheap.
_LONGEST_WORD = 400
# White space is one token up to about here.
_SPACES = 80
_LINE_FEEDS = 16
_SHORT_PART = 2.5
_BEFORE = {" ": "s", "\t": "t", ".": "d", "_": "b", "(": "o"}
# A part more, past the end of a row of the table.
_PART = 95

# A memo must not grow with what is read: a resident engine lives for hours.
_MEMO_PIECES = 40_000
_MEMO_LENGTH = 40


class Prices(dict[str, int]):
    """Piece -> cost in hundredths of a token; a piece that is not met before is priced on the way."""

    def __init__(self) -> None:
        super().__init__(_frequent())
        self._known = frozenset(table.KNOWN.split())
        self._shouted = frozenset(table.SHOUTED.split())

    def __missing__(self, piece: str) -> int:
        cost = self._price(piece)
        if len(piece) <= _MEMO_LENGTH:
            if len(self) > _MEMO_PIECES:
                self.clear()
                self.update(_frequent())
            self[piece] = cost
        return cost

    def _price(self, piece: str) -> int:
        if piece[-1] > "\x7f":
            return _price_of_characters(piece.lstrip(" "))
        if piece[0].isdigit():
            return HUNDREDTHS
        if piece[-1].isalpha():
            name, place = word_class(piece, self._known, self._shouted)
            row = table.WORDS[name]
            return row[place - 1] if place <= len(row) else row[-1] + (place - len(row)) * _PART
        if piece.isspace():
            return HUNDREDTHS * (1 + len(piece) // (_LINE_FEEDS if "\n" in piece else _SPACES))
        if len(piece) <= len(table.MARKS):
            return table.MARKS[len(piece) - 1]
        return HUNDREDTHS + len(_RUN.findall(piece)) * table.MARK_RUN + len(piece) * table.MARK_LENGTH


def word_class(piece: str, known: frozenset[str], shouted: frozenset[str]) -> tuple[str, int]:
    """Return the row of the table for a piece that ends in a letter, and the 1-based place in it.

    The row's name is what stands before (n nothing, s a space, t a tab, d a dot, b an underscore, o an opening
    parenthesis, p another mark), the case (l lower, u upper,
    c capital, m mixed) and k for a known word, whose place is its length, or for an unknown one, whose place is the
    number of its known parts, g (gibberish) where these are short, else u. `known` are the words, in lower case, that
    are tokens in lower case or with a capital, `shouted` those that are tokens in upper case, in which few words are.
    """
    first = piece[0]
    if first.isalpha():
        word = piece
        before = "n"
    else:
        word = piece[1:]
        before = _BEFORE.get(first, "p")
    if word.islower():
        case = "l"
    elif word.isupper():
        case = "u"
        known = shouted
    else:
        case = "c" if word[1:].islower() else "m"
    lower = word.lower()
    if lower in known:
        return before + case + "k", len(word)
    parts = _parts(lower, known)
    return before + case + ("g" if len(word) < parts * _SHORT_PART else "u"), parts


def _parts(word: str, known: frozenset[str]) -> int:
    """Return into how many parts a word falls, the longest known beginning taken off each time."""
    parts = 0
    start = 0
    length = min(len(word), _LONGEST_WORD)
    while start < length:
        end = min(length, start + _LONGEST_STEM)
        while end > start + 1 and word[start:end] not in known:
            end -= 1
        start = end
        parts += 1
    return parts * len(word) // length


def _frequent() -> dict[str, int]:
    return {
        piece: tokens * HUNDREDTHS
        for tokens, pieces in table.FREQUENT.items()
        for piece in pieces.split(table.SEPARATOR)
    }


def _price_of_characters(piece: str) -> int:
    total = sum(map(_CHARACTERS.__getitem__, piece))
    # An accented letter belongs to the word around it, which this split has cut; other runs are a token or more.
    return total if _ACCENTS.match(piece) else max(total, HUNDREDTHS)


# Scripts and signs of which the vocabulary holds little, so that they fall into bytes: C1 controls, Armenian, the smaller
# Indic and African scripts, line and paragraph separators, braille, rare ideographs, Yi, private use.
# Compiled where first needed: that takes 2.5 ms, and most source is ASCII.
_RARE = (
    "[\x80-\x9f\u0530-\u058f\u0700-\u08ff\u0980-\u0dff\u0e80-\u1dff\u2028\u2029\u2800-\u28ff"
    "\u3100-\u312f\u3190-\u4dff\ua000-\uabff\ud7b0-\uf8ff\U00010000-\U0001efff]"
)
_BYTES_A_TOKEN = 1.05
"""Of such characters at random; priced as other scripts they came out at 0.53 (Cherokee) to 0.74 (Armenian) of the count."""


class _Characters(dict[str, int]):
    def __missing__(self, character: str) -> int:
        code = ord(character)
        cost = next(cost for limit, cost in table.SCRIPTS if code < limit)
        if re.match(_RARE, character):
            cost = max(cost, round(HUNDREDTHS * len(character.encode("utf-8", "replace")) / _BYTES_A_TOKEN))
        self[character] = cost
        return cost


_CHARACTERS = _Characters()
