"""What the index holds of a tree: files, chunks, symbols, postings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from index_told import told, write
from slicegrep.evidence import blocks_of
from slicegrep.index import open_view, view_of, workspace_of
from slicegrep.outline import enclosing, outline
from slicegrep.source import source_of
from slicegrep.words import stem

SERVER = '''"""Serves pages."""

import socket


class HTTPServer:
    """Listens for requests."""

    def accept_connection(self, timeout):
        # wait for the client
        return socket.accept(timeout)


def make_server():
    return HTTPServer()
'''
CLIENT = "from server import HTTPServer\n\n\ndef run():\n    HTTPServer().accept_connection(3)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    write(
        root,
        {
            "pkg/server.py": SERVER,
            "pkg/client.py": CLIENT,
            "tests/test_server.py": "def test_accept():\n    assert True\n",
            "README.md": "# Pages\n\nHow the server accepts a connection.\n\nAnother paragraph.\n",
            "setup.cfg": "[options]\nserver = yes\n",
            "data/table.csv": "server,accept\n",
            "logo.png": "no picture",
        },
    )
    return root


def test_every_searched_file_has_a_row(tree: Path, tmp_path: Path) -> None:
    """Code, documentation and configuration; not data, not pictures."""
    view = open_view(str(tree), str(tmp_path / "home"))
    rows = {row.path: row for row in view.files if row}
    assert {path: row.kind for path, row in rows.items()} == {
        "pkg/server.py": "code",
        "pkg/client.py": "code",
        "tests/test_server.py": "code",
        "README.md": "docs",
        "setup.cfg": "config",
    }
    server = rows["pkg/server.py"]
    assert (server.language, server.lines, server.size) == ("python", 15, len(SERVER))
    assert "test" in rows["tests/test_server.py"].flags
    assert view.root == str(tree)
    assert view.file_at("pkg/server.py") == server
    assert view.file_at("nothing") is None


def test_chunks_are_the_blocks_that_hold_words(tree: Path, tmp_path: Path) -> None:
    """Blank runs between definitions are no documents."""
    view = open_view(str(tree), str(tmp_path / "home"))
    row = view.file_at("pkg/server.py")
    assert row is not None
    source = source_of(row.path, SERVER.encode())
    blocks = [
        (block.start, block.end)
        for block in blocks_of(source, outline(source))
        if "".join(source.lines[block.start - 1 : block.end]).strip()
    ]
    chunks = range(row.first_chunk, row.first_chunk + row.chunks)
    assert [(view.chunk_start[c], view.chunk_end[c]) for c in chunks] == blocks
    inner = next(c for c in chunks if view.chunk_start[c] == 9)
    assert view.symbol(view.chunk_symbol[inner]).qualified == "HTTPServer.accept_connection"


def test_a_stem_is_found_in_every_spelling(tree: Path, tmp_path: Path) -> None:
    """Sub-words of camelCase and snake_case, light stems, prose and code alike."""
    view = open_view(str(tree), str(tmp_path / "home"))
    assert _paths(view, view.holders.file_postings("accept")[0]) == {
        "pkg/server.py",
        "pkg/client.py",
        "tests/test_server.py",
        "README.md",
    }
    assert _paths(view, view.holders.file_postings("=acceptconnection")[0]) == {
        "pkg/server.py",
        "pkg/client.py",
    }
    assert list(view.holders.file_postings("=accept")[0]) == []
    assert list(view.holders.file_postings("nowhere")[0]) == []


def test_a_name_weighs_more_than_a_use_and_a_comment_less(tmp_path: Path) -> None:
    """Fields: name x3, signature x1, documentation x0.5, body x1, in texts of one length."""
    root = tmp_path / "tree"
    body = "    one = two + three\n    four = five + six\n"
    write(
        root,
        {
            "name.py": f"def gadget():\n{body}",
            "use.py": f"def other():\n{body}".replace("six", "gadget"),
            "told.py": f"def other():\n{body}    # six gadget\n".replace(" + six", ""),
        },
    )
    view = open_view(str(root), str(tmp_path / "home"))
    files, impacts = view.holders.file_postings("gadget")
    by_path = {row.path: i for f, i in zip(files, impacts, strict=True) if (row := view.files[f])}
    assert by_path["name.py"] > by_path["use.py"] > by_path["told.py"] > 0


def test_an_impact_is_bm25f_of_the_field_weights(tmp_path: Path) -> None:
    """W / (w + k1 * (1 - b + b * length / average)), in 255ths."""
    root = tmp_path / "tree"
    write(root, {"a.py": "gadget gadget other words here\n"})
    view = open_view(str(root), str(tmp_path / "home"))
    (impact,) = view.holders.chunk_postings("gadget")[1]
    assert impact == round(255 * 2 / (2 + 1.2 * (1 - 0.6 + 0.6 * 5 / 40)))


def test_symbols_are_found_by_name_and_by_stem(tree: Path, tmp_path: Path) -> None:
    """Case and underscores do not count; parents and ranges are those of the outline."""
    view = open_view(str(tree), str(tmp_path / "home"))
    (number,) = view.symbols_named("accept_connection")
    assert view.symbols_named("AcceptConnection") == [number]
    symbol = view.symbol(number)
    assert (symbol.kind, symbol.start, symbol.end, symbol.name_line, symbol.depth) == ("method", 9, 11, 9, 1)
    assert symbol.signature == "def accept_connection(self, timeout)"
    assert view.symbol(symbol.parent).name == "HTTPServer"
    assert {view.symbol_name(n) for n in view.holders.name_postings(stem("server"))} == {
        "HTTPServer",
        "make_server",
    }
    source = source_of("pkg/server.py", SERVER.encode())
    row = view.file_at("pkg/server.py")
    assert row is not None
    assert view.symbols_of(row.id) == outline(source).symbols


def test_mentions_count_the_other_files_that_hold_a_name(tree: Path, tmp_path: Path) -> None:
    """HTTPServer and accept_connection stand in one other file, make_server in none."""
    view = open_view(str(tree), str(tmp_path / "home"))
    row = view.file_at("pkg/server.py")
    other = view.file_at("pkg/client.py")
    assert row is not None
    assert other is not None
    in_memory = view_of(
        [source_of("pkg/server.py", SERVER.encode()), source_of("pkg/client.py", CLIENT.encode())]
    )
    assert in_memory.files[0] is not None
    assert in_memory.files[0].mentions == 2.0
    assert other.mentions == 0.0


def test_vocabulary_is_searched_by_prefix_and_by_part(tree: Path, tmp_path: Path) -> None:
    """Stems by their beginning, identifiers by any part of them, and the files that may hold one."""
    view = open_view(str(tree), str(tmp_path / "home"))
    assert view.holders.terms_with_prefix("conn") == {"connection"}
    assert {"self", "serv"} < view.holders.terms_with_prefix("s")
    assert view.holders.terms_with_prefix("zzz") == set()
    assert view.holders.files_holding("ptserv", 9) == set()
    assert _paths(view, view.holders.files_with(["httpserver"])) == {"pkg/server.py", "pkg/client.py"}
    assert _paths(view, view.holders.files_with(["nowhere"])) == set()


@pytest.mark.parametrize(
    "word",
    [
        "HTTPServer",
        "_x",
        "__",
        "x1",
        "\u017ftra\u00dfe",
        "ÀB_c",
        "日本語",
        "a" * 80,
        "URLs",
        "m_aX_len2gth",
        "\u212a",
        "Ünïcode_Name",
    ],
)
def test_no_file_that_holds_an_identifier_is_missing(word: str) -> None:
    """A filter for literals may name too many files, never too few: whatever the spelling."""
    view = view_of([source_of("a.txt", f"some {word} here\n".encode()), source_of("b.txt", b"else\n")])
    found = view.holders.files_holding(word.lower(), 9)
    assert found is not None
    assert 0 in found
    assert 0 in view.holders.files_with([word])


def test_files_are_told_by_parts_of_identifiers_up_to_a_bound(tree: Path, tmp_path: Path) -> None:
    """Where more identifiers than the bound hold the text, nothing is told: None, and not a part of the files."""
    view = open_view(str(tree), str(tmp_path / "home"))
    found = view.holders.files_holding("tpserv", 9)
    assert found is not None
    assert {"pkg/server.py", "pkg/client.py"} <= _paths(view, found)
    assert view.holders.files_holding("e", 2) is None
    assert view.holders.files_holding("httpserv", 9, ends=True) == set()


def test_names_around_lines_are_the_outlines(tree: Path, tmp_path: Path) -> None:
    """Of many lines at once as of each alone; "" at the module level."""
    view = open_view(str(tree), str(tmp_path / "home"))
    source = source_of("pkg/server.py", SERVER.encode())
    row = view.file_at("pkg/server.py")
    assert row is not None
    around = [enclosing(outline(source), line) for line in range(1, len(source.lines) + 1)]
    wanted = [symbol.qualified if symbol else "" for symbol in around]
    places = [(row.id, line) for line in range(1, len(source.lines) + 1)]
    assert view.enclosing(places) == wanted
    assert view.enclosing(places) == wanted, "from what was kept"
    assert "HTTPServer.accept_connection" in wanted
    assert "" in wanted


def test_texts_of_files_and_lines(tree: Path, tmp_path: Path) -> None:
    """`read` and `raw` give a file as it is, also one that is not in the index, and None for what is not there."""
    view = open_view(str(tree), str(tmp_path / "home"))
    source = view.read("pkg/server.py")
    assert source is not None
    assert source.text + "\n" == SERVER
    assert source.path == "pkg/server.py"
    assert view.utf8_lines("pkg/server.py") == SERVER.encode()
    assert view.utf8_lines("data/table.csv") == b"server,accept\n"
    assert view.read("pkg") is None
    assert view.utf8_lines("nothing") is None


def test_sources_in_memory_are_the_same_view(tree: Path, tmp_path: Path) -> None:
    """Single files need no database, and are told alike."""
    view = open_view(str(tree), str(tmp_path / "home"))
    sources = [source for row in view.files if row and (source := view.read(row.path))]
    assert told(view_of(sources)) == told(view)


def test_a_view_with_more_sources(tree: Path, tmp_path: Path) -> None:
    """Files beyond the index (hidden, ignored, data) join it for one search; the view itself stays as it was."""
    view = open_view(str(tree), str(tmp_path / "home"))
    before = told(view)
    more = view.plus(
        [
            source_of("data/table.csv", b"server,accept\n"),
            source_of(".hidden.py", b"def accept_more(): ...\n"),
        ]
    )
    assert more.file_count == view.file_count + 2
    assert _paths(more, more.holders.files_with(["accept_more"])) == {".hidden.py"}
    (number,) = more.symbols_named("accept_more")
    assert more.files[more.symbol(number).file] == more.file_at(".hidden.py")
    assert more.read(".hidden.py") is not None
    assert more.utf8_lines("data/table.csv") == b"server,accept"
    assert more.read("pkg/server.py") is not None
    assert told(view) == before


def test_the_workspace_is_the_git_top_level(tmp_path: Path) -> None:
    """Also where `.git` is a file; without git the folder itself. A sub-folder's search shares the index."""
    write(
        tmp_path,
        {"repo/sub/a.py": "x = 1\n", "repo/.git": "gitdir: elsewhere\n", "plain/sub/b.py": "y = 1\n"},
    )
    top = str(tmp_path / "repo")
    assert workspace_of(str(tmp_path / "repo/sub")) == top
    assert workspace_of(str(tmp_path / "plain/sub")) == str(tmp_path / "plain/sub")
    view = open_view(str(tmp_path / "repo/sub"), str(tmp_path / "home"))
    assert view.root == top
    assert view.file_at("sub/a.py") is not None


