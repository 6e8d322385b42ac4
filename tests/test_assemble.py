"""Packing: an answer keeps its budget, loses nothing without saying so, and has the best in it."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slicegrep.assemble import LEAST_BUDGET, OBJECTIVES, assemble
from slicegrep.candidates import Candidate, Hit
from slicegrep.query import Query, query_of
from slicegrep.source import source_of
from slicegrep.tokens import VOCABULARY_NAME, counter, estimate
from slicegrep.types import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slicegrep.result import Result

VOCABULARY = os.environ.get("TIKTOKEN_CACHE_DIR", "")
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def true() -> Callable[[str], int]:
    """Return tiktoken's own count."""
    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


@pytest.fixture(scope="module")
def count(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """Return the project's exact count."""
    folder = tmp_path_factory.mktemp("vocab")
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, folder)
    found, exact = counter(str(folder))
    assert exact
    return lambda text: found(text)  # noqa: PLW0108 (its own repr holds every piece)


def files_of(*texts: str, names: Sequence[str] = ()) -> dict[str, Source]:
    paths = [*names, *(f"src/mod{number}.py" for number in range(len(names), len(texts)))]
    return {path: source_of(path, text.encode()) for path, text in zip(paths, texts, strict=True)}


def answer(
    files: dict[str, Source],
    candidates: Sequence[Candidate],
    count: Callable[[str], int],
    *,
    budget: int = 2000,
    query: Query | None = None,
    **options: object,
) -> Result:
    return assemble(
        candidates,
        files.get,
        path=options.pop("path", "src"),  # type: ignore[arg-type]
        query=query or query_of("needle"),
        budget=budget,
        count=count,
        **options,  # type: ignore[arg-type]
    )


# --- any candidates, any budget ---------------------------------------------------------------------------------------

ODD_LINES = [
    "", "    ", "\t\tneedle();", "needle = 1  # " + "x" * 700, ">>>", "<<< src/a.py:1-2  f  score=1.0", "OMITTED — 3 matching region(s)", "/" * 90,
    "日本語のコメント needle", "⠿⠿⠿⠿⠿⠿", "👩‍🚀 🚀", "<|endoftext|>", "a\rb", "1\t2", "trailing   ", "\x0c", '"""', "}", "//", "=" * 400, "{}();,.[]" * 60,
]  # fmt: skip
REASONS = [(), ("match",), ("multi_match(3)", "co_occurrence", "all_patterns"), ("exact_symbol", "dense")]
CODE = [path.read_text("utf-8") for path in sorted((ROOT / "plugin" / "slicegrep").glob("*.py"))[:12]]


def odd_text(chance: random.Random) -> str:
    if chance.random() < 0.6:
        lines = chance.choice(CODE).split("\n")
        for _ in range(chance.randrange(4)):
            lines.insert(chance.randrange(len(lines)), chance.choice(ODD_LINES))
        return "\n".join(lines)
    return "\n".join(chance.choices(ODD_LINES, k=chance.randrange(1, 120)))


def odd_candidates(chance: random.Random, files: dict[str, Source]) -> list[Candidate]:
    """Return candidates in any order of files, hits disjoint, some without hits and over others."""
    found: list[Candidate] = []
    for path, source in files.items():
        at = 1
        total = len(source.lines)
        while at <= total and chance.random() < 0.9:
            start = at + chance.randrange(12)
            end = min(start + chance.choice([0, 1, 3, 8, 30, 90, 400]), total)
            if start > end:
                break
            inside = range(start, end + 1)
            hits = sorted(chance.sample(inside, min(len(inside), chance.choice([0, 1, 1, 2, 5]))))
            found.append(
                Candidate(
                    file=path,
                    start=start,
                    end=end,
                    score=chance.choice([0.0, 50.0, round(chance.random() * 100, 1)]),
                    reasons=chance.choice(REASONS),
                    symbol=chance.choice(["", "f", "Class.method", "λ" * 90]),
                    role=chance.choice(["", "", "use", "definition", "test"]),
                    hits=tuple(hits),
                    best=chance.choice([*hits, start, 0]),
                )
            )
            at = end + 1 + chance.choice([0, 0, 1, 2, 5, 40])
        if total > 3 and chance.random() < 0.3:
            low = chance.randrange(1, total)
            found.append(
                Candidate(path, low, min(low + 20, total), 10.0, ("semantic-recall",), "g", "", (), low)
            )
    found.sort(key=lambda one: -one.score)
    return found


