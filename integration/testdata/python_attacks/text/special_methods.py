# Operators, subscripts and protocols call what a class assigns.
#: exec wide ssssssss magic|call
class G:
    __class_getitem__ = eval
G["print('reached')"]
#--
class G:
    __add__ = lambda self, other: print("reached")
G() + 1
#--
class G:
    def __init__(self):
        print("reached")
G()
#--
class G:
    def __enter__(self):
        print("reached")
    def __exit__(self, *a):
        return True
with G():
    pass
#--
class G:
    def __init_subclass__(cls):
        print("reached")
class H(G):
    pass
#--
class G:
    def __getattr__(self, name):
        return print("reached", name)
G().anything
#--
class G:
    def __set_name__(self, owner, name):
        print("reached")
g = G()
class H:
    a = g
#--
class G(Exception):
    __add__ = str.__add__
print("reached")
