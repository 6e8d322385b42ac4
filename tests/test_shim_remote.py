"""A server's answers are believed where they are about the same content, and nothing of it ever costs more than its time."""

from __future__ import annotations

import copy
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from enclosing_server import EnclosingServer, enclosing_server
from index_told import write
from served import Served, serving
from slicegrep.annotate import Annotated, annotate
from slicegrep.shim.answers import Answers, Raw, answers_of
from slicegrep.shim.knobs import Knobs

TEXT = "class Store:\n    limit = 3\n\n    def fetch(self, key):\n        return key\n\nx = 1\n"
HITS = "a.py:2:    limit = 3\na.py:5:        return key\na.py:7:x = 1\nsub/b.py:5:        return key\n"
NAMED = HITS.replace("limit = 3", "limit = 3 ⟵ Store").replace("return key", "return key ⟵ Store.fetch")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a tree of two files."""
    root = tmp_path / "tree"
    write(root, {"a.py": TEXT, "sub/b.py": TEXT, "notes.txt": "return key\n"})
    return root


@pytest.fixture
def server(tree: Path) -> Iterator[EnclosingServer]:
    """Serve that tree."""
    with enclosing_server(tree) as running:
        yield running


def asked(tree: Path, url: str, *, seconds: float = 30, **variables: str) -> Answers:
    """Return the answers that an environment with a server leads to."""
    environment = {"SLICEGREP_BASE_URL": url, "SLICEGREP_API_KEY": "secret", **variables}
    home = str(tree.parent / "home")
    return answers_of(
        environment, Knobs(environment), os.path.realpath(tree), home, time.monotonic() + seconds
    )


def annotated(tree: Path, answers: Answers, text: str = HITS) -> Annotated:
    """Annotate as the shim does."""
    return annotate(
        text,
        roots=[str(tree)],
        operands=None,
        definitions_of=answers.definitions_of,
        max_length=1 << 40,
        max_bytes=5_000_000,
        deadline=time.monotonic() + 60,
        ranges=False,
    )


def test_the_same_suffixes_as_from_the_tree_itself(tree: Path, server: EnclosingServer) -> None:
    """One call with the locations, the token and the name of who asks; the summary tells the server's commit."""
    answers = asked(tree, server.url + "/", SLICEGREP_CODE_NAMESPACE="shop", SLICEGREP_AGENT="ci")
    done = annotated(tree, answers)
    assert (done.text, done.hits, done.annotated) == (NAMED, 4, 3)
    assert answers.source == "index at c7a9fe7c9f"
    assert server.calls == [{"locations": ["a.py:2", "a.py:5", "a.py:7", "sub/b.py:5"], "namespace": "shop"}]
    assert server.paths == ["/v1/code.enclosing"]
    [headers] = server.headers
    assert (headers["Authorization"], headers["X-Slicegrep-Agent"]) == ("Bearer secret", "ci")


def test_the_default_name_and_no_namespace(tree: Path, server: EnclosingServer) -> None:
    """Without a namespace the server has but one tree; the agent is `grep-shim`."""
    annotated(tree, asked(tree, server.url + "/behind/a/proxy"))
    assert server.headers[0]["X-Slicegrep-Agent"] == "grep-shim"
    assert "namespace" not in server.calls[0]
    assert server.paths == ["/behind/a/proxy/v1/code.enclosing"]


def test_another_branch_s_content_is_unresolved(tree: Path, server: EnclosingServer, tmp_path: Path) -> None:
    """codegraph#1474: the server's tree has other lines in a file, another file not at all: no suffix, the rest as ever."""
    server.root = tmp_path / "served"
    write(server.root, {"a.py": "# one line more\n" + TEXT, "sub/b.py": TEXT})
    assert annotated(tree, asked(tree, server.url)).text == HITS.replace(
        "b.py:5:        return key", "b.py:5:        return key ⟵ Store.fetch"
    )
    (server.root / "sub/b.py").unlink()
    assert annotated(tree, asked(tree, server.url)).text == HITS


def test_each_location_once_and_200_a_call(tree: Path, server: EnclosingServer) -> None:
    """901 hits of 450 distinct lines are three calls."""
    lines = [f"def f{n}(): return {n}" for n in range(450)]
    write(tree, {"many.py": "\n".join(lines) + "\n"})
    hits = [f"many.py:{n}:{line}" for n, line in enumerate(lines, 1)]
    text = "\n".join(hits + hits + hits[:1])
    done = annotated(tree, asked(tree, server.url), text)
    wanted = [f"{hit} ⟵ f{n}" for n, hit in enumerate(hits)]
    assert done.text == "\n".join(wanted + wanted + wanted[:1])
    sent = [call["locations"] for call in server.calls]
    assert sorted(map(len, sent)) == [50, 200, 200]
    assert len({location for call in sent for location in call}) == 450