NAMES = ["a.py", "src/deep/er/module_with_a_long_name.py", "x" * 300 + ".py", "日本/語.py", "new\nline.py", "bad\udcff.py", "tests/test_a.py"]  # fmt: skip
QUERIES = [
    "needle",
    "needle|absent|haystack",
    "how is the needle found in a file",
    "日本" * 200,
    "a\nb c d e",
    "(needle",
    "x" * 2000,
]


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    budget=st.one_of(st.integers(200, 400), st.integers(200, 3000), st.integers(200, 20_000)),
    objective=st.sampled_from(list(OBJECTIVES)),
    dedupe=st.booleans(),
    boundary=st.sampled_from(["auto", "fn"]),
)
@example(seed=1, budget=200, objective="auto", dedupe=True, boundary="auto")
def test_any_answer_keeps_its_budget_and_accounts_for_every_line(
    true: Callable[[str], int],
    count: Callable[[str], int],
    *,
    seed: int,
    budget: int,
    objective: str,
    dedupe: bool,
    boundary: str,
) -> None:
    """By tiktoken's count; every matching line is returned or listed once, coverage is what a count by hand gives."""
    chance = random.Random(seed)
    files = files_of(
        *[odd_text(chance) for _ in range(chance.randrange(1, 7))],
        names=chance.sample(NAMES, chance.randrange(1, 2)),
    )
    candidates = odd_candidates(chance, files)
    query = query_of(chance.choice(QUERIES))
    hits = {
        path: [Hit(line, (0,)) for one in candidates if one.file == path for line in one.hits]
        for path in files
    }
    result = answer(
        files,
        candidates,
        count,
        budget=budget,
        query=query,
        path=chance.choice(["src", ".", "/very/long" * 60, "日本/" * 80]),
        objective=objective,
        dedupe=dedupe,
        boundary=boundary,
        hits=hits,
        defined=lambda _: False,
        notes=chance.choice([(), ("a note " * 200, "another")]),
        skipped=chance.choice([(), (("/s/kipped" * 40, "binary"),) * 9]),
    )
    text = result.render()
    assert true(text) == result.total_tokens <= budget
    check_lines(files, candidates, result)


def check_lines(files: dict[str, Source], candidates: Sequence[Candidate], result: Result) -> None:
    returned: dict[str, set[int]] = {path: set() for path in files}
    for chunk in result.chunks:
        lines = files[chunk.file].lines
        assert chunk.text.split("\n") == list(lines[chunk.line_start - 1 : chunk.line_end])
        span = set(range(chunk.line_start, chunk.line_end + 1))
        assert not span & returned[chunk.file]
        returned[chunk.file] |= span
    listed: dict[str, set[int]] = {path: set() for path in files}
    for one in result.omitted:
        span = set(range(one.line_start, one.line_end + 1))
        assert span
        assert not span & (returned[one.file] | listed[one.file])
        assert one.tokens > 0
        listed[one.file] |= span
    matching = {(one.file, line) for one in candidates for line in one.hits}
    for file, line in matching:
        assert line in returned[file] | listed[file], (file, line)
    if matching:
        share = sum(line in returned[file] for file, line in matching) / len(matching)
        assert result.coverage == pytest.approx(share)
        assert result.coverage_of == "lines"
    assert result.omitted_tokens == sum(one.tokens for one in result.omitted)
    assert 0.0 <= result.coverage <= 1.0


# --- what is in it ----------------------------------------------------------------------------------------------------


