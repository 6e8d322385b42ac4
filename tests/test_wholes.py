"""wholes.py and the ranking of files that goes by it: sums of all files at once, exact ones of a few, and work that does not grow."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest
from slicegrep.expand import keys_of
from slicegrep.filefacts import idf
from slicegrep.filescore import FIRST_FILES, score_files
from slicegrep.index import view_of
from slicegrep.query import query_of
from slicegrep.source import source_of
from slicegrep.wholes import Wholes

if TYPE_CHECKING:
    from collections.abc import Callable

    from slicegrep.index import View

KEYS = {"session": 1.0, "cach": 0.7, "expir": 0.3, "=expiredsession": 0.5, "nowher": 1.0}
WORDS = ["session", "cache", "expired", "expired_session", "other", "thing", "more"]
SMALL, LARGE = 300, 2400


def _made(files: int) -> View:
    chance = random.Random(7)
    sources = []
    for number in range(files):
        words = chance.choices(WORDS, weights=[5, 3, 2, 1, 30, 30, 30], k=chance.randrange(4, 40))
        text = f"def made_{number}():\n" + "".join([f"    {word} = {word}_{number}\n" for word in words])
        folder = "lib" if number % 3 else "tests"
        sources.append(source_of(f"{folder}/part{number // 25}/of{number}.py", text.encode()))
    return view_of(sources)


@pytest.fixture(scope="module")
def view() -> View:
    """A tree of a few hundred small files."""
    return _made(SMALL)


@pytest.fixture(scope="module")
def large() -> View:
    """Eight times as many such files."""
    return _made(LARGE)


def _plain(view: View, prefix: str = "", only: frozenset[str] | None = None) -> list[float]:
    """The same sums, posting by posting."""
    sums = [0.0] * len(view.files)
    for key, weight in KEYS.items():
        files, impacts = view.holders.file_postings(key)
        for file, impact in zip(files, impacts, strict=True):
            sums[file] += impact * (weight * idf(len(files), view.file_count) / 255)
    paths = [row.path if row else "" for row in view.files]
    return [
        value if path.startswith(prefix) and (only is None or path in only) else 0.0
        for value, path in zip(sums, paths, strict=True)
    ]


@pytest.mark.parametrize(
    ("prefix", "only"),
    [("", None), ("lib/", None), ("", frozenset({"lib/part0/of1.py", "tests/part0/of3.py", "gone.py"}))],
)
def test_sums_are_those_of_the_postings(view: View, prefix: str, only: frozenset[str] | None) -> None:
    """Exactly where one file is asked for; of all at once within the error that is told; none of a file that is not searched."""
    wholes = Wholes(view, KEYS, prefix, only)
    plain = _plain(view, prefix, only)
    assert wholes.most == max(plain) > 0
    for file, value in enumerate(plain):
        assert bool(wholes.about[file]) == bool(value)
        assert not value or wholes.of(file) == value
        about = value / wholes.most * wholes.scale
        assert abs(about - wholes.about[file]) <= 2 * wholes.error


@pytest.mark.parametrize("most", [1, 20, 150, 299])
@pytest.mark.parametrize("lowered", [1.0, 0.4, 0.01])
def test_the_likely_files_are_the_best(view: View, most: int, lowered: float) -> None:
    """No file that is left out has more than one that is taken, also where a third of them counts for less."""
    label = [number % 3 for number in range(len(view.files))]
    factors = [lowered, 1.0, 1.0]
    wholes = Wholes(view, KEYS, "", None)
    worth = [value * factors[at] for value, at in zip(_plain(view), label, strict=True)]
    found, least = wholes.likely(factors, label, most)
    best = sorted([at for at in range(len(worth)) if worth[at]], key=lambda at: -worth[at])[:most]
    assert set(best) <= set(found)
    assert len(found) < most + 20
    assert least <= min(worth[at] for at in found) / wholes.most * wholes.scale + wholes.error


def test_a_query_of_words_that_stand_nowhere_has_no_files(view: View) -> None:
    """Nothing is divided by nothing."""
    wholes = Wholes(view, {"nowher": 1.0}, "", None)
    assert not any(wholes.about)
    assert wholes.likely([1.0] * 9, [0] * len(view.files), 5)[0] == []
    assert Wholes(view_of([]), KEYS, "", None).most == 1.0


def _calls(work: Callable[[], object]) -> int:
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("asked", ["expired_session", "how are expired sessions kept in the cache"])
def test_ranking_files_is_as_much_work_in_a_large_tree(view: View, large: View, asked: str) -> None:
    """Eight times the files that hold the words: Python calls as many functions, and makes as many rows, the second time."""
    query = query_of(asked)
    counts = []
    for tree in (view, large):
        score_files(tree, query, keys_of(query))
        counts.append(_calls(lambda tree=tree: score_files(tree, query, keys_of(query))))  # type: ignore[misc]
    assert counts[1] <= 1.2 * counts[0], counts


@pytest.mark.parametrize(
    "asked", ["expired_session", "session|cache", "how are expired sessions kept in the cache"]
)
def test_the_first_files_are_the_best_of_all(large: View, asked: str) -> None:
    """What was not looked into is not better than the first; and every file has a score where it has something of the query."""
    query = query_of(asked)
    keys = keys_of(query)
    scores = score_files(large, query, keys)
    told = {one.id for one in scores.files}
    last = scores.files[FIRST_FILES - 1].score
    assert [one.score for one in scores.files] == sorted([one.score for one in scores.files], reverse=True)
    holding = {file for key in keys for file in large.holders.file_postings(key)[0]}
    for file in range(len(large.files)):
        assert (scores.of(file) > 0) == (file in holding)
        assert file in told or scores.of(file) <= last


def test_equal_files_come_in_the_order_of_their_paths() -> None:
    """Ids depend on which process of a build was quicker: two indexes of one tree say the same."""
    text = b"def settle(bill):\n    return bill.paid\n"
    sources = [source_of(f"part{number:03}/till.py", text) for number in range(400)]
    query = query_of("settle")
    told = []
    for given in (sources, sources[::-1], sources[200:] + sources[:200]):
        view = view_of(given)
        scores = score_files(view, query, keys_of(query))
        told.append([view.columns.paths[one.id] for one in scores.files])
    assert told[0] == told[1] == told[2]
    assert told[0] == sorted(told[0])
