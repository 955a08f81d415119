# Texts in annotations are run by the standard library on whoever asks.
#: hints - call os.system
#: reference - call os.system
import os
import typing
from tries import attempt, cat


def f(a: "os.system(cat) or int"):
    pass


class C:
    a: "os.system(cat) or int" = 1


attempt("hints", lambda: typing.get_type_hints(f))
attempt("reference", lambda: typing.get_type_hints(C))
