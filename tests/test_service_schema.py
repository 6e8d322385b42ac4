"""schemathesis against a running server's own OpenAPI: every answer is as it says, every bad request refused, none fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from served import serving, token_of, write_tree

# A glob, a type's name and a pattern can be wrong in ways that no JSON schema tells: their refusal is none of its business.
CONFIG = """
[[operations]]
include-path = "/v1/code.search"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "4xx"]
"""
TREE = {
    "cart.py": "class Cart:\n    def add(self, item):\n        return item\n\n\ndef total(cart):\n    return cart.add(1)\n",
    "0": "#!/bin/sh\nf() {\n  :\n}\n",
}


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """All checks, valid and invalid data, an admin's token; about 500 requests."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    with serving(home, "--namespace", f"t={write_tree(tmp_path / 'tree', TREE)}") as served:
        admin = token_of(home, "admin", "--role", "admin")
        done = subprocess.run(
            [
                *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", "schemathesis.toml"),
                *(
                    "run",
                    f"http://127.0.0.1:{served.port}/openapi.json",
                    "--header",
                    f"Authorization: Bearer {admin}",
                ),
                *("--max-examples", "25", "--generation-deterministic"),
                *("--max-time", "10", "--request-timeout", "20", "--no-color"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
        assert "Tested: 8" in done.stdout, done.stdout[-2_000:]
        assert served.call("health", method="GET")[0] == 200
        served.stop()
        assert '"failed"' not in served.log.read_text()