def function(name: str, lines: int, *, holds: str = "") -> str:
    """Return a function of so many lines that differ from each other; `holds` stands in its middle."""
    body = [f"    {name}_{number} = compute({number}, {name!r})\n" for number in range(lines - 1)]
    if holds:
        body[len(body) // 2] = f"    {holds}\n"
    return f"def {name}(argument):\n" + "".join(body)


def whole(path: str, files: dict[str, Source], score: float, **options: object) -> Candidate:
    """Return a candidate that is all of a file, with its first line as the best."""
    fields = {"hits": (1,), "best": 1, "reasons": ("match",)} | options
    return Candidate(path, 1, len(files[path].lines), score, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [200, 350, 500, 1000, 2000, 5000, 12_000, 20_000])
@pytest.mark.parametrize("asked", ["needle", "how are needles computed from arguments"])
def test_the_budget_is_used_where_there_is_enough(
    count: Callable[[str], int], budget: int, asked: str
) -> None:
    """Over 90% of it, and never more than it."""
    files = files_of(*[function(f"needle{n}", 60) for n in range(60)])
    candidates = [whole(path, files, 100 - n) for n, path in enumerate(files)]
    result = answer(files, candidates, count, budget=budget, query=query_of(asked))
    assert 0.9 * budget < result.total_tokens <= budget


@pytest.mark.parametrize("budget", [200, 600, 2000, 8000])
def test_an_estimate_keeps_the_budget_within_five_percent(true: Callable[[str], int], budget: int) -> None:
    """Without the vocabulary the text says `~`, and tiktoken counts at most 5% more than the budget."""
    files = files_of(*CODE)
    candidates = [
        Candidate(
            path, start, start + 30, 100 - n - start / 100, ("match",), "f", "", (start + 9,), start + 9
        )
        for n, (path, source) in enumerate(files.items())
        for start in range(1, len(source.lines) - 40, 40)
    ]
    candidates.sort(key=lambda one: -one.score)
    result = answer(files, candidates, estimate, budget=budget, exact=False)
    assert f"~{result.total_tokens} tok" in result.render()
    assert 0.75 * budget < true(result.render()) <= 1.05 * budget


def test_a_budget_under_200_and_an_unknown_objective_are_refused(count: Callable[[str], int]) -> None:
    """The messages say what would do."""
    with pytest.raises(ValueError, match="200 tokens or more, not 199"):
        answer({}, [], count, budget=LEAST_BUDGET - 1)
    with pytest.raises(ValueError, match=r"auto, def\+caller, def\+test, single, not 'best'"):
        answer({}, [], count, objective="best")


def reserved(count: Callable[[str], int], objective: str, budget: int = 400) -> list[str]:
    """Return the files of an answer over a definition, uses and a test, all far too long for the budget."""
    names = ["core.py", "other.py", "test_core.py", "more.py"]
    files = files_of(*[function(name.removesuffix(".py"), 200) for name in names], names=names)
    candidates = [
        whole("more.py", files, 100.0),
        whole("core.py", files, 60.0, role="definition"),
        whole("other.py", files, 30.0, role="use"),
        whole("test_core.py", files, 8.0, role="test"),
    ]
    result = answer(files, candidates, count, budget=budget, objective=objective)
    return list(dict.fromkeys(chunk.file for chunk in result.chunks))


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("auto", {"core.py", "other.py", "test_core.py"}),
        ("def+caller", {"core.py", "other.py"}),
        ("def+test", {"core.py", "test_core.py"}),
    ],
)
def test_what_the_objective_names_has_a_place(
    count: Callable[[str], int], objective: str, expected: set[str]
) -> None:
    """Cut down if need be, at its own rank; the best candidate is there too."""
    found = reserved(count, objective)
    assert expected <= set(found)
    assert found == [name for name in ("more.py", "core.py", "other.py", "test_core.py") if name in found]
    assert found[0] == "more.py"


def test_the_use_with_a_place_is_in_another_file_than_the_definition(count: Callable[[str], int]) -> None:
    """One beside the definition is seen anyway."""
    text = function("core", 80)
    files = files_of(text, function("caller", 80), names=["core.py", "caller.py"])
    candidates = [
        Candidate("core.py", 1, 60, 100.0, ("exact_symbol",), "core", "definition", (1,), 1),
        Candidate("core.py", 61, 80, 90.0, ("match",), "core", "use", (70,), 70),
        whole("caller.py", files, 1.0, role="use"),
    ]
    result = answer(files, candidates, count, budget=300)
    assert "caller.py" in {chunk.file for chunk in result.chunks}


def test_a_place_of_its_own_has_a_line_that_matches(count: Callable[[str], int]) -> None:
    """Not the code below a comment that matches; of a test, what it does and not its name alone."""
    use = function("use", 90).split("\n")
    use[30] = "    # needle is meant here"
    use[70] = "    return needle()"
    test = function("test_needle", 90, holds="assert needle()")
    files = files_of(function("needle", 300), "\n".join(use), test, names=["a.py", "b.py", "test_c.py"])
    found = [
        whole("a.py", files, 100.0, role="definition"),
        whole("b.py", files, 2.0, role="use", hits=(31, 71), best=31),
        whole("test_c.py", files, 1.0, role="test", hits=(1, 46), best=1),
    ]
    result = answer(files, found, count, budget=400)
    assert {chunk.file for chunk in result.chunks} == set(files)
    assert "return needle()" in result.render()
    assert "assert needle()" in result.render()


