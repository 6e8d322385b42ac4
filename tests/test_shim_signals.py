"""The shim as a process: pipelines of six shells, signals, closed and full outputs, PATH, bounds, and when it stands aside."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from shim_stand import (
    ARROW,
    MAY,
    MUST,
    RAW,
    SHELLS,
    SHIMS,
    Case,
    Ran,
    Stand,
    Tree,
    program,
    small,
    split_summary,
)

SECONDS = 30
HITS = "grep -n needle src/shapes.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree that everything here searches."""
    return Tree(tmp_path_factory.mktemp("shim-run") / "tree").filled()


@pytest.fixture(scope="module")
def gnu(tree: Tree) -> Stand:
    """The shim in front of GNU grep."""
    return Stand(tree.folder.parent, tree, "grep", program("grep"))


# ---- Pipelines --------------------------------------------------------------------------------------------------

FEEDING = {
    "another program": f"{HITS} | cat",
    "a count": f"{HITS} | wc -l",
    "the first lines": f"{HITS} | head -2",
    "a group": f"{{ {HITS}; }} | tail -3",
    "a subshell": f"({HITS}; echo more) | tail -3",
    "a loop": f"{HITS} | while read -r line; do printf '[%s]\\n' \"$line\"; done",
    "a variable": f'found=$({HITS}); printf "%s\\n" "$found"',
    "a variable, in the old way": f'found=`{HITS}`; printf "%s\\n" "$found"',
    "words": f'set -- $({HITS}); echo "$#: $*"',
    "another search": "grep -rn needle src | grep -v shapes | sort",
    "two more": f"{HITS} | sort -r | uniq -c",
    "a copy": f"{HITS} | tee copy | cat; cat copy",
    "both streams": "grep -n needle nowhere src/shapes.py 2>&1 | cat",
    "a program that find starts": "find src -name shapes.py -exec grep -n needle {} + | cat",
    "a program that xargs starts": "echo src/shapes.py src/counter.c | xargs grep -n needle | cat",
    "a program under a time limit": f"timeout 20 {HITS} | cat",
    "a program with other variables": f"env A=b {HITS} | cat",
    "another shell's": f"sh -c '{HITS}; true' | cat",
    "a function": f"look() {{ {HITS}; }}; look | cat",
    "a condition": f"if {HITS} | grep -q height; then echo yes; fi",
    "an and": f"{{ {HITS} && echo found; }} | cat",
    "a negation": f"{{ ! {HITS}; }} | cat",
    "the background": f"{{ {HITS} & wait; }} | cat",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_output_that_feeds_a_command_is_raw_in_every_shell(gnu: Stand, shell: str) -> None:
    """Pipes, loops and variables get the real tool's bytes (rtk#3338, rtk#2962, rtk#4207)."""
    found = []
    for kind, text in FEEDING.items():
        real, shim = (gnu.script(shell, text, shim=which) for which in (False, True))
        if real != shim:
            found.append(f"{kind}: {text}\n    {shim}\n    {real}")
    assert not found, "\n".join(found)


_PYTHON = "import subprocess as s; a = s.Popen(['grep', '-n', 'needle', 'src/shapes.py'], stdout=s.PIPE); "

BY_OTHER_WAYS = [
    f"mkfifo p; cat p & {HITS} > p; wait; rm p",
    f"coproc {HITS}; cat <&${{COPROC[0]}}",
    f'mapfile -t found < <({HITS}); printf "%s\\n" "${{found[@]}}"',
    f'shopt -s lastpipe; {HITS} | while read -r line; do echo "[$line]"; done',
    f"{HITS} |& cat",
    f"exec 7> >(cat); {HITS} >&7; exec 7>&-; wait",
    f"{HITS} > >(cat); wait; sleep 0.3",
    "printf '%s\\n' src/shapes.py src/counter.c | xargs -P2 -n1 grep -Hn needle | sort",
    f"setsid {HITS} | cat",
    f"stdbuf -oL nice {HITS} | cat",
    f"({HITS} &) | cat",
    f'trap "" PIPE; {HITS} | head -1',
    f"yes x | head -3 | {HITS} - | cat",
    f"{sys.executable} -c \"{_PYTHON} s.run(['cat'], stdin=a.stdout)\"",
    f"{sys.executable} -c \"{_PYTHON} b = s.Popen(['cat'], stdin=a.stdout); a.stdout.close(); b.wait()\"",
]


@pytest.mark.parametrize("text", BY_OTHER_WAYS)
def test_output_that_feeds_a_command_in_another_way_is_raw(gnu: Stand, text: str) -> None:
    """Named pipes, coprocesses, descriptors, and programs that make a pipeline of their own."""
    assert gnu.script("bash", text, shim=True) == gnu.script("bash", text, shim=False)


@pytest.mark.parametrize("shell", ["bash", "zsh", "ksh"])
def test_a_process_substitution_is_raw(gnu: Stand, shell: str) -> None:
    """`<(...)` is a pipe that a program reads by name."""
    for text in (
        f"cat <({HITS})",
        f"wc -l < <({HITS})",
        f"diff <({HITS}) <(grep -n needle src/counter.c) | wc -l",
    ):
        if shell == "ksh" and "< <" in text:
            continue  # it has no such words
        assert gnu.script(shell, text, shim=True) == gnu.script(shell, text, shim=False), text


@pytest.mark.parametrize("shell", SHELLS)
def test_output_for_a_file_and_for_the_caller_is_annotated_in_every_shell(gnu: Stand, shell: str) -> None:
    """A redirection, and what the program that started the shell reads."""
    for text in (
        f"{HITS} > out; cat out",
        f"{HITS} >> out2; cat out2; rm out2",
        HITS,
        f"true; {HITS}",
        f"{{ {HITS}; }}",
        f"({HITS})",
        f"{HITS} &\nwait",
    ):
        real, shim = (gnu.script(shell, text, shim=which) for which in (False, True))
        case = Case(("needle", "src/shapes.py"), MUST)
        assert list(gnu.judged(case, real, shim)) == [], text


@pytest.mark.parametrize("shell", SHELLS)
def test_standard_input_is_inherited_and_not_taken(gnu: Stand, shell: str) -> None:
    """`cmd | grep`, `grep -`, and a loop whose input is not grep's to read."""
    loop = "printf 'one\\ntwo\\nthree\\n' | while read -r word; do echo \"$word\"; grep -n needle src/shapes.py > /dev/null; done"
    names = "printf '%s\\n' shapes.py counter.c | while read -r name; do grep -n needle src/$name; done > out; cat out"
    for text in (
        loop,
        names,
        "printf 'a\\nneedle\\n' | grep -n needle",
        "printf 'a\\nneedle\\n' | grep -n needle - > out; cat out",
        "grep -n needle < src/shapes.py > out; cat out",
    ):
        real, shim = (gnu.script(shell, text, shim=which) for which in (False, True))
        cut = Ran(
            b"".join(line.split(ARROW)[0].rstrip(b"\n") + b"\n" for line in shim.out.splitlines()),
            split_summary(shim.error)[0],
            shim.status,
        )
        assert cut == real, text


def test_both_streams_in_one_come_in_the_tools_order(gnu: Stand, tree: Tree) -> None:
    """`2>&1` to a file or to the caller: messages stand between the lines where grep put them, the summary last."""
    tree.put(
        "wide/wide.py",
        "wide|def wide():\n" + "".join(f"wide|    needle = '{'x' * 200} {at}'\n" for at in range(400)),
    )
    for words in (
        "-n needle nowhere src/shapes.py nor",
        "-n needle src/shapes.py nowhere src/counter.c",
        "-n --line-buffered needle src/shapes.py nowhere src/counter.c nor",
        "-n needle wide/wide.py nowhere src/shapes.py nor wide/wide.py",
        "-rn needle src nowhere text",
    ):
        for tail in ("2>&1", "> out 2>&1; code=$?; cat out; exit $code"):
            real, shim = (gnu.script("dash", f"grep {words} {tail}", shim=which) for which in (False, True))
            rest, own = split_summary(shim.out)
            assert len(own) == 1, words
            assert shim.out.endswith(own[0] + b"\n"), words
            assert (
                list(gnu.judged(Case(tuple(words.split()), MUST), real, Ran(rest, own[0], shim.status))) == []
            ), words


# ---- Signals and outputs that fail ------------------------------------------------------------------------------


@contextmanager
def _started(
    stand: Stand, words: list[str], *, shim: bool, **more: object
) -> Iterator[subprocess.Popen[bytes]]:
    place = stand.shims if shim else stand.tools
    variables = more.pop("variables", {})
    settings = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "start_new_session": True,
    } | more
    process = subprocess.Popen(  # type: ignore[call-overload]
        [stand.name, *words],
        executable=str(place / stand.name),
        cwd=stand.tree.folder,
        env=stand.variables(shim=shim, **variables),  # type: ignore[arg-type]
        **settings,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def _gone(writer: int) -> bool:
    """Whether nobody reads the FIFO any more: the tool has ended too."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.write(writer, b"x\n")
        except BrokenPipeError:
            return True
        except BlockingIOError:
            return False
        time.sleep(0.02)
    return False


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A FIFO whose name is one of source code."""
    path = tmp_path / "slow.py"
    os.mkfifo(path)
    return path


SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}


