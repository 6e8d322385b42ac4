"""Globs and file types choose among paths as a searcher's do."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slicegrep.globs import GlobError, matcher
from slicegrep.languages import LANGUAGES
from slicegrep.ripgrep import program

if TYPE_CHECKING:
    from collections.abc import Callable

TREE = (
    "a.py",
    "b.go",
    "ab.py",
    "lib/a.py",
    "lib/deep/a.py",
    "lib/deep/b.txt",
    "src/x/lib/c.rs",
    "src/[x].py",
    "src/a-b.py",
)


def wanted(*globs: str, types: tuple[str, ...] = ()) -> Callable[[str], bool]:
    """Return the test of a path."""
    found = matcher(globs, types)
    assert found is not None
    return found


def test_nothing_asked_is_nothing_tested() -> None:
    """Most searches have neither globs nor types."""
    assert matcher() is None


@pytest.mark.parametrize(
    ("globs", "chosen"),
    [
        (["*.py"], {"a.py", "ab.py", "lib/a.py", "lib/deep/a.py", "src/[x].py", "src/a-b.py"}),
        (["*.{go,rs}"], {"b.go", "src/x/lib/c.rs"}),
        (["/a.py"], {"a.py"}),
        (["lib/*.py"], {"lib/a.py"}),
        (["lib/**"], {"lib/a.py", "lib/deep/a.py", "lib/deep/b.txt"}),
        (["**/lib/**"], {"lib/a.py", "lib/deep/a.py", "lib/deep/b.txt", "src/x/lib/c.rs"}),
        (["lib"], {"lib/a.py", "lib/deep/a.py", "lib/deep/b.txt", "src/x/lib/c.rs"}),
        (["/lib/"], {"lib/a.py", "lib/deep/a.py", "lib/deep/b.txt"}),
        (["!lib", "!*.go"], {"a.py", "ab.py", "src/[x].py", "src/a-b.py"}),
        (["*.py", "!lib", "lib/deep/*.py"], {"a.py", "ab.py", "lib/deep/a.py", "src/[x].py", "src/a-b.py"}),
        (["?.py"], {"a.py", "lib/a.py", "lib/deep/a.py"}),
        (["[!a]*.py"], {"src/[x].py"}),
        ([r"\[x\].py"], {"src/[x].py"}),
        (["[a-b]-?.py"], {"src/a-b.py"}),
    ],
)
def test_globs_are_those_of_gitignore(globs: list[str], chosen: set[str]) -> None:
    """A name at any depth, a path from the top, a folder with all in it, `!` against, the last one decides."""
    assert set(filter(wanted(*globs), TREE)) == chosen


_ATOMS = st.sampled_from(
    ["a", "b", "lib", "deep", "*", "?", "**/", "/", ".py", "[ab]", "{a,lib}", "-", "*.py"]
)


@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(_ATOMS, min_size=1, max_size=4).map("".join)),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=120, deadline=None)
def test_files_are_chosen_as_rg_does(
    tmp_path_factory: pytest.TempPathFactory, rules: list[tuple[bool, str]]
) -> None:
    """But for globs that name a folder, of which rg takes nothing, and `//`, which is no path."""
    globs = [("!" if exclude else "") + glob for exclude, glob in rules]
    if any("//" in glob or "***" in glob or glob.endswith("/") or glob.strip("!/") == "" for glob in globs):
        return
    folder = Path(tmp_path_factory.getbasetemp(), "globs")
    for name in TREE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    rg = program()
    assert rg is not None
    answer = subprocess.run(
        [rg, "--files", *[f"--glob={glob}" for glob in globs]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    ours = set(filter(wanted(*globs), TREE))
    theirs = set(answer.stdout.splitlines())
    folders = {path for name in TREE for path in [*map(str, Path(name).parents)][:-1]}
    if any(wanted(glob)(path) for exclude, glob in rules for path in folders):
        assert theirs <= ours or any(exclude for exclude, _ in rules)
    else:
        assert ours == theirs


def test_types_are_those_of_rg_and_of_the_language_table() -> None:
    """`py` is what people type, `python` what the table says."""
    assert set(filter(wanted(types=("py",)), TREE)) == {name for name in TREE if name.endswith(".py")}
    assert set(filter(wanted(types=("rust", "go")), TREE)) == {"b.go", "src/x/lib/c.rs"}
    for language in LANGUAGES.values():
        assert wanted(types=(language.name,))("sub/x" + language.suffixes[0])


@pytest.mark.parametrize("globs", [["{a,b"], [""], ["/"], ["!"]])
def test_a_glob_that_is_none_is_told(globs: list[str]) -> None:
    """In one line that names it."""
    with pytest.raises(GlobError, match="is no glob"):
        matcher(globs)


def test_an_unknown_type_is_told() -> None:
    """With where to find those that there are."""
    with pytest.raises(GlobError, match=r"no file type .klingon.*type-list"):
        matcher(types=["klingon"])


@given(st.text(max_size=12), st.text(alphabet="ab/.*[]{}!\\-\n", max_size=12))
def test_any_text_is_a_glob_or_an_error(path: str, glob: str) -> None:
    """Nothing that is typed ends in a traceback."""
    try:
        found = matcher([glob])
    except GlobError:
        return
    assert found is not None
    assert found(path) in (True, False)