def test_single_returns_one_slice_of_the_best_candidate(count: Callable[[str], int]) -> None:
    """Grown around its best line, and nothing else; the rest is listed."""
    files = files_of(function("long", 300, holds="needle"), function("other", 5))
    best = whole("src/mod0.py", files, 100.0, hits=(150,), best=150)
    result = answer(files, [best, whole("src/mod1.py", files, 90.0)], count, budget=500, objective="single")
    assert len(result.chunks) == 1
    chunk = result.chunks[0]
    assert chunk.file == "src/mod0.py"
    assert chunk.line_start < 150 < chunk.line_end
    assert [one.file for one in result.omitted] == ["src/mod1.py"]


OVERLOADS = "@overload\ndef command(name: str) -> str: ...\n\n\n@overload\ndef command(\n    name: None,\n) -> None: ...\n\n\n"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_of_several_definitions_of_a_name_the_one_with_a_body_is_the_best(
    count: Callable[[str], int], objective: str
) -> None:
    """Overloads rank as high and say little; alone, the definition goes on to its end, however short the window was."""
    files = files_of(OVERLOADS + function("command", 50), function("other", 300))
    found = [
        Candidate("src/mod0.py", start, end, score, ("exact_symbol",), "command", "definition", (best,), best)
        for start, end, score, best in [(1, 2, 100.0, 2), (5, 8, 99.0, 6), (11, 30, 98.0, 11)]
    ]
    found.append(whole("src/mod1.py", files, 90.0))
    result = answer(files, found, count, budget=2000, objective=objective)
    assert any(chunk.line_start <= 11 < chunk.line_end for chunk in result.chunks)
    if objective == "single":
        assert [(chunk.line_start, chunk.line_end) for chunk in result.chunks] == [(11, 60)]


@pytest.mark.parametrize("objective", ["auto", "single"])
def test_the_list_of_omissions_has_a_small_share(count: Callable[[str], int], objective: str) -> None:
    """Of a budget that what was found does not fill, 15% and no more."""
    files = files_of(*[function(f"f{n}", 3) for n in range(300)])
    found = [Candidate(path, 1, 3, 100.0, ("match",), "", "use", (1,), 1) for path in files]
    result = answer(files, found, count, budget=3000, objective=objective)
    lines = result.render().split("\n")
    title = next(n for n, line in enumerate(lines) if line.startswith("OMITTED"))
    listed = [line for line in lines[title + 1 :] if "score=" in line]
    assert len(listed) > 5
    assert count("\n".join(listed)) <= 0.15 * 3000


def test_a_cut_slice_claims_only_the_lines_it_returns(count: Callable[[str], int]) -> None:
    """Of a definition the rest is listed, of what merely surrounds a match nothing."""
    files = files_of(function("f", 400), function("g", 400, holds="needle"))
    definition = whole("src/mod0.py", files, 100.0, role="definition")
    window = whole("src/mod1.py", files, 90.0, hits=(201,), best=201)
    result = answer(files, [definition, window], count, budget=600)
    lines = {
        line
        for one in result.chunks
        if one.file == "src/mod0.py"
        for line in range(one.line_start, one.line_end + 1)
    }
    listed = {line for one in result.omitted for line in range(one.line_start, one.line_end + 1)}
    assert lines | listed == set(range(1, 401))
    assert not lines & listed
    assert {one.file for one in result.omitted} == {"src/mod0.py"}
    as_functions = answer(files, [definition, window], count, budget=600, boundary="fn")
    assert {one.file for one in as_functions.omitted} == set(files)


def test_a_slice_that_is_cut_from_a_definition_says_so(count: Callable[[str], int]) -> None:
    """With boundary `fn`, where definitions are expected whole; of a whole one, and of windows, nothing is said."""
    files = files_of(function("f", 400), function("g", 4))
    found = [whole("src/mod0.py", files, 100.0, role="definition"), whole("src/mod1.py", files, 90.0)]
    text = answer(files, found, count, budget=600, boundary="fn").render()
    headers = [line for line in text.split("\n") if line.startswith("<<<")]
    assert len(headers) > 1
    for header in headers:
        assert (" (part of 1-400)  score" in header) == ("mod0" in header)
    assert "part of" not in answer(files, found, count, budget=600).render()


def test_slices_that_touch_or_overlap_are_one(count: Callable[[str], int]) -> None:
    """Two candidates side by side, one over them: no line comes twice."""
    files = files_of(function("f", 30))
    candidates = [
        Candidate("src/mod0.py", 11, 20, 100.0, ("match",), "f", "", (11,), 11),
        Candidate("src/mod0.py", 1, 10, 90.0, ("match",), "f", "", (1,), 1),
        Candidate("src/mod0.py", 5, 30, 80.0, ("semantic-recall",), "f", "", (), 5),
    ]
    result = answer(files, candidates, count)
    assert [(one.line_start, one.line_end, one.score) for one in result.chunks] == [(1, 30, 100.0)]
    assert result.coverage == 1.0


