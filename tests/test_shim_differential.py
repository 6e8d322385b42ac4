"""The grep shim against GNU grep and ugrep: every byte, every message, every exit code; and the names are right."""

from __future__ import annotations

import os
import random
from itertools import permutations
from pathlib import Path

import pytest
from shim_stand import MAY, MUST, RAW, Case, Stand, Tree, cases_of, program, small

SEED = 20260104
GNU_LINES = 110
UGREP_LINES = 30


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree that all command lines here search."""
    return Tree(tmp_path_factory.mktemp("shim") / "tree").filled()


@pytest.fixture(scope="module")
def gnu(tree: Tree) -> Stand:
    """The shim in front of GNU grep."""
    real = program("grep")
    return Stand(tree.folder.parent, tree, "grep", real)


@pytest.fixture(scope="module")
def ugrep(tree: Tree) -> Stand:
    """The shim in front of ugrep, which goes by the name of grep."""
    return Stand(tree.folder.parent, tree, "grep", program("ugrep"))


# ---- What the comparison itself catches -------------------------------------------------------------------------

_NAMES = """awk -v arrow=' ⟵ ' '/^src.shapes.py:6:/ { print $0 arrow "area"; next } /^src.shapes.py:22:/ { print $0 arrow "outer.inner"; next } { print }'"""
_SAYS = "echo 'slicegrep: 2/2 hits scoped to their enclosing function, index at c7a9fe7c9f, 18 ms' >&2"

BROKEN = {
    "a byte less": ('"$real" "$@" | head -c -1', "b'' follows"),
    "a byte other": ("\"$real\" \"$@\" | tr '6' '7'", "parts at byte"),
    "a line more at the end": ('"$real" "$@"; echo more', "after the end"),
    "a line between": ('"$real" "$@" | sed \'1a\\\nbetween\'', "parts at byte"),
    "a line missing": ('"$real" "$@" | tail -n +2', "parts at byte"),
    "lines swapped": ('"$real" "$@" | sort -r', "parts at byte"),
    "another exit status": ('"$real" "$@"; exit 3', "exit status 3, not 0"),
    "a message more": ('echo oh >&2; "$real" "$@"', "standard error"),
    "no names": ('"$real" "$@"', "no name behind"),
    "a name outside of any function": (
        f'"$real" "$@" | sed "s/module\\"$/& ⟵ area/"; {_SAYS}',
        "not 'nothing'",
    ),
    "the name of another function": (
        f'"$real" "$@" | sed "/^src/s/height$/& ⟵ outer/"; {_SAYS}',
        "'outer' behind",
    ),
    "a name and more": (
        f'"$real" "$@" | sed "/^src/s/height$/& ⟵ area 5-10/"; {_SAYS}',
        "'area 5-10' behind",
    ),
    "a name of nothing": (f'"$real" "$@" | sed "/^src/s/height$/& ⟵ /"; {_SAYS}', "is no name"),
    "no arrow": ('"$real" "$@" | sed "/^src/s/height$/& area/"', "follows"),
    "no summary": (f'"$real" "$@" | {_NAMES}', "2 names, and no summary"),
    "two summaries": (f'"$real" "$@" | {_NAMES}; {_SAYS}; {_SAYS}', "2 summaries"),
    "a summary that counts wrong": (
        f'"$real" "$@" | sed "/^src/s/height$/& ⟵ area/"; {_SAYS}',
        "there are 1 names",
    ),
    "a summary that says something else": ('"$real" "$@"; echo slicegrep: hello >&2', "no summary"),
}
"""Shims that are wrong in one way each, as shell scripts, and what the comparison says to each."""


def _stand_with(tmp_path: Path, tree: Tree, script: str) -> Stand:
    folder = tmp_path / "shims"
    folder.mkdir()
    shim = folder / "grep"
    shim.write_text(f"#!{program('bash')}\nreal={program('grep')}\n{script}\n", "utf-8")
    shim.chmod(0o755)
    return Stand(tree.folder.parent, tree, "grep", program("grep"), shims=folder)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_shim_that_is_wrong_in_one_way_is_caught(tmp_path: Path, tree: Tree, kind: str) -> None:
    """The comparison sees each of these faults, and says which one it is."""
    script, said = BROKEN[kind]
    found = _stand_with(tmp_path, tree, script).faults(
        Case(("-n", "needle", "src/shapes.py", "notes.txt"), MUST)
    )
    assert any(said in fault for fault in found), found


def test_the_real_tool_passes_the_comparison(tmp_path: Path, tree: Tree) -> None:
    """A shim that only runs the tool is at fault for nothing but the names that are missing."""
    stand = _stand_with(tmp_path, tree, 'exec -a grep "$real" "$@"')
    cases = [case for case in gnu_cases() if case.shape != MUST]
    stand.compare(cases[::4])


def test_right_names_pass_the_comparison_where_they_are_asked_for(tmp_path: Path, tree: Tree) -> None:
    """Names and a summary are no fault in a shape with paths and numbers, and are one where lines must be raw."""
    stand = _stand_with(tmp_path, tree, f'"$real" "$@" | {_NAMES}; {_SAYS}')
    words = ("-nE", r"width \* height$|\(needle\)", "src/shapes.py", "notes.txt")
    assert not [fault for fault in stand.faults(Case(words, MUST)) if "notes" not in fault]
    assert any("must pass raw" in fault for fault in stand.faults(Case(words, RAW)))


# ---- Command lines from a table ---------------------------------------------------------------------------------

# Options by what they mean for the shape of the output.
_PLAIN = [
    "-i",
    "-s",
    "-a",
    "-I",
    "-E",
    "-F",
    "-P",
    "-G",
    "-U",
    "-y",
    "-2",
    "-A1",
    "-B2",
    "-C1",
    "-m1",
    "-m3",
    "--color=auto",
    "--colour=never",
    "--color",
    "--include=*.py",
    "--exclude=*.c",
    "--exclude-dir=deep",
    "--line-buffered",
    "--binary-files=text",
    "--binary-files=without-match",
    "--context=1",
    "--max-count=2",
    "--no-messages",
    "--ignore-case",
    "--no-ignore-case",
    "--after=1",
    "--bef=1",
    "--exclude-dir=er",
    "-dskip",
    "--devices=skip",
    "--group-separator=%%",
    "--no-group-separator",
    "--perl-regexp",
    "--basic-regexp",
    "--extended",
    "--fixed-str",
]
_PICKY = ["-w", "-x", "-v", "--word-regexp", "--line-regexp", "--invert-match"]
_SPLIT = [
    ["-A", "1"],
    ["-B", "2"],
    ["-C", "1"],
    ["-m", "2"],
    ["--max-count", "1"],
    ["--context", "1"],
    ["--include", "*.py"],
    ["-d", "recurse"],
    ["--binary-files", "without-match"],
]
_SILENCING = [
    "-c",
    "-l",
    "-L",
    "-o",
    "-q",
    "-z",
    "-Z",
    "-b",
    "--count",
    "--files-with-matches",
    "--files-without-match",
    "--only-matching",
    "--quiet",
    "--silent",
    "--null",
    "--null-data",
    "--byte-offset",
    "--color=always",
    "--colour=always",
    "--files-with",
    "--byte",
    "--only",
    "--cou",
    "--null-d",
]
_NUMBERING = ["-n", "--line-number", "--line-n", "-n", "-n"]
_NAMING = ["-H", "--with-filename", "--with-f"]
_UNNAMING = ["-h", "--no-filename", "--no-f"]
_RECURSING = ["-r", "-R", "--recursive", "--dereference-recursive", "--recu"]

_FILES = "src/shapes.py src/counter.c src/server.go src/shelf.js notes.txt text/crlf.py text/nofinal.py src/with\xa0space.py src/link.py text/empty.py".replace(
    "\xa0", "?"
).split()
_FILES[_FILES.index("src/with?space.py")] = "src/with space.py"
_FOLDERS = ["src", "src/", ".", "./", "text", "src/deep/..", "linked/", "src/2024-01-02"]


def _random_case(rng: random.Random) -> Case:
    """One command line: an option of each sort or none, a pattern, and operands of one kind."""
    chosen: list[list[str]] = [[word] for word in rng.sample(_PLAIN, rng.choice([0, 1, 1, 2, 3]))]
    if rng.random() < 0.3:
        chosen.append(rng.choice(_SPLIT))
    if rng.random() < 0.2:
        chosen.append([rng.choice(_PICKY)])
    numbered = rng.random() < 0.85
    silenced = rng.random() < 0.2
    naming = rng.choice(["", "", "", "", "H", "h", "hH", "Hh"])
    recursing = rng.random() < 0.5
    if numbered:
        chosen.append([rng.choice(_NUMBERING)])
    if silenced:
        word = rng.choice(_SILENCING)
        if word.startswith("--colo"):  # the last one would count
            chosen = [option for option in chosen if not option[0].startswith("--colo")]
        chosen.append([word])
    if recursing:
        chosen.append([rng.choice(_RECURSING)])
    rng.shuffle(chosen)
    chosen.extend(
        [rng.choice(_NAMING if letter == "H" else _UNNAMING)] for letter in naming
    )  # the last one counts
    operands = (
        rng.sample(_FOLDERS, rng.choice([0, 1, 1, 2]))
        if recursing
        else rng.sample(_FILES, rng.choice([1, 1, 2, 3]))
    )
    if recursing and rng.random() < 0.2:
        operands.append(rng.choice(_FILES))
    pattern = [rng.choice(["needle", "needle", "Needle", "return", "ne*dle", "need(le)?", "^.*needle", ""])]
    if rng.random() < 0.25:
        pattern = [rng.choice(["-e", "--regexp"]), *pattern]
    words = _arranged(rng, chosen, pattern, operands)
    options = {word for option in chosen for word in option} | {
        f"{a}={b}" for a, b in (o for o in chosen if len(o) == 2)
    }
    shape = _shape(numbered, silenced, naming[-1:], recursing or "recurse" in options, operands)
    return Case(tuple(words), shape, sink=rng.choice(["pipe", "file"]))


def _arranged(
    rng: random.Random, options: list[list[str]], pattern: list[str], operands: list[str]
) -> list[str]:
    """Put options in front, behind, between; sometimes `--` before the operands."""
    explicit = len(pattern) == 2
    place = rng.choice(["front", "front", "mixed", "marked"])
    if place == "marked" and explicit:
        return [*_flat(options), *pattern, "--", *operands]
    if place == "marked":
        return [*_flat(options), "--", *pattern, *operands]
    if place == "front":
        return [*_flat(options), *pattern, *operands]
    parts = [pattern, *([operand] for operand in operands)]
    marks = sorted(rng.randrange(len(parts) + 1) for _ in options)
    for mark, option in zip(reversed(marks), reversed(options), strict=True):
        parts.insert(mark, option)
    return _flat(parts)


def _flat(parts: list[list[str]]) -> list[str]:
    return [word for part in parts for word in part]


def _shape(numbered: bool, silenced: bool, naming: str, recursing: bool, operands: list[str]) -> str:  # noqa: FBT001
    """Return what the printed lines are: `path:line:text`, `line:text` of one file, or something else."""
    if not numbered or silenced:
        return RAW
    several = len(operands) > 1 or (recursing and (not operands or operands[0] in _FOLDERS))
    if naming == "h" and several:
        return RAW
    return MUST


def gnu_cases() -> list[Case]:
    """Return the command lines of the table for GNU grep: the same ones in every run."""
    rng = random.Random(SEED)
    return [_random_case(rng) for _ in range(GNU_LINES)]


@pytest.mark.parametrize("part", range(4))
def test_options_from_a_table_in_any_place(gnu: Stand, part: int) -> None:
    """Options of every sort, long, short and abbreviated, in front, between and behind, over files and folders."""
    gnu.compare(gnu_cases()[part::4])


def test_every_order_of_one_command_lines_words(gnu: Stand) -> None:
    """The order of options and operands changes nothing but what it changes for grep."""
    parts = (["-n"], ["-A", "1"], ["-r"], ["-e", "needle"], ["src/deep"])
    cases = [Case(tuple(_flat(list(order))), MUST) for order in list(permutations(parts))[::5]]
    gnu.compare(cases)


# ---- Command lines by hand --------------------------------------------------------------------------------------


def test_patterns_of_every_dialect(gnu: Stand) -> None:
    """Bars, carets, brackets, back references, classes, nothing at all, and what is no pattern (rtk#206, rtk#1436)."""
    gnu.compare(cases_of(PATTERNS))


PATTERNS = r"""
must: -n 'needle\|height' src/shapes.py src/counter.c
must: -n 'needle|height' src/shapes.py src/counter.c
must: -nE 'needle|height' src/shapes.py
must: -nE '^    return' src/shapes.py
must: -n '^    return' src/shapes.py src/counter.c
must: -n '^def ' -r src
must: -nP '(?<=return )needle' -r src
must: -nP '\d+:\d+' src/shapes.py
must: -nF 'needle)"' src/shapes.py
must: -nF -e '(needle)' -e '${value}' -r src
must: -nw needle src/counter.c
must: -nx '    needle = width \* height' src/shapes.py notes.txt
must: -nE '(e)\1' src/shapes.py
must: -n '\(e\)\1' src/shapes.py
must: -n '[[:digit:]]\{2\}:' src/shapes.py
must: -n -e needle -e return src/shapes.py
must: -n -eneedle src/shapes.py
must: -nieNEEDLE src/shapes.py
must: -nf patterns src/shapes.py
must: -n -fpatterns src/shapes.py src/shelf.js
must: -n --file=patterns -r src
must: -n -f 'no patterns' src/shapes.py
must: -n -f patterns -e return src/shapes.py
must: -n -f nowhere src/shapes.py
must: -n -f - src/shapes.py
must: -n '' src/shapes.py
must: -n -e '' src/shapes.py src/counter.c
must: -nv needle src/shapes.py
must: -nvE 'needle|^$' src/shapes.py src/server.go
must: -n '[' src/shapes.py
must: -nE '(' src/shapes.py
must: -nE ')' src/shapes.py
must: -nP '(' src/shapes.py
must: -n '\(' src/shapes.py
must: -n 'x\{1' src/shapes.py
must: -nE 'a{1,2}{3}' src/shapes.py
must: -n '[[:foo:]]' src/shapes.py
must: -n '[:space:]' src/shapes.py
must: -nE '*a' src/shapes.py
must: -n -- -dash -r src
must: -n -e -x src/shapes.py
must: -nP '\x{110000}' src/shapes.py
must: -nEF x src/shapes.py
must: -nEE needle src/shapes.py
must: -n '⟵' src/shapes.py
must: -nzP 'a\nb' src/shapes.py
must: -n ' ⟵ area' -r .
must: -n nothing_of_the_kind src/shapes.py
must: -n nothing_of_the_kind -r src
"""


def test_options_in_bundles_and_short_forms(gnu: Stand) -> None:
    """Bundled letters, values that stick to them, abbreviations, numbers of lines, options that do not exist."""
    gnu.compare(cases_of(BUNDLES))


BUNDLES = r"""
must: -rn needle src
must: -nr needle src
must: -rni NEEDLE src
must: -inr NEEDLE src text
must: -rnw needle src/deep
must: -rnIi needle .
must: -RnI needle src/deep
must: -Hn needle src/shapes.py
must: -nH needle src/shapes.py
must: -nA1 needle src/shapes.py
must: -nB2 needle src/shapes.py
must: -nC1 needle src/shapes.py src/counter.c
must: -n1 needle src/shapes.py
must: -1n needle src/shapes.py
must: -n12 needle src/shapes.py
must: -nm1 needle src/shapes.py src/counter.c
must: -nm 1 needle src/shapes.py
must: -nm0 needle src/shapes.py
must: -nm-1 needle src/shapes.py
must: -nmx needle src/shapes.py
must: -nA needle src/shapes.py
must: -nA-1 needle src/shapes.py
must: -nA 99999999999999999999 needle src/shapes.py
must: -snr needle src nowhere
must: -nie needle src/shapes.py
must: -nEe 'needle|x' src/shapes.py
must: -nEie 'NEEDLE|x' src/shapes.py src/shelf.js
must: -rne needle src/deep
must: -rnfpatterns src/deep
raw: -cn needle src/shapes.py
raw: -nc needle -r src/deep
raw: -ln needle -r src/deep
raw: -nL needle -r src/deep
raw: -no needle src/shapes.py
raw: -nq needle src/shapes.py
raw: -qn needle src/shapes.py nowhere
raw: -qsn needle nowhere src/shapes.py
raw: -nb needle src/shapes.py
raw: -nz needle src/shapes.py
raw: -nZ needle src/shapes.py src/counter.c
raw: -lZ needle -r src/deep
raw: -nob needle src/shapes.py
may: -nT needle src/shapes.py
may: -nT needle src/shapes.py src/counter.c
may: -nHT needle src/shapes.py
may: -nTb needle src/shapes.py src/counter.c
may: -nu needle src/shapes.py
must: --line-number needle src/shapes.py
must: --line-numb needle src/shapes.py
must: --line-n needle src/shapes.py
raw: --line needle src/shapes.py
must: -n --recur needle src/deep
must: -n --with needle src/shapes.py
must: -n --no-filena needle src/shapes.py
must: -n --reg needle src/shapes.py
must: -n --reg=needle src/shapes.py
must: -n --regexp needle src/shapes.py
must: -n --fi=patterns src/shapes.py
must: -n --fil patterns src/shapes.py
must: -n --max=1 needle src/shapes.py
must: -n --max 1 needle src/shapes.py
must: -n --cont needle src/shapes.py
must: -n --cont=1 needle src/shapes.py
must: -n --context=1 needle src/shapes.py
must: -n --after-c 1 needle src/shapes.py
must: -n --bef 1 needle src/shapes.py
must: -n --incl '*.py' -r needle src/deep
must: -n --exclude-d deep -r needle src
must: -n --exclude-from=patterns -r needle src/deep
must: -n --exclude-from patterns -r needle src/deep
must: -n --binary without-match -r needle text
must: -n --binary-files without-match -r needle text
must: -n --group-sep XX -C1 needle src/shapes.py
must: -n --group-sep=-- -C1 needle src/shapes.py
must: -n --group-sep= -C1 needle src/shapes.py
must: -n --group-separator 1:needle -C0 needle src/shapes.py
raw: -n --nul needle src/shapes.py
raw: -n --null needle src/shapes.py src/counter.c
raw: -n --null-data needle src/shapes.py
raw: -n --col=always needle src/shapes.py
raw: -n --colo=always needle src/shapes.py
raw: -n --color=always needle -r src/deep
raw: -n --colour=always needle -r src/deep
raw: -n --color=yes needle src/shapes.py
raw: -n --color=force needle src/shapes.py
must: -n --color=always --color=never needle src/shapes.py
raw: -n --color=never --color=always needle src/shapes.py
must: -n --color=tty needle src/shapes.py
must: -n --color=if-tty needle src/shapes.py
must: -n --color=no needle src/shapes.py
must: -n --color=none needle src/shapes.py
must: -n --color=sometimes needle src/shapes.py
must: -n --label=x needle src/shapes.py
must: -n --label x needle src/shapes.py
raw: --count -n needle src/shapes.py
raw: --only-matching -n needle src/shapes.py
raw: --files-with-matches -n needle src/shapes.py
raw: --files-with -n needle src/shapes.py
raw: --files-withou -n needle src/shapes.py
raw: --quie -n needle src/shapes.py
raw: --sil -n needle src/shapes.py
raw: --byte-offset -n needle src/shapes.py
may: --unix -n needle src/shapes.py
may: --initial-tab -n needle src/shapes.py
must: -n --bad needle src/shapes.py
must: -n --co needle src/shapes.py
must: -n --no needle src/shapes.py
must: -nK needle src/shapes.py
must: -n --max-count needle src/shapes.py
must: -n --max-count=many needle src/shapes.py
must: -n --context=many needle src/shapes.py
must: -n --binary-files=maybe needle src/shapes.py
must: -n --directories=maybe needle src/shapes.py
must: -n --recursive=yes needle src/deep
must: -n --line-number=1 needle src/shapes.py
raw: -V
raw: --version
raw: --help
raw: -n --version needle src/shapes.py
raw: -n --help needle src/shapes.py
raw:
raw: -n
raw: -e
raw: -nA
raw: -n -f
raw: --
raw: -rn
"""


def test_operands_of_every_kind(gnu: Stand) -> None:
    """Absolute, relative, twice, missing, a folder, a link, `--`, `-`: as the real tool (rtk#162), names where they belong."""
    here = str(gnu.tree.folder)
    cases = cases_of(OPERANDS.replace("{here}", here))
    cases += cases_of(
        "must: -n needle ../shapes.py deep/er/deep.py ./counter.c\nmust: -rn needle ..\nmust: -rn needle\nmust: -n needle ../notes.txt"
        "\nmust: -n needle ../src/shapes.py\nmust: -rn needle ../text ../twins",
        folder="src",
    )
    gnu.compare(cases)


OPERANDS = """
must: -n needle {here}/src/shapes.py
must: -n needle {here}/src/shapes.py {here}/src/counter.c
must: -rn needle {here}
must: -rn needle {here}/src/
must: -rn needle {here}/../tree/src
must: -rn needle .
must: -rn needle ./
must: -rn needle ./src
must: -rn needle src/.
must: -rn needle src//deep
must: -rn needle src/deep/../deep
must: -rn needle
must: -rnh needle src/shapes.py
raw: -rnh needle src
raw: -rnh needle
raw: -nh needle src/shapes.py src/counter.c
must: -nh needle src/shapes.py
must: -nhH needle src/shapes.py
must: -nHh needle src/shapes.py
must: -rn needle src/shapes.py
must: -rn needle src/shapes.py src/deep
must: -rnH needle src/shapes.py
must: -n needle ./src/shapes.py
must: -n needle src/../src/shapes.py
must: -n needle src/shapes.py src/shapes.py
must: -n needle src/shapes.py ./src/shapes.py
must: -n needle src/shapes.py nowhere.py
must: -n needle nowhere.py src/shapes.py
must: -n needle nowhere.py
must: -sn needle nowhere.py src/shapes.py
must: -n needle nowhere.py nor.py
must: -rn needle nowhere src/deep
must: -n needle src
must: -n needle src src/shapes.py
must: -sn needle src src/shapes.py
must: -n -d skip needle src src/shapes.py
must: -n -d read needle src src/shapes.py
must: -n -d recurse needle src/deep
must: -n --directories=recurse needle src/deep
must: -n --directories recurse needle src/deep
must: -n --dir=rec needle src/deep
must: -n needle src/link.py
must: -n needle src/link.py src/shapes.py
must: -n needle linked/shapes.py
must: -rn needle linked
must: -rn needle linked/
must: -Rn needle linked
must: -n needle src/loop
must: -n needle src/loop src/shapes.py
must: -rn needle ../beside
must: -rn needle ../beside ../tree/src/deep
must: -n -D skip needle ../beside/pipe.py ../beside/shelf.js
must: -n --devices=skip needle ../beside/pipe.py
must: -n needle /dev/null src/shapes.py
must: -n needle src/shapes.py /dev/null
must: -n needle /dev/null
must: -n -- needle src/shapes.py
must: -n needle -- src/shapes.py
must: -n -e needle -- src/shapes.py src/counter.c
must: -- needle src/shapes.py -n
must: needle -- src/shapes.py -n
must: needle src/shapes.py -n
must: needle -n src/shapes.py -i src/counter.c
must: -rn needle -- src/-dash.py
must: -n needle ./src/-dash.py src/shapes.py
may: -n needle ''
may: -n needle '' src/shapes.py
must: -rn needle src --include '*.py'
must: -rn needle src --include=*.go --include=*.js
must: -rn needle src --exclude=*.py
must: -rn needle . --exclude-dir=src
must: -rn needle . --exclude-dir=src --exclude-dir text
must: -n needle src/shapes.py --include=*.c
raw: needle src/shapes.py
raw: -r needle src
raw: -H needle src/shapes.py
raw: -A1 needle src/shapes.py
raw: needle src/shapes.py src/counter.c
"""


def test_names_that_are_hard_to_read_in_an_output(gnu: Stand) -> None:
    """Colons, dates, spaces, newlines, bytes that are no UTF-8 in names (rtk#1613, qwen-code#5370, headroom#2084)."""
    odd: list[str | bytes] = [
        "src/a:12:b.py",
        "src/2024-01-02/report-03:04:05.py",
        "src/with space.py",
        "src/new\nline.py",
        b"src/bad\xff\xfe.py",
        "src/gr\u00fc\u00dfe.py",
    ]
    shapes = {"src/new\nline.py": MAY}
    cases = [Case(("-n", "needle", name), MUST) for name in odd]
    cases += [Case(("-Hn", "needle", name), shapes.get(str(name), MUST)) for name in odd]
    cases += [Case(("-nC9", "needle", name, "notes.txt"), shapes.get(str(name), MUST)) for name in odd]
    cases += [Case(("-nv", "zzz", name, "line.py"), shapes.get(str(name), MUST)) for name in odd]
    cases += [Case(("-n", "needle", *odd, "line.py"), MAY), Case(("-rn", "needle", "src", "line.py"), MAY)]
    cases += [
        Case(("-rnC2", "needle", "src/2024-01-02"), MUST),
        Case(("-rn", "needle", "2024-01-02"), MUST, folder="src"),
    ]
    cases += [
        Case(("-n", "needle", "a:12:b.py"), MUST, folder="src"),
        Case(("-Hn", "needle", "a:12:b.py"), MUST, folder="src"),
    ]
    cases += [Case(("-n", "needle", "new\nline.py", "../line.py"), MAY, folder="src")]
    gnu.compare(cases)


def test_a_line_that_two_files_could_have_printed_gets_no_name(gnu: Stand) -> None:
    """`twins/a.py:4:b.py:3:...` is line 4 of one file and line 3 of another: neither name is put there."""
    cases = [
        Case(words, MUST)
        for words in (("-rn", "twin", "twins"), ("-rn", "needle", "twins"), ("-rnC2", "twin", "twins"))
    ]
    cases.append(Case(("-n", "twin", "twins/a.py", "twins/a.py:4:b.py"), MUST))
    gnu.compare(cases)


def test_text_that_looks_like_an_output_gets_no_name(gnu: Stand) -> None:
    """A file that is itself a search's output, and context lines that look like hits (lean-ctx#1648, headroom#3545)."""
    cases = cases_of(
        "must: -n needle notes.txt\nmust: -Hn needle notes.txt\nmust: -n '' notes.txt src/shapes.py\nmust: -nC9 '^$' notes.txt src/shapes.py"
        "\nmust: -n -C1 inner src/shapes.py\nmust: -nv zzz notes.txt\nmust: -n needle notes.txt notes.txt"
        "\nmust: -nA99 import src/shapes.py\nmust: -nB99 'at the end' src/shapes.py notes.txt"
        "\nraw: needle notes.txt\nraw: -h needle notes.txt src/shapes.py\nraw: -c needle notes.txt src/shapes.py"
    )
    gnu.compare(cases)


LOCALES = (
    {"LC_ALL": "C"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_CTYPE": "C", "LANG": "C.UTF-8"},
)


@pytest.mark.parametrize("locale", LOCALES, ids=lambda locale: ",".join(locale.values()))
def test_encodings_and_binary_files_under_each_locale(gnu: Stand, locale: dict[str, str]) -> None:
    """Latin-1, UTF-16, invalid UTF-8, CRLF, BOM, NUL, no last newline, nothing at all (rtk#4113, serena#2017, rtk#4065)."""
    shape = MUST if locale.get("LC_ALL", "") == "C" else MAY
    names = ["latin", "invalid", "crlf", "bom", "nofinal", "empty", "nul", "utf16", "long"]
    cases = [Case(("-n", "needle", f"text/{name}.py"), shape, locale) for name in names]
    cases += [Case(("-na", "needle", f"text/{name}.py"), MUST, locale) for name in names]
    cases += cases_of(
        "may: -rn needle text\nmust: -rna needle text\nmay: -rnI needle text\nmust: -rn --binary-files=text needle text\nmay: -naU needle text/crlf.py text/nul.py"
        "\nmay: -rn --binary-files=without-match needle text\nmay: -rnv needle text\nmust: -rnav needle text\nmust: -rnaC1 return text\nmust: -nai CAF text/latin.py"
        "\nmust: -naP 'n.edle' text/latin.py text/invalid.py\nmust: -na . text/invalid.py\nmust: -nax '.*' text/invalid.py\nmust: -rn ü src\nmust: -naw needle text/nofinal.py",
        variables=locale,
    )
    cases.append(Case(("-na", b"caf\xe9", "text/latin.py"), MUST, locale))
    cases.append(Case(("-na", b"\xff\xfe", "text/invalid.py", "text/latin.py"), MUST, locale))
    cases.append(Case(("-naF", b"\xff\xfe", "-r", "text"), MUST, locale))
    gnu.compare(cases)


def test_variables_that_grep_heeds(gnu: Stand) -> None:
    """POSIXLY_CORRECT ends the options at the first operand; GREP_COLORS and GREP_COLOR colour; GREP_OPTIONS is no more."""
    strict = {"POSIXLY_CORRECT": "1"}
    cases = cases_of(
        "must: -n needle src/shapes.py\nmust: needle -n src/shapes.py\nraw: needle src/shapes.py -n\nmust: -n needle src/shapes.py -H\nmay: needle src/shapes.py src/counter.c -n"
        "\nmust: -n needle src/shapes.py -c\nmust: -n needle -- src/shapes.py -c\nmay: -rn needle src/deep --include=*.c",
        variables=strict,
    )
    for colours in (
        {"GREP_COLORS": "mt=01;32:ln=33:se=:fn="},
        {"GREP_COLOR": "1;32"},
        {"GREP_COLORS": "mt=:sl=1:rv:ne"},
    ):
        cases += cases_of(
            "raw: -n --color=always needle src/shapes.py\nraw: -rn --color=always needle src/deep\nmust: -n --color=auto needle src/shapes.py src/counter.c"
            "\nraw: --color=always needle src/shapes.py\nmust: -n --color needle src/shapes.py",
            variables=colours,
        )
    cases += cases_of(
        "may: -n needle src/shapes.py\nraw: needle src/shapes.py", variables={"GREP_OPTIONS": "-c"}
    )
    cases += cases_of("must: -n needle src/shapes.py\nmust: -rn needle src/deep", variables={"TERM": "dumb"})
    cases += cases_of(
        "must: -n --color=auto needle src/shapes.py",
        variables={"TERM": "xterm-256color", "CLICOLOR_FORCE": "1"},
    )
    gnu.compare(cases)


def test_standard_input_is_left_to_the_tool(gnu: Stand) -> None:
    """A pattern without operands, `-`, a file beside `-`, `-r -`, patterns from standard input."""
    given = b"one needle\ntwo\nthree needle\n"
    text = (
        "raw: -n needle\nraw: -n needle -\nraw: -Hn needle -\nraw: -Hn --label=src/shapes.py needle\nraw: -nc needle\nraw: -n -e needle\nraw: -nA1 needle -\nraw: -hn needle -"
        "\nmay: -n needle src/shapes.py -\nmay: -n needle - src/shapes.py\nmay: -n --label=src/counter.c needle - src/shapes.py\nmay: -n needle - -\nmay: -rn needle -"
        "\nmust: -rn needle src/deep\nraw: needle\nraw: -n needle -- -\nraw: -n -m1 needle\nmay: -rn needle - src/deep"
    )
    cases = cases_of(text, stdin=given) + cases_of(text, stdin=b"")
    cases += cases_of(
        text, stdin=b'#\n#\nNEEDLE = "needle of the module"\n#\n#\n    needle = width * height\n'
    )
    cases += cases_of(
        "must: -n -f - src/shapes.py\nmust: -n -f - -r src/deep\nmust: -f - -n src/shapes.py src/counter.c",
        stdin=b"needle\n",
    )
    gnu.compare(cases)


def test_a_file_that_may_not_be_read(gnu: Stand, tmp_path: Path) -> None:
    """Without permission grep says so and exits 2, with what it found elsewhere in front (rtk#162)."""
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
    stand = Stand(tmp_path, closed, "grep", gnu.real)
    cases = cases_of(
        "must: -n needle shut.py\nmust: -n needle shut.py open.py\nmust: -n needle open.py shut.py\nmust: -sn needle open.py shut.py\nmust: -rn needle .\nmust: -rn needle"
        "\nmust: -rsn needle .\nraw: -qn needle open.py shut.py\nraw: -qn needle shut.py open.py\nmust: -n -f shut.py open.py\nraw: -c needle open.py shut.py\nmust: -rn needle room open.py",
        before=before,
    )
    try:
        assert b"Permission denied" in stand.run(cases[0], shim=False).error
        stand.compare(cases)
    finally:
        (closed.folder / "room").chmod(0o700)


@pytest.mark.parametrize("sink", ["pipe", "file", "null", "full", "closed"])
def test_wherever_the_output_goes(gnu: Stand, sink: str) -> None:
    """To a program that reads it, a file, nowhere, a full disk, and no standard output at all: status and messages are the tool's."""
    text = "-n needle src/shapes.py\n-rn needle .\n-n needle src/shapes.py nowhere\n-n zzz src/shapes.py\n-nq needle src/shapes.py\n-c needle src/shapes.py\n-n needle nowhere"
    before = ("sh", "-c", 'exec "$0" "$@" >&-') if sink == "closed" else ()
    shape = MUST if sink in ("pipe", "file") else MAY
    cases = [
        Case(tuple(line.split()), shape, sink="pipe" if before else sink, before=before)
        for line in text.splitlines()
    ]
    gnu.compare(cases)


def test_without_a_summary_standard_error_is_the_tools(gnu: Stand) -> None:
    """SLICEGREP_SHIM_QUIET, and its older name, drop the one line that the shim says."""
    for name in ("SLICEGREP_SHIM_QUIET", "LOOM_GREP_SHIM_QUIET"):
        for case in cases_of(
            "must: -rn needle src\nmust: -n needle src/shapes.py nowhere\nmust: -n needle src/shapes.py",
            variables={name: "1"},
        ):
            assert gnu.faults(case) == []
            assert b"slicegrep" not in gnu.run(case, shim=True).error


# ---- ugrep ------------------------------------------------------------------------------------------------------


def ugrep_cases() -> list[Case]:
    """Return command lines of the table, searched by one thread in one order."""
    rng = random.Random(SEED + 1)
    cases = []
    while len(cases) < UGREP_LINES:
        case = _random_case(rng)
        words = ("-J1", "--sort=name", *case.words)
        cases.append(Case(words, RAW if case.shape == RAW else MAY, sink=case.sink))
    return cases


def test_ugrep_by_the_name_of_grep(ugrep: Stand) -> None:
    """Found on PATH as `grep`, ugrep keeps its own ways."""
    ugrep.compare(ugrep_cases())


UGREP = """
must: -n needle src/shapes.py
must: -n needle src/shapes.py src/counter.c
may: -rn --sort -J1 needle src
may: -Rn --sort -J1 needle src/deep
raw: -n -c needle src/shapes.py
raw: -nl needle src/shapes.py
raw: -no needle src/shapes.py
may: -nk needle src/shapes.py
may: -n --heading needle src/shapes.py src/counter.c
may: -n+ needle src/shapes.py src/counter.c
may: -n --pretty needle src/shapes.py
may: -n --format=%f:%n:%O%~ needle src/shapes.py
may: --csv -n needle src/shapes.py
may: --json -n needle src/shapes.py
may: --xml -n needle src/shapes.py
may: -nQ needle src/shapes.py --tag
may: -n --hexdump needle src/shapes.py
may: -nX needle src/shapes.py
may: -nW needle text/nul.py src/shapes.py
may: -ny needle src/shapes.py
may: -n --any-line needle src/shapes.py
may: -n -g '*.py' needle src/shapes.py
may: -n -tpython -J1 --sort needle src
may: -n -O py -J1 --sort needle src
may: -n --and return -e needle src/shapes.py
may: -n -e needle --not return src/shapes.py
may: -nZ needle src/shapes.py
may: -n -Z1 needel src/shapes.py
may: -n --max-files=1 -J1 --sort needle src
may: -n --replace=x needle src/shapes.py
may: -n --separator=. needle src/shapes.py
may: -n --range=1,9 needle src/shapes.py
may: -n -K1,9 needle src/shapes.py
may: -n --filter='*:cat' needle src/shapes.py
may: -nP 'need(?=le)' src/shapes.py
may: -n 'needle' nowhere src/shapes.py
may: -n '(' src/shapes.py
may: --nosuchoption needle src/shapes.py
may: -n --tabs=4 needle src/counter.c
may: -nT needle src/counter.c
may: -n --depth=1 -J1 --sort needle src
may: -n -2 -J1 --sort needle src
may: --colors=mt=g --color=always -n needle src/shapes.py
"""


def test_threads_of_ugrep_print_in_any_order(ugrep: Stand) -> None:
    """Without `--sort` the lines of several files come as they are found: the same lines, with the same names."""
    texts = (
        "-rn needle src",
        "-rn needle src/shapes.py text/crlf.py src/counter.c",
        "-rnC1 needle src/deep src/shelf.js",
        "-Rn needle linked src/server.go",
    )
    ugrep.compare(Case(tuple(text.split()), MUST, unordered=True) for text in texts)


@pytest.mark.parametrize("forced", ["SLICEGREP_GREP_REAL", "LOOM_GREP_REAL"])
def test_ugrep_forced_by_a_variable(ugrep: Stand, tree: Tree, forced: str, tmp_path: Path) -> None:
    """SLICEGREP_GREP_REAL, and its older name, choose the tool; what it prints stays as it is."""
    named = Stand(tmp_path, tree, "grep", ugrep.real, extra={forced: str(ugrep.tools / "grep")})
    named.compare(cases_of(UGREP)[:: 1 if forced.startswith("S") else 5])
