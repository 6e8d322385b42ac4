"""Transcripts as no client writes them, or as it is writing them just now: bounded time and memory, and the read is helped."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_stand import House

AT_ONCE = 3.0
"""Seconds for a read's first hook on a machine that is busy with other tests; alone it takes 0.12."""
MOST_TIMES = 2.5
"""Of the processor's time that the same call takes with a transcript of one row; to look through a gigabyte takes four."""
MEMORY = 500_000_000
"""Bytes of address space: a third of it is what a hook takes with a small transcript."""
PROMPT = {"type": "user", "message": {"role": "user", "content": "what does step_77 return"}}
CALL = {
    "type": "assistant",
    "message": {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "grep -n step_5 big.py"}}
        ],
    },
}
WRITES = 20_000
MB = 1_000_000


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("transcript"))


def row(entry: object) -> bytes:
    return json.dumps(entry).encode() + b"\n"


ROWS = row(PROMPT) + row(CALL) * 20


def cut_in_mid_line(path: Path) -> None:
    path.write_bytes(ROWS + row(CALL)[:57])


def begun_in_mid_line(path: Path) -> None:
    path.write_bytes(row(PROMPT)[30:] + ROWS)


def a_gigabyte_of_holes(path: Path) -> None:
    """One row of NULs, then real ones."""
    path.touch()
    os.truncate(path, 1000 * MB)
    with path.open("ab") as file:
        file.write(b"\n" + ROWS)


def a_gigabyte_of_rows(path: Path) -> None:
    """As far as anybody looks; what lies before takes no room on the disk."""
    path.touch()
    os.truncate(path, 960 * MB)
    with path.open("ab") as file:
        file.write(b"\n" + row(PROMPT) + row(CALL) * (40 * MB // len(row(CALL))))


def a_row_of_fifty_megabytes_last(path: Path) -> None:
    path.write_bytes(ROWS + row({"type": "user", "message": {"role": "user", "content": "x" * 50 * MB}}))


def a_row_of_fifty_megabytes_that_does_not_end(path: Path) -> None:
    path.write_bytes(
        ROWS + b'{"type":"user","message":{"role":"user","content":"' + b"step_5 " * (50 * MB // 7)
    )


def nuls_between(path: Path) -> None:
    path.write_bytes(ROWS.replace(b" ", b"\0 ", 50) + b"\0" * MB + b"\n" + ROWS)


def no_utf8(path: Path) -> None:
    path.write_bytes(ROWS + bytes(range(256)) * 1000 + b"\n" + row(PROMPT).replace(b"what", b"\xff\xfe\xc3"))


def deep(path: Path) -> None:
    path.write_bytes(ROWS + b'{"type":"user","message":' + b"[" * 200_000 + b"\n" + ROWS[:400])


def numbers(path: Path) -> None:
    """Of which Python makes no integer, and none that is finite."""
    path.write_bytes(ROWS + b'{"type":"user","message":' + b"9" * 100_000 + b"}\n1e999\nNaN\n-Infinity\n")


def empty_lines(path: Path) -> None:
    path.write_bytes(ROWS + b"\n" * 30 * MB)


def of_other_shapes(path: Path) -> None:
    shapes: list[object] = [
        7,
        None,
        [],
        {"type": 5},
        {"type": "user", "message": "x"},
        {"type": "user", "message": {"content": 5}},
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "content": {"a": 1}}]},
        },
        {"type": "user", "message": {"role": "user", "content": [[], 5, None, {"type": 7}]}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "input": []}]},
        },
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "name": 5, "input": {"pattern": ["x"], "edits": 7, "file_path": 1}}
                ],
            },
        },
        {"type": "attachment", "attachment": []},
        {"type": "last-prompt", "lastPrompt": {}},
        {"type": "user", "message": {"role": "user", "content": "\ud800 step_77 \udfff"}},
    ]
    path.write_bytes(b"".join(map(row, shapes)) * 30)


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def zeros_without_end(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_folder(path: Path) -> None:
    path.mkdir()


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


KINDS: list[Callable[[Path], None]] = [
    cut_in_mid_line,
    begun_in_mid_line,
    a_gigabyte_of_holes,
    a_gigabyte_of_rows,
    a_row_of_fifty_megabytes_last,
    a_row_of_fifty_megabytes_that_does_not_end,
    nuls_between,
    no_utf8,
    deep,
    numbers,
    empty_lines,
    of_other_shapes,
    a_fifo,
    zeros_without_end,
    a_folder,
    a_loop,
]


def spent() -> float:
    """Return the seconds of processor time of all calls so far."""
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


@pytest.fixture(scope="module")
def small(house: House) -> float:
    """Return what a read's first hook takes of the processor with a transcript of one row."""
    times = []
    for n in range(3):
        house.session = f"small-{n}"
        (house.folder / f"{house.session}.jsonl").write_bytes(row(PROMPT))
        before = spent()
        assert house.before(house.big)
        times.append(spent() - before)
    return min(times)


@pytest.mark.parametrize("kind", KINDS)
def test_a_transcript_that_nobody_would_expect(
    house: House, small: float, kind: Callable[[Path], None]
) -> None:
    """Both phases and a search, each at once and within memory; what is shown is the file's."""
    house.session = kind.__name__
    transcript = house.folder / f"{house.session}.jsonl"
    kind(transcript)
    house.before_start = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        started, before = time.monotonic(), spent()
        narrowed = house.before(house.big)
        assert time.monotonic() - started < AT_ONCE
        assert spent() - before < MOST_TIMES * small
        assert narrowed, "the read was not helped"
        assert house.after(narrowed, house.big)
        started = time.monotonic()
        payload = house.grep_payload(house.big, "x . 7[0-9]$")
        answer = house.fire("PostToolUse Grep|Bash|PowerShell", payload)
        assert time.monotonic() - started < AT_ONCE
        assert house.true_annotation(answer, payload["tool_response"]["stdout"], house.big) == 10
    finally:
        house.before_start = None
        if transcript.is_dir():
            transcript.rmdir()
        else:
            transcript.unlink()


def test_a_transcript_that_is_being_written(house: House) -> None:
    """Rows appended in pieces, cut off and begun anew, while reads and searches look at it."""
    house.session = "written"
    transcript = house.folder / "written.jsonl"
    transcript.write_bytes(ROWS)
    child = os.fork()
    if child == 0:
        for n in range(WRITES):
            with transcript.open("r+b" if n % 50 else "wb") as file:
                if n % 7 == 0:
                    file.truncate(max(0, transcript.stat().st_size // 2))
                file.seek(0, os.SEEK_END)
                for at in range(0, len(ROWS), 700):
                    file.write(ROWS[at : at + 700])
                    file.flush()
        os._exit(0)
    try:
        for n in range(8):
            house.session = f"written-{n}"
            (house.folder / f"{house.session}.jsonl").symlink_to(transcript)
            narrowed = house.before(house.big)
            assert narrowed
            assert house.after(narrowed, house.big)
            assert house.grep(house.big) == 10
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
