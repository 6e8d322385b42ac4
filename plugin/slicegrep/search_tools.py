"""The search programs: which options they have, which of these take a value, and which say what a printed line looks like."""

from __future__ import annotations

__all__ = ["TOOLS", "Tool"]

_NO_NAMES = frozenset({"h", "no-filename"})
_NAMES = frozenset({"H", "with-filename"})
_NUMBERS = frozenset({"n", "line-number"})
_RECURSIVE = frozenset({"r", "R", "recursive", "dereference-recursive"})


class Tool:
    """One search program. Options are named without their dashes.

    The shim reads these tables on every search, so they are plain classes: dataclasses take 12 ms to import.
    """

    short_values: str = ""
    """Letters whose option takes a value, attached or as the next word."""
    long_values: frozenset[str] = frozenset()
    """Long options whose value is the next word when there is no `=`."""
    short_flags: str = ""
    """Letters of the options without a value, and..."""
    long_flags: frozenset[str] = frozenset()
    """... the long ones, those with a value after `=` alone among them. Only of grep and rg, which the shim stands for."""
    patterns: frozenset[str] = frozenset({"e", "regexp"})
    """Options whose value is a pattern: with one of them the first operand is a file."""
    instead_of_pattern: frozenset[str] = frozenset({"f", "file"})
    """Options that stand in for the pattern without being one."""
    numbers: frozenset[str] = _NUMBERS
    no_numbers: frozenset[str] = frozenset()
    numbered: bool = False
    """Whether line numbers may come without being asked for (by default, or from a configuration file)."""
    no_names: frozenset[str] = _NO_NAMES
    names: frozenset[str] = _NAMES
    named: bool = False
    """Whether the path stands on each line even when one file was given."""
    columns: frozenset[str] = frozenset()
    headings: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()
    """Options with which it prints something else than `path:line:text`, as far as columns and headings do not say it.
    Only of grep and rg."""
    recursive: frozenset[str] = _RECURSIVE
    following: frozenset[str] = frozenset()
    """Options with which it follows every link. Only of grep and rg."""
    walks: bool = False
    """Whether it searches the working directory when no file is given and nothing is piped in."""


_CONTEXT = ("after-context", "before-context", "context", "max-count")


class _Grep(Tool):
    short_values = "efmABCdD"
    long_values = frozenset(
        {
            "regexp", "file", *_CONTEXT, "directories", "devices", "binary-files", "include", "exclude",
            "exclude-from", "exclude-dir", "label", "group-separator",
        }
    )  # fmt: skip
    short_flags = "EFGPiywxzsvVbnHhoqaIrRLlcTZU0123456789"
    long_flags = frozenset(
        {
            "extended-regexp", "fixed-strings", "basic-regexp", "perl-regexp", "ignore-case", "no-ignore-case",
            "word-regexp", "line-regexp", "null-data", "no-messages", "invert-match", "version", "help", "byte-offset",
            "line-number", "line-buffered", "with-filename", "no-filename", "only-matching", "quiet", "silent", "text",
            "recursive", "dereference-recursive", "files-without-match", "files-with-matches", "count", "initial-tab",
            "null", "no-group-separator", "color", "colour", "binary", "unix-byte-offsets",
        }
    )  # fmt: skip
    columns = frozenset({"b", "byte-offset"})
    other = frozenset(
        {
            "L", "files-without-match", "l", "files-with-matches", "c", "count", "o", "only-matching", "q", "quiet",
            "silent", "z", "null-data", "Z", "null", "T", "initial-tab", "V", "version", "help",
        }
    )  # fmt: skip
    following = frozenset({"R", "dereference-recursive"})


class _Ugrep(Tool):
    short_values = "efmABCdDgJKMNOt"
    long_values = _Grep.long_values | {
        "and", "andnot", "not", "file-extension", "file-magic", "file-type", "filter", "format", "glob", "iglob",
        "ignore-files", "jobs", "max-files", "max-size", "min-size", "neg-regexp", "range", "replace", "separator", "tabs",
    }  # fmt: skip
    columns = frozenset({"b", "byte-offset", "k", "column-number"})
    headings = frozenset({"heading", "pretty", "+"})
    walks = True


