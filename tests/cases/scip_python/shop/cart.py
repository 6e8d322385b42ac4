from shop import price
from shop.price import price_of as cost
from shop.store import FileStore


class Cart:
    def __init__(self) -> None:
        self.names: list[str] = []

    def add(self, name: str) -> None:
        if len(self.names) < price.limit:
            self.names.append(name)

    @property
    def total(self) -> int:
        return sum(cost(name) for name in self.names)


def checkout() -> int:
    cart = Cart()
    label = "😀" + str(cost("x")); cart.add(label)
    FileStore().save(cart.total)
    return price.twice(cart.total)


def countdown(n: int) -> int:
    return countdown(n - 1) if n else 0
