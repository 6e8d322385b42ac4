"""Which file or folder of a view a module path names, language by language."""

from __future__ import annotations

import json
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slicegrep.index import View
    from slicegrep.types import Source

__all__ = ["Modules", "as_indexed"]

_SCRIPT_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_WRITTEN_FOR = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}
"""Suffixes that an import names although the source has another one."""
_MANIFESTS = 500
"""package.json files that are read for the names of workspace packages, and as many tsconfig.json."""
_JSON_COMMENT = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")
_SOURCES = ("src/", "", "lib/", "source/")
"""Folders of a package in which its modules are looked for, the likeliest first."""


def as_indexed(view: View, file: int) -> Source | None:
    """Return a file of the view with the content that its definitions are of; None where it has another by now."""
    row = view.files[file]
    source = view.read(row.path) if row is not None else None
    return source if source is not None and source.digest == view.digest(file) else None


class Modules:
    """The module paths of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._found: dict[tuple[str, str, str], int] = {}

    def file(self, family: str, importer: str, module: str) -> int:
        """Return the file that a module path names in the file `importer`; -1 where it is none of the view."""
        folder = posixpath.dirname(importer)
        key = (family, folder, module)
        known = self._found.get(key)
        if known is None:
            finder = {"python": self._python, "script": self._script, "lua": self._lua}.get(
                family, self._relative
            )
            known = self._found[key] = finder(folder, module)
        return known

    def submodule(self, family: str, file: int, name: str) -> int:
        """Return the module `name` of a package's own file (`__init__.py`); -1 where there is none."""
        row = self._view.files[file]
        if (
            family != "python"
            or row is None
            or posixpath.basename(row.path) not in ("__init__.py", "__init__.pyi")
        ):
            return -1
        return self._python_at(posixpath.join(posixpath.dirname(row.path), name))

    def _at(self, path: str) -> int:
        row = self._view.file_at(path)
        return -1 if row is None else row.id

    def _first(self, paths: list[str]) -> int:
        return next((found for path in paths if (found := self._at(path)) >= 0), -1)

    # Python

    def _python_at(self, path: str) -> int:
        return self._first([f"{path}.py", f"{path}/__init__.py", f"{path}.pyi", f"{path}/__init__.pyi"])

    def _python(self, folder: str, module: str) -> int:
        dots = len(module) - len(module.lstrip("."))
        rest = module[dots:].replace(".", "/")
        if dots:
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return self._python_at(posixpath.join(folder, rest) if rest else folder) if rest or folder else -1
        best, score = -1, (-1, 0)
        for path, number in self._python_stems.get(rest.rpartition("/")[2], ()):
            if path != rest and not path.endswith("/" + rest):
                continue
            root = path[: -len(rest)].rstrip("/")
            if root and self._at(f"{root}/__init__.py") >= 0:
                continue
            near = (len(posixpath.commonprefix([f"{root}/", f"{folder}/"])), -len(root))
            if near > score:
                best, score = number, near
        return best

    @cached_property
    def _python_stems(self) -> dict[str, list[tuple[str, int]]]:
        """By the last part of a module's path, the whole path without a suffix."""
        stems: dict[str, list[tuple[str, int]]] = {}
        for row in self._view.files:
            if row is not None and row.language == "python":
                path = posixpath.splitext(row.path)[0]
                path = path.removesuffix("/__init__")
                stems.setdefault(path.rpartition("/")[2], []).append((path, row.id))
        return stems

    # JavaScript and TypeScript

    def _script_at(self, path: str) -> int:
        stem, suffix = posixpath.splitext(path)
        others = [stem + other for other in _WRITTEN_FOR.get(suffix, ())]
        whole = [path + suffix for suffix in _SCRIPT_SUFFIXES]
        return self._first([path, *whole, *others, *(f"{path}/index{suffix}" for suffix in _SCRIPT_SUFFIXES)])

    def _script(self, folder: str, module: str) -> int:
        if module.startswith("."):
            path = posixpath.normpath(posixpath.join(folder, module))
            return -1 if path.startswith("..") else self._script_at("" if path == "." else path)
        mapped = self._mapped(folder, module)
        if mapped >= 0:
            return mapped
        if module[:2] in ("@/", "~/"):
            return self._above(folder, module[2:])
        parts = module.split("/")
        size = 2 if module.startswith("@") else 1
        package = self._packages.get("/".join(parts[:size]))
        if package is not None:
            return self._in_package(package, "/".join(parts[size:]))
        return self._above(folder, module) if len(parts) > 1 and not module.startswith("@") else -1

    def _mapped(self, folder: str, module: str) -> int:
        """Return the module that `paths` of a tsconfig.json in a folder above names."""
        for top, pattern, targets in self._paths:
            found = pattern.fullmatch(module) if not top or f"{folder}/".startswith(f"{top}/") else None
            for target in targets if found is not None else ():
                whole = target.replace("*", found.group(1) if found is not None and found.groups() else "")
                at = self._script_at(posixpath.normpath(posixpath.join(top, whole)))
                if at >= 0:
                    return at
        return -1

    @cached_property
    def _paths(self) -> list[tuple[str, re.Pattern[str], list[str]]]:
        """The `paths` of each tsconfig.json: its folder, a pattern of modules, and where they are; the deepest folder first."""
        found = []
        for path, config in self._configs("tsconfig", "jsconfig"):
            options = config.get("compilerOptions")
            paths, base = (
                (options.get("paths"), options.get("baseUrl", "."))
                if isinstance(options, dict)
                else ({}, ".")
            )
            for pattern, targets in (
                paths.items() if isinstance(paths, dict) and isinstance(base, str) else ()
            ):
                if isinstance(targets, list):
                    matcher = re.compile(re.escape(pattern).replace(r"\*", "(.*)", 1))
                    leads = [posixpath.join(base, one) for one in targets if isinstance(one, str)]
                    found.append((posixpath.dirname(path), matcher, leads))
        return sorted(found, key=lambda one: -len(one[0]))

    def _configs(self, *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the path and content of the JSON files whose names begin so, the outermost first."""
        rows = [
            row
            for row in self._view.files
            if row is not None
            and row.path.endswith(".json")
            and posixpath.basename(row.path).startswith(names)
        ]
        for row in sorted(rows, key=lambda row: row.path.count("/"))[:_MANIFESTS]:
            source = as_indexed(self._view, row.id)
            text = (
                _JSON_COMMENT.sub(lambda match: match["text"] or "", source.text)
                if source is not None
                else ""
            )
            try:
                config = json.loads(_TRAILING.sub(r"\1", text))
            except (ValueError, RecursionError):
                continue
            if isinstance(config, dict):
                yield row.path, config

    def _above(self, folder: str, path: str) -> int:
        """Return the module at a path that is relative to a folder above, or to the `src` in one."""
        while True:
            for inner in ("src/", ""):
                found = self._script_at(posixpath.join(folder, inner + path))
                if found >= 0:
                    return found
            if not folder:
                return -1
            folder = posixpath.dirname(folder)

    def _in_package(self, package: tuple[str, list[str]], rest: str) -> int:
        folder, mains = package
        wanted = [posixpath.join(folder, inner + rest) for inner in _SOURCES] if rest else []
        if not rest:
            stems = [re.sub(r"^(?:\./)?(?:dist|lib|build|out|esm|cjs)/", "", main) for main in mains]
            wanted += [posixpath.join(folder, main) for main in mains]
            wanted += [posixpath.join(folder, "src", posixpath.splitext(stem)[0]) for stem in stems]
            wanted += [posixpath.normpath(posixpath.join(folder, inner)) for inner in _SOURCES]
        return next((found for path in wanted if (found := self._script_at(path)) >= 0), -1)

    @cached_property
    def _packages(self) -> dict[str, tuple[str, list[str]]]:
        """By the name of a package, its folder and what its package.json says is its main module."""
        found: dict[str, tuple[str, list[str]]] = {}
        for path, manifest in self._configs("package.json"):
            if isinstance(manifest.get("name"), str):
                mains = [manifest.get(key) for key in ("source", "module", "types", "main")]
                kept = [main for main in mains if isinstance(main, str)]
                found.setdefault(manifest["name"], (posixpath.dirname(path), kept))
        return found

    # Others

    def _lua(self, folder: str, module: str) -> int:
        path = module.replace(".", "/")
        wanted = [f"{path}.lua", f"{path}/init.lua"]
        found = self._first([*(posixpath.join(folder, one) for one in wanted), *wanted])
        return found if found >= 0 else self._ending(wanted)

    def _relative(self, folder: str, module: str) -> int:
        """Return a file that is named by its path from the importer, the top, or somewhere between."""
        path = posixpath.normpath(posixpath.join(folder, module))
        found = self._at(path)
        return found if found >= 0 else self._ending([posixpath.normpath(module)])

    def _ending(self, paths: list[str]) -> int:
        """Return the only file whose path ends with one of these."""
        for path in paths:
            found = [
                number
                for other, number in self._names.get(posixpath.basename(path), ())
                if f"/{other}".endswith(f"/{path}")
            ]
            if len(found) == 1:
                return found[0]
        return -1

    @cached_property
    def _names(self) -> dict[str, list[tuple[str, int]]]:
        names: dict[str, list[tuple[str, int]]] = {}
        for row in self._view.files:
            if row is not None and row.kind == "code":
                names.setdefault(posixpath.basename(row.path), []).append((row.path, row.id))
        return names

    # Go

    def folder(self, module: str) -> str | None:
        """Return the folder of the view that a Go import path names, None for one of another module."""
        for name, folder in self._go_modules:
            if module == name or module.startswith(name + "/"):
                return posixpath.join(folder, module[len(name) + 1 :]).rstrip("/")
        return None

    @cached_property
    def _go_modules(self) -> list[tuple[str, str]]:
        found = []
        for row in self._view.files:
            if row is not None and posixpath.basename(row.path) == "go.mod":
                source = as_indexed(self._view, row.id)
                named = (
                    re.search(r"^\s*module\s+(\S+)", source.text, re.MULTILINE)
                    if source is not None
                    else None
                )
                if named is not None:
                    found.append((named.group(1).strip('"'), posixpath.dirname(row.path)))
        return sorted(found, key=lambda one: -len(one[0]))
