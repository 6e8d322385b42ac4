"""The Python client against a real server of HTTP, whose answers each test chooses."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from served import Served, serving, write_tree
from slicegrep.client import (
    Agent,
    Ambiguous,
    AsyncAgent,
    BadAnswer,
    Busy,
    Forbidden,
    InvalidRequest,
    NotFound,
    ServerFault,
    SlicegrepError,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
)

ROOT = Path(__file__).resolve().parents[1]
PLACE = {
    "symbol_id": "src/cart.py#Cart.add",
    "symbol": "Cart.add",
    "kind": "method",
    "path": "src/cart.py",
    "start": 3,
    "end": 9,
    "signature": "def add(self, item)",
}
ENVELOPE = {"epistemic": "lower_bound", "tier": "parser", "causes": ["parser tier: dynamic calls"]}
NEIGHBOUR = {**PLACE, "lines": [4, 7], "tier": "parser", "confidence": 0.9, "relation": "call"}
RELATED = {"symbol": PLACE, "related": [NEIGHBOUR], "more": 0, "envelope": ENVELOPE, "revision": "c7a9fe7c9f"}

Play = Callable[["_Handler", dict[str, Any]], None]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Keep quiet."""

    def do_POST(self) -> None:
        stand: Stand = self.server.stand  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stand.bodies.append(body)
        stand.seen.append((self.path, dict(self.headers)))
        stand.play(self, body)

    def answer(self, status: int, value: Any, **headers: str) -> None:
        """Send a whole answer; `value` is JSON, or bytes as they are."""
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)


class Stand(ThreadingHTTPServer):
    """A server on a free port; what it was asked is in `seen` and `bodies`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stand = self
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.bodies: list[dict[str, Any]] = []
        self.play: Play = rows
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up."""


def rows(handler: _Handler, body: dict[str, Any]) -> None:
    """Answer code.enclosing with a row for each location."""
    found = [{"location": location, "symbol": f"at {location}"} for location in body["locations"]]
    handler.answer(200, {"rows": found, "resolved": len(found), "revision": "c7a9fe7c9f"})


def says(status: int, value: Any, **headers: str) -> Play:
    """Answer always so."""
    return lambda handler, _: handler.answer(status, value, **headers)


def in_turn(*plays: Play) -> Play:
    """Answer each request by the next of these, by the last one in the end."""
    left = list(plays)

    def play(handler: _Handler, body: dict[str, Any]) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(handler, body)

    return play


def hang_up(handler: _Handler, _: dict[str, Any]) -> None:
    """Break the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def trickle(handler: _Handler, _: dict[str, Any]) -> None:
    """Send one byte of the headers each 50 ms, for ever."""
    handler.connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        handler.connection.sendall(b"x")
        time.sleep(0.05)


@pytest.fixture
def stand() -> Iterator[Stand]:
    """Yield a server that answers code.enclosing."""
    with Stand() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def agent(stand: Stand) -> Iterator[Agent]:
    """Yield a client of that server."""
    with Agent(stand.url, "a-token", timeout=5) as client:
        yield client


def test_a_call_says_who_asks_for_what_and_returns_the_models(stand: Stand) -> None:
    """The route, the token, the namespace and the caller's name are in the request; rows come as objects."""
    with Agent(stand.url + "/", "a-token", namespace="web", agent="ci") as agent:
        answer = agent.code.enclosing(["src/cart.py:4"], include_body=True, token_budget=900)
    path, headers = stand.seen[0]
    assert path == "/v1/code.enclosing"
    assert headers["Authorization"] == "Bearer a-token"
    assert headers["X-Slicegrep-Agent"] == "ci"
    assert stand.bodies[0] == {
        "namespace": "web",
        "locations": ["src/cart.py:4"],
        "include_body": True,
        "token_budget": 900,
        "neighbours": False,
        "neighbour_k": 5,
    }
    assert (answer.rows[0].symbol, answer.resolved, answer.revision) == ("at src/cart.py:4", 1, "c7a9fe7c9f")


def test_what_is_no_id_is_taken_for_a_name(stand: Stand, agent: Agent) -> None:
    """An id has a `#`: who gives a name in its place means the definition of that name."""
    stand.play = says(200, RELATED)
    agent.code.callers("Cart.add")
    assert (stand.bodies[-1]["symbol_id"], stand.bodies[-1]["name"]) == ("", "Cart.add")


