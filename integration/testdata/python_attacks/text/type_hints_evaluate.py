# Type hints are texts that somebody evaluates.
#: exec wide ppp call|attribute|import
import typing
def f(a: "__import__('os')"):
    pass
try:
    typing.get_type_hints(f)
except TypeError as e:
    pass
print("reached")
#--
import typing
def f(a: "print('reached') or int"):
    pass
typing.get_type_hints(f)
#--
import typing
class C(typing.NamedTuple):
    a: "print('reached') or int"
typing.get_type_hints(C)
