"""What a file is for, by its path, its size and its first bytes."""

from __future__ import annotations

import re
from functools import lru_cache

from slicegrep.languages import is_test_path, language_of

__all__ = ["HEAD_BYTES", "LARGEST_CODE", "LARGEST_TEXT", "flags_of", "is_binary", "kind_of"]

HEAD_BYTES = 4_096
"""How much of a file's beginning `flags_of`, `kind_of` and `is_binary` look at."""

LARGEST_CODE = 5_000_000
"""Bytes of the largest source file that is searched: as source.read_source, which no hook reads past either."""
LARGEST_TEXT = 1_000_000
"""Bytes of the largest file of documentation or configuration: past it they are data that was written by programs."""
_LARGEST_JSON = (
    100_000  # a JSON file that people keep by hand is smaller; recorded answers and locks are larger
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DOCS = ".md .markdown .mdx .rst .txt .adoc .asciidoc .org .tex .texi .pod .rdoc .textile .man .wiki .1 .3 .5 .7 .8"
_CONFIG = """
.toml .ini .cfg .conf .yaml .yml .json .json5 .jsonc .jsonl .xml .xsd .xsl .xslt .plist .properties .env .editorconfig
.html .htm .xhtml .css .scss .sass .less .styl .tmpl .tpl .template .jinja .jinja2 .j2 .ejs .hbs .handlebars .mustache
.erb .haml .slim .pug .jade .twig .liquid .cshtml .jsp .ftl .mako .njk .xaml .resx .csproj .vbproj .fsproj .sln .props
.targets .gradle .cmake .mk .mak .am .ac .m4 .in .bazel .bzl .nix .tf .tfvars .hcl .rego .service .desktop .podspec .gyp .gypi .neon .dist .prisma .manifest
"""
_OTHER_CODE = """
.proto .thrift .graphql .gql .r .jl .pl .pm .t .ml .mli .clj .cljs .cljc .edn .erl .hrl .f .f90 .f95 .for .m .mm .groovy
.ps1 .psm1 .bat .cmd .s .asm .v .sv .svh .vhd .vhdl .tcl .vim .el .lisp .scm .rkt .fs .fsi .fsx .vb .pas .pp .d .nim .cr
.sol .coffee .astro .awk .sed .fish .nu .hx .odin .gleam .wgsl .glsl .hlsl .vert .frag .metal .cl .capnp .fbs .pyx .pxd
.purs .re .rei .elm .idr .agda .lean .coq .ada .adb .ads .cob .cbl .prolog .pro .st .abap .apex .cls .trigger
"""
_DATA = """
.stderr .stdout .po .pot .mo .svg .csv .tsv .lock .map .log .snap .geojson .ndjson .har .patch .diff .out .dump .bin .dat .db .sqlite .pb
.parquet .avro .pem .crt .key .pub .asc .sig .sum .ics .vcf .srt .bdf .dic .aff .ipynb .golden .fixture .rec .xmind
"""
_BINARY = """
.png .jpg .jpeg .gif .ico .webp .bmp .tif .tiff .psd .pdf .zip .gz .tgz .bz2 .xz .zst .7z .tar .rar .jar .war .whl .egg
.so .dylib .dll .exe .a .o .obj .lib .class .pyc .pyo .wasm .ttf .otf .woff .woff2 .eot .mp3 .mp4 .mov .avi .wav .ogg .webm
.doc .docx .xls .xlsx .ppt .pptx .odt .npy .npz .pkl .h5 .onnx .safetensors .gpg .der .p12 .jks .keystore .mmdb .shp .dbf
"""
_DATA_NAMES = _words("""
package-lock.json npm-shrinkwrap.json pnpm-lock.yaml packages.lock.json go.sum go.work.sum gopkg.lock composer.lock package.resolved
""")
_DOC_STEMS = _words("""
readme license licence copying changelog changes history authors contributors contributing notice news todo
install security code_of_conduct maintainers credits thanks upgrading roadmap faq hacking
""")
_CONFIG_NAMES = _words("""
makefile gnumakefile dockerfile containerfile jenkinsfile procfile brewfile cmakelists.txt requirements.txt
constraints.txt justfile taskfile meson.build meson_options.txt build workspace build.bazel configure.ac
go.mod go.work pipfile codeowners caddyfile tiltfile earthfile sconstruct sconscript .gitignore
.gitattributes .gitmodules .dockerignore .npmrc .npmignore .eslintrc .prettierrc .babelrc .flake8 .pylintrc
.coveragerc .clang-format .clang-tidy .env .editorconfig manifest.in
""")

_KINDS = {
    **dict.fromkeys(_BINARY.split(), ""),
    **dict.fromkeys(_DOCS.split(), "docs"),
    **dict.fromkeys(_CONFIG.split(), "config"),
    **dict.fromkeys(_OTHER_CODE.split(), "code"),
    **dict.fromkeys(_DATA.split(), "data"),
}
_MINIFIED_NAME = re.compile(r"[.-](?:min|bundle|pack(?:ed)?)\.(?:m?js|cjs|css)$")


def kind_of(path: str, size: int = 0, head: bytes = b"") -> str:
    """Return `code`, `docs`, `config` or `data`; "" for what is binary or unknown.

    `code` is what the language table knows, and further languages that have no outline. `data` is translations, tables,
    lock files, minified bundles, maps, JSON over 100 kB, and anything past `LARGEST_TEXT` or `LARGEST_CODE`: searched only
    where a path or a glob names it. `size` is in bytes. With `head` (the first HEAD_BYTES) an unknown name is known by its
    `#!` line, text counts as `docs`, and bytes that are no text give "".
    """
    if is_binary(head):
        return ""
    kind = _kind_by_name(path, head)
    if head and not kind and not _has_binary_suffix(path):
        kind = "docs"
    if kind == "code":
        return kind if size <= LARGEST_CODE else "data"
    if kind in ("docs", "config"):
        most = _LARGEST_JSON if path[-5:].lower() == ".json" else LARGEST_TEXT
        return kind if size <= most else "data"
    return kind


def _kind_by_name(path: str, head: bytes) -> str:
    name = path.rpartition("/")[2].lower()
    if name in _DATA_NAMES or _MINIFIED_NAME.search(name):
        return "data"
    if name in _CONFIG_NAMES:
        return "config"
    if language_of(path, head.decode("utf-8", "replace")):
        return "code"
    stem, dot, suffix = name.rpartition(".")
    kind = _KINDS.get(f".{suffix}") if dot and stem else None
    if kind is not None:
        return kind
    if re.split(r"[^a-z_]", name)[0] in _DOC_STEMS:
        return "docs"
    return "config" if dot and not stem and suffix.endswith(("rc", "ignore")) else ""


def _has_binary_suffix(path: str) -> bool:
    return _KINDS.get("." + path.rpartition(".")[2].lower(), "?") == ""


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are no text: a NUL in what is not UTF-16 with its BOM."""
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))


_VENDORED = _words("""
vendor vendors vendored _vendor third_party third-party thirdparty 3rdparty node_modules bower_components
external externals extern deps site-packages godeps pods carthage subprojects
""")
_GENERATED_FOLDERS = _words("""
generated __generated__ gen autogen generated-sources generated_sources
""")
_DOC_FOLDERS = _words("""
docs doc documentation docs_src doc_src website
""")
_EXAMPLE_FOLDERS = _words("""
example examples sample samples demo demos tutorial tutorials playground cookbook _examples
""")
_BENCH_FOLDERS = _words("""
bench benches benchmark benchmarks perf
""")
_GENERATED_NAME = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw|\.validate)?\.(?:go|cc|h|swift)$|_pb\.(?:js|ts|d\.ts)$|_grpc\.pb\.go$"
    r"|\.(?:g|freezed|gr|mocks)\.dart$|\.(?:g|designer|generated)\.cs$|[._-](?:generated|autogen)(?:\.|$)|^zz_generated"
    r"|_string\.go$|^moc_|^ui_\w+\.h$"
)
_GENERATED_HEAD = re.compile(
    rb"(?i)@generated\b|\bauto(?:matically)?[- ]?generated\b|\bgenerated\b[^\n]{0,200}\bdo not (?:edit|modify|change)\b"
    rb"|\bdo not (?:edit|modify)\b[^\n]{0,100}\n?[^\n]{0,100}\bgenerated\b|\b(?:this file|code) (?:is|was|has been) generated\b"
)
_GENERATED_BYTES = 1_500  # the note stands at the top; a generator holds the same words further down
_LONG_LINES = 250  # mean bytes a line of a minified file; the longest-lined readable files stay under 120
_LEAST_MINIFIED = 2_000


def flags_of(path: str, head: bytes = b"") -> frozenset[str]:
    """Return which of these a file is: test, vendored, generated, minified, docs, example, benchmark, stub.

    `path` is relative to the workspace; `head` the first HEAD_BYTES of the file, where they are known. `docs` is a file
    in a folder of documentation or of that kind; `stub` holds declarations only (`.pyi`, `.d.ts`).
    """
    folder, _, name = path.rpartition("/")
    flags = set(_flags_of_folder(folder.lower()))
    if is_test_path(path):
        flags.add("test")
    lower = name.lower()
    if _GENERATED_NAME.search(lower) or (head and _GENERATED_HEAD.search(head[:_GENERATED_BYTES])):
        flags.add("generated")
    if _MINIFIED_NAME.search(lower) or _is_minified(head):
        flags.add("minified")
    if lower.endswith((".pyi", ".d.ts", ".d.mts", ".d.cts")):
        flags.add("stub")
    if _kind_by_name(path, b"") == "docs":
        flags.add("docs")
    return frozenset(flags)


@lru_cache(maxsize=8192)
def _flags_of_folder(folder: str) -> frozenset[str]:
    parts = frozenset(folder.split("/"))
    tables = (
        ("vendored", _VENDORED),
        ("generated", _GENERATED_FOLDERS),
        ("docs", _DOC_FOLDERS),
        ("example", _EXAMPLE_FOLDERS),
        ("benchmark", _BENCH_FOLDERS),
    )
    return frozenset(flag for flag, names in tables if not names.isdisjoint(parts))


def _is_minified(head: bytes) -> bool:
    return len(head) >= _LEAST_MINIFIED and len(head) > _LONG_LINES * (head.count(b"\n") + 1)