def test_each_operation_has_its_route_and_its_answer(stand: Stand, agent: Agent) -> None:
    """symbol, callers, callees, impact and search ask for what their arguments say."""
    stand.play = says(200, {"symbols": [{**PLACE, "body": "def add"}], "revision": ""})
    assert agent.code.symbol("src/cart.py#Cart.add").symbols[0].body == "def add"
    stand.play = says(200, RELATED)
    assert agent.code.callers(name="Cart.add", k=3).related[0].lines == [4, 7]
    assert agent.code.callees("src/cart.py#Cart.add").envelope.epistemic == "lower_bound"
    reached = {**NEIGHBOUR, "depth": 1, "through": "src/cart.py#Cart.add"}
    stand.play = says(
        200, {"symbol": PLACE, "reached": [reached], "tests": [], "envelope": ENVELOPE, "revision": ""}
    )
    assert agent.code.impact(name="Cart.add", depth=2).reached[0].depth == 1
    result = {
        "path": "",
        "pattern": "add",
        "route": "precise",
        "budget": 700,
        "total_tokens": 10,
        "exact_tokens": True,
        "coverage": 1.0,
        "coverage_of": "lines",
        "chunks": [],
        "omitted": [],
        "omitted_tokens": 0,
        "negative_evidence": [],
        "notes": [],
        "skipped": [],
    }
    stand.play = says(200, {"result": result, "text": "nothing", "revision": ""})
    assert agent.code.search("add", budget=700, type="py").text == "nothing"
    names = [path.removeprefix("/v1/code.") for path, _ in stand.seen]
    assert names == ["symbol", "callers", "callees", "impact", "search"]
    assert [stand.bodies[1][key] for key in ("symbol_id", "name", "k")] == ["", "Cart.add", 3]
    assert stand.bodies[4]["type"] == ["py"]


def test_the_same_calls_are_awaited_with_async_agent(stand: Stand) -> None:
    """Ten calls at once bring ten answers, each its own."""

    async def ask() -> list[str]:
        async with AsyncAgent(stand.url, "a-token") as agent:
            answers = await asyncio.gather(*(agent.code.enclosing([f"a.py:{n}"]) for n in range(1, 11)))
        return [answer.rows[0].location for answer in answers]

    assert asyncio.run(ask()) == [f"a.py:{n}" for n in range(1, 11)]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Ambiguous),
        (413, TooLarge),
        (422, InvalidRequest),
        (415, InvalidRequest),
        (429, Busy),
        (500, ServerFault),
        (501, ServerFault),
    ],
)
def test_a_refusal_is_a_named_error_with_the_servers_sentence_and_is_not_repeated(
    stand: Stand, agent: Agent, status: int, error: type[SlicegrepError]
) -> None:
    """Each status has its error; nothing is asked twice that asking again cannot mend."""
    stand.play = says(status, {"error": "x", "message": "This is why."})
    with pytest.raises(error, match=r"^This is why\.$") as caught:
        agent.code.enclosing(["a.py:1"])
    assert type(caught.value) is error
    assert caught.value.status == status
    assert len(stand.seen) == 1


def test_an_error_that_is_not_of_slicegrep_is_told_by_its_status(stand: Stand, agent: Agent) -> None:
    """A proxy's page does not become the sentence."""
    stand.play = says(500, b"<html>gateway</html>")
    with pytest.raises(ServerFault, match=r"^code\.enclosing: HTTP status 500 without a sentence"):
        agent.code.enclosing(["a.py:1"])


@pytest.mark.parametrize("broken", [says(502, b""), says(503, b""), says(504, b""), hang_up])
def test_what_a_second_try_may_mend_is_tried_once_more(stand: Stand, agent: Agent, broken: Play) -> None:
    """A restart of the server in between costs a pause, no error."""
    stand.play = in_turn(broken, rows)
    assert agent.code.enclosing(["a.py:1"]).resolved == 1
    assert len(stand.seen) == 2


@pytest.mark.parametrize(("broken", "error"), [(says(503, b""), Busy), (hang_up, Unreachable)])
def test_there_is_no_third_try(stand: Stand, agent: Agent, broken: Play, error: type[SlicegrepError]) -> None:
    """What fails twice is told."""
    stand.play = broken
    with pytest.raises(error):
        agent.code.enclosing(["a.py:1"])
    assert len(stand.seen) == 2


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_second_try_waits_as_long_as_the_server_asks(stand: Stand, agent: Agent, form: str) -> None:
    """Both forms of Retry-After count."""
    when = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    stand.play = in_turn(says(503, b"", Retry_After=when), rows)
    begun = time.monotonic()
    agent.code.enclosing(["a.py:1"])
    assert 0.9 <= time.monotonic() - begun < 6


