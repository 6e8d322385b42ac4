"""An argument parser whose errors are one line that `cli.main` prints."""

from __future__ import annotations

import argparse

__all__ = ["Parser", "UsageError", "whole_number"]


class UsageError(Exception):
    """Words that are no command line; the message is for a person, in one line. No ValueError: argparse hides those."""


class Parser(argparse.ArgumentParser):
    """Options are not abbreviated, so that a new one never makes an old script ambiguous. Raises UsageError."""

    def __init__(self, *positional: object, **named: object) -> None:
        super().__init__(*positional, **{"allow_abbrev": False, **named})  # type: ignore[arg-type]

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise what argparse would print with the usage and end the process."""
        raise UsageError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def whole_number(text: str, least: int, most: int, what: str) -> int:
    """Return the number that `text` is. Raises UsageError that says what `what` must be."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise UsageError(f"{what} is a whole number from {least:,} to {most:,}, not {text[:40]!r}")
    return number
