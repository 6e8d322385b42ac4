"""Token counts: the estimate leans high and is quick, the exact one never touches the network."""

from __future__ import annotations

import base64
import os
import random
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from slicegrep.o200k import RANKS_NAME, VOCABULARY_NAME, open_ranks, pieces_of
from slicegrep.pieces import PIECE, Prices
from slicegrep.tokens import counter, estimate, exact_encoder, weigh

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = os.environ.get("TIKTOKEN_CACHE_DIR", "")
STDLIB = Path(sysconfig.get_path("stdlib"))
MODULES = ["argparse", "ast", "calendar", "codecs", "configparser", "copy", "csv", "datetime", "decimal", "difflib", "enum", "functools", "heapq", "inspect", "ipaddress", "json/decoder", "logging/__init__", "mailbox", "optparse", "os", "pathlib", "pickle", "platform", "plistlib", "random", "shutil", "smtplib", "socket", "ssl", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap", "threading", "tokenize", "trace", "traceback", "turtle", "typing", "unittest/case", "unittest/mock", "urllib/parse", "uuid", "weakref", "webbrowser", "xml/dom/minidom", "zipfile"]  # fmt: skip


@pytest.fixture(scope="module")
def true() -> Callable[[str], int]:
    """Return tiktoken's own count; the tests' runner puts the vocabulary where TIKTOKEN_CACHE_DIR says."""
    assert (Path(VOCABULARY) / VOCABULARY_NAME).is_file(), "no vocabulary: run the tests by tests/run"
    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """Return the project's exact count."""
    folder = tmp_path_factory.mktemp("vocab")
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, folder)
    encoder = exact_encoder(str(folder))
    assert encoder is not None
    return encoder


def chunks() -> list[str]:
    """Return 100-line chunks of the standard library."""
    found = []
    for name in MODULES:
        path = STDLIB / f"{name}.py"
        lines = path.read_text("utf-8").split("\n") if path.exists() else []
        found += ["\n".join(lines[i : i + 100]) + "\n" for i in range(0, len(lines) - 99, 100)]
    return found


def test_chunks_of_code_are_hardly_ever_below_and_little_above(true: Callable[[str], int]) -> None:
    """Over 95% of 100-line chunks are not below the true count; their median is no more than 6% above it."""
    ratios = [estimate(text) / true(text) for text in chunks()]
    assert len(ratios) > 200
    assert sum(ratio >= 1 for ratio in ratios) / len(ratios) > 0.95
    assert median(ratios) <= 1.06
    assert min(ratios) > 0.9


def test_numbered_lines_are_estimated_as_well(true: Callable[[str], int]) -> None:
    """Slices carry line numbers as Read shows them; each line weighed by itself adds up to the same."""
    by_line, whole = [], []
    for text in chunks()[::4]:
        lines = [f"{number}\t{line}\n" for number, line in enumerate(text.split("\n")[:-1], 1234)]
        tokens = true("".join(lines))
        whole.append(estimate("".join(lines)) / tokens)
        by_line.append(sum(map(weigh, lines)) / tokens)
    for ratios in (whole, by_line):
        assert sum(ratio >= 1 for ratio in ratios) / len(ratios) > 0.95
        assert median(ratios) <= 1.06


