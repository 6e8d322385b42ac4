"""The process that the launcher starts: it puts an event to the resident engine, and does the work itself where there is none.

Arguments: EVENT, SITE_PACKAGES and the launcher's number of the call; the payload comes on standard input.
Python compiles this file for every call (0.45 ms for 80 lines), so that what can be kept as byte code stands elsewhere.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run one event. Whatever goes wrong, the plain call happens: nothing is printed and the exit code is 0."""
    bytecode = sys._xoptions.get("slicegrep_pyc", "")  # noqa: SLF001 (documented)
    sys.pycache_prefix = bytecode or sys.pycache_prefix
    event, site, call = (*sys.argv[1:4], "", "", "")[:3]
    root = __file__.replace("\\", "/").rsplit("/", 4)[0]
    sys.path.insert(0, f"{root}/plugin")
    data = sys.stdin.buffer.read()
    verdict, why = "", ""
    if bytecode:
        try:
            from slicegrep.resident import ask  # noqa: PLC0415 (the path comes first)

            verdict, why = ask.put(event, data, bytecode.removesuffix("/pyc"), root, site)
        except ModuleNotFoundError:  # Windows has no such sockets, and no engine
            pass
        except Exception as error:  # noqa: BLE001 (byte code that was cut off: the work is done in this process)
            _mend(error)
    sys.path.append(site)
    try:
        from slicegrep.hook import cold  # noqa: PLC0415 (who was answered does not need it)
    except Exception as error:  # noqa: BLE001 (the process boundary)
        _mend(error)
        return
    if verdict == "answered":
        cold.note(event, data, why)
    else:
        cold.run(event, data, call)
    cold.leave()


def _mend(error: BaseException) -> None:
    """Delete byte code that was cut off, if that is what failed."""
    # It may be that very module's byte code that is needed to mend it.
    prefix, sys.pycache_prefix = sys.pycache_prefix, None
    bare, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        from slicegrep.bytecode import mend  # noqa: PLC0415 (rarely needed)

        mend(error, prefix)
    except Exception:  # noqa: BLE001, S110 (a plugin that is being replaced: the call passes)
        pass
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = prefix, bare


if __name__ == "__main__":
    main()
