"""The README is true: its commands do what it says from a clean clone, its tables are the program's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from prepared_home import bare_environment, network_settings, prepared_home
from slicegrep.install import HOME_ENTRIES
from slicegrep.settings import KNOBS
from small_clone import small_clone

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()
]
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
CURL = (
    "curl -s -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' "
    '-d \'{"locations": ["plugin/slicegrep/words.py:60"]}\' http://127.0.0.1:8737/v1/code.enclosing'
)
SECONDS = 900


def cells(heading: str) -> list[list[str]]:
    """Return the rows of the first table under a heading, without its head."""
    part = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a clean clone."""
    return small_clone(tmp_path_factory.mktemp("readme") / "slicegrep")


def run(command: str, clone: Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the README in the clone, with an empty HOME."""
    return subprocess.run(
        ["sh", "-c", command],
        cwd=clone,
        env=bare_environment(home, **network_settings(), **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def files(clone: Path) -> set[str]:
    """List what is in the clone."""
    return {str(path.relative_to(clone)) for path in clone.rglob("*")}


def test_the_commands_are_these() -> None:
    """Whoever adds one to the README adds its test here."""
    assert COMMANDS == [
        "bin/slicegrep demo",
        "sh tests/run",
        "bin/slicegrep setup",
        "bin/slicegrep doctor",
        "bin/slicegrep stats",
        "bin/slicegrep plugin/slicegrep 'def language_of|language_of\\('",
        "bin/slicegrep . 'how are tokens estimated without a vocabulary' --type py --budget 1000",
        "bin/slicegrep plugin/slicegrep/words.py stem 2 5 --boundary none",
        "bin/slicegrep index .",
        "bin/slicegrep index --remove .",
        "PATH=\"$PWD/plugin/shims/bin:$PATH\" grep -rn 'def language_of' plugin/slicegrep",
        "bin/slicegrep index --scip tests/cases/scip_python/index.scip tests/cases/scip_python",
        "TOKEN=$(bin/slicegrep serve --new-token me)",
        "bin/slicegrep serve --namespace slicegrep=. --port 8737 &",
        CURL,
        'claude mcp add slicegrep -- "$PWD/bin/slicegrep" mcp',  # run by tests/client/test_client_mcp.py
        "bin/slicegrep setup --remove",
        "pip install git+https://github.com/<owner>/slicegrep",
    ]


def test_the_first_command_sets_up_and_shows_the_main_job(clone: Path, tmp_path: Path) -> None:
    """From a clean clone and an empty HOME: environment, vocabulary, then a large file as map and slices."""
    before = files(clone)
    done = run(COMMANDS[0], clone, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "FILE MAP" in done.stdout
    assert "STILL NOT SHOWN" in done.stdout
    assert list((tmp_path / ".slicegrep" / "env").glob("*/.ready"))
    assert files(clone) == before


def test_the_second_command_makes_what_the_tests_need_and_runs_them(clone: Path, tmp_path: Path) -> None:
    """One quick file stands for all, since these are the tests themselves; what was downloaded for them is used again."""
    cache = os.environ.get("SLICEGREP_TEST_CACHE") or str(tmp_path / "cache")
    done = run(f"{COMMANDS[1]} tests/test_source.py", clone, tmp_path, SLICEGREP_TEST_CACHE=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1])


def test_ci_runs_the_readmes_test_command() -> None:
    """And nothing after it: the last line is pytest's."""
    last = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert last.endswith(f" {COMMANDS[1]}")


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Make a HOME with the real environment and vocabulary in its `.slicegrep`."""
    shared, home = prepared_home(), tmp_path / ".slicegrep"
    home.mkdir(mode=0o700)
    for part in ("env", "vocab"):
        (home / part).symlink_to(shared / part)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS[2:9])
def test_the_further_commands_run(clone: Path, ready: Path, command: str) -> None:
    """`setup`, `doctor`, `stats`, the searches and `index` on a machine that is set up: exit 0, and the clone as it was."""
    before = files(clone)
    done = run(command, clone, ready)
    assert done.returncode == 0, done.stdout + done.stderr
    assert files(clone) == before


def test_an_index_can_be_thrown_away(clone: Path, ready: Path) -> None:
    """What a search made is gone, but for the lock that processes hold."""
    kept = ready / ".slicegrep" / "index"
    run(COMMANDS[8], clone, ready)
    assert list(kept.iterdir())
    done = run(COMMANDS[9], clone, ready)
    assert (done.returncode, [path for path in kept.iterdir() if path.suffix != ".lock"]) == (0, []), (
        done.stderr
    )


def test_the_shim_names_the_function_behind_what_the_real_grep_prints(clone: Path, ready: Path) -> None:
    """The line in the README is what it prints, and the summary stands on standard error."""
    done = run(COMMANDS[10], clone, ready)
    assert (done.returncode, done.stdout.strip()) == (
        0,
        re.findall(r"^    (plugin/.*⟵.*)$", README, re.MULTILINE)[0],
    )
    assert "slicegrep: 1/1 hits scoped" in done.stderr


def test_a_scip_index_is_taken_in(clone: Path, ready: Path) -> None:
    """Its documents are those of the small tree that it was made of."""
    done = run(COMMANDS[11], clone, ready)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^scip +5 documents of scip-python", done.stdout, re.MULTILINE)


def test_a_server_answers_curl_and_the_client(clone: Path, ready: Path) -> None:
    """A token made, a server started on a free port, one call by curl and one by the Python that is shown."""
    token = run(f'{COMMANDS[12]}; printf %s "$TOKEN"', clone, ready).stdout
    serve = subprocess.Popen(
        ["sh", "-c", "exec " + COMMANDS[13].removesuffix(" &").replace("--port 8737", "--port 0")],
        cwd=clone,
        env=bare_environment(ready),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert serve.stdout is not None
        address = serve.stdout.readline().split()[-1]
        told = run(COMMANDS[14].replace("http://127.0.0.1:8737", address), clone, ready, TOKEN=token)
        assert json.loads(told.stdout)["rows"][0]["symbol"] == "stem", told
        (code,) = [block for block in PYTHON if "slicegrep.client" in block]
        done = python(code, clone, ready, SLICEGREP_BASE_URL=address, SLICEGREP_API_KEY=token)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("stem @lru_cache(maxsize=65536)\ndef stem(")
    finally:
        serve.terminate()
        assert serve.wait(SECONDS) == 0


def python(code: str, clone: Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python of the README in the clone."""
    return subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=clone,
        env=bare_environment(home, PYTHONPATH="plugin", **variables),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_library_is_used_as_is_shown(clone: Path, tmp_path: Path) -> None:
    """The Python of the README runs, and prints the definition that it looks for."""
    (code,) = [block for block in PYTHON if "focused_read" in block]
    done = python(code, clone, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("languages.py:")


def test_remove_takes_away_all_that_the_plugin_made(clone: Path, tmp_path: Path) -> None:
    """After a demo, a doctor and the hooks' own work nothing is left that the removal would balk at."""
    home = tmp_path / ".slicegrep"
    shutil.copytree(prepared_home() / "vocab", home / "vocab")
    (home / "env").mkdir()
    home.chmod(0o700)
    payload = '{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hello"}'
    done = run(
        f"printf '%s\\n' '{payload}' | sh hooks/slicegrep-hook prompt && bin/slicegrep doctor",
        clone,
        tmp_path,
    )
    assert (home / "state" / "s1" / "prompts").is_file(), done.stderr
    done = run("bin/slicegrep setup --remove", clone, tmp_path)
    assert (done.returncode, home.exists()) == (0, False), done.stderr


def test_the_settings_table_is_the_programs_own() -> None:
    """Name, default, option and meaning of each knob, in the same order."""

    def code(value: object) -> str:
        return f"`{value}`" if value != "" else ""

    wanted = [[code(k.variable), code(k.default) or "none", code(k.option), k.help] for k in KNOBS]
    assert cells("Settings") == wanted


def test_what_is_kept_is_what_removal_knows() -> None:
    """Each entry of the table is one that `setup --remove` takes for its own."""
    assert {
        name for row in cells("Where things are kept") for name in re.findall(r"`([^`]+)`", row[0])
    } <= HOME_ENTRIES


def test_every_file_named_is_there() -> None:
    """Paths in the text stay true."""
    named = re.findall(r"`((?:docs|bin|tests|hooks|plugin)/[\w./-]+|[A-Z]+\.md)`", README)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