@pytest.mark.parametrize("group", [False, True], ids=["to the shim", "to the group, as Ctrl-C"])
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_in_the_middle_ends_the_shim_and_the_tool(
    gnu: Stand,
    fifo: Path,
    name: str,
    group: bool,  # noqa: FBT001
) -> None:
    """While grep waits: the status is that of the signal, what was printed is there, and no process stays behind."""
    words = ["-n", "--line-buffered", "needle", "src/shapes.py", str(fifo)]
    found = []
    for shim in (False, True):
        with _started(gnu, words, shim=shim) as process:
            writer = os.open(fifo, os.O_WRONLY)
            if group:
                os.killpg(process.pid, SIGNALS[name])
            else:
                process.send_signal(SIGNALS[name])
            out, error = process.communicate(timeout=SECONDS)
            assert _gone(writer)
            os.close(writer)
            found.append(Ran(out, error, process.returncode))
    assert found[0].status == -SIGNALS[name]
    assert list(gnu.judged(Case(tuple(words), MAY), *found)) == []


def test_an_interrupt_that_is_ignored_ends_nothing(gnu: Stand, fifo: Path) -> None:
    """As behind `&` in a script: grep was told to ignore it, and finishes."""
    words = ["-n", "needle", "src/shapes.py", str(fifo)]
    found = []
    for shim in (False, True):
        with _started(
            gnu, words, shim=shim, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
        ) as process:
            writer = os.open(fifo, os.O_WRONLY)
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.1)
            os.write(writer, b"a needle\n")
            os.close(writer)
            out, error = process.communicate(timeout=SECONDS)
            found.append(Ran(out, error, process.returncode))
    assert found[0].status == 0
    assert list(gnu.judged(Case(tuple(words), MUST), *found)) == []


