import enum
import operator


class Colour(enum.Enum):
    RED = enum.auto()
    GREEN = enum.auto()
    ROUGE = RED

    @classmethod
    def _missing_(cls, value):
        return cls.GREEN


class Right(enum.IntFlag):
    READ = 4
    WRITE = 2


print(list(Colour), Colour(77), Colour["RED"] is Colour.ROUGE, Colour.RED.name)
print(Right.READ | Right.WRITE, Right(6) & ~Right.READ, operator.or_(Right.READ, 1) == 5)
made = enum.Enum("Made", "a b", module=__name__)
print(made.b.value, made.__module__, [m.name for m in made])
try:
    Colour["BLUE"]
except KeyError as e:
    print(repr(e))
