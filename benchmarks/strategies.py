"""Ways to answer a question about a tree within a token cap: the baselines, and slicegrep itself.

Every strategy sees the same files, shows its slices in the same form (a header `file:start-end`, then numbered lines),
and pays for all of it in o200k_base tokens of tiktoken. The slice that passes the cap is cut, so the cap is used fully by all.
tiktoken reads its vocabulary from TIKTOKEN_CACHE_DIR, or fetches it.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from slicegrep.evidence import blocks_of
from slicegrep.home import home_folder
from slicegrep.languages import is_test_path, language_of
from slicegrep.outline import outline
from slicegrep.search import focused_read
from slicegrep.source import source_of
from slicegrep.words import STOP_WORDS, identifiers, stem, sub_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from slicegrep.result import Result

    Hits = dict[str, dict[int, frozenset[str]]]
    """By file and line, which of the query's words stand there."""

__all__ = [
    "STRATEGIES",
    "AstTfIdf",
    "Bm25Windows",
    "GrepFiles",
    "GrepWindows",
    "Slice",
    "SliceGrep",
    "Strategy",
    "SubwordBm25",
    "SubwordBm25NoTests",
    "count_tokens",
    "pack",
    "tree_of",
]

WINDOW = 50
"""Lines of the windows that BM25 ranks."""
SPAN = 30
"""Lines within which the hits of one grep window lie."""
BEFORE, AFTER = 5, 10
"""Lines shown round the hits of a grep window."""
WINDOWS_PER_FILE = 3
"""Windows that grep + file ranking takes of a file before it goes on to the next."""
MAX_BYTES = 1_000_000
"""Of a file that is looked at."""
PROSE = (
    ".md",
    ".mdx",
    ".rst",
    ".txt",
    ".adoc",
    ".toml",
    ".cfg",
    ".ini",
    ".yml",
    ".yaml",
    ".json",
    ".xml",
    ".properties",
    ".html",
    ".css",
    ".cmake",
)
"""Suffixes of documentation and configuration, which every strategy sees beside the source code."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an answer. Lines 1-based, inclusive; `text` is how it is shown, header and line numbers included."""

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """What a strategy ranks. Lines 1-based, inclusive."""

    file: str
    start: int
    end: int


class Tree:
    """The files of one folder that the strategies see, read once."""

    def __init__(self, root: str, *, code_only: bool = False) -> None:
        self.lines: dict[str, tuple[str, ...]] = {}
        self.data: dict[str, bytes] = {}
        for path in sorted(_run([_ripgrep(), "--files", "-0", "--no-require-git"], root).split("\0")):
            prose = not code_only and os.path.splitext(path)[1].lower() in PROSE
            if not path or not (prose or language_of(path)):
                continue
            data = Path(root, path).read_bytes()
            if len(data) <= MAX_BYTES and b"\0" not in data:
                self.lines[path] = source_of(path, data).lines
                self.data[path] = data

    def windows(self) -> Iterator[Region]:
        """Cut every file into windows of WINDOW lines."""
        for path, lines in self.lines.items():
            for start in range(1, len(lines) + 1, WINDOW):
                yield Region(path, start, min(start + WINDOW - 1, len(lines)))

    def definitions(self) -> Iterator[Region]:
        """Cut every file at the borders of its definitions (prose: at blank lines)."""
        for path, data in self.data.items():
            for start, end in _blocks(path, data):
                yield Region(path, start, end)

    def text(self, region: Region) -> str:
        """Return the lines of a region."""
        return "\n".join(self.lines[region.file][region.start - 1 : region.end])


@lru_cache(maxsize=20_000)
def _blocks(path: str, data: bytes) -> tuple[tuple[int, int], ...]:
    source = source_of(path, data)
    return tuple((block.start, block.end) for block in blocks_of(source, outline(source)))


@lru_cache(maxsize=2)
def tree_of(root: str, *, code_only: bool = False) -> Tree:
    """Return the tree of a folder; the strategies of one root share it. Clear the cache when the files change."""
    return Tree(root, code_only=code_only)