def test_a_tool_that_a_signal_ends_gives_the_shim_the_same_end(gnu: Stand, tmp_path: Path) -> None:
    """128+n for a shell, and what was printed before is printed."""
    tool = _fake(tmp_path, "echo 'src/shapes.py:6:    needle = width * height'; kill -SEGV $$")
    for words in ("-n needle src/shapes.py src/counter.c", "needle src/shapes.py"):
        text = f"grep {words}; echo status $?"
        real, shim = (
            gnu.script(
                "dash",
                text,
                shim=which,
                SLICEGREP_GREP_REAL=tool,
                PATH=f"{SHIMS if which else tmp_path}:/usr/bin:/bin",
            )
            for which in (False, True)
        )
        assert b"status 139" in real.out
        assert (
            list(gnu.judged(Case(tuple(words.split())), real, Ran(shim.out, shim.error, shim.status))) == []
        )


@pytest.mark.parametrize("ignored", [False, True], ids=["SIGPIPE as usual", "SIGPIPE ignored"])
def test_a_reader_that_is_gone(gnu: Stand, tree: Tree, ignored: bool) -> None:  # noqa: FBT001
    """Killed by SIGPIPE, or the write error and 2 where the signal is ignored."""
    del tree
    found = []
    for shim in (False, True):
        reader, writer = os.pipe()
        os.close(reader)
        with _started(
            gnu, ["-rn", "needle", "src"], shim=shim, stdout=writer, restore_signals=not ignored
        ) as process:
            os.close(writer)
            _, error = process.communicate(timeout=SECONDS)
            found.append(Ran(b"", error, process.returncode))
    assert found[0].status == (2 if ignored else -signal.SIGPIPE)
    assert found[1] == found[0]


def test_a_reader_that_leaves_in_the_middle(gnu: Stand, big: Path) -> None:
    """The first line is read, then the pipe is closed: killed by SIGPIPE, and soon."""
    for sizes in ({}, {"SLICEGREP_SHIM_MAX_BYTES": "100000000"}):
        found = []
        for shim in (False, True):
            with _started(gnu, ["-n", "needle", str(big)], shim=shim, variables=sizes) as process:
                assert process.stdout
                first = process.stdout.readline()
                process.stdout.close()
                process.wait(timeout=SECONDS)
                found.append((first.split(ARROW)[0].rstrip(b"\n"), process.returncode))
        assert found[0][1] == -signal.SIGPIPE
        assert found[1] == found[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "mksh"])
