"""The rg shim against ripgrep 15 of the wheel and Debian's ripgrep 13: every byte, message and exit code; right names."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest
from shim_stand import MAY, MUST, RAW, Case, Stand, Tree, cases_of, small

SEED = 20260105
TABLE_LINES = 40

_RIPGREPS = {
    "wheel": (Path(sys.executable).parent / "rg", "of plugin/requirements.txt"),
    "debian": (Path("/usr/bin/rg"), "of Debian's package ripgrep"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree that all command lines here search: a git repository, so that ripgrep heeds ignore files."""
    tree = Tree(tmp_path_factory.mktemp("shim-rg") / "tree").filled()
    (tree.folder / ".git").mkdir()
    (tree.folder / ".gitignore").write_text("ignored.py\n")
    tree.put("src/ignored.py", small("ignored"))
    tree.put(".hidden/hidden.py", small("hidden"))
    return tree


@pytest.fixture(scope="module", params=_RIPGREPS)
def rg(request: pytest.FixtureRequest, tree: Tree) -> Stand:
    """The shim in front of one ripgrep."""
    path, which = _RIPGREPS[request.param]
    assert path.exists(), f"the ripgrep {which} is needed for these tests"
    return Stand(tree.folder.parent, tree, "rg", str(path))


_cases = partial(cases_of, first=("--sort=path",))
"""With an option for one order of files."""


# ---- Command lines from a table ---------------------------------------------------------------------------------

_PLAIN = [
    [
        "-i",
        "-s",
        "-S",
        "-a",
        "-F",
        "-P",
        "-A1",
        "-B2",
        "-C1",
        "-m1",
        "-m3",
        "--color=never",
        "--color=auto",
        "-g*.py",
        "-g!*.c",
        "-tpy",
        "-Tc",
        "--hidden",
        "-.",
        "-u",
        "-uu",
        "--no-ignore",
    ],
    [
        "--no-heading",
        "--no-messages",
        "--crlf",
        "--mmap",
        "--no-mmap",
        "--line-buffered",
        "--block-buffered",
        "--max-depth=2",
        "-d1",
        "--glob=*.py",
    ],
    [
        "--iglob=*.PY",
        "--type=py",
        "--type-not=c",
        "-L",
        "--follow",
        "--no-config",
        "--one-file-system",
        "--text",
        "--engine=default",
        "-j1",
        "--threads=1",
    ],
    [
        "--context=1",
        "--context-separator=%%",
        "--no-context-separator",
        "--max-count=2",
        "--case-sensitive",
        "--ignore-case",
        "--smart-case",
    ],
    [
        "--no-unicode",
        "--fixed-strings",
        "--no-fixed-strings",
        "--pcre2",
        "--no-pcre2",
        "--max-filesize=1M",
        "--no-hidden",
        "--no-ignore-vcs",
    ],
]
_PICKY = ["-w", "-x", "-v", "--word-regexp", "--line-regexp", "--invert-match"]
_SPLIT = [
    ["-A", "1"],
    ["-C", "1"],
    ["-m", "2"],
    ["-g", "*.py"],
    ["-t", "py"],
    ["--max-count", "1"],
    ["-E", "utf-8"],
    ["-j", "1"],
]
_SILENCING = [
    *["-c", "-l", "-o", "-q", "-0", "-N", "--count", "--count-matches", "--files-with-matches"],
    *["--files-without-match", "--quiet", "--null", "--color=always", "--no-line-number", "--only-matching"],
    *["--files", "--color=ansi", "--null-data"],
]
_FILES = [
    "src/shapes.py",
    "src/counter.c",
    "src/server.go",
    "notes.txt",
    "text/crlf.py",
    "text/nofinal.py",
    "src/with space.py",
    "text/empty.py",
]
_FOLDERS = ["src", "src/", ".", "./", "text", "src/deep/..", "linked/", "src/2024-01-02"]