def test_a_home_under_git_is_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People keep their settings under git: a folder in the home directory is not all of it."""
    write(tmp_path, {".git/config": "", "notes/a.py": "x = 1\n"})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert workspace_of(str(tmp_path / "notes")) == str(tmp_path / "notes")
    assert workspace_of(str(tmp_path)) == str(tmp_path)


def test_many_files_are_indexed_as_few_are(tmp_path: Path) -> None:
    """Worker processes or this one: the same index, with progress told and ids in order of nothing but themselves."""
    root = tmp_path / "tree"
    files = {f"p{n % 7}/m{n}.py": SERVER.replace("HTTPServer", f"Server{n}") + f"# {n}\n" for n in range(90)}
    write(root, files)
    seen: list[tuple[int, int]] = []
    view = open_view(
        str(root), str(tmp_path / "home"), progress=lambda done, total: seen.append((done, total))
    )
    sources = [source_of(path, text.encode()) for path, text in files.items()]
    assert told(view) == told(view_of(sources))
    assert seen[-1] == (90, 90)
    mentions = {row.path: row.mentions for row in view.files if row}
    assert mentions == {row.path: row.mentions for row in view_of(sources).files if row}


def test_long_lines_and_encoded_data_cost_little(tmp_path: Path) -> None:
    """A line over 5,000 characters is not taken apart, and neither is an identifier over 64."""
    view = view_of([source_of("a.py", b"short = 1\n" + b"word " * 2000 + b"\n" + b"Ab1" * 40 + b" = 2\n")])
    assert list(view.holders.chunk_postings("word")[0]) == []
    assert view.holders.files_holding("ab1ab1", 9) == {0}
    assert list(view.holders.chunk_postings("ab")[0]) == []


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    """The errors of the system, for whoever asked."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileNotFoundError):
        open_view(str(tmp_path / "nothing"), str(tmp_path / "home"))
    with pytest.raises(NotADirectoryError):
        open_view(str(tmp_path / "file"), str(tmp_path / "home"))