class Strategy:
    """A way to answer. `name` is how tables call it; what is built once a root is built by the constructor.

    `code_only` leaves out documentation and configuration: for questions whose answers are known to be code, it makes the
    baselines stronger (commits.py). slicegrep takes no notice of it.
    """

    name = ""

    def __init__(self, root: str, *, code_only: bool = False) -> None:
        self.root = root
        self.code_only = code_only

    def slices(self, query: str, cap: int) -> list[Slice]:
        """Return the answer, best first, of at most `cap` o200k_base tokens."""
        return pack(self.tree, self.ranked(query), cap)

    def ranked(self, query: str) -> Iterable[Region]:
        """Return regions, best first."""
        raise NotImplementedError

    @cached_property
    def tree(self) -> Tree:
        """The files."""
        return tree_of(self.root, code_only=self.code_only)


def pack(tree: Tree, regions: Iterable[Region], cap: int) -> list[Slice]:
    """Show regions, best first, until `cap` tokens are spent; the one that does not fit is cut at its end."""
    taken: list[Slice] = []
    left = cap
    for region in regions:
        lines = tree.lines[region.file][region.start - 1 : region.end]
        shown = [f"{line}\t{text}\n" for line, text in enumerate(lines, region.start)]
        end = region.end
        text = f"{region.file}:{region.start}-{end}\n{''.join(shown)}"
        cost = count_tokens(text)
        while cost > left and shown:
            keep = min(len(shown) - 1, len(shown) * left // cost)
            end, shown = region.start + keep - 1, shown[:keep]
            text = f"{region.file}:{region.start}-{end}\n{''.join(shown)}"
            cost = count_tokens(text)
        if not shown:
            break
        taken.append(Slice(region.file, region.start, end, text))
        left -= cost
        if end < region.end:
            break
    return taken


class _Ranked(Strategy):
    """Regions ranked by the terms that they share with the query: an inverted index."""

    def __init__(self, root: str, *, code_only: bool = False) -> None:
        super().__init__(root, code_only=code_only)
        self.regions = list(self.cut(self.tree))
        self.postings: dict[str, tuple[array[int], array[int]]] = defaultdict(
            lambda: (array("I"), array("I"))
        )
        self.lengths = array("f")
        for number, region in enumerate(self.regions):
            counts = self.terms(self.tree.text(region))
            self.lengths.append(self.length(counts))
            for term, count in counts.items():
                documents, frequencies = self.postings[term]
                documents.append(number)
                frequencies.append(count)
        self.average = sum(self.lengths) / max(len(self.lengths), 1)

    def ranked(self, query: str) -> Iterator[Region]:
        """Return regions, best first."""
        scores: dict[int, float] = defaultdict(float)
        for term, wanted in self.terms(query).items():
            if term in self.postings and term not in STOP_WORDS:
                documents, frequencies = self.postings[term]
                rarity = math.log(1 + (len(self.regions) - len(documents) + 0.5) / (len(documents) + 0.5))
                for document, frequency in zip(documents, frequencies, strict=True):
                    scores[document] += self.weight(rarity, wanted, frequency, self.lengths[document])
        for number in sorted(scores, key=lambda document: (-scores[document], document)):
            yield self.regions[number]

    def cut(self, tree: Tree) -> Iterator[Region]:
        """Return the regions that are ranked."""
        raise NotImplementedError

    def terms(self, text: str) -> Counter[str]:
        """Count the terms of a text."""
        raise NotImplementedError

    def length(self, counts: Counter[str]) -> float:
        """Return what a document's weights are normalised by."""
        return counts.total()

    def weight(self, rarity: float, wanted: int, frequency: int, length: float) -> float:
        """Return what one term gives to a document: Okapi BM25 with k1 = 1.2, b = 0.75."""
        return wanted * rarity * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / self.average))


