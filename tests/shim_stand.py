"""A tree whose functions are known line by line, and a strict comparison of the shim with the tool that it stands for."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock

__all__ = [
    "ARROW",
    "MAY",
    "MUST",
    "RAW",
    "SHELLS",
    "SHIMS",
    "Case",
    "Ran",
    "Stand",
    "Tree",
    "cases_of",
    "program",
    "small",
    "split_summary",
]

ROOT = Path(__file__).resolve().parents[1]
SHIMS = ROOT / "plugin" / "shims" / "bin"
SHELLS = {
    "bash": ["bash", "-c"],
    "dash": ["dash", "-c"],
    "zsh": ["zsh", "-f", "-c"],
    "ksh": ["ksh", "-c"],
    "mksh": ["mksh", "-c"],
    "busybox": ["busybox", "sh", "-c"],
}
ARROW = " ⟵ ".encode()
SECONDS = 60

MUST, RAW, MAY = "must", "raw", "may"
"""What the shape of a command line asks for: every hit inside a function named; no suffix at all; named or not."""

# A child holds the other children's pipes until it is another program: who reads a pipe would be a matter of luck.
_STARTING = Lock()

_SUMMARY = re.compile(rb"slicegrep: (\d+)/(\d+) hits? scoped to their enclosing function, .*\d+ ms")
_QUIET = ("SLICEGREP_SHIM_QUIET", "LOOM_GREP_SHIM_QUIET")
_NUMBERED = re.compile(rb":(\d+)(?=:)")
_NAME = re.compile(rb"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?")

# ---- The tree ---------------------------------------------------------------------------------------------------

# What stands left of the bar is the innermost definition around the line; nothing: outside of any.
_SHAPES = """\
|import os
|
|NEEDLE = "needle of the module"
|
area|def area(width, height):
area|    needle = width * height
area|    if needle:
area|        return needle  # a needle: with a colon
area|
area|    return 0
|
|
Box|class Box:
Box|    needle = 1
Box|
Box.open|    def open(self):
Box.open|        return "Needle 12:34: needle"
|
|
outer|def outer():
outer.inner|    def inner(value):
outer.inner|        return value + "(needle)"
outer|
outer|    needle = inner
outer|    return needle
|
|
|last = "a needle at the end"
"""

_COUNTER = """\
|#include <stdio.h>
|
|static int needle_count;
|
grow|static int grow(int needle)
grow|{
grow|\tneedle_count += needle;
grow|\treturn needle_count;
grow|}
|
|/* the needle between two functions */
|
shrink|static int shrink(int by)
shrink|{
shrink|    return needle_count - by;  /* a needle */
shrink|}
"""

_SERVER = """\
|package main
|
|var needle = 1
|
init|func init() {}
|
Server|type Server struct{ size int }
|
Server.Handle|func (s *Server) Handle(size int) int {
Server.Handle|\tneedle += size
Server.Handle|\treturn needle
Server.Handle|}
"""

_SHELF = """\
|const needle = 1;
hold|function hold(value) {
hold|  return needle + value;
hold|}
Shelf|class Shelf {
Shelf.put|  put(value) {
Shelf.put|    return `needle ${value}`;
Shelf.put|  }
Shelf|}
"""

_SMALL = """\
|top = "needle of {name}"
{name}|def {name}():
{name}|    return "needle in {name}"
|
"""

# Two files of which the tool prints the very same line: nothing can tell which one is meant.
_TWIN_A = '''\
|"""Text."""
first|def first():
first|    """
first|b.py:3:    return "needle twin"
first|    """
'''
_TWIN_B = """\
|# needle
second|def second():
second|    return "needle twin"
"""


@dataclass(frozen=True)
class Known:
    """One line of a file, and the definition around it."""

    text: bytes
    owner: str


def _known(marked: str, encoding: str = "utf-8", ending: bytes = b"") -> list[Known]:
    found = []
    for row in marked.splitlines():
        owner, _, text = row.partition("|")
        found.append(Known(text.encode(encoding, "surrogateescape") + ending, owner))
    return found


def small(name: str) -> str:
    """Return a marked file with one function, and the word outside of it too."""
    return _SMALL.format(name=name)


class Tree:
    """Files below one folder, and for each of their lines the definition around it."""

    def __init__(self, folder: Path) -> None:
        """Start with nothing in `folder`."""
        self.folder = folder
        self.lines: dict[bytes, list[Known]] = {}
        self.odd: set[bytes] = set()
        folder.mkdir(parents=True)

    def path(self, name: str | bytes) -> bytes:
        """Return the absolute path of a name in the tree."""
        return os.path.join(os.fsencode(self.folder), os.fsencode(name))

    def put(
        self,
        name: str | bytes,
        marked: str,
        *,
        encoding: str = "utf-8",
        ending: bytes = b"",
        head: bytes = b"",
        final: bool = True,
        odd: bool = False,
    ) -> None:
        """Write a file of `marked` lines. `odd`: what a tool prints of it may be named, and need not."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lines = _known(marked, encoding, ending)
        body = b"\n".join(known.text for known in lines) + (b"\n" if final and lines else b"")
        with open(path, "wb") as file:
            file.write(head + body)
        if head and lines:
            lines[0] = Known(head + lines[0].text, lines[0].owner)
        self.lines[os.path.realpath(path)] = lines
        if odd:
            self.odd.add(os.path.realpath(path))

    def filled(self) -> Tree:
        """Put the usual files there, the odd ones too."""
        self.put("src/shapes.py", _SHAPES)
        self.put("src/counter.c", _COUNTER)
        self.put("src/server.go", _SERVER)
        self.put("src/shelf.js", _SHELF)
        self.put("src/deep/er/deep.py", small("deep"))
        self.put("src/2024-01-02/report-03:04:05.py", small("report"))
        self.put("src/a:12:b.py", small("colons"))
        self.put("src/with space.py", small("spaced"))
        self.put("src/-dash.py", small("dashed"))
        self.put("src/new\nline.py", small("broken"))
        self.put(b"src/bad\xff\xfe.py", small("bytes_in_name"))
        self.put("src/gr\u00fc\u00dfe.py", small("gr\u00fc\u00dfe"))
        self.put("line.py", small("decoy"))
        self.put("twins/a.py", _TWIN_A)
        self.put("twins/a.py:4:b.py", _TWIN_B)
        self.put(
            "text/latin.py",
            '|# caf\xe9 needle\nlatin|def latin():\nlatin|    return "needle caf\xe9"\n',
            encoding="latin-1",
        )
        self.put(
            "text/invalid.py",
            '|top = 1\ninvalid|def invalid():\ninvalid|    return "needle \udcff\udcfe\udc80"\n',
        )
        self.put("text/crlf.py", small("crlf"), ending=b"\r")
        self.put("text/bom.py", small("bom"), head=b"\xef\xbb\xbf", odd=True)
        self.put("text/nofinal.py", 'last|def last():\nlast|    return "needle"', final=False)
        self.put("text/empty.py", "")
        self.put("text/nul.py", small("nul") + "|x = '\x00'\n", odd=True)
        self.put(
            "text/long.py", f"stretch|def stretch():\nstretch|    return 'needle {'x' * 6000}'\n", odd=True
        )
        self.put(
            "notes.txt",
            "|needle\n|1:needle\n|src/shapes.py:6:needle\n|src/shapes.py:6:    needle = width * height\n|\n",
        )
        self._wide()
        (self.folder / "src" / "link.py").symlink_to("shapes.py")
        (self.folder / "src" / "loop").symlink_to("loop")
        (self.folder / "linked").symlink_to("src")
        beside = self.folder.parent / "beside"  # grep -R reads what it finds there, and waits for ever
        beside.mkdir()
        os.mkfifo(beside / "pipe.py")
        self.put("../beside/shelf.js", _SHELF)
        (self.folder / "patterns").write_bytes(b"needle\nNEEDLE\n")
        (self.folder / "no patterns").write_bytes(b"")
        return self

    def _wide(self) -> None:
        text = "\ufeff" + small("wide").replace("|top", "top").replace("wide|", "").replace("|", "")
        (self.folder / "text" / "utf16.py").write_bytes(text.encode("utf-16-le"))
        path = os.path.realpath(self.path("text/utf16.py"))
        self.lines[path] = _known(small("wide"))
        self.odd.add(path)

    def meant(self, line: bytes, words: Sequence[bytes], folder: bytes) -> tuple[set[str], bool]:
        """Return the definitions that a printed line can be in ("": none), and whether all its files are plain ones.

        A line is of a file when it begins with the file's path below one of the command's words (or any path, where no word
        names anything), a number, and the file has that very text there. A bare number counts for the one
        file among the words.
        """
        owners: set[str] = set()
        plain = True
        files = [word for word in words if os.path.realpath(os.path.join(folder, word)) in self.lines]
        places = [word for word in words if word and os.path.exists(os.path.join(folder, word))]
        claims: list[tuple[bytes, int, bytes]] = []
        bare = re.match(rb"(\d+):", line)
        if bare and len(set(files)) == 1:
            claims.append((files[0], int(bare[1]), line[bare.end() :]))
        for split in _NUMBERED.finditer(line):
            path = line[: split.start()]
            if not places or any(
                path == place or path.startswith(place.rstrip(b"/") + b"/") for place in places
            ):
                claims.append((path, int(split[1]), line[split.end() + 1 :]))
        for path, number, text in claims:
            if b"\x00" in path:
                continue
            real = os.path.realpath(os.path.join(folder, path))
            lines = self.lines.get(real, [])
            if not 1 <= number <= len(lines):
                continue
            known = lines[number - 1]
            shown = known.text.decode("utf-8", "replace").encode()  # ripgrep 13 prints it so with -P
            ended = known.text + b"\r"  # with --crlf a last line without an end gets this one
            if text in (known.text, known.text.removeprefix(b"\xef\xbb\xbf"), shown, ended):
                owners.add(known.owner)
                plain = plain and real not in self.odd and text not in {shown, ended} - {known.text}
        return owners, plain


