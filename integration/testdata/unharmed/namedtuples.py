import collections
import copy
import typing

Pair = collections.namedtuple("Pair", "left right", defaults=[None])


class Typed(typing.NamedTuple):
    name: str
    size: int = 0

    def big(self):
        return self.size > 3


p = Pair(1)
print(p, p._replace(right=2), p._asdict(), Pair._fields, Pair.__module__, Pair.__new__.__doc__)
print(Typed("a", 4).big(), Typed.__annotations__ == {"name": str, "size": int}, copy.deepcopy(Typed("b")), isinstance(p, tuple))
for names in ("a a", "class x", ["1"]):
    try:
        collections.namedtuple("Bad", names)
    except ValueError as e:
        print(e)
