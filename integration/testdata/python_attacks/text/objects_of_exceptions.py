# Exceptions hand back what was refused.
#: exec - sssssp attribute
try:
    data.nope
except AttributeError as e:
    print("reached", e.args)
#--
try:
    nope
except NameError as e:
    print("reached", e.args)
#--
try:
    {}["k"]
except KeyError as e:
    print("reached", e.args[0])
#--
def g():
    yield 1
    return data
i = g()
next(i)
try:
    next(i)
except StopIteration as e:
    print("reached", e.value is data)
#--
try:
    "\udc80".encode()
except UnicodeError as e:
    print("reached", e.object)
#--
try:
    raise ValueError(data)
except ValueError as e:
    print("reached", getattr(e, "ar" + "gs"))
