"""Where the shim's answers come from: the tree at hand, or the server that environment, configuration and token file name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from enclosing_server import EnclosingServer, enclosing_server
from index_told import PLUGIN, write
from slicegrep.index import let_go, open_view
from slicegrep.shim.answers import Answers, Raw, answers_of
from slicegrep.shim.knobs import Knobs
from slicegrep.source import read_source

TEXT = "class Store:\n    limit = 3\n\n    def fetch(self, key):\n        return key\n\nx = 1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a tree of one file."""
    write(tmp_path / "tree", {"a.py": TEXT})
    return tmp_path / "tree"


@pytest.fixture
def server(tree: Path) -> Iterator[EnclosingServer]:
    """Serve that tree."""
    with enclosing_server(tree) as running:
        yield running


def answers(tree: Path, environment: dict[str, str]) -> Answers:
    """Return what the environment leads to; the home folder is beside the tree."""
    home = str(tree.parent / "home")
    return answers_of(environment, Knobs(environment), os.path.realpath(tree), home, time.monotonic() + 30)


def names(tree: Path, found: Answers) -> list[str]:
    """Return the names around lines 2, 5 and 7."""
    source = read_source(str(tree / "a.py"))
    assert source is not None
    [symbols] = found.definitions_of([(source, [2, 5, 7])])
    return [symbol.qualified if symbol else "" for symbol in symbols]


NAMES = ["Store", "Store.fetch", ""]


def test_nothing_named_is_the_tree_itself(tree: Path) -> None:
    """No server, no token, no index, no commit: the files as they are."""
    found = answers(tree, {})
    assert names(tree, found) == NAMES
    assert found.source == "working tree"


