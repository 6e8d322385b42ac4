"""The manifests, the pins and the version say one thing, wherever they say it, and a package can be built of them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from slicegrep.languages import LANGUAGES
from slicegrep.settings import KNOBS, Settings
from small_clone import small_clone

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugin"


def read(path: str) -> Any:
    """Parse a JSON file of the repository."""
    return json.loads((ROOT / path).read_text("utf-8"))


def names(path: str) -> list[str]:
    """List the packages that a requirements file names."""
    lines = (ROOT / path).read_text("utf-8").splitlines()
    return [found.group() for line in lines if (found := re.match(r"[A-Za-z][\w-]*", line))]


def test_the_two_catalogues_are_equal_but_for_the_source() -> None:
    """One is read by `marketplace add owner/repo`, the other by URL, where only a git source works."""
    near, far = read(".claude-plugin/marketplace.json"), read("marketplace.json")
    assert near["plugins"][0].pop("source") == "./"
    assert far["plugins"][0].pop("source") == {"source": "github", "repo": "OWNER/slicegrep"}
    assert near == far


def test_the_catalogue_describes_the_plugin_as_its_manifest_does() -> None:
    """Name, description, licence and keywords are the manifest's; the version stands there alone."""
    plugin, (entry,) = read(".claude-plugin/plugin.json"), read("marketplace.json")["plugins"]
    shared = ("name", "description", "license", "keywords")
    assert {key: entry[key] for key in shared} == {key: plugin[key] for key in shared}
    assert "version" not in json.dumps(read("marketplace.json"))


def test_every_plugin_option_is_a_knob_with_the_same_default() -> None:
    """What /plugin offers is what the hooks read, and installing asks nothing: each has its default."""
    options = read(".claude-plugin/plugin.json")["userConfig"]
    knobs = {knob.option: knob for knob in KNOBS if knob.option}
    assert list(options) == list(knobs)
    for name, option in options.items():
        variables = {f"CLAUDE_PLUGIN_OPTION_{name.upper()}": str(option["default"]).lower()}
        settings, field = Settings.from_environment(variables), knobs[name].field
        if option["type"] == "boolean":
            assert getattr(settings, f"{field}_on") is getattr(Settings(), f"{field}_on") is option["default"]
        else:
            assert getattr(settings, field) == option["default"] == knobs[name].default


def test_the_key_is_the_hash_of_the_pins() -> None:
    """Whoever changes a pin gets another environment: the key names it."""
    digest = hashlib.sha256((PLUGIN / "requirements.txt").read_bytes()).hexdigest()
    assert (PLUGIN / "requirements.key").read_text() == f"{digest[:16]}\n"


@pytest.mark.parametrize("kind", ["requirements", "servers"])
def test_every_dependency_is_pinned_has_a_floor_and_a_reason(kind: str) -> None:
    """Each in requirements.in and servers.in stands below a comment, and is pinned exactly in the .txt of that name."""
    lines = (PLUGIN / f"{kind}.in").read_text().splitlines()
    wanted = [i for i, line in enumerate(lines) if line and not line.startswith("#")]
    assert [lines[i] for i in wanted if not re.fullmatch(r"[a-z0-9-]+>=[\d.]+", lines[i])] == []
    assert [lines[i] for i in wanted if not lines[i - 1].startswith("# ")] == []
    pins = (PLUGIN / f"{kind}.txt").read_text().splitlines()
    assert [p for p in pins if not re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; .+)?", p)] == []
    assert set(names(f"plugin/{kind}.in")) <= set(names(f"plugin/{kind}.txt"))


def test_the_servers_pins_are_those_that_the_hooks_lack() -> None:
    """No package is pinned in both files, so that the second set-up changes nothing that a hook imports."""
    assert set(names("plugin/servers.txt")).isdisjoint(names("plugin/requirements.txt"))


