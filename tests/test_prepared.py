"""What is known of a file is the same however often, and for whatever, it was asked before."""

from __future__ import annotations

import argparse
import gc
import math
import re
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_told import PLUGIN
from slicegrep.engine import read_instead
from slicegrep.evidence import Evidence, evidence_of
from slicegrep.focus import Focus, Said, focus_of
from slicegrep.index import let_go, open_view
from slicegrep.lexicon import Lexicon
from slicegrep.outline import outline
from slicegrep.places import MOST_HITS
from slicegrep.plan import Plan
from slicegrep.prepared import Prepared, line_costs, prepared_of
from slicegrep.rank import features, rank
from slicegrep.settings import Settings
from slicegrep.source import read_source, source_of
from slicegrep.tokens import weigh
from slicegrep.types import Source
from slicegrep.words import IDENTIFIER, stem, sub_words

ARGPARSE = source_of("/w/argparse.py", Path(argparse.__file__).read_bytes())
OUTLINE = outline(ARGPARSE, seconds=60.0)
KEPT = Prepared(ARGPARSE, OUTLINE)
PROMPTS = (
    "How do subparsers get their prog? Fix `add_subparsers`",
    'It says "expected one argument" for --foo-bar 3000',
    "Fix typos in the comments",
    "xylophone",
)

NAMES = st.sampled_from(
    ("parse_args", "HTTPServer", "parser", "parsing", "_", "x2", "naïve", "write", "rewritten", "a", "é_é")
)
TEXTS = st.lists(
    st.lists(
        NAMES | st.sampled_from(("(", ")", '"quoted text"', "4000", "--no-foo", "  ", "\t", "#", "😀"))
    ).map(" ".join),
    max_size=80,
).map("\n".join)
FOCUSES = st.builds(
    lambda names, quoted, lines: focus_of([Said(" ".join([*names, *quoted]), 1.0)], lines=lines),
    st.lists(NAMES, max_size=12),
    st.lists(st.sampled_from(('"quoted text"', "4000", "--no-foo", "comments")), max_size=3),
    st.lists(st.tuples(st.integers(1, 90), st.floats(0.01, 1.0)), max_size=3),
)


def module(text: str) -> Source:
    return source_of("/w/module.py", text.encode())


def planned(prepared: Prepared, prompt: str, lines: tuple[tuple[int, float], ...] = ()) -> Plan | None:
    return read_instead(prepared, focus_of([Said(prompt, 1.0)], lines=lines), Settings())


def test_a_kept_one_answers_as_a_new_one() -> None:
    """In any order, and again: nothing of a focus stays behind."""
    for prompt in (*PROMPTS, *reversed(PROMPTS)):
        assert planned(KEPT, prompt, ((1200, 1.0),)) == planned(
            Prepared(ARGPARSE, OUTLINE), prompt, ((1200, 1.0),)
        )
        assert planned(KEPT, prompt) == planned(Prepared(ARGPARSE, OUTLINE), prompt)


def test_a_complete_one_answers_as_a_new_one() -> None:
    """What is made beforehand is what would have been made."""
    ready = Prepared(ARGPARSE, OUTLINE)
    ready.complete()
    known = set(vars(ready))
    assert [planned(ready, prompt) for prompt in PROMPTS] == [planned(KEPT, prompt) for prompt in PROMPTS]
    assert set(vars(ready)) == known, "nothing was left to be made"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, FOCUSES, FOCUSES)
def test_no_focus_changes_what_the_next_one_finds(text: str, first: Focus, second: Focus) -> None:
    """Features and chances, for any file and any two focuses."""
    kept = Prepared(module(text))
    rank(kept, first)
    new = Prepared(module(text))
    assert rank(kept, second) == rank(new, second)
    assert features(kept, second)[0] == features(new, second)[0]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, FOCUSES)
def test_a_focus_is_found_as_by_asking_of_each_word(text: str, focus: Focus) -> None:
    """The look-up by terms says of every line what asking each of its words would."""
    source = module(text)
    found = _held(evidence_of(Prepared(source), focus), len(source.lines))
    wanted = [_asked(line, focus) for line in source.lines]
    assert [line.keys() for line in found] == [line.keys() for line in wanted]
    for line, asked in zip(found, wanted, strict=True):
        assert all(math.isclose(line[key], min(count, MOST_HITS)) for key, count in asked.items())


