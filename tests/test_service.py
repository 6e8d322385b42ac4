"""The server as a process: each bad request refused in one sentence, limits kept, calls recorded, an end that loses nothing."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from command import ROOT, environment, run
from served import SECONDS, Served, serving, token_of, write_tree
from slicegrep.service.app import application
from slicegrep.service.bearer import Tokens, new_token
from slicegrep.service.desk import Desk
from slicegrep.service.errors import Busy, TooSlow
from slicegrep.service.serve import trusted

CART = "class Cart:\n    def add_item(self, item):\n        return item\n\n\ndef total(cart):\n    return cart.add_item(1)\n"
ONE = {"locations": ["src/cart.py:3"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    """A server of two trees."""
    one = write_tree(home / "one", {"src/cart.py": CART, ".gitignore": "*.secret\n", "a.secret": "password"})
    two = write_tree(home / "two", {"other.py": CART.replace("Cart", "Basket")})
    with serving(home, "--namespace", f"one={one}", "--namespace", f"two={two}") as server:
        server.token = token_of(home, "of-one", "--allow", "one")
        yield server


def raw(served: Served, data: bytes, *, half: bool = False) -> bytes:
    """Send bytes as they are; returns all that comes until the server closes, or the first answer."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS) as one:
        one.sendall(data)
        if half:
            one.shutdown(socket.SHUT_WR)
        answer = b""
        while block := one.recv(65_536):
            answer += block
            head, end, body = answer.partition(b"\r\n\r\n")
            if end and len(body) >= int(
                head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0
            ):
                break
        return answer


def head(served: Served, *lines: str) -> bytes:
    begin = ("POST /v1/code.enclosing HTTP/1.1", "Host: x", f"Authorization: Bearer {served.token}")
    return "\r\n".join((*begin, "Content-Type: application/json", *lines, "", "")).encode()


def test_a_call_is_answered_by_the_operations(served: Served) -> None:
    """Every one of them, with their models; the namespace may be left out where a token opens one only."""
    status, answer = served.call("code.enclosing", {**ONE, "include_body": True, "neighbours": True})
    assert status == 200
    assert answer["rows"][0]["symbol_id"] == "src/cart.py#Cart.add_item"
    assert answer["rows"][0]["body"] == "    def add_item(self, item):\n        return item"
    for operation, body in (
        ("symbol", {"name": "total"}),
        ("search", {"pattern": "add_item"}),
        ("callers", {"name": "add_item", "k": 3, "least_confidence": 0}),
        ("callees", {"name": "total", "namespace": "one"}),
        ("impact", {"name": "add_item", "depth": 2.0}),
    ):
        status, answer = served.call(f"code.{operation}", body)
        assert status == 200 and answer["revision"] == "", (operation, answer)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"locations": ["src/F.cpp:0"]}, "'src/F.cpp:0' is not PATH:LINE with a line of 1 or more"),
        ({"locations": ["src/cart.py:3", ":12"]}, "':12' is not PATH:LINE with a line of 1 or more"),
        ({"locations": ["src/cart.py"]}, "'src/cart.py' is not PATH:LINE with a line of 1 or more"),
        ({"locations": ["src/cart.py:1"] * 201}, "locations: list should have at most 200 items"),
        ({"locations": []}, "locations: list should have at least 1 item"),
        ({"locations": "src/cart.py:3"}, "locations: input should be a valid array"),
        ({"locations": [3]}, "locations[0]: input should be a valid string"),
        ({"locations": ["x" * 5_000 + ":1"]}, "locations[0]: string should have at most 4200 characters"),
        ({}, "the field locations is missing"),
        ({**ONE, "lines": 3}, "there is no field 'lines'"),
        ({**ONE, "include_body": "yes"}, "include_body: input should be a valid boolean"),
        ({**ONE, "token_budget": 1}, "token_budget: input should be greater than or equal to 200"),
        ({**ONE, "token_budget": 1e300}, "token_budget: input should be"),
        ([ONE], "the body: input should be an object"),
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b'{"locations": ["a:1"], "token_budget": NaN}', "token_budget: input should be a valid integer"),
        (b'{"locations": ["\\ud800:1"]}', "the body is not JSON"),
        (b'{"locations": ["\xff:1"]}', "the body is not JSON"),
        (b"\xff\xfe{\x00}\x00", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b'{"locations": ["a:1"], "token_budget": ' + b"9" * 10_000 + b"}", "the body is not JSON: number"),
    ],
)
def test_a_request_that_says_nothing_is_refused_in_a_sentence(served: Served, body: Any, says: str) -> None:
    """422, with what is wrong and where."""
    status, name, message = served.refused("code.enclosing", body)
    assert (status, name) == (422, "invalid_request")
    assert message.startswith(says), message