def _random_case(rng: random.Random) -> Case:
    plain = [word for words in _PLAIN for word in words]
    chosen = [[word] for word in rng.sample(plain, rng.choice([0, 1, 2, 3]))]
    if rng.random() < 0.3:
        chosen.append(rng.choice(_SPLIT))
    if rng.random() < 0.2:
        chosen.append([rng.choice(_PICKY)])
    rng.shuffle(chosen)
    numbered = rng.random() < 0.85
    if numbered:
        chosen.insert(rng.randrange(len(chosen) + 1), [rng.choice(["-n", "--line-number"])])
    silenced = rng.choice(_SILENCING) if rng.random() < 0.2 else ""
    if silenced:
        chosen.append([silenced])
    naming = rng.choice(["", "", "", "-H", "-I", "--with-filename", "--no-filename"])
    if naming:
        chosen.append([naming])
    operands = (
        rng.sample(_FOLDERS, rng.choice([0, 1, 1, 2]))
        if rng.random() < 0.5
        else rng.sample(_FILES, rng.choice([1, 1, 2, 3]))
    )
    pattern = [rng.choice(["needle", "needle", "Needle", "return", "ne*dle", "need(le)?", "^.*needle", ""])]
    if rng.random() < 0.25:
        pattern = ["-e", *pattern]
    parts = [pattern, *([operand] for operand in operands)]
    if rng.random() < 0.4:
        for option in chosen:
            parts.insert(rng.randrange(len(parts) + 1), option)
    else:
        parts = [*chosen, *parts]
    several = len(operands) != 1 or operands[0] in _FOLDERS
    unnamed = naming in ("-I", "--no-filename")
    shape = RAW if not numbered or silenced or (unnamed and several) else MUST
    if silenced in ("-N", "--no-line-number"):
        shape = MAY  # the last one counts
    return Case(
        ("--sort=path", *(word for part in parts for word in part)), shape, sink=rng.choice(["pipe", "file"])
    )


@pytest.mark.parametrize("part", range(2))
def test_options_from_a_table_in_any_place(rg: Stand, part: int) -> None:
    """Options of every sort in front, between and behind, over files and folders."""
    rng = random.Random(SEED)
    cases = [_random_case(rng) for _ in range(TABLE_LINES)]
    rg.compare(cases[part::2])


def test_every_order_of_one_command_lines_words(rg: Stand) -> None:
    """The order of options and operands changes nothing but what it changes for ripgrep."""
    parts = (["-n"], ["-A", "1"], ["-tpy"], ["-e", "needle"], ["src/deep"])
    orders = list(permutations(parts))[::8]
    rg.compare(Case(tuple(word for part in order for word in part), MUST) for order in orders)


# ---- Command lines by hand --------------------------------------------------------------------------------------


def test_options_in_bundles_and_short_forms(rg: Stand) -> None:
    """Bundled letters, values that stick to them, options that take each other back, and what does not exist."""
    rg.compare(_cases(BUNDLES))


