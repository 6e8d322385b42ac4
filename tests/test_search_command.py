"""A shell command line says which search runs, of which file a bare `12:text` is, and where it ran."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from slicegrep.search_command import Place, SearchCommand, search_command


def found(command: str, *, powershell: bool = False) -> SearchCommand:
    """Return what is known of a command that runs a search."""
    search = search_command(command, powershell=powershell)
    assert search is not None
    return search


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn x .", "egrep -n x f", "fgrep -n x f", "rg x", "ugrep -rn x", "ag x", "ack x", "git grep -n x", "git --no-pager grep x",
        "/usr/bin/grep -n x f", "\\grep -n x f", "command grep -n x f", "LC_ALL=C grep -n x f", "A=1 B=2 rg x", "time grep -n x f",
        "time -p grep -n x f", "nice -n 5 grep -n x f", "timeout 5 grep -n x f", "timeout -k 1 5s rg x", "sudo -u me grep -n x f",
        "env LC_ALL=C grep -n x f", "env -i grep -n x f", "nohup rg x &", "cd a && rg x", "cd a; rg x", "cd a || exit; rg x", "ls\nrg x",
        "rg x | head", "rg x | sort | uniq -c", "(rg x)", "{ rg x; }", "! grep -n x f", "if grep -n x f; then echo; fi", "ls | xargs grep x",
        "ls | xargs -0 -I{} grep -n x {}", "find . -name '*.py' -exec grep -n x {} +", "find . -exec grep -n x {} \\;", "bash -c 'rg x'",
        'sh -c "cd a && grep -n x f"', "rg 'a|b;c' f", 'rg "a && b" f', "for f in *.py; do grep -n x $f; done", "cat f | grep -n x",
    ],
)  # fmt: skip
def test_a_search_is_found(command: str) -> None:
    """Alone, in lists, pipelines and groups, behind assignments and programs that run another."""
    assert found(command).understood


@pytest.mark.parametrize(
    "command",
    [
        "ls", "echo grep", "git log --grep=x", "git status", "cat grep.py", "./grep.sh x", "pgrep -f x", "man rg", "echo 'rg x'", "# grep x",
        "cat <<EOF\ngrep -n x f\nEOF", "echo $(grep -n x f)", "x=`rg y`", "which rg", "vim -c 'grep x'", "pip install rg", "diff <(rg x) f",
        "ssh host grep -rn x .", "docker exec c rg x", "", "git -C a log grep",
    ],
)  # fmt: skip
def test_no_search_is_found(command: str) -> None:
    """The name of a search program is no search: in quotes, comments, here-documents, substitutions, other programs' words."""
    assert search_command(command) is None