def _held(evidence: Evidence, lines: int) -> list[dict[str, float]]:
    """Return for each line the keys that stand in it, with what each counts there."""
    held: list[dict[str, float]] = [{} for _ in range(lines)]
    for key, place in evidence.places.items():
        for line in place.lines:
            held[line][key] = 1.0
        for line, more in place.more:
            held[line][key] += more
    return held


def _asked(line: str, focus: Focus) -> dict[str, float]:
    """The rule in its plainest form: names whole, then each stem as a term or as what a term is alike."""
    held: dict[str, float] = {}
    for word in IDENTIFIER.findall(line):
        joined = word.replace("_", "").lower()
        keys = [("=" + joined, 1.0)] if joined in focus.names else []
        for part in sorted({stem(one) for one in sub_words(word)}):
            if part in focus.terms:
                keys.append((part, 1.0))
            elif len(part) >= 4:
                near = [
                    term
                    for term in focus.terms
                    if len(term) >= 4
                    and (part.startswith(term) or term.startswith(part) or (len(term) >= 6 and term in part))
                ]
                keys += [(near[0], 0.4)] if near else []
        for key, share in keys:
            held[key] = held.get(key, 0.0) + share
    return held | {f'"{literal}': 1.0 for literal in focus.literals if literal in line}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, FOCUSES)
def test_windows_count_each_term_once(text: str, focus: Focus) -> None:
    """The weight of the different terms within some lines, for every line."""
    columns, evidence = features(Prepared(module(text)), focus)
    held = _held(evidence, len(columns["line"]))
    for name, reach in (("near", 2), ("window", 8), ("wide", 24)):
        for i, value in enumerate(columns[name]):
            around = {key for line in held[max(i - reach, 0) : i + reach + 1] for key in line}
            whole = math.log1p(sum(evidence.weight[key] for key in around))
            assert math.isclose(value, whole, rel_tol=1e-9, abs_tol=1e-9)


def test_costs_are_those_of_the_lines_as_read_shows_them() -> None:
    """Each line with its number, tab and end; rounding never adds up."""
    costs = line_costs(ARGPARSE)
    exact = 0.0
    for number, (line, upto) in enumerate(zip(ARGPARSE.lines, _running(costs), strict=True), 1):
        exact += weigh(f"{number}\t{line}\n")
        assert abs(upto - exact) <= 0.5


def _running(costs: list[int]) -> list[int]:
    total, sums = 0, []
    for cost in costs:
        total += cost
        sums.append(total)
    return sums


def test_words_of_a_long_line_are_looked_at_in_part() -> None:
    """2,000 characters of it: a minified file must cost no more."""
    lexicon = Lexicon(["x " * 999 + "at beyond"], [])
    assert set(lexicon.parts) == {"x", "at"}


def test_words_beyond_ascii_are_words_beside_others() -> None:
    """Most lines hold none, and are looked at in a shorter way: it finds the same."""
    lexicon = Lexicon(["naïve = größe_2 + _x9", "_x9 = 2x + plain"], [])
    assert lexicon.at == {"naïve": [0], "größe_2": [0], "_x9": [0, 1], "x": [1], "plain": [1]}


def test_a_line_costs_the_same_when_it_was_met_before() -> None:
    """What was weighed is remembered by the line, with its number aside."""
    lines = ["value = other + 1", "", "x" * 300, "value = other + 1"]
    first = line_costs(source_of("a.py", "\n".join(lines).encode()))
    again = line_costs(source_of("b.py", "\n".join(lines).encode()))
    assert first == again


def test_stems_are_found_by_beginnings_and_parts() -> None:
    """Each once, whole, and none across two."""
    lexicon = Lexicon(["parser parse_it reparse sparse"], ["parsed"])
    assert sorted(lexicon.with_beginning("pars")) == ["pars"]
    assert sorted(lexicon.with_inside("pars")) == ["pars", "repars", "spars"]
    assert not list(lexicon.with_beginning("arse")) and not list(lexicon.with_inside("rsit"))


