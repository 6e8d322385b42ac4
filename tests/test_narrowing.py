"""Files are left out of a search only where they cannot hold a match."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slicegrep.expressions import expression_of
from slicegrep.index import view_of
from slicegrep.match import find
from slicegrep.narrowing import narrowed
from slicegrep.query import Pattern
from slicegrep.source import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slicegrep.expressions import Expression


def ready(*regexes: str) -> list[Expression]:
    """Return expressions that can be run."""
    made = [
        expression_of(number, regex, case_sensitive=False, seconds=1.0)
        for number, regex in enumerate(regexes)
    ]
    return [one for one in made if one is not None]


FILES = {
    "get.py": "def get_name(self): return self.name\n",
    "set.py": "def set_name(self, value): self.name = value\n",
    "long.py": "class NameGetterFactory: pass\n",
    "accent.py": "éfilter = 1\n",
    "filter.py": "filter(x); myfilter = filterset = 2\n",
    "digits.py": "x = 12filter; y = 0xFILTER\n",
    "kelvin.py": "\u212aelvin = 1  # cla\u017fsy\n",
    "signs.py": "a => b; c !== d\n",
    "empty.py": "",
}
VIEW = view_of([source_of(path, text.encode()) for path, text in FILES.items()])


def chosen(*regexes: str) -> set[str]:
    """Return the files that an index leaves."""
    (left,) = narrowed("/", list(FILES), [ready(*regexes)], view=VIEW, prefix="")
    return set(left)


@pytest.mark.parametrize(
    ("regex", "files"),
    [
        ("get_name", {"get.py"}),
        ("GETTER", {"long.py"}),
        (r"def \w+_name\(self", {"get.py", "set.py"}),
        (r"(?<=self, )value\)", {"set.py"}),
        ("(get|set)_nam", {"get.py", "set.py"}),
        ("nowhere", set()),
    ],
)
def test_identifiers_of_the_index_tell_where_a_text_may_stand(regex: str, files: set[str]) -> None:
    """A text that a match must hold stands inside identifiers of the file."""
    assert chosen(regex) == files


def test_the_edges_of_a_word_narrow_further() -> None:
    r"""Before `(` and after `\b` an identifier ends or begins; RE2 sees an edge inside of `éfilter` too."""
    assert chosen("filter") == {"accent.py", "filter.py", "digits.py"}
    assert chosen(r"\bfilter\(") <= {"accent.py", "filter.py", "digits.py"}
    assert "accent.py" in chosen(r"\bfilter\b")
    assert chosen("name_get") == chosen("namegetter_fac") == set()
    assert chosen("name.?getter") == chosen("namegetter") == {"long.py"}
    assert chosen("(namegetter)") == {"long.py"}
    assert chosen("class NameGetter ") == chosen(r"\bgetterfactory") == set()


@pytest.mark.parametrize(("regex", "files"), [("classy", {"kelvin.py"}), ("kelvin", {"kelvin.py"})])
def test_letters_that_fold_to_ascii_are_found(regex: str, files: set[str]) -> None:
    """The Kelvin sign is a k to a search that does not look at case, and the long s an s."""
    assert chosen(regex) == files


def test_several_patterns_leave_the_files_of_each() -> None:
    """One that tells nothing leaves all."""
    assert chosen("get_name", "NameGetter") == {"get.py", "long.py"}
    assert chosen("get_name", "=>") == set(FILES)


def test_files_that_the_index_does_not_have_stay() -> None:
    """They were named, or came since."""
    files = ["sub/get.py", "other.py", "get.py"]
    assert narrowed("/", files, [ready("get_name")], view=VIEW, prefix="")[0] == files
    inside = view_of([source_of("sub/" + path, text.encode()) for path, text in FILES.items()])
    assert set(narrowed("/", list(FILES), [ready("get_name")], view=inside, prefix="sub/")[0]) == {"get.py"}


_WORDS = st.text(alphabet="absA_1é\u017fK\u212a", min_size=1, max_size=7)
_TEXTS = st.lists(
    st.lists(_WORDS, max_size=4).map(lambda words: " ".join(words) + "\n"), min_size=1, max_size=5
)
_REGEXES = st.lists(
    st.sampled_from(
        [
            "abA",
            "a_1",
            "bab",
            "1ab",
            "kab",
            "sab",
            "é",
            r"\b",
            r"\w",
            ".",
            "+",
            "?",
            "*",
            "(",
            ")",
            "|",
            " ",
            r"\(",
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)


@given(_TEXTS, st.lists(_REGEXES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
def test_no_match_is_lost(texts: list[str], regexes: list[str]) -> None:
    """With the index and without it, the same lines: also where folding goes beyond ASCII."""
    sources = {f"{number}.py": source_of(f"{number}.py", text.encode()) for number, text in enumerate(texts)}
    view = view_of(sources.values())
    asked = [Pattern(regex, regex) for regex in regexes]
    with_index = find("/", list(sources), asked, view=view)
    without = find("/", list(sources), asked, read=sources.__getitem__)
    assert with_index.by_file == without.by_file


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Make more files than are read one by one, and a few that hold something."""
    folder = tmp_path_factory.mktemp("many")
    files = {f"d{number % 40}/-f {number}.txt": b"nothing\n" for number in range(4_100)}
    files |= {
        "d0/one.py": b"x\nthe Needle here\n",
        "d1/new\nline.py": b"needle\n",
        "d2/sixteen.cs": "\ufeffvar needle = 1;\r\n".encode("utf-16-le"),
        "d3/bad.c": b"\xfeneedle? \xff\n",
        "d4/nul.bin": b"\0\0needle\0\n",
        "d5/crlf.txt": b"a\r\nneedle\r\n",
        "d6/.hidden.py": b"NEEDLE\n",
        "d7/kelvin.py": "nee\u212ale\n".encode(),
        "d8/other.py": b"x => y\n",
    }
    for number in range(40):
        (folder / f"d{number}").mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder, files


