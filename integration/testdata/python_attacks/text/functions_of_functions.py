# A function's parts make another function.
#: exec never ssssss magic|attribute
f = lambda: 1
print("reached", f.__code__)
#--
f = lambda: 1
print("reached", type(f)(f.__code__.replace(co_consts=(None, 99)), {})())
#--
f = lambda: 1
f.__code__ = (lambda: 3).__code__
print("reached", f())
#--
def f(a=data):
    pass
print("reached", f.__defaults__[0])
#--
def f():
    x = data
    return lambda: x
print("reached", f().__closure__[0].cell_contents)
#--
import functools
@functools.wraps(len)
def f():
    pass
print("reached", f.__wrapped__)
