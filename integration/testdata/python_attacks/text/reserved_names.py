# Names of two underscores replace what others rely on.
#: exec wide ssssssssssss magic
__builtins__ = {"len": lambda x: 42}
print("reached")
#--
import json as __guard__
print("reached")
#--
def __build_class__(*a):
    pass
print("reached")
#--
class __import__:
    pass
print("reached")
#--
f = lambda __builtins__: 1
print("reached", f(2))
#--
def f(*, __debug_name__=1):
    return 1
print("reached", f())
#--
try:
    1 / 0
except ZeroDivisionError as __builtins__:
    print("reached")
#--
for __name__ in [1]:
    print("reached")
#--
[(__loader__ := 1)]
print("reached")
#--
def f():
    global __builtins__
    __builtins__ = {}
f()
print("reached")
#--
with_names = [0 for __spec__ in [1]]
print("reached")
#--
del __builtins__
print("reached")
