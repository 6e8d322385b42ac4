"""One task both ways: where is a function, who calls it, what tests it; by grep and reading, and by one focused_read.

    python benchmarks/compare_one.py --task echo|url_for|session_request [--budget 1500] [--show]

The same query goes to both sides. An answer has found the definition where it shows its first three lines, a caller where it shows
a call that is neither in the definition nor in a test, a test where it shows a call in a test. Those lines are looked up
mechanically: the definition in the outline, calls in code without comments, strings and imports; of a method only calls
on `self` inside its class, on what is named after the class, and on variables that an instance was assigned to.

- grep, then the file: `grep -rnE` over the tree's Python files, then the whole file of the definition
- grep, then all files: the same, then the whole files of the first caller and of the first test too
- grep with context: `grep -rnE -C 10`
- slicegrep: one focused_read, all that it prints
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from facts import Definition, Facts, Mention
from measure import Range, Task, count_tokens, judge, table
from setup_corpora import CorpusError, add_corpora_option, corpora, root_of
from strategies import Slice

__all__ = ["QUESTIONS", "Question", "by_grep", "by_slicegrep", "targets"]

CONTEXT = 10
"""Lines that grep shows on each side of a hit in its second form."""


@dataclass(frozen=True)
class Question:
    """A definition by its qualified name, and the regular expression that asks for it."""

    corpus: str
    qualified: str

    @property
    def name(self) -> str:
        """The last part."""
        return self.qualified.rpartition(".")[2]

    @property
    def query(self) -> str:
        """What both sides search for: the definition, or a call by the full name."""
        return rf"def {self.name}\(|{re.escape(self.qualified)}\("


QUESTIONS = {
    "echo": Question("click", "echo"),
    "url_for": Question("flask", "url_for"),
    "session_request": Question("requests", "Session.request"),
}


@dataclass(frozen=True)
class Answer:
    """What one way showed, and what it cost: o200k_base tokens of all that the model reads, and tool calls."""

    way: str
    slices: list[Slice]
    tokens: int
    calls: int
    seconds: float


def targets(question: Question, facts: Facts) -> Task:
    """Look up the definition, its callers and its tests. LookupError where one of them is missing."""
    found = [
        Definition(file.path, symbol)
        for file in facts.owned()
        for symbol in file.outline.symbols
        if symbol.qualified == question.qualified
    ]
    if len(found) != 1:
        raise LookupError(f"{question.qualified} has {len(found)} definitions")
    (home,) = found
    calls = [
        mention
        for mention in facts.mentions[question.name]
        if mention.called and not _inside(mention, home) and _means(question, mention, facts)
    ]
    ranges: dict[str, list[Range]] = {"definition": [(home.file, home.symbol.name_line, home.last)]}
    for role, test in (("caller", False), ("test", True)):
        ranges[role] = [(m.file, m.line, m.line) for m in calls if facts.files[m.file].test is test]
        if not ranges[role]:
            raise LookupError(f"{question.qualified} has no {role}")
    return Task("compare", question.corpus, question.query, ranges)


def _inside(mention: Mention, one: Definition) -> bool:
    return mention.file == one.file and one.symbol.start <= mention.line <= one.symbol.end


def _means(question: Question, mention: Mention, facts: Facts) -> bool:
    """Whether a call can mean the question's definition: of a function any call by its bare name or from its module."""
    file = facts.files[mention.file]
    code = file.code[mention.line - 1]
    if any(symbol.name_line == mention.line for symbol in file.outline.symbols):
        return False
    owner = question.qualified.rpartition(".")[0]
    if not owner:
        return re.search(rf"(?<![\w.])(?:{question.corpus}\.)?{question.name}\(", code) is not None
    receivers = re.findall(rf"([\w)]+)\.{question.name}\(", code)
    around = [symbol.name for symbol in file.outline.symbols if symbol.start <= mention.line <= symbol.end]
    made = rf"\b(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*{owner}\(|\b{owner}\(\)\s+as\s+(\w+)"
    instances = {name for pair in re.findall(made, "\n".join(file.code)) for name in pair}
    return any(
        (name == "self" and owner in around) or owner.lower() in name.lower() or name in instances
        for name in receivers
    )