def test_what_is_not_in_the_tree_is_an_unresolved_row(served: Served) -> None:
    """Outside, of another namespace, ignored, a NUL, another branch's: never an error, never another file's symbol."""
    given = [
        "../../etc/passwd:1",
        "/etc/passwd:1",
        "../two/other.py:3",
        "other.py:3",
        "a.secret:1",
        "a\0b:1",
        "old.py:3",
    ]
    status, answer = served.call("code.enclosing", {"locations": given})
    assert (status, answer["resolved"]) == (200, 0)
    assert [(row["location"], row["symbol"], row["path"]) for row in answer["rows"]] == [
        (one, "", "") for one in given
    ]


@pytest.mark.parametrize(
    ("operation", "body", "expected"),
    [
        ("enclosing", {**ONE, "namespace": "three"}, (404, "not_found")),
        ("enclosing", {**ONE, "namespace": "../one"}, (404, "not_found")),
        ("enclosing", {**ONE, "namespace": "two"}, (403, "forbidden")),
        ("symbol", {"symbol_id": "src/cart.py#Cart.sub"}, (404, "not_found")),
        ("symbol", {"symbol_id": "other.py#Basket"}, (404, "not_found")),
        ("symbol", {"name": "src/cart.py:0"}, (422, "invalid_request")),
        ("symbol", {}, (422, "invalid_request")),
        ("callers", {"name": "total", "symbol_id": "x"}, (422, "invalid_request")),
        ("impact", {"name": "total", "depth": 11}, (422, "invalid_request")),
        ("search", {"pattern": " "}, (422, "invalid_request")),
        ("search", {"pattern": "x", "type": ["no-such"]}, (422, "invalid_request")),
        ("search", {"pattern": "x", "path": "../two"}, (404, "not_found")),
        ("search", {"pattern": "x", "path": "a.secret"}, (404, "not_found")),
    ],
)
def test_a_refusal_has_its_status_and_name(
    served: Served, operation: str, body: Any, expected: tuple[int, str]
) -> None:
    """And tells no path of the machine."""
    status, name, message = served.refused(f"code.{operation}", body)
    assert (status, name) == expected, message
    assert "/home" not in message and "tmp" not in message


def test_no_token_no_answer(served: Served) -> None:
    """Missing, wrong, of another scheme: 401 before anything of the request is looked at. /v1/health has nothing to hide."""
    for token, headers in (
        ("", {}),
        ("sg_wrong", {}),
        ("", {"Authorization": f"Basic {served.token}"}),
        ("é", {}),
    ):
        for body in (ONE, b"{", b"x" * 1_100_000):
            assert served.refused("code.enclosing", body, token=token, headers=headers)[:2] == (
                401,
                "unauthorized",
            )
    answer = raw(served, head(served, "Content-Length: 2").replace(served.token.encode(), b"x") + b"{}")
    assert b"401" in answer.split(b"\r\n")[0] and b"www-authenticate: Bearer" in answer
    assert served.call("health", method="GET", token="")[0] == 200


