"""What the engine keeps of files: by path and content, the least recently used dropped where it grows too heavy."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["Shelf"]

_Value = TypeVar("_Value")


class Shelf(Generic[_Value]):
    """Values by key, `most` in weight altogether. Weights are in bytes, as far as they can be told."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[_Value, int]] = OrderedDict()
        self.weight = 0

    def get(self, key: Hashable) -> _Value | None:
        """Return the value of a key, which counts as used then."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: _Value, weight: int) -> None:
        """Keep a value; one that is heavier than half of the shelf is not kept."""
        self.drop(key)
        if weight > self._most // 2:
            return
        self._kept[key] = value, weight
        self.weight += weight
        while self.weight > self._most:
            self.drop(next(iter(self._kept)))

    def drop(self, key: Hashable) -> None:
        """Forget a key."""
        found = self._kept.pop(key, None)
        if found is not None:
            self.weight -= found[1]

    def values(self) -> list[_Value]:
        """Return all that is kept, the least recently used first."""
        return [value for value, _ in self._kept.values()]
