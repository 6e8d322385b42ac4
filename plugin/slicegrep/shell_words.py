"""A shell command line split into the simple commands it runs, as far as that can be known without running it."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["LONGEST_COMMAND", "Simple", "Word", "simple_commands"]

LONGEST_COMMAND = 20_000
"""Characters. A longer command line is a script of its own: it is not taken apart."""

_DEEPEST = 50
"""Subshells and substitutions inside each other: more is nobody's grep, and recursion must end."""

_OPERATORS = ("&&", "||", "|&", ";;", ";&", ";", "|", "&", "\n")
_REDIRECTION = re.compile(r"(?:\d+|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)(?![(])|\{\w+\}(?=[<>])")
_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()#*?\[\]{}]+")
_IN_DOUBLE = re.compile(r'[^"$`\\]+')
_WHOLE_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WHOLE_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_VARIABLE = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_GLOB = frozenset("*?[]{}")
_BEFORE_GROUP = frozenset({"!", "if", "then", "else", "elif", "while", "until", "do", "{", "time", "&"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word, quotes taken off. `literal` is False where the shell would put something else in its place."""

    text: str
    literal: bool = True


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command with what is known of its surroundings."""

    words: tuple[Word, ...]
    reads_pipe: bool = False
    """Whether its standard input is the output of the command before it."""
    reads_file: bool = False
    """Whether its standard input is redirected (`<`, a here-document)."""
    scope: tuple[int, ...] = ()
    """The subshells around it, outermost first: a `cd` in one of them ends with it."""


def simple_commands(command: str, *, powershell: bool = False) -> tuple[Simple, ...] | None:
    """Return the simple commands in order, reserved words (`then`, `do`, `{`) left among the words.

    None where the line is not understood: an open quote or bracket, a `case`, a function, too long.
    Commands inside `$(…)`, back-ticks and `<(…)` are no part of the answer: their output is not what is seen.
    """
    if len(command) > LONGEST_COMMAND or "\0" in command:
        return None
    reader = _Reader(command.replace("\r\n", "\n"), powershell=powershell)
    try:
        reader.read()
    except _NotUnderstood:
        return None
    return tuple(reader.found)


class _NotUnderstood(Exception):  # noqa: N818 (no error: an answer, told from within a recursion)
    """The line is outside of what this reader knows."""


class _Reader:
    """Reads a command line once, from left to right."""

    def __init__(self, text: str, *, powershell: bool) -> None:
        self.text = text
        self.at = 0
        self.powershell = powershell
        self.escape = "`" if powershell else "\\"
        self.found: list[Simple] = []
        self.words: list[Word] = []
        self.scope: tuple[int, ...] = ()
        self.scopes = 0
        self.reads_pipe = False
        self.reads_file = False
        self.bodies: list[tuple[str, bool]] = []  # here-documents whose text starts after this line
        self.groups: list[bool] = []  # for each open subshell: whether it reads a pipe

    def read(self) -> None:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in " \t":
                self.at += 1
            elif char == "#":
                self._skip_comment()
            elif char == self.escape and text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif not self._operator() and not self._redirection():
                self.words.append(self._word())
        self._end()
        if self.groups or self.bodies:
            raise _NotUnderstood

    def _operator(self) -> bool:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                break
        else:
            return False
        if operator == "&" and self._background_is_call():
            self.at += 1
            return True
        if operator == "&" and self.text.startswith(("&>", "&>>"), self.at):
            self.at += 1  # `&>file` redirects both: the rest is an ordinary redirection
            return True
        self.at += len(operator)
        piped = operator in ("|", "|&")
        self._end()
        self.reads_pipe = piped
        if operator == "\n":
            self._skip_bodies()
        return True

    def _background_is_call(self) -> bool:
        """PowerShell's `& program` calls it."""
        return self.powershell and not self.words

    def _end(self) -> None:
        if self.words:
            reads_pipe = self.reads_pipe or any(self.groups)
            self.found.append(Simple(tuple(self.words), reads_pipe, self.reads_file, self.scope))
            self.reads_pipe = False
        self.words = []
        self.reads_file = False

    def _open(self) -> None:
        if self.words and not (len(self.words) == 1 and self.words[0].text in _BEFORE_GROUP):
            raise _NotUnderstood  # a function's `name()`, an array, PowerShell's method call
        if len(self.groups) >= _DEEPEST:
            raise _NotUnderstood
        self.words = []
        self.at += 1
        self.scopes += 1
        self.scope = (*self.scope, self.scopes)
        self.groups.append(self.reads_pipe)

    def _close(self) -> None:
        if not self.groups:
            raise _NotUnderstood
        self._end()
        self.groups.pop()
        self.scope = self.scope[:-1]
        self.at += 1
        # What follows is an operator or a redirection; any word would be an error in the shell too.
        self.reads_pipe = False

    def _redirection(self) -> bool:
        matched = _REDIRECTION.match(self.text, self.at)
        if matched is None:
            return False
        operator = matched[0].lstrip("0123456789&")
        self.at = matched.end()
        if operator.startswith("{"):
            return True
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at >= len(self.text) or self.text[self.at] in "\n;|()":
            raise _NotUnderstood
        target = self._word() if self.text[self.at] != "&" else self._descriptor()
        if operator in ("<<", "<<-"):
            self.bodies.append((target.text, operator == "<<-"))
        self.reads_file = self.reads_file or operator[0] == "<"
        return True

    def _descriptor(self) -> Word:
        self.at += 1
        return self._word()

    def _skip_bodies(self) -> None:
        for delimiter, tabs in self.bodies:
            while True:
                if self.at >= len(self.text):
                    raise _NotUnderstood
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self.bodies = []

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _word(self) -> Word:
        """Read one word; at least one character is taken."""
        parts: list[str] = []
        literal = True
        start = self.at
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain is not None:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char in " \t\n|&;)" or (char in "<>" and self.at > start):
                break
            if char == "(":
                if self.at > start:
                    break
                raise _NotUnderstood
            piece, known = self._special(char)
            parts.append(piece)
            literal = literal and known
        if self.at == start:
            raise _NotUnderstood
        return Word("".join(parts), literal)

    def _special(self, char: str) -> tuple[str, bool]:
        if char == "'":
            return self._single(), True
        if char == '"':
            return self._double()
        if char == self.escape:
            return self._escaped(), True
        if char == "$":
            return self._dollar()
        if char == "`":
            return self._backticks()
        if char in "<>" and self.text.startswith("(", self.at + 1):
            self.at += 2
            return self._nested(), False
        self.at += 1
        return char, char not in _GLOB

    def _single(self) -> str:
        parts: list[str] = []
        while True:
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise _NotUnderstood
            parts.append(self.text[self.at + 1 : end])
            self.at = end + 1
            if not (self.powershell and self.text.startswith("'", self.at)):
                return "'".join(parts)

    def _double(self) -> tuple[str, bool]:
        parts: list[str] = []
        literal = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                if self.powershell and self.text.startswith('"', self.at):
                    parts.append('"')
                    self.at += 1
                    continue
                return "".join(parts), literal
            if char == self.escape:
                after = self.text[self.at + 1 : self.at + 2]
                if self.powershell or after in ("$", "`", '"', "\\", "\n"):
                    parts.append("" if after == "\n" else after)
                    self.at += 2
                else:
                    parts.append(char)
                    self.at += 1
            elif char == "$" or (char == "`" and not self.powershell):
                piece, known = self._dollar(quoted=True) if char == "$" else self._backticks()
                parts.append(piece)
                literal = literal and known
            else:
                plain = _IN_DOUBLE.match(self.text, self.at)
                parts.append(plain[0] if plain else char)
                self.at = plain.end() if plain else self.at + 1
        raise _NotUnderstood

    def _escaped(self) -> str:
        after = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if not after:
            raise _NotUnderstood
        return "" if after == "\n" else after

    def _dollar(self, *, quoted: bool = False) -> tuple[str, bool]:
        after = self.text[self.at + 1 : self.at + 2]
        if after == "'" and not quoted and not self.powershell:
            return self._ansi_quoted()
        if after == "(":
            self.at += 2
            return self._nested(), False
        if after == "{":
            end = self.text.find("}", self.at)
            if end < 0 or "$" in self.text[self.at + 2 : end]:
                raise _NotUnderstood
            self.at = end + 1
            return "", False
        self.at += 1
        name = _VARIABLE.match(self.text, self.at)
        if name is None:
            return "$", True  # a lone dollar is itself: the end of a pattern
        self.at = name.end()
        return "", False

    def _ansi_quoted(self) -> tuple[str, bool]:
        """`$'…'`: its escapes are left unread, so the text is only known where there are none."""
        matched = _WHOLE_ANSI.match(self.text, self.at)
        if matched is None:
            raise _NotUnderstood
        self.at = matched.end()
        return matched[1], "\\" not in matched[1]

    def _backticks(self) -> tuple[str, bool]:
        end = self.text.find("`", self.at + 1)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find("`", end + 1)
        if end < 0:
            raise _NotUnderstood
        self.at = end + 1
        return "", False

    def _nested(self) -> str:
        """Skip to the bracket that closes the one just passed, quotes respected."""
        depth = 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "'":
                self._single()
            elif char == '"':
                self._inner_double()
            elif char == self.escape:
                self.at += 2
            else:
                depth += (char == "(") - (char == ")")
                self.at += 1
                if depth == 0:
                    return ""
                if depth > _DEEPEST:
                    raise _NotUnderstood
        raise _NotUnderstood

    def _inner_double(self) -> None:
        """Skip a double-quoted text inside a substitution, without reading what is in it."""
        inner = _WHOLE_DOUBLE.match(self.text, self.at)
        if inner is None or "$(" in inner[0]:
            raise _NotUnderstood
        self.at = inner.end()