def test_a_wait_past_the_time_out_is_not_begun(stand: Stand) -> None:
    """Who has 20 s does not spend them on waiting for a server that asks for 30."""
    stand.play = says(503, {"error": "busy", "message": "Too many calls."}, Retry_After="30")
    begun = time.monotonic()
    with Agent(stand.url, "t", timeout=20) as agent, pytest.raises(Busy, match="Too many calls"):
        agent.code.enclosing(["a.py:1"])
    assert time.monotonic() - begun < 10
    assert len(stand.seen) == 1


def test_the_time_out_is_of_the_whole_call(stand: Stand) -> None:
    """A server that sends a byte now and then does not hold its caller."""
    stand.play = trickle
    begun = time.monotonic()
    with Agent(stand.url, "t", timeout=0.5) as agent, pytest.raises(TimedOut, match=r"within 0\.5 s"):
        agent.code.enclosing(["a.py:1"])
    assert time.monotonic() - begun < 10  # the server goes on for ever


def test_nobody_at_that_port_is_unreachable() -> None:
    """A server that is not up is told as such, without the library's own words."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Agent(url, "t") as agent, pytest.raises(Unreachable, match="cannot be reached"):
            agent.code.enclosing(["a.py:1"])


@pytest.mark.parametrize(
    "play",
    [
        says(200, b"<html>"),
        says(200, {"rows": []}),
        says(200, {"rows": [{"location": "b.py:1"}], "resolved": 0, "revision": ""}),
        says(200, b"\x1f\x8bnonsense", Content_Encoding="gzip"),
        says(302, b"", Location="http://127.0.0.1:9/"),
    ],
    ids=["no JSON", "another shape", "other rows", "not compressed", "elsewhere"],
)
def test_what_is_no_answer_is_a_bad_answer(stand: Stand, agent: Agent, play: Play) -> None:
    """Nothing that did not check out is returned, and a redirect is not followed with the token."""
    stand.play = play
    with pytest.raises(BadAnswer):
        agent.code.enclosing(["a.py:1"])
    assert len(stand.seen) == 1


def test_an_answer_without_end_is_given_up(stand: Stand, agent: Agent) -> None:
    """70 MB of blanks in 70 kB on the wire are not kept."""
    stand.play = says(200, gzip.compress(b" " * 70_000_000), Content_Encoding="gzip")
    with pytest.raises(BadAnswer, match="over 64 MB"):
        agent.code.enclosing(["a.py:1"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda code: code.enclosing([]), "locations: "),
        (lambda code: code.enclosing("src/cart.py:4"), "not one text"),
        (lambda code: code.enclosing(["a.py:1"], token_budget=0), "token_budget: "),
        (lambda code: code.enclosing(["a\udcff.py:1"]), "locations[0]: "),
        (lambda code: code.symbol(), "exactly one of"),
        (lambda code: code.impact("a#b", name="b"), "exactly one of"),
        (lambda code: code.search("x", boundary="line"), "boundary: "),
        (lambda code: code.callers("a#b", k=0), "k: "),
    ],
)
def test_what_cannot_be_asked_is_said_before_it_is_sent(
    stand: Stand, agent: Agent, call: Callable[[Any], object], sentence: str
) -> None:
    """A slip in an argument is an InvalidRequest that names it, in one line."""
    with pytest.raises(InvalidRequest, match=re.escape(sentence)) as caught:
        call(agent.code)
    assert "\n" not in str(caught.value)
    assert stand.seen == []


def test_more_locations_than_a_call_may_have_go_in_several_calls(stand: Stand, agent: Agent) -> None:
    """450 rows come back in their order, from three calls."""
    wanted = [f"a.py:{n}" for n in range(1, 451)]
    answer = agent.code.enclosing(wanted)
    assert [row.location for row in answer.rows] == wanted
    assert (answer.resolved, answer.revision) == (450, "c7a9fe7c9f")
    assert [len(body["locations"]) for body in stand.bodies] == [200, 200, 50]


def test_calls_that_saw_two_revisions_name_none(stand: Stand, agent: Agent) -> None:
    """A checkout between the calls is not hidden."""
    revisions = iter(["c7a9fe7c9f", "0123456789"])

    def play(handler: _Handler, body: dict[str, Any]) -> None:
        found = [{"location": location} for location in body["locations"]]
        handler.answer(200, {"rows": found, "resolved": 0, "revision": next(revisions)})

    stand.play = play
    assert agent.code.enclosing([f"a.py:{n}" for n in range(1, 202)]).revision == ""


@pytest.mark.parametrize("option", ["include_body", "neighbours"])
def test_bodies_and_neighbours_of_more_are_refused(stand: Stand, agent: Agent, option: str) -> None:
    """Their limits are of one call: several calls would return more than was asked for."""
    with pytest.raises(InvalidRequest, match="200 at most"):
        agent.code.enclosing([f"a.py:{n}" for n in range(1, 202)], **{option: True})
    assert stand.seen == []


def test_the_environment_names_server_token_namespace_and_caller(stand: Stand, tmp_path: Path) -> None:
    """All of it from variables; the older names where the new ones are not set."""
    environment = {
        "SLICEGREP_HOME": str(tmp_path),
        "SLICEGREP_BASE_URL": stand.url,
        "LOOM_BASE_URL": "http://127.0.0.1:9",
        "LOOM_API_KEY": "older",
        "SLICEGREP_CODE_NAMESPACE": "web",
        "SLICEGREP_AGENT": "ci",
    }
    with Agent.from_environment(environment) as agent:
        agent.code.enclosing(["a.py:1"])
    headers = stand.seen[0][1]
    assert (headers["Authorization"], headers["X-Slicegrep-Agent"]) == ("Bearer older", "ci")
    assert stand.bodies[0]["namespace"] == "web"


def test_files_of_the_home_folder_name_server_and_token(stand: Stand, tmp_path: Path) -> None:
    """config.json and token serve where no variable is set."""
    (tmp_path / "config.json").write_text(json.dumps({"url": stand.url, "namespace": "web"}))
    (tmp_path / "token").write_text("of-the-file\n")
    with Agent.from_environment({"SLICEGREP_HOME": str(tmp_path)}) as agent:
        agent.code.enclosing(["a.py:1"])
    assert stand.seen[0][1]["Authorization"] == "Bearer of-the-file"
    assert stand.bodies[0]["namespace"] == "web"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "no server is named: set SLICEGREP_BASE_URL"),
        ({"config.json": '{"url": "http://127.0.0.1:9"}'}, "there is no token: set SLICEGREP_API_KEY"),
        ({"config.json": "{"}, "is not a JSON object"),
        ({"config.json": '{"url": "ftp://x", "token": "t"}'}, "not the URL of a server"),
        ({"config.json": '{"url": "http://x", "token": "t\\nHost: y"}'}, "no HTTP header"),
    ],
)
def test_what_is_missing_from_the_configuration_is_named(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    """Each is a ValueError with what to do, before anything is sent."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=sentence):
        Agent.from_environment({"SLICEGREP_HOME": str(tmp_path)})


