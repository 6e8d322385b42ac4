"""`slicegrep PATH PATTERN` as a process: what it prints where, and its exit codes."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, command, environment, run

SHOP = """class Cart:
    def add(self, item):
        self.items.append(item)


def total(cart):
    return sum(cart.items)
"""


def give_up_root() -> None:
    """Let permissions hold for the program that is started next, also where the tests run as root."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a folder with a few files, one of them no text."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "notes.md").write_text("# Cart\n\nThe total is a sum.\n")
    (folder / "logo.bin").write_bytes(b"\0\1\2Cart" * 50)
    os.mkfifo(folder / "pipe")
    return folder


def test_a_match_is_0_and_what_is_piped_is_the_rendered_result(tree: Path, tmp_path: Path) -> None:
    """Exactly `Result.render()` and a line end; nothing on standard error."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from slicegrep.search import focused_read\n"
        "sys.stdout.write(focused_read(sys.argv[2], sys.argv[3]).render())"
    )
    wanted = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "plugin"), str(tree), "def total"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "def total(cart):" in wanted
    assert run(tmp_path, str(tree), "def total") == (0, f"{wanted}\n", "")


def test_no_match_is_1_and_says_what_was_not_found(tree: Path, tmp_path: Path) -> None:
    """On standard output, where whoever asked reads it; it is no error."""
    code, out, err = run(tmp_path, str(tree), "checkout_basket")
    assert (code, err) == (1, "")
    assert "NEGATIVE EVIDENCE" in out and "checkout_basket" in out


def test_a_type_that_fits_no_file_is_1_and_says_so(tree: Path, tmp_path: Path) -> None:
    """As with rg; that the pattern is absent is not claimed."""
    code, out, err = run(tmp_path, str(tree), "total", "-t", "php")
    assert (code, err) == (1, "")
    assert "No file was searched: type php fits none of the " in out
    assert "not found" not in out


def test_a_symbol_that_no_line_spells_is_0(tree: Path, tmp_path: Path) -> None:
    """`Cart.add` is written nowhere, and defined: it was found."""
    code, out, _ = run(tmp_path, str(tree), "Cart.add")
    assert code == 0
    assert "def add(self, item):" in out


def test_a_deleted_current_folder_is_named(tree: Path, tmp_path: Path) -> None:
    """As the reason, in one line; an absolute path is searched all the same."""
    gone = tmp_path / "gone"
    for path, code, said in ((".", 2, "the current folder is deleted"), (str(tree), 0, "")):
        gone.mkdir()
        done = subprocess.run(
            command(path, "total"),
            cwd=gone,
            preexec_fn=gone.rmdir,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert said in done.stderr and done.stderr.count("\n") == int(code == 2)


def test_a_file_is_searched_as_a_folder_is(tree: Path, tmp_path: Path) -> None:
    """By its path alone."""
    code, out, _ = run(tmp_path, str(tree / "shop.py"), "class Cart")
    assert code == 0
    assert "class Cart:" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a path and a pattern"),
        (["", "total"], "name a path and a pattern"),
        (["tree"], "a pattern is missing: slicegrep tree PATTERN"),
        (["gone"], "gone: no such file or folder; a command is one of map, "),
        (["gone", "total"], "gone: no such file or folder"),
        (["total", "tree"], "the path comes first: slicegrep tree total"),
        (["tree", ""], "pattern"),
        (["tree", " \t "], "pattern"),
        (["tree", "|"], "pattern"),
        (["tree/logo.bin", "Cart"], "tree/logo.bin"),
        (["tree/pipe", "Cart"], "tree/pipe"),
        (["/dev/zero", "Cart"], "/dev/zero"),
        (["tree", "how", "does", "it"], "not 'does'; quote a pattern of several words"),
        (["tree", "total", "1", "2", "3"], "'3' is one word too many"),
        (["tree", "total", "-1"], "from 0 to 1,000,000, not '-1'"),
        (["tree", "total", "1", "9999999999999999999999"], "from 0 to 1,000,000"),
        (["tree", "total", "-C", "two"], "from 0 to 1,000,000, not 'two'"),
        (["tree", "total", "--budget", "199"], "from 200 to 10,000,000, not '199'"),
        (["tree", "total", "--budget=much"], "from 200 to 10,000,000, not 'much'"),
        (["tree", "total", "--budget", "9" * 5000], "from 200 to 10,000,000"),
        (["tree", "total", "--budget"], "--budget"),
        (["tree", "total", "--boundary", "class"], "--boundary"),
        (["tree", "total", "--objective", "best"], "--objective"),
        (["tree", "total", "--color", "blue"], "--color"),
        (["tree", "total", "--type", "pyton"], "'pyton'"),
        (["tree", "total", "--glob", "{a"], "'{a'"),
        (["tree", "total", "--depth=3"], "there is no option --depth"),
        (["tree", "-XYZ"], "a pattern that begins with - goes after -e"),
        (["tree", "-e"], "-e"),
    ],
)
def test_a_mistake_is_2_with_one_line_that_says_what_to_do(
    tree: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    """And nothing on standard output."""
    code, out, err = run(tmp_path, *words, cwd=tree.parent)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("slicegrep: ")
    assert said in err


def test_a_folder_without_permission_is_2(tree: Path, tmp_path: Path) -> None:
    """It is named, with the reason."""
    tree.chmod(0)
    done = subprocess.run(
        command(str(tree), "total"),
        env=environment(tmp_path),
        preexec_fn=give_up_root,
        capture_output=True,
        text=True,
        check=False,
    )
    tree.chmod(0o755)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and str(tree) in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["tree", "def total", "0", "1", "--boundary=none", "--json"],
        ["--json", "--boundary", "none", "tree", "def total", "0", "1"],
        ["tree", "--json", "def total", "--boundary", "none", "0", "1"],
        ["--json", "--boundary=none", "--", "tree", "def total", "0", "1"],
        ["tree", "-B0", "-A1", "-e", "def total", "--json", "--boundary", "none"],
        ["tree", "def total", "-n", "0", "1", "--json", "--boundary", "none"],
    ],
)
def test_options_stand_anywhere(tree: Path, tmp_path: Path, words: list[str]) -> None:
    """Before, between and after the words; numbers after the pattern are lines before and after."""
    (tree / "shop.py").write_text(
        "".join(f"x{n} = {n}\n" for n in range(100)) + "\n\ndef total(cart):\n    return 1\n"
    )
    code, out, err = run(tmp_path, *words, cwd=tree.parent)
    assert (code, err) == (0, "")
    chunk = json.loads(out)["chunks"][0]
    assert (chunk["file"], chunk["line_start"], chunk["line_end"]) == ("shop.py", 103, 104)


@pytest.mark.parametrize("words", [["-e", "-total"], ["--regexp=-total"], ["--", "-total"], ["-e-total"]])
def test_a_pattern_may_begin_with_a_dash(tree: Path, tmp_path: Path, words: list[str]) -> None:
    """After -e, or after --."""
    (tree / "flags.sh").write_text("run -total 5\n")
    code, out, _ = run(tmp_path, str(tree), *words)
    assert code == 0
    assert "run -total 5" in out


def test_several_patterns_are_alternatives(tree: Path, tmp_path: Path) -> None:
    """Each -e is one, as with grep."""
    _, out, _ = run(tmp_path, str(tree / "shop.py"), "-e", "def add", "-e", "def total", "--json")
    text = "\n".join(chunk["text"] for chunk in json.loads(out)["chunks"])
    assert "def add" in text and "def total" in text


def test_case_counts_only_where_it_is_asked_for(tree: Path, tmp_path: Path) -> None:
    """-s makes it count; of -s and -i the last decides."""
    assert run(tmp_path, str(tree / "shop.py"), "CLASS CART")[0] == 0
    assert run(tmp_path, str(tree / "shop.py"), "-s", "CLASS CART")[0] == 1
    assert run(tmp_path, str(tree / "shop.py"), "-s", "CLASS CART", "-i")[0] == 0


def test_globs_types_hidden_and_ignored_files_choose_what_is_searched(tree: Path, tmp_path: Path) -> None:
    """As with rg."""
    (tree / ".gitignore").write_text("built.py\n")
    (tree / "built.py").write_text("Cart = 1\n")
    (tree / ".secret.py").write_text("Cart = 2\n")

    def found(*options: str) -> set[str]:
        _, out, _ = run(tmp_path, str(tree), "Cart", "--json", *options)
        answer = json.loads(out)
        return {row["file"] for row in [*answer["chunks"], *answer["omitted"]]}

    assert found() == {"shop.py", "notes.md"}
    assert found("-g", "*.md") == {"notes.md"}
    assert found("-g", "!*.md") == {"shop.py"}
    assert found("-t", "py") == {"shop.py"}
    assert found("-tpy", "--type", "markdown") == {"shop.py", "notes.md"}
    assert found("-tpy", "--no-ignore") == {"shop.py", "built.py"}
    assert found("-tpy", "--hidden") == {"shop.py", ".secret.py"}


def test_a_path_with_the_name_of_a_command_is_written_with_its_folder(tmp_path: Path) -> None:
    """`map` is the command; `./map` is the folder."""
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "shop.py").write_text(SHOP)
    assert run(tmp_path, "./map", "class Cart", cwd=tmp_path)[0] == 0
    code, _, err = run(tmp_path, "map", "class Cart", cwd=tmp_path)
    assert (code, err) == (2, "slicegrep: class Cart: no such file\n")


def test_bytes_of_paths_that_are_no_text_are_printed_as_they_are(tree: Path, tmp_path: Path) -> None:
    """In text; JSON has them as lone surrogates, from which a program gets the bytes back."""
    name = b"caf\xe9\n.py"
    (tree / os.fsdecode(name)).write_text("def espresso(): ...\n")
    code, out, _ = run(tmp_path, os.fsencode(tree), "espresso")
    assert code == 0
    assert b"caf\xe9" in os.fsencode(out)
    _, out, _ = run(tmp_path, str(tree), "espresso", "--json")
    assert os.fsencode(json.loads(out)["chunks"][0]["file"]) == name


@pytest.mark.parametrize(
    "variables",
    [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}],
)
def test_every_text_is_printed_whatever_the_locale(
    tree: Path, tmp_path: Path, variables: dict[str, str]
) -> None:
    """As UTF-8, also by a Python that heeds its own variables (`pip install`)."""
    (tree / "menu.py").write_text("café = 'Ё →'\n")
    words = [sys.executable, "-m", "slicegrep", str(tree), "caf"]
    done = subprocess.run(
        words,
        env=environment(tmp_path, PYTHONPATH=str(ROOT / "plugin"), **variables),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "café = 'Ё →'".encode() in done.stdout


@pytest.mark.parametrize("ending", ["| head -1", "| true"])
def test_a_reader_that_leaves_early_is_no_error(tree: Path, tmp_path: Path, ending: str) -> None:
    """Nothing on standard error, whatever size the answer has."""
    (tree / "long.py").write_text("".join(f"total_{n} = {'x' * 40}\n" for n in range(2_000)))
    line = f'"$@" --budget 200000 {ending}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", line, "bash", *command(str(tree), "total_")],
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [(">&-", 0, ""), (">/dev/full", 2, "slicegrep: No space left on device\n"), (">&- 2>&-", 0, "")],
)
def test_an_output_that_cannot_be_written(
    tree: Path, tmp_path: Path, ending: str, code: int, said: str
) -> None:
    """A closed one swallows the answer; a full disk is an error that is said once."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {ending}', "bash", *command(str(tree), "def total")],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_text_loads_nothing_that_only_json_or_a_terminal_needs(tree: Path, tmp_path: Path) -> None:
    """An answer in a pipe costs no import of pydantic or pygments."""
    start = [sys.executable, "-I", "-X", "importtime", *command(str(tree), "def total")[2:]]
    done = subprocess.run(start, env=environment(tmp_path), capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "slicegrep.search" in loaded
    assert not {"pydantic", "pygments", "asyncio", "importlib.metadata"} & loaded


def test_help_shows_the_search_first_and_every_command(tmp_path: Path) -> None:
    """`slicegrep --help`, in 80 columns."""
    code, out, err = run(tmp_path, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: slicegrep PATH PATTERN [BEFORE] [AFTER] [OPTIONS]\n")
    assert max(map(len, out.splitlines())) <= 80
    for name in ("map", "enclosing", "index", "stats", "doctor", "setup", "demo"):
        assert f"\n  {name} " in out
        code, said, _ = run(tmp_path, name, "--help")
        assert code == 0 and said.startswith(f"usage: slicegrep {name}")


def test_version(tmp_path: Path) -> None:
    """One line, as scripts read it."""
    version = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())["version"]
    assert run(tmp_path, "--version") == (0, f"slicegrep {version}\n", "")


def test_the_package_runs_by_its_path(tree: Path) -> None:
    """Without `-I` the package's folder stands first on the path, and its `types` is not the standard one."""
    main = Path(__file__).parent.parent / "plugin" / "slicegrep" / "__main__.py"
    done = subprocess.run(
        [sys.executable, str(main), "--version"], capture_output=True, text=True, check=False, cwd=tree
    )
    assert (done.returncode, done.stderr) == (0, "")
