"""The memory of a whole engine that is asked for many large files: bounded, and no call is lost where a worker ends for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from prepared_home import ROOT
from resident_stand import copied_plugin, house, large_module, until
from slicegrep.resident import seen

FILES = 60
LIMIT = 30_000_000
_ASK = """
import json, sys
sys.path.insert(0, sys.argv[3] + "/plugin")
from slicegrep.resident.ask import ask
for line in sys.stdin.buffer:
    reply = ask("pre-read", line, sys.argv[1], sys.argv[2])
    print(reply.verdict, reply.why, b"updatedInput" in reply.data, flush=True)
"""


def test_many_large_files_leave_an_engine_within_its_limit(tmp_path: Path) -> None:
    """With a tenth of the real limit: all calls are answered, workers that grew end well, and others take their place."""
    with house(tmp_path, root=tmp_path / "plugin copy") as home:
        copied_plugin(home.root, home.home)
        program = home.root / "plugin" / "slicegrep" / "resident" / "__main__.py"
        text = program.read_text("utf-8")
        assert "MEMORY = 300_000_000" in text
        program.write_text(text.replace("MEMORY = 300_000_000", f"MEMORY = {LIMIT}"), "utf-8")
        engine = home.start()
        base = until(lambda: (found := seen.running(str(home.home))) and found.memory, "its memory")
        first = set(home.workers(engine))
        lines = []
        for n in range(FILES):
            home.session_id = f"s-{n}"
            path = home.file(f"{n}.py", large_module(500, f"name{n}", wide=n % 5))
            lines.append(json.dumps(home.payload("Read", {"file_path": str(path)})))
        words = [sys.executable, "-I", "-S", "-B", "-c", _ASK, str(home.home), str(home.root), str(ROOT)]
        done = subprocess.run(
            words,
            input="\n".join(lines) + "\n",
            env=home.environment(),
            cwd=home.project,
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        assert done.stdout.splitlines() == ["answered  True"] * FILES
        until(lambda: set(home.workers(engine)) != first, "a worker that grew, replaced")

        def settled() -> bool:
            found = seen.running(str(home.home))
            return found is not None and found.memory < base + 2 * LIMIT

        until(settled, f"memory below {base + 2 * LIMIT}")
        assert home.ask("pre-read", {"session_id": "s"})[0] == "answered"
        assert home.engines() == [engine]
        assert not (home.run / "engine.crashes").exists()