def test_a_proxy_is_not_told_what_is_asked_on_this_machine(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP_PROXY would carry the token of a server on loopback to another machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Agent(stand.url, "t") as agent:
        assert agent.code.enclosing(["a.py:1"]).resolved == 1


def test_threads_share_a_client(agent: Agent) -> None:
    """Twenty calls from eight threads each get their own rows."""
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: agent.code.enclosing([f"a.py:{n}"]), range(1, 21))
    assert [answer.rows[0].location for answer in answers] == [f"a.py:{n}" for n in range(1, 21)]


def test_a_forked_process_has_connections_of_its_own(agent: Agent) -> None:
    """The child of a fork asks too, and the parent's connection still serves the parent."""
    agent.code.enclosing(["a.py:1"])
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(10)  # a child that waits for a thread of its parent's would wait for ever
        try:
            status = 0 if agent.code.enclosing(["b.py:2"]).rows[0].location == "b.py:2" else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert agent.code.enclosing(["c.py:3"]).rows[0].location == "c.py:3"


def test_a_closed_client_says_so(stand: Stand) -> None:
    """Neither a later call nor one that is under way waits for ever."""
    agent = Agent(stand.url, "t", timeout=30)
    stand.play = lambda *_: time.sleep(3)
    told: list[str] = []

    def ask() -> None:
        try:
            agent.code.enclosing(["a.py:1"])
        except RuntimeError as error:
            told.append(str(error))

    waiting = threading.Thread(target=ask, daemon=True)
    waiting.start()
    while not stand.seen:
        time.sleep(0.01)
    agent.close()
    waiting.join(2)
    ask()
    assert told == ["the client was closed during the call", "the client is closed"]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with warnings of what was left open."""
    return subprocess.run(
        [sys.executable, "-B", "-W", "default", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "plugin")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_client_that_nobody_closed_leaves_nothing_behind(stand: Stand) -> None:
    """`Agent(url, token).code.enclosing([...])` as one expression ends its thread, and the process ends."""
    code = (
        "import threading, time; from slicegrep.client import Agent\n"
        f"print(Agent({stand.url!r}, 't').code.enclosing(['a.py:1']).resolved)\n"
        "end = time.monotonic() + 5\n"
        "while threading.active_count() > 1 and time.monotonic() < end: time.sleep(0.01)\n"
        "print(threading.active_count())\n"
        f"kept = Agent({stand.url!r}, 't'); kept.code.enclosing(['a.py:1'])\n"
    )
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n1\n", "")


def test_without_httpx_one_sentence_says_what_to_install() -> None:
    """The extra is named, without a traceback of another module's."""
    done = run_python("import sys; sys.modules['httpx'] = None; import slicegrep.client")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: slicegrep.client needs httpx: pip install 'slicegrep[client]'"
    )