class Bm25Windows(_Ranked):
    """BM25 over windows of 50 lines; terms are whole words and identifiers in lower case."""

    name = "BM25 windows"

    def cut(self, tree: Tree) -> Iterator[Region]:
        """Return the regions that are ranked."""
        return tree.windows()

    def terms(self, text: str) -> Counter[str]:
        """Count the terms of a text."""
        return Counter(word.lower() for word in identifiers(text))


class SubwordBm25(_Ranked):
    """BM25 over windows of 50 lines; terms are the stems of the parts of camelCase and snake_case."""

    name = "sub-word BM25"

    def cut(self, tree: Tree) -> Iterator[Region]:
        """Return the regions that are ranked."""
        return tree.windows()

    def terms(self, text: str) -> Counter[str]:
        """Count the terms of a text."""
        return _stems(text)


class SubwordBm25NoTests(SubwordBm25):
    """Sub-word BM25 that is told to leave test files out: what that alone is worth."""

    name = "sub-word BM25 without tests"

    def cut(self, tree: Tree) -> Iterator[Region]:
        """Return the regions that are ranked."""
        return (region for region in super().cut(tree) if not is_test_path(region.file))


class AstTfIdf(_Ranked):
    """Cosine of TF-IDF over chunks that end where definitions end; terms as in sub-word BM25."""

    name = "AST-chunk TF-IDF"

    def cut(self, tree: Tree) -> Iterator[Region]:
        """Return the regions that are ranked."""
        return tree.definitions()

    def terms(self, text: str) -> Counter[str]:
        """Count the terms of a text."""
        return _stems(text)

    def length(self, counts: Counter[str]) -> float:
        """Return the norm of a document's weights."""
        return math.sqrt(sum((1 + math.log(count)) ** 2 for count in counts.values())) or 1.0

    def weight(self, rarity: float, wanted: int, frequency: int, length: float) -> float:
        """Return what one term gives to a document's cosine."""
        return (1 + math.log(wanted)) * (1 + math.log(frequency)) * rarity**2 / length