BUNDLES = r"""
must: -n needle src
must: -n needle
must: -n needle .
must: -n needle src/shapes.py
must: -n needle src/shapes.py src/counter.c
must: -nH needle src/shapes.py
must: -Hn needle src/shapes.py
must: -in NEEDLE src/shapes.py
must: -niw NEEDLE src
must: -nA1 needle src/shapes.py
must: -nC 2 needle src/deep
must: -nm1 needle src/shapes.py src/counter.c
must: -ne needle src/shapes.py
must: -neneedle src/shapes.py
must: -n -e needle -e return src/shapes.py
must: -nfpatterns src/shapes.py
must: -n -f patterns src/shapes.py src/shelf.js
must: -n --file=patterns src/deep
must: -n --file patterns src/deep
must: -n -f 'no patterns' src/shapes.py
must: -n -f nowhere src/shapes.py
must: -ntpy needle src
must: -ntpy needle
must: -n -t py -T c needle src
must: -n -g '*.{c,go}' needle src
must: -n -tnosuchtype needle src
must: -n --type-add 'web:*.js' -tweb needle src
must: -nF '(needle)' src/shapes.py
must: -nF -- '-x' src/shapes.py
must: -n -- needle src/shapes.py
must: -n needle -- src/shapes.py
must: needle src/shapes.py -n
raw: needle src/shapes.py
raw: needle src
raw: -H needle src/shapes.py
raw: -N needle src/shapes.py
raw: -nN needle src/shapes.py
must: -Nn needle src/shapes.py
raw: -n --no-line-number needle src
raw: -c needle src
raw: -nc needle src
raw: -nl needle src
raw: -no needle src/shapes.py
raw: -nq needle src
raw: -n0 needle src/shapes.py src/counter.c
raw: -n --null needle src/shapes.py src/counter.c
raw: --files src
raw: --files
raw: --type-list
raw: -n --files-with-matches needle src
raw: -n --files-without-match needle src
raw: -n --count-matches needle src
raw: -n --include-zero -c needle src
raw: -n --color=always needle src/shapes.py
raw: -n --color always needle src
raw: -n --color ansi needle src/shapes.py
raw: -np needle src/shapes.py
raw: --pretty needle src/shapes.py
must: -n --color=never needle src/shapes.py
must: -n --color always --color never needle src/shapes.py
must: -n --colors match:fg:red needle src/shapes.py
may: --vimgrep needle src/shapes.py src/counter.c
may: --column needle src/shapes.py
may: --column -n needle src/shapes.py src/counter.c
may: -nb needle src/shapes.py
may: -n --byte-offset needle src/shapes.py
may: -n --heading needle src/shapes.py src/counter.c
must: -n --heading --no-heading needle src/shapes.py src/counter.c
raw: -n -r thread needle src/shapes.py
raw: -n --replace=thread needle src
may: -n --replace=needle needle src
may: -n --trim needle src/shapes.py
may: -n -M 20 needle src/shapes.py
may: -nM20 --max-columns-preview needle src/shapes.py
may: -n --passthru needle src/shapes.py
must: -nU 'needle\n' src/shapes.py
must: -nU 'area\(.*\n.*needle' src/shapes.py
may: -n --field-match-separator=: needle src/shapes.py
may: -n --field-match-separator=@ needle src/shapes.py src/counter.c
may: -nC1 --field-context-separator=: needle src/shapes.py src/counter.c
may: -nC1 --context-separator='src/shapes.py:6:    needle = width * height' inner src/shapes.py
may: -n --path-separator=: needle src
may: -n --path-separator / needle src
may: -n --hyperlink-format=default needle src/shapes.py
may: -n --pre=cat needle src/shapes.py
may: -n --pre cat --pre-glob '*.py' needle src/shapes.py
may: -nz needle src/shapes.py
may: -n --null-data needle src/shapes.py
may: -n -E latin1 caf text/latin.py
may: -n -E none needle text/utf16.py
must: -n -uuu needle src
must: -n --hidden needle .
must: -n --no-ignore needle src
must: -n -L needle src
must: -n --max-depth 1 needle src
must: -nd1 needle src
must: -n --sortr path needle src
must: -n --sort modified needle src/shapes.py
must: -n -j1 needle src
must: -nP '(?<=return )needle' src
must: -n '\bneedle\b' src
must: -n '^def ' src
must: -n 'needle|return' src/shapes.py
must: -nx '    needle = width \* height' src/shapes.py
must: -nv needle src/shapes.py
must: -n '' src/shapes.py
must: -n -e '' src/shapes.py src/counter.c
must: -n '(' src/shapes.py
must: -n '[' src/shapes.py
must: -n 'a{2' src/shapes.py
must: -nP '(' src/shapes.py
must: -n '⟵' src
must: -n nothing_of_the_kind src
must: -n nothing_of_the_kind src/shapes.py
must: -n --nosuchoption needle src
must: -nK needle src
must: -n --max-count needle src
must: -nm needle src
must: -n --max-count=many needle src
must: -n --sort=nothing needle src
raw:
raw: -n
raw: -e
raw: -V
raw: --version
raw: -n --version needle
raw: -h
raw: --help
"""


def test_operands_of_every_kind(rg: Stand) -> None:
    """Absolute, relative, twice, missing, a folder, a link, none: as ripgrep, names where they belong."""
    rg.compare(
        _cases(OPERANDS.replace("{here}", str(rg.tree.folder)))
        + _cases(
            "must: -n needle ../src\nmust: -n needle\nmust: -n needle ../notes.txt\nmust: -n needle shapes.py ../text",
            folder="src",
        )
    )


OPERANDS = """
must: -n needle {here}/src/shapes.py
must: -n needle {here}/src
must: -n needle {here}/../tree/src/deep
must: -n needle ./src
must: -n needle ./
must: -n needle src/.
must: -n needle src//deep
must: -n needle src/shapes.py src/shapes.py
must: -n needle src/shapes.py nowhere
must: -n needle nowhere src/shapes.py
must: -n needle nowhere
must: -n needle nowhere src
must: -n needle src/link.py
must: -n needle src/loop
must: -n needle src/loop src/shapes.py
must: -n needle linked
must: -n needle linked/shapes.py
must: -n needle ../beside
must: -n needle /dev/null
must: -n needle /dev/null src/shapes.py
must: -n needle text/empty.py
must: -n needle src/shapes.py src/deep
must: -n needle src/ignored.py
must: -n needle .hidden
must: -nI needle src/shapes.py
raw: -nI needle src
raw: -nI needle src/shapes.py src/counter.c
raw: -n --no-filename needle
must: -nIH needle src/shapes.py
may: -n needle ''
may: -n needle -- -dash.py
must: -n needle ./src/-dash.py
"""


