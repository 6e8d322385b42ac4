"""The optional dense stage: places that a static embedding model on disk finds alike, fused with the lexical order."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from slicegrep.candidates import Candidate

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slicegrep.index import FileRow, View

__all__ = ["DenseKnobs", "knobs_of", "with_dense"]

TIMEOUT = 15.0
PLACES = 100
"""Places that the model may name: far more than any budget shows."""
RANK_OFFSET = 60
"""k of reciprocal rank fusion, 1 / (k + rank), as in Cormack, Clarke and Buettcher (SIGIR 2009), who found 60."""
LARGEST_BATCH = 64
"""Files that are embedded between two looks at the clock: some tens of milliseconds."""
_LAYOUT = ("config.json", "model.safetensors", "tokenizer.json")
"""The files of a model2vec folder. A folder that holds them is read without asking the network for anything."""
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")


@dataclass(frozen=True, slots=True)
class DenseKnobs:
    """What was asked of the stage. `model` is a folder, "" for one below `models/` of the home folder."""

    on: bool = True
    seconds: float = TIMEOUT
    model: str = ""


def knobs_of(environment: Mapping[str, str]) -> DenseKnobs:
    """Read SLICEGREP_DENSE (off, auto), SLICEGREP_DENSE_TIMEOUT (seconds) and SLICEGREP_DENSE_MODEL (a folder)."""
    try:
        seconds = float(environment.get("SLICEGREP_DENSE_TIMEOUT") or TIMEOUT)
    except ValueError:
        seconds = TIMEOUT
    on = environment.get("SLICEGREP_DENSE", "").strip().lower() not in ("off", "0", "no")
    return DenseKnobs(on, seconds, environment.get("SLICEGREP_DENSE_MODEL", ""))


def with_dense(
    candidates: list[Candidate],
    view: View,
    text: str,
    *,
    home: str,
    knobs: DenseKnobs,
    prefix: str = "",
    only: frozenset[str] | None = None,
) -> list[Candidate]:
    """Return the candidates in an order fused with the model's for the query `text`, new places among them.

    They come back as they are where the stage is off, model2vec or a model is missing, or the time is over: vectors that
    were made until then are kept, so that a later query goes on from there. `home` is the home folder; vectors are kept in
    its `index/`. `prefix` and `only` as for recall. Never touches the network; raises nothing.
    """
    folder = _model_folder(home, knobs) if knobs.on else ""
    if not folder:
        return candidates
    deadline = time.monotonic() + knobs.seconds
    model = _load(folder)
    if model is None:
        return candidates
    rows = [
        row for row in view.files if row is not None and row.kind == "code" and not row.flags and row.chunks
    ]
    vectors = _vectors(view, rows, model, _kept(view, home, folder), deadline)
    if vectors is None:
        return candidates
    inside = [row.path.startswith(prefix) and (only is None or row.path in only) for row in rows]
    likeness = vectors.astype("float32") @ model.encode([text])[0]
    places = _nearest(view, rows, inside, likeness)
    return _fused(candidates, [place._replace(file=place.file[len(prefix) :]) for place in places])


def _model_folder(home: str, knobs: DenseKnobs) -> str:
    """Return a folder that holds a whole model; "" where there is none."""
    if knobs.model:
        folders = [knobs.model]
    else:
        below = os.path.join(home, "models")
        try:
            folders = [os.path.join(below, name) for name in sorted(os.listdir(below))]
        except OSError:
            return ""
    whole = (
        folder for folder in folders if all(os.path.isfile(os.path.join(folder, name)) for name in _LAYOUT)
    )
    return next(whole, "")


@lru_cache(maxsize=1)
def _load(folder: str) -> Any:
    """Return the model, None where model2vec is missing or cannot read the folder."""
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    try:
        return import_module("model2vec").StaticModel.from_pretrained(folder, normalize=True)
    except Exception:  # noqa: BLE001 (tokenizers raises bare Exception for a damaged file: the stage drops out)
        return None
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _kept(view: View, home: str, folder: str) -> str:
    """Return the file that keeps the vectors of a workspace by one model."""
    key = [view.root, os.path.realpath(folder)]
    with suppress(OSError):
        status = os.stat(os.path.join(folder, "model.safetensors"))
        key += [str(status.st_size), str(status.st_mtime_ns)]
    name = blake2b("\0".join(key).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(home, "index", f"{name}.dense.npz")


def _vectors(view: View, rows: Sequence[FileRow], model: Any, path: str, deadline: float) -> Any:
    """Return a matrix with a row for each chunk of `rows`, in their order; None where the time is over."""
    numpy = import_module("numpy")
    kept = _read(numpy, path)
    # an mtime of 0: what the index holds is so new that it may still be an earlier content
    missing = [row for row in rows if not row.mtime_ns or _key(row) not in kept]
    for at in range(0, len(missing), LARGEST_BATCH):
        if time.monotonic() > deadline:
            _write(numpy, path, kept)
            return None
        batch = missing[at : at + LARGEST_BATCH]
        texts = [_texts(view, row) for row in batch]
        flat = model.encode([text for each in texts for text in each], use_multiprocessing=False).astype(
            "float16"
        )
        ends = numpy.cumsum([len(each) for each in texts])
        kept.update(zip(map(_key, batch), numpy.split(flat, ends[:-1]), strict=True))
    if missing:
        _write(numpy, path, {_key(row): kept[_key(row)] for row in rows})
    return (
        numpy.concatenate([kept[_key(row)] for row in rows])
        if rows
        else numpy.zeros((0, model.dim), "float16")
    )


def _key(row: FileRow) -> str:
    return f"{row.mtime_ns} {row.size} {row.chunks} {row.path}"


def _texts(view: View, row: FileRow) -> list[str]:
    """Return what is embedded of each chunk of a file: its path and its lines."""
    source = view.read(row.path)
    lines = source.lines if source else ()
    return [
        f"{row.path}\n" + "\n".join(lines[view.chunk_start[chunk] - 1 : view.chunk_end[chunk]])
        for chunk in range(row.first_chunk, row.first_chunk + row.chunks)
    ]


def _read(numpy: Any, path: str) -> dict[str, Any]:
    """Return the kept vectors by file; {} where there are none, or what is there cannot be read."""
    try:
        with numpy.load(path, allow_pickle=False) as kept:
            keys = json.loads(kept["keys"].tobytes().decode("utf-8", "surrogateescape"))
            return dict(zip(keys, numpy.split(kept["vectors"], kept["ends"][:-1]), strict=True))
    except Exception:  # noqa: BLE001 (zipfile, zlib and numpy each have their own errors for a damaged file: made again)
        return {}


def _write(numpy: Any, path: str, kept: dict[str, Any]) -> None:
    """Keep the vectors, in one step; the last of several processes wins. A full or read-only disk keeps nothing."""
    if not kept:
        return
    keys = numpy.frombuffer(json.dumps(list(kept)).encode("utf-8", "surrogateescape"), "uint8")
    ends = numpy.cumsum([len(vectors) for vectors in kept.values()])
    part = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            numpy.savez(file, keys=keys, ends=ends, vectors=numpy.concatenate(list(kept.values())))
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            os.unlink(part)


def _nearest(view: View, rows: Sequence[FileRow], inside: Sequence[bool], likeness: Any) -> list[Candidate]:
    """Return the PLACES chunks with the highest likeness, best first, as candidates with the view's paths.

    `likeness` has a value for each chunk of `rows`; `inside` says which rows count.
    """
    numpy = import_module("numpy")
    chunks = [chunk for row in rows for chunk in range(row.first_chunk, row.first_chunk + row.chunks)]
    likeness = numpy.where(numpy.repeat(inside, [row.chunks for row in rows]), likeness, -1.0)
    places: list[Candidate] = []
    for at in numpy.argsort(-likeness, kind="stable")[:PLACES].tolist():
        row = view.files[view.chunk_file[chunks[at]]]
        if row is None or likeness[at] <= 0:
            break
        start, symbol = view.chunk_start[chunks[at]], view.chunk_symbol[chunks[at]]
        name = view.symbol(symbol).qualified if symbol >= 0 else ""
        places.append(
            Candidate(
                row.path, start, view.chunk_end[chunks[at]], 0.0, ("semantic-recall",), name, best=start
            )
        )
    return places


def _fused(candidates: list[Candidate], places: list[Candidate]) -> list[Candidate]:
    """Order candidates by the sum of reciprocal ranks; a place that overlaps none of them joins them."""
    fused = [1 / (RANK_OFFSET + rank) for rank in range(1, len(candidates) + 1)]
    by_file: dict[str, list[int]] = {}
    for at, one in enumerate(candidates):
        by_file.setdefault(one.file, []).append(at)
    ranked = list(zip(fused, candidates, strict=True))
    for rank, place in enumerate(places, 1):
        gain = 1 / (RANK_OFFSET + rank)
        met = [
            at
            for at in by_file.get(place.file, ())
            if candidates[at].start <= place.end and place.start <= candidates[at].end
        ]
        for at in met:  # once a candidate: its best place counts
            if ranked[at][0] == fused[at]:
                ranked[at] = (fused[at] + gain, candidates[at])
        if not met:
            ranked.append((gain, place))
    ranked.sort(key=lambda entry: -entry[0])
    best = ranked[0][0] if ranked else 1.0
    return [one._replace(score=round(100 * score / best, 1)) for score, one in ranked]
