"""SCIP files: read document by document, and taken for what a file says only where the file is what the indexer saw."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from scip_bytes import document, field, index, metadata, number, occurrence, relation
from scip_shop import CASES
from slicegrep.graph.scip import Document, Occurrence, ScipError, ScipFile, last_descriptor
from slicegrep.graph.scip_kind import import_lines, kind_of_reference
from slicegrep.graph.scip_match import Facts, facts_of
from slicegrep.outline import outline
from slicegrep.source import source_of

PRICE = "scip-python python shop 1 `shop.price`/price_of()."
OTHER = "scip-python python shop 1 `shop.price`/other()."


def written(tmp_path: Path, data: bytes) -> str:
    """Return the path of a file with these bytes."""
    file = tmp_path / "index.scip"
    file.write_bytes(data)
    return str(file)


def documents(tmp_path: Path, data: bytes) -> list[Document]:
    """Return the documents of an index file."""
    return list(ScipFile(written(tmp_path, data)).documents())


def facts(one: Document, text: str, path: str = "a.py") -> Facts | None:
    """Return what a document says of a text."""
    source = source_of(path, text.encode())
    return facts_of(one, source, outline(source))


def real(language: str) -> dict[str, Document]:
    """Return the documents of an indexer's own file by their paths."""
    return {one.path: one for one in ScipFile(str(CASES / f"scip_{language}" / "index.scip")).documents()}


@pytest.mark.parametrize(
    ("language", "tool", "paths"),
    [
        (
            "python",
            "scip-python 0.6.6",
            {"shop/__init__.py", "shop/cart.py", "shop/price.py", "shop/store.py", "tests/cart_cases.py"},
        ),
        (
            "typescript",
            "scip-typescript 0.4.0",
            {"src/cart.ts", "src/index.ts", "src/price.ts", "src/store.ts", "test/cart.test.ts"},
        ),
    ],
)
def test_an_indexers_own_file_is_read(language: str, tool: str, paths: set[str]) -> None:
    """Tool, root and documents, with occurrences in every one."""
    file = ScipFile(str(CASES / f"scip_{language}" / "index.scip"))
    assert (file.tool, file.project_root) == (tool, f"file:///tmp/shop/{language}")
    found = real(language)
    assert set(found) == paths
    assert all(one.occurrences for one in found.values())


def test_ranges_of_three_and_of_four_numbers(tmp_path: Path) -> None:
    """Lines count from 1 here; both ways of writing repeated numbers are the same."""
    parts = [occurrence(PRICE, (3, 4, 12), 1), occurrence(PRICE, (300, 4, 301, 2), packed=False)]
    (one,) = documents(tmp_path, index(document("a.py", parts)))
    assert one.occurrences == [Occurrence(PRICE, 1, 4, 4, 4, 12), Occurrence(PRICE, 0, 301, 4, 302, 2)]


def test_what_implements_what_is_read(tmp_path: Path) -> None:
    """Only that relation of the four."""
    other = field(3, field(1, PRICE) + field(4, field(1, OTHER) + field(2, 1)))
    (one,) = documents(tmp_path, index(document("a.py", [relation(PRICE, OTHER), other])))
    assert one.implements == [(PRICE, OTHER)]


def test_fields_that_are_not_needed_are_passed_over(tmp_path: Path) -> None:
    """External symbols, and what a later schema may add."""
    data = metadata() + field(3, b"\xff" * 300) + document("a.py", []) + field(15, "new")
    assert [one.path for one in documents(tmp_path, data)] == ["a.py"]


def test_a_file_is_read_document_by_document(tmp_path: Path) -> None:
    """The first one is there before the second, which is damaged, is looked at."""
    file = ScipFile(written(tmp_path, index(document("a.py", []), field(2, b"\xff\xff"))))
    found = file.documents()
    assert next(found).path == "a.py"
    with pytest.raises(ScipError, match="is damaged"):
        next(found)


