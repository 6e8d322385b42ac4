"""What the system is asked for, by strace: no network, and nothing opened for writing but in the home folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from security_stand import House, big_python

CALLS = "connect,sendto,sendmsg,socket,bind,openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat,chmod,fchmodat,truncate"
NETWORK = re.compile(r"AF_INET|AF_INET6|AF_NETLINK|AF_PACKET")
REACHED = re.compile(
    r"(connect|sendto|sendmsg)\(.*(AF_INET|AF_NETLINK|AF_PACKET)|sa_family=AF_INET(?!6, sin6_port=htons\(0\).*::1)"
)
"""Doctor imports every package, and one of them looks for IPv6 by binding a socket to the loopback address, port 0."""
WRITES = re.compile(
    r'\b(?:open|openat|creat)\((?:AT_FDCWD, |\d+, )?"([^"]*)".*O_(?:WRONLY|RDWR|CREAT)'
    r'|\b(?:mkdir|mkdirat|rename|renameat2?|unlink|unlinkat|link|linkat|symlink|symlinkat|chmod|fchmodat|truncate)\((?:AT_FDCWD, |\d+, )?"([^"]*)"'
)
UNIX = re.compile(r'connect\(.*sun_path=@?"([^"]*)"')


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = House(tmp_path_factory.mktemp("house"))
    (found.project / "big.py").write_text(big_python())
    (found.project / "claude").write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    (found.project / "claude").chmod(0o755)
    yield found
    found.close()


def _traced(house: House) -> tuple[Path, tuple[str, ...]]:
    trace = house.folder / "trace"
    trace.unlink(missing_ok=True)
    return trace, ("strace", "-f", "-qq", "-s", "400", "-e", f"trace={CALLS}", "-o", str(trace))


def _checked(house: House, trace: Path, network: re.Pattern[str] = NETWORK) -> int:
    """Hold a trace against the promise; return how many lines it has."""
    lines = trace.read_text("utf-8", "replace").split("\n")
    allowed = (str(house.home), "/dev/null", "/dev/tty", str(house.folder / "slicegrep-trial-"))
    real = tuple(os.path.realpath(house.home / name) for name in ("env", "vocab"))
    for line in lines:
        assert not network.search(line), line
        found = WRITES.search(line)
        if found and " = -1 " not in line:
            path = found[1] or found[2] or ""
            relative = not path.startswith("/")  # below a folder that was opened, or in which a process is
            probe = re.fullmatch(
                re.escape(str(house.folder)) + "/[a-z0-9_]{8}", path
            )  # tempfile looks for its folder
            assert relative or probe or path.startswith(allowed), line
            assert not path.startswith(real), line
        told = UNIX.search(line)
        assert told is None or told[1].endswith(("engine.sock", "nscd/socket")), line
    return len(lines)


def _hooks(house: House) -> dict[str, dict[str, object]]:
    path = str(house.project / "big.py")
    read = house.payload("Read", {"file_path": path}, tool_use_id="toolu_n")
    hits = "\n".join(
        f"{n}:{line}" for n, line in enumerate(big_python().split("\n")[:40], 1) if "total" in line
    )
    response = {"stdout": hits, "stderr": "", "interrupted": False, "isImage": False}
    return {
        "prompt": {"session_id": house.session_id, "prompt": "what is step_7?"},
        "pre-read": read,
        "post-read": {**read, "tool_response": {"type": "text", "file": {}}},
        "post-search": house.payload("Bash", {"command": "grep -n total big.py"}, tool_response=response),
        "post-failure": house.payload("Bash", {"command": "pytest"}, error="big.py:6: wrong"),
        "session-start": {"session_id": house.session_id, "source": "compact"},
        "set-up": {"session_id": house.session_id, "source": "startup"},
    }


def test_no_hook_reaches_out(house: House) -> None:
    """Every event, with all that it starts: no socket of a network, nothing written outside of the home folder."""
    for event, payload in _hooks(house).items():
        trace, words = _traced(house)
        house.fire(event, payload, before=words)
        assert _checked(house, trace) > 2, event


def test_with_an_engine_the_only_connection_is_to_it(tmp_path: Path) -> None:
    """Starting it included."""
    house = House(tmp_path, resident=True)
    try:
        for name in ("one.py", "two.py"):
            (house.project / name).write_text(big_python())
            payload = house.payload(
                "Read", {"file_path": str(house.project / name)}, tool_use_id=f"toolu_{name[:3]}"
            )
            trace = tmp_path / "trace"
            words = ("strace", "-qq", "-s", "400", "-e", f"trace={CALLS}", "-o", str(trace), "-f")
            if name == "one.py":  # strace would wait for the engine's end
                house.fire("pre-read", payload)
                house.engine()
            else:
                house.fire("pre-read", payload, before=words)
                text = trace.read_text()
                _checked(house, trace)
                assert UNIX.search(text), "nobody was asked: the test tests nothing"
    finally:
        house.close()


@pytest.mark.parametrize(
    "words",
    [
        ("index",),
        (".", "total"),
        (".", "what is the sum of the values"),
        ("map", "big.py"),
        ("enclosing", "big.py:6"),
        ("stats",),
        ("doctor",),
    ],
    ids=lambda words: words[0] + str(len(words[-1])),
)
def test_no_command_reaches_out(house: House, words: tuple[str, ...]) -> None:
    """Searches, the index, and what looks at the installation."""
    trace, before = _traced(house)
    house.slicegrep(*words, before=before, PATH=f"{house.project}:{os.environ['PATH']}")
    assert _checked(house, trace, REACHED if words == ("doctor",) else NETWORK) > 10
