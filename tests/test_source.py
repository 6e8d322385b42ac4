"""Bytes become the lines that the client's Read shows."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from odd_inputs import source_bytes
from slicegrep.source import read_source, shown_as_is, source_of
from slicegrep.types import Source


def lines_of(data: bytes) -> tuple[str, ...]:
    """Return the lines of a Python file of these bytes."""
    return source_of("a.py", data, "python").lines


# What both clients (2.1.100 and 2.1.332) had in `tool_response.file.content` for a file of these bytes.
SEEN_IN_THE_CLIENT = {
    b"a = 1\rb = 2\nc = 3\r\r\nd\r\n\r\ne\r": "a = 1\rb = 2\nc = 3\r\nd\n\ne",
    b"a\nb\r\r": "a\nb\r",
    b"\xef\xbb\xbfx = 1\r\ny = 2": "x = 1\ny = 2",
    b'\xef\xbb\xbf\xef\xbb\xbfx = 1\nz = "\xef\xbb\xbfmid"': '\ufeffx = 1\nz = "\ufeffmid"',
    'a = "\u2028 \u2029 \x85 \x0b \x0c"\nb \t '.encode(): 'a = "\u2028 \u2029 \x85 \x0b \x0c"\nb \t ',
    b'x = "a\x1b[0m \x07 \x01\x7f"\n\x0cy = 2': 'x = "a\x1b[0m \x07 \x01\x7f"\n\x0cy = 2',
    'x = "café"  # naïve'.encode("latin-1"): 'x = "caf\ufffd"  # na\ufffdve',
    b'a = "\xe2\x82"\nb = "\xed\xa0\x80"\nc="\xf0\x9f\x98"\nd="\xff\xfe"\ne="\xc0\xaf"': (
        'a = "\ufffd"\nb = "\ufffd\ufffd\ufffd"\nc="\ufffd"\nd="\ufffd\ufffd"\ne="\ufffd\ufffd"'
    ),
    b'x = "a\0b"\ny = 2': 'x = "a\0b"\ny = 2',
}


@pytest.mark.parametrize(("data", "content"), SEEN_IN_THE_CLIENT.items())
def test_lines_are_those_of_the_client(data: bytes, content: str) -> None:
    """lean-ctx#628: blank lines, trailing spaces, tabs, odd separators and bad bytes come as Read has them."""
    assert source_of("a.py", data, "python").text == content


def test_the_last_line_feed_begins_no_line() -> None:
    """A file that ends in LF has no empty last line; one that does not has the same lines."""
    assert lines_of(b"a\n\n") == ("a", "")
    assert lines_of(b"a\n") == lines_of(b"a") == ("a",)
    assert lines_of(b"\n") == ("",)
    assert lines_of(b"") == ()


def test_utf_16_is_decoded_by_its_bom() -> None:
    """rtk#4113: a UTF-16 file is text, in either byte order."""
    text = 'x = "é"\r\n\ty = 2 \n'
    for bom, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        source = source_of("a.py", bom + text.encode(codec), "python")
        assert source.lines == ('x = "é"', "\ty = 2 ")
        assert source.encoding == codec


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"x = 1\n", True),
        (b"\xef\xbb\xbfx = 1\n", True),
        (b"caf\xe9\n", True),
        ("\ufeffx = 1\n".encode("utf-16-le"), False),
        ("\ufeffx = 1\n".encode("utf-16-be"), False),
        (b"x = '\0'\n", False),
    ],
)
def test_only_what_every_client_shows_alike_is_shown_as_is(data: bytes, shown: bool) -> None:  # noqa: FBT001
    """UTF-16 and NULs are shown otherwise by one client version or the other, so their Read is left alone."""
    assert shown_as_is(source_of("a.py", data, "python")) is shown


def test_digest_and_size_are_of_the_raw_bytes() -> None:
    """Two files whose lines are equal but whose bytes differ are told apart."""
    crlf, lf = b"a\r\n", b"a\n"
    for data in (crlf, lf):
        source = source_of("a.py", data, "python")
        assert source.size == len(data)
        assert source.digest == hashlib.blake2b(data, digest_size=16).hexdigest()
    assert lines_of(crlf) == lines_of(lf)