def test_the_ledger_is_for_the_role_admin(served: Served, home: Path) -> None:
    """It has agent, holder, operation, namespace, count, resolved, time and status of each call, and no code, path or token."""
    viewer = served.token
    assert served.refused("ledger", method="GET")[:2] == (403, "forbidden")
    admin = token_of(home, "boss", "--role", "admin")
    served.call(
        "code.enclosing",
        {"locations": ["src/cart.py:3", "gone.py:1"]},
        headers={"X-Slicegrep-Agent": "shim/é 2<b>\t" + "x" * 99},
    )
    served.refused("code.enclosing", {**ONE, "namespace": "/etc/passwd"})
    served.refused("code.symbol", b"{")
    status, answer = served.call("ledger?limit=3", method="GET", token=admin)
    assert status == 200
    broken, unknown, found = answer["calls"]
    assert found["agent"].startswith("shimé2bxxx") and len(found["agent"]) == 64
    assert {
        name: found[name] for name in ("token", "operation", "namespace", "count", "resolved", "status")
    } == {
        "token": "of-one",
        "operation": "enclosing",
        "namespace": "one",
        "count": 2,
        "resolved": 1,
        "status": 200,
    }
    assert (unknown["namespace"], unknown["status"]) == ("", 404)
    assert (broken["operation"], broken["status"]) == ("symbol", 422)
    assert found["id"] < unknown["id"] < broken["id"]
    page = served.call(f"ledger?limit=1&before={unknown['id']}", method="GET", token=admin)[1]
    assert page["calls"] == [found]
    for query in ("limit=0", "limit=x", "before=-1", "all=1"):
        assert served.refused(f"ledger?{query}", method="GET", token=admin)[:2] == (422, "invalid_request")
    file = home / "slicegrep" / "server.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = b"".join(one.read_bytes() for one in file.parent.glob("server.sqlite*"))
    log = served.log.read_bytes()
    for secret in (
        viewer.encode(),
        admin.encode(),
        b"cart.py",
        b"gone.py",
        b"/etc/passwd",
        b"add_item",
        b"Cart",
    ):
        assert secret not in kept and secret not in log, secret
    for line in log.splitlines():
        assert {"time", "level", "event"} <= json.loads(line).keys()


def test_other_addresses_and_methods_are_refused_as_json(served: Served) -> None:
    """404 and 405, the latter with what is allowed; a body that is not declared as JSON: 415."""
    assert served.refused("code.nothing", ONE)[:2] == (404, "not_found")
    assert served.refused("", method="GET")[:2] == (404, "not_found")
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        status, name, message = served.refused("code.enclosing", method=method)
        assert (status, name) == (405, "wrong_method") and message.endswith("POST")
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "",
    ):
        assert served.refused("code.enclosing", ONE, headers={"Content-Type": kind})[:2] == (
            415,
            "wrong_type",
        )
    assert (
        served.call("code.enclosing", ONE, headers={"Content-Type": "Application/JSON; charset=utf-8"})[0]
        == 200
    )


def test_a_body_over_a_megabyte_is_refused_and_the_caller_learns_why(served: Served) -> None:
    """10 MB announced, 10 MB in chunks, 1 GB announced and not sent, a length that is no number."""
    big = b'{"locations": ["' + b"x" * 10_000_000 + b':1"]}'
    assert served.refused("code.enclosing", big)[:2] == (413, "too_large")
    chunk = b"186a0\r\n" + b"x" * 100_000 + b"\r\n"
    answer = raw(served, head(served, "Transfer-Encoding: chunked") + chunk * 100 + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413") and b'"too_large"' in answer
    answer = raw(served, head(served, "Content-Length: 1000000000", "Expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 413") and b'"too_large"' in answer
    assert raw(served, head(served, "Content-Length: ten")).startswith(b"HTTP/1.1 400")
    just_fits = json.dumps(ONE).encode().ljust(1_000_000)
    assert served.call("code.enclosing", just_fits)[0] == 200
    assert served.refused("code.enclosing", just_fits + b" ")[:2] == (413, "too_large")


def test_callers_that_go_away_or_dawdle_hold_nobody_up(served: Served) -> None:
    """Half a head, half a body, a connection that says nothing: the next is answered at once."""
    held = []
    for data in (b"POST /v1/co", head(served, "Content-Length: 100") + b'{"loc', b""):
        one = socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS)
        one.sendall(data)
        held.append(one)
    gone = socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS)
    gone.sendall(head(served, "Content-Length: 100") + b'{"loc')
    gone.close()
    begun = time.monotonic()
    assert served.call("code.enclosing", ONE)[0] == 200
    assert time.monotonic() - begun < 5
    answer = b""
    while b"\r\n\r\n" not in answer:  # the half body's: it is given ten seconds
        answer += held[1].recv(65_536)
    assert answer.startswith(b"HTTP/1.1 408") and 8 < time.monotonic() - begun < 20
    for one in held:
        one.close()