def test_five_calls_at_once(tree: Path, server: EnclosingServer) -> None:
    """A thousand hits: five calls, side by side."""
    write(tree, {"many.py": "".join(f"def f{n}(): return {n}\n" for n in range(1_000))})
    text = "\n".join(f"many.py:{n + 1}:def f{n}(): return {n}" for n in range(1_000))
    server.seconds = 0.3
    assert annotated(tree, asked(tree, server.url), text).annotated == 1_000
    assert (len(server.calls), server.most_at_once) == (5, 5)


def test_nothing_to_ask_asks_nothing(tree: Path, server: EnclosingServer) -> None:
    """Lines that no file of source code holds."""
    text = "a.py:2:    limit = 4\nnotes.txt:1:return key\n--\n"
    assert annotated(tree, asked(tree, server.url), text).text == text
    assert server.calls == []


def test_what_no_request_can_say_is_unresolved(tree: Path, server: EnclosingServer, tmp_path: Path) -> None:
    """A name that is no UTF-8, a file outside of the tree: the others have their suffixes."""
    (tree / os.fsdecode(b"l\xe9.py")).write_text(TEXT)
    write(tmp_path, {"outside.py": TEXT})
    odd = os.fsdecode(b"l\xe9.py:2:    limit = 3\n") + "../outside.py:2:    limit = 3\n"
    assert annotated(tree, asked(tree, server.url), odd + HITS).text == odd + NAMED
    (tree / "link").symlink_to(tmp_path)
    assert annotated(tree, asked(tree, server.url), "link/outside.py:2:    limit = 3").annotated == 0
    write(tree, {"a\nb:3: c.py": TEXT})
    done = annotated(tree, asked(tree, server.url), "a\nb:3: c.py:2:    limit = 3")
    assert done.text == "a\nb:3: c.py:2:    limit = 3"  # a printed line ends at the LF: it is of no file


def row(answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an answer whose first row has other values."""
    changed = copy.deepcopy(answer)
    changed["rows"][0] |= fields
    return changed


NONSENSE = {
    "no JSON": lambda _: b"<html>busy</html>",
    "nothing": lambda _: b"",
    "no UTF-8": lambda _: b'{"rows": "\xff"}',
    "a list": lambda a: a["rows"],
    "null": lambda _: None,
    "deep": lambda _: b"[" * 100_000,
    "no rows": lambda a: {**a, "rows": None},
    "a row too few": lambda a: {**a, "rows": a["rows"][1:]},
    "a row too many": lambda a: {**a, "rows": a["rows"] + a["rows"][:1]},
    "another order": lambda a: {**a, "rows": a["rows"][::-1]},
    "other rows": lambda a: row(a, location="b.py:2"),
    "rows of texts": lambda a: {**a, "rows": ["x"] * len(a["rows"])},
    "a number for a name": lambda a: row(a, symbol=1),
    "a text for a line": lambda a: row(a, start="1"),
    "true for a line": lambda a: row(a, start=True),
    "no digest": lambda a: row(a, digest=None),
    "neighbours that are none": lambda a: {**a, "neighbours": [1]},
    "a revision of lines": lambda a: {**a, "revision": "a\nb"},
    "9 MB": lambda a: json.dumps(a).encode() + b" " * 9_000_000,
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_no_answer(tree: Path, server: EnclosingServer, kind: str) -> None:
    """Any other shape than the promised one: the output stays raw, also where most rows are right."""
    server.reply = NONSENSE[kind]
    with pytest.raises(Raw):
        annotated(tree, asked(tree, server.url))


@pytest.mark.parametrize(
    "fields", [{"end": 1}, {"start": 3}, {"start": 0}, {"end": 99}, {"digest": "0" * 32}]
)
def test_a_row_that_cannot_be_about_the_line_is_unresolved(
    tree: Path, server: EnclosingServer, fields: dict[str, Any]
) -> None:
    """A range that does not hold the line, or leaves the file; another digest."""
    server.reply = lambda answer: row(answer, **fields)
    assert annotated(tree, asked(tree, server.url)).text == NAMED.replace("limit = 3 ⟵ Store", "limit = 3")


@pytest.mark.parametrize("status", [204, 301, 400, 401, 403, 404, 413, 422, 429, 500, 503])
def test_any_other_status_is_no_answer(tree: Path, server: EnclosingServer, status: int) -> None:
    """A wrong token, a redirection, a fault: raw."""
    server.status = status
    with pytest.raises(Raw):
        annotated(tree, asked(tree, server.url))


@pytest.mark.parametrize("how", [{"seconds": 5.0}, {"drip": 0.2}, {"drip": 0.001, "seconds": 0.2}])
def test_a_slow_server_costs_its_time_and_no_more(
    tree: Path, server: EnclosingServer, how: dict[str, float]
) -> None:
    """One that sleeps, and one that sends a byte now and then."""
    for name, value in how.items():
        setattr(server, name, value)
    began = time.monotonic()
    with pytest.raises(Raw):
        annotated(tree, asked(tree, server.url, seconds=0.4))
    assert 0.3 < time.monotonic() - began < 4


def test_a_server_that_is_not_there(tree: Path) -> None:
    """Nothing listens, or what listens never answers, or the connection ends early."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(Raw):
            annotated(tree, asked(tree, url, seconds=0.3))
    with pytest.raises(Raw):
        annotated(tree, asked(tree, url))


def test_an_answer_that_ends_in_its_middle(tree: Path, server: EnclosingServer) -> None:
    """The server is killed while it sends."""
    server.cut = True
    with pytest.raises(Raw):
        annotated(tree, asked(tree, server.url))


@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/", "127.0.0.1:80", "http://", "http://[::1", "http://127.0.0.1:x", "http://a b/", "x"],
)
def test_addresses_that_are_none(tree: Path, url: str) -> None:
    """Raw, not a traceback."""
    with pytest.raises(Raw):
        annotated(tree, asked(tree, url, seconds=2))


