"""What is known of one file whatever a session is working on: made when first asked for, and kept with it."""

from __future__ import annotations

import math
import re
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from slicegrep.blocks import blocks_of
from slicegrep.lexicon import Lexicon
from slicegrep.pack import Sums, atoms_of
from slicegrep.pieces import HUNDREDTHS
from slicegrep.places import Places
from slicegrep.shown import utf16_units
from slicegrep.tokens import LEAN, in_hundredths, weigh
from slicegrep.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slicegrep.blocks import Block
    from slicegrep.pack import Atom
    from slicegrep.types import Outline, Source

__all__ = ["LINE_BYTES", "Prepared", "line_costs", "prepared_of", "weighed"]

HEAD_LINES = 40
"""The first lines of a file, where imports and constants stand."""
APPROXIMATE_FROM = 1_000_000
SAMPLE_LINES = 2_000
SAMPLE_CHARACTERS = 400
NUMBER_TOKENS = 4
"""From so many characters on, a line's tokens are taken from its length, by a sample of lines: weighing each of 100,000
takes 0.5 s. What is shown in the end is weighed itself."""

_KNOWN_LINES, _KNOWN_CHARACTERS = 16_384, 200
"""So many lines, none longer, whose tokens a process remembers, whatever file they stand in: 4.5 MB of code (tracemalloc), 20
where all are long and beyond the BMP. A file that was edited since it was seen takes 1.1 ms for 100 kB, not 5.7, one never seen 0.3 more."""
_DIGITS = 3
"""So many digits at most are one piece, and one token."""
LINE_BYTES, _TABLE_BYTES, _SYMBOL_BYTES = 55, 26, 500
"""Of memory: a line and its text past its characters, a line in one of the tables, a symbol. Fitted on 53 files with
tracemalloc: all of it is 16 bytes for a byte of source in the median, 20 or less in nine of ten."""
_TABLES = frozenset({"costs", "cost_sums", "characters_upto", "unit_sums", "blank", "imports", "blocks"})

_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|#\s*include\b|using\s|package\s|require\b|(?:const|let|var)\s.*=\s*require\()"
)
_IMPORT_STARTS = ("import", "from", "use", "#", "using", "package", "require", "const", "let", "var")
_COMMENT_STARTS = ("#", "//", "*", "/*", "--")
"""What a line begins with of which the pattern can be true: that is seen in a third of the time."""
_COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|elif|pragma|undef|error)\b)|//|\*|/\*|--)"
)