def test_the_servers_packages_are_those_of_the_extras() -> None:
    """`pip install slicegrep[serve,mcp,client]` and set-up bring the same."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = {item for name in ("serve", "mcp", "client") for item in extras[name]}
    lines = (PLUGIN / "servers.in").read_text().splitlines()
    assert wanted == {line for line in lines if line and not line.startswith("#")}


def test_the_grammars_required_are_those_of_the_language_table() -> None:
    """None is missing, none is installed for nothing."""
    table = {entry.grammar_module.replace("_", "-") for entry in LANGUAGES.values() if entry.grammar_module}
    assert {n for n in names("plugin/requirements.in") if n.startswith("tree-sitter-")} == table


def test_the_tools_of_the_tests_are_those_of_the_dev_extra() -> None:
    """`pip install -e .[dev]` and tests/run bring the same tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = {re.split(r"[<>=]", item)[0] for item in project["optional-dependencies"]["dev"]}
    assert extra <= set(names("tests/requirements.txt"))


def test_the_version_is_written_once() -> None:
    """In plugin.json: the package and the build read it from there."""
    version = read(".claude-plugin/plugin.json")["version"]
    for path in ("pyproject.toml", "plugin/slicegrep/__init__.py", "marketplace.json"):
        assert f'"{version}"' not in (ROOT / path).read_text("utf-8")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import slicegrep; print(slicegrep.__version__)"
    said = subprocess.run(
        [sys.executable, "-I", "-c", code, str(PLUGIN)], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"{version}\n"


def test_asking_for_no_version_imports_nothing_for_it() -> None:
    """A hook imports the package; json and importlib.metadata are left to who asks."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import slicegrep; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(PLUGIN)], capture_output=True, text=True, check=True
    )
    assert not {"json", "importlib.metadata"} & set(said.stdout.split())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from a clean clone by way of a source distribution, as pip does from a git address."""
    folder = tmp_path_factory.mktemp("build")
    clone = small_clone(folder / "clone")
    pack = "from setuptools.build_meta import build_sdist; print(build_sdist(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", f"import sys; {pack}", str(folder)], cwd=clone, capture_output=True, check=True
    )
    (packed,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(packed, folder / "unpacked")
    (source,) = (folder / "unpacked").iterdir()
    make = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(source),
    ]
    subprocess.run(make, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_a_package_built_from_a_clone_has_the_version_and_the_floors(built: Path) -> None:
    """The build finds plugin.json and requirements.in, in the clone and in the source distribution."""
    with zipfile.ZipFile(built) as wheel:
        (name,) = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(wheel.read(name).decode())
        files = wheel.namelist()
    assert metadata["Version"] == read(".claude-plugin/plugin.json")["version"]
    floors = [
        line for line in (PLUGIN / "requirements.in").read_text().splitlines() if line and line[0] != "#"
    ]
    assert [r for r in metadata.get_all("Requires-Dist") if "extra ==" not in r] == floors
    modules = {str(path.relative_to(PLUGIN)) for path in (PLUGIN / "slicegrep").rglob("*.py")}
    assert modules <= set(files)


def test_an_installed_package_knows_its_version(built: Path, tmp_path: Path) -> None:
    """Away from plugin.json it is the one that the wheel carries."""
    with zipfile.ZipFile(built) as wheel:
        wheel.extractall(tmp_path)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import slicegrep; print(slicegrep.__version__)"
    said = subprocess.run(
        [sys.executable, "-I", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"{read('.claude-plugin/plugin.json')['version']}\n"


def test_the_icon_is_a_small_square_png() -> None:
    """512 to 2048 pixels on each side, as the plugin directory asks; a few kilobytes, as every user gets it."""
    data = (ROOT / "icon.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width == height == 512
    assert len(data) < 20_000


def test_what_every_user_gets_is_small() -> None:
    """The whole repository is copied into the plugin cache: a few megabytes, and no file over one."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True
    ).stdout
    sizes = {n: (ROOT / n).stat().st_size for n in listed.decode().split("\0") if n and (ROOT / n).is_file()}
    assert sum(sizes.values()) < 4_500_000
    assert [name for name, size in sizes.items() if size > 1_000_000] == []