def test_the_commit_is_told_without_starting_git(tree: Path, tmp_path: Path) -> None:
    """HEAD of the tree, and of a linked work tree, whose refs are elsewhere; also when they are packed."""

    def git(*words: str) -> str:
        name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(
            ["git", "-C", str(tree), *name, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    assert answers(tree, {}).source == "working tree"
    git("add", ".")
    git("commit", "-qm", "one")
    git("worktree", "add", "-qb", "other", str(tmp_path / "other"))
    git("commit", "-qm", "two", "--allow-empty")
    for _ in range(2):
        for folder, name in ((tree, "HEAD"), (tmp_path / "other", "other")):
            assert answers(folder, {}).source == f"working tree at {git('rev-parse', name)[:10]}"
        git("pack-refs", "--all")


def test_the_index_is_used_where_it_is_true(tree: Path, tmp_path: Path) -> None:
    """The names are the same with an index, and after an edit that it has not seen."""
    open_view(str(tree), str(tmp_path / "home"))
    let_go()
    found = answers(tree, {})
    assert (names(tree, found), found.source) == (NAMES, "index")
    (tree / "a.py").write_text("\n" + TEXT)
    found = answers(tree, {})
    assert (names(tree, found), found.source) == (["Store", "Store.fetch", ""], "working tree")
    (tree / "a.py").write_text("\n\n" + TEXT)
    assert names(tree, answers(tree, {})) == ["", "Store", "Store.fetch"]


def place(home: Path, files: dict[str, str]) -> None:
    """Write configuration and token files: `new/` is the home folder, `old/` the older one."""
    for name, text in files.items():
        folder, _, rest = name.partition("/")
        write({"new": home / "home", "old": home / ".loom", "own": home / "own"}[folder], {rest: text})


CONFIG = {"url": "URL", "token": "from config", "namespace": "of config", "timeout": 5}
CASES = {
    "environment": ({"SLICEGREP_API_KEY": "k", "SLICEGREP_BASE_URL": "URL"}, {}, ("k", None)),
    "older names": (
        {"LOOM_API_KEY": "k", "LOOM_BASE_URL": "URL", "LOOM_CODE_NAMESPACE": "n", "LOOM_AGENT": "grep-shim"},
        {},
        ("k", "n"),
    ),
    "new names win": (
        {"LOOM_API_KEY": "old", "LOOM_BASE_URL": "http://127.0.0.1:1"}
        | {"SLICEGREP_API_KEY": "k", "SLICEGREP_BASE_URL": "URL"},
        {},
        ("k", None),
    ),
    "the configuration": ({}, {"new/config.json": json.dumps(CONFIG)}, ("from config", "of config")),
    "the older configuration": ({}, {"old/config.json": json.dumps(CONFIG)}, ("from config", "of config")),
    "the new one counts where both are there": (
        {},
        {
            "new/config.json": json.dumps(CONFIG),
            "old/config.json": json.dumps({**CONFIG, "url": "http://127.0.0.1:1"}),
        },
        ("from config", "of config"),
    ),
    "the environment comes before the configuration": (
        {"SLICEGREP_BASE_URL": "URL", "SLICEGREP_API_KEY": "k", "SLICEGREP_CODE_NAMESPACE": "n"},
        {"new/config.json": json.dumps({**CONFIG, "url": "http://127.0.0.1:1"})},
        ("k", "n"),
    ),
    "the token file": ({"SLICEGREP_BASE_URL": "URL"}, {"new/token": "  in file\n"}, ("in file", None)),
    "the older token file": ({"SLICEGREP_BASE_URL": "URL"}, {"old/token": "in file\n"}, ("in file", None)),
    "a named token file": (
        {"SLICEGREP_BASE_URL": "URL", "SLICEGREP_API_KEY_FILE": "~/own/t"},
        {"own/t": "own", "new/token": "other", "new/config.json": json.dumps({"token": "another"})},
        ("own", None),
    ),
    "a named configuration": (
        {"LOOM_CONFIG_FILE": "~/own/c"},
        {"own/c": json.dumps(CONFIG), "new/config.json": "{"},
        ("from config", "of config"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_which_server_with_which_token(
    tree: Path, server: EnclosingServer, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """The new name before the older, the environment before the files, the new files before the older."""
    environment, files, (token, namespace) = CASES[case]
    monkeypatch.setenv("HOME", str(tree.parent))
    place(tree.parent, {name: text.replace("URL", server.url) for name, text in files.items()})
    found = answers(tree, {name: value.replace("URL", server.url) for name, value in environment.items()})
    assert names(tree, found) == NAMES
    [headers], [call] = server.headers, server.calls
    assert (headers["Authorization"], call.get("namespace")) == (f"Bearer {token}", namespace)
    assert headers["X-Slicegrep-Agent"] == "grep-shim"


@pytest.mark.parametrize(
    ("environment", "files"),
    [
        ({"SLICEGREP_BASE_URL": "http://127.0.0.1:1"}, {}),
        ({"SLICEGREP_BASE_URL": "http://127.0.0.1:1"}, {"new/token": " \n"}),
        ({}, {"new/config.json": json.dumps({"url": "http://127.0.0.1:1"})}),
        ({}, {"new/config.json": "{"}),
        ({}, {"new/config.json": "[]"}),
        ({}, {"new/config.json": '{"url": 1}'}),
        ({}, {"new/config.json": "[" * 60_000}),
        ({"SLICEGREP_CONFIG_FILE": "/"}, {}),
        ({"SLICEGREP_CONFIG_FILE": "/nowhere"}, {"new/token": "t"}),
        ({"SLICEGREP_BASE_URL": "http://127.0.0.1:1", "SLICEGREP_API_KEY_FILE": "/"}, {}),
    ],
)
def test_a_server_that_cannot_be_asked_means_raw_output(
    tree: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], files: dict[str, str]
) -> None:
    """No token, a file that is not what it should be: never the tree in a server's place."""
    monkeypatch.setenv("HOME", str(tree.parent))
    place(tree.parent, files)
    with pytest.raises(Raw):
        answers(tree, environment)


def test_a_configuration_without_a_server_is_the_tree_itself(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token alone names no server; nor does an empty file."""
    monkeypatch.setenv("HOME", str(tree.parent))
    for text in ('{"token": "t"}', "", "{}"):
        place(tree.parent, {"new/config.json": text, "new/token": "t"})
        assert names(tree, answers(tree, {"SLICEGREP_API_KEY": "k"})) == NAMES


def test_a_token_file_that_others_can_read_is_used(
    tree: Path, server: EnclosingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ssh-less tools do: it is the person's own file."""
    monkeypatch.setenv("HOME", str(tree.parent))
    place(tree.parent, {"new/token": "t"})
    (tree.parent / "home/token").chmod(0o644)
    assert names(tree, answers(tree, {"SLICEGREP_BASE_URL": server.url})) == NAMES


def test_the_local_way_loads_no_network_and_no_models(tree: Path) -> None:
    """A search with few hits must not pay for http, pydantic or a database package."""
    code = f"""
import sys, time
sys.path.insert(0, {PLUGIN!r})
from slicegrep.shim.answers import answers_of
from slicegrep.shim.knobs import Knobs
answers = answers_of({{}}, Knobs({{}}), {os.path.realpath(tree)!r}, "/nonexistent", time.monotonic() + 9)
print(answers.source, answers.definitions_of([]))
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    told, modules = done.stdout.splitlines()
    assert told == "working tree []"
    heavy = {"http", "http.client", "ssl", "json", "sqlite3", "pydantic", "tree_sitter", "threading"}
    assert not heavy & set(modules.split())
