"""The shim in the places that it is really put: descriptors, terminals, sockets, odd names, outputs that are searched, updates."""

from __future__ import annotations

import os
import pty
import re
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from shim_stand import ARROW, MAY, MUST, RAW, SHIMS, Case, Ran, Stand, Tree, program, small, split_summary

SECONDS = 30
HITS = "grep -n needle src/shapes.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree that everything here searches."""
    return Tree(tmp_path_factory.mktemp("shim-there") / "tree").filled()


@pytest.fixture(scope="module")
def gnu(tree: Tree) -> Stand:
    """The shim in front of GNU grep."""
    return Stand(tree.folder.parent, tree, "grep", program("grep"))


@pytest.fixture(scope="module")
def rg(tree: Tree) -> Stand:
    """The shim in front of the wheel's ripgrep."""
    return Stand(tree.folder.parent, tree, "rg", str(Path(sys.executable).parent / "rg"))


def _compare(
    stand: Stand, text: str, shape: str = MUST, words: tuple[str, ...] = ("src/shapes.py",), **variables: str
) -> None:
    """Run a script both ways; what it prints may be of the files among `words`."""
    real, shim = (stand.script("bash", text, shim=which, **variables) for which in (False, True))
    assert list(stand.judged(Case(words, shape), real, shim)) == [], text


# ---- Outputs that are themselves searched -----------------------------------------------------------------------


def test_an_output_in_the_searched_folder_is_left_out_as_grep_does(gnu: Stand) -> None:
    """Grep knows its own output among the files, says so and exits 2; behind a pipe it could not."""
    for text in (
        "grep -rn needle . > out.txt; code=$?; cat out.txt; rm out.txt; exit $code",
        "cd src/deep; grep -rn needle > er/out.txt; code=$?; cat er/out.txt; rm er/out.txt; exit $code",
        "echo needle > out.txt; grep -rn needle text out.txt src >> out.txt; code=$?; cat out.txt; rm out.txt; exit $code",
        "cd src; grep -rn needle ../text .. > deep/out.txt 2> ../../said; code=$?; cat deep/out.txt ../../said; rm deep/out.txt; exit $code",
        "ln -s . here; grep -rn needle here/src/deep/ > src/deep/out.txt; code=$?; cat src/deep/out.txt; rm src/deep/out.txt here; exit $code",
    ):
        real, shim = (gnu.script("bash", text, shim=which) for which in (False, True))
        cut = [line.split(ARROW)[0] for line in shim.out.split(b"\n") if not line.startswith(b"slicegrep: ")]
        assert (cut, split_summary(shim.error)[0], shim.status) == (
            real.out.split(b"\n"),
            real.error,
            real.status,
        ), text
        assert b"input file is also the output" in real.error + real.out, text


def test_a_search_appended_to_its_own_file_adds_nothing(gnu: Stand) -> None:
    """`grep -n x f >> f` is refused by grep, and the file stays as it was."""
    text = "cp src/shapes.py x.py; grep -n needle x.py >> x.py; code=$?; cat x.py; rm x.py; exit $code"
    real, shim = (gnu.script("bash", text, shim=which) for which in (False, True))
    assert shim == real
    assert real.status == 2


def test_an_output_in_the_searched_folder_is_left_out_as_ripgrep_does(rg: Stand) -> None:
    """Ripgrep leaves it out silently."""
    for text in (
        "echo needle > out.txt; rg --sort=path -n needle >> out.txt; code=$?; cat out.txt; rm out.txt; exit $code",
        "echo needle > out.txt; rg --sort=path -n needle out.txt src/shapes.py >> out.txt; code=$?; cat out.txt; rm out.txt; exit $code",
    ):
        real, shim = (rg.script("bash", text, shim=which) for which in (False, True))
        cut = [line.split(ARROW)[0] for line in shim.out.split(b"\n")]
        assert (cut, split_summary(shim.error)[0], shim.status) == (
            real.out.split(b"\n"),
            real.error,
            real.status,
        ), text


# ---- Descriptors, terminals, sockets ----------------------------------------------------------------------------


def test_inherited_descriptors_reach_the_tool(gnu: Stand) -> None:
    """A file open as 3, patterns from `<(...)`, standard input by name, an input that is a pipe beside a file."""
    _compare(gnu, "grep -n needle /dev/fd/3 3< src/shapes.py", MAY)
    _compare(gnu, "grep -n -f <(echo needle) src/shapes.py")
    _compare(gnu, "grep -n needle /dev/stdin < src/shapes.py", MAY)
    _compare(gnu, "cat src/shapes.py | grep -n needle /dev/stdin", MAY)
    _compare(gnu, "cat src/shapes.py | grep -n needle /dev/stdin src/shapes.py", MAY)
    _compare(gnu, "cat src/shapes.py | grep -n needle - src/shapes.py", MAY)


