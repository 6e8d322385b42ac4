"""An answer in colour: the same text, its code highlighted by pygments, in the terminal's own sixteen colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments import highlight
from pygments.formatters.terminal import TerminalFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from slicegrep.present import pieces
from slicegrep.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slicegrep.present import Piece
    from slicegrep.result import Result

__all__ = ["painted"]

_STYLES = {"head": "1", "label": "90", "slice": "1;36", "fence": "90", "title": "1;33", "next": "32"}
"""What present.KINDS look like: parameters of the escape sequence that begins a colour (SGR)."""
_NUMBER = "90"
_PLAIN = "\x1b[0m"

# A slice is no file: nothing of it may be dropped or added, and one of PHP has no `<?php` above it.
_EXACT = {"stripnl": False, "ensurenl": False}
_OPTIONS = {"php": {"startinline": True}}
_OTHER_NAMES = {"svelte": "html"}


def painted(result: Result) -> str:
    """Return the text of a result in colour. Without the colour it is `terminal.visible(result.render())`."""
    parts = pieces(result)
    files = iter([chunk.file for chunk in result.chunks])
    return "\n".join(
        [
            "\n".join(_numbered(part, next(files)))
            if part.kind == "code"
            else _painted(part.text, _STYLES.get(part.kind))
            for part in parts
        ]
    )


def _painted(text: str, style: str | None) -> str:
    """Return a text in a style; each line ends it, as a pager may begin anywhere."""
    text = visible(text)
    return "\n".join([f"\x1b[{style}m{line}{_PLAIN}" for line in text.split("\n")]) if style else text


def _numbered(part: Piece, file: str) -> Iterator[str]:
    code = _highlighted(visible(part.code), part.language, file)
    for number, line in enumerate(code.split("\n"), part.start):
        yield f"\x1b[{_NUMBER}m{number}{_PLAIN}\t{line}"


def _highlighted(code: str, language: str, file: str) -> str:
    try:
        if language:
            options = _EXACT | _OPTIONS.get(language, {})
            lexer = get_lexer_by_name(_OTHER_NAMES.get(language, language), **options)
        else:
            lexer = get_lexer_for_filename(file, **_EXACT)
    except ClassNotFound:
        return code
    return str(highlight(code, lexer, TerminalFormatter(bg="dark")))