def test_head_ends_a_long_search_with_141(gnu: Stand, big: Path, shell: str) -> None:
    """With pipefail a shell sees 141, as without the shim."""
    text = f"set -o pipefail; grep -n needle {big} | head -1; echo $?"
    real = gnu.script(shell, text, shim=False)
    assert real.out.endswith(b"141\n")
    assert gnu.script(shell, text, shim=True) == real


def test_a_disk_that_fills(gnu: Stand, tree: Tree, tmp_path: Path) -> None:
    """At a limit of the file's size grep is stopped by SIGXFSZ; what got through is the beginning of its output."""
    stand = Stand(tmp_path, tree, "grep", gnu.real)
    found = []
    for shim in (False, True):
        with (
            (tmp_path / f"out-{shim}").open("wb") as file,
            _started(
                stand,
                ["-rn", "needle", "src"],
                shim=shim,
                stdout=file,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
            ) as process,
        ):
            _, error = process.communicate(timeout=SECONDS)
        found.append(
            Ran((tmp_path / f"out-{shim}").read_bytes(), split_summary(error)[0], process.returncode)
        )
    assert found[0].status == -signal.SIGXFSZ
    assert (found[1].error, found[1].status) == (found[0].error, found[0].status)
    assert len(found[1].out) <= 300
    whole = gnu.run(Case(("-rn", "needle", "src")), shim=False).out
    lines = [line.split(ARROW)[0] for line in found[1].out.split(b"\n")]
    assert all(line in whole for line in lines[:-1])


@pytest.mark.parametrize("most", [300, 2_000])
def test_a_disk_that_was_full_leaves_nothing_broken_behind(
    gnu: Stand, tree: Tree, tmp_path: Path, most: int
) -> None:
    """Byte code that Python could write only in part must not be what every later run stumbles over."""
    stand = Stand(tmp_path, tree, "grep", gnu.real)
    with _started(
        stand,
        ["-rn", "needle", "src"],
        shim=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    ) as process:
        process.communicate(timeout=SECONDS)
    case = Case(("-rn", "needle", "src"), MUST)
    stand.run(case, shim=True)  # what is found broken may cost one more run without names
    stand.compare([case])


@pytest.mark.parametrize("full", [2, 8], ids=["2 blocks", "8 blocks"])
def test_a_file_system_with_no_room_left(gnu: Stand, big: Path, tmp_path: Path, full: int) -> None:
    """Where one may be mounted: the write error and 2, with as many bytes as fit."""
    place = tmp_path / "small"
    place.mkdir()
    limits = f"mount -t tmpfs -o size={full * 4096} none {place}"
    if (
        subprocess.run(["unshare", "-m", "sh", "-c", limits], check=False, capture_output=True).returncode
        != 0
    ):
        limits = f"ln -s /dev/full {place}/out"  # not an administrator: a device that is always full
    found = []
    for shim in (False, True):
        text = f'{limits} || exit 9; grep -n needle "$1" > {place}/out; code=$?; cat {place}/out 2>/dev/null | head -c 100000; rm -f {place}/out; exit $code'
        words = ["sh", "-c", text, "sh", str(big)]
        if limits.startswith("mount"):
            words = ["unshare", "-m", *words]
        else:
            words[2] = text.replace(f"cat {place}/out 2>/dev/null |", "").replace("head -c 100000", "true")
        done = subprocess.run(
            words, env=gnu.variables(shim=shim), capture_output=True, timeout=SECONDS, check=False
        )
        found.append(Ran(done.stdout, split_summary(done.stderr)[0], done.returncode))
    assert found[0].status == 2
    assert (found[1].error, found[1].status) == (found[0].error, found[0].status)
    lines = [line.split(ARROW)[0] for line in found[1].out.split(b"\n")][:-1]
    assert found[0].out.startswith(b"".join(line + b"\n" for line in lines))


# ---- Bounds -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def big(tree: Tree) -> Path:
    """A file of code whose hits are 10 MB."""
    body = "".join(f"wide|    needle_{at} = '{'x' * 100}'\n" for at in range(90_000))
    tree.put("../big/big.py", "wide|def wide():\n" + body)
    return tree.folder.parent / "big" / "big.py"


def test_ten_megabytes_stream_raw(gnu: Stand, big: Path) -> None:
    """Over SLICEGREP_SHIM_MAX_BYTES nothing is named and nothing is lost."""
    case = Case(("-n", "needle", str(big)), RAW)
    assert len(gnu.run(case, shim=False).out) > 10_000_000
    gnu.compare(
        [
            case,
            Case(("-Hn", "needle", str(big)), RAW, sink="file"),
            Case(("-n", "needle", str(big), "src/shapes.py"), RAW),
        ]
    )