# ---- Runs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One command line."""

    words: tuple[str | bytes, ...]
    shape: str = MAY
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    """Where it runs, below the tree."""
    stdin: bytes | None = None
    sink: str = "pipe"
    """"pipe": the test reads it, as a program does; "file"; "null"; "full": as a disk with no room left."""
    before: tuple[str, ...] = ()
    """A program that starts the tool, with its words."""
    unordered: bool = False
    """Whether the tool searches with several threads, and prints what it finds in an order of the moment."""

    def __str__(self) -> str:
        said = " ".join(_quoted(word) for word in self.words)
        more = "".join(f" {name}={value!r}" for name, value in self.variables.items())
        return f"{said}   [{self.sink}{more} in {self.folder or '.'}{' stdin' if self.stdin is not None else ''}]"


def cases_of(lines: str, first: Sequence[str] = (), **more: object) -> list[Case]:
    """Return a case for each line `shape: words`, as a shell reads the words; `first` stands before them."""
    found = []
    for line in lines.strip().splitlines():
        shape, _, text = line.strip().partition(":")
        assert shape in (MUST, RAW, MAY), line
        found.append(Case((*first, *shlex.split(text)), shape, **more))  # type: ignore[arg-type]
    return found


def _quoted(word: str | bytes) -> str:
    text = os.fsdecode(word)
    return text if re.fullmatch(r"[\w./=:*-]+", text) else repr(word)


