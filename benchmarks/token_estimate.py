"""Fits and measures the token estimate against tiktoken's o200k_base.

    python benchmarks/token_estimate.py check --vocab FOLDER PATH...
    python benchmarks/token_estimate.py spread --vocab FOLDER PATH...
    python benchmarks/token_estimate.py plain --vocab FOLDER PATH...
    python benchmarks/token_estimate.py fit --vocab FOLDER PATH... > plugin/slicegrep/piece_table.py

`check` prints, for each PATH (a file or a folder of sources), how the estimate of its 100-line chunks compares with the
true count. `spread` does so with a table that is fitted to the other PATHs, `plain` with a scaled count of regular
expression matches. `fit` writes the table of what pieces cost. FOLDER holds the vocabulary under tiktoken's own name.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

SUFFIXES = ".py .js .mjs .cjs .jsx .ts .mts .tsx .go .rs .java .c .h .cc .cpp .hpp .cs .rb .php .kt .swift .scala .sh .lua .sql"
CHUNK = 100
LEAST = 20
"""Lines of the shortest last chunk of a file that is still judged."""
MOST = 1500
"""Chunks of one PATH; of a larger one every n-th is taken."""

FREQUENT = 800
"""Pieces that are listed with their exact cost (300 to 2,000 of them make little difference)."""
KNOWN_RANK = 24_000
"""A word is known when a token of a rank below this is the word, with or without a character before it.

