"""slicegrep: the few slices that answer the question, best first, inside a token budget."""

from __future__ import annotations

__all__ = ["__version__"]

__version__: str
"""The version, read when first asked for: a hook imports this package and has no use for it."""


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
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
