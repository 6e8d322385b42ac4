"""How a name that a repository chose is shown: on one line, nothing in it that is obeyed or cannot be seen; and how long a text is."""

from __future__ import annotations

import re

__all__ = ["imitates_frame", "printable", "utf16_units"]

_CONTROLS = (*range(32), *range(0x7F, 0xA0))
_LINE_ENDS = (0x2028, 0x2029)
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""They turn text round: what is read is not what stands there (CVE-2021-42574)."""
_UNSEEN = (
    *(0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0xFEFF),
    *range(0x2060, 0x2065),
    *range(0x206A, 0x2070),
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
"""A person does not see them, a model may read them: the last are the letters of ASCII once more."""

_FRAME_MARKS = ("system-reminder", "function_calls", "function_results", "antml:")
"""Of the tags that frame what a model is told, in small letters."""
_FRAME = re.compile(
    r"<\s*/?\s*(?:system-reminder|function_)|(?:system-reminder|function_(?:calls|results))\s*>|antml:"
)
"""A tag of them, also where a path's slash or a space parts it. Text that only speaks of them is none."""

_ESCAPED = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS},
    **{code: f"\\u{code:04x}" for code in (*_LINE_ENDS, *_TURNING, *_UNSEEN)},
    9: "\\t",
    10: "\\n",
}


def printable(text: str) -> str:
    """Return a name in one line of characters that can be seen; the others as Python would write them.

    Bytes of a path that are no UTF-8 (lone surrogates) stay as they are: where it is printed they become what they were.
    """
    return text if text.isprintable() else text.translate(_ESCAPED)


def imitates_frame(text: str) -> bool:
    """Whether a text holds what could end the frame that the client puts around a hook's text, or pass for another one."""
    small = text.lower()
    return any(mark in small for mark in _FRAME_MARKS) and _FRAME.search(small) is not None


def utf16_units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, as the client counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
