# A reference forward is evaluated with the real built-ins.
#: exec wide sp call|attribute|import
import typing
print("reached", typing.ForwardRef("().__class__").__forward_code__)
#--
import typing
print("reached", typing.Optional["print('reached')"], typing.get_type_hints)
def f(a: typing.Optional["print('reached') or int"]):
    pass
typing.get_type_hints(f)
