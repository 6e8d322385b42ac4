"""What people write as a regular expression, turned into what the engines run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["WORD_EDGE", "BrokenError", "Reading", "plain_text", "reading_of"]

WORD_EDGE = "\0"
"""Stands in the texts that a match must hold for the edge of an (ASCII) word."""


class BrokenError(ValueError):
    """A text that is no regular expression of this dialect; the message says why, in a few words."""


class Reading(NamedTuple):
    """A regular expression, understood.

    `loose` is RE2's, and matches in every line that `exact` (for a backtracking engine) matches in: equal in what they
    match where `linear`. `literals` are texts that every match holds, in any case: some of them, the longest first.
    """

    exact: str
    loose: str
    linear: bool
    literals: tuple[str, ...]
    spans_lines: bool
    """Whether it asks for a line feed, which no line holds."""
    wide: bool
    """Whether `\\w`, `\\b` and their like are Unicode's: only where the pattern itself is not ASCII."""


@dataclass(slots=True)
class _Frame:
    """A group that is being read, or the whole."""

    runs: list[str] = field(default_factory=list)
    run: list[str] = field(default_factory=list)
    alternatives: list[list[str]] = field(default_factory=list)
    hidden: bool = False
    """A look-around: nothing in it must be there."""
    before: int = 0
    """How many runs there were before the last atom, a group: those after it go when it may be absent."""
    repeated: int = 1
    """How often counted repetition can repeat the last atom, and at most (`most`) anything in the group."""
    most: int = 1
    after_char: bool = False
    after_atom: bool = False

    def close_run(self) -> None:
        if self.run:
            self.runs.append("".join(self.run))
            self.run.clear()
        self.before = len(self.runs)

    def required(self) -> list[str]:
        """Return the texts that each alternative holds."""
        self.close_run()
        if self.hidden:
            return []
        first, *others = [*self.alternatives, self.runs]
        longest = sorted(first, key=len, reverse=True)[:_MOST_RUNS]
        return [run for run in longest if all(any(run in text for text in other) for other in others)]


_HEX = re.compile(
    r"x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|(0[0-7]{0,2})"
)
_PROPERTY = re.compile(r"[pP](?:\{\^?[\w=]+\}|[A-Z])")
_REFERENCE = re.compile(r"([1-9]\d?)|g\{?([1-9]\d?)\}?|[kg](?:<(\w+)>|\{(\w+)\}|'(\w+)')")
_QUANTIFIER = re.compile(r"([*+?])|\{(\d*)(,?)(\d*)\}")
_GROUP = re.compile(
    r"\(\?(?:P?<(?P<name>[^\W\d]\w*)>|'(?P<quoted>[^\W\d]\w*)'|(?P<look><?[=!])|(?P<atomic>>)|(?P<comment>#[^)]*\))"
    r"|P=(?P<reference>\w+)\)|(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]+))?(?P<end>[:)]))"
)
_CLASS_ITEM = re.compile(r"\[:\^?\w+:\]|\\Q|\\.|[^\\]", re.DOTALL)

_SIMPLE = {
    "h": r"[ \t]",
    "H": r"[^ \t]",
    "A": "^",
    "z": "$",
    "Z": "$",
    "K": "",
    "G": "",
    "E": "",
    "e": r"\x1b",
}
_SPECIAL = frozenset("\\.+*?()[]{}|^$-")
_KEPT = frozenset("dDwWsSbBtrfva")
_IN_CLASS = {"h": r" \t", "b": r"\x08", "e": r"\x1b"}
# Of Unicode's classes, what RE2 must take for them so as to miss nothing; the negated ones are larger in ASCII already.
_WIDE = {"w": r"\w\pL\pM\pN\p{Pc}", "d": r"\p{Nd}", "s": r"\s\pZ\x0b\x1c-\x1f\x85"}
_MOST_RUNS = 8  # required texts that are kept of each group: more would not narrow a search further
_MOST_REPEATED = 1_000  # of nested counts together, as in RE2; an engine that unfolds them takes gigabytes
_BACKTRACKING_MOST = 2_000  # characters: the engine that knows look-around compiles in Python


