"""The process that `starting.start` starts: SITE_PACKAGES, HOME_FOLDER and, if not 30 minutes, how many idle seconds it stays."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

IDLE_SECONDS = 1_800.0
LOCK_SECONDS = 6.0
"""How long an engine that is asked to leave may take."""
MEMORY = 300_000_000
"""Bytes that all workers together may keep of files."""
MOST_PROCESSORS = 4_096
"""Those of them that there are are used."""


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
    from slicegrep.resident.record import LOCK_FILE, Record, clear_places  # noqa: PLC0415

    identities = Identities()
    identity = identities.of(root)
    if identity is None:
        return
    clear_places(run)
    record = Record(run, identity.digest)
    try:
        with lock.held(Path(run, LOCK_FILE), LOCK_SECONDS) as handle:
            if not record.begin(root):
                return
            from slicegrep.resident import warm  # noqa: PLC0415

            warm.load()
            if (
                identities.of(root) == identity
            ):  # else it changed while it was loaded: which of both is in memory?
                from slicegrep.resident.supervisor import MOST_WORKERS, Supervisor  # noqa: PLC0415
                from slicegrep.resident.worker import Place  # noqa: PLC0415

                place = Place(root, home, identity, MEMORY // MOST_WORKERS)
                Supervisor(run, place, identities, record, idle=idle, lock=handle).serve()
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
    from slicegrep.resident.starting import LEAST  # noqa: PLC0415 (as above)

    for name in LEAST:
        limit = getattr(resource, name, None)
        if limit is not None:
            _, most = resource.getrlimit(limit)
            with suppress(OSError, ValueError):  # some systems allow less than they say
                resource.setrlimit(limit, (most, most))
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, range(MOST_PROCESSORS))


if __name__ == "__main__":
    main()