def test_a_stream_goes_on_while_the_tool_still_searches(gnu: Stand, fifo: Path) -> None:
    """Past the bound the bytes come at once, and not when grep has ended."""
    line = b"needle " + b"x" * 1_000 + b"\n"
    with _started(gnu, ["-n", "needle", "src/shapes.py", str(fifo)], shim=True) as process:
        got = threading.Event()

        def read() -> None:
            assert process.stdout
            process.stdout.read(8_100_000)
            got.set()
            process.stdout.read()

        reader = threading.Thread(target=read)
        reader.start()
        with fifo.open("wb") as writer:
            writer.write(line * 9_000)
            writer.flush()
            assert got.wait(SECONDS)
        reader.join()
        assert process.wait(timeout=SECONDS) == 0


@pytest.mark.parametrize("name", ["SLICEGREP_SHIM_MAX_BYTES", "LOOM_GREP_SHIM_MAX_BYTES"])
def test_a_smaller_bound(gnu: Stand, name: str) -> None:
    """More bytes than allowed are raw; fewer are named."""
    gnu.compare(
        [
            Case(("-rn", "needle", "src"), RAW, {name: "300"}),
            Case(("-n", "needle", "src/shapes.py"), MUST, {name: "1000"}),
        ]
    )


def test_more_hits_than_are_looked_at(gnu: Stand, tree: Tree) -> None:
    """Of 1,500 hits at most 1,000 are named, all are printed."""
    tree.put("many/many.py", "many|def many():\n" + "many|    needle()\n" * 1_500)
    case = Case(("-n", "needle", "many/many.py"), MAY)
    gnu.compare([case])
    assert gnu.run(case, shim=True).out.count(ARROW) in (0, 1_000)


def test_lines_come_before_a_slow_tool_has_ended(gnu: Stand, fifo: Path) -> None:
    """A search that takes longer than the time-out holds nothing back for ever."""
    with _started(
        gnu,
        ["-n", "--line-buffered", "needle", "src/shapes.py", str(fifo)],
        shim=True,
        variables={"SLICEGREP_SHIM_TIMEOUT_MS": "300"},
    ) as process:
        writer = os.open(fifo, os.O_WRONLY)
        got: list[bytes] = []

        def read() -> None:
            assert process.stdout
            got.append(process.stdout.readline())

        reader = threading.Thread(target=read)
        reader.start()
        reader.join(5)
        late = not got
        os.write(writer, b"the last needle\n")
        os.close(writer)
        reader.join()
        out, _ = process.communicate(timeout=SECONDS)
        assert (got[0] + out).endswith(b"the last needle\n")
        assert not late


def test_output_that_comes_slowly_is_whole(gnu: Stand, fifo: Path) -> None:
    """Ten lines over half a second."""
    for words in (
        ["-n", "needle", str(fifo)],
        ["-n", "needle", "src/shapes.py", str(fifo)],
        ["-Hn", "--line-buffered", "needle", str(fifo)],
    ):
        found = []
        for shim in (False, True):
            with _started(gnu, words, shim=shim) as process:
                with fifo.open("wb", buffering=0) as writer:
                    for at in range(10):
                        writer.write(b"needle %d\n" % at)
                        time.sleep(0.05)
                out, error = process.communicate(timeout=SECONDS)
            found.append(Ran(out, error, process.returncode))
        assert list(gnu.judged(Case(tuple(words)), *found)) == []


@pytest.mark.parametrize("value", ["1", "0", "-5", "abc", "", "1e9", "99999999999999999999"])
@pytest.mark.parametrize(
    "name", ["SLICEGREP_SHIM_TIMEOUT_MS", "LOOM_GREP_SHIM_TIMEOUT_MS", "SLICEGREP_SHIM_MAX_BYTES"]
)
def test_any_value_of_a_bound_keeps_the_bytes(gnu: Stand, name: str, value: str) -> None:
    """A time-out of a millisecond, and values that are no number."""
    gnu.compare(
        Case(tuple(words.split()), MAY, {name: value})
        for words in ("-rn needle src", "-n needle src/shapes.py nowhere")
    )


