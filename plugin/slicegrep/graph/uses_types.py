"""The text of a type, as the value that something of that type has."""

from __future__ import annotations

import re

__all__ = ["ANY", "type_value"]

ANY = "<?>"
"""A type that says nothing that can be followed."""

_PREFIX = re.compile(
    r"^(?:[:?&*\s]|->|(?:const|mut|dyn|impl|readonly|struct|class|enum|final|var|static|typename|asserts)\b|(?<=&)'\w+\b)+"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
_PLAIN = re.compile(r"<[\w$.]+>")
_PARTED = re.compile(r"::|\\")
_NOTHING = frozenset({"None", "null", "undefined", "nil", "void"})
_LONGEST = 300
"""Characters of a type that is looked at."""

_MOST_ALTERNATIVES = 6

_PASSING_NAMES = """
Optional Promise Awaitable Final ClassVar Annotated Readonly Partial Required NonNullable Box Rc Arc Ref
shared_ptr unique_ptr Task ValueTask Future Lazy PromiseLike Awaited NotRequired Deferred Pick Omit
"""
_PASSING = frozenset(_PASSING_NAMES.split())
"""Generic types whose members are mostly used as those of their first argument."""
_MANY_NAMES = """
List list Sequence MutableSequence Iterable Iterator Generator Set set frozenset FrozenSet AbstractSet
Collection deque Array ReadonlyArray Vec VecDeque ArrayList LinkedList IEnumerable IList ICollection
AsyncIterator AsyncGenerator AsyncIterable MutableList HashSet IReadOnlyList Stream Seq vector ReadonlySet
IterableIterator
"""
_MANY = frozenset(_MANY_NAMES.split())
"""Those that hold values of their first argument."""
_BY_KEY_NAMES = """
dict Dict Mapping MutableMapping Map HashMap Record defaultdict OrderedDict WeakMap ReadonlyMap Dictionary
ConcurrentHashMap BTreeMap map unordered_map
"""
_BY_KEY = frozenset(_BY_KEY_NAMES.split())
"""Those that hold values of their second argument."""


def type_value(text: str) -> str:
    """Return the value of a type's text; ANY where that says nothing.

    `<T>` for a type T, `<T*>` for what holds values of type T, `<T|U>` for one of several,
    `<T>.__class__` for the type itself, `self` for the class around.
    """
    if len(text) > _LONGEST:
        return ANY
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1] == text[0]:
        text = text[1:-1]
    text = _PREFIX.sub("", text).strip().strip("'\"").strip()
    alternatives = [part for part in _divided(text, "|") if part not in _NOTHING]
    if len(alternatives) != 1:
        return _either(alternatives)
    text = alternatives[0]
    if text.startswith("[]"):
        return _many(text[2:])
    found = _NAME.match(text)
    if found is None:
        return ANY
    name, rest = _PARTED.sub(".", found.group()), text[found.end() :].strip()
    if rest.startswith("[]"):
        return f"<{name}*>"
    last = name.rpartition(".")[2]
    if rest[:1] in ("[", "<", "{"):
        inner = _divided(rest[1:].rstrip("]>} ;*&?!"), ",")
        if last in ("type", "Type") and inner:
            value = type_value(inner[0])
            return f"{value}.__class__" if _PLAIN.fullmatch(value) else ANY
        if last in _PASSING and inner:
            return type_value(inner[0])
        if last in _MANY and inner:
            return _many(inner[0])
        if last in _BY_KEY and len(inner) > 1:
            return _many(inner[1])
    return "self" if name in ("Self", "this", "static") else f"<{name}>"


def _either(alternatives: list[str]) -> str:
    if len(alternatives) > _MOST_ALTERNATIVES:
        return ANY
    values = [type_value(one) for one in alternatives]
    plain = [value[1:-1] for value in values if _PLAIN.fullmatch(value)]
    return f"<{'|'.join(plain)}>" if plain else ANY


def _many(text: str) -> str:
    value = type_value(text)
    return f"{value[:-1]}*>" if _PLAIN.fullmatch(value) else ANY


def _divided(text: str, by: str) -> list[str]:
    """Return the parts of a text between `by`, where that is in no brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "[<({":
            depth += 1
        elif letter in "]>)}":
            depth -= 1
        elif letter == by and depth <= 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in [*parts, text[start:].strip()] if part]
