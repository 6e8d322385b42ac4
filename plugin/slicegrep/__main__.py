"""`python plugin/slicegrep/__main__.py` and `python -m slicegrep`: the command line."""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    if not __package__:  # run by path: the package's folder is no place to import from, its parent is
        sys.path[0:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    gc.disable()  # the process ends before collecting would pay: 15 of 275 ms of a search in 2,800 files
    try:
        from slicegrep.cli import main

        status = main()
        sys.stderr.flush()
    except KeyboardInterrupt:  # before the command itself
        status = 130
    os._exit(status)  # to free, object by object, what a large index holds takes 30 ms
