# Depth without end, caught and begun again.
#: exec bounded iiiiiii max_call_depth
def f():
    return f()
f()
#--
(lambda f: f(f))(lambda f: f(f))
#--
def f():
    try:
        f()
    except RecursionError:
        f()
f()
#--
def f():
    yield from f()
list(f())
#--
def f():
    try:
        return f()
    except Exception:
        return f()
    finally:
        f()
f()
#--
def f(x):
    return sorted([1, 2], key=f)
f(1)
#--
class C:
    def m(self):
        return self.m()
C().m()
