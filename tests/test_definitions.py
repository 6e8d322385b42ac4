"""Definitions come from an index where it holds exactly the content at hand, else from the parser: the answer is the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from index_told import PLUGIN, write
from slicegrep import outline as parser
from slicegrep.definitions import DefinitionsUntil
from slicegrep.index import let_go, open_view
from slicegrep.source import read_source
from slicegrep.types import Outline, Source

TEXT = "class Store:\n    limit = 3\n\n    def fetch(self, key):\n        return key\n\nx = 1\n"
LINES = [1, 2, 3, 5, 7, 99]
NAMES = ["Store", "Store", "Store", "Store.fetch", "", ""]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths of what is parsed, as it is."""
    asked: list[str] = []
    real = parser.outline

    def outline(source: Source, **how: Any) -> Outline:
        asked.append(os.path.basename(source.path))
        return real(source, **how)

    monkeypatch.setattr(parser, "outline", outline)
    return asked


def names(folders: list[Path], home: Path, *files: Path, seconds: float = 60) -> list[list[str]]:
    """Return the qualified names around LINES of each file, "" for none."""
    look_up = DefinitionsUntil([str(folder) for folder in folders], str(home), time.monotonic() + seconds)
    sources = [source for file in files if (source := read_source(str(file))) is not None]
    assert len(sources) == len(files)
    found = look_up([(source, LINES) for source in sources])
    return [[symbol.qualified if symbol else "" for symbol in row] for row in found]


def indexed(root: Path, home: Path) -> None:
    open_view(str(root), str(home))
    let_go()


def test_with_and_without_an_index(tmp_path: Path, parses: list[str]) -> None:
    """What the index holds is not parsed; what it holds otherwise, or not, is. The names are the same."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT, "b.py": TEXT, "sub/c.py": TEXT})
    files = [root / "a.py", root / "b.py", root / "sub/c.py"]
    assert names([root], home, *files) == [NAMES] * 3
    assert parses == ["a.py", "b.py", "c.py"]
    indexed(root, home)
    parses.clear()
    assert names([root], home, *files) == [NAMES] * 3
    assert parses == []
    (root / "b.py").write_text("# moved\n" + TEXT)
    write(root, {"new.py": TEXT})
    moved = ["", "Store", "Store", "Store.fetch", "", ""]
    assert names([root], home, *files, root / "new.py") == [NAMES, moved, NAMES, NAMES]
    assert parses == ["b.py", "new.py"]


@pytest.mark.parametrize("at", ["tree", "tree/sub", "a_link", "a_link/sub", "elsewhere", "tree/sub/.."])
def test_wherever_the_search_was_made(tmp_path: Path, parses: list[str], at: str) -> None:
    """In the top folder or below, through a link, or outside: a git tree's index is found from the file."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT, "sub/c.py": TEXT, ".git/HEAD": "ref: refs/heads/main\n"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a_link").symlink_to(root)
    indexed(root, home)
    for spelled in (root, tmp_path / "a_link"):
        assert names([tmp_path / at], home, spelled / "a.py", spelled / "sub/c.py") == [NAMES] * 2
    assert parses == []


def test_several_trees_at_once(tmp_path: Path, parses: list[str]) -> None:
    """Files of two workspaces, one inside the other's folder, each from its own index."""
    outer, inner, home = tmp_path / "outer", tmp_path / "outer/lib/inner", tmp_path / "home"
    write(outer, {"a.py": TEXT, ".git/HEAD": "x"})
    indexed(outer, home)
    write(inner, {"a.py": "# inner\n" + TEXT, ".git/HEAD": "x"})
    write(tmp_path / "other", {"a.py": TEXT, ".git/HEAD": "x"})
    indexed(tmp_path / "other", home)
    found = names([outer], home, outer / "a.py", inner / "a.py", tmp_path / "other/a.py")
    assert found == [NAMES, ["", "Store", "Store", "Store.fetch", "", ""], NAMES]
    assert parses == ["a.py"]