def test_threads_that_print_in_any_order(rg: Stand) -> None:
    """Without `--sort` the lines of several files come as they are found: the same lines, with the same names."""
    texts = (
        "-n needle",
        "-n needle src text",
        "-nC1 needle .",
        "-nv zzz text",
        "-nj4 needle src",
        "-n --no-heading needle ./src",
    )
    rg.compare(
        Case(tuple(text.split()), MUST, unordered=True, sink=sink)
        for text in texts
        for sink in ("pipe", "file")
    )


def test_names_that_are_hard_to_read_in_an_output(rg: Stand) -> None:
    """Colons, dates, spaces, newlines, bytes that are no UTF-8 in names (rtk#1613, qwen-code#5370, headroom#2084)."""
    odd: list[str | bytes] = [
        "src/a:12:b.py",
        "src/2024-01-02/report-03:04:05.py",
        "src/with space.py",
        b"src/bad\xff\xfe.py",
        "src/gr\u00fc\u00dfe.py",
    ]
    cases = [Case(("-n", "needle", name), MUST) for name in odd] + [
        Case(("-Hn", "needle", name), MUST) for name in odd
    ]
    cases += [Case(("-nC9", "--sort=path", "needle", name, "notes.txt"), MUST) for name in odd]
    cases += [
        Case(("-n", "--sort=path", *more, "line.py"), MAY)
        for more in (("needle", "src/new\nline.py"), ("needle", "src"), ("-C1", "needle", *odd))
    ]
    cases += [
        Case(("-n", "--sort=path", "twin", "twins"), MUST),
        Case(("-n", "--sort=path", "", "notes.txt", "src/shapes.py"), MUST),
    ]
    rg.compare(cases)


def test_encodings_and_binary_files(rg: Stand) -> None:
    """Latin-1, UTF-16, invalid UTF-8, CRLF, BOM, NUL, no last newline, nothing at all (rtk#4113, serena#2017, rtk#4065)."""
    names = ["latin", "invalid", "crlf", "bom", "nofinal", "empty", "nul", "utf16", "long"]
    variables = {"LC_ALL": "C"}
    cases = [Case(("-n", "needle", f"text/{name}.py"), MUST, variables) for name in names]
    cases += [
        Case(("-na", "needle", f"text/{name}.py", "src/shapes.py", "--sort=path"), MUST) for name in names
    ]
    cases += _cases(
        "must: -n needle text\nmust: -na needle text\nmust: -n --binary needle text\nmust: -nv needle text\nmust: -n --crlf 'needle in crlf\"$' text"
        "\nmust: -nw needle text\nmay: -n --encoding=utf-16le needle text/utf16.py\nmay: -n --no-encoding needle text\nmust: -n '(?-u)\\xff' text\nmust: -nC1 needle text",
        variables=variables,
    )
    rg.compare(cases)


def test_a_configuration_file(rg: Stand, tmp_path: Path) -> None:
    """RIPGREP_CONFIG_PATH may ask for numbers, colours, other shapes, or not be there: nothing but the names changes."""
    settings = {
        "numbers": "--line-number\n",
        "colours": "--color=always\n",
        "no numbers": "-N\n",
        "heading": "# a comment\n--heading\n--line-number\n",
        "null": "--null\n",
        "replace": "--replace\nthread\n",
        "columns": "--column\n",
        "types": "--type-add\nweb:*.js\n--smart-case\n",
        "wrong": "--nosuchoption\n",
        "operand": "src\n",
    }
    cases: list[Case] = []
    for name, text in settings.items():
        path = tmp_path / name
        path.write_text(text)
        shape = MUST if name == "types" else MAY
        more = (
            ""
            if name != "colours"
            else "\nraw: -n needle src/shapes.py\nmust: --no-config -n needle src/shapes.py"
        )
        cases += _cases(
            f"{shape}: -n needle src/shapes.py\n{shape}: -n needle src\nmay: needle src/shapes.py\nmay: needle src{more}",
            variables={"RIPGREP_CONFIG_PATH": str(path)},
        )
    for path in ("/nowhere/at all", "", str(tmp_path)):
        cases += _cases(
            "may: -n needle src/shapes.py\nmust: --no-config -n needle src",
            variables={"RIPGREP_CONFIG_PATH": path},
        )
    rg.compare(cases)


