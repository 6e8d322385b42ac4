"""The shim as a process: who reads it, what it hands on, and what becomes of the output when naming fails in any way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from enclosing_server import enclosing_server
from shim_stand import ARROW, SHIMS, Stand, Tree, program, small

GREP = program("grep")
SECONDS = 30
LINE = b'3:    return "needle in one"'


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    """Return two small files and GNU grep."""
    tree = Tree(tmp_path / "tree")
    tree.put("one.py", small("one"))
    tree.put("two.py", small("two"))
    return Stand(tmp_path, tree, "grep", GREP)


def _words(*words: str) -> list[str]:
    return ["grep", *words]


def _options(stand: Stand, **variables: str) -> dict[str, object]:
    return {
        "executable": str(stand.shims / "grep"),
        "cwd": stand.tree.folder,
        "env": stand.variables(shim=True, **variables),
        "stdin": subprocess.DEVNULL,
    }


def _captured(stand: Stand, *words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        _words(*words), capture_output=True, timeout=SECONDS, check=False, **_options(stand, **variables)
    )  # type: ignore[call-overload,no-any-return]


# ---- Readers ----------------------------------------------------------------------------------------------------


def test_who_captures_gets_names_by_a_pipe_and_by_a_socket(stand: Stand) -> None:
    """Most programs capture by pipes, node by a pair of sockets."""
    assert LINE + ARROW + b"one\n" in _captured(stand, "-n", "needle", "one.py").stdout
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            _words("-n", "needle", "one.py"), stdout=theirs, stderr=subprocess.DEVNULL, **_options(stand)
        )  # type: ignore[call-overload]
        theirs.close()
        assert process.wait(SECONDS) == 0
        assert LINE + ARROW + b"one\n" in ours.recv(65_536)


def test_a_pipeline_that_a_program_makes_is_raw(stand: Stand) -> None:
    """The program still holds the end that it gave to the next command."""
    first = subprocess.Popen(
        _words("-n", "needle", "one.py"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_options(stand)
    )  # type: ignore[call-overload]
    second = subprocess.run(["cat"], stdin=first.stdout, stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    assert ARROW not in second.stdout
    assert LINE in second.stdout
    assert first.communicate() == (b"", b"")


def test_who_reads_from_outside_of_a_container_captures(stand: Stand) -> None:
    """Inside nobody is seen to hold the reading end; here it is under way in a socket meanwhile, and nobody's."""
    for words, shell in ((["-n", "needle", "one.py"], False), (["-c", "grep -n needle one.py | cat"], True)):
        reading, writing = os.pipe()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(ours, [b"x"], [reading])
            os.close(reading)
            options = _options(stand)
            if shell:
                options["executable"] = program("sh")
            done = subprocess.run(
                ["grep", *words],
                stdout=writing,
                stderr=subprocess.PIPE,
                timeout=SECONDS,
                check=False,
                **options,
            )  # type: ignore[call-overload]
            os.close(writing)
            _, (reading,), _, _ = socket.recv_fds(theirs, 1, 1)
        with os.fdopen(reading, "rb") as file:
            out = file.read()
        assert (out.count(ARROW), done.returncode) == (0 if shell else 1, 0)


