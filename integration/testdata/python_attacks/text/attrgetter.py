# Allowed modules read attributes from texts.
#: exec wide ppppp magic
import operator, functools
print("reached", functools.reduce(lambda o, n: operator.attrgetter(n)(o), ["__cl" + "ass__", "__m" + "ro__"], ()))
#--
import operator
print("reached", operator.attrgetter("append.__se" + "lf__")(data))
#--
import operator
print("reached", list(map(operator.attrgetter("__cl" + "ass__"), [1])))
#--
from operator import attrgetter as a
print("reached", sorted([1, 2], key=a("__cl" + "ass__.__name__")))
#--
import functools
print("reached", functools.reduce(getattr, ["__cl" + "ass__", "__m" + "ro__"], ()))