class _Rg(Tool):
    short_values = "efABCmgtTjMrdE"
    long_values = frozenset(
        {
            "regexp", "file", *_CONTEXT, "color", "colors", "context-separator", "dfa-size-limit", "encoding", "engine",
            "field-context-separator", "field-match-separator", "generate", "glob", "hostname-bin", "hyperlink-format",
            "iglob", "ignore-file", "max-columns", "max-depth", "maxdepth", "max-filesize", "path-separator", "pre",
            "pre-glob", "regex-size-limit", "replace", "sort", "sortr", "threads", "type", "type-add", "type-clear", "type-not",
        }
    )  # fmt: skip
    short_flags = "bscFL.hivnNxUP0opqzSauVHIwl"
    long_flags = frozenset(
        {
            "auto-hybrid-regex", "binary", "block-buffered", "byte-offset", "case-sensitive", "column", "count",
            "count-matches", "crlf", "debug", "files", "files-with-matches", "files-without-match", "fixed-strings",
            "follow", "glob-case-insensitive", "heading", "help", "hidden", "ignore", "ignore-case", "ignore-dot",
            "ignore-exclude", "ignore-file-case-insensitive", "ignore-files", "ignore-global", "ignore-messages",
            "ignore-parent", "ignore-vcs", "include-zero", "invert-match", "json", "line-buffered", "line-number",
            "line-regexp", "max-columns-preview", "messages", "mmap", "multiline", "multiline-dotall",
            "no-auto-hybrid-regex", "no-binary", "no-block-buffered", "no-byte-offset", "no-column", "no-config",
            "no-context-separator", "no-crlf", "no-encoding", "no-filename", "no-fixed-strings", "no-follow",
            "no-glob-case-insensitive", "no-heading", "no-hidden", "no-ignore", "no-ignore-dot", "no-ignore-exclude",
            "no-ignore-file-case-insensitive", "no-ignore-files", "no-ignore-global", "no-ignore-messages",
            "no-ignore-parent", "no-ignore-vcs", "no-include-zero", "no-invert-match", "no-json", "no-line-buffered",
            "no-line-number", "no-max-columns-preview", "no-messages", "no-mmap", "no-multiline",
            "no-multiline-dotall", "no-one-file-system", "no-pcre2", "no-pcre2-unicode", "no-pre", "no-require-git",
            "no-search-zip", "no-sort-files", "no-stats", "no-text", "no-trim", "no-unicode", "null", "null-data",
            "one-file-system", "only-matching", "passthru", "passthrough", "pcre2", "pcre2-unicode", "pcre2-version",
            "pretty", "quiet", "require-git", "search-zip", "smart-case", "sort-files", "stats", "stop-on-nonmatch",
            "text", "trace", "trim", "type-list", "unicode", "unrestricted", "version", "vimgrep", "with-filename",
            "word-regexp",
        }
    )  # fmt: skip
    instead_of_pattern = frozenset({"f", "file", "files", "type-list"})
    numbers = _NUMBERS | {"vimgrep", "column", "pretty", "p"}
    no_numbers = frozenset({"N", "no-line-number"})
    numbered = True
    no_names = frozenset({"I", "no-filename"})
    names = _NAMES | {"vimgrep"}
    columns = frozenset({"column", "vimgrep", "b", "byte-offset"})
    headings = frozenset({"heading", "pretty", "p"})
    other = frozenset(
        {
            "c", "count", "count-matches", "debug", "field-match-separator", "files", "files-with-matches",
            "files-without-match", "generate", "h", "help", "hyperlink-format", "json", "l", "null", "0", "null-data", "o",
            "only-matching", "path-separator", "pcre2-version", "pre", "q", "quiet", "r", "replace", "search-zip", "stats",
            "trace", "type-list", "V", "version", "z",
        }
    )  # fmt: skip
    recursive = frozenset()
    following = frozenset({"L", "follow"})
    walks = True


class _GitGrep(Tool):
    short_values = "efmABC"
    long_values = frozenset({*_CONTEXT, "max-depth", "threads"})
    patterns = frozenset({"e"})
    instead_of_pattern = frozenset({"f"})
    numbered = True
    named = True
    columns = frozenset({"column"})
    headings = frozenset({"heading"})
    recursive = frozenset()
    walks = True


class _Ag(Tool):
    short_values = "ABCGgmpW"
    long_values = frozenset(
        {
            "after", "before", "context", "depth", "file-search-regex", "ignore", "ignore-dir", "max-count", "pager",
            "path-to-ignore", "width", "workers",
        }
    )  # fmt: skip
    patterns = frozenset()
    instead_of_pattern = frozenset({"g"})
    numbered = True
    no_names = frozenset({"h", "no-filename", "nofilename"})
    names = frozenset({"H", "filename", "vimgrep"})
    columns = frozenset({"column", "vimgrep"})
    headings = frozenset({"heading", "group"})
    walks = True


class _Ack(Tool):
    short_values = "ABCmt"
    long_values = frozenset(
        {
            *_CONTEXT, "color-colno", "color-filename", "color-lineno", "color-match", "files-from", "ignore-dir",
            "ignore-directory", "ignore-file", "match", "noignore-dir", "output", "pager", "type", "type-add", "type-del",
            "type-set", "ackrc",
        }
    )  # fmt: skip
    patterns = frozenset({"match"})
    instead_of_pattern = frozenset({"f", "g"})
    numbered = True
    columns = frozenset({"column"})
    headings = frozenset({"heading", "group"})
    walks = True


TOOLS: dict[str, Tool] = {
    "grep": _Grep(),
    "egrep": _Grep(),
    "fgrep": _Grep(),
    "rg": _Rg(),
    "ugrep": _Ugrep(),
    "ag": _Ag(),
    "ack": _Ack(),
    "git grep": _GitGrep(),
}
"""Every search program by the name it is called by."""
