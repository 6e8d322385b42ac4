"""The corpora of the benchmarks: where each comes from, at which revision, and whether a checkout still is that.

    python benchmarks/setup_corpora.py [--only click,flask] [--full] [--corpora DIR] [--mirror DIR]
    python benchmarks/setup_corpora.py --verify

corpora.json pins each repository by its full commit and names the release tag that it had then; Django is the source
distribution from the package index, pinned by version and hash. Checkouts go to ~/.cache/slicegrep-bench, to
SLICEGREP_BENCH_CORPORA or to --corpora; one that is there already is used as it is and never changed, but for --full,
which adds the history. Exit status 1 when anything is not as pinned: another commit, a changed tree, a moved tag.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Corpus", "CorpusError", "add_corpora_option", "corpora", "root_of"]

PINS = Path(__file__).with_name("corpora.json")
GIT_SECONDS = 1800
REMOTE_SECONDS = 30
"""How long a question for a tag may take; without an answer the tag is said to be unchecked."""


class CorpusError(Exception):
    """A corpus that is not there, or not what the pin says. The message says what to do."""


@dataclass(frozen=True)
class Corpus:
    """One pin. A repository has `url`, `tag` and `sha`; a source distribution `distribution`, `sha256` and `tree`."""

    name: str
    half: str
    """`tuning` or `held-out`: which repositories constants may be chosen on."""
    languages: list[str]
    root: str
    """The folder of it that is searched; "" for the whole."""
    url: str = ""
    tag: str = ""
    sha: str = ""
    distribution: str = ""
    sha256: str = ""
    tree: str = ""
    """`tree_digest` of the unpacked distribution."""

    @property
    def revision(self) -> str:
        """What results name it by."""
        return self.sha or f"{self.distribution} {self.sha256}"


def corpora(names: list[str] | None = None, *, half: str = "") -> list[Corpus]:
    """Return the pins, in the order of the file: those of `names`, of one half, or all. Unknown names: CorpusError."""
    pins = [Corpus(**row) for row in json.loads(PINS.read_text("utf-8"))]
    known = {pin.name for pin in pins}
    if unknown := [name for name in names or () if name not in known]:
        raise CorpusError(f"no such corpus: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [pin for pin in pins if (not names or pin.name in names) and half in ("", pin.half)]


def default_folder() -> Path:
    """Return SLICEGREP_BENCH_CORPORA, else the folder under the user's cache."""
    if given := os.environ.get("SLICEGREP_BENCH_CORPORA"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "slicegrep-bench"


def add_corpora_option(parser: argparse.ArgumentParser) -> None:
    """Add --corpora, which every benchmark takes."""
    parser.add_argument(
        "--corpora",
        type=Path,
        default=default_folder(),
        metavar="DIR",
        help="folder with one checkout a corpus (SLICEGREP_BENCH_CORPORA; default %(default)s)",
    )


def root_of(corpus: Corpus, folder: Path) -> str:
    """Return the folder to search. CorpusError where the checkout is missing or at another commit."""
    place = folder / corpus.name
    found = present(corpus, place)
    if found != corpus.revision:
        what = f"is {found}, not {corpus.revision}" if found else "is missing"
        raise CorpusError(
            f"{place} {what}: python benchmarks/setup_corpora.py --only {corpus.name} --corpora {folder}"
        )
    return str(place / corpus.root)


def present(corpus: Corpus, place: Path) -> str:
    """Return the revision that a folder holds; "" where there is none. A distribution is known by its metadata only."""
    if corpus.sha:
        # a plain folder inside some other repository has that repository's HEAD: ask only where .git is
        return git(place, "rev-parse", "HEAD", check=False) if (place / ".git").exists() else ""
    return (
        corpus.revision if f"\nVersion: {corpus.distribution.partition('==')[2]}\n" in metadata(place) else ""
    )


def metadata(place: Path) -> str:
    """Return a source distribution's PKG-INFO, "" without one."""
    try:
        return (place / "PKG-INFO").read_text("utf-8")
    except OSError:
        return ""


def git(place: Path, *arguments: str, check: bool = True, seconds: float = GIT_SECONDS) -> str:
    """Run git in a folder and return its output. CorpusError where it fails (`check`), else "" then."""
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(place), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        if check:
            raise CorpusError(f"git {arguments[0]} in {place} took over {seconds:.0f} s") from late
        return ""
    if done.returncode and check:
        raise CorpusError(f"git {' '.join(arguments)} in {place}: {done.stderr.strip()}")
    return done.stdout.strip() if done.returncode == 0 else ""


def set_up(corpus: Corpus, folder: Path, mirror: Path | None, *, full: bool) -> list[str]:
    """Bring a corpus to its place unless it is there. Returns what is wrong with it, in sentences; [] when nothing is."""
    place = folder / corpus.name
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as part:
            made = clone(corpus, Path(part), mirror, full=full) if corpus.sha else unpack(corpus, Path(part))
            made.rename(place)
    elif corpus.sha and full and git(place, "rev-parse", "--is-shallow-repository", check=False) == "true":
        git(place, "fetch", "-q", "--unshallow", "--tags", "origin")
    return verify(corpus, folder, mirror, remote=False)


def clone(corpus: Corpus, part: Path, mirror: Path | None, *, full: bool) -> Path:
    """Check the pinned commit out in a new folder inside `part`: without history unless `full` or from a mirror."""
    made = part / corpus.name
    if mirror:
        git(part, "clone", "-q", "--shared", "--no-checkout", str(mirrored(corpus, mirror)), str(made))
        git(made, "remote", "set-url", "origin", corpus.url)
    else:
        depth = [] if full else ["--depth=1"]
        tag = f"refs/tags/{corpus.tag}:refs/tags/{corpus.tag}"
        git(part, "init", "-q", str(made))
        git(made, "remote", "add", "origin", corpus.url)
        # the tag too, so that --verify sees what it meant on the day of the download; by itself, for it may be gone
        git(made, "fetch", "-q", *depth, "origin", tag, check=False)
        git(made, "fetch", "-q", *depth, "origin", corpus.sha)
    git(made, "-c", "advice.detachedHead=false", "checkout", "-q", "--detach", corpus.sha)
    return made


def mirrored(corpus: Corpus, mirror: Path) -> Path:
    """Return the git directory of a repository in a folder of mirrors: owner+name, with or without /repo."""
    owner, name = corpus.url.removesuffix(".git").split("/")[-2:]
    for place in (
        mirror / f"{owner}+{name}" / "repo",
        mirror / f"{owner}+{name}",
        mirror / f"{owner}+{name}.git",
    ):
        if place.exists():
            return place
    raise CorpusError(f"{mirror} holds no {owner}+{name}")


def unpack(corpus: Corpus, part: Path) -> Path:
    """Download a source distribution with pip, which checks its hash, and unpack it."""
    wanted = part / "wanted.txt"
    wanted.write_text(f"{corpus.distribution} --hash=sha256:{corpus.sha256}\n", "utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--require-hashes",
    ]
    done = subprocess.run(
        [*command, "-d", str(part), "-r", str(wanted)], capture_output=True, text=True, check=False
    )
    archives = list(part.glob("*.tar.gz"))
    if done.returncode or len(archives) != 1:
        raise CorpusError(f"pip download {corpus.distribution}: {done.stderr.strip()}")
    inside = part / "inside"
    shutil.unpack_archive(archives[0], inside)
    (unpacked,) = inside.iterdir()
    return unpacked


def verify(corpus: Corpus, folder: Path, mirror: Path | None, *, remote: bool) -> list[str]:
    """Return what is not as pinned, in sentences. `remote` also asks the origin (or the mirror) where the tag is now."""
    place = folder / corpus.name
    found = present(corpus, place)
    if not found:
        return [f"{place} is missing"]
    if found != corpus.revision:
        return [
            f"{place} is at {found}, not at the pinned {corpus.revision}: remove it, or name another folder"
        ]
    if not corpus.sha:
        digest = tree_digest(place)
        return [] if digest == corpus.tree else [f"{place} is changed: {digest}, not {corpus.tree}"]
    wrong = []
    if changed := git(place, "status", "--porcelain").splitlines():
        wrong.append(f"{place} is changed: {len(changed)} file(s), {changed[0]} for one")
    meanings = {
        "in the checkout": git(
            place, "rev-parse", "-q", "--verify", f"refs/tags/{corpus.tag}^{{commit}}", check=False
        )
    }
    if remote:
        origin = str(mirrored(corpus, mirror)) if mirror else corpus.url
        meanings[f"at {origin}"] = remote_tag(place, origin, corpus.tag)
        if not meanings[f"at {origin}"]:
            print(f"{corpus.name}: tag {corpus.tag} is not checked: no answer from {origin}", file=sys.stderr)
    wrong += [
        f"MOVED TAG: {corpus.tag} of {corpus.name} is {meaning} {where}; the pin is {corpus.sha}"
        for where, meaning in meanings.items()
        if meaning not in ("", corpus.sha)
    ]
    return wrong


def remote_tag(place: Path, origin: str, tag: str) -> str:
    """Return the commit that a tag means at a remote; "" without an answer or without such a tag."""
    answer = git(
        place,
        "ls-remote",
        origin,
        f"refs/tags/{tag}",
        f"refs/tags/{tag}^{{}}",
        check=False,
        seconds=REMOTE_SECONDS,
    )
    rows = dict(reversed(row.split("\t")) for row in answer.splitlines())
    return rows.get(f"refs/tags/{tag}^{{}}", rows.get(f"refs/tags/{tag}", ""))


def tree_digest(place: Path) -> str:
    """Return a SHA-256 over the names and contents of all files below a folder, byte code left out."""
    total = hashlib.sha256()
    for file in sorted(
        path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ):
        name = file.relative_to(place).as_posix()
        total.update(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n".encode())
    return total.hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Set the corpora up, or verify them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="A,B", help="these corpora alone")
    parser.add_argument("--full", action="store_true", help="with their history (commits.py needs it)")
    parser.add_argument(
        "--verify", action="store_true", help="only check: commit, clean tree, and where the tag is now"
    )
    parser.add_argument(
        "--mirror",
        type=Path,
        metavar="DIR",
        help="take repositories from git directories DIR/owner+name[/repo]",
    )
    add_corpora_option(parser)
    given = parser.parse_args(arguments)
    failed = 0
    try:
        chosen = corpora([name for name in given.only.split(",") if name])
    except CorpusError as error:
        parser.error(str(error))
    for corpus in chosen:
        try:
            if given.verify:
                wrong = verify(corpus, given.corpora, given.mirror, remote=True)
            else:
                wrong = set_up(corpus, given.corpora, given.mirror, full=given.full)
        except CorpusError as error:
            wrong = [str(error)]
        failed += bool(wrong)
        print(f"{corpus.name:14}{'ok' if not wrong else '; '.join(wrong)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