# ---- When it stands aside ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "shape"),
    [
        ({"SLICEGREP_SHIM": "off"}, RAW),
        ({"LOOM_GREP_SHIM": "off"}, RAW),
        ({"SLICEGREP_SHIM": "on", "LOOM_GREP_SHIM": "off"}, MUST),
        ({"SLICEGREP_SHIM": "off", "LOOM_GREP_SHIM": "on"}, RAW),
        ({"SLICEGREP_SHIM": ""}, MUST),
        ({"LOOM_GREP_SHIM": "", "LOOM_GREP_SHIM_QUIET": ""}, MUST),
    ],
    ids=str,
)
def test_the_switch_and_its_older_name(gnu: Stand, variables: dict[str, str], shape: str) -> None:
    """`off` is a plain pass-through; the newer name wins."""
    gnu.compare(
        Case(tuple(words.split()), shape, variables)
        for words in ("-rn needle src", "-n needle src/shapes.py nowhere")
    )
    if shape == RAW:
        assert b"slicegrep" not in gnu.run(Case(("-rn", "needle", "src"), RAW, variables), shim=True).error


@pytest.mark.parametrize("kind", ["empty", "missing", "a file", "not ready", "relative", "none"])
def test_without_an_environment_the_output_is_raw(gnu: Stand, tmp_path: Path, kind: str) -> None:
    """Before set-up, or with a home folder that is none: the tool's bytes and messages, and nothing else."""
    home = tmp_path / "home"
    if kind == "empty":
        home.mkdir()
    elif kind == "a file":
        home.write_text("x")
    elif kind == "not ready":
        key = (SHIMS.parents[1] / "requirements.key").read_text().strip()
        (home / "env" / key).mkdir(parents=True)
        (home / "env" / key / ".ready").write_text("/nowhere/python\n/nowhere/site\n")
    variables = {
        "SLICEGREP_HOME": str(home)
        if kind not in ("relative", "none")
        else "a/b"
        if kind == "relative"
        else ""
    }
    variables["HOME"] = str(tmp_path / "nobody")
    cases = [
        Case(tuple(words.split()), RAW, variables)
        for words in ("-rn needle src", "-n needle src/shapes.py nowhere", "-n zzz src/shapes.py")
    ]
    gnu.compare(cases)
    for case in cases:
        assert b"slicegrep" not in gnu.run(case, shim=True).error


def _fake(folder: Path, script: str, name: str = "grep") -> str:
    """Put a program into a folder; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


# What a shell on the way sets; the last one is how the shim knows a wrapper script that leads back to it.
_SHELLS_OWN = ("PATH=", "PWD=", "_=", "SHLVL=", "OLDPWD=", "SLICEGREP_SHIM_PASSED=")

ASIDE = {
    "grep": "-c needle f|-l needle f|-L needle f|needle f|-rn needle -q|-no needle f|-nz needle f|-nZ needle f|-nb needle f|-n needle|-n needle -|-nh needle f g"
    "|-n --color=always needle f|-n --colour=always needle f|--version|--help||-n|-e|-nrh needle .",
    "rg": "needle f|needle|-l needle|-c needle|-nN needle|-n --json needle|--files|-n0 needle|-n --color=always needle|-n --color always needle|-nq needle|-no needle f"
    "|-np needle|--version|-n needle -|-nI needle f g",
}


@pytest.mark.parametrize("name", ASIDE)
@pytest.mark.parametrize(
    "variables", [{}, {"SLICEGREP_SHIM": "off"}, {"SLICEGREP_HOME": "/nowhere"}], ids=str
)
def test_shapes_that_are_not_annotated_are_run_by_exec(
    tree: Tree, tmp_path: Path, name: str, variables: dict[str, str]
) -> None:
    """The tool takes the shim's place: it has its process number, its descriptors, its name and its variables."""
    real = _fake(
        tmp_path / "real",
        'echo "$$"; echo "${0##*/} $*"; for f in /proc/$$/fd/*; do echo ${f##*/}; done; env | sort; exit 7',
        name,
    )
    stand = Stand(tmp_path, tree, name, real)
    lines = ASIDE[name].split("|") + (["-n needle src/shapes.py", "-rn needle src"] if variables else [])
    for text in lines:
        found = []
        for shim in (False, True):
            with _started(stand, text.split(), shim=shim, variables=variables) as process:
                out, error = process.communicate(timeout=SECONDS)
                assert out, (text, shim, process.returncode, error)
                number, *rest = out.decode().splitlines()
                found.append(
                    (
                        int(number) == process.pid,
                        [row for row in rest if not row.startswith(_SHELLS_OWN)],
                        error,
                        process.returncode,
                    )
                )
        assert found[0][0]
        assert found[1] == found[0], text


