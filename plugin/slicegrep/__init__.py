"""slicegrep: the few slices that answer the question, best first, inside a token budget."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing to learn it costs 3 ms of a hook's start
if TYPE_CHECKING:
    from slicegrep.result import Result as Result
    from slicegrep.search import SearchError as SearchError
    from slicegrep.search import focused_read as focused_read

__all__ = ["Result", "SearchError", "__version__", "focused_read"]

__version__: str
"""The version, read when first asked for: a hook imports this package and has no use for it."""

_HOMES = {
    "Result": "slicegrep.result",
    "SearchError": "slicegrep.search",
    "focused_read": "slicegrep.search",
}
"""Where the public names live; they are imported when first asked for, as a hook has no use for them."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    import json  # noqa: PLC0415 (only who asks for the version pays for it)
    import os  # noqa: PLC0415

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    manifest = os.path.join(root, ".claude-plugin", "plugin.json")
    try:
        with open(manifest, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        found = {}
    if found.get("name") == __name__:
        return str(found["version"])
    from importlib.metadata import version  # noqa: PLC0415 (installed by pip: the wheel carries the manifest's version)

    return version(__name__)