def test_a_file_is_read_through_a_symlink(tmp_path) -> None:
    """The path stays the one asked for; the lines are the target's."""
    (tmp_path / "real.py").write_bytes(b"x = 1\r\n")
    (tmp_path / "link.py").symlink_to("real.py")
    source = read_source(str(tmp_path / "link.py"))
    assert source is not None
    assert (source.path, source.lines, source.language) == (str(tmp_path / "link.py"), ("x = 1",), "python")


def test_size_limit_is_inclusive(tmp_path) -> None:
    """A file of exactly `max_bytes` is read, one byte more is not."""
    path = tmp_path / "a.py"
    path.write_bytes(b"x" * 100)
    assert read_source(str(path), max_bytes=100) is not None
    assert read_source(str(path), max_bytes=99) is None


@pytest.mark.parametrize("path", [path for path in ("/proc/self/status",) if Path(path).exists()])
def test_a_file_that_says_it_is_empty_is_still_bounded(path: str) -> None:
    """A file under /proc has size 0 and content: read up to the limit, refused past it."""
    assert read_source(path) is not None
    assert read_source(path, max_bytes=10) is None


def test_what_is_no_readable_file_is_none(tmp_path) -> None:
    """A folder, a missing file, a dangling link, a link loop, and a path that no file can have."""
    (tmp_path / "dangling.py").symlink_to("nothing")
    (tmp_path / "loop.py").symlink_to("loop.py")
    for name in ("", "missing.py", "dangling.py", "loop.py", "a\0b.py", "\udc80\ud800.py"):
        assert read_source(str(tmp_path / name)) is None


def test_a_fifo_or_a_device_never_blocks(tmp_path) -> None:
    """Opening a FIFO that nobody writes to would hang the session: it is refused at once."""
    fifo = tmp_path / "pipe.py"
    os.mkfifo(fifo)
    found: list[object] = []
    reader = threading.Thread(target=lambda: found.append(read_source(str(fifo))), daemon=True)
    reader.start()
    reader.join(2)
    assert found == [None]
    assert read_source("/dev/zero") is None


@given(st.binary(max_size=300) | source_bytes())
@example(b"\xff")
@example(b"\xfe\xff\n")
@example(b"\xff\xfe\r")
def test_any_bytes_become_lines_without_a_line_feed(data: bytes) -> None:
    """No bytes raise, no line holds an LF, and what comes back can be put into JSON."""
    source = source_of("a.py", data, "python")
    assert not any("\n" in line for line in source.lines)
    source.text.encode("utf-8")


@given(source_bytes())
def test_lines_are_the_bytes_between_line_feeds(data: bytes) -> None:
    """Cut as bytes and decoded one by one, the lines are the same: nothing moves from one line to another."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    pieces = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = [piece.removesuffix(b"\r").decode("utf-8", "replace") for piece in pieces]
    assert lines_of(data) == tuple(lines if lines[-1] else lines[:-1])


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n\ufeff\0", exclude_categories=["Cs"])), min_size=1)
)
def test_lines_survive_either_line_end(lines: list[str]) -> None:
    """The same lines are found whatever the line ends, with and without a BOM."""
    want = tuple(lines)
    for end in ("\n", "\r\n"):
        data = "".join(line + end for line in lines).encode()
        assert lines_of(data) == lines_of(b"\xef\xbb\xbf" + data) == want


def test_the_bytes_are_those_of_now_whoever_makes_the_source(tmp_path: Path) -> None:
    """Size and time of change may be the same: they are read at every call."""
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\n")
    status = path.stat()
    handed: list[bytes] = []

    def make(path: str, data: bytes) -> Source:
        handed.append(data)
        return source_of(path, data)

    assert read_source(str(path), make=make) == read_source(str(path))
    path.write_bytes(b"x = 2\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert read_source(str(path), make=make) == read_source(str(path))
    assert handed == [b"x = 1\n", b"x = 2\n"]
