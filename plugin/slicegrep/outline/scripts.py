"""The script blocks of Vue and Svelte files."""

from __future__ import annotations

import re

from slicegrep.outline.prepare import blank

__all__ = ["script_blocks"]

# A tag's attributes end within this many bytes: an unfinished tag must not be read to the end of the file each time.
_OPENING = re.compile(rb"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*'){0,300})>", re.IGNORECASE)
_CLOSING = re.compile(rb"</script\s*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"\b(lang|type)\s*=\s*[\"']?([\w/+.-]+)", re.IGNORECASE)
_LANGUAGES = {
    b"": "javascript",
    b"js": "javascript",
    b"jsx": "javascript",
    b"javascript": "javascript",
    b"module": "javascript",
    b"text/javascript": "javascript",
    b"application/javascript": "javascript",
    b"ts": "typescript",
    b"typescript": "typescript",
    b"text/typescript": "typescript",
    b"tsx": "tsx",
}


def script_blocks(text: bytes) -> list[tuple[str, bytes]]:
    """Return each block's language and the whole text with all but that block blank, so that lines hold.

    Blocks of other kinds (JSON, templates) and in HTML comments are left out; one without an end goes to the last line.
    """
    blocks = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        comment = text.find(b"<!--", at, opening.start())
        if comment >= 0:
            after = text.find(b"-->", comment)
            if after < 0:
                break
            at = after + len(b"-->")
            continue
        start = opening.end()
        closing = _CLOSING.search(text, start)
        end = closing.start() if closing is not None else len(text)
        at = closing.end() if closing is not None else len(text)
        named = {key.lower(): value.lower() for key, value in _ATTRIBUTE.findall(opening.group(1))}
        language = _LANGUAGES.get(named.get(b"lang") or named.get(b"type") or b"")
        if language is not None:
            blocks.append((language, blank(text[:start]) + text[start:end] + blank(text[end:])))
    return blocks