def test_an_output_between_others_stays_in_its_place(gnu: Stand) -> None:
    """The file's position is shared with what is written before and after."""
    _compare(gnu, f"{{ echo before; {HITS}; echo after; }} > out; cat out; rm out")
    _compare(gnu, f"exec 5> out; {HITS} >&5; echo after >&5; cat out; rm out")


def test_programs_that_start_grep_for_their_caller_get_names(gnu: Stand) -> None:
    """The script egrep, find, xargs, env, a time limit: who reads is the same."""
    _compare(gnu, "egrep -n 'needle|height' src/shapes.py")
    _compare(gnu, "fgrep -n needle src/shapes.py nowhere")
    _compare(gnu, "find src -name shapes.py -exec grep -n needle {} +")
    _compare(gnu, "find src -name shapes.py -exec grep -Hn needle {} ';'", words=())
    _compare(gnu, "printf 'src/shapes.py\\0' | xargs -0 grep -n needle")
    _compare(gnu, "env A=b timeout 20 nice grep -n needle src/shapes.py")
    _compare(gnu, "command grep -n needle src/shapes.py")


def test_the_shim_by_its_path(gnu: Stand) -> None:
    """Called by its own path, absolute or from here, it is the same grep."""
    here = os.path.relpath(gnu.shims, gnu.tree.folder)
    for words in ("-n needle src/shapes.py nowhere", "-c needle src/shapes.py nowhere"):
        real = gnu.script("bash", f"grep {words}", shim=False)
        for path in (str(gnu.shims), here):
            shape = RAW if "-c" in words else MUST
            for shim in (
                gnu.script("bash", f"'{path}/grep' {words}", shim=False),
                gnu.script("bash", f"grep {words}", shim=True, PATH=f"{path}:{{PATH}}"),
            ):
                assert list(gnu.judged(Case(("src/shapes.py",), shape), real, shim)) == [], path