@pytest.mark.parametrize(
    ("command", "operands"),
    [
        ("grep -n x a.py", ("a.py",)),
        ("grep -n -e x a.py", ("a.py",)),
        ("grep -nex a.py", ("a.py",)),
        ("grep -n --regexp=x a.py", ("a.py",)),
        ("grep -n --regexp x a.py", ("a.py",)),
        ("grep -n -f words a.py", ("a.py",)),
        ("grep -nf words a.py", ("a.py",)),
        ("grep -A 3 -n x a.py", ("a.py",)),
        ("grep -A3 -n x a.py", ("a.py",)),
        ("grep -n5 x a.py", ("a.py",)),
        ("grep x -n a.py -i", ("a.py",)),
        ("grep -n -- -x a.py", ("a.py",)),
        ("grep -n x -- -a.py", ("-a.py",)),
        ("grep -n 'x y' 'a b.py'", ("a b.py",)),
        ('grep -n "it\'s" "a b.py"', ("a b.py",)),
        ("grep -n x a\\ b.py", ("a b.py",)),
        ("grep -n 'a|b' a.py | head", ("a.py",)),
        ("grep -n x a.py | grep -v y", ("a.py",)),
        ("grep -n x a.py 2>/dev/null", ("a.py",)),
        ("grep -n x a.py 2>&1 | head", ("a.py",)),
        ("grep --include '*.py' -rn x src", ("src",)),
        ("grep -n foo$ a.py", ("a.py",)),
        ("grep -n x a.py; grep -n y b.py", ("a.py", "b.py")),
        ("grep -n x a.py; grep -n y b.py c.py", ("a.py",)),
        ("grep -n x a.py; grep -Hn y b.py", ("a.py",)),
        ("rg -n x a.py", ("a.py",)),
        ("rg -n -t py x a.py", ("a.py",)),
        ("rg -n --type=py -g '!t' x a.py", ("a.py",)),
        ("rg -A 2 -nw x a.py", ("a.py",)),
        ("rg --vimgrep x a.py", None),
        ("ag x a.py", ("a.py",)),
        ("ack --match x a.py", ("a.py",)),
        ("ls | grep -n x a.py", ("a.py",)),
        ("grep -n x a.py b.py", None),
        ("grep -Hn x a.py", None),
        ("grep -n x *.py", None),
        ("grep -n x $F", None),
        ('grep -n x "$F"', None),
        ("grep -n x {a,b}.py", None),
        ("grep -n x $(ls)", None),
        ("grep -n x -", None),
        ("grep -n x < a.py", None),
        ("cat a.py | grep -n x", None),
        ("cat b.py | grep -n x; grep -n x a.py", None),
        ("grep x b.py | grep -n x; grep -n x a.py", None),
        ("grep -n x a.py | grep -n y", None),
        ("ls | xargs grep -n x; grep -n x a.py", None),
        ("awk '{print NR\":\"$0}' b.py; grep -n x a.py", None),
        ("grep -hn x b.py c.py; grep -n x a.py", None),
        ("grep -rhn x src", None),
        ("git grep -n x -- a.py", None),
        ("grep x a.py", None),
    ],
)
def test_the_one_file_that_bare_lines_are_of(command: str, operands: tuple[str, ...] | None) -> None:
    """Known only when each search that prints `12:text` was given exactly one file, by its own name."""
    assert found(command).operands == operands


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("rg x", Place()),
        ("cd a && rg x", Place(("a",))),
        ("cd 'a b' && cd c; rg x", Place(("a b", "c"))),
        ("cd -- a && rg x", Place(("a",))),
        ("cd -P a && rg x", Place(("a",))),
        ("cd && rg x", Place(("~",))),
        ("cd - && rg x", Place((None,))),
        ("cd $D && rg x", Place((None,))),
        ("cd a; rg x; cd ..", Place(("a",), (), ("..",))),
        ("(cd a && rg x)", Place((), ("a",))),
        ("cd a; (cd b; (cd c; rg x)); cd d", Place(("a",), ("b", "c"), ("d",))),
        ("(cd a); rg x", Place()),
        ("pushd a; rg x; popd", Place(("a",), (), (None,))),
        ("git -C a grep x", Place((), ("a",))),
        ("cd b && git -C a -c x=y grep x", Place(("b",), ("a",))),
        ("bash -c 'cd a && rg x'", Place((), ("a",))),
        ("cd b && bash -lc 'cd a && rg x'", Place(("b",), ("a",))),
    ],
)
def test_where_a_search_runs(command: str, place: Place) -> None:
    """Each `cd` counts from where it stands to the end of its shell; a subshell's ends with it."""
    assert found(command).places == (place,)


def test_two_searches_in_two_directories() -> None:
    """Each search has a place of its own."""
    assert found("cd a && rg x; cd b && rg x").places == (Place(("a",), (), ("b",)), Place(("a", "b")))


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("grep -n foo a.py", ("foo",)),
        ("grep -n -e foo -e bar a.py", ("foo", "bar")),
        ("grep -nefoo a.py | grep -v bar", ("foo", "bar")),
        ("rg --regexp 'a|b' src", ("a|b",)),
        ("git grep -n foo -- src", ("foo",)),
        ('rg "$X" src', ()),
        ("grep -f words a.py", ()),
        ("rg --files", ()),
    ],
)  # fmt: skip
def test_patterns(command: str, patterns: tuple[str, ...]) -> None:
    """What was searched for, where it is known."""
    assert found(command).patterns == patterns