def test_each_slice_and_omission_is_named_by_its_own_definition(count: Callable[[str], int]) -> None:
    """A candidate that spans many methods gives slices of some: none has the name of the candidate's first."""
    files = files_of("".join(function(f"m{n}", 40, holds="needle()") for n in range(10)))
    hits = tuple(range(21, 400, 40))
    found = [Candidate("src/mod0.py", 1, 400, 100.0, ("match",), "m0", "", hits, 61)]

    def symbol_at(file: str, line: int) -> str:
        assert file == "src/mod0.py"
        return f"m{(line - 1) // 40}"

    def symbols_at(lines: Sequence[tuple[str, int]]) -> list[str]:
        return [symbol_at(file, line) for file, line in lines]

    result = answer(files, found, count, budget=500, boundary="fn", symbols_at=symbols_at)
    assert len(result.chunks) > 1
    for chunk in result.chunks:
        held = [line for line in hits if chunk.line_start <= line <= chunk.line_end]
        assert chunk.symbol in {symbol_at(chunk.file, line) for line in held}
    assert "m1" in {chunk.symbol for chunk in result.chunks}
    assert len({one.symbol for one in result.omitted}) > 1
    for one in result.omitted:
        assert one.symbol in {symbol_at(one.file, line) for line in range(one.line_start, one.line_end + 1)}
    assert {one.symbol for one in answer(files, found, count, budget=500).chunks} == {"m0"}


def test_several_short_answers_come_before_one_long_function(count: Callable[[str], int]) -> None:
    """Of ten matches in long functions a small budget shows most, not the first function whole."""
    files = files_of(*[function(f"f{n}", 300, holds="needle()") for n in range(10)])
    candidates = [whole(path, files, 100 - n, hits=(151,), best=151) for n, path in enumerate(files)]
    result = answer(files, candidates, count, budget=1200)
    assert len({chunk.file for chunk in result.chunks}) >= 7
    assert all("needle" in chunk.text for chunk in result.chunks)


def test_one_file_does_not_take_all(count: Callable[[str], int]) -> None:
    """Forty good places in one file leave room for those of two others that are nearly as good."""
    names = ["much.py", "b.py", "c.py"]
    files = files_of(*["".join(function(f"{n}{i}", 20) for i in range(40)) for n in "abc"], names=names)
    candidates = [
        Candidate(
            "much.py", 20 * i + 1, 20 * i + 20, 100.0 - i / 10, ("match",), "", "", (20 * i + 1,), 20 * i + 1
        )
        for i in range(40)
    ]
    candidates += [Candidate(name, 1, 20, 95.0, ("match",), "", "", (1,), 1) for name in ("b.py", "c.py")]
    result = answer(files, candidates, count)
    assert {chunk.file for chunk in result.chunks} == set(names)


def test_lines_of_the_words_are_chosen_in_plain_english(count: Callable[[str], int]) -> None:
    """Of a long function that the vocabulary found, the lines that the question is about."""
    text = function("work", 300, holds="session.cookie = encrypt(session.secret)")
    files = files_of(text)
    query = query_of("where is the session cookie encrypted")
    found = [Candidate("src/mod0.py", 1, 300, 100.0, ("semantic-recall",), "work", "", (), 1)]
    result = answer(files, found, count, budget=400, query=query)
    assert "session.cookie = encrypt" in result.render()
    assert result.route == "vague"


def test_coverage_of_what_the_vocabulary_found_is_the_share_of_scores(count: Callable[[str], int]) -> None:
    """Each candidate's score counts as far as its lines are shown."""
    files = files_of(*[function(f"thing{n}", 50) for n in range(6)])
    candidates = [
        Candidate(path, 1, 50, 100.0 / (n + 1), ("semantic-recall",), "", "", (), 1)
        for n, path in enumerate(files)
    ]
    result = answer(files, candidates, count, budget=900, query=query_of("which thing computes the argument"))
    shown = dict.fromkeys(files, 0)
    for chunk in result.chunks:
        shown[chunk.file] += chunk.line_end - chunk.line_start + 1
    by_hand = sum(one.score * shown[one.file] / 50 for one in candidates) / sum(
        one.score for one in candidates
    )
    assert result.coverage == pytest.approx(by_hand)
    assert 0 < by_hand < 1
    assert result.coverage_of == "score"
    assert "of what was found." in result.render()


