"""The Python client against answers, addresses and surroundings that are not what they should be."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import pytest
from slicegrep.client import Agent, BadAnswer, Unreachable

ANSWER = json.dumps({"rows": [{"location": "a.py:1", "symbol": "f"}], "resolved": 1, "revision": ""}).encode()


class Stand:
    """A server on a free port that answers each connection with the same bytes; `heads` is what it was sent."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.heads: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                one, _ = self._listener.accept()
            except OSError:
                return
            with one:
                self.heads.append(one.recv(65_536))
                try:
                    one.sendall(self._answer)
                    while one.recv(65_536):
                        pass
                except OSError:
                    pass  # the client has had enough


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return the bytes of an answer after which the connection ends."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture
def stand() -> Iterator[Callable[..., Stand]]:
    """Yield what makes a server of an answer."""
    made: list[Stand] = []

    def make(body: bytes, *headers: str) -> Stand:
        made.append(Stand(answer(body, *headers)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    """Yield a proxy that the environment names for everything."""
    one = Stand(answer(ANSWER))
    for name in ("NO_PROXY", "no_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{one.port}")
    yield one
    one.close()


def ask(url: str, token: str = "t") -> int:
    """Return how many locations were resolved in a call of one."""
    with Agent(url, token, timeout=5) as agent:
        return agent.code.enclosing(["a.py:1"]).resolved


def test_a_gzipped_answer_is_read(stand: Callable[..., Stand]) -> None:
    """What a proxy compresses is the same answer; nothing else is asked for."""
    one = stand(gzip.compress(ANSWER), "Content-Encoding: GZIP")
    assert ask(f"http://127.0.0.1:{one.port}") == 1
    assert b"accept-encoding: gzip\r\n" in one.heads[0].lower()


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate", "br", "zstd", "gzip,identity"])
def test_an_encoding_that_was_not_asked_for_is_no_answer(stand: Callable[..., Stand], encoding: str) -> None:
    """Of two around each other 1 kB would become 1 GB."""
    one = stand(gzip.compress(gzip.compress(ANSWER)), f"Content-Encoding: {encoding}")
    with pytest.raises(BadAnswer, match="not asked for"):
        ask(f"http://127.0.0.1:{one.port}")


@pytest.mark.parametrize("body", [gzip.compress(ANSWER, mtime=0)[:-9], b"\x1f\x8b", b"none"])
def test_a_gzip_that_breaks_off_is_no_answer(stand: Callable[..., Stand], body: bytes) -> None:
    """Half of it is not taken for the whole."""
    one = stand(body, "Content-Encoding: gzip")
    with pytest.raises(BadAnswer, match="cannot be decompressed"):
        ask(f"http://127.0.0.1:{one.port}")


def test_an_answer_that_swells_is_given_up_before_it_fills_the_memory(stand: Callable[..., Stand]) -> None:
    """300 MB in 0.3 MB: what is held stays near the limit of 64 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * 10_000_000) for _ in range(30)) + packer.flush()
    one = stand(bomb, "Content-Encoding: gzip")
    with Agent(f"http://127.0.0.1:{one.port}", "t", timeout=20) as agent:
        tracemalloc.start()
        try:
            with pytest.raises(BadAnswer, match="over 64 MB"):
                agent.code.enclosing(["a.py:1"])
            assert tracemalloc.get_traced_memory()[1] < 90_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.0.0.2", "127.1", "0x7f.1", "2130706433", "0.0.0.0", "0"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]"),
        *("localhost", "LOCALHOST", "localhost.", "shop.localhost", "localhost.localdomain"),
    ],
)
def test_this_machine_in_any_form_is_asked_without_the_proxy(
    stand: Callable[..., Stand], proxy: Stand, host: str
) -> None:
    """The token of a server on loopback is not shown to another machine, whether somebody listens there or not."""
    one = stand(ANSWER)
    try:
        assert ask(f"http://{host}:{one.port}") == 1
        assert one.heads != []
    except Unreachable:
        assert (
            one.heads == []
        )  # at another of the loopback's addresses, or under a name that this system does not know
    assert proxy.heads == []


@pytest.mark.parametrize("host", ["shop.example", "localhost.example", "128.0.0.1", "[2001:db8::1]"])
def test_another_machine_is_asked_by_way_of_the_proxy(proxy: Stand, host: str) -> None:
    """As the environment says."""
    assert ask(f"http://{host}:8737") == 1
    assert proxy.heads[0].startswith(b"POST http://")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://ann:secret@127.0.0.1:1", "no @"),
        ("http://ann:secret@b ad:99999?x#y", "no @"),
        ("http://127.0.0.1:1/?secret=1", "no query"),
        ("http://127.0.0.1:1/?", "no query"),
        ("http://127.0.0.1:1/#x", "no fragment"),
        ("http://a b", "not the URL"),
        (" http://a", "not the URL"),
        ("http://a\n", "not the URL"),
        ("http://\x00", "not the URL"),
        ("http://xn--", "not the URL"),
        ("http://xn--a.b", "not the URL"),
        ("http://a..b", "not the URL"),
        ("http://127%2e0.0.1", "not the URL"),
        ("http://" + "a" * 64, "not the URL"),
        ("http://" + "a" * 70_000, "not the URL"),
        ("http://127.0.0.1:99999", "not the URL"),
        ("http://127.0.0.1:0", "not the URL"),
        ("http://[::1", "not the URL"),
        ("http://", "not the URL"),
        ("ftp://a", "not the URL"),
        ("file:///etc/passwd", "not the URL"),
        ("", "not the URL"),
        (None, "is a text, not NoneType"),
        (b"http://a", "is a text, not bytes"),
    ],
)
def test_what_is_no_url_of_a_server_is_said_in_a_sentence(url: object, says: str) -> None:
    """A ValueError when the client is made, which quotes no password."""
    with pytest.raises(ValueError, match=says) as caught:
        Agent(url, "t")  # type: ignore[arg-type]
    assert "\n" not in str(caught.value) and "ann" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("token", ["", " ", "a ", "a\nb", "ä", None, 3])
def test_what_is_no_token_is_said_in_a_sentence(token: object) -> None:
    """Before anything is sent."""
    with pytest.raises(ValueError, match="the token"):
        Agent("http://127.0.0.1:1", token)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [("HTTP_PROXY", "nonsense://x y"), ("HTTP_PROXY", "http://[::1"), ("SSL_CERT_FILE", "/none")],
)
def test_surroundings_that_cannot_be_used_are_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Without the library's own words, which may quote a proxy's password."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"^the environment names a proxy or certificates"):
        Agent("http://shop.example", "t")


def test_who_cannot_be_reached_is_named_with_the_reason() -> None:
    """The address that was asked, and the system's words; also where several addresses were tried."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for host in ("127.0.0.1", "localhost"):
            url = f"http://{host}:{taken.getsockname()[1]}"
            with pytest.raises(Unreachable) as caught:
                ask(url + "/below")
            assert str(caught.value) == f"code.enclosing: {url}/below cannot be reached: Connection refused"
    with pytest.raises(Unreachable, match=r"http://nobody\.invalid cannot be reached: \w+"):
        ask("http://nobody.invalid")
