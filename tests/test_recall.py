"""Recall: which regions of a small tree come for a query, and which of them comes first."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from slicegrep import focused_read
from slicegrep.index import view_of
from slicegrep.match import find
from slicegrep.query import query_of
from slicegrep.recall import REASONS, recall
from slicegrep.source import source_of

if TYPE_CHECKING:
    from pathlib import Path

    from slicegrep.candidates import Candidate

FILLER = "".join(f"def filler_{chr(97 + n)}(amount):\n    return amount + {n}\n\n\n" for n in range(8))
"""Code that has nothing to do with any query here."""


def recalled(
    tree: dict[str, str],
    text: str,
    *,
    before: int = 3,
    after: int = 3,
    boundary: str = "auto",
    only: frozenset[str] | None = None,
) -> list[Candidate]:
    """Return the candidates of a tree that is given as path -> text."""
    sources = {path: source_of(path, content.encode()) for path, content in tree.items()}
    view = view_of(sources.values())
    query = query_of(text)
    files = sorted(only if only is not None else sources)
    matches = find("", files, query.patterns, view=view, read=sources.get)
    return recall(view, query, matches, sources.get, before=before, after=after, boundary=boundary, only=only)


def order(candidates: list[Candidate]) -> list[str]:
    """Return the files, each by its best candidate."""
    return list(dict.fromkeys(one.file for one in candidates))


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# Definitions


@pytest.mark.parametrize(
    ("definition", "path", "use", "user"),
    [
        ("def settle(bill):\n    return bill.paid\n", "zz/till.py", "import till\n\nx = till.settle(b)\n", "a.py"),
        ("export function settle(bill) {\n  return bill.paid;\n}\n", "zz/till.js", "const x = settle(b);\n", "a.js"),
        ("package zz\n\nfunc settle(b Bill) bool {\n\treturn b.Paid\n}\n", "zz/till.go", "package a\n\nvar x = settle(b)\n", "a.go"),
        ("pub fn settle(b: &Bill) -> bool {\n    b.paid\n}\n", "zz/till.rs", "fn a() {\n    settle(b);\n}\n", "a.rs"),
        ("int settle(struct bill *b) {\n  return b->paid;\n}\n", "zz/till.c", "int a(void) {\n  return settle(0);\n}\n", "a.c"),
        ("class Till {\n  boolean settle(Bill b) {\n    return b.paid;\n  }\n}\n", "zz/Till.java", "class A {\n  void a() {\n    till.settle(b);\n  }\n}\n", "A.java"),
    ],
    ids=["python", "javascript", "go", "rust", "c", "java"],
)  # fmt: skip
def test_the_definition_of_a_name_comes_before_its_uses(
    definition: str, path: str, use: str, user: str
) -> None:
    """In each language; both come back."""
    found = recalled({path: definition, user: use}, "settle")
    assert order(found) == [path, user]
    assert (found[0].role, found[0].best) == ("definition", line_of(definition, "settle"))
    assert "exact_symbol" in found[0].reasons
    assert found[1].role == "use"


def test_a_function_comes_before_a_method_of_its_name() -> None:
    """At the top level it is what the name alone means."""
    tree = {
        "a.py": "class Till:\n    def settle(self, bill):\n        return bill\n",
        "z.py": "def settle(bill):\n    return bill\n",
    }
    assert order(recalled(tree, "settle")) == ["z.py", "a.py"]


def test_a_qualifier_picks_the_method_of_that_class() -> None:
    """Although another class has one of that name, and another file the very text."""
    tree = {
        "a.py": "class Purse:\n    def settle(self):\n        return self.coins\n",
        "m.py": "# Till.settle is described here: Till.settle\nNOTE = 'Till.settle'\n",
        "z.py": "class Till:\n    def settle(self):\n        return self.coins\n",
    }
    best = recalled(tree, "Till.settle")[0]
    assert (best.file, best.symbol) == ("z.py", "Till.settle")


def test_a_declaration_comes_after_its_definition() -> None:
    """A header says that it is there; what it does stands elsewhere."""
    tree = {
        "a.h": "int settle(struct bill *b);\n",
        "z.c": '#include "a.h"\n\nint settle(struct bill *b) {\n  return b->paid;\n}\n',
    }
    assert order(recalled(tree, "settle")) == ["z.c", "a.h"]


@pytest.mark.parametrize(
    ("path", "later", "reason"),
    [
        ("a.py", "from till import settle\n", "declaration"),
        ("a.js", "import { settle } from './till';\n", "declaration"),
        ("a.rs", "use crate::till::settle;\n", "declaration"),
        ("a.py", "# settle is described elsewhere\nx = 1\n", "comment"),
        ("a.go", "package a\n\n// settle is described elsewhere\nvar x = 1\n", "comment"),
    ],
)
def test_imports_and_comments_come_after_a_use(path: str, later: str, reason: str) -> None:
    """What only says the name."""
    extension = path.rpartition(".")[2]
    other, use = {
        "py": (FILLER, "x = settle(1)\n"),
        "js": ("const other = (amount) => {\n  return amount;\n};\n", "const x = settle(1);\n"),
        "rs": ("fn other(amount: u8) -> u8 {\n    amount\n}\n", "fn z() {\n    settle(1);\n}\n"),
        "go": ("\nfunc other(amount int) int {\n\treturn amount\n}\n", "\nvar x = settle(1)\n"),
    }[extension]
    package = "package z\n" if extension == "go" else ""
    tree = {path: f"{later}\n\n{other}", f"z.{extension}": f"{package}{other}\n\n{use}"}
    found = recalled(tree, r"\bsettle\b|nowhere", before=0, after=0)
    assert order(found) == [f"z.{extension}", path]
    assert reason in found[1].reasons


def test_a_forward_declaration_comes_after_a_use() -> None:
    """`struct bill;` says nothing of it."""
    tree = {"a.h": "struct bill;\n", "z.c": "int z(void) {\n  return sizeof(struct bill);\n}\n"}
    found = recalled(tree, "struct bill")
    assert order(found) == ["z.c", "a.h"]


# Tests, and what is not the project's own code


def test_tests_come_later_unless_they_are_asked_for() -> None:
    """The same words, a use in each."""
    tree = {
        "tests/test_till.py": "def test_settle_refund():\n    assert settle_refund(3) == 3\n",
        "src/till.py": "def close_till():\n    return settle_refund(3)\n",
    }
    assert order(recalled(tree, r"settle_refund\(")) == ["src/till.py", "tests/test_till.py"]
    assert order(recalled(tree, "unit tests for settling refund"))[0] == "tests/test_till.py"


@pytest.mark.parametrize(
    "aside", ["vendor/a.py", "third_party/a.py", "generated/a.py", "a_pb2.py", "docs/a.md", "a.toml"]
)
def test_what_is_not_the_projects_own_code_comes_later(aside: str) -> None:
    """Vendored, generated, documentation, configuration: it is shown to be aside."""
    tree = {aside: "settle_refund = 1\n", "zz.py": "def close():\n    call(settle_refund)\n"}
    found = recalled(tree, r"settle_refund\b")
    assert order(found) == ["zz.py", aside]
    assert "aside" in found[1].reasons


def test_a_file_with_a_note_that_it_was_generated_comes_later() -> None:
    """Its path says nothing of it."""
    tree = {
        "a.py": "# Code generated by stamp. DO NOT EDIT.\ndef settle():\n    return 1\n",
        "z.py": "def settle():\n    return 2\n",
    }
    assert order(recalled(tree, "settle")) == ["z.py", "a.py"]


def test_a_platforms_file_comes_later_unless_it_is_asked_for() -> None:
    """Of twins, the general one is meant."""
    body = "int spool_flush(int handle) {\n  return spool_write(handle, 0);\n}\n"
    tree = {"src/win/spool.c": body, "src/zunix/spool.c": body, "other.c": "int other(void) { return 0; }\n"}
    assert order(recalled(tree, "how is the spool handle flushed"))[0] == "src/zunix/spool.c"
    assert order(recalled(tree, "how is the spool handle flushed on win"))[0] == "src/win/spool.c"


# Messages and places


def test_a_message_in_a_string_comes_before_vocabulary() -> None:
    """Another file may have the words many times over."""
    tree = {
        "a.py": "def spool_folder_missing(spool, folder):\n    missing = folder.missing\n    return spool, missing\n",
        "z.py": 'def check(x):\n    if not x:\n        raise OSError("spool folder is missing")\n',
    }
    best = recalled(tree, "spool folder is missing")[0]
    assert (best.file, best.best) == ("z.py", 3)


def test_a_message_is_found_with_other_values() -> None:
    """What was filled in is a placeholder in the source."""
    tree = {
        "a.py": "def answer(worker, time):\n    return worker.time\n",
        "z.py": 'def wait(n):\n    raise OSError("worker %d did not answer in time" % n)\n',
    }
    best = recalled(tree, "worker 4711 did not answer in time")[0]
    assert (best.file, best.hits) == ("z.py", (2,))


def test_the_function_of_a_tracebacks_last_frame_is_first() -> None:
    """There it was raised; the frames above follow."""
    first = FILLER + "def outer(bill):\n    rest = bill.rest\n    return inner(rest)\n"
    last = FILLER + "def inner(bill):\n    rest = bill.rest\n    return 1 / rest\n"
    tree = {"pkg/front.py": first, "pkg/back.py": last, "pkg/aside.py": FILLER}
    text = (
        "Traceback (most recent call last):\n"
        f'  File "/srv/pkg/front.py", line {line_of(first, "return inner")}, in outer\n    return inner(bill)\n'
        f'  File "/srv/pkg/back.py", line {line_of(last, "return 1 /")}, in inner\n    return 1 / rest\n'
        "ZeroDivisionError: division by zero\n"
    )
    found = recalled(tree, text)
    assert order(found)[:2] == ["pkg/back.py", "pkg/front.py"]
    assert found[0].symbol == "inner"
    assert "place" in found[0].reasons


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pkg/spool.py", FILLER + "def flush(spool):\n    rest = 1\n    return rest\n"),
        ("pkg/spool.ts", "function a() {\n  return 1;\n}\n\nfunction flush(s) {\n  const rest = 1;\n  return rest;\n}\n"),
        ("pkg/spool.go", "package a\n\nfunc a() {}\n\nfunc flush() int {\n\trest := 1\n\treturn rest\n}\n"),
    ],
)  # fmt: skip
def test_a_file_with_a_line_gives_the_definition_around_it(path: str, text: str) -> None:
    """Wholly, with that line as its best."""
    line = line_of(text, "rest")
    best = recalled({path: text, "other.py": FILLER}, f"{path}:{line}")[0]
    assert (best.file, best.symbol, best.best) == (path, "flush", line)
    assert best.start <= line_of(text, "flush") < line < best.end


def test_a_file_name_gives_that_file() -> None:
    """Before one that only mentions it; with its folder it is the one in it."""
    tree = {"aa/spool.py": FILLER, "pkg/spool.py": FILLER, "a.py": "NAME = 'spool.py'\n"}
    found = recalled(tree, "spool.py")
    assert set(order(found)[:2]) == {"aa/spool.py", "pkg/spool.py"}
    assert order(recalled({**tree, "a.py": FILLER}, "pkg/spool.py"))[0] == "pkg/spool.py"
    assert "place" in found[0].reasons


# Vocabulary


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("which time zone is chosen", "def pick(timezone):\n    return timezone\n"),
        ("where is the authentication done", "def login(person):\n    return person\n"),
        ("database connection pool limit", "def limited(db, conn):\n    return db, conn\n"),
        ("single page application bundling", "def wrap(spa):\n    return spa\n"),
        ("are visitors authorizing themselves", "def authorize(visitor):\n    return visitor\n"),
    ],
    ids=["joined words", "synonyms", "abbreviations", "initials", "other endings"],
)
def test_what_is_called_otherwise_is_found(asked: str, answer: str) -> None:
    """No line matches the question as it was put."""
    found = recalled({"a.py": FILLER, "z.py": answer, "b.py": FILLER}, asked)
    assert found[0].file == "z.py"
    assert "semantic-recall" in found[0].reasons


@pytest.mark.parametrize(
    ("path", "other", "body"),
    [
        ("spool.py", "aaaa.py", "def take(ink, dryer):\n    return ink, dryer\n"),
        ("spool/index.ts", "other/index.ts", "export function take(ink, dryer) {\n  return ink;\n}\n"),
        ("spool/__init__.py", "other/__init__.py", "def take(ink, dryer):\n    return ink, dryer\n"),
    ],
)
def test_a_files_name_and_its_folders_count(path: str, other: str, body: str) -> None:
    """Of two files of the same text; an index by the folder that it is the index of."""
    assert order(recalled({other: body, path: body}, "spool ink and dryer"))[0] == path


def test_the_definition_that_is_named_comes_before_those_beside_it() -> None:
    """Inside of one file."""
    beside = "def beside(pen):\n    ink = drain(pen.spool)\n    return ink, pen.spool, pen.ink\n\n\n"
    text = beside + "def drain_spool(given):\n    return [one for one in given]\n\n\n" + FILLER
    best = recalled({"a.py": text}, "how is the spool drained of ink")[0]
    assert best.symbol == "drain_spool"


# Several patterns


def test_several_patterns_together_come_before_one() -> None:
    """Where they meet is what was looked for."""
    tree = {
        "a.py": "def a():\n    call(alpha)\n    alpha(alpha)\n",
        "b.py": "def b():\n    call(beta)\n    beta(beta)\n",
        "z.py": FILLER + "def z():\n    call(alpha)\n    call(beta)\n" + FILLER,
    }
    found = recalled(tree, r"alpha\)|beta\)")
    assert found[0].file == "z.py"
    assert {"multi_match(2)", "co_occurrence", "all_patterns"} <= set(found[0].reasons)
    assert not any("co_occurrence" in one.reasons for one in found[1:])


def test_a_rare_pattern_comes_before_a_common_one() -> None:
    """What stands everywhere tells less."""
    common = {f"{name}.py": f"def {name}():\n    call(common)\n" * 3 for name in "abcde"}
    found = recalled({**common, "z.py": "def z():\n    call(seldom)\n"}, r"common\)|seldom\)")
    assert next(one for one in found if "rare_terms" in one.reasons).file == "z.py"
    assert not any("rare_terms" in one.reasons for one in found if one.file != "z.py")


# What holds for every search

TREE = {
    "src/till.py": FILLER
    + "class Till:\n    '''Keeps coins.'''\n\n    def settle(self, bill):\n        return bill.coins\n\n"
    "    def count(self):\n        return self.coins\n\n\ndef settle(bill):\n    return Till().settle(bill)\n\n\n" + FILLER
    + "LIMIT = settle(3)\n",
    "src/purse.ts": "import { settle } from './till';\n\nexport class Purse {\n  coins = 3;\n\n  pay(bill) {\n"
    "    return settle(bill);\n  }\n}\n\nexport const limit = () => settle(4);\n",
    "src/till.go": "package till\n\n// settle pays a bill.\nfunc settle(coins int) int {\n\treturn coins\n}\n\nvar a = settle(1)\n",
    "tests/test_till.py": "from till import settle\n\n\ndef test_settle():\n    assert settle(3)\n",
    "README.md": "# Till\n\nCall `settle` with a bill.\n\nCoins are kept.\n",
    "vendor/old.js": "function settle(bill) {\n  return bill;\n}\nsettle(1);\n",
}  # fmt: skip
PRECISE = ["settle", "Till.settle", "settle|coins|bill", r"def \w+", "src/till.py:40"]
ASKED = [*PRECISE, "how does a till count coins"]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("boundary", ["auto", "fn", "none"])
def test_every_hit_is_in_exactly_one_candidate(asked: str, boundary: str) -> None:
    """Nothing that matches is lost or counted twice, and a candidate names its hits."""
    sources = {path: source_of(path, text.encode()) for path, text in TREE.items()}
    hits = find("", sorted(sources), query_of(asked).patterns, read=sources.get).by_file
    found = recalled(TREE, asked, boundary=boundary, before=1, after=2)
    expected = sorted((path, hit.line) for path, lines in hits.items() for hit in lines)
    assert sorted((one.file, line) for one in found for line in one.hits) == expected
    assert all(one.start <= line <= one.end for one in found for line in one.hits)


@pytest.mark.parametrize("asked", PRECISE)
@pytest.mark.parametrize("boundary", ["auto", "fn", "none"])
def test_candidates_of_a_file_do_not_overlap(asked: str, boundary: str) -> None:
    """They are lines of the file, and hold their best line."""
    found = recalled(TREE, asked, boundary=boundary, before=1, after=2)
    for path, text in TREE.items():
        ranges = sorted((one.start, one.end) for one in found if one.file == path)
        assert all(end < start for (_, end), (start, _) in pairwise(ranges))
        assert all(1 <= start <= end <= text.count("\n") for start, end in ranges)
    assert all(one.start <= one.best <= one.end for one in found)


@pytest.mark.parametrize("asked", ASKED)
def test_scores_descend_from_a_hundred(asked: str) -> None:
    """They are hundredths of the best."""
    scores = [one.score for one in recalled(TREE, asked)]
    assert scores[0] == 100
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= 0


@pytest.mark.parametrize("asked", ASKED)
def test_reasons_are_those_that_are_documented(asked: str) -> None:
    """Each candidate has one at least; `multi_match` carries its count."""
    for one in recalled(TREE, asked):
        assert one.reasons
        assert {reason.partition("(")[0] for reason in one.reasons} <= set(REASONS)
        assert all(
            reason in REASONS or reason.removeprefix("multi_match(").removesuffix(")").isdigit()
            for reason in one.reasons
        )


def test_each_further_region_of_a_file_counts_less() -> None:
    """So that one file does not take all the places: another file's only use comes before its second."""
    use = "def use_{0}():\n    call(spoon)\n\n\n"
    tree = {"a.py": "".join(use.format(name) for name in "bcde"), "z.py": use.format("z")}
    found = recalled(tree, r"spoon\)")
    assert [one.file for one in found] == ["a.py", "z.py", "a.py", "a.py", "a.py"]
    mine = [one.score for one in found if one.file == "a.py"]
    assert all(after < before for before, after in pairwise(mine))


def test_only_the_files_that_are_searched_answer() -> None:
    """The vocabulary and spelled names keep to them as well as the hits."""
    for asked in ASKED:
        found = recalled(TREE, asked, only=frozenset({"src/till.go", "README.md"}))
        assert {one.file for one in found} <= {"src/till.go", "README.md"}


def test_paths_are_those_of_the_searched_folder(tmp_path: Path) -> None:
    """In a sub-folder of a workspace they are relative to it, and nothing beside it answers."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    for path, text in TREE.items():
        (tmp_path / "repo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / path).write_text(text)
    for asked in ("settle", "how does a till count coins", "till.py:40"):
        result = focused_read(tmp_path / "repo" / "src", asked, home=str(tmp_path / "home"))
        assert result.chunks[0].file in {"till.py", "till.go", "purse.ts"}
        assert {chunk.file for chunk in result.chunks} <= {"till.py", "till.go", "purse.ts"}
        assert {omission.file for omission in result.omitted} <= {"till.py", "till.go", "purse.ts"}


def test_nothing_of_the_query_gives_no_candidates() -> None:
    """Neither a hit nor a word of it."""
    assert recalled(TREE, "xylophone") == []
    assert recalled({}, "settle") == []