# --- duplicates, files that change, nothing ---------------------------------------------------------------------------


def test_what_repeats_a_better_candidate_is_named_not_shown(count: Callable[[str], int]) -> None:
    """A copy, and a copy with other white space and one line changed; both are omissions and in a note."""
    text = function("f", 20)
    files = files_of(text, text, text.replace("    f_3", "\tg_3"), function("other", 20))
    candidates = [whole(path, files, 100.0 - n) for n, path in enumerate(files)]
    result = answer(files, candidates, count)
    assert [chunk.file for chunk in result.chunks] == ["src/mod0.py", "src/mod3.py"]
    assert [(one.file, one.rank_reason) for one in result.omitted] == [
        ("src/mod1.py", "duplicate, match"),
        ("src/mod2.py", "duplicate, match"),
    ]
    assert result.notes == ("src/mod0.py:1-20 = also in src/mod1.py:1-20, src/mod2.py:1-20",)
    assert result.notes[0] in result.render()


def test_without_dedupe_only_exact_copies_collapse(count: Callable[[str], int]) -> None:
    """`--no-dedupe` keeps what is nearly the same."""
    text = function("f", 20)
    files = files_of(text, text, text.replace("f_3", "g_3"))
    candidates = [whole(path, files, 100.0 - n) for n, path in enumerate(files)]
    result = answer(files, candidates, count, dedupe=False)
    assert [chunk.file for chunk in result.chunks] == ["src/mod0.py", "src/mod2.py"]


def test_twins_that_differ_in_every_second_line_stay_apart(count: Callable[[str], int]) -> None:
    """A synchronous and an asynchronous client are both needed by who changes one."""
    sync = function("get", 20)
    lines = sync.split("\n")
    twin = "\n".join(line.replace("= ", "= await ") if n % 2 else line for n, line in enumerate(lines))
    files = files_of(sync, twin)
    result = answer(files, [whole(path, files, 90.0) for path in files], count)
    assert len(result.chunks) == 2


def test_a_file_that_is_gone_or_shorter_now_is_told(count: Callable[[str], int]) -> None:
    """It is no chunk and no omission, and never an error; of a shorter file what is left is shown."""
    files = files_of(function("f", 10), function("g", 10))
    candidates = [
        Candidate("gone.py", 1, 10, 100.0, ("match",), "", "", (5,), 5),
        Candidate("src/mod0.py", 5, 60, 90.0, ("match",), "", "", (7, 40), 40),
        Candidate("src/mod1.py", 50, 60, 80.0, ("match",), "", "", (55,), 55),
    ]
    result = answer(files, candidates, count)
    assert [(one.file, one.line_start, one.line_end) for one in result.chunks] == [("src/mod0.py", 5, 10)]
    assert result.omitted == ()
    assert dict(result.skipped) == {"gone.py": "it could not be read", "src/mod1.py": "it changed meanwhile"}
    assert "2 paths not searched: gone.py (it could not be read)" in result.render()


def test_nothing_found_says_so(count: Callable[[str], int]) -> None:
    """No candidates: no slices, no lists, and what was not found."""
    result = answer({}, [], count, hits={}, query=query_of("needle|haystack"))
    assert result.render() == (
        "slicegrep: 'needle|haystack' in src: nothing found.\n"
        "NEGATIVE EVIDENCE:\n  Pattern 'needle' not found in src\n  Pattern 'haystack' not found in src"
    )
    assert (result.chunks, result.coverage, result.omitted_tokens) == ((), 0.0, 0)


@pytest.mark.parametrize(("budget", "most"), [(300, 300), (2000, 500), (8000, 2000)])
def test_an_answer_without_a_match_is_short(count: Callable[[str], int], budget: int, most: int) -> None:
    """A quarter of the budget, or 500 tokens; the definition of the very name has all of it."""
    files = files_of(*[function(f"thing{n}", 60) for n in range(40)])

    def found(reasons: tuple[str, ...]) -> Result:
        candidates = [whole(path, files, 100.0, hits=(), reasons=reasons) for path in files]
        return answer(files, candidates, count, budget=budget, hits={})

    result = found(("semantic-recall",))
    assert 0.8 * most < result.total_tokens <= most
    assert result.budget == budget
    assert result.render().startswith("slicegrep: 'needle' in src: nothing matches; nearest by vocabulary: ")
    assert found(("exact_symbol", "semantic-recall")).total_tokens > 0.9 * budget


