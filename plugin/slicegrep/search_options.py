"""The words after a search program's name told apart: options, their values, operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)
from dataclasses import dataclass

from slicegrep.shell_words import Word

__all__ = ["Options", "options_of"]


@dataclass(frozen=True, slots=True)
class Options:
    """The words after a program's name, told apart."""

    given: frozenset[str]
    """The options' names without dashes, one letter each for the short ones."""
    values: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]

    def has(self, names: Iterable[str]) -> bool:
        """Whether any of these options was given."""
        return not self.given.isdisjoint(names)


def options_of(words: Sequence[Word], short_values: str, long_values: frozenset[str]) -> Options:
    """Tell options, their values and operands apart, as getopt does with operands and options mixed."""
    given: set[str] = set()
    values: list[tuple[str, Word]] = []
    operands: list[Word] = []
    waiting = ""
    for at, word in enumerate(words):
        text = word.text
        if waiting:
            values.append((waiting, word))
            waiting = ""
        elif text == "--":
            operands.extend(words[at + 1 :])
            break
        elif text.startswith("--"):
            name, equals, value = text[2:].partition("=")
            given.add(name)
            if equals:
                values.append((name, Word(value, word.literal)))
            elif name in long_values:
                waiting = name
        elif text[:1] == "-" and len(text) > 1:
            waiting = _short(word, short_values, given, values)
        else:
            operands.append(word)
    return Options(frozenset(given), tuple(values), tuple(operands))


def _short(word: Word, short_values: str, given: set[str], values: list[tuple[str, Word]]) -> str:
    """Read a cluster of short options; returns the letter whose value is the next word, or ""."""
    for at, letter in enumerate(word.text[1:], start=2):
        given.add(letter)
        if letter in short_values:
            if at < len(word.text):
                values.append((letter, Word(word.text[at:], word.literal)))
                return ""
            return letter
    return ""
