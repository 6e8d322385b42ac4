class Store:
    def save(self, total: int) -> None:
        raise NotImplementedError


class FileStore(Store):
    def save(self, total: int) -> None:
        print(total)


def keep(store: Store) -> None:
    store.save(1)