@pytest.mark.parametrize(
    "data",
    [b"", b"# a text\n", b"\x1f\x8b\x08\x00gzip", b"\x89PNG\r\n", b"{}", document("a.py", []), field(1, b"")],
)
def test_another_file_is_no_index(tmp_path: Path, data: bytes) -> None:
    """One sentence, and it names the file."""
    path = written(tmp_path, data)
    with pytest.raises(ScipError) as told:
        ScipFile(path)
    assert str(told.value) in {
        f"{path} is no SCIP index",
        f"{path} is damaged or was cut off: it ends, or goes on, where a SCIP index does not",
    }


def test_a_file_that_was_cut_off_is_damaged_wherever(tmp_path: Path) -> None:
    """At no byte inside of the documents it passes for a whole one, but where a document ends."""
    data = index(document("a.py", [occurrence(PRICE, (1, 2, 3))]), document("b.py", []))
    ends = {len(metadata()), len(index(document("a.py", [occurrence(PRICE, (1, 2, 3))]))), len(data)}
    for length in range(len(data)):
        if length in ends:
            continue
        with pytest.raises(ScipError):
            documents(tmp_path, data[:length])


def test_no_damage_is_anything_but_damage(tmp_path: Path) -> None:
    """Bytes changed, left out or put in by chance: it is read, or it is a ScipError."""
    chance = random.Random(20261130)
    sources = {path: (CASES / "scip_python" / path).read_text() for path in real("python")}
    whole = (CASES / "scip_python" / "index.scip").read_bytes()
    for _ in range(300):
        data, at = bytearray(whole), chance.randrange(len(whole))
        data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        try:
            found = documents(tmp_path, bytes(data))
        except ScipError:
            continue
        for one in found:
            if one.path in sources:
                facts(one, sources[one.path], one.path)


@pytest.mark.parametrize("claimed", [1 << 20, 1 << 40, (1 << 63) - 1])
def test_a_length_past_the_end_is_not_believed(tmp_path: Path, claimed: int) -> None:
    """No memory is asked for by what a file claims."""
    with pytest.raises(ScipError):
        documents(tmp_path, metadata() + number(2 << 3 | 2) + number(claimed))


@pytest.mark.parametrize(
    ("symbol", "name", "suffix"),
    [
        (PRICE, "price_of", "()."),
        ("scip-typescript npm shop 1.0 src/`cart.ts`/Cart#`<constructor>`().", "<constructor>", "()."),
        ("scip-typescript npm shop 1.0 src/`cart.ts`/Cart#", "Cart", "#"),
        ("scip-typescript npm shop 1.0 src/`a.ts`/f().(x)", "x", "()"),
        ("scip-typescript npm shop 1.0 src/`a.ts`/f().[T]", "T", "[]"),
        ("scip-typescript npm shop 1.0 src/`a.ts`/o0:", "o0", ":"),
        ("scip-python python a  b 1 `m.n`/__init__:", "__init__", ":"),
        ("rust-analyzer cargo shop 1.0 price/of().", "of", "()."),
        ("rust-analyzer cargo shop 1.0 price/say!", "say", "!"),
        ("scip-java maven g/a 1.0 shop/Cart#add(+1).", "add", "()."),
        ("x . . . `a``b`.", "a`b", "."),
        ("local 12", "", ""),
        ("x . . . a b", "", ""),
        ("", "", ""),
    ],
)
def test_the_last_descriptor(symbol: str, name: str, suffix: str) -> None:
    """By the grammar of SCIP's symbols; a space inside a package is doubled."""
    assert last_descriptor(symbol) == (name, suffix)


