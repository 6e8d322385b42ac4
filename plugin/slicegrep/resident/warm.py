"""What is loaded before the first question: every module that an event can need, and the parsers with their queries."""

from __future__ import annotations

import slicegrep.apart
import slicegrep.definitions
import slicegrep.engine
import slicegrep.hook.call
import slicegrep.hook.events
import slicegrep.hook.memory
import slicegrep.hook.read
import slicegrep.hook.searched
import slicegrep.index.points
import slicegrep.ledger
import slicegrep.related
import slicegrep.resident.memory  # noqa: F401 (loading is what it is for)
from slicegrep.languages import LANGUAGES
from slicegrep.outline import outline
from slicegrep.source import source_of

__all__ = ["load"]


def load() -> None:
    """Load the grammar of each language. The workers share what is loaded, as they are forked."""
    for language in LANGUAGES:
        outline(source_of("", b"\n", language))