def test_comments_and_imports_are_told_by_line() -> None:
    """The quick look before each pattern hides nothing from it."""
    lines = (
        "import os", "  from a import b", "from a", "use x", "used x", "#include <a>", " # include <b>", "# note",
        "using y;", "package p", "require 'a'", "const a = require('a')", "const a = 1", "// c", " * d", "/* e */",
        "-- f", "- g", "let b = require(x)", "x = 1", "", "\xa0# odd", "\f/* page */", "#if 0", "var z  =require(q)",
    )  # fmt: skip
    prepared = Prepared(module("\n".join(lines)))
    imports = re.compile(
        r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|#\s*include\b|using\s|package\s|require\b|(?:const|let|var)\s.*=\s*require\()"
    )
    assert prepared.imports == [imports.match(line) is not None for line in lines]
    told = [line for line, value in zip(lines, prepared.columns["comment"], strict=True) if value]
    assert told == ["# note", "// c", " * d", "/* e */", "-- f", "\xa0# odd", "\f/* page */"]
    assert prepared.blank == [not line.strip() for line in lines]


def test_weight_is_about_the_memory_that_it_takes() -> None:
    """Within a third, as it is and when all is made; it grows as more is known."""
    Prepared(ARGPARSE).complete()  # stems, prices and grammars are kept elsewhere
    data = Path(argparse.__file__).read_bytes()
    focus = focus_of([Said(" ".join(ARGPARSE.lines[500:600]), 1.0, code=True)])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        prepared = Prepared(source_of("/w/argparse.py", data))
        light = prepared.weight, tracemalloc.get_traced_memory()[0] - before
        prepared.complete()
        heavy = prepared.weight, tracemalloc.get_traced_memory()[0] - before
        rank(prepared, focus)
        asked = prepared.weight, tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert light[0] < heavy[0] < asked[0]
    for told, taken in (light, heavy, asked):
        assert 2 / 3 < told / taken < 3 / 2


def test_definitions_come_from_an_index_that_holds_this_very_content(tmp_path: Path) -> None:
    """They are those that the parser finds, which is not loaded then; a changed file is parsed."""
    tree, home = tmp_path / "tree", str(tmp_path / "home")
    tree.mkdir()
    data = Path(argparse.__file__).read_bytes()
    for name in ("same.py", "changed.py", "none.py"):
        (tree / name).write_bytes(data if name != "none.py" else b"x = 1\n")
    open_view(str(tree), home)
    let_go()
    (tree / "changed.py").write_bytes(b"def added(): pass\n" + data)
    program = (
        "import sys; from slicegrep.source import read_source; from slicegrep.prepared import prepared_of\n"
        "shape = prepared_of(read_source(sys.argv[1]), sys.argv[2]).outline\n"
        "print(shape.symbols[:1] and shape.symbols[0].name, len(shape.symbols), 'tree_sitter' in sys.modules)"
    )
    told = {}
    for name in ("same.py", "changed.py", "none.py"):
        words = [sys.executable, "-c", program, str(tree.resolve() / name), home]
        environment = {"PYTHONPATH": str(PLUGIN), "HOME": str(tmp_path)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=60)
        told[name] = done.stdout.strip()
    first = OUTLINE.symbols[0].name
    count = len(OUTLINE.symbols)
    assert told == {
        "same.py": f"{first} {count} False",
        "changed.py": f"added {count + 1} True",
        "none.py": "() 0 True",
    }
    source = read_source(str(tree.resolve() / "same.py"))
    assert source is not None and prepared_of(source, home).outline.symbols == OUTLINE.symbols


def test_no_cycle_holds_what_is_kept_of_a_file() -> None:
    """The engine's workers collect the youngest objects alone: what they drop must go by itself."""
    gc.collect()
    gc.disable()
    try:
        made = prepared_of(
            source_of("a.py", b"def one():\n    return two(1)\n\n\ndef two(n):\n    return n\n")
        )
        made.complete()
        held = [weakref.ref(made.places), weakref.ref(made.lexicon), weakref.ref(made)]
        del made
        assert [ref() for ref in held] == [None, None, None]
    finally:
        gc.enable()