@pytest.mark.parametrize("encoding", [0, 1, 2, 3])
def test_columns_count_as_the_document_says(tmp_path: Path, encoding: int) -> None:
    """In bytes, UTF-16 units or characters, the same place is found behind an umlaut and a smiley."""
    line = 'x = "ü😀"; price_of(other)'
    before = line[: line.index("price_of")]
    column = {1: len(before.encode()), 3: len(before)}.get(encoding, len(before.encode("utf-16-le")) // 2)
    parts = [occurrence(OTHER, (0, 4, 9), 1), occurrence(PRICE, (1, column, column + 8))]
    (one,) = documents(tmp_path, index(document("a.py", parts, encoding=encoding)))
    found = facts(one, f"def other(): ...\n{line}\n")
    assert found is not None
    assert [(at.line, at.column, at.kind) for at in found.references] == [(2, line.index("price_of"), "call")]


@pytest.mark.parametrize(
    ("language", "path"),
    [
        (language, path)
        for language, paths in (
            ("python", ("shop/cart.py", "shop/store.py", "shop/price.py", "tests/cart_cases.py")),
            ("typescript", ("src/cart.ts", "src/store.ts", "src/price.ts", "src/index.ts")),
        )
        for path in paths
    ],
)
def test_a_line_more_or_less_makes_another_content(language: str, path: str) -> None:
    """Wherever the line stands before the last occurrence: no reference is ever put in a wrong line."""
    one = real(language)[path]
    text = (CASES / f"scip_{language}" / path).read_text()
    assert facts(one, text, path) is not None
    lines = text.splitlines(keepends=True)
    last = max(at.line for at in one.occurrences)
    for number_ in range(last):
        assert facts(one, "".join([*lines[:number_], "\n", *lines[number_:]]), path) is None, number_
        if lines[number_].strip():
            assert facts(one, "".join([*lines[:number_], *lines[number_ + 1 :]]), path) is None, number_


def test_a_range_that_cuts_a_word_is_another_contents(tmp_path: Path) -> None:
    """Also where no definition could tell: nothing is known of such a file."""
    (one,) = documents(tmp_path, index(document("a.py", [occurrence(PRICE, (0, 0, 8))])))
    assert facts(one, "price_of(1)\n") is not None
    assert facts(one, "price_off(1)\n") is None
    assert facts(one, "a_price_of(1)\n") is None


def test_a_member_of_another_name_is_no_reference(tmp_path: Path) -> None:
    """scip-python has the class's symbol for some attributes; a name that stands alone may be an alias."""
    other = "scip-python python shop 1 `shop.price`/Price#"
    (one,) = documents(
        tmp_path, index(document("a.py", [occurrence(other, (0, 2, 5)), occurrence(other, (1, 0, 1))]))
    )
    found = facts(one, "x.sum\nP()\n")
    assert found is not None
    assert [(at.line, at.alias) for at in found.references] == [(2, "P")]


def test_a_class_with_type_arguments_is_called(tmp_path: Path) -> None:
    """`Box[int](1)`; of `boxes[0](1)` an item is called, and nobody knows which."""
    box = "scip-python python shop 1 `shop.price`/Box#"
    boxes = "scip-python python shop 1 `shop.price`/boxes."
    parts = [occurrence(box, (0, 0, 3)), occurrence(boxes, (1, 0, 5))]
    (one,) = documents(tmp_path, index(document("a.py", parts)))
    found = facts(one, "Box[int](1)\nboxes[0](1)\n")
    assert found is not None
    assert [at.kind for at in found.references] == ["call", "reference"]


def test_of_a_shorthand_property_the_variable_is_unknown(tmp_path: Path) -> None:
    """scip-typescript tells only the property of `{ cost }`; of `x.cost` it tells all there is."""
    member = "scip-typescript npm shop 1 `a.ts`/Options#cost."
    parts = [occurrence(member, (1, 4, 8)), occurrence(member, (2, 2, 6))]
    (one,) = documents(tmp_path, index(document("a.ts", parts)))
    found = facts(one, "declare const cost: any, x: any, f: any\nf({ cost })\nx.cost()\n", "a.ts")
    assert found is not None
    assert (2, "cost") in found.silent
    assert (3, "cost") not in found.silent


def test_another_name_in_a_definitions_place_is_another_content() -> None:
    """Also one of the same length."""
    text = (CASES / "scip_python" / "shop" / "store.py").read_text()
    one = real("python")["shop/store.py"]
    assert facts(one, text.replace("def keep", "def kept")) is None


def test_a_document_with_text_is_about_that_text(tmp_path: Path) -> None:
    """Whatever its ranges hold; line ends do not matter."""
    (one,) = documents(
        tmp_path, index(document("a.py", [occurrence(PRICE, (0, 4, 12), 1)], text="def price_of(): ...\r\n"))
    )
    assert facts(one, "def price_of(): ...\n") is not None
    assert facts(one, "def price_of(): ...\n# more\n") is None


def test_a_made_up_definition_may_share_a_real_ones_place(tmp_path: Path) -> None:
    """As accessors do: `getPrice` where `price_of` stands; alone it is another content's."""
    made_up = PRICE.replace("price_of", "getPrice")
    here = (0, 4, 12)
    (one,) = documents(
        tmp_path, index(document("a.py", [occurrence(PRICE, here, 1), occurrence(made_up, here, 1)]))
    )
    (alone,) = documents(tmp_path, index(document("a.py", [occurrence(made_up, here, 1)])))
    assert facts(one, "def price_of(): ...\n") is not None
    assert facts(alone, "def price_of(): ...\n") is None


def test_what_the_indexer_says_nothing_of_is_noted() -> None:
    """A member of a value of unknown type; scip-python has a symbol for it that is defined nowhere, as for `len`."""
    text = (CASES / "scip_python" / "shop" / "price.py").read_text()
    found = facts(real("python")["shop/price.py"], text, "shop/price.py")
    assert found is not None
    assert found.silent == [(7, "len"), (19, "add")]


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("pay(1)", "pay", "call"),
        ("pay (1)", "pay", "call"),
        ("first<string>([1])", "first", "call"),
        ("values?.map?.(cost)", "map", "call"),
        ("let c = new Cart;", "Cart", "call"),
        ("let c = new shop.Cart<T>();", "Cart", "call"),
        ("let newCart = Cart;", "Cart", "reference"),
        ("map(cost)", "cost", "reference"),
        ("def f(x: Cart) -> int:", "Cart", "reference"),
        ("if a < b > (c): pass", "a", "reference"),
    ],
)
def test_the_kind_of_a_reference(line: str, name: str, kind: str) -> None:
    """By what stands around it."""
    source = source_of("a.ts", f"{line}\n".encode())
    start = line.index(name)
    assert kind_of_reference(source.lines, 1, start, start + len(name), outline(source)) == kind


