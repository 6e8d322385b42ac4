"""The process that `ask.start` starts: SITE_PACKAGES, HOME_FOLDER and, if not 30 minutes, how many idle seconds it stays."""

from __future__ import annotations

import os
import sys

IDLE_SECONDS = 1_800.0
LOCK_SECONDS = 6.0
"""How long an engine that is asked to leave may take."""
MEMORY = 300_000_000
"""Bytes that all workers together may keep of files."""


def main() -> None:
    """Be the engine until nobody needs it. Errors end the process: its mark then tells the next one of a crash."""
    sys.pycache_prefix = sys._xoptions.get("slicegrep_pyc", sys.pycache_prefix)  # noqa: SLF001 (documented)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    sys.path.insert(0, os.path.join(root, "plugin"))
    sys.path.append(sys.argv[1])
    os.umask(0o077)
    _free_of_session()
    home = sys.argv[2]
    run = os.path.join(home, "run")
    if not os.path.isdir(run):  # `slicegrep setup --remove` was faster: nothing is made again
        return
    idle = float(sys.argv[3]) if len(sys.argv) > 3 else IDLE_SECONDS

    from pathlib import Path  # noqa: PLC0415 (the path comes first)

    from slicegrep import lock  # noqa: PLC0415
    from slicegrep.bytecode import mend  # noqa: PLC0415
    from slicegrep.resident.identity import Identities  # noqa: PLC0415
    from slicegrep.resident.record import Record  # noqa: PLC0415

    record = Record(run)
    try:
        with lock.held(Path(run, "engine.lock"), LOCK_SECONDS):
            identities = Identities()
            identity = identities.of(root)
            if identity is None or not record.begin(root):
                return
            from slicegrep.resident import warm  # noqa: PLC0415

            warm.load()
            if (
                identities.of(root) == identity
            ):  # else it changed while it was loaded: which of both is in memory?
                from slicegrep.resident.supervisor import MOST_WORKERS, Supervisor  # noqa: PLC0415
                from slicegrep.resident.worker import Place  # noqa: PLC0415

                place = Place(root, home, identity, MEMORY // MOST_WORKERS)
                Supervisor(run, place, identities, record, idle=idle).serve()
            record.ended()
    except lock.Busy:
        record.listening()
    except Exception as error:
        mend(error, sys.pycache_prefix)
        raise


def _free_of_session() -> None:
    """Take back what the session that happened to start the engine set for its own processes, as far as it may be.

    A blocked SIGALRM would not end a worker in time, and an ignored SIGCHLD would not tell how one ended.
    """
    import resource  # noqa: PLC0415 (not where there are no sockets to listen on)
    import signal  # noqa: PLC0415 (as above)

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what was read of files is not to be left on the disk
    for name in ("RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NOFILE"):
        limit = getattr(resource, name)
        _, most = resource.getrlimit(limit)
        resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
