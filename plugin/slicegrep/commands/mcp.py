"""`mcp`: the server of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.mcp_server import serve_client

if TYPE_CHECKING:
    from argparse import Namespace

    from slicegrep.commands.parser import Parser

__all__ = ["add_options", "serve_mcp"]


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "--text-only",
        action="store_true",
        help="no typed results, for a client that shows those to the model in place of the text",
    )


def serve_mcp(parsed: Namespace) -> int:
    """Serve one client until it is gone. 0; 2 where the SDK is missing."""
    return serve_client(structured=not parsed.text_only)