class Prepared:
    """All that is known of one source independent of any focus or knob. Nothing of a request stays in it."""

    def __init__(self, source: Source, outline: Outline | None = None, *, home: str = "") -> None:
        """`outline` is the whole outline of the source, where the caller has it. `home` has the indexes, "" for none."""
        self.source = source
        self._home = home
        self.map_lines: dict[int, tuple[str, float]] = {}
        """Of symbols that a map listed: the line and its tokens."""
        if outline is not None:
            self.outline = outline

    @cached_property
    def outline(self) -> Outline:
        """The definitions of the file: those that an index holds of exactly this content, else parsed."""
        if self._home:
            from slicegrep.index.points import outline_in_index  # noqa: PLC0415 (sqlite: as below)

            known = outline_in_index(self.source.path, self.source.digest, self._home)
            if known is not None and known.symbols:  # of some files an index has none on purpose
                return known
        from slicegrep.outline import outline  # noqa: PLC0415 (tree-sitter: only for a read that qualifies)

        return outline(self.source)

    @cached_property
    def costs(self) -> list[int]:
        """The tokens of each line, as `line_costs` has them."""
        return line_costs(self.source)

    @cached_property
    def cost_sums(self) -> Sums:
        """Sums of `costs`."""
        return Sums(self.costs)

    @cached_property
    def exact(self) -> bool:
        """Whether `costs` were weighed line by line."""
        return self.characters_upto[-1] <= APPROXIMATE_FROM

    @cached_property
    def characters_upto(self) -> list[int]:
        """The characters of the first 0, 1, 2 ... lines, without line ends."""
        return list(accumulate(map(len, self.source.lines), initial=0))

    @cached_property
    def unit_sums(self) -> Sums:
        """Sums of the UTF-16 code units of the numbered lines, each with its LF."""
        lines = self.source.lines
        return Sums([utf16_units(line) + len(str(number)) + 2 for number, line in enumerate(lines, 1)])

    @cached_property
    def blank(self) -> list[bool]:
        """For each line, whether nothing but white space is in it."""
        return [not line or line.isspace() for line in self.source.lines]

    @cached_property
    def imports(self) -> list[bool]:
        """For each line, whether it imports, includes or names a package."""
        return [
            line.lstrip().startswith(_IMPORT_STARTS) and _IMPORT.match(line) is not None
            for line in self.source.lines
        ]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the file."""
        return blocks_of(self.source, self.outline)

    @cached_property
    def atoms(self) -> list[Atom]:
        """The blocks in pieces that are chosen whole."""
        return atoms_of(self.blocks, self.cost_sums)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the file, those of its definitions' names among them."""
        return Lexicon(self.source.lines, [symbol.name for symbol in self.outline.symbols])

    @cached_property
    def places(self) -> Places:
        """Where the words of the file stand. What was found for one focus is kept: it depends on the file alone."""
        return Places(self.lexicon, self.outline, self.blocks, self.characters_upto)

    @property
    def columns(self) -> dict[str, Sequence[float]]:
        """The values, for each line, of those features of WEIGHTS that do not depend on a focus."""
        blocks, lines = self.blocks, self.source.lines
        n = len(lines)
        stripped = [line.strip() for line in lines]
        lengths = list(map(len, stripped))
        values = {length: math.log1p(length) / 5 for length in set(lengths)}
        block_of = self.places.block_of
        outside = [1.0 if block.symbol < 0 else 0.0 for block in blocks]
        long = [math.log1p(block.end - block.start + 1) / 4 for block in blocks]
        return {
            "outside": [outside[block] for block in block_of],
            "head": [1.0] * min(HEAD_LINES, n) + [0.0] * max(n - HEAD_LINES, 0),
            "block length": [long[block] for block in block_of],
            "import": [1.0 if value else 0.0 for value in self.imports],
            "comment": [
                1.0 if line.startswith(_COMMENT_STARTS) and _COMMENT.match(line) else 0.0 for line in stripped
            ],
            "length": [values[length] for length in lengths],
            "blank": [0.0 if length else 1.0 for length in lengths],
        }

    @cached_property
    def standing(self) -> tuple[list[float], list[float]]:
        """For each line, the sum of `columns` by WEIGHTS; and the same where comments are what is asked for."""
        columns = self.columns
        n = len(self.source.lines)
        plain = weighed(columns, n)
        return plain, weighed({"comment asked": columns["comment"]}, n, plain)

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes as it is now."""
        made = vars(self)
        lines = len(self.source.lines)
        total = self.source.size + lines * (LINE_BYTES + _TABLE_BYTES * len(made.keys() & _TABLES))
        if "outline" in made:
            total += _SYMBOL_BYTES * len(self.outline.symbols)
        if "standing" in made:
            total += 2 * _TABLE_BYTES * lines
        if "places" in made:
            total += self.places.weight
        return total + self.lexicon.weight if "lexicon" in made else total

    def complete(self) -> None:
        """Make all of it, so that a read finds it ready."""
        for name, value in vars(Prepared).items():
            if isinstance(value, cached_property):
                getattr(self, name)


def prepared_of(source: Source, home: str = "") -> Prepared:
    """Return what is known of a source, nothing of it made yet; `home` is where the indexes are, "" for none."""
    return Prepared(source, home=home)


def line_costs(source: Source) -> list[int]:
    """Return the estimated o200k_base tokens of each line as Read shows it: number, tab, text, line end.

    Whole numbers whose running sums are right: what one line is rounded down by, the next is rounded up by.
    """
    if sum(map(len, source.lines)) <= APPROXIMATE_FROM:
        costs = _weighed(source.lines)
    else:
        some = [line[:SAMPLE_CHARACTERS] for line in source.lines[:: len(source.lines) // SAMPLE_LINES + 1]]
        each = sum(map(weigh, some)) / max(sum(map(len, some)), 1)
        costs = [each * len(line) + NUMBER_TOKENS for line in source.lines]
    upto = [round(total) for total in accumulate(costs, initial=0.0)]
    return [after - before for before, after in pairwise(upto)]


def _weighed(lines: Sequence[str]) -> list[float]:
    """Return what `weigh` says of each line with its number, tab and end; equal lines are looked at once."""
    texts = {
        line: _of_known(line) if len(line) <= _KNOWN_CHARACTERS else in_hundredths(f"\t{line}\n")
        for line in set(lines)
    }
    return [
        (HUNDREDTHS * -(-len(str(number)) // _DIGITS) + texts[line]) * LEAN / HUNDREDTHS
        for number, line in enumerate(lines, 1)
    ]


@lru_cache(maxsize=_KNOWN_LINES)
def _of_known(line: str) -> int:
    return in_hundredths(f"\t{line}\n")


def weighed(
    columns: Mapping[str, Sequence[float]], n: int, total: Sequence[float] | None = None
) -> list[float]:
    """Return `total` (of `n` values; None: of zeros) with the columns added by their WEIGHTS.

    Five at a time: that takes half of the time that one by one does.
    """
    used = [(WEIGHTS[name], values) for name, values in columns.items() if any(values)]
    used += [(0.0, [0.0] * n)] * (-len(used) % 5)
    result = list(total) if total is not None else [0.0] * n
    for i in range(0, len(used), 5):
        (a, first), (b, second), (c, third), (d, fourth), (e, fifth) = used[i : i + 5]
        result = [
            t + a * v + b * w + c * x + d * y + e * z
            for t, v, w, x, y, z in zip(result, first, second, third, fourth, fifth, strict=True)
        ]
    return result
