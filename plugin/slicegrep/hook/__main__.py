"""The process that the launcher starts: EVENT and SITE_PACKAGES as arguments, the payload on standard input."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys

SEARCH_GRACE = 0.7
"""Seconds past the limit of annotating for what is around it: the start, the notes for the focus."""

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _arm(seconds: float) -> None:
    """End the process after so many seconds, whatever it is at.

    faulthandler waits in a thread of its own that needs no interpreter lock, so a stuck C call does not hold it up.
    """
    global _nowhere  # noqa: PLW0603 (it must stay open until the process ends)
    _nowhere = open(os.devnull, "wb")  # noqa: SIM115
    faulthandler.dump_traceback_later(max(seconds, 0.05), exit=True, file=_nowhere)


_nowhere: object = None


def _run(event: str, environment: dict[str, str]) -> None:
    from slicegrep.settings import Settings  # noqa: PLC0415 (the path comes first)

    settings = Settings.from_environment(environment)
    # What is annotated in vain must not hold a search up for longer than a search may be held up.
    searching = event == "post-search"
    _arm(
        min(settings.timeout, settings.annotate_timeout_ms / 1000 + SEARCH_GRACE)
        if searching
        else settings.timeout
    )
    import json  # noqa: PLC0415

    payload = json.loads(sys.stdin.buffer.read())
    if not isinstance(payload, dict):
        return
    from slicegrep.hook.call import call_of  # noqa: PLC0415

    call = call_of(payload, environment)
    answer: dict[str, object] | None = None
    if event == "pre-read":
        from slicegrep.hook import read  # noqa: PLC0415

        answer = read.before(call, settings, payload)
    elif event == "post-read":
        from slicegrep.hook import read  # noqa: PLC0415

        answer = read.after(call, settings)
    elif event in {"post-search", "remember"}:
        from slicegrep.hook import searched  # noqa: PLC0415

        answer = searched.after(call, settings, payload, environment, annotating=event == "post-search")
    if answer is not None:
        sys.stdout.write(json.dumps(answer, allow_nan=False))
        sys.stdout.flush()


def main() -> None:
    """Run one event. Whatever goes wrong, the plain call happens: nothing is printed and the exit code is 0."""
    sys.pycache_prefix = sys._xoptions.get("slicegrep_pyc", sys.pycache_prefix)  # noqa: SLF001 (documented)
    gc.disable()  # the process ends before collecting would pay: 4 to 18 ms of annotating 200 hits
    event = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.path.insert(0, _PACKAGES)
    sys.path.extend(sys.argv[2:3])
    environment = dict(os.environ)
    mark = ""
    try:
        mark = _begin(event, environment)
        _run(event, environment)
    except Exception as error:  # noqa: BLE001 (the process boundary: no fault of ours may reach the session)
        _note_failure(event, environment, error)
    finally:
        _end(mark)
    os._exit(0)  # skips the interpreter's own farewell: 3 ms, and a thread that would not end


def _begin(event: str, environment: dict[str, str]) -> str:
    """Leave a mark while the hook runs: one that stays tells `stats` of a hook that was killed or ran out of time."""
    from slicegrep.home import create_private, home_folder  # noqa: PLC0415

    mark = os.path.join(home_folder(environment), "run", f"hook-{event.replace('-', '_')}-{os.getpid()}")
    try:
        create_private(mark, b"")
    except OSError:
        return ""
    return mark


def _end(mark: str) -> None:
    if mark:
        try:
            os.unlink(mark)
        except OSError:
            return


def _note_failure(event: str, environment: dict[str, str], error: BaseException) -> None:
    """Mend byte code that was cut off, and record what failed and where in our code, without any text of the session."""
    prefix, sys.pycache_prefix = (
        sys.pycache_prefix,
        None,
    )  # it may be that very module's that is needed to mend it
    sys.dont_write_bytecode = True
    try:
        from slicegrep.bytecode import mend  # noqa: PLC0415

        mend(error, prefix)
        from slicegrep import ledger  # noqa: PLC0415
        from slicegrep.home import home_folder  # noqa: PLC0415

        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = f" at {os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else ""
        ledger.record(home_folder(environment), "fail", event=event, cause=f"{type(error).__name__}{where}")
    except Exception:  # noqa: BLE001 (a full disk: there is nowhere to tell it)
        return


if __name__ == "__main__":
    main()