def test_a_program_that_captures_through_a_socket_gets_names(gnu: Stand) -> None:
    """Some runtimes give their children sockets for pipes."""
    found = []
    for shim in (False, True):
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(
            ["grep", "-n", "needle", "src/shapes.py"],
            executable=str((gnu.shims if shim else gnu.tools) / "grep"),
            cwd=gnu.tree.folder,
            env=gnu.variables(shim=shim),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        with ours, ours.makefile("rb") as reader:
            out = reader.read()
        _, error = process.communicate(timeout=SECONDS)
        found.append(Ran(out, error, process.returncode))
    assert list(gnu.judged(Case(("src/shapes.py",), MUST), *found)) == []


def test_node_as_agents_start_a_shell_gets_names(gnu: Stand) -> None:
    """`spawn` of a shell, as clients written for node do it; and its pipelines stay raw."""
    code = (
        "const child = require('child_process').spawn('bash', ['-c', process.argv[1]], {stdio: ['ignore', 'pipe', 'inherit']});"
        "child.stdout.pipe(process.stdout); child.on('close', code => process.exit(code))"
    )
    for text, shape in (
        (HITS, MUST),
        (f"{HITS}; true", MUST),
        (f"{HITS} | cat", RAW),
        (f"{HITS} | head -2", RAW),
        (f'x=$({HITS}); echo "$x"', RAW),
    ):
        found = []
        for shim in (False, True):
            done = subprocess.run(
                [program("node"), "-e", code, text],
                cwd=gnu.tree.folder,
                env=gnu.variables(shim=shim),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
            found.append(Ran(done.stdout, done.stderr, done.returncode))
        assert list(gnu.judged(Case(("src/shapes.py",), shape), *found)) == [], text


def _on_a_terminal(stand: Stand, words: list[str], *, shim: bool) -> tuple[bytes, int]:
    process, screen = pty.fork()
    if process == 0:
        os.chdir(stand.tree.folder)
        place = stand.shims if shim else stand.tools
        os.execve(str(place / stand.name), [stand.name, *words], stand.variables(shim=shim, TERM="xterm"))
    out = b""
    while True:
        try:
            more = os.read(screen, 65536)
        except OSError:  # how Linux says that nobody is left who writes
            break
        if not more:
            break
        out += more
    _, status = os.waitpid(process, 0)
    os.close(screen)
    return out, status


@pytest.mark.parametrize(
    "words",
    [
        "-n needle src/shapes.py",
        "-n needle src/deep",
        "--color=auto -n needle src/shapes.py",
        "needle src/shapes.py",
        "--color=always -n needle src/shapes.py",
    ],
)
def test_a_terminal(gnu: Stand, rg: Stand, words: str) -> None:
    """Colours and headings for a person are the tool's own."""
    for stand in (gnu, rg):
        given = ["-r", *words.split()] if stand is gnu else words.split()
        real, shim = (_on_a_terminal(stand, given, shim=which) for which in (False, True))
        lines = [line for line in shim[0].split(b"\r\n") if not line.startswith(b"slicegrep: ")]
        assert [line.split(ARROW)[0] for line in lines] == real[0].split(b"\r\n")
        assert shim[1] == real[1]


# ---- Names and sizes --------------------------------------------------------------------------------------------


def test_names_with_arrows_escapes_and_several_lines(tree: Tree, gnu: Stand) -> None:
    """Of files and of functions: what is behind a line is one line, without control characters, and can be cut off."""
    tree.put("names/arrow ⟵ x.py", small("arrowed"))
    tree.put(b"names/e\x1b[31m.py", small("escaped"))
    odd = (
        '["a\\nb"]() { return "needle"; }\n["a ⟵ b"](x) { return `needle`; }\n["a" +\n"b"]() { return "needle"; }\n'
        '["\t\x1b[31m"]() { return "needle"; }\nstatic async *[Symbol.iterator]() { yield "needle"; }\n"q r\t"() { return "needle"; }\n'
    )
    (tree.folder / "names" / "odd.js").write_text(f"class A {{\n{odd}}}\n", "utf-8")
    gnu.compare(
        [
            Case(("-rn", "--include=*.py", "needle", "names"), MUST),
            Case(("-Hn", "needle", "names/arrow ⟵ x.py"), MUST),
        ]
    )
    case = Case(("-n", "needle", "names/odd.js"))
    real, shim = (gnu.run(case, shim=which) for which in (False, True))
    for line, printed in zip(real.out.split(b"\n"), shim.out.split(b"\n"), strict=True):
        assert printed.startswith(line)
        name = printed[len(line) :]
        assert name == b"" or (name.startswith(ARROW) and name.count("⟵".encode()) == 1)
        assert not re.search(rb"[\x00-\x1f\x7f]", name)


def test_one_line_of_nine_megabytes(tree: Tree, gnu: Stand) -> None:
    """A minified file is one hit of more bytes than are looked at."""
    (tree.folder / "min").mkdir()
    (tree.folder / "min" / "min.js").write_bytes(b"function big(){" + b"var needle=1;" * 700_000 + b"}\n")
    gnu.compare([Case(("-n", "needle", "min/min.js"), RAW), Case(("-rn", "needle", "min"), RAW)])


# ---- Where things are missing -----------------------------------------------------------------------------------

GONE: dict[str, Callable[[Path], object]] = {
    "the package": lambda plugin: shutil.rmtree(plugin / "slicegrep"),
    "the shim's part of it": lambda plugin: shutil.rmtree(plugin / "slicegrep" / "shim"),
    "a module of it": lambda plugin: (plugin / "slicegrep" / "shim" / "run.py").unlink(),
    "a half-written module": lambda plugin: (plugin / "slicegrep" / "shim" / "run.py").write_text("def ("),
    "a module that names need": lambda plugin: (plugin / "slicegrep" / "outline" / "build.py").unlink(),
    "what both shims source": lambda plugin: (plugin / "shims" / "shim.sh").unlink(),
    "the words in what both shims source": lambda plugin: (plugin / "shims" / "shim.sh").write_text(""),
    "the key of the environment": lambda plugin: (plugin / "requirements.key").unlink(),
}


@pytest.mark.parametrize("kind", GONE)
def test_an_update_that_took_files_away_leaves_the_tool(
    tree: Tree, gnu: Stand, tmp_path: Path, kind: str
) -> None:
    """The folder on PATH of a running session may be half there: raw, with grep's status (context-mode#604)."""
    shutil.copytree(SHIMS.parents[1], tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    GONE[kind](tmp_path / "plugin")
    stand = Stand(tmp_path, tree, "grep", gnu.real, shims=tmp_path / "plugin" / "shims" / "bin")
    stand.compare(
        Case(tuple(words.split()), RAW)
        for words in ("-n needle src/shapes.py", "-c needle src/shapes.py", "-n zzz nowhere")
    )


def test_packages_that_are_gone_leave_the_tool(tree: Tree, gnu: Stand, tmp_path: Path) -> None:
    """An environment whose site-packages were cleared away."""
    stand = Stand(tmp_path, tree, "grep", gnu.real)
    ready = next((stand.home / "env").glob("*/.ready"))
    ready.write_text(f"{sys.executable}\n/nowhere\n")
    for words in ("-rn needle src", "-c needle src/shapes.py", "-n needle nowhere src/shapes.py"):
        real, shim = (stand.run(Case(tuple(words.split())), shim=which) for which in (False, True))
        cut = b"\n".join(
            line.split(ARROW)[0] for line in shim.out.split(b"\n")
        )  # a plainer reader may name them
        assert Ran(cut, split_summary(shim.error)[0], shim.status) == real


@pytest.mark.parametrize("megabytes", [30, 60, 120, 250])
def test_little_memory(gnu: Stand, megabytes: int) -> None:
    """Where Python or the parser cannot have what it wants, grep can."""
    most = megabytes << 20
    text = "grep -rn needle src"
    found = [
        gnu.script(
            "bash", text, shim=which, limits=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
        )
        for which in (False, True)
    ]
    assert list(gnu.judged(Case(("src",), MAY), *found)) == []


def test_variables_meant_for_python_change_nothing(gnu: Stand) -> None:
    """PYTHONHOME and its like are for other programs."""
    _compare(
        gnu,
        HITS,
        PYTHONHOME="/nowhere",
        PYTHONPATH="/nowhere",
        PYTHONSTARTUP="/nowhere",
        PYTHONIOENCODING="utf-16",
        PYTHONVERBOSE="1",
    )


@pytest.mark.parametrize(
    "locale",
    [{"LANG": "C"}, {"LANG": "", "LC_ALL": ""}, {"LC_ALL": "nowhere.UTF-8"}, {"LANG": "C", "LC_CTYPE": "C"}],
    ids=str,
)
def test_the_tool_has_the_callers_locale(gnu: Stand, locale: dict[str, str]) -> None:
    """Python changes LC_CTYPE for itself where the locale is C; grep must not see that, or Latin-1 is text and is not."""
    gnu.compare(
        Case(tuple(words.split()), MAY, locale)
        for words in ("-rn needle text", "-n caf. text/latin.py", "-nP needle text/invalid.py src/shapes.py")
    )


# ---- The index and the graph ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(gnu: Stand, tmp_path_factory: pytest.TempPathFactory) -> Stand:
    """A repository with an index, of which a part is committed."""
    base = tmp_path_factory.mktemp("shim-kept")
    stand = Stand(base, Tree(base / "tree").filled(), "grep", gnu.real)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(stand.tree.folder)]
    for words in (["init", "-q"], ["add", "src/shapes.py", "src/counter.c"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    subprocess.run(
        [sys.executable, "-m", "slicegrep", "index", str(stand.tree.folder)],
        env=stand.variables(shim=False, PYTHONPATH=str(SHIMS.parents[1])),
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    return stand


def test_with_an_index_of_a_repository(kept: Stand, rg: Stand) -> None:
    """From the index the names are the same, from any folder of the repository."""
    for stand in (kept, Stand(kept.base, kept.tree, "rg", rg.real)):
        more = ["-r"] if stand is kept else ["--sort=path"]
        places: list[tuple[str, list[str]]] = [
            ("", ["src"]),
            ("src", []),
            ("src/deep", ["..", "../../text"]),
            ("text", [str(kept.tree.folder / "src")]),
        ]
        stand.compare(
            Case((*more, "-n", "needle", *operands), MUST, folder=folder) for folder, operands in places
        )
        stand.compare(
            [
                Case((*more, "-n", "needle", "shapes.py", "../notes.txt"), MUST, folder="src"),
                Case(("-n", "needle", "link.py"), MUST, folder="src"),
            ]
        )


def test_the_graphs_block_can_be_cut_off(kept: Stand) -> None:
    """With SLICEGREP_SHIM_GRAPH=on, what stands before its header is the real output with names."""
    header = b"[Related from slicegrep dependency graph]\n"
    expected = {
        "-n needle src/shapes.py": True,
        "-rn needle src": None,
        "-n zzz src/shapes.py": False,
        "-c needle src/shapes.py": False,
        "-n needle nowhere src/counter.c": True,
    }
    for words, block in expected.items():
        case = Case(tuple(words.split()), RAW if "-c" in words else MUST, {"SLICEGREP_SHIM_GRAPH": "on"})
        real, shim = (kept.run(case, shim=which) for which in (False, True))
        before, found, _ = shim.out.partition(header)
        assert list(kept.judged(case, real, Ran(before, shim.error, shim.status))) == []
        assert block is None or bool(found) == block