def test_a_connection_serves_call_after_call(served: Served) -> None:
    """Kept alive, also over a refusal."""
    one = served.connection()
    for body, expected in ((ONE, 200), ({}, 422), (ONE, 200), ({**ONE, "namespace": "no"}, 404), (ONE, 200)):
        assert served.call("code.enclosing", body, connection=one)[0] == expected
        port = one.sock.getsockname()[1]
        assert one.sock is not None and port == one.sock.getsockname()[1]


def test_the_page_and_the_description_are_whole_and_load_nothing(served: Served) -> None:
    """Each operation with its refusals; the page names no other address."""
    one = served.connection()
    one.request("GET", "/openapi.json")
    described = json.loads(one.getresponse().read())
    operations = {path for path in described["paths"] if path.startswith("/v1/code.")}
    assert operations == {
        f"/v1/code.{name}" for name in ("enclosing", "symbol", "search", "callers", "callees", "impact")
    }
    for path in operations:
        answers = described["paths"][path]["post"]["responses"]
        assert {"200", "401", "403", "404", "413", "422", "503"} <= answers.keys()
    one.request("GET", "/docs")
    page = one.getresponse().read().decode()
    assert all(path in page for path in operations) and "token_budget" in page
    assert "http" not in page and "<script" not in page and "src=" not in page


def test_calls_that_run_are_answered_before_the_end(tmp_path: Path) -> None:
    """SIGTERM and SIGINT while calls run: each is answered whole, then the exit code is 0."""
    tree = write_tree(tmp_path / "tree", {f"m{at}.py": CART * 20 for at in range(50)})
    body = json.dumps(
        {"locations": [f"m{at % 50}.py:{at % 100 + 1}" for at in range(200)], "include_body": True}
    )

    def ask(served: Served, connection: http.client.HTTPConnection, answers: list[tuple[int, Any]]) -> None:
        answers.append(served.call("code.enclosing", body.encode(), connection=connection))

    for number in (signal.SIGTERM, signal.SIGINT):
        with serving(tmp_path, "--namespace", f"t={tree}") as served:
            answers: list[tuple[int, Any]] = []
            connections = [served.connection() for _ in range(12)]
            for one in connections:
                one.connect()
            threads = [threading.Thread(target=ask, args=(served, one, answers)) for one in connections]
            for thread in threads:
                thread.start()
            while not answers:
                time.sleep(0.005)
            assert served.stop(number) == 0
            for thread in threads:
                thread.join(SECONDS)
            assert [(status, answer["resolved"]) for status, answer in answers] == [
                (200, answers[0][1]["resolved"])
            ] * 12
            assert json.loads(served.log.read_text().splitlines()[-1])["event"] == "ended"


def test_an_idle_connection_does_not_keep_the_server(tmp_path: Path) -> None:
    """It ends within a few seconds although somebody is connected and says nothing."""
    with serving(tmp_path, "--namespace", f"t={write_tree(tmp_path / 'tree', {'a.py': CART})}") as served:
        kept = served.connection()
        assert served.call("code.enclosing", {"locations": ["a.py:3"]}, connection=kept)[0] == 200
        silent = socket.create_connection(("127.0.0.1", served.port))
        begun = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - begun < 10
        silent.close()


def test_the_tree_is_the_workspace_of_the_current_folder(tmp_path: Path) -> None:
    """Without --namespace, under its folder's name."""
    tree = write_tree(tmp_path / "My shop!", {"src/cart.py": CART})
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    with serving(tmp_path, cwd=tree / "src") as served:
        for namespace in ("", "My-shop-"):
            status, answer = served.call("code.enclosing", {**ONE, "namespace": namespace})
            assert (status, answer["resolved"]) == (200, 1)