@pytest.mark.parametrize(
    "locale", [{}, {"LANG": "C"}, {"LANG": "C", "LC_CTYPE": "C"}, {"LC_ALL": "POSIX"}], ids=str
)
def test_the_tool_is_started_as_without_the_shim(tree: Tree, tmp_path: Path, locale: dict[str, str]) -> None:
    """In an annotated shape too, it has the same variables, signals, limits, folder and standard input.

    Python sets LC_CTYPE for itself where the locale is C; grep must not see that: it decides what is binary.
    """
    shows = 'grep -E "^Sig[BI]" /proc/self/status; pwd; umask; ulimit -a; env | sort; readlink /proc/$$/fd/0; exit 1'
    real = _fake(tmp_path / "real", f"PATH=/usr/bin:/bin; export PATH; {shows}")
    stand = Stand(tmp_path, tree, "grep", real)
    found = []
    for shim in (False, True):
        with _started(stand, ["-n", "needle", "src/shapes.py"], shim=shim, variables=locale) as process:
            out, error = process.communicate(timeout=SECONDS)
        # Signals 32 and 33 are the C library's own.
        text = out.decode().replace("SigIgn:\t0000000180000000", "SigIgn:\t0000000000000000")
        rows = [row for row in text.splitlines() if not row.startswith(_SHELLS_OWN)]
        found.append((rows, error, process.returncode))
    assert set(found[0][0]) ^ set(found[1][0]) == set()
    assert found[1] == found[0]


def test_lines_that_no_file_holds_get_no_name(tree: Tree, tmp_path: Path) -> None:
    """A tool that prints old lines, wrong numbers, half lines, or lines that look like its own hits."""
    printed = [
        "src/shapes.py:6:    needle = width * depth",
        "src/shapes.py:7:    needle = width * height",
        "src/shapes.py:0:x",
        "src/shapes.py:99999999999999999999:x",
        "src/shapes.py:6",
        "src/shapes.py:6:    needle = width * height ",
        "src/shapes.py-6-    needle = width * height",
        "src/shapes.py:6:    needle = width * height ⟵ area",
        "src/shapes.py: 6:    needle = width * height",
        "src/shapes.py:06:    needle = width * heigh",
        "src/nowhere.py:6:    needle = width * height",
        "../../etc/passwd:1:root",
        "--",
        "",
        ":6:    needle = width * height",
        "6:    needle = width * height",
    ]
    (tmp_path / "printed").write_text("\n".join(printed), "utf-8")  # without a last newline
    stand = Stand(tmp_path, tree, "grep", _fake(tmp_path / "real", f"cat '{tmp_path}/printed'"))
    stand.compare(
        [
            Case(("-n", "needle", "src/shapes.py", "src/counter.c"), MUST),
            Case(("-rn", "needle", "src"), MUST),
            Case(("-Hn", "needle", "src/shapes.py"), MAY),
        ]
    )
    only = stand.run(Case(("-rn", "needle", "src")), shim=True)
    assert ARROW not in only.out.replace(" ⟵ area".encode(), b"", 1)


