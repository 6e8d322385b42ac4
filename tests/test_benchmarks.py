"""The benchmarks' harness on trees small enough to see through; nothing here needs a corpus or tiktoken's vocabulary."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from compare_one import Question, targets
from facts import Facts
from families import FAMILIES
from generate import drawn, symbol_tasks
from measure import TASKS, Task, interval, judge, load, table
from setup_corpora import Corpus, CorpusError, corpora, root_of, set_up, tree_digest, verify
from suite import differences, outcomes, report
from symbols import rows_of

TREE = {
    "src/shop/cart.py": '''"""Baskets."""

from shop.prices import price_with_tax


class Cart:
    """Holds what a customer means to buy before any money moves."""

    def grand_total(self, options):
        """Sum up the grand_total of all rows, with taxes that the country asks for."""
        if options.round_to_cents:
            return round(price_with_tax(self.rows), 2)
        return price_with_tax(self.rows)
''',
    "src/shop/prices.py": """class ShopOptions:
    round_to_cents = True


def price_with_tax(rows):
    # the rate is that of the country
    if not rows:
        raise ValueError(
            f"cannot price {rows!r}: a basket of "
            "%d rows is needed" % 1
        )
    return sum(rows) * 1.2


def start():
    return None
""",
    "tests/test_cart.py": """from shop.prices import price_with_tax


def test_price():
    assert price_with_tax([1]) == 1.2