def test_a_line_that_is_longer_than_the_budget_is_listed(count: Callable[[str], int]) -> None:
    """Lines are never cut: then nothing fits, and the omission says where to look."""
    files = files_of("needle " * 2000)
    result = answer(files, [whole("src/mod0.py", files, 100.0)], count, budget=300)
    assert result.chunks == ()
    assert [(one.line_start, one.line_end) for one in result.omitted] == [(1, 1)]
    assert "nothing fits" in result.render()
    assert "Next: Read src/src/mod0.py offset=1 limit=1" in result.render()


@pytest.mark.parametrize("budget", [300, 2000, 12_000])
@pytest.mark.parametrize("length", [5_000, 100_000, 3_000_000])
def test_a_line_of_one_long_word_does_not_stop_the_search(
    count: Callable[[str], int], budget: int, length: int
) -> None:
    """Counting three million letters takes half a minute: what cannot fit is not counted."""
    files = files_of(f"def needle():\n    x = '{'a' * length}'\n    return needle")
    begun = time.process_time()
    result = answer(files, [whole("src/mod0.py", files, 100.0)], count, budget=budget)
    assert time.process_time() - begun < 0.4
    assert result.total_tokens <= budget
    assert result.chunks


def test_lists_fold_in_the_text_and_stay_whole_in_json(count: Callable[[str], int]) -> None:
    """Three thousand alternatives that match nothing, hundreds of omissions: the text folds them, `to_dict` does not."""
    files = files_of(*[function(f"f{n}", 3) for n in range(300)])
    candidates = [whole(path, files, 100.0 - n / 10) for n, path in enumerate(files)]
    query = query_of("|".join(f"absent{n}" for n in range(3000)))
    result = answer(files, candidates, count, budget=600, query=query, hits={})
    told = result.to_dict()
    assert len(told["negative_evidence"]) == 3000
    assert len(told["omitted"]) + len({chunk["file"] for chunk in told["chunks"]}) == 300
    text = result.render()
    assert count(text) <= 600
    assert text.count("... and ") == 2
    listed = [one["tokens"] * 0 + one["score"] for one in told["omitted"]]
    assert listed == sorted(listed, reverse=True)


# --- what was not found -----------------------------------------------------------------------------------------------


def test_negative_evidence_tells_three_cases_apart(count: Callable[[str], int]) -> None:
    """No definition, no match, and matches outside the budget; what is found and shown is not spoken of."""
    files = files_of(function("shown", 4), function("far", 400), function("used", 4))
    hits = {
        "src/mod0.py": [Hit(1, (0,))],
        "src/mod1.py": [Hit(line, (3,)) for line in range(30, 44)],
        "src/mod2.py": [Hit(2, (1,))],
    }
    candidates = [
        whole("src/mod0.py", files, 100.0),
        whole("src/mod2.py", files, 99.0, hits=(2,), best=2),
        Candidate("src/mod1.py", 1, 400, 0.1, ("match",), "far", "", tuple(range(30, 44)), 30),
    ]
    result = answer(
        files,
        candidates,
        count,
        budget=310,
        query=query_of("shown|is_used|absent|far_.*"),
        path="src/",
        hits=hits,
        defined=lambda name: name == "shown",
    )
    assert "src/mod1.py" not in {chunk.file for chunk in result.chunks}
    assert result.negative_evidence == (
        "No definition found for 'is_used' in src/",
        "Pattern 'absent' not found in src/",
        "'far_.*' matches 14 lines, none of them in this budget: src/mod1.py:30, src/mod1.py:31, src/mod1.py:32, …",
    )
    assert "NEGATIVE EVIDENCE:\n  No definition found for 'is_used' in src/\n" in result.render()


def test_plain_english_is_missed_only_where_it_names_code(count: Callable[[str], int]) -> None:
    """The phrase itself is not expected anywhere; a name that nothing defines is worth knowing."""
    options = {"hits": {}, "defined": lambda name: name == "known_name"}
    asked = query_of("how do known_name and unknownName share their state")
    result = answer({}, [], count, query=asked, **options)
    assert result.negative_evidence == ("No definition found for 'unknownName' in src",)


