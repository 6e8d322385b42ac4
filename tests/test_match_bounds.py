"""No pattern and no file makes a search hang: time and memory are bounded, and what was given up is said."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from odd_folder import PLUGIN
from slicegrep.match import LONGEST_LINE, Matches, find
from slicegrep.query import Pattern
from slicegrep.source import source_of

LINE = "a" * 4_000
SECONDS = 1.0
# A search may take `seconds` twice (the second time for literals), and a little to notice that it is over.
BOUND = 2 * SECONDS + 3


def search(text: str, *regexes: str, copies: int = 1, seconds: float = SECONDS) -> tuple[Matches, float]:
    """Search `copies` files of a text; return what was found, and the seconds that it took."""
    source = source_of("a.py", text.encode())
    asked = [Pattern(regex, regex) for regex in regexes]
    begun = time.monotonic()
    matches = find("/", [f"{n}.py" for n in range(copies)], asked, seconds=seconds, read=lambda _: source)
    return matches, time.monotonic() - begun


@pytest.mark.parametrize(
    "regex", ["(a+)+$", "(a|a)*b", "(a|aa)+$x", "(.*)(.*)(.*)(.*)(.*)x", "(a?){500}b", "a*a*a*a*a*b"]
)
def test_what_kills_a_backtracking_engine_is_linear_in_re2(regex: str) -> None:
    """A 100 kB text of such lines takes about as long as a plain word in ten times as much."""
    text = f"{LINE}!\n" * 25
    matches, took = search(text, regex)
    assert not any("literal" in note or "ended" in note for note in matches.notes)
    _, plain = search(text, "zzz", copies=10)
    assert took < 100 * plain + 0.5


@pytest.mark.parametrize("regex", [r"^(?=(a+)+$)", r"(a+)+\1$(?<=b)", r"(?=(?:a|aa)+c)a", r"(?!(a|aa)*!)a"])
def test_look_around_that_explodes_runs_out_of_time(regex: str) -> None:
    """The limit reaches into the engine's own loop; what is left is a literal, and the note says so."""
    text = f"{LINE}!\n" * 5 + f"x = {regex}\n"
    matches, took = search(text, regex)
    assert took < BOUND
    assert [hit.line for hit in matches.by_file["0.py"]][-1:] == [6]
    assert f"{regex!r} takes too long to match: searched as a literal too." in matches.notes


def test_a_slow_pattern_does_not_take_the_time_of_another() -> None:
    """The one runs out of time; the other still finds what it finds in all files."""
    matches, took = search(f"{LINE}!\nneedle\n", r"^(?=(a+)+$)", "needle", copies=20)
    assert took < BOUND
    assert len(matches.by_file) == 20
    assert all(hit.patterns == (1,) for hits in matches.by_file.values() for hit in hits)


def test_the_search_ends_with_its_time() -> None:
    """And says how many files it came to. RE2 runs the pattern: one that backtracks has a limit of its own."""
    matches, took = search("x = 'abcdefghij klm'\n" * 60_000, "[a-z] kln", copies=100_000, seconds=0.3)
    assert took < 10  # minutes without the limit
    assert matches.notes[0] == "The search was ended after 0.3 seconds."
    assert matches.notes[1].endswith(" of 100000 files were searched before it stopped.")