def test_a_reader_that_is_not_above_gets_raw_output(stand: Stand, tmp_path: Path) -> None:
    """Nothing is known of who reads a FIFO."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
    with fifo.open("wb") as writing:
        done = subprocess.run(
            _words("-n", "needle", "one.py"),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
            **_options(stand),
        )  # type: ignore[call-overload]
    assert (reader.communicate()[0].count(ARROW), done.stderr) == (0, b"")


# ---- What is handed on -------------------------------------------------------------------------------------------


def test_open_descriptors_are_the_tools_too(stand: Stand) -> None:
    """Patterns from descriptor 7, as a shell gives them."""
    script = 'exec 7<<END\nneedle\nEND\ngrep -n -f /dev/fd/7 one.py; exit "$?"'
    done = subprocess.run(
        ["bash", "-c", script],
        env=stand.variables(shim=True),
        cwd=stand.tree.folder,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert LINE + ARROW + b"one\n" in done.stdout


@pytest.mark.parametrize("given", [None, "C", "C.UTF-8", ""])
def test_the_locale_stays_what_it_was(stand: Stand, tmp_path: Path, given: str | None) -> None:
    """In the C locale Python sets LC_CTYPE for what it starts: byte-wise patterns would become others."""
    script = tmp_path / "shows"
    script.write_text('#!/bin/sh\necho "one.py:3:${LC_CTYPE-unset}"\n')
    script.chmod(0o755)
    variables = stand.variables(shim=True, SLICEGREP_GREP_REAL=str(script))
    del variables["LANG"]
    if given is not None:
        variables["LC_CTYPE"] = given
    for words in (["-nH", "x", "one.py"], ["-nc", "x", "one.py"]):  # held back, and by exec
        done = subprocess.run(
            [stand.shims / "grep", *words],
            env=variables,
            cwd=stand.tree.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.stdout == f"one.py:3:{'unset' if given is None else given}\n"


def test_two_streams_into_one_file_by_two_openings_are_the_tools(stand: Stand, tmp_path: Path) -> None:
    """`>out 2>out` is no `2>&1`: each has an offset of its own, and they write over each other, in the tool's order."""
    found = []
    for shim in (False, True):
        out = tmp_path / f"out{shim}"
        script = f"grep -n needle one.py missing.py two.py >{out} 2>{out}"
        subprocess.run(
            ["sh", "-c", script],
            env=stand.variables(shim=shim),
            cwd=stand.tree.folder,
            timeout=SECONDS,
            check=False,
        )
        found.append(out.read_bytes())
    assert found[1] == found[0]
    assert found[1].startswith(b"grep: missing.py: No such file")


