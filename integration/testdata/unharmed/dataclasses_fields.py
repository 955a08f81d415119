import dataclasses
import functools
import typing


@dataclasses.dataclass(order=True, frozen=True)
class Point:
    x: int
    y: int = 0
    tags: list = dataclasses.field(default_factory=list, compare=False, repr=False)


@functools.total_ordering
@dataclasses.dataclass
class Named(typing.Generic[typing.TypeVar("T")]):
    name: str
    at: "Point" = Point(1, 2)

    def __post_init__(self):
        self.name = self.name.upper()

    def __lt__(self, other):
        return self.name < other.name


print(Point(1, 2), Point(1, 2) < Point(1, 3), hash(Point(1)) == hash(Point(1)))
print(dataclasses.asdict(Named("a")), dataclasses.replace(Point(1), y=9), [f.name for f in dataclasses.fields(Point)])
print(max(Named("a"), Named("b")), dataclasses.make_dataclass("Made", [("n", int, 3)], namespace={"twice": lambda self: self.n * 2})().twice())
try:
    Point(1).x = 2
except dataclasses.FrozenInstanceError as e:
    print(type(e).__name__, e)
