from typing import overload

limit: int = 3


def price_of(name: str) -> int:
    return len(name)


@overload
def twice(value: int) -> int: ...
@overload
def twice(value: str) -> str: ...
def twice(value):
    return value + value


def loose(thing):
    return thing.add("anything")