WRITTEN = {
    "javascript": "export async function loadUser(id) {\n  const res = await fetch(`/api/users/${id}`);\n  if (!res.ok) throw new HttpError(res.status);\n  return { ...(await res.json()), loadedAt: Date.now() };\n}\n",
    "tsx": 'export const Row: React.FC<RowProps> = ({ item, onSelect }) => (\n  <li className={cx("row", item.done && "row--done")} onClick={() => onSelect(item.id)}>\n    {item.title ?? <em>untitled</em>}\n  </li>\n);\n',
    "go": 'func (s *Server) handleGet(w http.ResponseWriter, r *http.Request) error {\n\tid, err := strconv.Atoi(r.URL.Query().Get("id"))\n\tif err != nil {\n\t\treturn fmt.Errorf("bad id: %w", err)\n\t}\n\treturn json.NewEncoder(w).Encode(s.store[id])\n}\n',
    "rust": "impl<'a, T: Ord + Clone> Iterator for Merge<'a, T> {\n    type Item = T;\n    fn next(&mut self) -> Option<Self::Item> {\n        match (self.left.peek(), self.right.peek()) {\n            (Some(l), Some(r)) if l <= r => self.left.next().cloned(),\n            _ => self.right.next().cloned(),\n        }\n    }\n}\n",
    "java": "@Override\npublic Optional<Account> findByOwner(final String owner) {\n    return accounts.stream().filter(a -> a.getOwner().equals(owner)).findFirst();\n}\n",
    "c": "#define RING_MASK(r) ((r)->size - 1)\nstatic int ring_push(struct ring *r, uint8_t byte)\n{\n    if (((r->head + 1) & RING_MASK(r)) == r->tail)\n        return -ENOSPC;\n    r->buf[r->head] = byte;\n    return 0;\n}\n",
    "php": "<?php\nfinal class Mailer implements MailerInterface\n{\n    public function send(Message $message): void\n    {\n        $this->transport->deliver($message->withHeader('X-Id', uniqid('', true)));\n    }\n}\n",
    "ruby": 'class Queue\n  def drain(limit: 10)\n    items.shift(limit).each { |item| yield item if block_given? }\n  rescue Timeout::Error => e\n    logger.warn("drain: #{e.message}")\n  end\nend\n',
    "sql": "SELECT o.id, c.name, SUM(l.price * l.quantity) AS total\nFROM orders o\nJOIN customers c ON c.id = o.customer_id\nLEFT JOIN order_lines l ON l.order_id = o.id\nWHERE o.created_at >= NOW() - INTERVAL '30 days'\nGROUP BY o.id, c.name\nHAVING SUM(l.price) > 100\nORDER BY total DESC;\n",
    "minified": '!function(e,t){"object"==typeof exports?module.exports=t():e.Lib=t()}(this,function(){var e={},n=0;function r(t){return e[t]||(e[t]={i:t,l:!1})}return r.m=e,r.c=n,r(0)});\n',
    "chinese": "# 读取配置文件。如果不存在则使用默认值\ndef load(path):\n    # 返回一个字典。键为小写\n    return {}\n",
    "russian": "# Возвращает список пользователей, отсортированный по дате регистрации\ndef users():\n    return []  # пока пусто\n",
    "german": "# Prüft, ob die Größe der Datei zulässig ist, und gibt sonst einen Fehler zurück\n",
    "emoji": 'LABELS = {"ok": "✅", "bad": "❌", "wait": "⏳", "ship": "🚀", "bug": "🐛"}\n',
    "boxes": "├── src\n│   ├── main.rs\n│   └── lib.rs\n└── Cargo.toml\n",
    "traceback": 'Traceback (most recent call last):\n  File "/srv/app/core.py", line 496, in dispatch\n    raise KeyError(name) from None\nKeyError: \'handler\'\n',
    "rules": "# " + "=" * 76 + "\n// " + "-" * 70 + "\n" + "/" * 80 + "\n",
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_short_texts_of_every_kind_are_not_far_below(true: Callable[[str], int], name: str) -> None:
    """Whatever the language or script, the estimate is at most 5% below, and does not run away above."""
    tokens = true(WRITTEN[name])
    assert 0.95 * tokens <= estimate(WRITTEN[name]) <= 1.6 * tokens + 2


def test_data_in_text_is_not_far_below(true: Callable[[str], int]) -> None:
    """Base64, hex, identifiers and numbers, of which lock files and fixtures are full."""
    source = random.Random(11)
    rows = {
        "base64": [base64.b64encode(source.randbytes(57)).decode() for _ in range(100)],
        "hex": [source.randbytes(32).hex() for _ in range(100)],
        "bytes": [", ".join(f"0x{b:02x}" for b in source.randbytes(12)) for _ in range(100)],
        "floats": [",".join(f"{source.random() * 1000:.4f}" for _ in range(8)) for _ in range(100)],
        "words": [
            "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randrange(3, 20)))
            for _ in range(300)
        ],
    }
    for name, lines in rows.items():
        text = "\n".join(lines)
        assert 0.93 * true(text) <= estimate(text) <= 1.2 * true(text), name


def test_weights_add_up_over_lines() -> None:
    """A text's weight is that of its lines, but for empty ones, which join the line before: nothing is rounded."""
    for text in chunks()[::20]:
        lines = text.splitlines(keepends=True)
        assert sum(map(weigh, lines)) == pytest.approx(weigh(text), rel=0.06)


def test_a_giant_text_is_measured_in_samples() -> None:
    """Above 1,000,000 characters the estimate stays near what the whole would give, and costs no more."""
    text = "".join(chunks())
    text *= 1_100_000 // len(text) + 1
    near = sum(weigh(text[i : i + 900_000]) for i in range(0, len(text), 900_000))
    assert estimate(text) == pytest.approx(near, rel=0.05)
    started = time.process_time()
    estimate(text * 8)
    assert time.process_time() - started < 1  # 0.04 s


@pytest.mark.parametrize(
    "unit", ["a", "A", " ", "\n", " \n", "\t x", "=", "!@#$", "aB3/", "xqz jvk ", "中", "🚀", "\0", "\r"]
)
def test_no_text_takes_long(unit: str) -> None:
    """900,000 characters of anything take about what code takes: a minified or generated line is no trap."""
    text = unit * (900_000 // len(unit))
    started = time.process_time()
    assert estimate(text) > 0
    assert time.process_time() - started < 2  # 0.01 to 0.1 s


@given(st.text())
def test_pieces_leave_nothing_out(text: str) -> None:
    """Every character belongs to one piece, in order; any text has an estimate, and only an empty one is free."""
    assert "".join(PIECE.findall(text)) == text
    assert (estimate(text) > 0) == bool(text)


def test_the_memo_of_prices_is_bounded() -> None:
    """A resident engine that reads new words for weeks does not grow, and prices stay what they were."""
    prices = Prices()
    before = prices[" frobnicate"]
    for number in range(120_000):
        prices[f" {number:x}".translate({48 + d: 103 + d for d in range(10)})]
    assert len(prices) < 50_000
    assert prices[" frobnicate"] == before


ODD_PARTS = [
    "a", "B", "Ab", "\u017f", "'s", "'S", "'ll", "'LL", "'\u017f", "'re", " ", "  ", "\n", "\r\n", "\t", "\u3000", "\xa0", "é", "É", "中文", "ǅ",
    "ʰ", "\u0301", "12", "3456", "٣", "²", "—", "/", "//", "<|endoftext|>", "🚀", "👩‍🚀", "⠿", "\x1c", "\x85", "\u2028", "İ", "ß", "\0", "=",
    "\ufeff", "{}", "();", "_", "__init__", "ﬁ", "ᵃ", "\U0001d518", "\u200b", "한국", "รับ", "\u0627",
]  # fmt: skip


@settings(max_examples=600)
@given(st.lists(st.sampled_from(ODD_PARTS), max_size=30))
def test_the_exact_count_is_tiktokens_on_odd_mixtures(
    true: Callable[[str], int], exact: Callable[[str], int], parts: list[str]
) -> None:
    """Every kind of character beside every other: letters without a case, marks, digits, spaces, signs, contractions."""
    text = "".join(parts)
    assert "".join(pieces_of(text)) == text
    assert exact(text) == true(text)


@given(st.text(st.characters(exclude_categories=["Cn", "Cs"])))
def test_the_exact_count_is_tiktokens_on_any_text(
    true: Callable[[str], int], exact: Callable[[str], int], text: str
) -> None:
    """Whatever characters stand beside each other."""
    assert exact(text) == true(text)


def test_the_exact_count_is_tiktokens_on_real_files(
    true: Callable[[str], int], exact: Callable[[str], int]
) -> None:
    """Code, prose, data and generated tables, whole."""
    texts = [*chunks()[::3], *WRITTEN.values()]
    root = Path(__file__).parents[1]
    texts += [
        path.read_text("utf-8") for path in [*root.glob("docs/*.md"), *root.glob("plugin/slicegrep/*.py")]
    ]
    assert len(texts) > 100
    assert [exact(text) for text in texts] == [true(text) for text in texts]


def test_the_exact_count_takes_text_as_text(true: Callable[[str], int], exact: Callable[[str], int]) -> None:
    """Text that looks like a special token is counted as it stands; half a surrogate pair is what tiktoken makes of it."""
    assert exact("hello world") == 2
    assert exact("<|endoftext|>") > 1
    for text in (
        "\ud83d",
        "name\udcff.py",
        "",
        " " * 3_000,
        "\n" * 900,
        "⠿" * 500,
        "aB3/" * 800,
        "a" * 2_000,
    ):
        assert exact(text) == true(text)


@pytest.mark.parametrize("unit", ["a", "xqz", " ", "\n", "=", "中", "🚀", "A"])
def test_no_text_is_counted_for_long(exact: Callable[[str], int], unit: str) -> None:
    """One piece of 50,000 characters is merged in half a second, not in minutes."""
    started = time.process_time()
    assert exact(unit * (50_000 // len(unit))) > 0
    assert time.process_time() - started < 5


def test_the_memo_of_exact_counts_is_bounded(exact: Callable[[str], int]) -> None:
    """A resident engine that reads new words for weeks does not grow, and counts stay what they were."""
    memo = exact.__self__  # type: ignore[attr-defined]
    before = exact(" frobnicate")
    for number in range(0, 150_000, 50):
        exact(
            " ".join(
                f"{n:x}".translate({48 + d: 103 + d for d in range(10)}) for n in range(number, number + 50)
            )
        )
    assert len(memo) <= 60_000
    assert exact(" frobnicate") == before


def test_the_counter_says_whether_it_is_exact(tmp_path: Path) -> None:
    """With the vocabulary the count is tiktoken's; without, the estimate, marked as such."""
    assert counter(str(tmp_path)) == (estimate, False)
    assert counter("") == (estimate, False)
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, tmp_path)
    count, is_exact = counter(str(tmp_path))
    assert (count("hello world"), is_exact) == (2, True)


def test_the_second_form_of_the_vocabulary_is_enough(tmp_path: Path) -> None:
    """It is made at the first count, private, and serves alone from then on."""
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, tmp_path)
    first = open_ranks(str(tmp_path))
    made = tmp_path / RANKS_NAME
    assert made.stat().st_mode & 0o077 == 0 or os.name == "nt"
    (tmp_path / VOCABULARY_NAME).unlink()
    again = open_ranks(str(tmp_path))
    assert first and again
    assert [again.of(token) for token in (b"!", b" the", b"hello world")] == [0, 290, -1]
    assert first.of(b" the") == 290


@pytest.mark.parametrize("damage", ["empty", "short", "changed", "other version", "folder"])
def test_a_damaged_second_form_is_not_used(tmp_path: Path, damage: str) -> None:
    """It is made again where tiktoken's file is there; else there is no exact count."""
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, tmp_path)
    open_ranks(str(tmp_path))
    made = tmp_path / RANKS_NAME
    data = made.read_bytes()
    if damage == "folder":
        made.unlink()
        made.mkdir()
    else:
        made.write_bytes(
            {
                "empty": b"",
                "short": data[:-9],
                "changed": data[:99_999] + b"?" + data[100_000:],
                "other version": data.replace(b" 1\n", b" 0\n", 1),
            }[damage]
        )
    ranks = open_ranks(str(tmp_path))
    assert ranks is not None
    assert ranks.of(b" the") == 290
    assert damage == "folder" or made.read_bytes() == data
    if damage != "folder":
        made.write_bytes(data[:-9])
    (tmp_path / VOCABULARY_NAME).unlink()
    assert open_ranks(str(tmp_path)) is None


@pytest.mark.parametrize("damage", ["missing", "empty", "short", "changed", "folder"])
def test_a_vocabulary_that_is_not_whole_is_never_fetched(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiktoken would delete a damaged file and download another: it is not asked."""
    path = tmp_path / VOCABULARY_NAME
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, path)
        data = path.read_bytes()
        path.write_bytes({"empty": b"", "short": data[:-10], "changed": data[:-1] + b"0"}[damage])
    there = path.stat().st_size if path.is_file() else None

    def refuse(*_: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert exact_encoder(str(tmp_path)) is None
    assert (path.stat().st_size if path.is_file() else None) == there


def test_an_estimate_imports_nothing_heavy() -> None:
    """The hook's cold path estimates without tiktoken, its vocabulary, or the modules that they bring."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1] / 'plugin')!r});"
        "from slicegrep.tokens import estimate; estimate('x = 1');"
        "print(sorted({'tiktoken', 'hashlib', 'typing', 'pathlib', 'regex', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_an_exact_count_in_a_cold_process_loads_no_tiktoken(
    exact: Callable[[str], int], tmp_path: Path
) -> None:
    """Loading tiktoken's merges takes a quarter of a second: a command line has no time for it."""
    shutil.copy(Path(VOCABULARY) / VOCABULARY_NAME, tmp_path)
    open_ranks(str(tmp_path))
    text = chunks()[0]
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1] / 'plugin')!r});"
        f"from slicegrep.tokens import counter; count, exact = counter({str(tmp_path)!r}); n = count({text!r});"
        "print(n, exact, sorted({'tiktoken', 'regex', 'sqlite3', 'hashlib', 'typing'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{exact(text)} True []"