def test_it_does_not_start_without_what_it_needs(tmp_path: Path) -> None:
    """Exit code 2 and one sentence: no token file, a broken one, no folder, a name twice, a port that is taken."""
    tree = write_tree(tmp_path / "tree", {"a.py": CART})
    file = tmp_path / "tokens"

    def told(*words: str) -> str:
        status, out, errors = run(tmp_path, "serve", "--port", "0", "--token-file", str(file), *words)
        assert (status, out) == (2, "") and errors.count("\n") == 1, (status, out, errors)
        return errors

    assert f"make a token first, with slicegrep serve --token-file {file} --new-token NAME" in told()
    file.write_text("nonsense")
    assert "line 1: not NAME ROLE NAMESPACES SHA256" in told()
    file.unlink()
    token_of(tmp_path, "ann", "--token-file", str(file))
    for words, says in (
        (("--namespace", "x=/nowhere"), "/nowhere: no such folder"),
        (("--namespace", "x"), "--namespace is NAME=PATH"),
        (("--namespace", "a b=."), "--namespace is NAME=PATH"),
        (("--namespace", f"x={tree}", "--namespace", f"x={tree}"), "two namespaces are called x"),
        (("--host", "no.such.host.invalid"), "no.such.host.invalid"),
        (("--port", "70000"), "a port is a whole number"),
    ):
        assert says in told(*words)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot listen on 127.0.0.1" in told(
            "--namespace", f"x={tree}", "--port", str(taken.getsockname()[1])
        )


def test_it_listens_elsewhere_only_with_a_private_token_file(tmp_path: Path) -> None:
    """That holds a token; on this machine it may be empty, and nobody gets an answer."""
    tree = write_tree(tmp_path / "tree", {"a.py": CART})
    file = tmp_path / "tokens"
    options = ("--port", "0", "--namespace", f"t={tree}", "--token-file", str(file))
    file.write_text("# none\n")
    for host in ("0.0.0.0", "::", ""):
        status, _, told = run(tmp_path, "serve", "--host", host, *options)
        assert status == 2 and "holds no token" in told, told
    token = token_of(tmp_path, "ann", "--token-file", str(file))
    file.chmod(0o644)
    status, _, told = run(tmp_path, "serve", "--host", "0.0.0.0", *options)
    assert status == 2 and "others can read or write" in told and "chmod 600" in told
    for host in ("127.0.0.1", "::1", "localhost"):
        trusted(host, Tokens(str(file)))
    file.chmod(0o600)
    for host in ("0.0.0.0", "::", ""):  # not bound here: others could call
        trusted(host, Tokens(str(file)))
    assert Tokens(str(file)).holder(token)


def test_without_fastapi_it_says_what_to_install(tmp_path: Path) -> None:
    """In one sentence, with exit code 2; making a token needs none of it."""
    token_of(tmp_path, "ann")
    script = (
        "import sys, importlib.util as u\n"
        f"sys.path.insert(0, {str(ROOT / 'plugin')!r})\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('fastapi', 'uvicorn') else real(name, *rest)\n"
        "from slicegrep.cli import main\nsys.exit(main(['serve', '--port', '0']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "slicegrep: serve needs fastapi and uvicorn: pip install 'slicegrep[serve]', or slicegrep setup"
    )


def test_a_damaged_ledger_is_put_aside(tmp_path: Path) -> None:
    """The server starts with a new one; what was there can be looked at."""
    file = tmp_path / "slicegrep" / "server.sqlite"
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 100)
    with serving(tmp_path, "--namespace", f"t={write_tree(tmp_path / 'tree', {'a.py': CART})}") as served:
        assert served.call("code.enclosing", {"locations": ["a.py:3"]})[0] == 200
        admin = token_of(tmp_path, "boss", "--role", "admin")
        assert len(served.call("ledger", method="GET", token=admin)[1]["calls"]) == 1
    assert file.with_name("server.sqlite.damaged").read_bytes().startswith(b"no database")


