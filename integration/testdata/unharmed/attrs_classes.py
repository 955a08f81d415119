# needs: attrs
import attr
import attrs


@attrs.define(order=True)
class Box:
    width: int = attrs.field(converter=int, validator=attrs.validators.gt(0))
    name: str = attrs.field(default="box", kw_only=True)
    area: int = attrs.field(init=False)

    @area.default
    def _area(self):
        return self.width**2


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Old:
    a: int
    b: "list[int]" = attr.Factory(list)


print(Box("3"), Box(2) < Box(3), attrs.asdict(Box(1, name="x")), attrs.evolve(Old(1), a=5), attr.make_class("Made", ["p", "q"])(1, 2))
for bad in (lambda: Box(-1), lambda: setattr(Old(1), "a", 2), lambda: setattr(Box(1), "nothing", 2)):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e.args[0] if e.args else "")