SHOP = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return 3\n",
    "shop/pay.py": "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    return charge(cart.total())\n\n\ndef charge(amount):\n    return amount\n",
    "tests/test_pay.py": "from shop.pay import charge\n\n\ndef test_charge():\n    assert charge(3) == 3\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield `slicegrep serve` with one tree."""
    home = tmp_path_factory.mktemp("served")
    tree = write_tree(home / "tree", SHOP)
    with serving(home, "--namespace", f"shop={tree}") as server:
        yield server


@pytest.fixture
def real(served: Served) -> Iterator[Agent]:
    """Yield a client of the real server."""
    with Agent(f"http://127.0.0.1:{served.port}", served.token, namespace="shop") as agent:
        yield agent


def test_the_real_server_answers_every_operation(real: Agent) -> None:
    """All six, with lines, bodies, neighbours and an envelope."""
    answer = real.code.enclosing(["shop/cart.py:3", "shop/pay.py:1"], include_body=True, neighbours=True)
    assert [row.symbol for row in answer.rows] == ["Cart.total", ""]
    assert answer.rows[0].body == "    def total(self):\n        return 3"
    assert [entry.symbol for entry in answer.neighbours] == ["Cart.total"]
    assert real.code.symbol("shop/cart.py#Cart.total").symbols[0].start == 2
    assert real.code.search("def charge").result.chunks[0].file == "shop/pay.py"
    assert [one.symbol for one in real.code.callers(name="charge").related if one.relation == "call"] != []
    assert "charge" in [one.symbol for one in real.code.callees("shop/pay.py#pay").related]
    assert "pay" in [one.symbol for one in real.code.impact(name="charge").reached]


def test_more_than_200_locations_are_the_same_as_each_alone(real: Agent) -> None:
    """401 rows of the real server, of which each is what a call for it alone says."""
    wanted = [f"shop/pay.py:{n % 12 + 1}" for n in range(401)]
    together = real.code.enclosing(wanted)
    alone = {where: real.code.enclosing([where]).rows[0] for where in set(wanted)}
    assert together.rows == [alone[where] for where in wanted]


def test_the_real_servers_refusals_have_their_names(served: Served, real: Agent) -> None:
    """Another token, another namespace, no such symbol, a location without a line, a body that is too large."""
    url = f"http://127.0.0.1:{served.port}"
    with Agent(url, "another", namespace="shop") as agent, pytest.raises(Unauthorized):
        agent.code.enclosing(["shop/cart.py:3"])
    with Agent(url, served.token, namespace="none") as agent, pytest.raises(NotFound, match="none"):
        agent.code.enclosing(["shop/cart.py:3"])
    with pytest.raises(NotFound, match="nobody"):
        real.code.symbol(name="nobody")
    with pytest.raises(InvalidRequest, match=r"shop/cart\.py:0"):
        real.code.enclosing(["shop/cart.py:0"])
    with pytest.raises(TooLarge, match="1,000,000"):
        real.code.enclosing([f"{'🛒' * 4_000}:{n}" for n in range(1, 101)])
    assert real.code.enclosing(["../../etc/passwd:1"]).rows[0].symbol == ""
