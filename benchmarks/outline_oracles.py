"""Checks the outline against readers that share no code with it: Python's own ast, Universal Ctags, braces.

    python benchmarks/outline_oracles.py ast [--files 300] [--root FOLDER]
    python benchmarks/outline_oracles.py ctags c FOLDER [FOLDER...] [--show 20]
    python benchmarks/outline_oracles.py braces rust FOLDER [FOLDER...] [--show 20]

`ast`: for every line of every file, the enclosing definition (qualified name, first and last line, decorators
included) is the one that `ast` gives. `ctags`: each definition with an end line that ctags knows (`--fields=+neK`) is
in the outline, under the same name at the same line, with the same end; and how many of the outline's are unknown to
ctags. `braces`: a definition ends at the brace that closes the first block after its name, strings and comments apart
(ctags 5.9 writes no end lines for Rust, and few for TypeScript).
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plugin"))

from slicegrep.languages import LANGUAGES, language_of
from slicegrep.outline import enclosing, outline
from slicegrep.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slicegrep.types import Outline, Source

CTAGS = {
    "c": ("C", {"function", "struct", "union", "enum"}),
    "cpp": ("C++", {"function", "struct", "union", "enum", "class"}),
    "go": ("Go", {"func", "struct", "interface"}),
    "java": ("Java", {"method", "class", "interface", "enum"}),
    "typescript": (
        "TypeScript",
        {"function", "method", "class", "interface", "enum", "generator", "namespace"},
    ),
    "rust": ("Rust", {"function", "method", "struct", "enum", "interface", "implementation"}),
}
FUNCTIONS = {"function", "method", "constructor"}

Span = tuple[str, int, int]


def by_ast(text: bytes, lines: int) -> list[Span | None]:
    """Return, by 1-based line, the innermost def or class: dotted name, first line with decorators, last line."""
    spans: list[Span] = []
    todo: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
    while todo:
        node, outer = todo.pop()
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{child.name}" if outer else child.name
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                spans.append((name, first, child.end_lineno or first))
            todo.append((child, name))
    found: list[Span | None] = [None] * (lines + 1)
    for span in sorted(spans, key=lambda one: (one[1], -one[2])):
        found[span[1] : span[2] + 1] = [span] * (span[2] + 1 - span[1])
    return found


def ast_disagreements(source: Source, data: bytes) -> Iterator[tuple[int, Span | None, Span | None]]:
    """Yield (line, what ast says, what the outline says) for each line on which they differ."""
    expected = by_ast(data, len(source.lines))
    ours = outline(source)
    for line in range(1, len(source.lines) + 1):
        symbol = enclosing(ours, line)
        got = (symbol.qualified, symbol.start, symbol.end) if symbol else None
        if got != expected[line]:
            yield line, expected[line], got


def stdlib_sample(files: int, root: str = "") -> list[Path]:
    """Return up to `files` Python files of the standard library, evenly spread over its sorted list."""
    every = sorted(
        path
        for path in Path(root or sysconfig.get_paths()["stdlib"]).rglob("*.py")
        if not {"site-packages", "dist-packages", "bad_coding"} & set(path.parts)
    )
    step = max(1, len(every) // files)
    return every[::step][:files]


def run_ast(files: int, root: str) -> None:
    warnings.simplefilter("ignore")
    checked = lines = wrong = 0
    spent = 0.0
    for path in stdlib_sample(files, root):
        data = path.read_bytes()
        source = source_of(str(path), data)
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            continue
        begun = time.perf_counter()
        outline(source)
        spent += time.perf_counter() - begun
        differing = list(ast_disagreements(source, data))
        checked, lines, wrong = checked + 1, lines + len(source.lines), wrong + len(differing)
        for line, expected, got in differing[:3]:
            print(f"{path}:{line}: ast {expected}, outline {got}")
    print(f"{checked} files, {lines} lines, {wrong} disagree; outlines took {spent:.2f} s")


def sources(language: str, folders: list[str]) -> Iterator[Source]:
    for folder in folders:
        root = Path(folder)
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if not path.is_file() or path.stat().st_size > 2_000_000:
                continue
            known = path.suffix.lower() in LANGUAGES[language].suffixes or (
                language == "cpp" and (path.suffix in ("", ".h", ".tcc"))
            )
            if not known:
                continue
            data = path.read_bytes()
            if path.suffix == ".h" and language_of(str(path), data.decode("utf-8", "replace")) != language:
                continue
            yield source_of(str(path), data, language)


def run_ctags(language: str, folders: list[str], show: int) -> None:
    name, kinds = CTAGS[language]
    total: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for source in sources(language, folders):
        theirs = _tags(source, name, kinds)
        if theirs is None:
            continue
        ours = outline(source, seconds=60)
        total["files"] += 1
        total["broken"] += ours.broken
        at = {(one.name, one.name_line): one for one in ours.symbols}
        by_line = {(_plain(one.name), one.name_line): one for one in ours.symbols}
        seen = {(_plain(tag), line) for tag, line, _ in theirs}
        for tag, line, end in theirs:
            total["tags"] += 1
            symbol = at.get((tag, line)) or by_line.get((_plain(tag), line))
            verdict = "missing" if symbol is None else "same" if symbol.end == end or not end else "end"
            total[verdict] += 1
            total["ends"] += bool(end)
            if verdict != "same":
                shown[verdict] += 1
                if shown[verdict] <= show:
                    print(
                        f"{verdict:8} {source.path}:{line} {tag} ctags -{end} outline {symbol and symbol.end}"
                    )
        for one in ours.symbols:
            if one.kind in FUNCTIONS and (_plain(one.name), one.name_line) not in seen:
                total["extra"] += 1
                shown["extra"] += 1
                if shown["extra"] <= show:
                    print(f"extra    {source.path}:{one.name_line} {one.kind} {one.qualified} -{one.end}")
    tags = max(1, total["tags"])
    print(
        f"{language}: {total['files']} files ({total['broken']} with syntax errors), {total['tags']} definitions by ctags"
        f" ({total['ends']} with an end): found {100 * (tags - total['missing']) / tags:.2f}%,"
        f" {total['missing']} missing; ends differ {total['end']};"
        f" functions that ctags does not list {total['extra']}"
    )


def _plain(name: str) -> str:
    """Return a name without what ctags and the outline spell differently: blanks, a macro's arguments, scopes."""
    return re.sub(r"(?<=[A-Z0-9_])\(.*|\s", "", name).rpartition("::")[2]