def test_a_ledger_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    """Another process holds it, or its table is gone: the call is answered, and the log says so."""
    with serving(tmp_path, "--namespace", f"t={write_tree(tmp_path / 'tree', {'a.py': CART})}") as served:
        with sqlite3.connect(tmp_path / "slicegrep" / "server.sqlite") as db:
            db.execute("DROP TABLE calls")
        assert served.call("code.enclosing", {"locations": ["a.py:3"]})[0] == 200
        served.stop()
        assert '"event": "ledger"' in served.log.read_text()


def test_calls_past_the_limit_are_refused_until_work_ends() -> None:
    """A place is held until the work ends, also where its caller waits no longer; then the next is let in."""
    let_go = threading.Event()

    async def scenario() -> list[str]:
        desk = Desk(most=2, seconds=0.1)
        seen = []

        async def call(work: Any) -> None:
            try:
                with desk.place() as place:
                    await desk.run(place, work)
                seen.append("done")
            except (Busy, TooSlow) as error:
                seen.append(type(error).__name__)

        await asyncio.gather(*(call(let_go.wait) for _ in range(3)))
        await call(int)
        let_go.set()
        for _ in range(1_000):
            await asyncio.sleep(0.01 * (desk._inside > 0))
        await call(int)
        with desk.place():
            pass
        assert desk._inside == 0
        desk.close()
        return seen

    assert asyncio.run(scenario()) == ["Busy", "TooSlow", "TooSlow", "Busy", "done"]


def test_a_folder_that_goes_away_is_told_without_its_path(tmp_path: Path) -> None:
    """The server goes on, and answers again when it is back."""
    tree = write_tree(tmp_path / "tree", {"a.py": CART})
    with serving(tmp_path, "--namespace", f"t={tree}") as served:
        tree.rename(tmp_path / "away")
        status, name, message = served.refused("code.enclosing", {"locations": ["a.py:3"]})
        assert (status, name) == (404, "not_found") and str(tmp_path) not in message
        (tmp_path / "away").rename(tree)
        assert served.call("code.enclosing", {"locations": ["a.py:3"]})[1]["resolved"] == 1


def test_an_unexpected_error_is_told_by_its_place_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its message may quote code: the caller gets a sentence as of any refusal, the log the module and line where it arose."""

    class Broken:
        def symbol(self, request: Any) -> Any:
            raise RuntimeError("def secret()")

    file = str(tmp_path / "tokens")
    token = new_token(file, "ann", "viewer", [])
    app = application({"t": Broken()}, Tokens(file, print), None)  # type: ignore[dict-item]

    async def call() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t") as client:
            shown = {"Authorization": f"Bearer {token}"}
            return await client.post("/v1/code.symbol", json={"name": "a"}, headers=shown)

    with caplog.at_level("INFO", "slicegrep.service"):
        answer = asyncio.run(call())
    assert answer.status_code == 500
    assert answer.json() == {
        "error": "internal",
        "message": "a fault of the server's own; its log says where",
    }
    assert answer.headers["cache-control"] == "no-store"
    logged = next(record for record in caplog.records if "at" in record.fields)
    assert logged.fields["error"] == "RuntimeError" and logged.fields["at"].startswith("test_service:")
    assert "secret" not in caplog.text


def test_an_address_with_a_slash_behind_is_none(served: Served) -> None:
    """Not a redirection: that would name the host that the caller says."""
    assert served.refused("code.enclosing/", {"locations": ["a.py:1"]})[0] == 404


def test_a_body_in_another_encoding_is_refused(served: Served) -> None:
    """JSON is UTF-8."""
    body = json.dumps({"name": "a"}).encode("utf-16")
    how = {"Content-Type": "application/json; charset=utf-16"}
    assert served.refused("code.symbol", body, headers=how)[:2] == (415, "wrong_type")
    how = {"Content-Type": "application/json; charset=UTF-8"}
    assert served.call("code.symbol", b'{"name": "nobody"}', headers=how)[0] == 404
