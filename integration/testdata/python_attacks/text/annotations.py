# Annotations are expressions, run at once, later, or by somebody else.
#: exec wide sssssss call|magic|attribute
def f(a: open(path).read() = 1):
    pass
print("reached", f.__annotations__ if 0 else 1)
#--
x: [open][0] = 1
print("reached")
#--
def f() -> (lambda: 0).__globals__:
    pass
print("reached")
#--
class C:
    a: ().__class__ = 1
print("reached")
#--
def f(a: int):
    pass
print("reached", f.__annotations__)
#--
def f(*a: [open], **k: {}.__class__):
    pass
print("reached")
#--
(x): open(path) = 1
print("reached")