def said_of(
    count: Callable[[str], int],
    pattern: str,
    line: str = "",
    *,
    symbol: str = "",
    reasons: tuple[str, ...] = ("match",),
) -> tuple[str, ...]:
    """Return what is said when each pattern matches one line (none: no line), in one candidate, and no outline has a name."""
    query = query_of(pattern)
    files = files_of(line or "def extend(): pass")
    lines = (1,) if line else ()
    found = [Candidate("src/mod0.py", 1, 1, 100.0, reasons, symbol, "", lines, 1)]
    hits = {"src/mod0.py": [Hit(1, tuple(range(len(query.patterns))))]} if line else {}
    return answer(
        files, found, count, query=query, hits=hits, defined=lambda _: False
    ).negative_evidence  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("needle", "needle"),
        ("class Needle", "Needle"),
        ("a_needle|hay", "a_needle"),
        ("useNeedle", "useNeedle"),
    ],
)
def test_a_definition_is_missed_of_a_name_that_was_asked_for(
    count: Callable[[str], int], pattern: str, name: str
) -> None:
    """Alone, by the word that defines, or spelled as code is; where a candidate defines it, nothing is missed."""
    expected = (f"No definition found for '{name}' in src",)
    assert said_of(count, pattern, "x") == expected
    assert said_of(count, pattern, "x", reasons=("definition",)) == ()
    assert said_of(count, pattern, "x", reasons=("exact_symbol",)) == ()


@pytest.mark.parametrize(
    "pattern",
    [
        "RuntimeError", "self", "print", "TODO", "a|needle", "needle(", "return needle", "raise TypeError",
        "how do RuntimeError and TODO meet in print", "where\nmy_needle\nis raised",
    ],
)  # fmt: skip
def test_no_definition_is_missed_of_other_words(count: Callable[[str], int], pattern: str) -> None:
    """Neither of what the language defines, nor of plain words among others, nor of parts of a pattern or a pasted text."""
    assert said_of(count, pattern, "x") == ()


def test_a_definition_that_is_exactly_what_was_spelled_is_found(count: Callable[[str], int]) -> None:
    """No line has `ZodObject.extend` in it, and still it is there."""
    asked = "ZodObject.extend"
    assert said_of(count, asked, symbol="ZodObject.extend", reasons=("exact_symbol", "semantic-recall")) == ()
    assert said_of(count, asked, symbol="ZodObject.pick", reasons=("semantic-recall",)) == (
        "Pattern 'ZodObject.extend' not found in src",
    )


def test_what_matches_an_empty_line_is_not_called_not_found(count: Callable[[str], int]) -> None:
    """A note says that it was left out."""
    assert said_of(count, ".*") == ()


def test_nothing_is_said_of_what_is_not_known(count: Callable[[str], int]) -> None:
    """Without the hits there is no negative evidence, without the definitions none of definitions."""
    assert answer({}, [], count).negative_evidence == ()
    files = files_of("needle\n")
    found = [whole("src/mod0.py", files, 100.0)]
    assert answer(files, found, count, hits={"src/mod0.py": [Hit(1, (0,))]}).negative_evidence == ()


# --- a real tree ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree() -> Callable[[str], tuple[Query, dict[str, tuple[Hit, ...]], list[Candidate], dict[str, Source]]]:
    """Return what gives the matches and candidates of a query over this project's own source and documentation."""
    from slicegrep.index import view_of
    from slicegrep.match import find
    from slicegrep.recall import recall

    paths = [
        *ROOT.glob("plugin/slicegrep/**/*.py"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("tests/test_[a-m]*.py"),
    ]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    files = {name: source_of(name, path.read_bytes()) for name, path in zip(names, paths, strict=True)}
    view = view_of(files.values())

    def ask(text: str) -> tuple[Query, dict[str, tuple[Hit, ...]], list[Candidate], dict[str, Source]]:
        query = query_of(text)
        found = find(str(ROOT), list(files), query.patterns, view=view, read=files.get)
        ranked = recall(view, query, found, files.get, before=40, after=40, boundary="auto")
        return query, found.by_file, ranked, files

    return ask


@pytest.mark.parametrize(
    "asked",
    ["source_of", "def numbered|class Packer", "Omission", "import", "how is the budget of a read raised", "nothing_like_this"],
)  # fmt: skip
def test_answers_over_a_real_tree_keep_every_promise(
    true: Callable[[str], int],
    count: Callable[[str], int],
    tree: Callable[[str], tuple[Query, dict[str, tuple[Hit, ...]], list[Candidate], dict[str, Source]]],
    asked: str,
) -> None:
    """Budget, lines, coverage; and nearly all of the budget is used where much was found."""
    query, hits, candidates, files = tree(asked)
    for budget in (200, 700, 2000, 9000):
        result = answer(files, candidates, count, budget=budget, query=query, hits=hits)
        used = true(result.render())
        assert used == result.total_tokens <= budget
        assert used > 0.9 * budget or len(result.omitted) == 0 or budget == 200
        check_lines(files, candidates, result)