def test_standard_input_is_left_to_the_tool(rg: Stand) -> None:
    """A pattern without operands reads a pipe; `-` does; a file beside it; a folder does not."""
    text = (
        "raw: -n needle -\nraw: needle\nraw: -Hn needle -\nmay: -n needle src/shapes.py -\nmay: -n needle - src/shapes.py\nmust: -n needle src"
        "\nraw: -n needle\nraw: -nc needle\nraw: -n -e needle\nraw: -n needle -- -\nmust: -n needle .\nmay: -n needle - src/deep"
    )
    cases = _cases(text, stdin=b"one needle\ntwo\nthree needle\n") + _cases(text, stdin=b"")
    cases += _cases(text, stdin=b'#\n#\nNEEDLE = "needle of the module"\n#\n#\n    needle = width * height\n')
    cases += _cases(
        "must: -n -f - src/shapes.py\nmust: -n -f - src/deep\nmust: -f - -n src/shapes.py src/counter.c",
        stdin=b"needle\n",
    )
    rg.compare(cases)


def test_a_file_that_may_not_be_read(rg: Stand, tmp_path: Path) -> None:
    """Without permission ripgrep says so and exits 2, with what it found elsewhere in front."""
    closed = Tree(tmp_path / "closed")
    closed.put("open.py", small("readable"))
    closed.put("shut.py", small("shut"))
    closed.put("room/in.py", small("inside"))
    (closed.folder / "shut.py").chmod(0)
    (closed.folder / "room").chmod(0)
    # Permissions do not bind an administrator; without these capabilities they do.
    before = (
        ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.geteuid() == 0 else ("env",)
    )
    assert shutil.which(before[0]), f"{before[0]} is needed for these tests"
    stand = Stand(tmp_path, closed, "rg", rg.real)
    cases = _cases(
        "must: -n needle shut.py\nmust: -n needle open.py shut.py\nmust: -n needle .\nmust: -n needle\nmust: -n --no-messages needle .\nraw: -qn needle open.py shut.py"
        "\nraw: -c needle .\nmust: -n -f shut.py open.py\nmust: -n needle room open.py",
        before=before,
    )
    try:
        assert b"Permission denied" in stand.run(cases[0], shim=False).error
        stand.compare(cases)
    finally:
        (closed.folder / "room").chmod(0o700)


@pytest.mark.parametrize("sink", ["pipe", "file", "null", "full", "closed"])
def test_wherever_the_output_goes(rg: Stand, sink: str) -> None:
    """To a program that reads it, a file, nowhere, a full disk, and no standard output at all."""
    text = "-n needle src/shapes.py\n-n needle .\n-n needle src/shapes.py nowhere\n-n zzz src\n-nq needle src\n-c needle src\n-n needle nowhere"
    before = ("sh", "-c", 'exec "$0" "$@" >&-') if sink == "closed" else ()
    shape = MUST if sink in ("pipe", "file") else MAY
    rg.compare(
        Case(
            ("--sort=path", *line.split()),
            RAW if "-c" in line else shape,
            sink="pipe" if before else sink,
            before=before,
        )
        for line in text.splitlines()
    )


@pytest.mark.parametrize(
    "words",
    ["--json needle src", "-n --json nothing_of_the_kind src", "-n --json --stats needle src/shapes.py"],
)
def test_objects_for_programs(rg: Stand, words: str) -> None:
    """`--json` passes raw; only the times in it differ from run to run."""
    case = Case(("--sort=path", *words.split()))
    found = [rg.run(case, shim=shim) for shim in (False, True)]
    masked = [re.sub(rb'{[^{}]*"human"[^{}]*}', b"a time", ran.out) for ran in found]
    assert masked[0] == masked[1]
    assert (found[0].error, found[0].status) == (found[1].error, found[1].status)


@pytest.mark.parametrize("forced", ["SLICEGREP_RG_REAL", "LOOM_RG_REAL"])
def test_forced_by_a_variable(rg: Stand, tree: Tree, tmp_path: Path, forced: str) -> None:
    """SLICEGREP_RG_REAL, and its older name, choose the tool where another one stands first on PATH."""
    other = next(path for path, _ in _RIPGREPS.values() if str(path) != rg.real)
    stand = Stand(tmp_path, tree, "rg", str(other), extra={forced: rg.real})
    case = Case(("--version",))
    assert stand.run(case, shim=True).out == rg.run(case, shim=False).out
    assert b" \xe2\x9f\xb5 area\n" in stand.run(Case(("-n", "needle", "src/shapes.py")), shim=True).out
