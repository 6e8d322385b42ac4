"""`mcp`: the server of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slicegrep.mcp_server import serve_client

if TYPE_CHECKING:
    from argparse import Namespace

__all__ = ["serve_mcp"]


def serve_mcp(parsed: Namespace) -> int:
    """Serve one client until it is gone. 0; 2 where the SDK is missing."""
    return serve_client(structured=not parsed.text_only)
