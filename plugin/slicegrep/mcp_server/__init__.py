"""`slicegrep mcp`: the Model Context Protocol over standard input and output."""

from __future__ import annotations

import gc
import signal
import sys

__all__ = ["main", "serve_client"]


def main() -> int:
    """Run `slicegrep-mcp`, which is `slicegrep mcp` with the same options; returns the exit code."""
    from slicegrep.cli import main as command  # noqa: PLC0415 (the command line imports this package)

    return command(["mcp", *sys.argv[1:]])


def serve_client(*, structured: bool) -> int:
    """Serve one client until the end of its input. 0; 1 where it broke off; 2 where the SDK is missing.

    `structured` sends typed results beside the text.
    """
    from slicegrep.mcp_server.crew import Crew  # noqa: PLC0415 (who imports the package need not start it)
    from slicegrep.terminal import complain  # noqa: PLC0415

    # A thread waits for the next line of input, which no exception ends: what a client sends first would be lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.enable()  # the command line turns it off, for processes that end soon
    crew = Crew()
    try:
        crew.hire()  # it imports what it needs while this process imports the SDK, which takes as long
        from slicegrep.mcp_server.server import serve  # noqa: PLC0415

        serve(crew, structured=structured)
    except ImportError as error:
        complain(
            f"mcp needs the SDK of that name, 2 or later ({error}): slicegrep setup, or pip install 'slicegrep[mcp]'"
        )
        return 2
    except Exception as error:  # noqa: BLE001 (the process boundary: one line, no traceback)
        complain(f"mcp: the client is gone, or a fault ({type(error).__name__}: {error})")
        return 1
    finally:
        crew.close()
    return 0
