"""The process that the shim's launcher starts: SITE_PACKAGES NAME REAL IGNORED LC_CTYPE, and then the words for the real tool."""

from __future__ import annotations

import gc
import os
import sys

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __name__ == "__main__":
    gc.disable()  # the process ends before collecting would pay
    site, name, real, ignored, ctype = sys.argv[1:6]
    # In the C locale Python sets LC_CTYPE for itself and all that it starts; the tool is to have what was given.
    if ctype:
        os.environ["LC_CTYPE"] = ctype[1:]
    else:
        os.environ.pop("LC_CTYPE", None)
    sys.path[:0] = [_PACKAGES]
    sys.path.append(site)
    try:
        from slicegrep.shim.run import run

        run(name, real, sys.argv[6:], int(ignored or "0", 16))
    except ImportError:  # an update took the files away
        os.execv(real, [os.path.basename(real), *sys.argv[6:]])  # noqa: S606 (no shell is wanted)