def _paths(view: object, files: object) -> set[str]:
    return {view.files[f].path for f in files}  # type: ignore[attr-defined]


def test_a_text_in_too_many_identifiers_is_not_looked_up() -> None:
    """No postings are read for it, and the next time its identifiers are not counted either."""
    names = "".join([f"some_error_{number} = {number}\n" for number in range(60)])
    view = view_of([source_of(f"m{n}.py", names.encode()) for n in range(2)])
    called: list[str] = []
    for most, expected in ((20, None), (19, None), (100, {0, 1})):
        called.clear()
        sys.setprofile(
            lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None
        )
        try:
            found = view.holders.files_holding("error", most)
        finally:
            sys.setprofile(None)
        assert found == expected
        assert ("rows_in" in called) == (expected is not None)
        assert most != 19 or "_holding" not in called


def test_a_file_is_a_row_when_it_is_looked_at() -> None:
    """One by one, in the order of ids; there is none before the first or behind the last."""
    view = view_of([source_of(f"m{n}.py", b"one = 1\n") for n in range(3)])
    assert [row.path for row in view.files if row] == ["m0.py", "m1.py", "m2.py"]
    assert view.files[2] is view.files[2]
    assert len(view.files) == 3
    for beyond in (3, -1):
        with pytest.raises(IndexError):
            view.files[beyond]
