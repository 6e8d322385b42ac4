"""The real Claude Code at pinned versions: installed by npm outside the repository, run in a clean environment."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripted_api import Request, Script, ScriptedAPI, Tool, Turn, flat_text

__all__ = [
    "NATIVE",
    "NODE",
    "REPOSITORY",
    "Client",
    "Received",
    "Session",
    "ToolResult",
    "World",
    "cache_root",
    "client",
    "locked",
    "network_environment",
    "tool_folder",
    "tool_results",
]

NATIVE = "2.1.332"
"""The newest pinned client: a native binary in a package for each platform."""

NODE = "2.1.100"
"""The last era of `cli.js`: run by node; it has Grep by default and no `updatedToolOutput`."""

REPOSITORY = Path(__file__).resolve().parents[2]

RUN_SECONDS = 90
"""A scripted run takes 2 seconds alone; this is the limit on a machine with many of them at once."""

MODEL = "claude-opus-4-6"
"""A model that both pinned clients know."""

ALLOWED = ("Read", "Edit", "Bash(grep:*)", "Bash(rg:*)", "Bash(cd:*)", "Bash(head:*)", "Bash(cat:*)", "Grep")

_PLATFORMS = {
    ("Linux", "x86_64"): ("linux-x64", "linux-x64-musl"),
    ("Linux", "aarch64"): ("linux-arm64", "linux-arm64-musl"),
    ("Darwin", "arm64"): ("darwin-arm64",),
    ("Darwin", "x86_64"): ("darwin-x64",),
}

_NETWORK = re.compile(
    r"^(PIP_|UV_|TIKTOKEN_CACHE_DIR$|SSL_CERT_|REQUESTS_CA_BUNDLE$|CURL_CA_BUNDLE$|(HTTPS?|NO|ALL)_PROXY$)",
    re.IGNORECASE,
)

_CONTEXT = re.compile(r"<system-reminder>\n?(.*?)\n?</system-reminder>", re.DOTALL)


def cache_root() -> Path:
    """Return the folder for clients and environments, outside the repository: `SLICEGREP_TEST_CACHE`, else XDG's."""
    chosen = os.environ.get("SLICEGREP_TEST_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "slicegrep-tests"


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """Hold the cache's lock called `name` against every process of this user; yields the cache's root."""
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield root


@dataclass(frozen=True)
class Client:
    """An installed client: its version and the words that start it."""

    version: str
    command: tuple[str, ...]

    @property
    def native(self) -> bool:
        """Whether this is the newest, native client."""
        return self.version == NATIVE


def client(version: str) -> Client:
    """Return the client of that version, installing it by npm the first time. Raises RuntimeError when that fails."""
    with locked(f"client-{version}") as root:
        folder = root / "clients" / version
        found = _command(folder)
        if found is None:
            _npm_install(folder, version)
            found = _command(folder)
        if found is None:
            message = f"npm installed {version} but no program was found in {folder}"
            raise RuntimeError(message)
    return Client(version, found)


def _npm_install(folder: Path, version: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        message = "npm is not on PATH: the client tests drive the real client and are never skipped"
        raise RuntimeError(message)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text("{}\n")  # npm installs where the nearest one is
    # In the folder and not by --prefix, which also moves npm's global configuration: a certificate authority set there is lost.
    words = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [*words, f"@anthropic-ai/claude-code@{version}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        message = f"npm could not install the client {version}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        raise RuntimeError(message)


def _command(folder: Path) -> tuple[str, ...] | None:
    packages = folder / "node_modules" / "@anthropic-ai"
    script = packages / "claude-code" / "cli.js"
    if script.is_file():
        node = shutil.which("node")
        return (os.path.realpath(node), str(script)) if node else None
    for suffix in _PLATFORMS.get((platform.system(), platform.machine()), ()):
        binary = packages / f"claude-code-{suffix}" / "claude"
        if binary.is_file() and os.access(binary, os.X_OK):
            return (str(binary),)
    return None


def network_environment() -> dict[str, str]:
    """Return what pip and uv of this user's own configuration need to reach their registry from another HOME."""
    found = {k: v for k, v in os.environ.items() if _NETWORK.match(k)}
    for path in (Path("~/.config/pip/pip.conf"), Path("~/.pip/pip.conf")):
        if "PIP_CONFIG_FILE" not in found and path.expanduser().is_file():
            found["PIP_CONFIG_FILE"] = str(path.expanduser())
    return found


def tool_folder(where: Path, *, python: bool = True) -> Path:
    """Make `where` a folder of links to the system's commands and node, with the tests' own Python or with none."""
    where.mkdir(parents=True)
    for folder in ("/usr/bin", "/bin", "/usr/local/bin"):
        for path in sorted(Path(folder).iterdir()) if Path(folder).is_dir() else ():
            named = path.name.startswith(("python", "pypy", "uv", "pip"))
            if not named and not (where / path.name).is_symlink():
                (where / path.name).symlink_to(path)
    if python:
        (where / "python3").symlink_to(os.path.realpath(sys.executable))
    return where


@dataclass(frozen=True)
class ToolResult:
    """One tool_result as the model gets it, system reminders in its text taken out into `contexts`."""

    text: str
    error: bool
    contexts: tuple[str, ...] = ()


@dataclass
class Received:
    """What the model had received by the end of a run, and what the client said."""

    code: int
    stdout: str
    stderr: str
    debug: str
    requests: list[Request]
    """The requests that advanced the conversation's script, oldest first, earlier runs' included."""
    before: int
    """How many of them were made by earlier runs."""

    def result(self, index: int = 0, turn: int = 0, script: str = "") -> ToolResult:
        """Return the result of call `index` of this run's turn `turn` (both from 0)."""
        name = script or self.requests[-1].script
        return self.results[f"toolu_{name}_{self.before + turn}_{index}"]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The last request's messages: all that the model knows."""
        return self.requests[-1].messages if self.requests else []

    @property
    def results(self) -> dict[str, ToolResult]:
        """The tool results by tool_use id."""
        return tool_results(self.messages)

    @property
    def contexts(self) -> list[str]:
        """Every hook context in the last request, in order, wherever the client put it; wrappers taken off."""
        spoken = [m for m in self.messages if m.get("role") != "assistant"]
        return [c for m in spoken for c in _contexts(m.get("content"))]

    @property
    def ours(self) -> list[str]:
        """The contexts that name slicegrep."""
        return [c for c in self.contexts if "slicegrep" in c]

    def ours_after(self, turn: int) -> list[str]:
        """Return the contexts that name slicegrep between this run's turn `turn` and the next."""
        ident = f"toolu_{self.requests[-1].script}_{self.before + turn}_0"
        found: list[str] = []
        inside = False
        for message in self.messages:
            if message.get("role") == "assistant":
                inside = False
            elif ident in tool_results([message]):
                inside = True
            if inside:
                found += _contexts(message.get("content"))
        return [c for c in found if "slicegrep" in c]

    @property
    def text(self) -> str:
        """Everything the model received in messages (not the system prompt), as one text."""
        return "\n".join(flat_text(m.get("content")) for m in self.messages)


def _contexts(content: Any) -> list[str]:
    return [m.group(1).strip() for m in _CONTEXT.finditer(flat_text(content))]


def tool_results(messages: Sequence[dict[str, Any]]) -> dict[str, ToolResult]:
    """Return the tool results of a conversation by tool_use id."""
    found: dict[str, ToolResult] = {}
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result":
                whole = flat_text(block.get("content"))
                contexts = tuple(m.group(1).strip() for m in _CONTEXT.finditer(whole))
                bare = _CONTEXT.sub("", whole)
                found[block["tool_use_id"]] = ToolResult(bare, bool(block.get("is_error")), contexts)
    return found


@dataclass
class World:
    """A HOME, a project and a client: everything that one session touches."""

    client: Client
    home: Path
    project: Path
    api: ScriptedAPI
    path: str
    variables: dict[str, str] = field(default_factory=dict)
    """Further environment variables of each run."""

    @property
    def data(self) -> Path:
        """The SLICEGREP_HOME of this world."""
        return self.home / "slicegrep"

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a run: nothing of the caller's gets through, and no host but the API is asked."""
        assert self.api.url, (
            "the scripted API must be served: without it the client would look for the real one"
        )
        base = {
            "PATH": self.path,
            "HOME": str(self.home),
            "USER": "tester",
            "SHELL": "/bin/bash",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.home / "tmp"),
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "sk-ant-made-up-for-tests",
            "SLICEGREP_HOME": str(self.data),
            "SLICEGREP_RESIDENT": "off",  # tests of the engine switch it on
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return {**base, **self.variables, **(extra or {})}

    def command(
        self, *words: str, seconds: float = RUN_SECONDS, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the client with these words in the project; raises TimeoutError, its process group killed, when too slow."""
        (self.home / "tmp").mkdir(exist_ok=True)
        process = subprocess.Popen(
            [*self.client.command, *words],
            cwd=self.project,
            env=self.environment(extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            message = f"{' '.join(words)[:200]} took over {seconds} s\n{out[-2000:]}\n{err[-2000:]}"
            raise TimeoutError(message) from late
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def session(self) -> Session:
        """Return a new conversation of this world."""
        name = f"m{len(self.api.scripts)}"
        return Session(self, self.api.add(Script(name, f"[{name}]")), str(uuid.uuid4()))

    def play(self, prompt: str, *turns: Turn, **options: Any) -> Received:
        """Run these turns as a conversation of its own. Options as for `Session.play`."""
        return self.session().play(prompt, *turns, **options)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the project (a text as UTF-8, its line ends as they are) and return its path."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name: str, **arguments: Any) -> Tool:
        """Return a call of Read on a file of the project."""
        return Tool("Read", file_path=str(self.project / name), **arguments)

    def settings(self, **values: Any) -> None:
        """Add keys to the user's own settings file."""
        path = self.home / ".claude" / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        old = json.loads(path.read_text()) if path.is_file() else {}
        path.write_text(json.dumps({**old, **values}, indent=1))

    def install(self, marketplace: Path, plugin: str = "slicegrep@slicegrep") -> None:
        """Add the marketplace and install the plugin by the client's own commands. Raises RuntimeError with their output."""
        for words in (("marketplace", "add", str(marketplace)), ("install", plugin)):
            done = self.command("plugin", *words)
            if done.returncode:
                message = f"claude plugin {' '.join(words)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
                raise RuntimeError(message)


@dataclass
class Session:
    """A conversation that can be left and resumed; its turns come from one script."""

    world: World
    script: Script
    ident: str
    started: bool = False

    def play(
        self,
        prompt: str,
        *turns: Turn,
        words: Sequence[str] = (),
        model: str = MODEL,
        mode: str = "acceptEdits",
        allowed: Sequence[str] = ALLOWED,
        seconds: float = RUN_SECONDS,
        **extra: str,
    ) -> Received:
        """Run `claude -p PROMPT`, resuming when this is not the first time, and return what the model received.

        `words` are further options of the client, `extra` further environment variables. A prompt that begins with
        `/` is sent as it is. Raises AssertionError when a turn's own function failed.
        """
        past: list[Turn] = [[] for _ in range(self.script.played)]
        self.script.turns = [*past, *turns]
        marked = prompt if prompt.startswith("/") else f"{prompt} {self.script.marker}"
        before = len(self.world.api.turns_of(self.script.name))
        log = self.world.home / f"debug-{uuid.uuid4().hex[:8]}.log"
        which = ["--resume" if self.started else "--session-id", self.ident]
        options = ["--model", model, "--permission-mode", mode, "--debug-file", str(log), *which, *words]
        if allowed:
            options += ["--allowedTools", *allowed]
        self.started = True
        done = self.world.command("-p", marked, *options, seconds=seconds, **extra)
        if self.world.api.faults:
            raise AssertionError("; ".join(self.world.api.faults))
        debug = log.read_text("utf-8", "replace") if log.is_file() else ""
        requests = self.world.api.turns_of(self.script.name)
        return Received(done.returncode, done.stdout, done.stderr, debug, requests, before)