def _tags(source: Source, name: str, kinds: set[str]) -> list[tuple[str, int, int]] | None:
    command = [
        "ctags",
        "-f",
        "-",
        "--sort=no",
        "--output-format=json",
        "--fields=+neK",
        f"--language-force={name}",
    ]
    ran = subprocess.run([*command, source.path], capture_output=True, check=False)
    found = []
    for row in ran.stdout.splitlines():
        try:
            tag = json.loads(row)
        except ValueError:
            return None
        if tag.get("kind") in kinds and not tag["name"].startswith(
            ("__anon", "anonymousFunction", "AnonymousFunction")
        ):
            found.append((tag["name"], tag["line"], tag.get("end", 0)))
    return found


_STRINGS = r'"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|'
_NO_CODE = {
    "rust": re.compile(
        r"""//[^\n]*|/\*.*?\*/|r(\#+)".*?"\1|r"[^"]*"|"(?:\\.|[^"\\])*"|'(?:\\[^\n]{1,8}?|[^'\\\n])'""",
        re.DOTALL,
    ),
    "typescript": re.compile(
        r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
        r"""|(?<=[(,=:\[!&|?{};] )/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/""",
        re.DOTALL,
    ),
    "csharp": re.compile(
        r"""//[^\n]*|/\*.*?\*/|\$?@\$?"(?:""|[^"])*"|""" + _STRINGS + r"""'(?:\\[^\n]{1,8}?|[^'\\\n])'""",
        re.DOTALL,
    ),
}
_PLAIN = re.compile(r"//[^\n]*|/\*.*?\*/|" + _STRINGS + r"""'''.*?'''|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


def by_braces(source: Source, ours: Outline) -> Iterator[tuple[int, str, int, int]]:
    """Yield (line, name, end by braces, end of the outline) for each function or class with a block."""
    code = (
        _NO_CODE.get(source.language, _PLAIN)
        .sub(lambda match: re.sub(r"[^\n]", " ", match.group()), "\n".join(source.lines))
        .split("\n")
    )
    for symbol in ours.symbols:
        if symbol.kind in ("variable", "macro", "declaration", "type", "typedef", "namespace"):
            continue
        if "{" in symbol.signature:
            continue  # a type with braces: which brace is the body's, only a grammar knows
        column = max(0, code[symbol.name_line - 1].find(symbol.name))
        end = _block_end(code, symbol.name_line, column, bare=source.language in _NO_SEMICOLONS)
        if end:
            yield symbol.name_line, symbol.qualified, end, symbol.end


_NO_SEMICOLONS = frozenset({"kotlin", "scala", "swift"})
_GOES_ON = re.compile(r"\s*(?:$|[{:),]|where\b|throws\b|->)")


def _block_end(code: list[str], line: int, column: int, *, bare: bool) -> int:
    """Return the line of the brace that closes the first block after a place; 0 when a statement ends before one.

    `bare`: an expression may be the body, and the end of a line ends a statement.
    """
    brackets = braces = 0
    for number in range(line, len(code) + 1):
        for sign in code[number - 1][column:]:
            if sign == "{" and (braces or not brackets):
                braces += 1
            elif sign == "}" and braces:
                braces -= 1
                if not braces:
                    return number
            elif not braces:
                brackets += _DEPTH.get(sign, 0)
                if brackets < 0 or (sign in ";}" and not brackets) or (bare and sign == "=" and not brackets):
                    return 0
        column = 0
        if bare and not brackets and not braces and number < len(code) and not _GOES_ON.match(code[number]):
            return 0
    return 0


def run_braces(language: str, folders: list[str], show: int) -> None:
    total: Counter[str] = Counter()
    for source in sources(language, folders):
        ours = outline(source, seconds=60)
        total["files"] += 1
        for line, name, end, got in by_braces(source, ours):
            total["definitions"] += 1
            if end != got:
                total["differ"] += 1
                if total["differ"] <= show:
                    print(f"{source.path}:{line} {name}: by braces -{end}, outline -{got}")
    print(
        f"{language}: {total['files']} files, {total['definitions']} definitions, {total['differ']} ends differ"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("oracle", choices=("ast", "ctags", "braces"))
    parser.add_argument("language", nargs="?", default="")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--root", default="")
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.oracle == "ast":
        run_ast(arguments.files, arguments.root)
    elif arguments.oracle == "ctags":
        if shutil.which("ctags") is None:
            raise SystemExit("no ctags on PATH (Universal Ctags is meant)")
        run_ctags(arguments.language, arguments.folders, arguments.show)
    else:
        run_braces(arguments.language, arguments.folders, arguments.show)


if __name__ == "__main__":
    main()