@pytest.mark.parametrize(
    "regexes", [["needle"], [r"^needle$", "=> "], [r"nee(?=d)dle\b"], ["NEEKLE"], [r"\w+;$"]]
)
def test_many_files_are_narrowed_by_rg_and_lose_nothing(
    many: tuple[Path, dict[str, bytes]], regexes: Sequence[str]
) -> None:
    """Hidden, binary, UTF-16 and oddly named files: the same lines as when each is read."""
    folder, files = many
    asked = [Pattern(regex, regex) for regex in regexes]
    sources = {path: source_of(path, data, "-") for path, data in files.items()}
    found = find(str(folder), list(files), asked)
    few = {
        path: hits
        for path in files
        for hits in [find("/", [path], asked, read=sources.__getitem__).by_file]
        if hits
    }
    assert found.by_file == {path: hits[path] for path, hits in sorted(few.items())}


def test_rg_leaves_few_of_many_files(many: tuple[Path, dict[str, bytes]]) -> None:
    """That is what it is asked for; a pattern that need hold no text leaves all."""
    folder, files = many
    left = narrowed(str(folder), list(files), [ready("needle")], view=None, prefix="")[0]
    assert {re.sub(r"d\d+/", "", path) for path in left} == {
        "one.py",
        "new\nline.py",
        "sixteen.cs",
        "bad.c",
        "nul.bin",
        "crlf.txt",
        ".hidden.py",
    }
    assert narrowed(str(folder), list(files), [ready(r"\w+\d")], view=None, prefix="")[0] == list(files)


def test_a_file_that_rg_cannot_read_is_not_lost(many: tuple[Path, dict[str, bytes]]) -> None:
    """It is for the search to say that it cannot be read."""
    folder, files = many
    asked = [*files, "d0/gone.py"]
    assert narrowed(str(folder), asked, [ready("needle")], view=None, prefix="")[0] == asked


def test_rg_is_not_started_for_a_word_of_most_files(tmp_path: Path) -> None:
    """It would leave them all; a rarer part of words is asked for."""
    started: list[object] = []
    sys.addaudithook(lambda event, what: started.append(what) if event == "subprocess.Popen" else None)
    names = [f"{number}.py" for number in range(4_000)]
    texts = [
        f"needle_{number} = 1\n{'thread' if number % 4 else 'other'}_{number} = 2\n"
        for number in range(4_000)
    ]
    view = view_of([source_of(name, text.encode()) for name, text in zip(names, texts, strict=True)])
    view._given = {}
    for text in ("needle", "needle|thread"):
        assert narrowed(str(tmp_path), names, [ready(text)], view=view, prefix="")[0] == names
        assert not started
    narrowed(str(tmp_path), names, [ready("hread")], view=view, prefix="")
    assert started
