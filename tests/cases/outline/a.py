import os

CODES = {
    1: "a",
}


@first
@second(
    1,
)
def decorated(a, b=1):
    def inner():
        return lambda x: x

    return inner


class A(Base):
    table = [
        1,
    ]

    @property
    def p(self) -> int:
        """Doc."""
        return 1
        # a comment at the end belongs to no one

    async def run(self): ...


type(os).x = 1
if True:
    def conditional(): pass