@pytest.mark.parametrize(
    "script",
    [
        "grep -rn needle . >out.txt",
        "grep -rn needle >out.txt",
        "grep -rn needle .. >inner/out.py",
        "grep -Rn needle linked >inner/out.py",
        "grep -n needle one.py two.py >>two.py",
        "grep -n needle hard.py >>one.py",
        "grep -n needle one.py >>link.py",
    ],
)
def test_a_file_that_is_searched_and_written(stand: Stand, tmp_path: Path, script: str) -> None:
    """Grep leaves its own output out and says so: it must know it for its own."""
    found = []
    for shim in (False, True):
        folder = tmp_path / f"copy{shim}" / "tree"
        shutil.copytree(stand.tree.folder, folder)
        (folder / "inner").mkdir()
        (folder / "linked").mkdir()
        (folder / "linked" / "inner").symlink_to("../inner")
        (folder / "link.py").symlink_to("one.py")
        os.link(folder / "one.py", folder / "hard.py")
        done = subprocess.run(
            ["sh", "-c", script],
            env=stand.variables(shim=shim),
            cwd=folder,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        files = {
            path.relative_to(folder): sorted(path.read_bytes().splitlines()) for path in folder.rglob("*.*")
        }
        found.append((done.returncode, done.stderr, files))
    assert found[1] == found[0]


def test_stopped_and_continued(stand: Stand, tmp_path: Path) -> None:
    """Ctrl-Z stops shim and tool, and going on later is as if nothing had been."""
    fifo = tmp_path / "slow.py"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        _words("-n", "needle", "one.py", str(fifo)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **_options(stand),
    )  # type: ignore[call-overload]
    with fifo.open("wb") as writer:  # grep has begun
        os.killpg(process.pid, signal.SIGSTOP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        os.killpg(process.pid, signal.SIGCONT)
        writer.write(b"a needle\n")
    out, error = process.communicate(timeout=SECONDS)
    assert f"{fifo}:1:a needle\n".encode() in out
    assert b"one.py:" + LINE + ARROW + b"one\n" in out
    assert error.startswith(b"slicegrep: 1/2 hits")
    assert process.returncode == 0


def test_a_caller_that_forgets_its_children(stand: Stand) -> None:
    """With SIGCHLD ignored (which bash hands on) nobody is told how a child ended; the status is the tool's all the same."""
    for words, status in (("needle one.py missing.py", 2), ("needle one.py", 0), ("nothing one.py", 1)):
        starting = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", starting, "bash", str(stand.shims / "grep"), "-n", *words.split()],
            env=stand.variables(shim=True),
            cwd=stand.tree.folder,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, ARROW in done.stdout) == (status, status != 1)


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-"])
def test_closed_descriptors(stand: Stand, closing: str) -> None:
    """The tool meets them closed, and none of ours takes their numbers."""
    found = []
    for shim in (False, True):
        script = f"grep -n needle one.py {closing}; echo $?"
        done = subprocess.run(
            ["sh", "-c", script],
            env=stand.variables(shim=shim, SLICEGREP_SHIM_QUIET="1"),
            cwd=stand.tree.folder,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        found.append((done.stdout.replace(ARROW + b"one", b""), done.stderr))
    assert found[1] == found[0]


# ---- Failures ----------------------------------------------------------------------------------------------------

_FAULTS = {
    "hangs in C": "import faulthandler, os, ctypes; ctypes.PyDLL(None).sleep(60)",  # holds the interpreter lock
    "hangs": "import time; time.sleep(60)",
    "crashes": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "is broken": "raise ImportError('no')",
    "ends the process": "import os; os._exit(0)",
    "prints": "import os; os.write(1, b'rubbish'); os.write(2, b'rubbish'); raise SystemExit",
}


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_helper_that_fails_costs_the_time_at_most(stand: Stand, tmp_path: Path, fault: str) -> None:
    """A parser that hangs in C, crashes or is not there: the raw output, and the status of the tool."""
    site = tmp_path / "site-packages"
    (site / "tree_sitter").mkdir(parents=True)
    (site / "tree_sitter" / "__init__.py").write_text(_FAULTS[fault], "utf-8")
    ready = next((stand.home / "env").glob("*/.ready"))
    ready.write_text(f"{sys.executable}\n{site}\n", "utf-8")
    start = time.monotonic()
    done = _captured(stand, "-n", "needle", "one.py", "missing.py", SLICEGREP_SHIM_TIMEOUT_MS="1500")
    took = time.monotonic() - start
    assert (
        done.stdout.replace(ARROW + b"one", b"") == b'one.py:1:top = "needle of one"\none.py:' + LINE + b"\n"
    )
    assert done.stderr.split(b"slicegrep:")[0] == b"grep: missing.py: No such file or directory\n"
    assert done.returncode == 2
    assert took < 6
    if fault.startswith("hangs"):
        assert took > 1


def test_a_tool_that_is_slow_is_passed_on_as_it_comes(stand: Stand, tmp_path: Path) -> None:
    """Past SLICEGREP_SHIM_TIMEOUT_MS what is there is printed, and the rest as the tool prints it."""
    fifo = tmp_path / "slow.py"
    os.mkfifo(fifo)
    words = _words("-n", "--line-buffered", "needle", "one.py", str(fifo))
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        **_options(stand, SLICEGREP_SHIM_TIMEOUT_MS="300"),
    )  # type: ignore[call-overload]
    with fifo.open("wb", buffering=0) as writer:
        before = b""
        while before.count(b"\n") < 2:
            before += os.read(process.stdout.fileno(), 65_536)
        writer.write(b"a needle\n")
        assert os.read(process.stdout.fileno(), 65_536) == f"{fifo}:1:a needle\n".encode()
    out, error = process.communicate(timeout=SECONDS)
    assert (out, error, process.returncode) == (b"", b"", 0)


FAULTS = {
    "killed": b"the server cannot be asked (ConnectionRefusedError)",
    "slow": b"the server did not answer in time",
    "nonsense": b"the server's answer is none: its rows are not those of the locations",
    "refused": b"the server refused the token",
    "no token": b"there is no token: set SLICEGREP_API_KEY, or write it into %s",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_server_that_fails_costs_the_time_at_most(stand: Stand, kind: str) -> None:
    """The raw output is printed, and in place of the summary stands why."""
    listening = socket.create_server(("127.0.0.1", 0))
    variables = {
        "SLICEGREP_BASE_URL": f"http://127.0.0.1:{listening.getsockname()[1]}",
        "SLICEGREP_SHIM_TIMEOUT_MS": "15000" if kind in ("nonsense", "refused") else "1500",
    }
    if kind != "no token":
        variables["SLICEGREP_API_KEY"] = "token"
    with listening:
        if kind == "killed":
            listening.close()
        start = time.monotonic()
        process = subprocess.Popen(
            _words("-n", "needle", "one.py"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **_options(stand, **variables),
        )  # type: ignore[call-overload]
        if kind in ("nonsense", "refused"):
            listening.settimeout(SECONDS)
            connection, _ = listening.accept()
            connection.recv(65_536)
            connection.sendall(
                b"HTTP/1.1 %d OK\r\nContent-Length: 12\r\n\r\n" % (200 if kind == "nonsense" else 401)
                + json.dumps({"rows": 7}).encode()
            )
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):  # to close it before the whole request came would be a reset
                pass
            connection.close()
        out, error = process.communicate(timeout=SECONDS)
    assert (out, process.returncode) == (b'1:top = "needle of one"\n' + LINE + b"\n", 0)
    assert error == b"slicegrep: raw output, " + FAULTS[kind].replace(
        b"%s", os.fsencode(stand.home / "token")
    ) + (b"\n")
    assert time.monotonic() - start < 12


def test_why_there_is_no_name_is_dropped_with_the_summary(stand: Stand) -> None:
    """SLICEGREP_SHIM_QUIET; and a search that finds nothing asks nothing."""
    named = {"SLICEGREP_BASE_URL": "http://127.0.0.1:1"}
    quiet = _captured(stand, "-n", "needle", "one.py", SLICEGREP_SHIM_QUIET="1", **named)
    assert (quiet.stdout, quiet.stderr) == (b'1:top = "needle of one"\n' + LINE + b"\n", b"")
    assert _captured(stand, "-n", "nowhere", "one.py", **named).stderr == b""


def test_a_name_of_a_server_that_cannot_be_printed_costs_its_own_line_alone(stand: Stand) -> None:
    """Escape codes, a lone surrogate, a name without end: the row is dropped, as one of the tree's own would be."""
    odd = ["\x1b[31mred", "\ud800", "x" * 5_000, "a ⟵ b", "right"]
    text = "".join(f"def f{n}(): return 'needle'\n" for n in range(len(odd)))
    (stand.tree.folder / "odd.py").write_text(text, "utf-8")
    with enclosing_server(stand.tree.folder) as server:
        server.reply = lambda answer: {
            **answer,
            "rows": [{**row, "symbol": name} for row, name in zip(answer["rows"], odd, strict=True)],
        }
        named = {"SLICEGREP_BASE_URL": server.url, "SLICEGREP_API_KEY": "k"}
        found = _captured(stand, "-n", "needle", "odd.py", **named)
    plain = _captured(stand, "-n", "needle", "odd.py", SLICEGREP_SHIM="off").stdout
    assert found.stdout == plain[:-1] + ARROW + b"right\n"


@pytest.mark.parametrize("half", ["missing", "broken", "another version"])
def test_half_an_update_is_the_real_tool(stand: Stand, tmp_path: Path, half: str) -> None:
    """Modules that are gone, cut off, or do not fit together."""
    plugin = tmp_path / "plugin"
    shutil.copytree(SHIMS.parents[1], plugin, ignore=shutil.ignore_patterns("__pycache__"))
    module = plugin / "slicegrep" / "shim" / "run.py"
    if half == "missing":
        module.unlink()
    else:
        module.write_text(
            "def run(" if half == "broken" else "from slicegrep.shim.knobs import no_such", "utf-8"
        )
    stand.shims = plugin / "shims" / "bin"
    done = _captured(stand, "-n", "needle", "one.py", "missing.py")
    assert done.stdout == b'one.py:1:top = "needle of one"\none.py:' + LINE + b"\n"
    assert (done.stderr, done.returncode) == (b"grep: missing.py: No such file or directory\n", 2)


@pytest.mark.parametrize("module", ["run", "bytecode", "helper", "annotate", "build", "re/__init__"])
def test_byte_code_that_was_cut_off_is_made_anew(stand: Stand, module: str) -> None:
    """A write that came up short stays unseen by Python (until 3.13.0); one search is raw, and the next is named."""
    words = ("-n", "needle", "one.py")
    assert ARROW in _captured(stand, *words).stdout
    folder, _, name = module.rpartition("/")
    for path in (stand.home / "pyc").rglob(f"{folder or 'slicegrep'}/**/{name}.*.pyc"):
        path.write_bytes(path.read_bytes()[:-200])
    first, second = _captured(stand, *words), _captured(stand, *words)
    assert first.stdout.replace(ARROW + b"one", b"") == b'1:top = "needle of one"\n' + LINE + b"\n"
    assert first.returncode == 0
    assert ARROW in second.stdout