@pytest.mark.parametrize("width", [100_000, 5_000_000])
def test_a_long_line_costs_nothing(width: int) -> None:
    """pixel#194: a minified bundle is passed over, also by what RE2 can only run slowly."""
    text = "needle " + "ab c" * (width // 4) + "\nneedle\n"
    for regex in ("needle", "[a-z].{900}q|needle", r"(?=n)need(l|le)+e?"):
        matches, took = search(text, regex)
        assert [hit.line for hit in matches.by_file["0.py"]] == [2]
        assert "Lines of over 5,000 characters were not searched" in matches.notes[0]
        assert took < BOUND


def test_lines_of_just_the_length_are_searched_in_any_script() -> None:
    """Four bytes a character: the pieces that are searched at once hold such a line whole."""
    for char in ("a", "é", "数", "🚀"):
        text = f"{char * (LONGEST_LINE - 1)}!\n" * 12
        matches, _ = search(text, "!$")
        assert [hit.line for hit in matches.by_file["0.py"]] == list(range(1, 13))
        assert matches.notes == ()


@pytest.mark.parametrize("joined", [False, True])
def test_ten_thousand_alternatives(joined: bool) -> None:  # noqa: FBT001
    """As so many patterns or as one; each line knows which."""
    words = [f"word{number:05}" for number in range(10_000)]
    asked = ["|".join(words)] if joined else words
    text = "x = 1\n" * 20_000 + "a word07000 and WORD00003\nword\n"
    matches, took = search(text, *asked)
    assert took < 15
    (hit,) = matches.by_file["0.py"]
    assert (hit.line, hit.patterns) == (20_001, (0,) if joined else (3, 7000))
    assert matches.notes == ()


@pytest.mark.parametrize(
    "regex",
    [
        "(" * 1_000 + "needle" + ")" * 1_000,
        "(?:" * 20_000 + "needle" + ")" * 20_000,
        "(" * 20_000 + "needle",
        "(?=n)" + "(" * 900 + "needle" + ")" * 900,
        ".{1000}{1000}",
        "((a{1000}){1000}){1000}",
        "(?=x)((a{1000}){1000}){1000}",
        r"\pL{1000}",
        r"(?=x)\pL{1000}",
        "x{99999999999}",
        "[a-z]{1000}" * 40,
        "a" * 300_000,
        "(?:" + "a?" * 5_000 + ")needle",
        "|".join(["(?=x)y"] * 5_000),
    ],
    ids=lambda regex: regex[:12] + str(len(regex)),
)
def test_patterns_of_any_size_are_run_or_given_up(regex: str) -> None:
    """Nesting, counted repetition and sheer length: no recursion, no memory without end, no traceback."""
    matches, took = search("x = 1\nneedle\n" * 200, regex)
    assert took < 10
    assert len(matches.by_file) == 1 or "needle" not in regex or matches.notes


@pytest.mark.parametrize(
    "regex", ["[a-z].{900}q", r"\pL.{300}z", "[a-q][^u-z]{500}Z", r"(?:\w.){0,300}\d{50}"]
)
def test_what_re2_can_only_run_slowly_is_ended(regex: str) -> None:
    """Its automaton outgrows its memory; the clock is looked at often enough."""
    text = ("abcdefghij ,.x(" * 330 + "\n") * 200
    _, took = search(text, regex, copies=20)
    assert took < BOUND + 3


WITHOUT_RE2 = """
import json, sys
sys.modules["re2"] = None
from slicegrep.match import find
from slicegrep.query import Pattern
from slicegrep.source import source_of
text, *regexes = json.load(sys.stdin)
source = source_of("a.py", text.encode())
found = find("/", ["a.py"], [Pattern(r, r) for r in regexes], read=lambda _: source)
print(json.dumps([[[h.line, h.patterns] for h in found.by_file.get("a.py", ())], found.notes]))
"""


@pytest.mark.parametrize(
    "regexes",
    [
        ["get_name"],
        ["self", r"name\b", "^class", "(?<=get_)name", "X", r"\w+:$"],
        ["x*"],
        ["foo("],
        ["(a+)+$", "ÉT"],
        ["((a{1000}){1000}){1000}"],
    ],
)
def test_without_re2_the_same_lines_are_found(regexes: list[str]) -> None:
    """There is no wheel of it for musl: the engine that backtracks, under its time limit, looks at each line."""
    text = "def get_name(self):\n    return self.name\n\nclass X:\r\n  été foo(\n" + "a" * 40 + "!\n"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {PLUGIN!r})\n{WITHOUT_RE2}"],
        input=json.dumps([text, *regexes]),
        capture_output=True,
        text=True,
        check=True,
    )
    hits, notes = json.loads(done.stdout)
    matches, _ = search(text, *regexes)
    assert hits == [[hit.line, list(hit.patterns)] for hit in matches.by_file.get("0.py", ())]
    if "(a+)+$" not in regexes:
        assert tuple(notes) == matches.notes
