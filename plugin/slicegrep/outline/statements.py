"""SQL: the CREATE statements of a script, found by scanning tokens (its grammars know one dialect each)."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from dataclasses import replace

from slicegrep.outline.found import Found
from slicegrep.outline.prepare import LONGEST_LINE

__all__ = ["by_statements"]

_SIGNATURE = 160
_CHECK = 4_096
"""Tokens between two looks at the clock."""

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|(?P<quote>\$\w*\$).*?(?:(?P=quote)|\Z)
    |'(?:[^'\\]|\\.|'')*(?:'|\Z)|"[^"\n]*"|`[^`\n]*`|\[[^\]\n]*\]
    |(?P<create>(?<![^\s;/])CREATE\b(?:\s+(?:OR\s+(?:REPLACE|ALTER)|TEMP(?:ORARY)?|GLOBAL|LOCAL|UNLOGGED|UNIQUE
      |MATERIALIZED|RECURSIVE|EDITIONABLE|NONEDITIONABLE|FORCE|CONSTRAINT|AGGREGATE|VIRTUAL|EXTERNAL|DEFINER\s*=\s*\S+
      |ALGORITHM\s*=\s*\w+|SQL\s+SECURITY\s+\w+))*
      \s+(?P<kind>TABLE|VIEW|FUNCTION|PROCEDURE|PROC|TRIGGER|TYPE|PACKAGE(?:\s+BODY)?|EVENT)\b(?:\s+IF\s+NOT\s+EXISTS)?\s+
      (?P<name>(?:"[^"\n]+"|`[^`\n]+`|\[[^\]\n]+\]|[\w$\#@]+)(?:\s*\.\s*(?:"[^"\n]+"|`[^`\n]+`|\[[^\]\n]+\]|[\w$\#@]+))*))
    |(?P<end>\bEND(?:\s+(?:IF|LOOP|WHILE|REPEAT|FOR|CASE))?\b)|(?P<begin>\b(?:BEGIN|CASE)\b)|(?P<as>\b(?:AS|IS)\b)
    |(?P<stop>^[ \t]*(?:GO|/|DELIMITER\b[^\n]*)[ \t]*$)|(?P<semicolon>;)""",
    re.DOTALL | re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_KINDS = {"PROC": "procedure", "PACKAGE": "module", "PACKAGE BODY": "module", "EVENT": "procedure"}
_WITH_BODY = frozenset({"function", "procedure", "trigger", "module"})


class _Script:
    """The text of a script, and where its rows begin."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.text = "\n".join(line if len(line) <= LONGEST_LINE else "" for line in lines)
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def row(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def starts_row(self, offset: int) -> bool:
        return self._starts[self.row(offset)] == offset


def by_statements(lines: tuple[str, ...], deadline: float) -> list[Found]:
    """Return what the script creates: tables, views, functions, procedures, triggers, types, packages.

    Stops where the deadline (of `time.monotonic`) passes. Bytes are characters here.
    """
    script = _Script(lines)
    done: list[Found] = []
    scan: _Scan | None = None
    for count, token in enumerate(_TOKEN.finditer(script.text), 1):
        if count % _CHECK == 0 and time.monotonic() > deadline:
            break
        if token["create"] and (scan is None or not scan.inside or script.starts_row(token.start())):
            if scan is not None:
                done.append(_closed(scan.found, script, token.start()))
            scan = _Scan(_created(token, script))
        elif scan is not None:
            end = scan.end(token, script.text)
            if end >= 0:
                done.append(_closed(scan.found, script, end))
                scan = None
    if scan is not None:
        done.append(_closed(scan.found, script, len(script.text)))
    return done


class _Scan:
    """A statement that is open, and how deep in its blocks the scan is."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._runs = found.kind in _WITH_BODY
        self._depth = 0
        self._declaring = False
        self._begun = False

    @property
    def inside(self) -> bool:
        return self._depth > 0 or self._declaring

    def end(self, token: re.Match[str], text: str) -> int:
        """Return the offset after the statement when the token ends it, else -1."""
        if token["stop"] is not None:
            return token.start()
        if token["as"] and self._runs and not self._begun:
            self._declaring = text[token.end() : token.end() + 40].lstrip()[:1] not in ("$", "'")
        elif token["begin"]:
            self._depth += 1
            self._begun, self._declaring = True, False
        elif token["end"] and token["end"].upper().split()[-1] in ("END", "CASE"):
            self._depth = max(0, self._depth - 1)
        elif token["semicolon"] and not self.inside and self.found.kind != "module":
            return token.end()
        return -1


def _created(token: re.Match[str], script: _Script) -> Found:
    what = " ".join(token["kind"].upper().split())
    parts = [part.strip().strip('"`[]') for part in re.split(r"\.(?=[^.]*$)|\.", token["name"])]
    row = script.row(token.start())
    end = script.text.find("\n", token.end())
    line = script.text[token.start() : end if end >= 0 else len(script.text)]
    signature = " ".join(re.split(r"\bAS\b|\bBEGIN\b|--", line, maxsplit=1)[0].split()).rstrip("( ;")
    return Found(
        kind=_KINDS.get(what, what.lower()),
        name=parts[-1],
        scope=tuple(parts[:-1]),
        start_byte=token.start(),
        end_byte=token.end(),
        start_row=row,
        end_row=row,
        name_row=script.row(token.start("name")),
        signature=signature[:_SIGNATURE],
        absolute=True,
    )


def _closed(found: Found, script: _Script, end: int) -> Found:
    end = found.start_byte + len(script.text[found.start_byte : end].rstrip())
    return replace(found, end_byte=end, end_row=script.row(max(found.start_byte, end - 1)))
