"""Where the shim's answers come from: the tree at hand with its index, or a server where one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 (importing typing to hide it costs 3 ms)

from slicegrep.annotate import Row  # noqa: TC001 (as above)
from slicegrep.connection import connection_of
from slicegrep.definitions import DefinitionsUntil
from slicegrep.related import block_of, functions_of, local_block
from slicegrep.revision import revision_of
from slicegrep.shim.raw import Raw
from slicegrep.types import Source, Symbol  # noqa: TC001 (as above)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slicegrep.shim.knobs import Knobs
    from slicegrep.shim.remote import Remote

__all__ = ["Answers", "Local", "Raw", "answers_of"]


class Answers:
    """What the shim asks, once per output."""

    def definitions_of(
        self, batch: Sequence[tuple[Source, Sequence[int]]]
    ) -> Sequence[Sequence[Symbol | None]]:
        """Return the innermost definitions around 1-based lines, as `annotate` asks for them. Raises Raw."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """What the answers so far were taken from, for the summary: `index at c7a9fe7c9f`, or `index` without a commit."""
        raise NotImplementedError

    def related(self, rows: Sequence[Row]) -> str:
        """Return the graph's block for the functions of the rows, its last LF included; "" where there is none.

        Raises nothing: suffixes that are right stay, whatever becomes of the graph.
        """
        raise NotImplementedError


def answers_of(environment: Mapping[str, str], knobs: Knobs, top: str, home: str, until: float) -> Answers:
    """Return the source of answers for one output of a search in the workspace `top` (index.workspace_of).

    `home` is the home folder; nothing is waited for past `until` (of `time.monotonic`). Raises Raw where a server is
    named that cannot be asked: no token, a configuration that cannot be read.
    """
    try:
        connection = connection_of(environment, home)
    except ValueError as error:
        raise Raw(str(error)) from error
    if connection is None:
        return Local(knobs, top, home, until)
    from slicegrep.shim.remote import Remote  # noqa: PLC0415 (most name no server)

    return _Served(Remote(connection, top, until, neighbours=knobs.graph), knobs)


class Local(Answers):
    """Answers from the index, and from the files themselves where that does not hold them."""

    def __init__(self, knobs: Knobs, top: str, home: str, until: float) -> None:
        self._knobs = knobs
        self._top = top
        self._home = home
        self._until = until
        self._definitions = DefinitionsUntil([top], home, until)

    def definitions_of(
        self, batch: Sequence[tuple[Source, Sequence[int]]]
    ) -> Sequence[Sequence[Symbol | None]]:
        """Return the definitions; those that are not found in time count as none."""
        return self._definitions(batch)

    @property
    def source(self) -> str:
        """The index where it held any of the files, and the commit that HEAD is at."""
        what = "index" if self._definitions.indexed else "working tree"
        revision = revision_of(self._top)
        return f"{what} at {revision}" if revision else what

    def related(self, rows: Sequence[Row]) -> str:
        """Ask the code operations, as a server would."""
        functions = functions_of(rows, self._knobs.graph_max_anchors)
        if not functions:
            return ""
        return local_block(functions, self._top, self._home, self._knobs.graph_k, self._until)


class _Served(Answers):
    def __init__(self, remote: Remote, knobs: Knobs) -> None:
        self._remote = remote
        self._knobs = knobs

    def definitions_of(
        self, batch: Sequence[tuple[Source, Sequence[int]]]
    ) -> Sequence[Sequence[Symbol | None]]:
        return self._remote.definitions_of(batch)

    @property
    def source(self) -> str:
        return f"index at {self._remote.revision}" if self._remote.revision else "server"

    def related(self, rows: Sequence[Row]) -> str:
        functions = functions_of(rows, self._knobs.graph_max_anchors)
        entries = [entry for row in functions if (entry := self._remote.neighbours_of(row)) is not None]
        return block_of(entries, self._knobs.graph_k)
