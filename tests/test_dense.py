"""The optional dense stage, with a model of eight words that the tests make."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from slicegrep.candidates import Candidate
from slicegrep.dense import DenseKnobs, knobs_of, with_dense
from slicegrep.index import open_view
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

ALIKE = {"invoice": (1, 0), "bill": (1, 0), "socket": (0, 1), "connection": (0, 1)}
"""What the model knows: a bill is an invoice, a connection a socket."""
FILES = {
    "src/billing.py": "def send(customer):\n    return invoice(customer)\n",
    "src/net.py": "def reach(host):\n    return socket(host)\n",
    "tests/test_billing.py": "def test_send():\n    assert invoice(1)\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree of three files, none of which holds the word `bill`."""
    root = tmp_path / "tree"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a home folder with the model in it."""
    home = tmp_path / "home"
    save_model(home / "models" / "tiny")
    return home


def save_model(folder: Path) -> None:
    words = ["[UNK]", *ALIKE]
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    vectors = np.array([(0, 0), *ALIKE.values()], "float32")
    folder.mkdir(parents=True)
    StaticModel(vectors, tokenizer).save_pretrained(folder)


def asked(
    tree: Path, home: Path, text: str = "the bill", *found: Candidate, **knobs: float | str | bool
) -> list[str]:
    """Return the files of the answer, in order."""
    view = open_view(str(tree), str(home))
    answer = with_dense(list(found), view, text, home=str(home), knobs=DenseKnobs(**knobs))
    return [one.file for one in answer]


def lexical(file: str, start: int = 1, end: int = 2) -> Candidate:
    return Candidate(file, start, end, 50.0)


def test_a_place_that_shares_no_word_with_the_query_joins_the_candidates(tree: Path, home: Path) -> None:
    """What the model finds alike comes with its definition and the reason; tests and the unlike do not."""
    view = open_view(str(tree), str(home))
    (found,) = with_dense([], view, "the bill", home=str(home), knobs=DenseKnobs())
    assert (found.file, found.start, found.end, found.symbol) == ("src/billing.py", 1, 2, "send")
    assert found.reasons == ("semantic-recall",)


def test_what_both_orders_name_comes_first(tree: Path, home: Path) -> None:
    """A candidate that the model puts first overtakes one above it that the model does not name, and stays one."""
    assert asked(tree, home, "the bill", lexical("a.py"), lexical("src/billing.py")) == [
        "src/billing.py",
        "a.py",
    ]


def test_what_the_model_does_not_name_keeps_its_order(tree: Path, home: Path) -> None:
    """Fusion moves nothing that it has no opinion on."""
    found = [lexical("c.py"), lexical("a.py"), lexical("b.py")]
    assert asked(tree, home, "neither of the two", *found) == ["c.py", "a.py", "b.py"]


def test_only_the_folder_that_is_searched_is_looked_at(tree: Path, home: Path) -> None:
    """Paths are relative to it."""
    view = open_view(str(tree), str(home))
    inside = with_dense([], view, "the bill", home=str(home), knobs=DenseKnobs(), prefix="src/")
    outside = with_dense([], view, "the bill", home=str(home), knobs=DenseKnobs(), prefix="docs/")
    other = with_dense(
        [], view, "the bill", home=str(home), knobs=DenseKnobs(), only=frozenset({"src/net.py"})
    )
    assert [one.file for one in inside] == ["billing.py"]
    assert outside == other == []


def test_a_model_that_is_named_is_taken(tree: Path, tmp_path: Path) -> None:
    """SLICEGREP_DENSE_MODEL needs nothing in the home folder."""
    save_model(tmp_path / "elsewhere")
    assert asked(tree, tmp_path / "home", model=str(tmp_path / "elsewhere")) == ["src/billing.py"]


@pytest.mark.parametrize("knobs", [{"on": False}, {"seconds": 0.0}, {"model": "minishlab/potion-base-8M"}])
def test_the_candidates_stay_where_the_stage_is_off_late_or_has_no_model(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch, knobs: dict[str, float | str | bool]
) -> None:
    """A name that is no folder is never looked for on the network."""

    def refused(*_: object) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    assert asked(tree, home, "the bill", lexical("a.py"), **knobs) == ["a.py"]


def test_the_candidates_stay_without_model2vec(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra is not installed."""
    monkeypatch.setitem(sys.modules, "model2vec", None)
    assert asked(tree, home, "the bill", lexical("a.py")) == ["a.py"]


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "config.json"])
def test_the_candidates_stay_where_the_model_is_damaged(tree: Path, home: Path, name: str) -> None:
    """Whichever of its files it is."""
    (home / "models" / "tiny" / name).write_bytes(b"{")
    assert asked(tree, home, "the bill", lexical("a.py")) == ["a.py"]


def test_vectors_are_kept_for_the_person_alone(tree: Path, home: Path) -> None:
    """Once made they need no time; the file is beside the index, 0600."""
    assert asked(tree, home, seconds=0.0) == []
    assert asked(tree, home) == ["src/billing.py"]
    assert asked(tree, home, seconds=0.0) == ["src/billing.py"]
    (kept,) = (home / "index").glob("*.dense.npz")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_changed_file_is_looked_at_again(tree: Path, home: Path) -> None:
    """Vectors go with the file's status."""
    assert asked(tree, home, "a connection") == ["src/net.py"]
    (tree / "src/net.py").write_text("def reach(host):\n    return nothing(host)\n")
    assert asked(tree, home, "a connection") == []


def test_kept_vectors_that_cannot_be_read_are_made_again(tree: Path, home: Path) -> None:
    """A disk may hold anything."""
    assert asked(tree, home) == ["src/billing.py"]
    (kept,) = (home / "index").glob("*.dense.npz")
    kept.write_bytes(kept.read_bytes()[:100])
    assert asked(tree, home) == ["src/billing.py"]
    assert len(kept.read_bytes()) > 100


def test_the_environment_is_left_as_it_was(tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps the libraries off the network is set while they load only."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    before = dict(os.environ)
    asked(tree, home)
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("environment", "knobs"),
    [
        ({}, DenseKnobs(on=True, seconds=15.0, model="")),
        ({"SLICEGREP_DENSE": "auto"}, DenseKnobs(on=True)),
        ({"SLICEGREP_DENSE": "OFF"}, DenseKnobs(on=False)),
        (
            {"SLICEGREP_DENSE_TIMEOUT": "2.5", "SLICEGREP_DENSE_MODEL": "/m"},
            DenseKnobs(seconds=2.5, model="/m"),
        ),
        ({"SLICEGREP_DENSE_TIMEOUT": "soon"}, DenseKnobs()),
    ],
)
def test_the_knobs_are_read_from_the_environment(environment: dict[str, str], knobs: DenseKnobs) -> None:
    """What cannot be read counts as not given."""
    assert knobs_of(environment) == knobs