def _stems(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word, count in Counter(identifiers(text)).items():
        for part in sub_words(word):
            if part not in STOP_WORDS:
                counts[stem(part)] += count
    return counts


class _Grep(Strategy):
    """What ripgrep finds of the query's words and names, in any case, as parts of words too."""

    def ranked(self, query: str) -> Iterable[Region]:
        """Return regions, best first."""
        hits = self.hits(query)
        held = Counter(word for lines in hits.values() for word in frozenset().union(*lines.values()))
        rarity = {word: math.log(1 + len(self.tree.lines) / files) for word, files in held.items()}
        found = [
            (score, region)
            for path, lines in hits.items()
            for score, region in _dense(path, lines, rarity, len(self.tree.lines[path]))
        ]
        found.sort(key=lambda entry: (-entry[0], entry[1].file, entry[1].start))
        return self.order([region for _, region in found], hits, rarity)

    def order(self, windows: list[Region], hits: Hits, rarity: dict[str, float]) -> Iterable[Region]:  # noqa: ARG002
        """Return the windows in the order in which they are shown; they come with the densest first."""
        return windows

    def hits(self, query: str) -> Hits:
        """Return, by file and line, which of the query's words stand there."""
        words = _grep_words(query)
        if not words:
            return {}
        patterns = [part for word in words for part in ("-e", word)]
        command = [
            _ripgrep(),
            "-0niFH",
            "--no-heading",
            "--no-require-git",
            "--color=never",
            *patterns,
            "--",
            "./",
        ]
        found: dict[str, dict[int, frozenset[str]]] = defaultdict(dict)
        for row in _run(command, self.root).split("\n"):
            path, nul, rest = row.partition("\0")
            path = path.removeprefix("./")
            if nul and path in self.tree.lines:
                number, _, text = rest.partition(":")
                lower = text[:5000].lower()
                found[path][int(number)] = frozenset(word for word in words if word in lower)
        return found


class GrepWindows(_Grep):
    """Grep, then windows round the hits, those first that hold most of the query's words, rare words before common ones."""

    name = "grep + windows"


class GrepFiles(_Grep):
    """Grep, then the files with most of the query's words, and of each its densest windows."""

    name = "grep + file ranking"

    def order(self, windows: list[Region], hits: Hits, rarity: dict[str, float]) -> Iterable[Region]:
        """Return the best windows of the best file, then of the next."""
        by_file: dict[str, list[Region]] = defaultdict(list)
        for region in windows:
            by_file[region.file].append(region)

        def worth(path: str) -> float:
            counts = Counter(word for words in hits[path].values() for word in words)
            return sum(rarity[word] * (1 + math.log(count)) for word, count in counts.items())

        for path in sorted(by_file, key=lambda path: (-worth(path), path)):
            yield from islice(by_file[path], WINDOWS_PER_FILE)


def _grep_words(query: str) -> list[str]:
    words = {word.lower() for word in identifiers(query) if len(word) > 2}
    return sorted(word for word in words if word not in STOP_WORDS)


def _dense(
    path: str, lines: dict[int, frozenset[str]], rarity: dict[str, float], total: int
) -> Iterator[tuple[float, Region]]:
    """Yield windows of SPAN lines that begin at a hit and do not overlap, the densest first."""
    numbers = sorted(lines)
    scored = []
    for at, first in enumerate(numbers):
        inside = [n for n in islice(numbers, at, at + SPAN) if n < first + SPAN]
        words = frozenset().union(*(lines[n] for n in inside))
        score = sum(rarity[word] for word in words) + 0.01 * len(inside)
        scored.append((score, max(first - BEFORE, 1), min(inside[-1] + AFTER, total)))
    scored.sort(key=lambda entry: (-entry[0], entry[1]))
    taken = bytearray(total + 1)
    for score, start, end in scored:
        if not any(taken[start : end + 1]):
            taken[start : end + 1] = b"\1" * (end + 1 - start)
            yield score, Region(path, start, end)


class SliceGrep(Strategy):
    """`focused_read` of the folder with the cap as its budget: all that it prints counts, its chunks are judged.

    Its index is made anew for each root, as the others' are: what was searched before has no part in the figures. The
    vocabulary of tokens is that of SLICEGREP_HOME.
    """

    name = "slicegrep"

    def __init__(self, root: str, *, code_only: bool = False) -> None:
        super().__init__(root, code_only=code_only)
        self._home = TemporaryDirectory(prefix="slicegrep-bench-")
        os.symlink(os.path.join(home_folder(os.environ), "vocab"), os.path.join(self._home.name, "vocab"))

    def slices(self, query: str, cap: int) -> list[Slice]:
        """Return the chunks of the result."""

        def answer(budget: int) -> Result:
            return focused_read(self.root, query, budget=budget, home=self._home.name)

        result = answer(cap)
        if count_tokens(result.render()) > cap:  # a budget may be passed by 2%; a cap here may not
            result = answer(cap * 97 // 100)
        return [Slice(chunk.file, chunk.line_start, chunk.line_end, chunk.text) for chunk in result.chunks]


STRATEGIES: dict[str, type[Strategy]] = {
    strategy.name: strategy
    for strategy in (
        SliceGrep,
        SubwordBm25,
        SubwordBm25NoTests,
        Bm25Windows,
        AstTfIdf,
        GrepWindows,
        GrepFiles,
    )
}
"""Every strategy by its name."""


@cache
def _encode() -> Callable[..., Sequence[int]]:
    import tiktoken

    return tiktoken.get_encoding("o200k_base").encode


def count_tokens(text: str) -> int:
    """Return the o200k_base tokens of a text; what looks like a special token counts as text."""
    return len(_encode()(text, disallowed_special=()))


@cache
def _ripgrep() -> str:
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    return beside if os.path.exists(beside) else "rg"


def _run(command: Sequence[str], root: str) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    if done.returncode > 1 and not done.stdout:
        raise RuntimeError(re.sub(r"\s+", " ", done.stderr.decode("utf-8", "replace")))
    return done.stdout.decode("utf-8", "surrogateescape")
