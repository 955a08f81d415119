# A class statement calls what its keywords name.
#: exec wide ss syntax|call
class X(metaclass=lambda *a: print("reached", a)):
    pass
#--
class M(type):
    pass
class X(metaclass=M):
    pass
print("reached", X)