class _Reader:
    """One pass over a regular expression, without recursion: a thousand nested groups are no deeper than one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.exact: list[str] = []
        self.loose: list[str] = []
        self.linear = True
        self.spans_lines = False
        self.wide = not text.isascii()
        self.frames = [_Frame()]
        self.looks = 0

    def emit(self, exact: str, loose: str | None = None) -> None:
        """Write a piece; within a look-around RE2 sees nothing of it."""
        self.exact.append(exact)
        if not self.looks:
            self.loose.append(exact if loose is None else loose)

    def atom(self, exact: str, loose: str | None = None, *, repeats: bool = True) -> None:
        frame = self.frames[-1]
        frame.close_run()
        frame.after_char, frame.after_atom, frame.repeated = False, repeats, 1
        self.emit(exact, loose)

    def char(self, char: str) -> None:
        if char == "\n":
            self.spans_lines = True
        frame = self.frames[-1]
        frame.run.append(char)
        frame.after_char = frame.after_atom = True
        frame.repeated = 1
        self.emit(_spelled(char))

    def read(self) -> None:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "\\":
                self.escape()
            elif char == "[":
                self.bracket()
            elif char == "(":
                self.open()
            elif char == ")":
                self.close()
            elif char == "|":
                frame = self.frames[-1]
                frame.close_run()
                frame.alternatives.append(frame.runs)
                frame.runs, frame.before = [], 0
                frame.after_char = frame.after_atom = False
                self.emit("|")
                self.at += 1
            elif char in "*+?{":
                self.quantifier()
            else:
                self.plain(char)
        if len(self.frames) > 1:
            raise BrokenError("missing )")

    def plain(self, char: str) -> None:
        """Read a character that is itself, any, or the edge of a line."""
        self.at += 1
        if char == ".":
            self.atom(".")
        elif char == "$" and not re.match(r"[\w{]", self.text[self.at : self.at + 1]):
            self.atom("$", repeats=False)
        elif char == "^" and not self.frames[-1].after_char:
            self.atom("^", repeats=False)
        else:  # `$name`, `${name}` and `x^y` can match nothing as anchors: they mean the character
            self.char(char)

    def escape(self) -> None:
        rest = self.text[self.at + 1 : self.at + 40]
        if not rest:
            raise BrokenError("a trailing \\")
        name = rest[0]
        if coded := _HEX.match(rest):
            self.at += 1 + coded.end()
            self.char(_coded(coded))
        elif named := _PROPERTY.match(rest):
            self.at += 1 + named.end()
            self.atom("\\" + named[0])
        elif reference := _REFERENCE.match(rest):
            self.at += 1 + reference.end()
            self.reference(next(group for group in reference.groups() if group))
        elif name == "Q":
            end = self.text.find("\\E", self.at)
            end = len(self.text) if end < 0 else end
            for char in self.text[self.at + 2 : end]:
                self.char(char)
            self.at = end
        else:
            self.at += 2
            self.named_escape(name)

    def boundary(self, loose: str | None = None) -> None:
        """Write the edge of a word, which interrupts no text."""
        frame = self.frames[-1]
        frame.run.append(WORD_EDGE)
        frame.after_char = frame.after_atom = False
        self.emit(r"\b", loose)

    def named_escape(self, name: str) -> None:
        if name in "<>":
            self.boundary("(?:)" if self.wide else None)
            self.linear = self.linear and not self.wide
        elif name in _SIMPLE:
            self.atom(_SIMPLE[name], repeats=name in "hHe")
        elif name in _KEPT:
            loose = None
            if self.wide and name in "bBdDwWsS":
                self.linear = False
                loose = "(?:)" if name in "bB" else f"[{_WIDE[name]}]" if name in _WIDE else None
            if name == "b":
                self.boundary(loose)
            else:
                self.atom("\\" + name, loose, repeats=name != "B")
        elif name in "nRN":
            self.spans_lines = self.spans_lines or name != "N"
            self.atom("." if name == "N" else r"\n")
        elif name in "XC":
            self.atom(".")
        elif name.isalnum():
            raise BrokenError(f"\\{name} means nothing")
        else:
            self.char(name)

    def reference(self, group: str) -> None:
        self.linear = False
        self.atom(f"\\{group}" if group.isdigit() else f"(?P={group})", ".*")
        if group.isdigit():
            self.emit("(?:)")  # a digit that follows is no part of the number

    def bracket(self) -> None:
        text = self.text
        at = self.at + 1
        negated = text.startswith("^", at)
        at += negated
        items, loose = [], []
        first = True
        while first or not text.startswith("]", at):
            item = _CLASS_ITEM.match(text, at)
            if item is None:
                raise BrokenError("missing ]")
            first = False
            piece, at = item[0], item.end()
            if piece == "[":
                piece = r"\["
            elif piece[0] == "\\":
                rest = text[at - 1 : at + 39]
                if coded := _HEX.match(rest):
                    piece, at = _spelled(_coded(coded)), at - 1 + coded.end()
                elif named := _PROPERTY.match(rest):
                    piece, at = "\\" + named[0], at - 1 + named.end()
                elif piece[1] in _IN_CLASS:
                    piece = _IN_CLASS[piece[1]]
                elif piece[1].isalnum() and piece[1] not in "dDwWsStrfvan":
                    raise BrokenError(f"{piece} means nothing in [ ]")
            items.append(piece)
            if self.wide and piece in (r"\w", r"\d", r"\s", r"\W", r"\D", r"\S"):
                self.linear = False
                if not negated:
                    piece = _WIDE.get(piece[1], piece)
                elif piece[1].isupper():
                    piece = ""
            loose.append(piece)
        self.at = at + 1
        opening = "[^" if negated else "["
        self.atom(f"{opening}{''.join(items)}]", f"{opening}{''.join(loose)}]" if any(loose) else ".")

    def open(self) -> None:
        if not self.text.startswith(("(?", "(*"), self.at):
            self.at += 1
            self.push("(")
            return
        head = _GROUP.match(self.text, self.at)
        if self.text.startswith("(?|", self.at):
            self.linear = False
            self.at += 3
            self.push("(?|", "(?:")
        elif head is None:
            raise BrokenError(f"{self.text[self.at : self.at + 4]} is not known")
        else:
            self.at = head.end()
            self.open_special(head)

    def open_special(self, head: re.Match[str]) -> None:
        name = head["name"] or head["quoted"]
        if name:
            self.push(f"(?P<{name}>")
        elif head["look"]:
            self.linear = False
            self.atom("", "(?:)")  # so that a repetition after it has something to repeat
            self.looks += 1
            self.push(head[0])
            self.frames[-1].hidden = True
        elif head["atomic"]:
            self.linear = False
            self.push("(?>", "(?:")
        elif head["reference"]:
            self.reference(head["reference"])
        elif not head["comment"]:
            on = "".join(letter for letter in head["on"] if letter not in "uaLm")
            off = "".join(letter for letter in head["off"] or "" if letter not in "uaLm")
            if not set(on + off) <= {"i", "s"}:
                raise BrokenError(f"{head[0]} is not known")
            flags = f"(?{on}-{off}" if off else f"(?{on}"
            if head["end"] == ":":
                self.push(f"{flags}:")
            elif on or off:
                # To the end of the group it stands in, as RE2 has it; elsewhere it is the whole pattern's.
                self.atom(f"{flags})", repeats=False)

    def push(self, exact: str, loose: str | None = None) -> None:
        self.frames[-1].close_run()
        self.emit(exact, loose)
        self.frames.append(_Frame())

    def close(self) -> None:
        if len(self.frames) == 1:
            raise BrokenError("a ) too many")
        inner = self.frames.pop()
        self.at += 1
        self.emit(")")
        if inner.hidden:
            self.looks -= 1
        frame = self.frames[-1]
        frame.before = len(frame.runs)
        frame.runs.extend(inner.required())
        frame.repeated = inner.most
        frame.most = max(frame.most, inner.most)
        frame.after_char, frame.after_atom = False, True

    def quantifier(self) -> None:
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None or (not found[1] and not found[2] and not found[4]):
            self.at += 1
            self.char("{")
            return
        frame = self.frames[-1]
        if not frame.after_atom:
            raise BrokenError(f"nothing before {found[0]}")
        if found[0] == "+" and frame.after_char and self.text.startswith("+", found.end()):
            self.at += 2  # `i++` is what stands in code; a possessive letter is what nobody asks for
            self.char("+")
            self.char("+")
            return
        self.at = found.end()
        least = found[2] or "0"
        written = found[1] or "{" + least + found[3] + found[4] + "}"
        frame.repeated *= 1 if found[1] else max(1, int(found[4] or least))
        frame.most = max(frame.most, frame.repeated)
        if frame.most > _MOST_REPEATED:
            raise BrokenError(f"{written} repeats over {_MOST_REPEATED:,} times")
        if written in ("*", "?") or (not found[1] and int(least) == 0):
            if frame.after_char:
                frame.run.pop()
            else:
                del frame.runs[frame.before :]
        frame.close_run()
        frame.after_char = frame.after_atom = False
        if self.text.startswith("?", self.at):
            self.at += 1
            written += "?"
        self.emit(written)
        if self.text.startswith("+", self.at):
            self.at += 1
            self.linear = False
            self.emit("+", "")


def reading_of(regex: str) -> Reading:
    r"""Read a regular expression: RE2's syntax, and the habits of Python, PCRE, grep and JavaScript where they do not clash.

    Each is about one line without its end; `^`, `\A`, `$`, `\z` and `\Z` are the line's edges, `\<` and `\>` a word's.
    Linear in the length of `regex`. Raises BrokenError.
    """
    # A byte that is no text is U+FFFD in the lines that are searched.
    reader = _Reader(re.sub("[\ud800-\udfff]", "\ufffd", regex))
    reader.read()
    if not reader.linear and len(regex) > _BACKTRACKING_MOST:
        raise BrokenError(f"over {_BACKTRACKING_MOST} characters with look-around or a back-reference")
    return Reading(
        exact="".join(reader.exact),
        loose="".join(reader.loose),
        linear=reader.linear,
        literals=tuple(reader.frames[0].required()),
        spans_lines=reader.spans_lines,
        wide=reader.wide,
    )


def plain_text(regex: str) -> str:
    r"""Return what a text that is no regular expression was meant to find: itself, its escaped punctuation without `\`."""
    return re.sub(r"\\([^\w\s])", r"\1", regex)


def _coded(match: re.Match[str]) -> str:
    digits = next(group for group in match.groups() if group)
    code = int(digits, 8 if match.lastindex == 5 else 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise BrokenError(f"\\{match[0]} is no character")
    return chr(code)


def _spelled(char: str) -> str:
    """Return a character as every engine understands it, in a class or outside."""
    if char in _SPECIAL:
        return "\\" + char
    return char if char.isprintable() or not char.isascii() else f"\\x{ord(char):02x}"