@pytest.mark.parametrize(
    ("path", "text", "base"),
    [
        ("a.py", "class Big(Cart):\n    x: int\n", "Cart"),
        ("a.py", "class Big(\n    Thing,\n    Cart,\n):\n    pass\n", "Cart"),
        ("a.ts", "class Big<T> extends Cart implements Store {}\n", "Store"),
        ("a.ts", "export class Big\n  extends Cart\n  implements Store {}\n", "Cart"),
        ("A.java", "class Big extends Cart {}\n", "Cart"),
        ("a.rb", "class Big < Cart\nend\n", "Cart"),
    ],
)
def test_a_base_class_is_inheritance(path: str, text: str, base: str) -> None:
    """In the head of a class, also over lines."""
    source = source_of(path, text.encode())
    line = next(at for at, one in enumerate(source.lines, 1) if base in one)
    start = source.lines[line - 1].index(base)
    assert kind_of_reference(source.lines, line, start, start + len(base), outline(source)) == "inheritance"


def test_import_statements_reach_over_lines() -> None:
    """While a bracket is open, and no further."""
    lines = [
        "from a import (",
        "    b,",
        "    c,",
        ")",
        "b()",
        "import {",
        "  x } from 'y'",
        "x()",
        "use a::b;",
        "#include <a>",
    ]
    assert import_lines(lines) == {1, 2, 3, 4, 6, 7, 9, 10}
    assert max(import_lines(["import {", *["x()"] * 999])) < 100