def test_a_file_that_changed_since_it_was_indexed(gnu: Stand, tmp_path: Path) -> None:
    """Names come from the present text, or there are none: never the old text's."""
    tree = Tree(tmp_path / "changing")
    stand = Stand(tmp_path, tree, "grep", gnu.real)
    tree.put("a.py", small("before") + small("second"))
    indexed = subprocess.run(
        [sys.executable, "-m", "slicegrep", "index", str(tree.folder)],
        env=stand.variables(shim=False, PYTHONPATH=str(SHIMS.parents[1])),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert indexed.returncode == 0, indexed.stderr
    case = Case(("-n", "needle", "a.py"), MUST)
    stand.compare([case])
    tree.put("a.py", small("other") + small("before") + small("third"))
    stand.compare([case, Case(("-rn", "needle", "."), MUST)])


# ---- PATH -------------------------------------------------------------------------------------------------------

BY_PATH: dict[str, Callable[[Path, Stand], str]] = {}


def _path(name: str) -> Callable[[Callable[[Path, Stand], str]], Callable[[Path, Stand], str]]:
    def keep(make: Callable[[Path, Stand], str]) -> Callable[[Path, Stand], str]:
        BY_PATH[name] = make
        return make

    return keep


@_path("the shim twice")
def _twice(_: Path, stand: Stand) -> str:
    return f"{SHIMS}:{SHIMS}/:{SHIMS}/../bin:{stand.tools}:/usr/bin:/bin"


@_path("two copies of it")
def _copies(folder: Path, stand: Stand) -> str:
    shutil.copytree(SHIMS.parents[1], folder / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    return f"{SHIMS}:{folder}/copy/shims/bin:{SHIMS}:{stand.tools}:/usr/bin:/bin"


@_path("a link to its folder")
def _linked_folder(folder: Path, stand: Stand) -> str:
    (folder / "linked bin").symlink_to(SHIMS)
    return f"{folder}/linked bin:{SHIMS}:{stand.tools}:/usr/bin:/bin"


@_path("links to it")
def _links(folder: Path, stand: Stand) -> str:
    (folder / "my bin").mkdir()
    (folder / "my bin" / "grep").symlink_to(SHIMS / "grep")
    (folder / "again").mkdir()
    (folder / "again" / "grep").symlink_to("../my bin/grep")
    return f"{folder}/again:{folder}/my bin:{stand.tools}:/usr/bin:/bin"


@_path("empty entries and entries that are nothing")
def _empty(folder: Path, stand: Stand) -> str:
    (folder / "dir" / "grep").mkdir(parents=True)
    (folder / "plain").mkdir()
    (folder / "plain" / "grep").write_text("#!/bin/sh\necho not to be run\n")
    return f"{SHIMS}::/nowhere:{folder}/dir:{folder}/plain:{folder}/plain/grep::{stand.tools}:/usr/bin:/bin:"


@pytest.mark.parametrize("kind", BY_PATH)
def test_the_first_tool_on_path_that_is_not_the_shim_is_run(gnu: Stand, tmp_path: Path, kind: str) -> None:
    """However the shim is reached, and whatever else stands on PATH, it is run once."""
    path = BY_PATH[kind](tmp_path, gnu)
    for text in (
        "grep -n needle src/shapes.py nowhere",
        "grep -c needle src/shapes.py",
        "grep -rn needle src",
    ):
        real, shim = gnu.script("dash", text, shim=False), gnu.script("dash", text, shim=True, PATH=path)
        assert (
            list(gnu.judged(Case(tuple(text.split()[1:]), RAW if "-c" in text else MUST), real, shim)) == []
        ), text


def test_an_empty_entry_of_path_is_the_working_folder(tmp_path: Path) -> None:
    """As for the shell: a grep that lies there is the first one."""
    tree = Tree(tmp_path / "here")
    tree.put("a.py", small("a"))
    _fake(tree.folder, "echo from here")
    stand = Stand(tmp_path, tree, "grep", program("grep"))
    for path in (f"{SHIMS}::{stand.tools}", f"{SHIMS}:.:{stand.tools}"):
        for words in ("-n needle a.py", "-c needle a.py"):
            assert stand.script("dash", f"grep {words}", shim=True, PATH=path).out == b"from here\n"


@pytest.mark.parametrize("words", ["-n needle src/shapes.py", "-c needle src/shapes.py", "--version"])
def test_where_there_is_no_real_tool(gnu: Stand, words: str) -> None:
    """127, as a shell says it, with one line."""
    for path in (str(SHIMS), f"{SHIMS}:/nowhere"):
        with _started(gnu, words.split(), shim=True, variables={"PATH": path}) as process:
            out, error = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (127, b"")
        assert error.count(b"\n") == 1
        assert b"grep" in error


@pytest.mark.parametrize("kind", ["nowhere", "itself", "a folder", "relative", "empty"])
def test_a_forced_tool_that_cannot_be_run(gnu: Stand, tmp_path: Path, kind: str) -> None:
    """No loop: the tool of PATH, or one line and 126 or 127."""
    value = {
        "nowhere": "/nowhere/grep",
        "itself": str(SHIMS / "grep"),
        "a folder": str(tmp_path),
        "relative": "no/such",
        "empty": "",
    }[kind]
    for words in (("-n", "needle", "src/shapes.py"), ("-c", "needle", "src/shapes.py")):
        case = Case(words, MAY, {"SLICEGREP_GREP_REAL": value})
        shim = gnu.run(case, shim=True)
        if shim.status in (126, 127):
            assert shim.out == b""
            assert shim.error.count(b"\n") == 1
        else:
            assert list(gnu.judged(case, gnu.run(case, shim=False), shim)) == []


def test_the_newer_name_of_a_forced_tool_wins(gnu: Stand, tmp_path: Path) -> None:
    """SLICEGREP_GREP_REAL over LOOM_GREP_REAL, both over PATH."""
    new, old = _fake(tmp_path / "new", "echo new"), _fake(tmp_path / "old", "echo old")
    both = {"SLICEGREP_GREP_REAL": new, "LOOM_GREP_REAL": old}
    for words in (("-n", "needle", "src/shapes.py"), ("-c", "needle", "src/shapes.py")):
        assert gnu.run(Case(words, MAY, both), shim=True).out == b"new\n"
        assert gnu.run(Case(words, MAY, {"LOOM_GREP_REAL": old}), shim=True).out == b"old\n"