""",
}


@pytest.fixture
def shop(tmp_path):
    """A small project."""
    for name, text in TREE.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(tmp_path / "shop")


def asked(family, root):
    return list(FAMILIES[family](Facts(root), random.Random(1)))


@dataclass
class Part:
    file: str
    start: int
    end: int


class Told:
    """A strategy that answers what it was told."""

    name = "told"

    def __init__(self, *parts):
        self.parts = list(parts)

    def slices(self, query, cap):
        return self.parts


# what the families ask


def test_a_symbol_question_wants_the_first_lines_of_the_one_definition(shop):
    """From the line with the name on, three lines or to the end of the definition."""
    found = {
        query.removeprefix("where is ").removesuffix(" defined"): where
        for query, where in asked("symbol", shop)
    }
    assert found["start"] == {"definition": [("src/shop/prices.py", 15, 16)]}


def test_a_name_with_two_different_definitions_is_not_asked_for(shop):
    """Nobody could say which one was meant."""
    Path(shop, "src/shop/other.py").write_text("def start(engine):\n    return engine\n", "utf-8")
    assert not any("start" in query for query, _ in asked("symbol", shop))


def test_a_copy_of_the_definition_is_as_good(shop):
    """A header and the single header that it was merged into."""
    Path(shop, "vendor").mkdir()
    Path(shop, "vendor/all.py").write_text("\n\n" + TREE["src/shop/prices.py"], "utf-8")
    ranges = next(where["definition"] for query, where in asked("symbol", shop) if "start" in query)
    assert ranges == [("src/shop/prices.py", 15, 16), ("vendor/all.py", 17, 18)]


def test_a_concept_is_the_first_sentence_without_the_name(shop):
    """The words stay, the name does not."""
    assert dict(asked("docstring concept", shop)) == {
        "Holds what a customer means to buy before any money moves": {
            "definition": [("src/shop/cart.py", 6, 8)]
        },
        "Sum up the of all rows, with taxes that the country asks for": {
            "definition": [("src/shop/cart.py", 9, 11)]
        },
    }


def test_a_concept_may_stand_in_a_comment_above(tmp_path):
    """Other languages than Python; a licence and a line of slashes are no concept."""
    (tmp_path / "a.go").write_text(
        "// Copyright of somebody and others here\n\npackage a\n\n// Launch sends the rocket into a low orbit. Twice.\n"
        "func Launch() {\n}\n\n//////////////////////\nfunc Land() {\n}\n",
        "utf-8",
    )
    assert asked("docstring concept", str(tmp_path)) == [
        ("sends the rocket into a low orbit", {"definition": [("a.go", 6, 7)]})
    ]


def test_a_chain_wants_both_ends_and_the_call(shop):
    """Caller and callee stand in different files; where there are several calls, one will do."""
    assert asked("cross-file call chain", shop) == [
        (
            "how does grand_total reach price_with_tax",
            {
                "caller": [("src/shop/cart.py", 9, 11)],
                "call": [("src/shop/cart.py", 12, 12), ("src/shop/cart.py", 13, 13)],
                "callee": [("src/shop/prices.py", 5, 7)],
            },
        )
    ]


def test_a_message_is_asked_for_as_its_reader_sees_it(shop):
    """Strings that are joined are one message; placeholders have values."""
    assert asked("error string", shop) == [
        (
            "cannot price 'alpha': a basket of 42 rows is needed",
            {"function": [("src/shop/prices.py", 5, 5)], "message": [("src/shop/prices.py", 9, 10)]},
        )
    ]


def test_a_setting_is_wanted_where_it_is_given_and_where_another_file_uses_it(shop):
    """A default in one file, a look at it in another."""
    ((query, where),) = asked("config flow", shop)
    assert "round_to_cents" in query
    assert where == {"given": [("src/shop/prices.py", 2, 2)], "used": [("src/shop/cart.py", 11, 11)]}


def test_a_test_is_wanted_beside_its_definition_and_an_import_is_none(shop):
    """The use in the test, not the line that imports."""
    ((query, where),) = asked("test + implementation", shop)
    assert query in ("price_with_tax", "tests for price_with_tax")
    assert where == {"definition": [("src/shop/prices.py", 5, 7)], "test": [("tests/test_cart.py", 5, 5)]}


def test_comments_and_strings_are_no_mentions(tmp_path):
    """A name in prose is not used."""
    (tmp_path / "a.js").write_text(
        "// launch()\nconst a = 'launch()';\nlaunch();\n/* launch() */ f(`launch()`)\n"
    )
    assert [(m.line, m.called) for m in Facts(str(tmp_path)).mentions["launch"]] == [(3, True)]


def test_drawing_is_repeatable_and_takes_repositories_in_turn(shop):
    """The same seed gives the same tasks; another one may not."""
    facts = {"one": Facts(shop), "two": Facts(shop)}
    tasks = drawn(facts, 3, per_family=4)
    assert tasks == drawn({"one": Facts(shop), "two": Facts(shop)}, 3, per_family=4)
    assert {task.repo for task in tasks} == {"one", "two"}
    assert max(Counter((task.family, task.repo) for task in tasks).values()) == 1


def test_names_to_look_up_are_unique_or_shared(shop):
    """A shared name has a place for each of its definitions."""
    Path(shop, "src/shop/other.py").write_text("def start(engine):\n    return engine\n", "utf-8")
    found = {task.query: task for task in symbol_tasks("shop", Facts(shop), 1)}
    assert found["price_with_tax"].family == "unique"
    assert found["start"].family == "shared"
    assert list(found["start"].targets.values()) == [
        [("src/shop/other.py", 1, 1)],
        [("src/shop/prices.py", 15, 15)],
    ]


# the frozen tasks


@pytest.mark.parametrize("half", ["tuning", "held-out"])
def test_frozen_tasks_belong_to_their_half_and_cover_every_family(half):
    """No repository of the other half, every family, eight repositories."""
    tasks = load(TASKS / f"suite-{half}.jsonl")
    assert {task.repo for task in tasks} <= {corpus.name for corpus in corpora(half=half)}
    assert len({task.repo for task in tasks}) >= 8
    counts = Counter(task.family for task in tasks)
    assert counts.keys() == FAMILIES.keys()
    assert min(counts.values()) >= 25


def test_frozen_tasks_are_of_six_languages_or_more():
    """Both halves together."""
    assert len({language for corpus in corpora() for language in corpus.languages}) >= 6


# judging and counting


def test_a_target_is_held_by_lines_of_several_slices_but_not_by_a_part():
    """All lines of one of its ranges, wherever they come from."""
    task = Task("f", "r", "q", {"a": [("x.py", 1, 4)], "b": [("x.py", 9, 9), ("y.py", 2, 3)]})
    assert judge(task, [Part("x.py", 1, 2), Part("x.py", 3, 4), Part("y.py", 3, 3)]) == {
        "a": True,
        "b": False,
    }
    assert judge(task, [Part("x.py", 1, 3), Part("y.py", 1, 3)]) == {"a": False, "b": True}


def test_the_interval_is_repeatable_holds_the_mean_and_narrows():
    """A percentile bootstrap with a seed."""
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    assert interval(few, 5) == interval(few, 5)
    mean, low, high = interval(few, 5)
    assert low < mean == 0.5 < high
    assert interval(many, 5)[2] - interval(many, 5)[1] < (high - low) / 2
    assert interval([], 5) == (0.0, 0.0, 0.0)


def test_tables_are_markdown():
    """A row a line, a rule under the head."""
    assert table(["a", "bb"], [["x", "1"]]) == "| a | bb |\n| - | -: |\n| x |  1 |"


def test_the_suite_counts_whole_answers_and_says_partial_credit():
    """Half of the targets is no success; the report says both, for the family and for all."""
    tasks = [
        Task("chain", "r", "first", {"a": [("x.py", 1, 1)], "b": [("x.py", 5, 5)]}),
        Task("chain", "r", "second", {"a": [("x.py", 1, 2)]}),
    ]
    strategies = {
        "near": lambda _root: Told(Part("x.py", 1, 3)),
        "all": lambda _root: Told(Part("x.py", 1, 9)),
        "none": lambda _root: Told(),
    }
    found = list(outcomes(tasks, {"r": "/nowhere"}, strategies, [2000]))
    rows = {(row["family"], row["strategy"]): row for row in report(found, 1)}
    got = {key: (row["tasks"], row["success"], row["partial"]) for key, row in rows.items()}
    assert got["chain", "near"] == got["all families", "near"] == (2, 0.5, 0.75)
    assert got["chain", "all"] == (2, 1.0, 1.0)
    assert got["chain", "none"] == (2, 0.0, 0.0)
    assert [(row["other"], row["above"]) for row in differences(found, 1)] == [("all", -0.5), ("none", 0.5)]


def test_symbols_tell_found_all_and_first():
    """Of a shared name one definition is found, not all; the first slice is not it."""
    task = Task("shared", "r", "start", {"function 1": [("x.py", 3, 3)], "function 2": [("y.py", 7, 7)]})
    parts = Told(Part("z.py", 1, 9), Part("x.py", 1, 5))
    ((*_, counted),) = rows_of("/nowhere", [task], {"told": lambda _root: parts}, 2000)
    assert (counted["found"], counted["all"], counted["first"]) == (1.0, 0.0, 0.0)


def test_compare_one_knows_callers_of_a_method_by_their_receivers(tmp_path):
    """`self` inside the class, what is named after it, and variables that hold one; not any `.request(`."""
    (tmp_path / "sessions.py").write_text(
        "class Session:\n    def request(self, url):\n        return url\n\n"
        "    def get(self, url):\n        return self.request(url)\n\n\nclass Adapter:\n"
        "    def send(self, pool, url):\n        return pool.request(url)\n",
        "utf-8",
    )
    (tmp_path / "test_it.py").write_text(
        "import sessions\n\n\ndef test_it(other):\n    s = sessions.Session()\n    s.request('a')\n    other.request('b')\n",
        "utf-8",
    )
    found = targets(Question("requests", "Session.request"), Facts(str(tmp_path)))
    assert found.targets == {
        "definition": [("sessions.py", 2, 3)],
        "caller": [("sessions.py", 6, 6)],
        "test": [("test_it.py", 6, 6)],
    }


def test_compare_one_takes_no_definition_line_for_a_caller(tmp_path):
    """Nor a call inside the definition, nor the line of another definition of that name."""
    (tmp_path / "utils.py").write_text("def echo(text):\n    if text:\n        echo('')\n", "utf-8")
    (tmp_path / "app.py").write_text(
        "from utils import echo\n\n\ndef main():\n    echo('x')  # echo(1)\n", "utf-8"
    )
    (tmp_path / "other.py").write_text("class Box:\n    def echo(self):\n        pass\n", "utf-8")
    (tmp_path / "test_utils.py").write_text("import utils\n\nassert echo(1) is None\n", "utf-8")
    assert targets(Question("click", "echo"), Facts(str(tmp_path))).targets["caller"] == [("app.py", 5, 5)]


# corpora


def run_git(place, *arguments):
    who = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "tag.gpgsign=false",
        "-c",
        "commit.gpgsign=false",
    ]
    done = subprocess.run(
        ["git", *who, "-C", str(place), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def origin(tmp_path):
    """A folder of mirrors with one repository, owner+thing, that has two commits; the first is v1."""
    place = tmp_path / "mirror" / "owner+thing"
    place.mkdir(parents=True)
    run_git(place, "init", "-q")
    for number in (1, 2):
        (place / "a.py").write_text(f"x = {number}\n", "utf-8")
        run_git(place, "add", "a.py")
        run_git(place, "commit", "-q", "-m", f"commit {number}")
        if number == 1:
            run_git(place, "tag", "-a", "v1", "-m", "first")
    return place


@pytest.fixture
def pin(origin):
    """What corpora.json would say of it."""
    sha = run_git(origin, "rev-parse", "v1^{commit}")
    return Corpus(
        "thing", "tuning", ["python"], "", url="https://example.org/owner/thing.git", tag="v1", sha=sha
    )


def test_pins_are_full_commits_or_hashes():
    """Abbreviated commits can come to mean another one."""
    for corpus in corpora():
        wanted = (corpus.sha, 40) if corpus.url else (corpus.sha256, 64)
        assert len(wanted[0]) == wanted[1], corpus.name
        assert set(wanted[0]) <= set("0123456789abcdef"), corpus.name
        assert corpus.half in ("tuning", "held-out")


def test_an_unknown_corpus_is_named():
    """With the names that there are."""
    with pytest.raises(CorpusError, match="no such corpus: clik; there are click"):
        corpora(["clik"])


def test_a_corpus_comes_from_a_mirror_at_its_pin(origin, pin, tmp_path):
    """The pinned commit, not the newest one; then it is usable as it is."""
    folder = tmp_path / "corpora"
    assert set_up(pin, folder, origin.parent, full=False) == []
    assert (folder / "thing" / "a.py").read_text("utf-8") == "x = 1\n"
    assert root_of(pin, folder) == str(folder / "thing")
    assert verify(pin, folder, origin.parent, remote=True) == []


def test_history_comes_when_it_is_asked_for(origin, pin, tmp_path):
    """One commit at first; all of them with --full, in the same checkout."""
    run_git(origin, "tag", "v2")
    url, sha = origin.as_uri(), run_git(origin, "rev-parse", "HEAD")
    newest = Corpus("thing", pin.half, pin.languages, "", url=url, tag="v2", sha=sha)
    folder = tmp_path / "corpora"
    assert set_up(newest, folder, None, full=False) == []
    assert run_git(folder / "thing", "rev-list", "--count", "HEAD") == "1"
    assert set_up(newest, folder, None, full=True) == []
    assert run_git(folder / "thing", "rev-list", "--count", "HEAD") == "2"


def test_a_moved_tag_is_said_loudly(origin, pin, tmp_path):
    """By where it points now, and against the pin."""
    folder = tmp_path / "corpora"
    set_up(pin, folder, origin.parent, full=False)
    run_git(origin, "tag", "-f", "-a", "v1", "-m", "moved", "HEAD")
    (said,) = verify(pin, folder, origin.parent, remote=True)
    assert said.startswith("MOVED TAG: v1 of thing is ")
    assert pin.sha in said


def test_a_changed_tree_is_told(origin, pin, tmp_path):
    """An edit, and a file that does not belong there."""
    folder = tmp_path / "corpora"
    set_up(pin, folder, origin.parent, full=False)
    (folder / "thing" / "a.py").write_text("x = 9\n", "utf-8")
    (folder / "thing" / "b.py").write_text("", "utf-8")
    (said,) = verify(pin, folder, origin.parent, remote=False)
    assert "is changed: 2 file(s)" in said


def test_a_checkout_of_another_commit_is_refused_and_left_alone(origin, pin, tmp_path):
    """It may be somebody's own."""
    folder = tmp_path / "corpora"
    folder.mkdir()
    run_git(tmp_path, "clone", "-q", str(origin), str(folder / "thing"))
    (said,) = set_up(pin, folder, origin.parent, full=True)
    assert "not at the pinned" in said
    assert (folder / "thing" / "a.py").read_text("utf-8") == "x = 2\n"
    with pytest.raises(CorpusError, match=r"setup_corpora\.py --only thing"):
        root_of(pin, folder)


def test_a_missing_corpus_says_how_to_get_it(pin, tmp_path):
    """The command stands in the message."""
    with pytest.raises(CorpusError, match=r"is missing: python benchmarks/setup_corpora\.py --only thing"):
        root_of(pin, tmp_path)


def test_a_distribution_is_known_by_all_its_files(tmp_path):
    """Byte code does not count; one changed character does."""
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    before = tree_digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_bytes(b"0")
    assert tree_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("x = 2\n", "utf-8")
    assert tree_digest(tmp_path) != before