def by_grep(question: Question, root: str, task: Task) -> list[Answer]:
    """Search as agents do and read whole files; every hit line counts as shown."""
    began = time.perf_counter()
    plain, lines = _grep(question.query, root, 0)
    seconds = time.perf_counter() - began
    wide, wide_lines = _grep(question.query, root, CONTEXT)
    files = list(dict.fromkeys(ranges[0][0] for ranges in task.targets.values()))
    whole = {file: _numbered(root, file) for file in files}
    tokens = {file: count_tokens(text) for file, text in whole.items()}
    shown = {file: Slice(file, 1, text.count("\n") + 1, text) for file, text in whole.items()}
    cost = count_tokens(plain)
    return [
        Answer("grep, then the file", [*lines, shown[files[0]]], cost + tokens[files[0]], 2, seconds),
        Answer(
            "grep, then all files",
            [*lines, *shown.values()],
            cost + sum(tokens.values()),
            1 + len(files),
            seconds,
        ),
        Answer("grep with context", wide_lines, count_tokens(wide), 1, seconds),
    ]


def _grep(query: str, root: str, context: int) -> tuple[str, list[Slice]]:
    command = ["grep", "-rniE", "--include=*.py", f"-C{context}", query, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=False)
    rows = [re.match(r"\./(.+?\.py)[:-](\d+)[:-]", line) for line in done.stdout.splitlines()]
    return done.stdout, [Slice(m.group(1), int(m.group(2)), int(m.group(2)), "") for m in rows if m]


def _numbered(root: str, file: str) -> str:
    lines = Path(root, file).read_text("utf-8").splitlines()
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))


def by_slicegrep(question: Question, root: str, budget: int, query: str = "") -> tuple[Answer, str]:
    """Ask once; return the answer and its text."""
    from slicegrep.search import focused_read

    began = time.perf_counter()
    result = focused_read(root, query or question.query, budget=budget)
    seconds = time.perf_counter() - began
    text = result.render()
    slices = [Slice(chunk.file, chunk.line_start, chunk.line_end, "") for chunk in result.chunks]
    return Answer("slicegrep", slices, count_tokens(text), 1, seconds), text


def main(arguments: list[str] | None = None) -> int:
    """Run one task, or all; exit status 1 where slicegrep did not find three of three inside the budget."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=[*QUESTIONS, "all"], default="all")
    parser.add_argument(
        "--budget", type=int, default=1500, help="of focused_read (default %(default)s tokens)"
    )
    parser.add_argument("--show", action="store_true", help="print slicegrep's answer too")
    add_corpora_option(parser)
    given = parser.parse_args(arguments)
    failed = False
    for name in QUESTIONS if given.task == "all" else (given.task,):
        question = QUESTIONS[name]
        try:
            root = root_of(corpora([question.corpus])[0], given.corpora)
            task = targets(question, Facts(root))
        except (CorpusError, LookupError) as error:
            parser.error(str(error))
        by_slicegrep(
            question, root, given.budget
        )  # brings the index up to date: the second call is what is timed
        ours, text = by_slicegrep(question, root, given.budget)
        rows = []
        for answer in (*by_grep(question, root, task), ours):
            held = judge(task, answer.slices)
            marks = ["yes" if held[role] else "no" for role in task.targets]
            cost = [f"{answer.tokens:,}", str(answer.calls), f"{answer.seconds * 1000:.0f}"]
            rows.append([answer.way, *marks, f"{sum(held.values())} of {len(held)}", *cost])
            if answer is ours:
                failed = failed or not all(held.values()) or answer.tokens > given.budget * 1.02
        counts = ", ".join(f"{len(ranges)} {role}(s)" for role, ranges in task.targets.items())
        print(f"{name}: {question.qualified} in {question.corpus}; query {question.query}; known: {counts}\n")
        print(table(["way", *task.targets, "found", "tokens", "calls", "ms"], rows) + "\n")
        if given.show:
            print(text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
