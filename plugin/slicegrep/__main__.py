"""The command line as a process: `python plugin/slicegrep/__main__.py`, `python -m slicegrep`, and what pip installs."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["run"]


def _mended(error: Exception) -> int:
    """Return the exit status of a command whose import failed of byte code that was cut off. Raises any other error."""
    prefix, sys.pycache_prefix = (
        sys.pycache_prefix,
        None,
    )  # it may be that very module's that is needed to mend it
    sys.dont_write_bytecode = True
    from slicegrep.bytecode import MENDED, mend  # noqa: PLC0415 (as in `run`)

    if not mend(error, prefix):
        raise error
    sys.stderr.write(f"slicegrep: {MENDED}\n")
    return 2


def run() -> None:
    """Run the command that the process was started for, and end the process."""
    try:
        gc.disable()  # the process ends before collecting would pay: 15 of 275 ms of a search in 2,800 files
        from slicegrep.cli import main  # noqa: PLC0415 (the path comes first)

        status = main()
        sys.stderr.flush()
    except KeyboardInterrupt:  # before the command itself
        status = 130
    except Exception as error:  # noqa: BLE001 (the process boundary)
        status = _mended(error)
    os._exit(status)  # to free, object by object, what a large index holds takes 30 ms


if __name__ == "__main__":
    sys.pycache_prefix = sys._xoptions.get("slicegrep_pyc", sys.pycache_prefix)  # noqa: SLF001 (documented)
    if not __package__:  # run by path: the package's folder is no place to import from, its parent is
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path[:] = [os.path.dirname(here), *[path for path in sys.path if os.path.abspath(path) != here]]
    run()
