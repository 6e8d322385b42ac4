"""What a worker keeps from one event to the next: all that is known of the files it saw, and of a few conversations."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from slicegrep.hook.events import Kept
from slicegrep.hook.memory import Conversation
from slicegrep.outline import outline
from slicegrep.prepared import LINE_BYTES, Prepared, prepared_of
from slicegrep.resident.shelf import Shelf
from slicegrep.source import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.hook.call import Call
    from slicegrep.types import Outline, Source

__all__ = ["Memory"]

UNCUT_SECONDS = 0.3
"""An outline that took less was not cut by its time limit (0.4 s for the smallest files, `outline.build`)."""
OF_SOURCES = 5
"""A part of so many is for the bytes of files and their lines, which a search asks for. They are weighed with what is
prepared of a file too, whose source is the same one."""
MOST_WAITING = 2_000_000
"""Bytes of files whose whole outline is yet to be made; their texts and lines take five times as much. A search that hits
more has told little about any."""
MOST_OF_ONE = 250_000
"""Bytes of one such file: what takes longer than 0.1 s is made when somebody asks for it, as a question that comes meanwhile
waits."""
MOST_CONVERSATIONS = 8
FORGET_SECONDS = 1_800
"""Of so many conversations a worker keeps texts, each until no read came in it for so long. One holds what a focus is made
from: 3 MB of its transcript at most."""


class Memory(Kept):
    """Answers from what it keeps where the content is the same, and keeps what it made. Texts are read anew every time."""

    warm = True

    def __init__(self, most: int) -> None:
        self._shelf: Shelf[Prepared] = Shelf(most - most // OF_SOURCES)
        self._sources: Shelf[tuple[bytes, Source]] = Shelf(most // OF_SOURCES)
        self._waiting: Shelf[Source] = Shelf(MOST_WAITING)
        self._conversations: OrderedDict[tuple[str, ...], tuple[Conversation, float]] = OrderedDict()

    def prepare(self, source: Source, home: str = "") -> Prepared:
        """Return what is known of a source, the same for the same path and content. `home` has the indexes, "" for none."""
        found = self._shelf.get(source.path)
        if found is not None and found.source.digest == source.digest:
            return found
        made = prepared_of(source, home)
        started = time.monotonic()
        whole = not made.outline.broken and made.outline.method == "tree-sitter"
        if whole or time.monotonic() - started < UNCUT_SECONDS:
            self._keep(made)
        return made

    def outline_of(self, source: Source, *, seconds: float, lines: Sequence[int] | None = None) -> Outline:
        """Return the outline of a source, as `outline` does; one for some lines alone is completed in idle time."""
        found = self._shelf.get(source.path)
        if found is not None and found.source.digest == source.digest:
            return found.outline
        if lines is not None and source.size <= MOST_OF_ONE:
            self._waiting.put(source.path, source, source.size)
        return outline(source, seconds=seconds, lines=lines)

    def source_of(self, path: str, data: bytes) -> Source:
        """Return the source of a file's bytes, as `source.source_of` does: the kept one where it was made of the same.

        Bytes are compared in a tenth of the time that their digest takes.
        """
        found = self._sources.get(path)
        if found is None or found[0] != data:
            found = data, source_of(path, data)
            # A line with one character beyond the BMP takes four bytes for each of its own.
            size = len(data) * (2 if data.isascii() else 5)
            self._sources.put(path, found, size + LINE_BYTES * len(found[1].lines))
        return found[1]

    def conversation_of(self, call: Call) -> Conversation:
        """Return what was made of the texts of the call's own conversation: of this session, agent and transcript."""
        key = call.session, call.agent, call.transcript
        found = self._conversations.pop(key, None)
        conversation = found[0] if found else Conversation()
        self._conversations[key] = conversation, time.monotonic()
        if len(self._conversations) > MOST_CONVERSATIONS:
            self._conversations.popitem(last=False)
        return conversation

    def forget_conversations(self, now: float) -> float | None:
        """Forget those without a read for FORGET_SECONDS; returns the seconds until the next one, None where none is left.

        `now` is of `time.monotonic`.
        """
        while self._conversations:
            key, (_, used) = next(iter(self._conversations.items()))
            if now - used < FORGET_SECONDS:
                return FORGET_SECONDS - (now - used)
            del self._conversations[key]
        return None

    def settle(self) -> None:
        """Weigh the files again: of some, more is known since the last event."""
        for kept in self._shelf.values():
            self._keep(kept)

    def has_more(self) -> bool:
        """Whether `complete_one` has something to do."""
        return bool(self._waiting.values())

    def complete_one(self) -> None:
        """Make all that a read will need of one file that was asked for: its lines were shown, so it may be read next."""
        source = self._waiting.values()[-1]
        self._waiting.drop(source.path)
        self.prepare(source).complete()

    def _keep(self, prepared: Prepared) -> None:
        self._shelf.put(prepared.source.path, prepared, prepared.weight)
