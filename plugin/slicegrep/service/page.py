"""The page at /docs: the OpenAPI description as one HTML document that loads nothing from anywhere."""

from __future__ import annotations

from html import escape
from typing import Any

__all__ = ["page_of"]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2rem .6rem;text-align:left;vertical-align:top}"
    "code,pre{font-family:ui-monospace,monospace;background:#8882}pre{padding:.6rem;overflow:auto}"
)
_FIRST = (
    "<p>No question about code is answered without a token: <code>Authorization: Bearer TOKEN</code>. "
    'For programs: <a href="openapi.json">openapi.json</a>.</p>'
)


def page_of(described: dict[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    info, schemas = described["info"], described["components"]["schemas"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        _FIRST,
    ]
    used: list[str] = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts.append(
                f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
            )
            names = _named(operation.get("requestBody", {})) + _named(operation["responses"].get("200", {}))
            parts += [f'<p><a href="#{name}">{name}</a></p>' for name in names]
            used += names
            parts.append(f"<p>Statuses: {', '.join(operation['responses'])}</p>")
    for name in used:  # it grows by what its models name
        used += [one for one in _named(schemas[name]) if one not in used]
    for name in dict.fromkeys(used):
        parts.append(_table(name, schemas[name]))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style>{''.join(parts)}</html>"
    )


def _table(name: str, schema: dict[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(field)}</code><td>{_kind(of)}"
        f"<td>{'required' if field in schema.get('required', ()) else escape(repr(of.get('default', '')))}"
        f"<td>{escape(of.get('description', ''))}"
        for field, of in schema.get("properties", {}).items()
    ]
    return (
        f'<h3 id="{name}">{name}</h3><p>{escape(schema.get("description", ""))}</p>'
        f"<table><tr><th>field<th>type<th>default<th>{''.join(rows)}</table>"
    )


def _kind(of: dict[str, Any]) -> str:
    """Return the type of a field in a word or two."""
    if "$ref" in of:
        name = of["$ref"].rsplit("/", 1)[1]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in of:
        return " or ".join(_kind(one) for one in of["anyOf"])
    if "enum" in of:
        return ", ".join(escape(str(one)) for one in of["enum"])
    if of.get("type") == "array":
        return f"list of {_kind(of['items'])}"
    low, high = (of.get(end, "") for end in ("minimum", "maximum"))
    bounds = f" {low} to {high}" if low != "" and high != "" else ""
    return escape(f"{of.get('type', of.get('const', ''))}{bounds}")


def _named(part: Any) -> list[str]:
    """Return the models that a part of the description refers to."""
    if isinstance(part, list):
        return [name for one in part for name in _named(one)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else []
    return own + [name for one in part.values() for name in _named(one)]
