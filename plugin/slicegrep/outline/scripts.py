"""The script blocks of Vue and Svelte files."""

from __future__ import annotations

import re

__all__ = ["script_blocks"]

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_BLOCK = re.compile(
    rb"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE
)
_OPEN = re.compile(rb"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(.*)", re.DOTALL | re.IGNORECASE)
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
_SPACE = re.compile(rb"[^\n]")


def script_blocks(text: bytes) -> list[tuple[str, bytes]]:
    """Return each block's language and the whole text with all but that block blank, so that lines hold."""
    masked = _COMMENT.sub(_blank, text)
    found = list(_BLOCK.finditer(masked))
    unclosed = _OPEN.search(masked, found[-1].end() if found else 0)
    if unclosed is not None:
        found.append(unclosed)
    blocks = []
    for match in found:
        named = {key.lower(): value.lower() for key, value in _ATTRIBUTE.findall(match.group(1))}
        language = _LANGUAGES.get(named.get(b"lang") or named.get(b"type") or b"")
        if language is not None:
            start, end = match.span(2)
            blocks.append((language, _spaces(text[:start]) + text[start:end] + _spaces(text[end:])))
    return blocks


def _blank(match: re.Match[bytes]) -> bytes:
    return _spaces(match.group())


def _spaces(text: bytes) -> bytes:
    return _SPACE.sub(b" ", text)
