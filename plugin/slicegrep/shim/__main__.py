"""The process that the shim's launcher starts: BYTE_CODE SITE_PACKAGES NAME REAL IGNORED LC_CTYPE, and then the words for the real tool."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal

# The launcher's path to this file goes up from a folder that may be linked.
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def _mend(error: Exception) -> None:
    prefix, sys.pycache_prefix = sys.pycache_prefix, None  # it may be this very module's that is cut off
    sys.dont_write_bytecode = True
    try:
        from slicegrep.bytecode import mend  # noqa: PLC0415

        mend(error, prefix)
    except Exception:  # noqa: BLE001 (as below)
        return


def main() -> None:
    """Run the search. Whatever is missing, the real tool is run."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # else an early Ctrl-C printed a traceback
    gc.disable()  # the process ends before collecting would pay
    sys.pycache_prefix, site, name, real, mask, ctype, *words = sys.argv[1:]
    ignored = int(mask or "0", 16)
    # In the C locale Python sets LC_CTYPE for itself and all that it starts; the tool is to have what was given.
    if ctype:
        os.environ["LC_CTYPE"] = ctype[1:]
    else:
        os.environ.pop("LC_CTYPE", None)
    sys.path.insert(0, _PACKAGES)
    sys.path.append(site)
    try:
        from slicegrep.shim.run import run  # noqa: PLC0415 (the path comes first)
    except Exception as error:  # noqa: BLE001 (the process boundary: an update took the files away, or is half done)
        _mend(error)
        for number in (_signal.SIGPIPE, _signal.SIGXFSZ):  # Python ignores them from its start on
            if not ignored >> (number - 1) & 1:
                _signal.signal(number, _signal.SIG_DFL)
        os.execv(real, [os.path.basename(real), *words])  # noqa: S606 (no shell is wanted)
    run(name, real, words, ignored)


if __name__ == "__main__":
    main()
