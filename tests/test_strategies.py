"""The strategies that figures are compared with, on a tree small enough to see through; tests/run brings tiktoken's vocabulary."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from strategies import STRATEGIES, count_tokens, pack, tree_of

BASELINES = [name for name in STRATEGIES if name != "slicegrep"]
SPARSE = "".join(f"def helper_{n}(value):\n    return value + {n}\n\n\n" for n in range(60))
INVOICE = """class InvoicePrinter:
    def print_invoice(self, invoice):
        for line in invoice.lines:
            self.page.write(line)
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Make a tree of code, a test, documentation and what no strategy sees."""
    files = {
        "src/sparse.py": SPARSE,
        "src/billing.py": f"{SPARSE}{INVOICE}",
        "tests/test_billing.py": "def test_invoice_printer():\n    assert InvoicePrinter().print_invoice\n",
        "docs/guide.md": "The invoice printer prints an invoice, line by line.\n",
        "ignored/copy.py": INVOICE,
        ".gitignore": "ignored/\n",
        "data.bin": "invoice printer\0",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(tmp_path)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_definition_that_the_query_names_is_shown(root: str, name: str) -> None:
    """Among sixty other functions every strategy finds the one class that is asked for."""
    slices = STRATEGIES[name](root).slices("where is InvoicePrinter", 600)
    line = SPARSE.count("\n") + 1
    assert any(part.file == "src/billing.py" and part.start <= line <= part.end for part in slices)


@pytest.mark.parametrize("name", BASELINES)
def test_a_cap_is_kept_and_used_up(root: str, name: str) -> None:
    """All that is shown costs the cap at most, and less than a line less where there is more to show."""
    shown = "".join(part.text for part in STRATEGIES[name](root).slices("helper return value invoice", 500))
    assert 480 <= count_tokens(shown) <= 500


@pytest.mark.parametrize("name", BASELINES)
def test_a_slice_claims_just_the_lines_that_it_shows(root: str, name: str) -> None:
    """Also the last one, which is cut."""
    for part in STRATEGIES[name](root).slices("helper return value", 300):
        header, *rows = part.text.rstrip("\n").split("\n")
        lines = Path(root, part.file).read_text().split("\n")
        assert header == f"{part.file}:{part.start}-{part.end}"
        assert rows == [f"{n}\t{lines[n - 1]}" for n in range(part.start, part.end + 1)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_line_is_shown_twice(root: str, name: str) -> None:
    """Tokens are not spent again on what is there already."""
    slices = STRATEGIES[name](root).slices("helper return value invoice printer", 3000)
    lines = [(part.file, line) for part in slices for line in range(part.start, part.end + 1)]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("name", STRATEGIES)
def test_ignored_and_binary_files_are_not_seen(root: str, name: str) -> None:
    """The strategies see what a search that honours .gitignore sees."""
    files = {part.file for part in STRATEGIES[name](root).slices("invoice printer", 3000)}
    assert "src/billing.py" in files
    assert files.isdisjoint({"ignored/copy.py", "data.bin"})


@pytest.mark.parametrize("name", BASELINES)
def test_documentation_is_left_out_where_code_alone_can_answer(root: str, name: str) -> None:
    """`code_only` takes it away; without it, it is there."""
    strategy = STRATEGIES[name]
    everywhere = {part.file for part in strategy(root).slices("invoice printer", 3000)}
    code = {part.file for part in strategy(root, code_only=True).slices("invoice printer", 3000)}
    assert everywhere - code == {"docs/guide.md"}


def test_only_the_baseline_that_says_so_leaves_tests_out(root: str) -> None:
    """The others are not told that tests are not asked for."""
    shows = {
        name: "tests/test_billing.py"
        in {part.file for part in STRATEGIES[name](root).slices("InvoicePrinter", 3000)}
        for name in BASELINES
    }
    assert [name for name, there in shows.items() if not there] == ["sub-word BM25 without tests"]


@pytest.mark.parametrize(
    ("name", "finds"), [("BM25 windows", False), ("sub-word BM25", True), ("AST-chunk TF-IDF", True)]
)
def test_parts_of_a_name_find_it_only_by_sub_words(root: str, name: str, *, finds: bool) -> None:
    """`printers of invoices` has no whole word in common with InvoicePrinter."""
    files = {
        part.file for part in STRATEGIES[name](root, code_only=True).slices("printers of invoices", 3000)
    }
    assert ("src/billing.py" in files) is finds


@pytest.mark.parametrize("name", BASELINES)
def test_a_query_without_a_word_to_look_for_has_no_answer(root: str, name: str) -> None:
    """Stop-words and signs alone rank nothing."""
    assert STRATEGIES[name](root).slices("where is the .*", 1000) == []


def test_nothing_is_shown_where_not_even_a_line_fits(root: str) -> None:
    """A header without a line would cost tokens and show nothing."""
    tree = tree_of(root)
    assert pack(tree, tree.windows(), 5) == []
