"""Symbol ids: what a definition is called over the wire, and that no id means another definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from slicegrep.index import View, view_of
from slicegrep.service.symbol_ids import id_of, symbol_of
from slicegrep.source import source_of

TWICE = (
    "def add():\n    pass\n\n\ndef add():\n    return 1\n\n\nclass Cart:\n    def add(self):\n        pass\n"
)


def view(**files: str) -> View:
    return view_of([source_of(path, text.encode()) for path, text in files.items()])


def ids(of: View) -> list[str]:
    return [id_of(of, number) for number in range(len(of.symbol_file))]


def test_the_second_definition_of_a_name_is_told_from_the_first() -> None:
    """In the order of their lines; a method is another name than a function."""
    assert ids(view(**{"a.py": TWICE})) == ["a.py#add", "a.py#add~2", "a.py#Cart", "a.py#Cart.add"]


def test_every_id_brings_its_own_definition_back() -> None:
    """Of files that have the same definitions, of names with `#`, of paths with `#`, `~` and `:`."""
    script = "class Foo {\n  #bar() { return 1; }\n  bar() { return 2; }\n}\n"
    of = view(**{"a.py": TWICE, "b.py": TWICE, "a#b.js": script, "odd ~2:#.py": TWICE, "x.js": script})
    assert len(set(ids(of))) == len(of.symbol_file)
    assert [symbol_of(of, one) for one in ids(of)] == list(range(len(of.symbol_file)))


def test_an_id_that_is_not_there_brings_nothing() -> None:
    """Neither a near one, nor one of a file that is not there, nor a third where there are two."""
    of = view(**{"a.py": TWICE})
    for text in (
        "a.py#add~3",
        "a.py#add~1",
        "a.py#Add",
        "b.py#add",
        "a.py",
        "a.py#",
        "#add",
        "",
        "./a.py#add",
    ):
        assert symbol_of(of, text) is None, text


def test_an_id_that_can_be_read_as_two_brings_neither() -> None:
    """`D.#e` of `x.js` and `e` of a script called `x.js#D.` have one id: better none than another file's symbol."""
    private = source_of("x.js", b"class D {\n  #e() { return 1; }\n}\n")
    script = source_of("x.js#D.", b"def e():\n    pass\n", "python")
    assert symbol_of(view_of([private]), "x.js#D.#e") == 1
    assert symbol_of(view_of([script]), "x.js#D.#e") == 0
    assert symbol_of(view_of([private, script]), "x.js#D.#e") is None


def test_paths_are_relative_to_the_folder_that_is_named() -> None:
    """With a prefix, what lies outside of it has no id."""
    of = view(**{"src/a.py": TWICE, "b.py": TWICE})
    first = of.first_symbol[of.file_at("src/a.py").id]  # type: ignore[union-attr]
    assert id_of(of, first, "src/") == "a.py#add"
    assert symbol_of(of, "a.py#add", "src/") == first
    assert symbol_of(of, "b.py#add", "src/") is None
    assert symbol_of(of, "../b.py#add", "src/") is None


@given(st.lists(st.sampled_from(["f", "g", "f.g", "Foo", "#a"]), max_size=8), st.text("a#.~:/", max_size=6))
def test_any_file_gives_ids_that_come_back(names: list[str], path: str) -> None:
    """Whatever the path, and however often a name is there."""
    text = "".join(
        f"class K{at} {{\n  {name if name.startswith('#') else name.replace('.', '_')}() {{ return 1; }}\n}}\n"
        for at, name in enumerate(names)
    )
    of = view(**{f"{path}x.js": text, "x.js": text})
    assert [symbol_of(of, one) for one in ids(of)] == list(range(len(of.symbol_file)))
