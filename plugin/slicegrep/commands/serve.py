"""`serve`: which trees the server has, who may ask, and where it listens."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from slicegrep.commands.parser import UsageError, whole_number
from slicegrep.home import home_folder
from slicegrep.terminal import complain, progress, write

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from slicegrep.commands.parser import Parser
    from slicegrep.service.bearer import Tokens
    from slicegrep.service.operations import Code

__all__ = ["add_options", "serve"]

_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOKENS = "server.tokens"
_LEDGER = "server.sqlite"


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="where it listens (127.0.0.1: this machine only)")
    add("--port", type=_port, default=8737, help="0 takes a free one, which is printed (8737)")
    add(
        "--namespace",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a tree, and what calls name it; repeatable (the workspace of the current folder)",
    )
    add("--token-file", default="", metavar="F", help=f"hashes of the tokens (SLICEGREP_HOME/{_TOKENS})")
    add("--new-token", default="", metavar="NAME", help="print a token for NAME, add its hash, and end")
    add(
        "--role",
        choices=("viewer", "admin"),
        default="viewer",
        help="of the new token: admin also sees the ledger",
    )
    add(
        "--allow",
        action="append",
        default=[],
        metavar="NAMESPACE",
        help="what the new token opens; repeatable (everything)",
    )


def serve(parsed: Namespace) -> int:
    """Serve until a signal, or make a token. 0. Raises UsageError, ValueError, OSError."""
    from logging import WARNING  # noqa: PLC0415

    from slicegrep.service.bearer import TokenFileError, Tokens, new_token  # noqa: PLC0415
    from slicegrep.service.logs import log  # noqa: PLC0415

    home = home_folder(os.environ)
    file = os.path.abspath(parsed.token_file or os.path.join(home, _TOKENS))
    try:
        if parsed.new_token:
            write(new_token(file, parsed.new_token, parsed.role, parsed.allow))
            opens = "every namespace" if not parsed.allow else f"what is served as {', '.join(parsed.allow)}"
            complain(f"its hash is in {file}, and it opens {opens}; the token itself is shown this once")
            return 0
        if not os.path.exists(file):
            option = f" --token-file {parsed.token_file}" if parsed.token_file else ""
            raise UsageError(
                f"there is no token file {file}: make a token first, with slicegrep serve{option} --new-token NAME"
            )
        tokens = Tokens(file, lambda told: log("tokens", level=WARNING, told=told))
    except TokenFileError as error:
        raise UsageError(f"{file}: {error}") from error
    _check_installed()
    return _run(parsed, home, tokens)


def _port(word: str) -> int:
    return whole_number(word, 0, 65_535, "a port")


def _check_installed() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 (other commands import this module for its options)

    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"serve needs {' and '.join(missing)}: pip install 'slicegrep[serve]', or slicegrep setup for the plugin's environment"
        )


def _run(parsed: Namespace, home: str, tokens: Tokens) -> int:
    import sqlite3  # noqa: PLC0415

    from slicegrep.service.app import application  # noqa: PLC0415 (FastAPI takes 0.3 s)
    from slicegrep.service.record import Record  # noqa: PLC0415
    from slicegrep.service.serve import BACKLOG, listening, run, trusted  # noqa: PLC0415

    trees = _trees(parsed.namespace, home)
    trusted(parsed.host, tokens)
    listener = listening(parsed.host, parsed.port)
    ledger = os.path.join(home, _LEDGER)
    try:
        record = Record(ledger)
    except sqlite3.Error as error:
        raise UsageError(f"{ledger}: the ledger cannot be written: {error}") from error
    for name, code in trees.items():
        with progress(f"{name}: indexing file") as report:
            code.prepare(report)
    listener.listen(BACKLOG)  # before it is told: who reads the line may call at once
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    if not len(tokens):
        complain(
            f"{tokens.path} holds no token yet, so nobody gets an answer: slicegrep serve --new-token NAME"
        )
    write(f"slicegrep: serving {', '.join(trees)} at http://{shown}:{port}")
    sys.stdout.flush()
    run(application(trees, tokens, record), listener)
    record.close()
    return 0


def _trees(given: Sequence[str], home: str) -> dict[str, Code]:
    """Return the trees by namespace. Raises UsageError."""
    from slicegrep.index import workspace_of  # noqa: PLC0415
    from slicegrep.service.operations import Code  # noqa: PLC0415

    if not given:
        root = workspace_of(os.curdir)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(root)).lstrip("-._")[:64]
        return {name or "default": Code(root, home)}
    trees: dict[str, Code] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or not path or not _NAMESPACE.fullmatch(name):
            raise UsageError(
                f"--namespace is NAME=PATH, the name of letters, digits and . _ -, not {one[:80]!r}"
            )
        if name in trees:
            raise UsageError(f"two namespaces are called {name}")
        if not os.path.isdir(path):
            raise UsageError(f"{path}: no such folder")
        trees[name] = Code(path, home)
    return trees