The median over the 5th percentile, by `spread`: 1.054 at 2,000, 1.046 at 8,000, 1.039 at 24,000 (57 kB of words),
1.031 at 60,000 (140 kB).
"""
SHOUTED_RANK = 100_000
MARKS_RANK = 24_000
PRIOR = 30.0
"""Weight of the line through all places of a row against the mean of one place (15 and 60 give the same)."""
GIBBERISH = 1.0
"""Weight of a random piece against one that code has once."""
PLACES = {"k": 16, "u": 6, "g": 8}
MARKS = 12
SEPARATOR = "¦"

# Not fitted here: tokens by character of each script, from the non-English texts of the fit repositories and of Vim's
# tutor (uk, bg, el, zh_tw, ja, ko, cs, de, vi); runs of marks.
FIXED = '''MARK_RUN = 60
MARK_LENGTH = 2
"""Of marks in a row past the end of MARKS: for each change of character, and for each character."""
SCRIPTS = (
    (0x250, 55),  # Latin with accents
    (0x370, 150),
    (0x400, 45),  # Greek
    (0x600, 40),  # Cyrillic, Armenian, Hebrew
    (0x900, 58),  # Arabic and its neighbours
    (0x1100, 50),  # Indian scripts, Thai, Georgian
    (0x1E00, 80),
    (0x1F00, 60),  # more of Latin
    (0x2000, 80),
    (0x2100, 110),  # quotes, dashes
    (0x2500, 120),  # arrows, mathematics
    (0x2600, 75),  # boxes
    (0x3000, 150),  # dingbats
    (0x3400, 78),  # kana
    (0x4E00, 110),
    (0xA000, 88),  # CJK
    (0xAC00, 110),
    (0xD7B0, 80),  # Hangul
    (0x10000, 110),
    (0x110000, 250),  # emoji
)
"""Of a character below each code point."""
'''


def sources(path: str) -> list[Path]:
    """Return the source files under a path, in a fixed order."""
    root = Path(path)
    if root.is_file():
        return [root]
    found = sorted(
        p for p in root.rglob("*") if p.suffix in SUFFIXES.split() and p.is_file() and not p.is_symlink()
    )
    return [p for p in found if ".git" not in p.parts]


def chunks(path: str) -> list[str]:
    """Return the 100-line chunks of a path's files."""
    found = []
    for file in sources(path):
        lines = file.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        parts = [lines[i : i + CHUNK] for i in range(0, len(lines), CHUNK)]
        found += ["\n".join(part) + "\n" for part in parts if len(part) >= LEAST or len(parts) == 1]
    return found[:: len(found) // MOST + 1] if found else []


def encoder(vocab: str) -> Callable[[str], int]:
    """Return what counts tokens, or end with a message."""
    from slicegrep.tokens import exact_encoder

    encode = exact_encoder(vocab)
    if encode is None:
        sys.exit(f"no vocabulary (or no tiktoken) in {vocab}")
    return encode


def check(paths: list[str], vocab: str) -> None:
    """Print how the estimate compares, and its speed."""
    from slicegrep.tokens import estimate

    compare(paths, encoder(vocab), lambda _, text: estimate(text))
    text = "".join(t for path in paths for t in chunks(path))[:900_000]
    estimate(text)
    times = []
    for _ in range(5):
        start = time.process_time()
        estimate(text)
        times.append((time.process_time() - start) / len(text) * 1e8)
    print(f"{min(times):.1f} ms for 100 kB (best of 5, {len(text)} characters)")


def plain(paths: list[str], vocab: str) -> None:
    """Print how the count of plain pieces compares, scaled so that 95% of all chunks are not below."""
    pieces = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|[^\w\s]+|\n+|[ \t]{2,}|_")
    encode = encoder(vocab)
    ratios = sorted(len(pieces.findall(t)) / encode(t) for path in paths for t in chunks(path))
    scale = 1 / ratios[int(len(ratios) * 0.05)]
    compare(paths, encode, lambda _, text: len(pieces.findall(text)) * scale)


def spread(paths: list[str], vocab: str) -> None:
    """Print how the estimate compares where each path's table is fitted to the others."""
    from slicegrep import piece_table, tokens
    from slicegrep.pieces import HUNDREDTHS, PIECE, Prices

    found = Fit(paths, vocab)
    every = dict(zip(paths, found.counts, strict=True))
    prices: dict[str, Prices] = {}
    piece_table.KNOWN, piece_table.SHOUTED = " ".join(found.known), " ".join(found.shouted)
    for path in paths:
        found.counts = [counts for other, counts in every.items() if other != path]
        listed = found.frequent()
        rows = found.rows(listed)
        piece_table.MARKS = tuple(rows.pop("marks"))
        piece_table.WORDS = {name: tuple(row) for name, row in rows.items()}
        piece_table.FREQUENT = by_cost(listed)
        prices[path] = Prices()
        # The rows are read when a piece is first met: meet them all while the table is this path's.
        for text in chunks(path):
            sum(map(prices[path].__getitem__, PIECE.findall(text)))
    compare(
        paths,
        found.encode,
        lambda path, text: sum(map(prices[path].__getitem__, PIECE.findall(text))) * tokens.LEAN / HUNDREDTHS,
    )


def compare(paths: list[str], encode: Callable[[str], int], near: Callable[[str, str], float]) -> None:
    """Print the quantiles of estimate / true count for each path and for all."""
    every: list[float] = []
    print(f"{'':28} chunks  not below  >5% below   p5     median  p95")
    for path in paths:
        ratios = [near(path, text) / true for text in chunks(path) if (true := encode(text))]
        every += ratios
        report(Path(path).name, ratios)
    report("all", every)


def report(name: str, ratios: list[float]) -> None:
    """Print one row."""
    ranked = sorted(ratios)
    if not ranked:
        return
    at = [ranked[min(len(ranked) - 1, int(len(ranked) * q))] for q in (0.05, 0.5, 0.95)]
    not_below = sum(r >= 1 for r in ranked) / len(ranked)
    far = sum(r < 0.95 for r in ranked) / len(ranked)
    print(
        f"{name[:28]:28} {len(ranked):6}  {not_below:8.1%}  {far:8.1%}   {at[0]:.3f}  {at[1]:.3f}  {at[2]:.3f}"
    )


class Fit:
    """Counts of pieces by repository, and what the vocabulary makes of each piece."""

    def __init__(self, paths: list[str], vocab: str) -> None:
        from slicegrep.pieces import PIECE

        self.encode = encoder(vocab)
        self.known, self.shouted, self.marks = known_pieces(vocab)
        self.counts = [Counter(p for text in chunks(path) for p in PIECE.findall(text)) for path in paths]
        # None of them is indented by tabs, so a word after a tab is learned from the same code with tabs put in.
        tabs = [
            Counter(p for text in chunks(path) for p in PIECE.findall(tabbed(text)) if p[0] == "\t")
            for path in paths
        ]
        for counts, more in zip(self.counts, tabs, strict=True):
            counts.update(more)
        self.tokens: dict[str, int] = {}

    def cost(self, piece: str) -> int:
        """Return the piece's true token count."""
        if piece not in self.tokens:
            self.tokens[piece] = self.encode(piece)
        return self.tokens[piece]

    def frequent(self) -> dict[str, int]:
        """Return the pieces that are frequent in two repositories or more, with their costs."""
        shares: Counter[str] = Counter()
        homes: Counter[str] = Counter()
        for counts in self.counts:
            total = sum(counts.values())
            for piece, n in counts.items():
                if piece.isascii() and SEPARATOR not in piece:
                    shares[piece] += n / total
                    homes[piece] += 1
        ranked = sorted((p for p in shares if homes[p] > 1), key=lambda p: (-shares[p], p))
        return {p: self.cost(p) for p in dict.fromkeys([*ranked[:FREQUENT], *self.marks])}

    def rows(self, listed: dict[str, int]) -> dict[str, list[int]]:
        """Return the costs in hundredths by class and place, of the pieces that are not listed.

        A piece weighs the root of its count in a repository: what a new repository brings is new words, some times each.
        """
        from slicegrep.pieces import PIECE

        sums: dict[str, list[list[float]]] = {}
        for counts in self.counts:
            for piece, n in counts.items():
                name, place = self.class_of(piece)
                if piece in listed or not name:
                    continue
                at = sums.setdefault(name, [[0.0, 0.0] for _ in range(17)])[min(place, 17) - 1]
                at[0] += n**0.5
                at[1] += n**0.5 * self.cost(piece)
        for piece in Counter(p for p in PIECE.findall(gibberish()) if self.class_of(p)[0].endswith("g")):
            name, place = self.class_of(piece)
            at = sums[name][min(place, 17) - 1]
            at[0] += GIBBERISH
            at[1] += GIBBERISH * self.cost(piece)
        means = {name: [(w, s / w if w else 0.0) for w, s in row] for name, row in sums.items()}
        rows = {"marks": smooth(means["marks"], MARKS)}
        for name in (before + case + kind for before in "nsptdbo" for case in "lucm" for kind in "kug"):
            points = means.get(name, [])
            if sum(w for w, _ in points) < PRIOR:
                points = means.get("p" + name[1:]) or means.get("n" + name[1:]) or means["n" + name[1] + "u"]
            rows[name] = smooth(points, PLACES[name[2]])
        return rows

    def class_of(self, piece: str) -> tuple[str, int]:
        """Return the row and the place that price a piece, "" where no row does."""
        from slicegrep.pieces import word_class

        if not piece.isascii() or piece[0].isdigit() or piece.isspace():
            return "", 0
        return word_class(piece, self.known, self.shouted) if piece[-1].isalpha() else ("marks", len(piece))


def gibberish() -> str:
    """Return base64 and random words, which the fit repositories hardly have: always the same."""
    source = random.Random(7)
    lines = [base64.b64encode(source.randbytes(57)).decode() for _ in range(600)]
    for _ in range(300):
        words = [
            "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randrange(3, 16))) for _ in range(8)
        ]
        lines.append(" ".join(words))
    return "\n".join(lines)


def tabbed(text: str) -> str:
    """Return the text with its indentation made of tabs."""
    return re.sub(r"(?m)^(?: {4}| {2})+", lambda found: "\t" * max(1, len(found[0]) // 4), text)


def known_pieces(vocab: str) -> tuple[frozenset[str], frozenset[str], list[str]]:
    """Return what the vocabulary knows early: the words of two letters or more, in lower case, not shouted, and shouted; marks."""
    from slicegrep.pieces import PIECE
    from slicegrep.tokens import VOCABULARY_NAME

    known, shouted, marks = set(), set(), []
    for line in Path(vocab, VOCABULARY_NAME).read_bytes().splitlines():
        token, rank = line.split()
        text = base64.b64decode(token).decode("utf-8", "replace")
        word = text if text[0].isalpha() else text[1:]
        if (
            int(rank) < MARKS_RANK
            and text.isascii()
            and not any(c.isalnum() for c in text)
            and PIECE.fullmatch(text)
        ):
            marks.append(text)
        if len(word) < 2 or not (word.isascii() and word.isalpha() and PIECE.fullmatch(text)):
            continue
        if word.isupper() and int(rank) < SHOUTED_RANK:
            shouted.add(word.lower())
        elif not word.isupper() and int(rank) < KNOWN_RANK:
            known.add(word.lower())
    return frozenset(known), frozenset(shouted), marks


def smooth(points: list[tuple[float, float]], places: int) -> list[int]:
    """Return the means as costs, drawn to their least squares line (never falling) where little is known."""
    points = points[:16]
    weight = sum(w for w, _ in points)
    mx = sum(w * (i + 1) for i, (w, _) in enumerate(points)) / weight
    my = sum(w * c for w, c in points) / weight
    xx = sum(w * (i + 1 - mx) ** 2 for i, (w, _) in enumerate(points))
    xy = sum(w * (i + 1 - mx) * (c - my) for i, (w, c) in enumerate(points))
    slope = max(0.0, xy / xx) if xx else 0.0
    costs = []
    for place in range(1, places + 1):
        w, mean = points[place - 1]
        prior = max(1.0, my + slope * (place - mx))
        costs.append(round(100 * (w * mean + PRIOR * prior) / (w + PRIOR)))
    return costs


def fit(paths: list[str], vocab: str) -> str:
    """Return the source of piece_table.py."""
    found = Fit(paths, vocab)
    listed = found.frequent()
    rows = found.rows(listed)
    marks = rows.pop("marks")
    by_cost: dict[int, list[str]] = {}
    for piece, cost in listed.items():
        by_cost.setdefault(cost, []).append(piece)
    frequent = "".join(
        f"    {cost}: (\n{folded(SEPARATOR.join(pieces), 8)}    ),\n"
        for cost, pieces in sorted(by_cost.items())
    )
    words = "".join(f'    "{name}": ({", ".join(map(str, row))}),\n' for name, row in rows.items())
    return (
        '"""What pieces of text cost in o200k_base tokens, written by `benchmarks/token_estimate.py fit`: edit nothing here."""\n\n'
        "from __future__ import annotations\n\n"
        '__all__ = ["FREQUENT", "KNOWN", "MARKS", "MARK_LENGTH", "MARK_RUN", "SCRIPTS", "SEPARATOR", "SHOUTED", "WORDS"]\n\n'
        "# fmt: off\n# ruff: noqa: Q003\n"
        f"SEPARATOR = {json.dumps(SEPARATOR, ensure_ascii=False)}\n"
        f'FREQUENT = {{\n{frequent}}}\n"""Tokens -> the frequent pieces of that many."""\n'
        f'WORDS = {{\n{words}}}\n"""Hundredths of a token by class of word and place (pieces.word_class)."""\n'
        f'MARKS = ({", ".join(map(str, marks))})\n"""Hundredths of a token of marks in a row, by their number."""\n'
        f"{FIXED}"
        f'KNOWN = (\n{folded(" ".join(sorted(found.known)), 4)})\n"""Words that are tokens."""\n'
        f'SHOUTED = (\n{folded(" ".join(sorted(found.shouted)), 4)})\n"""Words that are tokens in upper case."""\n'
    )


def by_cost(listed: dict[str, int]) -> dict[int, str]:
    """Return the pieces of each cost, joined."""
    return {
        cost: SEPARATOR.join(p for p in listed if listed[p] == cost) for cost in sorted(set(listed.values()))
    }


def folded(text: str, indent: int) -> str:
    """Return a string literal over lines of about 110 columns."""
    width = 104 - indent
    return "".join(
        f"{' ' * indent}{json.dumps(text[i : i + width], ensure_ascii=False)}\n"
        for i in range(0, len(text), width)
    )


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["check", "spread", "plain", "fit"])
    parser.add_argument("--vocab", default=os.environ.get("TIKTOKEN_CACHE_DIR", ""))
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    if arguments.command == "fit":
        sys.stdout.write(fit(arguments.paths, arguments.vocab))
    else:
        {"check": check, "spread": spread, "plain": plain}[arguments.command](
            arguments.paths, arguments.vocab
        )


if __name__ == "__main__":
    main()