@pytest.mark.parametrize(
    ("command", "numbers"),
    [("grep x f", False), ("grep -in x f", True), ("grep --line-number x f", True), ("rg x", True), ("git grep x", True), ("ag x", True)],
)  # fmt: skip
def test_whether_lines_are_numbered(command: str, *, numbers: bool) -> None:
    """Grep without -n prints no numbers; for the others a configuration file may ask for them."""
    assert found(command).numbers is numbers


@pytest.mark.parametrize(
    "command",
    [
        "case $x in a) rg y;; esac",
        "f() { rg x; }; f",
        "grep -n 'x f",
        "a=(1 2); rg x",
        "rg x $(a",
        "rg x <<E\nno end",
    ],
)
def test_a_command_that_is_not_understood_keeps_only_lines_with_paths(command: str) -> None:
    """Shell syntax outside of the reader's knowledge: bare lines are of no file then."""
    search = found(command)
    assert not search.understood
    assert search.operands is None


def test_directories_are_guessed_in_a_command_that_is_not_understood() -> None:
    """The targets of its cd's are tried; the lines are verified anyway."""
    assert Place(inside=("a b",)) in found("cd 'a b' && case $x in y) rg z;; esac").places


@pytest.mark.parametrize(
    ("command", "operands", "places"),
    [
        ("rg -n x src\\a.py", ("src\\a.py",), (Place(),)),
        ("Set-Location C:\\w; rg -n 'it''s' a.py | Select-Object -First 5", ("a.py",), (Place(("C:\\w",)),)),
        ('cd sub; & rg.exe -n "a`"b" a.py', ("a.py",), (Place(("sub",)),)),
        ("grep -n x 'C:\\w\\a.py' `\n -i", ("C:\\w\\a.py",), (Place(),)),
    ],
)  # fmt: skip
def test_powershell(command: str, operands: tuple[str, ...], places: tuple[Place, ...]) -> None:
    """In PowerShell the back-tick escapes, a backslash is a letter, and `Select-Object` ends a pipeline like head."""
    search = found(command, powershell=True)
    assert (search.operands, search.places) == (operands, places)


SHELL_TEXT = st.text("grep rg -nHh'\"\\$`|&;<>(){}#*?~=\n\tcdxaf./E0:\0", max_size=60)


@given(command=SHELL_TEXT, powershell=st.booleans())
@example(command="grep \\", powershell=False)
@example(command="rg <<E\n", powershell=True)
@example(command="rg x <<", powershell=False)
@example(command="(" * 3000 + "rg", powershell=False)
@example(command="rg $(" + "(" * 3000, powershell=False)
@example(command="rg " + "'" * 9999, powershell=False)
def test_any_text_is_read_without_an_error(command: str, *, powershell: bool) -> None:
    """Whatever the text, the answer is a search or none."""
    search = search_command(command, powershell=powershell)
    assert search is None or isinstance(search, SearchCommand)


@pytest.mark.parametrize(
    "other",
    [
        "make lint",
        "./tool",
        "source s.sh",
        'eval "$x"',
        "git diff",
        "cat -n b.py",
        "$RUN b.py",
        "parallel x ::: b.py",
    ],
)
def test_a_bare_line_is_nobodys_where_another_program_prints(other: str) -> None:
    """It can look like a line of the one file that was searched."""
    found = search_command(f"{other}; grep -n needle a.py")
    assert found is not None
    assert found.operands is None
    silent = search_command("cd sub && export A=1; echo; grep -n needle a.py | sort | head -3")
    assert silent is not None
    assert silent.operands == ("a.py",)
