"""Which lines of the ranked candidates are returned within the budget, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from slicegrep.candidates import Chunk
from slicegrep.material import gathered
from slicegrep.negative import Unfound
from slicegrep.omissions import Losses, Shown
from slicegrep.present import SLICE_KINDS, item_line, notes_of, omission_line, pieces, slices
from slicegrep.result import EXACT, Layout, Result
from slicegrep.tokens import weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slicegrep.candidates import Candidate, Hit
    from slicegrep.material import Material
    from slicegrep.present import Piece
    from slicegrep.query import Query
    from slicegrep.sheet import Sheet, Stretch
    from slicegrep.types import Source

__all__ = ["LEAST_BUDGET", "OBJECTIVES", "assemble"]

LEAST_BUDGET = 200
"""Tokens. Below it the frame alone takes most of the answer."""
OBJECTIVES = {
    "auto": ("definition", "use", "test"),
    "def+caller": ("definition", "use"),
    "def+test": ("definition", "test"),
    "single": (),
}
"""The roles of which the best candidate has a place of its own; `single` returns the best candidate alone."""

TRIES = 4
CLOSE_ENOUGH = 0.04
"""The room is adjusted until so small a share of the budget is left over, or TRIES times."""
FRAME_TOKENS, OMISSION_TOKENS = 120, 30
"""Of all but the slices and the listed omissions, and of each of these, before they are counted."""
MOST_CHARACTERS = 12
"""Of a token; code has 3 to 5. What has more for each token of the budget cannot fit."""
LONG_LINE, FAR_OFF = 1000, 2
"""Characters of a line, and how far the estimate may be off, which is asked before it is counted: that takes 5 µs a letter
where the line is one word."""
MOST_ROOM = 2.0
"""Lines can cost half of what they were thought to."""
SHORTER = 0.8
"""Where none of the tries fits, the room shrinks by this until one does."""
LIST_SHARE = 0.08
"""Of the budget, for each of the lists of notes and of what was not found."""
NEAREST_SHARE, NEAREST_TOKENS = 0.25, 500
"""Where nothing matches, the answer has so much of the budget, or so many tokens if that is more: what the vocabulary finds is
a hint where to look next."""
LISTED_EACH = 700
OMITTED_SHARE = 0.15
"""One omission is listed for so many tokens of budget; where room is left more, up to such a share of it."""
NAMES_EACH = 5
MOST_NAMES = 600
"""A path, a symbol or a pattern may have a character for NAMES_EACH tokens of budget, up to so many."""
SHORTER_NAMES = (40, 20, 10, 5)
"""Where not even a line fits otherwise."""


def assemble(
    candidates: Sequence[Candidate],
    read: Callable[[str], Source | None],
    *,
    path: str,
    query: Query,
    budget: int,
    objective: str = "auto",
    dedupe: bool = True,
    boundary: str = "auto",
    count: Callable[[str], int],
    exact: bool = True,
    hits: Mapping[str, Sequence[Hit]] | None = None,
    defined: Callable[[str], bool] | None = None,
    symbols_at: Callable[[Sequence[tuple[str, int]]], Sequence[str]] | None = None,
    notes: Sequence[str] = (),
    skipped: Sequence[tuple[str, str]] = (),
) -> Result:
    """Choose what to return of `candidates`, which come best first.

    The text of the result has at most `budget` tokens by `count`; where nothing matches and nothing is defined by the very name, at
    most NEAREST_SHARE of it, or NEAREST_TOKENS. With objective `auto` the best definition, the best
    use in another file and the best test are in it as far as there are any, cut down if need be; the best candidate
    always is, unless its best line alone is too long. What repeats a better candidate (nearly so, unless `dedupe` is
    False) is among the omissions, and a note says where it is.

    `read` returns a file of a candidate, None where it is gone. `hits` are the matching lines by file, and `defined`
    tells whether a name has a definition: negative evidence is said as far as they are given. `symbols_at` returns the
    qualified names of the innermost definitions around lines (each a file and a 1-based number), "" at the module level; without it each
    part of a candidate has the candidate's symbol. `exact` says whether `count` is. Raises ValueError for a budget under LEAST_BUDGET and for an objective that there is not.
    """
    if budget < LEAST_BUDGET:
        raise ValueError(
            f"a budget must be {LEAST_BUDGET} tokens or more, not {budget}: less shows next to nothing"
        )
    if objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, not {objective!r}")
    limit = budget
    if query.route == "precise" and not any(one.hits or EXACT in one.reasons for one in candidates):
        limit = min(budget, max(int(NEAREST_SHARE * budget), NEAREST_TOKENS))
    material = gathered(candidates, read, limit, OBJECTIVES[objective], query.route, near=dedupe)
    losses = Losses(
        material.candidates,
        material.parts,
        material.lines_of,
        material.repeated,
        whole=boundary == "fn",
        symbols_at=symbols_at,
    )
    bare = Result(
        path=path,
        pattern=query.text,
        route=query.route,
        chunks=(),
        omitted=(),
        total_tokens=0,
        budget=budget,
        coverage=0.0,
        omitted_tokens=0,
        coverage_of="lines" if losses.by_lines else "score",
        notes=tuple(notes),
        skipped=(*skipped, *material.gone.items()),
        exact_tokens=exact,
    )
    unfound = Unfound(query, hits, path, defined, candidates) if hits is not None else None
    sheet = material.sheet(query, limit) if material.considered else None
    return _Assembly(
        bare,
        limit,
        material,
        sheet,
        losses=losses,
        unfound=unfound,
        count=count,
        alone=objective == "single",
        whole=boundary == "fn",
        symbols_at=symbols_at,
    ).result()


class _Assembly:
    """The answer to one search, made for one room after the other until it fits."""

    def __init__(
        self,
        bare: Result,
        limit: int,
        material: Material,
        sheet: Sheet | None,
        *,
        losses: Losses,
        unfound: Unfound | None,
        count: Callable[[str], int],
        alone: bool,
        whole: bool,
        symbols_at: Callable[[Sequence[tuple[str, int]]], Sequence[str]] | None,
    ) -> None:
        self._material = material
        self._losses = losses
        self._bare = bare
        self._budget = limit
        self._count = count
        self._unfound = unfound
        self._sheet = sheet
        self._alone = alone
        self._whole = whole
        self._symbols_at = symbols_at
        self._known: dict[str, int] = {}

    def result(self) -> Result:
        """Return the answer with the most in it that fits."""
        longest = min(max(self._budget // NAMES_EACH, SHORTER_NAMES[0]), MOST_NAMES)
        fits = None
        for names in (longest, *SHORTER_NAMES):
            found = self._fitted(names)
            if fits is None or (found is not None and found.chunks):
                fits = found
            if fits is not None and (fits.chunks or self._sheet is None):
                break
        if fits is None:
            fits, _ = self._counted(replace(self._made((), 0), layout=Layout(0, 0, 0, SHORTER_NAMES[-1])))
        chunks = tuple([replace(chunk, tokens=self._count(chunk.text)) for chunk in fits.chunks])
        made = replace(fits, chunks=chunks)
        return made if made.nearest else self._with_more_listed(made)

    def _fitted(self, names: int) -> Result | None:
        """Return the fullest answer that was found to fit, names having at most `names` characters; None if there is none."""
        best: Result | None = None
        around = FRAME_TOKENS + OMISSION_TOKENS * self._listed(len(self._material.candidates))
        for _ in range(TRIES):
            before = around
            stretches = self._fullest(self._budget - around, names)
            made, around = self._counted(self._made(stretches, names))
            spare = self._budget - made.total_tokens
            if spare >= 0 and (best is None or made.total_tokens > best.total_tokens):
                best = made
            if 0 <= spare <= CLOSE_ENOUGH * self._budget or self._sheet is None or before == around:
                break
        return best

    def _fullest(self, most: float, names: int) -> Sequence[Stretch]:
        """Return the choice of lines that comes nearest to `most` tokens, headers included, and does not pass it."""
        best: Sequence[Stretch] = ()
        seen: Sequence[Stretch] = ()
        close = CLOSE_ENOUGH * self._budget
        best_cost, low, high, room = 0.0, 0.0, most * MOST_ROOM, most
        for _ in range(TRIES):
            stretches = self._chosen(room)
            if stretches == seen:
                break
            seen = stretches
            cost = self._cost(stretches, names)
            if cost > most:
                high = room
            else:
                low = room
                if cost > best_cost:
                    best, best_cost = stretches, cost
                if most - cost <= close:
                    break
            room *= (most - close / 2) / cost
            if not low < room < high:
                room = (low + high) / 2
        return best or self._shortened(room, most, names)

    def _shortened(self, room: float, most: float, names: int) -> Sequence[Stretch]:
        """Return a choice of lines for less than `room` that costs at most `most` tokens; nothing where not even a line does."""
        while room > 1:
            room *= SHORTER
            stretches = self._chosen(room)
            if self._cost(stretches, names) <= most:
                return stretches
        return ()

    def _cost(self, stretches: Sequence[Stretch], names: int) -> int:
        """Return the tokens of slices with the lines above and below; what cannot fit is not counted, only more than the budget."""
        lines_of = self._material.lines_of
        lines = [line for one in stretches for line in lines_of[one.file][one.start - 1 : one.end]]
        about = sum(map(len, lines)) // MOST_CHARACTERS
        if about <= self._budget:
            about = ceil(sum([weigh(line) for line in lines if len(line) > LONG_LINE]) / FAR_OFF)
        if about > self._budget:
            return about
        return sum(map(self._tokens, slices(self._chunks(stretches), names, self._parts(stretches))))

    def _parts(self, stretches: Sequence[Stretch]) -> tuple[str, ...]:
        """Return what to say of the definitions that slices are cut from, in the order of the slices."""
        if not self._whole:
            return ()
        told = []
        for one in sorted(stretches, key=_order):
            of = self._material.candidates[one.candidate]
            whole = one.start <= of.start and of.end <= one.end
            told.append("" if whole else f" (part of {of.start}-{of.end})")
        return tuple(told)

    def _chunks(self, stretches: Sequence[Stretch]) -> list[Chunk]:
        candidates, lines_of = self._material.candidates, self._material.lines_of
        chunks = []
        ordered = sorted(stretches, key=_order)
        if self._symbols_at is not None:
            symbols = self._symbols_at([(one.file, one.best) for one in ordered])
        else:
            symbols = [candidates[one.candidate].symbol for one in ordered]
        for one, symbol in zip(ordered, symbols, strict=True):
            of = candidates[one.candidate]
            text = "\n".join(lines_of[one.file][one.start - 1 : one.end])
            chunks.append(
                Chunk(one.file, one.start, one.end, text, of.score, ", ".join(of.reasons), symbol, 0)
            )
        return chunks

    def _chosen(self, room: float) -> Sequence[Stretch]:
        if self._sheet is None:
            return ()
        return self._sheet.grown(room) if self._alone else self._sheet.choose(room)

    def _made(self, stretches: Sequence[Stretch], names: int) -> Result:
        """Return the answer that has these stretches; its tokens are still those of the budget."""
        chunks = self._chunks(stretches)
        shown: Shown = {}
        for chunk in chunks:
            shown.setdefault(chunk.file, []).append((chunk.line_start, chunk.line_end))
        omitted = self._losses.outside(shown)
        made = replace(
            self._bare,
            chunks=tuple(chunks),
            omitted=omitted,
            total_tokens=self._budget,
            coverage=self._losses.share(shown),
            omitted_tokens=sum([one.tokens for one in omitted]),
            negative_evidence=self._unfound.said(shown) if self._unfound is not None else (),
            notes=(*self._bare.notes, *self._repeats(shown)),
            layout=Layout(names=names),
        )
        layout = Layout(
            parts=self._parts(stretches),
            omitted=self._listed(len(omitted)),
            negative=self._fitting(made.negative_evidence, names),
            notes=self._fitting(notes_of(made), names),
            names=names,
        )
        return replace(made, layout=layout)

    def _listed(self, omitted: int) -> int:
        return min(omitted, max(self._budget // LISTED_EACH, 1))

    def _repeats(self, shown: Shown) -> list[str]:
        """Return where else there is what is shown."""
        places: dict[int, list[str]] = {}
        candidates = self._material.candidates
        for place, original in self._material.repeated.items():
            one, of = candidates[place], candidates[original]
            if any(a <= of.end and of.start <= b for a, b in shown.get(of.file, ())):
                places.setdefault(original, []).append(f"{one.file}:{one.start}-{one.end}")
        return [
            f"{candidates[original].file}:{candidates[original].start}-{candidates[original].end} = also in {', '.join(found)}"
            for original, found in places.items()
        ]

    def _fitting(self, lines: Sequence[str], names: int) -> int:
        """Return how many lines of a list fit the share that it may have."""
        left = LIST_SHARE * self._budget
        for number, line in enumerate(lines):
            left -= self._count(item_line(line, names))
            if left < 0:
                return number
        return len(lines)

    def _with_more_listed(self, result: Result) -> Result:
        """Return an answer that fits with as many more of its omissions listed as there is room for."""
        listed = result.layout.omitted
        lines = [omission_line(one, result.layout.names) for one in result.omitted[:listed]]
        share = OMITTED_SHARE * self._budget - sum([self._count(line) for line in lines])
        left = min(self._budget - result.total_tokens, share)
        for one in result.omitted[listed:]:
            left -= self._count(omission_line(one, result.layout.names) + "\n")
            if left < 0:
                break
            listed += 1
        while listed > result.layout.omitted:
            longer, _ = self._counted(replace(result, layout=replace(result.layout, omitted=listed)))
            if longer.total_tokens <= self._budget:
                return longer
            listed -= 1
        return result

    def _counted(self, made: Result) -> tuple[Result, int]:
        """Return an answer with the tokens of its text, which its first line tells, and those of all but the slices."""
        while True:
            *parts, last = pieces(made)
            counts = [self._tokens(piece) for piece in parts]
            tokens = sum(counts) + self._count(last.text)
            told, made = made.total_tokens, replace(made, total_tokens=tokens)
            if len(str(tokens)) == len(str(told)):  # else the number itself takes other tokens
                slices_ = [n for n, piece in zip(counts, parts, strict=True) if piece.kind in SLICE_KINDS]
                return made, tokens - sum(slices_)

    def _tokens(self, piece: Piece) -> int:
        """Count a piece with its line end: the next one begins with what the encoding never joins to a line end."""
        known = self._known.get(piece.text)
        if known is None:
            known = self._known[piece.text] = self._count(piece.text + "\n")
        return known


def _order(one: Stretch) -> tuple[int, int]:
    """Return what slices are sorted by: the ranking, then their lines."""
    return one.candidate, one.start