def test_https_is_spoken_with_a_checked_certificate(tree: Path, server: EnclosingServer) -> None:
    """A server without TLS behind an https address is refused."""
    with pytest.raises(Raw):
        annotated(tree, asked(tree, server.url.replace("http:", "https:"), seconds=2))


def test_a_token_that_no_header_can_hold(tree: Path, server: EnclosingServer) -> None:
    """A line end in it must not begin another header; nor does it stand in what is told of it."""
    with pytest.raises(Raw) as told:
        annotated(tree, asked(tree, server.url, SLICEGREP_API_KEY="a\nX-Role: admin"))
    assert "admin" not in str(told.value)
    assert server.calls == []


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Served]]:
    """Run `slicegrep serve` on a tree in a process of its own."""
    base = tmp_path_factory.mktemp("service")
    many = "".join(f"def f{n}(): return {n}\n" for n in range(450))
    write(base / "tree", {"a.py": TEXT, "sub/b.py": TEXT, "sub/e\u0301 f.py": TEXT, "many.py": many})
    (base / "served").mkdir()
    with serving(base / "served", "--namespace", f"shop={base / 'tree'}") as running:
        yield base / "tree", running


def test_the_real_service(service: tuple[Path, Served]) -> None:
    """The same names as from the tree, in several calls, for names with letters beyond ASCII too."""
    tree, running = service
    url = f"http://127.0.0.1:{running.port}"
    text = HITS + "sub/e\u0301 f.py:2:    limit = 3\n"
    text += "".join(f"many.py:{n + 1}:def f{n}(): return {n}\n" for n in range(450))
    home = str(tree.parent / "home")
    local = answers_of({}, Knobs({}), os.path.realpath(tree), home, time.monotonic() + 30)
    wanted = annotated(tree, local, text).text
    assert wanted.count("⟵") == 454
    for namespace in ("", "shop"):
        answers = asked(tree, url, SLICEGREP_API_KEY=running.token, SLICEGREP_CODE_NAMESPACE=namespace)
        assert annotated(tree, answers, text).text == wanted
        assert answers.source == "server"  # a tree without git has no commit


def test_what_the_real_service_refuses(service: tuple[Path, Served]) -> None:
    """A wrong token, an unknown namespace: raw. A file that is another here than there: unresolved."""
    tree, running = service
    url = f"http://127.0.0.1:{running.port}"
    with pytest.raises(Raw, match="refused the token"):
        annotated(tree, asked(tree, url))
    with pytest.raises(Raw, match="does not know the namespace"):
        annotated(tree, asked(tree, url, SLICEGREP_API_KEY=running.token, SLICEGREP_CODE_NAMESPACE="none"))
    other = tree.parent / "other"
    write(other, {"a.py": TEXT + "\n", "sub/b.py": TEXT, "new.py": TEXT})
    found = annotated(
        other, asked(other, url, SLICEGREP_API_KEY=running.token), HITS + "new.py:2:    limit = 3\n"
    )
    assert found.text == HITS.replace(
        "b.py:5:        return key", "b.py:5:        return key ⟵ Store.fetch"
    ) + ("new.py:2:    limit = 3\n")
