"""Input files: real ones of the standard library, and made ones whose every line is unlike every other."""

from __future__ import annotations

import sysconfig
from pathlib import Path

__all__ = ["large_real_source", "made_module", "real_source"]

_WORDS = (
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "inlet",
    "jetty",
    "knoll",
    "lotus",
)


def real_source(name: str) -> str:
    """Return the text of a module of the running Python's standard library, such as `argparse.py`."""
    return (Path(sysconfig.get_paths()["stdlib"]) / name).read_text("utf-8")


def large_real_source(size: int) -> str:
    """Return at least `size` characters of real source: modules of the standard library one after another."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    parts: list[str] = []
    for path in sorted(folder.glob("*.py")):
        text = path.read_bytes()
        if text.isascii():
            parts.append(text.decode().replace("\r\n", "\n"))
        if sum(map(len, parts)) >= size:
            break
    return "\n".join(parts)


def made_module(functions: int, *, target: int = -1, name: str = "settle_invoice") -> str:
    """Return a Python module of `functions` functions of 10 lines each, with tabs and trailing spaces in some.

    The function at `target` (from 0) is called `name`; the others by a word and their index.
    """
    parts = ['"""A made module."""\n\nimport math\n\n']
    for index in range(functions):
        word = _WORDS[index % len(_WORDS)]
        called = name if index == target else f"{word}_{index}"
        parts.append(
            f"def {called}(left_{index}, right_{index}):\n"
            f'    """Return the {word} of step {index}."""\n'
            f"    total_{index} = left_{index} * {index}\t+ right_{index}\n"
            f"    if total_{index} > {index * 7}:\n"
            f"        total_{index} -= math.floor({index}.5)  \n"
            f"    for turn_{index} in range({index % 9}):\n"
            f"        total_{index} += turn_{index} * {index + 3}\n"
            f"    return total_{index}\n\n\n"
        )
    return "".join(parts)