@dataclass(frozen=True)
class Ran:
    """What a run left."""

    out: bytes
    error: bytes
    status: int


def program(name: str) -> str:
    """Return where a tool is; fails when it is not there, so that no comparison is left out silently."""
    found = shutil.which(name)
    assert found, f"{name} is needed for these tests"
    return found


def split_summary(error: bytes) -> tuple[bytes, list[bytes]]:
    """Return standard error without the shim's own lines, and these."""
    rest, own = [], []
    for line in error.split(b"\n"):
        (own if line.startswith(b"slicegrep: ") else rest).append(line)
    return b"\n".join(rest), own


@dataclass
class Stand:
    """A home folder that is ready, one real tool, and the shim in front of it on PATH."""

    base: Path
    tree: Tree
    name: str
    """The command: grep or rg."""
    real: str
    """The program that stands for it."""
    shims: Path = SHIMS
    extra: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def home(self) -> Path:
        """A SLICEGREP_HOME whose environment is the interpreter that runs the tests."""
        home = self.base / "sg home"
        key = (ROOT / "plugin" / "requirements.key").read_text().strip()
        environment = home / "env" / key
        environment.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        site = next(path for path in sys.path if path.endswith("site-packages"))
        (environment / ".ready").write_text(f"{sys.executable}\n{site}\n", "utf-8")
        return home

    @cached_property
    def tools(self) -> Path:
        """A folder that holds the real tool under the command's name."""
        folder = self.base / f"real {self.name} {self.real.replace('/', '_')}"
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / self.name
        if not link.is_symlink():
            link.symlink_to(self.real)
        return folder

    def variables(self, *, shim: bool, **changes: str) -> dict[str, str]:
        """Return the environment of a run."""
        path = f"{self.tools}:/usr/bin:/bin"
        found = {
            "PATH": f"{self.shims}:{path}" if shim else path,
            "HOME": str(self.base),
            "LANG": "C.UTF-8",
            "SLICEGREP_HOME": str(self.home),
            "SLICEGREP_SHIM_TIMEOUT_MS": "30000",
            **self.extra,
        }
        for name, value in changes.items():
            found[name] = value.replace("{PATH}", found["PATH"])
        return found

    def run(self, case: Case, *, shim: bool) -> Ran:
        """Run a command line by the real tool or by the shim."""
        command: list[str | bytes] = [*case.before, self.name, *case.words]
        variables = self.variables(shim=shim, **case.variables)
        found = self.shims if shim else self.tools
        with tempfile.TemporaryFile() as file:
            sink: int = subprocess.PIPE
            if case.sink == "file":
                sink = file.fileno()
            elif case.sink == "null":
                sink = subprocess.DEVNULL
            elif case.sink == "full":
                sink = os.open("/dev/full", os.O_WRONLY)
            with _STARTING:
                process = subprocess.Popen(
                    command,
                    executable=None if case.before else str(found / self.name),
                    cwd=self.tree.folder / case.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL if case.stdin is None else subprocess.PIPE,
                    stdout=sink,
                    stderr=subprocess.PIPE,
                )
            with process:
                try:
                    out, error = process.communicate(case.stdin, timeout=SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            if case.sink == "full":
                os.close(sink)
            file.seek(0)
            out = file.read() if case.sink == "file" else out or b""
        return Ran(out, error, process.returncode)

    def script(
        self, shell: str, text: str, *, shim: bool, limits: Callable[[], None] | None = None, **variables: str
    ) -> Ran:
        """Run a script by a shell, read by this process, as an agent's client reads it."""
        words = SHELLS[shell]
        done = subprocess.run(
            [program(words[0]), *words[1:], text],
            cwd=self.tree.folder,
            env=self.variables(shim=shim, **variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            preexec_fn=limits,
            check=False,
        )
        return Ran(done.stdout, done.stderr, done.returncode)

    def faults(self, case: Case) -> list[str]:
        """Run a command line both ways; returns what differs."""
        return [
            f"{self.name} ({self.real}) {case}\n    {fault}"
            for fault in self.judged(case, self.run(case, shim=False), self.run(case, shim=True))
        ]

    def all_faults(self, cases: Iterable[Case]) -> list[str]:
        """Run many command lines, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return [fault for found in pool.map(self.faults, cases) for fault in found]

    def compare(self, cases: Iterable[Case]) -> None:
        """Fail with every fault of these command lines."""
        found = self.all_faults(cases)
        assert not found, "\n".join([f"{len(found)} faults", *found[:60]])

    def judged(self, case: Case, real: Ran, shim: Ran) -> Iterator[str]:
        """Yield every way in which the shim's run is not the real one with right names behind its lines."""
        if real.status != shim.status:
            yield f"exit status {shim.status}, not {real.status}"
        rest, summaries = split_summary(shim.error)
        if rest != real.error:
            yield f"standard error {shim.error!r}, not {real.error!r}"
        if case.unordered:
            real = _in_order_of(real, shim)
        quiet = any(case.variables.get(name) for name in _QUIET)
        words = [os.fsencode(word) for word in case.words]
        folder = os.path.realpath(os.path.join(os.fsencode(self.tree.folder), os.fsencode(case.folder)))
        names = 0
        if case.shape != MUST and real.out == shim.out:
            yield from _summary_faults(summaries, 0, quiet=quiet)
            return
        for line, suffix in _pairs(real.out, shim.out):
            if line is None:
                yield str(suffix)
                return
            if case.shape == RAW and suffix is None:
                continue
            owners, plain = self.tree.meant(line, words, folder)
            right = next(iter(owners)) if len(owners) == 1 else ""
            if suffix is None:
                if right and plain and case.shape == MUST:
                    yield f"no name behind {line!r}, which is in {right}"
                continue
            names += 1
            if case.shape == RAW:
                yield f"a name behind {line!r} in a shape that must pass raw"
            elif suffix != right:
                yield f"{suffix!r} behind {line!r}, not {right or 'nothing'!r}"
        yield from _summary_faults(summaries, names, quiet=quiet)


def _in_order_of(real: Ran, shim: Ran) -> Ran:
    """Return the real run with its lines in the order of the shim's, where these are the same lines."""
    lines = [line.split(ARROW)[0] for line in shim.out.split(b"\n")]
    if sorted(lines) == sorted(real.out.split(b"\n")):
        return Ran(b"\n".join(lines), real.error, real.status)
    return real


def _pairs(real: bytes, shim: bytes) -> Iterator[tuple[bytes | None, str | None]]:
    """Yield each line of the real output with the name that the shim put behind it; (None, fault) where they part."""
    at = 0
    lines = real.split(b"\n")
    for index, line in enumerate(lines):
        last = index == len(lines) - 1
        if not shim.startswith(line, at):
            yield None, f"output parts at byte {at}: {shim[at : at + len(line) + 80]!r}, not {line!r}"
            return
        at += len(line)
        suffix = None
        if line and shim.startswith(ARROW, at):
            end = shim.find(b"\n", at)
            end = len(shim) if end < 0 else end
            name = shim[at + len(ARROW) : end]
            if not _NAME.fullmatch(name):
                yield None, f"what follows {line!r} is no name: {name!r}"
                return
            suffix, at = name.decode("utf-8", "surrogateescape"), end
        if not last:
            if not shim.startswith(b"\n", at):
                yield None, f"{shim[at : at + 80]!r} follows {line!r}"
                return
            at += 1
        yield line, suffix
    if at != len(shim):
        yield None, f"after the end of the real output comes {shim[at : at + 200]!r}"


def _summary_faults(summaries: list[bytes], names: int, *, quiet: bool) -> Iterator[str]:
    if quiet and summaries:
        yield f"a summary in spite of SLICEGREP_SHIM_QUIET: {summaries}"
    elif len(summaries) > 1:
        yield f"{len(summaries)} summaries"
    elif names and not summaries and not quiet:
        yield f"{names} names, and no summary"
    elif summaries:
        said = _SUMMARY.fullmatch(summaries[0])
        if not said:
            yield f"no summary: {summaries[0]!r}"
        elif int(said[1]) != names or int(said[2]) < names:
            yield f"the summary says {summaries[0]!r}, there are {names} names"