def test_a_folder_without_git_is_known_from_where_the_search_was_made(
    tmp_path: Path, parses: list[str]
) -> None:
    """Its index is of the folder that was indexed; files below it are found in that."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"deep/er/c.py": TEXT})
    indexed(root, home)
    assert names([root], home, root / "deep/er/c.py") == [NAMES]
    assert parses == []


def test_when_the_time_is_over_nothing_is_parsed(tmp_path: Path, parses: list[str]) -> None:
    """What is indexed is still told; of the rest nothing is."""
    root, home = tmp_path / "tree", tmp_path / "home"
    write(root, {"a.py": TEXT})
    indexed(root, home)
    write(root, {"b.py": "# new\n" + TEXT})
    assert names([root], home, root / "a.py", root / "b.py", seconds=-1) == [NAMES, [""] * 6]
    assert parses == []


ODD = {
    "deco.py": "@first(\n    1,\n)\n# between\n@second\nclass A:\n    @property\n    def b(self):\n        def c():\n            return 1\n        return c\n\n    # after\n\nx = lambda: 1\n",
    "attr.rs": "#[derive(Debug)]\n#[other]\npub struct S {\n    a: u8,\n}\n\nimpl S {\n    #[inline]\n    /// said\n    fn f(&self) -> u8 {\n        1\n    }\n}\nmod m {\n    #[test]\n    fn t() {}\n}\n",
    "exp.ts": "export default class A {\n  @dec()\n  m = () => {\n    return 1;\n  };\n}\nexport const f = async (x: number) => {\n  return x;\n};\nnamespace N {\n  export function g() {\n    return 2;\n  }\n}\n",
    "eq.hs": "f :: Int -> Int\nf 0 = 1\nf n = n\n\ng x = y\n  where\n    y = x\n",
    "a.cpp": "#define M(x) \\\n  x\nnamespace n {\ntemplate <class T>\nstruct S {\n  int f() {\n    return 1;\n  }\n};\n}\nint n::S<int>::g() {\n  return 2;\n}\nTEST(Suite, Name) {\n  f();\n}\n",
    "A.java": "@One\n@Two(3)\nclass A {\n  @Override\n  public int f() {\n    return 1;\n  }\n  enum E {\n    X { int g() { return 2; } };\n  }\n}\n",
    "s.vue": "<template>\n</template>\n<script>\nexport default {\n  methods: {\n    f() {\n      return 1;\n    },\n  },\n};\n</script>\n",
    "e.ex": 'defmodule A.B do\n  @doc "x"\n  def f(x) do\n    x\n  end\n\n  defp g, do: 1\nend\n',
    "q.sql": "CREATE FUNCTION f() RETURNS int AS $$\nBEGIN\n  RETURN 1;\nEND;\n$$ LANGUAGE plpgsql;\n",
    "broken.go": "package a\n\nfunc f() {\n\tif (\n}\n\nfunc (s *S) g() int {\n\treturn 1\n}\n",
}


@pytest.mark.parametrize("name", [*ODD, "slicegrep/annotate.py", "slicegrep/outline/trees.py"])
def test_a_part_of_an_outline_says_the_same_of_its_lines(tmp_path: Path, name: str) -> None:
    """What is asked around some lines is what the whole outline says of them: decorators, attributes, equations, broken code."""
    path = Path(PLUGIN, name)
    if name in ODD:
        write(tmp_path, {name: ODD[name]})
        path = tmp_path / name
    source = read_source(str(path))
    assert source is not None
    whole = parser.outline(source)
    count = len(source.lines)
    step = 1 + count // 40
    asked = [[line] for line in range(1, count + 2, step)]
    for lines in [*asked, *([line, count - line + 1] for line in range(1, count, step))]:
        part = parser.outline(source, lines=lines)
        for line in lines:
            found, wanted = parser.enclosing(part, line), parser.enclosing(whole, line)
            assert (found and replace(found, parent=0)) == (wanted and replace(wanted, parent=0)), line
    assert len(parser.outline(source, lines=[count + 9]).symbols) <= len(whole.symbols)


def test_what_stands_for_the_parser_is_asked_where_no_index_answers(tmp_path: Path) -> None:
    """It gets the source, the time that is left and the lines; a source of the index, and a late one, never comes to it."""
    root, home = tmp_path / "src", tmp_path / "home"
    write(root, {"known.py": TEXT})
    indexed(root, home)
    write(root, {"new.py": TEXT})
    asked: list[tuple[str, list[int], bool]] = []

    def kept(source: Source, *, seconds: float, lines: list[int]) -> Outline:
        asked.append((os.path.basename(source.path), lines, 0 < seconds <= 60))
        return parser.outline(source)

    sources = [
        source for name in ("known.py", "new.py") if (source := read_source(str(root / name))) is not None
    ]
    batch = [(source, LINES) for source in sources]
    found = DefinitionsUntil([str(root)], str(home), time.monotonic() + 60, kept)(batch)
    assert [[one.qualified if one else "" for one in row] for row in found] == [NAMES, NAMES]
    late = DefinitionsUntil([str(root)], str(home), time.monotonic() - 1, kept)(batch)
    assert [one.qualified if one else "" for one in late[1]] == [""] * len(LINES)
    assert asked == [("new.py", LINES, True)]
